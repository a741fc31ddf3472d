//! Simplification: an equal expression over a domain, never of higher cost, deterministic.
//!
//! First a directed pass brings the expression into normal form; where two or more divisions or remainders survive, a
//! small e-graph looks for something cheaper; what is left may be seen to be linear by trying points. All of it is bounded by
//! counts of steps, nodes and points, never by time.

mod analysis;
mod context;
mod digits;
mod finish;
mod language;
mod normal;
mod numbers;
mod recombine;
pub(crate) mod rules;
mod saturate;
mod upper;
mod why_not;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub use rules::laws;
pub use why_not::{Obstacle, RemainingDivision, Trial, UnprovedCondition, WhyNot, why_not};

use crate::picture::EgraphPicture;
use crate::points::{is_implied, linear_form};
use crate::proof::Proof;
use crate::range::Analysis;
use crate::{Atom, Constraint, Expr, Interval, Ranges, Var};
use context::Context;
use normal::Normalizer;
use rules::sum::EQUAL_AT_EVERY_POINT;
use upper::UpperLevels;

/// The cost of a variable, the least of all expressions but constants.
const MIN_COST: u64 = 1;

/// The fraction, as a divisor, of [`Config::max_points_work`] for an expression that is linear already and can only get cheaper.
const LINEAR_SHARE: u64 = 1024;

/// The fraction, as a divisor, of [`Config::max_points_work`] for a constraint: domains ask about each again and again.
const CONSTRAINT_SHARE: u64 = 16;

/// So many forms and ranges are remembered before all are forgotten.
const MAX_REMEMBERED: usize = 1 << 14;

/// Limits on the work of a simplification. The defaults suit a compiler that simplifies at every composition.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of divisions and remainders left by the directed pass from which on the e-graph is used.
    /// `u32::MAX` never uses it.
    pub escalate_at: u32,
    /// Nodes of the e-graph at which it stops growing.
    pub max_nodes: usize,
    /// Rounds of saturation, in each of which all rules are applied to the e-graph.
    pub max_rounds: usize,
    /// Rewrites of the directed pass in one simplification; the rest stays as it is.
    pub max_steps: usize,
    /// Size of an expression, counted as a tree, up to which it is simplified as a whole. Of larger ones only the upper levels
    /// are simplified: chains of misaligned reshapes, which have no small form, then take bounded time a step.
    /// [`Statistics::capped`] counts them.
    pub max_tree_size: u64,
    /// Work of evaluating an expression at the points that decide whether it is linear, as points times operations; what needs
    /// more is not tried. 0 tries nothing.
    pub max_points_work: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            escalate_at: 2,
            max_nodes: 100,
            max_rounds: 8,
            max_steps: 20_000,
            max_tree_size: 400,
            max_points_work: 1 << 22,
        }
    }
}

impl Config {
    /// True when `expr` is too large to be simplified as a whole, so that only its upper levels are.
    pub fn caps(&self, expr: &Expr) -> bool {
        expr.tree_size() > self.max_tree_size
    }

    /// The directed pass alone.
    pub fn directed() -> Config {
        Config { escalate_at: u32::MAX, max_points_work: 0, ..Config::default() }
    }
}

/// Counts of what [`Simplifier::simplify`] was asked and how it answered.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Expressions that were not constants.
    pub asked: u64,
    /// Answers from memory.
    pub remembered: u64,
    /// Expressions for which an e-graph was grown.
    pub escalated: u64,
    /// Expressions too large to be simplified as a whole, of which the upper levels were; see
    /// [`Config::max_tree_size`].
    pub capped: u64,
}

/// An expression equal to `expr` at every point where the variables lie in `ranges` and all `constraints` hold, and that
/// costs no more (see [`Expr::cost`]).
///
/// Where the domain is empty any expression will do, and some is returned. The equality is one of integers: where both sides
/// evaluate within `i64` they agree, but a form that overflows in between may stand for one that does not.
///
/// ```
/// use weft_affine::{Constraint, Interval, Ranges, Var, simplify};
///
/// let [d0, d1] = Var::dims();
/// let ranges = Ranges::of_dims([Interval::of_extent(100), Interval::of_extent(80)]);
/// let e = (d0 * 16 + d1).floor_div(128);
/// assert_eq!(simplify(&e, &ranges, &[]), e);
/// let facts = [Constraint::new(d0.modulo(8), Interval::point(3))];
/// assert_eq!(simplify(&e, &ranges, &facts), d0.floor_div(8));
/// ```
pub fn simplify(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> Expr {
    Simplifier::new(ranges, constraints).simplify(expr)
}

/// As [`simplify`], with the derivation.
pub fn explain(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> (Expr, Proof) {
    let mut simplifier = Simplifier::new(ranges, constraints);
    simplifier.normalizer.context.start_log();
    let result = simplifier.simplify(expr);
    let log = simplifier.normalizer.context.take_log();
    let proof = Proof::derive(expr.clone(), result.clone(), log, ranges.clone(), constraints.to_vec());
    (result, proof)
}

/// Simplifies expressions over one domain, and remembers what it has done.
///
/// Whoever simplifies again and again over one domain, such as a compiler that composes map after map along a chain of
/// operations, keeps one simplifier for all of it: parts that a step leaves alone are then found again, and ranges of what lies
/// deep in a long chain are not computed anew. What was simplified once is its own simplest form from then on; this matters only
/// where it was too large to be simplified as a whole ([`Config::caps`]), and a new simplifier might go on. What is remembered
/// stays bounded: beyond 16,384 forms and ranges all are forgotten, and remembering starts over.
///
/// ```
/// use weft_affine::{Expr, Interval, Ranges, Simplifier, Var};
///
/// let [d0, d1] = Var::dims();
/// let ranges = Ranges::of_dims([Interval::of_extent(64), Interval::of_extent(32)]);
/// let mut simplifier = Simplifier::new(&ranges, &[]);
/// // The index of a tensor of 64 × 32, reshaped to other extents and back, one step after another.
/// let mut index = [Expr::from(d0), Expr::from(d1)];
/// for (from, to) in [(32, 8), (8, 128), (128, 32)] {
///     let position = &index[0] * from + &index[1];
///     index = [position.floor_div(to), position.modulo(to)].map(|e| simplifier.simplify(&e));
/// }
/// assert_eq!(index, [d0.into(), d1.into()]);
/// ```
///
/// ```
/// use weft_affine::{Config, Interval, Ranges, Simplifier, Var};
///
/// let [d0] = Var::dims();
/// let ranges = Ranges::of_dims([Interval::of_extent(1000)]);
/// let mut simplifier = Simplifier::with_config(&ranges, &[], Config::directed());
/// let simple = simplifier.simplify(&(d0.floor_div(2) - d0.floor_div(24) * 12));
/// assert_eq!(simple, d0.floor_div(2).modulo(12));
/// assert_eq!(simplifier.range_of(&simple), Interval::of_extent(12));
/// ```
pub struct Simplifier {
    config: Config,
    normalizer: Normalizer,
    /// Variables of constraints; about expressions without them the constraints say nothing.
    constrained: SmallVec<[Var; 8]>,
    done: FxHashMap<u128, Expr>,
    statistics: Statistics,
    constraints: Vec<Constraint>,
}

impl Simplifier {
    /// A simplifier for the domain.
    pub fn new(ranges: &Ranges, constraints: &[Constraint]) -> Simplifier {
        Simplifier::with_config(ranges, constraints, Config::default())
    }

    /// A simplifier with other limits on its work.
    pub fn with_config(ranges: &Ranges, constraints: &[Constraint], config: Config) -> Simplifier {
        let normalizer = Normalizer::new(Context::new(Analysis::new(ranges, constraints)), config.max_steps);
        let mut constrained: SmallVec<[Var; 8]> = SmallVec::new();
        for constraint in constraints {
            constraint.expr.find_variable(&mut |v| {
                constrained.push(v);
                false
            });
        }
        constrained.sort();
        constrained.dedup();
        Simplifier {
            config,
            normalizer,
            constrained,
            done: FxHashMap::default(),
            statistics: Statistics::default(),
            constraints: constraints.to_vec(),
        }
    }

    /// The counts so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The range of `expr` over the domain.
    pub fn range_of(&mut self, expr: &Expr) -> Interval {
        self.normalizer.context.analysis.range(expr)
    }

    /// True when the constraint was shown to hold at every point of the domain: by the range of its expression or, where
    /// [`Config::max_points_work`] allows, by trying them. False proves nothing.
    ///
    /// ```
    /// use weft_affine::{Constraint, Interval, Ranges, Simplifier, Var};
    ///
    /// let [d0] = Var::dims();
    /// let digits = (d0 + d0.floor_div(20) * 10 + 9).modulo(30);
    /// let ranges = Ranges::of_dims([Interval::of_extent(40)]);
    /// let mut simplifier = Simplifier::new(&ranges, &[]);
    /// assert_eq!(simplifier.range_of(&digits), Interval::of_extent(30));
    /// assert!(simplifier.proves(&Constraint::new(digits, Interval::new(9, 28))));
    /// ```
    pub fn proves(&mut self, constraint: &Constraint) -> bool {
        let Constraint { expr, bounds } = constraint;
        let analysis = &mut self.normalizer.context.analysis;
        bounds.contains_interval(analysis.range(expr))
            || is_implied(
                constraint,
                analysis.ranges(),
                &self.constraints,
                u128::from(self.config.max_points_work / CONSTRAINT_SHARE),
            )
    }

    /// The simplified form of `expr`; see [`simplify`].
    pub fn simplify(&mut self, expr: &Expr) -> Expr {
        if expr.as_constant().is_some() {
            return expr.clone();
        }
        let key = expr.structural_hash();
        self.statistics.asked += 1;
        if let Some(known) = self.done.get(&key) {
            self.statistics.remembered += 1;
            return known.clone();
        }
        if self.done.len() + self.normalizer.remembered() > MAX_REMEMBERED {
            self.done.clear();
            self.normalizer.forget();
        }
        let upper = if self.config.caps(expr) { self.simplified_above(expr) } else { None };
        let result = upper.unwrap_or_else(|| self.run(expr));
        let result = match self.linear_at_every_point(&result) {
            Some(linear) => self.run(&linear),
            None => result,
        };
        self.done.insert(key, result.clone());
        // The result is its own simplest form: asking again gives it back, whatever the path to it was.
        self.done.insert(result.structural_hash(), result.clone());
        result
    }

    /// The e-graph that grows from `expr` within the bounds on the work, whether or not [`Simplifier::simplify`] would look
    /// for something there.
    pub fn egraph(&mut self, expr: &Expr) -> EgraphPicture {
        self.normalizer.allow_steps(self.config.max_steps);
        saturate::picture(&mut self.normalizer, expr, &self.config)
    }

    /// The expression with its upper levels simplified, where it has large parts below them.
    fn simplified_above(&mut self, expr: &Expr) -> Option<Expr> {
        let upper = UpperLevels::of(expr, &mut self.normalizer.context.analysis, &self.constrained)?;
        let config = Config { max_tree_size: u64::MAX, ..self.config };
        let mut above = Simplifier::with_config(&upper.ranges, &self.constraints, config);
        if self.normalizer.context.keeps_log() {
            above.normalizer.context.start_log();
        }
        let form = above.simplify(&upper.expr);
        let simple = upper.restored(&form)?;
        self.statistics.capped += 1;
        self.statistics.escalated += above.statistics.escalated;
        let steps = above.normalizer.context.take_log().into_iter();
        self.normalizer.context.append(steps.filter_map(|step| step.mapped(&|e| upper.restored(e))).collect());
        // What lies below the names is the same before and after; counting it would walk the whole chain at each step.
        let is_worse = simple.cost() > expr.cost() || form.node_count() > upper.expr.node_count();
        Some(if is_worse { expr.clone() } else { simple })
    }

    fn run(&mut self, expr: &Expr) -> Expr {
        self.normalizer.allow_steps(self.config.max_steps);
        let mut result = self.settled(expr);
        self.solve_known_sums(expr, &mut result);
        let mut escalates = 0;
        // What the e-graph finds may be small enough to search again from there. Each search is from the result alone, so that
        // simplifying the result finds nothing more; the original form as a second seed doubled the time and found little.
        for _ in 0..4 {
            if !self.is_worth_saturating(&result) {
                break;
            }
            escalates = 1;
            match self.saturated(&result) {
                Some(better) => result = self.settled(&better),
                None => break,
            }
        }
        self.statistics.escalated += escalates;
        result
    }

    /// Puts variables that a known sum determines in terms of the others, where that leads to something cheaper.
    fn solve_known_sums(&mut self, expr: &Expr, result: &mut Expr) {
        let occurring = match self.normalizer.context.analysis.equalities() {
            [] => return,
            _ => expr.variables(),
        };
        for (sum, value) in self.normalizer.context.analysis.equalities().to_vec() {
            for term in sum.terms() {
                let (Atom::Var(v), 1 | -1) = (&term.atom, term.coefficient) else { continue };
                if !occurring.contains(v) || result.is_linear() {
                    continue;
                }
                let Some(solved) = self.normalizer.solved(&sum, value, term) else { continue };
                let Ok(replaced) = expr.substitute(|w| (w == *v).then(|| solved.clone())) else { continue };
                let candidate = self.settled(&replaced);
                if candidate.cost() < result.cost() {
                    *result = candidate;
                }
            }
        }
    }

    /// Something strictly cheaper and of no wider range, where the e-graph finds it. A tight range is what later
    /// compositions are simplified with, so it is worth more than an operation.
    fn saturated(&mut self, e: &Expr) -> Option<Expr> {
        let found = saturate::saturate(&mut self.normalizer, e, &self.config)?;
        let analysis = &mut self.normalizer.context.analysis;
        (found.cost() < e.cost() && analysis.range(e).contains_interval(analysis.range(&found))).then_some(found)
    }

    /// The directed pass, repeated while it moves something: where the last touch moved a constant, the rules may see what
    /// they did not see before. Never dearer than the input.
    fn settled(&mut self, expr: &Expr) -> Expr {
        let mut result = expr.clone();
        for _ in 0..4 {
            let normal = self.normalizer.root(&result);
            let again = finish::finish(&mut self.normalizer, &normal);
            if again == result || is_dearer(&again, &result) {
                break;
            }
            let settled = again == normal;
            result = again;
            if settled {
                break;
            }
        }
        result
    }

    /// What is linear at every point though no rule says so. Constraints may leave one value or one variable of what is linear
    /// already.
    fn linear_at_every_point(&mut self, e: &Expr) -> Option<Expr> {
        let is_constrained = self.is_constrained(e);
        let work = match (e.is_linear(), is_constrained) {
            (false, _) if is_constrained || terms_interact(e) => self.config.max_points_work,
            (true, true) => self.config.max_points_work / LINEAR_SHARE,
            _ => 0,
        };
        if work == 0 || e.cost() <= MIN_COST {
            return None;
        }
        let context = &mut self.normalizer.context;
        let linear = linear_form(e, context.analysis.ranges(), &self.constraints, u128::from(work))?;
        if linear.cost() >= e.cost() {
            return None;
        }
        context.forget();
        context.bind('x', e);
        context.bind('y', &linear);
        context.record(EQUAL_AT_EVERY_POINT, e, &linear);
        Some(linear)
    }

    /// Large expressions would fill the e-graph before any rule is tried.
    fn is_worth_saturating(&self, e: &Expr) -> bool {
        let operations = e.operation_count();
        if self.config.escalate_at == u32::MAX || e.tree_size().saturating_mul(2) >= self.config.max_nodes as u64 {
            return false;
        }
        (operations >= self.config.escalate_at && terms_interact(e)) || (operations > 0 && self.is_constrained(e))
    }

    /// True when constraints mention a variable of the expression.
    fn is_constrained(&self, e: &Expr) -> bool {
        !self.constrained.is_empty() && e.find_variable(&mut |v| self.constrained.binary_search(&v).is_ok())
    }
}

/// Arguments up to this size, as trees, are looked into for what may cancel.
const MAX_SEARCHED_TREE: u64 = 64;

type Variables = SmallVec<[Var; 12]>;

/// False where every summand is a digit such as `(x // k) mod c`, no two of the numbers `x` share a variable, the digits of each
/// are written the cheapest way, and the summands of each do not interact either: then nothing can cancel. A number with
/// divisions or remainders and a constant may gain by moving the constant, so there the answer is true.
fn terms_interact(e: &Expr) -> bool {
    let (mut numbers, mut parts): (Variables, Variables) = Default::default();
    e.terms().iter().any(|term| {
        let number = match &term.atom {
            Atom::Var(v) => {
                // Atoms stand in order: no digit was met yet.
                numbers.push(*v);
                return false;
            }
            _ => digits::digit_range(term).map(|(x, _)| x),
        };
        let Some(number) = number else { return true };
        if let Some(v) = number.as_var() {
            return parts.contains(&v) || (is_known(&mut numbers, v) && !digits::are_cheapest_digits(e, v));
        }
        let is_plain = number.constant_term() == 0 && number.tree_size() <= MAX_SEARCHED_TREE;
        if !number.is_linear() && (!is_plain || terms_interact(number)) {
            return true;
        }
        number.variables().into_iter().any(|v| numbers.contains(&v) || is_known(&mut parts, v))
    })
}

/// Whether the variable was there before; now it is.
fn is_known(seen: &mut Variables, v: Var) -> bool {
    let known = seen.contains(&v);
    if !known {
        seen.push(v);
    }
    known
}

impl std::fmt::Debug for Simplifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simplifier").field("config", &self.config).field("statistics", &self.statistics).finish()
    }
}

/// Cost decides; where it saturates as a tree, the size as a DAG.
pub(crate) fn is_dearer(a: &Expr, b: &Expr) -> bool {
    match (a.cost(), b.cost()) {
        (u64::MAX, u64::MAX) => a.node_count() > b.node_count(),
        (x, y) => x > y,
    }
}
