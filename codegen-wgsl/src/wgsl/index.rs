//! Index expressions as WGSL.
//!
//! Indices are `u32` throughout and stand for integers modulo 2^32: sums and products wrap, so intermediate results below
//! zero do no harm. Only divisions, remainders and comparisons need the integer itself. There the range decides: where
//! the operand may be negative, a multiple of the divisor is added first, `(x + k*c) / c - k`, and a comparison is made
//! relative to the least value. What takes more than 2^32 values is divided and compared as a pair of words ([`wide`]).

mod wide;

use crate::kernel::{Condition, Known, written_out};
use std::cell::Cell;
use std::collections::HashMap;
use weft_affine::{Atom, Constraint, Expr, Interval, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Span;

/// One more than the greatest `u32`.
const WORD: i128 = 1 << 32;

/// Binding strength of the outermost operator, weakest first.
#[derive(Copy, Clone, PartialEq, PartialOrd)]
enum Strength {
    /// A shift or a mask.
    Bits,
    Sum,
    Product,
    Atom,
}

/// How a function's index variables are written.
#[derive(Clone, Debug)]
pub(super) struct Variables {
    /// Those of the function's own indices.
    dims: Vec<String>,
    /// What the names of indices stand for.
    named: HashMap<u32, Expr>,
    /// Whether some index needs more than one word.
    is_wide: Cell<bool>,
}

impl Variables {
    /// Index variables of these names.
    pub(super) fn new(dims: Vec<String>) -> Self {
        Variables { dims, named: HashMap::new(), is_wide: Cell::new(false) }
    }

    /// The functions of the library that the indices written so far call.
    pub(super) fn called(&self) -> &'static [&'static str] {
        if self.is_wide.get() { &wide::FUNCTIONS } else { &[] }
    }

    fn call_wide(&self) {
        self.is_wide.set(true);
    }

    /// Gives an index a name, and returns its definition.
    ///
    /// # Errors
    /// As [`index`].
    pub(super) fn define(&mut self, variable: u32, expr: &Expr, known: &Known) -> Result<String, Diagnostics> {
        let definition = index(expr, known, self)?;
        let meant = self.meaning(expr)?;
        self.named.insert(variable, meant);
        Ok(format!("let {} = {definition};", self.name(Var::Runtime(variable))))
    }

    /// A condition with each name replaced by what it stands for, which is what ranges go by.
    ///
    /// # Errors
    /// `HLO412` if an index leaves 64 bits.
    pub(super) fn meant(&self, condition: &Condition) -> Result<Condition, Diagnostics> {
        let Condition::Indices(tests) = condition else { return Ok(condition.clone()) };
        let meant = tests.iter().map(|test| Ok(Constraint { expr: self.meaning(&test.expr)?, bounds: test.bounds }));
        Ok(Condition::Indices(meant.collect::<Result<_, Diagnostics>>()?))
    }

    fn meaning(&self, expr: &Expr) -> Result<Expr, Diagnostics> {
        written_out(expr, &self.named).map_err(|_| too_wide(expr, Interval { lo: i64::MIN, hi: i64::MAX }))
    }

    fn range(&self, expr: &Expr, known: &Known) -> Result<Interval, Diagnostics> {
        Ok(known.range(&self.meaning(expr)?))
    }

    fn name(&self, variable: Var) -> String {
        match variable {
            Var::Dim(index) => self.dims.get(index as usize).cloned().unwrap_or_else(|| format!("d{index}")),
            Var::Range(index) => format!("s{index}"),
            Var::Runtime(index) if self.named.contains_key(&index) => format!("at{index}"),
            Var::Runtime(index) => format!("rt{index}"),
        }
    }
}

/// An index as a `u32` expression that may stand as an argument or between brackets; it is right modulo 2^32.
///
/// # Errors
/// `HLO412` where 32 bits do not suffice.
pub(super) fn index(expr: &Expr, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    Ok(sum(expr, known, variables)?.0)
}

/// The same as an expression that something may be added to or subtracted from.
///
/// # Errors
/// As [`index`].
pub(super) fn summand(expr: &Expr, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    let (text, strength) = sum(expr, known, variables)?;
    Ok(within_sum(&text, strength))
}

/// The same as an expression that any operator may stand beside.
///
/// # Errors
/// As [`index`].
pub(super) fn operand(expr: &Expr, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    let (text, strength) = sum(expr, known, variables)?;
    Ok(if strength == Strength::Atom { text } else { format!("({text})") })
}

/// The index of an element as a `u32` expression that is right as a number. Where the condition around it holds no element has
/// an index below 0, so it does not matter what such ones become.
///
/// # Errors
/// `HLO412` where 32 bits do not suffice.
pub(super) fn exact_index(expr: &Expr, known: &Known, variables: &Variables) -> Result<String, Diagnostics> {
    let range = variables.range(expr, known)?;
    let of_elements = Interval { lo: range.lo.max(0), ..range };
    if is_word(of_elements) { index(expr, known, variables) } else { Err(too_wide(expr, range)) }
}

/// Refuses a loop that a `u32` cannot count.
///
/// # Errors
/// `HLO412` if this is one.
pub(super) fn check_extent(extent: i64) -> Result<(), Diagnostics> {
    let range = Interval::of_extent(extent);
    if is_word(range) { Ok(()) } else { Err(too_wide(&Expr::range(0), range)) }
}

/// A conjunction of constraints.
///
/// # Errors
/// `HLO412` where 32 bits do not suffice.
pub(super) fn condition(
    constraints: &[Constraint],
    known: &Known,
    variables: &Variables,
) -> Result<String, Diagnostics> {
    let mut tests = Vec::with_capacity(constraints.len());
    for constraint in constraints {
        tests.extend(test(constraint, known, variables)?);
    }
    Ok(conjunction(&tests))
}

/// Tests of which all have to hold, none of which does any harm where others do not: `&&` would be branches within each other, of which
/// rasterizers in software compile more than a dozen in minutes only.
pub(super) fn conjunction(tests: &[String]) -> String {
    match tests {
        [] => "true".to_owned(),
        [only] => only.clone(),
        several => several.iter().map(|test| format!("({test})")).collect::<Vec<String>>().join(" & "),
    }
}

/// The tests of a constraint, none where it is known to hold.
fn test(constraint: &Constraint, known: &Known, variables: &Variables) -> Result<Vec<String>, Diagnostics> {
    let Constraint { expr, bounds } = constraint;
    let range = variables.range(expr, known)?;
    let (lo, hi) = (bounds.lo.max(range.lo), bounds.hi.min(range.hi));
    if lo > hi {
        return Ok(vec!["false".to_owned()]);
    }
    if (lo, hi) == (range.lo, range.hi) {
        return Ok(Vec::new());
    }
    if is_word(range) {
        let (text, strength) = sum(expr, known, variables)?;
        let text = within_sum(&text, strength);
        return Ok(match (lo > range.lo, hi < range.hi) {
            _ if lo == hi => vec![format!("{text} == {lo}u")],
            (true, true) => vec![format!("{text} >= {lo}u"), format!("{text} <= {hi}u")],
            (true, false) => vec![format!("{text} >= {lo}u")],
            (false, _) => vec![format!("{text} <= {hi}u")],
        });
    }
    // Relative to the lower bound, everything below it wraps to the top, beyond the upper bound.
    let distance = |a: i64, b: i64| i128::from(a) - i128::from(b);
    if distance(range.hi, lo) >= WORD || distance(hi, range.lo) >= WORD {
        return Ok(vec![wide::is_among(expr, lo, distance(hi, lo), known, variables)?]);
    }
    let shifted = expr.checked_sub(&Expr::constant(lo)).map_err(|_| too_wide(expr, range))?;
    let (text, strength) = sum(&shifted, known, variables)?;
    let text = within_sum(&text, strength);
    Ok(vec![match distance(hi, lo) {
        0 => format!("{text} == 0u"),
        width => format!("{text} <= {width}u"),
    }])
}

/// Whether all values are those of a `u32`.
fn is_word(range: Interval) -> bool {
    range.is_empty() || (range.lo >= 0 && i128::from(range.hi) < WORD)
}

fn too_wide(expr: &Expr, range: Interval) -> Diagnostics {
    let message = format!("the index {expr} takes values in {range}, more than an index of 32 bits has");
    Diagnostic::new("HLO412", Span::default(), message).into()
}

fn sum(expr: &Expr, known: &Known, variables: &Variables) -> Result<(String, Strength), Diagnostics> {
    // Positive terms first, so that no text begins with a sign.
    let (positive, negative): (Vec<_>, Vec<_>) = expr.terms().iter().partition(|term| term.coefficient > 0);
    let mut parts = Vec::with_capacity(positive.len() + 1);
    for term in &positive {
        parts.push(product(term.coefficient, &term.atom, known, variables)?);
    }
    let constant = expr.constant_term();
    if constant > 0 || parts.is_empty() {
        parts.push((literal(constant), Strength::Atom));
    }
    if let (1, true, 0..) = (parts.len(), negative.is_empty(), constant) {
        return Ok(parts.swap_remove(0));
    }
    let parts: Vec<String> = parts.iter().map(|(text, strength)| within_sum(text, *strength)).collect();
    let mut text = parts.join(" + ");
    if constant < 0 && !positive.is_empty() {
        text += &format!(" - {}", literal(constant.wrapping_neg()));
    }
    for term in &negative {
        let (product, strength) = product(term.coefficient.wrapping_neg(), &term.atom, known, variables)?;
        // A remainder by 2^32 is written as its operand, which may be a sum.
        text += &if strength <= Strength::Sum { format!(" - ({product})") } else { format!(" - {product}") };
    }
    Ok((text, Strength::Sum))
}

fn product(
    coefficient: i64,
    atom: &Atom,
    known: &Known,
    variables: &Variables,
) -> Result<(String, Strength), Diagnostics> {
    let (text, strength) = quotient(atom, known, variables)?;
    if coefficient == 1 {
        return Ok((text, strength));
    }
    let left = if strength < Strength::Product { format!("({text})") } else { text };
    // `a / b * c` and `a % b * c` group from the left, as meant.
    Ok((format!("{left} * {}", literal(coefficient)), Strength::Product))
}

fn quotient(atom: &Atom, known: &Known, variables: &Variables) -> Result<(String, Strength), Diagnostics> {
    let (expr, divisor, is_quotient) = match atom {
        Atom::Var(variable) => return Ok((variables.name(*variable), Strength::Atom)),
        Atom::FloorDiv(expr, divisor) => (expr, *divisor, true),
        Atom::Mod(expr, divisor) => (expr, *divisor, false),
    };
    let range = variables.range(expr, known)?;
    if !fits_word(range, divisor) && (is_quotient || !wraps_well(divisor)) {
        return Ok((wide::low_word(atom, known, variables)?, Strength::Atom));
    }
    // Taken from the operand, this multiple of the divisor leaves a number from zero on.
    let base = if !is_quotient && wraps_well(divisor) { 0 } else { base(range, divisor) };
    let lifted = Expr::constant(base).checked_mul(divisor).and_then(|multiple| expr.checked_sub(&multiple));
    let lifted = lifted.map_err(|_| too_wide(expr, range))?;
    let (text, strength) = sum(&lifted, known, variables)?;
    if i128::from(divisor) >= WORD {
        // The operand is less than its divisor.
        return Ok(if is_quotient { (literal(base), Strength::Atom) } else { (text, strength) });
    }
    let operand = if strength == Strength::Atom { text } else { format!("({text})") };
    // Drivers in software divide even where a shift would do.
    let (result, strength) = match (is_quotient, is_power_of_two(divisor)) {
        (true, true) => (format!("{operand} >> {}u", divisor.trailing_zeros()), Strength::Bits),
        (false, true) => (format!("{operand} & {}", literal(divisor - 1)), Strength::Bits),
        (true, false) => (format!("{operand} / {}", literal(divisor)), Strength::Product),
        (false, false) => (format!("{operand} % {}", literal(divisor)), Strength::Product),
    };
    let summand = within_sum(&result, strength);
    Ok(match (is_quotient, base) {
        (true, i64::MIN..=-1) => (format!("({summand} - {})", literal(base.wrapping_neg())), Strength::Atom),
        (true, 1..) => (format!("({summand} + {})", literal(base)), Strength::Atom),
        _ => (result, strength),
    })
}

/// How often the divisor is taken from a number of this range before it is divided.
fn base(range: Interval, divisor: i64) -> i64 {
    if is_word(range) { 0 } else { range.lo.div_euclid(divisor) }
}

/// Whether a number of this range is one of 32 bits once a multiple of the divisor is taken from it.
fn fits_word(range: Interval, divisor: i64) -> bool {
    i128::from(range.hi) - i128::from(base(range, divisor)) * i128::from(divisor) < WORD
}

/// Whether remainders by a number are right whatever was wrapped: a power of two divides 2^32.
fn wraps_well(divisor: i64) -> bool {
    is_power_of_two(divisor) && i128::from(divisor) < WORD
}

fn is_power_of_two(divisor: i64) -> bool {
    divisor & (divisor - 1) == 0
}

/// Text that may stand in a sum, or beside a comparison.
fn within_sum(text: &str, strength: Strength) -> String {
    if strength < Strength::Sum { format!("({text})") } else { text.to_owned() }
}

/// A constant as `u32`, modulo 2^32 like everything around it.
fn literal(value: i64) -> String {
    format!("{}u", wrap(value))
}

fn wrap(value: i64) -> u32 {
    u32::try_from(value.rem_euclid(1 << 32)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
