//! What follows from equations between expressions by replacing equals: linear arithmetic and congruence.
//!
//! Each variable, floor division and remainder is an unknown. Equations between sums of them are eliminated exactly, and
//! where the arguments of two divisions by one divisor become the same sum, the divisions are equal; both are repeated
//! until nothing new is learned. So all that follows by these two is found, and nothing that needs a law of division.
//! Overflow of `i128`, or more work than allowed, means *not proved*.

mod equations;
mod reasons;

use rustc_hash::FxHashMap;

use crate::expr::postorder_past;
use crate::{Atom, Expr};
use equations::{Equations, Sum};
use reasons::Reasons;

/// Terms that one closure looks at before it gives up.
const WORK: u64 = 4_000_000;

/// Everything that follows from the equations assumed.
#[derive(Debug)]
pub(super) struct Closure {
    numbers: FxHashMap<Atom, u32>,
    /// The divisions and remainders, by number: arguments stand before what uses them.
    operations: Vec<Operation>,
    /// Sums by hash.
    sums: FxHashMap<u128, Sum>,
    equations: Equations,
}

/// One floor division or remainder.
#[derive(Debug)]
struct Operation {
    number: u32,
    is_remainder: bool,
    divisor: i64,
    /// The argument, rewritten as far as the equations went when last looked at.
    argument: Sum,
    /// What the rewriting of the argument used.
    reasons: Reasons,
}

impl Closure {
    pub(super) fn new() -> Closure {
        Closure {
            numbers: FxHashMap::default(),
            operations: Vec::new(),
            sums: FxHashMap::default(),
            equations: Equations::new(WORK),
        }
    }

    /// Assumes `before = after` for the reason of this number.
    pub(super) fn assume(&mut self, reason: usize, before: &Expr, after: &Expr) {
        if let Some(difference) = self.difference(before, after) {
            self.equations.add(difference, Reasons::of(reason));
        }
    }

    /// The reasons from which `before = after` follows, where it does; not always the fewest.
    pub(super) fn proves(&mut self, before: &Expr, after: &Expr) -> Option<Vec<usize>> {
        if before == after {
            return Some(Vec::new());
        }
        let difference = self.difference(before, after)?;
        let mut reasons = Reasons::default();
        if self.equations.vanishes(difference.clone(), &mut reasons) {
            return Some(reasons.numbers());
        }
        self.close();
        let mut reasons = Reasons::default();
        self.equations.vanishes(difference, &mut reasons).then(|| reasons.numbers())
    }

    fn difference(&mut self, a: &Expr, b: &Expr) -> Option<Sum> {
        let (a, b) = (self.sum(a)?, self.sum(b)?);
        a.plus(&b, -1)
    }

    /// The expression over numbered unknowns.
    fn sum(&mut self, e: &Expr) -> Option<Sum> {
        for node in postorder_past([e], |hash| self.sums.contains_key(&hash)) {
            let mut sum = Sum::constant(node.constant_term());
            if !self.equations.spend(node.terms().len()) {
                return None;
            }
            for term in node.terms() {
                let unknown = Sum::unknown(self.number(&term.atom)?);
                sum = sum.plus(&unknown, i128::from(term.coefficient))?;
            }
            self.sums.insert(node.structural_hash(), sum);
        }
        self.sums.get(&e.structural_hash()).cloned()
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
            let mut met: FxHashMap<(bool, i64, Sum), (u32, Reasons)> = FxHashMap::default();
            for operation in &mut self.operations {
                let argument = self.equations.reduce(operation.argument.clone(), &mut operation.reasons);
                let Some(argument) = argument else { return };
                operation.argument = argument;
                let mut reasons = operation.reasons.clone();
                let equal = match operation.argument.as_fraction() {
                    Some((value, 1)) => operation.at(value).map(Sum::constant),
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
                let equation = equal.and_then(|equal| equal.plus(&Sum::unknown(operation.number), -1));
                grew |= equation.is_some_and(|equation| self.equations.add(equation, reasons));
            }
        }
    }
}

impl Operation {
    /// The value for a number as argument, where it fits.
    fn at(&self, argument: i128) -> Option<i64> {
        let divisor = i128::from(self.divisor);
        let value = if self.is_remainder { argument.rem_euclid(divisor) } else { argument.div_euclid(divisor) };
        i64::try_from(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proves(assumed: &[(&str, &str)], claim: (&str, &str)) -> Option<Vec<usize>> {
        let read = |text: &str| text.parse::<Expr>().expect("written by hand");
        let mut closure = Closure::new();
        for (i, (a, b)) in assumed.iter().enumerate() {
            closure.assume(i, &read(a), &read(b));
        }
        closure.proves(&read(claim.0), &read(claim.1))
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

    #[test]
    fn numbers_too_large_prove_nothing() {
        let huge = i64::MAX;
        let assumed: Vec<(String, String)> =
            (0..8).map(|i| (format!("d{i} * {huge}"), format!("d{} * {}", i + 1, huge - 1))).collect();
        let assumed: Vec<(&str, &str)> = assumed.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(proves(&assumed, ("d0", "d9")), None);
    }
}
