//! Random maps of the kinds that tensor operations have, and compositions of them.

use crate::parts::changed;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, RuntimeVariable, Variable};

use crate::judged::clamping_map;
use crate::support::case::Case;
use crate::support::chain;
use crate::support::random::Random;

/// From the index of a result of the shape to that of an operand, and the operand's shape.
pub(crate) fn layer(random: &mut Random, shape: &[i64]) -> (IndexingMap, Vec<i64>) {
    let rank = shape.len();
    let index: Vec<Expr> = (0..).map(Expr::dim).take(rank).collect();
    let any = random.below(rank.max(1));
    let mut operand = shape.to_vec();
    match random.below(12) {
        0..4 => {
            let elements = shape.iter().product();
            let op = chain::Op::reshape(chain::shape(random, elements), shape.to_vec());
            (
                IndexingMap::of_extents(shape, &[], op.to_operand().into_results())
                    .expect("the results are over these variables"),
                op.operand,
            )
        }
        4 => {
            let mut permutation: Vec<usize> = (0..rank).collect();
            random.shuffle(&mut permutation);
            let results = permutation.iter().map(|i| index[*i].clone()).collect();
            (
                IndexingMap::of_extents(shape, &[], results).expect("the results are over these variables"),
                permutation.iter().map(|i| shape[*i]).collect(),
            )
        }
        5 if rank > 0 => {
            let mut results = index;
            results[any] = -&results[any] + (shape[any] - 1);
            (IndexingMap::of_extents(shape, &[], results).expect("the results are over these variables"), operand)
        }
        // A slice with a stride, within a larger operand.
        6 if rank > 0 => {
            let (start, stride) = (random.between(0, 3), random.pick(&[1, 1, 2, 3]));
            let mut results = index;
            results[any] = &results[any] * stride + start;
            operand[any] = start + (shape[any] - 1) * stride + 1 + random.between(0, 2);
            (IndexingMap::of_extents(shape, &[], results).expect("the results are over these variables"), operand)
        }
        // A broadcast forgets a dimension.
        7 if rank > 1 => {
            let mut results = index;
            results.remove(any);
            operand.remove(any);
            (IndexingMap::of_extents(shape, &[], results).expect("the results are over these variables"), operand)
        }
        // A pad: low, high and between.
        8 if rank > 0 => {
            let between = random.pick(&[0, 0, 1, 2]);
            let low = random.between(0, shape[any] - 1);
            let most = (shape[any] - 1 - low) / (between + 1) + 1;
            let n = random.between(1, most);
            let shifted = &index[any] - low;
            let mut map = IndexingMap::of_extents(shape, &[], index).expect("the results are over these variables");
            map.add_constraint(Expr::dim(any as u32), Interval::new(low, low + (n - 1) * (between + 1)))
                .expect("its variables are those of the map");
            if between > 0 {
                map.add_constraint(shifted.modulo(between + 1), Interval::point(0))
                    .expect("its variables are those of the map");
            }
            map = changed(&map, |parts| parts.results[any] = shifted.floor_div(between + 1));
            operand[any] = n;
            (map, operand)
        }
        // One operand of a concatenation.
        9 if rank > 0 => {
            let from = random.between(0, shape[any] - 1);
            let n = random.between(1, shape[any] - from);
            let mut map = IndexingMap::of_extents(shape, &[], index).expect("the results are over these variables");
            map.add_constraint(Expr::dim(any as u32), Interval::new(from, from + n - 1))
                .expect("its variables are those of the map");
            map = changed(&map, |parts| parts.results[any] = &parts.results[any] - from);
            operand[any] = n;
            (map, operand)
        }
        // A reduction visits all of a dimension.
        10 => {
            let n = random.between(1, 4);
            let at = random.below(rank + 1);
            let mut results = index;
            results.insert(at, Expr::range(0));
            operand.insert(at, n);
            (IndexingMap::of_extents(shape, &[n], results).expect("the results are over these variables"), operand)
        }
        // A window with a stride and padding, or a dynamic slice.
        _ if rank > 0 && random.chance(60) => {
            let (size, stride, low) = (random.between(1, 4), random.pick(&[1, 1, 2]), random.between(0, 1));
            let place = &index[any] * stride + Expr::range(0) - low;
            let n = ((shape[any] - 1) * stride + size - 2 * low).max(1);
            let mut map = IndexingMap::of_extents(shape, &[size], index).expect("the results are over these variables");
            map.add_constraint(place.clone(), Interval::of_extent(n)).expect("its variables are those of the map");
            map = changed(&map, |parts| parts.results[any] = place);
            operand[any] = n;
            (map, operand)
        }
        _ if rank > 0 => {
            let room = random.between(0, 2);
            let variables = shape.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
            let mut results = index;
            results[any] = &results[any] + Expr::runtime(0);
            operand[any] = shape[any] + room;
            let runtime = vec![RuntimeVariable::new(Interval::new(0, room))];
            (
                IndexingMap::try_new(variables, Vec::new(), runtime, results, Vec::new())
                    .expect("the parts fit together"),
                operand,
            )
        }
        _ => (IndexingMap::identity(shape), operand),
    }
}

/// A composition of one to four layers, the shape of the root and that of the operand.
pub(crate) fn layers(random: &mut Random) -> (IndexingMap, Vec<i64>, Vec<i64>) {
    let elements = random.pick(&[1, 6, 8, 12, 16, 24, 24, 36, 48, 60, 64]);
    let root = chain::shape(random, elements);
    let (mut map, mut shape) = layer(random, &root);
    for _ in 0..random.below(4) {
        let (next, operand) = layer(random, &shape);
        map = map.then(&next).expect("the shapes agree");
        shape = operand;
    }
    (map, root, shape)
}

/// Sums and digits of a few small variables, some of them bounded by a constraint.
pub(crate) fn any(random: &mut Random) -> (IndexingMap, Vec<i64>) {
    let rank = random.pick(&[1, 1, 2, 2, 3]);
    let shape: Vec<i64> = (0..rank).map(|_| random.pick(&[1, 2, 3, 4, 6, 8, 12, 16])).collect();
    let ranges: Vec<i64> = (0..random.pick(&[0, 0, 1])).map(|_| random.between(1, 5)).collect();
    let variables = |kind: fn(u32) -> Expr, n: usize| (0..).map(kind).take(n).collect::<Vec<_>>();
    let all = [variables(Expr::dim, rank), variables(Expr::range, ranges.len())].concat();
    let atom = |random: &mut Random| {
        let sum = (0..random.pick(&[1, 1, 2])).fold(Expr::constant(random.pick(&[0, 0, 0, 1, 4, -3])), |sum, _| {
            sum + &all[random.below(all.len())] * random.pick(&[1, 1, 1, 2, 3, 4, 8, -1, -2])
        });
        let c = random.pick(&[2, 2, 3, 4, 4, 6, 8, 12]);
        match random.below(4) {
            0 => sum.floor_div(c),
            1 => sum.modulo(c),
            _ => sum,
        }
    };
    let results = (0..random.between(1, 3)).map(|_| {
        let first = atom(random);
        if random.chance(25) { first + atom(random) * random.pick(&[1, 2, 4, -1]) } else { first }
    });
    let results: Vec<Expr> = results.collect();
    let mut map = IndexingMap::of_extents(&shape, &ranges, results).expect("the results are over these variables");
    if random.chance(30) {
        let expr = atom(random);
        let lo = random.between(-4, 8);
        let Constraint { expr, bounds } = Constraint::new(expr, Interval::new(lo, lo + random.between(0, 6)));
        map.add_constraint(expr, bounds).expect("its variables are those of the map");
    }
    (map, shape)
}

/// The map of a case of the random domains that expressions are simplified over: every kind of bounds, those near the ends of
/// `i64` and empty ones among them, and every operator.
pub(crate) fn of_case(case: &Case) -> (IndexingMap, Vec<Interval>) {
    let map = clamping_map(case, case.exprs.len());
    let grid = map.dims().iter().map(|v| v.bounds()).collect();
    (map, grid)
}
