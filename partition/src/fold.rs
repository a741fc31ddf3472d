//! What the region of a reduction does to tuples: whether they may be folded part by part.

use crate::monoid::{identity, operation};
use crate::selection::Selection;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Op, Scalar};

/// Results that a region has at most; sets of them are bits.
const MAX_RESULTS: usize = 64;

/// An associative region with a neutral tuple: `f(f(a, b), c) = f(a, f(b, c))`, `f(neutral, a) = a = f(a, neutral)`.
#[derive(Debug, PartialEq)]
pub(crate) struct Fold {
    /// The neutral tuple.
    pub(crate) neutral: Vec<Scalar>,
    /// Whether `f(a, b) = f(b, a)`, so that elements may be taken in any order.
    pub(crate) commutes: bool,
}

impl Fold {
    /// What a region folds. Its results fall apart into groups that depend on no elements of each other; a product of monoids is a
    /// monoid, and commutes where all do. A group is one operation of two elements that has a neutral element
    /// ([`identity`]), or a [`Selection`].
    ///
    /// A region that divides by what it has counted, as Welford's of mean, sum of squares and count does, is neither: of numbers it is associative, but a
    /// part that has only counted zeros is 0 divided by 0, and NaN where one loop over all elements is a number.
    ///
    /// # Errors
    /// The reason why a reduction by this region cannot be divided, as part of a sentence.
    pub(crate) fn of(region: &Computation) -> Result<Fold, String> {
        let root = &region.instructions[region.root];
        let results: Vec<InstrId> = match root.op {
            Op::Tuple => root.operands.clone(),
            _ => vec![region.root],
        };
        let count = results.len();
        if count > MAX_RESULTS || region.parameters().len() != 2 * count {
            return Err(format!("its region has {count} results, and only {MAX_RESULTS} are looked at"));
        }
        let mut neutral: Vec<Option<Scalar>> = vec![None; count];
        let mut commutes = true;
        for group in groups(region, &results) {
            let places: Vec<usize> = (0..count).filter(|place| group & (1 << place) != 0).collect();
            if let [place] = places[..]
                && let Some(op) = operation(region, results[place], (place, count + place))
                && let Some(shape) = region.instructions[results[place]].shape.as_array()
                && let Some(known) = identity(op, shape.element_type)
            {
                neutral[place] = Some(known);
                continue;
            }
            let returned: Vec<InstrId> = places.iter().map(|place| results[*place]).collect();
            let selection = Selection::of(region, count, &places, &returned)?;
            commutes &= selection.commutes;
            places.iter().zip(selection.neutral).for_each(|(place, known)| neutral[*place] = Some(known));
        }
        let neutral: Option<Vec<Scalar>> = neutral.into_iter().collect();
        Ok(Fold { neutral: neutral.ok_or("its region has a result of no group")?, commutes })
    }
}

/// The finest sets of results, as bits, such that each depends on elements of its own set alone.
fn groups(region: &Computation, results: &[InstrId]) -> Vec<u64> {
    let mut reads: Vec<u64> = Vec::with_capacity(region.instructions.len());
    for instruction in region.instructions.values() {
        reads.push(match instruction.op {
            Op::Parameter { number } => 1 << (number.unsigned_abs() % results.len() as u64),
            _ => instruction.operands.iter().fold(0, |all, operand| all | reads[operand.index()]),
        });
    }
    let mut groups: Vec<u64> = Vec::new();
    for (place, result) in results.iter().enumerate() {
        let mut group = reads[result.index()] | 1 << place;
        groups.retain(|other| {
            let is_apart = group & other == 0;
            group |= if is_apart { 0 } else { *other };
            is_apart
        });
        groups.push(group);
    }
    groups
}
