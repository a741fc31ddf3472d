//! Simplification: an equal expression over a domain, never dearer, in a form that depends on nothing but the input.
//!
//! First a directed pass brings the expression into normal form; where two or more divisions or remainders survive, a
//! small e-graph looks for something cheaper. Both are bounded by counts of steps and nodes, never by time.

mod analysis;
mod extract;
mod finish;
mod language;
mod normal;
mod proof;
mod recombine;
mod rules;
mod saturate;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

pub use proof::{Proof, Step};

use crate::range::Analysis;
use crate::{Atom, Constraint, Expr, Interval, Ranges, Var};
use normal::Normalizer;

/// How much work a simplification may do. The defaults suit a compiler that simplifies at every composition.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Escalate to the e-graph when at least this many divisions and remainders survive the directed pass.
    /// `u32::MAX` never escalates.
    pub escalate_at: u32,
    /// The e-graph stops growing at this many nodes.
    pub nodes: usize,
    /// The e-graph stops after this many rounds of all rules.
    pub rounds: usize,
    /// The directed pass stops rewriting after this many steps.
    pub steps: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { escalate_at: 2, nodes: 100, rounds: 8, steps: 20_000 }
    }
}

impl Config {
    /// The directed pass alone.
    pub fn directed() -> Config {
        Config { escalate_at: u32::MAX, ..Config::default() }
    }
}

/// An expression equal to `expr` at every point where the variables lie in `ranges` and all `constraints` hold, and that
/// costs no more (see [`Expr::cost`]).
///
/// Where the domain is empty any expression will do, and some is returned. The equality is one of integers: where both sides
/// evaluate within `i64` they agree, but a form that overflows in between may stand for one that does not.
pub fn simplify(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> Expr {
    Simplifier::new(ranges, constraints).simplify(expr)
}

/// As [`simplify`], with the steps that led there.
pub fn explain(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> (Expr, Proof) {
    let mut simplifier = Simplifier::new(ranges, constraints);
    simplifier.normalizer.start_log();
    let result = simplifier.simplify(expr);
    let steps = simplifier.normalizer.take_log();
    let proof = Proof::new(expr.clone(), result.clone(), steps, ranges.clone(), constraints.to_vec());
    (result, proof)
}

/// Simplifies expressions over one domain, and remembers what it has done.
pub struct Simplifier {
    config: Config,
    normalizer: Normalizer,
    /// Variables of constraints; about expressions without them the constraints say nothing.
    constrained: BTreeSet<Var>,
    done: FxHashMap<u128, Expr>,
}

impl Simplifier {
    /// A simplifier for the domain.
    pub fn new(ranges: &Ranges, constraints: &[Constraint]) -> Simplifier {
        Simplifier::with_config(ranges, constraints, Config::default())
    }

    /// A simplifier with other bounds on its work.
    pub fn with_config(ranges: &Ranges, constraints: &[Constraint], config: Config) -> Simplifier {
        let normalizer = Normalizer::new(Analysis::new(ranges, constraints), config.steps);
        let constrained = constraints.iter().flat_map(|c| c.expr.variables()).collect();
        Simplifier { config, normalizer, constrained, done: FxHashMap::default() }
    }

    /// The range of `expr` over the domain.
    pub fn range_of(&mut self, expr: &Expr) -> Interval {
        self.normalizer.analysis.range(expr)
    }

    /// The simplified form of `expr`; see [`simplify`].
    pub fn simplify(&mut self, expr: &Expr) -> Expr {
        if expr.as_constant().is_some() {
            return expr.clone();
        }
        let key = expr.structural_hash();
        if let Some(known) = self.done.get(&key) {
            return known.clone();
        }
        let result = self.run(expr);
        self.done.insert(key, result.clone());
        // The result is its own simplest form: asking again gives it back, whatever the path to it was.
        self.done.insert(result.structural_hash(), result.clone());
        result
    }

    fn run(&mut self, expr: &Expr) -> Expr {
        self.normalizer.allow_steps(self.config.steps);
        let mut result = self.settled(expr);
        // What the e-graph finds may be small enough to search again from there. Each search is from the result alone, so that
        // simplifying the result finds nothing more; the original form as a second seed doubled the time and found little.
        for _ in 0..4 {
            if !self.is_worth_saturating(&result) {
                break;
            }
            match self.saturated(&result) {
                Some(better) => result = self.settled(&better),
                None => break,
            }
        }
        result
    }

    /// Something strictly cheaper and of no wider range, where the e-graph finds it. A tight range is what later
    /// compositions are simplified with, so it is worth more than an operation.
    fn saturated(&mut self, e: &Expr) -> Option<Expr> {
        let found = saturate::saturate(&mut self.normalizer, e, &self.config)?;
        let analysis = &mut self.normalizer.analysis;
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
            result = again;
        }
        result
    }

    /// Large expressions would fill the e-graph before any rule is tried.
    fn is_worth_saturating(&self, e: &Expr) -> bool {
        let operations = e.operation_count();
        if self.config.escalate_at == u32::MAX || e.tree_size().saturating_mul(2) >= self.config.nodes as u64 {
            return false;
        }
        (operations >= self.config.escalate_at && terms_interact(e))
            || (operations > 0 && e.variables().iter().any(|v| self.constrained.contains(v)))
    }
}

/// False where every summand is one division, one remainder or one digit `(x // k) mod c` of a linear sum, and no two share
/// a variable: then nothing can cancel.
fn terms_interact(e: &Expr) -> bool {
    let mut seen = BTreeSet::new();
    e.terms().iter().any(|term| {
        let linear = match &term.atom {
            Atom::Var(v) => return !seen.insert(*v),
            Atom::Mod(x, _) => match x.as_atom() {
                Some(Atom::FloorDiv(y, _)) => y,
                _ => x,
            },
            Atom::FloorDiv(x, _) => x,
        };
        !linear.is_linear() || linear.variables().into_iter().any(|v| !seen.insert(v))
    })
}

impl std::fmt::Debug for Simplifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simplifier").field("config", &self.config).field("remembered", &self.done.len()).finish()
    }
}

/// Cost decides; where it saturates as a tree, the size as a DAG.
pub(crate) fn is_dearer(a: &Expr, b: &Expr) -> bool {
    match (a.cost(), b.cost()) {
        (u64::MAX, u64::MAX) => a.node_count() > b.node_count(),
        (x, y) => x > y,
    }
}
