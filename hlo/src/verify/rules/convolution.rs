//! Convolutions.

use super::contraction::{precisions, products};
use super::{Expected, Rule, window};
use crate::ir::{ConvolutionDimensions, ConvolutionKind, Op};

pub(super) fn convolution<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::Convolution {
        window,
        dim_labels,
        feature_group_count,
        batch_group_count,
        operand_precision,
        convolution_kind,
        ..
    } = rule.op
    else {
        return None;
    };
    let [input, kernel] = rule.arrays()?;
    let output = rule.declared_array()?;
    precisions(rule, operand_precision);
    let spatial = dim_labels.input_spatial.len();
    window::check(rule, window, spatial, "the space in dim_labels");
    if labels(rule, dim_labels, [input.rank(), kernel.rank(), output.rank()]).is_some() {
        let counts = (*feature_group_count, *batch_group_count);
        // The gradients are written with operands in other roles.
        let forward = matches!(convolution_kind, ConvolutionKind::Unset | ConvolutionKind::Forward);
        if groups(rule, counts).is_some() && forward {}
    }
    products(rule)
}

/// Checks that each side names each of its dimensions once.
fn labels(rule: &mut Rule<'_>, labels: &ConvolutionDimensions, ranks: [usize; 3]) -> Option<()> {
    let sides = [
        ("input", [labels.input_batch, labels.input_feature], &labels.input_spatial),
        ("kernel", [labels.kernel_input_feature, labels.kernel_output_feature], &labels.kernel_spatial),
        ("output", [labels.output_batch, labels.output_feature], &labels.output_spatial),
    ];
    let mut good = true;
    for ((name, named, spatial), rank) in sides.into_iter().zip(ranks) {
        let mut all: Vec<i64> = named.into_iter().chain(spatial.iter().copied()).collect();
        all.sort_unstable();
        let each_once = (0i64..).zip(&all).all(|(wanted, &given)| wanted == given);
        if all.len() != rank || !each_once || spatial.len() != labels.input_spatial.len() {
            good = false;
            let message = format!(
                "dim_labels={labels} must name each of the {rank} dimensions of the {name} once, and as much space on \
                 each side"
            );
            rule.attribute(message);
        }
    }
    good.then_some(())
}

fn groups(rule: &mut Rule<'_>, (features, batch): (i64, i64)) -> Option<()> {
    let mut good = true;
    for (name, count) in [("feature_group_count", features), ("batch_group_count", batch)] {
        if count < 1 {
            good = false;
            rule.attribute(format!("{name} must be at least 1 and is {count}"));
        }
    }
    if features > 1 && batch > 1 {
        good = false;
        let message = "feature_group_count and batch_group_count must not both be greater than 1, and are";
        rule.attribute(format!("{message} {features} and {batch}"));
    }
    good.then_some(())
}
