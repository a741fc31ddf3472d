//! Random reductions over dimensions and windows, sorts, scans and batch normalizations.

use super::body::{Body, ComputationKind};
use super::region::{combiner, comparator, preference, results, types, yielded};
use crate::ir::{ArrayShape, ElementType, Epsilon, InstrId, Op, Shape, Window, WindowDimension};

/// Inputs of the same extents, their types, and an initial value for each behind them.
pub(super) fn inputs(body: &mut Body<'_>) -> Option<(Vec<InstrId>, Vec<ElementType>)> {
    let least = usize::from(body.world.rng.chance(90));
    let first = body.array(|_| true, least)?;
    let array = body.array_shape(first);
    let types = types(body, array.element_type);
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    for &element_type in &types {
        operands.push(body.operand(element_type, &[]));
    }
    Some((operands, types))
}

pub(super) fn reduce(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, types) = inputs(body)?;
    let rank = body.array_shape(operands[0]).rank();
    let count = body.world.rng.below(rank + 1);
    let dimensions = body.world.rng.dimensions(rank, count);
    let dimensions = dimensions.into_iter().map(|dimension| dimension as i64).collect();
    let to_apply = combiner(body, &types);
    body.emit_as(Op::Reduce { dimensions, to_apply }, operands, results(&types))
}

/// A window over dimensions of these extents that covers more than one element along at most three of them.
pub(super) fn window(body: &mut Body<'_>, extents: &[i64]) -> Window {
    let rng = &mut body.world.rng;
    let wide = rng.dimensions(extents.len(), 3);
    let is_dilated = rng.chance(30);
    let entry = |(dimension, &extent): (usize, &i64)| {
        if !wide.contains(&dimension) || rng.chance(25) {
            return WindowDimension::default();
        }
        WindowDimension {
            size: rng.between(1, (extent + 1).clamp(1, 3)),
            stride: if rng.chance(60) { 1 } else { rng.between(1, 3) },
            padding_low: if rng.chance(60) { 0 } else { rng.between(-1, 2) },
            padding_high: if rng.chance(60) { 0 } else { rng.between(-1, 2) },
            window_dilation: if is_dilated { rng.between(1, 2) } else { 1 },
            base_dilation: if is_dilated { rng.between(1, 2) } else { 1 },
            reversal: false,
        }
    };
    Window { dimensions: extents.iter().enumerate().map(entry).collect() }
}

/// How many positions the window has along a dimension of this extent.
fn positions(extent: i64, window: &WindowDimension) -> i64 {
    let dilated = |extent: i64, dilation: i64| if extent == 0 { 0 } else { (extent - 1) * dilation + 1 };
    let room = dilated(extent, window.base_dilation) + window.padding_low + window.padding_high
        - dilated(window.size, window.window_dilation);
    if room < 0 { 0 } else { room / window.stride + 1 }
}

pub(super) fn reduce_window(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, types) = inputs(body)?;
    let extents = body.array_shape(operands[0]).extents;
    let window = window(body, &extents);
    let to_apply = combiner(body, &types);
    body.emit_as(Op::ReduceWindow { window, to_apply }, operands, results(&types))
}

pub(super) fn select_and_scatter(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 1)?;
    let array = body.array_shape(operand);
    let window = window(body, &array.extents);
    let source: Vec<i64> =
        array.extents.iter().zip(&window.dimensions).map(|(&extent, entry)| positions(extent, entry)).collect();
    if source.iter().product::<i64>() > body.elements() {
        return None;
    }
    let source = body.operand(array.element_type, &source);
    let initial = body.operand(array.element_type, &[]);
    let select = preference(body, array.element_type);
    let scatter = combiner(body, &[array.element_type]);
    let op = Op::SelectAndScatter { window, select, scatter };
    body.emit(op, vec![operand, source, initial], array.element_type)
}

pub(super) fn sort(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 1)?;
    let array = body.array_shape(first);
    let types = types(body, array.element_type);
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    let dimension = body.world.rng.below(array.rank()) as i64;
    let to_apply = comparator(body, &types);
    // Without stability XLA leaves open which of two equal elements comes first.
    let is_stable = !body.world.options.disorderly || body.world.rng.chance(50);
    body.emit_as(Op::Sort { dimension, is_stable, to_apply }, operands, results(&types))
}

pub(super) fn top_k(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|element_type| !element_type.is_complex(), 1)?;
    let array = body.array_shape(operand);
    let last = array.extents.last().copied()?;
    let k = body.world.rng.between(0, last);
    let largest = body.world.rng.chance(70);
    let declared = Shape::Tuple(vec![Shape::scalar(array.element_type), Shape::scalar(ElementType::S32)]);
    body.emit_as(Op::TopK { k, largest }, vec![operand], declared)
}

/// Inputs and outputs of one length along the dimension; what is carried has any extents.
pub(super) fn scan(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 1)?;
    let array = body.array_shape(first);
    let dimension = body.world.rng.below(array.rank());
    let length = array.extents[dimension];
    let mut operands = vec![first];
    if body.world.rng.chance(30) {
        let element_type = body.element_type(|_| true)?;
        operands.push(body.operand(element_type, &array.extents));
    }
    let mut slices: Vec<Shape> = operands.iter().map(|&input| slice(&body.array_shape(input), dimension)).collect();
    // Outputs of the inputs' extents, and of any type.
    let mut outputs = Vec::new();
    for _ in 0..body.world.rng.below(3) {
        outputs.push(slice(&ArrayShape::new(body.element_type(|_| true)?, array.extents.clone()), dimension));
    }
    let carries = usize::from(outputs.is_empty()) + body.world.rng.below(2);
    let mut carried = Vec::with_capacity(carries);
    for _ in 0..carries {
        let element_type = body.element_type(|_| true)?;
        let extents = body.extents(0);
        operands.push(body.operand(element_type, &extents));
        carried.push(Shape::array(element_type, extents));
    }
    slices.extend(carried.iter().cloned());

    let mut inner = body.nested(ComputationKind::FixedSignature);
    for shape in slices {
        inner.parameter(shape);
    }
    let count = 1 + inner.world.rng.below(5);
    inner.grow(count);
    let values = outputs.iter().chain(&carried).map(|shape| inner.value(shape)).collect();
    let root = yielded(&mut inner, values);
    let to_apply = inner.finish("step", root);

    let whole = |slice: &Shape| {
        let mut array = slice.as_array().cloned()?;
        array.extents.insert(dimension, length);
        Some(Shape::Array(array))
    };
    let mut results = outputs.iter().map(whole).chain(carried.into_iter().map(Some)).collect::<Option<Vec<Shape>>>()?;
    let declared = if results.len() == 1 { results.remove(0) } else { Shape::Tuple(results) };
    let op = Op::Scan {
        dimension: dimension as i64,
        num_carries: carries as i64,
        is_reverse: body.world.rng.chance(30),
        is_associative: false,
        to_apply,
    };
    body.emit_as(op, operands, declared)
}

/// The array at one index along a dimension.
fn slice(array: &ArrayShape, dimension: usize) -> Shape {
    let mut extents = array.extents.clone();
    extents.remove(dimension);
    Shape::array(array.element_type, extents)
}

/// The attributes of an operation, and the operands: one of any extents, and so many that have one element for each feature.
struct Normalization {
    epsilon: Epsilon,
    feature_index: i64,
    array: ArrayShape,
    operands: Vec<InstrId>,
    /// The shape of what has one element for each feature.
    features: Shape,
}

fn normalization(body: &mut Body<'_>, count: usize) -> Option<Normalization> {
    let operand = body.array(ElementType::is_float, 1)?;
    let array = body.array_shape(operand);
    let feature = body.world.rng.below(array.rank());
    let extents = [array.extents[feature]];
    let mut operands = vec![operand];
    for _ in 0..count {
        operands.push(body.operand(array.element_type, &extents));
    }
    let epsilon = Epsilon(body.world.rng.choose(&[0.0, 1e-5, 0.001, 1.0])?);
    let features = Shape::array(array.element_type, extents);
    Some(Normalization { epsilon, feature_index: feature as i64, array, operands, features })
}

pub(super) fn batch_norm_training(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, operands, features } = normalization(body, 2)?;
    let declared = Shape::Tuple(vec![Shape::Array(array), features.clone(), features]);
    body.emit_as(Op::BatchNormTraining { epsilon, feature_index }, operands, declared)
}

pub(super) fn batch_norm_inference(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, operands, .. } = normalization(body, 4)?;
    body.emit_as(Op::BatchNormInference { epsilon, feature_index }, operands, Shape::Array(array))
}

pub(super) fn batch_norm_gradient(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, mut operands, features } = normalization(body, 3)?;
    operands.push(body.operand(array.element_type, &array.extents));
    let declared = Shape::Tuple(vec![Shape::Array(array), features.clone(), features]);
    body.emit_as(Op::BatchNormGrad { epsilon, feature_index }, operands, declared)
}
