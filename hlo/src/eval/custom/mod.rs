//! Evaluation of custom calls; [`CustomCalls`] is the table of supported targets.

mod lapack;
mod registry;
mod selection;
mod top_k;

pub use registry::{CustomCall, CustomCalls};

use registry::Meaning;

use super::call::Call;
use super::work::Stop;
use crate::ir::{ArrayShape, Data, Instruction, Literal, Op, Shape};

/// Why a custom call is not evaluated.
pub(super) fn refusal(instruction: &Instruction, calls: &CustomCalls) -> Option<String> {
    let Op::CustomCall { custom_call_target: target, .. } = &instruction.op else { return None };
    match calls.get(target) {
        None => Some(format!(
            "unsupported: nothing is registered for custom_call_target=\"{target}\"; see eval::CustomCalls"
        )),
        Some(Meaning::Selection) => selection::refusal(instruction),
        Some(Meaning::Function(_)) => None,
    }
}

/// The results of what is registered for the target.
pub(super) fn custom_call(call: &Call<'_, '_>, target: &str) -> Result<Vec<Data>, Stop> {
    let refused = |message: String| Stop::Refused("HLO212", format!("custom call of {target}: {message}"));
    let meaning =
        call.run.config.custom_calls.get(target).ok_or_else(|| refused("nothing is registered".to_owned()))?;
    let function = match meaning {
        Meaning::Function(function) => function,
        Meaning::Selection => return selection::select(call),
    };
    let bytes = call.operands.iter().filter_map(|(shape, _)| super::value::byte_size(shape)).sum();
    let _held = call.work().reserve(bytes)?;
    let operands: Vec<Literal> = call.operands.iter().map(|(shape, data)| literal(shape, (*data).clone())).collect();
    let results = function(&CustomCall::new(call.instruction), &operands).map_err(refused)?;
    let declared = call.results();
    if results.len() != declared.len() {
        return Err(refused(format!("gave {} arrays in place of {}", results.len(), declared.len())));
    }
    for (number, (result, declared)) in results.iter().zip(&declared).enumerate() {
        let count = result.data.len().and_then(|count| i64::try_from(count).ok());
        let held = result.data.element_type() == Some(declared.element_type) && count == declared.element_count();
        if !held || !result.shape.is_compatible(&Shape::Array((*declared).clone())) {
            let (declared, given) = (Shape::Array((*declared).clone()).without_layout(), result.shape.without_layout());
            return Err(refused(format!("gave {given} as result {number}, the text says {declared}")));
        }
    }
    Ok(results.into_iter().map(|result| result.data).collect())
}

/// An array of a shape without layout.
fn literal(shape: &ArrayShape, data: Data) -> Literal {
    Literal { shape: Shape::array(shape.element_type, shape.extents.clone()), data }
}
