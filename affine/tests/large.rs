//! Expressions without a small form: their size stays linear, their values stay right, and the simplifier reports that
//! it capped them.

use weft_affine::{Config, Constraint, Expr, Interval, Point, Ranges, Simplifier};

/// Shapes of 1440 elements that share no boundaries.
const SHAPES: [[i64; 2]; 4] = [[36, 40], [15, 96], [32, 45], [10, 144]];

/// The row-major position of an index.
fn flattened(index: &[Expr], shape: &[i64]) -> Expr {
    index.iter().zip(shape).fold(Expr::constant(0), |position, (i, extent)| position * *extent + i)
}

/// The index of a row-major position.
fn unflattened(position: &Expr, shape: &[i64]) -> Vec<Expr> {
    let mut stride: i64 = shape.iter().product();
    let digit = |extent: &i64| {
        stride /= extent;
        position.floor_div(stride).modulo(*extent)
    };
    shape.iter().map(digit).collect()
}

/// Reshapes, each transposed, simplified at each step; how many expressions were capped.
fn misaligned(steps: usize) -> (Vec<Expr>, [i64; 2], u64) {
    let start = [32, 45];
    let ranges = Ranges::of_dims(start.map(Interval::of_extent));
    let (mut index, mut shape) = (vec![Expr::dim(0), Expr::dim(1)], start);
    let mut capped = 0;
    for step in 0..steps {
        let next = SHAPES[step % 4];
        let position = flattened(&index, &shape);
        let mut simplifier = Simplifier::new(&ranges, &[]);
        index = unflattened(&position, &next).iter().map(|e| simplifier.simplify(e)).collect();
        index.reverse();
        shape = [next[1], next[0]];
        capped += simplifier.statistics().capped;
    }
    (index, shape, capped)
}

/// The same on numbers.
fn misaligned_at(steps: usize, d0: i64, d1: i64) -> Vec<i64> {
    let (mut index, mut shape) = (vec![d0, d1], [32, 45]);
    for step in 0..steps {
        let next = SHAPES[step % 4];
        let position = index.iter().zip(&shape).fold(0, |position, (i, extent)| position * extent + i);
        index = vec![position % next[1], position / next[1]];
        shape = [next[1], next[0]];
    }
    index
}

#[test]
fn misaligned_chains_grow_with_their_steps_only() {
    for steps in [10, 40, 160] {
        let (index, shape, capped) = misaligned(steps);
        let nodes: usize = index.iter().map(Expr::node_count).sum();
        assert!(nodes <= 16 * steps, "{nodes} nodes after {steps} steps");
        assert!(steps == 10 || capped > 0, "no form of {steps} steps is small, so something was capped");
        let says = index.iter().any(|e| Config::default().caps(e));
        assert!(steps == 10 || says, "what was capped is still to be seen in what came of it");
        for (d0, d1) in [(0, 0), (31, 44), (7, 13), (19, 40), (30, 1)] {
            let at = |e: &Expr| e.evaluate_at(&Point { dims: &[d0, d1], ..Point::default() }).expect("small numbers");
            assert_eq!(index.iter().map(at).collect::<Vec<_>>(), misaligned_at(steps, d0, d1), "into {shape:?}");
        }
        let text = index[0].to_string();
        assert_eq!(text.parse::<Expr>().as_ref(), Ok(&index[0]), "what is shared is written once and read again");
        assert!(text.len() <= 600 * steps, "{} bytes after {steps} steps", text.len());
    }
}

#[test]
fn small_expressions_are_simplified_as_a_whole() {
    let (index, _, _) = misaligned(2);
    let ranges = Ranges::of_dims([32, 45].map(Interval::of_extent));
    let mut simplifier = Simplifier::with_config(&ranges, &[], Config::default());
    let _ = index.iter().map(|e| simplifier.simplify(e)).collect::<Vec<_>>();
    let statistics = simplifier.statistics();
    assert_eq!((statistics.asked, statistics.capped), (2, 0));
    let _ = simplifier.simplify(&index[0]);
    assert_eq!(simplifier.statistics().remembered, 1);
}

/// What stands for the part below the upper levels is no variable that a constraint knows, though the expression does not.
#[test]
fn constraints_on_other_variables_say_nothing_of_parts() {
    let (index, _, _) = misaligned(40);
    let ranges = Ranges::of_dims([32, 45].map(Interval::of_extent));
    let facts: Vec<Constraint> = (0..8).map(|i| Constraint::new(Expr::runtime(i), Interval::point(1))).collect();
    let mut simplifier = Simplifier::new(&ranges, &facts);
    let position = flattened(&index, &[2, 3]);
    let simple = simplifier.simplify(&position.floor_div(7).modulo(5));
    assert_eq!(simplifier.statistics().capped, 1);
    for (d0, d1) in [(0, 0), (31, 44), (7, 13), (19, 40), (30, 1)] {
        let point = Point { dims: &[d0, d1], ..Point::default() };
        assert_eq!(simple.evaluate_at(&point), position.floor_div(7).modulo(5).evaluate_at(&point));
    }
}
