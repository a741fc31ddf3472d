//! Composition: reading one map's results through another.

use weft_affine::{Constraint, Expr, Simplifier, Var};

use crate::map::State;
use crate::{Error, IndexingMap, RuntimeVariable};

impl IndexingMap {
    /// `self` first, then `then`: the results of `self` are the dimensions of `then`.
    ///
    /// Range and runtime variables of both are kept, those of `self` first; runtime variables that always have the same value
    /// become one. The bounds of the dimensions of `then` become constraints, unless they are implied. The results are
    /// *not* simplified; see [`IndexingMap::simplify`].
    ///
    /// # Errors
    /// When the number of results is not the number of dimensions of `then`, and on overflow.
    pub fn compose(&self, then: &IndexingMap) -> Result<IndexingMap, Error> {
        if self.is_undefined() || then.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        if self.results.len() != then.dims.len() {
            return Err(Error::Arity {
                what: "results of the first map",
                expected: then.dims.len(),
                found: self.results.len(),
            });
        }
        let shift = u32::try_from(self.ranges.len())
            .map_err(|_| weft_affine::Error::Overflow { what: "a number of variables" })?;
        let mut runtime = self.runtime.clone();
        // Where each runtime variable of `then` went. An access may mention only runtime variables before its own.
        let mut renamed: Vec<Expr> = Vec::with_capacity(then.runtime.len());
        let through = |e: &Expr, renamed: &[Expr]| {
            e.substitute(|v| match v {
                Var::Dim(i) => self.results.get(i as usize).cloned(),
                Var::Range(i) => Some(Expr::range(i.saturating_add(shift))),
                Var::Runtime(i) => renamed.get(i as usize).cloned(),
            })
        };
        for variable in &then.runtime {
            let access = variable.access.iter().map(|e| through(e, &renamed)).collect::<Result<_, _>>()?;
            let moved = RuntimeVariable { access, ..variable.clone() };
            let at = match runtime.iter().position(|known| known.is_same_value(&moved)) {
                Some(i) => i,
                None => {
                    runtime.push(moved);
                    runtime.len() - 1
                }
            };
            let at = u32::try_from(at).map_err(|_| weft_affine::Error::Overflow { what: "a number of variables" })?;
            renamed.push(Expr::runtime(at));
        }
        let results = then.results.iter().map(|e| through(e, &renamed)).collect::<Result<_, _>>()?;
        let ranges = self.ranges.iter().chain(&then.ranges).cloned().collect();
        let mut composed =
            IndexingMap::from_parts(self.dims.clone(), ranges, runtime, results, self.constraints.clone());
        if self.state == State::KnownEmpty || then.state == State::KnownEmpty {
            composed.set_known_empty();
            return Ok(composed);
        }
        let mut facts = Simplifier::new(&self.variable_ranges(), &self.constraints);
        for (result, dim) in self.results.iter().zip(&then.dims) {
            if !dim.bounds.contains_interval(facts.range_of(result)) {
                composed.add_constraint(result.clone(), dim.bounds);
            }
        }
        for Constraint { expr, bounds } in &then.constraints {
            composed.add_constraint(through(expr, &renamed)?, *bounds);
        }
        Ok(composed)
    }
}
