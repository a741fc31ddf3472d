//! Conditions: what must hold of the letters of a law.

use std::collections::BTreeSet;
use std::fmt;

use super::Pattern;
use super::wide_sum::WideSum;
use crate::{Error, Expr};

/// One condition, with no condition inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Two patterns stand in a relation.
    Compare {
        /// The left side.
        left: Pattern,
        /// The relation.
        relation: Relation,
        /// With what.
        right: Pattern,
    },
    /// One pattern is a multiple of another.
    Divides {
        /// The divisor, which is not zero.
        divisor: Pattern,
        /// The multiple.
        dividend: Pattern,
    },
}

/// A relation between two integers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A condition in the form that a prover wants: what one sum must be over a whole domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The sum is zero.
    Zero(WideSum),
    /// The sum is zero or positive.
    NonNegative(WideSum),
    /// The sum is a multiple of the number, which is positive and at most 2^63.
    Multiple(WideSum, i128),
}

impl Condition {
    /// The letters that need a meaning.
    pub fn letters(&self) -> BTreeSet<char> {
        let (Condition::Compare { left: x, right: y, .. } | Condition::Divides { divisor: x, dividend: y }) = self;
        [x, y].into_iter().flat_map(Pattern::letters).collect()
    }

    /// Whether the condition is true of these numbers; nothing where a side has no value, see [`Pattern::evaluate`], and
    /// for a divisor of zero.
    pub fn evaluate(&self, letters: &[(char, i64)]) -> Option<bool> {
        match self {
            Condition::Compare { left, relation, right } => {
                let (left, right) = (left.evaluate(letters)?, right.evaluate(letters)?);
                Some(match relation {
                    Relation::Equal => left == right,
                    Relation::Less => left < right,
                    Relation::LessOrEqual => left <= right,
                    Relation::Greater => left > right,
                    Relation::GreaterOrEqual => left >= right,
                })
            }
            Condition::Divides { divisor, dividend } => {
                let (divisor, dividend) = (divisor.evaluate(letters)?, dividend.evaluate(letters)?);
                dividend.checked_rem(divisor).map(|rest| rest == 0)
            }
        }
    }

    /// The goal that implies the condition when its letters stand for expressions. Numbers of the sum need not fit
    /// `i64`.
    ///
    /// # Errors
    /// As [`Pattern::instantiate`], for what is divided; when a number of the sum leaves `i128`, and for a divisor that is no
    /// constant or zero.
    pub fn goal(&self, letters: &[(char, Expr)]) -> Result<Goal, Error> {
        match self {
            Condition::Compare { left, relation, right } => {
                let (left, right) = (left.wide(letters)?, right.wide(letters)?);
                // Of integers: a < b exactly where b - a - 1 >= 0.
                let one = WideSum::constant(1);
                Ok(match relation {
                    Relation::Equal => Goal::Zero(right.plus(&left, -1)?),
                    Relation::Less => Goal::NonNegative(right.plus(&left, -1)?.plus(&one, -1)?),
                    Relation::LessOrEqual => Goal::NonNegative(right.plus(&left, -1)?),
                    Relation::Greater => Goal::NonNegative(left.plus(&right, -1)?.plus(&one, -1)?),
                    Relation::GreaterOrEqual => Goal::NonNegative(left.plus(&right, -1)?),
                })
            }
            Condition::Divides { divisor, dividend } => {
                let divisor = divisor.instantiate(letters)?;
                let divisor = divisor.as_constant().ok_or(Error::NotConstant { what: "a divisor" })?;
                match i128::from(divisor).abs() {
                    0 => Err(Error::ZeroDivisor),
                    magnitude => Ok(Goal::Multiple(dividend.wide(letters)?, magnitude)),
                }
            }
        }
    }

    /// What is compared, where the condition compares two sums of which one may be a number.
    pub(crate) fn sides(&self, letters: &[(char, Expr)]) -> Option<[WideSum; 2]> {
        match self {
            Condition::Compare { left, right, .. } => Some([left.wide(letters).ok()?, right.wide(letters).ok()?]),
            Condition::Divides { .. } => None,
        }
    }
}

/// The text of the law language.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Compare { left, relation, right } => write!(f, "{left} {relation} {right}"),
            Condition::Divides { divisor, dividend } => write!(f, "{divisor} | {dividend}"),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Equal => "=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        })
    }
}
