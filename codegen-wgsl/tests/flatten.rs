//! Flattening keeps what a kernel computes: both are run on memories of symbols, one invocation at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{corpus, fused, make, verified};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use weft_affine::{Expr, Var};
use weft_codegen_wgsl::kernel::{Block, Condition, Function, Kernel, MemoryId, Operand, ScalarOp, Statement};
use weft_hlo::ir::ArenaId;
use weft_partition::Fused;

/// A value stands for the expression that computes it; equal symbols mean equal expressions.
type Symbol = u64;

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
type Writes = BTreeMap<(usize, i64), Symbol>;

struct Machine<'k> {
    kernel: &'k Kernel,
    writes: Writes,
}

impl Machine<'_> {
    fn call(&mut self, function: &Function, dims: &[i64], arguments: &[Symbol]) -> Vec<Symbol> {
        assert_eq!(dims.len(), function.extents.len());
        for (index, extent) in dims.iter().zip(&function.extents) {
            assert!((0..*extent).contains(index), "@{} is called at {dims:?}", function.name);
        }
        let mut values = vec![0; function.values.len()];
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            values[parameter.index()] = *argument;
        }
        let scope = Scope { dims, ranges: Vec::new(), runtime: BTreeMap::new() };
        self.run(&function.body, &scope, &mut values)
    }

    fn run(&mut self, block: &Block, outer: &Scope<'_>, values: &mut [Symbol]) -> Vec<Symbol> {
        let mut scope = outer.clone();
        for statement in &block.statements {
            let operands = all(&statement.operands(), values);
            let (defined, results) = match statement {
                Statement::Let { value, op } => (vec![*value], vec![self.scalar(op, &scope, &operands)]),
                Statement::Call { values: defined, function, indices, .. } => {
                    let indices: Vec<i64> = indices.iter().map(|index| scope.index(index)).collect();
                    let function = &self.kernel.functions[*function];
                    (defined.clone(), self.call(function, &indices, &operands))
                }
                Statement::If { values: defined, condition, then, otherwise } => {
                    let mut holds =
                        condition.constraints().iter().all(|test| test.bounds.contains(scope.index(&test.expr)));
                    if let Condition::Value(_) = condition {
                        holds &= operands[0].is_multiple_of(2);
                    }
                    let branch = if holds { then } else { otherwise };
                    (defined.clone(), self.run(branch, &scope, values))
                }
                Statement::Loop { values: defined, extents, accumulators, body, .. } => {
                    let mut carried = operands;
                    for position in 0..extents.iter().product() {
                        let mut inner = scope.clone();
                        inner.ranges.extend(indices(position, extents));
                        for (accumulator, symbol) in accumulators.iter().zip(&carried) {
                            values[accumulator.index()] = *symbol;
                        }
                        carried = self.run(body, &inner, values);
                    }
                    (defined.clone(), carried)
                }
                Statement::Bind { binding, .. } => {
                    // Any index within the bounds, the same for the same value.
                    let size = binding.bounds.hi - binding.bounds.lo + 1;
                    let index = binding.bounds.lo + i64::try_from(operands[0] >> 1).unwrap() % size;
                    scope.runtime.insert(binding.variable, index);
                    (Vec::new(), Vec::new())
                }
                Statement::Store { memory, indices, .. } => {
                    let position = self.position(*memory, indices, &scope);
                    let before = self.writes.insert((memory.index(), position), operands[0]);
                    assert_eq!(before, None, "an element is written once");
                    (Vec::new(), Vec::new())
                }
                other => panic!("the loop emitter makes no {other:?}"),
            };
            for (value, result) in defined.iter().zip(results) {
                values[value.index()] = result;
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

    fn scalar(&self, op: &ScalarOp, scope: &Scope<'_>, operands: &[Symbol]) -> Symbol {
        match op {
            ScalarOp::Index { index, element_type } => symbol((scope.index(index), element_type)),
            ScalarOp::Extract { memory, indices } => symbol((memory, self.position(*memory, indices, scope))),
            ScalarOp::Unary { op, .. } => symbol((op, operands)),
            ScalarOp::Binary { op, .. } => symbol((op, operands)),
            ScalarOp::Compare { direction, order, .. } => symbol((direction, order, operands)),
            ScalarOp::Select { .. } => symbol(("select", operands)),
            ScalarOp::Clamp { .. } => symbol(("clamp", operands)),
            ScalarOp::Bitcast { to, .. } => symbol(("bitcast", to, operands)),
            ScalarOp::Convert { to, .. } => symbol((to, operands)),
            ScalarOp::ReducePrecision { exponent_bits, mantissa_bits, .. } => {
                symbol((exponent_bits, mantissa_bits, operands))
            }
            ScalarOp::Keep { .. } => operands[0],
        }
    }
}

fn all(operands: &[Operand], values: &[Symbol]) -> Vec<Symbol> {
    let one = |operand: &Operand| match operand {
        Operand::Value(value) => values[value.index()],
        Operand::Constant(scalar) => symbol(format!("{scalar:?}")),
    };
    operands.iter().map(one).collect()
}

/// What one invocation writes.
fn invocation(kernel: &Kernel, number: i64) -> Writes {
    let mut machine = Machine { kernel, writes: Writes::new() };
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

/// Some positions, the first and the last among them.
fn positions(count: i64, samples: i64) -> impl Iterator<Item = i64> {
    let step = (count / samples).max(1);
    (0..count).filter(move |position| position % step == 0 || position + 1 == count)
}

fn check(name: &str, fused: &Fused, samples: i64) -> usize {
    let made = make(fused).unwrap_or_else(|findings| panic!("{name}: {findings}"));
    for made in &made {
        assert_eq!(made.kernel.entry.extents, made.flat.entry.extents);
        let launched: i64 = made.kernel.entry.extents.iter().product();
        for number in positions(launched, samples) {
            let expected = invocation(&made.kernel, number);
            let found = invocation(&made.flat, number);
            assert_eq!(found, expected, "{name}: {} at {number}\n{}", made.kernel.name, made.flat);
        }
    }
    made.len()
}

#[test]
fn the_corpus_computes_the_same_flat() {
    let mut kernels = 0;
    for (name, path) in corpus() {
        let Ok(module) = fused(&fs::read_to_string(path).unwrap()) else { continue };
        kernels += check(&name, &module, 24);
    }
    assert!(kernels > 200, "{kernels}");
}

#[test]
fn what_moves_elements_computes_the_same_flat() {
    for name in ["argmax", "concatenate", "diamond", "mask", "nothing", "outputs", "pad"] {
        let path = format!("{}/tests/snapshots/{name}.hlo", env!("CARGO_MANIFEST_DIR"));
        check(name, &verified(&fs::read_to_string(path).unwrap()), i64::MAX);
    }
    let moves = "HloModule moves
        ENTRY main {
            x = f32[6,4,5] parameter(0)
            y = f32[5,4,6] transpose(x), dimensions={2,1,0}
            a = f32[10,12] reshape(y)
            b = f32[10,12] reverse(a), dimensions={0}
            c = f32[4,6] slice(b), slice={[0:10:3], [0:12:2]}
            v = f32[] constant(3)
            d = f32[9,4] pad(c, v), padding=2_0_1x-1_-1
            e = f32[9,4,2] broadcast(d), dimensions={0,1}
            f = f32[3,24] reshape(e)
            g = f32[24,3] transpose(f), dimensions={1,0}
            h = f32[2,36] reshape(g)
            i = f32[4,36] concatenate(h, h), dimensions={0}
            ROOT j = f32[144] reshape(i)
        }";
    check("moves", &verified(moves), i64::MAX);
}
