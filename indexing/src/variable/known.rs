//! Replacement of runtime variables by values that are known at compile time.

use weft_affine::{Constraint, Expr, Interval, Simplifier, Var};

use crate::{IndexingMap, OutOfBounds, Owner, Removed, SimplifyOptions};

impl IndexingMap {
    /// Simplifies and substitutes the values of runtime variables that `values` knows, to a fixed point; true when something
    /// changed. See [`IndexingMap::simplify`] and [`IndexingMap::replace_known_values`].
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap, Owner};
    ///
    /// // Owner 1 yields the constant 42, and owner 2 the numbers 0, 1, 2, … along its only dimension.
    /// let mut values = |owner: Owner, _: &[_]| match owner {
    ///     Owner(1) => Some(Expr::constant(42)),
    ///     Owner(2) => Some(Expr::dim(0)),
    ///     _ => None,
    /// };
    /// let text = "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 7], \
    ///     rt0 in [0, 99] hlo: #1 (d0) -> (), rt1 in [0, 3] hlo: #2 (d0) -> (d0 floordiv 2)";
    /// let mut map: IndexingMap = text.parse()?;
    /// assert!(map.simplify_knowing(&mut values));
    /// assert_eq!(map.to_string(), "(d0) -> (d0 + 42, d0 floordiv 2), domain: d0 in [0, 7]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn simplify_knowing(&mut self, values: &mut dyn FnMut(Owner, &[Interval]) -> Option<Expr>) -> bool {
        let options = SimplifyOptions::default();
        let mut changed = self.simplify_with(&options);
        while !self.replace_known_values(values).is_empty() {
            changed = true;
            self.simplify_with(&options);
        }
        changed
    }

    /// Substitutes the value of each runtime variable that `values` knows, everywhere at once, and reports which variables were
    /// removed.
    ///
    /// `values` is asked for the elements of an owner's tensor whose coordinates lie within the given intervals. It answers with
    /// an expression over the coordinates `d0, d1, …` that is the value of each of these elements, or with nothing.
    ///
    /// What is beyond the bounds of a variable means what it meant: with [`OutOfBounds::Drop`] the bounds become a constraint on
    /// the value; with [`OutOfBounds::Clamp`] the value takes the variable's place where all of it lies within the bounds, and a
    /// bound does where all of it lies on the other side of it or on it; else the variable stays. It also stays where a
    /// coefficient would leave `i64`, and in a map that is undefined or known to be empty.
    ///
    /// Each point of the domain at which the variables have their values before is one afterwards, without those values, and
    /// the results at it are the same; there are no others.
    pub fn replace_known_values(&mut self, values: &mut dyn FnMut(Owner, &[Interval]) -> Option<Expr>) -> Removed {
        let mut removed = Removed::default();
        if self.is_undefined() || self.is_known_empty() || self.variable_ranges().has_empty() {
            return removed;
        }
        for i in (0..).take(self.runtime.len()) {
            let Some(known) = self.known_value(i, values) else { continue };
            let mut replaced = self.clone();
            if replaced.substitute(|v| (v == Var::Runtime(i)).then(|| known.value.clone())).is_ok() {
                if let Some(bounds) = known.condition {
                    replaced.constrain(known.value, bounds);
                }
                *self = replaced;
                removed.runtime.push(i);
            }
        }
        self.retain_variables(|v| !matches!(v, Var::Runtime(i) if removed.runtime.contains(&i)));
        removed
    }

    /// What runtime variable number `own` is at every point of the domain.
    fn known_value(&self, own: u32, values: &mut dyn FnMut(Owner, &[Interval]) -> Option<Expr>) -> Option<Known> {
        let variable = self.runtime.get(usize::try_from(own).ok()?)?;
        let owner = variable.owner?;
        // What constraints say of the variable itself holds only if its value is such; were the value found by them, points at
        // which it is another might come into the domain.
        let is_early = |v: &Var| !matches!(v, Var::Runtime(i) if *i >= own);
        let early = self.constraints.iter().filter(|c| c.expr.variables().iter().all(is_early));
        let early: Vec<Constraint> = early.cloned().collect();
        let mut facts = Simplifier::new(&self.variable_ranges(), &early);
        let element: Vec<Interval> = variable.access.iter().map(|e| facts.range_of(e)).collect();
        let value = values(owner, &element)?;
        if value.variables().iter().any(|v| !matches!(v, Var::Dim(i) if (*i as usize) < element.len())) {
            return None;
        }
        let at_element = value.substitute(|v| match v {
            Var::Dim(i) => variable.access.get(i as usize).cloned(),
            _ => None,
        });
        let value = facts.simplify(&at_element.ok()?);
        let (found, bounds) = (facts.range_of(&value), variable.bounds);
        let is_within = bounds.contains_interval(found);
        match variable.out_of_bounds {
            OutOfBounds::Drop => Some(Known { value, condition: (!is_within).then_some(bounds) }),
            OutOfBounds::Clamp if is_within => Some(Known { value, condition: None }),
            OutOfBounds::Clamp if found.lo >= bounds.hi => Some(Known::number(bounds.hi)),
            OutOfBounds::Clamp if found.hi <= bounds.lo => Some(Known::number(bounds.lo)),
            OutOfBounds::Clamp => None,
        }
    }
}

/// The value of a runtime variable.
struct Known {
    /// Over variables before it.
    value: Expr,
    /// Where the value has to lie for a point to be in the domain, unless it always does.
    condition: Option<Interval>,
}

impl Known {
    fn number(value: i64) -> Known {
        Known { value: Expr::constant(value), condition: None }
    }
}
