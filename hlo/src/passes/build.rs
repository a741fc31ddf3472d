//! Adding instructions to a computation that a pass rewrites or makes.

use super::rebuild::Rebuild;
use crate::build::ComputationBuilder;
use crate::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Instruction, Literal, Op, Scalar,
    Shape, Span, UnaryOp,
};

const ARRAY: &str = "passes add arrays only to arrays";

/// A computation that instructions are added to, of operands made already.
///
/// Unlike the methods of [`ComputationBuilder`] these cannot fail and check nothing again: a pass has verified operands, whose
/// shapes give that of the result.
pub(super) trait Build {
    /// An instruction made already.
    fn get(&self, id: InstrId) -> &Instruction;

    /// Another instruction.
    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId;

    /// The shape of an array made already.
    fn array(&self, id: InstrId) -> &ArrayShape {
        self.get(id).shape.as_array().expect(ARRAY)
    }

    fn element_type(&self, id: InstrId) -> ElementType {
        self.array(id).element_type
    }

    /// The value with its dimensions in another order: result dimension `i` is dimension `permutation[i]` of it.
    fn transposed(&mut self, value: InstrId, permutation: &[i64]) -> InstrId {
        if permutation.iter().enumerate().all(|(to, &from)| to as i64 == from) {
            return value;
        }
        let given = &self.array(value).extents;
        let extents: Vec<i64> = permutation.iter().map(|&from| given[from as usize]).collect();
        let shape = Shape::array(self.element_type(value), extents);
        self.add(shape, Op::Transpose { permutation: permutation.to_vec() }, vec![value])
    }

    /// The same elements in row-major order under other extents.
    fn reshaped(&mut self, value: InstrId, extents: Vec<i64>) -> InstrId {
        if self.array(value).extents == extents {
            return value;
        }
        let shape = Shape::array(self.element_type(value), extents);
        self.add(shape, Op::Reshape, vec![value])
    }

    /// Each index along a dimension.
    fn iota(&mut self, element_type: ElementType, extents: Vec<i64>, dimension: i64) -> InstrId {
        self.add(Shape::array(element_type, extents), Op::Iota { dimension }, Vec::new())
    }

    /// Each element as another type.
    fn converted(&mut self, value: InstrId, element_type: ElementType) -> InstrId {
        if self.element_type(value) == element_type {
            return value;
        }
        let shape = Shape::array(element_type, self.array(value).extents.clone());
        self.add(shape, Op::Convert, vec![value])
    }

    /// The values one after the other along a dimension.
    fn concatenated(&mut self, values: Vec<InstrId>, dimension: usize) -> InstrId {
        if let [value] = values[..] {
            return value;
        }
        let mut extents = self.array(values[0]).extents.clone();
        extents[dimension] = values.iter().map(|&value| self.array(value).extents[dimension]).sum();
        let shape = Shape::array(self.element_type(values[0]), extents);
        self.add(shape, Op::Concatenate { dimension: dimension as i64 }, values)
    }

    /// The elements of a line at these places, clamped into it: one for each.
    fn taken(&mut self, line: InstrId, places: InstrId) -> InstrId {
        let given = self.array(places).clone();
        let op = Op::Gather {
            offset_dims: Vec::new(),
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            operand_batching_dims: Vec::new(),
            start_indices_batching_dims: Vec::new(),
            index_vector_dim: given.rank() as i64,
            slice_sizes: vec![1],
            indices_are_sorted: false,
        };
        self.add(Shape::array(self.element_type(line), given.extents), op, vec![line, places])
    }

    /// A scalar.
    fn scalar(&mut self, value: Scalar) -> InstrId {
        self.add(Shape::scalar(value.element_type()), Op::Constant(Literal::scalar(value)), Vec::new())
    }

    /// Copies of the value, of which dimension `i` is result dimension `dimensions[i]`.
    fn broadcast(&mut self, value: InstrId, dimensions: &[i64], extents: Vec<i64>) -> InstrId {
        let shape = Shape::array(self.element_type(value), extents);
        self.add(shape, Op::Broadcast { dimensions: dimensions.to_vec() }, vec![value])
    }

    /// An array like the value, of elements of a type, computed of it and perhaps others element by element.
    fn like(&mut self, value: InstrId, element_type: ElementType, op: Op, operands: Vec<InstrId>) -> InstrId {
        let extents = self.array(value).extents.clone();
        self.add(Shape::array(element_type, extents), op, operands)
    }

    /// An operation of one array that keeps its type.
    fn unary(&mut self, op: UnaryOp, value: InstrId) -> InstrId {
        self.like(value, self.element_type(value), Op::Unary(op), vec![value])
    }

    /// An operation of two arrays that keeps their type.
    fn binary(&mut self, op: BinaryOp, left: InstrId, right: InstrId) -> InstrId {
        self.like(left, self.element_type(left), Op::Binary(op), vec![left, right])
    }

    /// Where the relation holds.
    fn compared(&mut self, direction: ComparisonDirection, left: InstrId, right: InstrId) -> InstrId {
        self.like(left, ElementType::Pred, Op::Compare { direction, order: None }, vec![left, right])
    }

    /// The first array where `choice` is true, else the second.
    fn selected(&mut self, choice: InstrId, first: InstrId, second: InstrId) -> InstrId {
        self.like(choice, self.element_type(first), Op::Select, vec![choice, first, second])
    }

    /// The value mirrored along some dimensions.
    fn reversed(&mut self, value: InstrId, dimensions: &[i64]) -> InstrId {
        self.like(value, self.element_type(value), Op::Reverse { dimensions: dimensions.to_vec() }, vec![value])
    }

    /// The box of these extents that starts at these indices.
    fn window(&mut self, value: InstrId, starts: &[InstrId], extents: &[i64]) -> InstrId {
        let shape = Shape::array(self.element_type(value), extents);
        let op = Op::DynamicSlice { dynamic_slice_sizes: extents.to_vec() };
        self.add(shape, op, [&[value], starts].concat())
    }

    /// The value with the box that starts at these indices replaced.
    fn updated(&mut self, value: InstrId, window: InstrId, starts: &[InstrId]) -> InstrId {
        self.like(value, self.element_type(value), Op::DynamicUpdateSlice, [&[value, window], starts].concat())
    }

    /// The values as one.
    fn tuple(&mut self, values: Vec<InstrId>) -> InstrId {
        let shapes = values.iter().map(|&value| self.get(value).shape.without_layout()).collect();
        self.add(Shape::Tuple(shapes), Op::Tuple, values)
    }

    /// One element of a tuple.
    fn element(&mut self, tuple: InstrId, index: usize) -> InstrId {
        let shape = self.get(tuple).shape.as_tuple().expect("only tuples are taken apart")[index].clone();
        self.add(shape, Op::GetTupleElement { index: index as i64 }, vec![tuple])
    }
}

impl Rebuild<'_> {
    /// The value folded along dimensions from a number on, by an operation in a computation of this name, or another that does the same.
    pub(super) fn reduced(
        &mut self,
        (op, name): (BinaryOp, &str),
        value: InstrId,
        initial: Scalar,
        dimensions: &[i64],
    ) -> InstrId {
        let ArrayShape { element_type, extents, .. } = self.array(value).clone();
        let mut region = Callee::new(name, self.span());
        let [left, right] = [(); 2].map(|()| region.parameter(Shape::scalar(element_type)));
        let both = region.binary(op, left, right);
        let to_apply = self.shared_computation(region.finish(both));
        let initial = self.scalar(initial);
        let kept = (0..).zip(&extents).filter(|(dimension, _)| !dimensions.contains(dimension));
        let extents: Vec<i64> = kept.map(|(_, extent)| *extent).collect();
        let op = Op::Reduce { dimensions: dimensions.to_vec(), to_apply };
        self.add(Shape::array(element_type, extents), op, vec![value, initial])
    }
}

/// The permutation that undoes another.
pub(super) fn inverse(permutation: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; permutation.len()];
    for (to, &from) in permutation.iter().enumerate() {
        inverse[from as usize] = to as i64;
    }
    inverse
}

/// A computation that a pass makes, of instructions whose shapes it knows.
pub(super) struct Callee(ComputationBuilder<'static>);

impl Callee {
    /// A computation without instructions, made for what stands there in the text.
    pub(super) fn new(name: &str, span: Span) -> Self {
        Callee(ComputationBuilder::detached(name).at(span))
    }

    /// The next parameter.
    pub(super) fn parameter(&mut self, shape: Shape) -> InstrId {
        self.0.parameter(shape)
    }

    /// The computation of an instruction's value.
    pub(super) fn finish(self, root: InstrId) -> Computation {
        self.0.finish_detached(root)
    }
}

impl Build for Callee {
    fn get(&self, id: InstrId) -> &Instruction {
        &self.0.instructions()[id]
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        self.0.insert(shape, op, operands)
    }
}
