//! Strides: the distance in memory between neighboring values of each variable.

use std::fmt;
use std::ops::ControlFlow;

use weft_affine::{Expr, Interval, Var};

use crate::pieces::{Lanes, Operand, Piece, Program, may_overflow, visit};
use crate::{IndexingMap, Unknown};

/// The stride of a variable: the distance, in elements, between the addresses of points of the domain that differ by
/// one in this variable alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stride {
    /// By the same distance everywhere; zero where the address does not depend on the variable.
    Constant(i64),
    /// By different distances, but the pattern repeats: when the variable grows by `period`, the address moves by `advance`. The
    /// period is read off the quotients and remainders of the simplified results, so it need not be the least.
    Piecewise {
        /// Values of the variable after which the pattern repeats.
        period: i64,
        /// The distance over one period, in elements.
        advance: i64,
    },
    /// By different distances, and the form of the results shows no pattern that repeats within the bounds of the variable.
    Irregular,
    /// Not at all: no two points of the domain are neighbors along the variable.
    Isolated,
    /// It was not found out.
    Unknown(Unknown),
}

impl Stride {
    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            Stride::Constant(_) => "constant",
            Stride::Piecewise { .. } => "piecewise",
            Stride::Irregular => "irregular",
            Stride::Isolated => "isolated",
            Stride::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Constant(distance) => write!(f, "{distance}"),
            Stride::Piecewise { period, advance } => write!(f, "piecewise, {advance} every {period}"),
            Stride::Irregular => f.write_str("none, since it differs from place to place"),
            Stride::Isolated => f.write_str("none, since no two values are neighbors"),
            Stride::Unknown(reason) => write!(f, "unknown, since {reason}"),
        }
    }
}

/// The stride of one variable of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct VariableStride {
    /// The variable.
    pub variable: Var,
    /// Its name, or `d0`, `s0`, `rt0`.
    pub name: String,
    /// Its stride.
    pub stride: Stride,
}

/// The strides of all variables of a map whose result is an address.
pub(crate) fn strides(map: &IndexingMap) -> Vec<VariableStride> {
    let named =
        |v: Var, name: &Option<String>, bounds: Interval| (v, name.clone().unwrap_or_else(|| v.to_string()), bounds);
    let dims = (0..).map(Var::Dim).zip(&map.dims).map(|(v, own)| named(v, &own.name, own.bounds));
    let ranges = (0..).map(Var::Range).zip(&map.ranges).map(|(v, own)| named(v, &own.name, own.bounds));
    let runtime = (0..).map(Var::Runtime).zip(&map.runtime).map(|(v, own)| named(v, &own.name, own.bounds));
    let refused = match Program::new(map) {
        Ok(program) => may_overflow(&program).then_some(Unknown::Overflow),
        Err(reason) => Some(reason),
    };
    let mut simple = map.clone();
    simple.simplify_keeping_runtime_bounds();
    let found = |(variable, name, bounds)| {
        let stride = refused.map_or_else(|| stride(map, &simple, variable, bounds), Err);
        VariableStride { variable, name, stride: stride.unwrap_or_else(Stride::Unknown) }
    };
    dims.chain(ranges).chain(runtime).map(found).collect()
}

fn stride(given: &IndexingMap, simple: &IndexingMap, v: Var, bounds: Interval) -> Result<Stride, Unknown> {
    if bounds.size() < 2 || simple.is_known_empty() {
        return Ok(Stride::Isolated);
    }
    if follows_index(simple, v) {
        return Ok(Stride::Unknown(Unknown::RuntimeValues));
    }
    let mut steps = to_next(simple, v, bounds)?;
    steps.simplify_keeping_runtime_bounds();
    if steps.is_known_empty() {
        return Ok(Stride::Isolated);
    }
    let found = match distances(&steps) {
        // A simplified map may hide what it was composed of, such as the position in a reshape.
        Err(_) => distances(&to_next(given, v, bounds)?),
        found => found,
    };
    let repeated = period(simple, v, bounds);
    Ok(match (found, steps.results.first().and_then(Expr::as_constant)) {
        (Ok(Distances::None), _) => Stride::Isolated,
        (Ok(Distances::One(distance)), _) | (Err(_), Some(distance)) => Stride::Constant(distance),
        (Ok(Distances::Several), _) => repeated.unwrap_or(Stride::Irregular),
        (Err(reason), None) => repeated.unwrap_or(Stride::Unknown(reason)),
    })
}

/// From points to how far the address moves to their neighbors along `v`, where these lie in the domain as well.
fn to_next(map: &IndexingMap, v: Var, bounds: Interval) -> Result<IndexingMap, Unknown> {
    let next = |e: &Expr| -> Result<Expr, Unknown> {
        let step = Expr::var(v).checked_add_constant(1).map_err(|_| Unknown::Overflow)?;
        e.substitute(|w| (w == v).then(|| step.clone())).map_err(|_| Unknown::Overflow)
    };
    let mut steps = map.clone();
    for e in &mut steps.results {
        *e = next(e)?.checked_sub(e).map_err(|_| Unknown::Overflow)?;
    }
    for c in &map.constraints {
        steps.constrain(next(&c.expr)?, c.bounds);
    }
    let own = map.variable_ranges().get(v).intersect(bounds);
    let both = Interval::new(own.lo, own.hi.saturating_sub(1));
    match v {
        Var::Dim(_) | Var::Range(_) => steps.constrain(Expr::var(v), both),
        Var::Runtime(i) => {
            if let Some(own) = steps.runtime.get_mut(i as usize) {
                own.bounds = both;
            }
        }
    }
    Ok(steps)
}

/// How many different distances there are.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Distances {
    None,
    One(i64),
    Several,
}

fn distances(steps: &IndexingMap) -> Result<Distances, Unknown> {
    let mut found = Distances::None;
    visit(&Program::new(steps)?, &Lanes::default(), &mut |piece| {
        found = match (found, distance(&piece)) {
            (Distances::None, Some(distance)) => Distances::One(distance),
            (Distances::One(known), Some(distance)) if known == distance => found,
            _ => Distances::Several,
        };
        if found == Distances::Several { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// The result of a part, where it is one number.
fn distance(piece: &Piece) -> Option<i64> {
    let form = piece.results.first()?;
    let same = form.coefficients.iter().all(|a| *a == 0);
    form.constants.first().filter(|_| same).and_then(|k| i64::try_from(*k).ok())
}

/// Whether a runtime variable is an element that depends on `v`, so that its value may change with it.
fn follows_index(map: &IndexingMap, v: Var) -> bool {
    let mut follows: Vec<bool> = Vec::with_capacity(map.runtime.len());
    for variable in &map.runtime {
        let own = variable.access.iter().flat_map(Expr::variables).any(|w| match w {
            Var::Runtime(j) if follows.get(j as usize).copied().unwrap_or(false) => true,
            other => other == v,
        });
        follows.push(own && variable.bounds.size() > 1);
    }
    let used = map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).flat_map(Expr::variables);
    used.into_iter().any(|w| matches!(w, Var::Runtime(j) if follows.get(j as usize).copied().unwrap_or(false)))
}

/// After how many values of a variable all quotients and remainders repeat, where that is within its bounds: a quotient by `c`
/// does when its argument moves by a multiple of `c`.
fn period(map: &IndexingMap, v: Var, bounds: Interval) -> Option<Stride> {
    let program = Program::new(&IndexingMap { constraints: Vec::new(), ..map.clone() }).ok()?;
    let number = program.position(v)?;
    // For each sum its period, and how far it moves in it.
    let mut known: Vec<(i128, i128)> = Vec::with_capacity(program.sums.len());
    for sum in &program.sums {
        let (mut period, mut advance) = (1i128, 0i128);
        for (factor, operand) in &sum.terms {
            let (own, moved) = match operand {
                Operand::Variable(i) => (1, i128::from(*i == number)),
                Operand::FloorDiv(x, c) | Operand::Mod(x, c) => {
                    let (inner, moved) = *known.get(*x)?;
                    let times = i128::from(*c) / gcd(moved, i128::from(*c))?;
                    let quotient = moved.checked_mul(times)? / i128::from(*c);
                    (inner.checked_mul(times)?, if matches!(operand, Operand::FloorDiv(..)) { quotient } else { 0 })
                }
            };
            let common = period.checked_mul(own / gcd(period, own)?)?;
            let moved = moved.checked_mul(common / own)?.checked_mul(i128::from(*factor))?;
            advance = advance.checked_mul(common / period)?.checked_add(moved)?;
            period = common;
        }
        known.push((period, advance));
    }
    let (period, advance) = *known.get(*program.results.first()?)?;
    let within = i128::from(bounds.hi) - i128::from(bounds.lo) >= period;
    Some(Stride::Piecewise { period: i64::try_from(period).ok()?, advance: i64::try_from(advance).ok()? })
        .filter(|_| within)
}

fn gcd(a: i128, b: i128) -> Option<i128> {
    i128::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).ok()
}
