//! The entry with vectors.

use super::function::vectorized;
use super::length::length;
use super::{Gains, LANES, MAX_LENGTH, MAX_TIMES, Pass, Refusal, Variant};
use crate::kernel::{Block, Function, Kernel, Known, Memory, Statement};
use crate::lower::inline::renumber;
use weft_affine::{Atom, Expr, Term, Var, simplify};
use weft_partition::Form;

/// The kernel with vectors.
pub(super) fn vectorized_kernel(kernel: &Kernel) -> Result<Kernel, Refusal> {
    let entry = &kernel.entry;
    let [Statement::Loop { extents, body, accumulators, .. }] = entry.body.statements.as_slice() else {
        return Err(Refusal::Rounds);
    };
    let ([rounds], []) = (extents.as_slice(), accumulators.as_slice()) else { return Err(Refusal::Rounds) };
    let lanes = i64::from(LANES);
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
    // The round as a function of the position alone.
    let mut round = Function { extents: vec![launch * rounds * kernel.windows], body: body.clone(), ..entry.clone() };
    in_terms_of(&mut round.body, &position(*rounds)?, launch)?;
    let mut pass = Pass::new(kernel);
    let mut vectors = vectorized(&mut pass, &round, Variant { axis: Some(0) }, entry.name.clone())?;
    let Gains { vectors: whole, shared, composed } = pass.gains;
    // Whole words of packed elements can be written only together.
    let is_packed =
        |memory: &Memory| memory.is_writable() && Form::of(memory.shape.element_type).is_some_and(Form::is_packed);
    if whole + shared < composed && !kernel.memories.values().any(is_packed) {
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
    let (mut functions, image) = pass.functions(&vectors);
    for function in functions.values_mut().chain([&mut vectors]) {
        renumber(&mut function.body, &image);
    }
    let (name, memories, windows) = (kernel.name.clone(), kernel.memories.clone(), kernel.windows);
    let vectors = Kernel { name, memories, functions, entry: vectors, windows };
    let most = length(kernel).saturating_mul(MAX_TIMES).max(MAX_LENGTH);
    if length(&vectors) > most { Err(Refusal::Long) } else { Ok(vectors) }
}

/// Writes all indices of a block, which has no loops, with `d0` for a position that is `round * launch` and something less than the launch.
fn in_terms_of(block: &mut Block, position: &Expr, launch: i64) -> Result<(), Refusal> {
    for statement in &mut block.statements {
        if matches!(statement, Statement::Loop { .. } | Statement::While { .. }) {
            return Err(Refusal::Rounds);
        }
        for index in statement.indices_mut() {
            *index = by_position(index, position, launch)?;
        }
        for block in statement.blocks_mut() {
            in_terms_of(block, position, launch)?;
        }
    }
    Ok(())
}

/// An index with `d0` for the position.
fn by_position(index: &Expr, position: &Expr, launch: i64) -> Result<Expr, Refusal> {
    let of_round = |term: &&Term| matches!(term.atom, Atom::Var(Var::Range(0)));
    let times = index.terms().iter().find(of_round).map_or(0, |term| term.coefficient / launch);
    let rest = index.checked_add_scaled(position, -times)?;
    let mut written = Expr::dim(0).checked_mul(times)?.checked_add_constant(rest.constant_term())?;
    for Term { coefficient, atom } in rest.terms() {
        let atom = match atom {
            Atom::Var(Var::Runtime(number)) => Expr::runtime(*number),
            Atom::Var(_) => return Err(Refusal::Rounds),
            Atom::FloorDiv(inner, divisor) => by_position(inner, position, launch)?.checked_floor_div(*divisor)?,
            Atom::Mod(inner, modulus) => by_position(inner, position, launch)?.checked_modulo(*modulus)?,
        };
        written = written.checked_add_scaled(&atom, *coefficient)?;
    }
    Ok(written)
}

/// Writes a position for `d0`.
fn substitute(block: &mut Block, position: &Expr) -> Result<(), Refusal> {
    for statement in &mut block.statements {
        for index in statement.indices_mut() {
            *index = index.substitute(|variable| (variable == Var::Dim(0)).then(|| position.clone()))?;
        }
        for block in statement.blocks_mut() {
            substitute(block, position)?;
        }
    }
    Ok(())
}
