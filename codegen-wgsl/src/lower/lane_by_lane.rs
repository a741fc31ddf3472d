//! What is folded of vectors in a row, one lane after the other.

use super::tidy::tidy;
use super::weight::library_function;
use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value, ValueId};
use std::collections::{HashMap, HashSet};
use weft_hlo::ir::{Arena, ArenaId};
use weft_partition::Target;

/// Operations in a row that are computed lane by lane.
const FEWEST: usize = 4;

/// The kernel in which at least four operations of vectors that stand in a row, each but the last read by one of the others alone, are done for one lane after the other,
/// where the target has [few registers](weft_partition::Hardware::few_registers); any other as it is. The results are the same to the bit.
///
/// SwiftShader has a register for each lane of a vector, goes through vectors operation by operation, and finds two registers free within a tile of a product: the sums of four
/// lanes go to memory and come back for each product, that of one lane has room to stay.
#[must_use]
pub fn lane_by_lane(kernel: &Kernel, target: &Target) -> Kernel {
    let mut lowered = kernel.clone();
    if target.hardware.few_registers {
        for function in lowered.functions.values_mut().chain([&mut lowered.entry]) {
            let mut uses = vec![0; function.values.len()];
            count(&function.body, &mut uses);
            let mut body = std::mem::take(&mut function.body);
            let is_changed = Rows { uses: &uses, values: &mut function.values }.block(&mut body);
            function.body = body;
            if is_changed {
                drop_unread(function);
            }
        }
    }
    lowered
}

/// How often each value is read.
fn count(block: &Block, uses: &mut [usize]) {
    let mut read = |operand: Operand| {
        if let Operand::Value(value) = operand {
            uses[value.index()] += 1;
        }
    };
    block.results.iter().copied().for_each(&mut read);
    block.statements.iter().flat_map(Statement::operands).for_each(read);
    block.statements.iter().flat_map(Statement::blocks).for_each(|block| count(block, uses));
}

/// Leaves out scalars in every lane that nothing reads any more.
fn drop_unread(function: &mut Function) {
    fn of_block(block: &mut Block, uses: &[usize]) {
        let is_unread = |statement: &Statement| matches!(statement, Statement::Let { value, op: ScalarOp::Splat { .. } } if uses[value.index()] == 0);
        block.statements.retain(|statement| !is_unread(statement));
        block.statements.iter_mut().flat_map(Statement::blocks_mut).for_each(|block| of_block(block, uses));
    }
    let mut uses = vec![0; function.values.len()];
    count(&function.body, &mut uses);
    of_block(&mut function.body, &uses);
    tidy(function);
}

struct Rows<'f> {
    /// How often each value is read, of those that the function had.
    uses: &'f [usize],
    values: &'f mut Arena<ValueId, Value>,
}

impl Rows<'_> {
    /// Whether there is such a row in the block.
    fn block(&mut self, block: &mut Block) -> bool {
        let mut is_changed = false;
        for inner in block.statements.iter_mut().flat_map(Statement::blocks_mut) {
            is_changed |= self.block(inner);
        }
        let rows = self.rows(block);
        if rows.is_empty() {
            return is_changed;
        }
        let within: HashSet<usize> = rows.values().flatten().copied().collect();
        let splats: HashMap<ValueId, Operand> = block.statements.iter().filter_map(splat).collect();
        let mut known = HashMap::new();
        let mut statements = Vec::with_capacity(block.statements.len());
        for (place, statement) in block.statements.iter().enumerate() {
            match rows.get(&place) {
                Some(row) => {
                    let row: Vec<(ValueId, &ScalarOp)> =
                        row.iter().filter_map(|place| vector_of(&block.statements[*place])).collect();
                    self.by_lane(&row, &splats, &mut known, &mut statements);
                }
                None if within.contains(&place) => {}
                None => statements.push(statement.clone()),
            }
        }
        block.statements = statements;
        true
    }

    /// The places of the operations in each row, by that of the last one.
    fn rows(&self, block: &Block) -> HashMap<usize, Vec<usize>> {
        // The row that each value is the last one of.
        let mut open: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (place, statement) in block.statements.iter().enumerate() {
            let Some((value, op)) = vector_of(statement) else { continue };
            if self.values[value].lanes == 1 || !is_step(op, self.values) {
                continue;
            }
            let mut row: Vec<usize> = Vec::new();
            for operand in op.operands() {
                if let Operand::Value(read) = operand
                    && self.uses[read.index()] == 1
                    && let Some(before) = open.remove(&read)
                {
                    if row.is_empty() {
                        row = before;
                    } else {
                        row.extend(before);
                        row.sort_unstable();
                    }
                }
            }
            row.push(place);
            open.insert(value, row);
        }
        let long = open.into_values().filter(|row| row.len() >= FEWEST);
        long.filter_map(|row| Some((*row.last()?, row))).collect()
    }

    /// The operations of a row for one lane after the other, and the vector of what the last one yields.
    fn by_lane(
        &mut self,
        row: &[(ValueId, &ScalarOp)],
        splats: &HashMap<ValueId, Operand>,
        known: &mut HashMap<(ValueId, u32), ValueId>,
        out: &mut Vec<Statement>,
    ) {
        let Some((last, _)) = row.last() else { return };
        let mut yielded = Vec::new();
        for lane in 0..self.values[*last].lanes {
            let mut scalars: HashMap<ValueId, ValueId> = HashMap::new();
            for (value, op) in row {
                let mut own = (*op).clone();
                for operand in own.operands_mut() {
                    let Operand::Value(read) = *operand else { continue };
                    if let Some(scalar) = scalars.get(&read) {
                        *operand = Operand::Value(*scalar);
                    } else if let Some(scalar) = splats.get(&read) {
                        *operand = *scalar;
                    } else if self.values[read].lanes > 1 {
                        let scalar = *known.entry((read, lane)).or_insert_with(|| {
                            let scalar = self.values.push(Value { lanes: 1, ..self.values[read].clone() });
                            out.push(Statement::Let { value: scalar, op: ScalarOp::Lane { operand: *operand, lane } });
                            scalar
                        });
                        *operand = Operand::Value(scalar);
                    }
                }
                let scalar = self.values.push(Value { lanes: 1, ..self.values[*value].clone() });
                out.push(Statement::Let { value: scalar, op: own });
                scalars.insert(*value, scalar);
            }
            yielded.extend(scalars.get(last).map(|scalar| Operand::Value(*scalar)));
        }
        out.push(Statement::Let { value: *last, op: ScalarOp::Compose { operands: yielded } });
    }
}

/// What a statement computes, and how.
fn vector_of(statement: &Statement) -> Option<(ValueId, &ScalarOp)> {
    match statement {
        Statement::Let { value, op } => Some((*value, op)),
        _ => None,
    }
}

/// The scalar that a vector has in every lane.
fn splat(statement: &Statement) -> Option<(ValueId, Operand)> {
    match statement {
        Statement::Let { value, op: ScalarOp::Splat { operand } } => Some((*value, *operand)),
        _ => None,
    }
}

/// Whether rows are made of this operation.
fn is_step(op: &ScalarOp, values: &Arena<ValueId, Value>) -> bool {
    let is_plain = matches!(op, ScalarOp::Binary { .. } | ScalarOp::MultiplyAdd { .. });
    is_plain && library_function(op, values).is_none()
}
