//! Simplification of the upper levels of expressions that are too large as a whole.
//!
//! A chain of misaligned reshapes and transposes is an expression of a few nodes for each step and of astronomical size when
//! written out; no form of it is small, and every rule that distributes over its parts makes the shared ones distinct. So below
//! some level each large argument gets a name, a variable with the argument's range, the rest is simplified as any other
//! expression, and the names are replaced again. What was shared stays shared: the expression remains a chain of
//! intermediate indices, which its text writes as definitions after `where`, and which code can compute once each.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::range::Analysis;
use crate::{Atom, Expr, Interval, Ranges, Term, Var};

/// So many divisions and remainders within one another stay in sight.
const MAX_LEVELS: u32 = 3;
/// Arguments up to this size, as trees, are never worth a name.
const MAX_UNNAMED_TREE: u64 = 24;
/// Sums looked at for the range of one part. Where a chain goes on below, its remainders are bounded by themselves, and without
/// a limit each step would walk the whole chain again.
const MAX_SUMS_OF_PART: u32 = 32;

/// An expression whose large parts have names.
pub(super) struct UpperLevels {
    /// The expression over the names.
    pub(super) expr: Expr,
    /// The ranges of all variables, names included.
    pub(super) ranges: Ranges,
    parts: FxHashMap<Var, Expr>,
}

impl UpperLevels {
    /// Gives names to the large parts of `e`, other than the variables in `taken`; nothing where none is deep enough.
    pub(super) fn of(e: &Expr, analysis: &mut Analysis, taken: &[Var]) -> Option<UpperLevels> {
        let mut taken: BTreeSet<Var> = taken.iter().copied().collect();
        add_visible(e, 0, &mut taken);
        let mut cutter = Cutter { names: FxHashMap::default(), parts: Vec::new() };
        let is_free = |i: &u32| !taken.contains(&Var::Runtime(*i));
        let first = u32::try_from(analysis.ranges().runtime.len()).ok()?;
        let mut free = (first..u32::MAX).filter(is_free);
        let expr = cutter.cut(e, 0, &mut free)?;
        if cutter.parts.is_empty() {
            return None;
        }
        let mut ranges = analysis.ranges().clone();
        for (name, part) in &cutter.parts {
            let Var::Runtime(i) = name else { return None };
            ranges.runtime.resize(usize::try_from(*i).ok()?, Interval::EVERYTHING);
            ranges.runtime.push(range_of_part(part, analysis, &mut MAX_SUMS_OF_PART.clone()));
        }
        Some(UpperLevels { expr, ranges, parts: cutter.parts.into_iter().collect() })
    }

    /// The expression with the parts in place of their names; nothing where a number leaves `i64`.
    pub(super) fn restored(&self, e: &Expr) -> Option<Expr> {
        e.substitute(|v| self.parts.get(&v).cloned()).ok()
    }
}

struct Cutter {
    names: FxHashMap<u128, Var>,
    parts: Vec<(Var, Expr)>,
}

impl Cutter {
    fn cut(&mut self, e: &Expr, level: u32, free: &mut dyn Iterator<Item = u32>) -> Option<Expr> {
        if e.tree_size() <= MAX_UNNAMED_TREE {
            return Some(e.clone());
        }
        if is_part(e, level) {
            if let Some(known) = self.names.get(&e.structural_hash()) {
                return Some(Expr::var(*known));
            }
            let name = Var::Runtime(free.next()?);
            self.names.insert(e.structural_hash(), name);
            self.parts.push((name, e.clone()));
            return Some(Expr::var(name));
        }
        let mut terms: Vec<Term> = Vec::with_capacity(e.terms().len());
        for term in e.terms() {
            let atom = match &term.atom {
                Atom::Var(v) => Atom::Var(*v),
                Atom::FloorDiv(x, c) => Atom::FloorDiv(self.cut(x, level + 1, free)?, *c),
                Atom::Mod(x, c) => Atom::Mod(self.cut(x, level + 1, free)?, *c),
            };
            terms.push(Term { coefficient: term.coefficient, atom });
        }
        Expr::sum(e.constant_term(), terms).ok()
    }
}

/// Whether the argument at this level gets a name.
fn is_part(e: &Expr, level: u32) -> bool {
    level == MAX_LEVELS && e.tree_size() > MAX_UNNAMED_TREE
}

/// Adds the variables that stay in sight.
fn add_visible(e: &Expr, level: u32, seen: &mut BTreeSet<Var>) {
    if is_part(e, level) {
        return;
    }
    for term in e.terms() {
        match &term.atom {
            Atom::Var(v) => {
                seen.insert(*v);
            }
            Atom::FloorDiv(x, _) | Atom::Mod(x, _) => add_visible(x, (level + 1).min(MAX_LEVELS), seen),
        }
    }
}

/// A range that holds every value of `e`, found by looking at no more than so many of the sums that it is made of.
fn range_of_part(e: &Expr, analysis: &mut Analysis, left: &mut u32) -> Interval {
    if e.tree_size() <= MAX_UNNAMED_TREE {
        return analysis.range(e);
    }
    if *left == 0 {
        return Interval::EVERYTHING;
    }
    *left -= 1;
    let mut range = Interval::point(e.constant_term());
    for term in e.terms() {
        let atom = match &term.atom {
            Atom::Mod(x, c) if x.tree_size() > MAX_UNNAMED_TREE => Interval::new(0, c - 1),
            Atom::FloorDiv(x, c) => range_of_part(x, analysis, left).floor_div(*c),
            small => analysis.atom(small),
        };
        range = range + atom.scale(term.coefficient);
    }
    range
}
