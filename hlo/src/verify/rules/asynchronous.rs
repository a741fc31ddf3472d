//! Verifier rules for asynchronous operations: async-start, async-update, async-done and their shorthands.

use super::{Expected, Rule, control};
use crate::ir::{ComputationId, OperandAlias, Shape};
use crate::verify::code;
use crate::verify::shapes::ShortShape;

/// The operands as a tuple, the result of the computation, and whatever the target keeps beside them.
pub(super) fn start<'a>(
    rule: &mut Rule<'a>,
    thread: Option<&str>,
    aliases: &[OperandAlias],
    calls: ComputationId,
) -> Option<Expected<'a>> {
    let result = rule.signature(calls, rule.operands, 0)?;
    if let Some(thread) = thread {
        same_thread(rule, thread, calls);
    }
    // Aliases are those of the result, which is the second element of what the start yields.
    if !aliases.is_empty()
        && let Some(inner) = rule.declared.as_tuple().and_then(|elements| elements.get(1))
    {
        let whole = std::mem::replace(&mut rule.declared, inner);
        control::operand_aliases(rule, aliases);
        rule.declared = whole;
    }
    Some(started(rule, Expected::Same(result)))
}

/// What a start yields whose computation yields `result`.
pub(super) fn started<'a>(rule: &Rule<'a>, result: Expected<'a>) -> Expected<'a> {
    let operands = Expected::Tuple(rule.operands.iter().map(|operand| Expected::Same(operand)).collect());
    let kept = rule.declared.as_tuple().map_or(0, |elements| elements.len().saturating_sub(2));
    Expected::Tuple([operands, result].into_iter().chain(std::iter::repeat_n(Expected::Open, kept)).collect())
}

fn same_thread(rule: &mut Rule<'_>, thread: &str, calls: ComputationId) {
    let Some(computation) = rule.callee(calls) else { return };
    let own = computation.attributes.iter().find(|attribute| attribute.name == "execution_thread");
    if let Some(own) = own.map(|own| own.value.trim_matches('"')).filter(|own| *own != thread) {
        let message = format!("{} runs on thread {own}, async-start starts it on {thread}", computation.name);
        rule.report(code::SIGNATURE, message);
    }
}

/// The state goes on as it is.
pub(super) fn update<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let state = state(rule)?;
    Some(Expected::Same(state))
}

/// The result.
pub(super) fn done<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    state(rule)?.as_tuple()?.get(1).map(Expected::Same)
}

/// What the start yielded: operands as a tuple, then the result.
fn state<'a>(rule: &mut Rule<'a>) -> Option<&'a Shape> {
    let [state] = rule.operands()?;
    if matches!(state, Shape::Tuple(elements) if elements.len() >= 2 && elements[0].as_tuple().is_some()) {
        return Some(state);
    }
    let opcode = rule.instruction.op.name();
    rule.refuse(
        code::ELEMENT_TYPE,
        format!("operand 0 of {opcode} must be ((...), ..., ...) and is {}", ShortShape(state)),
    );
    None
}
