//! The laws of constraints.
//!
//! Both sides of each hold at the same points. Of two constraints on one sum each law names the bounds of the tighter end;
//! which of the two is tighter may be either. A bound that is missing stays missing. `0 = 0` always holds and `0 = 1` never.

use crate::law::laws;

laws! {
    /// The simplifier found another form of the expression.
    SIMPLIFIED = "simplified-expression":
        "l <= x <= h <=> l <= y <= h"
        if "x = y";

    MULTIPLE = "bounds-of-multiple":
        "l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a"
        if "a > 0";
    NEGATIVE = "bounds-of-negative-multiple":
        "l <= -a*x <= h <=> ceildiv(-h, a) <= x <= (-l) floordiv a"
        if "a > 0";

    /// Since `x // -c` is `(-x) // c`, negative divisors need this and then `bounds-of-negative-multiple`.
    QUOTIENT = "bounds-of-quotient":
        "l <= x floordiv c <= h <=> c*l <= x <= c*h + c - 1"
        if "c > 0";

    SHIFTED = "bounds-of-shifted":
        "l <= x + k <= h <=> l - k <= x <= h - k";

    /// Without the condition, `4*y + b in [0, 10]` with `b` up to 9 would lose the points with a large `b`.
    LARGE_PART = "bounds-of-large-part":
        "l <= g*y + b <= h <=> p <= y <= q"
        if "g > 0, ceildiv(l - b, g) = p, (h - b) floordiv g = q";
    /// Bounds of one summand from the range of the others.
    SUMMAND = "bounds-of-summand":
        "l <= a*x + b <= h <=> l <= a*x + b <= h, ceildiv(l - n, a) <= x <= (h - m) floordiv a"
        if "a > 0, m <= b <= n";
    /// The same for a negative factor.
    NEGATIVE_SUMMAND = "bounds-of-negative-summand":
        "l <= b - a*x <= h <=> l <= b - a*x <= h, ceildiv(m - h, a) <= x <= (n - l) floordiv a"
        if "a > 0, m <= b <= n";

    /// Bounds within the other ones.
    BOUNDS_WITHIN = "bounds-within":
        "l <= x <= h, m <= x <= n <=> l <= x <= h"
        if "m <= l, h <= n";
    /// Bounds of which each gives one end; empty where they are apart.
    BOUNDS_OVERLAP = "bounds-overlap":
        "l <= x <= h, m <= x <= n <=> l <= x <= n"
        if "m <= l, n <= h";
    /// The Chinese remainder theorem: `g*p*q` is the least common multiple of the moduli, since `p` and `q` have no common
    /// divisor. `t` is any number with both residues, and `c | x - t` says that `x` leaves the remainder that `t` leaves.
    RESIDUES_MERGE = "residues-merge":
        "g*p | x - t, g*q | x - t <=> g*p*q | x - t"
        if "g > 0, p > 0, q > 0, i*p + j*q = 1";
    /// Residues that no number has both.
    RESIDUES_CONTRADICT = "residues-contradict":
        "x mod c = r, x mod d = s <=> 0 = 1"
        if "c > 0, d > 0, g > 0, g | c, g | d, 0 < (r - s) mod g";
    /// Successive residues of one modulus, counted from those of one of the two constraints.
    RESIDUES_MEET = "residues-meet":
        "0 <= x mod c <= n, 0 <= (x - k) mod c <= m <=> k <= x mod c <= n, x mod c <= k + m"
        if "c > 0, k >= 0, k + m < c";
    /// Successive residues of one modulus that have none in common.
    RESIDUES_APART = "residues-apart":
        "0 <= x mod c <= n, 0 <= (x - k) mod c <= m <=> 0 = 1"
        if "c > 0, n < k, k + m < c";
    /// The last digit and the residue of what is left without it are one residue.
    RESIDUES_OF_DIGITS = "residues-of-digits":
        "x mod c = r, (x floordiv c) mod m = s <=> x mod (c*m) = c*s + r"
        if "m > 0, 0 <= r < c";
    /// A residue of a multiple, by the inverse `i` of the factor.
    RESIDUE_OF_MULTIPLE = "residue-of-multiple":
        "(g*p*x + k) mod (g*m) = (g*p*t + k) mod (g*m) <=> x mod m = t mod m"
        if "g > 0, m > 0, m | i*p - 1";
    /// A residue that no multiple has.
    RESIDUE_OF_NO_MULTIPLE = "residue-of-no-multiple":
        "(a*x + k) mod c = r <=> 0 = 1"
        if "c > 0, g > 0, g | a, g | c, 0 < (r - k) mod g";

    IN_CLASS = "bounds-in-class":
        "l <= x <= h, x mod c = r <=> l + (r - l) mod c <= x <= h - (h - r) mod c, x mod c = r"
        if "c > 0";
    /// Successive residues, where the least value has none of them.
    ABOVE_CLASSES = "lower-bound-in-classes":
        "l <= x, 0 <= (x - k) mod c <= n <=> l + (k - l) mod c <= x, 0 <= (x - k) mod c <= n"
        if "c > 0, n < (l - k) mod c";
    /// Successive residues, where the greatest value has none of them.
    BELOW_CLASSES = "upper-bound-in-classes":
        "x <= h, 0 <= (x - k) mod c <= n <=> x <= h - (h - k - n) mod c, 0 <= (x - k) mod c <= n"
        if "c > 0, n < (h - k) mod c";

    /// Every remainder is within.
    REMAINDER_ALWAYS = "remainder-always":
        "l <= x mod c <= h <=> 0 = 0"
        if "c > 0, l <= 0, h >= c - 1";
    /// No remainder is so large.
    REMAINDER_TOO_LARGE = "remainder-too-large":
        "l <= x mod c <= h <=> 0 = 1"
        if "c > 0, l >= c";
    /// No remainder is negative.
    REMAINDER_NEGATIVE = "remainder-negative":
        "l <= x mod c <= h <=> 0 = 1"
        if "c > 0, h < 0";
    /// Bounds beyond `[0, c - 1]` are clipped.
    REMAINDER_CLIPPED = "remainder-clipped":
        "l <= x mod c <= h <=> l <= x mod c <= h, 0 <= x mod c <= c - 1"
        if "c > 0";
    /// Bounds that every value of the range satisfies.
    RANGE_ALWAYS = "range-always":
        "l <= x <= h <=> 0 = 0"
        if "m <= x <= n, l <= m, n <= h";
    /// Bounds above every value of the range.
    RANGE_BELOW = "range-below-bounds":
        "l <= x <= h <=> 0 = 1"
        if "x <= n, n < l";
    /// Bounds below every value of the range.
    RANGE_ABOVE = "range-above-bounds":
        "l <= x <= h <=> 0 = 1"
        if "m <= x, h < m";
}
