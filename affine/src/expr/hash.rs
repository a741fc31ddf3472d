//! The structural hash: two 64-bit lanes of folded multiplication, without a seed, the same on every machine.

use super::{Atom, Term, Var};

/// A running 128-bit hash.
pub(super) struct Structural(u64, u64);

impl Structural {
    pub(super) fn new() -> Structural {
        Structural(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }

    fn word(&mut self, v: u64) {
        // Digits of pi and of the golden ratio: odd, without pattern, different in each lane.
        self.0 = fold(self.0 ^ v, 0x9e37_79b9_7f4a_7c15).wrapping_add(0xa409_3822_299f_31d1);
        self.1 = fold(self.1.rotate_left(23).wrapping_add(v), 0xc2b2_ae3d_27d4_eb4f) ^ self.0.rotate_left(32);
    }

    fn wide(&mut self, v: u128) {
        self.word((v >> 64) as u64);
        self.word(v as u64);
    }

    fn signed(&mut self, v: i64) {
        self.word(u64::from_ne_bytes(v.to_ne_bytes()));
    }

    pub(super) fn finish(self) -> u128 {
        (u128::from(self.0) << 64) | u128::from(self.1)
    }

    pub(super) fn sum(constant: i64, terms: &[Term]) -> u128 {
        let mut state = Structural::new();
        state.signed(constant);
        for term in terms {
            state.signed(term.coefficient);
            state.atom(&term.atom);
        }
        state.word(terms.len() as u64);
        state.finish()
    }

    fn atom(&mut self, atom: &Atom) {
        match atom {
            Atom::Var(Var::Dim(i)) => self.word((1 << 32) | u64::from(*i)),
            Atom::Var(Var::Range(i)) => self.word((2 << 32) | u64::from(*i)),
            Atom::Var(Var::Runtime(i)) => self.word((3 << 32) | u64::from(*i)),
            Atom::FloorDiv(inner, c) => {
                self.word(4 << 32);
                self.wide(inner.structural_hash());
                self.signed(*c);
            }
            Atom::Mod(inner, c) => {
                self.word(5 << 32);
                self.wide(inner.structural_hash());
                self.signed(*c);
            }
        }
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
