//! Affine forms over the digits of a region, one for each lane, that differ in their constants alone.

use super::Piece;
use crate::Unknown;

/// `Σ coefficients[i] · digit i + constants[lane]`. The coefficient of a digit with one value is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) coefficients: Vec<i128>,
    pub(crate) constants: Vec<i128>,
}

/// The least and the greatest value of the terms, constants aside.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Span {
    pub(crate) lo: i128,
    pub(crate) hi: i128,
}

impl Form {
    pub(crate) fn constant(value: i64, digits: usize, lanes: usize) -> Form {
        Form { coefficients: vec![0; digits], constants: vec![i128::from(value); lanes] }
    }

    /// Adds `factor * other`.
    pub(crate) fn add_scaled(&mut self, other: &Form, factor: i64) -> Result<(), Unknown> {
        let add = |into: &mut Vec<i128>, from: &[i128]| -> Option<()> {
            for (a, b) in into.iter_mut().zip(from) {
                *a = a.checked_add(b.checked_mul(i128::from(factor))?)?;
            }
            Some(())
        };
        add(&mut self.coefficients, &other.coefficients)
            .and_then(|()| add(&mut self.constants, &other.constants))
            .ok_or(Unknown::Overflow)
    }

    /// The digits that matter, with their coefficients.
    pub(crate) fn terms(&self) -> Vec<(usize, i128)> {
        self.coefficients.iter().copied().enumerate().filter(|(_, a)| *a != 0).collect()
    }

    /// The range over the lanes and digits of a part.
    pub(crate) fn range(&self, piece: &Piece) -> Result<(i128, i128), Unknown> {
        let span = Form::span(&self.terms(), &piece.counts)?;
        let active = || self.constants.iter().zip(&piece.active).filter(|(_, active)| **active).map(|(k, _)| *k);
        let (least, greatest) = (active().min().unwrap_or(0), active().max().unwrap_or(0));
        least.checked_add(span.lo).zip(greatest.checked_add(span.hi)).ok_or(Unknown::Overflow)
    }

    /// The range of terms where digits have so many values.
    pub(crate) fn span(terms: &[(usize, i128)], counts: &[i128]) -> Result<Span, Unknown> {
        let sum = |negative: bool| {
            terms.iter().filter(|(_, a)| (*a < 0) == negative).try_fold(0i128, |sum, (digit, a)| {
                a.checked_mul(counts[*digit] - 1).and_then(|far| sum.checked_add(far))
            })
        };
        match (sum(true), sum(false)) {
            (Some(lo), Some(hi)) => Ok(Span { lo, hi }),
            _ => Err(Unknown::Overflow),
        }
    }
}
