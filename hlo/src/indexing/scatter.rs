//! Scatter: updates combined into an operand at starts that an array of indices holds.

use weft_indexing::{IndexingMap, RuntimeVariable};

use super::context::{InstructionContext, OperationMaps};
use super::{Direction, gather::Windows};

/// Of `n` operands, the indices and `n` updates. Every result depends on all operands and updates alike, since one
/// computation combines them.
pub(super) fn scatter(context: &InstructionContext<'_>, windows: &Windows<'_>) -> OperationMaps {
    let inputs = context.operands() / 2;
    let mut found = Vec::new();
    for result in 0..inputs {
        for operand in 0..inputs {
            found.push(context.same(result, operand));
        }
        // Whether an element is updated, every start of its batch has a say in.
        found.push(context.matched(result, inputs, &windows.shared_batch()));
        for operand in inputs + 1..context.operands() {
            let updates = context.operand(operand);
            let mut map = match context.direction {
                Direction::OutputToInput => windows.windows_at_operand(context, inputs, updates)?,
                Direction::InputToOutput => windows.operand_at_windows(context, inputs, updates)?,
            };
            drop_out_of_bounds(&mut map)?;
            found.push(context.on(result, operand, map));
        }
    }
    Ok(found)
}

/// A window that does not lie within the operand is left out, where gather would move it.
fn drop_out_of_bounds(map: &mut IndexingMap) -> Result<(), weft_indexing::Error> {
    map.set_runtime(map.runtime().iter().cloned().map(RuntimeVariable::dropping).collect())
}
