//! Indexing maps of reduce-window and select-and-scatter.
//!
//! Along each dimension element `e` of the base lies at `e * base_dilation`, and tap `t` of the window in position `p` at
//! `p * stride + t * window_dilation - padding_low`; they meet where both are the same place. Padding, and what base
//! dilation puts between elements, is nothing that could be read.

use weft_affine::{Constraint, Expr, Interval, Ranges, range_of};
use weft_indexing::IndexingMap;

use super::context::{InstructionContext, OperationMaps, dim, next_range};
use super::{ElementMap, Relation, Undefined};
use crate::ir::{Window, WindowDimension};

/// A map in the making, from an array of known extents.
pub(super) struct MapBuilder<'a> {
    from: &'a [i64],
    ranges: Vec<i64>,
    conditions: Vec<Constraint>,
}

impl<'a> MapBuilder<'a> {
    pub(super) fn new(from: &'a [i64]) -> MapBuilder<'a> {
        MapBuilder { from, ranges: Vec::new(), conditions: Vec::new() }
    }

    /// What runs over all of an extent; 0 where that is the only index.
    pub(super) fn run(&mut self, extent: i64) -> Expr {
        if extent == 1 { Expr::constant(0) } else { next_range(&mut self.ranges, extent) }
    }

    /// `dividend / divisor`, for a divisor above zero, where nothing is left over and the quotient is one of `0..count`.
    /// What holds everywhere does not become a condition.
    pub(super) fn quotient(&mut self, dividend: &Expr, divisor: i64, count: i64) -> Result<Expr, Undefined> {
        let last = (count - 1).checked_mul(divisor).ok_or(Undefined::Overflow { what: "the reach of a window" })?;
        let reach = range_of(dividend, &self.bounds());
        if reach.lo < 0 || reach.hi > last {
            self.conditions.push(Constraint::new(dividend.clone(), Interval { lo: 0, hi: last }));
        }
        let is_multiple = dividend.constant_term() % divisor == 0
            && dividend.terms().iter().all(|term| term.coefficient % divisor == 0);
        if !is_multiple {
            self.conditions.push(Constraint::new(dividend.checked_modulo(divisor)?, Interval::point(0)));
        }
        Ok(dividend.checked_floor_div(divisor)?)
    }

    fn bounds(&self) -> Ranges {
        let bounds = |extents: &[i64]| extents.iter().map(|extent| Interval::of_extent(*extent)).collect();
        Ranges { dims: bounds(self.from), ranges: bounds(&self.ranges), runtime: Vec::new() }
    }

    /// The map to an index.
    pub(super) fn to(self, results: Vec<Expr>) -> Result<IndexingMap, weft_indexing::Error> {
        let mut map = IndexingMap::of_extents(self.from, &self.ranges, results)?;
        for condition in self.conditions {
            map.add_constraint(condition.expr, condition.bounds)?;
        }
        Ok(map)
    }
}

/// One dimension of a window, with the extent of what it moves over and how many positions it has there.
pub(super) struct Along {
    pub(super) window: WindowDimension,
    pub(super) base: i64,
    pub(super) positions: i64,
}

impl Along {
    /// The element that a tap meets in a position.
    pub(super) fn element(&self, draft: &mut MapBuilder<'_>, position: &Expr, tap: &Expr) -> Result<Expr, Undefined> {
        let before = self.window.padding_low.checked_neg().ok_or(Undefined::Overflow { what: "the padding" })?;
        let start = position.checked_mul(self.window.stride)?.checked_add_constant(before)?;
        let place = start.checked_add_scaled(tap, self.window.window_dilation)?;
        draft.quotient(&place, self.window.base_dilation, self.base)
    }

    /// The position in which a tap meets an element.
    pub(super) fn position(&self, draft: &mut MapBuilder<'_>, element: &Expr, tap: &Expr) -> Result<Expr, Undefined> {
        let place = element.checked_mul(self.window.base_dilation)?.checked_add_constant(self.window.padding_low)?;
        let start = place.checked_add_scaled(tap, -self.window.window_dilation)?;
        draft.quotient(&start, self.window.stride, self.positions)
    }

    /// An element that some position of the window covers together with the given one.
    fn neighbour(&self, draft: &mut MapBuilder<'_>, element: &Expr) -> Result<Expr, Undefined> {
        let (tap, other) = (draft.run(self.window.size), draft.run(self.window.size));
        self.position(draft, element, &tap)?;
        let apart = other.checked_sub(&tap)?.checked_mul(self.window.window_dilation)?;
        let place = element.checked_mul(self.window.base_dilation)?.checked_add(&apart)?;
        draft.quotient(&place, self.window.base_dilation, self.base)
    }

    /// Whether several taps meet an element in every position.
    fn is_never_alone(&self) -> bool {
        let WindowDimension { size, stride, padding_low, window_dilation, base_dilation, .. } = self.window;
        // Factors of 64 bits have products of 127.
        let last = i128::from(self.positions - 1) * i128::from(stride) - i128::from(padding_low)
            + i128::from(size - 1) * i128::from(window_dilation);
        size > 1 && base_dilation == 1 && padding_low <= 0 && last < i128::from(self.base)
    }
}

/// The dimensions of a window over a base, whose positions are those of an array of their own.
struct Windows<'a> {
    window: &'a Window,
    base: &'a [i64],
    positions: &'a [i64],
}

impl Windows<'_> {
    fn dimensions(&self) -> impl Iterator<Item = Along> {
        let extents = self.base.iter().zip(self.positions);
        let along = |(window, (&base, &positions)): (&WindowDimension, _)| Along { window: *window, base, positions };
        self.window.dimensions.iter().zip(extents).map(along)
    }

    /// From a position to the elements under the window.
    fn covered(&self) -> Result<IndexingMap, Undefined> {
        let mut draft = MapBuilder::new(self.positions);
        let elements = self.dimensions().enumerate().map(|(dimension, along)| {
            let tap = draft.run(along.window.size);
            along.element(&mut draft, &dim(dimension), &tap)
        });
        let elements = elements.collect::<Result<_, _>>()?;
        Ok(draft.to(elements)?)
    }

    /// From an element to the positions of the window that cover it.
    fn covering(&self) -> Result<IndexingMap, Undefined> {
        let mut draft = MapBuilder::new(self.base);
        let positions = self.dimensions().enumerate().map(|(dimension, along)| {
            let tap = draft.run(along.window.size);
            along.position(&mut draft, &dim(dimension), &tap)
        });
        let positions = positions.collect::<Result<_, _>>()?;
        Ok(draft.to(positions)?)
    }

    /// From an element to those that some position of the window covers together with it, itself included.
    fn covered_together(&self) -> Result<IndexingMap, Undefined> {
        let mut draft = MapBuilder::new(self.base);
        let elements =
            self.dimensions().enumerate().map(|(dimension, along)| along.neighbour(&mut draft, &dim(dimension)));
        let elements = elements.collect::<Result<_, _>>()?;
        Ok(draft.to(elements)?)
    }
}

/// Of `n` inputs and `n` initial values. Every result depends on all of them alike, since one computation combines them.
pub(super) fn reduce_window(context: &InstructionContext<'_>, window: &Window) -> OperationMaps {
    let inputs = context.operands() / 2;
    let windows = Windows { window, base: context.operand(0), positions: context.result(0) };
    let map = if context.is_backward() { windows.covered()? } else { windows.covering()? };
    let each = |result: usize| (0..context.operands()).map(move |operand| (result, operand));
    let found = (0..context.results()).flat_map(each).map(|(result, operand)| {
        if operand < inputs { context.on(result, operand, map.clone()) } else { context.all(result, operand) }
    });
    Ok(found.collect())
}

/// An element of the result is the initial value, combined with those elements of the source whose window has chosen it
/// among the operand's elements that it covers.
pub(super) fn select_and_scatter(context: &InstructionContext<'_>, window: &Window) -> OperationMaps {
    let windows = Windows { window, base: context.operand(0), positions: context.operand(1) };
    // Two elements are covered together or not, whichever of them is asked.
    let compared = windows.covered_together()?;
    let compared = if windows.dimensions().any(|along| along.is_never_alone()) {
        ElementMap::exact(compared)
    } else {
        ElementMap::coarse(compared, "an element that a window covers alone is not compared")
    };
    let chosen = if context.is_backward() { windows.covering()? } else { windows.covered()? };
    let chosen = if window.dimensions.iter().all(|along| along.size == 1) {
        ElementMap::exact(chosen)
    } else {
        ElementMap::coarse(chosen, "which element a window chooses is known only at run time")
    };
    let of = |operand, map| context.on(0, operand, Relation::Maps(vec![map]));
    Ok(vec![of(0, compared), of(1, chosen), context.all(0, 2)])
}
