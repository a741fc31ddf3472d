//! How often a kernel reads and writes each element of its buffers: its invocations one after the other, of which only indices are computed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use weft_affine::{Expr, Var};
use weft_codegen_wgsl::kernel::{
    Binding, Block, Condition, Function, Kernel, Memory, MemoryId, Operand, OutOfBounds, ScalarOp, Space, Statement,
    ValueId,
};
use weft_hlo::ir::{ArenaId, BinaryOp, ComparisonDirection, Scalar};

/// The lanes of a value, of which integers are known that follow from indices and constants.
type Lanes = Vec<Option<i64>>;

/// What becomes of the elements of one buffer.
pub(crate) struct Counted {
    pub(crate) name: String,
    /// How often each is read, by row-major position.
    pub(crate) read: Vec<u32>,
    /// How often each is written.
    pub(crate) written: Vec<u32>,
}

/// Counts over all workgroups of a kernel whose stores are no words yet. Each element of its buffers is the number `element`, where a kernel decides by it.
///
/// # Panics
/// If an index is out of bounds, or a decision depends on what is computed of other than indices.
pub(crate) fn counted(kernel: &Kernel, element: i64) -> Vec<Counted> {
    let of = |memory: &Memory| {
        let count = usize::try_from(memory.shape.element_count().unwrap()).unwrap();
        Counted { name: memory.name.clone(), read: vec![0; count], written: vec![0; count] }
    };
    let counts = kernel.memories.values().map(of).collect();
    let mut machine = Machine { kernel, element, counts };
    let extents = &kernel.entry.extents;
    for number in 0..extents.iter().product::<i64>() {
        let mut rest = number;
        let coordinate = |extent: &i64| {
            let coordinate = rest % extent;
            rest /= extent;
            coordinate
        };
        let dims: Vec<i64> = extents.iter().map(coordinate).collect();
        machine.call(&kernel.entry, dims, &[]);
    }
    let buffers = kernel.memories.values().zip(machine.counts);
    buffers.filter(|(memory, _)| memory.is_buffer()).map(|(_, counted)| counted).collect()
}

/// Where code runs, as in `machine`.
#[derive(Clone)]
struct At {
    dims: Vec<i64>,
    ranges: Vec<i64>,
    runtime: BTreeMap<u32, i64>,
}

impl At {
    fn index(&self, index: &Expr) -> i64 {
        let value = |variable| match variable {
            Var::Dim(dimension) => self.dims[dimension as usize],
            Var::Range(range) => self.ranges[range as usize],
            Var::Runtime(number) => self.runtime[&number],
        };
        index.evaluate(value).unwrap()
    }
}

struct Machine<'k> {
    kernel: &'k Kernel,
    element: i64,
    counts: Vec<Counted>,
}

impl<'k> Machine<'k> {
    fn call(&mut self, function: &'k Function, dims: Vec<i64>, arguments: &[Lanes]) -> Vec<Lanes> {
        let mut values: Vec<Lanes> = function.values.values().map(|value| vec![None; value.lanes as usize]).collect();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            assign(&mut values, *parameter, argument);
        }
        let mut at = At { dims, ranges: Vec::new(), runtime: BTreeMap::new() };
        self.run(&function.body, &mut at, &mut values)
    }

    /// Runs a block; what it binds is in sight of the rest of it.
    fn run(&mut self, block: &'k Block, at: &mut At, values: &mut Vec<Lanes>) -> Vec<Lanes> {
        for statement in &block.statements {
            let operands = all(&statement.operands(), values);
            match statement {
                Statement::Let { value, op } => {
                    let lanes = self.lanes(op, values[value.index()].len(), at, &operands);
                    assign(values, *value, &lanes);
                }
                Statement::Call { values: defined, function, indices, .. } => {
                    let indices = indices.iter().map(|index| at.index(index)).collect();
                    let results = self.call(&self.kernel.functions[*function], indices, &operands);
                    assign_all(values, defined, &results);
                }
                Statement::If { values: defined, condition, then, otherwise } => {
                    let mut inside = at.clone();
                    let is_unknown = matches!(condition, Condition::Value(_)) && operands[0][0].is_none();
                    let is_computed = |block: &Block| {
                        block
                            .statements
                            .iter()
                            .all(|it| matches!(it, Statement::Let { op, .. } if op.indices().is_empty()))
                    };
                    // Which block is chosen does not matter where neither reads anything.
                    let holds = match is_unknown && is_computed(then) && is_computed(otherwise) {
                        true => false,
                        false => holds(condition, &mut inside, &operands),
                    };
                    let branch = if holds { then } else { otherwise };
                    let results = self.run(branch, &mut inside, values);
                    assign_all(values, defined, &results);
                }
                Statement::Loop { values: defined, extents, accumulators, body, .. } => {
                    assign_all(values, accumulators, &operands);
                    for position in 0..extents.iter().product() {
                        let mut inside = at.clone();
                        inside.ranges.extend(indices(position, extents));
                        let results = self.run(body, &mut inside, values);
                        assign_all(values, accumulators, &results);
                    }
                    let carried: Vec<Lanes> = accumulators.iter().map(|id| values[id.index()].clone()).collect();
                    assign_all(values, defined, &carried);
                }
                Statement::Bind { binding, out_of_bounds } => bind(binding, *out_of_bounds, at, &operands[0]),
                Statement::Name { variable, index } => {
                    let index = at.index(index);
                    at.runtime.insert(*variable, index);
                }
                Statement::Store { memory, indices, .. } => {
                    let first = self.position(*memory, indices, at);
                    self.counts[memory.index()].written[first..][..operands[0].len()]
                        .iter_mut()
                        .for_each(|it| *it += 1);
                }
                // Whatever they yield is computed.
                Statement::Barrier | Statement::Collective { .. } => {}
                other => panic!("no kernel that is counted has {other:?}"),
            }
        }
        all(&block.results, values)
    }

    /// The row-major position of an element.
    fn position(&self, memory: MemoryId, indices: &[Expr], at: &At) -> usize {
        let extents = &self.kernel.memories[memory].shape.extents;
        let indices: Vec<i64> = indices.iter().map(|index| at.index(index)).collect();
        let position = match indices.as_slice() {
            [flat] => *flat,
            _ => indices.iter().zip(extents).fold(0, |position, (index, extent)| {
                assert!((0..*extent).contains(index), "{indices:?} in {extents:?}");
                position * extent + index
            }),
        };
        assert!((0..extents.iter().product()).contains(&position), "{position} in {extents:?}");
        usize::try_from(position).unwrap()
    }

    fn lanes(&mut self, op: &ScalarOp, lanes: usize, at: &At, operands: &[Lanes]) -> Lanes {
        let first = || operands[0].first().copied().flatten();
        match op {
            ScalarOp::Extract { memory, indices } => {
                let first = self.position(*memory, indices, at);
                self.counts[memory.index()].read[first..][..lanes].iter_mut().for_each(|it| *it += 1);
                let is_given = matches!(self.kernel.memories[*memory].space, Space::Buffer { .. });
                vec![is_given.then_some(self.element); lanes]
            }
            ScalarOp::Index { index, .. } => vec![Some(at.index(index)); lanes],
            ScalarOp::Compose { .. } => operands.concat(),
            ScalarOp::Lane { lane, .. } => vec![operands[0][*lane as usize]],
            ScalarOp::Splat { .. } | ScalarOp::Convert { .. } | ScalarOp::Bitcast { .. } if operands[0].len() == 1 => {
                vec![first(); lanes]
            }
            _ => {
                let of_lane = |lane: usize| {
                    let one = |operand: &Lanes| operand[if operand.len() == 1 { 0 } else { lane }];
                    operands.iter().map(one).collect::<Option<Vec<i64>>>().and_then(|known| scalar(op, &known))
                };
                (0..lanes).map(of_lane).collect()
            }
        }
    }
}

/// What is known of an operation on integers.
fn scalar(op: &ScalarOp, known: &[i64]) -> Option<i64> {
    match (op, known) {
        (ScalarOp::Binary { op, .. }, [a, b]) => match op {
            BinaryOp::Add => Some(a + b),
            BinaryOp::Subtract => Some(a - b),
            BinaryOp::Minimum => Some(*a.min(b)),
            BinaryOp::Maximum => Some(*a.max(b)),
            BinaryOp::And => Some(a & b),
            _ => None,
        },
        (ScalarOp::Compare { direction, .. }, [a, b]) => Some(i64::from(match direction {
            ComparisonDirection::Eq => a == b,
            ComparisonDirection::Ne => a != b,
            ComparisonDirection::Lt => a < b,
            ComparisonDirection::Le => a <= b,
            ComparisonDirection::Gt => a > b,
            ComparisonDirection::Ge => a >= b,
        })),
        (ScalarOp::Select { .. }, [choice, yes, no]) => Some(if *choice != 0 { *yes } else { *no }),
        (ScalarOp::Clamp { .. }, [low, x, high]) => Some((*x).max(*low).min(*high)),
        _ => None,
    }
}

fn holds(condition: &Condition, at: &mut At, operands: &[Lanes]) -> bool {
    let known = |lanes: &Lanes| lanes[0].expect("what is decided by is known");
    match condition {
        Condition::Indices(tests) => tests.iter().all(|test| test.bounds.contains(at.index(&test.expr))),
        Condition::Value(_) => known(&operands[0]) != 0,
        Condition::InBounds(bindings) => {
            let holds = bindings.iter().zip(operands).all(|(binding, value)| binding.bounds.contains(known(value)));
            if holds {
                bindings.iter().zip(operands).for_each(|(binding, value)| bind(binding, OutOfBounds::Clamp, at, value));
            }
            holds
        }
    }
}

fn bind(binding: &Binding, out_of_bounds: OutOfBounds, at: &mut At, value: &Lanes) {
    let Binding { variable, bounds, .. } = binding;
    let value = value[0].expect("an index is known");
    let index = if out_of_bounds == OutOfBounds::Clamp { value.clamp(bounds.lo, bounds.hi) } else { value };
    assert!(bounds.contains(index), "rt{variable} is {index}");
    at.runtime.insert(*variable, index);
}

fn assign(values: &mut [Lanes], to: ValueId, lanes: &Lanes) {
    let to = &mut values[to.index()];
    *to = if lanes.len() == 1 { vec![lanes[0]; to.len()] } else { lanes.clone() };
}

fn assign_all(values: &mut [Lanes], to: &[ValueId], lanes: &[Lanes]) {
    to.iter().zip(lanes).for_each(|(to, lanes)| assign(values, *to, lanes));
}

fn all(operands: &[Operand], values: &[Lanes]) -> Vec<Lanes> {
    let one = |operand: &Operand| match operand {
        Operand::Value(value) => values[value.index()].clone(),
        Operand::Constant(Scalar::Pred(value)) => vec![Some(i64::from(*value))],
        Operand::Constant(Scalar::S32(value)) => vec![Some(i64::from(*value))],
        Operand::Constant(Scalar::U32(value)) => vec![Some(i64::from(*value))],
        Operand::Constant(_) => vec![None],
    };
    operands.iter().map(one).collect()
}

/// The indices of a row-major position.
fn indices(position: i64, extents: &[i64]) -> Vec<i64> {
    let mut rest = position;
    let mut indices: Vec<i64> = Vec::with_capacity(extents.len());
    for extent in extents.iter().rev() {
        indices.push(rest % extent);
        rest /= extent;
    }
    indices.reverse();
    indices
}
