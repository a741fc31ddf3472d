//! Quotients and remainders of runs, as reshapes have them.
//!
//! Write `y` for what is divided, a run from `y₀` of `n` values, and `c` for the divisor. What can become of `y floordiv c` and
//! `y mod c`:
//!
//! | case | asks for | then |
//! |---|---|---|
//! | within | `y₀ mod c + n ≤ c` | the quotient is `y₀ floordiv c`, the remainder the run from `y₀ mod c` |
//! | whole | `c` divides `y₀` and `n` | two independent runs: `n / c` quotients, and all `c` remainders |
//! | quotient | `y` is used in no other way | consecutive quotients from `y₀ floordiv c` |
//! | remainder | `y` is used in no other way, `n ≥ c` | every remainder |

use std::collections::BTreeSet;

use num_integer::gcd;
use weft_affine::{Atom, Expr, Interval, Term};

use super::join::Compound;
use super::refusal::TileRefusal;
use super::runs::{Linear, Run, Search};

impl Search {
    /// The first quotient or remainder to resolve: an innermost one, of the least divisor. Those of constraints come first,
    /// since constraints may give runs by others.
    pub(super) fn innermost(&self) -> Option<(Atom, Linear)> {
        let mut found = BTreeSet::new();
        for c in &self.constraints {
            self.collect_innermost(&c.expr, &mut found);
        }
        if found.is_empty() {
            for e in self.expressions() {
                self.collect_innermost(e, &mut found);
            }
        }
        let (_, atom) = found.into_iter().next()?;
        let argument = self.linear(atom.argument()?)?;
        Some((atom, argument))
    }

    /// Writes remainders with the argument that a quotient has, where both leave the same remainders.
    ///
    /// `(d0 * 4 + d1) mod 3` is simplified to `(d0 + d1) mod 3`; beside `(d0 * 4 + d1) floordiv 3` that hides that both are of
    /// one run.
    pub(super) fn align_remainders(&mut self) -> Result<(), TileRefusal> {
        let mut found = BTreeSet::new();
        for e in self.expressions() {
            self.collect_innermost(e, &mut found);
        }
        let quotients: Vec<(i64, Expr)> = found
            .iter()
            .filter_map(|(c, atom)| match atom {
                Atom::FloorDiv(x, _) => Some((*c, x.clone())),
                _ => None,
            })
            .collect();
        for (m, atom) in &found {
            let Atom::Mod(x, _) = atom else { continue };
            let is_congruent = |y: &Expr| {
                y.checked_sub(x)
                    .is_ok_and(|d| d.constant_term() % m == 0 && d.terms().iter().all(|term| term.coefficient % m == 0))
            };
            if quotients.iter().any(|(c, y)| c % m == 0 && y == x) {
                continue;
            }
            if let Some((_, y)) = quotients.iter().find(|(c, y)| c % m == 0 && is_congruent(y)) {
                self.replace(atom, &y.checked_modulo(*m)?)?;
            }
        }
        Ok(())
    }

    fn collect_innermost(&self, e: &Expr, found: &mut BTreeSet<(i64, Atom)>) {
        for term in e.terms() {
            let (Atom::FloorDiv(x, c) | Atom::Mod(x, c)) = &term.atom else { continue };
            if !self.has_runs(x) {
                continue;
            }
            if self.linear(x).is_some() {
                found.insert((*c, term.atom.clone()));
            } else {
                self.collect_innermost(x, found);
            }
        }
    }

    /// The searches in which the atom is resolved.
    pub(super) fn divide(&self, atom: &Atom, sum: &Linear) -> Result<Vec<Search>, TileRefusal> {
        let (Atom::FloorDiv(argument, c) | Atom::Mod(argument, c)) = atom else { return Ok(Vec::new()) };
        let both = [Atom::FloorDiv(argument.clone(), *c), Atom::Mod(argument.clone(), *c)];
        let division = Division { argument, c: *c, both };
        if let Some(plain) = self.without_common_factor(&division, sum)? {
            return Ok(vec![plain]);
        }
        let mut ways = Vec::new();
        match sum.terms.as_slice() {
            [(run, factor)] if self.occurs_only_in(&division.both[0], *run)? => {
                ways.extend(self.within(&division, sum)?);
                // A multiple larger than the divisor steps over quotients.
                if factor.unsigned_abs() <= c.unsigned_abs() {
                    ways.extend(self.consecutive_quotients(&division, sum)?);
                }
            }
            [(run, factor)] => {
                if let (1 | -1, false) = (factor, self.occurs_only_in(&division.both[1], *run)?) {
                    ways.extend(self.whole(&division, sum, *run, *factor)?);
                }
                ways.extend(self.within(&division, sum)?);
                ways.extend(self.every_remainder(&division, sum)?);
            }
            terms => {
                let joined = self.compound(sum)?;
                if let Compound::One(search) = joined {
                    return Ok(vec![*search]);
                }
                ways.extend(self.within(&division, sum)?);
                ways.extend(self.every_remainder(&division, sum)?);
                if let Compound::If(joined) = joined {
                    ways.extend(joined);
                } else {
                    ways.extend(self.merge(sum)?);
                    for (run, _) in terms {
                        ways.extend(self.with_single(*run)?);
                    }
                }
            }
        }
        Ok(ways)
    }

    /// The whole of the sum lies between two multiples of the divisor.
    fn within(&self, division: &Division<'_>, sum: &Linear) -> Result<Option<Search>, TileRefusal> {
        let Division { argument, c, both: [quotient, remainder] } = division;
        let (low, spread) = self.low_and_spread(sum)?;
        let mut search = self.clone();
        if !search.require(&low.checked_modulo(*c)?.checked_add(&spread)?, Interval::of_extent(*c)) {
            return Ok(None);
        }
        let start = low.checked_floor_div(*c)?;
        search.replace(quotient, &start)?;
        search
            .replace(remainder, &argument.checked_add_scaled(&start, c.checked_neg().ok_or(TileRefusal::Overflow)?)?)?;
        Ok(Some(search))
    }

    /// The run is made of whole groups of `c`: it becomes a run of quotients and a run of all remainders.
    fn whole(&self, division: &Division<'_>, sum: &Linear, run: u32, sign: i64) -> Result<Option<Search>, TileRefusal> {
        let Division { argument, c, .. } = division;
        let (low, _) = self.low_and_spread(sum)?;
        let Run { size, is_free, .. } = self.run(run).clone();
        let mut search = self.clone();
        if !search.require(&low.checked_modulo(*c)?, Interval::point(0))
            || !search.require(&size.checked_modulo(*c)?, Interval::point(0))
        {
            return Ok(None);
        }
        let bounds = self.simplifier().range_of(argument).floor_div(*c);
        let quotients = Run { offset: low.checked_floor_div(*c)?, size: size.checked_floor_div(*c)?, bounds, is_free };
        let remainders = Run { offset: 0.into(), size: Expr::constant(*c), bounds: Interval::of_extent(*c), is_free };
        let value = search.push_run(quotients)?.checked_mul(*c)?.checked_add(&search.push_run(remainders)?)?;
        search.substitute(run, &value.checked_sub(&sum.rest)?.checked_mul(sign)?)?;
        Ok(Some(search))
    }

    /// `c / gcd(f, c)` consecutive values, times `f`, leave every remainder of the class of the rest modulo `gcd(f, c)`. Where
    /// that is one the rest does not matter, so it may be anything.
    fn every_remainder(&self, division: &Division<'_>, sum: &Linear) -> Result<Option<Search>, TileRefusal> {
        let Division { c, both: [_, remainder], .. } = division;
        for (run, factor) in &sum.terms {
            let common = gcd(factor.unsigned_abs(), c.unsigned_abs());
            let Some(common) = i64::try_from(common).ok().filter(|g| *g == 1 || sum.terms.len() == 1) else { continue };
            let count = c / common;
            let mut search = self.clone();
            if !self.occurs_only_in(remainder, *run)?
                || !search.require(&self.run(*run).size, Interval::new(count, i64::MAX))
            {
                continue;
            }
            let is_free = self.run(*run).is_free;
            let all = Run { offset: 0.into(), size: count.into(), bounds: Interval::of_extent(count), is_free };
            let (low, _) = self.low_and_spread(sum)?;
            let value = search.push_run(all)?.checked_mul(common)?.checked_add(&low.checked_modulo(common)?)?;
            search.replace(remainder, &value)?;
            return Ok(Some(search));
        }
        Ok(None)
    }

    /// `(g·y + r) floordiv c = y floordiv (c / g)` and `(g·y + r) mod c = g·(y mod (c / g)) + r`, where `g` divides `c` and
    /// `0 ≤ r < g`.
    fn without_common_factor(&self, division: &Division<'_>, sum: &Linear) -> Result<Option<Search>, TileRefusal> {
        let Division { argument, c, both: [quotient, remainder] } = division;
        let factors = argument.terms().iter().map(|t| t.coefficient.unsigned_abs());
        let common = factors.fold(c.unsigned_abs(), gcd);
        let Some(common) = i64::try_from(common).ok().filter(|g| *g > 1 && !sum.terms.is_empty()) else {
            return Ok(None);
        };
        let rest = argument.constant_term().rem_euclid(common);
        let terms = argument.terms().iter().map(|t| Term { coefficient: t.coefficient / common, atom: t.atom.clone() });
        let y = Expr::sum(argument.constant_term().div_euclid(common), terms)?;
        let mut search = self.clone();
        search.replace(quotient, &y.checked_floor_div(c / common)?)?;
        let remainders = y.checked_modulo(c / common)?.checked_mul(common)?.checked_add_constant(rest)?;
        search.replace(remainder, &remainders)?;
        Ok(Some(search))
    }

    /// Each quotient from that of the least value to that of the greatest. How many there are depends on the offset, except
    /// where the least value is a multiple of the divisor; that case comes first, since its size is plainer.
    fn consecutive_quotients(&self, division: &Division<'_>, sum: &Linear) -> Result<Vec<Search>, TileRefusal> {
        let Division { argument, c, both: [quotient, _] } = division;
        let (low, spread) = self.low_and_spread(sum)?;
        let (start, phase) = (low.checked_floor_div(*c)?, low.checked_modulo(*c)?);
        let bounds = self.simplifier().range_of(argument).floor_div(*c);
        let mut ways = Vec::new();
        let mut add = |mut search: Search, spread: &Expr| -> Result<(), TileRefusal> {
            let size = spread.checked_floor_div(*c)?.checked_add_constant(1)?;
            let value = search.push_run(Run { offset: start.clone(), size, bounds, is_free: false })?;
            search.replace(quotient, &value)?;
            ways.push(search);
            Ok(())
        };
        let mut aligned = self.clone();
        if !self.implies(&phase, Interval::point(0)) && aligned.require(&phase, Interval::point(0)) {
            add(aligned, &spread)?;
        }
        add(self.clone(), &phase.checked_add(&spread)?)?;
        Ok(ways)
    }

    /// Whether the run occurs nowhere but in the atom.
    fn occurs_only_in(&self, atom: &Atom, run: u32) -> Result<bool, TileRefusal> {
        let mut search = self.clone();
        search.replace(atom, &Expr::constant(0))?;
        Ok(!search.used().contains(&run))
    }
}

/// What is divided by what, and the quotient and remainder of that.
struct Division<'a> {
    argument: &'a Expr,
    c: i64,
    both: [Atom; 2],
}
