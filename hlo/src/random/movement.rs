//! Random operations that move elements or reinterpret their bits.

use super::body::{Body, ComputationKind};
use super::shape::MAX_RANK;
use crate::ir::{ArrayShape, ElementType, InstrId, Op, Opcode, PadDimension, Shape, SliceDimension};

pub(super) fn iota(body: &mut Body<'_>) -> Option<InstrId> {
    let element_type = body.element_type(|element_type| element_type != ElementType::Pred)?;
    let extents = body.extents(1);
    let dimension = body.world.rng.below(extents.len()) as i64;
    body.emit_as(Op::Iota { dimension }, Vec::new(), Shape::array(element_type, extents))
}

/// The operand's dimensions stand anywhere among those of the result, in any order.
pub(super) fn broadcast(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 0)?;
    let array = body.array_shape(operand);
    let rank = body.world.rng.between(array.rank() as i64, MAX_RANK as i64) as usize;
    let mut dimensions = body.world.rng.dimensions(rank, array.rank());
    if body.world.rng.chance(55) {
        dimensions.sort_unstable();
    }
    let mut room = body.elements() / array.element_count()?.max(1);
    let mut extents = vec![1; rank];
    for extent in &mut extents {
        *extent = body.world.rng.extent(room.clamp(1, 4));
        room /= (*extent).max(1);
    }
    for (&dimension, &extent) in dimensions.iter().zip(&array.extents) {
        extents[dimension] = extent;
    }
    let dimensions = dimensions.into_iter().map(|dimension| dimension as i64).collect();
    body.emit_as(Op::Broadcast { dimensions }, vec![operand], Shape::array(array.element_type, extents))
}

/// Any extents that come to so many elements.
pub(super) fn factors(body: &mut Body<'_>, count: i64) -> Vec<i64> {
    let rng = &mut body.world.rng;
    let mut extents = Vec::new();
    if count == 0 {
        extents.push(0);
        for _ in 0..rng.below(MAX_RANK) {
            extents.push(rng.between(0, 4));
        }
    } else {
        let mut rest = count;
        while rest > 1 && extents.len() + 1 < MAX_RANK && rng.chance(65) {
            let divisors: Vec<i64> = (2..=rest).filter(|divisor| rest % divisor == 0).collect();
            let divisor = rng.choose(&divisors).unwrap_or(rest);
            extents.push(divisor);
            rest /= divisor;
        }
        if rest > 1 {
            extents.push(rest);
        }
        while extents.len() < MAX_RANK && rng.chance(30) {
            extents.push(1);
        }
    }
    rng.shuffle(&mut extents);
    extents
}

pub(super) fn reshape(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 0)?;
    let array = body.array_shape(operand);
    let extents = factors(body, array.element_count()?);
    body.emit_as(Op::Reshape, vec![operand], Shape::array(array.element_type, extents))
}

pub(super) fn transpose(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = ranked(body)?;
    let permutation = body.world.rng.dimensions(array.rank(), array.rank());
    let permutation = permutation.into_iter().map(|dimension| dimension as i64).collect();
    body.emit(Op::Transpose { permutation }, vec![operand], array.element_type)
}

/// An array that has dimensions most of the time.
fn ranked(body: &mut Body<'_>) -> Option<(InstrId, ArrayShape)> {
    let least = usize::from(body.world.rng.chance(90));
    let operand = body.array(|_| true, least)?;
    let array = body.array_shape(operand);
    Some((operand, array))
}

pub(super) fn slice(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = ranked(body)?;
    let rng = &mut body.world.rng;
    let part = |&extent: &i64| {
        let (whole, start) = (rng.chance(40), rng.between(0, (extent - 1).max(0)));
        // Rarely nothing.
        let least = if rng.chance(10) { start } else { (start + 1).min(extent) };
        let (start, limit) = if whole { (0, extent) } else { (start, rng.between(least, extent)) };
        SliceDimension { start, limit, stride: if rng.chance(70) { 1 } else { rng.between(1, 4) } }
    };
    let dimensions = array.extents.iter().map(part).collect();
    body.emit(Op::Slice { dimensions }, vec![operand], array.element_type)
}

pub(super) fn reverse(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = ranked(body)?;
    let count = body.world.rng.below(array.rank() + 1);
    let dimensions = body.world.rng.dimensions(array.rank(), count);
    let dimensions = dimensions.into_iter().map(|dimension| dimension as i64).collect();
    body.emit(Op::Reverse { dimensions }, vec![operand], array.element_type)
}

pub(super) fn concatenate(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 1)?;
    let array = body.array_shape(first);
    let dimension = body.world.rng.below(array.rank());
    let mut operands = vec![first];
    for _ in 0..body.world.rng.below(4) {
        let mut extents = array.extents.clone();
        if body.world.rng.chance(60) {
            extents[dimension] = body.world.rng.between(0, extents[dimension].max(2));
        }
        operands.push(body.small_operand(array.element_type, &extents)?);
    }
    body.world.rng.shuffle(&mut operands);
    body.emit(Op::Concatenate { dimension: dimension as i64 }, operands, array.element_type)
}

/// Padding may be negative, and take more than the operand has as long as interior padding makes up for it.
pub(super) fn pad(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = ranked(body)?;
    let value = body.operand(array.element_type, &[]);
    let rng = &mut body.world.rng;
    // Along all dimensions at once the result would soon be too large.
    let padded = rng.dimensions(array.rank(), 2);
    let entry = |dimension: usize| match padded.contains(&dimension) {
        false => PadDimension::default(),
        true => PadDimension {
            low: rng.between(-1, 2),
            high: rng.between(-2, 1),
            interior: if rng.chance(60) { 0 } else { rng.between(1, 2) },
        },
    };
    let padding = (0..array.rank()).map(entry).collect();
    body.emit(Op::Pad { padding }, vec![operand, value], array.element_type)
}

/// The elements of an array under the same extents, in other places: reversed, transposed, or rotated along a dimension,
/// rarely two of that. So a value is read through several maps.
pub(super) fn elsewhere(body: &mut Body<'_>, array: InstrId) -> Option<InstrId> {
    if body.kind == ComputationKind::SingleOperation {
        return None;
    }
    let moved = moved(body, array)?;
    if body.world.rng.chance(30) { self::moved(body, moved) } else { Some(moved) }
}

fn moved(body: &mut Body<'_>, operand: InstrId) -> Option<InstrId> {
    let array = body.array_shape(operand);
    let asks = |body: &Body<'_>, opcodes: &[Opcode]| opcodes.iter().all(|&opcode| body.world.is_asked(opcode));
    let (rank, element_type) = (array.rank(), array.element_type);
    if rank == 0 {
        return None;
    }
    match body.world.rng.below(3) {
        0 if asks(body, &[Opcode::Reverse]) => {
            let count = 1 + body.world.rng.below(rank);
            let dimensions = body.world.rng.dimensions(rank, count).into_iter().map(|it| it as i64).collect();
            body.emit(Op::Reverse { dimensions }, vec![operand], element_type)
        }
        // A transposition that the reshape back does not undo.
        1 if asks(body, &[Opcode::Transpose, Opcode::Reshape]) => {
            let permutation = body.world.rng.dimensions(rank, rank).into_iter().map(|it| it as i64).collect();
            let transposed = body.emit(Op::Transpose { permutation }, vec![operand], element_type)?;
            body.emit_as(Op::Reshape, vec![transposed], Shape::array(element_type, array.extents))
        }
        2 if asks(body, &[Opcode::Slice, Opcode::Concatenate]) => {
            let along = body.world.rng.below(rank);
            let middle = body.world.rng.between(0, array.extents[along]);
            let mut part = |start: i64, limit: i64| {
                let whole = array.extents.iter().map(|&limit| SliceDimension { start: 0, limit, stride: 1 });
                let mut dimensions: Vec<SliceDimension> = whole.collect();
                dimensions[along] = SliceDimension { start, limit, stride: 1 };
                body.emit(Op::Slice { dimensions }, vec![operand], element_type)
            };
            let parts = vec![part(middle, array.extents[along])?, part(0, middle)?];
            body.emit(Op::Concatenate { dimension: along as i64 }, parts, element_type)
        }
        _ => None,
    }
}

/// To a type of the same width, to a narrower one, or to a wider one.
pub(super) fn bitcast_convert(body: &mut Body<'_>) -> Option<InstrId> {
    let to = body.element_type(|_| true)?;
    let same_width = body.world.options.same_width;
    let fits = |from: ElementType| {
        let (wide, narrow) = (from.bits().max(to.bits()), from.bits().min(to.bits()));
        from.is_complex() == to.is_complex() && wide.is_multiple_of(narrow) && (wide == narrow || !same_width)
    };
    if !same_width && let Some(ratio) = widening(body, to) {
        // An operand whose last dimension is one element of the wider type.
        let from = body.element_type(|from| fits(from) && i64::from(from.bits()) * ratio == i64::from(to.bits()))?;
        let mut extents = body.extents(0);
        extents.push(ratio);
        if extents.iter().product::<i64>() > body.elements() || extents.len() > super::shape::MAX_RANK {
            extents = vec![ratio];
        }
        let operand = body.operand(from, &extents);
        return body.emit(Op::BitcastConvert, vec![operand], to);
    }
    let operand = body.array(|from| fits(from) && from.bits() >= to.bits(), 0)?;
    body.emit(Op::BitcastConvert, vec![operand], to)
}

/// How many elements of a narrower type, one of those asked for, make up one of this type; `None` for no such type, and half
/// of the time.
fn widening(body: &mut Body<'_>, to: ElementType) -> Option<i64> {
    let elements = body.elements();
    let from = body.element_type(|from| from.bits() < to.bits() && to.bits().is_multiple_of(from.bits()))?;
    let ratio = i64::from(to.bits() / from.bits());
    (body.world.rng.chance(50) && ratio <= elements && from.is_complex() == to.is_complex()).then_some(ratio)
}

/// The same elements under other extents; where `bitcast-convert` is asked for too, also the same bytes as elements of another
/// type of the same size.
pub(super) fn bitcast(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 0)?;
    let array = body.array_shape(operand);
    let from = array.element_type;
    let other = body.element_type(|to| to.bits() == from.bits() && to.is_complex() == from.is_complex());
    let to = if body.world.is_asked(Opcode::BitcastConvert) && body.world.rng.chance(30) {
        other.unwrap_or(from)
    } else {
        from
    };
    let extents = factors(body, array.element_count()?);
    body.emit_as(Op::Bitcast, vec![operand], Shape::array(to, extents))
}
