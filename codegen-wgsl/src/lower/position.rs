//! Rounds by the position of what they compute.

use crate::kernel::{Block, Statement};
use weft_affine::{Atom, Error, Expr, Ranges, Term, Var, simplify};

/// Writes all indices of a block, which has no loops, with `d0` for a position that is `round * launch` and something less than the launch.
/// Whether that can be done; else the block is left in pieces.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn in_terms_of(block: &mut Block, position: &Expr, launch: i64) -> Result<bool, Error> {
    for statement in &mut block.statements {
        if matches!(statement, Statement::Loop { .. } | Statement::While { .. }) {
            return Ok(false);
        }
        for index in statement.indices_mut() {
            let Some(written) = by_position(index, position, launch)? else { return Ok(false) };
            *index = written;
        }
        for block in statement.blocks_mut() {
            if !in_terms_of(block, position, launch)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// An index with `d0` for the position.
fn by_position(index: &Expr, position: &Expr, launch: i64) -> Result<Option<Expr>, Error> {
    let of_round = |term: &&Term| matches!(term.atom, Atom::Var(Var::Range(0)));
    let times = index.terms().iter().find(of_round).map_or(0, |term| term.coefficient / launch);
    let rest = index.checked_add_scaled(position, -times)?;
    let mut written = Expr::dim(0).checked_mul(times)?.checked_add_constant(rest.constant_term())?;
    for Term { coefficient, atom } in rest.terms() {
        let inner = match atom {
            Atom::Var(_) => None,
            Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => by_position(inner, position, launch)?,
        };
        let atom = match (atom, inner) {
            (Atom::Var(Var::Runtime(number)), _) => Expr::runtime(*number),
            (Atom::FloorDiv(_, divisor), Some(inner)) => inner.checked_floor_div(*divisor)?,
            (Atom::Mod(_, modulus), Some(inner)) => inner.checked_modulo(*modulus)?,
            _ => return Ok(None),
        };
        written = written.checked_add_scaled(&atom, *coefficient)?;
    }
    Ok(Some(written))
}

/// Writes all indices of a block, which has no loops, with `d0` for the position that index variables are the digits of: `digits` tells what each of them is of it, and `known` the positions that there
/// are. Whether that can be done; else the block is left in pieces.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn by_digits(
    block: &mut Block,
    digits: &dyn Fn(Var) -> Result<Option<Expr>, Error>,
    known: &Ranges,
) -> Result<bool, Error> {
    for statement in &mut block.statements {
        if matches!(statement, Statement::Loop { .. } | Statement::While { .. }) {
            return Ok(false);
        }
        for index in statement.indices_mut() {
            let mut found = Vec::new();
            for variable in index.variables() {
                if let Some(digit) = digits(variable)? {
                    found.push((variable, digit));
                }
            }
            let written = index.substitute(|variable| {
                found.iter().find(|(own, _)| *own == variable).map(|(_, digit)| digit.clone())
            })?;
            *index = simplify(&written, known, &[]);
        }
        for block in statement.blocks_mut() {
            if !by_digits(block, digits, known)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Writes a position for `d0`.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn substitute(block: &mut Block, position: &Expr) -> Result<(), Error> {
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
