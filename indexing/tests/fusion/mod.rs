//! Random maps as fusions have them: chains of operations from the index of an output to that of an operand.
//!
//! Every chain follows from its number alone, on any machine.

use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Owner, RuntimeVariable, Variable};

use crate::judged::clamping_map;
use crate::support::case::Case;
use crate::support::random::Random;

/// A map, and the shape of the tensor that it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) map: IndexingMap,
    pub(crate) shape: Vec<i64>,
}

/// A shape of at most `most` elements; now and then with an extent of zero.
pub(crate) fn shape(random: &mut Random, most: i64) -> Vec<i64> {
    let rank = random.pick(&[0, 1, 1, 2, 2, 2, 3]);
    let mut shape = Vec::new();
    let mut left = most;
    for _ in 0..rank {
        let n = random.pick(&[1, 2, 3, 4, 5, 6, 8, 8, 12, 16]).min(left.max(1));
        left /= n;
        shape.push(n);
    }
    if rank > 0 && random.chance(2) {
        let i = random.below(rank);
        shape[i] = 0;
    }
    shape
}

/// One to three operations, composed; not simplified. Runtime variables of one owner are one.
pub(crate) fn chain(random: &mut Random, output: &[i64], most: i64) -> Read {
    let mut read = Read { map: IndexingMap::identity(output), shape: output.to_vec() };
    for _ in 0..random.pick(&[1, 1, 2, 2, 3]) {
        let next = operation(random, &read.shape, most);
        let map = read.map.then(&next.map).expect("small numbers");
        // What tests enumerate stays small.
        if map.box_size() <= 2000 {
            read = Read { map, shape: next.shape };
        }
    }
    read
}

/// The map of one operation from its output, and the shape of its operand.
fn operation(random: &mut Random, output: &[i64], most: i64) -> Read {
    let rank = output.len();
    let dims: Vec<Expr> = (0..).map(Expr::dim).take(rank).collect();
    let plain = |results: Vec<Expr>, shape: Vec<i64>| Read {
        map: IndexingMap::of_extents(output, &[], results).expect("the results are over these variables"),
        shape,
    };
    match random.below(11) {
        0 => {
            let mut order: Vec<usize> = (0..rank).collect();
            random.shuffle(&mut order);
            plain(order.iter().map(|i| dims[*i].clone()).collect(), order.iter().map(|i| output[*i]).collect())
        }
        1 => {
            let kept: Vec<usize> = (0..rank).filter(|_| random.chance(60)).collect();
            plain(kept.iter().map(|i| dims[*i].clone()).collect(), kept.iter().map(|i| output[*i]).collect())
        }
        2 => {
            let mut shape = Vec::new();
            let results = dims.iter().zip(output).map(|(d, n)| {
                let (start, stride, rest) = (random.between(0, 3), random.pick(&[1, 1, 2, 3]), random.between(0, 2));
                shape.push(start + stride * (n - 1).max(0) + 1 + rest);
                d * stride + start
            });
            let results = results.collect();
            plain(results, shape)
        }
        3 => plain(dims.iter().zip(output).map(|(d, n)| -d + (n - 1)).collect(), output.to_vec()),
        4 => reshape(random, output),
        5 => pad(random, output),
        6 => {
            let extent = random.pick(&[2, 3, 4, 5]);
            let at = random.below(rank + 1);
            let (mut results, mut shape) = (dims, output.to_vec());
            results.insert(at, Expr::range(0));
            shape.insert(at, extent);
            Read {
                map: IndexingMap::of_extents(output, &[extent], results).expect("the results are over these variables"),
                shape,
            }
        }
        7 if rank > 0 => {
            let i = random.below(rank);
            let (extent, stride, dilation) =
                (random.pick(&[2, 3, 4]), random.pick(&[1, 1, 2]), random.pick(&[1, 1, 2]));
            let (mut results, mut shape) = (dims, output.to_vec());
            results[i] = &results[i] * stride + Expr::range(0) * dilation;
            shape[i] = stride * (output[i] - 1).max(0) + dilation * (extent - 1) + 1;
            Read {
                map: IndexingMap::of_extents(output, &[extent], results).expect("the results are over these variables"),
                shape,
            }
        }
        8 if rank > 0 => dynamic_slice(random, output),
        9 if rank > 0 => concatenated(random, output),
        10 if rank > 0 && most > 40 => {
            // The diagonal of a square.
            let i = random.below(rank);
            let (mut results, mut shape) = (dims, output.to_vec());
            results.push(results[i].clone());
            shape.push(output[i] + random.between(0, 2));
            plain(results, shape)
        }
        _ => plain(dims, output.to_vec()),
    }
}

fn reshape(random: &mut Random, output: &[i64]) -> Read {
    let flat = output.iter().enumerate().fold(Expr::constant(0), |at, (i, n)| at * *n + Expr::dim(i as u32));
    let mut left: i64 = output.iter().product();
    if left == 0 {
        return Read { map: IndexingMap::identity(output), shape: output.to_vec() };
    }
    let mut shape = Vec::new();
    while left > 1 {
        let divisors: Vec<i64> = (2..=left).filter(|n| left % n == 0).collect();
        let n = random.pick(&divisors);
        shape.push(n);
        left /= n;
    }
    random.shuffle(&mut shape);
    let mut results = Vec::new();
    let mut below = 1;
    for n in shape.iter().rev() {
        results.insert(0, flat.floor_div(below).modulo(*n));
        below *= n;
    }
    Read { map: IndexingMap::of_extents(output, &[], results).expect("the results are over these variables"), shape }
}

/// Elements of the padding lead nowhere.
fn pad(random: &mut Random, output: &[i64]) -> Read {
    let (mut results, mut shape, mut constraints) = (Vec::new(), Vec::new(), Vec::new());
    for (i, n) in output.iter().enumerate() {
        let (low, high, inner) = (random.between(0, 2), random.between(0, 2), random.pick(&[1, 1, 2]));
        let extent = ((n - low - high - 1).max(0)) / inner + 1;
        let moved = Expr::dim(i as u32) - low;
        if inner > 1 {
            constraints.push(Constraint::new(moved.modulo(inner), Interval::point(0)));
        }
        results.push(moved.floor_div(inner));
        constraints.push(Constraint::new(moved, Interval::new(0, (extent - 1) * inner)));
        shape.push(extent);
    }
    let dims = output.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    Read {
        map: IndexingMap::try_new(dims, Vec::new(), Vec::new(), results, constraints).expect("the parts fit together"),
        shape,
    }
}

fn dynamic_slice(random: &mut Random, output: &[i64]) -> Read {
    let dims = output.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    let i = random.below(output.len());
    let most = random.between(0, 3);
    let mut start = RuntimeVariable::new(Interval::new(0, most));
    if random.chance(70) {
        start = start.with_owner(Owner(random.below(2) as u64));
    }
    if random.chance(50) {
        start = start.dropping();
    }
    let mut results: Vec<Expr> = (0..).map(Expr::dim).take(output.len()).collect();
    results[i] = &results[i] + Expr::runtime(0);
    let mut shape = output.to_vec();
    shape[i] += most;
    let mut constraints = Vec::new();
    if random.chance(30) {
        // Only what lies beyond another runtime position, as in what dynamic-update-slice leaves of its operand.
        constraints.push(Constraint::new(Expr::dim(i as u32) - Expr::runtime(0), Interval::new(0, output[i])));
    }
    Read {
        map: IndexingMap::try_new(dims, Vec::new(), vec![start], results, constraints).expect("the parts fit together"),
        shape,
    }
}

/// The part of an output that one operand of a concatenation yields.
fn concatenated(random: &mut Random, output: &[i64]) -> Read {
    let i = random.below(output.len());
    let first = random.between(0, (output[i] - 1).max(0));
    let extent = random.between(1, (output[i] - first).max(1));
    let mut results: Vec<Expr> = (0..).map(Expr::dim).take(output.len()).collect();
    results[i] = &results[i] - first;
    let mut shape = output.to_vec();
    shape[i] = extent;
    let mut map = IndexingMap::of_extents(output, &[], results).expect("the results are over these variables");
    map.add_constraint(Expr::dim(i as u32), Interval::new(first, first + extent - 1))
        .expect("its variables are those of the map");
    Read { map, shape }
}

/// The map of a random case over a shape that holds what it reads, where that can be found out.
pub(crate) fn of_case(case: &Case, random: &mut Random) -> Option<Read> {
    let mut map = clamping_map(case, random.pick(&[1, 1, 2, 3]));
    let mut results = map.results().to_vec();
    let points: Vec<_> = case.points().into_iter().filter(|p| case.holds(&case.constraints, p) == Some(true)).collect();
    let mut shape = Vec::new();
    for result in &mut results {
        let values: Option<Vec<i64>> = points.iter().map(|p| case.value(result, p)).collect();
        let values = values?;
        let (least, greatest) = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
        *result = result.checked_add_constant(least.checked_neg()?).ok()?;
        shape.push(greatest.checked_sub(least)?.checked_add(random.between(1, 3))?);
    }
    map.set_results(results).expect("they are over the variables of the map");
    Some(Read { map, shape })
}
