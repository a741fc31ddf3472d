//! Flattening keeps what a kernel computes: both are run on tensors of symbols, one element at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{corpus, fused, make, verified};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use weft_affine::{Expr, Var};
use weft_codegen_wgsl::kernel::{Block, FunctionId, Kernel, Operand, ScalarOp, Statement};
use weft_hlo::ir::{ArenaId, Module};

/// A value stands for the expression that computes it; equal symbols mean equal expressions.
type Symbol = u64;

fn symbol(parts: impl Hash) -> Symbol {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Where code runs: the indices of the function and of the innermost loop.
struct Place<'p> {
    dims: &'p [i64],
    ranges: Vec<i64>,
}

impl Place<'_> {
    fn index(&self, index: &Expr) -> i64 {
        let value = |variable| match variable {
            Var::Dim(dimension) => self.dims[dimension as usize],
            Var::Range(range) => self.ranges[range as usize],
            Var::Runtime(_) => panic!("there are no runtime variables"),
        };
        index.evaluate(value).unwrap()
    }
}

fn call(kernel: &Kernel, id: FunctionId, dims: &[i64]) -> Vec<Symbol> {
    let function = &kernel.functions[id];
    assert_eq!(dims.len(), function.extents.len());
    for (index, extent) in dims.iter().zip(&function.extents) {
        assert!((0..*extent).contains(index), "@{} is called at {dims:?}", function.name);
    }
    let mut values = vec![0; function.values.len()];
    run(kernel, &function.body, &Place { dims, ranges: Vec::new() }, &mut values)
}

fn run(kernel: &Kernel, block: &Block, place: &Place<'_>, values: &mut [Symbol]) -> Vec<Symbol> {
    let all = |operands: &[Operand], values: &[Symbol]| -> Vec<Symbol> {
        let one = |operand: &Operand| match operand {
            Operand::Value(value) => values[value.index()],
            Operand::Constant(scalar) => symbol(format!("{scalar:?}")),
        };
        operands.iter().map(one).collect()
    };
    for statement in &block.statements {
        let (defined, results) = match statement {
            Statement::Let { value, op } => {
                (vec![*value], vec![scalar(kernel, op, place, &all(&op.operands(), values))])
            }
            Statement::Call { values: defined, function, indices } => {
                let indices: Vec<i64> = indices.iter().map(|index| place.index(index)).collect();
                (defined.clone(), call(kernel, *function, &indices))
            }
            Statement::If { values: defined, condition, then, otherwise } => {
                let holds = condition.iter().all(|test| test.bounds.contains(place.index(&test.expr)));
                let branch = if holds { then } else { otherwise };
                (defined.clone(), run(kernel, branch, place, values))
            }
            Statement::Loop { values: defined, extents, init, accumulators, body } => {
                let mut carried = all(init, values);
                for position in 0..extents.iter().product() {
                    let place = Place { dims: place.dims, ranges: indices(position, extents) };
                    for (accumulator, symbol) in accumulators.iter().zip(&carried) {
                        values[accumulator.index()] = *symbol;
                    }
                    carried = run(kernel, body, &place, values);
                }
                (defined.clone(), carried)
            }
        };
        for (value, result) in defined.iter().zip(results) {
            values[value.index()] = result;
        }
    }
    all(&block.results, values)
}

fn scalar(kernel: &Kernel, op: &ScalarOp, place: &Place<'_>, operands: &[Symbol]) -> Symbol {
    match op {
        ScalarOp::Index { index, element_type } => symbol((place.index(index), element_type)),
        ScalarOp::Extract { tensor, indices } => {
            let extents = &kernel.tensors[*tensor].shape.extents;
            let indices: Vec<i64> = indices.iter().map(|index| place.index(index)).collect();
            let position = if indices.len() == extents.len() {
                indices.iter().zip(extents).fold(0, |position, (index, extent)| {
                    assert!((0..*extent).contains(index), "{indices:?} in {extents:?}");
                    position * extent + index
                })
            } else {
                indices[0]
            };
            assert!((0..extents.iter().product()).contains(&position), "{position} in {extents:?}");
            symbol((tensor, position))
        }
        ScalarOp::Unary { op, .. } => symbol((op, operands)),
        ScalarOp::Binary { op, .. } => symbol((op, operands)),
        ScalarOp::Compare { direction, order, .. } => symbol((direction, order, operands)),
        ScalarOp::Select { .. } => symbol(("select", operands)),
        ScalarOp::Clamp { .. } => symbol(("clamp", operands)),
        ScalarOp::Bitcast { to, .. } => symbol(("bitcast", to, operands)),
        ScalarOp::Convert { to, .. } => symbol((to, operands)),
    }
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

fn check(name: &str, module: &Module, samples: i64) -> usize {
    let made = make(module).unwrap_or_else(|findings| panic!("{name}: {findings}"));
    for made in &made {
        for (store, flat_store) in made.kernel.entry.stores.iter().zip(&made.flat.entry.stores) {
            assert_eq!(store, flat_store);
            let extents = &made.kernel.functions[store.function].extents;
            let flat_extents = &made.flat.functions[store.function].extents;
            assert_eq!(flat_extents.as_slice(), [extents.iter().product::<i64>()]);
            for position in positions(flat_extents[0], samples) {
                let expected = call(&made.kernel, store.function, &indices(position, extents));
                let found = call(&made.flat, store.function, &[position]);
                assert_eq!(found, expected, "{name}: {} at {position}\n{}", made.kernel.name, made.flat);
            }
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
