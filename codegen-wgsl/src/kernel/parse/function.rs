//! Reading one function.

use super::{Called, Reader};
use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, ScalarOp, Statement, Value, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Scalar, UnaryOp};

/// Blocks nest at most this deep: the reader calls itself once per level.
const NESTING: usize = 200;

/// A value that is used: its number, the name behind it if there is one, and where.
struct Use {
    number: u32,
    name: Option<String>,
    place: usize,
}

pub(super) struct FunctionReader<'r, 't> {
    reader: &'r mut Reader<'t>,
    values: BTreeMap<u32, Value>,
    uses: Vec<Use>,
    nesting: usize,
}

impl<'r, 't> FunctionReader<'r, 't> {
    /// Reads a function whose `func` has been read.
    pub(super) fn read(reader: &'r mut Reader<'t>) -> Result<Function, Diagnostic> {
        FunctionReader { reader, values: BTreeMap::new(), uses: Vec::new(), nesting: 0 }.function()
    }

    fn function(mut self) -> Result<Function, Diagnostic> {
        let name = self.reader.cursor.name("@", "`@` and the function's name")?;
        self.reader.cursor.expect("(")?;
        let extents = if self.reader.cursor.peek_is(")") { Vec::new() } else { self.reader.domain('d')? };
        self.reader.cursor.expect(")")?;
        self.reader.cursor.expect("->")?;
        self.reader.cursor.expect("(")?;
        let place = self.reader.cursor.place();
        let mut results = Vec::new();
        while !self.reader.cursor.accept(")") {
            if !results.is_empty() {
                self.reader.cursor.expect(",")?;
            }
            results.push(self.reader.element_type()?);
        }
        self.reader.cursor.expect("{")?;
        if self.reader.cursor.accept_word("unused") {
            self.definitions()?;
        }
        let body = self.block("return")?;
        let values = self.arena()?;
        let function = Function { name, extents, values, body };
        if Kernel::result_types(&function) != results {
            let types = Kernel::result_types(&function);
            let types: Vec<&str> = types.into_iter().map(ElementType::name).collect();
            let message = format!("the function returns ({})", types.join(", "));
            return Err(self.reader.cursor.error_at(place, message));
        }
        Ok(function)
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
        while !self.reader.cursor.accept_word(last) {
            statements.push(self.statement(last)?);
        }
        let results = if self.reader.cursor.peek_is("}") { Vec::new() } else { self.operands()? };
        self.reader.cursor.expect("}")?;
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
        match values.as_slice() {
            [value] => Ok(Statement::Let { value: *value, op: self.op()? }),
            [] => Err(self.reader.cursor.expected(&format!("a statement or `{last}`"))),
            _ => Err(self.reader.cursor.error_at(place, "an operation defines one value")),
        }
    }

    fn call(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let place = self.reader.cursor.place();
        let name = self.reader.cursor.name("@", "`@` and a function's name")?;
        let function = FunctionId::from_index(self.reader.called.len());
        self.reader.called.push(Called { name, place });
        self.reader.cursor.expect("(")?;
        Ok(Statement::Call { values, function, indices: self.indices(')')? })
    }

    fn conditional(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let condition = if self.reader.cursor.accept_word("true") {
            self.reader.cursor.expect("{")?;
            Vec::new()
        } else {
            let condition = self.reader.cursor.affine('{')?;
            condition.items("and", |cursor, scope| {
                let expr = cursor.expression(scope)?;
                cursor.expect("in")?;
                Ok(Constraint { expr, bounds: cursor.interval()? })
            })?
        };
        let then = self.block("yield")?;
        self.reader.cursor.expect_word("else")?;
        self.reader.cursor.expect("{")?;
        let otherwise = self.block("yield")?;
        Ok(Statement::If { values, condition, then, otherwise })
    }

    fn repetition(&mut self, values: Vec<ValueId>) -> Result<Statement, Diagnostic> {
        let extents = if self.reader.cursor.accept_word("for") { self.reader.domain('s')? } else { Vec::new() };
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
        self.reader.cursor.expect("{")?;
        Ok(Statement::Loop { values, extents, init, accumulators, body: self.block("yield")? })
    }

    fn op(&mut self) -> Result<ScalarOp, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        if cursor.accept_word("index") {
            let element_type = self.reader.element_type()?;
            self.reader.cursor.expect("(")?;
            let place = self.reader.cursor.place();
            let indices = self.indices(')')?;
            let [index] = <[Expr; 1]>::try_from(indices)
                .map_err(|_| self.reader.cursor.error_at(place, "expected one index expression"))?;
            return Ok(ScalarOp::Index { index, element_type });
        }
        if cursor.accept_word("extract") {
            let tensor = self.reader.tensor()?;
            self.reader.cursor.expect("[")?;
            return Ok(ScalarOp::Extract { tensor, indices: self.indices(']')? });
        }
        if cursor.accept_word("compare") {
            let direction = cursor.word("a direction such as `EQ`", ComparisonDirection::from_name)?;
            let order = ComparisonType::from_name(cursor.peek_word());
            if let Some(order) = order {
                cursor.expect_word(order.name())?;
            }
            return Ok(ScalarOp::Compare { direction, order, operands: self.some_operands()? });
        }
        if cursor.accept_word("select") {
            return Ok(ScalarOp::Select { operands: self.some_operands()? });
        }
        if cursor.accept_word("clamp") {
            return Ok(ScalarOp::Clamp { operands: self.some_operands()? });
        }
        if cursor.accept_word("bitcast") {
            let to = self.reader.element_type()?;
            return Ok(ScalarOp::Bitcast { to, operand: self.operand()? });
        }
        if cursor.accept_word("convert") {
            let to = self.reader.element_type()?;
            return Ok(ScalarOp::Convert { to, operand: self.operand()? });
        }
        if let Some(op) = UnaryOp::from_name(cursor.peek_word()) {
            cursor.expect_word(op.name())?;
            return Ok(ScalarOp::Unary { op, operand: self.operand()? });
        }
        let op = cursor.word("an operation", BinaryOp::from_name)?;
        Ok(ScalarOp::Binary { op, operands: self.some_operands()? })
    }

    fn indices(&mut self, close: char) -> Result<Vec<Expr>, Diagnostic> {
        self.reader.cursor.affine(close)?.items(",", |cursor, scope| cursor.expression(scope))
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
        let value = Value { name: name.unwrap_or_default(), element_type: self.reader.element_type()? };
        let known = self.values.entry(number).or_insert_with(|| value.clone());
        if *known != value {
            let message = format!("value %{number} is defined with another name or type before");
            return Err(self.reader.cursor.error_at(place, message));
        }
        Ok(value_id(number))
    }

    fn some_operands<const N: usize>(&mut self) -> Result<[Operand; N], Diagnostic> {
        let place = self.reader.cursor.place();
        let operands = self.operands()?;
        <[Operand; N]>::try_from(operands).map_err(|found| {
            self.reader.cursor.error_at(place, format!("expected {N} operands, found {}", found.len()))
        })
    }

    fn operands(&mut self) -> Result<Vec<Operand>, Diagnostic> {
        let mut operands = vec![self.operand()?];
        while self.reader.cursor.accept(",") {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Operand, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        let place = cursor.place();
        if cursor.peek_is("%") {
            let (number, name) = cursor.value()?;
            self.uses.push(Use { number, name, place });
            return Ok(Operand::Value(value_id(number)));
        }
        let scalar = if cursor.accept_word("true") {
            Scalar::Pred(true)
        } else if cursor.accept_word("false") {
            Scalar::Pred(false)
        } else if cursor.accept_word("s32") {
            Scalar::S32(cursor.number("a signed integer of 32 bits")?)
        } else if cursor.accept_word("u32") {
            Scalar::U32(cursor.number("an unsigned integer of 32 bits")?)
        } else if cursor.accept_word("f32") {
            Scalar::F32(self.float()?)
        } else {
            return Err(cursor.expected("a value or a constant"));
        };
        Ok(Operand::Constant(scalar))
    }

    /// A number, `inf`, `-inf`, or a NaN by its bits, as `nan(0x7fc00000)`.
    fn float(&mut self) -> Result<f32, Diagnostic> {
        let cursor = &mut self.reader.cursor;
        if cursor.accept_word("nan") {
            cursor.expect("(")?;
            let bits = |word: &str| {
                let bits = u32::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
                Some(f32::from_bits(bits)).filter(|value| value.is_nan())
            };
            let value = cursor.word("the bits of a NaN, as `0x7fc00000`", bits)?;
            cursor.expect(")")?;
            return Ok(value);
        }
        let number = |word: &str| word.parse::<f32>().ok().filter(|value| !value.is_nan());
        cursor.word("a number, `inf`, `-inf` or `nan(BITS)`", number)
    }
}

fn value_id(number: u32) -> ValueId {
    ValueId::from_index(number as usize)
}
