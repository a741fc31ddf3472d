//! Names of owners in the text of a map, each of which extends to the end of its line.

use std::collections::BTreeMap;
use std::ops::Range;

/// What stands after a `hlo:` instead of a number sign and digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
}

/// The text of an owner that is not known.
pub(super) const UNKNOWN: &str = "?";

/// True for what stands for the token of an owner, so that no name may begin with it.
pub(super) fn is_token(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Blanks the names out, so that every other byte stays where it was, and gives them by the position of their `hlo`.
pub(super) fn blanked(source: &str) -> (String, BTreeMap<usize, Name<'_>>) {
    let mut blank = String::with_capacity(source.len());
    let mut names = BTreeMap::new();
    while let Some((word, start)) = next_owner(source, blank.len()) {
        let end = source[start..].find('\n').map_or(source.len(), |length| start + length);
        let text = source[start..end].trim();
        let skipped = source[start..end].len() - source[start..end].trim_start().len();
        blank.push_str(&source[blank.len()..start]);
        if is_token(text) {
            continue;
        }
        let at = start + skipped;
        names.insert(word, Name { text, span: at..at + text.len() });
        blank.extend(std::iter::repeat_n(' ', end - start));
    }
    blank.push_str(&source[blank.len()..]);
    (blank, names)
}

/// The position of the next word `hlo` that a colon follows, and the position behind the colon.
fn next_owner(source: &str, from: usize) -> Option<(usize, usize)> {
    source[from..].match_indices("hlo").map(|(i, _)| from + i).find_map(|word| {
        let is_within_name = source[..word].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let rest = &source[word + "hlo".len()..];
        let colon = rest.trim_start().strip_prefix(':')?;
        (!is_within_name).then_some((word, source.len() - colon.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_and_places_stay() {
        let source = "a in [0, 1] hlo: p = s32[] \u{e9} // \"x\"\r\n(a) -> ()\n  xhlo: b, hlo : #7 (a) -> () hlo: c";
        let (blank, names) = blanked(source);
        assert_eq!(blank.len(), source.len());
        assert!(
            blank.starts_with("a in [0, 1] hlo:  ")
                && blank.contains("\n(a) -> ()\n  xhlo: b, hlo : #7 (a) -> () hlo:  ")
        );
        let found: Vec<(&str, &str)> = names.values().map(|name| (name.text, &source[name.span.clone()])).collect();
        let first = "p = s32[] \u{e9} // \"x\"";
        assert_eq!(found, [(first, first), ("c", "c")]);
    }
}
