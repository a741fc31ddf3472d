//! Element semantics: the result of each operation for one element, on which arrays and regions are built.
//!
//! Four families have rules of their own, generic over the wide types in them: [`signed`] and [`unsigned`] integers, [`float`]s
//! and [`complex`] numbers; `pred` is the fifth. Narrow types go by way of the wide ones ([`held`]).

mod circular;
mod complex;
mod element;
mod exponential;
mod float;
mod function;
mod held;
mod integer;
mod logarithm;
mod narrow;
mod number;
mod pred;
mod signed;
mod unsigned;
mod wide;

pub(super) use complex::ComplexNumber;
pub(super) use element::Element;
pub(super) use float::Float;
pub(super) use function::{Binary, Unary};
pub(super) use held::{Form, Held, elements_of};
pub(crate) use number::Number;
pub(crate) use wide::sin_cos_of_turn;
pub(super) use wide::{hypot, ln};

#[cfg(test)]
mod tests;
