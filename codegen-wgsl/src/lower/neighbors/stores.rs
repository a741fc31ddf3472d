//! Elements side by side that an invocation writes, as vectors.

use super::LANES;
use crate::kernel::{
    Access, Block, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value, ValueId, is_multiple,
};
use std::collections::BTreeMap;
use weft_affine::{Error, Expr};
use weft_hlo::ir::{Arena, ArenaId, ElementType};

/// The kernel in which four elements side by side that one block writes, the first of them at a multiple of four, are written as one vector, where the
/// last of them was written.
///
/// The buffer is only written, bound as a whole, and has a multiple of four words; so have others that lie in it. All that is written to it one by
/// one becomes vectors.
pub(super) fn stores(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut counts = vec![Count::default(); kernel.memories.len()];
    let mut lowered = kernel.clone();
    if !kernel.memories.values().any(may_hold) {
        return Ok(lowered);
    }
    let entry = &mut lowered.entry;
    Pass { values: &entry.values, counts: &mut counts }.block(&entry.body, Known::new(&entry.extents))?;
    let holds = |(id, memory): (MemoryId, &Memory)| {
        let count = &counts[id.index()];
        may_hold(memory) && !count.has_others && count.alone == i64::from(LANES) * count.vectors
    };
    let is_one = |memory: &Memory| kernel.memories.iter().filter(|(_, it)| is_beside(memory, it)).all(holds);
    let chosen: Vec<bool> = kernel.memories.values().map(|memory| memory.is_buffer() && is_one(memory)).collect();
    if kernel.memories.ids().any(|id| chosen[id.index()] && counts[id.index()].vectors > 0) {
        let known = Known::new(&entry.extents);
        let mut body = std::mem::take(&mut entry.body);
        rewrite(&mut body, known, &chosen, &mut entry.values)?;
        entry.body = body;
    }
    Ok(lowered)
}

/// Whether two memories lie in one buffer.
fn is_beside(one: &Memory, other: &Memory) -> bool {
    let binding = |memory: &Memory| match memory.space {
        Space::Buffer { binding, .. } => Some(binding),
        _ => None,
    };
    binding(one).is_some() && binding(one) == binding(other)
}

fn may_hold(memory: &Memory) -> bool {
    let Space::Buffer { access: Access::Write, offset, .. } = memory.space else { return false };
    let is_word = matches!(memory.shape.element_type, ElementType::F32 | ElementType::S32 | ElementType::U32);
    let count = memory.shape.element_count().unwrap_or(0);
    let is_whole = count > 0 && count % i64::from(LANES) == 0 && memory.window.is_none();
    is_word && is_whole && offset.is_multiple_of(4 * u64::from(LANES))
}

/// What becomes of the stores to a memory.
#[derive(Copy, Clone, Default)]
struct Count {
    /// Those of one element.
    alone: i64,
    /// Vectors that these make.
    vectors: i64,
    /// Whether it is touched otherwise than by whole vectors and elements that are stored.
    has_others: bool,
}

struct Pass<'p> {
    values: &'p Arena<ValueId, Value>,
    counts: &'p mut [Count],
}

impl Pass<'_> {
    fn block(&mut self, block: &Block, mut known: Known) -> Result<(), Error> {
        for vector in vectors(block, &known, self.values)? {
            self.counts[vector.memory.index()].vectors += 1;
        }
        for statement in &block.statements {
            let lanes = |operand: &Operand| match operand {
                Operand::Value(value) => self.values[*value].lanes,
                Operand::Constant(_) => 1,
            };
            match statement {
                Statement::Store { memory, value, .. } => {
                    let count = &mut self.counts[memory.index()];
                    count.alone += i64::from(lanes(value) == 1);
                    count.has_others |= !matches!(lanes(value), 1 | LANES);
                }
                other => {
                    let memory = other.memory().map(|memory| &mut self.counts[memory.index()]);
                    memory.into_iter().for_each(|count| count.has_others = true);
                }
            }
            for (block, known) in statement.blocks().into_iter().zip(known.within(statement)) {
                self.block(block, known)?;
            }
            known.after(statement);
        }
        Ok(())
    }
}

/// Four stores of one block that make a vector.
struct Vector {
    memory: MemoryId,
    /// The position of the first element.
    index: Expr,
    /// The statements that store its elements, in their order.
    stores: [usize; LANES as usize],
}

/// A store of one element: how far it is behind what its index is without a constant, and the number of the statement.
type Store = (i64, usize);

fn vectors(block: &Block, known: &Known, values: &Arena<ValueId, Value>) -> Result<Vec<Vector>, Error> {
    let mut known = known.clone();
    // By memory and index without its constant, with what is known where the first of them stands.
    let mut groups: Vec<(MemoryId, Expr, Known, Vec<Store>)> = Vec::new();
    for (number, statement) in block.statements.iter().enumerate() {
        if let Statement::Store { memory, indices, value } = statement
            && let ([index], true) = (indices.as_slice(), is_alone(*value, values))
        {
            let at = index.constant_term();
            let base = index.checked_add_constant(-at)?;
            match groups.iter_mut().find(|(of, begin, ..)| of == memory && *begin == base) {
                Some((.., stores)) => stores.push((at, number)),
                None => groups.push((*memory, base, known.clone(), vec![(at, number)])),
            }
        }
        known.after(statement);
    }
    let mut found = Vec::new();
    for (memory, base, known, mut stores) in groups {
        stores.sort_unstable();
        let mut rest = stores.as_slice();
        while let [first, ..] = rest {
            let index = base.checked_add_constant(first.0)?;
            match rest.first_chunk::<{ LANES as usize }>() {
                Some(four)
                    if (0..).zip(four).all(|(lane, store)| store.0 == first.0 + lane)
                        && is_multiple(&index, i64::from(LANES), &known) =>
                {
                    found.push(Vector { memory, index, stores: four.map(|(_, number)| number) });
                    rest = &rest[four.len()..];
                }
                _ => rest = &rest[1..],
            }
        }
    }
    Ok(found)
}

fn is_alone(operand: Operand, values: &Arena<ValueId, Value>) -> bool {
    match operand {
        Operand::Value(value) => values[value].lanes == 1,
        Operand::Constant(_) => true,
    }
}

fn rewrite(
    block: &mut Block,
    mut known: Known,
    chosen: &[bool],
    values: &mut Arena<ValueId, Value>,
) -> Result<(), Error> {
    let own = vectors(block, &known, values)?;
    let mut written: BTreeMap<usize, [Statement; 2]> = BTreeMap::new();
    let mut replaced = vec![false; block.statements.len()];
    for Vector { memory, index, stores } in own.into_iter().filter(|vector| chosen[vector.memory.index()]) {
        let operands: Vec<Operand> = stores
            .iter()
            .filter_map(|number| match &block.statements[*number] {
                Statement::Store { value, .. } => Some(*value),
                _ => None,
            })
            .collect();
        let ty = operands.first().map_or(ElementType::F32, |operand| match operand {
            Operand::Value(value) => values[*value].element_type,
            Operand::Constant(scalar) => scalar.element_type(),
        });
        let vector = values.push(Value { name: "written".to_owned(), element_type: ty, lanes: LANES });
        stores.iter().for_each(|number| replaced[*number] = true);
        let last = stores.into_iter().max().unwrap_or_default();
        let composed = Statement::Let { value: vector, op: ScalarOp::Compose { operands } };
        written
            .insert(last, [composed, Statement::Store { memory, indices: vec![index], value: Operand::Value(vector) }]);
    }
    let mut statements = Vec::with_capacity(block.statements.len());
    for (number, mut statement) in std::mem::take(&mut block.statements).into_iter().enumerate() {
        let inner = known.within(&statement);
        for (block, known) in statement.blocks_mut().into_iter().zip(inner) {
            rewrite(block, known, chosen, values)?;
        }
        known.after(&statement);
        statements.extend(written.remove(&number).into_iter().flatten());
        if !replaced[number] {
            statements.push(statement);
        }
    }
    block.statements = statements;
    Ok(())
}
