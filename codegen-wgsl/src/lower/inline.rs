//! Functions written where they are called.

use super::copy::{Copy, Room, rename};
use super::rows::in_rows;
use crate::kernel::{Block, Function, FunctionId, Kernel, Known, Operand, Statement, ValueId};
use std::collections::HashMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::{Arena, ArenaId};

/// Statements that a function of values called from several places may have to be written at each.
const MAX_STATEMENTS: usize = 16;

/// Blocks within one another that a call may be replaced by, with those around it: drivers get lost beyond 80.
const MAX_NESTING: usize = 40;

/// The kernel with functions written in place of their calls: those that one other function calls, once, and functions of values, as
/// regions of HLO become, where they are called once or are small. What drivers may do with a sum then shows: the order in which a loop accumulates is
/// theirs, the rest is not. Before that, calls that need each other's results are put in a row, and made once: what is left of calls
/// within calls is what conditions and values decide.
///
/// Functions of indices that the entry calls stay: what an element is has a name. Functions that nothing calls any more are left out.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn inline(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut kernel = in_rows(kernel)?;
    let source = kernel.clone();
    let mut calls = vec![Calls::default(); kernel.functions.len()];
    for function in source.functions.values() {
        count(&function.body, &mut calls, false);
    }
    count(&source.entry.body, &mut calls, true);
    let replaced = source.functions.iter().map(|(id, function)| {
        let calls = &calls[id.index()];
        let is_region = function.extents.is_empty() && !function.parameters.is_empty();
        let is_once = calls.times == 1 && (is_region || !calls.by_entry);
        is_once || is_region && size(&function.body) <= MAX_STATEMENTS
    });
    let replaced: Vec<bool> = replaced.collect();
    // Callers stand before callees, so whether a call is left is known when a function is reached.
    let mut stays: Vec<bool> =
        calls.iter().zip(&replaced).map(|(calls, replaced)| !replaced || calls.combines).collect();
    rewrite(&source, &replaced, &mut kernel.entry, &mut stays)?;
    let ids: Vec<FunctionId> = source.functions.ids().collect();
    for id in ids {
        if stays[id.index()] {
            rewrite(&source, &replaced, &mut kernel.functions[id], &mut stays)?;
        }
    }
    drop_functions(&mut kernel, &stays);
    Ok(kernel)
}

/// The kernel with all functions that the entry calls written in place of these calls, if the entry has at most so many statements then; `None` where it would have more.
/// Functions that nothing calls any more are still there.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn inline_all_into_entry(kernel: &Kernel, most: usize) -> Result<Option<Kernel>, Error> {
    let mut replaced = vec![false; kernel.functions.len()];
    let mut statements = size(&kernel.entry.body);
    for callee in kernel.entry.callees() {
        replaced[callee.index()] = true;
        statements = statements.saturating_add(size(&kernel.functions[callee].body));
    }
    if statements > most {
        return Ok(None);
    }
    // What a callee calls stays a call, also where the entry calls it, too.
    for function in kernel.functions.values() {
        function.callees().into_iter().for_each(|callee| replaced[callee.index()] = false);
    }
    let mut inlined = kernel.clone();
    rewrite(kernel, &replaced, &mut inlined.entry, &mut vec![true; kernel.functions.len()])?;
    Ok(Some(inlined))
}

/// The kernel with the functions that the entry alone calls, and once, written in place of their calls, if they have at most so many
/// statements; `None` where there are none.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn inline_into_entry(kernel: &Kernel, most: usize) -> Result<Option<Kernel>, Error> {
    let mut calls = vec![Calls::default(); kernel.functions.len()];
    for function in kernel.functions.values() {
        count(&function.body, &mut calls, false);
    }
    count(&kernel.entry.body, &mut calls, true);
    let is_replaced = |(calls, function): (&Calls, &Function)| {
        calls.times == 1 && calls.by_entry && !calls.combines && size(&function.body) <= most
    };
    let replaced: Vec<bool> = calls.iter().zip(kernel.functions.values()).map(is_replaced).collect();
    if !replaced.contains(&true) {
        return Ok(None);
    }
    let mut inlined = kernel.clone();
    let mut stays: Vec<bool> = replaced.iter().map(|replaced| !replaced).collect();
    rewrite(kernel, &replaced, &mut inlined.entry, &mut stays)?;
    drop_functions(&mut inlined, &stays);
    Ok(Some(inlined))
}

/// How a function is called.
#[derive(Clone, Debug, Default)]
struct Calls {
    times: usize,
    by_entry: bool,
    /// Whether it combines values of several invocations.
    combines: bool,
}

fn count(block: &Block, calls: &mut [Calls], by_entry: bool) {
    for statement in &block.statements {
        if let Some(callee) = statement.callee() {
            let calls = &mut calls[callee.index()];
            match statement {
                Statement::Call { .. } => calls.times += 1,
                _ => calls.combines = true,
            }
            calls.by_entry |= by_entry;
        }
        statement.blocks().into_iter().for_each(|block| count(block, calls, by_entry));
    }
}

fn size(block: &Block) -> usize {
    let within = |statement: &Statement| 1 + statement.blocks().into_iter().map(size).sum::<usize>();
    block.statements.iter().map(within).sum()
}

/// Blocks within one another, itself included.
fn nesting(block: &Block) -> usize {
    1 + block.statements.iter().flat_map(Statement::blocks).map(nesting).max().unwrap_or(0)
}

fn rewrite(source: &Kernel, replaced: &[bool], function: &mut Function, stays: &mut [bool]) -> Result<(), Error> {
    let mut body = std::mem::take(&mut function.body);
    let room = Room::new(&mut function.values, &body);
    let mut pass = Pass { source, replaced, stays, room, known: HashMap::new() };
    pass.block(&mut body, &mut Known::new(&function.extents), 1, false)?;
    function.body = body;
    Ok(())
}

struct Pass<'p, 'f> {
    source: &'p Kernel,
    /// The functions to be written in place of their calls.
    replaced: &'p [bool],
    /// The functions that calls are left of.
    stays: &'p mut [bool],
    room: Room<'f>,
    /// What the values of calls that are gone are.
    known: HashMap<ValueId, Operand>,
}

/// What is yet to be done in a block.
enum Item {
    Statement {
        statement: Statement,
        is_copy: bool,
    },
    /// The values that a call defined are what its function would have returned.
    Returned {
        values: Vec<ValueId>,
        results: Vec<Operand>,
    },
}

impl Pass<'_, '_> {
    /// `depth` counts the blocks around; of a copy the indices are new.
    fn block(&mut self, block: &mut Block, known: &mut Known, depth: usize, is_copy: bool) -> Result<(), Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        let item = |statement: Statement| Item::Statement { statement, is_copy };
        let mut pending: Vec<Item> = std::mem::take(&mut block.statements).into_iter().rev().map(item).collect();
        while let Some(item) = pending.pop() {
            let (mut statement, is_copy) = match item {
                Item::Statement { statement, is_copy } => (statement, is_copy),
                Item::Returned { values, mut results } => {
                    results.iter_mut().for_each(|result| rename(result, &self.known));
                    self.known.extend(values.into_iter().zip(results));
                    continue;
                }
            };
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            if is_copy {
                statement.indices_mut().into_iter().for_each(|index| *index = known.simplified(index));
            }
            if let Some((values, copy)) = self.copied(&statement, known, depth)? {
                pending.push(Item::Returned { values, results: copy.results });
                let items = copy.statements.into_iter().rev();
                pending.extend(items.map(|statement| Item::Statement { statement, is_copy: true }));
                continue;
            }
            if let Statement::Call { function, .. } = &statement {
                self.stays[function.index()] = true;
            }
            let within = known.within(&statement);
            for (block, mut known) in statement.blocks_mut().into_iter().zip(within) {
                self.block(block, &mut known, depth + 1, is_copy)?;
            }
            known.after(&statement);
            statements.push(statement);
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
        Ok(())
    }

    /// What takes the place of a call, and the values that it defined, if the statement is one that is replaced.
    fn copied(
        &mut self,
        statement: &Statement,
        known: &Known,
        depth: usize,
    ) -> Result<Option<(Vec<ValueId>, Block)>, Error> {
        let Statement::Call { values, function, indices, arguments } = statement else { return Ok(None) };
        let callee = &self.source.functions[*function];
        if !self.replaced[function.index()] || depth + nesting(&callee.body) > MAX_NESTING {
            return Ok(None);
        }
        let loops = u32::try_from(known.loops()).unwrap_or(u32::MAX);
        let become_of = |variable: Var| match variable {
            Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
            Var::Range(number) => Some(Expr::range(number.saturating_add(loops))),
            Var::Runtime(_) => None,
        };
        let given = callee.parameters.iter().copied().zip(arguments.iter().copied()).collect();
        let copy = Copy { from: Some(&callee.values), known: given, variable: &become_of };
        Ok(Some((values.clone(), copy.of(&callee.body, &mut self.room)?)))
    }
}

/// Leaves out the functions that do not stay.
pub(super) fn drop_functions(kernel: &mut Kernel, stays: &[bool]) {
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

/// Gives the functions that a block calls the numbers they have now.
pub(super) fn renumber(block: &mut Block, image: &[Option<FunctionId>]) {
    for statement in &mut block.statements {
        if let Some(function) = statement.callee_mut()
            && let Some(kept) = image[function.index()]
        {
            *function = kept;
        }
        statement.blocks_mut().into_iter().for_each(|block| renumber(block, image));
    }
}
