//! The context in which the maps of one instruction are made: shapes, runtime variables, known values.

use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, Owner, RuntimeVariable};

use super::{Dependence, Direction, Domains, ElementMap, Owners, Relation, Undefined};
use crate::ir::{ArrayShape, Computation, InstrId, Instruction, Module, Op, Shape};

/// Dependences, or why there are none.
pub(super) type OperationMaps = Result<Vec<Dependence>, Undefined>;

/// An instruction among its operands, and what is asked of it.
#[derive(Copy, Clone)]
pub(super) struct InstructionContext<'a> {
    /// The program, where more than one computation is known.
    pub(super) module: Option<&'a Module>,
    pub(super) computation: &'a Computation,
    pub(super) id: InstrId,
    pub(super) instruction: &'a Instruction,
    pub(super) direction: Direction,
    pub(super) domains: Domains,
    /// The arrays (and tokens) of the value, from left to right, where it is a tuple and they have been counted.
    pub(super) arrays: &'a [&'a Shape],
    /// Where the arrays of each element of the first operand begin, where that is a tuple and they have been counted.
    pub(super) starts: &'a [usize],
}

impl<'a> InstructionContext<'a> {
    pub(super) fn new(
        computation: &'a Computation,
        id: InstrId,
        direction: Direction,
        domains: Domains,
    ) -> InstructionContext<'a> {
        let instruction = &computation.instructions[id];
        InstructionContext { module: None, computation, id, instruction, direction, domains, arrays: &[], starts: &[] }
    }

    /// The same where the program is known.
    pub(super) fn of(self, module: &'a Module) -> InstructionContext<'a> {
        InstructionContext { module: Some(module), ..self }
    }

    /// True where maps lead from results to operands.
    pub(super) fn is_backward(&self) -> bool {
        self.direction == Direction::OutputToInput
    }

    /// The shape of an operand.
    pub(super) fn operand_shape(&self, operand: usize) -> &'a Shape {
        &self.computation.instructions[self.instruction.operands[operand]].shape
    }

    /// True where all extents are known; of a tuple of which one element is taken, those of the element.
    pub(super) fn is_static(&self) -> bool {
        let is_element = matches!(self.instruction.op, Op::GetTupleElement { .. });
        let mut operands = 0..if is_element { 0 } else { self.operands() };
        self.instruction.shape.is_static() && operands.all(|operand| self.operand_shape(operand).is_static())
    }

    /// How many operands there are.
    pub(super) fn operands(&self) -> usize {
        self.instruction.operands.len()
    }

    /// The arrays (and tokens) of the value, from left to right.
    pub(super) fn results(&self) -> usize {
        if self.arrays.is_empty() { self.instruction.shape.leaves().len() } else { self.arrays.len() }
    }

    /// The extents of an array of the value.
    pub(super) fn result(&self, leaf: usize) -> &'a [i64] {
        match self.arrays.get(leaf) {
            Some(shape) => extents(shape, 0),
            None => extents(&self.instruction.shape, leaf),
        }
    }

    /// The extents of an operand that is an array.
    pub(super) fn operand(&self, operand: usize) -> &'a [i64] {
        extents(self.operand_shape(operand), 0)
    }

    /// The value's array with its layout.
    pub(super) fn result_array(&self, leaf: usize) -> Option<&'a ArrayShape> {
        array(&self.instruction.shape, leaf)
    }

    /// An operand's array with its layout.
    pub(super) fn operand_array(&self, operand: usize) -> Option<&'a ArrayShape> {
        array(self.operand_shape(operand), 0)
    }

    /// The element of `operand` at `access` as a start that is clamped so that a window of `size` lies within `extent`.
    pub(super) fn clamped_start(&self, operand: usize, access: Vec<Expr>, extent: i64, size: i64) -> RuntimeVariable {
        RuntimeVariable::of(self.owner(operand), access, Interval::new(0, extent - size))
    }

    /// The token of the instruction that yields an operand.
    fn owner(&self, operand: usize) -> Owner {
        Owners::of(self.instruction.operands[operand])
    }

    /// The dependence of the value's array `result` on operand `operand`, an array, in either direction.
    pub(super) fn on(&self, result: usize, operand: usize, relation: impl Into<Relation>) -> Dependence {
        Dependence { result: Some(result), operand: Some(operand), leaf: Some(0), relation: relation.into() }
    }

    /// As [`matched`], for the value's array `result` and an operand that is an array: the pairs name a dimension of the
    /// result, then one of the operand.
    pub(super) fn matched(&self, result: usize, operand: usize, pairs: &[(usize, usize)]) -> Dependence {
        self.on(result, operand, self.matched_map(result, operand, pairs))
    }

    /// The same where not all that the map leads to is read.
    pub(super) fn coarse(
        &self,
        result: usize,
        operand: usize,
        pairs: &[(usize, usize)],
        reason: &'static str,
    ) -> Dependence {
        let map = ElementMap::coarse(self.matched_map(result, operand, pairs), reason);
        self.on(result, operand, Relation::Maps(vec![map]))
    }

    /// The map of [`InstructionContext::matched`].
    pub(super) fn matched_map(&self, result: usize, operand: usize, pairs: &[(usize, usize)]) -> IndexingMap {
        let (output, input) = (self.result(result), self.operand(operand));
        if self.is_backward() {
            matched(output, input, pairs)
        } else {
            let pairs: Vec<(usize, usize)> = pairs.iter().map(|&(result, operand)| (operand, result)).collect();
            matched(input, output, &pairs)
        }
    }

    /// Every element at the same index.
    pub(super) fn same(&self, result: usize, operand: usize) -> Dependence {
        self.on(result, operand, IndexingMap::identity(self.result(result)))
    }

    /// Every element of the result depends on every element of the operand.
    pub(super) fn all(&self, result: usize, operand: usize) -> Dependence {
        self.matched(result, operand, &[])
    }
}

/// The map from an index of an array of extents `from` to the elements of one of extents `to` whose index agrees in the
/// paired dimensions, a dimension of `from` and one of `to` in each pair. Other dimensions of `to` are run over by range
/// variables, in order.
pub(super) fn matched(from: &[i64], to: &[i64], pairs: &[(usize, usize)]) -> IndexingMap {
    let mut ranges = Vec::new();
    let results = (0..to.len()).map(|dimension| match pairs.iter().find(|(_, own)| *own == dimension) {
        Some(&(of, _)) if of < from.len() => dim(of),
        _ => next_range(&mut ranges, to[dimension]),
    });
    let results = results.collect();
    IndexingMap::of_extents(from, &ranges, results)
        .expect("each result is a dimension or one of the new range variables")
}

/// A new range variable over `[0, extent - 1]`.
pub(super) fn next_range(ranges: &mut Vec<i64>, extent: i64) -> Expr {
    ranges.push(extent);
    Expr::range(number(ranges.len() - 1))
}

/// `d` of a dimension.
pub(super) fn dim(dimension: usize) -> Expr {
    Expr::dim(number(dimension))
}

/// `d0, d1, …` of an array of this rank.
pub(super) fn dims(rank: usize) -> Vec<Expr> {
    (0..rank).map(dim).collect()
}

/// A dimension number as an index; the verifier has refused negative ones.
pub(super) fn index(dimension: i64) -> usize {
    usize::try_from(dimension).unwrap_or(usize::MAX)
}

/// The number of a variable; ranks are bounded by the verifier.
pub(super) fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// The extents of an array of a value; none for a token.
pub(super) fn extents(shape: &Shape, leaf: usize) -> &[i64] {
    array(shape, leaf).map(|array| array.extents.as_slice()).unwrap_or_default()
}

fn array(shape: &Shape, leaf: usize) -> Option<&ArrayShape> {
    match shape {
        Shape::Array(array) => Some(array),
        shape => shape.leaves().get(leaf).and_then(|shape| shape.as_array()),
    }
}
