//! Conditions on tile sizes that hold at every position of the grid.

use std::fmt;

use weft_affine::text::Printer;
use weft_affine::{Atom, Canonical, Constraint, Expr, Interval, Merge, Ranges, Simplifier, Var};

use super::symbolic::{SymbolicTile, TileCase};
use super::text::parameter;
use num_integer::gcd;

/// Alternatives of a joint disjunction, above which the rest is left out.
const MAX_ALTERNATIVES: usize = 64;

/// A condition on tile sizes, where tiles start at `origin + p · size`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeCondition {
    /// An expression over the sizes lies in an interval; `t0 mod 8 in [0, 0]` says that eight divides the size.
    Within(Constraint),
    /// A size divides a number, so that no tile crosses one of its multiples: `8 mod t0 in [0, 0]`.
    Divides {
        /// Over the sizes.
        size: Expr,
        /// A positive number.
        of: i64,
    },
    /// Offsets take part in a way for which there is no shorter form: the constraint, over offsets and sizes, holds at every
    /// position.
    Everywhere(Constraint),
}

/// A disjunction of conjunctions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeConstraints {
    alternatives: Vec<Vec<SizeCondition>>,
    is_complete: bool,
}

impl SymbolicTile {
    /// The constraints on tile sizes: where one of the alternatives holds, every tile that is not cut at an edge is a
    /// box.
    ///
    /// Tiles at an edge have other sizes and must satisfy a case of their own, and different positions may satisfy different
    /// cases; [`SymbolicTile::evaluate`] looks at each and has the last word.
    pub fn size_constraints(&self) -> SizeConstraints {
        let mut alternatives: Vec<Vec<SizeCondition>> = Vec::new();
        for case in &self.cases {
            let Some(mut conditions) = self.on_sizes(case) else { continue };
            conditions.sort();
            conditions.dedup();
            add(&mut alternatives, conditions);
        }
        SizeConstraints { alternatives, is_complete: self.is_complete }
    }

    /// The conditions of a case on the grid; nothing where they hold at no size.
    fn on_sizes(&self, case: &TileCase) -> Option<Vec<SizeCondition>> {
        let extents = self.map.dims.iter().map(|v| i64::try_from(v.bounds.size()).unwrap_or(i64::MAX));
        let ranges = Ranges {
            ranges: extents.map(|n| Interval::new(1, n)).collect(),
            runtime: self.map.runtime.iter().map(|v| v.bounds).collect(),
            ..Ranges::default()
        };
        let fixed: Vec<Constraint> = case.conditions.iter().filter(|c| is_on_sizes(&c.expr)).cloned().collect();
        let grid = Grid { tile: self, simplifier: Simplifier::new(&ranges, &fixed) };
        let mut found: Vec<SizeCondition> = fixed.into_iter().map(SizeCondition::Within).collect();
        let mut grid = grid;
        for c in case.conditions.iter().filter(|c| !is_on_sizes(&c.expr)) {
            found.extend(grid.lift(c)?);
        }
        Some(found)
    }
}

/// Adds a conjunction unless one that is there asks for no more; those that ask for more go.
fn add(alternatives: &mut Vec<Vec<SizeCondition>>, conditions: Vec<SizeCondition>) {
    let asks_no_more = |a: &[SizeCondition], b: &[SizeCondition]| a.iter().all(|c| b.contains(c));
    if !alternatives.iter().any(|known| asks_no_more(known, &conditions)) {
        alternatives.retain(|known| !asks_no_more(&conditions, known));
        alternatives.push(conditions);
    }
}

fn is_on_sizes(e: &Expr) -> bool {
    e.variables().iter().all(|v| matches!(v, Var::Range(_)))
}

/// Positions of tiles, over the sizes.
struct Grid<'a> {
    tile: &'a SymbolicTile,
    /// Knows the conditions on sizes alone.
    simplifier: Simplifier,
}

impl Grid<'_> {
    /// A condition over offsets, for all offsets of the grid; nothing where it fails at the first one whatever the size.
    fn lift(&mut self, c: &Constraint) -> Option<Vec<SizeCondition>> {
        let everywhere = || vec![SizeCondition::Everywhere(c.clone())];
        Some(match self.lift_remainder(c) {
            Lifted::Conditions(list) => list,
            Lifted::Never => return None,
            Lifted::Unknown => everywhere(),
        })
    }

    /// `x mod c + y in [lo, hi]`, with `x` over offsets and `y` over sizes: alignment where `y` is nothing and the interval a point,
    /// and a run that crosses no multiple of `c` otherwise.
    fn lift_remainder(&mut self, c: &Constraint) -> Lifted {
        let mut remainder = None;
        let mut size = Expr::constant(c.expr.constant_term());
        for term in c.expr.terms() {
            let single = Expr::sum(0, [term.clone()]);
            match (&term.atom, single) {
                (Atom::Mod(x, m), _) if term.coefficient == 1 && remainder.is_none() && !is_on_sizes(x) => {
                    remainder = Some((x.clone(), *m));
                }
                (_, Ok(single)) if is_on_sizes(&single) => match size.checked_add(&single) {
                    Ok(sum) => size = sum,
                    Err(_) => return Lifted::Unknown,
                },
                _ => return Lifted::Unknown,
            }
        }
        let Some((x, m)) = remainder else { return Lifted::Unknown };
        let Some((first, steps)) = self.steps(&x) else { return Lifted::Unknown };
        match size.as_constant() {
            Some(shift) => match c.bounds.as_point().and_then(|r| r.checked_sub(shift)) {
                Some(r) => self.aligned(first.rem_euclid(m) == r, m, &steps),
                None => Lifted::Unknown,
            },
            None => self.uncrossed(first.rem_euclid(m), m, &steps, &size, c.bounds),
        }
    }

    /// The value of a sum of offsets at position zero, and by how much it changes from one tile to the next in each dimension in
    /// which there may be more than that one.
    fn steps(&mut self, x: &Expr) -> Option<(i64, Vec<Expr>)> {
        let mut first = x.constant_term();
        let mut steps = Vec::new();
        for term in x.terms() {
            let Atom::Var(Var::Dim(i)) = term.atom else { return None };
            let i_th = usize::try_from(i).ok()?;
            let (grid, origin) = (self.tile.grid.get(i_th)?, *self.tile.origin.get(i_th)?);
            first = first.checked_add(term.coefficient.checked_mul(origin)?)?;
            let step = Expr::range(i).checked_mul(term.coefficient.checked_abs()?).ok()?;
            let step = self.simplifier.simplify(&step);
            // One tile is all there is where it reaches from the origin to the end of the grid.
            let reach = (i128::from(grid.hi) - i128::from(origin) + 1).unsigned_abs();
            let whole = u128::from(term.coefficient.unsigned_abs()).checked_mul(reach)?;
            let is_all = |s: i64| origin <= grid.lo && u128::from(s.unsigned_abs()) >= whole;
            if !step.as_constant().is_some_and(is_all) {
                steps.push(step);
            }
        }
        Some((first, steps))
    }

    /// `first ≡ r` and `m` divides every step.
    fn aligned(&mut self, starts_right: bool, m: i64, steps: &[Expr]) -> Lifted {
        if !starts_right {
            return Lifted::Never;
        }
        let mut found = Vec::new();
        for step in steps {
            let Ok(rest) = step.checked_modulo(m) else { return Lifted::Unknown };
            match Constraint::new(rest, Interval::point(0)).canonicalize(&mut self.simplifier, &mut Vec::new()) {
                Canonical::Always => {}
                Canonical::Never => return Lifted::Never,
                Canonical::Open(plain) => found.push(SizeCondition::Within(plain)),
            }
        }
        Lifted::Conditions(found)
    }

    /// A run of as many values as one of the steps crosses no multiple of `m` exactly if it divides `m`, where the first one
    /// starts at a multiple of it and all other steps are multiples too. With nothing but constant steps the remainders are the
    /// multiples of their common divisor with `m`.
    fn uncrossed(&mut self, first: i64, m: i64, steps: &[Expr], size: &Expr, bounds: Interval) -> Lifted {
        let constants = steps.iter().filter_map(Expr::as_constant);
        let common = constants.fold(m.unsigned_abs(), |g, s| gcd(g, s.unsigned_abs()));
        let Ok(common) = i64::try_from(common) else { return Lifted::Unknown };
        let symbolic: Vec<&Expr> = steps.iter().filter(|s| s.as_constant().is_none()).collect();
        // In steps of one, n values from remainder r cross nothing where r + n is at most m.
        let count = i128::from(m) - i128::from(bounds.hi);
        let count = i64::try_from(count).ok().and_then(|k| size.checked_add_constant(k).ok());
        let Some(count) = count else { return Lifted::Unknown };
        match symbolic.as_slice() {
            [] => {
                let most = i128::from(bounds.hi) - i128::from(m - common + first.rem_euclid(common));
                let Ok(most) = i64::try_from(most) else { return Lifted::Unknown };
                let plain = Constraint::new(size.clone(), Interval::new(i64::MIN, most));
                match plain.canonicalize(&mut self.simplifier, &mut Vec::new()) {
                    Canonical::Always => Lifted::Conditions(Vec::new()),
                    Canonical::Never => Lifted::Never,
                    Canonical::Open(plain) => Lifted::Conditions(vec![SizeCondition::Within(plain)]),
                }
            }
            [step] if **step == count => {
                let of = gcd(common.unsigned_abs(), first.unsigned_abs());
                let Ok(of) = i64::try_from(of) else { return Lifted::Unknown };
                Lifted::Conditions(vec![SizeCondition::Divides { size: count, of }])
            }
            _ => Lifted::Unknown,
        }
    }
}

/// What a condition over offsets becomes.
enum Lifted {
    Conditions(Vec<SizeCondition>),
    Never,
    Unknown,
}

impl SizeConstraints {
    /// One of these must hold, with all its conditions. An empty conjunction always holds; without any nothing does.
    pub fn alternatives(&self) -> &[Vec<SizeCondition>] {
        &self.alternatives
    }

    /// False where alternatives were left out because they are too many.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The conjunction of both: of one alternative of each, as far as they do not contradict each other.
    pub fn and(&self, other: &SizeConstraints) -> SizeConstraints {
        let mut alternatives = Vec::new();
        let mut is_complete = self.is_complete && other.is_complete;
        for (a, b) in self.alternatives.iter().flat_map(|a| other.alternatives.iter().map(move |b| (a, b))) {
            let Some(both) = conjunction(a, b) else { continue };
            add(&mut alternatives, both);
            if alternatives.len() > MAX_ALTERNATIVES {
                alternatives.pop();
                is_complete = false;
            }
        }
        SizeConstraints { alternatives, is_complete }
    }

    /// The constraint that always holds.
    pub fn none() -> SizeConstraints {
        SizeConstraints { alternatives: vec![Vec::new()], is_complete: true }
    }
}

/// All conditions of both, those on one expression merged; nothing where they contradict one another.
fn conjunction(a: &[SizeCondition], b: &[SizeCondition]) -> Option<Vec<SizeCondition>> {
    let mut all: Vec<SizeCondition> = Vec::new();
    for condition in a.iter().chain(b) {
        let SizeCondition::Within(new) = condition else {
            all.push(condition.clone());
            continue;
        };
        let mut new = new.clone();
        let mut i = 0;
        while let Some(known) = all.get(i) {
            let SizeCondition::Within(known) = known else {
                i += 1;
                continue;
            };
            match known.merge(&new, &mut Vec::new()) {
                Merge::Never => return None,
                Merge::One(both) => {
                    new = both;
                    all.remove(i);
                    i = 0;
                }
                Merge::Unrelated => i += 1,
            }
        }
        all.push(SizeCondition::Within(new));
    }
    all.sort();
    all.dedup();
    Some(all)
}

/// `t0 mod 8 in [0, 0]`, `8 mod t0 in [0, 0]`, or `o0 mod 8 + t0 in [1, 8] at every offset`.
impl fmt::Display for SizeCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |f: &mut fmt::Formatter<'_>, e: &Expr| {
            let printer = Printer::with_names([e], parameter);
            printer.write(f, e)?;
            printer.write_where(f)
        };
        match self {
            SizeCondition::Within(c) => {
                write(f, &c.expr)?;
                write!(f, " in {}", c.bounds)
            }
            SizeCondition::Divides { size, of } => {
                write!(f, "{of} mod ")?;
                if size.as_var().is_some() {
                    write(f, size)?;
                } else {
                    f.write_str("(")?;
                    write(f, size)?;
                    f.write_str(")")?;
                }
                f.write_str(" in [0, 0]")
            }
            SizeCondition::Everywhere(c) => {
                write(f, &c.expr)?;
                write!(f, " in {} at every offset", c.bounds)
            }
        }
    }
}

/// The conditions of each alternative joined by `and`, the alternatives by `or`.
impl fmt::Display for SizeConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alternatives.is_empty() {
            return f.write_str("never");
        }
        for (i, conditions) in self.alternatives.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { " or " })?;
            if conditions.is_empty() {
                f.write_str("always")?;
            }
            for (j, condition) in conditions.iter().enumerate() {
                write!(f, "{}{condition}", if j == 0 { "" } else { " and " })?;
            }
        }
        Ok(())
    }
}
