//! Elements side by side that an invocation reads, or writes, as vectors.

mod stores;

use crate::kernel::{
    Access, Block, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value, ValueId, is_multiple,
};
use std::collections::BTreeSet;
use weft_affine::{Error, Expr};
use weft_hlo::ir::Arena;

/// Lanes of a vector.
const LANES: u32 = 4;

/// The kernel in which four elements side by side that one block reads, the first of them at a multiple of four, are read as one vector, and so
/// are those that one block writes.
///
/// The buffer is only read, or only written, bound as a whole, and has a multiple of four elements; so have others that lie in it. What is written
/// becomes vectors if all of it does.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn neighbors(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut others = BTreeSet::new();
    for function in kernel.functions.values().chain([&kernel.entry]) {
        other_vectors(kernel, &function.values, &function.body, &mut others);
    }
    let mut lowered = kernel.clone();
    for function in lowered.functions.values_mut().chain([&mut lowered.entry]) {
        let mut body = std::mem::take(&mut function.body);
        let known = Known::new(&function.extents);
        Pass { kernel, others: &others, values: &mut function.values }.block(&mut body, known)?;
        function.body = body;
    }
    stores::stores(&lowered)
}

/// Adds the memories that a block reads as vectors of other lanes: a buffer is an array of vectors of one kind.
fn other_vectors(kernel: &Kernel, values: &Arena<ValueId, Value>, block: &Block, found: &mut BTreeSet<u32>) {
    for statement in &block.statements {
        if let Statement::Let { value, op: ScalarOp::Extract { memory, .. } } = statement
            && !matches!(values[*value].lanes, 1 | LANES)
            && let Space::Buffer { binding, .. } = kernel.memories[*memory].space
        {
            found.insert(binding);
        }
        statement.blocks().into_iter().for_each(|block| other_vectors(kernel, values, block, found));
    }
}

/// An element that is read: where, and by which statement of its block.
struct Read {
    statement: usize,
    value: ValueId,
    /// How far it is behind what its index is without a constant.
    at: i64,
}

/// Elements of one memory whose indices differ by constants.
struct Group {
    memory: MemoryId,
    /// The index without its constant.
    base: Expr,
    reads: Vec<Read>,
    /// What is known where the first of them is read.
    known: Known,
}

struct Pass<'p> {
    kernel: &'p Kernel,
    /// The bindings of buffers that are read as vectors of other lanes.
    others: &'p BTreeSet<u32>,
    values: &'p mut Arena<ValueId, Value>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block, mut known: Known) -> Result<(), Error> {
        let mut groups: Vec<Group> = Vec::new();
        for (number, statement) in block.statements.iter_mut().enumerate() {
            if let Statement::Let { value, op: ScalarOp::Extract { memory, indices } } = statement
                && let [index] = indices.as_slice()
                && self.values[*value].lanes == 1
                && self.holds_vectors(*memory)
            {
                let at = index.constant_term();
                let base = index.checked_add_constant(-at)?;
                let read = Read { statement: number, value: *value, at };
                match groups.iter_mut().find(|group| group.memory == *memory && group.base == base) {
                    Some(group) => group.reads.push(read),
                    None => groups.push(Group { memory: *memory, base, reads: vec![read], known: known.clone() }),
                }
            }
            let inner = known.within(statement);
            for (block, known) in statement.blocks_mut().into_iter().zip(inner) {
                self.block(block, known)?;
            }
            known.after(statement);
        }
        let mut vectors: Vec<(usize, Statement)> = Vec::new();
        for group in groups {
            self.group(group, &mut block.statements, &mut vectors)?;
        }
        // Those that stand furthest behind first, so that places stay what they are.
        vectors.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        vectors.into_iter().for_each(|(place, vector)| block.statements.insert(place, vector));
        Ok(())
    }

    /// Reads vectors where four elements of a group make one; adds these with the statements that they stand before.
    fn group(
        &mut self,
        group: Group,
        statements: &mut [Statement],
        vectors: &mut Vec<(usize, Statement)>,
    ) -> Result<(), Error> {
        let Group { memory, base, mut reads, known } = group;
        reads.sort_by_key(|read| (read.at, read.statement));
        while let Some(first) = reads.first() {
            let at = first.at;
            let end = at.saturating_add(i64::from(LANES));
            let (own, rest): (Vec<Read>, Vec<Read>) = reads.into_iter().partition(|read| read.at < end);
            let is_whole = (at..end).all(|at| own.iter().any(|read| read.at == at));
            let index = base.checked_add_constant(at)?;
            if !is_whole || !is_multiple(&index, i64::from(LANES), &known) {
                // The next may begin a vector.
                reads = own.into_iter().filter(|read| read.at != at).chain(rest).collect();
                continue;
            }
            let place = own.iter().map(|read| read.statement).min().unwrap_or(0);
            let like = Value { lanes: LANES, ..self.values[own[0].value].clone() };
            let vector = self.values.push(like);
            for read in own {
                let lane = u32::try_from(read.at - at).unwrap_or(0);
                let op = ScalarOp::Lane { operand: Operand::Value(vector), lane };
                statements[read.statement] = Statement::Let { value: read.value, op };
            }
            let op = ScalarOp::Extract { memory, indices: vec![index] };
            vectors.push((place, Statement::Let { value: vector, op }));
            reads = rest;
        }
        Ok(())
    }

    /// Whether vectors may be read of a memory: the array of its buffer may be one of vectors.
    fn holds_vectors(&self, memory: MemoryId) -> bool {
        let may = |memory: &Memory| {
            let count = memory.shape.element_count().unwrap_or(0);
            let Space::Buffer { access: Access::Read, offset, binding, .. } = memory.space else { return false };
            let is_whole = count > 0
                && count % i64::from(LANES) == 0
                && memory.window.is_none()
                && !self.others.contains(&binding);
            is_whole && offset.is_multiple_of(4 * u64::from(LANES))
        };
        self.kernel.in_one_buffer(&self.kernel.memories[memory]).all(may) && self.kernel.memories[memory].is_buffer()
    }
}
