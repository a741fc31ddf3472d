//! Expansion of scans into prefix sums and loops.

use super::build::{Build, Callee};
use super::counted::{counted_all, programs};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_meant};
use super::stable_order::constant;
use crate::diagnostic::Diagnostics;
use crate::eval::scan_refusal;
use crate::ir::{
    ArrayShape, BinaryOp, Computation, ComputationId, InstrId, Instruction, Module, Op, Scalar, Shape, SliceDimension,
    Window, WindowDimension, identity,
};

/// Replaces `scan` by one of these:
///
/// - where it carries the sum, product, maximum, minimum, "and", "or" or "xor" of all elements so far, and yields that for each: a `reduce-window` over all elements before each one, which kernels
///   compute in few steps. Of integers, and of floats where the scan says that it is associative: their sums and products may then be rounded otherwise;
/// - else a loop of as many rounds as there are slices.
///
/// Scans in computations without control flow of their own, and those of which the evaluator makes nothing, stay as they are.
pub struct Scans;

impl Pass for Scans {
    fn name(&self) -> &'static str {
        "expand-scans"
    }

    fn about(&self) -> &'static str {
        "writes scan out as reduce-window or as a loop"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let programs = programs(module);
        let is_meant = |computation: &Computation, id: InstrId| {
            let instruction = &computation.instructions[id];
            let is_static = |shape: &Shape| shape.as_array().is_some_and(|array| array.dynamic.is_empty());
            let mut given = instruction.operands.iter().map(|&operand| &computation.instructions[operand].shape);
            matches!(instruction.op, Op::Scan { .. })
                && programs.contains(&computation.name)
                && scan_refusal(module, computation, instruction).is_none()
                && given.all(is_static)
                && parts(&instruction.shape).all(is_static)
        };
        Ok(rewrite_meant(module, &is_meant, &expand))
    }
}

/// What a scan runs along, and with what.
struct Scan {
    /// The dimension.
    along: usize,
    /// The number of slices.
    length: i64,
    is_reverse: bool,
    inputs: Vec<InstrId>,
    /// What is carried before the first slice.
    initial: Vec<InstrId>,
    outputs: Vec<ArrayShape>,
    to_apply: ComputationId,
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Scan { dimension, num_carries, is_reverse, is_associative, to_apply } = candidate.op else { return None };
    let results: Vec<ArrayShape> = parts(&candidate.shape).filter_map(Shape::as_array).cloned().collect();
    let carries = usize::try_from(num_carries).ok()?;
    let (inputs, initial) = candidate.operands.split_at(candidate.operands.len().checked_sub(carries)?);
    let outputs = &results[..results.len().checked_sub(carries)?];
    let along = usize::try_from(dimension).ok()?;
    let first = inputs.first().map_or_else(|| outputs.first(), |&input| Some(rebuild.array(input)))?;
    let scan = Scan {
        along,
        length: *first.extents.get(along)?,
        is_reverse,
        inputs: inputs.to_vec(),
        initial: initial.to_vec(),
        outputs: outputs.to_vec(),
        to_apply,
    };
    let (rule, values) = match scan.folded(rebuild, is_associative) {
        _ if scan.length == 0 => ("a scan of no slices carries on what it is given", scan.start(rebuild)),
        Some((op, neutral)) => ("a scan that folds is a prefix sum", scan.prefixes(rebuild, op, neutral)),
        None => ("a scan is a loop over its slices", scan.rounds(rebuild)),
    };
    let rewrite = match (candidate.shape.as_tuple(), &values[..]) {
        (None, [value]) => Rewrite::Value(*value),
        _ => Rewrite::Op(Op::Tuple, values),
    };
    Some((rule, rewrite))
}

/// The shapes of the results of an operation of one or several.
fn parts(shape: &Shape) -> impl Iterator<Item = &Shape> {
    shape.as_tuple().unwrap_or(std::slice::from_ref(shape)).iter()
}

impl Scan {
    /// The operation that the computation does to an element and what is carried, where it yields the result and carries it on, and its neutral element.
    fn folded(&self, rebuild: &Rebuild<'_>, is_associative: bool) -> Option<(BinaryOp, Scalar)> {
        let ([input], [_], [output]) = (&self.inputs[..], &self.initial[..], &self.outputs[..]) else { return None };
        let given = rebuild.array(*input);
        if given.element_type != output.element_type || given.extents != output.extents {
            return None;
        }
        let callee = &rebuild.computations()[self.to_apply];
        let root = &callee.instructions[callee.root];
        let (Op::Tuple, [yielded, carried]) = (&root.op, &root.operands[..]) else { return None };
        let Op::Binary(op) = callee.instructions[*yielded].op else { return None };
        let mut operands = callee.instructions[*yielded].operands.clone();
        let mut parameters = callee.parameters();
        operands.sort_unstable();
        parameters.sort_unstable();
        // What else there is may have side effects.
        let is_all = callee.instructions.len() == parameters.len() + 2;
        let is_exact = is_associative || !given.element_type.is_float() && !given.element_type.is_complex();
        if yielded != carried || operands != parameters || !is_all || !is_exact {
            return None;
        }
        Some((op, identity(op, given.element_type)?))
    }

    /// Each element folded with all before it and the value carried in, and the last of these.
    fn prefixes(&self, rebuild: &mut Rebuild<'_>, op: BinaryOp, neutral: Scalar) -> Vec<InstrId> {
        let (input, initial) = (self.inputs[0], self.initial[0]);
        let ArrayShape { element_type, extents, .. } = rebuild.array(input).clone();
        let mut region = Callee::new("folded", rebuild.span());
        let [left, right] = [(); 2].map(|()| region.parameter(Shape::scalar(element_type)));
        let both = region.binary(op, left, right);
        let to_apply = rebuild.shared_computation(region.finish(both));
        let neutral = rebuild.scalar(neutral);
        let mut window = Window { dimensions: vec![WindowDimension::default(); extents.len()] };
        let before = self.length - 1;
        let (padding_low, padding_high) = if self.is_reverse { (0, before) } else { (before, 0) };
        window.dimensions[self.along] =
            WindowDimension { size: self.length, padding_low, padding_high, ..WindowDimension::default() };
        let shape = Shape::array(element_type, extents.clone());
        let op_of_windows = Op::ReduceWindow { window, to_apply };
        let prefixes = rebuild.add(shape, op_of_windows, vec![input, neutral]);
        let kept: Vec<i64> =
            (0..extents.len()).filter(|&dimension| dimension != self.along).map(|it| it as i64).collect();
        let carried = rebuild.broadcast(initial, &kept, extents.clone());
        let output = rebuild.binary(op, carried, prefixes);
        let last = if self.is_reverse { 0 } else { self.length - 1 };
        let mut dimensions: Vec<SliceDimension> =
            extents.iter().map(|&limit| SliceDimension { start: 0, limit, stride: 1 }).collect();
        dimensions[self.along] = SliceDimension { start: last, limit: last + 1, stride: 1 };
        let end = rebuild.add(Shape::array(element_type, self.slice(&extents)), Op::Slice { dimensions }, vec![output]);
        vec![output, rebuild.reshaped(end, self.rest(&extents))]
    }

    /// The outputs, of zeros, and what is carried before the first slice.
    fn start(&self, rebuild: &mut Rebuild<'_>) -> Vec<InstrId> {
        let mut values = Vec::with_capacity(self.outputs.len() + self.initial.len());
        for output in &self.outputs {
            let zero = Scalar::from_bits(0, output.element_type);
            values.push(constant(rebuild, zero, output.extents.clone()));
        }
        values.extend(&self.initial);
        values
    }

    /// The outputs, filled slice by slice, and what was carried last.
    fn rounds(&self, rebuild: &mut Rebuild<'_>) -> Vec<InstrId> {
        let mut state = self.inputs.clone();
        state.append(&mut self.start(rebuild));
        let result = rebuild.computations()[self.to_apply].result_shape().without_layout();
        let carried_from = self.inputs.len() + self.outputs.len();
        let mut last = counted_all(rebuild, self.length, state, |round, mut state| {
            let body = &mut round.body;
            let place = if self.is_reverse {
                let end = Scalar::from_bits((self.length - 1) as u128, body.element_type(round.number));
                let end = body.scalar(end);
                body.binary(BinaryOp::Subtract, end, round.number)
            } else {
                round.number
            };
            let starts = |rank: usize| -> Vec<InstrId> {
                (0..rank).map(|dimension| if dimension == self.along { place } else { round.zero }).collect()
            };
            let mut given = Vec::with_capacity(self.inputs.len() + self.initial.len());
            for &input in &state[..self.inputs.len()] {
                let extents = body.array(input).extents.clone();
                let slice = body.window(input, &starts(extents.len()), &self.slice(&extents));
                given.push(body.reshaped(slice, self.rest(&extents)));
            }
            given.extend(&state[carried_from..]);
            let called = body.add(result.clone(), Op::Call { to_apply: self.to_apply }, given);
            let made: Vec<InstrId> = match result.as_tuple() {
                Some(elements) => (0..elements.len()).map(|index| body.element(called, index)).collect(),
                None => vec![called],
            };
            let (yielded, carried) = made.split_at(self.outputs.len());
            for ((value, &slice), output) in state[self.inputs.len()..].iter_mut().zip(yielded).zip(&self.outputs) {
                let slice = body.reshaped(slice, self.slice(&output.extents));
                *value = body.updated(*value, slice, &starts(output.rank()));
            }
            state.truncate(carried_from);
            state.extend(carried);
            state
        });
        last.split_off(self.inputs.len())
    }

    /// The extents of a slice, with the dimension.
    fn slice(&self, extents: &[i64]) -> Vec<i64> {
        let mut slice = extents.to_vec();
        slice[self.along] = 1;
        slice
    }

    /// The extents of a slice, without the dimension.
    fn rest(&self, extents: &[i64]) -> Vec<i64> {
        let mut rest = extents.to_vec();
        rest.remove(self.along);
        rest
    }
}
