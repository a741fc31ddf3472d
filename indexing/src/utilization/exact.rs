//! Exact counts for known runtime values: in closed form, else by enumeration of the domain.

use super::Basis;
use super::image::{self, Counts};
use crate::pieces::{Program, may_overflow};
use crate::{IndexingMap, Unknown};

/// Points of the boxes of all maps together that are walked.
const MAX_POINTS: u128 = 1 << 16;

/// Counts in closed form, else by enumeration. `simple` are the maps simplified; simplification may remove what overflows, so
/// whether anything does is asked of `given`.
///
/// # Errors
/// The reason why there is no closed form, where there are too many points to enumerate.
pub(crate) fn exact(simple: &[IndexingMap], given: &[IndexingMap], shape: &[i64]) -> Result<(Counts, Basis), Unknown> {
    let mut overflows = false;
    for map in given {
        overflows |= may_overflow(&Program::new(map)?);
    }
    // A simplified map may hide what it was composed of, such as the position in a reshape.
    let closed = if overflows {
        Err(Unknown::Overflow)
    } else {
        image::count(simple, shape).or_else(|_| image::count(given, shape))
    };
    match closed {
        Ok(counts) => Ok((counts, Basis::ClosedForm)),
        Err(reason) => match enumerated(given, shape) {
            Ok(counts) => Ok((counts, Basis::Enumeration)),
            Err(_) => Err(reason),
        },
    }
}

/// Counts the elements that maps read by walking their domains. The maps stay within the shape, and have no runtime variable
/// with more than one value.
fn enumerated(maps: &[IndexingMap], shape: &[i64]) -> Result<Counts, Unknown> {
    let points = maps.iter().fold(0u128, |n, map| n.saturating_add(map.box_size()));
    if points > MAX_POINTS {
        return Err(Unknown::TooManyPieces);
    }
    let mut read: Vec<i128> = Vec::new();
    for map in maps {
        for p in map.points() {
            let index = map.evaluate(&p.dims, &p.ranges, &p.runtime).map_err(|_| Unknown::Overflow)?;
            let position = index.iter().zip(shape).try_fold(0i128, |at, (i, n)| {
                at.checked_mul(i128::from(*n)).and_then(|at| at.checked_add(i128::from(*i)))
            });
            read.push(position.ok_or(Unknown::Overflow)?);
        }
    }
    read.sort_unstable();
    let mut counts = Counts { fewest: u128::MAX, reads: read.len() as u128, ..Counts::NONE };
    for run in read.chunk_by(|a, b| a == b) {
        counts.used += 1;
        counts.fewest = counts.fewest.min(run.len() as u128);
        counts.most = counts.most.max(run.len() as u128);
    }
    Ok(if counts.used == 0 { Counts::NONE } else { counts })
}
