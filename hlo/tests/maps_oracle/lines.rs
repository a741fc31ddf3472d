//! The oracle of operations whose elements are computed from whole lines of their operands.

use super::cells::cells;
use super::movement::number;
use super::scene::Recorder;
use weft_hlo::ir::FftType;

/// Results and operands are tuples of the same length: each of the first reads each of the last.
fn every_pair(results: usize, operands: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..results).flat_map(move |result| (0..operands).map(move |operand| (result, operand)))
}

pub(crate) fn reduce(r: &mut Recorder<'_>, reduced: &[i64]) {
    let inputs = r.scene.operands() / 2;
    for cell in cells(&r.scene.operand(0)) {
        let kept = (0i64..).zip(&cell).filter(|(dimension, _)| !reduced.contains(dimension));
        let output: Vec<i64> = kept.map(|(_, &at)| at).collect();
        every_pair(inputs, inputs).for_each(|(result, input)| r.one(result, &output, input, &cell));
    }
    for output in r.outputs(0) {
        every_pair(inputs, inputs).for_each(|(result, input)| r.one(result, &output, inputs + input, &[]));
    }
}

/// Each line is put in order, and all operands like the first.
pub(crate) fn sort(r: &mut Recorder<'_>, dimension: i64) {
    let (inputs, along) = (r.scene.operands(), number(dimension));
    for output in r.outputs(0) {
        for at in 0..r.scene.operand(0)[along] {
            let mut cell = output.clone();
            cell[along] = at;
            every_pair(inputs, inputs).for_each(|(result, input)| r.one(result, &output, input, &cell));
        }
    }
}

/// Which are the greatest of a line, all its elements say.
pub(crate) fn top_k(r: &mut Recorder<'_>) {
    let last = r.scene.operand(0).last().copied().unwrap_or(0);
    for output in r.outputs(0) {
        for at in 0..last {
            let cell: Vec<i64> = output[..output.len() - 1].iter().copied().chain([at]).collect();
            (0..2).for_each(|result| r.one(result, &output, 0, &cell));
        }
    }
}

/// A sum over all elements along the last dimensions; back to real numbers over the half that is given.
pub(crate) fn fft(r: &mut Recorder<'_>, fft_type: FftType, fft_length: &[i64]) {
    let operand = r.scene.operand(0);
    let outer = operand.len() - fft_length.len();
    let mut terms = fft_length.to_vec();
    if fft_type == FftType::RealInverse {
        let last = terms.len() - 1;
        terms[last] = if terms[last] == 0 { 0 } else { terms[last] / 2 + 1 };
    }
    for output in r.outputs(0) {
        for term in cells(&terms) {
            let cell: Vec<i64> = output[..outer].iter().chain(&term).copied().collect();
            r.one(0, &output, 0, &cell);
        }
    }
}

/// Random bits and the next state both come of the whole state.
pub(crate) fn state(r: &mut Recorder<'_>) {
    for result in 0..r.scene.results() {
        for output in r.outputs(result) {
            r.whole(result, &output, 0);
        }
    }
}

/// All elements of a feature, of the operand with this number.
fn feature(r: &mut Recorder<'_>, result: usize, output: &[i64], operand: usize, (index, of): (usize, i64)) {
    for cell in cells(&r.scene.operand(operand)) {
        if cell[index] == of {
            r.one(result, output, operand, &cell);
        }
    }
}

pub(crate) fn batch_norm_training(r: &mut Recorder<'_>, feature_index: i64) {
    let index = number(feature_index);
    for output in r.outputs(0) {
        let of = output[index];
        feature(r, 0, &output, 0, (index, of));
        (1..3).for_each(|operand| r.one(0, &output, operand, &[of]));
    }
    // The mean and the variance.
    for result in 1..3 {
        for output in r.outputs(result) {
            feature(r, result, &output, 0, (index, output[0]));
        }
    }
}

pub(crate) fn batch_norm_inference(r: &mut Recorder<'_>, feature_index: i64) {
    for output in r.outputs(0) {
        r.one(0, &output, 0, &output);
        (1..5).for_each(|operand| r.one(0, &output, operand, &[output[number(feature_index)]]));
    }
}

/// Operands are the one normalized, the scale, the mean, the variance, and the gradient of the result.
pub(crate) fn batch_norm_gradient(r: &mut Recorder<'_>, feature_index: i64) {
    let index = number(feature_index);
    for output in r.outputs(0) {
        let of = output[index];
        [0, 4].iter().for_each(|&operand| feature(r, 0, &output, operand, (index, of)));
        (1..4).for_each(|operand| r.one(0, &output, operand, &[of]));
    }
    for output in r.outputs(1) {
        let of = output[0];
        [0, 4].iter().for_each(|&operand| feature(r, 1, &output, operand, (index, of)));
        (2..4).for_each(|operand| r.one(1, &output, operand, &[of]));
    }
    for output in r.outputs(2) {
        feature(r, 2, &output, 4, (index, output[0]));
    }
}
