//! Batch normalization.

use super::body::Body;
use crate::ir::{ArrayShape, ElementType, Epsilon, InstrId, Op, Shape};

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

pub(super) fn training(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, operands, features } = normalization(body, 2)?;
    let declared = Shape::Tuple(vec![Shape::Array(array), features.clone(), features]);
    body.emit_as(Op::BatchNormTraining { epsilon, feature_index }, operands, declared)
}

pub(super) fn inference(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, operands, .. } = normalization(body, 4)?;
    body.emit_as(Op::BatchNormInference { epsilon, feature_index }, operands, Shape::Array(array))
}

pub(super) fn gradient(body: &mut Body<'_>) -> Option<InstrId> {
    let Normalization { epsilon, feature_index, array, mut operands, features } = normalization(body, 3)?;
    operands.push(body.operand(array.element_type, &array.extents));
    let declared = Shape::Tuple(vec![Shape::Array(array), features.clone(), features]);
    body.emit_as(Op::BatchNormGrad { epsilon, feature_index }, operands, declared)
}
