//! The elements that maps without runtime variables read, counted in closed form.
//!
//! On a part of its domain a map is affine. Where no digit moves two dimensions of the operand, its image there is a product of
//! one-dimensional sums of digits; dimensions that some digit moves together (a diagonal) are taken as one, in row-major
//! order, which keeps elements apart since all of them lie within the shape. The images of all parts of all maps then tell
//! apart only a few classes of indices in each dimension, and the elements are counted by class.

use std::collections::BTreeMap;

use super::profile::{classes, progressions};
use crate::pieces::{Lanes, Piece, Program, pieces};
use crate::{IndexingMap, Unknown};

/// Parts that are counted together.
const MAX_IMAGES: usize = 512;
/// Products of classes that are looked at.
const MAX_PRODUCTS: usize = 1 << 16;

/// How often elements are read, counted exactly.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Elements read at least once.
    pub(crate) used: u128,
    /// Reads of all elements together.
    pub(crate) reads: u128,
    /// Reads of the element that is read least among those that are read.
    pub(crate) fewest: u128,
    /// Reads of the element that is read most.
    pub(crate) most: u128,
}

impl Counts {
    pub(crate) const NONE: Counts = Counts { used: 0, reads: 0, fewest: 0, most: 0 };
}

/// One result of an affine part: its constant, and the coefficients of the digits.
#[derive(Clone, Debug)]
struct Index {
    constant: i128,
    coefficients: Vec<i128>,
}

/// An affine part of a map, with one index for each dimension of the operand.
#[derive(Clone, Debug)]
struct Image {
    counts: Vec<i128>,
    indices: Vec<Index>,
}

/// Counts the elements that maps read, all together. The maps have no runtime variable with more than one value, do not
/// overflow, and stay within the shape.
pub(crate) fn count(maps: &[IndexingMap], shape: &[i64]) -> Result<Counts, Unknown> {
    let mut images = Vec::new();
    for map in maps {
        let left = MAX_IMAGES - images.len();
        images.extend(pieces(&Program::new(map)?, &Lanes::default(), left)?.into_iter().map(Image::new));
    }
    if images.is_empty() {
        return Ok(Counts::NONE);
    }
    let mut extents: Vec<i128> = shape.iter().map(|n| i128::from(*n)).collect();
    join_dependent(&mut images, &mut extents)?;
    for dim in (0..extents.len()).rev() {
        split_digits(&mut images, dim);
    }
    by_class(&images)
}

impl Image {
    fn new(piece: Piece) -> Image {
        let index = |form: crate::pieces::Form| Index {
            constant: form.constants.first().copied().unwrap_or(0),
            coefficients: form.coefficients,
        };
        Image { counts: piece.counts, indices: piece.results.into_iter().map(index).collect() }
    }

    /// How many digits no index depends on, as the number of times each element is read for them.
    fn repetitions(&self) -> Result<u128, Unknown> {
        let unused = |digit: usize| self.indices.iter().all(|index| index.coefficients[digit] == 0);
        let counts =
            (0..self.counts.len()).filter(|digit| unused(*digit)).map(|digit| self.counts[digit].unsigned_abs());
        product(counts)
    }
}

fn product(mut factors: impl Iterator<Item = u128>) -> Result<u128, Unknown> {
    factors.try_fold(1u128, |all, n| all.checked_mul(n)).ok_or(Unknown::Overflow)
}

/// Makes one dimension of any two that a digit of some part moves together.
fn join_dependent(images: &mut [Image], extents: &mut Vec<i128>) -> Result<(), Unknown> {
    let mut outer = 0;
    while outer < extents.len() {
        let depends = |inner: &usize| {
            images.iter().any(|image| {
                let (a, b) = (&image.indices[outer].coefficients, &image.indices[*inner].coefficients);
                a.iter().zip(b).any(|(a, b)| *a != 0 && *b != 0)
            })
        };
        let Some(inner) = (outer + 1..extents.len()).find(depends) else {
            outer += 1;
            continue;
        };
        let extent = extents.remove(inner);
        extents[outer] = extents[outer].checked_mul(extent).ok_or(Unknown::Overflow)?;
        for image in images.iter_mut() {
            let low = image.indices.remove(inner);
            let high = &mut image.indices[outer];
            let joined =
                |a: i128, b: i128| a.checked_mul(extent).and_then(|a| a.checked_add(b)).ok_or(Unknown::Overflow);
            high.constant = joined(high.constant, low.constant)?;
            for (a, b) in high.coefficients.iter_mut().zip(low.coefficients) {
                *a = joined(*a, b)?;
            }
        }
        // The joined dimension may depend on those before it that the outer one alone did not.
        outer = 0;
    }
    Ok(())
}

/// Splits a dimension in which every part is `r·high + low` with `low` in `0..r` into these two, as long as there is such an
/// `r`: the digits of a row-major position are dimensions again. Elements stay distinct, and no others appear.
fn split_digits(images: &mut [Image], dim: usize) {
    let mut candidates: Vec<i128> =
        images.iter().flat_map(|image| image.indices[dim].coefficients.iter().map(|a| a.saturating_abs())).collect();
    candidates.sort_unstable();
    candidates.dedup();
    for radix in candidates.into_iter().filter(|r| *r > 1) {
        let split: Option<Vec<(Index, Index)>> = images.iter().map(|image| split_index(image, dim, radix)).collect();
        let Some(split) = split else { continue };
        // Of use only where something is left in the lower digit.
        if split.iter().all(|(_, low)| low.coefficients.iter().all(|a| *a == 0)) {
            continue;
        }
        for (image, (high, low)) in images.iter_mut().zip(split) {
            image.indices[dim] = high;
            image.indices.push(low);
        }
        // What is left above may be split by larger numbers.
        return split_digits(images, dim);
    }
}

fn split_index(image: &Image, dim: usize, radix: i128) -> Option<(Index, Index)> {
    let index = &image.indices[dim];
    let divided =
        |keep: bool| index.coefficients.iter().map(|a| if (a % radix == 0) == keep { *a } else { 0 }).collect();
    let (high, low): (Vec<i128>, Vec<i128>) = (divided(true), divided(false));
    let constant = index.constant;
    let mut range = (constant.rem_euclid(radix), constant.rem_euclid(radix));
    for (a, count) in low.iter().zip(&image.counts) {
        let far = a.checked_mul(count - 1)?;
        *(if far < 0 { &mut range.0 } else { &mut range.1 }) += far;
    }
    // A constant just below a multiple may belong to digits that count down from there.
    let whole = range.0.div_euclid(radix);
    (range.1.div_euclid(radix) == whole).then(|| {
        let high_constant = constant.div_euclid(radix) + whole;
        let high = Index { constant: high_constant, coefficients: high.into_iter().map(|a| a / radix).collect() };
        (high, Index { constant: constant - high_constant * radix, coefficients: low })
    })
}

/// Counts elements by the classes of their indices: dimension by dimension, with what is known of each part multiplied up.
fn by_class(images: &[Image]) -> Result<Counts, Unknown> {
    let weights: Vec<u128> = images.iter().map(Image::repetitions).collect::<Result<_, _>>()?;
    let mut known: BTreeMap<Vec<u128>, u128> = BTreeMap::from([(weights, 1)]);
    let dims = images.first().map_or(0, |image| image.indices.len());
    for dim in 0..dims {
        let lists = images.iter().map(|image| {
            let index = &image.indices[dim];
            let terms: Vec<(i128, i128)> =
                index.coefficients.iter().zip(&image.counts).filter(|(a, _)| **a != 0).map(|(a, n)| (*a, *n)).collect();
            progressions(index.constant, &terms)
        });
        let classes = classes(&lists.collect::<Result<Vec<_>, _>>()?)?;
        if classes.len().saturating_mul(known.len()).saturating_mul(images.len()) > MAX_PRODUCTS {
            return Err(Unknown::TooManyPieces);
        }
        let mut next: BTreeMap<Vec<u128>, u128> = BTreeMap::new();
        for (so_far, elements) in &known {
            for (reads, indices) in &classes {
                let both = so_far.iter().zip(reads).map(|(a, b)| a.checked_mul(*b));
                let both: Vec<u128> = both.collect::<Option<_>>().ok_or(Unknown::Overflow)?;
                if both.iter().all(|n| *n == 0) {
                    continue;
                }
                let number = elements.checked_mul(*indices).ok_or(Unknown::Overflow)?;
                let counted = next.entry(both).or_insert(0);
                *counted = counted.checked_add(number).ok_or(Unknown::Overflow)?;
            }
        }
        known = next;
    }
    let mut counts = Counts { fewest: u128::MAX, ..Counts::NONE };
    for (reads, elements) in known {
        let reads = reads.into_iter().try_fold(0u128, u128::checked_add).ok_or(Unknown::Overflow)?;
        let all = reads.checked_mul(elements).and_then(|all| counts.reads.checked_add(all));
        counts.reads = all.ok_or(Unknown::Overflow)?;
        counts.used = counts.used.checked_add(elements).ok_or(Unknown::Overflow)?;
        counts.fewest = counts.fewest.min(reads);
        counts.most = counts.most.max(reads);
    }
    Ok(counts)
}
