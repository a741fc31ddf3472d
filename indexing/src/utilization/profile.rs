//! Read counts of the indices of one dimension: sums of progressions, and the classes of indices with equal counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::Unknown;
use num_integer::gcd;

/// Progressions that one sum of digits may be written out as.
const MAX_PROGRESSIONS: usize = 1024;
/// Values that are counted one by one where there would be more.
const MAX_VALUES: i128 = 1 << 16;
/// Residue classes times progressions that are looked at in one dimension.
const MAX_WORK: u128 = 1 << 18;

/// The indices `start, start + stride, …`, `count` of them, each read so many times; the stride is positive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Progression {
    start: i128,
    stride: i128,
    count: i128,
    times: i128,
}

impl Progression {
    fn last(self) -> i128 {
        self.start + self.stride * (self.count - 1)
    }
}

/// The values of `constant + Σ coefficient · digit` for all values of the digits, as often as they occur.
///
/// Digits of which one continues where another ends, `8·q + r` for `r` in `0..8`, are one progression; the longest stays
/// whole, and what overlaps or leaves gaps is written out. Where that is much, but falls on few values, each value is counted.
///
/// # Errors
/// Where there are too many progressions and values.
pub(crate) fn progressions(constant: i128, terms: &[(i128, i128)]) -> Result<Vec<Progression>, Unknown> {
    let mut start = constant;
    let mut runs: Vec<(i128, i128)> = Vec::new();
    let mut sorted: Vec<(i128, i128)> = Vec::with_capacity(terms.len());
    for (a, count) in terms {
        if *a < 0 {
            // a·d for d in 0..n has the values of −a·d, from a·(n − 1) up.
            let least = a.checked_mul(count - 1).and_then(|least| start.checked_add(least));
            start = least.ok_or(Unknown::Overflow)?;
        }
        sorted.push((a.checked_abs().ok_or(Unknown::Overflow)?, *count));
    }
    sorted.sort_unstable();
    for (stride, count) in sorted.iter().copied() {
        match runs.iter_mut().find(|(s, n)| s.checked_mul(*n) == Some(stride)) {
            Some((_, n)) => *n = n.checked_mul(count).ok_or(Unknown::Overflow)?,
            None => runs.push((stride, count)),
        }
    }
    let longest = (0..runs.len()).max_by_key(|i| (runs[*i].1, std::cmp::Reverse(*i)));
    let (stride, count) = longest.map_or((1, 1), |i| runs.remove(i));
    let mut starts = vec![start];
    for (a, n) in runs {
        let total = i128::try_from(starts.len()).ok().and_then(|m| m.checked_mul(n));
        if total.is_none_or(|total| total > MAX_PROGRESSIONS as i128) {
            return counted(start, &sorted);
        }
        starts = (0..n).flat_map(|k| starts.iter().map(move |s| s + a * k)).collect();
    }
    Ok(starts.into_iter().map(|start| Progression { start, stride, count, times: 1 }).collect())
}

/// As [`progressions`] for positive coefficients, by counting each value: with one more digit `a·d` of `n` values, `x` occurs
/// as often as `x, x − a, …, x − a·(n − 1)` did before, which is a sum that slides.
fn counted(start: i128, terms: &[(i128, i128)]) -> Result<Vec<Progression>, Unknown> {
    let reach = terms.iter().try_fold(0i128, |sum, (a, n)| a.checked_mul(n - 1).and_then(|far| sum.checked_add(far)));
    let length = reach.filter(|reach| *reach < MAX_VALUES).and_then(|reach| usize::try_from(reach + 1).ok());
    let length = length.ok_or(Unknown::TooManyPieces)?;
    let mut times = vec![0i128; length];
    times[0] = 1;
    for (a, n) in terms {
        let (Ok(step), Ok(past)) = (usize::try_from(*a), usize::try_from(*a * *n)) else {
            return Err(Unknown::TooManyPieces);
        };
        let mut sums = times.clone();
        for x in step..length {
            let leaves = if x >= past { times[x - past] } else { 0 };
            sums[x] = sums[x].checked_add(sums[x - step] - leaves).ok_or(Unknown::Overflow)?;
        }
        times = sums;
    }
    let mut found = Vec::new();
    let mut at = start;
    for run in times.chunk_by(|a, b| a == b) {
        let count = run.len() as i128;
        if run[0] > 0 {
            found.push(Progression { start: at, stride: 1, count, times: run[0] });
        }
        at += count;
    }
    Ok(found)
}

/// For each list of progressions how often an index is in it, for all indices at once: how many indices have which numbers of
/// reads. Indices in no progression at all are left out.
///
/// # Errors
/// Where the strides have too many residue classes together, or there are too many progressions.
pub(crate) fn classes(lists: &[Vec<Progression>]) -> Result<BTreeMap<Vec<u128>, u128>, Unknown> {
    let all = || lists.iter().flatten();
    let number = all().count() as u128;
    let mut modulus: u128 = 1;
    for p in all().filter(|p| p.count > 1) {
        let stride = p.stride.unsigned_abs();
        modulus = (modulus / gcd(modulus, stride))
            .checked_mul(stride)
            .filter(|m| *m <= MAX_WORK)
            .ok_or(Unknown::TooManyPieces)?;
    }
    if modulus.saturating_mul(number) > MAX_WORK {
        return Err(Unknown::TooManyPieces);
    }
    let modulus = i128::try_from(modulus).map_err(|_| Unknown::Overflow)?;
    // A single index leaves no trace in other residue classes, so those that no progression meets are passed over.
    let residues: BTreeSet<i128> = all().flat_map(|p| residues(*p, modulus)).collect();
    let mut found: BTreeMap<Vec<u128>, u128> = BTreeMap::new();
    for residue in residues {
        sweep(lists, modulus, residue, &mut found)?;
    }
    Ok(found)
}

/// The residues modulo a multiple of the stride that a progression may meet.
fn residues(p: Progression, modulus: i128) -> impl Iterator<Item = i128> {
    let distinct = if p.count == 1 { 1 } else { p.count.min(modulus / p.stride) };
    (0..distinct).map(move |i| (p.start + p.stride * i).rem_euclid(modulus))
}

/// Counts the indices `residue + modulus · t`: they are in a progression for consecutive `t`.
fn sweep(
    lists: &[Vec<Progression>],
    modulus: i128,
    residue: i128,
    found: &mut BTreeMap<Vec<u128>, u128>,
) -> Result<(), Unknown> {
    // (t, list, change of its number of reads from t on)
    let mut events: Vec<(i128, usize, i128)> = Vec::new();
    for (list, progressions) in lists.iter().enumerate() {
        for p in progressions {
            if p.count > 1 && (p.start - residue).rem_euclid(p.stride) != 0 {
                continue;
            }
            // The first index of the residue class from the start on; ⌈x / m⌉ = −⌊−x / m⌋.
            let first = -(residue - p.start).div_euclid(modulus);
            let last = (p.last() - residue).div_euclid(modulus);
            if first <= last {
                events.push((first, list, p.times));
                events.push((last + 1, list, -p.times));
            }
        }
    }
    events.sort_unstable();
    let mut reads = vec![0u128; lists.len()];
    let mut position = None;
    for (t, list, change) in events {
        if let Some(before) = position.replace(t)
            && before < t
            && reads.iter().any(|n| *n > 0)
        {
            let width = (t - before).unsigned_abs();
            let indices = found.entry(reads.clone()).or_insert(0);
            *indices = indices.checked_add(width).ok_or(Unknown::Overflow)?;
        }
        reads[list] = reads[list]
            .checked_add_signed(change)
            .expect("at one position the ends of progressions that began before it are all that is taken away");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_counting() {
        let sums: [&[(i128, i128)]; 10] = [
            &[],
            &[(1, 5)],
            &[(-2, 4)],
            &[(1, 4), (4, 3)],
            &[(1, 4), (1, 3)],
            &[(3, 5), (2, 4)],
            &[(-7, 3), (1, 2)],
            &[(6, 3)],
            &[(4, 2), (1, 3)],
            &[(3, 40), (5, 40), (7, 40)],
        ];
        for (i, first) in sums.iter().enumerate() {
            for (j, second) in sums.iter().enumerate() {
                let (c, d) = (i as i128 % 3, 40 - j as i128);
                let lists = [progressions(c, first).unwrap(), progressions(d, second).unwrap()];
                let mut counted: BTreeMap<i128, Vec<u128>> = BTreeMap::new();
                for (list, (constant, terms)) in [(c, first), (d, second)].into_iter().enumerate() {
                    for x in values(constant, terms) {
                        counted.entry(x).or_insert_with(|| vec![0, 0])[list] += 1;
                    }
                }
                let mut expected: BTreeMap<Vec<u128>, u128> = BTreeMap::new();
                counted.into_values().for_each(|reads| *expected.entry(reads).or_insert(0) += 1);
                assert_eq!(classes(&lists).unwrap(), expected, "{first:?} and {second:?}");
            }
        }
    }

    fn values(constant: i128, terms: &[(i128, i128)]) -> Vec<i128> {
        terms
            .iter()
            .fold(vec![constant], |all, (a, n)| all.iter().flat_map(|x| (0..*n).map(move |k| x + a * k)).collect())
    }
}
