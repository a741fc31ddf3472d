//! An instruction, the values of its operands, and the elements that it reads.

use super::cells::{cells, count, position};
use super::pairs::Pairs;
use super::values::{Values, integer};
use std::collections::BTreeMap;
use weft_hlo::ir::{Computation, ComputationId, InstrId, Instruction, Literal, Module, Shape};

/// An instruction with the values of its computation's instructions.
#[derive(Copy, Clone)]
pub(crate) struct Scene<'a> {
    pub(crate) module: &'a Module,
    pub(crate) computation: ComputationId,
    pub(crate) id: InstrId,
    pub(crate) values: &'a Values,
}

impl<'a> Scene<'a> {
    pub(crate) fn computation(&self) -> &'a Computation {
        &self.module.computations[self.computation]
    }

    pub(crate) fn instruction(&self) -> &'a Instruction {
        &self.computation().instructions[self.id]
    }

    pub(crate) fn operand_shape(&self, operand: usize) -> &'a Shape {
        &self.computation().instructions[self.instruction().operands[operand]].shape
    }

    pub(crate) fn operands(&self) -> usize {
        self.instruction().operands.len()
    }

    /// How many arrays and tokens the value is made of.
    pub(crate) fn results(&self) -> usize {
        self.instruction().shape.leaves().len()
    }

    pub(crate) fn result(&self, leaf: usize) -> Vec<i64> {
        leaf_extents(&self.instruction().shape, leaf)
    }

    pub(crate) fn operand(&self, operand: usize) -> Vec<i64> {
        leaf_extents(self.operand_shape(operand), 0)
    }

    /// The leaves of an operand's value.
    pub(crate) fn value(&self, operand: usize) -> &'a [Option<Literal>] {
        self.values.of(self.instruction().operands[operand])
    }

    /// An element of an operand that is an array of integers or `pred`.
    pub(crate) fn integer(&self, operand: usize, cell: &[i64]) -> i128 {
        let at = position(&self.operand(operand), cell).expect("the cell lies within the operand");
        let value = self.value(operand)[0].as_ref().expect("the operand is an array");
        integer(value, at)
    }
}

/// The extents of an array of a value. A token is taken for an array without elements.
pub(crate) fn leaf_extents(shape: &Shape, leaf: usize) -> Vec<i64> {
    shape.leaves()[leaf].as_array().map_or_else(|| vec![0], |array| array.extents.clone())
}

/// The leaves of a value that are arrays.
fn arrays(shape: &Shape) -> Vec<usize> {
    (0..).zip(shape.leaves()).filter(|(_, leaf)| leaf.as_array().is_some()).map(|(at, _)| at).collect()
}

/// For each array of the result, and each array of each operand, what was read.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    /// By array of the result, operand, and array of the operand.
    pub(crate) pairs: BTreeMap<(usize, usize, usize), Pairs>,
}

impl Reads {
    pub(crate) fn nothing(scene: &Scene<'_>) -> Reads {
        let mut pairs = BTreeMap::new();
        for result in arrays(&scene.instruction().shape) {
            let rows = count(&scene.result(result));
            for operand in 0..scene.operands() {
                let shape = scene.operand_shape(operand);
                for leaf in arrays(shape) {
                    pairs.insert((result, operand, leaf), Pairs::none(rows, count(&leaf_extents(shape, leaf))));
                }
            }
        }
        Reads { pairs }
    }

    /// What an array of the result reads of one of an operand; `None` where one of them is a token.
    pub(crate) fn of_pair(&mut self, result: usize, operand: usize, leaf: usize) -> Option<&mut Pairs> {
        self.pairs.get_mut(&(result, operand, leaf))
    }
}

/// Notes what is read.
pub(crate) struct Recorder<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) reads: Reads,
    results: Vec<Vec<i64>>,
    operands: Vec<Vec<i64>>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(scene: Scene<'a>) -> Recorder<'a> {
        let operands = (0..scene.operands()).map(|operand| {
            let shape = scene.operand_shape(operand);
            if shape.leaves().is_empty() { vec![0] } else { leaf_extents(shape, 0) }
        });
        Recorder {
            reads: Reads::nothing(&scene),
            results: (0..scene.results()).map(|leaf| scene.result(leaf)).collect(),
            operands: operands.collect(),
            scene,
        }
    }

    /// Every cell of an array of the result.
    pub(crate) fn outputs(&self, result: usize) -> Vec<Vec<i64>> {
        cells(&self.results[result])
    }

    /// One element of an operand that is an array.
    pub(crate) fn one(&mut self, result: usize, output: &[i64], operand: usize, cell: &[i64]) {
        let row = position(&self.results[result], output).expect("the cell lies within the result");
        let column = position(&self.operands[operand], cell).expect("the cell lies within the operand");
        self.reads.of_pair(result, operand, 0).expect("both are arrays").add(row, column);
    }

    /// All elements of an operand that is an array.
    pub(crate) fn whole(&mut self, result: usize, output: &[i64], operand: usize) {
        for cell in cells(&self.operands[operand]) {
            self.one(result, output, operand, &cell);
        }
    }
}
