//! Writing the text of the kernel IR; total, so that a kernel with a defect can be looked at.

use super::{
    Access, Binding, Block, Combination, Combiner, Condition, Function, FunctionId, Kernel, MatrixOp, Memory, MemoryId,
    Operand, OutOfBounds, ScalarOp, Scope, Space, Statement, ValueId, Window,
};
use std::fmt::{self, Write};
use weft_affine::text::Printer;
use weft_affine::{Constraint, Expr};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, ComparisonType, Scalar};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffers = Vec::new();
        for (position, (memory, access, at)) in self.memories.values().filter_map(buffer).enumerate() {
            let role = match access {
                Access::Read => "in",
                Access::Uniform => "uniform",
                Access::Write => "out",
                Access::ReadWrite => "inout",
                Access::Scattered => "scattered",
            };
            // Where it lies is told where it is not in a buffer of its own, in the order of the list.
            let at = match at {
                (binding, 0) if usize::try_from(binding) == Ok(position) => String::new(),
                (binding, offset) => format!(" at binding {binding} + {offset}"),
            };
            let part = memory.part_of.map(|of| format!(" part of {}", memory_name(&self.memories, of)));
            let (part, window) = (part.unwrap_or_default(), window_text(memory)?);
            let pairs = if memory.pairs { " in pairs" } else { "" };
            buffers.push(format!("{role} {}{at}{part}{pairs}{window}", memory_text(memory)));
        }
        writeln!(f, "kernel @{}({}) {{", Name(&self.name), buffers.join(", "))?;
        for memory in self.memories.values() {
            match memory.space {
                Space::Workgroup => writeln!(f, "  tile {}", memory_text(memory))?,
                Space::Thread => writeln!(f, "  registers {}", memory_text(memory))?,
                Space::Matrix { role, members } => {
                    writeln!(f, "  matrix {} of {members} {}", role.name(), memory_text(memory))?;
                }
                Space::Buffer { .. } => {}
            }
        }
        for function in self.functions.values() {
            let mut text = FunctionText { kernel: self, function, loops: 0, out: String::new() };
            text.function()?;
            f.write_str(&text.out)?;
        }
        let mut text = FunctionText { kernel: self, function: &self.entry, loops: 0, out: String::new() };
        text.entry()?;
        f.write_str(&text.out)?;
        f.write_str("}\n")
    }
}

fn buffer(memory: &Memory) -> Option<(&Memory, Access, (u32, u64))> {
    match memory.space {
        Space::Buffer { binding, offset, access } => Some((memory, access, (binding, offset))),
        Space::Workgroup | Space::Thread | Space::Matrix { .. } => None,
    }
}

fn memory_text(memory: &Memory) -> String {
    let packed = memory.packed.as_ref().map(|packed| format!(" of {}", shape(packed))).unwrap_or_default();
    format!("%{}: {}{packed}", Name(&memory.name), shape(&memory.shape))
}

fn shape(shape: &ArrayShape) -> String {
    let extents: Vec<String> = shape.extents.iter().map(i64::to_string).collect();
    format!("{}[{}]", shape.element_type, extents.join(", "))
}

fn window_text(memory: &Memory) -> Result<String, fmt::Error> {
    let Some(Window { first, size }) = &memory.window else { return Ok(String::new()) };
    Ok(format!(" window({}) of {size}", list(std::slice::from_ref(first))?))
}

fn memory_name(memories: &Arena<MemoryId, Memory>, id: MemoryId) -> String {
    memories.get(id).map_or_else(|| format!("%?{}", id.index()), |memory| format!("%{}", Name(&memory.name)))
}

fn function_name(functions: &Arena<FunctionId, Function>, id: FunctionId) -> String {
    functions.get(id).map_or_else(|| format!("@?{}", id.index()), |function| format!("@{}", Name(&function.name)))
}

/// `d0 in [0, 9], d1 in [0, 19]`, numbered from `first` on.
fn domain(prefix: char, first: usize, extents: &[i64]) -> String {
    let bounds = |(index, extent): (usize, &i64)| format!("{prefix}{index} in [0, {}]", extent.saturating_sub(1));
    (first..).zip(extents).map(bounds).collect::<Vec<_>>().join(", ")
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
    /// Loop variables in sight.
    loops: usize,
    out: String,
}

impl FunctionText<'_> {
    fn function(&mut self) -> fmt::Result {
        let function = self.function;
        let results: Vec<String> = function.body.results.iter().map(|result| self.operand_type(*result)).collect();
        let parameters = match function.parameters.as_slice() {
            [] => String::new(),
            parameters => format!("; {}", self.typed(parameters)),
        };
        let domain = domain('d', 0, &function.extents);
        let name = Name(&function.name);
        writeln!(self.out, "  func @{name}({domain}{parameters}) -> ({}) {{", results.join(", "))?;
        self.body("return")
    }

    fn entry(&mut self) -> fmt::Result {
        let (threads, groups) = self.function.extents.split_last().unwrap_or((&0, &[]));
        let (groups, windows) = match (self.kernel.window_coordinate(), groups.split_last()) {
            (Some(_), Some((windows, groups))) => (groups, format!(" windows {windows}")),
            _ => (groups, String::new()),
        };
        let groups: Vec<String> = groups.iter().map(i64::to_string).collect();
        let lanes = if self.kernel.lanes > 1 { format!(" lanes {}", self.kernel.lanes) } else { String::new() };
        let rolled = if self.kernel.rolled { " rolled" } else { "" };
        writeln!(self.out, "  entry groups [{}]{windows} threads {threads}{lanes}{rolled} {{", groups.join(", "))?;
        self.body("return")
    }

    fn body(&mut self, last: &str) -> fmt::Result {
        let unused = self.unused();
        if !unused.is_empty() {
            writeln!(self.out, "    unused {}", self.typed(&unused))?;
        }
        self.block(&self.function.body, 4, last)?;
        self.out.push_str("  }\n");
        Ok(())
    }

    /// Values that nothing defines, as transformations leave them behind.
    fn unused(&self) -> Vec<ValueId> {
        let mut defined = vec![false; self.function.values.len()];
        for parameter in &self.function.parameters {
            if let Some(defined) = defined.get_mut(parameter.index()) {
                *defined = true;
            }
        }
        mark_defined(&self.function.body, &mut defined);
        self.function.values.ids().filter(|id| !defined[id.index()]).collect()
    }

    fn block(&mut self, block: &Block, indent: usize, last: &str) -> fmt::Result {
        for statement in &block.statements {
            write!(self.out, "{:indent$}", "")?;
            self.statement(statement, indent)?;
        }
        if block.results.is_empty() {
            return Ok(());
        }
        let results: Vec<String> = block.results.iter().map(|result| self.operand(*result)).collect();
        writeln!(self.out, "{:indent$}{last} {}", "", results.join(", "))
    }

    fn statement(&mut self, statement: &Statement, indent: usize) -> fmt::Result {
        match statement {
            Statement::Let { value, op } => {
                let (typed, op) = (self.typed(&[*value]), self.op(op)?);
                writeln!(self.out, "{typed} = {op}")
            }
            Statement::Call { values, function, indices, arguments } => {
                let name = function_name(&self.kernel.functions, *function);
                let (indices, arguments) = (list(indices)?, self.operands(arguments));
                let separator = if arguments.is_empty() { "" } else { "; " };
                writeln!(self.out, "{}call {name}({indices}{separator}{arguments})", self.defined(values))
            }
            Statement::If { values, condition, then, otherwise } => {
                writeln!(self.out, "{}if {} {{", self.defined(values), self.condition(condition)?)?;
                self.block(then, indent + 2, "yield")?;
                if *otherwise != Block::default() {
                    writeln!(self.out, "{:indent$}}} else {{", "")?;
                    self.block(otherwise, indent + 2, "yield")?;
                }
                writeln!(self.out, "{:indent$}}}", "")
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                write!(self.out, "{}loop", self.defined(values))?;
                if !extents.is_empty() {
                    write!(self.out, " for {}", domain('s', self.loops, extents))?;
                }
                self.out += &self.carried(accumulators, init);
                self.out.push_str(" {\n");
                self.loops += extents.len();
                self.block(body, indent + 2, "yield")?;
                self.loops -= extents.len();
                writeln!(self.out, "{:indent$}}}", "")
            }
            Statement::While { values, init, accumulators, condition, body } => {
                let carried = self.carried(accumulators, init);
                writeln!(self.out, "{}while{carried} {{", self.defined(values))?;
                self.block(condition, indent + 2, "yield")?;
                writeln!(self.out, "{:indent$}}} do {{", "")?;
                self.block(body, indent + 2, "yield")?;
                writeln!(self.out, "{:indent$}}}", "")
            }
            Statement::Bind { binding: Binding { variable, bounds, value }, out_of_bounds } => {
                let how = match out_of_bounds {
                    OutOfBounds::Clamp => "clamp",
                    OutOfBounds::Assume => "assume",
                };
                writeln!(self.out, "bind rt{variable} in {bounds} = {how} {}", self.operand(*value))
            }
            Statement::Name { variable, index } => {
                writeln!(self.out, "let rt{variable} = index({})", list(std::slice::from_ref(index))?)
            }
            Statement::Store { memory, indices, value } => {
                let (name, value) = (memory_name(&self.kernel.memories, *memory), self.operand(*value));
                writeln!(self.out, "store {name}[{}], {value}", list(indices)?)
            }
            Statement::Merge { memory, indices, place, value } => {
                let (name, value) = (memory_name(&self.kernel.memories, *memory), self.operand(*value));
                writeln!(
                    self.out,
                    "merge {name}[{}] at ({}), {value}",
                    list(indices)?,
                    list(std::slice::from_ref(place))?
                )
            }
            Statement::Update { memory, indices, combiner, value } => {
                let (name, value) = (memory_name(&self.kernel.memories, *memory), self.operand(*value));
                let combiner = match combiner {
                    Combiner::Function(function) => function_name(&self.kernel.functions, *function),
                    Combiner::Atomic(op) => op.name().to_owned(),
                };
                writeln!(self.out, "update {name}[{}] by {combiner} {value}", list(indices)?)
            }
            Statement::Share { value, memory, indices } => {
                let (typed, name) = (self.typed(&[*value]), memory_name(&self.kernel.memories, *memory));
                writeln!(self.out, "{typed} = share {name}[{}]", list(indices)?)
            }
            Statement::Collective { values, scope, combination, function, operands, tiles } => {
                let combination = match combination {
                    Combination::Reduce => "reduce",
                    Combination::Combine => "combine",
                    Combination::Scan => "scan",
                    Combination::ExclusiveScan => "exclusive-scan",
                };
                let scope = match scope {
                    Scope::Workgroup => "workgroup".to_owned(),
                    Scope::Part { count, apart } => format!("part of {count} apart {apart}"),
                    Scope::Subgroup => "subgroup".to_owned(),
                };
                let function = function_name(&self.kernel.functions, *function);
                let (defined, operands) = (self.defined(values), self.operands(operands));
                let tiles: Vec<String> = tiles.iter().map(|tile| memory_name(&self.kernel.memories, *tile)).collect();
                let through = if tiles.is_empty() { String::new() } else { format!(" through {}", tiles.join(", ")) };
                writeln!(self.out, "{defined}{combination} {scope} {function} {operands}{through}")
            }
            Statement::Barrier => writeln!(self.out, "barrier"),
            Statement::Matrix(op) => self.matrix(op),
        }
    }

    fn matrix(&mut self, op: &MatrixOp) -> fmt::Result {
        let name = |memory: &MemoryId| memory_name(&self.kernel.memories, *memory);
        let text = match op {
            MatrixOp::Clear { matrix } => format!("clear {}", name(matrix)),
            MatrixOp::Load { matrix, memory, indices, order } => {
                format!("load {} from {}[{}] by {}", name(matrix), name(memory), list(indices)?, order.name())
            }
            MatrixOp::MultiplyAdd { sum, factors: [left, right] } => {
                format!("multiply {}, {} into {}", name(left), name(right), name(sum))
            }
            MatrixOp::Store { matrix, memory, indices } => {
                format!("save {} to {}[{}]", name(matrix), name(memory), list(indices)?)
            }
        };
        writeln!(self.out, "{text}")
    }

    /// ` with %1: f32 = %0, …`, if anything is carried.
    fn carried(&self, accumulators: &[ValueId], init: &[Operand]) -> String {
        let one = |(accumulator, init): (&ValueId, &Operand)| {
            format!("{} = {}", self.typed(&[*accumulator]), self.operand(*init))
        };
        let all: Vec<String> = accumulators.iter().zip(init).map(one).collect();
        if all.is_empty() { String::new() } else { format!(" with {}", all.join(", ")) }
    }

    fn condition(&self, condition: &Condition) -> Result<String, fmt::Error> {
        match condition {
            Condition::Indices(constraints) => conjunction(constraints),
            Condition::Value(operand) => Ok(self.operand(*operand)),
            Condition::InBounds(bindings) => {
                let one = |Binding { variable, bounds, value }: &Binding| {
                    format!("bind rt{variable} in {bounds} = {}", self.operand(*value))
                };
                Ok(bindings.iter().map(one).collect::<Vec<_>>().join(" and "))
            }
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.operand(*operand)).collect::<Vec<_>>().join(", ")
    }

    fn op(&self, op: &ScalarOp) -> Result<String, fmt::Error> {
        let operands = self.operands(&op.operands());
        Ok(match op {
            ScalarOp::Index { index, element_type } => {
                format!("index {element_type}({})", list(std::slice::from_ref(index))?)
            }
            ScalarOp::Extract { memory, indices } => {
                format!("extract {}[{}]", memory_name(&self.kernel.memories, *memory), list(indices)?)
            }
            ScalarOp::Unary { op, .. } => format!("{} {operands}", op.name()),
            ScalarOp::Binary { op, .. } => format!("{} {operands}", op.name()),
            ScalarOp::Compare { direction, order, .. } => {
                let order = order.map(ComparisonType::name).map(|name| format!(" {name}")).unwrap_or_default();
                format!("compare {}{order} {operands}", direction.name())
            }
            ScalarOp::MultiplyAdd { is_one, .. } => {
                format!("{} {operands}", if *is_one { "multiply-add-at-once" } else { "multiply-add" })
            }
            ScalarOp::Select { .. } => format!("select {operands}"),
            ScalarOp::Clamp { .. } => format!("clamp {operands}"),
            ScalarOp::Bitcast { to, .. } => format!("bitcast {to} {operands}"),
            ScalarOp::Convert { to, .. } => format!("convert {to} {operands}"),
            ScalarOp::Complex { .. } => format!("complex {operands}"),
            ScalarOp::Real { .. } => format!("real {operands}"),
            ScalarOp::Imag { .. } => format!("imag {operands}"),
            ScalarOp::Encode { to, .. } => format!("encode {to} {operands}"),
            ScalarOp::Decode { from, .. } => format!("decode {from} {operands}"),
            ScalarOp::Join { .. } => format!("join {operands}"),
            ScalarOp::Half { is_high, .. } => format!("{} {operands}", if *is_high { "high" } else { "low" }),
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } => {
                format!("reduce-precision e{exponent_bits}m{mantissa_bits} {operands}")
            }
            ScalarOp::Keep { hiding, .. } => format!("{} {operands}", hiding.name()),
            ScalarOp::Splat { .. } => format!("splat {operands}"),
            ScalarOp::Compose { .. } => format!("compose {operands}"),
            ScalarOp::Lane { lane, .. } => format!("lane {lane} {operands}"),
            ScalarOp::Pack { .. } => format!("pack {operands}"),
            ScalarOp::PackedDot { is_signed, .. } => {
                format!("packed-dot {} {operands}", if *is_signed { "s8" } else { "u8" })
            }
            ScalarOp::Member { number, apart, .. } => format!("member {number} apart {apart} {operands}"),
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

    fn operand_type(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(value) => {
                self.function.values.get(value).map_or_else(|| "?".to_owned(), |value| value.ty().to_string())
            }
            Operand::Constant(scalar) => scalar.element_type().name().to_owned(),
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
        other => format!("{} bits({:#x})", other.element_type(), other.bits()),
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
