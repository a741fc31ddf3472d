//! Values that no statement defines or reads any more.

use crate::kernel::{Block, Function, Operand, ValueId};
use weft_hlo::ir::{Arena, ArenaId};

/// Leaves out the values of a function that nothing mentions; the others keep their order.
pub(super) fn tidy(function: &mut Function) {
    let mut mentioned = vec![false; function.values.len()];
    function.parameters.iter().for_each(|value| mentioned[value.index()] = true);
    mark(&function.body, &mut mentioned);
    let mut values = Arena::new();
    let mut image: Vec<Option<ValueId>> = Vec::with_capacity(mentioned.len());
    for (value, is_mentioned) in function.values.values().zip(mentioned) {
        image.push(is_mentioned.then(|| values.push(value.clone())));
    }
    function.values = values;
    let renumbered = |value: &mut ValueId| *value = image[value.index()].unwrap_or(*value);
    function.parameters.iter_mut().for_each(renumbered);
    renumber(&mut function.body, &image);
}

fn mark(block: &Block, mentioned: &mut [bool]) {
    let operand = |operand: Operand, mentioned: &mut [bool]| {
        if let Operand::Value(value) = operand {
            mentioned[value.index()] = true;
        }
    };
    for statement in &block.statements {
        statement.defines().into_iter().for_each(|value| mentioned[value.index()] = true);
        statement.operands().into_iter().for_each(|read| operand(read, mentioned));
        statement.blocks().into_iter().for_each(|block| mark(block, mentioned));
    }
    block.results.iter().for_each(|result| operand(*result, mentioned));
}

fn renumber(block: &mut Block, image: &[Option<ValueId>]) {
    let value = |value: &mut ValueId| *value = image[value.index()].unwrap_or(*value);
    let operand = |operand: &mut Operand| {
        if let Operand::Value(read) = operand {
            value(read);
        }
    };
    for statement in &mut block.statements {
        statement.defines_mut().into_iter().for_each(value);
        statement.operands_mut().into_iter().for_each(operand);
        statement.blocks_mut().into_iter().for_each(|block| renumber(block, image));
    }
    block.results.iter_mut().for_each(operand);
}
