//! Expansion of sorts into operations that kernels compute.

mod comparator;
mod counting;
mod keys;
mod network;
mod radix;
mod selected;
mod top_k;
mod written;

use super::build::{Build, inverse};
use super::counted::programs;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::stable_order::Rows;
use crate::diagnostic::Diagnostics;
use crate::ir::{Computation, ComputationId, InstrId, Instruction, Module, Op};
use comparator::Comparator;

/// Rows of at most so many elements are ordered by counting: each element is compared with all others, in one kernel, where a pass over digits takes several that do next to
/// nothing for so few. One element costs as many comparisons as the row has elements; a pass over digits costs about 12 reads of each, and numbers of 32 bits take 8 of them.
const COUNTED: i64 = 64;

/// Replaces `sort`, `topk` and the custom calls `ApproxTopK` and `PartialReduce` by operations on whole arrays, in one of these forms:
///
/// - rows of at most 64 elements by *counting* for each element how many come before it;
/// - where the comparator is an order of numbers, computed of one element each (also one after the other, where those before are equal): a stable *radix sort* by the bits of
///   unsigned integers that have the same order;
/// - any other comparator of scalar code: a bitonic *network*, in which places decide between equals;
/// - `topk` and `ApproxTopK` of a few: as many *rounds*, each of which finds the next element of each row;
/// - `PartialReduce`, and `ApproxTopK` without an order: a reduction of each class of places.
///
/// Results are those of the operations bit for bit, where the comparator is a strict weak order. Where it is not, results are some permutation of the elements; a comparison of
/// floats that is not total puts what is no number last. Places that `s32` does not count, and comparators that are not computed of scalars one by one, stay as they are.
pub struct Sorts;

impl Pass for Sorts {
    fn name(&self) -> &'static str {
        "expand-sorts"
    }

    fn about(&self) -> &'static str {
        "writes sort, topk and approximate topk out: by counting, by digits, as a network or in rounds"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let programs = programs(module);
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            if !programs.contains(&rebuild.source.name) {
                return None;
            }
            match &candidate.op {
                Op::Sort { dimension, to_apply, .. } => sort(rebuild, candidate, *dimension, *to_apply),
                Op::TopK { k, largest } => top_k::expand(rebuild, candidate, *k, *largest),
                Op::CustomCall { custom_call_has_side_effect: false, .. } => selected::expand(rebuild, candidate),
                _ => None,
            }
        }))
    }
}

fn sort(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimension: i64, to_apply: ComputationId) -> Option<Rule> {
    let is_array =
        |operand: &InstrId| rebuild.get(*operand).shape.as_array().is_some_and(|array| array.dynamic.is_empty());
    if candidate.operands.is_empty() || !candidate.operands.iter().all(is_array) {
        return None;
    }
    let lines = Lines::new(rebuild.array(candidate.operands[0]).extents.clone(), usize::try_from(dimension).ok()?)?;
    if is_sorted(lines.rows) {
        return Some(result("a row of one element is sorted", candidate.operands.clone()));
    }
    let comparator = Comparator::of(&rebuild.computations()[to_apply])?;
    let operands = candidate.operands.iter().map(|operand| lines.taken_apart(rebuild, *operand)).collect();
    let (rule, sorted) = in_order(rebuild, lines.rows, to_apply, comparator, operands);
    let sorted = sorted.into_iter().map(|operand| lines.put_together(rebuild, operand)).collect();
    Some(result(rule, sorted))
}

/// Whether there is nothing to sort.
fn is_sorted(rows: Rows) -> bool {
    rows.length <= 1 || rows.count == 0
}

/// Rows in the order of a comparator, and how they come to be in it.
fn in_order(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    to_apply: ComputationId,
    comparator: Comparator,
    mut operands: Vec<InstrId>,
) -> (&'static str, Vec<InstrId>) {
    if is_sorted(rows) {
        return ("a row of one element is sorted", operands);
    }
    let computation = rebuild.computations()[to_apply].clone();
    match comparator {
        Comparator::Keys { keys, is_reversed } => {
            if is_reversed {
                operands.iter_mut().for_each(|operand| *operand = rebuild.reversed(*operand, &[1]));
            }
            if rows.length <= COUNTED {
                let words = radix::words(rebuild, &computation, &keys, rows, &operands);
                let places = counting::by_words(rebuild, rows, &words);
                ("a sort of few counts what comes before each", taken(rebuild, rows, &operands, places))
            } else {
                let sorted = radix::sorted(rebuild, &computation, &keys, rows, &operands);
                ("a sort in the order of numbers goes by their digits", sorted)
            }
        }
        Comparator::Code if rows.length <= COUNTED => {
            let places = counting::by_code(rebuild, rows, &computation, &operands);
            ("a sort of few counts what comes before each", taken(rebuild, rows, &operands, places))
        }
        Comparator::Code => {
            let places = network::places(rebuild, rows, &computation, &operands);
            ("a sort by code is a bitonic network", taken(rebuild, rows, &operands, places))
        }
    }
}

fn result(rule: &'static str, mut sorted: Vec<InstrId>) -> Rule {
    match sorted.len() {
        1 => (rule, Rewrite::Value(sorted.remove(0))),
        _ => (rule, Rewrite::Op(Op::Tuple, sorted)),
    }
}

/// The elements of each operand at these places of rows.
fn taken(build: &mut dyn Build, rows: Rows, operands: &[InstrId], places: InstrId) -> Vec<InstrId> {
    operands.iter().map(|operand| rows.taken(build, *operand, places)).collect()
}

/// The lines along one dimension of an array, as rows.
struct Lines {
    rows: Rows,
    /// The order of dimensions with that one last, and the extents in it.
    order: Vec<i64>,
    extents: Vec<i64>,
}

impl Lines {
    /// Those of an array of these extents; `None` where places in it are too many.
    fn new(extents: Vec<i64>, dimension: usize) -> Option<Lines> {
        let length = *extents.get(dimension)?;
        let order: Vec<i64> =
            (0..extents.len()).filter(|own| *own != dimension).chain([dimension]).map(|own| own as i64).collect();
        let extents: Vec<i64> = order.iter().map(|own| extents[*own as usize]).collect();
        let mut others = extents[..extents.len() - 1].iter();
        let count = others.try_fold(1i64, |product, extent| product.checked_mul(*extent))?;
        let rows = Rows { count, length };
        rows.are_counted().then_some(Lines { rows, order, extents })
    }

    /// Those of as many places.
    fn with_length(&self, length: i64) -> Option<Lines> {
        let rows = Rows { length, ..self.rows };
        let mut extents = self.extents.clone();
        *extents.last_mut()? = length;
        rows.are_counted().then(|| Lines { rows, order: self.order.clone(), extents })
    }

    /// The rows `[count, length]` of an array.
    fn taken_apart(&self, build: &mut dyn Build, value: InstrId) -> InstrId {
        let value = build.transposed(value, &self.order);
        build.reshaped(value, self.rows.extents())
    }

    /// The array of which these are the rows.
    fn put_together(&self, build: &mut dyn Build, rows: InstrId) -> InstrId {
        let value = build.reshaped(rows, self.extents.clone());
        build.transposed(value, &inverse(&self.order))
    }
}

/// The first of two elements that `computation` compares, of each pair of arrays of operands.
fn compared(
    build: &mut dyn Build,
    computation: &Computation,
    extents: &[i64],
    left: &[Option<InstrId>],
    right: &[Option<InstrId>],
) -> InstrId {
    const READ: &str = "arguments are given for what is read";
    written::written(build, computation, computation.root, extents, &|number| {
        let side = if number % 2 == 0 { left } else { right };
        side[number / 2].expect(READ)
    })
}
