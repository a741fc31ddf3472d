//! Equality and inclusion of maps: as text, and as relations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use weft_affine::{Canonical, Expr, Simplifier, Var};

use crate::domain_set::has_results_of;
use crate::points::{Walk, all_bounds};
use crate::{Answer, IndexingMap, Limits, RuntimeVariable, Unknown};

/// A difference of two maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// They have not the same number of dimensions.
    Dimensions(usize, usize),
    /// They have not the same number of results.
    Results(usize, usize),
    /// A result that one has for an index and the other has not.
    Result {
        /// The index.
        dims: Vec<i64>,
        /// Values of the runtime variables of the first map.
        runtime: Vec<i64>,
        /// The result of one of the two maps at this index, for some choice of its range variables.
        result: Vec<i64>,
        /// True when that one is the first.
        is_of_first: bool,
    },
}

/// One sentence, without the full stop.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Difference::Dimensions(a, b) => write!(f, "the numbers of dimensions are {a} and {b}"),
            Difference::Results(a, b) => write!(f, "the numbers of results are {a} and {b}"),
            Difference::Result { dims, runtime, result, is_of_first } => {
                let one = if *is_of_first { "first" } else { "second" };
                write!(f, "only the {one} map takes ({})", list(dims))?;
                if !runtime.is_empty() {
                    write!(f, "{{{}}}", list(runtime))?;
                }
                write!(f, " to ({})", list(result))
            }
        }
    }
}

impl IndexingMap {
    /// True when the two print the same.
    pub fn has_text_of(&self, other: &IndexingMap) -> bool {
        self.to_string() == other.to_string()
    }

    /// Whether the two relate each index to the same elements, for any values of the runtime variables: as many dimensions
    /// and results, and for each index the same set of results over all choices of range variables. How often an element
    /// is related does not count.
    ///
    /// Runtime variables are parameters. Those with an owner are matched by what they are, and the others in their order;
    /// a map relates nothing where a runtime value is out of its bounds.
    ///
    /// ```
    /// use weft_indexing::{Answer, Difference, IndexingMap, Limits};
    ///
    /// let rows: IndexingMap = "(d0)[s0, s1] -> (d0 * 64 + s0 * 8 + s1), domain: d0 in [0, 99], s0 in [0, 7], s1 in [0, 7]".parse()?;
    /// let flat: IndexingMap = "(d0)[s0] -> (d0 * 64 + s0), domain: d0 in [0, 99], s0 in [0, 63]".parse()?;
    /// let less: IndexingMap = "(d0)[s0] -> (d0 * 64 + s0), domain: d0 in [0, 99], s0 in [0, 62]".parse()?;
    /// assert_eq!(rows.equals(&flat, &Limits::default()), Answer::Yes);
    /// let Answer::No(Difference::Result { result, .. }) = rows.equals(&less, &Limits::default()) else { panic!("less") };
    /// assert_eq!(result, [63]);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn equals(&self, other: &IndexingMap, limits: &Limits) -> Answer<Difference> {
        if let Some(answer) = self.compared_in_form(other) {
            return answer;
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        for map in [&mut a, &mut b] {
            map.simplify();
        }
        if a.is_known_empty() && b.is_known_empty() {
            return Answer::Yes;
        }
        let (given, other) = (self.within_bounds_of(&a), other.within_bounds_of(&b));
        let renamed =
            places(&a, &b).and_then(|p| Some((with_runtime_at(&p, &b, &a)?, with_runtime_at(&p, &other, &a)?)));
        let Some((b, other)) = renamed else { return Answer::Unknown(Unknown::RuntimeVariables) };
        if a == b || (a.ranges.len() == b.ranges.len() && implies(&a, &b) && implies(&b, &a) && has_results_of(&a, &b))
        {
            return Answer::Yes;
        }
        equal_by_points(&given, &other, limits)
    }

    /// The answer to a comparison that the numbers of dimensions and results, or an undefined map, decide.
    fn compared_in_form(&self, other: &IndexingMap) -> Option<Answer<Difference>> {
        if self.is_undefined() || other.is_undefined() {
            return Some(Answer::Unknown(Unknown::Undefined));
        }
        if self.dims.len() != other.dims.len() {
            return Some(Answer::No(Difference::Dimensions(self.dims.len(), other.dims.len())));
        }
        let results = (self.results.len(), other.results.len());
        (results.0 != results.1).then_some(Answer::No(Difference::Results(results.0, results.1)))
    }

    /// Whether the other map relates each index to all elements that this one relates it to, for any values of the runtime
    /// variables: whether the relation is a subset of the other.
    ///
    /// Runtime variables are matched as [`IndexingMap::equals`] does. What structure decides, it decides quickly, with
    /// [`Limits::STRUCTURE`] alone: range variables of the other map then take the values of those of this map of the same
    /// number.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Limits};
    ///
    /// let all: IndexingMap = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 3]".parse()?;
    /// let some: IndexingMap = "(d0)[s0] -> (d0 + s0), domain: d0 in [2, 5], s0 in [0, 3], d0 + s0 in [3, 8]".parse()?;
    /// assert!(some.is_subset_of(&all, &Limits::STRUCTURE).is_yes());
    /// assert_eq!(all.is_subset_of(&some, &Limits::default()).to_string(), "no: only the first map takes (0) to (0)");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_subset_of(&self, other: &IndexingMap, limits: &Limits) -> Answer<Difference> {
        if let Some(answer) = self.compared_in_form(other) {
            return answer;
        }
        if self.is_known_empty() {
            return Answer::Yes;
        }
        let over_own = over_variables_of(other, self);
        if over_own.is_some_and(|other| implies(self, &other) && has_results_of(&other, self)) {
            return Answer::Yes;
        }
        let points = self.box_size().max(other.box_size());
        if points > u128::from(limits.points()) {
            return Answer::Unknown(Unknown::TooManyPoints { points, limit: limits.points() });
        }
        let renamed = places(self, other).and_then(|places| with_runtime_at(&places, other, self));
        let Some(other) = renamed else { return Answer::Unknown(Unknown::RuntimeVariables) };
        match (relation(self), relation(&other)) {
            (Some(first), Some(second)) => only_in(&first, &second, true).map_or(Answer::Yes, Answer::No),
            _ => Answer::Unknown(Unknown::Overflow),
        }
    }
}

/// The map over the variables of `first`, which may have more range variables and more runtime variables; nothing where it
/// has a variable that `first` has not.
fn over_variables_of(map: &IndexingMap, first: &IndexingMap) -> Option<IndexingMap> {
    let mut moved = map.clone();
    moved.ranges.extend(first.ranges.get(map.ranges.len()..)?.iter().cloned());
    moved.runtime.clone_from(&first.runtime);
    let mut places: Vec<usize> = Vec::with_capacity(map.runtime.len());
    let renamed = |places: &[usize], e: &Expr| {
        e.substitute(|v| match v {
            Var::Runtime(i) => Some(Expr::runtime(u32::try_from(*places.get(i as usize)?).ok()?)),
            _ => None,
        })
        .ok()
    };
    for variable in &map.runtime {
        // Which element it is, runtime variables before it decide.
        let access = variable.access.iter().map(|e| renamed(&places, e)).collect::<Option<_>>()?;
        let variable = RuntimeVariable { access, ..variable.clone() };
        // Of several that always have the same value the one of the same number, where that is one.
        let is_same = |place: &usize| first.runtime.get(*place).is_some_and(|known| known.is_same_value(&variable));
        let place = std::iter::once(places.len()).chain(0..first.runtime.len()).find(is_same)?;
        moved.runtime.get_mut(place)?.bounds = variable.bounds;
        places.push(place);
    }
    for e in moved.results.iter_mut().chain(moved.constraints.iter_mut().map(|c| &mut c.expr)) {
        *e = renamed(&places, e)?;
    }
    Some(moved)
}

/// For each runtime variable of the second map the number of the one of the first that always has the same value; nothing
/// where they cannot be matched.
fn places(a: &IndexingMap, b: &IndexingMap) -> Option<Vec<usize>> {
    if a.runtime.len() != b.runtime.len() {
        return None;
    }
    let mut places = vec![None; b.runtime.len()];
    let mut free: Vec<usize> = (0..a.runtime.len()).collect();
    for matches in [RuntimeVariable::is_same_value, is_same_parameter] {
        for (variable, place) in b.runtime.iter().zip(&mut places) {
            let found = free.iter().position(|i| a.runtime.get(*i).is_some_and(|known| matches(known, variable)));
            if place.is_none()
                && let Some(at) = found
            {
                *place = Some(free.remove(at));
            }
        }
    }
    places.into_iter().collect()
}

/// The map with its runtime variables at these places of the first map, with their own bounds.
fn with_runtime_at(places: &[usize], map: &IndexingMap, first: &IndexingMap) -> Option<IndexingMap> {
    let renamed = |v: Var| match v {
        Var::Runtime(i) => Some(Expr::runtime(u32::try_from(*places.get(i as usize)?).ok()?)),
        _ => None,
    };
    let mut moved = map.clone();
    for e in moved.results.iter_mut().chain(moved.constraints.iter_mut().map(|c| &mut c.expr)) {
        *e = e.substitute(renamed).ok()?;
    }
    for (variable, place) in map.runtime.iter().zip(places) {
        let known = first.runtime.get(*place)?.clone();
        *moved.runtime.get_mut(*place)? = RuntimeVariable { bounds: variable.bounds, ..known };
    }
    Some(moved)
}

/// Parameters of which nothing is known but that they stand in the same place.
fn is_same_parameter(a: &RuntimeVariable, b: &RuntimeVariable) -> bool {
    a.owner.is_none() && b.owner.is_none() && a.access == b.access && a.out_of_bounds == b.out_of_bounds
}

/// True when the domain of `a` is proved to lie within that of `b`.
fn implies(a: &IndexingMap, b: &IndexingMap) -> bool {
    let mut facts = Simplifier::new(&a.variable_ranges(), &a.constraints);
    let (mut own, mut other) = (a.clone(), b.clone());
    a.is_known_empty()
        || (!b.is_known_empty()
            && all_bounds(&mut own).iter().zip(all_bounds(&mut other)).all(|(x, y)| y.contains_interval(**x))
            && b.constraints
                .iter()
                .all(|c| a.constraints.contains(c) || c.canonicalize(&mut facts, &mut Vec::new()) == Canonical::Always))
}

/// The results for each index and runtime values.
type Relation = BTreeMap<(Vec<i64>, Vec<i64>), BTreeSet<Vec<i64>>>;

fn relation(map: &IndexingMap) -> Option<Relation> {
    let mut relation = Relation::new();
    for point in map.points() {
        let result = map.evaluate(&point.dims, &point.ranges, &point.runtime).ok()?;
        relation.entry((point.dims, point.runtime)).or_default().insert(result);
    }
    Some(relation)
}

fn equal_by_points(a: &IndexingMap, b: &IndexingMap, limits: &Limits) -> Answer<Difference> {
    let points = a.box_size().max(b.box_size());
    if points <= u128::from(limits.points()) {
        return match (relation(a), relation(b)) {
            (Some(first), Some(second)) => compared(&first, &second).map_or(Answer::Yes, Answer::No),
            _ => Answer::Unknown(Unknown::Overflow),
        };
    }
    // A difference over a part of the indices is one, where all range variables are walked.
    for (walked, other) in [(a, b), (b, a)] {
        for part in Walk::of(walked, limits).boxes {
            let mut pair = [walked.clone(), other.clone()];
            for map in &mut pair {
                for (variable, narrow) in map.dims.iter_mut().zip(&part.dims) {
                    variable.bounds = variable.bounds.intersect(narrow.bounds);
                }
                for (variable, narrow) in map.runtime.iter_mut().zip(&part.runtime) {
                    variable.bounds = variable.bounds.intersect(narrow.bounds);
                }
            }
            if pair.iter().any(|map| map.box_size() > u128::from(limits.points())) {
                continue;
            }
            if let [Some(first), Some(second)] = pair.each_ref().map(relation)
                && let Some(difference) = compared(&first, &second)
            {
                let turned = std::ptr::eq(walked, b);
                return Answer::No(if turned { difference.turned() } else { difference });
            }
        }
    }
    Answer::Unknown(Unknown::TooManyPoints { points, limit: limits.points() })
}

fn compared(first: &Relation, second: &Relation) -> Option<Difference> {
    only_in(first, second, true).or_else(|| only_in(second, first, false))
}

/// A result that only the one relation has.
fn only_in(one: &Relation, other: &Relation, is_of_first: bool) -> Option<Difference> {
    one.iter().find_map(|(index, results)| {
        let others = other.get(index);
        let result = results.iter().find(|r| !others.is_some_and(|all| all.contains(*r)))?.clone();
        let (dims, runtime) = index.clone();
        Some(Difference::Result { dims, runtime, result, is_of_first })
    })
}

impl Difference {
    /// The difference with the two maps exchanged.
    fn turned(self) -> Difference {
        match self {
            Difference::Result { dims, runtime, result, is_of_first } => {
                Difference::Result { dims, runtime, result, is_of_first: !is_of_first }
            }
            Difference::Dimensions(a, b) => Difference::Dimensions(b, a),
            Difference::Results(a, b) => Difference::Results(b, a),
        }
    }
}
