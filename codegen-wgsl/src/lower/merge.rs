//! Memories of one buffer as one.

use crate::kernel::{Access, Block, Kernel, Memory, MemoryId, ScalarOp, Space, Statement};
use std::collections::BTreeMap;
use weft_affine::{Error, Expr};
use weft_hlo::ir::{Arena, ArenaId};
use weft_partition::Form;

/// The kernel in which memories that are slices of one buffer are one memory, which is indexed from the beginning of the first slice on: a tensor that is
/// given twice, slices of an arena. What is read of one through two names is then seen to be the same.
///
/// Slices become one if they are read, or else lie side by side without gaps and are written; if their elements are of one type, and each begins with a
/// whole element. Others keep their names: a slice that is read beside one that is written is still proved by itself.
///
/// # Errors
/// If a position leaves 64 bits.
pub fn merge(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut buffers: BTreeMap<u32, Vec<MemoryId>> = BTreeMap::new();
    for (id, memory) in kernel.memories.iter() {
        if let Space::Buffer { binding, .. } = memory.space {
            buffers.entry(binding).or_default().push(id);
        }
    }
    // For each memory the first one of its buffer, and elements from the beginning of that on.
    let mut places: BTreeMap<MemoryId, (MemoryId, i64)> = BTreeMap::new();
    let mut whole: BTreeMap<MemoryId, Memory> = BTreeMap::new();
    for slices in buffers.values().filter(|slices| slices.len() > 1) {
        if let Some((memory, begins)) = one(kernel, slices) {
            let first = slices[0];
            places.extend(slices.iter().copied().zip(begins).map(|(slice, begin)| (slice, (first, begin))));
            whole.insert(first, memory);
        }
    }
    let mut merged = kernel.clone();
    if whole.is_empty() {
        return Ok(merged);
    }
    let mut memories: Arena<MemoryId, Memory> = Arena::new();
    let mut become_of: Vec<(MemoryId, i64)> = Vec::with_capacity(kernel.memories.len());
    for (id, memory) in kernel.memories.iter() {
        become_of.push(match places.get(&id) {
            Some((first, begin)) if *first != id => (become_of[first.index()].0, *begin),
            place => {
                let begin = place.map_or(0, |(_, begin)| *begin);
                (memories.push(whole.remove(&id).unwrap_or_else(|| memory.clone())), begin)
            }
        });
    }
    for memory in memories.values_mut() {
        memory.part_of = memory.part_of.map(|of| become_of[of.index()].0);
    }
    merged.memories = memories;
    for function in merged.functions.values_mut().chain([&mut merged.entry]) {
        rewrite(&mut function.body, &become_of)?;
    }
    Ok(merged)
}

/// The memory that slices of a buffer are together, and the element of it that each begins with; `None` where they stay apart.
fn one(kernel: &Kernel, slices: &[MemoryId]) -> Option<(Memory, Vec<i64>)> {
    let first = &kernel.memories[slices[0]];
    let Space::Buffer { binding, access, .. } = first.space else { return None };
    let form = Form::of(first.shape.element_type)?;
    let mut spans = Vec::with_capacity(slices.len());
    for slice in slices.iter().map(|slice| &kernel.memories[*slice]) {
        let Space::Buffer { offset, access: own, .. } = slice.space else { return None };
        let is_alike = own == access && slice.shape.element_type == first.shape.element_type;
        let is_plain = slice.packed.is_none() && slice.window == first.window;
        if !is_alike || !is_plain {
            return None;
        }
        spans.push((i64::try_from(offset).ok()?, slice.shape.element_count()?));
    }
    let least = spans.iter().map(|(offset, _)| *offset).min()?;
    let mut begins = Vec::with_capacity(spans.len());
    for (offset, _) in &spans {
        let words = (offset - least) / 4;
        let parts = i64::from(form.parts());
        let is_whole = (offset - least) % 4 == 0 && words % parts == 0;
        begins.push(is_whole.then(|| (words / parts).checked_mul(i64::from(form.per_word())))??);
    }
    let mut stretches: Vec<(i64, i64)> = begins.iter().copied().zip(spans.iter().map(|(_, count)| *count)).collect();
    stretches.sort_unstable();
    let mut end = 0;
    for (begin, count) in stretches {
        let may_be = match access {
            Access::Read => true,
            Access::Write => begin == end,
            Access::Uniform | Access::ReadWrite | Access::Scattered => false,
        };
        end = may_be.then(|| begin.checked_add(count))??.max(end);
    }
    let mut memory = first.clone();
    if first.shape.element_count() != Some(end) {
        memory.shape.extents = vec![end];
    }
    memory.space = Space::Buffer { binding, offset: u64::try_from(least).ok()?, access };
    Some((memory, begins))
}

fn rewrite(block: &mut Block, become_of: &[(MemoryId, i64)]) -> Result<(), Error> {
    let place = |memory: &mut MemoryId, indices: &mut [Expr]| -> Result<(), Error> {
        let (merged, begin) = become_of[memory.index()];
        *memory = merged;
        indices.iter_mut().try_for_each(|index| {
            *index = index.checked_add_constant(begin)?;
            Ok(())
        })
    };
    for statement in &mut block.statements {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, .. }
            | Statement::Store { memory, indices, .. }
            | Statement::Merge { memory, indices, .. }
            | Statement::Update { memory, indices, .. }
            | Statement::Share { memory, indices, .. } => place(memory, indices)?,
            Statement::Matrix(op) => {
                op.matrices_mut().into_iter().for_each(|matrix| *matrix = become_of[matrix.index()].0);
                if let Some((memory, indices)) = op.place_mut() {
                    place(memory, indices)?;
                }
            }
            _ => {}
        }
        statement.blocks_mut().into_iter().try_for_each(|block| rewrite(block, become_of))?;
    }
    Ok(())
}
