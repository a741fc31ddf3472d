//! Panels: the columns, or rows, that are worked off one by one before products of matrices follow.

use super::matrices::Matrices;
use super::scope::Scope;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId};
use crate::passes::build::Build;

/// The columns of a panel, of so many in all: all of them up to 32; else 32, and 64 of more than 1,024.
pub(super) fn width(count: i64) -> i64 {
    match count {
        ..=32 => count,
        33..=1024 => 32,
        _ => 64,
    }
}

/// The least number of columns in whole panels that is no less than another.
pub(super) fn whole(count: i64, width: i64) -> i64 {
    count.saturating_add(width - 1) / width * width
}

impl Scope<'_, '_> {
    /// The first column of a panel.
    pub(super) fn first_of(&mut self, panel: InstrId, width: i64) -> InstrId {
        let width = self.integer(width);
        self.binary(BinaryOp::Multiply, panel, width)
    }

    /// Where row and column, counted from `first` on, compare so in arrays of these extents.
    pub(super) fn triangle(&mut self, direction: ComparisonDirection, first: InstrId, extents: &[i64; 3]) -> InstrId {
        let [row, column] = [1, 2].map(|dimension| self.along(dimension, extents));
        let first = self.everywhere(first, extents);
        let column = self.binary(BinaryOp::Add, column, first);
        self.compared(direction, row, column)
    }

    /// Ones on the diagonal, else zeros.
    pub(super) fn identity(&mut self, working: ElementType, extents: &[i64; 3]) -> InstrId {
        let first = self.integer(0);
        let is_diagonal = self.triangle(ComparisonDirection::Eq, first, extents);
        let [zero, one] = [0.0, 1.0].map(|number| self.filled(working, number, extents));
        self.selected(is_diagonal, one, zero)
    }

    /// Square matrices with ones on the diagonal and zeros around it, behind their elements, up to an order.
    pub(super) fn extended_by_ones(&mut self, matrices: InstrId, order: i64) -> InstrId {
        let [batch, given, _] = self.extents(matrices);
        if given == order {
            return matrices;
        }
        let extents = [batch, order, order];
        let extended = self.extended(matrices, &extents);
        let given = self.integer(given);
        let is_behind = self.places(1, ComparisonDirection::Ge, given, &extents);
        let working = self.element_type(matrices);
        let ones = self.identity(working, &extents);
        self.selected(is_behind, ones, extended)
    }
}
