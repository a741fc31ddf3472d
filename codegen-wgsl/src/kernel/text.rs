//! Writing the text of the kernel IR; total, so that a kernel with a defect can be looked at.

use super::{Block, Function, FunctionId, Kernel, Operand, ScalarOp, Statement, Tensor, TensorId, ValueId};
use std::fmt::{self, Write};
use weft_affine::text::Printer;
use weft_affine::{Constraint, Expr};
use weft_hlo::ir::{Arena, ArenaId, ComparisonType, Scalar};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensors: Vec<String> = self.tensors.values().map(tensor).collect();
        writeln!(f, "kernel @{}({}) {{", Name(&self.name), tensors.join(", "))?;
        for function in self.functions.values() {
            let mut text = FunctionText { kernel: self, function, out: String::new() };
            text.function()?;
            f.write_str(&text.out)?;
        }
        let [x, y, z] = self.entry.workgroups;
        let planes = if z == 1 { String::new() } else { format!(", {z}") };
        writeln!(f, "  entry workgroups [{x}, {y}{planes}] of {} {{", self.entry.workgroup_size)?;
        for store in &self.entry.stores {
            let extents = self.functions.get(store.function).map(|function| function.extents.as_slice());
            let extents = extents.unwrap_or_default();
            let indices = variables('d', extents.len());
            let written: Vec<String> =
                store.tensors.iter().map(|id| format!("{}[{indices}]", tensor_name(&self.tensors, *id))).collect();
            let callee = function_name(&self.functions, store.function);
            let domain = if extents.is_empty() { String::new() } else { format!(" for {}", domain('d', extents)) };
            writeln!(f, "    store {} = call {callee}({indices}){domain}", written.join(", "))?;
        }
        f.write_str("  }\n}\n")
    }
}

fn tensor(tensor: &Tensor) -> String {
    let role = if tensor.writable { "out" } else { "in" };
    let extents: Vec<String> = tensor.shape.extents.iter().map(i64::to_string).collect();
    format!("{role} %{}: {}[{}]", Name(&tensor.name), tensor.shape.element_type, extents.join(", "))
}

fn tensor_name(tensors: &Arena<TensorId, Tensor>, id: TensorId) -> String {
    tensors.get(id).map_or_else(|| format!("%?{}", id.index()), |tensor| format!("%{}", Name(&tensor.name)))
}

fn function_name(functions: &Arena<FunctionId, Function>, id: FunctionId) -> String {
    functions.get(id).map_or_else(|| format!("@?{}", id.index()), |function| format!("@{}", Name(&function.name)))
}

/// `d0, d1`.
pub(super) fn variables(prefix: char, count: usize) -> String {
    (0..count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ")
}

/// `d0 in [0, 9], d1 in [0, 19]`.
fn domain(prefix: char, extents: &[i64]) -> String {
    let bounds = |(index, extent): (usize, &i64)| format!("{prefix}{index} in [0, {}]", extent.saturating_sub(1));
    extents.iter().enumerate().map(bounds).collect::<Vec<_>>().join(", ")
}

/// A name, in quotes where it has to be.
pub(super) struct Name<'n>(pub(super) &'n str);

/// Whether a name may contain this character without quotes.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.chars().all(is_plain) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

struct FunctionText<'k> {
    kernel: &'k Kernel,
    function: &'k Function,
    out: String,
}

impl FunctionText<'_> {
    fn function(&mut self) -> fmt::Result {
        let function = self.function;
        let results: Vec<&str> = function.body.results.iter().map(|result| self.operand_type(*result)).collect();
        let domain = domain('d', &function.extents);
        writeln!(self.out, "  func @{}({domain}) -> ({}) {{", Name(&function.name), results.join(", "))?;
        let unused = self.unused();
        if !unused.is_empty() {
            writeln!(self.out, "    unused {}", self.typed(&unused))?;
        }
        self.block(&function.body, 4, "return")?;
        self.out.push_str("  }\n");
        Ok(())
    }

    /// Values that nothing defines, as transformations leave them behind.
    fn unused(&self) -> Vec<ValueId> {
        let mut defined = vec![false; self.function.values.len()];
        mark_defined(&self.function.body, &mut defined);
        self.function.values.ids().filter(|id| !defined[id.index()]).collect()
    }

    fn block(&mut self, block: &Block, indent: usize, last: &str) -> fmt::Result {
        for statement in &block.statements {
            write!(self.out, "{:indent$}", "")?;
            match statement {
                Statement::Let { value, op } => {
                    let (typed, op) = (self.typed(&[*value]), self.op(op)?);
                    writeln!(self.out, "{typed} = {op}")?;
                }
                Statement::Call { values, function, indices } => {
                    let name = function_name(&self.kernel.functions, *function);
                    writeln!(self.out, "{}call {name}({})", self.defined(values), list(indices)?)?;
                }
                Statement::If { values, condition, then, otherwise } => {
                    writeln!(self.out, "{}if {} {{", self.defined(values), conjunction(condition)?)?;
                    self.block(then, indent + 2, "yield")?;
                    writeln!(self.out, "{:indent$}}} else {{", "")?;
                    self.block(otherwise, indent + 2, "yield")?;
                    writeln!(self.out, "{:indent$}}}", "")?;
                }
                Statement::Loop { values, extents, init, accumulators, body } => {
                    write!(self.out, "{}loop", self.defined(values))?;
                    if !extents.is_empty() {
                        write!(self.out, " for {}", domain('s', extents))?;
                    }
                    for (position, (accumulator, init)) in accumulators.iter().zip(init).enumerate() {
                        let separator = if position == 0 { " with" } else { "," };
                        let (typed, init) = (self.typed(&[*accumulator]), self.operand(*init));
                        write!(self.out, "{separator} {typed} = {init}")?;
                    }
                    self.out.push_str(" {\n");
                    self.block(body, indent + 2, "yield")?;
                    writeln!(self.out, "{:indent$}}}", "")?;
                }
            }
        }
        let results: Vec<String> = block.results.iter().map(|result| self.operand(*result)).collect();
        let separator = if results.is_empty() { "" } else { " " };
        writeln!(self.out, "{:indent$}{last}{separator}{}", "", results.join(", "))
    }

    fn op(&self, op: &ScalarOp) -> Result<String, fmt::Error> {
        let operands: Vec<String> = op.operands().into_iter().map(|operand| self.operand(operand)).collect();
        let operands = operands.join(", ");
        Ok(match op {
            ScalarOp::Index { index, element_type } => {
                format!("index {element_type}({})", list(std::slice::from_ref(index))?)
            }
            ScalarOp::Extract { tensor, indices } => {
                format!("extract {}[{}]", tensor_name(&self.kernel.tensors, *tensor), list(indices)?)
            }
            ScalarOp::Unary { op, .. } => format!("{} {operands}", op.name()),
            ScalarOp::Binary { op, .. } => format!("{} {operands}", op.name()),
            ScalarOp::Compare { direction, order, .. } => {
                let order = order.map(ComparisonType::name).map(|name| format!(" {name}")).unwrap_or_default();
                format!("compare {}{order} {operands}", direction.name())
            }
            ScalarOp::Select { .. } => format!("select {operands}"),
            ScalarOp::Clamp { .. } => format!("clamp {operands}"),
            ScalarOp::Bitcast { to, .. } => format!("bitcast {to} {operands}"),
            ScalarOp::Convert { to, .. } => format!("convert {to} {operands}"),
        })
    }

    /// `%7:add: f32, %8: s32`.
    fn typed(&self, values: &[ValueId]) -> String {
        let typed = |value: &ValueId| format!("{}: {}", self.value(*value), self.operand_type(Operand::Value(*value)));
        values.iter().map(typed).collect::<Vec<_>>().join(", ")
    }

    /// The same with an equals sign, if there are any.
    fn defined(&self, values: &[ValueId]) -> String {
        if values.is_empty() { String::new() } else { format!("{} = ", self.typed(values)) }
    }

    fn operand_type(&self, operand: Operand) -> &'static str {
        match operand {
            Operand::Value(value) => self.function.values.get(value).map_or("?", |value| value.element_type.name()),
            Operand::Constant(scalar) => scalar.element_type().name(),
        }
    }

    /// `%7:add`: the number makes it unique, the name recalls the instruction.
    fn value(&self, value: ValueId) -> String {
        match self.function.values.get(value) {
            Some(known) if !known.name.is_empty() => format!("%{}:{}", value.index(), Name(&known.name)),
            _ => format!("%{}", value.index()),
        }
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => self.value(value),
            Operand::Constant(scalar) => constant(scalar),
        }
    }
}

fn mark_defined(block: &Block, defined: &mut [bool]) {
    for statement in &block.statements {
        for value in statement.defines() {
            if let Some(defined) = defined.get_mut(value.index()) {
                *defined = true;
            }
        }
        statement.blocks().into_iter().for_each(|block| mark_defined(block, defined));
    }
}

fn constant(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        Scalar::S32(value) => format!("s32 {value}"),
        Scalar::U32(value) => format!("u32 {value}"),
        Scalar::F32(value) if value.is_nan() => format!("f32 nan({:#010x})", value.to_bits()),
        Scalar::F32(value) => format!("f32 {value:?}"),
        other => format!("{} {other}", other.element_type()),
    }
}

/// Expressions between commas; shared terms after them.
fn list(indices: &[Expr]) -> Result<String, fmt::Error> {
    let printer = Printer::new(indices);
    let mut text = String::new();
    printer.write_list(&mut text, indices)?;
    printer.write_where(&mut text)?;
    Ok(text)
}

fn conjunction(condition: &[Constraint]) -> Result<String, fmt::Error> {
    if condition.is_empty() {
        return Ok("true".to_owned());
    }
    let printer = Printer::new(condition.iter().map(|constraint| &constraint.expr));
    let mut text = String::new();
    for (position, Constraint { expr, bounds }) in condition.iter().enumerate() {
        text.push_str(if position > 0 { " and " } else { "" });
        printer.write(&mut text, expr)?;
        write!(text, " in {bounds}")?;
    }
    printer.write_where(&mut text)?;
    Ok(text)
}
