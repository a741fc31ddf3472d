//! Rules of sums: summands that belong together.
//!
//! Each replaces summands by an equal expression and keeps the result when the whole sum gets cheaper, because something
//! cancelled, and its range no wider: outer rules and later compositions prove their side conditions from it.

use super::law;
use crate::Law;

pub(crate) const KNOWN_VALUE: &Law = &law!("known-value", "R2", "x = q", "q <= x <= q");
pub(crate) const KNOWN_BETWEEN: &Law = &law!("known-between", "R2", "x = q", "u = x, v = x, u >= q, v <= q");
pub(crate) const QUOTIENT: &Law = &law!("sum-quotient", "R1", "c*(x floordiv c) = x - x mod c", "c > 0");
pub(crate) const DIGITS: &Law =
    &law!("sum-digits", "R11", "k*((x floordiv k + z) mod c) = (x + k*z) mod (k*c) - (x + k*z) mod k", "c > 0, k > 0");
pub(crate) const DIGIT: &Law =
    &law!("sum-digit", "R11", "x floordiv k - c*(x floordiv (k*c)) = (x floordiv k) mod c", "c > 0, k > 0");
pub(crate) const NEXT_DIGIT: &Law =
    &law!("sum-next-digit", "R11", "c*(x floordiv (k*c)) + (x floordiv k) mod c = x floordiv k", "c > 0, k > 0");
pub(crate) const BETWEEN: &Law =
    &law!("sum-between", "R11", "k*c*(x floordiv (k*c)) + x mod k = x - k*((x floordiv k) mod c)", "c > 0, k > 0");
pub(crate) const HERMITE: &Law = &law!("hermite", "R16", "sum(i, n, (x + i) floordiv n) = x", "n > 0");
pub(crate) const HERMITE_REMAINDERS: &Law =
    &law!("hermite-remainders", "R16", "sum(i, n, (x + i) mod n) = q", "n > 0, 2*q = n*(n - 1)");
pub(crate) const CLOSE_MOD: &Law = &law!(
    "sum-carry",
    "R10",
    "(m*x + z) floordiv c - p*(x floordiv k) = (m*(x mod k) + z) floordiv c",
    "c > 0, k > 0, m*k = c*p"
);
pub(crate) const EVERY_POINT: &Law = &law!("every-point", "R2", "x = y", "x = y");
pub(crate) const SOLVE: &Law = &law!("known-sum", "R15", "x = q - y", "q <= x + y <= q");
pub(crate) const MOVE: &Law = &law!("move-multiple", "R3", "x floordiv c = (x - c*q) floordiv c + q", "c > 0");
pub(crate) const TURN_REMAINDER: &Law =
    &law!("turn-remainder", "R12", "x mod c = c - 1 - y mod c", "c > 0, c | x + y + 1");
pub(crate) const SAME_REMAINDER: &Law = &law!("same-remainder", "R3", "x mod c = y mod c", "c > 0, c | x - y");

/// The laws of sums.
pub(crate) const LAWS: &[&Law] = &[
    KNOWN_VALUE,
    KNOWN_BETWEEN,
    EVERY_POINT,
    QUOTIENT,
    DIGITS,
    DIGIT,
    NEXT_DIGIT,
    BETWEEN,
    HERMITE,
    HERMITE_REMAINDERS,
    CLOSE_MOD,
    SOLVE,
    MOVE,
    TURN_REMAINDER,
    SAME_REMAINDER,
];
