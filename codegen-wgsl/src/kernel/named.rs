//! Names of indices, written out again.

use super::{Block, Kernel, Statement};
use std::collections::HashMap;
use weft_affine::{Error, Expr, Var};

impl Kernel {
    /// The kernel with each name of an index replaced by what it stands for, which is what proofs go by; `None` where there are no names.
    ///
    /// # Errors
    /// If an index leaves 64 bits.
    pub(crate) fn without_names(&self) -> Result<Option<Kernel>, Error> {
        if !self.bodies().any(|function| has_names(&function.body)) {
            return Ok(None);
        }
        let mut written = self.clone();
        for function in written.functions.values_mut().chain([&mut written.entry]) {
            replace(&mut function.body, &mut HashMap::new())?;
        }
        Ok(Some(written))
    }
}

fn has_names(block: &Block) -> bool {
    block
        .statements
        .iter()
        .any(|statement| matches!(statement, Statement::Name { .. }) || statement.blocks().into_iter().any(has_names))
}

/// Replaces names by what they stand for; `named` is what each does so far; no two of a function are the same.
pub(crate) fn replace(block: &mut Block, named: &mut HashMap<u32, Expr>) -> Result<(), Error> {
    for statement in &mut block.statements {
        for index in statement.indices_mut() {
            *index = written_out(index, named)?;
        }
        if let Statement::Name { variable, index } = statement {
            named.insert(*variable, index.clone());
        }
        for inner in statement.blocks_mut() {
            replace(inner, named)?;
        }
    }
    block.statements.retain(|statement| !matches!(statement, Statement::Name { .. }));
    Ok(())
}

/// An index with each name replaced by what it stands for.
pub(crate) fn written_out(index: &Expr, named: &HashMap<u32, Expr>) -> Result<Expr, Error> {
    let is_name = |variable: Var| matches!(variable, Var::Runtime(number) if named.contains_key(&number));
    if named.is_empty() || !index.find_variable(&mut |variable| is_name(variable)) {
        return Ok(index.clone());
    }
    index.substitute(|variable| match variable {
        Var::Runtime(number) => named.get(&number).cloned(),
        _ => None,
    })
}
