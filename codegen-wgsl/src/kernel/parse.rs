//! Reading the text of the kernel IR; the grammar stands on the page of [`kernel`](super).

mod cursor;
mod function;

use super::text::variables;
use super::{Entry, Function, FunctionId, Kernel, Statement, Store, Tensor, TensorId};
use cursor::Cursor;
use function::FunctionReader;
use std::collections::BTreeMap;
use std::str::FromStr;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, ElementType};

impl Kernel {
    /// Reads what `Display` writes: the same kernel again, provided that its tensors and functions have distinct names,
    /// and shapes neither layouts nor dynamic dimensions. Whether the kernel makes sense is [`Kernel::verify`]'s to say.
    ///
    /// # Errors
    /// `HLO416` with the place, and what was expected there; also for blocks nested more than 200 deep.
    pub fn parse(text: &str) -> Result<Kernel, Diagnostic> {
        Reader { cursor: Cursor::new(text), tensors: BTreeMap::new(), called: Vec::new() }.kernel()
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
    tensors: BTreeMap<String, TensorId>,
    /// What calls name; until all functions are known, a call's function is its position here.
    called: Vec<Called>,
}

impl Reader<'_> {
    fn kernel(mut self) -> Result<Kernel, Diagnostic> {
        self.cursor.expect_word("kernel")?;
        let name = self.cursor.name("@", "`@` and the kernel's name")?;
        let tensors = self.tensors()?;
        self.cursor.expect("{")?;
        let mut functions: Arena<FunctionId, Function> = Arena::new();
        let mut ids: BTreeMap<String, FunctionId> = BTreeMap::new();
        while self.cursor.accept_word("func") {
            let place = self.cursor.place();
            let function = FunctionReader::read(&mut self)?;
            let name = function.name.clone();
            if ids.insert(name.clone(), functions.push(function)).is_some() {
                return Err(self.cursor.error_at(place, format!("there are two functions of the name `{name}`")));
            }
        }
        if !self.cursor.accept_word("entry") {
            return Err(self.cursor.expected("`func` or `entry`"));
        }
        let entry = self.entry(&functions, &ids)?;
        self.cursor.expect("}")?;
        if !self.cursor.at_end() {
            return Err(self.cursor.expected("the end"));
        }
        let mut resolved = Vec::with_capacity(self.called.len());
        for Called { name, place } in &self.called {
            let id = ids.get(name).copied();
            resolved.push(id.ok_or_else(|| self.cursor.error_at(*place, format!("there is no function `{name}`")))?);
        }
        for function in functions.values_mut() {
            resolve(&mut function.body.statements, &resolved);
        }
        Ok(Kernel { name, tensors, functions, entry })
    }

    fn tensors(&mut self) -> Result<Arena<TensorId, Tensor>, Diagnostic> {
        let mut tensors: Arena<TensorId, Tensor> = Arena::new();
        self.cursor.expect("(")?;
        while !self.cursor.accept(")") {
            if !tensors.is_empty() {
                self.cursor.expect(",")?;
            }
            let writable = self.cursor.word("`in` or `out`", |word| match word {
                "in" => Some(false),
                "out" => Some(true),
                _ => None,
            })?;
            let place = self.cursor.place();
            let name = self.cursor.name("%", "`%` and a tensor's name")?;
            self.cursor.expect(":")?;
            let shape = ArrayShape::new(self.element_type()?, self.extents()?);
            let id = tensors.push(Tensor { name: name.clone(), shape, writable });
            if self.tensors.insert(name.clone(), id).is_some() {
                return Err(self.cursor.error_at(place, format!("there are two tensors of the name `{name}`")));
            }
        }
        Ok(tensors)
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

    /// `d0 in [0, 9], d1 in [0, 19]` as extents; at least one.
    fn domain(&mut self, prefix: char) -> Result<Vec<i64>, Diagnostic> {
        let mut extents: Vec<i64> = Vec::new();
        loop {
            self.cursor.expect_word(&format!("{prefix}{}", extents.len()))?;
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

    fn tensor(&mut self) -> Result<TensorId, Diagnostic> {
        let place = self.cursor.place();
        let name = self.cursor.name("%", "`%` and a tensor's name")?;
        let id = self.tensors.get(&name).copied();
        id.ok_or_else(|| self.cursor.error_at(place, format!("there is no tensor `{name}`")))
    }

    fn entry(
        &mut self,
        functions: &Arena<FunctionId, Function>,
        ids: &BTreeMap<String, FunctionId>,
    ) -> Result<Entry, Diagnostic> {
        self.cursor.expect_word("workgroups")?;
        self.cursor.expect("[")?;
        let x = self.cursor.number("a number of workgroups")?;
        self.cursor.expect(",")?;
        let y = self.cursor.number("a number of workgroups")?;
        let z = if self.cursor.accept(",") { self.cursor.number("a number of workgroups")? } else { 1 };
        self.cursor.expect("]")?;
        self.cursor.expect_word("of")?;
        let workgroup_size = self.cursor.number("the size of a workgroup")?;
        self.cursor.expect("{")?;
        let mut stores = Vec::new();
        while self.cursor.accept_word("store") {
            stores.push(self.store(functions, ids)?);
        }
        if !self.cursor.accept("}") {
            return Err(self.cursor.expected("`store` or `}`"));
        }
        Ok(Entry { workgroup_size, workgroups: [x, y, z], stores })
    }

    fn store(
        &mut self,
        functions: &Arena<FunctionId, Function>,
        ids: &BTreeMap<String, FunctionId>,
    ) -> Result<Store, Diagnostic> {
        let mut tensors = Vec::new();
        // The indices repeat what the function says, so they are compared once that is known.
        let mut repeated = Vec::new();
        while !self.cursor.accept("=") {
            if !tensors.is_empty() {
                self.cursor.expect(",")?;
            }
            tensors.push(self.tensor()?);
            self.cursor.expect("[")?;
            repeated.push(self.indices("]")?);
        }
        self.cursor.expect_word("call")?;
        let place = self.cursor.place();
        let name = self.cursor.name("@", "`@` and a function's name")?;
        let Some(&function) = ids.get(&name) else {
            return Err(self.cursor.error_at(place, format!("there is no function `{name}`")));
        };
        self.cursor.expect("(")?;
        repeated.push(self.indices(")")?);
        let extents = &functions[function].extents;
        for (place, count) in repeated {
            if count != extents.len() {
                let wanted = variables('d', extents.len());
                return Err(self.cursor.error_at(place, format!("expected the function's indices, `{wanted}`")));
            }
        }
        let place = self.cursor.place();
        let domain = if self.cursor.accept_word("for") { self.domain('d')? } else { Vec::new() };
        if domain != *extents {
            return Err(self.cursor.error_at(place, "expected the function's domain, behind `for`"));
        }
        Ok(Store { function, tensors })
    }

    /// `d0, d1` and the mark that closes them: where they stand, and how many there are.
    fn indices(&mut self, close: &str) -> Result<(usize, usize), Diagnostic> {
        let place = self.cursor.place();
        let mut count = 0;
        while !self.cursor.accept(close) {
            if count > 0 {
                self.cursor.expect(",")?;
            }
            self.cursor.expect_word(&format!("d{count}"))?;
            count += 1;
        }
        Ok((place, count))
    }
}

/// Replaces positions among the named functions by the functions.
fn resolve(statements: &mut [Statement], functions: &[FunctionId]) {
    for statement in statements {
        if let Statement::Call { function, .. } = statement
            && let Some(resolved) = functions.get(function.index())
        {
            *function = *resolved;
        }
        for block in statement.blocks_mut() {
            resolve(&mut block.statements, functions);
        }
    }
}
