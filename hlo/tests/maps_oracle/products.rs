//! The oracle of dot and convolution.

use super::cells::cells;
use super::movement::number;
use super::scene::Recorder;
use super::windows::{mirrored, under};
use weft_hlo::ir::Op;

/// The index in each of these dimensions.
fn chosen(cell: &[i64], dimensions: &[i64]) -> Vec<i64> {
    dimensions.iter().map(|&dimension| cell[number(dimension)]).collect()
}

/// The index in all other dimensions.
fn free(cell: &[i64], bound: [&[i64]; 3]) -> Vec<i64> {
    let own = (0i64..).zip(cell).filter(|(at, _)| !bound.iter().any(|dimensions| dimensions.contains(at)));
    own.map(|(_, &index)| index).collect()
}

/// Every element of the left operand times every one of the right that agrees in batch and contracting dimensions; a scaled
/// dot also reads the scale of each.
pub(crate) fn dot(r: &mut Recorder<'_>) {
    let op = &r.scene.instruction().op;
    let (Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
    | Op::ScaledDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }) = op
    else {
        return;
    };
    let (left, right) = (cells(&r.scene.operand(0)), cells(&r.scene.operand(1)));
    for one in &left {
        for other in &right {
            let batch = chosen(one, lhs_batch_dims);
            let agrees = batch == chosen(other, rhs_batch_dims)
                && chosen(one, lhs_contracting_dims) == chosen(other, rhs_contracting_dims);
            if !agrees {
                continue;
            }
            let output: Vec<i64> = batch
                .into_iter()
                .chain(free(one, [lhs_batch_dims, lhs_contracting_dims, &[]]))
                .chain(free(other, [rhs_batch_dims, rhs_contracting_dims, &[]]))
                .collect();
            r.one(0, &output, 0, one);
            r.one(0, &output, 1, other);
            if matches!(op, Op::ScaledDot { .. }) {
                scale(r, &output, 0, one);
                scale(r, &output, 1, other);
            }
        }
    }
}

/// The scale of an element: the one of its block, where the scales are as many as there are blocks.
fn scale(r: &mut Recorder<'_>, output: &[i64], operand: usize, cell: &[i64]) {
    let (extents, scales) = (r.scene.operand(operand), r.scene.operand(operand + 2));
    let block = |at: usize| cell[at] / (extents[at] / scales[at]);
    let scaled: Vec<i64> = (0..scales.len()).map(block).collect();
    r.one(0, output, operand + 2, &scaled);
}

/// As a dot, of which one dimension is cut into groups: of a free one each row is multiplied by the entry of its group, if
/// it has one; of a contracting one there is a product for each group; batches stay as they are.
pub(crate) fn ragged_dot(r: &mut Recorder<'_>) {
    let Op::RaggedDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        lhs_ragged_dims,
        rhs_group_dims,
        ..
    } = &r.scene.instruction().op
    else {
        return;
    };
    let (left, right, sizes) = (cells(&r.scene.operand(0)), cells(&r.scene.operand(1)), r.scene.operand(2));
    assert_eq!(sizes.len(), 1, "random sizes are one list");
    let sizes: Vec<i128> = (0..sizes[0]).map(|group| r.scene.integer(2, &[group])).collect();
    let end = |groups: usize| sizes[..groups].iter().sum::<i128>();
    let holds = |group: usize, index: i64| (end(group)..end(group + 1)).contains(&i128::from(index));
    let ragged = number(lhs_ragged_dims[0]);
    let cuts_batch = lhs_batch_dims.contains(&lhs_ragged_dims[0]);
    let cuts_sum = lhs_contracting_dims.contains(&lhs_ragged_dims[0]);
    for one in &left {
        for other in &right {
            let batch = chosen(one, lhs_batch_dims);
            let agrees = batch == chosen(other, rhs_batch_dims)
                && chosen(one, lhs_contracting_dims) == chosen(other, rhs_contracting_dims);
            if !agrees {
                continue;
            }
            let output: Vec<i64> = batch
                .into_iter()
                .chain(free(one, [lhs_batch_dims, lhs_contracting_dims, &[]]))
                .chain(free(other, [rhs_batch_dims, rhs_contracting_dims, rhs_group_dims]))
                .collect();
            if cuts_batch {
                r.one(0, &output, 0, one);
                r.one(0, &output, 1, other);
                continue;
            }
            for group in 0..sizes.len() {
                let is_entry = cuts_sum || other[number(rhs_group_dims[0])] == group as i64;
                let output = if cuts_sum { [&[group as i64], &output[..]].concat() } else { output.clone() };
                if is_entry && holds(group, one[ragged]) {
                    r.one(0, &output, 0, one);
                    r.one(0, &output, 1, other);
                }
                // A group begins where those before it end; a row may be in any.
                let before = if cuts_sum { group + 1 } else { sizes.len() };
                (0..before).for_each(|of| r.one(0, &output, 2, &[of as i64]));
            }
        }
    }
}

pub(crate) fn convolution(r: &mut Recorder<'_>) {
    let Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } = &r.scene.instruction().op
    else {
        return;
    };
    let (input, kernel, result) = (r.scene.operand(0), r.scene.operand(1), r.scene.result(0));
    let features = kernel[number(dim_labels.kernel_input_feature)];
    let outputs = kernel[number(dim_labels.kernel_output_feature)];
    let sizes: Vec<i64> = window.dimensions.iter().map(|dimension| dimension.size).collect();
    for output in r.outputs(0) {
        let feature = output[number(dim_labels.output_feature)];
        // Which group of the output features this one is of: each has its own input features, or its own part of the batch.
        let feature_group = feature / (outputs / feature_group_count);
        let batch_group = feature / (outputs / batch_group_count);
        let batch = output[number(dim_labels.output_batch)];
        let batch = batch_group * result[number(dim_labels.output_batch)] + batch;
        for element in cells(&sizes) {
            let along = |at: usize| {
                let extent = input[number(dim_labels.input_spatial[at])];
                let position = output[number(dim_labels.output_spatial[at])];
                under(&window.dimensions[at], extent, position, element[at])
            };
            let Some(base) = (0..sizes.len()).map(along).collect::<Option<Vec<i64>>>() else { continue };
            for own in 0..features {
                let mut read = vec![0; input.len()];
                read[number(dim_labels.input_batch)] = batch;
                read[number(dim_labels.input_feature)] = feature_group * features + own;
                let mut weight = vec![0; kernel.len()];
                weight[number(dim_labels.kernel_input_feature)] = own;
                weight[number(dim_labels.kernel_output_feature)] = feature;
                for at in 0..sizes.len() {
                    read[number(dim_labels.input_spatial[at])] = base[at];
                    weight[number(dim_labels.kernel_spatial[at])] = mirrored(&window.dimensions[at], element[at]);
                }
                r.one(0, &output, 0, &read);
                r.one(0, &output, 1, &weight);
            }
        }
    }
}
