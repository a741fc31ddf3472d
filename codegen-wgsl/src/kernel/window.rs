//! Windows: the parts of memories that single dispatches bind.

use super::{Kernel, Memory};
use std::ops::Range;
use weft_affine::{Expr, Interval, Var};
use weft_partition::Form;

/// The part of a buffer that one dispatch of a [`Kernel`] binds, where the whole of it is more than a device lets a kernel bind.
///
/// Indices are positions in the whole memory all the same; a dispatch may use those alone whose words are in its window. It is told in words of
/// 32 bits, which are the same at all stages, whatever elements are held in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The word at which the window begins, an expression of the window's number `d0`. Where the memory has no such word, it begins at 0.
    pub first: Expr,
    /// The words that are bound at most: fewer where the memory ends before.
    pub size: i64,
}

impl Window {
    /// The words that the dispatch of this number binds, of a memory of so many.
    ///
    /// # Errors
    /// If a position leaves 64 bits.
    pub fn words(&self, number: i64, words: i64) -> Result<Range<i64>, weft_affine::Error> {
        let first = self.first.evaluate(|variable| if variable == Var::Dim(0) { number } else { 0 })?;
        let first = if (0..words).contains(&first) { first } else { 0 };
        Ok(first..first.saturating_add(self.size).min(words))
    }
}

impl Kernel {
    /// The coordinate of the entry that is the number of the window; `None` where one dispatch does everything.
    pub(crate) fn window_coordinate(&self) -> Option<usize> {
        if self.windows > 1 { self.entry.extents.len().checked_sub(2) } else { None }
    }

    /// Whether a dispatch binds parts of memories.
    pub fn has_windows(&self) -> bool {
        self.windows > 1 || self.memories.values().any(|memory| memory.window.is_some())
    }

    /// The invocations of one dispatch.
    pub(crate) fn invocations_of_dispatch(&self) -> i64 {
        self.entry.extents.iter().product::<i64>() / self.windows.max(1)
    }
}

impl Memory {
    /// Words of 32 bits that it takes in a buffer; `None` where they cannot be counted.
    pub fn words(&self) -> Option<i64> {
        i64::try_from(Form::tensor_bytes(&self.shape)? / 4).ok()
    }

    /// The positions of the elements that lie in these words alone; `None` where they are beyond 64 bits.
    pub(crate) fn positions_in(&self, words: Range<i64>) -> Option<Interval> {
        let form = Form::of(self.shape.element_type)?;
        let (parts, per_word) = (i64::from(form.parts()), i64::from(form.per_word()));
        let first = words.start.checked_mul(per_word)?.checked_add(parts - 1)?.div_euclid(parts);
        Some(Interval { lo: first, hi: words.end.checked_mul(per_word)?.div_euclid(parts) - 1 })
    }

    /// The words that hold the elements at these positions.
    pub(crate) fn words_of(&self, positions: Interval) -> Interval {
        let Some(form) = Form::of(self.shape.element_type) else { return positions };
        let (parts, per_word) = (i64::from(form.parts()), i64::from(form.per_word()));
        let last = positions.hi.saturating_mul(parts).saturating_add(parts - 1);
        Interval { lo: positions.lo.saturating_mul(parts).div_euclid(per_word), hi: last.div_euclid(per_word) }
    }
}
