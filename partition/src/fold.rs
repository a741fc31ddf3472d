//! What the region of a reduction does to tuples: whether they may be folded part by part.

use crate::associative;
use crate::completed::{neutral, results, within};
use crate::monoid::operation;
use crate::selection::Selection;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Op, Scalar, identity};

/// Results that a region has at most; sets of them are bits.
const MAX_RESULTS: usize = 64;

/// An associative region with a neutral tuple: `f(f(a, b), c) = f(a, f(b, c))`, `f(neutral, a) = a = f(a, neutral)`.
#[derive(Debug, PartialEq)]
pub(crate) struct Fold {
    /// The neutral tuple.
    pub(crate) neutral: Vec<Scalar>,
    /// Whether `f(a, b) = f(b, a)`, so that elements may be taken in any order.
    pub(crate) commutes: bool,
    /// Whether the region was completed, so that the last place says whether there is a tuple: two of which one is there come to one that is.
    pub(crate) is_completed: bool,
}

impl Fold {
    /// What a region folds: a [`Semigroup`] with a neutral tuple.
    ///
    /// # Errors
    /// The reason why a reduction by this region cannot be divided, as part of a sentence.
    pub(crate) fn of(region: &Computation) -> Result<Fold, String> {
        let Semigroup { neutral, commutes } = Semigroup::of(region)?;
        let neutral = neutral.ok_or("its region has no neutral value to begin a part with")?;
        Ok(Fold { neutral, commutes, is_completed: within(region).is_some() })
    }
}

/// An associative region.
#[derive(Debug, PartialEq)]
pub(crate) struct Semigroup {
    /// The neutral tuple, where one is known.
    pub(crate) neutral: Option<Vec<Scalar>>,
    /// Whether `f(a, b) = f(b, a)`.
    pub(crate) commutes: bool,
}

impl Semigroup {
    /// What a region folds. Its results fall apart into groups that depend on no elements of each other; a product of monoids is a
    /// monoid, and commutes where all do. A group is one operation of two elements that has a neutral element
    /// ([`identity`]), or a [`Selection`], or whatever [`associative`] finds no counterexample of.
    ///
    /// Of the last no neutral tuple is known until they are [`completed`](crate::completed::completed) by one. Welford's of mean, sum of squares and count is one
    /// of them: two parts that have counted nothing would be 0 divided by 0.
    ///
    /// # Errors
    /// The reason why it is not known to be associative, as part of a sentence.
    pub(crate) fn of(region: &Computation) -> Result<Semigroup, String> {
        match within(region) {
            Some(within) => Ok(Semigroup { neutral: Some(neutral(&within)), ..Semigroup::of_results(&within)? }),
            None => Semigroup::of_results(region),
        }
    }

    fn of_results(region: &Computation) -> Result<Semigroup, String> {
        let results = results(region);
        let count = results.len();
        if count > MAX_RESULTS || region.parameters().len() != 2 * count {
            return Err(format!("its region has {count} results, and only {MAX_RESULTS} are looked at"));
        }
        let mut neutral: Vec<Option<Scalar>> = vec![None; count];
        let (mut commutes, mut is_proved) = (true, true);
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
            match Selection::of(region, count, &places, &returned)? {
                Some(selection) => {
                    commutes &= selection.commutes;
                    let known = selection.neutral.into_iter().flatten();
                    places.iter().zip(known).for_each(|(place, known)| neutral[*place] = Some(known));
                }
                None => is_proved = false,
            }
        }
        if !is_proved {
            commutes &= associative::tried(region)?;
        }
        Ok(Semigroup { neutral: neutral.into_iter().collect(), commutes })
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
