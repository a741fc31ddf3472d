//! The oracle of operations with windows.

use super::cells::cells;
use super::movement::number;
use super::scene::Recorder;
use super::values::Values;
use weft_hlo::ir::{ComputationId, Literal, Scalar, Window, WindowDimension};

/// The index of the base under an element of the window at a position; `None` on padding and in the holes of dilation.
pub(crate) fn under(window: &WindowDimension, extent: i64, position: i64, element: i64) -> Option<i64> {
    let reached = position * window.stride + element * window.window_dilation - window.padding_low;
    (0..extent).find(|index| index * window.base_dilation == reached)
}

/// The elements under the window at a position, in row-major order of the window.
fn covered(window: &Window, extents: &[i64], position: &[i64]) -> Vec<Vec<i64>> {
    let sizes: Vec<i64> = window.dimensions.iter().map(|dimension| dimension.size).collect();
    let found = cells(&sizes).into_iter().filter_map(|element| {
        let along = |at: usize| under(&window.dimensions[at], extents[at], position[at], element[at]);
        (0..extents.len()).map(along).collect::<Option<Vec<i64>>>()
    });
    found.collect()
}

pub(crate) fn reduce_window(r: &mut Recorder<'_>, window: &Window) {
    let inputs = r.scene.operands() / 2;
    let extents = r.scene.operand(0);
    for output in r.outputs(0) {
        let covered = covered(window, &extents, &output);
        for (result, input) in (0..inputs).flat_map(|result| (0..inputs).map(move |input| (result, input))) {
            covered.iter().for_each(|cell| r.one(result, &output, input, cell));
            r.one(result, &output, inputs + input, &[]);
        }
    }
}

/// An element of the result reads each window that lies over it, to see whether it is selected there, and the sources of the
/// windows in which it is.
pub(crate) fn select_and_scatter(r: &mut Recorder<'_>, window: &Window, select: ComputationId) -> Result<(), String> {
    let (extents, sources) = (r.scene.operand(0), r.scene.operand(1));
    for source in cells(&sources) {
        let covered = covered(window, &extents, &source);
        for output in &covered {
            covered.iter().for_each(|cell| r.one(0, output, 0, cell));
        }
        if let Some(selected) = selected(r, select, &covered)? {
            r.one(0, &selected, 1, &source);
        }
    }
    for output in r.outputs(0) {
        r.one(0, &output, 2, &[]);
    }
    Ok(())
}

/// The element that is kept of these, which are looked at in order.
fn selected(r: &Recorder<'_>, select: ComputationId, covered: &[Vec<i64>]) -> Result<Option<Vec<i64>>, String> {
    let mut candidates = covered.iter();
    let Some(mut kept) = candidates.next() else { return Ok(None) };
    for next in candidates {
        let operand = r.scene.value(0)[0].as_ref().expect("the operand is an array");
        let element = |cell: &[i64]| {
            let at = super::cells::position(&r.scene.operand(0), cell).expect("the cell lies within");
            Literal::scalar(operand.data.get(at).expect("the elements are held"))
        };
        let values = Values::new(r.scene.module, select, &[element(kept), element(next)])?;
        let verdict = values.of(r.scene.module.computations[select].root)[0].as_ref().and_then(|it| it.data.get(0));
        if verdict == Some(Scalar::Pred(false)) {
            kept = next;
        }
    }
    Ok(Some(kept.clone()))
}

/// The indices of a window's element along one dimension, as a convolution counts them.
pub(crate) fn mirrored(window: &WindowDimension, element: i64) -> i64 {
    match window.reversal {
        true => (0..window.size).rev().nth(number(element)).expect("the element lies in the window"),
        false => element,
    }
}
