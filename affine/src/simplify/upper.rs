//! Large expressions: only the upper levels are simplified, over names for what lies below.
//!
//! A chain of misaligned reshapes and transposes is an expression of a few nodes for each step and of astronomical size when
//! written out; no form of it is small, and every rule that distributes over its parts makes the shared ones distinct. So below
//! some level each large argument gets a name, a variable with the argument's range, the rest is simplified as any other
//! expression, and the names are replaced again. What was shared stays shared: the expression remains a chain of
//! intermediate indices, which its text writes as definitions after `where`, and which code can compute once each.

use rustc_hash::FxHashMap;

use crate::range::Analysis;
use crate::{Atom, Expr, Ranges, Term, Var};

/// So many divisions and remainders within one another stay in sight.
const LEVELS: u32 = 3;
/// Arguments up to this size, as trees, are never worth a name.
const PART: u64 = 24;

/// An expression whose large parts have names.
pub(super) struct Upper {
    /// The expression over the names.
    pub(super) expr: Expr,
    /// The ranges of all variables, names included.
    pub(super) ranges: Ranges,
    parts: FxHashMap<Var, Expr>,
}

impl Upper {
    /// Gives names to the large parts of `e`; nothing where none is deep enough.
    pub(super) fn of(e: &Expr, analysis: &mut Analysis) -> Option<Upper> {
        let taken = e.variables();
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
            ranges.runtime.resize(usize::try_from(*i).ok()?, crate::Interval::EVERYTHING);
            ranges.runtime.push(analysis.range(part));
        }
        Some(Upper { expr, ranges, parts: cutter.parts.into_iter().collect() })
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
        if e.tree_size() <= PART {
            return Some(e.clone());
        }
        if level == LEVELS {
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
