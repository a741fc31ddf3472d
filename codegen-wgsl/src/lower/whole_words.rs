//! Words of elements that are packed again.

use crate::kernel::{
    Access, Block, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value,
    ValueId, is_multiple,
};
use std::collections::BTreeMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, BinaryOp, ElementType, Scalar};
use weft_partition::Form;

/// Numbers that a word holds.
const BYTES: i64 = 4;

/// The kernel in which words of four numbers of 8 bits that lie in a word of a buffer are read as that word; buffers that are read so are of words.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn whole_words(kernel: &Kernel) -> Result<Kernel, Error> {
    let sources = Sources { kernel };
    let mut of_words = vec![false; kernel.memories.len()];
    for function in kernel.functions.values().chain([&kernel.entry]) {
        let mut found = |memory: MemoryId, _: ValueId, _: Expr| of_words[memory.index()] = true;
        sources.words(&function.body, &Known::new(&function.extents), &mut BTreeMap::new(), &mut found)?;
    }
    if !of_words.contains(&true) {
        return Ok(kernel.clone());
    }
    let mut lowered = kernel.clone();
    for (memory, _) in lowered.memories.values_mut().zip(&of_words).filter(|(_, is_of_words)| **is_of_words) {
        let words = memory.words().unwrap_or(0);
        memory.packed = Some(std::mem::replace(&mut memory.shape, ArrayShape::new(ElementType::U32, [words])));
    }
    for (function, source) in
        lowered.functions.values_mut().chain([&mut lowered.entry]).zip(kernel.functions.values().chain([&kernel.entry]))
    {
        let mut words = BTreeMap::new();
        let mut found = |memory, word, index| drop(words.insert(word, (memory, index)));
        let known = Known::new(&source.extents);
        sources.words(&source.body, &known, &mut BTreeMap::new(), &mut found)?;
        let mut rewrite = Rewrite { kernel, of_words: &of_words, words, values: &mut function.values };
        function.body = rewrite.block(&source.body, known)?;
        let mut used = vec![false; function.values.len()];
        sweep(&mut function.body, &mut used);
    }
    leave_out_uncalled(&mut lowered);
    Ok(lowered)
}

/// Elements of buffers, by the values that they are.
type Elements = BTreeMap<ValueId, (MemoryId, Expr)>;

struct Sources<'k> {
    kernel: &'k Kernel,
}

impl Sources<'_> {
    /// Tells of each value of a block that is a word of a buffer: which, and the number of the word.
    fn words(
        &self,
        block: &Block,
        known: &Known,
        elements: &mut Elements,
        found: &mut dyn FnMut(MemoryId, ValueId, Expr),
    ) -> Result<(), Error> {
        let mut known = known.clone();
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op: ScalarOp::Pack { operands } } => {
                    if let Some((memory, position)) = together(operands, elements, &known)?
                        .filter(|(memory, position)| self.is_of_bytes(*memory) && is_multiple(position, BYTES, &known))
                    {
                        found(memory, *value, known.simplified(&position.checked_floor_div(BYTES)?));
                    }
                }
                Statement::Let { value, op } => {
                    if let Some(element) = element(op, elements) {
                        elements.insert(*value, element);
                    }
                }
                Statement::Call { values, function, indices, arguments } if arguments.is_empty() => {
                    let callee = &self.kernel.functions[*function];
                    for (value, result) in values.iter().zip(&callee.body.results) {
                        if let Some((memory, position)) = of_function(callee, *result) {
                            let own = position.substitute(|variable| match variable {
                                Var::Dim(index) => indices.get(index as usize).cloned(),
                                _ => None,
                            })?;
                            elements.insert(*value, (memory, own));
                        }
                    }
                }
                _ => {}
            }
            for (block, known) in statement.blocks().into_iter().zip(known.within(statement)) {
                self.words(block, &known, elements, found)?;
            }
            known.after(statement);
        }
        Ok(())
    }

    /// Whether a memory is a buffer of numbers of 8 bits that nothing writes, bound as a whole.
    fn is_of_bytes(&self, memory: MemoryId) -> bool {
        let of = &self.kernel.memories[memory];
        let is_read = matches!(of.space, Space::Buffer { access: Access::Read, .. });
        let is_byte = matches!(of.shape.element_type, ElementType::S8 | ElementType::U8);
        let is_alone = |of: &Memory| self.kernel.in_one_buffer(of).count() == 1;
        let is_part = of.part_of.is_some() || self.kernel.memories.values().any(|it| it.part_of == Some(memory));
        is_read && is_byte && is_alone(of) && of.window.is_none() && !is_part && of.words().is_some()
    }
}

/// The element that a function without loops returns, if it does nothing but read it.
fn of_function(function: &Function, result: Operand) -> Option<(MemoryId, Expr)> {
    let mut elements = Elements::new();
    for statement in &function.body.statements {
        let Statement::Let { value, op } = statement else { return None };
        if let Some(element) = element(op, &elements) {
            elements.insert(*value, element);
        }
    }
    match result {
        Operand::Value(value) => elements.remove(&value),
        Operand::Constant(_) => None,
    }
}

/// The element whose lowest bits an operation leaves as they are.
fn element(op: &ScalarOp, elements: &Elements) -> Option<(MemoryId, Expr)> {
    match op {
        ScalarOp::Extract { memory, indices } => match &indices[..] {
            [position] => Some((*memory, position.clone())),
            _ => None,
        },
        ScalarOp::Bitcast { operand: Operand::Value(value), .. } => elements.get(value).cloned(),
        _ => None,
    }
}

/// The memory and the first position of elements that lie side by side.
fn together(operands: &[Operand; 4], elements: &Elements, known: &Known) -> Result<Option<(MemoryId, Expr)>, Error> {
    let mut first: Option<(MemoryId, Expr)> = None;
    for (place, operand) in (0..).zip(operands) {
        let Operand::Value(value) = operand else { return Ok(None) };
        let Some((memory, position)) = elements.get(value) else { return Ok(None) };
        match &first {
            None => first = Some((*memory, position.clone())),
            Some((of, begin)) => {
                let is_next = known.simplified(&position.checked_sub(begin)?).as_constant() == Some(place);
                if memory != of || !is_next {
                    return Ok(None);
                }
            }
        }
    }
    Ok(first)
}

struct Rewrite<'r> {
    kernel: &'r Kernel,
    /// For each memory whether it is of words.
    of_words: &'r [bool],
    /// The memory and the number of each value that is a word.
    words: BTreeMap<ValueId, (MemoryId, Expr)>,
    values: &'r mut Arena<ValueId, Value>,
}

impl Rewrite<'_> {
    fn block(&mut self, block: &Block, mut known: Known) -> Result<Block, Error> {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op: ScalarOp::Pack { .. } } if self.words.contains_key(value) => {
                    let (memory, index) = &self.words[value];
                    let op = ScalarOp::Extract { memory: *memory, indices: vec![index.clone()] };
                    out.push(Statement::Let { value: *value, op });
                }
                Statement::Let { value, op: ScalarOp::Extract { memory, indices } }
                    if self.of_words[memory.index()] =>
                {
                    self.element(*value, *memory, (&indices[0], &known), &mut out)?;
                }
                _ => {
                    let mut rewritten = statement.clone();
                    for (block, known) in rewritten.blocks_mut().into_iter().zip(known.within(statement)) {
                        *block = self.block(block, known)?;
                    }
                    out.push(rewritten);
                }
            }
            known.after(statement);
        }
        Ok(Block { statements: out, results: block.results.clone() })
    }

    /// Reads an element of a memory of words.
    fn element(
        &mut self,
        value: ValueId,
        memory: MemoryId,
        (position, known): (&Expr, &Known),
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let mut define = |element_type: ElementType, op: ScalarOp| {
            let value = self.values.push(Value::scalar("bits", element_type));
            out.push(Statement::Let { value, op });
            Operand::Value(value)
        };
        let word = ElementType::U32;
        let indices = vec![known.simplified(&position.checked_floor_div(BYTES)?)];
        let whole = define(word, ScalarOp::Extract { memory, indices });
        let place = known.simplified(&position.checked_modulo(BYTES)?.checked_mul(8)?);
        let place = match place.as_constant().and_then(|place| u32::try_from(place).ok()) {
            Some(place) => Operand::Constant(Scalar::U32(place)),
            None => define(word, ScalarOp::Index { index: place, element_type: word }),
        };
        let down = [whole, place];
        let down = define(word, ScalarOp::Binary { op: BinaryOp::ShiftRightLogical, operands: down });
        let shape = &self.kernel.memories[memory].shape;
        let register = Form::of(shape.element_type).map_or(word, Form::register);
        let op = if register == word {
            let byte = Operand::Constant(Scalar::U32(0xff));
            ScalarOp::Binary { op: BinaryOp::And, operands: [down, byte] }
        } else {
            let above = Operand::Constant(Scalar::S32(24));
            let signed = define(register, ScalarOp::Bitcast { operand: down, to: register });
            let up = ScalarOp::Binary { op: BinaryOp::ShiftLeft, operands: [signed, above] };
            let up = define(register, up);
            ScalarOp::Binary { op: BinaryOp::ShiftRightArithmetic, operands: [up, above] }
        };
        out.push(Statement::Let { value, op });
        Ok(())
    }
}

/// Leaves out functions that nothing calls any more.
fn leave_out_uncalled(kernel: &mut Kernel) {
    let mut called = vec![false; kernel.functions.len()];
    kernel.entry.callees().into_iter().for_each(|callee| called[callee.index()] = true);
    // Callers come first.
    for (id, function) in kernel.functions.iter() {
        if called[id.index()] {
            function.callees().into_iter().for_each(|callee| called[callee.index()] = true);
        }
    }
    let mut functions = Arena::new();
    let mut image = Vec::with_capacity(called.len());
    for (function, is_called) in kernel.functions.values().zip(called) {
        image.push(is_called.then(|| functions.push(function.clone())));
    }
    kernel.functions = functions;
    for function in kernel.functions.values_mut().chain([&mut kernel.entry]) {
        renumber(&mut function.body, &image);
    }
}

fn renumber(block: &mut Block, image: &[Option<FunctionId>]) {
    for statement in &mut block.statements {
        if let Some(callee) = statement.callee_mut() {
            *callee = image[callee.index()].unwrap_or(*callee);
        }
        statement.blocks_mut().into_iter().for_each(|block| renumber(block, image));
    }
}

/// Leaves out what computes values that nothing needs.
fn sweep(block: &mut Block, used: &mut [bool]) {
    let mark = |operand: &Operand, used: &mut [bool]| {
        if let Operand::Value(value) = operand {
            used[value.index()] = true;
        }
    };
    block.results.iter().for_each(|result| mark(result, used));
    let mut kept = Vec::with_capacity(block.statements.len());
    while let Some(mut statement) = block.statements.pop() {
        let is_pure = matches!(statement, Statement::Let { .. } | Statement::Call { .. });
        if is_pure && statement.defines().iter().all(|value| !used[value.index()]) {
            continue;
        }
        statement.operands().iter().for_each(|operand| mark(operand, used));
        statement.blocks_mut().into_iter().for_each(|block| sweep(block, used));
        kept.push(statement);
    }
    kept.reverse();
    block.statements = kept;
}
