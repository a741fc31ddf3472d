//! Chains of reshapes, transposes, reversals and slices: composed with their inverse they simplify to the identity.

use std::time::Instant;

use crate::support::cancel::{Chains, Check, none_failed, random_chains_cancel};
use crate::support::chain::{Op, chain, index_ranges, simplified};
use crate::support::random::Random;
use weft_affine::{AffineMap, Config, Constraint, Expr, Point, Ranges, Simplifier};

/// Chains of each kind.
const CHAINS: usize = 1000;
/// Highly composite numbers: their reshapes are many, and seldom aligned.
const ELEMENTS: [i64; 12] = [12, 24, 36, 48, 60, 120, 180, 240, 360, 720, 840, 1260];
/// The largest share of compositions that may need the e-graph.
const ESCALATING: f64 = 0.3;
/// Points at which a composed map is compared with the operations one after another.
const POINTS: usize = 12;

/// A map that is built up by compositions, over an index of fixed extents.
struct Walk {
    map: AffineMap,
    ranges: Ranges,
    facts: Vec<Constraint>,
}

impl Walk {
    fn from(shape: &[i64]) -> Walk {
        let dims = u32::try_from(shape.len()).expect("tensors have few dimensions");
        Walk { map: AffineMap::identity(dims), ranges: index_ranges(shape), facts: Vec::new() }
    }

    fn then(&mut self, next: &AffineMap) {
        let composed = self.map.then(next).expect("shapes follow one another and the numbers are small");
        self.map = simplified(&mut Simplifier::new(&self.ranges, &self.facts), &composed);
    }

    /// Restricts the index. Bounds of a variable become its range; other facts are simplified with those known before.
    fn restrict(&mut self, facts: Vec<Constraint>) {
        for Constraint { expr, bounds } in facts {
            let simple = Simplifier::new(&self.ranges, &self.facts).simplify(&expr);
            match simple.as_var().and_then(|v| self.ranges.get_mut(v)) {
                Some(range) => *range = range.intersect(bounds),
                None if simple.as_constant().is_some() => {}
                None => self.facts.push(Constraint::new(simple, bounds)),
            }
        }
    }

    /// True when each result is its own dimension, or what cannot be told from it on the domain: its one value there, or another
    /// variable.
    fn is_identity(&self) -> bool {
        (0..).zip(self.map.results()).all(|(i, result)| {
            let is_plain = result.as_constant().is_some() || result.as_var().is_some();
            *result == Expr::dim(i) || (is_plain && self.is_dimension(i as usize, result))
        })
    }

    /// True when the dimension has the value of `e` at every point of the domain.
    fn is_dimension(&self, dim: usize, e: &Expr) -> bool {
        let count: u128 = self.ranges.dims.iter().map(|b| b.size()).product();
        let mut point: Vec<i64> = self.ranges.dims.iter().map(|b| b.lo).collect();
        for _ in 0..count {
            let at = Point { dims: &point, ..Point::default() };
            let value = |e: &Expr| e.evaluate_at(&at).expect("the numbers are small");
            if point[dim] != value(e) && self.facts.iter().all(|c| c.bounds.contains(value(&c.expr))) {
                return false;
            }
            if let Some(i) = (0..point.len()).rev().find(|i| point[*i] < self.ranges.dims[*i].hi) {
                point[i] += 1;
                for (v, b) in point.iter_mut().zip(&self.ranges.dims).skip(i + 1) {
                    *v = b.lo;
                }
            }
        }
        true
    }
}

/// From the source through the chain and back, over the source's index: where elements are left out, on the others.
fn source_and_back(ops: &[Op]) -> Result<(), String> {
    let mut walk = Walk::from(&ops[0].operand);
    for op in ops {
        let facts = op.domain(walk.map.results());
        walk.restrict(facts);
        walk.then(&op.to_result());
    }
    for op in ops.iter().rev() {
        walk.then(&op.to_operand());
    }
    restored(&walk)
}

/// From the result to the source and forth again, over the result's index, of which every element has a source.
fn result_and_forth(ops: &[Op]) -> Result<(), String> {
    let mut walk = Walk::from(&ops[ops.len() - 1].result);
    for op in ops.iter().rev() {
        walk.then(&op.to_operand());
    }
    for op in ops {
        walk.then(&op.to_result());
    }
    restored(&walk)
}

/// As [`source_and_back`], composed from the other side: each operation replaces the variables of what is there.
fn source_and_back_by_substitution(ops: &[Op]) -> Result<(), String> {
    let mut walk = Walk::from(&ops[0].operand);
    let forth = ops.iter().map(|op| (&op.result, op.to_operand()));
    let back = ops.iter().rev().map(|op| (&op.operand, op.to_result()));
    for (shape, first) in forth.chain(back) {
        let composed = first.then(&walk.map).expect("shapes follow one another and the numbers are small");
        walk.ranges = index_ranges(shape);
        walk.map = simplified(&mut Simplifier::new(&walk.ranges, &[]), &composed);
    }
    restored(&walk)
}

fn restored(walk: &Walk) -> Result<(), String> {
    if walk.is_identity() {
        return Ok(());
    }
    let facts: Vec<String> = walk.facts.iter().map(|c| format!("{} in {}", c.expr, c.bounds)).collect();
    Err(format!("{} over {:?} where {}", walk.map, walk.ranges.dims, facts.join(", ")))
}

fn chains(seed: u64, slices: bool) -> Chains<'static> {
    Chains { seed, count: CHAINS, elements: &ELEMENTS, slices }
}

#[test]
fn bijections_cancel_over_the_source() {
    random_chains_cancel(&chains(1, false), source_and_back);
}

#[test]
fn bijections_cancel_over_the_result() {
    random_chains_cancel(&chains(2, false), result_and_forth);
}

#[test]
fn bijections_cancel_by_substitution() {
    random_chains_cancel(&chains(3, false), source_and_back_by_substitution);
}

#[test]
fn slices_cancel_over_the_result() {
    random_chains_cancel(&chains(4, true), result_and_forth);
}

#[test]
fn slices_cancel_over_the_source() {
    random_chains_cancel(&chains(5, true), source_and_back);
}

/// Every chain of one or two reshapes with a reversal or a transpose, of small tensors without extents of one: the first
/// failure is as small as one can be.
#[test]
fn every_small_chain_cancels() {
    let checks: [(&str, Check); 3] = [
        ("over the source", source_and_back),
        ("over the result", result_and_forth),
        ("by substitution", source_and_back_by_substitution),
    ];
    let chains: Vec<Vec<Op>> = [8, 12, 18].into_iter().flat_map(small_chains).collect();
    let mut failures = Vec::new();
    for (name, check) in checks {
        let failing = chains.iter().filter_map(|ops| Some((ops.clone(), format!("{name} {}", check(ops).err()?))));
        failures.extend(failing);
    }
    none_failed(chains.len() * checks.len(), failures);
}

fn small_chains(elements: i64) -> Vec<Vec<Op>> {
    let shapes: Vec<Vec<i64>> = (1..=3).flat_map(|rank| factorizations(elements, rank)).collect();
    let mut chains = Vec::new();
    for (a, b) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let reshape = Op::reshape(a.clone(), b.clone());
        chains.push(vec![reshape.clone()]);
        chains.extend(reversals(a).into_iter().map(|reverse| vec![reverse, reshape.clone()]));
        chains.extend(reversals(b).into_iter().map(|reverse| vec![reshape.clone(), reverse]));
        for c in shapes.iter().filter(|c| *c != b) {
            chains.push(vec![reshape.clone(), Op::reshape(b.clone(), c.clone())]);
        }
        for permutation in permutations(b.len()) {
            let transpose = Op::transpose(b.clone(), permutation);
            let back = Op::reshape(transpose.result.clone(), a.clone());
            chains.push(vec![reshape.clone(), transpose, back]);
        }
    }
    chains
}

/// All ways to write a number as a product of so many factors greater than one, in order.
fn factorizations(n: i64, rank: usize) -> Vec<Vec<i64>> {
    if rank == 1 {
        return if n > 1 { vec![vec![n]] } else { Vec::new() };
    }
    let rest =
        |first: i64| factorizations(n / first, rank - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (2..=n).filter(|first| n % first == 0).flat_map(rest).collect()
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for last in 0..n {
        let inserted = |p: &Vec<usize>, i: usize| [&p[..i], &[last], &p[i..]].concat();
        all = all.iter().flat_map(|p| (0..=p.len()).map(move |i| inserted(p, i))).collect();
    }
    all
}

fn reversals(shape: &[i64]) -> Vec<Op> {
    let flags = |mask: usize| (0..shape.len()).map(|i| (mask >> i) & 1 == 1).collect();
    (1..1 << shape.len()).map(|mask| Op::reverse(shape.to_vec(), flags(mask))).collect()
}

/// Chains that stay: right at sample points, never dearer than what was composed, and seldom in need of the e-graph.
#[test]
fn what_does_not_cancel_gets_cheaper() {
    let mut random = Random::new(6);
    let (mut compositions, mut input, mut output, mut shares) = (0, 0, 0, 0.0);
    let (mut chains, mut improved, mut directed_time, mut full_time) = (0, 0, 0.0, 0.0);
    let (mut expressions, mut escalated, mut escalating_maps) = (0, 0, 0);
    while chains < 250 {
        let elements = random.pick(&ELEMENTS);
        let length = 3 + random.below(4);
        let ops = chain(&mut random, elements, length, false);
        let mut walk = Walk::from(&ops[ops.len() - 1].result);
        let mut directed = walk.map.clone();
        for op in ops.iter().rev() {
            let composed = walk.map.then(&op.to_operand()).expect("shapes follow one another");
            walk.then(&op.to_operand());
            let (before, after) = (cost(&composed), cost(&walk.map));
            assert!(after <= before, "{composed} became dearer: {}", walk.map);
            (compositions, input, output) = (compositions + 1, input + before, output + after);
            shares += after as f64 / before.max(1) as f64;
            let start = Instant::now();
            directed = simplified(&mut Simplifier::with_config(&walk.ranges, &[], Config::directed()), &composed);
            directed_time += start.elapsed().as_secs_f64();
            let start = Instant::now();
            let mut simplifier = Simplifier::new(&walk.ranges, &[]);
            simplified(&mut simplifier, &composed);
            full_time += start.elapsed().as_secs_f64();
            let statistics = simplifier.statistics();
            (expressions, escalated) = (expressions + statistics.asked, escalated + statistics.escalated);
            escalating_maps += u32::from(statistics.escalated > 0);
        }
        if walk.map.results().iter().all(Expr::is_linear) {
            continue;
        }
        chains += 1;
        improved += usize::from(cost(&walk.map) < cost(&directed));
        agrees_with_the_operations(&mut random, &ops, &walk.map);
    }
    let of_maps = f64::from(escalating_maps) / f64::from(compositions);
    assert!(of_maps <= ESCALATING, "{escalating_maps} of {compositions} compositions needed the e-graph");
    println!(
        "{chains} chains that do not cancel: {compositions} compositions, cost {:.2} of the input in sum and {:.2} in the mean; \
         {:.0} % of the compositions and {:.0} % of their results needed the e-graph, which made {improved} last compositions cheaper; directed {:.1} µs, all {:.1} µs a composition",
        output as f64 / input as f64,
        shares / f64::from(compositions),
        100.0 * of_maps,
        100.0 * escalated as f64 / expressions as f64,
        directed_time * 1e6 / f64::from(compositions),
        full_time * 1e6 / f64::from(compositions),
    );
}

fn cost(map: &AffineMap) -> u64 {
    map.results().iter().map(Expr::cost).sum()
}

fn agrees_with_the_operations(random: &mut Random, ops: &[Op], map: &AffineMap) {
    let shape = &ops[ops.len() - 1].result;
    for _ in 0..POINTS {
        let index: Vec<i64> = shape.iter().map(|n| random.between(0, n - 1)).collect();
        let evaluate = |map: &AffineMap, dims: &[i64]| {
            map.evaluate(&Point { dims, ..Point::default() }).expect("the numbers are small")
        };
        let stepwise = ops.iter().rev().fold(index.clone(), |index, op| evaluate(&op.to_operand(), &index));
        assert_eq!(evaluate(map, &index), stepwise, "{map} at {index:?}");
    }
}
