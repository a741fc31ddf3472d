//! Random computations that are applied to elements: reducers, comparators, selectors.

use super::body::{Body, ComputationKind};
use super::elementwise::comparison;
use crate::ir::{
    BinaryOp, ComparisonDirection, ComparisonType, ComputationId, ElementType, InstrId, Op, Opcode, Shape,
};
use crate::shape::binary_accepts;

/// A computation that combines `N` accumulators and `N` elements of these types.
#[derive(Clone)]
pub(super) struct Combiner {
    id: ComputationId,
    types: Vec<ElementType>,
    depth: usize,
}

/// How many inputs an operation of any number of them has, and their types: that of the first, and others.
pub(super) fn types(body: &mut Body<'_>, first: ElementType) -> Vec<ElementType> {
    let mut types = vec![first];
    let further = body.world.rng.weighted(&[65, 25, 10]);
    for _ in 0..further.min(body.world.options.inputs.saturating_sub(1)) {
        types.extend(body.element_type(|_| true));
    }
    types
}

/// One scalar, or a tuple of them: the results of an operation of one or several inputs, but for their extents.
pub(super) fn results(types: &[ElementType]) -> Shape {
    match types {
        [one] => Shape::scalar(*one),
        several => Shape::Tuple(several.iter().map(|&element_type| Shape::scalar(element_type)).collect()),
    }
}

/// A computation of scalars, with its parameters.
pub(super) fn region<'b>(
    body: &'b mut Body<'_>,
    types: impl IntoIterator<Item = ElementType>,
) -> (Body<'b>, Vec<InstrId>) {
    let mut region = body.nested(ComputationKind::Region);
    let parameters = types.into_iter().map(|element_type| region.parameter(Shape::scalar(element_type))).collect();
    (region, parameters)
}

/// The value of a region: one scalar, or a tuple of them.
pub(super) fn yielded(region: &mut Body<'_>, values: Vec<InstrId>) -> InstrId {
    match values[..] {
        [one] => one,
        _ => {
            let shape = Shape::Tuple(values.iter().map(|&value| region.shape(value).without_layout()).collect());
            region.push(Op::Tuple, values, shape)
        }
    }
}

/// A computation that combines accumulators and elements of these types.
pub(super) fn combiner(body: &mut Body<'_>, types: &[ElementType]) -> ComputationId {
    let depth = body.depth + 1;
    let known: Vec<ComputationId> = (body.world.combiners.iter())
        .filter(|combiner| combiner.types == types && combiner.depth >= depth)
        .map(|combiner| combiner.id)
        .collect();
    if body.world.rng.chance(40)
        && let Some(id) = body.world.rng.choose(&known)
    {
        return id;
    }
    let options = &body.world.options;
    let is_disorderly = options.disorderly && !body.world.is_tame() && body.world.rng.chance(30);
    let (mut inner, parameters) = region(body, types.iter().chain(types).copied());
    let values = if is_disorderly {
        let count = 1 + inner.world.rng.below(5);
        inner.grow(count);
        types.iter().map(|&element_type| inner.operand(element_type, &[])).collect()
    } else {
        orderly(&mut inner, types, &parameters)
    };
    let root = yielded(&mut inner, values);
    let id = inner.finish("combine", root);
    body.world.combiners.push(Combiner { id, types: types.to_vec(), depth });
    let may_call = !is_disorderly && depth < body.world.options.nesting && body.world.is_asked(Opcode::Call);
    if may_call && body.world.rng.chance(20) { by_call(body, id, types) } else { id }
}

/// A computation that calls another one to combine accumulators and elements of these types.
fn by_call(body: &mut Body<'_>, to_apply: ComputationId, types: &[ElementType]) -> ComputationId {
    let (mut inner, parameters) = region(body, types.iter().chain(types).copied());
    let root = inner.push(Op::Call { to_apply }, parameters, results(types));
    inner.finish("combine", root)
}

/// JAX's argmax: the larger value, and of equal values the one of the lesser index; a NaN is larger than any number.
fn argmax(region: &mut Body<'_>, types: [ElementType; 2], parameters: &[InstrId; 4]) -> Vec<InstrId> {
    let &[a, i, b, j] = parameters;
    let mut pred =
        |op: Op, operands: [InstrId; 2]| region.push(op, operands.to_vec(), Shape::scalar(ElementType::Pred));
    let compare = |direction| Op::Compare { direction, order: None };
    let greater = pred(compare(ComparisonDirection::Gt), [a, b]);
    let is_nan = pred(compare(ComparisonDirection::Ne), [a, a]);
    let larger = pred(Op::Binary(BinaryOp::Or), [greater, is_nan]);
    let equal = pred(compare(ComparisonDirection::Eq), [a, b]);
    let before = pred(compare(ComparisonDirection::Lt), [i, j]);
    let first = pred(Op::Binary(BinaryOp::And), [equal, before]);
    let taken = pred(Op::Binary(BinaryOp::Or), [larger, first]);
    let value = region.push(Op::Select, vec![larger, a, b], Shape::scalar(types[0]));
    vec![value, region.push(Op::Select, vec![taken, i, j], Shape::scalar(types[1]))]
}

/// Sums, products and the like, or for several inputs all of those of which the first is greater.
fn orderly(region: &mut Body<'_>, types: &[ElementType], parameters: &[InstrId]) -> Vec<InstrId> {
    let (accumulators, elements) = parameters.split_at(types.len());
    let pairs = accumulators.iter().zip(elements).zip(types);
    if let (&[value, index], &[a, i, b, j]) = (types, parameters)
        && index.is_integer()
        && !value.is_complex()
        && region.world.rng.chance(60)
    {
        return argmax(region, [value, index], &[a, i, b, j]);
    }
    // Of equal ones the first, so that the order matters.
    if region.world.options.disorderly
        && !region.world.is_tame()
        && types.len() > 1
        && !types[0].is_complex()
        && region.world.rng.chance(60)
    {
        let order = total_order(types[0]);
        let op = Op::Compare { direction: ComparisonDirection::Ge, order };
        let chooser = region.push(op, vec![accumulators[0], elements[0]], Shape::scalar(ElementType::Pred));
        let chosen = pairs.map(|((&accumulator, &element), &element_type)| {
            region.push(Op::Select, vec![chooser, accumulator, element], Shape::scalar(element_type))
        });
        return chosen.collect();
    }
    let mut values = Vec::with_capacity(types.len());
    for ((&accumulator, &element), &element_type) in pairs {
        use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
        let fits = |op: &BinaryOp| has_value(*op, element_type);
        let ops: Vec<BinaryOp> = [Add, Multiply, Maximum, Minimum, And, Or, Xor].into_iter().filter(fits).collect();
        let op = region.world.rng.choose(&ops).unwrap_or(Add);
        let turned = region.world.rng.chance(30);
        let operands = if turned { vec![element, accumulator] } else { vec![accumulator, element] };
        values.push(region.push(Op::Binary(op), operands, Shape::scalar(element_type)));
    }
    values
}

/// The order of all floats, NaNs among them; of other types the usual one.
fn total_order(element_type: ElementType) -> Option<ComparisonType> {
    element_type.is_float().then_some(ComparisonType::TotalOrder)
}

/// A computation that compares elements: of each type two in turn.
pub(super) fn comparator(body: &mut Body<'_>, types: &[ElementType]) -> ComputationId {
    let is_disorderly = body.world.options.disorderly && body.world.rng.chance(20);
    let (mut inner, parameters) = region(body, types.iter().flat_map(|&element_type| [element_type; 2]));
    let root = if is_disorderly {
        let count = 1 + inner.world.rng.below(4);
        inner.grow(count);
        inner.operand(ElementType::Pred, &[])
    } else {
        let key = inner.world.rng.below(types.len());
        ordered(&mut inner, types[key], [parameters[2 * key], parameters[2 * key + 1]])
    };
    inner.finish("order", root)
}

/// Whether the first of two elements comes first; of complex numbers by their real parts.
fn ordered(region: &mut Body<'_>, element_type: ElementType, pair: [InstrId; 2]) -> InstrId {
    let part = match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    };
    let keys = if part == element_type {
        pair.to_vec()
    } else {
        pair.map(|element| region.push(Op::Real, vec![element], Shape::scalar(part))).to_vec()
    };
    let rising = region.world.rng.chance(50);
    let direction = if rising { ComparisonDirection::Lt } else { ComparisonDirection::Gt };
    // A comparison in which NaN comes neither before nor after is no order, though people sort by it.
    let order = match comparison(region, part) {
        Op::Compare { order, .. } if region.world.options.disorderly => order,
        _ => total_order(part),
    };
    region.push(Op::Compare { direction, order }, keys, Shape::scalar(ElementType::Pred))
}

/// A computation that prefers one of two elements of a type.
pub(super) fn preference(body: &mut Body<'_>, element_type: ElementType) -> ComputationId {
    let (mut inner, parameters) = region(body, [element_type; 2]);
    let direction = if element_type.is_complex() { ComparisonDirection::Ne } else { ComparisonDirection::Ge };
    let op = Op::Compare { direction, order: None };
    let root = inner.push(op, parameters, Shape::scalar(ElementType::Pred));
    inner.finish("prefer", root)
}

/// Whether an operation is defined for a type, and has a value there: complex numbers have no order.
pub(super) fn has_value(op: BinaryOp, element_type: ElementType) -> bool {
    let orders = matches!(op, BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder);
    binary_accepts(op, element_type) && !(orders && element_type.is_complex())
}
