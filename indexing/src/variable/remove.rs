//! Removal of unused variables.

use std::collections::BTreeSet;

use weft_affine::{Constraint, Expr, Var};

use crate::{IndexingMap, OutOfBounds};

/// The variables and constraints that an operation removed from a map: numbers of variables within their kind as they
/// were before, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// Dimension variables.
    pub dims: Vec<u32>,
    /// Range variables.
    pub ranges: Vec<u32>,
    /// Runtime variables.
    pub runtime: Vec<u32>,
    /// Constraints that went with them, over the variables as they stood when each one went.
    pub constraints: Vec<Constraint>,
}

impl Removed {
    /// True when nothing was removed.
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty() && self.ranges.is_empty() && self.runtime.is_empty() && self.constraints.is_empty()
    }

    /// Adds a variable.
    fn push(&mut self, v: Var) {
        match v {
            Var::Dim(i) => self.dims.push(i),
            Var::Range(i) => self.ranges.push(i),
            Var::Runtime(i) => self.runtime.push(i),
        }
    }

    fn contains(&self, v: Var) -> bool {
        match v {
            Var::Dim(i) => self.dims.contains(&i),
            Var::Range(i) => self.ranges.contains(&i),
            Var::Runtime(i) => self.runtime.contains(&i),
        }
    }
}

/// So many points are tried to find one at which constraints hold that concern removed variables only.
const MAX_WITNESSES: usize = 4096;

impl IndexingMap {
    /// Removes range and runtime variables that are not used, renumbers the others, and reports which went.
    ///
    /// A variable is used by the results, by constraints, and by the accesses of runtime variables that are used; a runtime
    /// variable that drops is always used, since its value decides whether a point lies in the domain. Constraints among
    /// otherwise unused range variables go with them where a point is found at which they hold.
    ///
    /// The related elements stay the same: a range variable without a use only repeats them. In a domain that is
    /// known to be empty nothing is removed.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let text = "(d0)[s0, s1] -> (d0 + s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 1], s0 mod 4 in [1, 2]";
    /// let mut map: IndexingMap = text.parse()?;
    /// let removed = map.remove_unused_symbols();
    /// assert_eq!((removed.ranges.as_slice(), removed.constraints.len()), ([0].as_slice(), 1));
    /// assert_eq!(map.to_string(), "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn remove_unused_symbols(&mut self) -> Removed {
        self.remove_unused(|v| !matches!(v, Var::Dim(_)))
    }

    /// As [`IndexingMap::remove_unused_symbols`], for dimension variables too: the map is then one of the index without them.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let mut map: IndexingMap = "(d0, d1)[s0] -> (d1), domain: d0 in [0, 3], d1 in [0, 9], s0 in [0, 1]".parse()?;
    /// let removed = map.remove_unused_variables();
    /// assert_eq!((removed.dims.as_slice(), removed.ranges.as_slice()), ([0].as_slice(), [0].as_slice()));
    /// assert_eq!(map.to_string(), "(d0) -> (d0), domain: d0 in [0, 9]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn remove_unused_variables(&mut self) -> Removed {
        self.remove_unused(|_| true)
    }

    fn remove_unused(&mut self, may_go: impl Fn(Var) -> bool) -> Removed {
        let mut removed = Removed::default();
        if self.is_undefined() || self.is_known_empty() || self.variable_ranges().has_empty() {
            return removed;
        }
        let used = self.used(&may_go);
        let dims = (0..).map(Var::Dim).take(self.dims.len());
        let ranges = (0..).map(Var::Range).take(self.ranges.len());
        let runtime = (0..).map(Var::Runtime).take(self.runtime.len());
        dims.chain(ranges).chain(runtime).filter(|v| may_go(*v) && !used.contains(v)).for_each(|v| removed.push(v));
        if removed.is_empty() {
            return removed;
        }
        let concerns_removed = |c: &Constraint| c.expr.variables().iter().any(|v| removed.contains(*v));
        let (gone, kept) = std::mem::take(&mut self.constraints).into_iter().partition(concerns_removed);
        self.constraints = kept;
        self.retain_variables(|v| !removed.contains(v));
        removed.constraints = gone;
        removed
    }

    /// The variables that are used, where constraints on variables that may go count only together with others.
    fn used(&self, may_go: &impl Fn(Var) -> bool) -> BTreeSet<Var> {
        let mut used: BTreeSet<Var> = self.results.iter().flat_map(Expr::variables).collect();
        let drops = |variable: &&crate::RuntimeVariable| variable.out_of_bounds == OutOfBounds::Drop;
        used.extend((0..).map(Var::Runtime).zip(&self.runtime).filter(|(_, v)| drops(v)).map(|(v, _)| v));
        // Nobody chooses the value of a runtime variable, so a constraint on one stays.
        let decides = |v: &Var| matches!(v, Var::Runtime(_)) || !may_go(*v);
        let mut idle: Vec<(&Constraint, BTreeSet<Var>)> = Vec::new();
        for constraint in &self.constraints {
            let variables = constraint.expr.variables();
            if variables.iter().any(decides) { used.extend(variables) } else { idle.push((constraint, variables)) }
        }
        loop {
            let before = used.len();
            // An access mentions only variables before its own, so one backward pass finds every use.
            let numbered: Vec<_> = (0..).map(Var::Runtime).zip(&self.runtime).collect();
            for (v, variable) in numbered.into_iter().rev() {
                if used.contains(&v) {
                    used.extend(variable.access.iter().flat_map(Expr::variables));
                }
            }
            let (joined, apart): (Vec<_>, Vec<_>) = idle.into_iter().partition(|(_, vs)| !vs.is_disjoint(&used));
            idle = apart;
            used.extend(joined.into_iter().flat_map(|(_, vs)| vs));
            if used.len() == before {
                break;
            }
        }
        while let Some((first, mut variables)) = idle.pop() {
            let mut together = vec![first];
            while let Some(at) = idle.iter().position(|(_, vs)| !vs.is_disjoint(&variables)) {
                let (next, more) = idle.swap_remove(at);
                together.push(next);
                variables.extend(more);
            }
            if !self.has_witness(&together, &variables) {
                used.extend(variables);
            }
        }
        used
    }

    /// True when one of the first points of the variables' box satisfies all the constraints, which are on these variables
    /// alone.
    fn has_witness(&self, constraints: &[&Constraint], variables: &BTreeSet<Var>) -> bool {
        let ranges = self.variable_ranges();
        let variables: Vec<Var> = variables.iter().copied().collect();
        let mut values: Vec<i64> = variables.iter().map(|v| ranges.get(*v).lo).collect();
        for _ in 0..MAX_WITNESSES {
            let value = |v: Var| variables.binary_search(&v).map_or(0, |at| values[at]);
            if constraints.iter().all(|c| c.expr.evaluate(value).is_ok_and(|value| c.bounds.contains(value))) {
                return true;
            }
            let next = values.iter_mut().zip(&variables).rev().any(|(value, v)| {
                let bounds = ranges.get(*v);
                let moves = *value < bounds.hi;
                *value = if moves { *value + 1 } else { bounds.lo };
                moves
            });
            if !next {
                return false;
            }
        }
        false
    }
}
