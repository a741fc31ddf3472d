//! Instructions that passes add on the way to others.

use super::rebuild::Rebuild;
use crate::ir::{ArrayShape, ElementType, InstrId, Op, Shape};

const ARRAY: &str = "passes add arrays only to arrays";

impl Rebuild<'_> {
    /// The shape of an array made already.
    pub(super) fn array(&self, id: InstrId) -> &ArrayShape {
        self.get(id).shape.as_array().expect(ARRAY)
    }

    fn element_type(&self, id: InstrId) -> ElementType {
        self.array(id).element_type
    }

    /// The value with its dimensions in another order: result dimension `i` is dimension `permutation[i]` of it.
    pub(super) fn transposed(&mut self, value: InstrId, permutation: &[i64]) -> InstrId {
        if permutation.iter().enumerate().all(|(to, &from)| to as i64 == from) {
            return value;
        }
        let given = &self.array(value).extents;
        let extents: Vec<i64> = permutation.iter().map(|&from| given[from as usize]).collect();
        let shape = Shape::array(self.element_type(value), extents);
        self.add(shape, Op::Transpose { permutation: permutation.to_vec() }, vec![value])
    }

    /// The same elements in row-major order under other extents.
    pub(super) fn reshaped(&mut self, value: InstrId, extents: Vec<i64>) -> InstrId {
        if self.array(value).extents == extents {
            return value;
        }
        let shape = Shape::array(self.element_type(value), extents);
        self.add(shape, Op::Reshape, vec![value])
    }

    /// Each index along a dimension.
    pub(super) fn iota(&mut self, element_type: ElementType, extents: Vec<i64>, dimension: i64) -> InstrId {
        self.add(Shape::array(element_type, extents), Op::Iota { dimension }, Vec::new())
    }

    /// Each element as another type.
    pub(super) fn converted(&mut self, value: InstrId, element_type: ElementType) -> InstrId {
        if self.element_type(value) == element_type {
            return value;
        }
        let shape = Shape::array(element_type, self.array(value).extents.clone());
        self.add(shape, Op::Convert, vec![value])
    }

    /// The values one after the other along a dimension.
    pub(super) fn concatenated(&mut self, values: Vec<InstrId>, dimension: usize) -> InstrId {
        if let [value] = values[..] {
            return value;
        }
        let mut extents = self.array(values[0]).extents.clone();
        extents[dimension] = values.iter().map(|&value| self.array(value).extents[dimension]).sum();
        let shape = Shape::array(self.element_type(values[0]), extents);
        self.add(shape, Op::Concatenate { dimension: dimension as i64 }, values)
    }

    /// One element of a tuple.
    pub(super) fn element(&mut self, tuple: InstrId, index: usize) -> InstrId {
        let shape = self.get(tuple).shape.as_tuple().expect("only tuples are taken apart")[index].clone();
        self.add(shape, Op::GetTupleElement { index: index as i64 }, vec![tuple])
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
