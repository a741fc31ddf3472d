//! Kernels run on memories of symbols, one invocation at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use weft_affine::{Expr, Var};
use weft_codegen_wgsl::kernel::{
    Access, Binding, Block, Condition, Function, Kernel, MemoryId, Operand, ScalarOp, Space, Statement, ValueId,
};
use weft_hlo::ir::{ArenaId, BinaryOp};

/// A value stands for the expression that computes it; equal symbols mean equal expressions. Even ones are true, and a choice is what is chosen.
pub(crate) type Symbol = u64;

/// The lanes of a value.
type Lanes = SmallVec<[Symbol; 4]>;

fn symbol(parts: impl Hash) -> Symbol {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Where code runs: the indices of the function, of the loops around and of the values that are bound.
#[derive(Clone)]
struct Scope<'p> {
    dims: &'p [i64],
    ranges: Vec<i64>,
    runtime: BTreeMap<u32, i64>,
}

impl Scope<'_> {
    fn index(&self, index: &Expr) -> i64 {
        let value = |variable| match variable {
            Var::Dim(dimension) => self.dims[dimension as usize],
            Var::Range(range) => self.ranges[range as usize],
            Var::Runtime(number) => self.runtime[&number],
        };
        index.evaluate(value).unwrap()
    }
}

/// What an invocation writes: the memory and the row-major position, and the element.
pub(crate) type Writes = BTreeMap<(usize, i64), Symbol>;

/// Rounds after which a loop that values end is left.
const MOST_ROUNDS: usize = 4;

/// Any index within the bounds, the same for the same value.
fn bound(binding: &Binding, value: Symbol) -> i64 {
    let size = binding.bounds.hi - binding.bounds.lo + 1;
    binding.bounds.lo + i64::try_from(value >> 1).unwrap() % size
}

/// Writes an element, once; what is scattered may be written several times, since any values tell where, in any order.
pub(crate) fn write(kernel: &Kernel, writes: &mut Writes, place: (usize, i64), element: Symbol) {
    let space = kernel.memories[MemoryId::from_index(place.0)].space;
    let is_scattered = matches!(space, Space::Buffer { access: Access::Scattered, .. });
    let before = writes.get(&place).copied();
    assert!(is_scattered || before.is_none(), "an element is written once");
    writes.insert(place, element.wrapping_add(before.unwrap_or(0)));
}

struct Machine<'k> {
    kernel: &'k Kernel,
    writes: Writes,
    /// What the registers of the invocation hold.
    registers: Writes,
}

impl Machine<'_> {
    fn call(&mut self, function: &Function, dims: &[i64], arguments: &[Lanes]) -> Vec<Lanes> {
        assert_eq!(dims.len(), function.extents.len());
        for (index, extent) in dims.iter().zip(&function.extents) {
            assert!((0..*extent).contains(index), "@{} is called at {dims:?}", function.name);
        }
        let mut values: Vec<Lanes> = vec![Lanes::new(); function.values.len()];
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            values[parameter.index()] = in_lanes(argument, function.values[*parameter].lanes);
        }
        let scope = Scope { dims, ranges: Vec::new(), runtime: BTreeMap::new() };
        self.run(function, &function.body, &scope, &mut values)
    }

    fn run(&mut self, of: &Function, block: &Block, outer: &Scope<'_>, values: &mut [Lanes]) -> Vec<Lanes> {
        let lanes = |value: &ValueId| of.values[*value].lanes;
        let mut scope = outer.clone();
        for statement in &block.statements {
            let operands = all(&statement.operands(), values);
            let (defined, results) = match statement {
                Statement::Let { value, op } => (vec![*value], vec![self.lanes(op, lanes(value), &scope, &operands)]),
                Statement::Call { values: defined, function, indices, .. } => {
                    let indices: Vec<i64> = indices.iter().map(|index| scope.index(index)).collect();
                    let function = &self.kernel.functions[*function];
                    (defined.clone(), self.call(function, &indices, &operands))
                }
                Statement::If { values: defined, condition, then, otherwise } => {
                    let mut holds =
                        condition.constraints().iter().all(|test| test.bounds.contains(scope.index(&test.expr)));
                    if let Condition::Value(_) = condition {
                        holds &= is_true(operands[0][0]);
                    }
                    let mut inner = scope.clone();
                    for (binding, value) in condition.bindings().iter().zip(&operands) {
                        // Of four values one is out of bounds.
                        holds &= !(value[0] >> 32).is_multiple_of(4);
                        inner.runtime.insert(binding.variable, bound(binding, value[0]));
                    }
                    let branch = if holds { then } else { otherwise };
                    (defined.clone(), self.run(of, branch, &inner, values))
                }
                Statement::Loop { values: defined, extents, accumulators, body, .. } => {
                    let mut carried = operands;
                    for position in 0..extents.iter().product() {
                        let mut inner = scope.clone();
                        inner.ranges.extend(indices(position, extents));
                        for (accumulator, symbol) in accumulators.iter().zip(&carried) {
                            values[accumulator.index()] = in_lanes(symbol, lanes(accumulator));
                        }
                        carried = self.run(of, body, &inner, values);
                    }
                    (defined.clone(), carried)
                }
                Statement::While { values: defined, accumulators, condition, body, .. } => {
                    let mut carried = operands;
                    for _ in 0..MOST_ROUNDS {
                        for (accumulator, symbol) in accumulators.iter().zip(&carried) {
                            values[accumulator.index()] = in_lanes(symbol, lanes(accumulator));
                        }
                        if !is_true(self.run(of, condition, &scope, values)[0][0]) {
                            break;
                        }
                        carried = self.run(of, body, &scope, values);
                    }
                    (defined.clone(), carried)
                }
                Statement::Bind { binding, .. } => {
                    scope.runtime.insert(binding.variable, bound(binding, operands[0][0]));
                    (Vec::new(), Vec::new())
                }
                Statement::Store { memory, indices, .. } => {
                    let position = self.position(*memory, indices, &scope);
                    for (position, element) in (position..).zip(&operands[0]) {
                        let place = (memory.index(), position);
                        match self.kernel.memories[*memory].space {
                            Space::Thread => {
                                self.registers.insert(place, *element);
                            }
                            _ => write(self.kernel, &mut self.writes, place, *element),
                        }
                    }
                    (Vec::new(), Vec::new())
                }
                Statement::Update { memory, indices, .. } => {
                    let position = self.position(*memory, indices, &scope);
                    write(self.kernel, &mut self.writes, (memory.index(), position), operands[0][0]);
                    (Vec::new(), Vec::new())
                }
                other => panic!("the loop emitter makes no {other:?}"),
            };
            for (value, result) in defined.into_iter().zip(results) {
                values[value.index()] = in_lanes(&result, lanes(&value));
            }
        }
        all(&block.results, values)
    }

    /// The row-major position of an element.
    fn position(&self, memory: MemoryId, indices: &[Expr], scope: &Scope<'_>) -> i64 {
        let extents = &self.kernel.memories[memory].shape.extents;
        let indices: Vec<i64> = indices.iter().map(|index| scope.index(index)).collect();
        let position = if indices.len() == extents.len() {
            indices.iter().zip(extents).fold(0, |position, (index, extent)| {
                assert!((0..*extent).contains(index), "{indices:?} in {extents:?}");
                position * extent + index
            })
        } else {
            indices[0]
        };
        assert!((0..extents.iter().product()).contains(&position), "{position} in {extents:?}");
        position
    }

    /// A value of so many lanes.
    fn lanes(&self, op: &ScalarOp, lanes: u32, scope: &Scope<'_>, operands: &[Lanes]) -> Lanes {
        match op {
            ScalarOp::Splat { .. } => in_lanes(&operands[0], lanes),
            ScalarOp::Compose { .. } => operands.iter().flatten().copied().collect(),
            ScalarOp::Lane { lane, .. } => smallvec![operands[0][*lane as usize]],
            ScalarOp::Extract { memory, indices } => {
                let first = self.position(*memory, indices, scope);
                let read = |position: i64| match self.kernel.memories[*memory].space {
                    Space::Thread => self.registers[&(memory.index(), position)],
                    _ => symbol((memory, position)),
                };
                (first..first + i64::from(lanes)).map(read).collect()
            }
            _ => {
                let operands: Vec<Lanes> = operands.iter().map(|operand| in_lanes(operand, lanes)).collect();
                let of_lane = |lane| operands.iter().map(|operand| operand[lane]).collect::<Lanes>();
                (0..lanes as usize).map(|lane| self.scalar(op, scope, &of_lane(lane))).collect()
            }
        }
    }

    fn scalar(&self, op: &ScalarOp, scope: &Scope<'_>, operands: &[Symbol]) -> Symbol {
        match op {
            ScalarOp::Index { index, element_type } => symbol((scope.index(index), element_type)),
            ScalarOp::Unary { op, .. } => symbol((op, operands)),
            ScalarOp::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), .. } => {
                let mut found = operands.iter().map(|operand| is_true(*operand));
                let is = if *op == BinaryOp::And { found.all(|is| is) } else { found.any(|is| is) };
                symbol((op, operands)) & !1 | u64::from(!is)
            }
            ScalarOp::Binary { op, .. } => symbol((op, operands)),
            ScalarOp::Compare { direction, order, .. } => symbol((direction, order, operands)),
            ScalarOp::MultiplyAdd { .. } => symbol(("multiply-add", operands)),
            ScalarOp::Pack { .. } => symbol(("pack", operands)),
            ScalarOp::PackedDot { is_signed, .. } => symbol(("packed-dot", is_signed, operands)),
            ScalarOp::Select { .. } => operands[if is_true(operands[0]) { 1 } else { 2 }],
            ScalarOp::Clamp { .. } => symbol(("clamp", operands)),
            ScalarOp::Bitcast { to, .. } => symbol(("bitcast", to, operands)),
            ScalarOp::Convert { to, .. } => symbol((to, operands)),
            ScalarOp::Encode { to, .. } => symbol(("encode", to, operands)),
            ScalarOp::Decode { from, .. } => symbol(("decode", from, operands)),
            ScalarOp::Complex { .. } => symbol(("complex", operands)),
            ScalarOp::Real { .. } => symbol(("real", operands)),
            ScalarOp::Imag { .. } => symbol(("imag", operands)),
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } => {
                symbol((exponent_bits, mantissa_bits, operands))
            }
            ScalarOp::Keep { .. } => operands[0],
            other => panic!("{other:?} is no operation of one lane"),
        }
    }
}

/// Whether what a value is taken for is true, if it is a truth value.
fn is_true(value: Symbol) -> bool {
    value.is_multiple_of(2)
}

/// A value that has so many lanes, or the same in each.
fn in_lanes(value: &Lanes, lanes: u32) -> Lanes {
    if value.len() == 1 { smallvec![value[0]; lanes as usize] } else { value.clone() }
}

fn all(operands: &[Operand], values: &[Lanes]) -> Vec<Lanes> {
    let one = |operand: &Operand| match operand {
        Operand::Value(value) => values[value.index()].clone(),
        Operand::Constant(scalar) => smallvec![symbol(scalar)],
    };
    operands.iter().map(one).collect()
}

/// What one invocation writes.
pub(crate) fn invocation(kernel: &Kernel, number: i64) -> Writes {
    let mut machine = Machine { kernel, writes: Writes::new(), registers: Writes::new() };
    // The coordinates of the workgroup, the first of which varies fastest, and the thread.
    let thread = kernel.entry.extents.len() - 1;
    let mut rest = number / kernel.threads();
    let mut dims = Vec::with_capacity(thread + 1);
    for extent in &kernel.entry.extents[..thread] {
        dims.push(rest % extent);
        rest /= extent;
    }
    dims.push(number % kernel.threads());
    machine.call(&kernel.entry, &dims, &[]);
    machine.writes
}

/// The indices of a row-major position.
fn indices(position: i64, extents: &[i64]) -> Vec<i64> {
    let mut rest = position;
    let mut indices: Vec<i64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let index = rest % extent;
            rest /= extent;
            index
        })
        .collect();
    indices.reverse();
    indices
}
