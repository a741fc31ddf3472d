//! The rules of single operations, against counting by hand.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout, reason = "the helpers of tests fail as tests do")]

use crate::count;
use std::collections::BTreeMap;
use weft_hlo::random::Rng;
use weft_hlo::shape::function::{AttributeTable, ErrorKind, Form, Library, Value};
use weft_hlo::shape::standard_library;

/// Evaluates in all three forms, which must agree.
struct Rules([Library; 3]);

impl Rules {
    fn new() -> Self {
        let library = standard_library();
        Rules([library.clone(), library.lower(Form::Constrained).unwrap(), library.lower(Form::Imperative).unwrap()])
    }

    fn run(&self, name: &str, operands: &[&[i64]], attributes: &AttributeTable) -> Result<Vec<Vec<i64>>, String> {
        let [first, second, third] = self.0.each_ref().map(|library| library.infer(name, operands, attributes));
        assert_eq!(first, second, "{name} of {operands:?}, {attributes:?}");
        assert_eq!(first, third, "{name} of {operands:?}, {attributes:?}");
        match first {
            Ok(shapes) => Ok(shapes.into_iter().map(|shape| shape.to_vec()).collect()),
            Err(error) => {
                assert_ne!(error.kind, ErrorKind::Attribute, "{error}");
                Err(error.message)
            }
        }
    }

    fn one(&self, name: &str, operands: &[&[i64]], attributes: &AttributeTable) -> Result<Vec<i64>, String> {
        self.run(name, operands, attributes).map(|shapes| shapes[0].clone())
    }
}

fn table() -> AttributeTable {
    AttributeTable::new()
}

fn cases() -> u64 {
    count::cases(300)
}

/// One dimension of a window.
#[derive(Copy, Clone, Debug)]
struct Window {
    size: i64,
    stride: i64,
    low: i64,
    high: i64,
    base_dilation: i64,
    window_dilation: i64,
}

impl Window {
    fn random(rng: &mut Rng) -> Window {
        Window {
            size: rng.between(1, 4),
            stride: rng.between(1, 3),
            low: rng.between(-3, 3),
            high: rng.between(-3, 3),
            base_dilation: rng.between(1, 3),
            window_dilation: rng.between(1, 3),
        }
    }

    /// The positions, counted: the window starts at every multiple of the stride and ends inside of the padded base.
    fn positions(&self, base: i64) -> i64 {
        let spread = |extent: i64, dilation: i64| (0..extent).map(|index| index * dilation + 1).max().unwrap_or(0);
        let padded = self.low + spread(base, self.base_dilation) + self.high;
        let window = spread(self.size, self.window_dilation);
        (0..200).map(|step| step * self.stride).filter(|start| start + window <= padded).count() as i64
    }
}

fn with_windows(table: AttributeTable, windows: &[Window]) -> AttributeTable {
    let list = |part: fn(&Window) -> i64| windows.iter().map(part).collect::<Vec<_>>();
    table
        .with_sizes("window_size", list(|window| window.size))
        .with_sizes("window_stride", list(|window| window.stride))
        .with_sizes("window_padding_low", list(|window| window.low))
        .with_sizes("window_padding_high", list(|window| window.high))
        .with_sizes("window_base_dilation", list(|window| window.base_dilation))
        .with_sizes("window_dilation", list(|window| window.window_dilation))
}

#[test]
fn windows_are_where_they_fit() {
    let rules = Rules::new();
    let mut empty = 0;
    for case in 0..cases() {
        let mut rng = Rng::new(case);
        let rank = rng.below(4);
        let base: Vec<i64> = (0..rank).map(|_| rng.between(0, 6)).collect();
        let windows: Vec<Window> = (0..rank).map(|_| Window::random(&mut rng)).collect();
        let attributes = with_windows(table(), &windows);
        let wanted: Vec<i64> = windows.iter().zip(&base).map(|(window, &base)| window.positions(base)).collect();
        empty += usize::from(wanted.contains(&0));
        let found = rules.run("reduce-window", &[&base, &base, &[], &[]], &attributes);
        assert_eq!(found, Ok(vec![wanted.clone(), wanted.clone()]), "{base:?} {windows:?}");
        assert_eq!(rules.one("select-and-scatter", &[&base, &wanted, &[]], &attributes), Ok(base.clone()));
        if rank > 0 {
            let mut wrong = wanted.clone();
            wrong[0] += 1;
            let found = rules.one("select-and-scatter", &[&base, &wrong, &[]], &attributes);
            assert_eq!(found.unwrap_err(), "the source must have one element per position of the window");
        }
    }
    println!("{empty} of {} windows fit nowhere", cases());
    assert!(empty > 0);
}

#[test]
fn windows_that_are_none_are_refused() {
    let rules = Rules::new();
    let sound = Window { size: 2, stride: 1, low: 0, high: 0, base_dilation: 1, window_dilation: 1 };
    let run = |window: Window, base: i64| {
        rules.one("reduce-window", &[&[base], &[]], &with_windows(table(), &[window])).unwrap_err()
    };
    assert_eq!(run(Window { size: 0, ..sound }, 4), "the window must cover at least one element");
    assert_eq!(run(Window { stride: 0, ..sound }, 4), "the stride of the window must be at least 1");
    assert_eq!(run(Window { base_dilation: 0, ..sound }, 4), "the dilations of the window must be at least 1");
    assert_eq!(run(Window { window_dilation: -1, ..sound }, 4), "the dilations of the window must be at least 1");
    assert_eq!(run(Window { low: i64::MAX, ..sound }, 4), "the padded base exceeds 64 bits");
    assert_eq!(run(Window { base_dilation: i64::MAX, ..sound }, 4), "a dilated extent exceeds 64 bits");
    let all =
        |base: i64| rules.one("reduce-window", &[&[base], &[]], &with_windows(table(), &[Window { size: 1, ..sound }]));
    assert_eq!(all(i64::MAX), Ok(vec![i64::MAX]));
    let none = rules.one("reduce-window", &[&[4], &[]], &with_windows(table(), &[]));
    assert_eq!(none.unwrap_err(), "the window must have one entry per dimension of the operand");
}

/// A random permutation of `0..count`.
fn permutation(rng: &mut Rng, count: usize) -> Vec<i64> {
    let mut all: Vec<i64> = (0..count as i64).collect();
    for index in (1..count).rev() {
        all.swap(index, rng.below(index + 1));
    }
    all
}

#[test]
fn convolutions_have_the_extents_of_their_labels() {
    let rules = Rules::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0xc0);
        let spatial = rng.below(3);
        let rank = spatial + 2;
        let [input_roles, kernel_roles, output_roles] = [(); 3].map(|()| permutation(&mut rng, rank));
        let feature_groups = if rng.chance(50) { 1 } else { rng.between(1, 3) };
        let batch_groups = if feature_groups == 1 { rng.between(1, 3) } else { 1 };
        let (batch, kernel_features) = (rng.between(0, 3) * batch_groups, rng.between(0, 3));
        let outputs = rng.between(0, 3) * feature_groups * batch_groups;
        let windows: Vec<Window> = (0..spatial).map(|_| Window::random(&mut rng)).collect();
        let bases: Vec<i64> = (0..spatial).map(|_| rng.between(0, 6)).collect();
        let place = |roles: &[i64], batch: i64, feature: i64, spatial: &[i64]| {
            let mut extents = vec![0; rank];
            for (role, extent) in roles.iter().zip([batch, feature].iter().chain(spatial)) {
                extents[*role as usize] = *extent;
            }
            extents
        };
        let sizes: Vec<i64> = windows.iter().map(|window| window.size).collect();
        let input = place(&input_roles, batch, kernel_features * feature_groups, &bases);
        let kernel = place(&kernel_roles, kernel_features, outputs, &sizes);
        let positions: Vec<i64> = windows.iter().zip(&bases).map(|(window, &base)| window.positions(base)).collect();
        let wanted = place(&output_roles, batch / batch_groups, outputs, &positions);
        let attributes = with_windows(table(), &windows)
            .with_size("input_batch", input_roles[0])
            .with_size("input_feature", input_roles[1])
            .with_sizes("input_spatial", input_roles[2..].to_vec())
            .with_size("kernel_input_feature", kernel_roles[0])
            .with_size("kernel_output_feature", kernel_roles[1])
            .with_sizes("kernel_spatial", kernel_roles[2..].to_vec())
            .with_size("output_batch", output_roles[0])
            .with_size("output_feature", output_roles[1])
            .with_sizes("output_spatial", output_roles[2..].to_vec())
            .with_size("feature_group_count", feature_groups)
            .with_size("batch_group_count", batch_groups);
        assert_eq!(rules.one("convolution", &[&input, &kernel], &attributes), Ok(wanted), "case {case}");

        let mut wrong = input.clone();
        wrong[input_roles[1] as usize] += feature_groups;
        let error = rules.one("convolution", &[&wrong, &kernel], &attributes).unwrap_err();
        assert_eq!(error, "the kernel's input features must be the input's features of one group");
        if spatial > 0 {
            let mut wrong = kernel.clone();
            wrong[kernel_roles[2] as usize] += 1;
            let error = rules.one("convolution", &[&input, &wrong], &attributes).unwrap_err();
            assert_eq!(error, "the window must have the kernel's spatial extents");
        }
    }
}

#[test]
fn dots_have_batch_then_free_extents() {
    let rules = Rules::new();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0xd0);
        let (batch, contracting) = (rng.below(3), rng.below(3));
        let paired: Vec<i64> = (0..batch + contracting).map(|_| rng.between(0, 4)).collect();
        // Each side: the paired extents and some of its own, in a random order.
        let side = |rng: &mut Rng| {
            let rank = paired.len() + rng.below(3);
            let order = permutation(rng, rank);
            let mut extents: Vec<i64> = (0..rank).map(|_| rng.between(0, 4)).collect();
            for (&place, &extent) in order.iter().zip(&paired) {
                extents[place as usize] = extent;
            }
            let dims = order[..paired.len()].to_vec();
            let free: Vec<i64> =
                (0..rank).filter(|&index| !dims.contains(&(index as i64))).map(|index| extents[index]).collect();
            (extents, dims, free)
        };
        let (lhs, lhs_dims, lhs_free) = side(&mut rng);
        let (mut rhs, rhs_dims, rhs_free) = side(&mut rng);
        let attributes = table()
            .with_sizes("lhs_batch_dims", lhs_dims[..batch].to_vec())
            .with_sizes("rhs_batch_dims", rhs_dims[..batch].to_vec())
            .with_sizes("lhs_contracting_dims", lhs_dims[batch..].to_vec())
            .with_sizes("rhs_contracting_dims", rhs_dims[batch..].to_vec());
        let wanted = [&paired[..batch], &lhs_free, &rhs_free].concat();
        assert_eq!(rules.one("dot", &[&lhs, &rhs], &attributes), Ok(wanted));
        *outcomes.entry("shape").or_insert(0) += 1;
        if let Some(&dim) = rhs_dims.first() {
            rhs[dim as usize] += 1;
            let error = rules.one("dot", &[&lhs, &rhs], &attributes).unwrap_err();
            assert_eq!(error, "dimensions of the operands that belong together must have the same extent");
            *outcomes.entry("mismatch").or_insert(0) += 1;
        }
    }
    println!("{outcomes:?}");
}

#[test]
fn gathers_put_slices_at_the_offset_dimensions() {
    let rules = Rules::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0x6a);
        let rank = rng.below(4);
        let operand: Vec<i64> = (0..rank).map(|_| rng.between(1, 5)).collect();
        let collapsed: Vec<i64> = (0..rank as i64).filter(|_| rng.chance(30)).collect();
        let sizes: Vec<i64> = (0..rank)
            .map(|index| if collapsed.contains(&(index as i64)) { 1 } else { rng.between(0, operand[index]) })
            .collect();
        let window: Vec<i64> =
            (0..rank).filter(|&index| !collapsed.contains(&(index as i64))).map(|index| sizes[index]).collect();
        let batch: Vec<i64> = (0..rng.below(3)).map(|_| rng.between(0, 4)).collect();
        let map: Vec<i64> = permutation(&mut rng, rank).into_iter().take(rng.below(rank + 1)).collect();
        let vector_dim = rng.below(batch.len() + 1);
        let mut indices = batch.clone();
        indices.insert(vector_dim, map.len() as i64);
        let implicit = map.len() == 1 && rng.chance(50);
        let (indices, vector_dim) = if implicit { (batch.clone(), batch.len()) } else { (indices, vector_dim) };
        let total = batch.len() + window.len();
        let mut offset_dims: Vec<i64> = permutation(&mut rng, total).into_iter().take(window.len()).collect();
        offset_dims.sort_unstable();
        let (mut of_batch, mut of_window) = (batch.iter(), window.iter());
        let wanted: Vec<i64> = (0..total as i64)
            .map(|at| *if offset_dims.contains(&at) { of_window.next() } else { of_batch.next() }.unwrap())
            .collect();
        let shared = table().with_size("index_vector_dim", vector_dim as i64);
        let attributes = shared
            .clone()
            .with_sizes("offset_dims", offset_dims.clone())
            .with_sizes("collapsed_slice_dims", collapsed.clone())
            .with_sizes("start_index_map", map.clone())
            .with_sizes("operand_batching_dims", [])
            .with_sizes("start_indices_batching_dims", [])
            .with_sizes("slice_sizes", sizes.clone());
        assert_eq!(rules.one("gather", &[&operand, &indices], &attributes), Ok(wanted.clone()), "case {case}");

        // What a gather reads, a scatter with the same numbers writes.
        let scatter = shared
            .with_sizes("update_window_dims", offset_dims.clone())
            .with_sizes("inserted_window_dims", collapsed.clone())
            .with_sizes("scatter_dims_to_operand_dims", map)
            .with_sizes("input_batching_dims", [])
            .with_sizes("scatter_indices_batching_dims", []);
        let found = rules.run("scatter", &[&operand, &operand, &indices, &wanted, &wanted], &scatter);
        assert_eq!(found, Ok(vec![operand.clone(), operand.clone()]), "case {case}");
        if let Some(&at) = offset_dims.first() {
            let mut long = wanted.clone();
            let first_kept = (0..rank).find(|&index| !collapsed.contains(&(index as i64))).unwrap();
            long[at as usize] = operand[first_kept] + 1;
            let error = rules.run("scatter", &[&operand, &indices, &long], &scatter).unwrap_err();
            assert_eq!(error, "a window of the updates must not be longer than the operand");
        }
        if rank > 0 {
            let mut long = sizes.clone();
            long[0] = operand[0] + 1;
            let error = rules.one("gather", &[&operand, &indices], &attributes.with_sizes("slice_sizes", long));
            assert_eq!(error.unwrap_err(), "slice_sizes must be at least 0 and at most the operand's extents");
        }
    }
}

#[test]
fn batching_dimensions_of_gathers_are_paired() {
    let rules = Rules::new();
    let attributes = |collapsed: &[i64]| {
        table()
            .with_size("index_vector_dim", 2)
            .with_sizes("offset_dims", [2])
            .with_sizes("collapsed_slice_dims", collapsed.to_vec())
            .with_sizes("start_index_map", [1])
            .with_sizes("operand_batching_dims", [0])
            .with_sizes("start_indices_batching_dims", [1])
            .with_sizes("slice_sizes", [1, 1, 4])
    };
    let run = |indices: &[i64], collapsed: &[i64]| rules.one("gather", &[&[3, 7, 5], indices], &attributes(collapsed));
    assert_eq!(run(&[2, 3, 1], &[1]), Ok(vec![2, 3, 4]));
    assert_eq!(
        run(&[2, 4, 1], &[1]).unwrap_err(),
        "batching dimensions of operand and indices must have the same extent"
    );
    assert_eq!(
        run(&[2, 3, 2], &[1]).unwrap_err(),
        "an index must have one component per dimension that it is mapped to"
    );
    assert_eq!(
        run(&[2, 3, 1], &[]).unwrap_err(),
        "offset_dims must have one entry for each dimension of the operand that neither collapsed_slice_dims nor operand_batching_dims names"
    );
}

#[test]
fn moving_operations() {
    let rules = Rules::new();
    let slice = |start: i64, limit: i64, stride: i64| {
        let attributes = table()
            .with_sizes("slice_start", [start])
            .with_sizes("slice_limit", [limit])
            .with_sizes("slice_stride", [stride]);
        rules.one("slice", &[&[7]], &attributes)
    };
    for (start, limit) in (0..=7).flat_map(|limit| (0..=limit).map(move |start| (start, limit))) {
        for stride in 1..9 {
            let counted = (start..limit).step_by(stride as usize).count() as i64;
            assert_eq!(slice(start, limit, stride), Ok(vec![counted]));
        }
    }
    assert!(slice(3, 2, 1).is_err() && slice(0, 8, 1).is_err() && slice(-1, 2, 1).is_err() && slice(0, 1, 0).is_err());

    let pad = |extent: i64, low: i64, high: i64, interior: i64| {
        let attributes = table()
            .with_sizes("padding_low", [low])
            .with_sizes("padding_high", [high])
            .with_sizes("padding_interior", [interior]);
        rules.one("pad", &[&[extent], &[]], &attributes)
    };
    for (extent, interior) in (0..4).flat_map(|extent| (0..3).map(move |interior| (extent, interior))) {
        for (low, high) in (-3..3).flat_map(|low| (-3..3).map(move |high| (low, high))) {
            let spread = (0..extent).map(|index| index * (interior + 1) + 1).max().unwrap_or(0);
            match low + spread + high {
                padded @ 0.. => assert_eq!(pad(extent, low, high, interior), Ok(vec![padded])),
                _ => assert_eq!(pad(extent, low, high, interior).unwrap_err(), "the padded extent would be negative"),
            }
        }
    }
    assert!(pad(2, 0, 0, -1).is_err() && pad(2, i64::MAX, 0, 0).is_err());

    let join = |operands: &[&[i64]], dimension: i64| {
        rules.one("concatenate", operands, &table().with_size("dimensions", dimension))
    };
    assert_eq!(join(&[&[2, 3], &[2, 0], &[2, 4]], 1), Ok(vec![2, 7]));
    assert!(join(&[&[2, 3], &[3, 3]], 1).is_err() && join(&[&[2], &[2, 3]], 0).is_err() && join(&[], 0).is_err());
    assert!(join(&[&[]], 0).is_err() && join(&[&[2]], -1).is_err() && join(&[&[i64::MAX], &[1]], 0).is_err());

    let bits = |from: &[i64], operand: i64, result: i64| {
        let attributes = table().with_size("operand_bits", operand).with_size("result_bits", result);
        rules.one("bitcast-convert", &[from], &attributes)
    };
    assert_eq!(bits(&[3], 32, 32), Ok(vec![3]));
    assert_eq!(bits(&[3], 32, 8), Ok(vec![3, 4]));
    assert_eq!(bits(&[3, 4], 8, 32), Ok(vec![3]));
    assert!(bits(&[3, 2], 8, 32).is_err() && bits(&[], 8, 32).is_err() && bits(&[3], 32, 0).is_err());
    let shape = |extents: &[i64]| table().with("shape", Value::shape(extents.iter().copied()));
    assert_eq!(rules.one("reshape", &[&[0, i64::MAX, 4]], &shape(&[3, 0])), Ok(vec![3, 0]));
    assert!(rules.one("reshape", &[&[2, 3]], &shape(&[7])).is_err());
    let spread =
        |dims: &[i64]| rules.one("broadcast", &[&[2, 3]], &shape(&[3, 5, 2]).with_sizes("dimensions", dims.to_vec()));
    assert_eq!(spread(&[2, 0]), Ok(vec![3, 5, 2]));
    assert!(spread(&[0, 2]).is_err() && spread(&[2]).is_err() && spread(&[2, 3]).is_err());
}

#[test]
fn structural_and_collective_operations() {
    let rules = Rules::new();
    let fft = |kind: &str, operand: &[i64], lengths: &[i64]| {
        let is = |name: &str| Value::Bool(name == kind);
        let attributes = table()
            .with_sizes("fft_length", lengths.to_vec())
            .with("fft_type=RFFT", is("RFFT"))
            .with("fft_type=IRFFT", is("IRFFT"));
        rules.one("fft", &[operand], &attributes)
    };
    assert_eq!(fft("FFT", &[3, 8], &[8]), Ok(vec![3, 8]));
    assert_eq!(fft("RFFT", &[3, 4, 8], &[4, 8]), Ok(vec![3, 4, 5]));
    assert_eq!(fft("IRFFT", &[3, 5], &[8]), Ok(vec![3, 8]));
    assert_eq!(fft("IRFFT", &[3, 5], &[9]), Ok(vec![3, 9]));
    assert_eq!(fft("RFFT", &[3, 0], &[0]), Ok(vec![3, 0]));
    assert!(fft("FFT", &[3, 8], &[7]).is_err() && fft("FFT", &[8], &[8, 8]).is_err() && fft("FFT", &[8], &[]).is_err());

    let gather = |name: &str, members: i64, operand: &[i64], declared: &[i64]| {
        let attributes = table()
            .with_size("dimensions", 0)
            .with_size("group_size", members)
            .with("shapes", Value::Shapes(vec![declared.iter().copied().collect()]));
        rules.one(name, &[operand], &attributes)
    };
    assert_eq!(gather("all-gather", 4, &[2, 3], &[8, 3]), Ok(vec![8, 3]));
    assert_eq!(gather("all-gather", 0, &[2, 3], &[6, 3]), Ok(vec![6, 3]));
    assert!(gather("all-gather", 0, &[2, 3], &[7, 3]).is_err());
    assert_eq!(gather("reduce-scatter", 4, &[8, 3], &[2, 3]), Ok(vec![2, 3]));
    assert!(gather("reduce-scatter", 3, &[8, 3], &[2, 3]).is_err());

    let exchange = |operands: &[&[i64]], dimension: Option<i64>| {
        let attributes = table()
            .with("dimensions?", Value::Bool(dimension.is_some()))
            .with_size("group_size", operands.len() as i64 + 1);
        rules.run("all-to-all", operands, &attributes.with_size("dimensions", dimension.unwrap_or(0)))
    };
    assert_eq!(exchange(&[&[4, 3]], Some(0)), Ok(vec![vec![4, 3]]));
    assert_eq!(exchange(&[&[4, 3]], Some(1)).unwrap_err(), "the extent that is cut must be a multiple of the members");
    assert_eq!(exchange(&[&[4, 3], &[4, 3]], None), Ok(vec![vec![4, 3], vec![4, 3]]));
    assert_eq!(exchange(&[&[4, 3], &[4, 2]], None).unwrap_err(), "all parts must have the same extents");

    let solve = |left: bool, a: &[i64], b: &[i64]| {
        rules.one("triangular-solve", &[a, b], &table().with("left_side", Value::Bool(left)))
    };
    assert_eq!(solve(true, &[5, 3, 3], &[5, 3, 2]), Ok(vec![5, 3, 2]));
    assert_eq!(solve(false, &[5, 3, 3], &[5, 2, 3]), Ok(vec![5, 2, 3]));
    assert!(solve(true, &[5, 3, 3], &[5, 2, 3]).is_err() && solve(true, &[3], &[3]).is_err());

    let topk = |operand: &[i64], k: i64| rules.run("topk", &[operand], &table().with_size("k", k));
    assert_eq!(topk(&[4, 9], 3), Ok(vec![vec![4, 3], vec![4, 3]]));
    assert!(topk(&[4, 9], 10).is_err() && topk(&[], 0).is_err() && topk(&[4], -1).is_err());
    let batch_norm =
        rules.run("batch-norm-training", &[&[2, 3, 4], &[3], &[3]], &table().with_size("feature_index", 1));
    assert_eq!(batch_norm, Ok(vec![vec![2, 3, 4], vec![3], vec![3]]));

    let slice = |operands: &[&[i64]], sizes: &[i64]| {
        rules.one("dynamic-slice", operands, &table().with_sizes("dynamic_slice_sizes", sizes.to_vec()))
    };
    assert_eq!(slice(&[&[4, 5], &[], &[]], &[2, 5]), Ok(vec![2, 5]));
    assert_eq!(slice(&[&[4, 5], &[2]], &[2, 5]), Ok(vec![2, 5]));
    assert_eq!(slice(&[&[]], &[]), Ok(vec![]));
    assert!(slice(&[&[4, 5], &[]], &[2, 5]).is_err() && slice(&[&[4, 5], &[], &[]], &[2, 6]).is_err());
    assert!(slice(&[&[4, 5], &[], &[]], &[2]).is_err() && slice(&[&[4, 5], &[], &[2]], &[2, 2]).is_err());
}

fn shapes(list: &[Vec<i64>]) -> Value {
    Value::Shapes(list.iter().map(|shape| shape.iter().copied().collect()).collect())
}

fn random_shapes(rng: &mut Rng, count: usize) -> Vec<Vec<i64>> {
    (0..count)
        .map(|_| {
            let rank = rng.below(4);
            (0..rank).map(|_| rng.between(0, 6)).collect()
        })
        .collect()
}

/// Operations that pass values on yield their operands, what was called, and what is kept, in order.
#[test]
fn values_that_are_passed_on_keep_their_extents() {
    let rules = Rules::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0xa5);
        let counts = [rng.below(4), rng.below(3), rng.below(3)];
        let [operands, called, kept] = counts.map(|count| random_shapes(&mut rng, count));
        let given: Vec<&[i64]> = operands.iter().map(Vec::as_slice).collect();
        let in_place = rng.chance(50);
        let attributes = table()
            .with("called", shapes(&called))
            .with("kept", shapes(&kept))
            .with("literal", shapes(&called))
            .with("in_place", Value::Bool(in_place));
        let run = |name: &str| rules.run(name, &given, &attributes).unwrap();
        for name in [
            "add-dependency",
            "all-gather-done",
            "all-reduce-done",
            "all-reduce-start",
            "async-done",
            "async-update",
            "collective-permute",
            "collective-permute-done",
            "copy",
            "copy-done",
            "get-tuple-element",
            "recv-done",
            "tuple",
            "while",
        ] {
            assert_eq!(run(name), operands, "{name}");
        }
        for name in ["call", "fusion"] {
            assert_eq!(run(name), called, "{name}");
        }
        let branch = |chooser: &[i64]| rules.run("conditional", &[&[chooser], &given[..]].concat(), &attributes);
        assert_eq!(branch(&[]), Ok(called.clone()));
        assert_eq!(branch(&[1]), Err("the operand that chooses the branch must be a scalar".to_owned()));
        assert_eq!(rules.run("constant", &[], &attributes).unwrap(), called);
        let scalar = vec![Vec::new()];
        assert_eq!(run("async-start"), [&operands[..], &called, &kept].concat());
        assert_eq!(run("copy-start"), [&operands[..], &operands, &scalar].concat());
        assert_eq!(run("send"), [&operands[..], &scalar].concat());
        let again = if in_place { &[][..] } else { &operands };
        assert_eq!(run("collective-permute-start"), [&operands[..], again, &vec![Vec::new(); kept.len()]].concat());
    }
}

#[test]
fn scans_take_one_step_after_the_other() {
    let rules = Rules::new();
    let mut census: BTreeMap<String, usize> = BTreeMap::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0x5ca);
        let (inputs, outputs, carries) = (rng.below(3), rng.below(3), rng.below(3));
        let dimension = rng.between(0, 2);
        let steps = rng.between(0, 5);
        let mut stepped = |count: usize| -> Vec<Vec<i64>> {
            let mut list = random_shapes(&mut rng, count);
            for shape in &mut list {
                shape.resize(shape.len().max(dimension as usize + 1), 3);
                // Now and then an extent is wrong, which is another one than that of the steps.
                shape[dimension as usize] = if rng.chance(5) { steps + 1 } else { steps };
            }
            list
        };
        let (ins, outs) = (stepped(inputs), stepped(outputs));
        let carried = random_shapes(&mut rng, carries);
        let operands = [&ins[..], &carried].concat();
        let given: Vec<&[i64]> = operands.iter().map(Vec::as_slice).collect();
        let declared = [&outs[..], &carried].concat();
        let attributes = table()
            .with_size("dimensions", dimension)
            .with_size("num_carries", carries as i64)
            .with("shapes", shapes(&declared));
        let of_inputs: Vec<i64> = ins.iter().map(|shape| shape[dimension as usize]).collect();
        let found = rules.run("scan", &given, &attributes);
        if of_inputs.windows(2).any(|pair| pair[0] != pair[1]) {
            assert_eq!(found.unwrap_err(), "all inputs must have as many steps");
            *census.entry("steps differ".to_owned()).or_insert(0) += 1;
            continue;
        }
        let mut wanted = declared.clone();
        if let Some(&steps) = of_inputs.first() {
            wanted[..outputs].iter_mut().for_each(|shape| shape[dimension as usize] = steps);
        }
        *census.entry(if wanted == declared { "as declared" } else { "another" }.to_owned()).or_insert(0) += 1;
        assert_eq!(found, Ok(wanted), "{operands:?} {declared:?} {attributes:?}");
        let more = attributes.clone().with_size("num_carries", operands.len() as i64 + 1);
        assert!(rules.run("scan", &given, &more).is_err());
        let none = attributes.with_size("num_carries", -1);
        assert!(rules.run("scan", &given, &none).is_err());
    }
    println!("{census:?}");
    assert!(census["steps differ"] * 100 >= cases() as usize && census["another"] * 100 >= cases() as usize);
}

#[test]
fn gathers_start_with_the_operands() {
    let rules = Rules::new();
    for case in 0..cases() {
        let mut rng = Rng::new(case ^ 0x6a7);
        let count = 1 + rng.below(3);
        let members = rng.between(1, 4);
        let operands: Vec<Vec<i64>> = (0..count).map(|_| vec![rng.between(0, 4), rng.between(0, 4)]).collect();
        let gathered: Vec<Vec<i64>> = operands.iter().map(|shape| vec![shape[0], shape[1] * members]).collect();
        let given: Vec<&[i64]> = operands.iter().map(Vec::as_slice).collect();
        let start = |members: i64, gathered: &[Vec<i64>]| {
            let attributes = table()
                .with_size("dimensions", 1)
                .with_size("group_size", members)
                .with("shapes", shapes(&[&operands[..], gathered].concat()));
            rules.run("all-gather-start", &given, &attributes)
        };
        let wanted = [&operands[..], &gathered].concat();
        assert_eq!(start(members, &gathered), Ok(wanted.clone()));
        assert_eq!(start(members, &operands), Ok(wanted.clone()));
        assert_eq!(start(0, &gathered), Ok(wanted));
        assert_eq!(start(0, &[]).unwrap_err(), "there must be one result per operand");
    }
}
