//! Memory requests of a subgroup, and the segments that each needs.

use crate::pieces::Piece;
use crate::{MemoryModel, Unknown};
use num_integer::gcd;

/// Positions within a segment that are told apart.
const MAX_POSITIONS: u128 = 1024;

/// Totals and extremes over all requests of a map.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requests {
    pub(crate) best: u64,
    pub(crate) worst: u64,
    /// The most that a request needs beyond the least number of segments that hold as many bytes.
    pub(crate) excess: u64,
    /// Some request needs fewer segments than it reads elements.
    pub(crate) shares: bool,
    /// All requests read one element each.
    pub(crate) uniform: bool,
    /// All requests read elements without gaps.
    pub(crate) contiguous: bool,
    pub(crate) requests: u128,
    pub(crate) transactions: u128,
    pub(crate) least_transactions: u128,
    pub(crate) bytes: u128,
    /// A number that divides all positions of first elements; zero where they are all zero.
    pub(crate) starts: u128,
}

/// Counts the requests of all parts; nothing where nothing is read. The first result of a part is the address, in elements.
pub(crate) fn requests(pieces: &[Piece], element_bytes: u32, model: &MemoryModel) -> Result<Option<Requests>, Unknown> {
    let mut all: Option<Requests> = None;
    for piece in pieces {
        let Some(own) = of_piece(piece, element_bytes, model)? else { continue };
        all = Some(match all {
            None => own,
            Some(known) => known.and(own)?,
        });
    }
    Ok(all)
}

impl Requests {
    fn and(self, other: Requests) -> Result<Requests, Unknown> {
        let sum = |a: u128, b: u128| a.checked_add(b).ok_or(Unknown::Overflow);
        Ok(Requests {
            best: self.best.min(other.best),
            worst: self.worst.max(other.worst),
            excess: self.excess.max(other.excess),
            shares: self.shares || other.shares,
            uniform: self.uniform && other.uniform,
            contiguous: self.contiguous && other.contiguous,
            requests: sum(self.requests, other.requests)?,
            transactions: sum(self.transactions, other.transactions)?,
            least_transactions: sum(self.least_transactions, other.least_transactions)?,
            bytes: sum(self.bytes, other.bytes)?,
            starts: gcd(self.starts, other.starts),
        })
    }
}

fn of_piece(piece: &Piece, element_bytes: u32, model: &MemoryModel) -> Result<Option<Requests>, Unknown> {
    let Some(address) = piece.results.first() else { return Ok(None) };
    let active = address.constants.iter().zip(&piece.active).filter(|(_, active)| **active).map(|(k, _)| *k);
    let mut elements: Vec<i128> = active.collect();
    elements.sort_unstable();
    elements.dedup();
    let (Some(first), Some(last)) = (elements.first().copied(), elements.last().copied()) else { return Ok(None) };
    let distinct = elements.len() as u64;
    let bytes = distinct.checked_mul(u64::from(element_bytes)).ok_or(Unknown::Overflow)?;
    let least = bytes.div_ceil(u64::from(model.segment_bytes));
    let mut found = Requests {
        best: u64::MAX,
        worst: 0,
        excess: 0,
        shares: false,
        uniform: distinct == 1,
        contiguous: last - first + 1 == i128::from(distinct),
        requests: 0,
        transactions: 0,
        least_transactions: 0,
        bytes: 0,
        starts: first.unsigned_abs(),
    };
    for (_, coefficient) in address.terms() {
        found.starts = gcd(found.starts, coefficient.unsigned_abs());
    }
    // Addresses that differ by a multiple of this many elements lie alike in their segments.
    let period = u128::from(model.segment_bytes) / gcd(u128::from(model.segment_bytes), u128::from(element_bytes));
    for (position, number) in positions(piece, period)?.into_iter().enumerate().filter(|(_, number)| *number > 0) {
        let needed = segments(&elements, position as i128, element_bytes, model);
        found.best = found.best.min(needed);
        found.worst = found.worst.max(needed);
        found.excess = found.excess.max(needed.saturating_sub(least));
        found.shares |= needed < distinct;
        let add = |sum: u128, each: u64| {
            number.checked_mul(u128::from(each)).and_then(|n| sum.checked_add(n)).ok_or(Unknown::Overflow)
        };
        found.requests = add(found.requests, 1)?;
        found.transactions = add(found.transactions, needed)?;
        found.least_transactions = add(found.least_transactions, least)?;
        found.bytes = add(found.bytes, bytes)?;
    }
    Ok(Some(found))
}

/// For how many values of the digits their part of the address has each remainder modulo the period.
///
/// The remainders of `a·d` for `d = 0, 1, …` repeat after `period / gcd(a, period)` values, and the digits are independent, so
/// the numbers of one digit after another are convolved.
fn positions(piece: &Piece, period: u128) -> Result<Vec<u128>, Unknown> {
    if period > MAX_POSITIONS {
        return Err(Unknown::TooManyPieces);
    }
    let modulus = i128::try_from(period).map_err(|_| Unknown::Overflow)?;
    let length = usize::try_from(period).map_err(|_| Unknown::Overflow)?;
    let mut numbers = vec![0u128; length];
    numbers[0] = 1;
    let coefficients = piece.results.first().map_or(&[][..], |address| &address.coefficients);
    for (count, coefficient) in piece.counts.iter().map(|n| n.unsigned_abs()).zip(coefficients) {
        let step = coefficient.rem_euclid(modulus).unsigned_abs();
        let cycle = period / gcd(step, period);
        let mut next = vec![0u128; length];
        for value in 0..cycle.min(count) {
            let times = count / cycle + u128::from(value < count % cycle);
            let shift = step * value % period;
            for (position, number) in numbers.iter().enumerate().filter(|(_, number)| **number > 0) {
                let at = usize::try_from((position as u128 + shift) % period).map_err(|_| Unknown::Overflow)?;
                let more = number.checked_mul(times).and_then(|more| next[at].checked_add(more));
                next[at] = more.ok_or(Unknown::Overflow)?;
            }
        }
        numbers = next;
    }
    Ok(numbers)
}

/// Segments that hold the elements, sorted and distinct, moved by `position`.
fn segments(elements: &[i128], position: i128, element_bytes: u32, model: &MemoryModel) -> u64 {
    let (bytes, segment) = (i128::from(element_bytes), i128::from(model.segment_bytes));
    let mut counted = 0;
    let mut known: Option<i128> = None;
    for element in elements {
        let start = (element + position) * bytes;
        let (first, last) = (start.div_euclid(segment), (start + bytes - 1).div_euclid(segment));
        let fresh = known.map_or(first, |known| first.max(known + 1));
        if fresh <= last {
            counted += u64::try_from(last - fresh + 1).unwrap_or(u64::MAX);
            known = Some(last);
        }
    }
    counted
}
