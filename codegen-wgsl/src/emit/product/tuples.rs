//! Functions that combine tuples of several rows at once: so invocations wait for each other once for all of their rows.

use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, Statement, Value, ValueId};
use crate::wgsl::Names;
use std::collections::BTreeMap;
use weft_hlo::ir::{Arena, ArenaId};

/// The functions of a kernel with those that apply these regions, the functions of a number on, to so many tuples each. They stand before the regions, as callers do; the regions' numbers are what they
/// were and as many more as there are of these.
pub(in crate::emit) fn with_tuples(
    functions: Arena<FunctionId, Function>,
    (first, regions): (usize, &[FunctionId]),
    count: usize,
    names: &mut Names,
) -> (Arena<FunctionId, Function>, BTreeMap<FunctionId, FunctionId>) {
    let behind = |id: FunctionId| match id.index() < first {
        true => id,
        false => FunctionId::from_index(id.index() + regions.len()),
    };
    let applied = regions.iter().map(|region| applied(&functions[*region], behind(*region), count, names));
    let applied: Vec<Function> = applied.collect();
    let (mut all, mut own, mut known) = (Arena::new(), applied.into_iter().zip(regions), BTreeMap::new());
    let mut add = |all: &mut Arena<FunctionId, Function>| {
        for (function, region) in own.by_ref() {
            known.insert(behind(*region), all.push(function));
        }
    };
    for (id, function) in functions.iter() {
        if id.index() == first {
            add(&mut all);
        }
        let mut function = function.clone();
        renumber(&mut function.body, &behind);
        all.push(function);
    }
    add(&mut all);
    (all, known)
}

fn renumber(block: &mut Block, number: &impl Fn(FunctionId) -> FunctionId) {
    for statement in &mut block.statements {
        if let Some(callee) = statement.callee_mut() {
            *callee = number(*callee);
        }
        statement.blocks_mut().into_iter().for_each(|inner| renumber(inner, number));
    }
}

/// A function of two tuples, each of so many that a region combines.
fn applied(region: &Function, id: FunctionId, count: usize, names: &mut Names) -> Function {
    let types: Vec<_> = Kernel::result_types(region).into_iter().map(|ty| ty.element_type).collect();
    let mut values = Arena::new();
    let all = 2 * count * types.len();
    let parameters: Vec<ValueId> =
        types.iter().cycle().take(all).map(|ty| values.push(Value::scalar("", *ty))).collect();
    let (ones, others) = parameters.split_at(all / 2);
    let mut body = Block::default();
    for (one, other) in ones.chunks(types.len()).zip(others.chunks(types.len())) {
        let arguments = one.iter().chain(other).copied().map(Operand::Value).collect();
        let results: Vec<ValueId> = types.iter().map(|ty| values.push(Value::scalar("", *ty))).collect();
        body.results.extend(results.iter().copied().map(Operand::Value));
        body.statements.push(Statement::Call { values: results, function: id, indices: Vec::new(), arguments });
    }
    let name = names.take(&format!("{}.rows", region.name));
    Function { name, extents: Vec::new(), parameters, values, body }
}
