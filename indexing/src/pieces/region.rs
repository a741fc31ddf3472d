//! Regions of a domain: boxes of digits, of which the variables are sums.

use super::program::Program;
use crate::Unknown;

/// A box of digits `0 .. counts[i]`, and each variable as an affine form of them: at first a variable is its lower bound
/// plus one digit; dividing a digit writes it in a base, as in `d = 8·q + r`.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// How many values each digit has; at least one.
    pub(crate) counts: Vec<i128>,
    /// For each variable its constant and the weight of each digit.
    pub(crate) variables: Vec<(i128, Vec<i128>)>,
}

impl Region {
    /// The whole box of a program's variables, those of `fixed` aside, which are left at zero; nothing where it is empty.
    pub(crate) fn whole(program: &Program, fixed: impl Fn(usize) -> bool) -> Option<Region> {
        let n = program.variables.len();
        let mut region = Region { counts: vec![1; n], variables: Vec::with_capacity(n) };
        for (i, (_, bounds)) in program.variables.iter().enumerate() {
            if fixed(i) {
                region.variables.push((0, vec![0; n]));
                continue;
            }
            if bounds.is_empty() {
                return None;
            }
            region.counts[i] = i128::from(bounds.hi) - i128::from(bounds.lo) + 1;
            let weights = (0..n).map(|j| i128::from(i == j)).collect();
            region.variables.push((i128::from(bounds.lo), weights));
        }
        region.settle();
        Some(region)
    }

    /// Digits with one value are zero, so they have no weight.
    fn settle(&mut self) {
        for (_, weights) in &mut self.variables {
            for (weight, count) in weights.iter_mut().zip(&self.counts) {
                if *count == 1 {
                    *weight = 0;
                }
            }
        }
    }

    /// The parts in which the digit is below `at`, and not below.
    pub(crate) fn cut(&self, digit: usize, at: i128) -> Result<[Region; 2], Unknown> {
        let (mut low, mut high) = (self.clone(), self.clone());
        low.counts[digit] = at;
        high.counts[digit] -= at;
        for (constant, weights) in &mut high.variables {
            let moved = weights[digit].checked_mul(at).and_then(|step| constant.checked_add(step));
            *constant = moved.ok_or(Unknown::Overflow)?;
        }
        low.settle();
        high.settle();
        Ok([low, high])
    }

    /// The digit in base `base`: `digit = base · q + r`. Where the base does not divide the count, the rest is a part of
    /// its own.
    pub(crate) fn divide(&self, digit: usize, base: i128) -> Result<Vec<Region>, Unknown> {
        let whole = self.counts[digit] / base * base;
        let mut parts = Vec::new();
        let mut divided = self.clone();
        if whole < self.counts[digit] {
            let [low, high] = self.cut(digit, whole)?;
            divided = low;
            parts.push(high);
        }
        divided.counts[digit] = whole / base;
        divided.counts.push(base);
        for ((_, weights), (_, before)) in divided.variables.iter_mut().zip(&self.variables) {
            weights.push(before[digit]);
            weights[digit] = before[digit].checked_mul(base).ok_or(Unknown::Overflow)?;
        }
        divided.settle();
        parts.push(divided);
        Ok(parts)
    }
}
