//! Canonicalization of dots, to one dimension of each kind, and of convolutions, to fewer dimensions.

use super::build::Build;
use super::convolutions;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{InstrId, Instruction, Module, Op, Shape};

/// Brings every `dot` to operands `[batch, rows, contracted]` and `[batch, contracted, columns]`, at most one dimension of each
/// kind and no batch of one, by transposes and reshapes, in the order in which products are summed (a contracting dimension of
/// extent 1 stays, since a sum of one product is no product: it has no negative zero). Makes every `convolution` a `dot` whose
/// window covers one point at a time, or everything at once, along each dimension, and takes dimensions of one point that meet
/// one element of the window out of the others.
pub struct Contractions;

impl Pass for Contractions {
    fn name(&self) -> &'static str {
        "canonical-contractions"
    }

    fn about(&self) -> &'static str {
        "gives dots one dimension of each kind, and makes dots of convolutions that slide over nothing"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match candidate.op {
            Op::Dot { .. } => dot(rebuild, candidate),
            Op::Convolution { .. } => convolutions::convolution(rebuild, candidate),
            _ => None,
        }))
    }
}

/// The dimensions of one operand of a dot, by what becomes of them.
struct Side {
    value: InstrId,
    extents: Vec<i64>,
    batch: Vec<i64>,
    contracting: Vec<i64>,
    free: Vec<i64>,
}

impl Side {
    fn new(rebuild: &Rebuild<'_>, value: InstrId, batch: &[i64], contracting: &[i64]) -> Side {
        let extents = rebuild.array(value).extents.clone();
        let free = (0..extents.len() as i64).filter(|at| !batch.contains(at) && !contracting.contains(at)).collect();
        Side { value, extents, batch: batch.to_vec(), contracting: contracting.to_vec(), free }
    }

    fn of(&self, dimensions: &[i64]) -> Vec<i64> {
        dimensions.iter().map(|&dimension| self.extents[dimension as usize]).collect()
    }

    fn count(&self, dimensions: &[i64]) -> i64 {
        self.of(dimensions).iter().product()
    }
}

fn dot(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        algorithm,
    } = &candidate.op
    else {
        return None;
    };
    let [left, right] = candidate.operands[..] else { return None };
    let result = candidate.shape.as_array()?.clone();
    let left = Side::new(rebuild, left, lhs_batch_dims, lhs_contracting_dims);
    let right = Side::new(rebuild, right, rhs_batch_dims, rhs_contracting_dims);
    let (batch, contracted) = (left.count(&left.batch), left.count(&left.contracting));
    let (rows, columns) = (left.count(&left.free), right.count(&right.free));
    // Dimensions of the canonical operands: a kind that the dot lacks, or that has one index, has none.
    let has = |kind: &[i64], count: i64| !kind.is_empty() && count != 1;
    let has_batch = has(&left.batch, batch);
    let (has_rows, has_columns) = (!left.free.is_empty(), !right.free.is_empty());
    let leading: Vec<i64> = if has_batch { vec![batch] } else { Vec::new() };
    let with = |given: &[(bool, i64)]| -> Vec<i64> {
        leading.iter().copied().chain(given.iter().filter(|(has, _)| *has).map(|&(_, count)| count)).collect()
    };
    let has_contracted = !left.contracting.is_empty();
    let left_extents = with(&[(has_rows, rows), (has_contracted, contracted)]);
    let right_extents = with(&[(has_contracted, contracted), (has_columns, columns)]);
    let first = leading.len() as i64;
    let batch_dims: Vec<i64> = (0..first).collect();
    let left_contracting: Vec<i64> = if has_contracted { vec![first + i64::from(has_rows)] } else { Vec::new() };
    let right_contracting: Vec<i64> = if has_contracted { vec![first] } else { Vec::new() };
    let is_canonical = left.extents == left_extents
        && right.extents == right_extents
        && *lhs_batch_dims == batch_dims
        && *rhs_batch_dims == batch_dims
        && *lhs_contracting_dims == left_contracting
        && *rhs_contracting_dims == right_contracting;
    if is_canonical {
        return None;
    }
    let left_order = [&left.batch[..], &left.free, &left.contracting].concat();
    let right_order = [&right.batch[..], &right.contracting, &right.free].concat();
    let left_value = rebuild.transposed(left.value, &left_order);
    let left_value = rebuild.reshaped(left_value, left_extents);
    let right_value = rebuild.transposed(right.value, &right_order);
    let right_value = rebuild.reshaped(right_value, right_extents);
    let op = Op::Dot {
        lhs_batch_dims: batch_dims.clone(),
        lhs_contracting_dims: left_contracting,
        rhs_batch_dims: batch_dims,
        rhs_contracting_dims: right_contracting,
        operand_precision: operand_precision.clone(),
        algorithm: *algorithm,
    };
    let extents = with(&[(has_rows, rows), (has_columns, columns)]);
    let value = rebuild.add(Shape::array(result.element_type, extents), op, vec![left_value, right_value]);
    let value = rebuild.reshaped(value, result.extents);
    Some(("a dot has one batch, one free and one contracting dimension", Rewrite::Value(value)))
}
