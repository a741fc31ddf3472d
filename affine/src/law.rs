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

    /// What the text says.
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
    /// What holds.
    pub claim: Claim,
    /// Under which conditions; chains are taken apart, so that each compares two patterns.
    pub conditions: Vec<Condition>,
}

/// What a law claims.
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
