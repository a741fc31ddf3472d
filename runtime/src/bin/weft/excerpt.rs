//! Parts of long lines, for reports that stay readable.

use crate::source::Source;
use codespan_reporting::files::{Error, Files};
use std::ops::Range;

/// Bytes of a line that is still shown whole.
const LONG_LINE: usize = 500;

/// Bytes shown before the place concerned, and at most of that place and what follows it.
const BEFORE: usize = 100;
const AFTER: usize = 300;

/// What some editors write before the first character of a file; no column counts it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A part of one line of a text, with the line and column of the place concerned, which only the whole text tells.
pub(crate) struct Excerpt<'a> {
    name: &'a str,
    text: String,
    line: usize,
    column: usize,
}

impl<'a> Excerpt<'a> {
    /// The part of the source around `range`, and where `range` lies in it; `None` where the lines of `range` can be
    /// shown as they are. Of several lines it holds the first.
    pub(crate) fn around(source: &'a Source, range: &Range<usize>) -> Option<(Excerpt<'a>, Range<usize>)> {
        let text = source.text.as_str();
        let mut line_start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let end_of_line = |position: usize| text[position..].find('\n').map_or(text.len(), |length| position + length);
        let is_long = text[line_start..end_of_line(range.end)].lines().any(|line| line.len() > LONG_LINE);
        let is_marked = line_start == 0 && text.starts_with(BYTE_ORDER_MARK);
        if !is_long && !is_marked {
            return None;
        }
        if is_marked {
            line_start = BYTE_ORDER_MARK.len_utf8().min(range.start);
        }
        let line_end = end_of_line(range.start);
        let mut from = range.start.saturating_sub(BEFORE).max(line_start);
        let mut to = range.start.saturating_add(AFTER).min(line_end);
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        let left = if from > line_start { "…" } else { "" };
        let right = if to < line_end { "…" } else { "" };
        let moved = |position: usize| position.min(to) - from + left.len();
        let excerpt = Excerpt {
            name: &source.name,
            text: format!("{left}{}{right}", &text[from..to]),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..range.start].chars().count() + 1,
        };
        Some((excerpt, moved(range.start)..moved(range.end)))
    }
}

impl<'a> Files<'a> for Excerpt<'_> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(self.name)
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.text)
    }

    fn line_index(&'a self, (): (), _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    fn line_number(&'a self, (): (), _: usize) -> Result<usize, Error> {
        Ok(self.line)
    }

    fn column_number(&'a self, (): (), _: usize, _: usize) -> Result<usize, Error> {
        Ok(self.column)
    }

    fn line_range(&'a self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        match line_index {
            0 => Ok(0..self.text.len()),
            given => Err(Error::LineTooLarge { given, max: 0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "f".into(), text: text.into() }
    }

    #[test]
    fn short_lines_are_shown_as_they_are() {
        let long = format!("a\n{}\nb c\n", "x".repeat(1000));
        let start = long.find("b c").expect("it is there");
        assert!(Excerpt::around(&source(&long), &(start..start + 1)).is_none());
    }

    #[test]
    fn every_place_of_a_long_line_is_found_again() {
        let line: String = (0..1500).map(|number| if number % 3 == 0 { 'é' } else { 'x' }).collect();
        let source = source(&format!("first\n{line}\nlast\n"));
        let begin = "first\n".len();
        let places = line.char_indices().map(|(offset, found)| (begin + offset, begin + offset + found.len_utf8()));
        for (column, (start, end)) in places.enumerate() {
            let (excerpt, place) = Excerpt::around(&source, &(start..end)).expect("the line is long");
            assert_eq!(&excerpt.text[place], &source.text[start..end]);
            assert_eq!((excerpt.line, excerpt.column), (2, column + 1));
            assert!(excerpt.text.len() < LONG_LINE);
        }
        let (excerpt, place) = Excerpt::around(&source, &(0..source.text.len())).expect("the second line is long");
        assert_eq!((excerpt.text.as_str(), place), ("first", 0..5));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let source = source("\u{feff}HloModul m\n");
        let (excerpt, place) = Excerpt::around(&source, &(3..11)).expect("the mark is left out");
        assert_eq!((&excerpt.text[place], excerpt.line, excerpt.column), ("HloModul", 1, 1));
    }
}
