//! Dots with too few results to keep a GPU busy, as what has more to do side by side.

use super::Decision;
use super::expand::rewritten;
use crate::contraction::{Contraction, Rows};
use crate::legal::computes;
use crate::product::{Product, words};
use crate::{Target, TileOwner};
use std::borrow::Cow;
use weft_hlo::ir::{Computation, InstrId, Module, Op};
use weft_hlo::passes::{self, DotForm};

/// Products of a result from which on a dot with a vector is a reduction of products: rows and columns of it are folded by workgroups.
const LONG: i64 = 64;

/// Products that a stretch has at least, and stretches that there are at most: their sums are written and read once more, by a launch that what is computed of them goes to.
const STRETCH: i64 = 512;
const MOST_STRETCHES: i64 = 32;

/// Invocations that each lane of a device is to have, of so many results: where there are few, tiles are smaller, and without stretches invocations would have as much to add.
const INVOCATIONS: i64 = 4;
const RESULTS: i64 = 16;

/// The module with dots of vectors as reductions, and with the sums of dots that have few results cut into stretches, on GPUs: as many as give each lane of the device four invocations.
pub(super) fn rewrite(module: Module, target: &Target, decisions: &mut Vec<Decision>) -> Module {
    if target.is_software() {
        return module;
    }
    let thin = passes::thin_dots(&module, &|computation, dot| form(computation, dot, target));
    let mut changed = Cow::Owned(module);
    rewritten(thin, &mut changed, decisions);
    changed.into_owned()
}

fn form(computation: &Computation, dot: InstrId, target: &Target) -> Option<DotForm> {
    words(computation, dot).ok()?;
    let instruction = &computation.instructions[dot];
    if !computes(target, instruction.shape.as_array()?.element_type) {
        return None;
    }
    let Op::Dot { lhs_contracting_dims, .. } = &instruction.op else { return None };
    let Contraction { rows, columns, depth, .. } = Contraction::of(computation, dot, Rows::Places).ok()?;
    if rows == 0 || columns == 0 || depth < LONG {
        return None;
    }
    if rows == 1 || columns == 1 {
        return Some(DotForm::Reduced);
    }
    let result = instruction.shape.as_array()?;
    let (product, _) = Product::of(computation, dot, (&[result.element_type], 1), target).ok()?;
    if product.tiles != TileOwner::Workgroup {
        return None;
    }
    let invocations = [product.batch, product.rows, product.columns].into_iter().fold(1, i64::saturating_mul) / RESULTS;
    let lanes = i64::from(target.hardware.cores) * i64::from(target.hardware.lanes_per_core);
    let lhs = computation.instructions[*instruction.operands.first()?].shape.as_array()?;
    let longest = lhs_contracting_dims.iter().map(|at| lhs.extents[*at as usize]).max()?;
    let mut parts = 1;
    while 2 * parts <= MOST_STRETCHES
        && depth / (2 * parts) >= STRETCH
        && invocations.saturating_mul(parts) < INVOCATIONS * lanes
        && 2 * parts < longest
    {
        parts *= 2;
    }
    (parts > 1).then_some(DotForm::Split(parts))
}
