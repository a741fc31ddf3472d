//! Packed elements as the words that hold them.

use crate::kernel::{
    Block, Condition, Function, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value,
    is_multiple,
};
use weft_affine::{Error, Expr};
use weft_hlo::ir::{ArenaId, ArrayShape, BinaryOp, ComparisonDirection, ElementType, FloatFormat, Scalar};
use weft_partition::Form;

/// The kernel with memories of packed elements as memories of words. A vector that fills words is stored as these, and so are
/// elements side by side that are stored one by one under one condition. Any other element that is stored replaces its bits of a word,
/// undivided: other invocations may replace others. Memories of the kernel's own hold a register for each element.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn words(kernel: &Kernel) -> Result<Kernel, Error> {
    let packed: Vec<Option<Packed>> = kernel.memories.values().map(Packed::of).collect();
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
    for function in lowered.functions.values_mut().chain([&mut lowered.entry]) {
        let body = std::mem::take(&mut function.body);
        let known = Known::new(&function.extents);
        let mut pass = Pass { packed: &packed, merged: &merged, function };
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

/// A word whose elements are stored one by one, by statements that follow each other: each an `if` of the same indices that computes one and
/// stores it, as the last ones of a tensor are that do not fill a vector.
struct Gathered {
    memory: MemoryId,
    packed: Packed,
    /// The position of the word's first element.
    position: i64,
    /// How many statements there are: as many as the word has elements.
    count: usize,
}

impl Gathered {
    /// What the first of some statements begins.
    fn of(statements: &[Statement], packed: &[Option<Packed>]) -> Option<Gathered> {
        let (condition, memory, position) = stored_alone(statements.first()?)?;
        let packed = packed[memory.index()].filter(|packed| !packed.is_read)?;
        let count = packed.per_word().min(packed.elements - position);
        let is_next = |(offset, statement): (i64, &Statement)| {
            stored_alone(statement).is_some_and(|(own, own_memory, own_position)| {
                own == condition && own_memory == memory && own_position == position + offset
            })
        };
        let count = usize::try_from(count).ok().filter(|_| position % packed.per_word() == 0)?;
        let all = (0..).zip(statements.get(..count)?).all(is_next);
        all.then_some(Gathered { memory, packed, position, count })
    }
}

/// The condition, the memory and the position of a statement that does nothing but store one element at a known position under a
/// condition on indices.
fn stored_alone(statement: &Statement) -> Option<(&Condition, MemoryId, i64)> {
    let Statement::If { values, condition: condition @ Condition::Indices(_), then, otherwise } = statement else {
        return None;
    };
    let Some((Statement::Store { memory, indices, .. }, before)) = then.statements.split_last() else { return None };
    let [position] = indices.as_slice() else { return None };
    let is_pure = values.is_empty() && *otherwise == Block::default() && !before.iter().any(Statement::has_effects);
    Some((condition, *memory, position.as_constant().filter(|_| is_pure)?))
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
    /// For each memory whether elements of it are merged into words.
    merged: &'p [bool],
    function: &'p mut Function,
}

impl Pass<'_> {
    fn block(&mut self, block: Block, mut known: Known) -> Result<Block, Error> {
        let mut out = Vec::with_capacity(block.statements.len());
        let mut rest = block.statements.as_slice();
        while let Some((statement, behind)) = rest.split_first() {
            if let Some(word) = Gathered::of(rest, self.packed) {
                let (statements, behind) = rest.split_at(word.count);
                out.push(self.gathered(statements, &word, &known)?);
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
    fn gathered(&mut self, statements: &[Statement], word: &Gathered, known: &Known) -> Result<Statement, Error> {
        let (mut together, mut whole) = (Vec::new(), None);
        let mut tested = Condition::always();
        for (statement, place) in statements.iter().zip(0..) {
            let Statement::If { condition, then, .. } = statement else { continue };
            let Some((Statement::Store { value, .. }, before)) = then.statements.split_last() else { continue };
            tested.clone_from(condition);
            let before = Block { statements: before.to_vec(), results: Vec::new() };
            together.extend(self.block(before, known.inside(condition))?.statements);
            let mut elements = Elements { name: "bits".to_owned(), lanes: 1, pass: self, out: &mut together };
            let bits = elements.bits(word.packed, *value);
            whole = Some(match whole {
                None => bits,
                Some(whole) => {
                    let places = self::word(word.packed.form.stored_bits() * place);
                    let moved = elements.binary(BinaryOp::ShiftLeft, 1, bits, places);
                    elements.binary(BinaryOp::Or, 1, whole, moved)
                }
            });
        }
        let indices = vec![Expr::constant(word.position / word.packed.per_word())];
        let value = whole.unwrap_or(self::word(0));
        together.push(Statement::Store { memory: word.memory, indices, value });
        let then = Block { statements: together, results: Vec::new() };
        Ok(Statement::If { values: Vec::new(), condition: tested, then, otherwise: Block::default() })
    }

    fn statement(&mut self, statement: Statement, known: &Known, out: &mut Vec<Statement>) -> Result<(), Error> {
        match &statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, indices } } => {
                if let (Some(packed), [position]) = (self.packed[memory.index()], indices.as_slice()) {
                    let lanes = self.function.values[*value].lanes;
                    let mut elements =
                        Elements { name: self.function.values[*value].name.clone(), lanes, pass: self, out };
                    let bits = elements.read(*memory, packed, position, known)?;
                    let op = elements.register(packed, bits);
                    out.push(Statement::Let { value: *value, op });
                    return Ok(());
                }
            }
            Statement::Store { memory, indices, value } => {
                if let (Some(packed), [position]) = (self.packed[memory.index()], indices.as_slice()) {
                    let lanes = Kernel::operand_lanes(self.function, *value);
                    let mut elements = Elements { name: "bits".to_owned(), lanes, pass: self, out };
                    let bits = elements.bits(packed, *value);
                    return elements.write(*memory, packed, position, bits, known);
                }
            }
            _ => {}
        }
        out.push(statement);
        Ok(())
    }
}

/// Some elements, side by side, on their way from or to memory.
struct Elements<'e, 'p> {
    name: String,
    lanes: u32,
    pass: &'e mut Pass<'p>,
    out: &'e mut Vec<Statement>,
}

fn word(value: u32) -> Operand {
    Operand::Constant(Scalar::U32(value))
}

impl Elements<'_, '_> {
    fn define(&mut self, element_type: ElementType, lanes: u32, op: ScalarOp) -> Operand {
        let value = self.pass.function.values.push(Value { name: self.name.clone(), element_type, lanes });
        self.out.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    fn binary(&mut self, op: BinaryOp, lanes: u32, a: Operand, b: Operand) -> Operand {
        let element_type = Kernel::operand_type(self.pass.function, a);
        self.define(element_type, lanes, ScalarOp::Binary { op, operands: [a, b] })
    }

    /// The places by which the elements are moved within their words: those of the first word's first element, and on from there.
    fn places(&mut self, packed: Packed) -> Operand {
        let bits = packed.form.stored_bits();
        let place = |lane: u32| word(lane % packed.form.per_word() * bits);
        match self.lanes {
            1 => word(0),
            lanes => {
                let operands = (0..lanes).map(place).collect();
                self.define(ElementType::U32, lanes, ScalarOp::Compose { operands })
            }
        }
    }

    /// The place of the first element within its word, if it is not the lowest.
    fn first_place(&self, packed: Packed, position: &Expr, known: &Known) -> Result<Option<Expr>, Error> {
        let place = position.checked_modulo(packed.per_word())?.checked_mul(i64::from(packed.form.stored_bits()))?;
        let place = known.simplified(&place);
        Ok((place.as_constant() != Some(0)).then_some(place))
    }

    fn word_index(packed: Packed, position: &Expr, known: &Known) -> Result<Expr, Error> {
        Ok(known.simplified(&position.checked_floor_div(packed.per_word())?))
    }

    /// The bits of elements; those above are not 0.
    fn read(&mut self, memory: MemoryId, packed: Packed, position: &Expr, known: &Known) -> Result<Operand, Error> {
        let lanes = self.lanes;
        let index = Self::word_index(packed, position, known)?;
        let words = packed.whole_words(lanes).unwrap_or(1);
        let mut own: Vec<Operand> = Vec::with_capacity(words as usize);
        if words > 1 && !self.pass.merged[memory.index()] {
            let vector = self.define(ElementType::U32, words, ScalarOp::Extract { memory, indices: vec![index] });
            for lane in 0..words {
                own.push(self.define(ElementType::U32, 1, ScalarOp::Lane { operand: vector, lane }));
            }
        } else {
            for further in 0..words {
                let indices = vec![index.checked_add_constant(i64::from(further))?];
                own.push(self.define(ElementType::U32, 1, ScalarOp::Extract { memory, indices }));
            }
        }
        // Elements that fill no word lie in one, from any of their places on.
        if packed.whole_words(lanes).is_none()
            && let Some(index) = self.first_place(packed, position, known)?
        {
            let place = ScalarOp::Index { index, element_type: ElementType::U32 };
            let place = self.define(ElementType::U32, 1, place);
            own[0] = self.binary(BinaryOp::ShiftRightLogical, 1, own[0], place);
        }
        if lanes == 1 {
            return Ok(own[0]);
        }
        let per_word = packed.form.per_word();
        let operands = (0..lanes).map(|lane| own[(lane / per_word) as usize]).collect();
        let spread = self.define(ElementType::U32, lanes, ScalarOp::Compose { operands });
        let places = self.places(packed);
        Ok(self.binary(BinaryOp::ShiftRightLogical, lanes, spread, places))
    }

    /// What makes registers of bits.
    fn register(&mut self, packed: Packed, bits: Operand) -> ScalarOp {
        let (lanes, stored) = (self.lanes, packed.form.stored_bits());
        if packed.element_type.is_signed() {
            let unused = Operand::Constant(Scalar::S32(i32::try_from(32 - stored).unwrap_or(0)));
            let to = ElementType::S32;
            let signed = self.define(to, lanes, ScalarOp::Bitcast { operand: bits, to });
            let up = self.binary(BinaryOp::ShiftLeft, lanes, signed, unused);
            return ScalarOp::Binary { op: BinaryOp::ShiftRightArithmetic, operands: [up, unused] };
        }
        // A float of six bits takes eight, of which two say nothing.
        let own = if FloatFormat::of(packed.element_type).is_some() { packed.element_type.bits() } else { stored };
        let mask = word(u32::MAX >> (32 - own));
        if packed.element_type == ElementType::Pred {
            let masked = self.binary(BinaryOp::And, lanes, bits, mask);
            let operands = [masked, word(0)];
            return ScalarOp::Compare { direction: ComparisonDirection::Ne, order: None, operands };
        }
        ScalarOp::Binary { op: BinaryOp::And, operands: [bits, mask] }
    }

    /// The bits of registers; those above are 0.
    fn bits(&mut self, packed: Packed, registers: Operand) -> Operand {
        let (lanes, to) = (self.lanes, ElementType::U32);
        match packed.form.register() {
            ElementType::Pred => self.define(to, lanes, ScalarOp::Convert { operand: registers, to }),
            ElementType::S32 => {
                let bits = self.define(to, lanes, ScalarOp::Bitcast { operand: registers, to });
                let mask = word(u32::MAX >> (32 - packed.form.stored_bits()));
                self.binary(BinaryOp::And, lanes, bits, mask)
            }
            _ => registers,
        }
    }

    fn write(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        bits: Operand,
        known: &Known,
    ) -> Result<(), Error> {
        let lanes = self.lanes;
        let index = Self::word_index(packed, position, known)?;
        let in_words = packed.fills_words(position, lanes, known);
        if lanes == 1 {
            return self.write_one(memory, packed, position, bits, in_words, known);
        }
        let scalars: Vec<Operand> = if in_words {
            let places = self.places(packed);
            let placed = self.binary(BinaryOp::ShiftLeft, lanes, bits, places);
            (0..lanes).map(|lane| self.lane(placed, lane)).collect()
        } else {
            (0..lanes).map(|lane| self.lane(bits, lane)).collect()
        };
        if !in_words {
            for (lane, scalar) in (0..).zip(scalars) {
                let position = position.checked_add_constant(lane)?;
                self.write_one(memory, packed, &position, scalar, false, known)?;
            }
            return Ok(());
        }
        let of_word = |elements: &mut Self, scalars: &[Operand]| {
            scalars[1..].iter().fold(scalars[0], |word, scalar| elements.binary(BinaryOp::Or, 1, word, *scalar))
        };
        let whole: Vec<Operand> =
            scalars.chunks(packed.form.per_word() as usize).map(|scalars| of_word(self, scalars)).collect();
        if whole.len() > 1 && !self.pass.merged[memory.index()] {
            let lanes = u32::try_from(whole.len()).unwrap_or(1);
            let value = self.define(ElementType::U32, lanes, ScalarOp::Compose { operands: whole });
            self.out.push(Statement::Store { memory, indices: vec![index], value });
            return Ok(());
        }
        for (further, value) in (0..).zip(whole) {
            let indices = vec![index.checked_add_constant(further)?];
            self.out.push(Statement::Store { memory, indices, value });
        }
        Ok(())
    }

    fn lane(&mut self, operand: Operand, lane: u32) -> Operand {
        match operand {
            Operand::Constant(_) => operand,
            Operand::Value(_) => self.define(ElementType::U32, 1, ScalarOp::Lane { operand, lane }),
        }
    }

    fn write_one(
        &mut self,
        memory: MemoryId,
        packed: Packed,
        position: &Expr,
        bits: Operand,
        is_word: bool,
        known: &Known,
    ) -> Result<(), Error> {
        let indices = vec![Self::word_index(packed, position, known)?];
        if is_word {
            self.out.push(Statement::Store { memory, indices, value: bits });
            return Ok(());
        }
        let place = self.first_place(packed, position, known)?.unwrap_or_else(|| Expr::constant(0));
        self.out.push(Statement::Merge { memory, indices, place, value: bits });
        Ok(())
    }
}
