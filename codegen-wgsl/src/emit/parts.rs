//! Operands that are bound part by part.
//!
//! Where a dispatch may read anything of a tensor that is larger than a kernel may bind, all of it is bound, by several bindings side by
//! side. A read then looks which part its element lies in: by halves, so that it takes as many tests as the number of parts has digits.

use crate::kernel::{
    Block, Condition, Function, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value, ValueId,
    Window,
};
use crate::wgsl::Names;
use std::collections::BTreeMap;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Arena, ArenaId};
use weft_partition::Form;

/// The parts of a tensor: all of the same size, but for the last.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// How many.
    count: i64,
    /// Elements of each.
    elements: i64,
    /// Words of each.
    words: i64,
}

impl Parts {
    /// The fewest parts of a memory that have `most` words each at most, and begin at multiples of `alignment` and with a whole element;
    /// `None` where there are none.
    pub(super) fn of(memory: &Memory, alignment: i64, most: i64) -> Option<Parts> {
        let (form, words) = (Form::of(memory.shape.element_type)?, memory.words()?);
        let (of_element, per_word) = (i64::from(form.parts()), i64::from(form.per_word()));
        // Both are powers of two.
        let step = alignment.max(of_element);
        let each = most / step * step;
        let count = words.checked_add(each - 1)?.checked_div(each)?;
        (each > 0).then_some(Parts { count, elements: each / of_element * per_word, words: each })
    }

    /// How many there are.
    pub(super) fn count(self) -> i64 {
        self.count
    }
}

/// The kernel with some of the memories that it reads in so many parts, and what its other memories are then.
///
/// # Errors
/// If the position of an element leaves 64 bits.
pub(super) fn in_parts(
    kernel: &Kernel,
    parts: &BTreeMap<MemoryId, Parts>,
) -> Result<(Kernel, BTreeMap<MemoryId, MemoryId>), Error> {
    let mut names = Names::globals();
    let given = kernel.memories.values().map(|memory| &memory.name);
    given.chain(kernel.functions.values().map(|function| &function.name)).for_each(|name| {
        names.take(name);
    });
    let mut memories: Arena<MemoryId, Memory> = Arena::new();
    let mut firsts: BTreeMap<MemoryId, MemoryId> = BTreeMap::new();
    for (id, memory) in kernel.memories.iter() {
        let first = MemoryId::from_index(memories.len());
        firsts.insert(id, first);
        let binding = |part: i64| binding(kernel, parts, memory, part);
        let Some(Parts { count, words, .. }) = parts.get(&id).copied() else {
            memories.push(Memory { space: binding(0), ..memory.clone() });
            continue;
        };
        for part in 0..count {
            let begin = part.saturating_mul(words);
            let size = words.min(memory.words().unwrap_or(i64::MAX).saturating_sub(begin));
            let window = Some(Window { first: Expr::constant(begin), size });
            let (name, part_of) = match part {
                0 => (memory.name.clone(), None),
                _ => (names.take(&memory.name), Some(first)),
            };
            memories.push(Memory { name, space: binding(part), window, part_of, ..memory.clone() });
        }
    }
    let (mut functions, mut entry) = (kernel.functions.clone(), kernel.entry.clone());
    for function in functions.values_mut().chain([&mut entry]) {
        let mut body = std::mem::take(&mut function.body);
        let known = Known::new(&function.extents);
        Pass { kernel, parts, firsts: &firsts, function }.block(&mut body, known)?;
        function.body = body;
    }
    let (name, windows) = (kernel.name.clone(), kernel.windows);
    Ok((Kernel { name, memories, functions, entry, windows, lanes: kernel.lanes, rolled: kernel.rolled }, firsts))
}

/// Where a part of a memory is bound, after those of all bindings before.
fn binding(kernel: &Kernel, parts: &BTreeMap<MemoryId, Parts>, memory: &Memory, part: i64) -> Space {
    let Space::Buffer { binding, offset, access } = memory.space else { return memory.space };
    let mut counts: BTreeMap<u32, i64> = BTreeMap::new();
    for (id, other) in kernel.memories.iter() {
        if let Space::Buffer { binding: own, .. } = other.space
            && own < binding
        {
            let count = parts.get(&id).map_or(1, |parts| parts.count);
            counts.entry(own).and_modify(|most| *most = count.max(*most)).or_insert(count);
        }
    }
    let before = counts.values().fold(part, |sum, count| sum.saturating_add(*count));
    Space::Buffer { binding: u32::try_from(before).unwrap_or(u32::MAX), offset, access }
}

struct Pass<'p> {
    kernel: &'p Kernel,
    parts: &'p BTreeMap<MemoryId, Parts>,
    /// What memories have become, and the first parts of those that are divided.
    firsts: &'p BTreeMap<MemoryId, MemoryId>,
    function: &'p mut Function,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block, mut known: Known) -> Result<(), Error> {
        for statement in &mut block.statements {
            let within = known.within(statement);
            statement.blocks_mut().into_iter().zip(within).try_for_each(|(block, known)| self.block(block, known))?;
            known.after(statement);
            match statement {
                Statement::Let { op: ScalarOp::Extract { memory, indices }, value } => {
                    let first = self.firsts.get(memory).copied().unwrap_or(*memory);
                    match self.parts.get(memory) {
                        None => *memory = first,
                        Some(parts) => {
                            let element = Element { first, parts: *parts, value: *value };
                            *statement = self.read(&element, *memory, std::mem::take(indices), &known)?;
                        }
                    }
                }
                Statement::Store { memory, .. }
                | Statement::Merge { memory, .. }
                | Statement::Update { memory, .. }
                | Statement::Share { memory, .. } => *memory = self.firsts.get(memory).copied().unwrap_or(*memory),
                _ => {}
            }
        }
        Ok(())
    }

    /// The statement that reads an element of a divided memory, from the parts that may hold it.
    fn read(
        &mut self,
        element: &Element,
        memory: MemoryId,
        indices: Vec<Expr>,
        known: &Known,
    ) -> Result<Statement, Error> {
        let mut position = Expr::constant(0);
        for (index, extent) in indices.iter().zip(&self.kernel.memories[memory].shape.extents) {
            position = position.checked_mul(*extent)?.checked_add(index)?;
        }
        let position = known.simplified(&position);
        let Interval { lo, hi } = known.range(&position);
        let last = element.parts.count - 1;
        let part = |position: i64| position.div_euclid(element.parts.elements).clamp(0, last);
        let place = Place { indices: &indices, position: &position, least: lo.min(0) };
        Ok(self.choose(element, &place, part(lo), part(hi), element.value))
    }

    /// The statement that reads the element, which lies in one of the parts from `first` to `last`, as this value.
    fn choose(&mut self, element: &Element, place: &Place<'_>, first: i64, last: i64, value: ValueId) -> Statement {
        if first >= last {
            let part = element.first.index() + usize::try_from(first).unwrap_or(0);
            let op = ScalarOp::Extract { memory: MemoryId::from_index(part), indices: place.indices.to_vec() };
            return Statement::Let { value, op };
        }
        let middle = first + (last - first) / 2;
        let end = middle.saturating_add(1).saturating_mul(element.parts.elements);
        let bounds = Interval { lo: place.least, hi: end - 1 };
        let condition = Condition::Indices(vec![Constraint { expr: place.position.clone(), bounds }]);
        let mut half = |first: i64, last: i64| {
            let like: Value = self.function.values[value].clone();
            let read = self.function.values.push(like);
            let statements = vec![self.choose(element, place, first, last, read)];
            Block { statements, results: vec![Operand::Value(read)] }
        };
        let (then, otherwise) = (half(first, middle), half(middle + 1, last));
        Statement::If { values: vec![value], condition, then, otherwise }
    }
}

/// An element that is read of a divided memory.
struct Element {
    /// The first part of the memory.
    first: MemoryId,
    parts: Parts,
    value: ValueId,
}

/// Where the element lies.
struct Place<'i> {
    indices: &'i [Expr],
    position: &'i Expr,
    /// What the position is known to be no less than.
    least: i64,
}
