//! Patterns: integer expressions over the letters of a law.

use std::collections::BTreeSet;
use std::fmt;

use super::is_number;
use super::wide_sum::WideSum;
use crate::{Error, Expr};

/// Sums over an index have at most this many summands; the laws are about divisors of real programs.
const MAX_SUMMANDS: i128 = 4096;

/// One side of an equation or of a comparison. Unlike an [`Expr`] it is kept as it is written, may multiply letters with each
/// other, and divides by letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// An integer.
    Number(i64),
    /// The value of a letter.
    Letter(char),
    /// The negation.
    Neg(Box<Pattern>),
    /// An operation of two operands.
    Binary(Operator, Box<[Pattern; 2]>),
    /// The body for an index from zero to the count, itself excluded, added up; zero for a count of zero or less.
    Sum {
        /// The letter of the index, which stands for a number.
        index: char,
        /// The number of summands.
        count: Box<Pattern>,
        /// The summand, a pattern over the index.
        body: Box<Pattern>,
    },
}

/// The operation of a [`Pattern::Binary`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient, rounded towards minus infinity.
    FloorDiv,
    /// The quotient, rounded towards infinity.
    CeilDiv,
    /// `x - c * (x floordiv c)` for a positive modulus.
    Mod,
}

impl Pattern {
    pub(super) fn binary(operator: Operator, left: Pattern, right: Pattern) -> Pattern {
        Pattern::Binary(operator, Box::new([left, right]))
    }

    /// The letters that need a meaning: all but the indices of sums.
    pub fn letters(&self) -> BTreeSet<char> {
        match self {
            Pattern::Number(_) => BTreeSet::new(),
            Pattern::Letter(letter) => BTreeSet::from([*letter]),
            Pattern::Neg(x) => x.letters(),
            Pattern::Binary(_, operands) => operands.iter().flat_map(Pattern::letters).collect(),
            Pattern::Sum { index, count, body } => {
                let mut letters = body.letters();
                letters.remove(index);
                letters.extend(count.letters());
                letters
            }
        }
    }

    /// The exact value. Where a letter is given twice its last meaning counts.
    ///
    /// There is none for a letter without a meaning, a divisor of zero, a modulus that is not positive, a sum of more than
    /// 4096 summands, and a value beyond `i128`. By a negative divisor `x floordiv c` is the floor of the rational number.
    pub fn evaluate(&self, letters: &[(char, i64)]) -> Option<i128> {
        match self {
            Pattern::Number(value) => Some(i128::from(*value)),
            Pattern::Letter(letter) => meaning(letters, *letter).map(|value| i128::from(*value)),
            Pattern::Neg(x) => x.evaluate(letters)?.checked_neg(),
            Pattern::Binary(operator, operands) => {
                let [x, y] = &**operands;
                let (x, y) = (x.evaluate(letters)?, y.evaluate(letters)?);
                match operator {
                    Operator::Add => x.checked_add(y),
                    Operator::Sub => x.checked_sub(y),
                    Operator::Mul => x.checked_mul(y),
                    Operator::FloorDiv => floor_div(x, y),
                    Operator::CeilDiv => floor_div(x.checked_neg()?, y)?.checked_neg(),
                    Operator::Mod => (y > 0).then(|| x.rem_euclid(y)),
                }
            }
            Pattern::Sum { index, count, body } => {
                let count = within_limit(count.evaluate(letters)?)?;
                let mut letters = letters.to_vec();
                (0..count).try_fold(0i128, |total, i| {
                    letters.push((*index, i));
                    let summand = body.evaluate(&letters)?;
                    letters.pop();
                    total.checked_add(summand)
                })
            }
        }
    }

    /// The canonical expression that the pattern is when its letters stand for expressions; letters for numbers stand for
    /// constant ones. Where a letter is given twice its last meaning counts. Sums are computed exactly: only numbers of the result
    /// and of arguments of divisions have to fit.
    ///
    /// # Errors
    /// - [`Error::Unbound`] for a letter without a meaning,
    /// - [`Error::NotConstant`] for a product of two expressions that are no constants, and for a divisor, a modulus, a count
    ///   of summands or a letter for a number that stands for no constant,
    /// - what the constructors of [`Expr`] refuse: overflow, divisors of zero, moduli that are not positive,
    /// - [`Error::Overflow`] for a sum of more than 4096 summands.
    pub fn instantiate(&self, letters: &[(char, Expr)]) -> Result<Expr, Error> {
        self.wide(letters)?.narrow()
    }

    /// As [`Pattern::instantiate`], for what is to be added to something else.
    pub(super) fn wide(&self, letters: &[(char, Expr)]) -> Result<WideSum, Error> {
        match self {
            Pattern::Number(value) => Ok(WideSum::constant(i128::from(*value))),
            Pattern::Letter(letter) => {
                let meaning =
                    meaning(letters, *letter).ok_or_else(|| Error::Unbound { variable: letter.to_string() })?;
                let meaning = WideSum::of(meaning);
                if is_number(*letter) {
                    constant(&meaning, "the meaning of a letter for a number")?;
                }
                Ok(meaning)
            }
            Pattern::Neg(x) => WideSum::constant(0).plus(&x.wide(letters)?, -1),
            Pattern::Binary(operator, operands) => {
                let [x, y] = &**operands;
                let (x, y) = (x.wide(letters)?, y.wide(letters)?);
                let divided = match operator {
                    Operator::Add => return x.plus(&y, 1),
                    Operator::Sub => return x.plus(&y, -1),
                    Operator::Mul => {
                        let (factor, other) = match (x.as_constant(), y.as_constant()) {
                            (Some(factor), _) => (factor, y),
                            (None, Some(factor)) => (factor, x),
                            (None, None) => return Err(Error::NotConstant { what: "each factor of a product" }),
                        };
                        return WideSum::constant(0).plus(&other, factor);
                    }
                    Operator::FloorDiv => x.narrow()?.checked_floor_div(constant(&y, "a divisor")?),
                    Operator::CeilDiv => x.narrow()?.checked_ceil_div(constant(&y, "a divisor")?),
                    Operator::Mod => x.narrow()?.checked_modulo(constant(&y, "a modulus")?),
                };
                Ok(WideSum::of(&divided?))
            }
            Pattern::Sum { index, count, body } => {
                let count = constant(&count.wide(letters)?, "the count of summands")?;
                let count = within_limit(i128::from(count)).ok_or(Error::overflow("the count of summands"))?;
                let mut letters = letters.to_vec();
                (0..count).try_fold(WideSum::constant(0), |total, i| {
                    letters.push((*index, Expr::constant(i)));
                    let summand = body.wide(&letters)?;
                    letters.pop();
                    total.plus(&summand, 1)
                })
            }
        }
    }

    fn precedence(&self) -> u8 {
        match self {
            Pattern::Neg(_) | Pattern::Binary(Operator::Add | Operator::Sub, _) => 0,
            Pattern::Binary(Operator::Mul | Operator::FloorDiv | Operator::Mod, _) => 1,
            Pattern::Number(value) if *value < 0 => 0,
            _ => 2,
        }
    }

    /// Writes the pattern, in parentheses where it binds less tightly than its place wants.
    fn write(&self, f: &mut fmt::Formatter<'_>, wanted: u8) -> fmt::Result {
        if self.precedence() < wanted {
            write!(f, "(")?;
            self.write(f, 0)?;
            return write!(f, ")");
        }
        match self {
            Pattern::Number(value) => write!(f, "{value}"),
            Pattern::Letter(letter) => write!(f, "{letter}"),
            Pattern::Neg(x) => {
                write!(f, "-")?;
                x.write(f, 2)
            }
            Pattern::Binary(Operator::CeilDiv, operands) => write!(f, "ceildiv({}, {})", operands[0], operands[1]),
            Pattern::Binary(operator, operands) => {
                operands[0].write(f, self.precedence())?;
                f.write_str(match operator {
                    Operator::Add => " + ",
                    Operator::Sub => " - ",
                    Operator::Mul => "*",
                    Operator::FloorDiv => " floordiv ",
                    Operator::CeilDiv => " ceildiv ",
                    Operator::Mod => " mod ",
                })?;
                operands[1].write(f, self.precedence() + 1)
            }
            Pattern::Sum { index, count, body } => write!(f, "sum({index}, {count}, {body})"),
        }
    }
}

/// The text of the law language.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// The last meaning given to the letter.
fn meaning<T>(letters: &[(char, T)], letter: char) -> Option<&T> {
    letters.iter().rev().find(|(known, _)| *known == letter).map(|(_, meaning)| meaning)
}

fn constant(sum: &WideSum, what: &'static str) -> Result<i64, Error> {
    let value = sum.as_constant().ok_or(Error::NotConstant { what })?;
    i64::try_from(value).map_err(|_| Error::overflow(what))
}

/// The count of summands; none below zero, and nothing for too many.
fn within_limit(count: i128) -> Option<i64> {
    if count > MAX_SUMMANDS { None } else { i64::try_from(count.max(0)).ok() }
}

/// `⌊x / y⌋` of the rational number; nothing by zero and beyond `i128`.
fn floor_div(x: i128, y: i128) -> Option<i128> {
    let (x, y) = if y < 0 { (x.checked_neg()?, y.checked_neg()?) } else { (x, y) };
    x.checked_div_euclid(y)
}
