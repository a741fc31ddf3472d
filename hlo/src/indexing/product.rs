//! Products: dot.

use super::site::{Found, Site, index};

/// Dimension numbers of a dot.
pub(super) struct Contraction<'a> {
    pub(super) lhs_batch: &'a [i64],
    pub(super) lhs_contracting: &'a [i64],
    pub(super) rhs_batch: &'a [i64],
    pub(super) rhs_contracting: &'a [i64],
}

impl Contraction<'_> {
    /// The result's dimensions with the dimension of an operand that each is: batch dimensions first, then those of the left
    /// operand, then those of the right.
    fn pairs(&self, site: &Site<'_>, is_left: bool) -> Vec<(usize, usize)> {
        let (batch, contracting) =
            if is_left { (self.lhs_batch, self.lhs_contracting) } else { (self.rhs_batch, self.rhs_contracting) };
        let rank = site.operand(usize::from(!is_left)).len();
        let is_free = |dimension: &usize| !batch.iter().chain(contracting).any(|&own| index(own) == *dimension);
        let free = (0..rank).filter(is_free);
        let first = if is_left { batch.len() } else { site.operand(0).len() - self.lhs_contracting.len() };
        let batch = batch.iter().enumerate().map(|(result, &own)| (result, index(own)));
        batch.chain((first..).zip(free)).collect()
    }
}

/// Contracted dimensions are run over.
pub(super) fn dot(site: &Site<'_>, contraction: &Contraction<'_>) -> Found {
    Ok([true, false].map(|is_left| site.matched(0, usize::from(!is_left), &contraction.pairs(site, is_left))).into())
}
