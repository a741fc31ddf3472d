//! From one index per dimension to row-major positions.
//!
//! Every access gets a single index, the element's position; memories keep their shapes, for the reader. Functions that only the
//! entry calls take the position of the element instead of its indices: an invocation knows a position, so elementwise code needs
//! no division at all (`(d0 floordiv 8) * 8 + d0 mod 8` is `d0`). Where there are more positions than 32 bits number, they keep their indices; and where the
//! entry knows these as well as the position, and a function would divide more. Invocations that fill tiles know places in these: there functions keep their indices
//! unless entry and function divide less together by a position.

use crate::kernel::{Block, Function, FunctionId, Kernel, Known, Memory, MemoryId, ScalarOp, Statement};
use std::collections::BTreeSet;
use weft_affine::{Atom, Error, Expr, Var};
use weft_hlo::ir::{Arena, ArenaId};

/// Positions that a word numbers.
const MAX_POSITIONS: i64 = 1 << 32;

/// The kernel with flat memories.
///
/// # Errors
/// If a position exceeds 64 bits; memories whose elements can be counted never do that.
pub fn flatten(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut flat = kernel.clone();
    let mut linear = vec![true; kernel.functions.len()];
    for function in kernel.functions.values() {
        called_by_functions(&function.body, &mut linear);
    }
    let has_tiles = kernel.memories.values().any(|memory| !memory.is_buffer());
    let mut entry = vec![Divided::default(); kernel.functions.len()];
    let count = if has_tiles { distinct } else { written };
    by_entry(kernel, &kernel.entry.body, Known::new(&kernel.entry.extents), count, &mut entry)?;
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    for id in ids {
        let function = &mut flat.functions[id];
        // Functions of values alone have no indices to begin with.
        linear[id.index()] &= !function.extents.is_empty() || function.parameters.is_empty();
        let positions = function.extents.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
        linear[id.index()] &= positions.is_some_and(|count| count <= MAX_POSITIONS);
        let own = flattened(kernel, function, linear[id.index()])?;
        let entry = entry[id.index()];
        *function = match linear[id.index()] && (has_tiles || entry.of_indices <= entry.of_position) {
            true => {
                let by_indices = flattened(kernel, function, false)?;
                let [mut of_position, mut of_indices] = [&own, &by_indices].map(|function| divisions(&function.body));
                if has_tiles {
                    of_position += entry.of_position;
                    of_indices += entry.of_indices;
                }
                linear[id.index()] = if has_tiles { of_position < of_indices } else { of_position <= of_indices };
                if linear[id.index()] { own } else { by_indices }
            }
            false => own,
        };
    }
    let pass = Pass { kernel, linear: &linear, outer: None };
    pass.block(&mut flat.entry.body, Known::new(&flat.entry.extents))?;
    Ok(flat)
}

/// A function with flat memories, of its indices or of the position that these are.
fn flattened(kernel: &Kernel, function: &Function, is_linear: bool) -> Result<Function, Error> {
    let mut function = function.clone();
    let outer = if is_linear { Some(linearize(&mut function)?) } else { None };
    let pass = Pass { kernel, linear: &[], outer };
    let known = Known::new(&function.extents);
    pass.block(&mut function.body, known)?;
    Ok(function)
}

/// Divisions and remainders in the indices of a block.
fn divisions(block: &Block) -> usize {
    let own = |statement: &Statement| match statement {
        Statement::Let { op, .. } => op.indices().iter().map(divided).sum(),
        _ => statement.indices().into_iter().map(divided).sum::<usize>(),
    };
    let within = |statement: &Statement| own(statement) + statement.blocks().into_iter().map(divisions).sum::<usize>();
    block.statements.iter().map(within).sum()
}

fn divided(index: &Expr) -> usize {
    let of = |atom: &Atom| match atom {
        Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => 1 + divided(inner),
        Atom::Var(_) => 0,
    };
    index.terms().iter().map(|term| of(&term.atom)).sum()
}

/// The divisions that stand in indices.
fn written(indices: &[Expr]) -> usize {
    indices.iter().map(divided).sum()
}

/// The divisions that indices take; quotient and remainder of one number by another are one.
fn distinct(indices: &[Expr]) -> usize {
    fn add<'e>(index: &'e Expr, found: &mut BTreeSet<(&'e Expr, i64)>) {
        for term in index.terms() {
            if let Atom::FloorDiv(inner, by) | Atom::Mod(inner, by) = &term.atom {
                found.insert((inner, *by));
                add(inner, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    indices.iter().for_each(|index| add(index, &mut found));
    found.len()
}

/// The divisions that the entry makes for a call of a function at the most, by what it is called with.
#[derive(Copy, Clone, Default)]
struct Divided {
    of_position: usize,
    of_indices: usize,
}

/// Counts for each function what calls of a block divide for it.
fn by_entry(
    kernel: &Kernel,
    block: &Block,
    mut known: Known,
    count: fn(&[Expr]) -> usize,
    functions: &mut [Divided],
) -> Result<(), Error> {
    for statement in &block.statements {
        if let Statement::Call { function, indices, .. } = statement {
            let position = known.simplified(&position(indices, &kernel.functions[*function].extents)?);
            let apart: Vec<Expr> = indices.iter().map(|index| known.simplified(index)).collect();
            let own = &mut functions[function.index()];
            own.of_position = own.of_position.max(count(&[position]));
            own.of_indices = own.of_indices.max(count(&apart));
        }
        let within = known.within(statement);
        for (block, known) in statement.blocks().into_iter().zip(within) {
            by_entry(kernel, block, known, count, functions)?;
        }
        known.after(statement);
    }
    Ok(())
}

fn called_by_functions(block: &Block, linear: &mut [bool]) {
    for statement in &block.statements {
        if let Some(callee) = statement.callee() {
            linear[callee.index()] = false;
        }
        statement.blocks().into_iter().for_each(|block| called_by_functions(block, linear));
    }
}

/// Makes a function take a position; returns what its former indices are in terms of it.
fn linearize(function: &mut Function) -> Result<Vec<Expr>, Error> {
    let indices = indices_at(&Expr::dim(0), &function.extents)?;
    function.extents = vec![if function.extents.contains(&0) { 0 } else { function.extents.iter().product() }];
    Ok(indices)
}

/// The indices of the element at a row-major position; zeros where there are no elements.
pub(crate) fn indices_at(position: &Expr, extents: &[i64]) -> Result<Vec<Expr>, Error> {
    if extents.contains(&0) {
        return Ok(vec![Expr::constant(0); extents.len()]);
    }
    let mut stride: i64 = extents.iter().product();
    let mut indices = Vec::with_capacity(extents.len());
    for (dimension, extent) in extents.iter().enumerate() {
        stride /= extent;
        let quotient = position.checked_floor_div(stride)?;
        indices.push(match (*extent, dimension) {
            (1, _) => Expr::constant(0),
            (_, 0) => quotient,
            (extent, _) => quotient.checked_modulo(extent)?,
        });
    }
    Ok(indices)
}

struct Pass<'a> {
    kernel: &'a Kernel,
    /// For each function whether it takes a position; none does that a function calls.
    linear: &'a [bool],
    /// What the former indices are in terms of the position.
    outer: Option<Vec<Expr>>,
}

impl Pass<'_> {
    fn block(&self, block: &mut Block, mut known: Known) -> Result<(), Error> {
        for statement in &mut block.statements {
            self.statement(statement, &known)?;
            known.after(statement);
        }
        Ok(())
    }

    fn statement(&self, statement: &mut Statement, known: &Known) -> Result<(), Error> {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, .. }
            | Statement::Store { memory, indices, .. }
            | Statement::Update { memory, indices, .. }
            | Statement::Share { memory, indices, .. } => {
                let extents = &self.memories()[*memory].shape.extents;
                *indices = vec![self.index(&position(indices, extents)?, known)?];
                return Ok(());
            }
            Statement::Matrix(op) => {
                if let Some((memory, indices)) = op.place_mut() {
                    let extents = &self.memories()[*memory].shape.extents;
                    *indices = vec![self.index(&position(indices, extents)?, known)?];
                }
                return Ok(());
            }
            Statement::Call { function, indices, .. } if self.linear.get(function.index()) == Some(&true) => {
                let extents = &self.kernel.functions[*function].extents;
                *indices = vec![self.index(&position(indices, extents)?, known)?];
                return Ok(());
            }
            _ => {}
        }
        for index in statement.indices_mut() {
            *index = self.index(index, known)?;
        }
        let within = known.within(statement);
        statement.blocks_mut().into_iter().zip(within).try_for_each(|(block, known)| self.block(block, known))
    }

    fn memories(&self) -> &Arena<MemoryId, Memory> {
        &self.kernel.memories
    }

    fn index(&self, index: &Expr, known: &Known) -> Result<Expr, Error> {
        let substituted = match &self.outer {
            None => index.clone(),
            Some(outer) => index.substitute(|variable| match variable {
                Var::Dim(dimension) => outer.get(dimension as usize).cloned(),
                _ => None,
            })?,
        };
        Ok(known.simplified(&substituted))
    }
}

/// The row-major position of an element.
fn position(indices: &[Expr], extents: &[i64]) -> Result<Expr, Error> {
    let mut position = Expr::constant(0);
    for (index, extent) in indices.iter().zip(extents) {
        position = position.checked_mul(*extent)?.checked_add(index)?;
    }
    Ok(position)
}
