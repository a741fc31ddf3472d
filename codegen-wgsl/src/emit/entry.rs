//! What entries of kernels are made of.

use crate::kernel::{Block, Condition, Function, FunctionId, Kernel, Operand, Statement, Value, ValueId};
use weft_affine::{Constraint, Expr};
use weft_hlo::ir::Arena;

/// Appends a block for where constraints hold.
pub(super) fn append(open: Vec<Constraint>, then: Block, block: &mut Block) {
    if open.is_empty() {
        block.statements.extend(then.statements);
        return;
    }
    let (condition, otherwise) = (Condition::Indices(open), Block::default());
    block.statements.push(Statement::If { values: Vec::new(), condition, then, otherwise });
}

/// Appends a call of a function of the kernel; its results, which are values of this name of the entry.
pub(super) fn call(
    (functions, values): (&Arena<FunctionId, Function>, &mut Arena<ValueId, Value>),
    function: FunctionId,
    (indices, arguments): (Vec<Expr>, Vec<Operand>),
    name: &str,
    block: &mut Block,
) -> Vec<Operand> {
    let types = Kernel::result_types(&functions[function]).into_iter();
    let results: Vec<ValueId> = types.map(|ty| values.push(Value::scalar(name, ty.element_type))).collect();
    block.statements.push(Statement::Call { values: results.clone(), function, indices, arguments });
    results.into_iter().map(Operand::Value).collect()
}
