//! Composition: reading one map's results through another.

use weft_affine::{Expr, Simplifier};

use crate::{Error, IndexingMap};

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
        let mut composed = self.clone();
        let index = std::mem::take(&mut composed.results);
        let renaming = composed.take_in(then, index)?;
        composed.results = then.results.iter().map(|e| renaming.of(e)).collect::<Result<_, _>>()?;
        if composed.is_known_empty() {
            return Ok(composed);
        }
        let mut facts = Simplifier::new(&self.variable_ranges(), &self.constraints);
        for (result, dim) in self.results.iter().zip(&then.dims) {
            if !dim.bounds.contains_interval(facts.range_of(result)) {
                composed.add_constraint(result.clone(), dim.bounds);
            }
        }
        Ok(composed)
    }

    /// All maps one after another, the first one first, simplified at every step: the map of a chain of operations, as fusions
    /// have them, from the index of its last value to elements of its first.
    ///
    /// A chain of `n` maps takes `n` steps, each as quick as what its result looks like by then: of reshapes, and of what
    /// cancels, the result does not grow with `n`. Runtime variables that turn out to have the same value become one.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let transposed: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 63], d1 in [0, 31]".parse()?;
    /// let flat: IndexingMap = "(d0, d1) -> (d0 * 64 + d1), domain: d0 in [0, 31], d1 in [0, 63]".parse()?;
    /// let split: IndexingMap = "(d0) -> (d0 floordiv 64, d0 mod 64), domain: d0 in [0, 2047]".parse()?;
    /// assert_eq!(IndexingMap::compose_all([&transposed, &flat, &split])?, transposed);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IndexingMap::compose`] at each step, and for no map at all.
    pub fn compose_all<'a>(maps: impl IntoIterator<Item = &'a IndexingMap>) -> Result<IndexingMap, Error> {
        let mut maps = maps.into_iter();
        let first = maps.next().ok_or(Error::Arity { what: "maps, at least", expected: 1, found: 0 })?;
        let mut chain = first.clone();
        chain.simplify();
        for next in maps {
            chain = chain.compose(next)?;
            if chain.simplify() {
                chain.merge_runtime_variables();
            }
        }
        Ok(chain)
    }

    /// The dimensions as an index: `d0, d1, …`.
    pub(crate) fn index(&self) -> Vec<Expr> {
        (0..).map(Expr::dim).take(self.dims.len()).collect()
    }
}
