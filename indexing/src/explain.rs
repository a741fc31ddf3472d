//! Simplification with a derivation of each result.

use weft_affine::{Constraint, ConstraintStep, Expr, Proof, Ranges, explain};

use crate::simplify::MAX_PASSES;
use crate::{IndexingMap, SimplifyOptions};

/// Why a simplified map stands for the map it was.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// The derivation of the domain: equivalences, each true where the rest of the domain holds as it stood then.
    pub domain: Vec<ConstraintStep>,
    /// For each result, its derivations over the domain as it is after that, each from where the one before it ended: one as a
    /// rule, none where the result is as it was, and more where what was found could be simplified again. The list itself is empty
    /// where the map is undefined or known to be empty, since then the results mean nothing.
    pub results: Vec<Vec<Proof>>,
}

impl IndexingMap {
    /// As [`IndexingMap::simplify`], with the same outcome and the reasons for it.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let mut map: IndexingMap = "(d0) -> (d0 floordiv 8), domain: d0 in [0, 99], d0 * 2 in [5, 15]".parse()?;
    /// let why = map.explain();
    /// assert_eq!(map.to_string(), "(d0) -> (0), domain: d0 in [3, 7]");
    /// assert_eq!(why.domain[0].to_string(), "d0 * 2 in [5, 15] <=> d0 in [3, 7]    by bounds-of-multiple");
    /// assert!(why.results[0][0].check().is_ok());
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn explain(&mut self) -> Explanation {
        self.explain_with(&SimplifyOptions::default())
    }

    /// As [`IndexingMap::simplify_with`], with the reasons. Where variables with a single value stay, no step uses that value: the
    /// derivation is over one more for each.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, SimplifyOptions};
    ///
    /// let mut map: IndexingMap = "(d0, d1) -> (d0 + d1 floordiv 4), domain: d0 in [2, 2], d1 in [0, 3]".parse()?;
    /// let why = map.explain_with(&SimplifyOptions::default().with_point_variables(true));
    /// assert_eq!(map.to_string(), "(d0, d1) -> (d0), domain: d0 in [2, 2], d1 in [0, 3]");
    /// assert!(why.results[0][0].check().is_ok());
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn explain_with(&mut self, options: &SimplifyOptions) -> Explanation {
        let before = self.results.clone();
        let mut domain = Vec::new();
        self.simplify_logged(options, &mut domain);
        if self.is_undefined() || self.is_known_empty() {
            return Explanation { domain, results: Vec::new() };
        }
        let (ranges, constraints) = (self.ranges_of_results(options), self.constraints.clone());
        let mut results = Vec::with_capacity(before.len());
        for (given, simple) in before.into_iter().zip(&mut self.results) {
            let proofs = derived(given.clone(), simple, &ranges, &constraints);
            // The end of the derivation, which is that form unless no derivation led there.
            *simple = proofs.last().map_or(given, |proof| proof.after().clone());
            results.push(proofs);
        }
        Explanation { domain, results }
    }
}

/// Derivations from one form to another that simplification found: it simplifies what it found again until nothing changes, and
/// so do these.
fn derived(given: Expr, simple: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> Vec<Proof> {
    let mut proofs: Vec<Proof> = Vec::new();
    let mut form = given;
    while form != *simple && proofs.len() <= MAX_PASSES {
        let (next, proof) = explain(&form, ranges, constraints);
        if next == form {
            break;
        }
        proofs.push(proof);
        form = next;
    }
    proofs
}
