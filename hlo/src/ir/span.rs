//! Source locations: spans of the text.

use std::ops::Range;

/// A byte range in the text a module was read from; the empty range at 0 for what was never text.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span over `range`; positions past 4 GiB are clamped.
    pub fn new(range: Range<usize>) -> Self {
        let clamp = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Span { start: clamp(range.start), end: clamp(range.end) }
    }

    /// The byte range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Line and column of the start in `text`, both counted from 1; the column counts characters. A line ends with a newline,
    /// a carriage return, or one after the other.
    pub fn line_column(self, text: &str) -> (usize, usize) {
        let mut start = (self.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let ends = (0..start).filter(|&at| ends_line(text.as_bytes(), at));
        let (count, last) = ends.fold((0, None), |(count, _), at| (count + 1, Some(at)));
        let line_start = last.map_or(0, |at| at + 1);
        (count + 1, text[line_start..start].chars().count() + 1)
    }
}

/// Whether the byte at a position ends a line; of a carriage return and a newline behind it the newline does.
pub(crate) fn ends_line(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b'\n') => true,
        Some(b'\r') => text.get(at + 1) != Some(&b'\n'),
        _ => false,
    }
}
