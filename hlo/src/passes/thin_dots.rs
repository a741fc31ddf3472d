//! Dots with few results, in forms that many invocations compute.

use super::build::Build;
use super::pass::Rewritten;
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::ir::{
    BinaryOp, Computation, ElementType, FloatFormat, InstrId, Instruction, Module, Op, PadDimension, Scalar, Shape,
};
use std::collections::BTreeMap;

/// A form of a dot that has as many products to add as before, and more to do it with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DotForm {
    /// Products of a matrix and a vector that is broadcast, reduced: of a dot one operand of which has no free dimension with more than one index.
    Reduced,
    /// Sums of so many stretches of the products each, side by side, and then the sums of these in their order (split-K). Where the number divides the extent of no contracting dimension, zeros fill one up.
    Split(i64),
}

/// Rewrites the dots that `form_of` names a form for. Products and sums are of the result's type, or `f32` for narrower floats; so results are those of the dot in another order of summation.
///
/// Dots that cannot have the form stay as they are.
pub fn thin_dots(module: &Module, form_of: &dyn Fn(&Computation, InstrId) -> Option<DotForm>) -> Rewritten {
    let mut forms: BTreeMap<(&str, &str), DotForm> = BTreeMap::new();
    for computation in module.computations.values() {
        for (id, instruction) in computation.instructions.iter() {
            if matches!(instruction.op, Op::Dot { .. })
                && let Some(form) = form_of(computation, id)
            {
                forms.insert((&computation.name, &instruction.name), form);
            }
        }
    }
    if forms.is_empty() {
        return Rewritten { module: module.clone(), changes: Vec::new() };
    }
    rewrite_module(module, &mut |rebuild, candidate| {
        let place = (rebuild.source.name.as_str(), candidate.name.as_str());
        match forms.get(&place)? {
            DotForm::Reduced => reduced(rebuild, candidate),
            DotForm::Split(parts) => split(rebuild, candidate, *parts),
        }
    })
}

/// One operand of a dot.
struct Side<'c> {
    value: InstrId,
    extents: Vec<i64>,
    batch: &'c [i64],
    contracting: &'c [i64],
}

impl Side<'_> {
    /// The dimensions that are its own.
    fn free(&self) -> Vec<i64> {
        let is_free = |at: &i64| !self.batch.contains(at) && !self.contracting.contains(at);
        (0..self.extents.len() as i64).filter(is_free).collect()
    }

    fn is_vector(&self) -> bool {
        self.free().iter().all(|dimension| self.extents[*dimension as usize] == 1)
    }
}

fn sides<'c>(rebuild: &Rebuild<'_>, candidate: &'c Instruction) -> Option<[Side<'c>; 2]> {
    let Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. } = &candidate.op
    else {
        return None;
    };
    let [left, right] = candidate.operands[..] else { return None };
    let side =
        |value, batch, contracting| Side { value, extents: rebuild.array(value).extents.clone(), batch, contracting };
    Some([side(left, lhs_batch_dims, lhs_contracting_dims), side(right, rhs_batch_dims, rhs_contracting_dims)])
}

/// The zero that products of a dot are added to, of the type that they are added in; `None` for types that have no such form.
fn zero(result: ElementType) -> Option<Scalar> {
    use ElementType::{C64, C128, F32, F64, S32, S64, U32, U64};
    match result {
        S32 | U32 | F32 | S64 | U64 | F64 | C64 | C128 => Some(Scalar::from_bits(0, result)),
        narrow => FloatFormat::of(narrow).map(|_| Scalar::F32(0.0)),
    }
}

/// The sums of a value along dimensions, from a zero of its type on.
fn summed(rebuild: &mut Rebuild<'_>, value: InstrId, zero: Scalar, dimensions: &[i64]) -> InstrId {
    let mut dimensions = dimensions.to_vec();
    dimensions.sort_unstable();
    rebuild.reduced((BinaryOp::Add, "sum"), value, zero, &dimensions)
}

fn reduced(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let result = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?.clone();
    let [left, right] = sides(rebuild, candidate)?;
    let (matrix, vector) = match (left.is_vector(), right.is_vector()) {
        (_, true) => (left, right),
        (true, false) => (right, left),
        (false, false) => return None,
    };
    // For each dimension of the matrix that the vector has, that of the vector.
    let common = [(matrix.batch, vector.batch), (matrix.contracting, vector.contracting)];
    let mut common: Vec<(i64, i64)> =
        common.iter().flat_map(|(own, other)| own.iter().copied().zip(other.iter().copied())).collect();
    common.sort_unstable();
    let order: Vec<i64> = common.iter().map(|(_, of_vector)| *of_vector).chain(vector.free()).collect();
    let zero = zero(result.element_type)?;
    let ty = zero.element_type();
    let value = rebuild.transposed(vector.value, &order);
    let extents = common.iter().map(|(own, _)| matrix.extents[*own as usize]).collect();
    let value = rebuild.reshaped(value, extents);
    let value = rebuild.converted(value, ty);
    let broadcast = Op::Broadcast { dimensions: common.iter().map(|(own, _)| *own).collect() };
    let value = rebuild.add(Shape::array(ty, matrix.extents.clone()), broadcast, vec![value]);
    let own = rebuild.converted(matrix.value, ty);
    let products = rebuild.binary(BinaryOp::Multiply, own, value);
    let sums = summed(rebuild, products, zero, matrix.contracting);
    let free = matrix.free();
    let left_over: Vec<i64> =
        (0..matrix.extents.len() as i64).filter(|dimension| !matrix.contracting.contains(dimension)).collect();
    let wanted = matrix.batch.iter().chain(&free);
    let order: Vec<i64> =
        wanted.filter_map(|wanted| left_over.iter().position(|own| own == wanted)).map(|place| place as i64).collect();
    let sums = rebuild.transposed(sums, &order);
    let sums = rebuild.reshaped(sums, result.extents);
    let sums = rebuild.converted(sums, result.element_type);
    Some(("a dot with a vector is a reduction of products", Rewrite::Value(sums)))
}

fn split(rebuild: &mut Rebuild<'_>, candidate: &Instruction, parts: i64) -> Option<Rule> {
    let result = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?.clone();
    let Op::Dot { operand_precision, algorithm, .. } = &candidate.op else { return None };
    if parts <= 1 {
        return None;
    }
    let [left, right] = sides(rebuild, candidate)?;
    let zero = zero(result.element_type)?;
    let extents: Vec<i64> = left.contracting.iter().map(|dimension| left.extents[*dimension as usize]).collect();
    let divided = extents.iter().position(|extent| *extent > 0 && extent % parts == 0);
    let chosen = divided.or_else(|| extents.iter().position(|extent| *extent > parts))?;
    // An operand with the dimension cut in two, the first of which is one of the batch.
    let mut cut = |side: &Side<'_>| {
        let at = side.contracting[chosen];
        let value = filled_up(rebuild, side, at as usize, parts);
        let mut extents = rebuild.array(value).extents.clone();
        extents[at as usize] /= parts;
        extents.insert(at as usize, parts);
        let moved = |dimension: &i64| dimension + i64::from(*dimension >= at);
        let batch: Vec<i64> = [at].into_iter().chain(side.batch.iter().map(moved)).collect();
        let contracting: Vec<i64> = side.contracting.iter().map(moved).collect();
        (rebuild.reshaped(value, extents), batch, contracting)
    };
    let (lhs, lhs_batch_dims, lhs_contracting_dims) = cut(&left);
    let (rhs, rhs_batch_dims, rhs_contracting_dims) = cut(&right);
    let op = Op::Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: operand_precision.clone(),
        algorithm: *algorithm,
    };
    let extents: Vec<i64> = [parts].into_iter().chain(result.extents.iter().copied()).collect();
    let partial = rebuild.add(Shape::array(zero.element_type(), extents), op, vec![lhs, rhs]);
    let sums = summed(rebuild, partial, zero, &[0]);
    let sums = rebuild.converted(sums, result.element_type);
    Some(("a dot with few results is the sum of dots over stretches", Rewrite::Value(sums)))
}

/// An operand with zeros behind what it has along a dimension, so that a number divides its extent.
fn filled_up(rebuild: &mut Rebuild<'_>, side: &Side<'_>, at: usize, parts: i64) -> InstrId {
    let lacking = side.extents[at].wrapping_neg().rem_euclid(parts);
    if lacking == 0 {
        return side.value;
    }
    let ty = rebuild.element_type(side.value);
    let mut padding = vec![PadDimension::default(); side.extents.len()];
    padding[at].high = lacking;
    let mut extents = side.extents.clone();
    extents[at] += lacking;
    let zero = rebuild.scalar(Scalar::from_bits(0, ty));
    rebuild.add(Shape::array(ty, extents), Op::Pad { padding }, vec![side.value, zero])
}
