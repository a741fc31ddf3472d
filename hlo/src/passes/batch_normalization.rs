//! Expansion of batch normalization into reductions.

use super::build::{Build, Callee};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{BinaryOp, ComputationId, ElementType, InstrId, Instruction, Module, Op, Scalar, Shape, UnaryOp};

/// Replaces `batch-norm-training`, `batch-norm-inference` and `batch-norm-grad` by sums for each feature and what is computed of them element by element, the variance as the mean of
/// the squares of what differs from the mean. Floats of at most 16 bits are computed in `f32`. Results differ from those of the operation by rounding.
///
/// Arrays of dynamic extents stay as they are.
pub struct BatchNormalization;

impl Pass for BatchNormalization {
    fn name(&self) -> &'static str {
        "expand-batch-normalization"
    }

    fn about(&self) -> &'static str {
        "writes batch normalization out as sums; changes rounding"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::BatchNormTraining { epsilon, feature_index }
            | Op::BatchNormInference { epsilon, feature_index }
            | Op::BatchNormGrad { epsilon, feature_index } => expand(rebuild, candidate, epsilon.0, *feature_index),
            _ => None,
        }))
    }
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, epsilon: f32, feature: i64) -> Option<Rule> {
    let arrays = candidate.operands.iter().map(|operand| rebuild.array(*operand));
    if arrays.clone().any(|array| !array.dynamic.is_empty()) || !candidate.shape.is_static() {
        return None;
    }
    let array = rebuild.array(candidate.operands[0]).clone();
    let element_type = if array.element_type.bits() <= 16 { ElementType::F32 } else { array.element_type };
    let sum = sum(rebuild, element_type);
    let given: Vec<InstrId> =
        candidate.operands.iter().map(|operand| rebuild.converted(*operand, element_type)).collect();
    let mut features = Features { rebuild, extents: array.extents, feature, element_type, sum };
    let made = match (&candidate.op, &given[..]) {
        (Op::BatchNormTraining { .. }, &[x, scale, offset]) => {
            let mean = features.mean(x);
            let apart = features.apart(x, mean);
            let squares = features.rebuild.binary(BinaryOp::Multiply, apart, apart);
            let variance = features.mean(squares);
            vec![features.normalized(apart, variance, epsilon, (scale, offset)), mean, variance]
        }
        (Op::BatchNormInference { .. }, &[x, scale, offset, mean, variance]) => {
            let apart = features.apart(x, mean);
            vec![features.normalized(apart, variance, epsilon, (scale, offset))]
        }
        (Op::BatchNormGrad { .. }, &[x, scale, mean, variance, gradient]) => {
            features.gradients(x, (scale, mean, variance, epsilon), gradient)
        }
        _ => return None,
    };
    let made: Vec<InstrId> = made.into_iter().map(|value| rebuild.converted(value, array.element_type)).collect();
    const RULE: &str = "batch normalization is made of sums for each feature";
    Some((RULE, if let [value] = made[..] { Rewrite::Value(value) } else { Rewrite::Op(Op::Tuple, made) }))
}

/// The region of a sum.
fn sum(rebuild: &mut Rebuild<'_>, element_type: ElementType) -> ComputationId {
    let mut callee = Callee::new("sum", rebuild.span());
    let [left, right] = [0, 1].map(|_| callee.parameter(Shape::scalar(element_type)));
    let root = callee.binary(BinaryOp::Add, left, right);
    rebuild.shared_computation(callee.finish(root))
}

/// Arrays of these extents, one dimension of which is that of features.
struct Features<'r, 'm> {
    rebuild: &'r mut Rebuild<'m>,
    extents: Vec<i64>,
    feature: i64,
    element_type: ElementType,
    sum: ComputationId,
}

impl Features<'_, '_> {
    fn number(&self, value: f64) -> Scalar {
        if self.element_type == ElementType::F64 { Scalar::F64(value) } else { Scalar::F32(value as f32) }
    }

    /// A number for each feature as one for each of its elements.
    fn spread(&mut self, of_features: InstrId) -> InstrId {
        self.rebuild.broadcast(of_features, &[self.feature], self.extents.clone())
    }

    /// For each feature the sum of its elements.
    fn sums(&mut self, elements: InstrId) -> InstrId {
        let zero = self.number(0.0);
        let zero = self.rebuild.scalar(zero);
        let dimensions = (0..self.extents.len() as i64).filter(|dimension| *dimension != self.feature).collect();
        let shape = Shape::array(self.element_type, vec![self.extents[self.feature as usize]]);
        self.rebuild.add(shape, Op::Reduce { dimensions, to_apply: self.sum }, vec![elements, zero])
    }

    /// Numbers for each feature divided by how many elements it has.
    fn of_each(&mut self, sums: InstrId) -> InstrId {
        let others = self.extents.iter().zip(0i64..).filter(|(_, dimension)| *dimension != self.feature);
        let size: i64 = others.map(|(extent, _)| extent).product();
        let size = self.everywhere(size as f64, sums);
        self.rebuild.binary(BinaryOp::Divide, sums, size)
    }

    fn mean(&mut self, elements: InstrId) -> InstrId {
        let sums = self.sums(elements);
        self.of_each(sums)
    }

    fn everywhere(&mut self, value: f64, like: InstrId) -> InstrId {
        let extents = self.rebuild.array(like).extents.clone();
        let value = self.number(value);
        let value = self.rebuild.scalar(value);
        self.rebuild.broadcast(value, &[], extents)
    }

    /// How far elements are from the mean of their feature.
    fn apart(&mut self, x: InstrId, mean: InstrId) -> InstrId {
        let mean = self.spread(mean);
        self.rebuild.binary(BinaryOp::Subtract, x, mean)
    }

    /// The deviation of each feature, by its variance.
    fn deviation(&mut self, variance: InstrId, epsilon: f32) -> (InstrId, InstrId) {
        let epsilon = self.everywhere(f64::from(epsilon), variance);
        let variance = self.rebuild.binary(BinaryOp::Add, variance, epsilon);
        (variance, self.rebuild.unary(UnaryOp::Sqrt, variance))
    }

    fn normalized(
        &mut self,
        apart: InstrId,
        variance: InstrId,
        epsilon: f32,
        (scale, offset): (InstrId, InstrId),
    ) -> InstrId {
        let (_, deviation) = self.deviation(variance, epsilon);
        let [deviation, scale, offset] = [deviation, scale, offset].map(|value| self.spread(value));
        let value = self.rebuild.binary(BinaryOp::Divide, apart, deviation);
        let value = self.rebuild.binary(BinaryOp::Multiply, value, scale);
        self.rebuild.binary(BinaryOp::Add, value, offset)
    }

    /// The gradients by the operand, by the scales and by the offsets:
    /// `scale / deviation * (g - mean(g) - (x - m) * mean(g * (x - m)) / variance)`, `sum(g * (x - m)) / deviation` and `sum(g)`.
    fn gradients(
        &mut self,
        x: InstrId,
        (scale, mean, variance, epsilon): (InstrId, InstrId, InstrId, f32),
        gradient: InstrId,
    ) -> Vec<InstrId> {
        let (variance, deviation) = self.deviation(variance, epsilon);
        let apart = self.apart(x, mean);
        let products = self.rebuild.binary(BinaryOp::Multiply, gradient, apart);
        let (offsets, products) = (self.sums(gradient), self.sums(products));
        let scales = self.rebuild.binary(BinaryOp::Divide, products, deviation);
        let [gradients, slopes] = [offsets, products].map(|sums| self.of_each(sums));
        let slopes = self.rebuild.binary(BinaryOp::Divide, slopes, variance);
        let factor = self.rebuild.binary(BinaryOp::Divide, scale, deviation);
        let [gradients, slopes, factor] = [gradients, slopes, factor].map(|value| self.spread(value));
        let along = self.rebuild.binary(BinaryOp::Multiply, apart, slopes);
        let value = self.rebuild.binary(BinaryOp::Subtract, gradient, gradients);
        let value = self.rebuild.binary(BinaryOp::Subtract, value, along);
        vec![self.rebuild.binary(BinaryOp::Multiply, value, factor), scales, offsets]
    }
}
