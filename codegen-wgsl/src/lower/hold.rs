//! What the rounds of an invocation have in common, read once and held.

use super::hoist::alike_before;
use super::inline::inline_into_entry;
use super::peel::peel;
use super::position::{in_terms_of, substitute};
use crate::kernel::{Block, Function, Kernel, Known, ScalarOp, Statement};
use std::collections::BTreeSet;
use weft_affine::{Atom, Error, Expr, simplify};
use weft_partition::{Schedule, Target};

/// Ways to share out positions that are tried.
const MAX_WAYS: usize = 6;

/// Statements of a function that is written in place of its call.
const MAX_STATEMENTS: usize = 128;

/// Neighboring invocations that compute neighbors in any case.
const MIN_NEIGHBORS: i64 = 8;

/// The kernel in which the rounds of an invocation hold what they have in common, where they have: a kernel whose entry is a loop of
/// several rounds, each of which stores elements at a position that is a launch further than that of the round before.
///
/// The functions that the entry alone calls, and once, are written in place of their calls. Then an element that is read at the same
/// index in every round is read once before the loop: of an operand that is broadcast along rows if a launch is whole rows. Where more
/// is held if an invocation's positions are a row apart, or lie within one row, they are shared out so. In software, positions within a row that
/// values place (a gathered row) are side by side: an invocation reads its part of a row as one stretch of memory, which takes llvmpipe half of the
/// time. And conditions that the number of the round decides are there for [`peel`](super::peel()) to see. Where nothing is gained, and where a
/// launch computes one window of several, the kernel stays as it is.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn hold(kernel: &Kernel, target: &Target) -> Result<Kernel, Error> {
    Ok(held(kernel, target)?.unwrap_or_else(|| kernel.clone()))
}

fn held(kernel: &Kernel, target: &Target) -> Result<Option<Kernel>, Error> {
    let entry = &kernel.entry;
    let [Statement::Loop { extents, body, accumulators, .. }] = entry.body.statements.as_slice() else {
        return Ok(None);
    };
    let ([rounds], []) = (extents.as_slice(), accumulators.as_slice()) else { return Ok(None) };
    let launch: i64 = entry.extents.iter().product();
    if launch == 0 || *rounds < 2 || kernel.windows != 1 {
        return Ok(None);
    }
    let invocation = simplify(&entry.invocation()?, &Known::new(&entry.extents).ranges, &[]);
    let position = Expr::range(0).checked_mul(launch)?.checked_add(&invocation)?;
    // The round as a function of the position alone.
    let mut round = Function { extents: vec![launch * rounds], body: body.clone(), ..entry.clone() };
    if !in_terms_of(&mut round.body, &position, launch)? {
        return Ok(None);
    }
    let Some(round) = inline_into_entry(&Kernel { entry: round, ..kernel.clone() }, MAX_STATEMENTS)? else {
        return Ok(None);
    };
    if has_loops(&round.entry.body) {
        return Ok(None);
    }
    let apart = shared_out(&round, entry, *rounds, launch)?;
    let peeled = peel(&apart)?;
    let mut best = (gain(&peeled), apart);
    if peeled != best.1 {
        // The rest is done where the rounds have been divided.
        let divides_more = peel(kernel)? == *kernel;
        return Ok((divides_more || best.0 > 0).then_some(best.1));
    }
    for stride in strides(&round.entry.body, *rounds, launch) {
        let near = shared_out(&round, entry, *rounds, stride)?;
        let gain = gain(&near);
        // What writes a result in several stretches is not proved unless these stand side by side.
        if gain > best.0 && peel(&near)? == near {
            best = (gain, near);
        }
    }
    if best.0 > 0 && target.effective_schedule() == Schedule::Software && binds(&round.entry.body) {
        let near = shared_out(&round, entry, *rounds, 1)?;
        if gain(&near) >= best.0 && peel(&near)? == near {
            best.1 = near;
        }
    }
    let (gain, mut kernel) = best;
    alike_before(&kernel.clone(), &mut kernel.entry.body);
    Ok((gain > 0).then_some(kernel))
}

/// The kernel whose round `k` computes the positions `stride` further than round `k - 1`: of each stretch of `rounds * stride` positions
/// `stride` invocations compute each a position in each round.
fn shared_out(round: &Kernel, entry: &Function, rounds: i64, stride: i64) -> Result<Kernel, Error> {
    let known = Known::new(&entry.extents).in_loop(&[rounds]);
    let invocation = entry.invocation()?;
    let stretch = invocation.checked_floor_div(stride)?.checked_mul(stride * rounds)?;
    let position = stretch.checked_add(&invocation.checked_modulo(stride)?)?;
    let position = known.simplified(&Expr::range(0).checked_mul(stride)?.checked_add(&position)?);
    let mut body = round.entry.body.clone();
    substitute(&mut body, &position)?;
    simplified(&mut body, known);
    let (extents, init, values, accumulators) = (vec![rounds], Vec::new(), Vec::new(), Vec::new());
    let statements = vec![Statement::Loop { values, extents, init, accumulators, body }];
    let body = Block { statements, results: Vec::new() };
    let entry = Function { extents: entry.extents.clone(), body, ..round.entry.clone() };
    Ok(Kernel { entry, ..round.clone() })
}

fn simplified(block: &mut Block, mut known: Known) {
    for statement in &mut block.statements {
        statement.indices_mut().into_iter().for_each(|index| *index = known.simplified(index));
        let within = known.within(statement);
        statement.blocks_mut().into_iter().zip(within).for_each(|(block, known)| simplified(block, known));
        known.after(statement);
    }
}

/// Whether values place what is read.
fn binds(block: &Block) -> bool {
    block
        .statements
        .iter()
        .any(|statement| matches!(statement, Statement::Bind { .. }) || statement.blocks().into_iter().any(binds))
}

fn has_loops(block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        matches!(statement, Statement::Loop { .. } | Statement::While { .. })
            || statement.blocks().into_iter().any(has_loops)
    })
}

/// Elements that all rounds read alike.
fn gain(kernel: &Kernel) -> usize {
    let mut body = kernel.entry.body.clone();
    alike_before(kernel, &mut body);
    let is_read = |statement: &&Statement| matches!(statement, Statement::Let { op: ScalarOp::Extract { .. }, .. });
    body.statements.iter().filter(is_read).count()
}

/// How far apart the positions of an invocation may be instead of a launch: as far as rows are long, or parts of a row, by what
/// indices of the round are divided by.
fn strides(body: &Block, rounds: i64, launch: i64) -> Vec<i64> {
    let mut divisors = BTreeSet::new();
    collect(body, &mut divisors);
    let of_rows = divisors.iter().copied();
    let within_rows = divisors.iter().filter(|divisor| *divisor % rounds == 0).map(|divisor| divisor / rounds);
    let strides: BTreeSet<i64> = of_rows.chain(within_rows).collect();
    let may_be = |stride: &i64| (MIN_NEIGHBORS..launch).contains(stride) && launch % stride == 0;
    // The longest first: neighbors are neighbors then.
    strides.into_iter().rev().filter(may_be).take(MAX_WAYS).collect()
}

fn collect(block: &Block, divisors: &mut BTreeSet<i64>) {
    fn of(index: &Expr, divisors: &mut BTreeSet<i64>) {
        for term in index.terms() {
            if let Atom::FloorDiv(inner, divisor) | Atom::Mod(inner, divisor) = &term.atom {
                divisors.insert(*divisor);
                of(inner, divisors);
            }
        }
    }
    for statement in &block.statements {
        statement.indices().into_iter().for_each(|index| of(index, divisors));
        statement.blocks().into_iter().for_each(|block| collect(block, divisors));
    }
}
