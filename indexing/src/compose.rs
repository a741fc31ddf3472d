//! Composition: one map applied after another.

use weft_affine::{Expr, Simplifier, Var};

use crate::{Error, IndexingMap, OutOfBounds, Removed, RuntimeVariable};

impl IndexingMap {
    /// The composition that applies `self` first and `next` to its results: `first.then(&next)(x) = next(first(x))`. The results
    /// of `self` are the dimensions of `next`.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// // From an index of the result to the transposed matrix, and from there to the row-major position in its buffer.
    /// let transpose: IndexingMap = "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]".parse()?;
    /// let position: IndexingMap = "(d0, d1) -> (d0 * 6 + d1), domain: d0 in [0, 3], d1 in [0, 5]".parse()?;
    /// let read = transpose.then(&position)?;
    /// assert_eq!(read.to_string(), "(d0, d1) -> (d0 + d1 * 6), domain: d0 in [0, 5], d1 in [0, 3]");
    /// assert_eq!(read.evaluate(&[5, 1], &[], &[])?, position.evaluate(&transpose.evaluate(&[5, 1], &[], &[])?, &[], &[])?);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// Range and runtime variables of both are kept, those of `self` first; runtime variables that always have the same value
    /// become one. The bounds of the dimensions of `next` become constraints, unless they are implied. The results are
    /// *not* simplified; see [`IndexingMap::simplify`].
    ///
    /// # Errors
    /// When the number of results is not the number of dimensions of `next`, and on overflow.
    pub fn then(&self, next: &IndexingMap) -> Result<IndexingMap, Error> {
        if self.is_undefined() || next.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        if self.results.len() != next.dims.len() {
            return Err(Error::Arity {
                what: "results of the first map",
                expected: next.dims.len(),
                found: self.results.len(),
            });
        }
        let mut composed = self.clone();
        let index = std::mem::take(&mut composed.results);
        let renaming = composed.take_in(next, index)?;
        composed.results = next.results.iter().map(|e| renaming.of(e)).collect::<Result<_, _>>()?;
        if composed.is_known_empty() {
            return Ok(composed);
        }
        let mut facts = Simplifier::new(&self.variable_ranges(), &self.constraints);
        for (result, dim) in self.results.iter().zip(&next.dims) {
            if !dim.bounds.contains_interval(facts.range_of(result)) {
                composed.constrain(result.clone(), dim.bounds);
            }
        }
        Ok(composed)
    }

    /// All maps one after another, the first of the list applied first, simplified at every step: [`IndexingMap::then`] for the
    /// chain of operations that a fusion has, from the index of its last value to elements of its first.
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
    /// assert_eq!(IndexingMap::compose_in_order([&transposed, &flat, &split])?, transposed);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IndexingMap::then`] at each step, and for no map at all.
    pub fn compose_in_order<'a>(maps: impl IntoIterator<Item = &'a IndexingMap>) -> Result<IndexingMap, Error> {
        let mut maps = maps.into_iter();
        let first = maps.next().ok_or(Error::Arity { what: "maps, at least", expected: 1, found: 0 })?;
        let mut chain = first.clone();
        chain.simplify();
        for next in maps {
            chain = chain.then(next)?;
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

/// What the variables of a map are in the map that took it in.
pub(crate) struct Renaming {
    dims: Vec<Expr>,
    ranges: Vec<Expr>,
    runtime: Vec<Expr>,
}

impl Renaming {
    /// An expression over the one map as one over the other.
    pub(crate) fn of(&self, e: &Expr) -> Result<Expr, Error> {
        let found = e.substitute(|v| match v {
            Var::Dim(i) => self.dims.get(i as usize).cloned(),
            Var::Range(i) => self.ranges.get(i as usize).cloned(),
            Var::Runtime(i) => self.runtime.get(i as usize).cloned(),
        })?;
        Ok(found)
    }
}

impl IndexingMap {
    /// Takes in the range variables, runtime variables and constraints of `other`, whose dimensions are `dims` here.
    ///
    /// Runtime variables are told by what they are, not by their number: one that always has the value of another becomes that.
    pub(crate) fn take_in(&mut self, other: &IndexingMap, dims: Vec<Expr>) -> Result<Renaming, Error> {
        number(self.dims.len().max(self.ranges.len().saturating_add(other.ranges.len())))?;
        let ranges = (number(self.ranges.len())?..).map(Expr::range).take(other.ranges.len()).collect();
        self.ranges.extend(other.ranges.iter().cloned());
        let mut renaming = Renaming { dims, ranges, runtime: Vec::with_capacity(other.runtime.len()) };
        for variable in &other.runtime {
            // An access mentions only runtime variables before its own, and those are renamed already.
            let access = variable.access.iter().map(|e| renaming.of(e)).collect::<Result<_, _>>()?;
            let at = self.runtime_variable(RuntimeVariable { access, ..variable.clone() });
            renaming.runtime.push(Expr::runtime(number(at)?));
        }
        for constraint in &other.constraints {
            self.constrain(renaming.of(&constraint.expr)?, constraint.bounds);
        }
        if other.is_known_empty() {
            self.set_known_empty();
        }
        Ok(renaming)
    }

    /// The position of a variable with the value of this one, which is added where there is none.
    fn runtime_variable(&mut self, variable: RuntimeVariable) -> usize {
        let Some(at) = self.runtime.iter().position(|known| known.is_same_value(&variable)) else {
            self.runtime.push(variable);
            return self.runtime.len() - 1;
        };
        self.meet_bounds(at, &variable);
        at
    }

    /// A value that is dropped beyond either of two bounds is dropped beyond both together.
    fn meet_bounds(&mut self, at: usize, same: &RuntimeVariable) {
        let known = &mut self.runtime[at];
        if known.out_of_bounds == OutOfBounds::Drop {
            known.bounds = known.bounds.intersect(same.bounds);
            if known.bounds.is_empty() {
                self.set_known_empty();
            }
        }
    }

    /// Makes one of runtime variables that always have the same value, as they may turn out to be once their accesses are
    /// simplified; reports which went.
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap, Interval, Owner, RuntimeVariable, Variable};
    ///
    /// let lane = Expr::dim(0);
    /// let reads = [lane.clone(), lane.modulo(8)].map(|e| RuntimeVariable::of(Owner(3), vec![e], Interval::new(0, 9)));
    /// let mut map = IndexingMap::try_new(
    ///     vec![Variable::new(Interval::of_extent(8))], vec![], reads.to_vec(), vec![Expr::runtime(0) - Expr::runtime(1)], vec![],
    /// )?;
    /// map.simplify();
    /// assert_eq!(map.merge_runtime_variables().runtime, [1]);
    /// assert_eq!(map.results()[0].to_string(), "0");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn merge_runtime_variables(&mut self) -> Removed {
        let mut merged = self.clone();
        let mut removed = Removed::default();
        for (i, own) in (0..).zip(0..self.runtime.len()) {
            // Those before it are settled, so its access mentions each value by one variable.
            let (before, rest) = merged.runtime.split_at(own);
            let Some(at) = before.iter().position(|known| known.is_same_value(&rest[0])) else { continue };
            let same = rest[0].clone();
            merged.meet_bounds(at, &same);
            let Ok(first) = number(at) else { break };
            if merged.substitute(|v| (v == Var::Runtime(i)).then(|| Expr::runtime(first))).is_err() {
                // Two factors of one value together leave i64, so the two variables stay.
                return Removed::default();
            }
            removed.runtime.push(i);
        }
        if !removed.is_empty() {
            let gone = |v: Var| matches!(v, Var::Runtime(i) if removed.runtime.contains(&i));
            merged.retain_variables(|v| !gone(v));
            *self = merged;
        }
        removed
    }
}

/// The number of a variable.
pub(crate) fn number(count: usize) -> Result<u32, Error> {
    u32::try_from(count).map_err(|_| weft_affine::Error::Overflow { what: "a number of variables" }.into())
}
