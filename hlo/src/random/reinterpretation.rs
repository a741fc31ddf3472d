//! The same bits as something else.

use super::body::Body;
use super::movement::factors;
use crate::ir::{ElementType, InstrId, Op, Shape};

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
    let to =
        if body.world.is_asked("bitcast-convert") && body.world.rng.chance(30) { other.unwrap_or(from) } else { from };
    let extents = factors(body, array.element_count()?);
    body.emit_as(Op::Bitcast, vec![operand], Shape::array(to, extents))
}
