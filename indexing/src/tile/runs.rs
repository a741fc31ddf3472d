//! The state of the search for the cases of a tile: runs of consecutive values, expressions over them, and conditions.
//!
//! One name space holds everything. `d0 …` stand for the offsets of the tile and `s0 …` for its sizes, one for each tiled
//! dimension; `rt0 …` are the runtime variables; the dimension variables after the offsets stand for runs. A run variable
//! takes each of `offset, offset + 1, …, offset + size − 1`, and independently of all other runs: that is the invariant which
//! every step keeps, and it makes a box of results in which no two share a run.

use std::collections::BTreeSet;

use weft_affine::{Atom, Canonical, Config, Constraint, Expr, Interval, Ranges, Simplifier, Var};

use super::refusal::TileRefusal;

/// Expressions larger than this as trees are not followed.
const MAX_SIZE: u64 = 2000;
/// Nor are those of more divisions within one another: they are walked by recursion.
const MAX_DEPTH: u32 = 64;

/// Consecutive values, each taken: `offset + k` for `k` in `[0, size − 1]`. Both are over parameters alone, and the conditions
/// see to it that the size is at least one.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) offset: Expr,
    pub(super) size: Expr,
    /// Bounds of its values at any position.
    pub(super) bounds: Interval,
    /// True for range variables of the map and what is made of them alone: nothing about the tile says which value they have.
    pub(super) is_free: bool,
}

/// A sum of multiples of runs and of something over parameters alone.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) rest: Expr,
    /// Runs with their coefficients, in the order of their numbers.
    pub(super) terms: Vec<(u32, i64)>,
}

/// One way in which the values of a tile may lie, on the way to a case.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// Offsets, and so the number of the first run variable.
    pub(super) offsets: u32,
    /// Bounds of the parameters, narrowed by the conditions on single ones.
    pub(super) parameters: Ranges,
    /// What holds of the parameters of every tile.
    pub(super) facts: Vec<Constraint>,
    /// What this case asks of the parameters.
    pub(super) conditions: Vec<Constraint>,
    pub(super) runs: Vec<Run>,
    pub(super) results: Vec<Expr>,
    /// The values of each result that count.
    pub(super) masks: Vec<Interval>,
    /// What is left of the constraints of the map.
    pub(super) constraints: Vec<Constraint>,
    /// Accesses of runtime variables, which must not move within the tile.
    pub(super) pinned: Vec<Expr>,
    pub(super) is_empty: bool,
    /// How often runs may still be merged.
    pub(super) merges: u32,
}

impl Search {
    /// The bounds of all variables.
    fn ranges(&self) -> Ranges {
        let mut ranges = self.parameters.clone();
        ranges.dims.extend(self.runs.iter().map(|r| r.bounds));
        ranges
    }

    /// Simplifies by what is known of all variables. The quick rules are enough here: results are simplified fully at the
    /// end.
    pub(super) fn simplifier(&self) -> Simplifier {
        let known: Vec<Constraint> = self.facts.iter().chain(&self.conditions).cloned().collect();
        Simplifier::with_config(&self.ranges(), &known, Config::directed())
    }

    pub(super) fn variable(&self, run: u32) -> Var {
        Var::Dim(self.offsets.saturating_add(run))
    }

    pub(super) fn run(&self, run: u32) -> &Run {
        &self.runs[run as usize]
    }

    fn run_of(&self, v: Var) -> Option<u32> {
        match v {
            Var::Dim(i) => i.checked_sub(self.offsets),
            _ => None,
        }
    }

    pub(super) fn has_runs(&self, e: &Expr) -> bool {
        e.variables().into_iter().any(|v| self.run_of(v).is_some())
    }

    /// The expressions that runs may stand in.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)).chain(&self.pinned)
    }

    fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.results.iter_mut().chain(self.constraints.iter_mut().map(|c| &mut c.expr)).chain(&mut self.pinned)
    }

    /// The runs that some expression mentions.
    pub(super) fn used(&self) -> BTreeSet<u32> {
        self.expressions().flat_map(Expr::variables).filter_map(|v| self.run_of(v)).collect()
    }

    /// The sum as a linear one, where runs stand in no quotient or remainder.
    pub(super) fn linear(&self, e: &Expr) -> Option<Linear> {
        let mut terms = Vec::new();
        let mut rest = Vec::new();
        for term in e.terms() {
            match &term.atom {
                Atom::Var(v) if self.run_of(*v).is_some() => {
                    terms.extend(self.run_of(*v).map(|r| (r, term.coefficient)));
                }
                Atom::FloorDiv(x, _) | Atom::Mod(x, _) if self.has_runs(x) => return None,
                _ => rest.push(term.clone()),
            }
        }
        Some(Linear { rest: Expr::sum(e.constant_term(), rest).ok()?, terms })
    }

    /// The least value of a sum over a tile, and how far the greatest lies above it.
    pub(super) fn low_and_spread(&self, sum: &Linear) -> Result<(Expr, Expr), TileRefusal> {
        let (mut low, mut spread) = (sum.rest.clone(), Expr::constant(0));
        for (r, c) in &sum.terms {
            let steps = self.run(*r).size.checked_add_constant(-1)?;
            low = low.checked_add_scaled(&self.run(*r).offset, *c)?;
            if *c < 0 {
                low = low.checked_add_scaled(&steps, *c)?;
            }
            spread = spread.checked_add_scaled(&steps, c.checked_abs().ok_or(TileRefusal::Overflow)?)?;
        }
        Ok((low, spread))
    }

    /// Adds a run, and gives its variable.
    pub(super) fn push_run(&mut self, run: Run) -> Result<Expr, TileRefusal> {
        let number = u32::try_from(self.runs.len()).map_err(|_| TileRefusal::TooLarge)?;
        self.runs.push(run);
        Ok(Expr::var(self.variable(number)))
    }

    /// Puts an expression in place of a run everywhere.
    pub(super) fn substitute(&mut self, run: u32, new: &Expr) -> Result<(), TileRefusal> {
        let v = self.variable(run);
        for e in self.expressions_mut() {
            *e = e.substitute(|w| (w == v).then(|| new.clone()))?;
        }
        Ok(())
    }

    /// Puts an expression in place of an atom everywhere.
    pub(super) fn replace(&mut self, atom: &Atom, new: &Expr) -> Result<(), TileRefusal> {
        for e in self.expressions_mut() {
            *e = replaced(e, atom, new)?;
        }
        Ok(())
    }

    /// Asks for `expr` in `bounds`; false where that never holds.
    pub(super) fn require(&mut self, expr: &Expr, bounds: Interval) -> bool {
        let mut simplifier = self.simplifier();
        let asked = Constraint::new(simplifier.simplify(expr), bounds);
        if self.conditions.contains(&asked) {
            return true;
        }
        match asked.canonicalize(&mut simplifier, &mut Vec::new()) {
            Canonical::Always => true,
            Canonical::Never => false,
            Canonical::Open(plain) => {
                if let Some(known) = plain.expr.as_var().and_then(|v| self.parameters.get_mut(v)) {
                    *known = known.intersect(plain.bounds);
                    if known.is_empty() {
                        return false;
                    }
                }
                self.conditions.push(plain);
                true
            }
        }
    }

    /// Whether `expr` lies in `bounds` wherever the conditions hold.
    pub(super) fn implies(&self, expr: &Expr, bounds: Interval) -> bool {
        let mut simplifier = self.simplifier();
        let simple = simplifier.simplify(expr);
        self.conditions.iter().any(|c| c.expr == simple && bounds.contains_interval(c.bounds))
            || bounds.contains_interval(simplifier.range_of(&simple))
    }

    /// This search where the run has one value; nothing where it always has more.
    pub(super) fn with_single(&self, run: u32) -> Result<Option<Search>, TileRefusal> {
        let mut single = self.clone();
        let Run { offset, size, .. } = self.run(run).clone();
        if !single.require(&size, Interval::point(1)) {
            return Ok(None);
        }
        single.substitute(run, &offset)?;
        Ok(Some(single))
    }

    /// Simplifies everything by what is known, and puts the only value in place of each run that has just one.
    pub(super) fn settle(&mut self) -> Result<(), TileRefusal> {
        loop {
            if self.expressions().any(|e| e.tree_size() > MAX_SIZE || e.depth() > MAX_DEPTH) {
                return Err(TileRefusal::TooLarge);
            }
            let mut simplifier = self.simplifier();
            for e in self.expressions_mut() {
                *e = simplifier.simplify(e);
            }
            for run in &mut self.runs {
                run.offset = simplifier.simplify(&run.offset);
                run.size = simplifier.simplify(&run.size);
            }
            let mut open = Vec::new();
            for c in &self.constraints {
                match c.canonicalize(&mut simplifier, &mut Vec::new()) {
                    Canonical::Always => {}
                    Canonical::Open(plain) => open.push(plain),
                    Canonical::Never => self.is_empty = true,
                }
            }
            self.constraints = open;
            let used = self.used();
            let Some(single) = used.into_iter().find(|r| self.run(*r).size.as_constant() == Some(1)) else {
                return Ok(());
            };
            let offset = self.run(single).offset.clone();
            self.substitute(single, &offset)?;
        }
    }
}

/// `e` with `new` in place of the atom, however deep it stands.
fn replaced(e: &Expr, atom: &Atom, new: &Expr) -> Result<Expr, TileRefusal> {
    let mut sum = Expr::constant(e.constant_term());
    for term in e.terms() {
        let value = match &term.atom {
            found if found == atom => new.clone(),
            Atom::Var(v) => Expr::var(*v),
            Atom::FloorDiv(x, c) => replaced(x, atom, new)?.checked_floor_div(*c)?,
            Atom::Mod(x, c) => replaced(x, atom, new)?.checked_modulo(*c)?,
        };
        sum = sum.checked_add_scaled(&value, term.coefficient)?;
    }
    Ok(sum)
}
