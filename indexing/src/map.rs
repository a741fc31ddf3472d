//! The indexing map: a symbolic function and the domain on which it holds.

use std::hash::{Hash, Hasher};

use weft_affine::{Config, Constraint, Expr, Interval, Point, Ranges, Var};

use crate::Error;

/// A dimension or range variable: inclusive bounds, and a name for printing.
///
/// Two variables are equal when their bounds are; the name is decoration.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The values it may have.
    pub bounds: Interval,
    /// What to print instead of `d0` or `s0`.
    pub name: Option<String>,
}

impl Variable {
    /// A variable without a name.
    pub fn new(bounds: Interval) -> Variable {
        Variable { bounds, name: None }
    }

    /// The same with a name. Text shows it where it is an identifier and no other variable's.
    #[must_use]
    pub fn named(self, name: &str) -> Variable {
        Variable { name: Some(name.to_owned()), ..self }
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Variable) -> bool {
        self.bounds == other.bounds
    }
}

impl Eq for Variable {}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bounds.hash(state);
    }
}

/// A token for whoever yields the value of a runtime variable. Its meaning belongs to the crate that made it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Owner(pub u64);

/// What a value outside the bounds of a runtime variable means.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum OutOfBounds {
    /// The value is moved to the nearest bound: dynamic-slice, dynamic-update-slice, gather. The variable stands for the
    /// clamped value, so its bounds are part of what it means and are never narrowed.
    #[default]
    Clamp,
    /// The point is not in the domain: scatter. The variable stands for the value itself, so its bounds are a condition like any
    /// other and may be narrowed.
    Drop,
}

/// A variable whose value is known only when the program runs: an element of a tensor.
#[derive(Clone, Debug)]
pub struct RuntimeVariable {
    /// The values it may have.
    pub bounds: Interval,
    /// What to print instead of `rt0`.
    pub name: Option<String>,
    /// Who yields the value, where that is known.
    pub owner: Option<Owner>,
    /// Which element of the owner's tensor it is, over the variables of the map it stands in; of runtime variables only over
    /// those before this one.
    pub access: Vec<Expr>,
    /// What a value beyond the bounds means.
    pub out_of_bounds: OutOfBounds,
}

impl RuntimeVariable {
    /// A variable of which only the bounds are known.
    pub fn new(bounds: Interval) -> RuntimeVariable {
        RuntimeVariable { bounds, name: None, owner: None, access: Vec::new(), out_of_bounds: OutOfBounds::Clamp }
    }

    /// An element of what `owner` yields, clamped into the bounds.
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap, Interval, Owner, RuntimeVariable, Variable};
    ///
    /// // A dynamic slice of four elements out of ten, whose start is the scalar that instruction 7 yields.
    /// let start = RuntimeVariable::of(Owner(7), Vec::new(), Interval::new(0, 6));
    /// let index = Variable::new(Interval::of_extent(4));
    /// let slice = IndexingMap::from_parts(vec![index], vec![], vec![start], vec![Expr::dim(0) + Expr::runtime(0)], vec![]);
    /// assert_eq!(slice.to_string(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]");
    /// ```
    pub fn of(owner: Owner, access: Vec<Expr>, bounds: Interval) -> RuntimeVariable {
        RuntimeVariable { owner: Some(owner), access, ..RuntimeVariable::new(bounds) }
    }

    /// The same with the policy [`OutOfBounds::Drop`].
    #[must_use]
    pub fn dropping(self) -> RuntimeVariable {
        RuntimeVariable { out_of_bounds: OutOfBounds::Drop, ..self }
    }

    /// True when both always have the same value: one known owner, one element, one policy, and where values are clamped one
    /// pair of bounds.
    pub fn is_same_value(&self, other: &RuntimeVariable) -> bool {
        self.owner.is_some()
            && self.owner == other.owner
            && self.access == other.access
            && self.out_of_bounds == other.out_of_bounds
            && (self.out_of_bounds == OutOfBounds::Drop || self.bounds == other.bounds)
    }
}

impl PartialEq for RuntimeVariable {
    fn eq(&self, other: &RuntimeVariable) -> bool {
        self.bounds == other.bounds
            && self.owner == other.owner
            && self.access == other.access
            && self.out_of_bounds == other.out_of_bounds
    }
}

impl Eq for RuntimeVariable {}

impl Hash for RuntimeVariable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.bounds, self.owner, &self.access, self.out_of_bounds).hash(state);
    }
}

/// Whether a map has points at all.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum State {
    /// An ordinary map; its domain may still turn out to be empty.
    Defined,
    /// The domain was proved to have no point.
    KnownEmpty,
    /// Nothing is known about the relation.
    Undefined,
}

/// `(dims)[ranges]{runtime} -> (results), domain: …`: for each index of one tensor, the elements of another.
///
/// For given dimension and runtime values the map relates the index to one element for *each* choice of the range
/// variables that lies in the domain. The domain is the set of points that lie within the bounds of all variables and
/// satisfy all constraints; outside it the results mean nothing.
///
/// Two maps are equal when they have equal variables, results and constraints, whatever the order of the constraints.
#[derive(Clone)]
pub struct IndexingMap {
    /// Variables of the index mapped from.
    pub dims: Vec<Variable>,
    /// Variables that run over all their values for each index.
    pub ranges: Vec<Variable>,
    /// Variables known only when the program runs.
    pub runtime: Vec<RuntimeVariable>,
    /// The index mapped to.
    pub results: Vec<Expr>,
    /// What points of the domain satisfy besides the bounds, in conjunction.
    pub constraints: Vec<Constraint>,
    pub(crate) state: State,
}

impl IndexingMap {
    /// A map whose variables run from zero to an extent: bounds `[0, extent - 1]`.
    pub fn new(dims: &[i64], ranges: &[i64], results: Vec<Expr>) -> IndexingMap {
        let variables = |extents: &[i64]| extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
        IndexingMap::from_parts(variables(dims), variables(ranges), Vec::new(), results, Vec::new())
    }

    /// A map from all its parts. It is known to be empty at once when some bounds are.
    pub fn from_parts(
        dims: Vec<Variable>,
        ranges: Vec<Variable>,
        runtime: Vec<RuntimeVariable>,
        results: Vec<Expr>,
        constraints: Vec<Constraint>,
    ) -> IndexingMap {
        let mut map = IndexingMap { dims, ranges, runtime, results, constraints: Vec::new(), state: State::Defined };
        if map.variable_ranges().has_empty() {
            map.state = State::KnownEmpty;
        }
        for constraint in constraints {
            map.push_constraint(constraint);
        }
        map
    }

    /// `(d0, …) -> (d0, …)` over the extents.
    pub fn identity(extents: &[i64]) -> IndexingMap {
        let results = (0..).map(Expr::dim).take(extents.len()).collect();
        IndexingMap::new(extents, &[], results)
    }

    /// The map of a relation about which nothing is known.
    pub fn undefined() -> IndexingMap {
        let mut map = IndexingMap::new(&[], &[], Vec::new());
        map.state = State::Undefined;
        map
    }

    /// True for [`IndexingMap::undefined`] and everything composed with it.
    pub fn is_undefined(&self) -> bool {
        self.state == State::Undefined
    }

    /// True when the domain was proved to have no point. False proves nothing; see [`IndexingMap::points`].
    pub fn is_known_empty(&self) -> bool {
        self.state == State::KnownEmpty
    }

    /// True when some result is too large to be simplified as a whole ([`Config::tree`]): it is right, but only its upper levels
    /// are in their cheapest form. Long chains of misaligned reshapes and transposes get there; they have no small form.
    pub fn is_capped(&self) -> bool {
        let config = Config::default();
        self.results.iter().any(|e| config.caps(e))
    }

    pub(crate) fn set_known_empty(&mut self) {
        if self.state == State::Defined {
            self.state = State::KnownEmpty;
        }
    }

    /// Restricts the domain to points where `expr` lies in `bounds`.
    ///
    /// Bounds of a variable are narrowed; those of a runtime variable that clamps are part of its meaning, so there the
    /// constraint is kept as one.
    pub fn add_constraint(&mut self, expr: Expr, bounds: Interval) {
        self.push_constraint(Constraint::new(expr, bounds));
    }

    fn push_constraint(&mut self, Constraint { expr, bounds }: Constraint) {
        if let Some(value) = expr.as_constant() {
            if !bounds.contains(value) {
                self.set_known_empty();
            }
            return;
        }
        let known = expr.as_var().and_then(|v| self.bounds_mut(v)).map(|known| {
            *known = known.intersect(bounds);
            *known
        });
        let known = known.or_else(|| {
            let same = self.constraints.iter_mut().find(|c| c.expr == expr)?;
            same.bounds = same.bounds.intersect(bounds);
            Some(same.bounds)
        });
        let known = known.unwrap_or_else(|| {
            self.constraints.push(Constraint { expr, bounds });
            bounds
        });
        if known.is_empty() {
            self.set_known_empty();
        }
    }

    /// The dimension or range variable `v`.
    pub fn variable(&self, v: Var) -> Option<&Variable> {
        match v {
            Var::Dim(i) => self.dims.get(usize::try_from(i).ok()?),
            Var::Range(i) => self.ranges.get(usize::try_from(i).ok()?),
            Var::Runtime(_) => None,
        }
    }

    /// The bounds of `v` where they are a condition on its value: not those of a runtime variable that clamps.
    pub(crate) fn bounds_mut(&mut self, v: Var) -> Option<&mut Interval> {
        match v {
            Var::Dim(i) => self.dims.get_mut(usize::try_from(i).ok()?).map(|v| &mut v.bounds),
            Var::Range(i) => self.ranges.get_mut(usize::try_from(i).ok()?).map(|v| &mut v.bounds),
            Var::Runtime(i) => {
                let variable = self.runtime.get_mut(usize::try_from(i).ok()?)?;
                (variable.out_of_bounds == OutOfBounds::Drop).then_some(&mut variable.bounds)
            }
        }
    }

    /// All expressions: results, constraints, and the accesses of runtime variables.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let accesses = self.runtime.iter().flat_map(|v| &v.access);
        self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)).chain(accesses)
    }

    /// As [`IndexingMap::expressions`], to be changed.
    pub(crate) fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let accesses = self.runtime.iter_mut().flat_map(|v| &mut v.access);
        self.results.iter_mut().chain(self.constraints.iter_mut().map(|c| &mut c.expr)).chain(accesses)
    }

    /// The bounds of all variables, as the expression crate takes them.
    pub fn variable_ranges(&self) -> Ranges {
        Ranges {
            dims: self.dims.iter().map(|v| v.bounds).collect(),
            ranges: self.ranges.iter().map(|v| v.bounds).collect(),
            runtime: self.runtime.iter().map(|v| v.bounds).collect(),
        }
    }

    /// The results at one point. The point need not lie in the domain, nor within the bounds: [`IndexingMap::contains`] tells
    /// whether it does, [`IndexingMap::satisfies_constraints`] whether it would but for the bounds.
    ///
    /// # Errors
    /// When a number of values is wrong, the map is undefined, or the evaluation overflows.
    pub fn evaluate(&self, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> Result<Vec<i64>, Error> {
        let point = self.point(dims, ranges, runtime)?;
        Ok(self.results.iter().map(|e| e.evaluate_at(&point)).collect::<Result<_, _>>()?)
    }

    fn point<'a>(&self, dims: &'a [i64], ranges: &'a [i64], runtime: &'a [i64]) -> Result<Point<'a>, Error> {
        let counts = [
            ("dimension values", self.dims.len(), dims.len()),
            ("range values", self.ranges.len(), ranges.len()),
            ("runtime values", self.runtime.len(), runtime.len()),
        ];
        for (what, expected, found) in counts {
            if expected != found {
                return Err(Error::Arity { what, expected, found });
            }
        }
        if self.is_undefined() {
            return Err(Error::Undefined);
        }
        Ok(Point { dims, ranges, runtime })
    }

    /// True when all constraints hold at the point, whatever the bounds of the variables. They do not at a point of the wrong
    /// size, nor at one at which a constraint overflows, and at no point of a map that is undefined or known to be empty.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let map: IndexingMap = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9], d0 mod 2 in [0, 0]".parse()?;
    /// assert!(!map.contains(&[12], &[], &[]) && map.satisfies_constraints(&[12], &[], &[]));
    /// assert!(!map.satisfies_constraints(&[13], &[], &[]));
    /// assert_eq!(map.evaluate(&[12], &[], &[])?, [6]);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn satisfies_constraints(&self, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> bool {
        let Ok(point) = self.point(dims, ranges, runtime) else { return false };
        self.state == State::Defined
            && self.constraints.iter().all(|c| c.expr.evaluate_at(&point).is_ok_and(|v| c.bounds.contains(v)))
    }

    /// True when the point lies in the domain. A point of the wrong size does not, nor one at which a constraint overflows.
    pub fn contains(&self, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> bool {
        let within = |bounds: &mut dyn Iterator<Item = Interval>, values: &[i64]| {
            bounds.zip(values).all(|(b, v)| b.contains(*v))
        };
        within(&mut self.dims.iter().map(|v| v.bounds), dims)
            && within(&mut self.ranges.iter().map(|v| v.bounds), ranges)
            && within(&mut self.runtime.iter().map(|v| v.bounds), runtime)
            && self.satisfies_constraints(dims, ranges, runtime)
    }
}

/// The constraints in one order, whatever theirs.
fn ordered(constraints: &[Constraint]) -> Vec<&Constraint> {
    let mut list: Vec<&Constraint> = constraints.iter().collect();
    list.sort();
    list
}

impl PartialEq for IndexingMap {
    fn eq(&self, other: &IndexingMap) -> bool {
        self.state == other.state
            && self.dims == other.dims
            && self.ranges == other.ranges
            && self.runtime == other.runtime
            && self.results == other.results
            && self.constraints.len() == other.constraints.len()
            && (self.constraints == other.constraints || ordered(&self.constraints) == ordered(&other.constraints))
    }
}

impl Eq for IndexingMap {}

impl Hash for IndexingMap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.state, &self.dims, &self.ranges, &self.runtime, &self.results, ordered(&self.constraints)).hash(state);
    }
}
