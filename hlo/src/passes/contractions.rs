//! Dots with one dimension of each kind, and convolutions that are dots.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{InstrId, Instruction, Module, Op, Shape};

/// Brings every `dot` to operands `[batch, rows, contracted]` and `[batch, contracted, columns]`, at most one dimension of each
/// kind and no batch of one, by transposes and reshapes, in the order in which products are summed (a contracting dimension of
/// extent 1 stays, since a sum of one product is no product: it has no negative zero); and makes a `convolution` that multiplies one point at a time, with a kernel of extent 1 that moves by 1 without
/// padding, groups or dilation, a `dot`.
pub struct Contractions;

impl Pass for Contractions {
    fn name(&self) -> &'static str {
        "canonical-contractions"
    }

    fn about(&self) -> &'static str {
        "gives dots one dimension of each kind, and makes dots of convolutions of single points"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match candidate.op {
            Op::Dot { .. } => dot(rebuild, candidate),
            Op::Convolution { .. } => convolution(rebuild, candidate),
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

fn convolution(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Convolution {
        window,
        dim_labels,
        feature_group_count,
        batch_group_count,
        operand_precision,
        sparsity_config,
        ..
    } = &candidate.op
    else {
        return None;
    };
    let is_point = window.dimensions.iter().all(|dimension| {
        dimension.size == 1
            && dimension.stride == 1
            && dimension.padding_low == 0
            && dimension.padding_high == 0
            && dimension.base_dilation == 1
    });
    if !is_point || *feature_group_count != 1 || *batch_group_count != 1 || sparsity_config.is_some() {
        return None;
    }
    let [input, kernel] = candidate.operands[..] else { return None };
    let result = candidate.shape.as_array()?.clone();
    // The kernel without its extents of 1.
    let labels = dim_labels;
    let outward: Vec<i64> = [labels.kernel_input_feature, labels.kernel_output_feature]
        .into_iter()
        .chain(labels.kernel_spatial.iter().copied())
        .collect();
    let given = rebuild.array(kernel).extents.clone();
    let features = [labels.kernel_input_feature, labels.kernel_output_feature].map(|at| given[at as usize]);
    let kernel = rebuild.transposed(kernel, &outward);
    let kernel = rebuild.reshaped(kernel, features.to_vec());
    let op = Op::Dot {
        lhs_batch_dims: Vec::new(),
        lhs_contracting_dims: vec![labels.input_feature],
        rhs_batch_dims: Vec::new(),
        rhs_contracting_dims: vec![0],
        operand_precision: operand_precision.clone(),
        algorithm: None,
    };
    let source = rebuild.array(input).extents.clone();
    let free: Vec<i64> = (0..source.len() as i64).filter(|&dimension| dimension != labels.input_feature).collect();
    let mut extents: Vec<i64> = free.iter().map(|&dimension| source[dimension as usize]).collect();
    extents.push(features[1]);
    let product = rebuild.add(Shape::array(result.element_type, extents), op, vec![input, kernel]);
    // Where each dimension of the result is in the product.
    let position = |of: i64| free.iter().position(|&dimension| dimension == of).map(|at| at as i64);
    let mut permutation = vec![0; result.rank()];
    permutation[labels.output_batch as usize] = position(labels.input_batch)?;
    permutation[labels.output_feature as usize] = free.len() as i64;
    for (&to, &from) in labels.output_spatial.iter().zip(&labels.input_spatial) {
        permutation[to as usize] = position(from)?;
    }
    let value = rebuild.transposed(product, &permutation);
    Some(("a convolution of single points is a dot", Rewrite::Value(value)))
}
