//! Reading one function.

mod operation;

use super::{Called, Reader};
use crate::kernel::{
    AtomicOp, Binding, Block, Combination, Combiner, Condition, Function, FunctionId, Kernel, MatrixOp, MatrixOrder,
    MemoryId, Operand, OutOfBounds, Scope, Statement, Value, ValueId, ValueType,
};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{Arena, ArenaId};

/// Blocks nest at most this deep: the reader calls itself once per level.
const NESTING: usize = 200;

/// A value that is used: its number, the name behind it if there is one, and where.
struct Use {
    number: u32,
    name: Option<String>,
    place: usize,
}

/// The entry of a kernel, with what its head says of the kernel.
pub(super) struct Entry {
    pub(super) function: Function,
    pub(super) windows: i64,
    pub(super) lanes: u32,
    pub(super) rolled: bool,
}

pub(super) struct FunctionReader<'r, 't> {
    reader: &'r mut Reader<'t>,
    values: BTreeMap<u32, Value>,
    uses: Vec<Use>,
    nesting: usize,
    /// Loop variables in sight.
    loops: usize,
}

impl<'r, 't> FunctionReader<'r, 't> {
    pub(super) fn new(reader: &'r mut Reader<'t>) -> Self {
        FunctionReader { reader, values: BTreeMap::new(), uses: Vec::new(), nesting: 0, loops: 0 }
    }

    /// A function whose `func` has been read.
    pub(super) fn function(mut self) -> Result<Function, Diagnostic> {
        let name = self.reader.cursor.name("@", "`@` and the function's name")?;
        self.reader.cursor.expect("(")?;
        let has_indices = !self.reader.cursor.peek_is(")") && !self.reader.cursor.peek_is(";");
        let extents = if has_indices { self.reader.domain('d', 0)? } else { Vec::new() };
        let parameters = if self.reader.cursor.accept(";") { self.definitions()? } else { Vec::new() };
        self.reader.cursor.expect(")")?;
        self.reader.cursor.expect("->")?;
        self.reader.cursor.expect("(")?;
        let place = self.reader.cursor.place();
        let mut results = Vec::new();
        while !self.reader.cursor.accept(")") {
            if !results.is_empty() {
                self.reader.cursor.expect(",")?;
            }
            results.push(self.reader.value_type()?);
        }
        let (values, body) = self.body()?;
        let function = Function { name, extents, parameters, values, body };
        if Kernel::result_types(&function) != results {
            let types = Kernel::result_types(&function);
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            let message = format!("the function returns ({})", types.join(", "));
            return Err(self.reader.cursor.error_at(place, message));
        }
        Ok(function)
    }

    /// The entry, whose `entry` has been read.
    pub(super) fn entry(mut self) -> Result<Entry, Diagnostic> {
        self.reader.cursor.expect_word("groups")?;
        let mut extents = self.reader.extents()?;
        let mut windows = 1;
        if self.reader.cursor.accept_word("windows") {
            windows = self
                .reader
                .cursor
                .word("2 windows or more", |word| word.parse::<i64>().ok().filter(|windows| *windows > 1))?;
            extents.push(windows);
        }
        self.reader.cursor.expect_word("threads")?;
        extents.push(self.reader.cursor.number("the invocations of a workgroup")?);
        let mut lanes = 1;
        if self.reader.cursor.accept_word("lanes") {
            let several = |word: &str| word.parse::<u32>().ok().filter(|lanes| matches!(lanes, 2 | 4));
            lanes = self.reader.cursor.word("2 or 4 lanes", several)?;
        }
        let rolled = self.reader.cursor.accept_word("rolled");
        let (values, body) = self.body()?;
        let function = Function { name: "entry".to_owned(), extents, parameters: Vec::new(), values, body };
        Ok(Entry { function, windows, lanes, rolled })
    }

    fn body(&mut self) -> Result<(Arena<ValueId, Value>, Block), Diagnostic> {
        self.reader.cursor.expect("{")?;
        if self.reader.cursor.accept_word("unused") {
            self.definitions()?;
        }
        let body = self.block("return")?;
        Ok((self.arena()?, body))
    }

    /// The values by number; every number up to the greatest has been defined, and uses recall the right names.
    fn arena(&mut self) -> Result<Arena<ValueId, Value>, Diagnostic> {
        for Use { number, name, place } in &self.uses {
            let problem = match (self.values.get(number), name) {
                (None, _) => format!("value %{number} is not defined"),
                (Some(value), Some(name)) if value.name != *name => {
                    format!("value %{number} is defined with the name `{}`", value.name)
                }
                _ => continue,
            };
            return Err(self.reader.cursor.error_at(*place, problem));
        }
        let mut arena = Arena::new();
        for (expected, (number, value)) in (0u32..).zip(std::mem::take(&mut self.values)) {
            if number != expected {
                let place = self.reader.cursor.place();
                let message = format!("the function defines value %{number} and no %{expected}");
                return Err(self.reader.cursor.error_at(place, message));
            }
            arena.push(value);
        }
        Ok(arena)
    }

    /// A block up to the brace that closes it, `{` having been read.
    fn block(&mut self, last: &str) -> Result<Block, Diagnostic> {
        if self.nesting >= NESTING {
            let place = self.reader.cursor.place();
            return Err(self.reader.cursor.error_at(place, format!("blocks nest more than {NESTING} deep")));
        }
        self.nesting += 1;
        let mut statements = Vec::new();
        let mut results = Vec::new();
        while !self.reader.cursor.accept("}") {
            if !self.reader.cursor.accept_word(last) {
                statements.push(self.statement(last)?);
                continue;
            }
            if !self.reader.cursor.peek_is("}") {
                results = self.operands()?;
            }
            self.reader.cursor.expect("}")?;
            break;
        }
        self.nesting -= 1;
        Ok(Block { statements, results })
    }

    fn statement(&mut self, last: &str) -> Result<Statement, Diagnostic> {
        let place = self.reader.cursor.place();
        let values = if self.reader.cursor.peek_is("%") {
            let values = self.definitions()?;
            self.reader.cursor.expect("=")?;
            values
        } else {
            Vec::new()
        };
        if self.reader.cursor.accept_word("call") {
            return self.call(values);
        }
        if self.reader.cursor.accept_word("if") {
            return self.conditional(values);
        }
        if self.reader.cursor.accept_word("loop") {
            return self.repetition(values);
        }
        if self.reader.cursor.accept_word("while") {
            return self.conditional_loop(values);
        }
        if let Some(combination) = combination(self.reader.cursor.peek_word()) {
            return self.collective(values, combination);
        }
        match values.as_slice() {
            [value] if self.reader.cursor.accept_word("share") => {
                let (memory, indices) = self.element()?;
                Ok(Statement::Share { value: *value, memory, indices })
            }
            [value] => Ok(Statement::Let { value: *value, op: self.op()? }),
            [] => self.effect(last),
            _ => Err(self.reader.cursor.error_at(place, "an operation defines one value")),
        }
    }

    /// A statement that defines no value.
    fn effect(&mut self, last: &str) -> Result<Statement, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        if cursor.accept_word("barrier") {
            return Ok(Statement::Barrier);
        }
        if cursor.accept_word("bind") {
            let (variable, bounds) = self.bound_variable()?;
            let out_of_bounds = self.reader.cursor.word("`clamp` or `assume`", |word| match word {
                "clamp" => Some(OutOfBounds::Clamp),
                "assume" => Some(OutOfBounds::Assume),
                _ => None,
            })?;
            let binding = Binding { variable, bounds, value: self.operand()? };
            return Ok(Statement::Bind { binding, out_of_bounds });
        }
        if cursor.accept_word("let") {
            let variable = self.runtime_variable()?;
            self.reader.cursor.expect("=")?;
            self.reader.cursor.expect_word("index")?;
            return Ok(Statement::Name { variable, index: self.parenthesized()? });
        }
        if cursor.accept_word("store") {
            let (memory, indices) = self.element()?;
            self.reader.cursor.expect(",")?;
            return Ok(Statement::Store { memory, indices, value: self.operand()? });
        }
        if cursor.accept_word("merge") {
            let (memory, indices) = self.element()?;
            self.reader.cursor.expect_word("at")?;
            let place = self.parenthesized()?;
            self.reader.cursor.expect(",")?;
            return Ok(Statement::Merge { memory, indices, place, value: self.operand()? });
        }
        if cursor.accept_word("update") {
            let (memory, indices) = self.element()?;
            self.reader.cursor.expect_word("by")?;
            let combiner = self.combiner()?;
            return Ok(Statement::Update { memory, indices, combiner, value: self.operand()? });
        }
        if let Some(op) = self.matrix()? {
            return Ok(Statement::Matrix(op));
        }
        Err(self.reader.cursor.expected(&format!("a statement or `{last}`")))
    }

    /// What subgroups do with matrices, if that is what stands there.
    fn matrix(&mut self) -> Result<Option<MatrixOp>, Diagnostic> {
        if self.reader.cursor.accept_word("clear") {
            return Ok(Some(MatrixOp::Clear { matrix: self.reader.known_memory()? }));
        }
        if self.reader.cursor.accept_word("load") {
            let matrix = self.reader.known_memory()?;
            self.reader.cursor.expect_word("from")?;
            let (memory, indices) = self.element()?;
            self.reader.cursor.expect_word("by")?;
            let order = self.reader.cursor.word("`rows` or `columns`", |word| match word {
                "rows" => Some(MatrixOrder::Rows),
                "columns" => Some(MatrixOrder::Columns),
                _ => None,
            })?;
            return Ok(Some(MatrixOp::Load { matrix, memory, indices, order }));
        }
        if self.reader.cursor.accept_word("multiply") {
            let left = self.reader.known_memory()?;
            self.reader.cursor.expect(",")?;
            let right = self.reader.known_memory()?;
            self.reader.cursor.expect_word("into")?;
            return Ok(Some(MatrixOp::MultiplyAdd { sum: self.reader.known_memory()?, factors: [left, right] }));
        }
        if self.reader.cursor.accept_word("save") {
            let matrix = self.reader.known_memory()?;
            self.reader.cursor.expect_word("to")?;
            let (memory, indices) = self.element()?;
            return Ok(Some(MatrixOp::Store { matrix, memory, indices }));
        }
        Ok(None)
    }

    /// `@add`, a function, or `add`, an operation of devices.
    fn combiner(&mut self) -> Result<Combiner, Diagnostic> {
        let word = self.reader.cursor.peek_word();
        let Some(op) = AtomicOp::ALL.into_iter().find(|op| op.name() == word) else {
            return Ok(Combiner::Function(self.function_name()?));
        };
        self.reader.cursor.expect_word(op.name())?;
        Ok(Combiner::Atomic(op))
    }

    /// `%x[d0, d1]`
    fn element(&mut self) -> Result<(MemoryId, Vec<Expr>), Diagnostic> {
        let memory = self.reader.known_memory()?;
        self.reader.cursor.expect("[")?;
        Ok((memory, self.indices(']')?))
    }

    fn runtime_variable(&mut self) -> Result<u32, Diagnostic> {
        let number = |word: &str| word.strip_prefix("rt")?.parse().ok();
        self.reader.cursor.word("a runtime variable, `rt0`", number)
    }

    /// `rt0 in [0, 9] =`
    fn bound_variable(&mut self) -> Result<(u32, Interval), Diagnostic> {
        let variable = self.runtime_variable()?;
        self.reader.cursor.expect_word("in")?;
        let bounds = self.reader.interval()?;
        self.reader.cursor.expect("=")?;
        Ok((variable, bounds))
    }

    fn function_name(&mut self) -> Result<FunctionId, Diagnostic> {
        let place = self.reader.cursor.place();
        let name = self.reader.cursor.name("@", "`@` and a function's name")?;
        let function = FunctionId::from_index(self.reader.called.len());
        self.reader.called.push(Called { name, place });
        Ok(function)
    }

    fn call(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let function = self.function_name()?;
        self.reader.cursor.expect("(")?;
        let (text, end) = self.reader.cursor.affine(&[')', ';'])?;
        let indices = text.items(",", |cursor, scope| cursor.expression(scope))?;
        let mut arguments = Vec::new();
        if end == ';' {
            arguments = self.operands()?;
            self.reader.cursor.expect(")")?;
        }
        Ok(Statement::Call { values, function, indices, arguments })
    }

    fn collective(&mut self, values: Vec<ValueId>, combination: Combination) -> Result<Statement, Diagnostic> {
        self.reader.cursor.word("a combination", |_| Some(()))?;
        let mut scope = self.reader.cursor.word("`workgroup`, `part` or `subgroup`", |word| match word {
            "workgroup" => Some(Scope::Workgroup),
            "part" => Some(Scope::Part { count: 1, apart: 1 }),
            "subgroup" => Some(Scope::Subgroup),
            _ => None,
        })?;
        if let Scope::Part { count, apart } = &mut scope {
            let cursor = &mut self.reader.cursor;
            cursor.expect_word("of")?;
            *count = cursor.word("the invocations of a part", |word| word.parse().ok().filter(|count| *count > 0))?;
            cursor.expect_word("apart")?;
            *apart = cursor.word("how far apart they are", |word| word.parse().ok().filter(|apart| *apart > 0))?;
        }
        let function = self.function_name()?;
        let operands = self.operands()?;
        let mut tiles = Vec::new();
        if self.reader.cursor.accept_word("through") {
            tiles.push(self.reader.known_memory()?);
            while self.reader.cursor.accept(",") {
                tiles.push(self.reader.known_memory()?);
            }
        }
        Ok(Statement::Collective { values, scope, combination, function, operands, tiles })
    }

    fn condition(&mut self) -> Result<Condition, Diagnostic> {
        if self.reader.cursor.accept_word("true") {
            self.reader.cursor.expect("{")?;
            return Ok(Condition::always());
        }
        if self.reader.cursor.peek_is("%") {
            let operand = self.operand()?;
            self.reader.cursor.expect("{")?;
            return Ok(Condition::Value(operand));
        }
        if self.reader.cursor.peek_word() == "bind" {
            let mut bindings = Vec::new();
            loop {
                self.reader.cursor.expect_word("bind")?;
                let (variable, bounds) = self.bound_variable()?;
                bindings.push(Binding { variable, bounds, value: self.operand()? });
                if !self.reader.cursor.accept_word("and") {
                    break;
                }
            }
            self.reader.cursor.expect("{")?;
            return Ok(Condition::InBounds(bindings));
        }
        let (condition, _) = self.reader.cursor.affine(&['{'])?;
        let constraints = condition.items("and", |cursor, scope| {
            let expr = cursor.expression(scope)?;
            cursor.expect("in")?;
            Ok(Constraint { expr, bounds: cursor.interval()? })
        })?;
        Ok(Condition::Indices(constraints))
    }

    fn conditional(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let condition = self.condition()?;
        let then = self.block("yield")?;
        let mut otherwise = Block::default();
        if self.reader.cursor.accept_word("else") {
            self.reader.cursor.expect("{")?;
            otherwise = self.block("yield")?;
        }
        Ok(Statement::If { values, condition, then, otherwise })
    }

    fn repetition(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let has_variables = self.reader.cursor.accept_word("for");
        let extents = if has_variables { self.reader.domain('s', self.loops)? } else { Vec::new() };
        let (accumulators, init) = self.carried()?;
        self.reader.cursor.expect("{")?;
        self.loops += extents.len();
        let body = self.block("yield")?;
        self.loops -= extents.len();
        Ok(Statement::Loop { values, extents, init, accumulators, body })
    }

    fn conditional_loop(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let (accumulators, init) = self.carried()?;
        self.reader.cursor.expect("{")?;
        let condition = self.block("yield")?;
        self.reader.cursor.expect_word("do")?;
        self.reader.cursor.expect("{")?;
        let body = self.block("yield")?;
        Ok(Statement::While { values, init, accumulators, condition, body })
    }

    /// `with %1: f32 = %0, …`, if it stands here.
    fn carried(&mut self) -> Result<(Vec<ValueId>, Vec<Operand>), Diagnostic> {
        let (mut accumulators, mut init) = (Vec::new(), Vec::new());
        if self.reader.cursor.accept_word("with") {
            loop {
                accumulators.push(self.definition()?);
                self.reader.cursor.expect("=")?;
                init.push(self.operand()?);
                if !self.reader.cursor.accept(",") {
                    break;
                }
            }
        }
        Ok((accumulators, init))
    }

    /// `(d0 + 1)`
    pub(super) fn parenthesized(&mut self) -> Result<Expr, Diagnostic> {
        self.reader.cursor.expect("(")?;
        let place = self.reader.cursor.place();
        let indices = self.indices(')')?;
        let one = <[Expr; 1]>::try_from(indices);
        let [index] = one.map_err(|_| self.reader.cursor.error_at(place, "expected one index expression"))?;
        Ok(index)
    }

    fn indices(&mut self, close: char) -> Result<Vec<Expr>, Diagnostic> {
        let (text, _) = self.reader.cursor.affine(&[close])?;
        text.items(",", |cursor, scope| cursor.expression(scope))
    }

    fn definitions(&mut self) -> Result<Vec<ValueId>, Diagnostic> {
        let mut values = vec![self.definition()?];
        while self.reader.cursor.accept(",") {
            values.push(self.definition()?);
        }
        Ok(values)
    }

    /// `%7:add: f32`.
    fn definition(&mut self) -> Result<ValueId, Diagnostic> {
        let place = self.reader.cursor.place();
        let (number, name) = self.reader.cursor.value()?;
        self.reader.cursor.expect(":")?;
        let ValueType { element_type, lanes } = self.reader.value_type()?;
        let value = Value { name: name.unwrap_or_default(), element_type, lanes };
        let known = self.values.entry(number).or_insert_with(|| value.clone());
        if *known != value {
            let message = format!("value %{number} is defined with another name or type before");
            return Err(self.reader.cursor.error_at(place, message));
        }
        Ok(value_id(number))
    }
}

/// The combination of this name.
fn combination(word: &str) -> Option<Combination> {
    match word {
        "reduce" => Some(Combination::Reduce),
        "combine" => Some(Combination::Combine),
        "scan" => Some(Combination::Scan),
        "exclusive-scan" => Some(Combination::ExclusiveScan),
        _ => None,
    }
}

fn value_id(number: u32) -> ValueId {
    ValueId::from_index(number as usize)
}
