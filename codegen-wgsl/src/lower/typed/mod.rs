//! Elements of all types in registers of 32 bits.

mod code;
mod complex;
mod convert;
mod double;
mod helpers;
mod integer;
mod pair;
mod precision;

use crate::kernel::{
    Binding, Block, Condition, Function, Kernel, Memory, MemoryId, Operand, ScalarOp, Statement, Value, ValueId,
};
use code::{Code, real, word};
use convert::part;
use helpers::Helpers;
use integer::Narrow;
use pair::Pair;
use precision::is_reduced_as_half;
use std::collections::BTreeMap;
use weft_affine::Expr;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{
    Arena, ArenaId, BinaryOp, ComparisonDirection, ComparisonType, ElementType, FloatFormat, Scalar, Span, UnaryOp,
};
use weft_partition::Form;

/// The kernel with values of `pred`, `s32`, `u32` and `f32` alone, as [`Form`] says:
/// - an integer of less bits is extended, and wrapped around after each operation that may leave its range;
/// - a float of at most 16 bits is its bits: it is decoded where it is computed with, in `f32`, and the result encoded, so that each operation
///   is rounded as HLO means it, and what only moves keeps its bits;
/// - an `f64` is its bits likewise, two words, of which `join` makes the number that an operation computes with, and which are the `low` and the
///   `high` word of what it yields; comparisons, conversions and all that looks at bits alone does without;
/// - integers of 64 bits and complex numbers are two or four values each, and one more dimension of the memories that hold them.
///
/// Memories of packed elements keep their types: what is read of one is a register.
///
/// # Errors
/// `HLO414` for an operation that is not defined on its operands' type, or a type that devices do not hold.
pub fn typed(kernel: &Kernel) -> Result<Kernel, Diagnostics> {
    if is_typed(kernel) {
        return Ok(kernel.clone());
    }
    let taken = kernel.memories.values().map(|memory| memory.name.clone());
    let taken = taken.chain(kernel.functions.values().map(|function| function.name.clone())).collect();
    let mut helpers = Helpers::new(kernel.functions.len(), taken);
    let mut functions = Arena::new();
    for function in kernel.functions.values() {
        functions.push(typed_function(kernel, function, &mut helpers)?);
    }
    let entry = typed_function(kernel, &kernel.entry, &mut helpers)?;
    for function in helpers.functions {
        functions.push(function);
    }
    let mut memories = Arena::new();
    for memory in kernel.memories.values() {
        memories.push(typed_memory(memory)?);
    }
    Ok(Kernel { memories, functions, entry, ..kernel.clone() })
}

/// Whether all elements are of types that registers have, those of literals among them.
fn is_typed(kernel: &Kernel) -> bool {
    let is_own = |ty: ElementType| matches!(Kind::of(ty), Ok(Kind::Own));
    let of_values = kernel.bodies().flat_map(|function| function.values.values()).map(|value| value.element_type);
    of_values.chain(kernel.memories.values().map(|memory| memory.shape.element_type)).all(is_own)
        && kernel.bodies().all(|function| has_literals_of(&function.body, &is_own))
}

/// Whether all literals that statements of a block are given, and those within them, are of such types.
fn has_literals_of(block: &Block, is_own: &dyn Fn(ElementType) -> bool) -> bool {
    let is_fine = |operand: &Operand| match operand {
        Operand::Constant(literal) => is_own(literal.element_type()),
        Operand::Value(_) => true,
    };
    block.results.iter().all(is_fine)
        && block.statements.iter().all(|statement| {
            let within = || statement.blocks().into_iter().all(|block| has_literals_of(block, is_own));
            statement.operands().iter().all(is_fine) && within()
        })
}

fn typed_memory(memory: &Memory) -> Result<Memory, Diagnostics> {
    let form = form(memory.shape.element_type)?;
    let mut typed = memory.clone();
    if form.parts() > 1 {
        typed.shape.element_type = form.register();
        typed.shape.extents.push(i64::from(form.parts()));
    }
    Ok(typed)
}

fn form(element_type: ElementType) -> Result<Form, Diagnostics> {
    Form::of(element_type).ok_or_else(|| refused(format!("devices hold no elements of type {element_type}")))
}

fn refused(message: String) -> Diagnostics {
    Diagnostic::new("HLO414", Span::default(), message).into()
}

/// How a type is computed with.
#[derive(Copy, Clone)]
enum Kind {
    /// As registers are.
    Own,
    Narrow(Narrow),
    /// A float of at most 16 bits.
    Small,
    /// An integer of 64 bits, with a sign or without.
    Pair(bool),
    /// A float of 64 bits.
    Double,
    /// A complex number with parts of this type.
    Complex(ElementType),
}

impl Kind {
    fn of(element_type: ElementType) -> Result<Kind, Diagnostics> {
        let form = form(element_type)?;
        Ok(match Narrow::of(element_type) {
            Some(narrow) => Kind::Narrow(narrow),
            None if FloatFormat::of(element_type).is_some() => Kind::Small,
            None if element_type.is_complex() => Kind::Complex(part(element_type)),
            None if element_type == ElementType::F64 => Kind::Double,
            None if form.parts() > 1 => Kind::Pair(element_type.is_signed()),
            None => Kind::Own,
        })
    }
}

fn typed_function(kernel: &Kernel, source: &Function, helpers: &mut Helpers) -> Result<Function, Diagnostics> {
    let code = Code::new(&source.name, source.extents.clone());
    let images = vec![Vec::new(); source.values.len()];
    let mut pass = Pass { kernel, source, code, helpers, images, decoded: BTreeMap::new(), trail: Vec::new() };
    let parameters = pass.defined(&source.parameters)?;
    let body = pass.block(&source.body)?;
    Ok(Function { parameters, body, ..pass.code.function })
}

struct Pass<'k, 'h> {
    kernel: &'k Kernel,
    source: &'k Function,
    code: Code,
    helpers: &'h mut Helpers,
    /// For each value of the source the registers that hold it.
    images: Vec<Vec<Operand>>,
    /// For values here and a type the number that their bits are in it, where that has been decoded in sight. One value may be bits of several
    /// types: a conversion of bits moves nothing.
    decoded: BTreeMap<(ValueId, ElementType), Operand>,
    /// What is decoded, innermost block last.
    trail: Vec<(ValueId, ElementType)>,
}

impl Pass<'_, '_> {
    fn block(&mut self, block: &Block) -> Result<Block, Diagnostics> {
        let outer = std::mem::take(&mut self.code.statements);
        let decoded = self.trail.len();
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let results = self.registers(&block.results)?;
        for known in self.trail.drain(decoded..) {
            self.decoded.remove(&known);
        }
        Ok(Block { statements: std::mem::replace(&mut self.code.statements, outer), results })
    }

    /// New registers for values of the source, of all of them in order.
    fn defined(&mut self, values: &[ValueId]) -> Result<Vec<ValueId>, Diagnostics> {
        let mut registers = Vec::with_capacity(values.len());
        for value in values {
            let Value { name, element_type, .. } = &self.source.values[*value];
            let form = form(*element_type)?;
            let parts = (0..form.parts()).map(|_| {
                self.code.name.clone_from(name);
                self.code.value(form.register())
            });
            let parts: Vec<ValueId> = parts.collect();
            self.images[value.index()] = parts.iter().map(|part| Operand::Value(*part)).collect();
            registers.extend(parts);
        }
        Ok(registers)
    }

    /// The registers that hold an operand.
    fn parts(&self, operand: Operand) -> Result<Vec<Operand>, Diagnostics> {
        match operand {
            Operand::Value(value) => Ok(self.images[value.index()].clone()),
            Operand::Constant(scalar) => constant(scalar),
        }
    }

    /// The registers that hold operands, of all of them in order.
    fn registers(&self, operands: &[Operand]) -> Result<Vec<Operand>, Diagnostics> {
        let mut registers = Vec::with_capacity(operands.len());
        for operand in operands {
            registers.extend(self.parts(*operand)?);
        }
        Ok(registers)
    }

    /// The one register of an operand that has one.
    fn register(&self, operand: Operand) -> Result<Operand, Diagnostics> {
        Ok(self.parts(operand)?[0])
    }

    fn source_type(&self, operand: Operand) -> ElementType {
        Kernel::operand_type(self.source, operand)
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Diagnostics> {
        let typed = match statement {
            Statement::Let { value, op } => {
                self.code.name.clone_from(&self.source.values[*value].name);
                self.images[value.index()] = self.op(*value, op)?;
                return Ok(());
            }
            Statement::Call { values, function, indices, arguments } => {
                let arguments = self.registers(arguments)?;
                let (values, indices) = (self.defined(values)?, indices.clone());
                Statement::Call { values, function: *function, indices, arguments }
            }
            Statement::If { values, condition, then, otherwise } => {
                let condition = match condition {
                    Condition::Indices(_) => condition.clone(),
                    Condition::Value(operand) => Condition::Value(self.register(*operand)?),
                    Condition::InBounds(bindings) => {
                        let bindings = bindings.iter().map(|binding| self.binding(binding));
                        Condition::InBounds(bindings.collect::<Result<_, _>>()?)
                    }
                };
                let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                Statement::If { values: self.defined(values)?, condition, then, otherwise }
            }
            Statement::Loop { values, extents, init, accumulators, body } => {
                let init = self.registers(init)?;
                let accumulators = self.defined(accumulators)?;
                let body = self.block(body)?;
                Statement::Loop { values: self.defined(values)?, extents: extents.clone(), init, accumulators, body }
            }
            Statement::While { values, init, accumulators, condition, body } => {
                let init = self.registers(init)?;
                let accumulators = self.defined(accumulators)?;
                let (condition, body) = (self.block(condition)?, self.block(body)?);
                Statement::While { values: self.defined(values)?, init, accumulators, condition, body }
            }
            Statement::Bind { binding, out_of_bounds } => {
                Statement::Bind { binding: self.binding(binding)?, out_of_bounds: *out_of_bounds }
            }
            Statement::Store { memory, indices, value } => {
                let parts = self.parts(*value)?;
                for (part, value) in parts.iter().enumerate() {
                    let indices = self.indices(*memory, indices, part);
                    self.code.statements.push(Statement::Store { memory: *memory, indices, value: *value });
                }
                return Ok(());
            }
            Statement::Update { memory, indices, combiner, value } => {
                let [value] = self.parts(*value)?[..] else {
                    return Err(refused("a pair of registers cannot be updated undivided".to_owned()));
                };
                Statement::Update { memory: *memory, indices: indices.clone(), combiner: *combiner, value }
            }
            Statement::Collective { values, scope, combination, function, operands, tiles } => {
                let operands = self.registers(operands)?;
                let (values, scope, combination) = (self.defined(values)?, *scope, *combination);
                Statement::Collective {
                    values,
                    scope,
                    combination,
                    function: *function,
                    operands,
                    tiles: tiles.clone(),
                }
            }
            Statement::Share { value, memory, indices } => {
                let form = form(self.source.values[*value].element_type)?;
                let values = self.defined(&[*value])?;
                for (part, value) in values.into_iter().enumerate().take(form.parts() as usize) {
                    let indices = self.indices(*memory, indices, part);
                    self.code.statements.push(Statement::Share { value, memory: *memory, indices });
                }
                return Ok(());
            }
            Statement::Merge { .. } => {
                return Err(refused("an element is merged into a word before it is held in registers".to_owned()));
            }
            Statement::Name { .. } | Statement::Barrier | Statement::Matrix(_) => statement.clone(),
        };
        self.code.statements.push(typed);
        Ok(())
    }

    fn binding(&mut self, binding: &Binding) -> Result<Binding, Diagnostics> {
        let parts = self.parts(binding.value)?;
        let value = match Kind::of(self.source_type(binding.value))? {
            Kind::Pair(signed) => self.code.pair_to_index(signed, Pair::of(&parts)),
            _ => parts[0],
        };
        Ok(Binding { value, ..binding.clone() })
    }

    /// The indices of a part of an element.
    fn indices(&self, memory: MemoryId, indices: &[Expr], part: usize) -> Vec<Expr> {
        let parts = Form::of(self.kernel.memories[memory].shape.element_type).map_or(1, Form::parts);
        let part = (parts > 1).then(|| Expr::constant(i64::try_from(part).unwrap_or(0)));
        indices.iter().cloned().chain(part).collect()
    }

    fn op(&mut self, value: ValueId, op: &ScalarOp) -> Result<Vec<Operand>, Diagnostics> {
        let result = self.source.values[value].element_type;
        let operands = op.operands();
        let ty = operands.last().map_or(result, |operand| self.source_type(*operand));
        let mut parts = Vec::with_capacity(operands.len());
        for operand in &operands {
            parts.push(self.parts(*operand)?);
        }
        if let (Kind::Own, Kind::Own) = (Kind::of(ty)?, Kind::of(result)?) {
            let mut own = op.clone();
            for (operand, parts) in own.operands_mut().iter_mut().zip(&parts) {
                *operand = parts[0];
            }
            return Ok(vec![self.code.define(result, own)]);
        }
        match op {
            ScalarOp::Index { index, .. } => self.index(index, result),
            ScalarOp::Extract { memory, indices } => {
                let form = form(result)?;
                let mut extracted = Vec::with_capacity(2);
                for part in 0..form.parts() as usize {
                    let indices = self.indices(*memory, indices, part);
                    let op = ScalarOp::Extract { memory: *memory, indices };
                    extracted.push(self.code.define(form.register(), op));
                }
                Ok(extracted)
            }
            ScalarOp::Select { .. } => {
                let (a, b) = (parts[1].clone(), parts[2].clone());
                Ok(a.into_iter().zip(b).map(|(a, b)| self.code.select(parts[0][0], a, b)).collect())
            }
            ScalarOp::Clamp { .. } => {
                let raised = self.binary(BinaryOp::Maximum, ty, &parts[1], &parts[0])?;
                self.binary(BinaryOp::Minimum, ty, &raised, &parts[2])
            }
            ScalarOp::Unary { op, .. } => self.unary(*op, ty, &parts[0]),
            ScalarOp::Binary { op, .. } => self.binary(*op, ty, &parts[0], &parts[1]),
            ScalarOp::MultiplyAdd { .. } => {
                let product = self.binary(BinaryOp::Multiply, ty, &parts[0], &parts[1])?;
                self.binary(BinaryOp::Add, ty, &product, &parts[2])
            }
            ScalarOp::Compare { direction, order, .. } => {
                Ok(vec![self.compare(*direction, *order, ty, &parts[0], &parts[1])?])
            }
            ScalarOp::Convert { to, .. } => Ok(self.code.converted(&parts[0], ty, *to)),
            ScalarOp::Bitcast { to, .. } => self.bitcast(ty, *to, &parts[0]),
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } if is_reduced_as_half(ty) => {
                let pattern = self.code.converted(&parts[0], ty, ElementType::F16)[0];
                let reduced = self.code.reduced_half(pattern, *exponent_bits, *mantissa_bits);
                Ok(self.code.converted(&[reduced], ElementType::F16, ty))
            }
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } if FloatFormat::of(ty).is_some() => {
                let operand = self.decoded(parts[0][0], ty);
                let (exponent_bits, mantissa_bits) = (*exponent_bits, *mantissa_bits);
                let op = ScalarOp::ReducePrecision { operand, exponent_bits, mantissa_bits };
                let reduced = self.code.define(ElementType::F32, op);
                Ok(vec![self.code.encode(reduced, ty)])
            }
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } if ty == ElementType::F64 => {
                let operand = self.code.join(Pair::of(&parts[0]));
                let (exponent_bits, mantissa_bits) = (*exponent_bits, *mantissa_bits);
                let op = ScalarOp::ReducePrecision { operand, exponent_bits, mantissa_bits };
                let reduced = self.code.define(ElementType::F64, op);
                Ok(self.code.split(reduced).parts())
            }
            ScalarOp::Member { number, apart, .. } => {
                let register = form(result)?.register();
                let member = |operand: &Operand| {
                    let op = ScalarOp::Member { operand: *operand, number: *number, apart: *apart };
                    self.code.define(register, op)
                };
                Ok(parts[0].iter().map(member).collect())
            }
            ScalarOp::Pack { .. } => {
                let word = |place: usize| parts[place][0];
                let op = ScalarOp::Pack { operands: std::array::from_fn(word) };
                Ok(vec![self.code.define(ElementType::U32, op)])
            }
            ScalarOp::Complex { .. } => Ok(parts.concat()),
            ScalarOp::Real { .. } => Ok(parts[0][..form(result)?.parts() as usize].to_vec()),
            ScalarOp::Imag { .. } => {
                let own = form(result)?.parts() as usize;
                let zero = constant(Scalar::from_bits(0, result))?;
                Ok(parts[0].get(own..).filter(|part| !part.is_empty()).map_or(zero, <[Operand]>::to_vec))
            }
            ScalarOp::ReducePrecision { .. }
            | ScalarOp::Encode { .. }
            | ScalarOp::Decode { .. }
            | ScalarOp::Join { .. }
            | ScalarOp::Half { .. }
            | ScalarOp::Keep { .. }
            | ScalarOp::PackedDot { .. }
            | ScalarOp::Splat { .. }
            | ScalarOp::Compose { .. }
            | ScalarOp::Lane { .. } => Err(refused(format!("an operation on {ty} comes before its registers"))),
        }
    }

    fn index(&mut self, index: &Expr, result: ElementType) -> Result<Vec<Operand>, Diagnostics> {
        let mut number =
            |element_type| self.code.define(element_type, ScalarOp::Index { index: index.clone(), element_type });
        Ok(match Kind::of(result)? {
            Kind::Own => vec![number(result)],
            Kind::Narrow(narrow) => {
                let number = number(narrow.register());
                vec![narrow.wrapped(&mut self.code, number)]
            }
            Kind::Small => {
                let number = number(ElementType::U32);
                self.code.converted(&[number], ElementType::U32, result)
            }
            Kind::Pair(_) => vec![number(ElementType::U32), word(0)],
            Kind::Double | Kind::Complex(ElementType::F64) => {
                let number = number(ElementType::U32);
                self.code.converted(&[number], ElementType::U32, result)
            }
            Kind::Complex(_) => vec![number(ElementType::F32), real(0.0)],
        })
    }

    /// The number that the bits of a small float are, decoded once where it is in sight.
    fn decoded(&mut self, bits: Operand, ty: ElementType) -> Operand {
        let Operand::Value(value) = bits else { return self.code.decode(bits, ty) };
        if let Some(known) = self.decoded.get(&(value, ty)) {
            return *known;
        }
        let number = self.code.decode(bits, ty);
        self.decoded.insert((value, ty), number);
        self.trail.push((value, ty));
        number
    }

    fn unary(&mut self, op: UnaryOp, ty: ElementType, parts: &[Operand]) -> Result<Vec<Operand>, Diagnostics> {
        let undefined = || refused(format!("'{}' is not defined on elements of type {ty}", op.name()));
        Ok(match Kind::of(ty)? {
            Kind::Own => vec![self.code.unary(op, parts[0])],
            Kind::Narrow(narrow) => vec![narrow.unary(&mut self.code, op, parts[0])],
            Kind::Small => {
                let number = self.decoded(parts[0], ty);
                let result = self.code.unary(op, number);
                if op == UnaryOp::IsFinite { vec![result] } else { vec![self.code.encode(result, ty)] }
            }
            Kind::Pair(signed) => self.code.unary_pair(op, signed, Pair::of(parts)).ok_or_else(undefined)?.parts(),
            Kind::Double => self.code.unary_double(op, Pair::of(parts)),
            // Its signs are bits.
            Kind::Complex(ElementType::F64) if op == UnaryOp::Negate => {
                parts.chunks(2).flat_map(|part| self.code.unary_double(op, Pair::of(part))).collect()
            }
            Kind::Complex(part) => {
                let number = self.complex(part, parts);
                let result = self.code.unary_complex(op, number).ok_or_else(undefined)?;
                self.split(part, &result)
            }
        })
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        ty: ElementType,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostics> {
        let undefined = || refused(format!("'{}' is not defined on elements of type {ty}", op.name()));
        Ok(match Kind::of(ty)? {
            Kind::Own => vec![self.code.binary(op, a[0], b[0])],
            Kind::Narrow(narrow) => vec![narrow.binary(&mut self.code, op, a[0], b[0])],
            Kind::Small => {
                let (a, b) = (self.decoded(a[0], ty), self.decoded(b[0], ty));
                let result = self.code.binary(op, a, b);
                vec![self.code.encode(result, ty)]
            }
            Kind::Pair(signed) => {
                let (a, b) = (Pair::of(a), Pair::of(b));
                self.code.binary_pair(self.helpers, op, signed, a, b).ok_or_else(undefined)?.parts()
            }
            Kind::Double => self.code.binary_double(op, Pair::of(a), Pair::of(b)).parts(),
            Kind::Complex(part) => {
                let (a, b) = (self.complex(part, a), self.complex(part, b));
                let result = match op {
                    BinaryOp::Power => self.helpers.power_of_complex(&mut self.code, part, [a, b]).to_vec(),
                    _ => self.code.binary_complex(op, a, b).ok_or_else(undefined)?,
                };
                self.split(part, &result)
            }
        })
    }

    /// The parts of a complex number, as numbers.
    fn complex(&mut self, part: ElementType, registers: &[Operand]) -> [Operand; 2] {
        match part {
            ElementType::F64 => [&registers[..2], &registers[2..]].map(|words| self.code.join(Pair::of(words))),
            _ => [registers[0], registers[1]],
        }
    }

    /// The registers that hold numbers of a type.
    fn split(&mut self, ty: ElementType, numbers: &[Operand]) -> Vec<Operand> {
        match ty {
            ElementType::F64 => numbers.iter().flat_map(|number| self.code.split(*number).parts()).collect(),
            _ => numbers.to_vec(),
        }
    }

    fn compare(
        &mut self,
        direction: ComparisonDirection,
        order: Option<ComparisonType>,
        ty: ElementType,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<Operand, Diagnostics> {
        Ok(match Kind::of(ty)? {
            Kind::Pair(signed) => self.code.compare_pairs(direction, signed, Pair::of(a), Pair::of(b)),
            Kind::Double => self.code.compare_doubles(direction, order, Pair::of(a), Pair::of(b)),
            Kind::Complex(part) => {
                let (re, im) = if part == ElementType::F64 {
                    let mut equal = |a: &[Operand], b: &[Operand]| {
                        self.code.compare_doubles(ComparisonDirection::Eq, None, Pair::of(a), Pair::of(b))
                    };
                    (equal(&a[..2], &b[..2]), equal(&a[2..], &b[2..]))
                } else {
                    (self.code.equal(a[0], b[0]), self.code.equal(a[1], b[1]))
                };
                let equal = self.code.and(re, im);
                match direction {
                    ComparisonDirection::Eq => equal,
                    ComparisonDirection::Ne => self.code.unary(UnaryOp::Not, equal),
                    _ => return Err(refused("complex numbers have no order".to_owned())),
                }
            }
            kind => {
                let (a, b) = match kind {
                    Kind::Small => (self.decoded(a[0], ty), self.decoded(b[0], ty)),
                    _ => (a[0], b[0]),
                };
                let op = ScalarOp::Compare { direction, order, operands: [a, b] };
                self.code.define(ElementType::Pred, op)
            }
        })
    }

    /// The bits as another type of the same size.
    fn bitcast(&mut self, from: ElementType, to: ElementType, parts: &[Operand]) -> Result<Vec<Operand>, Diagnostics> {
        let bits: Vec<Operand> = match Kind::of(from)? {
            Kind::Narrow(narrow) => vec![narrow.pattern(&mut self.code, parts[0])],
            Kind::Own if from == ElementType::Pred => vec![self.code.convert(parts[0], ElementType::U32)],
            _ => parts.iter().map(|part| self.code.bitcast(*part, ElementType::U32)).collect(),
        };
        let form = form(to)?;
        if bits.len() != form.parts() as usize {
            return Err(refused(format!("{from} and {to} are not of one size")));
        }
        Ok(match Kind::of(to)? {
            Kind::Narrow(narrow) => {
                let register = self.code.bitcast(bits[0], narrow.register());
                vec![narrow.wrapped(&mut self.code, register)]
            }
            Kind::Own if to == ElementType::Pred => vec![self.code.convert(bits[0], ElementType::Pred)],
            _ => bits.into_iter().map(|bits| self.code.bitcast(bits, form.register())).collect(),
        })
    }
}

/// The registers that hold a constant.
fn constant(scalar: Scalar) -> Result<Vec<Operand>, Diagnostics> {
    let element_type = scalar.element_type();
    let form = form(element_type)?;
    let bits = scalar.bits();
    let register = |bits: u128| Operand::Constant(Scalar::from_bits(bits, form.register()));
    Ok(match Kind::of(element_type)? {
        Kind::Own => vec![Operand::Constant(scalar)],
        // Extended by the sign.
        Kind::Narrow(_) if element_type.is_signed() => {
            let unused = 128 - element_type.bits();
            vec![register((((bits << unused).cast_signed()) >> unused).cast_unsigned())]
        }
        Kind::Narrow(_) | Kind::Small => vec![register(bits)],
        Kind::Pair(_) | Kind::Double | Kind::Complex(_) => {
            (0..form.parts()).map(|part| register(bits >> (32 * part) & u128::from(u32::MAX))).collect()
        }
    })
}
