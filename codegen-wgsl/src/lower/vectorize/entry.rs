//! The entry with several elements side by side.

use super::function::vectorized;
use super::length::length;
use super::{Gains, Held, MAX_LENGTH, MAX_TIMES, Pass, Refusal, Variant};
use crate::kernel::{Function, Kernel, Known, Memory, Statement};
use crate::lower::inline::renumber;
use crate::lower::position::{by_digits, in_terms_of, substitute};
use weft_affine::{Error, Expr, Var, simplify};
use weft_partition::Form;

/// The kernel with neighboring invocations as lanes of one.
pub(super) fn merged_kernel(kernel: &Kernel) -> Result<Kernel, Refusal> {
    let thread = u32::try_from(kernel.entry.extents.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let mut pass = Pass::new(kernel, Held::Vector(kernel.lanes));
    let entry = vectorized(&mut pass, &kernel.entry, Variant { axis: Some(thread) }, kernel.entry.name.clone())?;
    Ok(with_entry(pass, entry))
}

/// The kernel with another entry, and the functions that this calls.
pub(super) fn with_entry(pass: Pass<'_>, mut entry: Function) -> Kernel {
    let kernel = pass.kernel;
    let (mut functions, image) = pass.functions(&entry);
    for function in functions.values_mut().chain([&mut entry]) {
        renumber(&mut function.body, &image);
    }
    Kernel { functions, entry, lanes: 1, ..kernel.clone() }
}

/// The kernel with several elements side by side, held as told.
pub(super) fn vectorized_kernel(kernel: &Kernel, held: Held) -> Result<Kernel, Refusal> {
    let entry = &kernel.entry;
    let [Statement::Loop { extents, body, accumulators, .. }] = entry.body.statements.as_slice() else {
        return Err(Refusal::Rounds);
    };
    let ([rounds], []) = (extents.as_slice(), accumulators.as_slice()) else { return Err(Refusal::Rounds) };
    let lanes = i64::from(held.lanes());
    if rounds % lanes != 0 || *rounds == 0 {
        return Err(Refusal::Rounds);
    }
    let launch = kernel.invocations_of_dispatch();
    // As it stands in the indices: a coordinate that is always 0 is not in sight.
    let known = Known::new(&entry.extents);
    let invocation = simplify(&entry.invocation()?, &known.ranges, &[]);
    // An element of an invocation in a loop of so many rounds.
    let position = |rounds: i64| {
        let element = Expr::range(0).checked_mul(launch)?.checked_add(&invocation)?;
        match kernel.window_coordinate().and_then(|coordinate| u32::try_from(coordinate).ok()) {
            Some(window) => element.checked_add_scaled(&Expr::dim(window), launch.saturating_mul(rounds - 1)),
            None => Ok(element),
        }
    };
    let total = launch * rounds * kernel.windows;
    // The round as a function of the position alone.
    let mut round = Function { extents: vec![total], body: body.clone(), ..entry.clone() };
    if !in_terms_of(&mut round.body, &position(*rounds)?, launch)? {
        // Where the coordinates of an invocation are indices themselves, they are digits of the position.
        round.body.clone_from(body);
        let digits = |variable: Var| digit(&entry.extents, (launch, total), variable);
        let positions = Known::new(&[total]).ranges;
        if kernel.windows > 1 || !by_digits(&mut round.body, &digits, &positions)? {
            return Err(Refusal::Rounds);
        }
    }
    let mut pass = Pass::new(kernel, held);
    let mut vectors = vectorized(&mut pass, &round, Variant { axis: Some(0) }, entry.name.clone())?;
    let Gains { vectors: whole, shared, composed, .. } = pass.gains;
    // Whole words of packed elements can be written only together; as words they are moved only where that is most of it.
    let is_packed =
        |memory: &Memory| memory.is_writable() && Form::of(memory.shape.element_type).is_some_and(Form::is_packed);
    if whole + shared < composed && (!held.is_vector() || !kernel.memories.values().any(is_packed)) {
        return Err(Refusal::Apart);
    }
    // Elements side by side, and what is left of the rounds a launch apart.
    let left = rounds / lanes;
    let position = if left > 1 { position(left)? } else { invocation };
    substitute(&mut vectors.body, &position)?;
    vectors.extents.clone_from(&entry.extents);
    if left > 1 {
        let body = std::mem::take(&mut vectors.body);
        let (extents, init, values, accumulators) = (vec![left], Vec::new(), Vec::new(), Vec::new());
        vectors.body.statements.push(Statement::Loop { values, extents, init, accumulators, body });
    }
    let vectors = with_entry(pass, vectors);
    let most = length(kernel, 1).saturating_mul(MAX_TIMES).max(MAX_LENGTH);
    if length(&vectors, 1) > most { Err(Refusal::Long) } else { Ok(vectors) }
}

/// What a coordinate of an invocation of so many, or its round, is of a position; `None` of what is no part of it.
fn digit(extents: &[i64], (launch, total): (i64, i64), variable: Var) -> Result<Option<Expr>, Error> {
    let position = Expr::dim(0);
    let Some((threads, groups)) = extents.split_last() else { return Ok(None) };
    let (stride, count) = match variable {
        // The groups along the first dimension follow one another.
        Var::Dim(index) => match groups.get(index as usize) {
            Some(count) => (threads * groups[..index as usize].iter().product::<i64>(), *count),
            None => (1, *threads),
        },
        Var::Range(0) => (launch, total / launch),
        Var::Range(_) | Var::Runtime(_) => return Ok(None),
    };
    position.checked_floor_div(stride)?.checked_modulo(count).map(Some)
}
