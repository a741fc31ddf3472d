//! Packed elements as the words that hold them.

mod elements;
mod moved;

use crate::kernel::{
    Block, Condition, Function, Kernel, Known, Memory, MemoryId, ScalarOp, Space, Statement, is_multiple,
};
use elements::{Elements, word};
use moved::words_of;
use weft_affine::{Error, Expr};
use weft_hlo::ir::{ArenaId, ArrayShape, BinaryOp, ElementType};
use weft_partition::Form;

/// The kernel with memories of packed elements as memories of words. A vector that fills words is stored as these, and so are
/// elements side by side that are stored one by one under one condition. Any other element that is stored replaces its bits of a word,
/// undivided: other invocations may replace others. Memories of the kernel's own hold a register for each element.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn words(kernel: &Kernel) -> Result<Kernel, Error> {
    // Matrices are what they are, and so is what they are taken from.
    let of_matrices = kernel.in_matrices();
    let packed: Vec<Option<Packed>> = kernel
        .memories
        .values()
        .zip(of_matrices)
        .map(|(memory, of_matrices)| {
            let is_as_it_is = of_matrices || matches!(memory.space, Space::Matrix { .. });
            Packed::of(memory).filter(|_| !is_as_it_is)
        })
        .collect();
    if packed.iter().all(Option::is_none) {
        return Ok(kernel.clone());
    }
    let mut lowered = kernel.clone();
    for (memory, packed) in lowered.memories.values_mut().zip(&packed) {
        let Some(packed) = packed else { continue };
        if !matches!(memory.space, Space::Buffer { .. }) {
            if memory.shape.element_type != ElementType::Pred {
                memory.shape.element_type = packed.form.register();
            }
            continue;
        }
        let words = (packed.elements + packed.per_word() - 1) / packed.per_word();
        memory.packed = Some(std::mem::replace(&mut memory.shape, ArrayShape::new(ElementType::U32, [words])));
    }
    let mut merged = vec![false; packed.len()];
    let is_buffer = |memory: &MemoryId| kernel.memories[*memory].is_buffer();
    let packed: Vec<Option<Packed>> =
        kernel.memories.ids().zip(packed).map(|(id, packed)| packed.filter(|_| is_buffer(&id))).collect();
    find_merged(&kernel.entry, &kernel.entry.body, &packed, &Known::new(&kernel.entry.extents), &mut merged);
    let vectors: Vec<bool> =
        kernel.memories.values().zip(merged).map(|(memory, merged)| !merged && !memory.is_uniform()).collect();
    for function in lowered.functions.values_mut().chain([&mut lowered.entry]) {
        let body = std::mem::take(&mut function.body);
        let known = Known::new(&function.extents);
        let moved = words_of(function);
        let mut pass = Pass { packed: &packed, vectors: &vectors, function, moved };
        let body = pass.block(body, known)?;
        function.body = body;
    }
    Ok(lowered)
}

/// How the elements of a memory are packed.
#[derive(Copy, Clone)]
struct Packed {
    element_type: ElementType,
    form: Form,
    elements: i64,
    /// Whether the kernel reads the memory, so that it matters when something is stored.
    is_read: bool,
}

impl Packed {
    fn of(memory: &Memory) -> Option<Packed> {
        let element_type = memory.shape.element_type;
        let form = Form::of(element_type).filter(|form| form.is_packed())?;
        Some(Packed { element_type, form, elements: memory.shape.element_count()?, is_read: memory.is_readable() })
    }

    fn per_word(self) -> i64 {
        i64::from(self.form.per_word())
    }

    /// How many words so many elements fill; `None` if they fill none.
    fn whole_words(self, lanes: u32) -> Option<u32> {
        let words = lanes / self.form.per_word();
        (words > 0).then_some(words)
    }

    /// Whether what is stored at a position fills whole words, those of the elements that there are.
    fn fills_words(self, position: &Expr, lanes: u32, known: &Known) -> bool {
        let is_only = position.as_constant() == Some(0) && i64::from(lanes) == self.elements;
        is_only && self.elements <= self.per_word()
            || self.whole_words(lanes).is_some() && is_multiple(position, self.per_word(), known)
    }
}

/// A word whose elements are stored one by one, by statements that follow each other, as the last ones of a tensor are that do not fill a
/// vector: each an `if` of the same indices that computes one and stores it, or plain stores with nothing but computations between.
struct Gathered {
    memory: MemoryId,
    packed: Packed,
    /// The position of the word's first element.
    position: i64,
    /// How many statements there are, those between stores included.
    count: usize,
}

impl Gathered {
    /// What the first of some statements begins.
    fn of(statements: &[Statement], packed: &[Option<Packed>]) -> Option<Gathered> {
        match statements.first()? {
            Statement::Store { .. } => Gathered::plain(statements, packed),
            _ => Gathered::conditional(statements, packed),
        }
    }

    /// The memory whose word begins at a constant position, and how many elements the word has.
    fn begins(memory: MemoryId, position: i64, packed: &[Option<Packed>]) -> Option<(Packed, i64)> {
        let packed = packed[memory.index()].filter(|packed| !packed.is_read)?;
        let count = packed.per_word().min(packed.elements - position);
        (position % packed.per_word() == 0).then_some((packed, count))
    }

    fn plain(statements: &[Statement], packed_memories: &[Option<Packed>]) -> Option<Gathered> {
        let (memory, position) = stored(statements.first()?)?;
        let (packed, elements) = Gathered::begins(memory, position, packed_memories)?;
        let mut next = position;
        for (place, statement) in statements.iter().enumerate() {
            match stored(statement) {
                Some(found) if found == (memory, next) => next += 1,
                _ if statement.has_effects() => return None,
                _ => continue,
            }
            if next == position + elements {
                return Some(Gathered { memory, packed, position, count: place + 1 });
            }
        }
        None
    }

    /// Whether each statement is an `if` that stores one element.
    fn is_conditional(statements: &[Statement]) -> bool {
        matches!(statements.first(), Some(Statement::If { .. }))
    }

    fn conditional(statements: &[Statement], packed: &[Option<Packed>]) -> Option<Gathered> {
        let (condition, memory, position) = stored_alone(statements.first()?)?;
        let (packed, count) = Gathered::begins(memory, position, packed)?;
        let is_next = |(offset, statement): (i64, &Statement)| {
            stored_alone(statement).is_some_and(|(own, own_memory, own_position)| {
                own == condition && own_memory == memory && own_position == position + offset
            })
        };
        let count = usize::try_from(count).ok()?;
        let all = (0..).zip(statements.get(..count)?).all(is_next);
        all.then_some(Gathered { memory, packed, position, count })
    }
}

/// The memory and the position of a statement that stores one element at a known position.
fn stored(statement: &Statement) -> Option<(MemoryId, i64)> {
    match statement {
        Statement::Store { memory, indices, .. } => match indices.as_slice() {
            [position] => Some((*memory, position.as_constant()?)),
            _ => None,
        },
        _ => None,
    }
}

/// The condition, the memory and the position of a statement that does nothing but store one element at a known position under a
/// condition on indices.
fn stored_alone(statement: &Statement) -> Option<(&Condition, MemoryId, i64)> {
    let Statement::If { values, condition: condition @ Condition::Indices(_), then, otherwise } = statement else {
        return None;
    };
    let (last, before) = then.statements.split_last()?;
    let (memory, position) = stored(last)?;
    let is_pure = values.is_empty() && *otherwise == Block::default() && !before.iter().any(Statement::has_effects);
    is_pure.then_some((condition, memory, position))
}

/// Finds the memories of which an element is stored that does not fill words.
fn find_merged(entry: &Function, block: &Block, packed: &[Option<Packed>], known: &Known, merged: &mut [bool]) {
    let mut known = known.clone();
    let mut gathered = 0;
    for (place, statement) in block.statements.iter().enumerate() {
        if let Some(word) = Gathered::of(&block.statements[place..], packed).filter(|_| gathered <= place) {
            gathered = place + word.count;
        }
        if place < gathered {
            continue;
        }
        if let Statement::Store { memory, indices, value } = statement
            && let (Some(packed), [position]) = (packed[memory.index()], indices.as_slice())
        {
            let lanes = Kernel::operand_lanes(entry, *value);
            merged[memory.index()] |= !packed.fills_words(position, lanes, &known);
        }
        let blocks = statement.blocks().into_iter().zip(known.within(statement));
        blocks.for_each(|(block, known)| find_merged(entry, block, packed, &known, merged));
        known.after(statement);
    }
}

struct Pass<'p> {
    /// For each buffer how its elements are packed, if they are.
    packed: &'p [Option<Packed>],
    /// For each memory whether several of its words are a vector: neither where elements are merged into words, nor of a uniform.
    vectors: &'p [bool],
    function: &'p mut Function,
    /// For each value that is a word of elements that only move the form of these.
    moved: Vec<Option<Form>>,
}

impl Pass<'_> {
    fn block(&mut self, block: Block, mut known: Known) -> Result<Block, Error> {
        let mut out = Vec::with_capacity(block.statements.len());
        let mut rest = block.statements.as_slice();
        while let Some((statement, behind)) = rest.split_first() {
            if let Some(word) = Gathered::of(rest, self.packed) {
                let (statements, behind) = rest.split_at(word.count);
                out.extend(self.gathered(statements, &word, &mut known)?);
                rest = behind;
                continue;
            }
            rest = behind;
            let mut statement = statement.clone();
            let inside = known.within(&statement);
            for (block, known) in statement.blocks_mut().into_iter().zip(inside) {
                *block = self.block(std::mem::take(block), known)?;
            }
            known.after(&statement);
            self.statement(statement, &known, &mut out)?;
        }
        Ok(Block { statements: out, results: block.results })
    }

    /// The statements that store the elements of a word as one that stores the word.
    fn gathered(
        &mut self,
        statements: &[Statement],
        gathered: &Gathered,
        known: &mut Known,
    ) -> Result<Vec<Statement>, Error> {
        let (mut together, mut whole, mut place) = (Vec::new(), None, 0);
        let mut tested = None;
        for statement in statements {
            let value = match statement {
                Statement::Store { value, .. } => *value,
                Statement::If { condition, then, .. } if Gathered::is_conditional(statements) => {
                    let Some((Statement::Store { value, .. }, before)) = then.statements.split_last() else { continue };
                    tested = Some(condition.clone());
                    let before = Block { statements: before.to_vec(), results: Vec::new() };
                    together.extend(self.block(before, known.inside(condition))?.statements);
                    *value
                }
                between => {
                    let between = Block { statements: vec![between.clone()], results: Vec::new() };
                    together.extend(self.block(between, known.clone())?.statements);
                    known.after(statement);
                    continue;
                }
            };
            let mut elements = Elements { name: "bits".to_owned(), lanes: 1, pass: self, out: &mut together };
            let placed = elements.placed(gathered.packed.form, value, place);
            whole = Some(match whole {
                None => placed,
                Some(whole) => elements.binary(BinaryOp::Or, 1, whole, placed),
            });
            place += 1;
        }
        let indices = vec![Expr::constant(gathered.position / gathered.packed.per_word())];
        let value = whole.unwrap_or(word(0));
        together.push(Statement::Store { memory: gathered.memory, indices, value });
        let Some(condition) = tested else { return Ok(together) };
        let then = Block { statements: together, results: Vec::new() };
        Ok(vec![Statement::If { values: Vec::new(), condition, then, otherwise: Block::default() }])
    }

    fn statement(&mut self, statement: Statement, known: &Known, out: &mut Vec<Statement>) -> Result<(), Error> {
        if let Statement::Let { value, op } = &statement
            && let Some(op) = self.moved(*value, op, known, out)?
        {
            out.push(Statement::Let { value: *value, op });
            return Ok(());
        }
        match &statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, indices } } => {
                if let (Some(packed), [position]) = (self.packed[memory.index()], indices.as_slice()) {
                    let lanes = self.function.values[*value].lanes;
                    let mut elements =
                        Elements { name: self.function.values[*value].name.clone(), lanes, pass: self, out };
                    let op = elements.read(*memory, packed, position, known)?;
                    out.push(Statement::Let { value: *value, op });
                    return Ok(());
                }
            }
            Statement::Store { memory, indices, value } => {
                if let (Some(packed), [position]) = (self.packed[memory.index()], indices.as_slice()) {
                    if self.moves(*value).is_some() {
                        let indices = vec![Elements::word_index(packed, position, known)?];
                        out.push(Statement::Store { memory: *memory, indices, value: *value });
                        return Ok(());
                    }
                    let lanes = Kernel::operand_lanes(self.function, *value);
                    let mut elements = Elements { name: "bits".to_owned(), lanes, pass: self, out };
                    return elements.write(*memory, packed, position, *value, known);
                }
            }
            _ => {}
        }
        out.push(statement);
        Ok(())
    }
}
