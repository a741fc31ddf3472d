//! Simplification of reductions of one array.
//!
//! Elements are folded into the initial value in row-major order. Where the order matters, no rule changes it.

use super::extents::{ascend, differ_in_ones, moved, numbers, positions, solid};
use super::filled::{copies, copies_like, splat};
use super::laws::{is_associative, is_commutative, is_exact, is_idempotent, is_neutral};
use super::variadic::folded_once;
use super::{array, extents};
use crate::ir::{Arena, BinaryOp, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Shape};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// A reduction of one array.
struct Fold {
    element_type: ElementType,
    input: InstrId,
    initial: InstrId,
    /// The dimensions that disappear, ascending.
    reduced: Vec<usize>,
    to_apply: ComputationId,
    /// The operation, if it is one.
    region: Option<Region>,
}

pub(super) fn reduce(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    dimensions: &[i64],
    to_apply: ComputationId,
) -> Option<Rule> {
    let fold = Fold::of(rebuild, candidate, dimensions, to_apply)?;
    let from = extents(rebuild, fold.input)?;
    if fold.reduced.iter().any(|&dimension| from[dimension] == 0) {
        return Some(("reduce(empty, c) = broadcast(c)", copies(candidate, fold.initial)));
    }
    if fold.reduced.iter().all(|&dimension| from[dimension] == 1) {
        return fold.of_single_elements(rebuild, candidate);
    }
    let inner = rebuild.get(fold.input).clone();
    match &inner.op {
        Op::Reshape => fold.of_reshape(rebuild, candidate, *inner.operands.first()?),
        Op::Broadcast { dimensions } => {
            fold.of_broadcast(rebuild, candidate, *inner.operands.first()?, &positions(dimensions)?)
        }
        Op::Transpose { permutation } => fold.of_transpose(*inner.operands.first()?, &positions(permutation)?),
        Op::Reduce { dimensions, to_apply } => {
            let first = Fold::of(rebuild, &inner, dimensions, *to_apply)?;
            fold.of_fold(rebuild, &first)
        }
        _ => None,
    }
}

impl Fold {
    fn of(
        rebuild: &Rebuild<'_>,
        instruction: &Instruction,
        dimensions: &[i64],
        to_apply: ComputationId,
    ) -> Option<Self> {
        let &[input, initial] = &instruction.operands[..] else { return None };
        let element_type = instruction.shape.as_array()?.element_type;
        let mut reduced = positions(dimensions)?;
        reduced.sort_unstable();
        let region = region(rebuild.computations(), to_apply, element_type);
        Some(Fold { element_type, input, initial, reduced, to_apply, region })
    }

    /// The same reduction of another array along other dimensions.
    fn along(&self, mut dimensions: Vec<usize>, input: InstrId, initial: InstrId) -> Rewrite {
        dimensions.sort_unstable();
        Rewrite::Op(Op::Reduce { dimensions: numbers(dimensions), to_apply: self.to_apply }, vec![input, initial])
    }

    /// As [`along`](Self::along), as an instruction on the way.
    fn add_along(&self, rebuild: &mut Rebuild<'_>, dimensions: &[usize], input: InstrId) -> Option<InstrId> {
        let from = extents(rebuild, input)?;
        let left: Vec<i64> = (0..from.len())
            .filter(|dimension| !dimensions.contains(dimension))
            .map(|dimension| from[dimension])
            .collect();
        let reduce = Op::Reduce { dimensions: numbers(dimensions.iter().copied()), to_apply: self.to_apply };
        Some(rebuild.add(Shape::array(self.element_type, left), reduce, vec![input, self.initial]))
    }

    /// Whether folding into this initial value begins with the first element itself.
    fn begins_with_nothing(&self, rebuild: &Rebuild<'_>) -> bool {
        let neutral = |Region { op, .. }| splat(rebuild, self.initial).is_some_and(|c| is_neutral(op, c));
        self.region.is_some_and(|region| is_commutative(region.op) && neutral(region))
    }

    /// The operands of the operation that combines the initial value with each element of an array of these extents.
    fn combined(&self, rebuild: &mut Rebuild<'_>, like: &[i64], x: InstrId) -> Option<(Op, Vec<InstrId>)> {
        let region = self.region?;
        let initial = copies_like(rebuild, self.element_type, like, self.initial);
        let operands = if region.is_reversed { vec![x, initial] } else { vec![initial, x] };
        Some((Op::Binary(region.op), operands))
    }

    /// One element is folded into each result.
    fn of_single_elements(&self, rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
        let shape = candidate.shape.as_array()?.clone();
        let is_same = extents(rebuild, self.input)? == shape.extents;
        if self.begins_with_nothing(rebuild) {
            let rewrite = if is_same { Rewrite::Value(self.input) } else { Rewrite::Op(Op::Reshape, vec![self.input]) };
            return Some(("reduce(x, 0) = x along dimensions of extent 1", rewrite));
        }
        if self.region.is_none() {
            let results = folded_once(rebuild, self.to_apply, &[self.initial], &[self.input], &shape.extents)?;
            let &[value] = &results[..] else { return None };
            return Some(("reduce(x, c) = f(c, x) along dimensions of extent 1", Rewrite::Value(value)));
        }
        let x = if is_same {
            self.input
        } else {
            rebuild.add(Shape::array(shape.element_type, shape.extents.clone()), Op::Reshape, vec![self.input])
        };
        let (op, operands) = self.combined(rebuild, &shape.extents, x)?;
        Some(("reduce(x, c) = c + x along dimensions of extent 1", Rewrite::Op(op, operands)))
    }

    /// A reshape that only adds or removes dimensions of extent 1.
    fn of_reshape(&self, rebuild: &mut Rebuild<'_>, candidate: &Instruction, source: InstrId) -> Option<Rule> {
        let (from, to) = (extents(rebuild, source)?, extents(rebuild, self.input)?);
        if !differ_in_ones(&from, &to) {
            return None;
        }
        let folded = solid(&to).into_iter().filter(|dimension| self.reduced.contains(dimension));
        let mut reduced = folded.map(|dimension| moved(&to, &from, dimension)).collect::<Option<Vec<_>>>()?;
        // Of the source every dimension of extent 1 disappears too.
        reduced.extend((0..from.len()).filter(|&dimension| from[dimension] == 1));
        reduced.sort_unstable();
        let left: Vec<i64> = solid(&from)
            .into_iter()
            .filter(|dimension| !reduced.contains(dimension))
            .map(|dimension| from[dimension])
            .collect();
        if left == candidate.shape.as_array()?.extents {
            let rewrite = self.along(reduced, source, self.initial);
            return Some(("reduce(reshape(x)) = reduce(x) where the reshape moves ones", rewrite));
        }
        let reduce = self.add_along(rebuild, &reduced, source)?;
        Some((
            "reduce(reshape(x)) = reshape(reduce(x)) where the reshape moves ones",
            Rewrite::Op(Op::Reshape, vec![reduce]),
        ))
    }

    /// What is repeated is folded once, if once is as good as often; what is folded along other dimensions is folded before
    /// it is repeated.
    fn of_broadcast(
        &self,
        rebuild: &mut Rebuild<'_>,
        candidate: &Instruction,
        source: InstrId,
        dimensions: &[usize],
    ) -> Option<Rule> {
        let repeats = self.reduced.iter().any(|dimension| !dimensions.contains(dimension));
        let once_is_enough = self.region.is_some_and(|region| is_idempotent(region.op, self.element_type));
        if repeats && !once_is_enough {
            return None;
        }
        // The dimensions of the source that are folded, in the order in which the reduction goes through them.
        let within: Vec<usize> = self
            .reduced
            .iter()
            .filter_map(|dimension| dimensions.iter().position(|place| place == dimension))
            .collect();
        if !ascend(&within) && !self.region.is_some_and(|region| is_exact(region.op, self.element_type)) {
            return None;
        }
        let from = extents(rebuild, source)?;
        let folded = if !within.is_empty() {
            let mut within = within.clone();
            within.sort_unstable();
            self.add_along(rebuild, &within, source)?
        } else if self.begins_with_nothing(rebuild) {
            source
        } else {
            let (op, operands) = self.combined(rebuild, &from, source)?;
            rebuild.add(Shape::array(self.element_type, from.clone()), op, operands)
        };
        // Where the dimensions that are left are in the result.
        let rank = candidate.shape.as_array()?.rank().checked_add(self.reduced.len())?;
        let left: Vec<usize> = (0..rank).filter(|dimension| !self.reduced.contains(dimension)).collect();
        let places = (0..from.len())
            .filter(|dimension| !within.contains(dimension))
            .map(|dimension| left.iter().position(|place| Some(place) == dimensions.get(dimension)))
            .collect::<Option<Vec<_>>>()?;
        let broadcast = Op::Broadcast { dimensions: numbers(places) };
        Some(("reduce(broadcast(x)) = broadcast(reduce(x))", Rewrite::Op(broadcast, vec![folded])))
    }

    /// Dimensions change places, but neither those that are left nor, where their order matters, those that are folded.
    fn of_transpose(&self, source: InstrId, permutation: &[usize]) -> Option<Rule> {
        let (mut folded, mut left) = (Vec::new(), Vec::new());
        for (dimension, &from) in permutation.iter().enumerate() {
            if self.reduced.contains(&dimension) { folded.push(from) } else { left.push(from) }
        }
        let any_order = self.region.is_some_and(|region| is_exact(region.op, self.element_type));
        if !ascend(&left) || !(any_order || ascend(&folded)) {
            return None;
        }
        Some(("reduce(transpose(x)) = reduce(x)", self.along(folded, source, self.initial)))
    }

    /// A reduction of a reduction with the same operation.
    fn of_fold(&self, rebuild: &Rebuild<'_>, first: &Fold) -> Option<Rule> {
        let region = self.region.filter(|&region| first.region == Some(region))?;
        if !is_associative(region.op, self.element_type) || !rebuild.has_one_use(self.input) {
            return None;
        }
        let is_begun_twice = first.initial == self.initial && is_idempotent(region.op, self.element_type);
        if !first.begins_with_nothing(rebuild) && !is_begun_twice {
            return None;
        }
        let rank = array(rebuild, first.input)?.rank();
        let left: Vec<usize> = (0..rank).filter(|dimension| !first.reduced.contains(dimension)).collect();
        let mut all = self.reduced.iter().map(|&dimension| left.get(dimension).copied()).collect::<Option<Vec<_>>>()?;
        let in_order = all.last() < first.reduced.first();
        if !in_order && !is_exact(region.op, self.element_type) {
            return None;
        }
        all.extend(&first.reduced);
        let rewrite = self.along(all, first.input, self.initial);
        Some(("reduce(reduce(x)) = reduce(x) along the dimensions of both", rewrite))
    }
}

/// One operation of an accumulator and an element.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::passes) struct Region {
    /// The operation.
    pub(in crate::passes) op: BinaryOp,
    /// Whether the element is its first operand.
    pub(in crate::passes) is_reversed: bool,
}

/// The operation that a computation of scalars of this type comes to.
pub(in crate::passes) fn region(
    computations: &Arena<ComputationId, Computation>,
    computation: ComputationId,
    element_type: ElementType,
) -> Option<Region> {
    let computation = computations.get(computation)?;
    let root = &computation.instructions[computation.root];
    let Op::Binary(op) = root.op else { return None };
    let parameters = computation.parameters();
    let &[accumulator, element] = &parameters[..] else { return None };
    let scalar = Shape::scalar(element_type);
    let shapes = [&root.shape, &computation.instructions[accumulator].shape, &computation.instructions[element].shape];
    if !shapes.iter().all(|shape| shape.is_compatible(&scalar)) {
        return None;
    }
    match root.operands[..] {
        [a, b] if (a, b) == (accumulator, element) => Some(Region { op, is_reversed: false }),
        [a, b] if (a, b) == (element, accumulator) => Some(Region { op, is_reversed: true }),
        _ => None,
    }
}
