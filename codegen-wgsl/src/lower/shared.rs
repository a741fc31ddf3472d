//! What an invocation computes again: what it reads, or has functions compute, at the same indices, and operations on the same operands.

use super::copy::rename;
use super::inline::{drop_functions, inline_all_into_entry};
use super::tidy::tidy;
use super::unroll::advances;
use super::weight::library_function;
use crate::kernel::{Block, Function, FunctionId, Kernel, MemoryId, Operand, ScalarOp, Statement, Value, ValueId};
use std::collections::HashMap;
use weft_affine::{Error, Expr};
use weft_hlo::ir::{Arena, ArenaId};

/// Rounds of a loop that read the elements of a vector.
const VECTOR: i64 = 4;

/// Statements that the entry may become.
const MAX_STATEMENTS: usize = 4096;

/// The kernel whose entry, where it calls functions several times and does more than that in a row, reads nothing at the same index twice, calls no function at the same
/// indices twice, and applies no operation to the same operands twice: the functions that it calls are written in place of their calls then. Where no read, no call and
/// nothing that the library computes would be spared, the kernel stays as it is, unless a loop that is to be
/// written out calls functions for elements side by side, which then are read as vectors.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn shared(kernel: &Kernel) -> Result<Kernel, Error> {
    let several = kernel.entry.callees();
    let mut calls: HashMap<FunctionId, usize> = HashMap::new();
    several.into_iter().for_each(|callee| *calls.entry(callee).or_default() += 1);
    if !calls.values().any(|calls| *calls > 1) {
        return Ok(kernel.clone());
    }
    let Some(mut inlined) = inline_all_into_entry(kernel, MAX_STATEMENTS)? else { return Ok(kernel.clone()) };
    let constant = unchanging(&inlined);
    let changes = |memory: MemoryId| inlined.may_change(memory);
    let mut entry = inlined.entry.clone();
    let values = entry.values.clone();
    let mut pass = Pass { constant: &constant, changes: &changes, values: &values, known: HashMap::new(), spared: 0 };
    pass.block(&mut entry.body, &mut HashMap::new());
    if pass.spared == 0 && !has_vectors(&kernel.entry.body, 0) {
        return Ok(kernel.clone());
    }
    inlined.entry = entry;
    let mut stays = vec![false; inlined.functions.len()];
    let mut open = inlined.entry.callees();
    while let Some(callee) = open.pop() {
        if !std::mem::replace(&mut stays[callee.index()], true) {
            open.extend(inlined.functions[callee].callees());
        }
    }
    drop_functions(&mut inlined, &stays);
    tidy(&mut inlined.entry);
    Ok(inlined)
}

/// Whether a block, within so many loop variables, has a loop within another that carries values through four rounds, in which functions are called at indices one further each;
/// or within loops a condition under which a function is called so in a row.
fn has_vectors(block: &Block, loops: usize) -> bool {
    block.statements.iter().any(|statement| {
        let Statement::Loop { extents, body, .. } = statement else {
            let is_tested = loops > 0 && matches!(statement, Statement::If { .. });
            let blocks = statement.blocks().into_iter();
            return blocks.into_iter().any(|block| is_tested && calls_side_by_side(block) || has_vectors(block, loops));
        };
        let is_called = |statement: &Statement| {
            matches!(statement, Statement::Call { .. })
                && statement.indices().iter().any(|index| advances(index, loops))
        };
        let is_meant = loops > 0 && *extents == [VECTOR] && !body.results.is_empty();
        is_meant && body.statements.iter().any(is_called) || has_vectors(body, loops + extents.len())
    })
}

/// Whether a block begins with calls of a function at indices side by side.
fn calls_side_by_side(block: &Block) -> bool {
    let call = |statement: &Statement| match statement {
        Statement::Call { function, indices, .. } => Some((*function, indices.last()?.clone())),
        _ => None,
    };
    match block.statements.as_slice() {
        [first, second, ..] => call(first).zip(call(second)).is_some_and(|((one, first), (other, second))| {
            one == other && second.checked_sub(&first) == Ok(Expr::constant(1))
        }),
        _ => false,
    }
}

/// For each function whether it reads only what no statement changes.
fn unchanging(kernel: &Kernel) -> Vec<bool> {
    fn of_block(kernel: &Kernel, block: &Block, of: &[bool]) -> bool {
        block.statements.iter().all(|statement| {
            !statement.is_effect()
                && statement.memory().is_none_or(|memory| !kernel.may_change(memory))
                && statement.callee().is_none_or(|callee| of[callee.index()])
                && statement.blocks().into_iter().all(|block| of_block(kernel, block, of))
        })
    }
    let mut of = vec![false; kernel.functions.len()];
    let functions: Vec<(FunctionId, &Function)> = kernel.functions.iter().collect();
    // Callees stand behind their callers.
    for (id, function) in functions.into_iter().rev() {
        of[id.index()] = of_block(kernel, &function.body, &of);
    }
    of
}

/// What is computed in how many lanes, or called with what.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Wanted {
    Computed(ScalarOp, u32),
    Called(FunctionId, Vec<Expr>, Vec<ValueId>),
}

struct Pass<'p> {
    /// For each function whether it returns the same at the same indices.
    constant: &'p [bool],
    /// Whether statements may change a memory.
    changes: &'p dyn Fn(MemoryId) -> bool,
    /// The values of the entry.
    values: &'p Arena<ValueId, Value>,
    /// What values are whose statements are gone.
    known: HashMap<ValueId, Operand>,
    /// Reads, calls and what the library computes that are gone.
    spared: usize,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block, done: &mut HashMap<Wanted, Vec<ValueId>>) {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            if let Some(wanted) = self.wanted(&statement) {
                let values = statement.defines();
                if let Some(known) = done.get(&wanted) {
                    self.known.extend(values.into_iter().zip(known.iter().copied().map(Operand::Value)));
                    self.spared += usize::from(self.is_dear(&wanted));
                    continue;
                }
                done.insert(wanted, values);
            }
            statement.blocks_mut().into_iter().for_each(|block| self.block(block, &mut done.clone()));
            statements.push(statement);
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
    }

    fn wanted(&self, statement: &Statement) -> Option<Wanted> {
        match statement {
            Statement::Let { value, op } => {
                let may_change = matches!(op, ScalarOp::Extract { memory, .. } if (self.changes)(*memory));
                (!may_change).then(|| Wanted::Computed(op.clone(), self.values[*value].lanes))
            }
            Statement::Call { function, indices, arguments, .. } if self.constant[function.index()] => {
                let value = |argument: &Operand| match argument {
                    Operand::Value(value) => Some(*value),
                    Operand::Constant(_) => None,
                };
                let arguments = arguments.iter().map(value).collect::<Option<_>>()?;
                Some(Wanted::Called(*function, indices.clone(), arguments))
            }
            _ => None,
        }
    }

    /// Whether functions are worth being written in place of their calls to spare it.
    fn is_dear(&self, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::Called(..) | Wanted::Computed(ScalarOp::Extract { .. }, _) => true,
            Wanted::Computed(op, _) => library_function(op, self.values).is_some(),
        }
    }
}
