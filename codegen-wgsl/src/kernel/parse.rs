//! Reading the text of the kernel IR; the grammar stands on the page of [`kernel`](super).

mod cursor;
mod function;

use super::{Access, Function, FunctionId, Kernel, MatrixRole, Memory, MemoryId, Space, Statement, ValueType, Window};
use cursor::Cursor;
use function::{Entry, FunctionReader};
use std::collections::BTreeMap;
use std::str::FromStr;
use weft_affine::Interval;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, ElementType};

impl Kernel {
    /// Reads what `Display` writes: the same kernel again, provided that its memories and functions have distinct
    /// names, buffers come first among the memories, and shapes have neither layouts nor dynamic dimensions. Whether the kernel makes sense is [`Kernel::verify`]'s to say.
    ///
    /// # Errors
    /// `HLO416` with the place, and what was expected there; also for blocks nested more than 200 deep.
    pub fn parse(text: &str) -> Result<Kernel, Diagnostic> {
        Reader { cursor: Cursor::new(text), memories: Arena::new(), names: BTreeMap::new(), called: Vec::new() }
            .kernel()
    }
}

impl FromStr for Kernel {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Kernel, Diagnostic> {
        Kernel::parse(text)
    }
}

/// A function that a call names before it is known, and where.
struct Called {
    name: String,
    place: usize,
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    memories: Arena<MemoryId, Memory>,
    names: BTreeMap<String, MemoryId>,
    /// What calls name; until all functions are known, a call's function is its position here.
    called: Vec<Called>,
}

impl Reader<'_> {
    fn kernel(mut self) -> Result<Kernel, Diagnostic> {
        self.cursor.expect_word("kernel")?;
        let name = self.cursor.name("@", "`@` and the kernel's name")?;
        self.buffers()?;
        self.cursor.expect("{")?;
        loop {
            let space = if self.cursor.accept_word("tile") {
                Space::Workgroup
            } else if self.cursor.accept_word("registers") {
                Space::Thread
            } else if self.cursor.accept_word("matrix") {
                let role = self
                    .cursor
                    .word("`a`, `b` or `c`", |word| MatrixRole::ALL.into_iter().find(|role| role.name() == word))?;
                self.cursor.expect_word("of")?;
                Space::Matrix { role, members: self.cursor.number("the members of a subgroup")? }
            } else {
                break;
            };
            self.memory(space)?;
        }
        let mut functions: Arena<FunctionId, Function> = Arena::new();
        let mut ids: BTreeMap<String, FunctionId> = BTreeMap::new();
        while self.cursor.accept_word("func") {
            let place = self.cursor.place();
            let function = FunctionReader::new(&mut self).function()?;
            let name = function.name.clone();
            if ids.insert(name.clone(), functions.push(function)).is_some() {
                return Err(self.cursor.error_at(place, format!("there are two functions of the name `{name}`")));
            }
        }
        if !self.cursor.accept_word("entry") {
            return Err(self.cursor.expected("`func` or `entry`"));
        }
        let Entry { function: mut entry, windows, lanes, rolled } = FunctionReader::new(&mut self).entry()?;
        self.cursor.expect("}")?;
        if !self.cursor.at_end() {
            return Err(self.cursor.expected("the end"));
        }
        let mut resolved = Vec::with_capacity(self.called.len());
        for Called { name, place } in &self.called {
            let id = ids.get(name).copied();
            resolved.push(id.ok_or_else(|| self.cursor.error_at(*place, format!("there is no function `{name}`")))?);
        }
        for function in functions.values_mut().chain([&mut entry]) {
            resolve(&mut function.body.statements, &resolved);
        }
        Ok(Kernel { name, memories: self.memories, functions, entry, windows, lanes, rolled })
    }

    fn buffers(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect("(")?;
        while !self.cursor.accept(")") {
            if !self.memories.is_empty() {
                self.cursor.expect(",")?;
            }
            let access = self.cursor.word("`in`, `uniform`, `out`, `inout` or `scattered`", |word| match word {
                "in" => Some(Access::Read),
                "uniform" => Some(Access::Uniform),
                "out" => Some(Access::Write),
                "inout" => Some(Access::ReadWrite),
                "scattered" => Some(Access::Scattered),
                _ => None,
            })?;
            let binding = u32::try_from(self.memories.len()).unwrap_or(u32::MAX);
            let id = self.memory(Space::Buffer { binding, offset: 0, access })?;
            if self.cursor.accept_word("at") {
                self.cursor.expect_word("binding")?;
                let binding = self.cursor.number("the number of a binding")?;
                self.cursor.expect("+")?;
                let offset = self.cursor.number("a number of bytes")?;
                self.memories[id].space = Space::Buffer { binding, offset, access };
            }
            if self.cursor.accept_word("part") {
                self.cursor.expect_word("of")?;
                self.memories[id].part_of = Some(self.known_memory()?);
            }
            if self.cursor.accept_word("in") {
                self.cursor.expect_word("pairs")?;
                self.memories[id].pairs = true;
            }
            if self.cursor.accept_word("window") {
                let first = FunctionReader::new(self).parenthesized()?;
                self.cursor.expect_word("of")?;
                let size = self.cursor.number("the elements of a window")?;
                self.memories[id].window = Some(Window { first, size });
            }
        }
        Ok(())
    }

    /// `%x: f32[4, 8]`
    fn memory(&mut self, space: Space) -> Result<MemoryId, Diagnostic> {
        let place = self.cursor.place();
        let name = self.cursor.name("%", "`%` and a memory's name")?;
        self.cursor.expect(":")?;
        let shape = ArrayShape::new(self.element_type()?, self.extents()?);
        let is_packed = matches!(space, Space::Buffer { .. }) && self.cursor.accept_word("of");
        let packed = if is_packed { Some(ArrayShape::new(self.element_type()?, self.extents()?)) } else { None };
        let id = self.memories.push(Memory { packed, ..Memory::new(name.clone(), shape, space) });
        if self.names.insert(name.clone(), id).is_some() {
            return Err(self.cursor.error_at(place, format!("there are two memories of the name `{name}`")));
        }
        Ok(id)
    }

    /// The type of a value, `f32` or `f32x4`.
    fn value_type(&mut self) -> Result<ValueType, Diagnostic> {
        self.cursor.word("a type", |word| word.parse().ok())
    }

    fn element_type(&mut self) -> Result<ElementType, Diagnostic> {
        self.cursor.word("an element type", |word| word.parse().ok())
    }

    /// `[4, 8]`.
    fn extents(&mut self) -> Result<Vec<i64>, Diagnostic> {
        let mut extents = Vec::new();
        self.cursor.expect("[")?;
        while !self.cursor.accept("]") {
            if !extents.is_empty() {
                self.cursor.expect(",")?;
            }
            extents.push(self.cursor.number("an extent")?);
        }
        Ok(extents)
    }

    /// `d0 in [0, 9], d1 in [0, 19]` as extents, numbered from `first` on; at least one.
    fn domain(&mut self, prefix: char, first: usize) -> Result<Vec<i64>, Diagnostic> {
        let mut extents: Vec<i64> = Vec::new();
        loop {
            self.cursor.expect_word(&format!("{prefix}{}", first + extents.len()))?;
            self.cursor.expect_word("in")?;
            self.cursor.expect("[")?;
            self.cursor.word("0, where every index begins", |word| (word == "0").then_some(()))?;
            self.cursor.expect(",")?;
            let greatest = |word: &str| word.parse::<i64>().ok().and_then(|greatest| greatest.checked_add(1));
            extents.push(self.cursor.word("the greatest index", greatest)?);
            self.cursor.expect("]")?;
            if !self.cursor.accept(",") {
                return Ok(extents);
            }
        }
    }

    /// `[-1, 9]`
    fn interval(&mut self) -> Result<Interval, Diagnostic> {
        self.cursor.expect("[")?;
        let lo = self.cursor.number("the lower bound")?;
        self.cursor.expect(",")?;
        let hi = self.cursor.number("the upper bound")?;
        self.cursor.expect("]")?;
        Ok(Interval { lo, hi })
    }

    fn known_memory(&mut self) -> Result<MemoryId, Diagnostic> {
        let place = self.cursor.place();
        let name = self.cursor.name("%", "`%` and a memory's name")?;
        let id = self.names.get(&name).copied();
        id.ok_or_else(|| self.cursor.error_at(place, format!("there is no memory `{name}`")))
    }
}

/// Replaces positions among the named functions by the functions.
fn resolve(statements: &mut [Statement], functions: &[FunctionId]) {
    for statement in statements {
        if let Some(function) = statement.callee_mut()
            && let Some(resolved) = functions.get(function.index())
        {
            *function = *resolved;
        }
        for block in statement.blocks_mut() {
            resolve(&mut block.statements, functions);
        }
    }
}
