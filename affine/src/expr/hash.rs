//! The structural hash: two 64-bit lanes of folded multiplication, without a seed, the same on every machine.

use super::{Atom, Expr, Term, Var};

/// A running 128-bit hash.
pub(super) struct Structural(u64, u64);

impl Structural {
    /// Takes in two words. The multipliers are digits of pi and of the golden ratio: odd, without pattern, different in each
    /// lane.
    fn pair(&mut self, a: u64, b: u64) {
        let (first, second) = (self.0, self.1);
        self.0 = fold(first ^ a, b ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(second.rotate_left(32));
        self.1 = fold(second.rotate_left(23) ^ b, a ^ 0xc2b2_ae3d_27d4_eb4f).wrapping_add(first.rotate_left(17));
    }

    pub(super) fn sum(constant: i64, terms: &[Term]) -> u128 {
        let mut state = Structural::start(constant, terms.len());
        for term in terms {
            state.term(term.coefficient, &term.atom);
        }
        state.finish()
    }

    /// The hash of the sum of the terms, their coefficients divided; nothing where a quotient does not fit.
    pub(super) fn divided(terms: &[Term], divisor: i64) -> Option<u128> {
        let mut state = Structural::start(0, terms.len());
        for term in terms {
            state.term(term.coefficient.checked_div(divisor)?, &term.atom);
        }
        Some(state.finish())
    }

    /// The hash of one atom as an expression.
    pub(super) fn single(atom: &Atom) -> u128 {
        let mut state = Structural::start(0, 1);
        state.term(1, atom);
        state.finish()
    }

    fn start(constant: i64, terms: usize) -> Structural {
        let mut state = Structural(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);
        state.pair(constant.cast_unsigned(), terms as u64);
        state
    }

    fn finish(self) -> u128 {
        (u128::from(self.0) << 64) | u128::from(self.1)
    }

    fn term(&mut self, coefficient: i64, atom: &Atom) {
        let coefficient = coefficient.cast_unsigned();
        match atom {
            Atom::Var(Var::Dim(i)) => self.pair(coefficient, (1 << 32) | u64::from(*i)),
            Atom::Var(Var::Range(i)) => self.pair(coefficient, (2 << 32) | u64::from(*i)),
            Atom::Var(Var::Runtime(i)) => self.pair(coefficient, (3 << 32) | u64::from(*i)),
            Atom::FloorDiv(inner, c) => self.operation(coefficient, inner, *c, 0xa409_3822_299f_31d1),
            Atom::Mod(inner, c) => self.operation(coefficient, inner, *c, 0x082e_fa98_ec4e_6c89),
        }
    }

    fn operation(&mut self, coefficient: u64, inner: &Expr, c: i64, kind: u64) {
        let hash = inner.structural_hash();
        self.pair(coefficient, c.cast_unsigned());
        self.pair((hash >> 64) as u64 ^ kind, hash as u64);
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
