//! How values came to be, as far as a driver's algebra is concerned.

use crate::kernel::{MemoryId, Operand, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Expr, Var};
use weft_hlo::ir::Scalar;

/// How a value came to be.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Origin {
    /// An element of a buffer.
    Element,
    /// A scalar operation, or a loop of them.
    Computed { is_arithmetic: bool },
    /// A product of these.
    Product { factors: [Operand; 2] },
    /// A choice between opaque values and constants other than zero, by a condition.
    Selected,
    /// The result of a function, which hides it if it computed it.
    Opaque,
    /// What a loop accumulates, in an open order; the loop's first variable has this number.
    Accumulated { first: u32 },
    /// One of several values: of two branches, or of those that a loop carries.
    Chosen,
}

impl Origin {
    /// Whether a driver sees what the value was computed from, unless it is hidden.
    pub(super) fn is_computed(self) -> bool {
        matches!(self, Origin::Computed { .. } | Origin::Product { .. } | Origin::Selected)
    }
}

/// Which elements of buffers values are.
#[derive(Default)]
pub(super) struct Elements<'f> {
    places: BTreeMap<ValueId, (MemoryId, &'f [Expr])>,
}

impl<'f> Elements<'f> {
    pub(super) fn insert(&mut self, value: ValueId, memory: MemoryId, indices: &'f [Expr]) {
        self.places.insert(value, (memory, indices));
    }

    /// Gives a value the place of another.
    pub(super) fn insert_same(&mut self, value: ValueId, other: ValueId) {
        if let Some(place) = self.places.get(&other).copied() {
            self.places.insert(value, place);
        }
    }

    /// Whether two values are elements of one buffer at equal indices.
    pub(super) fn are_same(&self, a: ValueId, b: ValueId) -> bool {
        self.places.get(&a).zip(self.places.get(&b)).is_none_or(|(a, b)| a == b)
    }

    /// Whether an operand is an element that is another in other rounds of a loop whose first variable has this number.
    pub(super) fn vary(&self, operand: Operand, first: u32) -> bool {
        let Operand::Value(value) = operand else { return false };
        let is_of_loop = |variable: Var| matches!(variable, Var::Range(number) if number >= first);
        let place = self.places.get(&value);
        place.is_some_and(|(_, indices)| indices.iter().any(|index| index.find_variable(&mut |it| is_of_loop(it))))
    }
}

/// A number without its sign.
pub(super) fn magnitude(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F32(value) => Scalar::F32(value.abs()),
        Scalar::F64(value) => Scalar::F64(value.abs()),
        other => other,
    }
}
