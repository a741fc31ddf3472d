//! The evaluation of one instruction: its shapes, operands and limits.

use super::Config;
use super::machine;
use super::plan::Plan;
use super::region::{Program, Region, Registers};
use super::scalar::Held;
use super::value::{Buffer, Value};
use super::work::{Stop, Work, elements};
use crate::ir::{ArrayShape, ComputationId, Data, Instruction, Literal, Module, Op, Scalar, Shape};
use std::sync::atomic::AtomicU64;

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";

/// What a run needs from its beginning to its end.
pub(super) struct Run<'a> {
    pub(super) module: &'a Module,
    pub(super) plan: &'a Plan,
    pub(super) config: &'a Config,
    pub(super) work: Work,
    /// How many instructions have been run, those of computations applied to elements included.
    pub(super) instructions: AtomicU64,
}

/// An instruction that makes arrays out of arrays.
pub(super) struct Call<'c, 'a> {
    pub(super) run: &'c Run<'a>,
    pub(super) instruction: &'a Instruction,
    /// Of a tuple as operand its elements, from left to right.
    pub(super) operands: Vec<(&'a ArrayShape, &'c Data)>,
    /// How many computations that are applied element by element are being run, each within the one before.
    pub(super) nesting: usize,
    /// Of an operation that draws random numbers which draw of the run it is, of one that reads a state that state.
    pub(super) chance: u128,
}

impl<'c, 'a> Call<'c, 'a> {
    pub(super) fn op(&self) -> &'a Op {
        &self.instruction.op
    }

    pub(super) fn work(&self) -> &'c Work {
        &self.run.work
    }

    /// The shape of the operand at a position.
    pub(super) fn shape(&self, position: usize) -> &'a ArrayShape {
        self.operands[position].0
    }

    /// The elements of the operand at a position, with their type.
    pub(super) fn data(&self, position: usize) -> &'c Data {
        self.operands[position].1
    }

    /// The elements of the operand at a position, which are held as `T`.
    pub(super) fn elements<T: Held>(&self, position: usize) -> &'c [T] {
        elements(self.operands[position].1)
    }

    /// The shape of the one result.
    pub(super) fn result(&self) -> &'a ArrayShape {
        self.instruction.shape.as_array().expect(VERIFIED)
    }

    /// The shapes of all results.
    pub(super) fn results(&self) -> Vec<&'a ArrayShape> {
        self.instruction.shape.leaves().into_iter().filter_map(Shape::as_array).collect()
    }

    /// A computation of scalars, ready to be applied again and again; one for each core.
    pub(super) fn region(&self, id: ComputationId) -> Applied<'c, 'a> {
        match self.run.plan.regions.get(&id) {
            Some(Region::Program(program)) => Applied::Program(program, program.registers()),
            _ => Applied::Computation { run: self.run, id, nesting: self.nesting + 1, results: Vec::new() },
        }
    }

    /// The computation as a program of scalars, if it is one.
    pub(super) fn program(&self, id: ComputationId) -> Option<&'a Program> {
        match self.run.plan.regions.get(&id) {
            Some(Region::Program(program)) => Some(program),
            _ => None,
        }
    }
}

/// A computation of scalars that is being applied.
pub(super) enum Applied<'c, 'a> {
    /// By steps over registers.
    Program(&'a Program, Registers),
    /// As any other computation.
    Computation { run: &'c Run<'a>, id: ComputationId, nesting: usize, results: Vec<Scalar> },
}

impl Applied<'_, '_> {
    /// The results for these arguments.
    pub(super) fn apply(&mut self, arguments: &[Scalar]) -> Result<&[Scalar], Stop> {
        match self {
            Applied::Program(program, registers) => Ok(program.run(registers, arguments)),
            Applied::Computation { run, id, nesting, results } => {
                let literals: Vec<Literal> = arguments.iter().map(|&argument| Literal::scalar(argument)).collect();
                let given = literals.iter().map(|literal| Value::Array(Buffer::Given(&literal.data))).collect();
                *results = machine::apply(run, *id, given, *nesting)?;
                Ok(results)
            }
        }
    }
}
