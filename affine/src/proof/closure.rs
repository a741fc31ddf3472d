//! Congruence closure with linear arithmetic, over equations between expressions.
//!
//! Each variable, floor division and remainder is an unknown. Equations between sums of them are eliminated exactly, and
//! where the arguments of two divisions by one divisor become the same sum, the divisions are equal; both are repeated
//! until nothing new is learned. So all that follows by these two is found, and nothing that needs a law of division.
//! Numbers have 128 bits, and where that is not enough, as many as they need. More work than allowed means *not proved*.

mod equations;
mod number;
mod reasons;

use num_bigint::BigInt;
use rustc_hash::FxHashMap;

use crate::expr::postorder_past;
use crate::law::WideSum;
use crate::{Atom, Expr};
use equations::{Equations, Sum};
use number::Number;
use reasons::Reasons;

/// Terms that one closure looks at before it gives up.
const MAX_WORK: u64 = 4_000_000;

/// What is to follow.
#[derive(Copy, Clone, Debug)]
pub(super) enum Claim<'a> {
    /// Both are equal.
    Equal(&'a Expr, &'a Expr),
    /// The sum is zero.
    Zero(&'a WideSum),
}

/// The reasons from which the claim follows, where it does; not always the fewest. Each equation has the number of its reason.
pub(super) fn reasons_for<'a>(
    claim: Claim<'_>,
    equations: impl Iterator<Item = (usize, &'a Expr, &'a Expr)> + Clone,
) -> Option<Vec<usize>> {
    let mut closure = Closure::<i128>::of(equations.clone());
    let found = closure.proves(claim);
    if found.is_some() || !closure.equations.has_overflown() {
        return found;
    }
    Closure::<BigInt>::of(equations).proves(claim)
}

/// Everything that follows from the equations assumed.
#[derive(Debug)]
struct Closure<N> {
    numbers: FxHashMap<Atom, u32>,
    /// The divisions and remainders, by number: arguments stand before what uses them.
    operations: Vec<Operation<N>>,
    /// Sums by hash.
    sums: FxHashMap<u128, Sum<N>>,
    equations: Equations<N>,
}

/// One floor division or remainder.
#[derive(Debug)]
struct Operation<N> {
    number: u32,
    is_remainder: bool,
    divisor: i64,
    /// The argument, rewritten as far as the equations went when last looked at.
    argument: Sum<N>,
    /// What the rewriting of the argument used.
    reasons: Reasons,
}

impl<N: Number> Closure<N> {
    fn of<'a>(equations: impl Iterator<Item = (usize, &'a Expr, &'a Expr)>) -> Closure<N> {
        let mut closure = Closure {
            numbers: FxHashMap::default(),
            operations: Vec::new(),
            sums: FxHashMap::default(),
            equations: Equations::new(MAX_WORK),
        };
        for (reason, before, after) in equations {
            if let Some(difference) = closure.difference(before, after) {
                closure.equations.add(difference, Reasons::of(reason));
            }
        }
        closure
    }

    /// The reasons from which the claim follows, where it does.
    fn proves(&mut self, claim: Claim<'_>) -> Option<Vec<usize>> {
        let difference = match claim {
            Claim::Equal(before, after) if before == after => return Some(Vec::new()),
            Claim::Equal(before, after) => self.difference(before, after)?,
            Claim::Zero(sum) => self.wide_sum(sum)?,
        };
        let mut reasons = Reasons::default();
        if self.equations.vanishes(difference.clone(), &mut reasons) {
            return Some(reasons.numbers());
        }
        self.close();
        let mut reasons = Reasons::default();
        self.equations.vanishes(difference, &mut reasons).then(|| reasons.numbers())
    }

    fn difference(&mut self, a: &Expr, b: &Expr) -> Option<Sum<N>> {
        let (a, b) = (self.sum(a)?, self.sum(b)?);
        let difference = a.plus(&b, &N::from(-1));
        self.equations.fitting(difference)
    }

    /// The expression over numbered unknowns.
    fn sum(&mut self, e: &Expr) -> Option<Sum<N>> {
        for node in postorder_past([e], |hash| self.sums.contains_key(&hash)) {
            let terms = node.terms().iter().map(|term| (&term.atom, i128::from(term.coefficient)));
            let sum = self.sum_of(i128::from(node.constant_term()), terms)?;
            self.sums.insert(node.structural_hash(), sum);
        }
        self.sums.get(&e.structural_hash()).cloned()
    }

    /// The same of a sum whose numbers are large.
    fn wide_sum(&mut self, wide: &WideSum) -> Option<Sum<N>> {
        for argument in wide.terms().filter_map(|(atom, _)| atom.argument()) {
            self.sum(argument)?;
        }
        self.sum_of(wide.constant_term(), wide.terms())
    }

    /// A sum of atoms whose arguments have been met.
    fn sum_of<'a>(&mut self, constant: i128, terms: impl Iterator<Item = (&'a Atom, i128)>) -> Option<Sum<N>> {
        let mut sum = Sum::constant(N::from(constant));
        let mut count = 0;
        for (atom, coefficient) in terms {
            let unknown = Sum::unknown(self.number(atom)?);
            let longer = sum.plus(&unknown, &N::from(coefficient));
            sum = self.equations.fitting(longer)?;
            count += 1;
        }
        self.equations.spend(count).then_some(sum)
    }

    /// The number of an atom whose argument has been met.
    fn number(&mut self, atom: &Atom) -> Option<u32> {
        if let Some(known) = self.numbers.get(atom) {
            return Some(*known);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        if let Atom::FloorDiv(x, divisor) | Atom::Mod(x, divisor) = atom {
            self.operations.push(Operation {
                number,
                is_remainder: matches!(atom, Atom::Mod(..)),
                divisor: *divisor,
                argument: self.sums.get(&x.structural_hash())?.clone(),
                reasons: Reasons::default(),
            });
        }
        self.numbers.insert(atom.clone(), number);
        Some(number)
    }

    /// Learns equalities of divisions from those of their arguments until there are no more.
    fn close(&mut self) {
        let mut grew = true;
        while grew && self.equations.contradiction().is_none() {
            grew = false;
            let mut met: FxHashMap<(bool, i64, Sum<N>), (u32, Reasons)> = FxHashMap::default();
            for operation in &mut self.operations {
                let argument = self.equations.reduce(operation.argument.clone(), &mut operation.reasons);
                let Some(argument) = argument else { return };
                operation.argument = argument;
                let mut reasons = operation.reasons.clone();
                let equal = match operation.argument.as_fraction() {
                    Some((value, denominator)) if denominator.is_one() => operation.at(value).map(Sum::constant),
                    Some(_) => {
                        // An integer equals a fraction, which happens at no point of the domain.
                        self.equations.contradict(reasons);
                        return;
                    }
                    None => {
                        let key = (operation.is_remainder, operation.divisor, operation.argument.clone());
                        let (first, its) = met.entry(key).or_insert_with(|| (operation.number, reasons.clone()));
                        reasons.join(its);
                        Some(Sum::unknown(*first))
                    }
                };
                let unknown = Sum::unknown(operation.number);
                let equation = equal.and_then(|equal| equal.plus(&unknown, &N::from(-1)));
                let equation = self.equations.fitting(equation);
                grew |= equation.is_some_and(|equation| self.equations.add(equation, reasons));
            }
        }
    }
}

impl<N: Number> Operation<N> {
    /// The value for a number as argument; nothing where it does not fit.
    fn at(&self, argument: &N) -> Option<N> {
        let quotient = argument.floor_div(self.divisor);
        if self.is_remainder {
            argument.plus_product(&quotient, &N::from(-i128::from(self.divisor)))
        } else {
            Some(quotient)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proves(assumed: &[(&str, &str)], claim: (&str, &str)) -> Option<Vec<usize>> {
        let read = |text: &str| text.parse::<Expr>().expect("written by hand");
        let assumed: Vec<(Expr, Expr)> = assumed.iter().map(|(a, b)| (read(a), read(b))).collect();
        let equations = assumed.iter().enumerate().map(|(i, (a, b))| (i, a, b));
        reasons_for(Claim::Equal(&read(claim.0), &read(claim.1)), equations)
    }

    #[test]
    fn sums_are_eliminated_exactly() {
        assert_eq!(proves(&[("d0 * 2 + d1", "5"), ("d1 * 3", "d2")], ("d0 * 6 + d2", "15")), Some(vec![0, 1]));
        assert_eq!(proves(&[("d0 * 2", "d1 * 2")], ("d0", "d1")), Some(vec![0]));
        assert_eq!(proves(&[("d0 * 2", "d1")], ("d0", "d1")), None);
    }

    #[test]
    fn equal_arguments_give_equal_divisions() {
        let assumed = [("d3", "d4"), ("d0 mod 8", "d1"), ("(d1 + 1) floordiv 3", "d2")];
        assert_eq!(proves(&assumed, ("((d0 mod 8 + 1) floordiv 3) mod 5", "d2 mod 5")), Some(vec![1, 2]));
        assert_eq!(proves(&[("d0", "17")], ("(d0 floordiv 4) mod 3", "1")), Some(vec![0]));
        assert_eq!(proves(&[("d0 * 4", "d1 * 6")], ("(d0 * 2) mod 7", "(d1 * 3) mod 7")), Some(vec![0]));
        assert_eq!(proves(&[], ("(d0 * 8) floordiv 8", "d0")), None, "that takes a law");
    }

    #[test]
    fn what_contradicts_itself_proves_everything() {
        assert_eq!(proves(&[("d0", "1"), ("d2", "4"), ("d0", "2")], ("d1", "7")), Some(vec![0, 2]));
        assert_eq!(proves(&[("d0 * 2", "5")], ("d0 mod 3", "7")), Some(vec![0]));
    }

    /// Eliminating these multiplies numbers until they have hundreds of bits.
    #[test]
    fn numbers_may_be_of_any_size() {
        let huge = i64::MAX;
        let mut assumed: Vec<(String, String)> =
            (0..8).map(|i| (format!("d{i} * {huge}"), format!("d{} * {}", i + 1, huge - 1))).collect();
        let refs = |assumed: &[(String, String)], claim: (&str, &str)| {
            let assumed: Vec<(&str, &str)> = assumed.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            proves(&assumed, claim)
        };
        assert_eq!(refs(&assumed, ("d0", "d8")), None, "they are equal where both are zero");
        assumed.push(("d8".to_owned(), "0".to_owned()));
        assert_eq!(refs(&assumed, ("d0", "0")), Some((0..9).collect()));
        assert_eq!(refs(&assumed, ("(d0 + 9) floordiv 4 + d1 mod 3", "2")).map(|reasons| reasons.len()), Some(9));
        assert_eq!(refs(&assumed, ("d0", "1")), None);
    }
}
