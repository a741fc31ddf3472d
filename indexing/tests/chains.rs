//! Chains of reshapes, transposes, reversals and slices as maps with domains: composed with their inverses they
//! simplify to the identity, on the domain that the slices leave.

use crate::support::cancel::{Chains, random_chains_cancel};
use crate::support::chain::Op;
use weft_affine::Point;
use weft_indexing::{DomainPoint, Expr, IndexingMap, Interval, Variable};

/// Chains of each kind.
const CHAINS: usize = 1000;
/// Highly composite numbers: their reshapes are many, and seldom aligned.
const ELEMENTS: [i64; 8] = [12, 24, 36, 48, 60, 120, 180, 360];

/// The map of results over an index of the given extents, where all constraints of the operation hold.
fn over(extents: &[i64], op: &Op, results: Vec<Expr>, inward: bool) -> IndexingMap {
    let variables = extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    let index: Vec<Expr> = (0..).map(Expr::dim).take(extents.len()).collect();
    let facts = if inward { op.domain(&index) } else { Vec::new() };
    IndexingMap::try_new(variables, Vec::new(), Vec::new(), results, facts).expect("the parts fit together")
}

fn to_result(op: &Op) -> IndexingMap {
    over(&op.operand, op, op.to_result().into_results(), true)
}

fn to_operand(op: &Op) -> IndexingMap {
    over(&op.result, op, op.to_operand().into_results(), false)
}

fn composed(maps: impl Iterator<Item = IndexingMap>, start: &[i64]) -> IndexingMap {
    maps.fold(IndexingMap::identity(start), |walked, next| {
        let mut both = walked.then(&next).expect("shapes follow one another and the numbers are small");
        both.simplify();
        both
    })
}

/// From the source through the chain and back.
fn source_and_back(ops: &[Op]) -> Result<(), String> {
    let maps = ops.iter().map(to_result).chain(ops.iter().rev().map(to_operand));
    restored(&composed(maps, &ops[0].operand))?;
    Ok(())
}

/// From the result to the source and forth again: no element of the result is without a source, so the domain stays.
fn result_and_forth(ops: &[Op]) -> Result<(), String> {
    let maps = ops.iter().rev().map(to_operand).chain(ops.iter().map(to_result));
    let result = &ops[ops.len() - 1].result;
    let walked = composed(maps, result);
    restored(&walked)?;
    if walked == IndexingMap::identity(result) || result.contains(&1) { Ok(()) } else { Err(format!("{walked}")) }
}

/// Each result is its own dimension, or what cannot be told from it on the domain: its one value there, or another variable.
fn restored(map: &IndexingMap) -> Result<(), String> {
    let is_own = |i: usize, e: &Expr| {
        let is_plain = e.as_constant().is_some() || e.as_var().is_some();
        let value = |p: &DomainPoint| e.evaluate_at(&Point { dims: &p.dims, ..Point::default() });
        *e == Expr::dim(i as u32) || (is_plain && map.points().all(|p| value(&p) == Ok(p.dims[i])))
    };
    let is_identity = map.results().iter().enumerate().all(|(i, e)| is_own(i, e));
    if is_identity && !map.is_known_empty() { Ok(()) } else { Err(format!("{map}")) }
}

fn chains(seed: u64) -> Chains<'static> {
    Chains { seed, count: CHAINS, elements: &ELEMENTS, slices: true }
}

#[test]
fn chains_cancel_over_the_source() {
    random_chains_cancel(&chains(11), source_and_back);
}

#[test]
fn chains_cancel_over_the_result() {
    random_chains_cancel(&chains(12), result_and_forth);
}
