//! The laws of the algebra: every equation that the simplifier may use, with its side condition, as text.
//!
//! ```text
//! x floordiv c = -((c - 1 - x) floordiv c)      if c > 0
//! ```
//!
//! The letters `b` and `u` to `z` stand for any integer expression; all other letters stand for numbers. `c | x` says that
//! `c` divides `x`, a comma joins conditions, `<=>` joins equivalent ones, and `sum(i, n, e)` adds `e` for `i` from 0 to
//! `n - 1`. The text is what readers, the tests (every binding in a box, and an SMT solver) and the checker of derivations
//! go by; the code beside it only finds where it applies.
//!
//! ```text
//! equation   := sum = sum | conditions <=> conditions
//! conditions := condition {, condition}
//! condition  := sum | sum                            the left divides the right
//!             | sum RELATION sum {RELATION sum}      = < <= > >=; a chain says the same of each neighbouring pair
//! sum        := product {(+ | -) product}
//! product    := factor {(* | floordiv | mod) factor}
//! factor     := {-} (INTEGER | LETTER | ( sum ) | ceildiv(sum, sum) | sum(LETTER, sum, sum))
//! ```
//!
//! [`Law::statement`] reads it. Over numbers a statement is [evaluated](Pattern::evaluate), exactly or not at all; over
//! expressions it is [instantiated](Pattern::instantiate), and its conditions become [goals](Goal) for a prover.
//! [`Law::named`] finds a law by its name, and [`laws`](crate::laws) lists all.
//!
//! # Writing a law
//!
//! A law of one division or remainder is an entry and a function in one file; a law of sums, or of constraints, is an entry in
//! one file and a function in another. Nothing else of the simplifier is edited.
//!
//! | The law rewrites | Its entry | Its function |
//! |---|---|---|
//! | `x floordiv c` | `simplify/rules/floordiv.rs`, `RULES` or `EXPLORING` | the same file |
//! | `x mod c` | `simplify/rules/modulo.rs`, `RULES` or `EXPLORING` | the same file |
//! | a sum with a division or remainder as a term | `simplify/rules/sum.rs`, `OF_FLOORDIV` or `OF_MOD` | `simplify/recombine/`, by what it is about |
//! | a constraint | `constraint/laws.rs` | `constraint/canonical.rs`, `narrow.rs` or `residues.rs` |
//!
//! `RULES` are tried in order by every simplification, and the first that applies is taken; so a law stands there only if its
//! right side is never worse. `EXPLORING` are laws that pay only together with others; the e-graph alone tries them. A law of
//! sums may return whatever it likes: it is taken where the sum gets cheaper and its range no wider.
//!
//! ## An example
//!
//! Say that a common factor should leave a remainder: `(g*x) mod (g*m) = g*(x mod m)`. The entry in `RULES` of `modulo.rs` is
//! the law as a reader would write it, with a name that says what it rewrites, and the function that finds it:
//!
//! ```text
//! "mod-of-scaled": "(g*x) mod (g*m) = g*(x mod m)" if "g > 0, m > 0" => of_scaled;
//! ```
//!
//! The function gets the argument and the divisor of a remainder, here in the law's terms `g*x` and `g*m`. It returns the right
//! side, or `None` where the law says nothing; numbers are computed with checks, and an overflow is a `None` too. On the way it
//! binds every letter of the law, which costs nothing unless somebody asks for the reasons:
//!
//! ```text
//! fn of_scaled(context: &mut Context, argument: &Expr, c: i64) -> Option<Expr> {
//!     let g = argument.terms().iter().fold(c, |g, t| num_integer::gcd(g, t.coefficient));
//!     let k = argument.constant_term();
//!     if g == 1 || g == c || k % g != 0 {
//!         return None;
//!     }
//!     // All terms are multiples of g.
//!     let (terms, _) = split(argument, g);
//!     let x = Expr::from_sorted(k / g, terms);
//!     context.number('g', g);
//!     context.number('m', c / g);
//!     context.bind('x', &x);
//!     x.checked_modulo(c / g).ok()?.checked_mul(g).ok()
//! }
//! ```
//!
//! A condition on numbers, such as `g > 0`, is for the function to see to. A condition on expressions is proved from ranges, and
//! *unknown is false*: `context.one_quotient('q', &z, c)` is the way to prove `c*q <= z < c*q + c`. It asks for the range of `z`,
//! binds `q` where all of the range has that quotient, and else refuses with what [`why_not`](crate::why_not) shows: so bind the
//! other letters before.
//!
//! ## What follows from the entry
//!
//! | What | Where | Fails when |
//! |---|---|---|
//! | the text is read, and evaluated at all points of a box | `tests/laws.rs` | the law is false at a point, a condition is needless, or the conditions hold nowhere |
//! | the name | `tests/laws.rs` | it is no words with dashes, or another law has it |
//! | a proof for all integers, or all divisors up to 8 | `tests/smt.rs`, with the solver z3 | the solver finds a counterexample |
//! | the function, on random arguments over random domains | `src/simplify/rules/laws.rs` | it returns something unequal, binds letters that do not make its result of the law, applies fewer than 20 times in 6,000, or returns its left side |
//! | its use in whole simplifications | `src/simplify/rules/laws.rs` | no derivation has it: another law comes first, or it helps nothing |
//! | every derivation it is in | [`Proof::check`](crate::Proof::check), `src/proof/tests.rs` | a step is no instance of the law's text |
//! | its line in [`why_not`](crate::why_not) | `tests/why_not.rs` | a condition reported as open holds in the range reported |
//! | results of the whole | `tests/corpus.rs`, `tests/quality` | an expression of the corpus gets dearer |
//!
//! None of them names laws, so none is edited, but for a law whose form random arguments never have: `Random` of
//! `src/simplify/rules/laws.rs` gets a function that makes it. For the function of a law of constraints `src/constraint/tests.rs` stands in place
//! of the rows on functions, and gets a test that enumerates instances.
//!
//! `cargo test -p weft-affine law --no-fail-fast` runs all but the last two rows, and `cargo bench -p weft-affine --bench simplify` says what a
//! law costs those who do not need it.

mod condition;
mod parser;
mod pattern;
mod wide_sum;

pub use condition::{Condition, Goal, Relation};
pub use pattern::{Operator, Pattern};
pub use wide_sum::WideSum;

use std::collections::BTreeSet;

use crate::Error;

/// Laws, each a constant that the code refers to, and the list `LAWS` of all of them.
macro_rules! laws {
    ($($(#[$doc:meta])* $id:ident = $name:literal: $equation:literal $(if $condition:literal)?;)*) => {
        $($(#[$doc])* pub(crate) const $id: &$crate::Law =
            &$crate::law::law!($name: $equation $(if $condition)?);)*
        /// All laws of this file.
        pub(crate) const LAWS: &[&$crate::Law] = &[$($id),*];
    };
}
pub(crate) use laws;

/// One law: its name, what it claims, and under which condition.
macro_rules! law {
    ($name:literal: $equation:literal) => {
        $crate::Law { name: $name, equation: $equation, condition: "" }
    };
    ($name:literal: $equation:literal if $condition:literal) => {
        $crate::Law { name: $name, equation: $equation, condition: $condition }
    };
}
pub(crate) use law;

/// One law: an equation, or an equivalence, and the condition under which it holds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Law {
    /// Its name in derivations: unique, and stable from one version to the next. [`Law::named`] finds the law again.
    pub name: &'static str,
    /// The equation.
    pub equation: &'static str,
    /// The side condition; empty where the equation holds of all integers.
    pub condition: &'static str,
}

impl Law {
    /// The law of this name, if there is one.
    ///
    /// ```
    /// use weft_affine::Law;
    ///
    /// let law = Law::named("mod-in-range").expect("a law of remainders");
    /// assert_eq!(law.to_string(), "mod-in-range: (c*y + z) mod c = z - c*q if c*q <= z < c*q + c");
    /// assert_eq!(Law::named("mod-in-rage"), None);
    /// ```
    pub fn named(name: &str) -> Option<&'static Law> {
        crate::laws().iter().copied().find(|law| law.name == name)
    }

    /// The parsed text.
    ///
    /// # Errors
    /// [`Error::Syntax`], with the place in the equation or the condition, when the text is not of the language.
    pub fn statement(&self) -> Result<Statement, Error> {
        let claim = parser::claim(self.equation).map_err(|e| within("equation", e))?;
        let conditions = match self.condition {
            "" => Vec::new(),
            text => parser::conditions(text).map_err(|e| within("condition", e))?,
        };
        Ok(Statement { claim, conditions })
    }
}

/// Says in which of the two texts the place of an error is to be found.
fn within(text: &str, error: Error) -> Error {
    match error {
        Error::Syntax { message, span } => Error::Syntax { message: format!("in the {text}: {message}"), span },
        other => other,
    }
}

impl std::fmt::Display for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.equation)?;
        if self.condition.is_empty() { Ok(()) } else { write!(f, " if {}", self.condition) }
    }
}

/// A law as read: wherever all conditions hold, both sides of the claim have values, and the claim is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The claim, under the conditions.
    pub claim: Claim,
    /// Under which conditions; chains are taken apart, so that each compares two patterns.
    pub conditions: Vec<Condition>,
}

/// The claim of a law: an equation, or an equivalence of conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// The two have the same value.
    Equal(Pattern, Pattern),
    /// All of the first hold exactly where all of the second do.
    Equivalent(Vec<Condition>, Vec<Condition>),
}

impl Statement {
    /// Both sides, where the claim is an equation.
    pub fn equation(&self) -> Option<(&Pattern, &Pattern)> {
        match &self.claim {
            Claim::Equal(left, right) => Some((left, right)),
            Claim::Equivalent(..) => None,
        }
    }

    /// The letters that need a meaning, in alphabetical order.
    pub fn letters(&self) -> BTreeSet<char> {
        let mut letters: BTreeSet<char> = self.conditions.iter().flat_map(Condition::letters).collect();
        match &self.claim {
            Claim::Equal(left, right) => letters.extend([left, right].into_iter().flat_map(Pattern::letters)),
            Claim::Equivalent(left, right) => letters.extend(left.iter().chain(right).flat_map(Condition::letters)),
        }
        letters
    }
}

impl Claim {
    /// Whether the claim is true of these numbers; nothing where a side has no value, see [`Pattern::evaluate`].
    pub fn evaluate(&self, letters: &[(char, i64)]) -> Option<bool> {
        match self {
            Claim::Equal(left, right) => Some(left.evaluate(letters)? == right.evaluate(letters)?),
            Claim::Equivalent(left, right) => Some(all(left, letters)? == all(right, letters)?),
        }
    }
}

/// Whether all conditions hold; nothing where one of them has no value.
fn all(conditions: &[Condition], letters: &[(char, i64)]) -> Option<bool> {
    conditions.iter().try_fold(true, |so_far, condition| Some(condition.evaluate(letters)? && so_far))
}

/// True for a letter that stands for a number: any but `b` and `u` to `z`, which stand for expressions.
pub fn is_number(letter: char) -> bool {
    !matches!(letter, 'b' | 'u'..='z')
}
