//! Sets of assumptions from which an equation was derived.

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons(Vec<u64>);

impl Reasons {
    /// The set of one number.
    pub(super) fn of(index: usize) -> Reasons {
        let mut words = vec![0; index / 64 + 1];
        if let Some(last) = words.last_mut() {
            *last = 1 << (index % 64);
        }
        Reasons(words)
    }

    /// Takes in all of `other`.
    pub(super) fn join(&mut self, other: &Reasons) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// The numbers, least first.
    pub(super) fn numbers(&self) -> Vec<usize> {
        let bits = |(i, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits).collect()
    }
}
