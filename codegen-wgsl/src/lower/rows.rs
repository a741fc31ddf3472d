//! Calls in a row rather than within one another.

use super::copy::{Room, rename};
use crate::kernel::{Block, Function, FunctionId, Kernel, Known, Operand, Statement, Value, ValueId, ValueType};
use std::collections::HashMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::ArenaId;

/// Calls that a kernel may come to hold for each function it has.
const MAX_CALLS: usize = 4;

/// The kernel in which functions are given the results of the functions they need, where they need them in any case and at indices
/// that follow from their own: then the caller calls those first, each at the same indices only once. What nested calls
/// compute over and over, `2^n` times in a chain of `n` diamonds, is computed once, and drivers, which take time by the square of how
/// deep calls nest, find calls in a row.
///
/// Functions that the entry calls keep their calls: what it stores is still one call for each element. Where the calls would become more
/// than four times the functions, because indices differ all the way up, the kernel stays as it is.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn in_rows(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut by_entry = vec![false; kernel.functions.len()];
    mark_called(&kernel.entry.body, &mut by_entry);
    let mut rows = kernel.clone();
    let mut needs: Vec<Vec<Need>> = vec![Vec::new(); kernel.functions.len()];
    for ((function, needs), by_entry) in rows.functions.values_mut().zip(&mut needs).zip(by_entry) {
        if !by_entry {
            *needs = take_calls(function);
        }
    }
    if needs.iter().all(Vec::is_empty) {
        return Ok(rows);
    }
    let results: Vec<Vec<Value>> = kernel.functions.values().map(results).collect();
    let mut budget = MAX_CALLS * kernel.functions.len();
    for function in rows.functions.values_mut() {
        let mut body = std::mem::take(&mut function.body);
        let room = Room::new(&mut function.values, &body);
        let mut caller =
            Caller { needs: &needs, results: &results, room, known: HashMap::new(), done: Vec::new(), budget };
        caller.block(&mut body, &mut Known::new(&function.extents))?;
        budget = caller.budget;
        function.body = body;
        if budget == 0 {
            return Ok(kernel.clone());
        }
    }
    Ok(rows)
}

fn mark_called(block: &Block, called: &mut [bool]) {
    for statement in &block.statements {
        if let Some(callee) = statement.callee() {
            called[callee.index()] = true;
        }
        statement.blocks().into_iter().for_each(|block| mark_called(block, called));
    }
}

/// What a function is given: the results of another at indices that follow from its own.
#[derive(Clone, Debug)]
struct Need {
    function: FunctionId,
    indices: Vec<Expr>,
}

/// Takes the calls out of a function that it makes in any case, and makes their results parameters.
fn take_calls(function: &mut Function) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut statements = Vec::with_capacity(function.body.statements.len());
    for statement in std::mem::take(&mut function.body.statements) {
        match statement {
            Statement::Call { values, function: callee, indices, arguments }
                if arguments.is_empty() && indices.iter().all(is_own) && !indices.is_empty() =>
            {
                function.parameters.extend(values);
                needs.push(Need { function: callee, indices });
            }
            other => statements.push(other),
        }
    }
    function.body.statements = statements;
    needs
}

/// Whether only indices of the function occur.
fn is_own(index: &Expr) -> bool {
    !index.find_variable(&mut |variable| !matches!(variable, Var::Dim(_)))
}

/// What a function returns, as values.
fn results(function: &Function) -> Vec<Value> {
    let of = |(result, ty): (&Operand, ValueType)| {
        let name = match result {
            Operand::Value(value) => function.values[*value].name.clone(),
            Operand::Constant(_) => function.name.clone(),
        };
        Value { name, element_type: ty.element_type, lanes: ty.lanes }
    };
    function.body.results.iter().zip(Kernel::result_types(function)).map(of).collect()
}

/// A function at indices.
type At = (FunctionId, Vec<Expr>);

struct Caller<'c> {
    needs: &'c [Vec<Need>],
    /// What each function returns.
    results: &'c [Vec<Value>],
    room: Room<'c>,
    /// What the values of calls are that others stand for.
    known: HashMap<ValueId, Operand>,
    /// For each block around the place the calls made there, and what they returned.
    done: Vec<HashMap<At, Vec<Operand>>>,
    /// Calls that may still be made.
    budget: usize,
}

/// What is to be done for a call, the last first.
enum Step {
    Make(FunctionId, Vec<Expr>),
    Finish(FunctionId, Vec<Expr>, Vec<At>),
}

impl Caller<'_> {
    fn block(&mut self, block: &mut Block, known: &mut Known) -> Result<(), Error> {
        self.done.push(HashMap::new());
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            if let Statement::Call { values, function, indices, arguments } = &mut statement {
                if arguments.is_empty() && !indices.is_empty() {
                    let given = self.call(*function, indices.clone(), known, &mut statements)?;
                    self.known.extend(values.iter().copied().zip(given));
                    continue;
                }
                for Need { function, indices: needed } in &self.needs[function.index()] {
                    let at = composed(needed, indices, known)?;
                    let given = self.call(*function, at, known, &mut statements)?;
                    arguments.extend(given);
                }
            }
            let within = known.within(&statement);
            for (block, mut known) in statement.blocks_mut().into_iter().zip(within) {
                self.block(block, &mut known)?;
            }
            known.after(&statement);
            statements.push(statement);
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
        self.done.pop();
        Ok(())
    }

    fn made(&self, call: &At) -> Option<&Vec<Operand>> {
        self.done.iter().rev().find_map(|done| done.get(call))
    }

    /// What a call returns, which is made here unless it has been made where that is in sight, after those whose results it is given.
    fn call(
        &mut self,
        function: FunctionId,
        indices: Vec<Expr>,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Operand>, Error> {
        let wanted = (function, indices);
        let mut steps = vec![Step::Make(wanted.0, wanted.1.clone())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Make(function, indices) => {
                    let call = (function, indices);
                    if self.made(&call).is_some() || self.budget == 0 {
                        continue;
                    }
                    let needs = self.needs[function.index()].iter();
                    let at = needs.map(|need| Ok((need.function, composed(&need.indices, &call.1, known)?)));
                    let before = at.collect::<Result<Vec<_>, Error>>()?;
                    steps.push(Step::Finish(call.0, call.1, before.clone()));
                    steps.extend(before.into_iter().rev().map(|(function, indices)| Step::Make(function, indices)));
                }
                Step::Finish(function, indices, before) => {
                    let arguments = before.iter().filter_map(|call| self.made(call)).flatten().copied().collect();
                    let values: Vec<ValueId> =
                        self.results[function.index()].iter().map(|like| self.room.values.push(like.clone())).collect();
                    let given = values.iter().copied().map(Operand::Value).collect();
                    if let Some(done) = self.done.last_mut() {
                        done.insert((function, indices.clone()), given);
                    }
                    out.push(Statement::Call { values, function, indices, arguments });
                    self.budget = self.budget.saturating_sub(1);
                }
            }
        }
        Ok(self.made(&wanted).cloned().unwrap_or_default())
    }
}

/// Indices in terms of others that stand for the function's own.
fn composed(indices: &[Expr], own: &[Expr], known: &Known) -> Result<Vec<Expr>, Error> {
    let of = |index: &Expr| {
        let composed = index.substitute(|variable| match variable {
            Var::Dim(dimension) => own.get(dimension as usize).cloned(),
            _ => None,
        })?;
        Ok(known.simplified(&composed))
    };
    indices.iter().map(of).collect()
}
