//! Exact counts for known runtime values.

use super::Basis;
use super::enumerate;
use super::image::{self, Counts};
use crate::pieces::{Program, may_overflow};
use crate::{IndexingMap, Unknown};

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
        Err(reason) => match enumerate::count(given, shape) {
            Ok(counts) => Ok((counts, Basis::Enumeration)),
            Err(_) => Err(reason),
        },
    }
}
