//! Random dots and convolutions.

use super::body::Body;
use super::reduction::window;
use super::shape::MAX_RANK;
use crate::ir::{ConvolutionDimensions, ConvolutionKind, DotAlgorithm, ElementType, InstrId, Op, Precision};

/// Whether products of two types can be added up: both are integers (or `pred`), floats or complex numbers.
fn is_alike(one: ElementType, other: ElementType) -> bool {
    (one.is_float(), one.is_complex()) == (other.is_float(), other.is_complex())
}

/// The type itself most of the time, else another one of its class.
pub(super) fn alike(body: &mut Body<'_>, element_type: ElementType) -> ElementType {
    let other = if body.world.rng.chance(15) { body.element_type(|other| is_alike(element_type, other)) } else { None };
    other.unwrap_or(element_type)
}

/// A precision for each operand, or none.
pub(super) fn precisions(body: &mut Body<'_>) -> Vec<Precision> {
    if body.world.rng.chance(80) {
        return Vec::new();
    }
    (0..2).filter_map(|_| body.world.rng.choose(Precision::ALL)).collect()
}

/// The dimension numbers of an operand on the right whose further dimensions are its own.
struct Right {
    operand: InstrId,
    element_type: ElementType,
    batch: Vec<i64>,
    contracting: Vec<i64>,
}

/// An operand that has these batch and contracting extents in any order, and some more dimensions.
fn right(body: &mut Body<'_>, element_type: ElementType, batch: &[i64], contracting: &[i64]) -> Option<Right> {
    let rank_left = MAX_RANK.saturating_sub(batch.len() + contracting.len());
    let own = body.world.rng.weighted(&[25, 50, 25]).min(rank_left);
    let own: Vec<i64> = (0..own).map(|_| body.world.rng.extent(3)).collect();
    let all: Vec<i64> = batch.iter().chain(contracting).chain(&own).copied().collect();
    // Dimension `order[i]` of the operand has the i-th of all extents.
    let order = body.world.rng.dimensions(all.len(), all.len());
    let mut extents = vec![0; all.len()];
    order.iter().zip(&all).for_each(|(&dimension, &extent)| extents[dimension] = extent);
    let numbers: Vec<i64> = order.into_iter().map(|dimension| dimension as i64).collect();
    let element_type = alike(body, element_type);
    let operand = body.small_operand(element_type, &extents)?;
    let (batch_dims, rest) = numbers.split_at(batch.len());
    let contracting = rest[..contracting.len()].to_vec();
    Some(Right { operand, element_type, batch: batch_dims.to_vec(), contracting })
}

pub(super) fn dot(body: &mut Body<'_>) -> Option<InstrId> {
    let left = body.array(|_| true, 0)?;
    let array = body.array_shape(left);
    let rng = &mut body.world.rng;
    let batches = rng.weighted(&[55, 35, 10]).min(array.rank());
    let sums = rng.weighted(&[15, 65, 20]).min(array.rank() - batches);
    let chosen = rng.dimensions(array.rank(), batches + sums);
    let extents: Vec<i64> = chosen.iter().map(|&dimension| array.extents[dimension]).collect();
    let right = right(body, array.element_type, &extents[..batches], &extents[batches..])?;
    let numbers: Vec<i64> = chosen.into_iter().map(|dimension| dimension as i64).collect();
    let algorithm = if body.world.rng.chance(10) { body.world.rng.choose(DotAlgorithm::ALL) } else { None };
    let op = Op::Dot {
        lhs_batch_dims: numbers[..batches].to_vec(),
        lhs_contracting_dims: numbers[batches..].to_vec(),
        rhs_batch_dims: right.batch,
        rhs_contracting_dims: right.contracting,
        operand_precision: precisions(body),
        algorithm,
    };
    let result = alike(body, right.element_type);
    body.emit(op, vec![left, right.operand], result)
}

/// The dot product of two operands with these batch and contracting dimensions.
pub(super) fn dot_of(
    body: &mut Body<'_>,
    operands: [InstrId; 2],
    [lhs_batch_dims, rhs_batch_dims]: [Vec<i64>; 2],
    [lhs_contracting_dims, rhs_contracting_dims]: [Vec<i64>; 2],
    element_type: ElementType,
) -> Option<InstrId> {
    let op = Op::Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: Vec::new(),
        algorithm: None,
    };
    body.emit(op, operands.to_vec(), element_type)
}

/// With a free, a summed or a batch dimension cut into groups, whose sizes are one list.
pub(super) fn ragged_dot(body: &mut Body<'_>) -> Option<InstrId> {
    let element_type = body.element_type(|_| true)?;
    let rng = &mut body.world.rng;
    let mut extent = || rng.extent(3);
    let (batch, rows, sum, columns, groups) = (extent(), extent(), extent(), extent(), extent());
    // Left operands are [batch, rows, sum], right ones [batch, sum, columns], with the groups before where rows are cut.
    let cut = body.world.rng.below(3);
    let right_extents = if cut == 1 { vec![batch, groups, sum, columns] } else { vec![batch, sum, columns] };
    let left = body.small_operand(element_type, &[batch, rows, sum])?;
    let other = alike(body, element_type);
    let right = body.small_operand(other, &right_extents)?;
    let index = body.index_type();
    let sizes = body.operand(index, &[groups]);
    let op = Op::RaggedDot {
        lhs_batch_dims: vec![0],
        lhs_contracting_dims: vec![2],
        rhs_batch_dims: vec![0],
        rhs_contracting_dims: vec![if cut == 1 { 2 } else { 1 }],
        lhs_ragged_dims: vec![cut as i64],
        rhs_group_dims: if cut == 1 { vec![1] } else { Vec::new() },
        operand_precision: precisions(body),
    };
    let result = alike(body, other);
    body.emit(op, vec![left, right, sizes], result)
}

/// Of floats, with a scale for each of some blocks of elements.
pub(super) fn scaled_dot(body: &mut Body<'_>) -> Option<InstrId> {
    let left = body.array(ElementType::is_float, 1)?;
    let array = body.array_shape(left);
    let contracting = body.world.rng.below(array.rank());
    let right = right(body, array.element_type, &[], &array.extents[contracting..=contracting])?;
    let mut operands = vec![left, right.operand];
    for scaled in [left, right.operand] {
        let extents = scales(body, scaled);
        let element_type = body.element_type(ElementType::is_float)?;
        operands.push(body.operand(element_type, &extents));
    }
    let op = Op::ScaledDot {
        lhs_batch_dims: Vec::new(),
        lhs_contracting_dims: vec![contracting as i64],
        rhs_batch_dims: Vec::new(),
        rhs_contracting_dims: right.contracting,
        operand_precision: precisions(body),
        algorithm: None,
    };
    let result = alike(body, right.element_type);
    body.emit(op, operands, result)
}

/// As many scales as there are blocks of one size along each dimension, or one for the whole operand.
fn scales(body: &mut Body<'_>, scaled: InstrId) -> Vec<i64> {
    let array = body.array_shape(scaled);
    if body.world.rng.chance(25) {
        return Vec::new();
    }
    let rng = &mut body.world.rng;
    let count = |&extent: &i64| {
        let divisors: Vec<i64> = (1..=extent.max(1)).filter(|divisor| extent % divisor == 0).collect();
        rng.choose(&divisors).unwrap_or(1)
    };
    array.extents.iter().map(count).collect()
}

/// The roles of dimensions: two with names, and space, anywhere.
struct Roles {
    named: [usize; 2],
    space: Vec<usize>,
}

impl Roles {
    fn new(body: &mut Body<'_>, space: usize) -> Self {
        let all = body.world.rng.dimensions(space + 2, space + 2);
        Roles { named: [all[0], all[1]], space: all[2..].to_vec() }
    }

    /// The extents of an array whose dimensions have these roles.
    fn extents(&self, named: [i64; 2], space: &[i64]) -> Vec<i64> {
        let mut extents = vec![0; space.len() + 2];
        self.named.iter().zip(named).for_each(|(&dimension, extent)| extents[dimension] = extent);
        self.space.iter().zip(space).for_each(|(&dimension, &extent)| extents[dimension] = extent);
        extents
    }

    fn space(&self) -> Vec<i64> {
        self.space.iter().map(|&dimension| dimension as i64).collect()
    }

    fn named(&self, number: usize) -> i64 {
        self.named[number] as i64
    }
}

pub(super) fn convolution(body: &mut Body<'_>) -> Option<InstrId> {
    let input = body.array(|_| true, 2)?;
    let array = body.array_shape(input);
    let space = array.rank() - 2;
    let (of_input, of_kernel, of_output) = (Roles::new(body, space), Roles::new(body, space), Roles::new(body, space));
    let [batch, features] = of_input.named.map(|dimension| array.extents[dimension]);
    let (feature_group_count, batch_group_count) = match body.world.rng.below(3) {
        0 => (divisor(body, features), 1),
        1 => (1, divisor(body, batch)),
        _ => (1, 1),
    };
    let base: Vec<i64> = of_input.space.iter().map(|&dimension| array.extents[dimension]).collect();
    let mut window = window(body, &base);
    window.dimensions.iter_mut().for_each(|entry| entry.reversal = body.world.rng.chance(15));
    let sizes: Vec<i64> = window.dimensions.iter().map(|entry| entry.size).collect();
    let outputs = feature_group_count * batch_group_count * body.world.rng.extent(2);
    let kernel = of_kernel.extents([features / feature_group_count, outputs], &sizes);
    if kernel.iter().product::<i64>() > body.elements() {
        return None;
    }
    let kernel_type = alike(body, array.element_type);
    let kernel = body.operand(kernel_type, &kernel);
    let dim_labels = ConvolutionDimensions {
        input_batch: of_input.named(0),
        input_feature: of_input.named(1),
        input_spatial: of_input.space(),
        kernel_input_feature: of_kernel.named(0),
        kernel_output_feature: of_kernel.named(1),
        kernel_spatial: of_kernel.space(),
        output_batch: of_output.named(0),
        output_feature: of_output.named(1),
        output_spatial: of_output.space(),
    };
    let op = Op::Convolution {
        window,
        dim_labels: Box::new(dim_labels),
        feature_group_count,
        batch_group_count,
        operand_precision: precisions(body),
        convolution_kind: ConvolutionKind::Unset,
        sparsity_config: None,
    };
    let result = alike(body, kernel_type);
    body.emit(op, vec![input, kernel], result)
}

/// A number of groups into which an extent can be cut.
fn divisor(body: &mut Body<'_>, extent: i64) -> i64 {
    let divisors: Vec<i64> = (2..=extent.min(6)).filter(|divisor| extent % divisor == 0).collect();
    body.world.rng.choose(&divisors).unwrap_or(1)
}
