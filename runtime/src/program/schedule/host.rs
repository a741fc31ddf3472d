//! What the host computes, as programs for the evaluator.

use super::visit::Frame;
use super::{Planned, PlannedHost, Schedule};
use crate::Error;
use crate::program::Options;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::eval::{Config, check};
use weft_hlo::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, UniqueNames};
use weft_partition::Site;

/// Instructions that the host computes in a row.
pub(super) struct Cluster<'a> {
    name: String,
    reasons: Vec<Diagnostic>,
    callees: Callees<'a>,
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
    /// What became of the instructions of the program.
    image: BTreeMap<InstrId, InstrId>,
    /// What is read, with its parameter.
    inputs: BTreeMap<usize, InstrId>,
    /// The values read, in the order of the parameters.
    read: Vec<usize>,
    /// Constants that are given, with their parameters, whose numbers come behind all others.
    constants: Vec<(Site, InstrId)>,
    /// What is made, with the instruction that yields it.
    outputs: Vec<(usize, InstrId)>,
}

/// Elements of a constant that a program of the host holds at most. Larger ones are given to it: several may read one, and the fused module holds it.
const MOST_HELD: usize = 64;

/// The computations that the instructions call, each copied once.
struct Callees<'a> {
    source: &'a Module,
    made: Arena<ComputationId, Computation>,
    copied: BTreeMap<ComputationId, ComputationId>,
}

impl Callees<'_> {
    fn copy(&mut self, id: ComputationId) -> ComputationId {
        if let Some(made) = self.copied.get(&id) {
            return *made;
        }
        let mut computation = self.source.computations[id].clone();
        for instruction in computation.instructions.values_mut() {
            instruction.op.rename_computations(|callee| self.copy(callee));
        }
        let made = self.made.push(computation);
        self.copied.insert(id, made);
        made
    }
}

impl<'a> Cluster<'a> {
    /// One that begins with this instruction of a computation.
    pub(super) fn new(module: &'a Module, owner: &Computation, first: &Instruction) -> Self {
        Cluster {
            name: format!("{}_{}", owner.name, first.name),
            reasons: Vec::new(),
            callees: Callees { source: module, made: Arena::new(), copied: BTreeMap::new() },
            instructions: Arena::new(),
            names: UniqueNames::default(),
            image: BTreeMap::new(),
            inputs: BTreeMap::new(),
            read: Vec::new(),
            constants: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Adds an instruction that makes these leaves, and returns what it reads that was not read before.
    ///
    /// # Errors
    /// Why a value that it reads cannot be given to it.
    pub(super) fn add(
        &mut self,
        frame: &Frame<'_>,
        id: InstrId,
        leaves: &[Option<usize>],
        reasons: Vec<Diagnostic>,
    ) -> Result<Vec<usize>, String> {
        let known = self.read.len();
        let mut copy = frame.computation.instructions[id].clone();
        for operand in &mut copy.operands {
            *operand = self.operand(frame, *operand)?;
        }
        copy.op.rename_computations(|callee| self.callees.copy(callee));
        // Others name what is not part of it.
        copy.attributes.retain(|attribute| attribute.name == "backend_config");
        let made = self.push(copy);
        self.image.insert(id, made);
        let mut leaves = leaves.iter();
        self.take_apart(made, &mut leaves);
        for reason in reasons {
            if !self.reasons.contains(&reason) {
                self.reasons.push(reason);
            }
        }
        Ok(self.read[known..].to_vec())
    }

    fn push(&mut self, mut instruction: Instruction) -> InstrId {
        instruction.name = self.names.take(&instruction.name);
        self.instructions.push(instruction)
    }

    /// The instructions that yield the arrays of what an instruction makes.
    fn take_apart(&mut self, whole: InstrId, leaves: &mut std::slice::Iter<'_, Option<usize>>) {
        let (shape, span) = (self.instructions[whole].shape.clone(), self.instructions[whole].span);
        let Shape::Tuple(elements) = shape else {
            if let Some(Some(value)) = leaves.next() {
                self.outputs.push((*value, whole));
            }
            return;
        };
        for (index, element) in (0..).zip(elements) {
            let mut taken = Instruction::new("element", element, Op::GetTupleElement { index }, vec![whole]);
            taken.span = span;
            let taken = self.push(taken);
            self.take_apart(taken, leaves);
        }
    }

    /// What an operand is within the cluster.
    fn operand(&mut self, frame: &Frame<'_>, id: InstrId) -> Result<InstrId, String> {
        if let Some(made) = self.image.get(&id) {
            return Ok(*made);
        }
        let instruction = &frame.computation.instructions[id];
        let made = match &instruction.op {
            Op::Constant(literal) if literal.data.len().is_some_and(|count| count > MOST_HELD) => {
                let op = Op::Parameter { number: i64::MAX };
                let mut parameter = Instruction::new(&instruction.name, instruction.shape.clone(), op, Vec::new());
                parameter.span = instruction.span;
                let parameter = self.push(parameter);
                self.constants.push((Site { computation: frame.id, instruction: id }, parameter));
                parameter
            }
            Op::Constant(_) => self.push(instruction.clone()),
            Op::AddDependency => {
                let mut first = instruction.operands[0];
                while let Op::AddDependency = frame.computation.instructions[first].op {
                    first = frame.computation.instructions[first].operands[0];
                }
                self.operand(frame, first)?
            }
            Op::Tuple => {
                let mut copy = instruction.clone();
                for operand in &mut copy.operands {
                    *operand = self.operand(frame, *operand)?;
                }
                self.push(copy)
            }
            Op::GetTupleElement { .. } if self.is_made_here(frame, id) => {
                let mut copy = instruction.clone();
                copy.operands[0] = self.operand(frame, copy.operands[0])?;
                self.push(copy)
            }
            _ => {
                let leaves = frame.of.get(&id).ok_or("an operand has no value yet")?;
                self.given(instruction, &instruction.shape, &mut leaves.iter())?
            }
        };
        self.image.insert(id, made);
        Ok(made)
    }

    /// Whether an element is one of what an instruction of the cluster makes, or of a tuple.
    fn is_made_here(&self, frame: &Frame<'_>, mut id: InstrId) -> bool {
        while let Op::GetTupleElement { .. } = frame.computation.instructions[id].op {
            id = frame.computation.instructions[id].operands[0];
        }
        self.image.contains_key(&id) || matches!(frame.computation.instructions[id].op, Op::Tuple)
    }

    /// A value that comes from outside, put together of parameters.
    fn given(
        &mut self,
        like: &Instruction,
        shape: &Shape,
        leaves: &mut std::slice::Iter<'_, Option<usize>>,
    ) -> Result<InstrId, String> {
        let (op, operands) = match shape {
            Shape::Tuple(elements) => {
                let elements = elements.iter().map(|element| self.given(like, element, leaves));
                (Op::Tuple, elements.collect::<Result<Vec<_>, _>>()?)
            }
            Shape::Array(_) => {
                let value = leaves.next().copied().flatten().ok_or("an operand has no value")?;
                if let Some(parameter) = self.inputs.get(&value) {
                    return Ok(*parameter);
                }
                let number = i64::try_from(self.read.len()).map_err(|error| error.to_string())?;
                let mut parameter = Instruction::new(&like.name, shape.clone(), Op::Parameter { number }, Vec::new());
                parameter.span = like.span;
                let parameter = self.push(parameter);
                self.inputs.insert(value, parameter);
                self.read.push(value);
                return Ok(parameter);
            }
            Shape::Token => {
                leaves.next();
                (Op::AfterAll, Vec::new())
            }
            other => return Err(format!("'{}' is {other}", like.name)),
        };
        let mut made = Instruction::new(&like.name, shape.clone(), op, operands);
        made.span = like.span;
        Ok(self.push(made))
    }

    /// The step that computes all of it.
    pub(super) fn finish(self) -> PlannedHost {
        let Cluster { name, reasons, callees, mut instructions, read, constants, outputs, .. } = self;
        for (number, (_, parameter)) in (0..).zip(&constants) {
            instructions[*parameter].op = Op::Parameter { number: read.len() as i64 + number };
        }
        let constants = constants.into_iter().map(|(site, _)| site).collect();
        let root = instructions.ids().last().unwrap_or_else(|| InstrId::from_index(0));
        let mut computations = callees.made;
        let mut taken = UniqueNames::default();
        computations.values().for_each(|computation| drop(taken.take(&computation.name)));
        let entry = taken.take(&format!("{name}_on_host"));
        let entry = computations.push(Computation::new(entry, instructions, root));
        let module = Module::new(name, computations, entry);
        PlannedHost { reasons, module, inputs: read, constants, outputs }
    }
}

/// Has the programs of the host yield what is used of what they make, and drops those of which nothing is.
///
/// # Errors
/// What the evaluator does not compute either; all that stays on the host, where the options forbid it.
pub(super) fn settle(schedule: &mut Schedule<'_>, options: &Options) -> Result<(), Error> {
    let mut findings = Vec::new();
    let used: BTreeSet<usize> =
        (0..schedule.values.len()).filter(|value| !schedule.values[*value].uses.is_empty()).collect();
    let mut steps = std::mem::take(&mut schedule.steps);
    let mut dropped = Vec::new();
    settle_block(&mut steps, &used, options, (&mut findings, &mut dropped));
    schedule.steps = steps;
    // What only the host needs lies nowhere.
    dropped.into_iter().for_each(|value: usize| schedule.values[value].bytes = 0);
    if findings.is_empty() { Ok(()) } else { Err(Diagnostics(findings).into()) }
}

fn settle_block(
    steps: &mut Vec<Planned>,
    used: &BTreeSet<usize>,
    options: &Options,
    (findings, dropped): (&mut Vec<Diagnostic>, &mut Vec<usize>),
) {
    for step in steps.iter_mut() {
        match step {
            Planned::While(step) => {
                settle_block(&mut step.condition, used, options, (findings, dropped));
                settle_block(&mut step.body, used, options, (findings, dropped));
            }
            Planned::Conditional(step) => {
                for branch in &mut step.branches {
                    settle_block(&mut branch.steps, used, options, (findings, dropped));
                }
            }
            Planned::Host(step) => {
                dropped.extend(step.outputs.iter().map(|(value, _)| *value).filter(|value| !used.contains(value)));
                step.outputs.retain(|(value, _)| used.contains(value));
                if step.outputs.is_empty() {
                    continue;
                }
                step.yield_outputs();
                match check(&step.module, &Config::default()) {
                    Ok(()) if options.host => {}
                    Ok(()) => findings.extend(step.reasons.iter().cloned()),
                    Err(found) => {
                        findings.extend(step.reasons.iter().cloned());
                        findings.extend(found.0);
                    }
                }
            }
            Planned::Launch(_) | Planned::Copy { .. } | Planned::Draw(_) => {}
        }
    }
    steps.retain(|step| !matches!(step, Planned::Host(host) if host.outputs.is_empty()));
}

impl PlannedHost {
    /// Makes what is used the results of the program.
    fn yield_outputs(&mut self) {
        let entry = self.module.entry;
        let computation = &mut self.module.computations[entry];
        let results: Vec<InstrId> = self.outputs.iter().map(|(_, instruction)| *instruction).collect();
        let shapes = results.iter().map(|result| computation.instructions[*result].shape.clone()).collect();
        let root = Instruction::new("results", Shape::Tuple(shapes), Op::Tuple, results);
        computation.root = computation.instructions.push(root);
    }
}
