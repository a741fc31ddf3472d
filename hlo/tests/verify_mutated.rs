//! Mutated valid modules: the verifier never panics, and locates its findings.
//!
//! `WEFT_CASES=N` runs N times as many cases.

#![allow(clippy::print_stderr, reason = "the distribution of outcomes is part of the result")]

use crate::count::cases;
use std::collections::BTreeMap;
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, ComputationId, ElementType, InstrId, Layout, Module, Op, ReplicaGroups, Shape,
};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

/// The texts of `operations/canonical.txt`, one for every opcode and form of attribute.
fn texts() -> Vec<&'static str> {
    include_str!("operations/canonical.txt")
        .split("=== ")
        .skip(1)
        .map(|case| case.split_once('\n').unwrap().1)
        .collect()
}

fn pick<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.below(items.len())].clone()
}

fn pick_mut<'a, T, const N: usize>(rng: &mut Rng, items: [&'a mut T; N]) -> &'a mut T {
    items.into_iter().nth(rng.below(N)).unwrap()
}

/// A number that an attribute may have, or one that it may not.
fn any_number(rng: &mut Rng) -> i64 {
    pick(rng, &[0, 1, 2, 3, -1, 5, 9, 1000, i64::MAX, i64::MIN])
}

/// Changes one leaf of a shape, or its structure.
fn shape(rng: &mut Rng, shape: &mut Shape) {
    match shape {
        Shape::Tuple(elements) if !elements.is_empty() && rng.below(4) > 0 => {
            let at = rng.below(elements.len());
            self::shape(rng, &mut elements[at]);
        }
        Shape::Tuple(elements) => match rng.below(2) {
            0 => drop(elements.pop()),
            _ => elements.push(Shape::Token),
        },
        Shape::Array(array) => self::array(rng, array),
        _ => *shape = pick(rng, &[Shape::Token, Shape::Opaque, Shape::scalar(ElementType::S32)]),
    }
    if rng.below(12) == 0 {
        *shape = pick(
            rng,
            &[
                Shape::Token,
                Shape::Tuple(Vec::new()),
                Shape::Tuple(vec![shape.clone()]),
                Shape::scalar(ElementType::Pred),
            ],
        );
    }
}

fn array(rng: &mut Rng, array: &mut ArrayShape) {
    let rank = array.rank();
    match rng.below(5) {
        0 => array.element_type = pick(rng, ElementType::ALL),
        1 if rank > 0 => array.extents[rng.below(rank)] = any_number(rng),
        2 => {
            array.layout = None;
            array.extents.push(pick(rng, &[0, 1, 4]));
        }
        3 if rank > 0 => {
            array.layout = None;
            array.extents.pop();
        }
        4 => array.dynamic = vec![rng.below(rank + 1)],
        _ => array.layout = Some(Layout { minor_to_major: vec![0], ..Layout::default() }),
    }
}

fn numbers(rng: &mut Rng, list: &mut Vec<i64>) {
    match rng.below(3) {
        0 => drop(list.pop()),
        1 => list.push(any_number(rng)),
        _ => {
            let at = rng.below(list.len());
            if let Some(number) = list.get_mut(at) {
                *number = any_number(rng);
            }
        }
    }
}

/// Changes one attribute of an operation, where one of these kinds is there.
fn attribute(rng: &mut Rng, op: &mut Op) -> bool {
    let number = any_number(rng);
    match op {
        Op::Parameter { number: at }
        | Op::Iota { dimension: at }
        | Op::Concatenate { dimension: at }
        | Op::Sort { dimension: at, .. }
        | Op::GetDimensionSize { dimension: at }
        | Op::SetDimensionSize { dimension: at }
        | Op::GetTupleElement { index: at }
        | Op::BatchNormTraining { feature_index: at, .. }
        | Op::BatchNormInference { feature_index: at, .. }
        | Op::BatchNormGrad { feature_index: at, .. }
        | Op::TopK { k: at, .. }
        | Op::ReducePrecision { exponent_bits: at, .. }
        | Op::AllGatherStart { dimension: at, .. }
        | Op::ReduceScatter { dimension: at, .. } => *at = number,
        Op::Scan { dimension, num_carries, .. } => *pick_mut(rng, [dimension, num_carries]) = number,
        Op::Broadcast { dimensions: list }
        | Op::Transpose { permutation: list }
        | Op::Reverse { dimensions: list }
        | Op::Reduce { dimensions: list, .. }
        | Op::Map { dimensions: list, .. }
        | Op::DynamicSlice { dynamic_slice_sizes: list }
        | Op::Fft { fft_length: list, .. } => numbers(rng, list),
        Op::Gather {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
            slice_sizes,
            index_vector_dim,
            ..
        } => {
            if rng.below(6) == 0 {
                *index_vector_dim = number;
            } else {
                let lists = [
                    offset_dims,
                    collapsed_slice_dims,
                    start_index_map,
                    operand_batching_dims,
                    start_indices_batching_dims,
                    slice_sizes,
                ];
                let list = pick_mut(rng, lists);
                numbers(rng, list);
            }
        }
        Op::Scatter {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            ..
        } => {
            let lists = [
                update_window_dims,
                inserted_window_dims,
                scatter_dims_to_operand_dims,
                input_batching_dims,
                scatter_indices_batching_dims,
            ];
            let list = pick_mut(rng, lists);
            numbers(rng, list);
        }
        Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::RaggedDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::ScaledDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. } => {
            let lists = [lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims];
            let list = pick_mut(rng, lists);
            numbers(rng, list);
        }
        Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } => match rng.below(4) {
            0 => *pick_mut(rng, [feature_group_count, batch_group_count]) = number,
            1 => dim_labels.kernel_input_feature = number,
            2 => numbers(rng, &mut dim_labels.output_spatial),
            _ => window.dimensions[0].stride = number,
        },
        Op::ReduceWindow { window, .. } | Op::SelectAndScatter { window, .. } => match rng.below(3) {
            0 => drop(window.dimensions.pop()),
            1 => window.dimensions[0].size = number,
            _ => window.dimensions.iter_mut().for_each(|dimension| dimension.window_dilation = number),
        },
        Op::Slice { dimensions } => match rng.below(3) {
            0 => drop(dimensions.pop()),
            1 => dimensions[0].limit = number,
            _ => dimensions.iter_mut().for_each(|dimension| dimension.stride = number),
        },
        Op::Pad { padding } => match rng.below(3) {
            0 => drop(padding.pop()),
            1 => padding[0].interior = number,
            _ => padding[1].low = number,
        },
        Op::AllGather { replica_groups, .. }
        | Op::AllReduce { replica_groups, .. }
        | Op::AllToAll { replica_groups, .. }
        | Op::RaggedAllToAll { replica_groups, .. }
        | Op::CollectiveBroadcast { replica_groups, .. } => match replica_groups {
            ReplicaGroups::List(groups) => groups.push(vec![number, any_number(rng)]),
            ReplicaGroups::Iota { dimensions, .. } => numbers(rng, dimensions),
            _ => return false,
        },
        Op::CollectivePermute { source_target_pairs, .. } | Op::CollectivePermuteStart { source_target_pairs, .. } => {
            source_target_pairs.push(vec![number, any_number(rng)]);
        }
        Op::AsyncShorthand { operation: Some(operation), .. } => return attribute(rng, operation),
        _ => return false,
    }
    true
}

/// The module with one attribute, operand, shape, callee or reference changed, and what that was.
fn mutated(rng: &mut Rng, module: &Module) -> (Module, &'static str) {
    let mut module = module.clone();
    let computations = module.computations.len();
    let at = ComputationId::from_index(rng.below(computations));
    let computation = &mut module.computations[at];
    let count = computation.instructions.len();
    // Parameters are many and have little to change.
    let picks: Vec<InstrId> = (0..4).map(|_| InstrId::from_index(rng.below(count))).collect();
    let pick = picks.iter().find(|id| !matches!(computation.instructions[**id].op, Op::Parameter { .. }));
    let instruction = &mut computation.instructions[*pick.unwrap_or(&picks[0])];
    let what = match rng.below(6) {
        0 | 1 if attribute(rng, &mut instruction.op) => "attribute",
        0..=2 => {
            shape(rng, &mut instruction.shape);
            "shape"
        }
        3 => {
            match rng.below(3) {
                0 => drop(instruction.operands.pop()),
                1 => instruction.operands.push(InstrId::from_index(rng.below(count + 1))),
                _ => {
                    let operands = instruction.operands.len();
                    if let Some(operand) = instruction.operands.get_mut(rng.below(operands)) {
                        *operand = InstrId::from_index(rng.below(count + 1));
                    }
                }
            }
            "operand"
        }
        4 => {
            let to = ComputationId::from_index(rng.below(computations + 1));
            instruction.op.rename_computations(|_| to);
            "callee"
        }
        _ => {
            let other = rng.below(count + 1);
            computation.root = InstrId::from_index(other);
            "root"
        }
    };
    (module, what)
}

#[test]
fn mutated_modules_are_accepted_or_reported() {
    let cases = cases(40_000);
    let modules: Vec<Module> = texts().into_iter().map(|text| parse(text).unwrap()).collect();
    let rng = &mut Rng::new(7);
    let (mut changed, mut refused, mut outcomes) = (0, 0, BTreeMap::<(&str, &str), usize>::new());
    for _ in 0..cases {
        let original = &modules[rng.below(modules.len())];
        let (module, what) = mutated(rng, original);
        let verdict = verify(&module);
        if module == *original {
            assert_eq!(verdict, Ok(()));
            continue;
        }
        changed += 1;
        let Err(found) = verdict else {
            *outcomes.entry((what, "valid")).or_default() += 1;
            continue;
        };
        refused += 1;
        for finding in &found.0 {
            assert!(finding.code.starts_with("HLO1") && !finding.message.is_empty(), "{finding:?}");
            assert_ne!(finding.span, Default::default(), "{finding:?}");
            *outcomes.entry((what, finding.code)).or_default() += 1;
        }
        for pair in found.0.windows(2) {
            assert_ne!(pair[0], pair[1], "one finding twice");
        }
    }
    eprintln!("{refused} of {changed} refused: {outcomes:?}");
    // Measured: 92 % of the changes break a rule; the others make another valid module.
    assert!(refused * 100 > changed * 88, "{refused} of {changed}");
}

/// A hundred times the instructions take about a hundred times as long.
#[test]
fn long_modules_take_linear_time() {
    let module = |count: usize| {
        let mut module = parse(
            "HloModule m\nf {\na = f32[4] parameter(0)\nb = f32[4] parameter(1)\nROOT c = f32[4] add(a, b)\n}\n\
             ENTRY e {\nx = f32[4] parameter(0)\ny = f32[4] negate(x)\nROOT z = f32[4] call(x, y), to_apply=f\n}\n",
        )
        .unwrap();
        let entry = &mut module.computations[module.entry];
        let pattern: Arena<InstrId, _> = entry.instructions.clone();
        while entry.instructions.len() < count {
            let (last, id) = (entry.root, entry.instructions.len());
            let mut next = pattern[InstrId::from_index(1 + id % 2)].clone();
            next.name = format!("n{id}");
            next.operands = next.operands.iter().map(|_| last).collect();
            entry.root = entry.instructions.push(next);
        }
        module
    };
    let time = |module: &Module| {
        let start = std::time::Instant::now();
        assert_eq!(verify(module), Ok(()));
        start.elapsed()
    };
    let (short, long) = (module(1_000), module(100_000));
    let shortest = (0..5).map(|_| time(&short)).min().unwrap();
    let longest = time(&long);
    eprintln!("1,000 instructions: {shortest:?}; 100,000: {longest:?}");
    // A quadratic verifier would take 10,000 times as long; machines under load are given room.
    assert!(longest < shortest * 2_000, "{shortest:?} and {longest:?}");
}
