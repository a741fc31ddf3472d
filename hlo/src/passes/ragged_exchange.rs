//! `ragged-all-to-all` of one device as a gather.

use super::build::Build;
use super::rebuild::Rebuild;
use super::stable_order::constant;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Instruction, Op, Scalar, Shape};

/// The output with the parts of the input written to it, of the operands of a `ragged-all-to-all`: each row of the output is
/// told which part it is the last to be written by, and where in the input that has it from. `None` for other operations.
pub(super) fn exchanged(rebuild: &mut Rebuild<'_>, exchange: &Instruction) -> Option<InstrId> {
    let Op::RaggedAllToAll { dimension, .. } = exchange.op else { return None };
    let [input, output, from, sizes, to, ..] = exchange.operands[..] else { return None };
    let dimension = usize::try_from(dimension.unwrap_or(0)).ok()?;
    let (given, made) = (rebuild.array(input).extents.clone(), rebuild.array(output).extents.clone());
    let (parts, rows) = (rebuild.array(from).extents.iter().product::<i64>(), made[dimension]);
    if parts == 0 || given.contains(&0) || made.contains(&0) {
        return Some(output);
    }
    // What holds all of them, and each sum and difference of those that count.
    let is_long = i32::try_from(rows.max(given[dimension])).is_err();
    let number = match rebuild.element_type(from) {
        ElementType::S64 | ElementType::U64 | ElementType::U32 => ElementType::S64,
        _ if is_long => ElementType::S64,
        _ => ElementType::S32,
    };
    let pairs = vec![rows, parts];
    let scalar = |value: i64| Scalar::from_bits(value as u128, number);
    let [from, sizes, to] = [from, sizes, to].map(|numbers| {
        let line = rebuild.reshaped(numbers, vec![parts]);
        rebuild.converted(line, number)
    });
    let each = |rebuild: &mut Rebuild<'_>, numbers| rebuild.broadcast(numbers, &[1], pairs.clone());
    let (source, size, target) = (each(rebuild, from), each(rebuild, sizes), each(rebuild, to));
    let row = rebuild.iota(number, pairs.clone(), 0);
    let zero = constant(rebuild, scalar(0), pairs.clone());
    let held = constant(rebuild, scalar(given[dimension]), pairs.clone());
    let within = rebuild.binary(BinaryOp::Subtract, row, target);
    let left = rebuild.binary(BinaryOp::Subtract, held, source);
    let conditions = [
        (ComparisonDirection::Ge, source, zero),
        (ComparisonDirection::Ge, target, zero),
        (ComparisonDirection::Ge, row, target),
        (ComparisonDirection::Lt, within, size),
        (ComparisonDirection::Lt, within, left),
    ];
    let conditions = conditions.map(|(direction, a, b)| rebuild.compared(direction, a, b));
    let is_written = conditions
        .into_iter()
        .reduce(|all, condition| rebuild.binary(BinaryOp::And, all, condition))
        .expect("there are five");
    // The last part that writes the row, or -1.
    let part = rebuild.iota(ElementType::S32, pairs.clone(), 1);
    let nothing = constant(rebuild, Scalar::S32(-1), pairs);
    let part = rebuild.selected(is_written, part, nothing);
    let part = rebuild.reduced((BinaryOp::Maximum, "last"), part, Scalar::S32(-1), &[1]);
    let none = constant(rebuild, Scalar::S32(0), vec![rows]);
    let is_written = rebuild.compared(ComparisonDirection::Ge, part, none);
    let shift = rebuild.binary(BinaryOp::Subtract, from, to);
    let shift = rebuild.taken(shift, part);
    let row = rebuild.iota(number, vec![rows], 0);
    let place = rebuild.binary(BinaryOp::Add, row, shift);
    let moved = slices(rebuild, input, place, dimension);
    let is_written = rebuild.broadcast(is_written, &[dimension as i64], made);
    Some(rebuild.selected(is_written, moved, output))
}

/// The slices of the value at these places along a dimension.
fn slices(rebuild: &mut Rebuild<'_>, value: InstrId, places: InstrId, dimension: usize) -> InstrId {
    let mut extents = rebuild.array(value).extents.clone();
    let (rank, mut slice_sizes) = (extents.len() as i64, extents.clone());
    slice_sizes[dimension] = 1;
    extents[dimension] = rebuild.array(places).extents[0];
    let op = Op::Gather {
        offset_dims: (0..rank).filter(|&other| other != dimension as i64).collect(),
        collapsed_slice_dims: vec![dimension as i64],
        start_index_map: vec![dimension as i64],
        operand_batching_dims: Vec::new(),
        start_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        slice_sizes,
        indices_are_sorted: false,
    };
    rebuild.add(Shape::array(rebuild.element_type(value), extents), op, vec![value, places])
}
