//! Registers of an invocation as values.

use super::copy::rename;
use super::tidy::tidy;
use super::unroll::written_out;
use super::weight::weight;
use crate::kernel::{Block, Kernel, MemoryId, Operand, Space, Statement, Value, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use weft_affine::Error;
use weft_hlo::ir::{Arena, ArenaId};

/// Statements that the rounds of a loop that touches registers may become, those of called functions and of the library included.
const MAX_STATEMENTS: u64 = 4096;

/// Rounds of a loop that is written out although each of its rounds touches the same registers: those of two squares by two take 0.65 of the time of a loop on SwiftShader.
const MAX_ROUNDS: u64 = 8;

/// The kernel in which elements of registers are the values that are stored there.
///
/// Loops by whose rounds it depends which register is touched are written out, since that has to be known, and so are short ones around them. What is read before it is stored in the same block or one
/// around it, or at an index that is no number, leaves the registers what they are: an array of each invocation.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn registers(kernel: &Kernel) -> Result<Kernel, Error> {
    let of_thread = |memory: MemoryId| kernel.memories[memory].space == Space::Thread;
    if !kernel.memories.ids().any(of_thread) {
        return Ok(kernel.clone());
    }
    let mut weights = vec![0u64; kernel.functions.len()];
    let functions: Vec<_> = kernel.functions.iter().collect();
    // Callees stand behind their callers.
    for (id, function) in functions.into_iter().rev() {
        weights[id.index()] = weight(&function.body, &function.values, &weights);
    }
    let mut lowered = kernel.clone();
    let is_written_out = |body: &Block, rounds: u64, values: &Arena<ValueId, Value>| {
        let is_short = rounds <= MAX_ROUNDS && touches(body, &of_thread);
        let is_meant = is_short || has_open_registers(body, &of_thread);
        is_meant && rounds.saturating_mul(weight(body, values, &weights)) <= MAX_STATEMENTS
    };
    written_out(&mut lowered.entry, &[], &is_written_out)?;
    let mut values: BTreeSet<MemoryId> = kernel.memories.ids().filter(|memory| of_thread(*memory)).collect();
    let mut pass = Pass { of_thread: &of_thread, stays: BTreeSet::new(), known: HashMap::new() };
    pass.judge(&lowered.entry.body, &mut BTreeSet::new());
    values.retain(|memory| !pass.stays.contains(memory));
    let is_value = |memory: MemoryId| values.contains(&memory);
    let mut pass = Pass { of_thread: &is_value, stays: BTreeSet::new(), known: HashMap::new() };
    pass.replace(&mut lowered.entry.body, &mut BTreeMap::new());
    let mut image = vec![None; kernel.memories.len()];
    let mut memories = Arena::new();
    for (id, memory) in kernel.memories.iter().filter(|(id, _)| !values.contains(id)) {
        image[id.index()] = Some(memories.push(memory.clone()));
    }
    for memory in memories.values_mut() {
        memory.part_of = memory.part_of.and_then(|whole| image[whole.index()]);
    }
    lowered.memories = memories;
    for function in lowered.functions.values_mut().chain([&mut lowered.entry]) {
        renumber(&mut function.body, &image);
    }
    tidy(&mut lowered.entry);
    Ok(lowered)
}

/// Whether a block touches registers.
fn touches(block: &Block, of: &dyn Fn(MemoryId) -> bool) -> bool {
    block.statements.iter().any(|statement| {
        statement.memory().is_some_and(of) || statement.blocks().into_iter().any(|block| touches(block, of))
    })
}

/// Whether a block touches registers of which it is not known which they are; the loops within it are written out.
fn has_open_registers(block: &Block, of: &dyn Fn(MemoryId) -> bool) -> bool {
    block.statements.iter().any(|statement| {
        statement.memory().is_some_and(of) && register(statement).is_none()
            || statement.blocks().into_iter().any(|block| has_open_registers(block, of))
    })
}

/// The memories that are stored to within a block.
fn stored(block: &Block, found: &mut BTreeSet<MemoryId>) {
    for statement in &block.statements {
        if statement.is_effect() {
            found.extend(statement.memory());
        }
        statement.blocks().into_iter().for_each(|block| stored(block, found));
    }
}

/// A register: which memory, and the position there.
type Register = (MemoryId, i64);

struct Pass<'p> {
    of_thread: &'p dyn Fn(MemoryId) -> bool,
    /// Memories whose elements cannot be values.
    stays: BTreeSet<MemoryId>,
    /// What values are whose statements are gone.
    known: HashMap<ValueId, Operand>,
}

impl Pass<'_> {
    /// Which memories stay; `written` are the registers that hold something here.
    fn judge(&mut self, block: &Block, written: &mut BTreeSet<Register>) {
        for statement in &block.statements {
            if let Some(memory) = statement.memory().filter(|memory| (self.of_thread)(*memory)) {
                match (register(statement), statement) {
                    (Some(register), Statement::Store { .. }) => {
                        written.insert(register);
                    }
                    (Some(register), Statement::Let { .. }) if written.contains(&register) => {}
                    _ => {
                        self.stays.insert(memory);
                    }
                }
            }
            for block in statement.blocks() {
                // What a block changes is known neither before, since it may be a loop, nor behind it.
                let mut changed = BTreeSet::new();
                stored(block, &mut changed);
                written.retain(|(memory, _)| !changed.contains(memory));
                self.judge(block, &mut written.clone());
            }
        }
    }

    fn replace(&mut self, block: &mut Block, held: &mut BTreeMap<Register, Operand>) {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            if statement.memory().is_some_and(self.of_thread)
                && let Some(register) = register(&statement)
            {
                match statement {
                    Statement::Store { value, .. } => {
                        held.insert(register, value);
                    }
                    Statement::Let { value, .. } => {
                        self.known.extend(held.get(&register).map(|held| (value, *held)));
                    }
                    _ => {}
                }
                continue;
            }
            statement.blocks_mut().into_iter().for_each(|block| self.replace(block, &mut held.clone()));
            statements.push(statement);
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
    }
}

/// The register that a statement touches, if that is a number.
fn register(statement: &Statement) -> Option<Register> {
    let memory = statement.memory()?;
    let [index] = statement.indices()[..] else { return None };
    Some((memory, index.as_constant()?))
}

fn renumber(block: &mut Block, image: &[Option<MemoryId>]) {
    for statement in &mut block.statements {
        if let Statement::Matrix(op) = statement {
            for matrix in op.matrices_mut() {
                if let Some(image) = image[matrix.index()] {
                    *matrix = image;
                }
            }
        }
        if let Some(memory) = statement.memory_mut()
            && let Some(kept) = image[memory.index()]
        {
            *memory = kept;
        }
        statement.blocks_mut().into_iter().for_each(|block| renumber(block, image));
    }
}
