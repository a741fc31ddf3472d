//! Functions of `f64`.
//!
//! They are computed in [double-double arithmetic](pair::Pair), with errors below 2^-59 of the value, and rounded once: the result is the
//! nearest number but where the value lies within a 50th of the way from a tie. Nothing here is left to the system's library or
//! to how a processor multiplies and adds, so results are the same on every machine. What has no branch becomes vector
//! instructions.

mod circular;
pub(in crate::eval) mod complex;
mod exponential;
mod logarithm;
mod pair;
mod power;
mod series;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use circular::sin_cos_of_turn;
pub(in crate::eval) use circular::{cos, sin, tan};
pub(in crate::eval) use logarithm::ln;
pub(in crate::eval) use power::{hypot, pow};
pub(super) use table::{binary, unary};
