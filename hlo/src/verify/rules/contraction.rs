//! Verifier rules for dots and convolutions.

use super::{Expected, Rule};
use crate::ir::{ConvolutionDimensions, ElementType, Op, Precision};
use crate::verify::code;

/// The dimension numbers of both operands of a dot.
struct Numbers<'a> {
    lhs_batch: &'a [i64],
    lhs_contracting: &'a [i64],
    rhs_batch: &'a [i64],
    rhs_contracting: &'a [i64],
}

impl Numbers<'_> {
    /// Checks that no dimension has two roles.
    fn check(&self, rule: &mut Rule<'_>) {
        let sides = [
            (["lhs_batch_dims", "lhs_contracting_dims"], self.lhs_batch, self.lhs_contracting),
            (["rhs_batch_dims", "rhs_contracting_dims"], self.rhs_batch, self.rhs_contracting),
        ];
        for (names, batch, contracting) in sides {
            rule.distinct(names[0], batch);
            rule.distinct(names[1], contracting);
            rule.disjoint(names, batch, contracting);
        }
    }
}

pub(super) fn dot<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::Dot {
        lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, operand_precision, ..
    } = rule.op
    else {
        return None;
    };
    rule.arrays::<2>()?;
    let numbers = Numbers {
        lhs_batch: lhs_batch_dims,
        lhs_contracting: lhs_contracting_dims,
        rhs_batch: rhs_batch_dims,
        rhs_contracting: rhs_contracting_dims,
    };
    numbers.check(rule);
    precisions(rule, operand_precision);
    products(rule)
}

pub(super) fn scaled_dot<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::ScaledDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        ..
    } = rule.op
    else {
        return None;
    };
    rule.arrays::<4>()?;
    let numbers = Numbers {
        lhs_batch: lhs_batch_dims,
        lhs_contracting: lhs_contracting_dims,
        rhs_batch: rhs_batch_dims,
        rhs_contracting: rhs_contracting_dims,
    };
    numbers.check(rule);
    for scale in [2, 3] {
        rule.typed(scale, ElementType::is_float, "a float type");
    }
    precisions(rule, operand_precision);
    products(rule)
}

/// The ragged dimension is a free, a contracting or a batch dimension on the left; only if it is free, there is a group
/// dimension on the right.
pub(super) fn ragged_dot<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::RaggedDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        lhs_ragged_dims,
        rhs_group_dims,
        operand_precision,
    } = rule.op
    else {
        return None;
    };
    rule.arrays::<3>()?;
    let numbers = Numbers {
        lhs_batch: lhs_batch_dims,
        lhs_contracting: lhs_contracting_dims,
        rhs_batch: rhs_batch_dims,
        rhs_contracting: rhs_contracting_dims,
    };
    numbers.check(rule);
    rule.typed(2, ElementType::is_integer, "an integer type");
    rule.distinct("rhs_group_dims", rhs_group_dims);
    if let [ragged] = lhs_ragged_dims[..] {
        let free = !lhs_batch_dims.contains(&ragged) && !lhs_contracting_dims.contains(&ragged);
        if rhs_group_dims.len() != usize::from(free) {
            let (wanted, given) = (usize::from(free), rhs_group_dims.len());
            let kind = if free { "free" } else { "contracted or batched" };
            rule.attribute(format!(
                "rhs_group_dims must name {wanted} dimensions where the ragged dimension is {kind}, and names {given}"
            ));
        }
    }
    rule.disjoint(["rhs_group_dims", "rhs_batch_dims"], rhs_group_dims, rhs_batch_dims);
    rule.disjoint(["rhs_group_dims", "rhs_contracting_dims"], rhs_group_dims, rhs_contracting_dims);
    precisions(rule, operand_precision);
    products(rule)
}

/// Checks that there is one precision for each of the two factors, or none.
pub(super) fn precisions(rule: &mut Rule<'_>, precisions: &[Precision]) {
    if !matches!(precisions.len(), 0 | 2) {
        let given = precisions.len();
        rule.attribute(format!("operand_precision must have one entry for each of the 2 operands, and has {given}"));
    }
}

/// Checks that the type in which products are added up holds numbers of the kinds of both factors: types may be mixed, as
/// long as factors become numbers of that type without losing a fraction or an imaginary part.
pub(super) fn products<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let (left, right) = (rule.array(0)?.element_type, rule.array(1)?.element_type);
    let declared = rule.declared_array()?.element_type;
    let wanted = class(left).max(class(right));
    if class(declared) < wanted {
        let message =
            format!("{} of {left} and {right} yields {}, the text says {declared}", rule.name(), wanted.name());
        rule.report(code::RESULT_SHAPE, message);
    }
    Some(Expected::Open)
}

/// The kinds of numbers, each of which holds those before it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// `pred` too.
    Integers,
    Floats,
    Complex,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Integers => "integers",
            Class::Floats => "floats",
            Class::Complex => "complex numbers",
        }
    }
}

fn class(element_type: ElementType) -> Class {
    if element_type.is_complex() {
        Class::Complex
    } else if element_type.is_float() {
        Class::Floats
    } else {
        Class::Integers
    }
}

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
