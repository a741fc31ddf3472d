//! Functions of values alone, written where they are called.

use super::copy::{Copy, Room};
use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, Statement, ValueId};
use weft_affine::Error;
use weft_hlo::ir::{Arena, ArenaId};

/// Statements that a function called from several places may have to be written at each.
const MAX_STATEMENTS: usize = 16;

/// The kernel with functions of values, as regions of HLO become, written in place of their calls: those called once,
/// and small ones. What drivers may do with a sum then shows: the order in which a loop accumulates is theirs, the rest is not.
///
/// Functions that nothing calls any more are left out.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn inline(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut kernel = kernel.clone();
    let mut calls = vec![0usize; kernel.functions.len()];
    let mut combines = vec![false; kernel.functions.len()];
    for function in kernel.bodies() {
        count(&function.body, &mut calls, &mut combines);
    }
    // Callees stand behind their callers, so what is written in place of a call holds no call to be replaced.
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    let mut bodies: Vec<Option<Function>> = vec![None; ids.len()];
    for id in ids.iter().rev() {
        rewrite(&mut kernel.functions[*id], &bodies)?;
        let function = &kernel.functions[*id];
        let is_small = size(&function.body) <= MAX_STATEMENTS || calls[id.index()] == 1;
        if function.extents.is_empty() && !function.parameters.is_empty() && is_small {
            bodies[id.index()] = Some(function.clone());
        }
    }
    rewrite(&mut kernel.entry, &bodies)?;
    let stays: Vec<bool> = ids.iter().map(|id| bodies[id.index()].is_none() || combines[id.index()]).collect();
    drop_functions(&mut kernel, &stays);
    Ok(kernel)
}

fn count(block: &Block, calls: &mut [usize], combines: &mut [bool]) {
    for statement in &block.statements {
        match (statement, statement.callee()) {
            (Statement::Call { .. }, Some(callee)) => calls[callee.index()] += 1,
            (_, Some(callee)) => combines[callee.index()] = true,
            (_, None) => {}
        }
        statement.blocks().into_iter().for_each(|block| count(block, calls, combines));
    }
}

fn size(block: &Block) -> usize {
    let within = |statement: &Statement| 1 + statement.blocks().into_iter().map(size).sum::<usize>();
    block.statements.iter().map(within).sum()
}

fn rewrite(function: &mut Function, bodies: &[Option<Function>]) -> Result<(), Error> {
    let mut body = std::mem::take(&mut function.body);
    let mut room = Room::new(&mut function.values, &body);
    replace_calls(&mut body, &mut room, bodies)?;
    function.body = body;
    Ok(())
}

fn replace_calls(block: &mut Block, room: &mut Room<'_>, bodies: &[Option<Function>]) -> Result<(), Error> {
    // What a value that a call defined is known by from there on.
    let mut renamed: Vec<(ValueId, Operand)> = Vec::new();
    let mut statements = Vec::with_capacity(block.statements.len());
    for mut statement in std::mem::take(&mut block.statements) {
        rename_statement(&mut statement, &renamed);
        for block in statement.blocks_mut() {
            replace_calls(block, room, bodies)?;
        }
        let Statement::Call { values: defined, function, arguments, .. } = &statement else {
            statements.push(statement);
            continue;
        };
        let Some(callee) = bodies.get(function.index()).and_then(Option::as_ref) else {
            statements.push(statement);
            continue;
        };
        let known = callee.parameters.iter().copied().zip(arguments.iter().copied()).collect();
        let copy = Copy { from: Some(&callee.values), known, variable: &|_| None };
        let copy = copy.of(&callee.body, room)?;
        statements.extend(copy.statements);
        renamed.extend(defined.iter().copied().zip(copy.results));
    }
    block.statements = statements;
    block.results.iter_mut().for_each(|result| rename(result, &renamed));
    Ok(())
}

fn rename(operand: &mut Operand, renamed: &[(ValueId, Operand)]) {
    if let Operand::Value(value) = operand
        && let Some((_, other)) = renamed.iter().rev().find(|(old, _)| old == value)
    {
        *operand = *other;
    }
}

/// Operands of a statement and of the blocks within it.
fn rename_statement(statement: &mut Statement, renamed: &[(ValueId, Operand)]) {
    if renamed.is_empty() {
        return;
    }
    statement.operands_mut().into_iter().for_each(|operand| rename(operand, renamed));
    for block in statement.blocks_mut() {
        block.statements.iter_mut().for_each(|statement| rename_statement(statement, renamed));
        block.results.iter_mut().for_each(|result| rename(result, renamed));
    }
}

fn drop_functions(kernel: &mut Kernel, stays: &[bool]) {
    let mut image: Vec<Option<FunctionId>> = Vec::with_capacity(stays.len());
    let mut kept: Arena<FunctionId, Function> = Arena::new();
    for (function, stays) in kernel.functions.values().zip(stays) {
        image.push(stays.then(|| kept.push(function.clone())));
    }
    for function in kept.values_mut().chain([&mut kernel.entry]) {
        renumber(&mut function.body, &image);
    }
    kernel.functions = kept;
}

fn renumber(block: &mut Block, image: &[Option<FunctionId>]) {
    for statement in &mut block.statements {
        if let Statement::Call { function, .. }
        | Statement::Update { function, .. }
        | Statement::Collective { function, .. } = statement
            && let Some(kept) = image[function.index()]
        {
            *function = kept;
        }
        statement.blocks_mut().into_iter().for_each(|block| renumber(block, image));
    }
}
