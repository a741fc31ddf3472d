//! Simplification with reasons.

use weft_affine::{Proof, explain};

use crate::IndexingMap;

impl IndexingMap {
    /// As [`IndexingMap::simplify`], with the derivation of each result over the domain as it is after that; none where the
    /// map is undefined or known to be empty, since then the results mean nothing.
    pub fn explain(&mut self) -> Vec<Proof> {
        let before = self.results.clone();
        self.simplify();
        if self.is_undefined() || self.is_known_empty() {
            return Vec::new();
        }
        let (ranges, constraints) = (self.variable_ranges(), self.constraints.clone());
        let derivations = before.iter().map(|e| explain(e, &ranges, &constraints));
        let (results, proofs) = derivations.unzip();
        self.results = results;
        proofs
    }
}
