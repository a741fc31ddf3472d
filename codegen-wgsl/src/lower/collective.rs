//! What invocations do together, as what devices have: trees in workgroup memory, and atomic operations.

mod tiles;
mod update;
mod workgroup;

use super::copy::rename;
use super::inline::drop_functions;
use crate::kernel::{
    Block, Combination, Condition, FunctionId, Kernel, MemoryId, Operand, ScalarOp, Scope, Statement, Value, ValueId,
};
use std::collections::HashMap;
use tiles::Tiles;
use weft_affine::{Expr, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ElementType, Span};
use weft_partition::Target;

/// The kernel without collectives of workgroups, and with updates as devices make them.
///
/// A reduction becomes a tree in workgroup memory: each invocation writes its value, then neighbors are combined, then neighbors of what
/// that gave, with a barrier after each level. A scan has each invocation combine its value with the one an ever greater distance before. Both
/// take any number of invocations and keep their order. Where the order is free ([`Combination::Combine`]), the first half takes in the second one on each level,
/// so that neighbors touch neighbors; and if the target has subgroups, what a whole workgroup has, of a multiple of the largest size, is combined by these: neither their number nor which invocations are in
/// one is known before the run, so each leaves what it comes to in a tile, which has room for as many as there are of the least size, and then combines what all have left.
///
/// Collectives of one kernel share their memory: all but the first wait before they
/// write it. Where a condition on values stands around something that waits, results are read with a guarantee that all invocations
/// have the same ([`Statement::Share`]), and subgroups are not asked.
///
/// An update by a function that a device has an atomic operation for becomes that operation ([`Combiner::Atomic`]); what only one invocation
/// sees is read, combined and written. Other updates stay: they are written as loops that exchange an element for what becomes of it.
///
/// Elements that share a word of a buffer with others cannot be updated yet. Collectives of subgroups stay, if the target has subgroups.
/// Collectives of vectors combine lane by lane.
///
/// [`Combiner::Atomic`]: crate::kernel::Combiner::Atomic
///
/// # Errors
/// `HLO302` if an index leaves 64 bits, `HLO420` for a collective of a subgroup where the target has none, `HLO413` for one of vectors and for updates of packed
/// elements, `HLO417` where the trees take more
/// workgroup memory than the target has.
pub fn collective(kernel: &Kernel, target: &Target) -> Result<Kernel, Diagnostics> {
    if !kernel.entry.body.statements.iter().any(is_together) {
        return Ok(kernel.clone());
    }
    let mut lowered = kernel.clone();
    let mut body = std::mem::take(&mut lowered.entry.body);
    let tiles = Tiles::new(kernel);
    let needs_sharing = decides_waiting(&body);
    let values = &mut lowered.entry.values;
    let mut pass = Pass { kernel, target, values, tiles, needs_sharing, is_first: true, known: HashMap::new() };
    pass.block(&mut body, false)?;
    let Pass { tiles, .. } = pass;
    tiles.add_to(&mut lowered.memories);
    lowered.entry.body = body;
    within_memory(&lowered, target)?;
    let stays = called(&lowered);
    drop_functions(&mut lowered, &stays);
    Ok(lowered)
}

/// For each function whether the entry still comes to it.
fn called(kernel: &Kernel) -> Vec<bool> {
    let mut called = vec![false; kernel.functions.len()];
    kernel.entry.callees().into_iter().for_each(|callee| called[callee.index()] = true);
    // Callers stand before callees.
    for (id, function) in kernel.functions.iter() {
        if called[id.index()] {
            function.callees().into_iter().for_each(|callee| called[callee.index()] = true);
        }
    }
    called
}

/// Whether a statement, or one within it, is a collective or an update.
fn is_together(statement: &Statement) -> bool {
    matches!(statement, Statement::Update { .. } | Statement::Collective { .. })
        || statement.blocks().into_iter().any(|block| block.statements.iter().any(is_together))
}

/// Whether values decide if invocations wait: all of them have to decide alike, and the device's compiler has to see that they do.
fn decides_waiting(block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        let by_value = match statement {
            Statement::If { condition: Condition::Indices(tests), .. } => {
                tests.iter().any(|test| test.expr.find_variable(&mut |variable| matches!(variable, Var::Runtime(_))))
            }
            Statement::If { .. } | Statement::While { .. } => true,
            _ => false,
        };
        let blocks = statement.blocks();
        by_value && blocks.iter().any(|block| waits(block)) || blocks.into_iter().any(decides_waiting)
    })
}

fn waits(block: &Block) -> bool {
    block.statements.iter().any(|statement| statement.waits() || statement.blocks().into_iter().any(waits))
}

fn within_memory(kernel: &Kernel, target: &Target) -> Result<(), Diagnostics> {
    let (bytes, most) = (kernel.workgroup_bytes(), i128::from(target.max_workgroup_storage_bytes));
    if bytes.is_some_and(|bytes| bytes <= most) {
        return Ok(());
    }
    let bytes = bytes.map_or_else(|| "uncountably many".to_owned(), |bytes| bytes.to_string());
    let message =
        format!("with its collectives the kernel takes {bytes} bytes of workgroup memory and the target allows {most}");
    Err(Diagnostic::new("HLO417", Span::default(), message).into())
}

/// One collective.
struct Collective {
    values: Vec<ValueId>,
    scope: Scope,
    combination: Combination,
    function: FunctionId,
    operands: Vec<Operand>,
}

struct Pass<'p> {
    kernel: &'p Kernel,
    target: &'p Target,
    /// The values of the entry.
    values: &'p mut Arena<ValueId, Value>,
    tiles: Tiles,
    /// Whether results are read with a guarantee that they are the same in all invocations.
    needs_sharing: bool,
    /// Whether no collective stands before.
    is_first: bool,
    /// What values are whose collectives are gone.
    known: HashMap<ValueId, Operand>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block, in_loop: bool) -> Result<(), Diagnostics> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            let repeats = in_loop || matches!(statement, Statement::Loop { .. } | Statement::While { .. });
            for inner in statement.blocks_mut() {
                self.block(inner, repeats)?;
            }
            match statement {
                Statement::Collective { values, scope, combination, function, operands, tiles } => {
                    if scope == Scope::Subgroup {
                        if values.iter().any(|value| self.values[*value].lanes > 1) {
                            let message = "a collective of vectors of a subgroup cannot be compiled yet";
                            return Err(Diagnostic::new("HLO413", Span::default(), message).into());
                        }
                        self.has_subgroups()?;
                        statements.push(Statement::Collective {
                            values,
                            scope,
                            combination,
                            function,
                            operands,
                            tiles,
                        });
                        continue;
                    }
                    let collective = Collective { values, scope, combination, function, operands };
                    self.workgroup(collective, in_loop, &mut statements).map_err(|error| {
                        Diagnostics::from(Diagnostic::new("HLO302", Span::default(), error.to_string()))
                    })?;
                }
                Statement::Update { .. } => self.update(statement, &mut statements)?,
                other => statements.push(other),
            }
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
        Ok(())
    }

    fn has_subgroups(&self) -> Result<(), Diagnostics> {
        if self.target.features.subgroup.is_some() {
            return Ok(());
        }
        let message =
            "a collective of a subgroup cannot be compiled for a target without subgroups; one of the workgroup can";
        Err(Diagnostic::new("HLO420", Span::default(), message).into())
    }

    fn new_value(&mut self, name: &str, element_type: ElementType) -> ValueId {
        self.values.push(Value::scalar(name, element_type))
    }

    /// New values like these.
    fn alike(&mut self, values: &[ValueId]) -> Vec<ValueId> {
        let like: Vec<Value> = values.iter().map(|value| self.values[*value].clone()).collect();
        like.into_iter().map(|value| self.values.push(value)).collect()
    }

    /// New values like these, read from as many tiles.
    fn read(
        &mut self,
        like: &[ValueId],
        tiles: &[MemoryId],
        index: &Expr,
        statements: &mut Vec<Statement>,
    ) -> Vec<Operand> {
        let read = self.alike(like);
        for (value, memory) in read.iter().zip(tiles) {
            self.read_into(*value, *memory, index, statements);
        }
        read.into_iter().map(Operand::Value).collect()
    }

    /// Reads a value from its tile. The first lanes of all invocations stand there before the second ones.
    fn read_into(&mut self, value: ValueId, memory: MemoryId, index: &Expr, statements: &mut Vec<Statement>) {
        let Value { lanes, .. } = self.values[value];
        let threads = self.kernel.threads();
        let extract = |lane: u32| {
            let indices = vec![index.clone() + i64::from(lane) * threads];
            ScalarOp::Extract { memory, indices }
        };
        if lanes == 1 {
            statements.push(Statement::Let { value, op: extract(0) });
            return;
        }
        let mut operands = Vec::with_capacity(lanes as usize);
        for lane in 0..lanes {
            let scalar = Value { lanes: 1, ..self.values[value].clone() };
            let scalar = self.values.push(scalar);
            statements.push(Statement::Let { value: scalar, op: extract(lane) });
            operands.push(Operand::Value(scalar));
        }
        statements.push(Statement::Let { value, op: ScalarOp::Compose { operands } });
    }

    /// Writes values to their tiles.
    fn store(&mut self, tiles: &[MemoryId], index: &Expr, values: &[Operand], statements: &mut Vec<Statement>) {
        let threads = self.kernel.threads();
        for (memory, operand) in tiles.iter().zip(values) {
            let lanes = match operand {
                Operand::Value(value) => self.values[*value].lanes,
                Operand::Constant(_) => 1,
            };
            for lane in 0..lanes {
                let mut value = *operand;
                if let (Operand::Value(whole), true) = (operand, lanes > 1) {
                    let scalar = Value { lanes: 1, ..self.values[*whole].clone() };
                    let scalar = self.values.push(scalar);
                    statements.push(Statement::Let { value: scalar, op: ScalarOp::Lane { operand: *operand, lane } });
                    value = Operand::Value(scalar);
                }
                let indices = vec![index.clone() + i64::from(lane) * threads];
                statements.push(Statement::Store { memory: *memory, indices, value });
            }
        }
    }

    /// How many elements of a tile the subgroups of a workgroup need, if what all its invocations have is combined by way of these.
    fn subgroups(&self, collective: &Collective, count: i64) -> Option<i64> {
        let sizes = self.target.features.subgroup?;
        let (least, most) = (i64::from(sizes.min), i64::from(sizes.max));
        let threads = self.kernel.threads();
        // Drivers disagree on how many subgroups there are where one lacks invocations.
        if threads % most != 0 {
            return None;
        }
        let is_free = collective.combination == Combination::Combine && count == threads && !self.needs_sharing;
        let is_scalar = collective.values.iter().all(|value| self.values[*value].lanes == 1);
        (is_free && is_scalar).then_some((threads + least - 1) / least)
    }
}
