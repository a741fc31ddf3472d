//! The inverse of a map: from each element of its image to its index.
//!
//! Finding it and trusting it are two things. [`System`] solves the equations `result = y` for the variables, by taking sums
//! apart into digits and putting digits together. What it finds is believed only after composing it with the map gives back
//! every variable, by simplification or point by point. The domain of the inverse is exactly the image, since it says that
//! the map leads from the index found to `y` again.

mod canonical;
mod refine;
mod system;

use std::collections::BTreeSet;
use std::fmt;

use weft_affine::{Constraint, Expr, Interval, Point, Ranges, Simplifier, Var};

use crate::domain_set::fits;
use crate::{Collision, IndexingMap, Limits, RuntimeVariable, Unknown, Variable};
use refine::Refined;
use system::{Laws, System};

/// Why a map has no inverse, or none was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoInverse {
    /// Two points of the domain have the same result.
    NotInjective(Box<Collision>),
    /// No law was found by which the results determine the variable.
    Unsolved(Var),
    /// The variable was solved for, but that could not be verified: the simplifier does not see it, and the reason keeps
    /// from trying all points.
    Unverified(Var, Unknown),
    /// The access of the runtime variable depends on the index, and the index on the runtime variable.
    RuntimeAccess(Var),
    /// A value of the inverse may leave `i64`.
    Overflow,
    /// The map is undefined.
    Undefined,
}

impl NoInverse {
    /// The stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            NoInverse::NotInjective(_) => "not-injective",
            NoInverse::Unsolved(_) => "unsolved",
            NoInverse::Unverified(..) => "unverified",
            NoInverse::RuntimeAccess(_) => "runtime-access",
            NoInverse::Overflow => "overflow",
            NoInverse::Undefined => "undefined",
        }
    }
}

/// One sentence, without the full stop.
impl fmt::Display for NoInverse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoInverse::NotInjective(collision) => fmt::Display::fmt(collision, f),
            NoInverse::Unsolved(v) => write!(f, "no law was found by which the results determine {v}"),
            NoInverse::Unverified(v, reason) => write!(f, "a formula for {v} could not be verified: {reason}"),
            NoInverse::RuntimeAccess(v) => write!(f, "{v} depends on the index, and the index on {v}"),
            NoInverse::Overflow => f.write_str("a value of the inverse may leave i64"),
            NoInverse::Undefined => f.write_str("the map is undefined"),
        }
    }
}

impl std::error::Error for NoInverse {}

impl IndexingMap {
    /// The map from each result to the index that has it: its dimensions are the results, its domain is the image, and
    /// runtime variables stay what they are. Range variables must be determined by the results as well; their values are
    /// then part of the domain only. Range variables without a use are passed over. A map without points, as far as that is
    /// found out within the limits, has an inverse without points, which is known to be empty.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Limits};
    ///
    /// let reshape: IndexingMap = "(d0, d1) -> ((d0 * 6 + d1) floordiv 4, (d0 * 6 + d1) mod 4), \
    ///     domain: d0 in [0, 1], d1 in [0, 5]".parse()?;
    /// let back: IndexingMap = "(d0, d1) -> ((d0 * 2 + d1 floordiv 2) floordiv 3, \
    ///     d1 + d0 * 4 - ((d0 * 2 + d1 floordiv 2) floordiv 3) * 6), domain: d0 in [0, 2], d1 in [0, 3]".parse()?;
    /// let inverse = reshape.inverse(&Limits::default())?;
    /// assert!(inverse.equals(&back, &Limits::default()).is_yes());
    ///
    /// // Every third element from 2 on, backwards: only those elements have an index.
    /// let slice: IndexingMap = "(d0) -> (d0 * -3 + 29), domain: d0 in [0, 9]".parse()?;
    /// let inverse = slice.inverse(&Limits::default())?;
    /// assert_eq!(inverse.to_string(), "(d0) -> (-(d0 floordiv 3) + 9), domain: d0 in [2, 29], (d0 + 1) mod 3 in [0, 0]");
    ///
    /// let average: IndexingMap = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]".parse()?;
    /// assert_eq!(average.inverse(&Limits::default()).expect_err("no").code(), "not-injective");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// With the reason, where there is no inverse or none was found.
    pub fn inverse(&self, limits: &Limits) -> Result<IndexingMap, NoInverse> {
        if self.is_undefined() {
            return Err(NoInverse::Undefined);
        }
        let mut map = self.clone();
        map.fix_unused_ranges();
        map.simplify();
        let given = self.within_bounds_of(&map);
        if map.is_known_empty() || given.is_shown_empty(limits) {
            return Ok(self.inverse_of_nothing());
        }
        match LeftInverse::of(&map, &given, limits) {
            Ok(found) => found.on_image(&map, limits),
            Err(refused) => Err(match given.collision(limits) {
                Some(points) => NoInverse::NotInjective(Box::new(points)),
                None => refused,
            }),
        }
    }
}

/// The variables of a map in terms of its results, which are the dimensions here: `variables(results(x)) = x` for every `x`
/// of the domain.
pub(crate) struct LeftInverse {
    dims: Vec<Expr>,
    ranges: Vec<Expr>,
}

impl LeftInverse {
    /// Solves for all dimension and range variables and verifies what is found. `map` is the simplified form of `given` and
    /// not known to be empty; the points are those of `given`.
    ///
    /// The proof is tried for the variables as they are, then for [other ones](Refined), then point by point.
    pub(crate) fn of(map: &IndexingMap, given: &IndexingMap, limits: &Limits) -> Result<LeftInverse, NoInverse> {
        let direct = LeftInverse::solved(map);
        if let Ok(found) = &direct
            && found.fits(map)
            && found.unproved(map, limits).is_empty()
        {
            return direct;
        }
        let refined = Refined::of(map).and_then(|refined| {
            let digits = LeftInverse::solved(&refined.map).ok()?;
            let proved = digits.unproved(&refined.map, limits).is_empty();
            Some((digits.put_into(&refined).filter(|found| found.fits(map))?, proved))
        });
        match (direct, refined) {
            (_, Some((found, true))) => Ok(found),
            (Ok(found), _) if found.fits(map) => found.verified_by_points(map, given, limits),
            (_, Some((found, false))) => found.verified_by_points(map, given, limits),
            (Err(refused), None) => Err(refused),
            (Ok(_), None) => Err(NoInverse::Overflow),
        }
    }

    /// True when no part of a formula can leave `i64` over the results of the map.
    fn fits(&self, map: &IndexingMap) -> bool {
        let mut facts = Simplifier::new(&image_ranges(map), &[]);
        self.dims.iter().chain(&self.ranges).all(|e| fits(e, &mut facts))
    }

    /// A formula for each variable. Nothing is verified yet.
    fn solved(map: &IndexingMap) -> Result<LeftInverse, NoInverse> {
        let image = image_ranges(map);
        let with = |laws: Laws| {
            let solved = System::of(map, &image).ok_or(NoInverse::Overflow)?.solve(laws);
            let all = |kind: fn(u32) -> Var, n: usize| -> Result<Vec<Expr>, NoInverse> {
                (0..).map(kind).take(n).map(|v| solved.get(&v).cloned().ok_or(NoInverse::Unsolved(v))).collect()
            };
            Ok(LeftInverse { dims: all(Var::Dim, map.dims.len())?, ranges: all(Var::Range, map.ranges.len())? })
        };
        with(Laws::Direct).or_else(|_: NoInverse| with(Laws::All))
    }

    /// The old variables by the formulas for the new ones.
    fn put_into(&self, refined: &Refined) -> Option<LeftInverse> {
        let mut facts = Simplifier::new(&image_ranges(&refined.map), &[]);
        let mut all = |list: &[Expr]| -> Option<Vec<Expr>> {
            let value = |v: Var| match v {
                Var::Dim(i) => self.dims.get(i as usize).cloned(),
                _ => None,
            };
            list.iter().map(|e| Some(facts.simplify(&e.substitute(value).ok()?))).collect()
        };
        Some(LeftInverse { dims: all(&refined.dims)?, ranges: all(&refined.ranges)? })
    }

    fn formulas(&self) -> impl Iterator<Item = (Var, &Expr)> {
        (0..).map(Var::Dim).zip(&self.dims).chain((0..).map(Var::Range).zip(&self.ranges))
    }

    /// The variables that are not proved to come back when their formulas are applied to the results: the difference is not
    /// simplified to zero, and what is left of it is not zero for all values of the variables that it mentions, or those are
    /// too many to be tried.
    fn unproved(&self, map: &IndexingMap, limits: &Limits) -> Vec<Var> {
        let ranges = map.variable_ranges();
        let mut simplifier = Simplifier::new(&ranges, &map.constraints);
        let mut is_proved = |v: Var, e: &Expr| {
            let result = |w: Var| match w {
                Var::Dim(i) => map.results.get(i as usize).cloned(),
                _ => None,
            };
            let there_and_back = e.substitute(result).and_then(|e| e.checked_sub(&Expr::var(v)));
            there_and_back.is_ok_and(|e| {
                let left = simplifier.simplify(&e);
                left == Expr::constant(0) || is_zero_everywhere(&left, &ranges, limits)
            })
        };
        self.formulas().filter(|(v, e)| !is_proved(*v, e)).map(|(v, _)| v).collect()
    }

    /// The formulas, if they give back every point of the domain.
    fn verified_by_points(
        self,
        map: &IndexingMap,
        given: &IndexingMap,
        limits: &Limits,
    ) -> Result<LeftInverse, NoInverse> {
        let unproved = self.unproved(map, limits);
        let Some(first) = unproved.first() else { return Ok(self) };
        let points = given.box_size();
        if points > u128::from(limits.points()) {
            return Err(NoInverse::Unverified(*first, Unknown::TooManyPoints { points, limit: limits.points() }));
        }
        for point in given.points() {
            let results = given
                .evaluate(&point.dims, &point.ranges, &point.runtime)
                .map_err(|_| NoInverse::Unverified(*first, Unknown::Overflow))?;
            let at = Point { dims: &results, ranges: &[], runtime: &point.runtime };
            let wrong = |(v, e): &(Var, &Expr)| e.evaluate_at(&at).ok() != point.as_point().get(*v);
            if let Some((v, _)) = self.formulas().find(wrong) {
                return Err(NoInverse::Unsolved(v));
            }
        }
        Ok(self)
    }

    /// The inverse over exactly the image: the `y` with the variables within the domain from which the map leads to `y`.
    pub(crate) fn on_image(&self, map: &IndexingMap, limits: &Limits) -> Result<IndexingMap, NoInverse> {
        let through = |e: &Expr| {
            let value = |v: Var| match v {
                Var::Dim(i) => self.dims.get(i as usize).cloned(),
                Var::Range(i) => self.ranges.get(i as usize).cloned(),
                Var::Runtime(_) => None,
            };
            e.substitute(value).map_err(|_| NoInverse::Overflow)
        };
        let image = image_ranges(map);
        let dims = image.dims.iter().map(|b| Variable::new(*b)).collect();
        let runtime = (0..).zip(&map.runtime).map(|(i, variable)| {
            let access: Vec<Expr> = variable.access.iter().map(through).collect::<Result<_, _>>()?;
            let is_later = |v: &Var| matches!(v, Var::Runtime(j) if *j >= i);
            if access.iter().any(|e| e.variables().iter().any(is_later)) {
                return Err(NoInverse::RuntimeAccess(Var::Runtime(i)));
            }
            Ok(RuntimeVariable { access, ..variable.clone() })
        });
        let mut inverse =
            IndexingMap::of_valid(dims, Vec::new(), runtime.collect::<Result<_, _>>()?, self.dims.clone(), Vec::new());
        let variables = self.dims.iter().chain(&self.ranges).zip(map.dims.iter().chain(&map.ranges));
        for (value, variable) in variables {
            inverse.constrain(value.clone(), variable.bounds);
        }
        for Constraint { expr, bounds } in &map.constraints {
            inverse.constrain(through(expr)?, *bounds);
        }
        for (i, result) in (0..).zip(&map.results) {
            let difference = through(result)?.checked_sub(&Expr::dim(i)).map_err(|_| NoInverse::Overflow)?;
            inverse.constrain(difference, Interval::point(0));
        }
        let mut facts = Simplifier::new(&image, &[]);
        if !inverse.constraints.iter().all(|c| fits(&c.expr, &mut facts)) {
            return Err(NoInverse::Overflow);
        }
        inverse.simplify();
        inverse.drop_implied(limits);
        // The simplifier works with integers, and its forms may need more room than what they stand for.
        let mut facts = Simplifier::new(&inverse.variable_ranges(), &[]);
        let all = inverse.results.iter().chain(inverse.constraints.iter().map(|c| &c.expr));
        if all.into_iter().all(|e| fits(e, &mut facts)) { Ok(inverse) } else { Err(NoInverse::Overflow) }
    }
}

impl IndexingMap {
    /// The inverse where there are no points: no result has an index.
    fn inverse_of_nothing(&self) -> IndexingMap {
        let zero = |v: Var| (!matches!(v, Var::Runtime(_))).then(|| Expr::constant(0));
        // There is no index at which the element would be read, so any will do.
        let anywhere = |e: &Expr| e.substitute(zero).unwrap_or_else(|_| Expr::constant(0));
        let runtime = self.runtime.iter().map(|variable| {
            let access = variable.access.iter().map(anywhere).collect();
            RuntimeVariable { access, ..variable.clone() }
        });
        let dims = vec![Variable::new(Interval::EMPTY); self.results.len()];
        let results = vec![Expr::constant(0); self.dims.len()];
        let mut inverse = IndexingMap::of_valid(dims, Vec::new(), runtime.collect(), results, Vec::new());
        // Without results there are no bounds to say so.
        inverse.set_known_empty();
        inverse
    }

    /// Gives one value to each range variable that nothing mentions: the others only repeat what that one says.
    fn fix_unused_ranges(&mut self) {
        let accesses = self.runtime.iter().flat_map(|v| &v.access);
        let all = self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)).chain(accesses);
        let used: BTreeSet<Var> = all.flat_map(Expr::variables).collect();
        for (v, variable) in (0..).map(Var::Range).zip(&mut self.ranges) {
            if !used.contains(&v) && !variable.bounds.is_empty() {
                variable.bounds = Interval::point(variable.bounds.lo);
            }
        }
    }
}

/// True when the value is zero for all values of the variables that are mentioned, which are few enough to be tried.
fn is_zero_everywhere(e: &Expr, ranges: &Ranges, limits: &Limits) -> bool {
    let mentioned = e.variables();
    let bounds = |kind: fn(u32) -> Var, all: &[Interval]| -> Vec<Variable> {
        let own = |(i, b): (u32, &Interval)| if mentioned.contains(&kind(i)) { *b } else { Interval::point(0) };
        (0..).zip(all).map(|pair| Variable::new(own(pair))).collect()
    };
    let runtime = bounds(Var::Runtime, &ranges.runtime).into_iter().map(|v| RuntimeVariable::new(v.bounds)).collect();
    let (dims, range_variables) = (bounds(Var::Dim, &ranges.dims), bounds(Var::Range, &ranges.ranges));
    let all = IndexingMap::of_valid(dims, range_variables, runtime, Vec::new(), Vec::new());
    all.box_size() <= u128::from(limits.points()) && all.points().all(|p| e.evaluate_at(&p.as_point()) == Ok(0))
}

/// The ranges of the results as those of dimensions, and the runtime variables.
fn image_ranges(map: &IndexingMap) -> Ranges {
    let mut facts = Simplifier::new(&map.variable_ranges(), &map.constraints);
    let dims = map.results.iter().map(|e| facts.range_of(e)).collect();
    Ranges { dims, ranges: Vec::new(), runtime: map.variable_ranges().runtime }
}
