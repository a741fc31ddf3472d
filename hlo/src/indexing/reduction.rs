//! Reductions along whole dimensions: reduce, and operations whose elements depend on whole lines: sort, topk, fft.

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

/// Every element depends on all operands along its line, since all of them are given to the comparator.
pub(super) fn sort(site: &Site<'_>, along: i64) -> Found {
    let other = (0..site.operand(0).len()).filter(|&dimension| dimension != index(along));
    let pairs: Vec<(usize, usize)> = other.map(|dimension| (dimension, dimension)).collect();
    let each = |result: usize| (0..site.operands()).map(move |operand| (result, operand));
    let found = (0..site.results()).flat_map(each).map(|(result, operand)| match site.operands() {
        1 => site.matched(result, operand, &pairs),
        _ => site.coarse(result, operand, &pairs, "what the comparator does not look at is only moved"),
    });
    Ok(found.collect())
}

/// Values and indices depend on the whole of the last dimension.
pub(super) fn top_k(site: &Site<'_>) -> Found {
    let pairs = before_last(site, 1);
    Ok((0..site.results()).map(|result| site.matched(result, 0, &pairs)).collect())
}

/// Every element depends on all that is transformed, the last dimensions.
pub(super) fn fft(site: &Site<'_>, lengths: &[i64]) -> Found {
    Ok(vec![site.matched(0, 0, &before_last(site, lengths.len()))])
}

/// The dimensions of operand and result before so many last ones.
fn before_last(site: &Site<'_>, count: usize) -> Vec<(usize, usize)> {
    (0..site.operand(0).len().saturating_sub(count)).map(|dimension| (dimension, dimension)).collect()
}
