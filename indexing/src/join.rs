//! Two maps becoming one: whose variables become which.

use weft_affine::{Expr, Var};

use crate::{Error, IndexingMap, OutOfBounds, Removed, RuntimeVariable};

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
            self.add_constraint(renaming.of(&constraint.expr)?, constraint.bounds);
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
    /// let mut map = IndexingMap::from_parts(
    ///     vec![Variable::new(Interval::of_extent(8))], vec![], reads.to_vec(), vec![Expr::runtime(0) - Expr::runtime(1)], vec![],
    /// );
    /// map.simplify();
    /// assert_eq!(map.merge_runtime_variables().runtime, [1]);
    /// assert_eq!(map.results[0].to_string(), "0");
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
fn number(count: usize) -> Result<u32, Error> {
    u32::try_from(count).map_err(|_| weft_affine::Error::Overflow { what: "a number of variables" }.into())
}
