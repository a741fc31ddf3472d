//! The least bounds of variables that hold all points of a domain.

use std::ops::ControlFlow;

use weft_affine::{Expr, Interval};

use crate::pieces::{Form, Lanes, Piece, Program, may_overflow, visit};
use crate::{IndexingMap, Unknown};

impl IndexingMap {
    /// The same map within the least bounds of dimension and range variables that hold all points: those of the set of points, not
    /// of how it is written. Where they are not found out, within the bounds that simplification finds; as it was, where a value
    /// may leave `i64`. Runtime variables keep their bounds.
    pub(crate) fn within_least_bounds(&self) -> IndexingMap {
        let is_plain = self.constraints.is_empty() || self.is_known_empty();
        // Taking a domain apart finds all integer points, also those at which a constraint has no value.
        if is_plain || !Program::new(self).is_ok_and(|program| !may_overflow(&program)) {
            return self.clone();
        }
        let mut simple = self.clone();
        simple.simplify_keeping_runtime_bounds();
        let mut narrow = self.clone();
        let found = match simple.is_known_empty() {
            true => Ok(None),
            false => least_bounds(&simple).or_else(|_| least_bounds(self)),
        };
        match found {
            Ok(None) => narrow.set_known_empty(),
            Ok(Some(bounds)) => narrow.set_bounds(bounds.into_iter()),
            Err(_) => narrow.set_bounds(simple.dims.iter().chain(&simple.ranges).map(|v| v.bounds)),
        }
        narrow
    }

    /// Bounds of dimensions, then of range variables.
    fn set_bounds(&mut self, bounds: impl Iterator<Item = Interval>) {
        for (variable, bounds) in self.dims.iter_mut().chain(&mut self.ranges).zip(bounds) {
            variable.bounds = bounds;
        }
    }
}

/// The least and the greatest value of each dimension and range variable; nothing where there are no points.
fn least_bounds(map: &IndexingMap) -> Result<Option<Vec<Interval>>, Unknown> {
    let dims = (0..).map(Expr::dim).take(map.dims.len());
    let results = dims.chain((0..).map(Expr::range).take(map.ranges.len())).collect();
    let program = Program::new(&IndexingMap { results, ..map.clone() })?;
    let (mut found, mut failed) = (None, None);
    visit(&program, &Lanes::default(), &mut |piece| match ranges_of(&piece) {
        Ok(own) => {
            found = Some(match found.take() {
                Some(known) => hulls(known, &own),
                None => own,
            });
            ControlFlow::Continue(())
        }
        Err(reason) => {
            failed = Some(reason);
            ControlFlow::Break(())
        }
    })?;
    failed.map_or(Ok(found), Err)
}

fn hulls(known: Vec<Interval>, own: &[Interval]) -> Vec<Interval> {
    known.into_iter().zip(own).map(|(a, b)| a.hull(*b)).collect()
}

fn ranges_of(piece: &Piece) -> Result<Vec<Interval>, Unknown> {
    let end = |value: i128| i64::try_from(value).map_err(|_| Unknown::Overflow);
    let range = |form: &Form| form.range(piece).and_then(|(lo, hi)| Ok(Interval::new(end(lo)?, end(hi)?)));
    piece.results.iter().map(range).collect()
}
