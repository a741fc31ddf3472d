//! Windows without holes, of which few meet in an element: each is found at a place that is known beforehand.

use super::Along;
use crate::ir::{
    ArrayShape, ComparisonDirection, ComputationId, InstrId, Op, PadDimension, Scalar, Shape, SliceDimension,
};
use crate::passes::algebraic::{Region, region};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// Windows that meet in an element, at most: each is written out.
const MOST_WINDOWS: i64 = 16;

/// Places that positions are spread over, at most, for each element and position.
const MOST_SPREAD: i64 = 16;

/// One dimension of such windows.
///
/// Element `e` lies in the windows at the positions from `(e + padding_low) / stride` down, `meeting` of them, or fewer: a position that does not reach so far has selected another element, and one that there is not
/// none. So an array of positions, each as often as the stride says, has for each of these windows what belongs to the elements side by side.
struct Dimension {
    base: i64,
    positions: i64,
    stride: i64,
    /// Windows that meet in an element, at most.
    meeting: i64,
    /// The position of the last window that element 0 could lie in, and how many elements before it do as well.
    last: i64,
    before: i64,
}

impl Dimension {
    fn of(along: &Along) -> Option<Dimension> {
        let Along { window, base, positions } = *along;
        let stride = window.stride;
        let meeting = (window.size + stride - 1) / stride;
        let (last, before) = (window.padding_low.div_euclid(stride), window.padding_low.rem_euclid(stride));
        let has_holes = window.window_dilation > 1 && window.size > 1 || window.base_dilation > 1;
        let dimension = Dimension { base, positions, stride, meeting, last, before };
        // What is cut are positions that there are.
        let PadDimension { low, high, .. } = dimension.padding();
        (!has_holes && low.min(high) >= -positions).then_some(dimension)
    }

    /// How positions are padded, or cut.
    fn padding(&self) -> PadDimension {
        let low = self.meeting - 1 - self.last;
        PadDimension { low, high: self.padded() - self.positions - low, interior: 0 }
    }

    /// The positions that elements could lie in.
    fn padded(&self) -> i64 {
        (self.before + self.base - 1).div_euclid(self.stride) + self.meeting
    }

    /// The elements' places among spread positions, for each of the windows that meet in one, the first position first.
    fn slice(&self, window: i64) -> SliceDimension {
        let start = self.before + window * self.stride;
        SliceDimension { start, limit: start + self.base, stride: 1 }
    }
}

/// For each element the initial value combined with the source's elements of the windows that have selected it, in the order of positions; `None` where windows have holes, or too many meet.
pub(super) fn combined(
    rebuild: &mut Rebuild<'_>,
    (source, selected, initial): (InstrId, InstrId, InstrId),
    base: &ArrayShape,
    along: &[Along],
    scatter: ComputationId,
) -> Option<InstrId> {
    let dimensions = along.iter().map(Dimension::of).collect::<Option<Vec<_>>>()?;
    let windows = dimensions.iter().try_fold(1i64, |all, dimension| all.checked_mul(dimension.meeting))?;
    // Large strides of few elements would spread positions over many places that nothing reads.
    let places = |of: fn(&Dimension) -> i64| {
        dimensions.iter().try_fold(1i64, |all, dimension| all.checked_mul(of(dimension))).unwrap_or(i64::MAX)
    };
    let read = places(|it| it.base).saturating_add(places(|it| it.positions));
    if windows > MOST_WINDOWS || places(|it| it.padded() * it.stride) > MOST_SPREAD.saturating_mul(read) {
        return None;
    }
    let nowhere = rebuild.scalar(Scalar::S32(-1));
    let nothing = rebuild.scalar(Scalar::from_bits(0, base.element_type));
    let selected = spread(rebuild, selected, nowhere, &dimensions);
    let source = spread(rebuild, source, nothing, &dimensions);
    let element = super::numbered(rebuild, &base.extents);
    let mut value = rebuild.broadcast(initial, &[], base.extents.clone());
    for number in 0..windows {
        let mut rest = number;
        let mut slices: Vec<SliceDimension> = Vec::with_capacity(dimensions.len());
        for dimension in dimensions.iter().rev() {
            slices.push(dimension.slice(rest % dimension.meeting));
            rest /= dimension.meeting;
        }
        slices.reverse();
        let [selected, source] = [selected, source].map(|spread| sliced(rebuild, spread, &slices));
        let is_hit = rebuild.compared(ComparisonDirection::Eq, selected, element);
        let merged = merged(rebuild, scatter, [source, value]);
        value = rebuild.selected(is_hit, merged, value);
    }
    Some(value)
}

/// Values of positions, each as often as the strides say.
fn spread(rebuild: &mut Rebuild<'_>, value: InstrId, fill: InstrId, dimensions: &[Dimension]) -> InstrId {
    let element_type = rebuild.element_type(value);
    let padding: Vec<PadDimension> = dimensions.iter().map(Dimension::padding).collect();
    let padded: Vec<i64> = dimensions.iter().map(Dimension::padded).collect();
    let is_padded = padding.iter().any(|along| along.low != 0 || along.high != 0);
    let positions = match is_padded {
        true => rebuild.add(Shape::array(element_type, padded), Op::Pad { padding }, vec![value, fill]),
        false => value,
    };
    if dimensions.iter().all(|dimension| dimension.stride == 1) {
        return positions;
    }
    let (mut extents, mut places) = (Vec::new(), Vec::new());
    for dimension in dimensions {
        places.push(extents.len() as i64);
        extents.push(dimension.padded());
        extents.extend((dimension.stride > 1).then_some(dimension.stride));
    }
    let repeated = rebuild.broadcast(positions, &places, extents);
    let spread = dimensions.iter().map(|dimension| dimension.padded() * dimension.stride).collect();
    rebuild.reshaped(repeated, spread)
}

fn sliced(rebuild: &mut Rebuild<'_>, value: InstrId, slices: &[SliceDimension]) -> InstrId {
    let extents: Vec<i64> = slices.iter().map(|slice| slice.limit - slice.start).collect();
    let shape = Shape::array(rebuild.element_type(value), extents);
    rebuild.add(shape, Op::Slice { dimensions: slices.to_vec() }, vec![value])
}

/// What a computation of two scalars makes of two arrays, element by element.
fn merged(rebuild: &mut Rebuild<'_>, computation: ComputationId, operands: [InstrId; 2]) -> InstrId {
    let element_type = rebuild.element_type(operands[0]);
    if let Some(Region { op, is_reversed }) = region(rebuild.computations(), computation, element_type) {
        let [left, right] = if is_reversed { [operands[1], operands[0]] } else { operands };
        return rebuild.binary(op, left, right);
    }
    let dimensions = (0..rebuild.array(operands[0]).rank() as i64).collect();
    let op = Op::Map { dimensions, to_apply: computation };
    rebuild.like(operands[0], element_type, op, operands.to_vec())
}
