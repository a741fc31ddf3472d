//! Indices beyond 32 bits: integers modulo 2^64 as pairs of words, the low one first.
//!
//! Only what has to be divided or compared needs them; everything else is right modulo 2^32. What is named is written out here, since a name holds one
//! word.

use super::{Variables, WORD, fits_word, is_word, quotient, too_wide};
use crate::kernel::Known;
use weft_affine::{Atom, Expr, Interval, Term};
use weft_hlo::diagnostic::Diagnostics;

/// The functions of the library that may be called.
pub(super) const FUNCTIONS: [&str; 4] = ["add_wide", "at_most_wide", "divide_wide", "multiply_wide"];

/// The low word of a quotient or remainder whose operand takes more than 2^32 values.
///
/// # Errors
/// `HLO412` if a variable has more values than a word, if an index leaves 64 bits, or for a divisor of more than 32 bits with a prime factor as large.
pub(super) fn low_word(atom: &Atom, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    Ok(format!("{}.x", of_atom(atom, known, variables)?))
}

/// The test whether an index is one of `[lo, lo + width]`.
///
/// # Errors
/// As [`low_word`].
pub(super) fn is_among(
    expr: &Expr,
    lo: i64,
    width: i128,
    known: &Known,
    variables: &Variables,
) -> Result<String, Diagnostics> {
    let range = variables.range(expr, known)?;
    let shifted = expr.checked_sub(&Expr::constant(lo)).map_err(|_| too_wide(expr, range))?;
    // What is below the lower bound wraps to the top.
    Ok(format!("at_most_wide({}, {})", sum(&shifted, known, variables)?, pair(width)))
}

fn sum(expr: &Expr, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    variables.call_wide();
    let meant = variables.meaning(expr)?;
    let mut text = None;
    for term in meant.terms() {
        let atom = of_atom(&term.atom, known, variables)?;
        let part = match term.coefficient {
            1 => atom,
            coefficient => format!("multiply_wide({atom}, {})", pair(coefficient.into())),
        };
        text = Some(text.map_or_else(|| part.clone(), |sum: String| format!("add_wide({sum}, {part})")));
    }
    let constant = pair(meant.constant_term().into());
    Ok(match text {
        None => constant,
        Some(text) if meant.constant_term() == 0 => text,
        Some(text) => format!("add_wide({text}, {constant})"),
    })
}

fn of_atom(atom: &Atom, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    variables.call_wide();
    let whole = Expr::sum(0, [Term { coefficient: 1, atom: atom.clone() }]);
    let whole = whole.map_err(|_| too_wide(&Expr::constant(0), Interval { lo: i64::MIN, hi: i64::MAX }))?;
    let range = variables.range(&whole, known)?;
    let (expr, divisor) = match atom {
        Atom::Var(_) if !is_word(range) => return Err(too_wide(&whole, range)),
        Atom::Var(variable) => return Ok(format!("vec2<u32>({}, 0u)", variables.name(*variable))),
        Atom::FloorDiv(expr, divisor) | Atom::Mod(expr, divisor) => (expr, *divisor),
    };
    let of_operand = variables.range(expr, known)?;
    if is_word(range) && fits_word(of_operand, divisor) {
        return Ok(format!("vec2<u32>({}, 0u)", quotient(atom, known, variables)?.0));
    }
    // Taken from the operand, this multiple of the divisor leaves a number from zero on.
    let base = of_operand.lo.min(0).div_euclid(divisor);
    let lifted = Expr::constant(base).checked_mul(divisor).and_then(|multiple| expr.checked_sub(&multiple));
    let lifted = sum(&lifted.map_err(|_| too_wide(expr, of_operand))?, known, variables)?;
    let factors = words(divisor).ok_or_else(|| too_wide(&whole, of_operand))?;
    let divided = factors.iter().fold(lifted.clone(), |text, factor| format!("divide_wide({text}, {factor}u)"));
    Ok(match (atom, base) {
        (Atom::FloorDiv(..), 0) => divided,
        (Atom::FloorDiv(..), _) => format!("add_wide({divided}, {})", pair(base.into())),
        _ => {
            let multiple = format!("multiply_wide({divided}, {})", pair(-i128::from(divisor)));
            format!("add_wide({lifted}, {multiple})")
        }
    })
}

/// Numbers of 32 bits whose product is a divisor: to divide by one after the other is to divide by all of them.
fn words(divisor: i64) -> Option<Vec<i64>> {
    let (mut left, mut factors) = (divisor, Vec::new());
    while i128::from(left) >= WORD {
        // The largest factor below 2^16 comes off first; a divisor of 63 bits has few.
        let factor = (2..1 << 16).rev().find(|factor| left % factor == 0)?;
        factors.push(factor);
        left /= factor;
    }
    factors.push(left);
    Some(factors)
}

/// A constant modulo 2^64.
fn pair(value: i128) -> String {
    let word = |value: i128| u32::try_from(value.rem_euclid(WORD)).unwrap_or(0);
    format!("vec2<u32>({}u, {}u)", word(value), word(value.div_euclid(WORD)))
}
