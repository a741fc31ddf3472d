//! Growth of long chains: reshapes compose to one reshape, and reshapes and transposes between powers of two to no more
//! digits than the index has bits.

use crate::support::chain::{Op, Shape, index_ranges, shape, simplified};
use crate::support::random::Random;
use weft_affine::{AffineMap, Config, Expr, Interval, Point, Ranges, Simplifier, explain};

/// Simplified by the directed pass alone: that is what keeps chains short.
fn simple(ranges: &Ranges, map: &AffineMap) -> AffineMap {
    simplified(&mut Simplifier::with_config(ranges, &[], Config::directed()), map)
}

fn of_rank(random: &mut Random, elements: i64, rank: usize) -> Shape {
    loop {
        let shape = shape(random, elements);
        if shape.len() == rank {
            return shape;
        }
    }
}

fn at(dims: &[i64]) -> Point<'_> {
    Point { dims, ..Point::default() }
}

/// Over the index of the first tensor, two reshapes simplify to what the one from the first tensor to the last does.
#[test]
fn reshapes_compose_to_one() {
    let mut random = Random::new(11);
    let mut failures = Vec::new();
    for case in 0..600 {
        let elements = random.pick(&[720, 1440, 5040, 32768]);
        let [a, b, c] = [(); 3].map(|()| of_rank(&mut random, elements, 2 + case % 4));
        let ranges = index_ranges(&a);
        let first = simple(&ranges, &Op::reshape(a.clone(), b.clone()).to_result());
        let both = first.then(&Op::reshape(b, c.clone()).to_result()).expect("shapes follow one another");
        let (found, wanted) = (simple(&ranges, &both), simple(&ranges, &Op::reshape(a, c).to_result()));
        if found != wanted {
            failures.push(format!("{found}, not {wanted}"));
        }
    }
    assert!(failures.is_empty(), "{} of 600, such as {}", failures.len(), failures[0]);
}

#[test]
fn power_of_two_chains_stay_sums_of_digits() {
    const BITS: u32 = 12;
    for rank in 2..=4 {
        let mut random = Random::new(7);
        let source = of_rank(&mut random, 1 << BITS, rank);
        let ranges = index_ranges(&source);
        let mut map = AffineMap::identity(u32::try_from(rank).expect("a small rank"));
        let mut last = source.clone();
        let index: Vec<i64> = source.iter().map(|n| n * 5 / 8).collect();
        let mut moved = index.clone();
        for step in 0..200 {
            let op = if step % 2 == 0 {
                Op::reshape(last, of_rank(&mut random, 1 << BITS, rank))
            } else {
                let mut permutation: Vec<usize> = (0..last.len()).collect();
                random.shuffle(&mut permutation);
                Op::transpose(last, permutation)
            };
            map = simple(&ranges, &map.then(&op.to_result()).expect("shapes follow one another"));
            moved = op.to_result().evaluate(&at(&moved)).expect("small numbers");
            assert_eq!(map.evaluate(&at(&index)).as_ref(), Ok(&moved), "{map}");
            // A digit is at most a remainder of a quotient.
            let operations: u32 = map.results().iter().map(Expr::operation_count).sum();
            assert!(operations <= 2 * BITS, "{operations} operations after {step} steps: {map}");
            last = op.result;
        }
    }
}

/// One simplifier for a whole chain answers as a new one at each step would.
#[test]
fn kept_simplifiers_answer_as_new_ones() {
    for (elements, rank, steps) in [(1 << 12, 3, 300), (720, 4, 300)] {
        let mut random = Random::new(3);
        let source = of_rank(&mut random, elements, rank);
        let ranges = index_ranges(&source);
        let mut kept = Simplifier::with_config(&ranges, &[], Config::directed());
        let mut map = AffineMap::identity(u32::try_from(rank).expect("a small rank"));
        let mut last = source;
        for step in 0..steps {
            let op = if step % 2 == 0 || elements == 720 {
                Op::reshape(last, of_rank(&mut random, elements, rank))
            } else {
                let mut permutation: Vec<usize> = (0..last.len()).collect();
                random.shuffle(&mut permutation);
                Op::transpose(last, permutation)
            };
            let composed = map.then(&op.to_result()).expect("shapes follow one another");
            map = simplified(&mut kept, &composed);
            assert_eq!(map, simple(&ranges, &composed), "step {step}");
            last = op.result;
        }
    }
}

/// The directed pass knows the cheapest way to write the digits of one number, whatever the sum holds besides.
#[test]
fn digits_of_one_number_are_joined() {
    let ranges = Ranges::of_dims([Interval::of_extent(1000), Interval::of_extent(1000)]);
    for (sum, wanted) in [
        ("((d0 floordiv 2) mod 4) * 2 + (d0 mod 2) * 64", "(d0 mod 2) * 63 + d0 mod 8"),
        ("((d0 floordiv 12) mod 5) * 3 + (d0 floordiv 4) mod 3", "(d0 floordiv 4) mod 15"),
        ("d0 mod 12 - d0 mod 4 + d1", "d1 + ((d0 floordiv 4) mod 3) * 4"),
        ("(d0 floordiv 2) mod 6 - ((d0 floordiv 4) mod 3) * 2", "(d0 floordiv 2) mod 2"),
        ("d0 floordiv 2 - (d0 floordiv 24) * 12 + (d1 mod 8) * 5", "(d1 mod 8) * 5 + (d0 floordiv 2) mod 12"),
        ("d0 - (d0 floordiv 4) * 4 + (d0 floordiv 4) mod 2 * 4", "d0 mod 8"),
        ("((d0 + d1) mod 12) * 5 - ((d0 + d1) mod 4) * 5", "(((d0 + d1) floordiv 4) mod 3) * 20"),
        ("d0 mod 4 + d0 mod 6", "d0 mod 4 + d0 mod 6"),
    ] {
        let sum: Expr = sum.parse().expect("written by hand");
        let simple = Simplifier::with_config(&ranges, &[], Config::directed()).simplify(&sum);
        assert_eq!(simple.to_string(), wanted);
        let (_, proof) = explain(&sum, &ranges, &[]);
        assert_eq!(proof.check(), Ok(()), "{proof}");
        let is_chain = proof.links().iter().all(|link| link.steps.len() == 1);
        assert!(is_chain, "{proof}");
    }
}
