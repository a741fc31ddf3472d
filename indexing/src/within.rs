//! Bounds checks: whether a map stays within the shape that it indexes.

use std::ops::ControlFlow;

use weft_affine::Simplifier;

use crate::pieces::{Lanes, Piece, Program, may_overflow, visit};
use crate::{IndexingMap, Interval, Unknown};

/// Points that are looked at one by one where nothing else decides.
const MAX_POINTS: u128 = 1 << 16;

/// Whether all results of a map are indices of a shape.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// At every point of the domain, for all runtime values.
    Always,
    /// Not at some point.
    Sometimes,
    /// Not known, for this reason.
    Unknown(Unknown),
}

impl Within {
    /// The reason why the results are not known to be indices.
    pub(crate) fn obstacle(self) -> Option<Unknown> {
        match self {
            Within::Always => None,
            Within::Sometimes => Some(Unknown::OutOfBounds),
            Within::Unknown(reason) => Some(reason),
        }
    }
}

impl IndexingMap {
    /// Whether the results lie within the shape. `simple` is the map simplified.
    pub(crate) fn stays_within(&self, simple: &IndexingMap, shape: &[i64]) -> Within {
        if simple.is_known_empty() {
            return Within::Always;
        }
        let overflows = match Program::new(self) {
            Ok(program) => may_overflow(&program),
            Err(reason) => return Within::Unknown(reason),
        };
        let mut reason = Unknown::Overflow;
        if !overflows {
            let mut facts = Simplifier::new(&simple.variable_ranges(), &simple.constraints);
            let mut results = simple.results.iter().zip(shape);
            if results.all(|(e, n)| Interval::of_extent(*n).contains_interval(facts.range_of(e))) {
                return Within::Always;
            }
            match by_pieces(simple, shape).or_else(|_| by_pieces(self, shape)) {
                Ok(true) => return Within::Always,
                Ok(false) => return Within::Sometimes,
                Err(why) => reason = why,
            }
        }
        if self.box_size() > MAX_POINTS {
            return Within::Unknown(reason);
        }
        for p in self.points() {
            let Ok(index) = self.evaluate(&p.dims, &p.ranges, &p.runtime) else {
                return Within::Unknown(Unknown::Overflow);
            };
            if index.iter().zip(shape).any(|(i, n)| !Interval::of_extent(*n).contains(*i)) {
                return Within::Sometimes;
            }
        }
        Within::Always
    }
}

fn by_pieces(map: &IndexingMap, shape: &[i64]) -> Result<bool, Unknown> {
    let mut stays = Ok(true);
    visit(&Program::new(map)?, &Lanes::default(), &mut |piece| {
        stays = is_inside(&piece, shape);
        if stays == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    stays
}

fn is_inside(piece: &Piece, shape: &[i64]) -> Result<bool, Unknown> {
    for (form, extent) in piece.results.iter().zip(shape) {
        let (lo, hi) = form.range(piece)?;
        if lo < 0 || hi >= i128::from(*extent) {
            return Ok(false);
        }
    }
    Ok(true)
}
