//! Rules of sums: terms that combine.
//!
//! Each replaces summands by an equal expression and keeps the result when the whole sum gets cheaper, because something
//! cancelled, and its range no wider: outer rules and later compositions prove their side conditions from it.

use super::floordiv::MULTIPLE as FLOORDIV_OF_MULTIPLE;
use super::modulo::DEFINITION as MOD_DEFINITION;
use super::{SumRule, rules};
use crate::law::laws;
use crate::simplify::normal::Normalizer;
use crate::simplify::recombine::{hermite, multiple_taken_out};

/// Rules of sums with a quotient, in the order in which they are tried.
pub(crate) const OF_FLOORDIV: &[SumRule] = rules! {
    FLOORDIV_TIMES_DIVISOR => Normalizer::quotient_as_remainder;
    DIFFERENCE_OF_FLOORDIVS => Normalizer::quotients_as_digit;
    "join-around-digit": "k*c*(x floordiv (k*c)) + x mod k = x - k*((x floordiv k) mod c)" if "c > 0, k > 0"
        => Normalizer::joined_around_digit;
    JOIN_ADJACENT_DIGITS => Normalizer::joined_with_next_digit;
    "floordiv-contract-mod": "(m*x + z) floordiv c - p*(x floordiv k) = (m*(x mod k) + z) floordiv c"
        if "c > 0, k > 0, m*k = c*p" => Normalizer::contracted;
    "hermite-of-floordivs": "sum(i, n, (x + i) floordiv n) = x" if "n > 0" => |normalizer, e, term, x, c| hermite(&mut normalizer.context, e, term, x, c);
    FLOORDIV_OF_MULTIPLE => |normalizer, e, term, x, c| multiple_taken_out(&mut normalizer.context, e, term, x, c);
    FLOORDIV_OF_MULTIPLE => Normalizer::multiple_taken_in;
};

/// Rules of sums with a remainder, in the order in which they are tried.
pub(crate) const OF_MOD: &[SumRule] = rules! {
    DIFFERENCE_OF_MODS => Normalizer::joined_remainders;
    MOD_DEFINITION => Normalizer::remainder_as_quotient;
    "hermite-of-mods": "sum(i, n, (x + i) mod n) = q" if "n > 0, 2*q = n*(n - 1)" => |normalizer, e, term, x, c| hermite(&mut normalizer.context, e, term, x, c);
};

laws! {
    KNOWN_VALUE = "known-value": "x = q" if "q <= x <= q";
    KNOWN_VALUE_OF_EQUALS = "known-value-of-equals": "x = q" if "u = x, v = x, u >= q, v <= q";
    EQUAL_AT_EVERY_POINT = "equal-at-every-point": "x = y" if "x = y";
    FLOORDIV_TIMES_DIVISOR = "floordiv-times-divisor": "c*(x floordiv c) = x - x mod c" if "c > 0";
    DIFFERENCE_OF_MODS = "difference-of-mods":
        "k*((x floordiv k + z) mod c) = (x + k*z) mod (k*c) - (x + k*z) mod k" if "c > 0, k > 0";
    DIFFERENCE_OF_FLOORDIVS = "difference-of-floordivs":
        "x floordiv k - c*(x floordiv (k*c)) = (x floordiv k) mod c" if "c > 0, k > 0";
    JOIN_ADJACENT_DIGITS = "join-adjacent-digits":
        "c*(x floordiv (k*c)) + (x floordiv k) mod c = x floordiv k" if "c > 0, k > 0";
    KNOWN_SUM = "known-sum": "x = q - y" if "q <= x + y <= q";
    SHIFT_ARGUMENT = "floordiv-shift-argument": "x floordiv c = (x - c*q) floordiv c + q" if "c > 0";
    MOD_OF_COMPLEMENT = "mod-of-complement": "x mod c = c - 1 - y mod c" if "c > 0, c | x + y + 1";
    MOD_OF_CONGRUENT = "mod-of-congruent": "x mod c = y mod c" if "c > 0, c | x - y";
}
