//! Verifier rules for random numbers.

use super::{Expected, Rule};
use crate::ir::{ElementType, RandomDistribution, Shape};
use crate::verify::code;

pub(super) fn rng<'a>(rule: &mut Rule<'a>, distribution: RandomDistribution) -> Option<Expected<'a>> {
    let [low, _] = rule.arrays()?;
    let same = rule.typed_as(1, 0);
    let element_type = low.element_type;
    let fits = match distribution {
        RandomDistribution::Uniform => !element_type.is_complex(),
        RandomDistribution::Normal => element_type.is_float(),
        RandomDistribution::Invalid => {
            rule.attribute("distribution must be rng_uniform or rng_normal".to_owned());
            true
        }
    };
    if same && !fits {
        let message = format!("{} is not defined for {element_type}", distribution.name());
        rule.report(code::ELEMENT_TYPE, message);
    }
    same.then_some(Expected::Array(element_type))
}

pub(super) fn rng_bit_generator<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.arrays::<1>()?;
    rule.typed(0, ElementType::is_unsigned, "an unsigned integer type");
    let bits = match rule.declared {
        Shape::Tuple(elements) => elements.get(1).and_then(Shape::as_array),
        _ => None,
    };
    // A result that is no such pair is reported as a whole.
    let element_type = bits.map_or(ElementType::U32, |array| array.element_type);
    if !(element_type.is_integer() || element_type.is_float()) {
        let message = format!("rng-bit-generator yields integers or floats, not {element_type}");
        rule.report(code::ELEMENT_TYPE, message);
    }
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Array(element_type)]))
}

pub(super) fn rng_get_and_update_state<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(0)?;
    let state = rule.declared_array()?;
    if !state.element_type.is_unsigned() {
        let message = format!("rng-get-and-update-state yields unsigned integers, not {}", state.element_type);
        rule.report(code::RESULT_SHAPE, message);
    }
    Some(Expected::Open)
}
