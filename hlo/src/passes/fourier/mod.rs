//! Expansion of Fourier transforms into products with small matrices.

mod chirp;
mod factors;
mod lines;
mod matrix;
mod parts;
mod real;
mod roots;

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{ElementType, FftType, Instruction, Module, Op};
use lines::Lines;
pub use matrix::{FourierMatrix, FourierParts};
use parts::Parts;

/// Replaces `fft` by products with matrices of roots of unity, for what runs programs without such operations.
///
/// A length is transformed factor by factor (Cooley and Tukey, 1965), in the self-sorting form of Stockham, which has no
/// reordering of its own: each step is a product with a small matrix and one with roots of unity element by element, as many
/// operations as the length has factors. A length with a prime factor above 61 is a convolution with a chirp (Bluestein,
/// 1970), by transforms of a power of 2. Real numbers of even length are transformed as half as many complex ones.
///
/// Each product with a matrix of roots of unity says so ([`FourierMatrix`]), but those of real numbers that are transformed in one step.
///
/// Rounding differs from that of the operation, which is computed as if exactly: roots are rounded once, sums at each step.
/// The error is at most `4 log2(n)` units in the last place of the largest number. Lengths of 2^31 and more stay as they are.
pub struct FourierTransforms;

impl Pass for FourierTransforms {
    fn name(&self) -> &'static str {
        "expand-fft"
    }

    fn about(&self) -> &'static str {
        "writes fft out as products with small matrices; rounding differs"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(expand_fourier(module, &|_| true))
    }
}

/// As [`FourierTransforms`], but only operations on elements of types that something computes with.
pub fn expand_fourier(module: &Module, computes: &dyn Fn(ElementType) -> bool) -> Rewritten {
    rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
        Op::Fft { fft_type, fft_length } if candidate.shape.as_array().is_some_and(|it| computes(it.element_type)) => {
            expand(rebuild, candidate, *fft_type, fft_length)
        }
        _ => None,
    })
}

/// Elements of one type whose parts are of another.
fn real_type(element_type: ElementType) -> Option<ElementType> {
    match element_type {
        ElementType::F32 | ElementType::C64 => Some(ElementType::F32),
        ElementType::F64 | ElementType::C128 => Some(ElementType::F64),
        _ => None,
    }
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, kind: FftType, lengths: &[i64]) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let shape = candidate.shape.as_array().filter(|shape| shape.dynamic.is_empty())?;
    let (given, made) = (rebuild.array(operand).clone(), shape.extents.clone());
    let real = real_type(given.element_type)?;
    if !given.dynamic.is_empty() || lengths.iter().any(|length| i32::try_from(*length).is_err()) {
        return None;
    }
    if made.contains(&0) || given.extents.contains(&0) {
        let zero = parts::zero(rebuild, real, made.clone());
        let value = match shape.element_type.is_complex() {
            true => Parts { re: zero, im: None }.together(rebuild, shape.element_type),
            false => zero,
        };
        return Some(("the transform of nothing is nothing", Rewrite::Value(value)));
    }
    let last = given.rank() - 1;
    let outer: Vec<usize> = (given.rank() - lengths.len()..last).rev().collect();
    let inverse = matches!(kind, FftType::Inverse | FftType::RealInverse);
    let lines = |length: i64| Lines { length, inverse };
    let value = match kind {
        FftType::RealInverse => {
            let mut half = Parts::of(rebuild, operand);
            for &dimension in &outer {
                half = lines(given.extents[dimension]).transform(rebuild, half, dimension)?;
            }
            real::from_half(rebuild, half, made[last])?
        }
        _ => {
            let mut values = match kind {
                FftType::RealForward => real::to_half(rebuild, operand)?,
                _ => {
                    let values = Parts::of(rebuild, operand);
                    lines(given.extents[last]).transform(rebuild, values, last)?
                }
            };
            for dimension in outer {
                values = lines(given.extents[dimension]).transform(rebuild, values, dimension)?;
            }
            values.together(rebuild, shape.element_type)
        }
    };
    Some(("fft is products with roots of unity", Rewrite::Value(value)))
}
