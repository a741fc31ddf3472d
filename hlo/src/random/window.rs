//! Windows, and what is reduced and selected over them.

use super::body::Body;
use super::reduction::inputs;
use super::region::{combiner, preference, results};
use crate::ir::{InstrId, Op, Window, WindowDimension};

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
