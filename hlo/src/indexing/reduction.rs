//! Reductions along whole dimensions: reduce, and operations whose elements depend on whole lines.

use super::site::{Found, Site, index};

/// Of `n` inputs and `n` initial values. Every result depends on all of them alike, since one computation combines them.
pub(super) fn reduce(site: &Site<'_>, reduced: &[i64]) -> Found {
    let inputs = site.operands() / 2;
    let rank = if inputs > 0 { site.operand(0).len() } else { 0 };
    let kept = (0..rank).filter(|&dimension| !reduced.iter().any(|&own| index(own) == dimension));
    let pairs: Vec<(usize, usize)> = kept.enumerate().collect();
    let each = |result: usize| (0..site.operands()).map(move |operand| (result, operand));
    let found = (0..site.results()).flat_map(each);
    let pairs_of = |operand: usize| if operand < inputs { pairs.as_slice() } else { &[] };
    Ok(found.map(|(result, operand)| site.matched(result, operand, pairs_of(operand))).collect())
}
