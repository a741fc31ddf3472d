//! The tightest bounds of variables that hold all points of a domain.

use std::ops::ControlFlow;

use weft_affine::{Expr, Interval, Var};

use crate::pieces::{Form, Lanes, Piece, Program, may_overflow, visit};
use crate::{IndexingMap, Unknown};

impl IndexingMap {
    /// The same map within the least bounds that hold all points: those of the set of points, not of how it is written. Where they
    /// are not found out, within the bounds that simplification finds; as it was, where a value may leave `i64`. Runtime
    /// variables that clamp keep their bounds, which are part of what they mean.
    pub(crate) fn within_least_bounds(&self) -> IndexingMap {
        let is_plain = self.constraints.is_empty() || self.is_known_empty();
        // Taking a domain apart finds all integer points, also those at which a constraint has no value.
        if is_plain || !Program::new(self).is_ok_and(|program| !may_overflow(&program)) {
            return self.clone();
        }
        let (mut simple, mut narrow) = (self.clone(), self.clone());
        simple.simplify_keeping_runtime_bounds();
        let found = match simple.is_known_empty() {
            true => Ok(None),
            false => simple.least_bounds().or_else(|_| self.least_bounds()),
        };
        let known = simple.variable_ranges();
        match found {
            Ok(None) => narrow.set_known_empty(),
            Ok(Some(bounds)) => narrow.set_bounds(bounds),
            Err(_) => narrow.set_bounds(self.conditioned().into_iter().map(|v| (v, known.get(v))).collect()),
        }
        narrow
    }

    /// The variables whose bounds are conditions on their values.
    fn conditioned(&self) -> Vec<Var> {
        let dims = (0..).map(Var::Dim).take(self.dims.len());
        let ranges = (0..).map(Var::Range).take(self.ranges.len());
        let runtime = (0..).map(Var::Runtime).take(self.runtime.len());
        let mut own = self.clone();
        dims.chain(ranges).chain(runtime).filter(|v| own.bounds_mut(*v).is_some()).collect()
    }

    fn set_bounds(&mut self, all: Vec<(Var, Interval)>) {
        for (v, bounds) in all {
            if let Some(own) = self.bounds_mut(v) {
                *own = bounds;
            }
        }
    }

    /// The least and the greatest value of each of those variables; nothing where there are no points.
    fn least_bounds(&self) -> Result<Option<Vec<(Var, Interval)>>, Unknown> {
        let variables = self.conditioned();
        let results = variables.iter().map(|v| Expr::var(*v)).collect();
        let program = Program::new(&IndexingMap { results, ..self.clone() })?;
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
        failed.map_or(Ok(found.map(|bounds| variables.into_iter().zip(bounds).collect())), Err)
    }
}

fn hulls(known: Vec<Interval>, own: &[Interval]) -> Vec<Interval> {
    known.into_iter().zip(own).map(|(a, b)| a.hull(*b)).collect()
}

fn ranges_of(piece: &Piece) -> Result<Vec<Interval>, Unknown> {
    let end = |value: i128| i64::try_from(value).map_err(|_| Unknown::Overflow);
    let range = |form: &Form| form.range(piece).and_then(|(lo, hi)| Ok(Interval::new(end(lo)?, end(hi)?)));
    piece.results.iter().map(range).collect()
}
