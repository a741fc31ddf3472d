//! Operand utilization: how much of an operand is read to compute all of an output, and how often.
//!
//! The map of a use leads from the index of the output to the index of the operand. An element of the operand is *used* when
//! some point of the domain leads to it, and is *read* once for each such point. The utilization is the fraction of
//! elements that are used. It is what a fusion pays for its operand: elements not used need not be computed or loaded,
//! elements read many times are computed again each time or come from a cache. XLA's cost analysis estimates it by
//! operation; its *Indexing analysis* names computing it precisely, for any map, as a purpose of maps.
//!
//! | What | Map from output to operand | Used | Reads of each |
//! |---|---|---|---|
//! | elementwise | `(d0) -> (d0)` | all | 1 |
//! | broadcast of `[4]` to `[4, 8]` | `(d0, d1) -> (d0)` | all | 8 |
//! | slice with stride 2 | `(d0) -> (d0 * 2)` | half | 1 or 0 |
//! | reduction of `[4, 8]` to `[4]` | `(d0)[s0] -> (d0, s0)` | all | 1 |
//! | window of 3 that slides by 1 | `(d0)[s0] -> (d0 + s0)` | all | 1 at the ends, 3 inside |
//!
//! A fusion may read one operand through several maps, such as the two halves that it adds up. The union counts an element
//! once however many maps read it:
//!
//! ```
//! use weft_indexing::{Basis, IndexingMap, operand_utilization};
//!
//! // x[0:6] + x[4:10] for x of [10]: elements 4 and 5 are read by both.
//! let first: IndexingMap = "(d0) -> (d0), domain: d0 in [0, 5]".parse()?;
//! let second: IndexingMap = "(d0) -> (d0 + 4), domain: d0 in [0, 5]".parse()?;
//! let operand = operand_utilization(&[first, second], &[10])?;
//! assert_eq!(operand.uses[0].to_string(), "used 6 of 10 (3/5); 6 reads, 0 to 1 each; exact, in closed form");
//! assert_eq!(operand.union.to_string(), "used 10 of 10 (1); 12 reads, 1 to 2 each; exact, in closed form");
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! # How it is counted
//!
//! 1. The domain is taken apart until the map is affine on each part, by writing variables in a mixed radix: what remains of
//!    `d0 floordiv 8` are the upper digits of `d0`.
//! 2. On such a part each dimension of the operand is read along sums of progressions. The images of all parts of all maps
//!    tell apart a few classes of indices in each dimension, found by their ends and residues, and elements are counted by
//!    class. The work depends on the number of parts, not on the number of elements.
//! 3. Where that needs too many parts, the points are counted one by one, if there are few enough; else the answer is bounds.
//!    [`Basis`] says which it was.
//!
//! # Runtime variables
//!
//! A runtime variable is one unknown number in its bounds, the same for all points, and for all maps that share it; what reads
//! nothing because the value lies beyond bounds that drop it is not among the cases. If all it
//! does is shift what is read, it matters to no count. Otherwise an exact answer is a range, from the least to
//! the greatest over its values. A variable whose access mentions the index, as that of a gather does, has many values in one
//! run: then there are bounds.
//!
//! ```
//! # use weft_indexing::{Basis, IndexingMap};
//! // dynamic-slice of 4 of 10 elements: always 4, wherever it starts.
//! let sliced: IndexingMap = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]".parse()?;
//! assert_eq!(sliced.utilization(&[10])?.used.as_one(), Some(4));
//! // What of the 10 elements lies before a limit known only at run time.
//! let cut: IndexingMap =
//!     "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [1, 8], d0 - rt0 in [-10, -1]".parse()?;
//! let utilization = cut.utilization(&[10])?;
//! assert_eq!((utilization.used.to_string(), utilization.basis), ("1 to 8".into(), Basis::ClosedForm));
//! # Ok::<(), weft_indexing::Error>(())
//! ```

mod bounds;
mod exact;
mod image;
mod profile;
mod report;
mod runtime;

pub use report::{Basis, CountRange, OperandUtilization, Utilization};

use bounds::{alone, nothing_known, together};
use exact::exact;
use image::Counts;
use runtime::Uses;

use crate::pieces::{Program, may_overflow};
use crate::within::Within;
use crate::{Error, IndexingMap, Unknown};

impl IndexingMap {
    /// The utilization of an operand of the given shape: how much of it the map reads, and how often. The documentation
    /// of [this module](self) explains it.
    ///
    /// # Errors
    /// When there is not one result for each extent, and when the number of elements leaves `u128`.
    pub fn utilization(&self, shape: &[i64]) -> Result<Utilization, Error> {
        let elements = elements(shape)?;
        check(std::slice::from_ref(self), shape)?;
        let Refusal { reason, stays } = match exactly(std::slice::from_ref(self), shape) {
            Ok((counts, basis)) => return Ok(answer(&counts, elements, basis)),
            Err(refusal) => refusal,
        };
        if self.is_undefined() {
            return Ok(nothing_known(elements, reason));
        }
        let mut simple = self.clone();
        if reason != Unknown::Overflow {
            // Simplification may remove what overflows, so what is known of the simplified map need not hold of this one.
            simple.simplify_keeping_runtime_bounds();
        }
        Ok(alone(&simple, shape, elements, reason, stays))
    }
}

/// The utilization of an operand by each map, and by all of them together. The maps are from one output index; runtime
/// variables that [are the same value](crate::RuntimeVariable::is_same_value) are one.
///
/// # Errors
/// As [`IndexingMap::utilization`].
pub fn operand_utilization(uses: &[IndexingMap], shape: &[i64]) -> Result<OperandUtilization, Error> {
    let each: Vec<Utilization> = uses.iter().map(|map| map.utilization(shape)).collect::<Result<_, _>>()?;
    let elements = elements(shape)?;
    let union = match (each.as_slice(), exactly(uses, shape)) {
        ([one], _) => *one,
        (_, Ok((counts, basis))) => answer(&counts, elements, basis),
        (_, Err(Refusal { reason, .. })) => together(&each, elements, reason),
    };
    Ok(OperandUtilization { uses: each, union })
}

/// Whether maps are known to stay within the operand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Containment {
    /// All results are known to be indices.
    Surely,
    /// That is not known.
    Perhaps,
}

/// Why there are no exact counts, and what is known nevertheless.
struct Refusal {
    reason: Unknown,
    stays: Containment,
}

fn check(maps: &[IndexingMap], shape: &[i64]) -> Result<(), Error> {
    match maps.iter().find(|map| !map.is_undefined() && map.results.len() != shape.len()) {
        Some(map) => Err(Error::Arity { what: "results of the map", expected: shape.len(), found: map.results.len() }),
        None => Ok(()),
    }
}

/// Counts what all maps read together, for all runtime values; with the weakest basis among them.
fn exactly(maps: &[IndexingMap], shape: &[i64]) -> Result<(Vec<Counts>, Basis), Refusal> {
    let refusal = |stays: Containment| move |reason: Unknown| Refusal { reason, stays };
    if maps.iter().any(IndexingMap::is_undefined) {
        return Err(refusal(Containment::Perhaps)(Unknown::Undefined));
    }
    // A map without points reads nothing, and must not keep what is known of the others from being used.
    let (mut given, mut simple) = (Vec::new(), Vec::new());
    for map in maps.iter().filter(|map| !map.is_known_empty()) {
        let mut simplified = map.clone();
        // A point at which a constraint overflows is not in the domain, but may be in that of the simplified map.
        if !may_overflow(&Program::new(map).map_err(refusal(Containment::Perhaps))?) {
            simplified.simplify_keeping_runtime_bounds();
        }
        if !simplified.is_known_empty() {
            given.push(map.clone());
            simple.push(simplified);
        }
    }
    let within = given.iter().zip(&simple).map(|(map, simple)| map.stays_within(simple, shape));
    within.filter_map(Within::obstacle).max().map_or(Ok(()), Err).map_err(refusal(Containment::Perhaps))?;
    counted(&given, &simple, shape).map_err(refusal(Containment::Surely))
}

fn elements(shape: &[i64]) -> Result<u128, Error> {
    let product = shape.iter().try_fold(1u128, |n, extent| n.checked_mul(u128::from(extent.max(&0).unsigned_abs())));
    product.ok_or_else(|| weft_affine::Error::Overflow { what: "the number of elements of a shape" }.into())
}

fn counted(given: &[IndexingMap], simple: &[IndexingMap], shape: &[i64]) -> Result<(Vec<Counts>, Basis), Unknown> {
    let (given, mut simple) = Uses::pair(given, simple).map_err(|_| Unknown::Overflow)?;
    if simple.varies_with_index() {
        return Err(Unknown::RuntimeValues);
    }
    simple.fix_shifts();
    let assignments = simple.assignments(&given).ok_or(Unknown::RuntimeValues)?;
    let mut all = Vec::with_capacity(assignments.len());
    let mut weakest = Basis::ClosedForm;
    for (simple, given) in assignments {
        let (counts, basis) = exact(&simple.maps, &given.maps, shape)?;
        weakest = weakest.max(basis);
        all.push(counts);
    }
    Ok((all, weakest))
}

fn answer(counts: &[Counts], elements: u128, basis: Basis) -> Utilization {
    let range = |count: &dyn Fn(&Counts) -> u128| {
        let each = counts.iter().map(|c| CountRange::exactly(count(c)));
        each.reduce(CountRange::hull).unwrap_or(CountRange::exactly(0))
    };
    Utilization {
        elements,
        used: range(&|c| c.used),
        reads: range(&|c| c.reads),
        fewest_reads: range(&|c| if c.used < elements { 0 } else { c.fewest }),
        most_reads: range(&|c| c.most),
        basis,
    }
}
