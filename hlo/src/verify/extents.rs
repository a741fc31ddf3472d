//! Verification of extents by shape functions.

use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, Shape};
use crate::shape::function::KnownShape;
use crate::shape::{InferenceCache, InstructionAttributes, check_open, infer_cached, seen};

/// What is known of the extents of a result.
pub(super) enum Extents {
    /// Nothing that speaks against the text: they are known at run time only, or nothing but the text gives them.
    Open,
    /// The shape that follows from the operands.
    Known(Shape),
    /// Whatever the operands' extents turn out to be, those of the text do not follow. Where the ones that do are not
    /// known, the shape says as much as is.
    Apart(Shape),
    /// The operands do not fit each other or the attributes.
    Refused(Diagnostics),
}

/// Whether the declared extents surely are those that follow.
pub(super) fn agree(cache: &InferenceCache<'_>, instruction: &InstructionAttributes<'_>) -> bool {
    is_static(instruction) && cache.agrees(instruction)
}

/// Whether all extents are known that the shape function sees.
fn is_static(instruction: &InstructionAttributes<'_>) -> bool {
    let operands = seen(instruction.op, instruction.operands);
    operands.into_iter().chain([instruction.declared]).chain(instruction.called).all(Shape::is_static)
}

/// The extents that follow from the operands of an instruction whose number of operands, kinds and attributes are legal.
pub(super) fn extents(cache: &InferenceCache<'_>, instruction: &InstructionAttributes<'_>) -> Extents {
    if is_static(instruction) {
        return match infer_cached(cache, instruction) {
            Ok(shape) => Extents::Known(shape),
            Err(found) => Extents::Refused(found),
        };
    }
    // Of open extents only what is wrong for all of them is found here; the rest is known when they are.
    match check_open(cache, instruction) {
        Err(found) => Extents::Refused(found),
        Ok(None) => Extents::Open,
        Ok(Some(known)) => {
            let leaves = instruction.declared.leaves();
            let apart = |(leaf, known): (&&Shape, &KnownShape)| leaf.as_array().is_some_and(|it| !may_be(it, known));
            // Another number of leaves is another kind of value, of which the rule of the operation speaks.
            if leaves.len() == known.len() && leaves.iter().zip(&known).any(apart) {
                let mut shape = instruction.declared.without_layout();
                replace(&mut shape, &mut known.iter());
                return Extents::Apart(shape);
            }
            Extents::Open
        }
    }
}

/// Whether an array of this shape may have extents of which this is known.
fn may_be(array: &ArrayShape, known: &KnownShape) -> bool {
    match known {
        KnownShape::Ranked(dims) => {
            dims.len() == array.rank()
                && dims.iter().zip(&array.extents).enumerate().all(|(dimension, (dim, &extent))| {
                    if array.is_open(dimension) { extent < 0 || dim.lo <= extent } else { dim.contains(extent) }
                })
        }
        KnownShape::Unranked { rank, .. } => i64::try_from(array.rank()).is_ok_and(|given| rank.contains(given)),
    }
}

/// Puts in what is known of the leaves, in order.
fn replace<'k>(shape: &mut Shape, known: &mut impl Iterator<Item = &'k KnownShape>) {
    match shape {
        Shape::Tuple(elements) => elements.iter_mut().for_each(|element| replace(element, known)),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => drop(known.next()),
        Shape::Array(array) => {
            let Some(KnownShape::Ranked(dims)) = known.next() else { return };
            let open = |hi: i64| if hi == i64::MAX { ArrayShape::UNBOUNDED } else { hi };
            array.extents = dims.iter().map(|dim| dim.as_point().unwrap_or(open(dim.hi))).collect();
            array.dynamic = (0..dims.len()).filter(|&dimension| dims[dimension].as_point().is_none()).collect();
        }
    }
}
