//! The indexing map: a symbolic function and the domain on which it holds.

use std::hash::{Hash, Hasher};

use weft_affine::{Config, Constraint, Expr, Interval, Point, Ranges, Var};

use crate::{Error, OutOfBounds, RuntimeVariable, Variable};

/// Whether a domain is known to be empty, or the map undefined.
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
/// Its parts are read by methods and changed by methods that keep it valid: every variable that an expression mentions is one of
/// the map's, the access of a runtime variable mentions only runtime variables before it, and a domain that was proved to be
/// empty stays so. No change but that of [`IndexingMap::replace_runtime_variable`] adds a point to the domain; who wants a
/// larger one makes a new map with [`IndexingMap::try_new`].
///
/// Two maps are equal when they have equal variables, results and constraints, whatever the order of the constraints.
#[derive(Clone)]
pub struct IndexingMap {
    pub(crate) dims: Vec<Variable>,
    pub(crate) ranges: Vec<Variable>,
    pub(crate) runtime: Vec<RuntimeVariable>,
    pub(crate) results: Vec<Expr>,
    /// None is constant, no two are on one expression, and none is on a variable alone whose bounds could say it.
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) state: State,
}

impl IndexingMap {
    /// A map of its parts. It is known to be empty at once when some bounds are, or constraints on one expression that exclude
    /// each other. A constraint on a variable alone narrows its bounds, except for a runtime variable that clamps.
    ///
    /// ```
    /// use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Variable};
    ///
    /// // The diagonal of an [8, 8] matrix, every other element.
    /// let d0 = Expr::dim(0);
    /// let even = Constraint::new(d0.modulo(2), Interval::point(0));
    /// let dims = vec![Variable::new(Interval::of_extent(8))];
    /// let diagonal = IndexingMap::try_new(dims.clone(), vec![], vec![], vec![d0.clone(), d0], vec![even])?;
    /// assert_eq!(diagonal.to_string(), "(d0) -> (d0, d0), domain: d0 in [0, 7], d0 mod 2 in [0, 0]");
    ///
    /// let error = IndexingMap::try_new(dims, vec![], vec![], vec![Expr::dim(1)], vec![]).expect_err("there is no d1");
    /// assert_eq!(error.to_string(), "a result mentions d1, which the map does not have");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unbound`] when a result, a constraint or an access mentions a variable that is not there, or an access a
    /// runtime variable that does not come before its own.
    pub fn try_new(
        dims: Vec<Variable>,
        ranges: Vec<Variable>,
        runtime: Vec<RuntimeVariable>,
        results: Vec<Expr>,
        constraints: Vec<Constraint>,
    ) -> Result<IndexingMap, Error> {
        let map = IndexingMap::of_valid(dims, ranges, runtime, Vec::new(), Vec::new());
        map.check_accesses(&map.runtime)?;
        map.check(A_RESULT, &results)?;
        map.check(A_CONSTRAINT, constraints.iter().map(|c| &c.expr))?;
        let mut map = IndexingMap { results, ..map };
        constraints.into_iter().for_each(|constraint| map.push_constraint(constraint));
        Ok(map)
    }

    /// A map whose dimensions and range variables run from zero to an extent: bounds `[0, extent - 1]`.
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap};
    ///
    /// let rows = IndexingMap::of_extents(&[4], &[6], vec![Expr::dim(0), Expr::range(0)])?;
    /// assert_eq!(rows.to_string(), "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 5]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IndexingMap::try_new`].
    pub fn of_extents(dims: &[i64], ranges: &[i64], results: Vec<Expr>) -> Result<IndexingMap, Error> {
        IndexingMap::try_new(of_extents(dims), of_extents(ranges), Vec::new(), results, Vec::new())
    }

    /// As [`IndexingMap::try_new`], for parts that are known to fit together.
    pub(crate) fn of_valid(
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
        IndexingMap::of_valid(of_extents(extents), Vec::new(), Vec::new(), results, Vec::new())
    }

    /// The map of a relation about which nothing is known.
    pub fn undefined() -> IndexingMap {
        IndexingMap { state: State::Undefined, ..IndexingMap::identity(&[]) }
    }

    /// True for [`IndexingMap::undefined`] and everything composed with it.
    pub fn is_undefined(&self) -> bool {
        self.state == State::Undefined
    }

    /// True when the domain was proved to have no point. False proves nothing; see [`IndexingMap::points`].
    pub fn is_known_empty(&self) -> bool {
        self.state == State::KnownEmpty
    }

    /// True when some result is too large to be simplified as a whole ([`Config::max_tree_size`]): it is right, but only its upper levels
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

    /// The variables of the index mapped from.
    pub fn dims(&self) -> &[Variable] {
        &self.dims
    }

    /// The range variables, which run over all their values for each index.
    pub fn ranges(&self) -> &[Variable] {
        &self.ranges
    }

    /// The runtime variables, whose values are known only when the program runs.
    pub fn runtime(&self) -> &[RuntimeVariable] {
        &self.runtime
    }

    /// The index mapped to.
    pub fn results(&self) -> &[Expr] {
        &self.results
    }

    /// The constraints of the domain besides the bounds of the variables, in conjunction.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Restricts the domain to points where `expr` lies in `bounds`.
    ///
    /// Bounds of a variable are narrowed; those of a runtime variable that clamps are part of its meaning, so there the
    /// constraint is kept as one.
    ///
    /// # Errors
    /// [`Error::Unbound`] when the expression mentions a variable that the map does not have; nothing changes then.
    pub fn add_constraint(&mut self, expr: Expr, bounds: Interval) -> Result<(), Error> {
        self.check(A_CONSTRAINT, [&expr])?;
        self.push_constraint(Constraint::new(expr, bounds));
        Ok(())
    }

    /// As [`IndexingMap::add_constraint`], for an expression over the variables of the map.
    pub(crate) fn constrain(&mut self, expr: Expr, bounds: Interval) {
        self.push_constraint(Constraint::new(expr, bounds));
    }

    /// Restricts the domain to a box: the bounds of each variable become those that both have. Unlike a constraint this narrows a
    /// runtime variable that clamps as well, which then stands for the values that are left.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Interval, Ranges};
    ///
    /// let mut map: IndexingMap = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2]".parse()?;
    /// map.narrow(&Ranges::of_dims([Interval::new(4, 20)]));
    /// assert_eq!(map.to_string(), "(d0)[s0] -> (d0 + s0), domain: d0 in [4, 9], s0 in [0, 2]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn narrow(&mut self, bounds: &Ranges) {
        let narrowed = |own: &mut Interval, v: Var| *own = own.intersect(bounds.get(v));
        (0..).map(Var::Dim).zip(&mut self.dims).for_each(|(v, own)| narrowed(&mut own.bounds, v));
        (0..).map(Var::Range).zip(&mut self.ranges).for_each(|(v, own)| narrowed(&mut own.bounds, v));
        (0..).map(Var::Runtime).zip(&mut self.runtime).for_each(|(v, own)| narrowed(&mut own.bounds, v));
        if self.variable_ranges().has_empty() {
            self.set_known_empty();
        }
    }

    /// Replaces the results; the domain stays as it is.
    ///
    /// # Errors
    /// [`Error::Unbound`] when a result mentions a variable that the map does not have, [`Error::Undefined`] for results of an
    /// undefined map; nothing changes then.
    pub fn set_results(&mut self, results: Vec<Expr>) -> Result<(), Error> {
        self.check(A_RESULT, &results)?;
        self.results = results;
        Ok(())
    }

    /// Appends results.
    ///
    /// # Errors
    /// As [`IndexingMap::set_results`].
    pub fn extend_results(&mut self, results: impl IntoIterator<Item = Expr>) -> Result<(), Error> {
        let known = self.results.len();
        self.results.extend(results);
        let checked = self.check(A_RESULT, &self.results[known..]);
        if checked.is_err() {
            self.results.truncate(known);
        }
        checked
    }

    /// Takes away and returns the results from position `first` on; none where there are not so many.
    pub fn split_off_results(&mut self, first: usize) -> Vec<Expr> {
        self.results.split_off(first.min(self.results.len()))
    }

    /// Appends a dimension, and returns its variable.
    ///
    /// # Errors
    /// [`Error::Undefined`] for an undefined map, and when there are more dimensions than numbers for them; nothing changes
    /// then.
    pub fn add_dim(&mut self, dim: Variable) -> Result<Var, Error> {
        if self.is_undefined() {
            return Err(Error::Undefined);
        }
        let new = Var::Dim(crate::compose::number(self.dims.len())?);
        if dim.bounds.is_empty() {
            self.set_known_empty();
        }
        self.dims.push(dim);
        Ok(new)
    }

    /// Replaces the descriptions of the runtime variables, as many as there are, with bounds within those before.
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap, Owner, RuntimeVariable};
    ///
    /// // The start of a slice, of which it was not known whose value it is.
    /// let mut slice: IndexingMap = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]".parse()?;
    /// slice.set_runtime(slice.runtime().iter().map(|start| start.clone().with_owner(Owner(7))).collect())?;
    /// assert_eq!(slice.runtime()[0].owner(), Some(Owner(7)));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Arity`] when there are not as many, [`Error::RuntimeVariables`] when bounds become wider, and
    /// [`Error::Unbound`] when an access mentions a variable that the map does not have, or a runtime variable that does not
    /// come before its own; nothing changes then.
    pub fn set_runtime(&mut self, runtime: Vec<RuntimeVariable>) -> Result<(), Error> {
        if runtime.len() != self.runtime.len() {
            let (expected, found) = (self.runtime.len(), runtime.len());
            return Err(Error::Arity { what: "runtime variables", expected, found });
        }
        if !self.runtime.iter().zip(&runtime).all(|(own, new)| own.bounds.contains_interval(new.bounds)) {
            return Err(Error::RuntimeVariables);
        }
        self.check_accesses(&runtime)?;
        if runtime.iter().any(|own| own.bounds.is_empty()) {
            self.set_known_empty();
        }
        self.runtime = runtime;
        Ok(())
    }

    /// Substitutes an expression for a runtime variable in results, constraints and accesses. The variable must have this value at
    /// every point of the domain; it stays, unused.
    ///
    /// # Errors
    /// [`Error::Unbound`] when the map does not have the variable, or the value mentions a variable that the map does not have
    /// or a runtime variable that does not come before this one; and on overflow. Nothing changes then.
    pub fn replace_runtime_variable(&mut self, position: u32, value: &Expr) -> Result<(), Error> {
        let replaced = Var::Runtime(position);
        self.check("the variable to be replaced", [&Expr::var(replaced)])?;
        self.check_access(position, std::slice::from_ref(value))?;
        self.substitute(|v| (v == replaced).then(|| value.clone()))
    }

    /// Looks whether all variables of some expressions are the map's.
    fn check<'a>(&self, what: &'static str, all: impl IntoIterator<Item = &'a Expr>) -> Result<(), Error> {
        let mut all = all.into_iter().peekable();
        if all.peek().is_some() && self.is_undefined() {
            return Err(Error::Undefined);
        }
        let mut missing = None;
        let mut is_missing = |v: Var| {
            missing = if self.has(v) { missing } else { Some(v) };
            missing.is_some()
        };
        match all.any(|e| e.find_variable(&mut is_missing)).then_some(missing).flatten() {
            Some(variable) => Err(Error::Unbound { what, variable }),
            None => Ok(()),
        }
    }

    /// True when `v` is one of the map's variables.
    pub fn has(&self, v: Var) -> bool {
        let (position, count) = match v {
            Var::Dim(i) => (i, self.dims.len()),
            Var::Range(i) => (i, self.ranges.len()),
            Var::Runtime(i) => (i, self.runtime.len()),
        };
        usize::try_from(position).is_ok_and(|position| position < count)
    }

    fn check_accesses(&self, runtime: &[RuntimeVariable]) -> Result<(), Error> {
        (0..).zip(runtime).try_for_each(|(position, variable)| self.check_access(position, &variable.access))
    }

    /// An access mentions only runtime variables before its own.
    fn check_access(&self, position: u32, access: &[Expr]) -> Result<(), Error> {
        self.check("an access", access)?;
        let mut later = None;
        let mut is_later = |v: Var| {
            let is_later = matches!(v, Var::Runtime(i) if i >= position);
            later = if is_later { Some(v) } else { later };
            is_later
        };
        match access.iter().any(|e| e.find_variable(&mut is_later)).then_some(later).flatten() {
            Some(mentioned) => Err(Error::Access { variable: Var::Runtime(position), mentioned }),
            None => Ok(()),
        }
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

const A_RESULT: &str = "a result";
const A_CONSTRAINT: &str = "a constraint";

fn of_extents(extents: &[i64]) -> Vec<Variable> {
    extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect()
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
