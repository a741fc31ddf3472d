//! Verifier rules for operations that apply a computation to elements and keep extents: map, sort, topk, scan.

use super::{Expected, Rule};
use crate::ir::{ComputationId, ElementType, Shape};
use crate::verify::code;

pub(super) fn map<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    let wanted: Vec<Shape> = operands.iter().map(|operand| Shape::scalar(operand.element_type)).collect();
    // What the computation returns is its own choice, as long as that is a scalar.
    let result = rule.callee(to_apply)?.result_shape().as_array();
    let element_type = result.map_or(operands[0].element_type, |result| result.element_type);
    rule.region(to_apply, &wanted, "one for each operand", &Shape::scalar(element_type));
    result.map(|_| Expected::Array(element_type))
}

/// The comparator takes two elements of each operand in turn.
pub(super) fn sort<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    let pairs: Vec<Shape> = operands
        .iter()
        .flat_map(|operand| [Shape::scalar(operand.element_type), Shape::scalar(operand.element_type)])
        .collect();
    rule.region(to_apply, &pairs, "two elements of each operand", &Shape::scalar(ElementType::Pred));
    Some(match rule.operands {
        [operand] => Expected::Same(operand),
        operands => Expected::Tuple(operands.iter().map(|operand| Expected::Same(operand)).collect()),
    })
}

pub(super) fn top_k<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.typed(0, |element_type| !element_type.is_complex(), "a type that has an order");
    Some(Expected::Tuple(vec![Expected::Array(operand.element_type), Expected::Array(ElementType::S32)]))
}

/// The operands are inputs and, behind them, the initial values of what is carried; the results are outputs and what
/// was carried last.
pub(super) fn scan<'a>(rule: &mut Rule<'a>, carries: i64, to_apply: ComputationId) -> Option<Expected<'a>> {
    let count = rule.operands.len();
    rule.all_arrays(0)?;
    // That there are as many operands is a rule of the shape function.
    let carried = usize::try_from(carries).ok().filter(|&carries| carries <= count)?;
    let computation = rule.callee(to_apply)?;
    let (name, given) = (&computation.name, rule.parameters_of(to_apply).len());
    if given != count {
        let message = format!("{name} must take {count} parameters, one for each operand, and takes {given}");
        rule.report(code::REGION, message);
        return None;
    }
    let returned = computation.result_shape().as_tuple().map_or(1, <[Shape]>::len);
    let declared = match rule.declared {
        Shape::Tuple(elements) => &elements[..],
        one => std::slice::from_ref(one),
    };
    if returned != declared.len() || declared.len() < carried {
        let results = declared.len();
        let message = format!("{name} must return one value for each of the {results} results and returns {returned}");
        rule.report(code::REGION, message);
        return None;
    }
    let outputs = declared.len() - carried;
    let initials = rule.operands[count - carried..].iter().map(|initial| Expected::Same(initial));
    let results: Vec<Expected<'a>> = std::iter::repeat_n(Expected::Open, outputs).chain(initials).collect();
    Some(if rule.declared.as_tuple().is_some() { Expected::Tuple(results) } else { results.into_iter().next()? })
}
