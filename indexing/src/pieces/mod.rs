//! Decomposition of a domain into parts on which a map is affine.
//!
//! Floor divisions, remainders and constraints are what keeps a map from being affine. Each is decided on a region of the
//! domain, a box of digits, or the region is divided further:
//!
//! - `(c·M + R) floordiv c` is `M + const` and `(c·M + R) mod c` is `R − c·const` where all values of `R` lie within one
//!   quotient. Otherwise a digit `d` of `R` is written as `p·q + r` with the period `p = c / gcd(coefficient, c)`, whereupon
//!   `q` belongs to `M`; and where all digits are shorter than their periods, the region is cut where a quotient changes.
//! - A constraint holds on the whole region, nowhere in it, or the region is cut where that changes.
//!
//! Variables that only occur together, as `8·d0 + d1` where `d1` has 8 values, are one from the start.
//!
//! So `d0 floordiv 8` for a million values of `d0` is one part, and a guard `128·d0 + d1 ≤ n` three. The idea is that of the
//! digits of a mixed radix, in which a floor division is dropping digits.
//!
//! *Lanes* are values of some variables that are not taken apart but all looked at at once, such as the threads of a
//! subgroup: a part is then a region of the other variables on which every lane has its own constant and all lanes have the
//! same coefficients. All arithmetic is exact, in `i128`, or the answer is [`Unknown::Overflow`].

mod form;
mod program;
mod region;

pub(crate) use form::Form;
pub(crate) use program::{Operand, Program};

use std::ops::ControlFlow;

use form::Span;
use region::Region;

use crate::Unknown;

/// Regions that are looked at before giving up.
const MAX_REGIONS: usize = 1 << 14;
/// Regions times lanes that are looked at before giving up.
const MAX_WORK: usize = 1 << 19;

/// The values of variables in each lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// Numbers of variables in the program, with their values, one for each lane.
    pub(crate) values: Vec<(usize, Vec<i64>)>,
}

impl Lanes {
    /// How many; one where no variable has values.
    pub(crate) fn count(&self) -> usize {
        self.values.first().map_or(1, |(_, list)| list.len())
    }
}

/// A part of the domain, on which all results are affine.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// How many values each digit has.
    pub(crate) counts: Vec<i128>,
    /// The lanes within the domain; at least one.
    pub(crate) active: Vec<bool>,
    /// The results; constants of lanes outside the domain mean nothing.
    pub(crate) results: Vec<Form>,
}

/// The parts of the domain of a program, at most `most`; they come in one order on every machine.
///
/// # Errors
/// Where there are too many parts, or numbers are too large.
pub(crate) fn pieces(program: &Program, lanes: &Lanes, most: usize) -> Result<Vec<Piece>, Unknown> {
    let mut found = Vec::new();
    let mut enough = false;
    visit(program, lanes, &mut |piece| {
        enough = found.len() == most;
        found.push(piece);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if enough { Err(Unknown::TooManyPieces) } else { Ok(found) }
}

/// Shows each part of the domain of a program, until told to stop.
///
/// # Errors
/// As [`pieces`].
pub(crate) fn visit(
    program: &Program,
    lanes: &Lanes,
    each: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), Unknown> {
    take_apart(program, lanes, Width::Unbounded, each)
}

/// Whether some value of a sum may leave `i64` on the domain: judged by the bounds of the variables, and where they do not
/// tell, part by part.
pub(crate) fn may_overflow(program: &Program) -> bool {
    program.may_overflow()
        && take_apart(program, &Lanes::default(), Width::Word, &mut |_| ControlFlow::Continue(())).is_err()
}

/// Which values sums may have.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Width {
    /// Those of `i64`; others are an overflow.
    Word,
    /// Any.
    Unbounded,
}

fn take_apart(
    program: &Program,
    lanes: &Lanes,
    width: Width,
    each: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), Unknown> {
    let lane_of = |i: usize| lanes.values.iter().find(|(v, _)| *v == i).map(|(_, list)| list);
    let program = &program.joined(|i| lane_of(i).is_some());
    let Some(whole) = Region::whole(program, |i| lane_of(i).is_some()) else { return Ok(()) };
    // Lanes whose values the variable cannot have are not in the domain.
    let admitted: Vec<bool> = (0..lanes.count())
        .map(|lane| lanes.values.iter().all(|(v, list)| program.variables[*v].1.contains(list[lane])))
        .collect();
    let mut waiting = vec![whole];
    let (mut looked_at, lane_count) = (0, lanes.count());
    while let Some(region) = waiting.pop() {
        looked_at += 1;
        if looked_at > MAX_REGIONS || looked_at * lane_count > MAX_WORK {
            return Err(Unknown::TooManyPieces);
        }
        let mut view = View { program, region: &region, lanes, active: admitted.clone(), sums: Vec::new(), width };
        match view.decide()? {
            Decision::Empty => {}
            Decision::Divide(parts) => waiting.extend(parts.into_iter().rev()),
            Decision::Affine => {
                let results = program.results.iter().map(|i| view.sums[*i].clone()).collect();
                let active = view.active;
                if each(Piece { counts: region.counts, active, results }).is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

enum Decision {
    /// No lane is in the domain.
    Empty,
    Affine,
    Divide(Vec<Region>),
}

/// One region, looked at.
struct View<'a> {
    program: &'a Program,
    region: &'a Region,
    lanes: &'a Lanes,
    active: Vec<bool>,
    sums: Vec<Form>,
    width: Width,
}

/// A quotient and a remainder, or what to divide first.
enum Divided {
    Decided { quotient: Form, remainder: Form },
    Divide(Vec<Region>),
}

impl View<'_> {
    fn decide(&mut self) -> Result<Decision, Unknown> {
        for number in 0..self.program.sums.len() {
            if !self.active.contains(&true) {
                return Ok(Decision::Empty);
            }
            match self.sum(number)? {
                Ok(form) => self.sums.push(form),
                Err(parts) => return Ok(Decision::Divide(parts)),
            }
            for (_, bounds) in self.program.constraints.iter().filter(|(i, _)| *i == number) {
                if let Some(parts) = self.constrain(number, i128::from(bounds.lo), i128::from(bounds.hi))? {
                    return Ok(Decision::Divide(parts));
                }
            }
        }
        Ok(if self.active.contains(&true) { Decision::Affine } else { Decision::Empty })
    }

    /// The value of a sum as an affine form, or the parts in which to look for it.
    fn sum(&self, number: usize) -> Result<Result<Form, Vec<Region>>, Unknown> {
        let sum = &self.program.sums[number];
        let mut total = Form::constant(sum.constant, self.region.counts.len(), self.lanes.count());
        for (factor, operand) in &sum.terms {
            let value = match operand {
                Operand::Variable(v) => self.variable(*v),
                Operand::FloorDiv(x, c) | Operand::Mod(x, c) => match self.divided(&self.sums[*x], i128::from(*c))? {
                    Divided::Divide(parts) => return Ok(Err(parts)),
                    Divided::Decided { quotient, .. } if matches!(operand, Operand::FloorDiv(..)) => quotient,
                    Divided::Decided { remainder, .. } => remainder,
                },
            };
            total.add_scaled(&value, *factor)?;
        }
        if self.width == Width::Word {
            let span = Form::span(&total.terms(), &self.region.counts)?;
            for k in self.constants(&total) {
                let fits = |v: i128| k.checked_add(v).is_some_and(|v| i64::try_from(v).is_ok());
                if !fits(span.lo) || !fits(span.hi) {
                    return Err(Unknown::Overflow);
                }
            }
        }
        Ok(Ok(total))
    }

    fn variable(&self, v: usize) -> Form {
        let (constant, weights) = &self.region.variables[v];
        let constants = match self.lanes.values.iter().find(|(i, _)| *i == v) {
            Some((_, list)) => list.iter().map(|value| i128::from(*value)).collect(),
            None => vec![*constant; self.lanes.count()],
        };
        Form { coefficients: weights.clone(), constants }
    }

    /// The constants of lanes that are in the domain.
    fn constants<'b>(&'b self, x: &'b Form) -> impl Iterator<Item = i128> + 'b {
        x.constants.iter().zip(&self.active).filter(|(_, active)| **active).map(|(k, _)| *k)
    }

    fn divided(&self, x: &Form, c: i128) -> Result<Divided, Unknown> {
        let rest: Vec<(usize, i128)> = x.terms().into_iter().filter(|(_, a)| a % c != 0).collect();
        let span = Form::span(&rest, &self.region.counts)?;
        // Not more than 2⁶⁴ and what a coefficient times a count can be: checked once, so that sums below stay within `i128`.
        let within = |k: i128| k.checked_add(span.lo).zip(k.checked_add(span.hi)).ok_or(Unknown::Overflow);
        let mut decided = true;
        for k in self.constants(x) {
            let (lo, hi) = within(k)?;
            decided &= lo.div_euclid(c) == hi.div_euclid(c);
        }
        if decided {
            let mut quotient = x.clone();
            let mut remainder = x.clone();
            for (digit, a) in x.coefficients.iter().enumerate() {
                let of_quotient = a % c == 0;
                quotient.coefficients[digit] = if of_quotient { a / c } else { 0 };
                remainder.coefficients[digit] = if of_quotient { 0 } else { *a };
            }
            for (lane, k) in x.constants.iter().enumerate() {
                // A lane outside the domain may have any quotient.
                let whole = k.checked_add(span.lo).ok_or(Unknown::Overflow)?.div_euclid(c);
                quotient.constants[lane] = whole;
                remainder.constants[lane] =
                    whole.checked_mul(c).and_then(|multiple| k.checked_sub(multiple)).ok_or(Unknown::Overflow)?;
            }
            return Ok(Divided::Decided { quotient, remainder });
        }
        let period = |a: i128| c / greatest_common_divisor(a, c);
        let long = rest.iter().filter(|(digit, a)| self.region.counts[*digit] > period(*a));
        if let Some((digit, a)) = long.min_by_key(|(digit, a)| (period(*a), *digit)) {
            return Ok(Divided::Divide(self.region.divide(*digit, period(*a))?));
        }
        self.cut(&rest, x, |lo, hi| [lo.div_euclid(c), hi.div_euclid(c), 0, 0]).map(Divided::Divide)
    }

    /// Takes lanes that break a constraint out of the domain; the parts to look at where some lane breaks it only in places.
    fn constrain(&mut self, number: usize, least: i128, greatest: i128) -> Result<Option<Vec<Region>>, Unknown> {
        let x = &self.sums[number];
        let terms = x.terms();
        let span = Form::span(&terms, &self.region.counts)?;
        let mut active = self.active.clone();
        let mut decided = true;
        for (k, active) in x.constants.iter().zip(&mut active).filter(|(_, active)| **active) {
            let (lo, hi) = k.checked_add(span.lo).zip(k.checked_add(span.hi)).ok_or(Unknown::Overflow)?;
            let inside = lo >= least && hi <= greatest;
            let outside = hi < least || lo > greatest;
            *active = inside;
            decided &= inside || outside;
        }
        if decided {
            self.active = active;
            return Ok(None);
        }
        let relation = |lo: i128, hi: i128| [lo >= least, hi >= least, lo <= greatest, hi <= greatest].map(i128::from);
        self.cut(&terms, x, relation).map(Some)
    }

    /// Cuts the region where what `status` says first changes for some lane; it is asked for the range of the sum at a value
    /// of one digit, and each number of its answer rises or falls with it.
    fn cut(
        &self,
        terms: &[(usize, i128)],
        x: &Form,
        status: impl Fn(i128, i128) -> [i128; 4],
    ) -> Result<Vec<Region>, Unknown> {
        let mut terms = terms.to_vec();
        let reach =
            |(digit, a): (usize, i128)| a.unsigned_abs().saturating_mul((self.region.counts[digit] - 1).unsigned_abs());
        terms.sort_by_key(|t| (std::cmp::Reverse(reach(*t)), t.0));
        for (digit, a) in &terms {
            let others: Vec<(usize, i128)> = terms.iter().copied().filter(|(d, _)| d != digit).collect();
            let Span { lo, hi } = Form::span(&others, &self.region.counts)?;
            // All of these lie within the range of the whole sum, for which the arithmetic was checked.
            let at = |k: i128, step: i128| status(k + a * step + lo, k + a * step + hi);
            let same = |step: i128| self.constants(x).all(|k| at(k, step) == at(k, 0));
            let (mut unchanged, mut changed) = (0, self.region.counts[*digit] - 1);
            if same(changed) {
                continue;
            }
            while changed - unchanged > 1 {
                let middle = unchanged + (changed - unchanged) / 2;
                *(if same(middle) { &mut unchanged } else { &mut changed }) = middle;
            }
            return Ok(self.region.cut(*digit, changed)?.to_vec());
        }
        let (digit, _) = *terms.first().expect("what is undecided depends on a digit");
        Ok(self.region.cut(digit, self.region.counts[digit] / 2)?.to_vec())
    }
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let common = num_integer::gcd(a.unsigned_abs(), b.unsigned_abs());
    i128::try_from(common).expect("it divides a divisor, which is an i64")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IndexingMap;

    fn parts(text: &str) -> Result<Vec<Piece>, Unknown> {
        let map: IndexingMap = text.parse().expect("a map");
        pieces(&Program::new(&map)?, &Lanes::default(), usize::MAX)
    }

    #[test]
    fn parts_are_few_where_digits_say_it_all() {
        let count = |text: &str| parts(text).map(|parts| parts.len());
        assert_eq!(count("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 999999]"), Ok(1));
        assert_eq!(count("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [3, 1000005]"), Ok(3));
        let position = "(d0, d1) -> ((d0 * 77 + d1) floordiv 64), domain: d0 in [0, 63], d1 in [0, 76]";
        assert_eq!(count(position), Ok(1));
        let guard = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9999], d1 in [0, 127], d0 * 128 + d1 in [5, 999999]";
        assert_eq!(count(guard), Ok(3));
        assert_eq!(count("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [2, 5]"), Ok(0));
        let half = "(d0, d1) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999], d0 - d1 in [0, 99999]";
        assert_eq!(count(half), Err(Unknown::TooManyPieces));
    }

    #[test]
    fn parts_hold_every_point_once() {
        let text = "(d0, d1)[s0] -> ((d0 * 5 + d1 + s0) floordiv 3, (d0 - d1) mod 4), domain: d0 in [-2, 9], d1 in [0, 6], \
                    s0 in [1, 2], d0 + d1 in [1, 12], (d0 * 3 + s0) mod 5 in [1, 3]";
        let map: IndexingMap = text.parse().expect("a map");
        let mut expected: Vec<Vec<i128>> = map
            .points()
            .map(|p| map.evaluate(&p.dims, &p.ranges, &p.runtime).expect("small numbers"))
            .map(|index| index.into_iter().map(i128::from).collect())
            .collect();
        let mut found: Vec<Vec<i128>> = Vec::new();
        for part in parts(text).expect("few parts") {
            let mut digits: Vec<Vec<i128>> = vec![Vec::new()];
            for count in &part.counts {
                let with = |d: &Vec<i128>, k: i128| d.iter().copied().chain([k]).collect::<Vec<i128>>();
                digits = digits.iter().flat_map(|d| (0..*count).map(move |k| with(d, k))).collect();
            }
            let value = |form: &Form, d: &[i128]| {
                form.constants[0] + form.coefficients.iter().zip(d).map(|(a, k)| a * k).sum::<i128>()
            };
            found.extend(digits.iter().map(|d| part.results.iter().map(|form| value(form, d)).collect::<Vec<i128>>()));
        }
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }
}
