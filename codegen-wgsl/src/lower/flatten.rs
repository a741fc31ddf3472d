//! From one index per dimension to row-major positions.
//!
//! Every `extract` gets a single index, the element's position; tensors keep their shapes, for the reader. The functions
//! that compute outputs take the position of the element instead of its indices: they are called once per invocation,
//! whose number is that position, so elementwise code needs no division at all (`(d0 floordiv 8) * 8 + d0 mod 8` is
//! `d0`).

use crate::kernel::{Block, Function, Kernel, Known, ScalarOp, Statement, Tensor, TensorId};
use weft_affine::{Constraint, Error, Expr, Var, simplify};
use weft_hlo::ir::Arena;

/// The kernel with flat tensors.
///
/// # Errors
/// If a position exceeds 64 bits; tensors whose elements can be counted never do that.
pub fn flatten(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut flat = kernel.clone();
    let is_output = |id: crate::kernel::FunctionId| kernel.entry.stores.iter().any(|store| store.function == id);
    let ids: Vec<_> = kernel.functions.ids().collect();
    for id in ids {
        let function = &mut flat.functions[id];
        let outer = if is_output(id) { linearize(function)? } else { None };
        let known = Known::new(&function.extents);
        let pass = Pass { tensors: &kernel.tensors, outer };
        pass.block(&mut function.body, &known)?;
    }
    Ok(flat)
}

/// Makes a function take a position; returns what its former indices are in terms of it.
fn linearize(function: &mut Function) -> Result<Option<Vec<Expr>>, Error> {
    if function.extents.contains(&0) {
        // It is never called; what its indices are does not matter, but it has to be called with one.
        let indices = vec![Expr::constant(0); function.extents.len()];
        function.extents = vec![0];
        return Ok(Some(indices));
    }
    let count: i64 = function.extents.iter().product();
    let mut stride = count;
    let mut indices = Vec::with_capacity(function.extents.len());
    for (dimension, extent) in function.extents.iter().enumerate() {
        stride /= extent;
        let quotient = Expr::dim(0).checked_floor_div(stride)?;
        indices.push(match (*extent, dimension) {
            (1, _) => Expr::constant(0),
            (_, 0) => quotient,
            (extent, _) => quotient.checked_modulo(extent)?,
        });
    }
    function.extents = vec![count];
    Ok(Some(indices))
}

struct Pass<'a> {
    tensors: &'a Arena<TensorId, Tensor>,
    outer: Option<Vec<Expr>>,
}

impl Pass<'_> {
    fn block(&self, block: &mut Block, known: &Known) -> Result<(), Error> {
        for statement in &mut block.statements {
            match statement {
                Statement::Let { op: ScalarOp::Extract { tensor, indices }, .. } => {
                    let mut position = Expr::constant(0);
                    for (index, extent) in indices.iter().zip(&self.tensors[*tensor].shape.extents) {
                        position = position.checked_mul(*extent)?.checked_add(index)?;
                    }
                    *indices = vec![self.index(&position, known)?];
                }
                Statement::Let { op: ScalarOp::Index { index, .. }, .. } => *index = self.index(index, known)?,
                Statement::Let { .. } => {}
                Statement::Call { indices, .. } => {
                    for index in indices {
                        *index = self.index(index, known)?;
                    }
                }
                Statement::If { condition, then, otherwise, .. } => {
                    let mut rewritten = Vec::with_capacity(condition.len());
                    for Constraint { expr, bounds } in condition.iter() {
                        rewritten.push(Constraint { expr: self.index(expr, known)?, bounds: *bounds });
                    }
                    *condition = rewritten;
                    self.block(then, &known.when(condition))?;
                    self.block(otherwise, &known.unless(condition))?;
                }
                Statement::Loop { extents, body, .. } => self.block(body, &known.in_loop(extents))?,
            }
        }
        Ok(())
    }

    fn index(&self, index: &Expr, known: &Known) -> Result<Expr, Error> {
        let substituted = match &self.outer {
            None => index.clone(),
            Some(outer) => index.substitute(|variable| match variable {
                Var::Dim(dimension) => outer.get(dimension as usize).cloned(),
                _ => None,
            })?,
        };
        Ok(simplify(&substituted, &known.ranges, known.facts()))
    }
}
