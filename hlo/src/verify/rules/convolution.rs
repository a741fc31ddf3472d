//! Convolutions.

use super::contraction::{precisions, products};
use super::{Expected, Rule};
use crate::ir::{ConvolutionDimensions, Op};

pub(super) fn convolution<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::Convolution { dim_labels, operand_precision, .. } = rule.op else { return None };
    rule.arrays::<2>()?;
    precisions(rule, operand_precision);
    labels(rule, dim_labels);
    products(rule)
}

/// Checks that no dimension has two roles. The output has as many roles as dimensions, each of which needs one.
fn labels(rule: &mut Rule<'_>, labels: &ConvolutionDimensions) {
    let sides = [
        ("input", [labels.input_batch, labels.input_feature], &labels.input_spatial),
        ("kernel", [labels.kernel_input_feature, labels.kernel_output_feature], &labels.kernel_spatial),
    ];
    for (side, named, spatial) in sides {
        let all: Vec<i64> = named.into_iter().chain(spatial.iter().copied()).collect();
        rule.distinct(&format!("dim_labels={labels}: the {side}"), &all);
    }
}
