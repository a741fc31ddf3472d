//! How values came to be, as far as a driver's algebra is concerned.

use crate::kernel::{Memory, MemoryId, Operand, Space, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Atom, Expr, Term, Var};
use weft_hlo::ir::{Arena, Scalar};

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

    /// Whether two values may be one element for all that a driver knows: they are of one binding, and of one memory at equal indices. What lies in
    /// memory of the workgroup was put there, and may have been put elsewhere too.
    pub(super) fn may_be_same(&self, memories: &Arena<MemoryId, Memory>, a: ValueId, b: ValueId) -> bool {
        let Some((a, b)) = self.places.get(&a).zip(self.places.get(&b)) else { return true };
        match (&memories[a.0].space, &memories[b.0].space) {
            (Space::Workgroup, _) | (_, Space::Workgroup) => true,
            _ if a.0 == b.0 => a.1 == b.1,
            (Space::Buffer { binding: a, .. }, Space::Buffer { binding: b, .. }) => a == b,
            _ => false,
        }
    }

    /// Whether an operand is another element in each round of a loop, whose variables have these extents and are numbered from `first` on: its
    /// position has a digit for each of them.
    pub(super) fn vary(&self, operand: Operand, first: u32, extents: &[i64]) -> bool {
        let Operand::Value(value) = operand else { return false };
        let Some((_, [position])) = self.places.get(&value) else { return false };
        let mut rest = position.clone();
        let mut digits = Vec::new();
        for (number, extent) in (first..).zip(extents).filter(|(_, extent)| **extent > 1) {
            let variable = Var::Range(number);
            let is_own = |term: &&Term| matches!(term.atom, Atom::Var(own) if own == variable);
            let Some(term) = position.terms().iter().find(is_own) else { return false };
            rest = rest - Expr::from(variable) * term.coefficient;
            digits.push((term.coefficient.unsigned_abs(), extent.unsigned_abs()));
        }
        digits.sort_unstable();
        let is_distinct = digits.into_iter().try_fold(0u64, |reach, (digit, extent)| {
            (digit > reach).then(|| reach.saturating_add(digit.saturating_mul(extent - 1)))
        });
        // What is bound in a round may be the same in another.
        let varies = |variable: Var| match variable {
            Var::Range(number) => number >= first,
            Var::Runtime(_) => true,
            Var::Dim(_) => false,
        };
        is_distinct.is_some() && !rest.find_variable(&mut |variable| varies(variable))
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
