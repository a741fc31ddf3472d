//! Reductions to few elements, made in two passes.

use super::given::name_in;
use super::{Decision, Verdict};
use crate::monoid::{identity, operation};
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, InstrId, Instruction, Literal, Module, Op, PadDimension,
    Scalar, Shape, UniqueNames,
};

/// Elements that one invocation folds in one pass at most, where there are few of them.
const MAX_ROUNDS: i64 = 4096;

/// From so many elements of the result on there are enough invocations for one pass.
const MANY_ELEMENTS: i64 = 32_768;

/// A reduction of one array by one operation.
struct Reduction {
    from: ArrayShape,
    /// The dimensions that disappear, ascending.
    reduced: Vec<usize>,
    to_apply: ComputationId,
    identity: Scalar,
}

impl Reduction {
    /// The reduction that an instruction is, if it folds many elements into each of few.
    fn long(module: &Module, instructions: &Arena<InstrId, Instruction>, instruction: &Instruction) -> Option<Self> {
        let Op::Reduce { dimensions, to_apply } = &instruction.op else { return None };
        let [operand, _] = instruction.operands[..] else { return None };
        let from = instructions[operand].shape.as_array()?.clone();
        let identity = identity(operation(&module.computations[*to_apply])?, from.element_type)?;
        let mut reduced =
            dimensions.iter().map(|dimension| usize::try_from(*dimension).ok()).collect::<Option<Vec<_>>>()?;
        reduced.sort_unstable();
        let reduction = Reduction { from, reduced, to_apply: *to_apply, identity };
        let is_static = reduction.from.dynamic.is_empty() && reduction.from.element_count().is_some();
        let outputs = instruction.shape.as_array()?.element_count()?;
        (is_static && reduction.rounds() > MAX_ROUNDS && (1..MANY_ELEMENTS).contains(&outputs)).then_some(reduction)
    }

    /// Elements that are folded into one.
    fn rounds(&self) -> i64 {
        self.reduced.iter().map(|dimension| self.from.extents[*dimension]).product()
    }

    /// The longest stretch of neighbouring dimensions that disappear: the first and how many.
    fn stretch(&self) -> (usize, usize) {
        let mut longest = (0, 0, 0);
        let mut position = 0;
        while let Some(&first) = self.reduced.get(position) {
            let count = self.reduced[position..].iter().zip(first..).take_while(|(own, next)| *own == next).count();
            let extent: i64 = self.from.extents[first..first + count].iter().product();
            if extent > longest.2 {
                longest = (first, count, extent);
            }
            position += count;
        }
        (longest.0, longest.1)
    }
}

/// How many parts a stretch of `extent` is divided into for a reduction of `rounds` elements to one: about the square root, so that
/// both passes are as long, but enough that the first is not longer than [`MAX_ROUNDS`]; a divisor of the extent where one is near.
fn parts(extent: i64, rounds: i64) -> i64 {
    let root = (1..).find(|power| (1i64 << power) * (1i64 << power) >= rounds).map_or(1, |power| 1i64 << power);
    let wanted = root.max((rounds + MAX_ROUNDS - 1) / MAX_ROUNDS);
    if wanted >= extent {
        return extent;
    }
    let near = (0..=wanted).flat_map(|distance| [wanted + distance, wanted - distance / 2]);
    near.into_iter().find(|divisor| extent % divisor == 0).unwrap_or(wanted)
}

/// Whether a computation holds a reduction that is made in two passes.
pub(super) fn has_long_reduction(module: &Module, computation: &Computation) -> bool {
    let instructions = &computation.instructions;
    instructions.values().any(|instruction| Reduction::long(module, instructions, instruction).is_some())
}

/// Makes every reduction of more than [`MAX_ROUNDS`] elements to each of less than [`MANY_ELEMENTS`] two: to parts, then of
/// the parts. The parts of an element lie side by side in what the first pass reads, and so do the invocations that make them.
/// Where the elements cannot be divided evenly the last ones are neutral; the initial value enters the second pass alone.
pub(super) fn split_long_reductions(mut module: Module, id: ComputationId, decisions: &mut Vec<Decision>) -> Module {
    if !has_long_reduction(&module, &module.computations[id]) {
        return module;
    }
    let program = &module.computations[id];
    let mut names = UniqueNames::default();
    program.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut pass = Pass { module: &module, instructions: Arena::new(), names };
    let mut image: Vec<InstrId> = Vec::with_capacity(program.instructions.len());
    for (own, instruction) in program.instructions.iter() {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        if let Some(reduction) = Reduction::long(&module, &pass.instructions, &instruction) {
            let (rounds, name) = (reduction.rounds(), name_in(&module, id, own));
            let outputs = instruction.shape.as_array().and_then(ArrayShape::element_count).unwrap_or(0);
            let reason = format!("of {rounds} elements for each of {outputs} it is made in two passes");
            decisions.push(Decision { instruction: name, verdict: Verdict::Rewritten, reason });
        }
        image.push(pass.reduction(instruction));
    }
    let (instructions, root) = (pass.instructions, image[program.root.index()]);
    let program = &mut module.computations[id];
    program.root = root;
    program.instructions = instructions;
    module
}

struct Pass<'m> {
    module: &'m Module,
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
}

impl Pass<'_> {
    /// Adds an instruction, in two passes where it is a long reduction; the passes may be long themselves.
    fn reduction(&mut self, instruction: Instruction) -> InstrId {
        let Some(reduction) = Reduction::long(self.module, &self.instructions, &instruction) else {
            return self.instructions.push(instruction);
        };
        let [operand, initial] = instruction.operands[..] else { return self.instructions.push(instruction) };
        let neutral =
            self.add(&instruction, Shape::scalar(reduction.from.element_type), constant(reduction.identity), vec![]);
        // One dimension in place of the longest stretch.
        let (first, count) = reduction.stretch();
        let mut extents = reduction.from.extents.clone();
        let extent: i64 = extents.splice(first..first + count, [0]).product();
        extents[first] = extent;
        let others = reduction.reduced.iter().filter(|own| !(first..first + count).contains(own));
        let mut reduced: Vec<usize> = others.map(|own| if *own < first { *own } else { own + 1 - count }).collect();
        let parts = parts(extent, reduction.rounds());
        let mut value = self.array(&instruction, &extents, Op::Reshape, vec![operand]);
        if extent % parts != 0 {
            extents[first] += parts - extent % parts;
            let high = |dimension| if dimension == first { extents[first] - extent } else { 0 };
            let padding = |dimension| PadDimension { low: 0, high: high(dimension), interior: 0 };
            let op = Op::Pad { padding: (0..extents.len()).map(padding).collect() };
            value = self.array(&instruction, &extents, op, vec![value, neutral]);
        }
        let each = extents[first] / parts;
        if each > 1 {
            extents.splice(first..=first, [each, parts]);
            value = self.array(&instruction, &extents, Op::Reshape, vec![value]);
            reduced.iter_mut().filter(|own| **own > first).for_each(|own| *own += 1);
            reduced.push(first);
        }
        let kept = |dimension: &usize| !reduced.contains(dimension);
        let place = (0..first + usize::from(each > 1)).filter(kept).count();
        let left: Vec<i64> = (0..extents.len()).filter(kept).map(|dimension| extents[dimension]).collect();
        let dimensions = |reduced: &[usize]| reduced.iter().filter_map(|own| i64::try_from(*own).ok()).collect();
        let op = |reduced: &[usize]| Op::Reduce { dimensions: dimensions(reduced), to_apply: reduction.to_apply };
        reduced.sort_unstable();
        let mut partial = instruction.clone();
        partial.name = self.names.take(&instruction.name);
        partial.shape = Shape::array(reduction.from.element_type, left);
        partial.op = op(&reduced);
        partial.operands = vec![value, neutral];
        let partial = self.reduction(partial);
        let mut last = instruction.clone();
        last.op = op(&[place]);
        last.operands = vec![partial, initial];
        self.reduction(last)
    }

    fn add(&mut self, like: &Instruction, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.instructions.push(added)
    }

    /// An array of these extents; the operand itself where it has them.
    fn array(&mut self, like: &Instruction, extents: &[i64], op: Op, operands: Vec<InstrId>) -> InstrId {
        let Some(given) = operands.first().and_then(|operand| self.instructions[*operand].shape.as_array()) else {
            return self.add(like, like.shape.clone(), op, operands);
        };
        if given.extents == extents {
            return operands[0];
        }
        let shape = Shape::array(given.element_type, extents);
        self.add(like, shape, op, operands)
    }
}

fn constant(value: Scalar) -> Op {
    Op::Constant(Literal::scalar(value))
}
