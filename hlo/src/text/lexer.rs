//! The lexer of HLO text: blanks, comments, names, numbers, balanced values.
//!
//! Nothing is copied: names are slices of the text. Newlines are blanks like any other, so the grammar decides where
//! an instruction ends.

use super::codes;
use crate::diagnostic::{BYTE_ORDER_MARK, Diagnostic};
use crate::ir::{ElementType, Span};
use std::ops::Range;

/// A finding on its way to the list of findings.
pub(super) type Failure = Box<Diagnostic>;

/// How deep brackets, tuple shapes and tuple literals may nest.
pub(super) const MAX_DEPTH: usize = 200;

/// How many elements of literals may exist that the text does not write.
pub(super) const MAX_UNWRITTEN: usize = 1 << 24;

/// How many characters of a text a message quotes.
const MAX_QUOTE: usize = 40;

/// A position in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    position: usize,
    /// Where a comment starts that never ends; the cursor then stands at the end of the text.
    open_comment: Option<usize>,
    /// How many comments were passed over.
    comments: usize,
    /// How many elements of literals exist so far that the text does not write.
    unwritten: usize,
}

/// A name and where it stands, `%` before it or `:` behind it included.
#[derive(Copy, Clone, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

impl Name<'_> {
    /// Whether it stands without `%` and `:`, so that it may be a word of the syntax.
    pub(super) fn is_bare(&self) -> bool {
        self.span.range().len() == self.text.len()
    }
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Whether a word names an element type, or what stands in its place.
pub(super) fn is_type(word: &str) -> bool {
    matches!(word, "token" | "opaque") || word.parse::<ElementType>().is_ok()
}

/// Whether a word means something of its own, so that it is a name only behind `%`.
pub(super) fn is_reserved(word: &str) -> bool {
    let is_keyword = matches!(
        word,
        "ENTRY"
            | "HloModule"
            | "ROOT"
            | "false"
            | "inf"
            | "last_tile_dim_replicate"
            | "manual"
            | "maximal"
            | "nan"
            | "replicated"
            | "shard_as"
            | "shard_like"
            | "true"
            | "unknown"
            | "unreduced"
    );
    is_keyword || is_type(word)
}

/// Whether a byte ends a line. A carriage return does so by itself; before a newline the two end one line.
fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c)
}

/// A failure without a place in an instruction.
pub(super) fn failure(code: &'static str, span: Span, message: impl Into<String>) -> Failure {
    Box::new(Diagnostic::new(code, span, message))
}

/// `text` as a message quotes it: on one line, and not too long.
pub(super) fn quote(text: &str) -> String {
    let end = text.char_indices().nth(MAX_QUOTE).map(|(end, _)| end);
    let mut quoted = String::from("`");
    for character in text[..end.unwrap_or(text.len())].chars() {
        match character {
            '"' | '\'' | '\\' => quoted.push(character),
            other => quoted.extend(other.escape_debug()),
        }
    }
    quoted.push_str(if end.is_some() { "…`" } else { "`" });
    quoted
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of the text, after the byte order mark that some editors write there.
    pub(super) fn new(text: &'a str) -> Self {
        let position = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        Cursor { text, position, open_comment: None, comments: 0, unwritten: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or("")
    }

    /// The text from here on, blanks included.
    pub(super) fn rest(&self) -> &'a str {
        self.slice(self.position..self.text.len())
    }

    /// The span from `start` to here.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start..self.position)
    }

    /// The next byte, blanks included.
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Moves by one byte, which must be ASCII.
    #[inline]
    pub(super) fn bump(&mut self) {
        self.position += 1;
    }

    /// Moves past blanks and comments.
    #[inline]
    pub(super) fn skip_trivia(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.position) {
            if is_blank(byte) {
                self.position += 1;
            } else if byte != b'/' || !self.skip_comment() {
                break;
            }
        }
    }

    /// Moves past a comment, if one starts here.
    fn skip_comment(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.position..];
        if rest.starts_with(b"//") {
            self.skip_line();
            self.comments += 1;
            true
        } else if rest.starts_with(b"/*") {
            match self.rest()[2..].find("*/") {
                Some(length) => {
                    self.position += length + 4;
                    self.comments += 1;
                }
                None => {
                    self.open_comment.get_or_insert(self.position);
                    self.position = self.text.len();
                }
            }
            true
        } else {
            false
        }
    }

    /// The next byte after blanks and comments.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_trivia();
        self.byte()
    }

    /// Whether nothing but blanks and comments is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Moves past `byte`, if it comes next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.position += 1;
        }
        found
    }

    /// Moves past `token`, if it comes next.
    pub(super) fn eat_token(&mut self, token: &str) -> bool {
        self.skip_trivia();
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    /// Moves past `byte`, or fails saying what was expected.
    pub(super) fn expect(&mut self, byte: u8, expected: &str) -> Result<(), Failure> {
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// A failure at the next token.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failure {
        self.unexpected_as(codes::SYNTAX, expected)
    }

    /// A failure of this code at the next token.
    pub(super) fn unexpected_as(&mut self, code: &'static str, expected: &str) -> Failure {
        self.skip_trivia();
        let span = self.next_token();
        if span.range().is_empty() {
            if let Some(start) = self.open_comment {
                let message = "this comment never ends, expected `*/`";
                return failure(codes::UNBALANCED, Span::new(start..start + 2), message);
            }
            return failure(code, span, format!("expected {expected}, found the end of the text"));
        }
        let found = self.slice(span.range());
        let after_name = self.position > 0 && is_name_byte(self.text.as_bytes()[self.position - 1]);
        let is_foreign =
            |first: char| matches!(first, '/' | '$' | '@' | '#') || (!first.is_ascii() && first.is_alphanumeric());
        let hint = if after_name && found.starts_with(is_foreign) {
            "; names have ASCII letters, digits, `_`, `.` and `-`"
        } else {
            ""
        };
        failure(code, span, format!("expected {expected}, found {}{hint}", quote(found)))
    }

    /// The failure of a comment that never ends, if there is one.
    pub(super) fn open_comment(&self) -> Option<Failure> {
        let start = self.open_comment?;
        Some(failure(codes::UNBALANCED, Span::new(start..start + 2), "this comment never ends, expected `*/`"))
    }

    /// The span of a word or a single character, from here.
    fn next_token(&self) -> Span {
        let rest = self.rest();
        let word = rest.bytes().take_while(|&byte| is_name_byte(byte) || byte == b'%').count();
        let string = || self.line().strip_prefix('"')?.find('"').map(|length| length + 2);
        let character = || rest.chars().next().map_or(0, char::len_utf8);
        let length = if word > 0 { word } else { string().unwrap_or_else(character) };
        Span::new(self.position..self.position + length)
    }

    /// A word that starts with a letter or `_`, if one comes next.
    pub(super) fn word(&mut self) -> Option<Name<'a>> {
        let first = self.peek()?;
        if !first.is_ascii_alphabetic() && first != b'_' {
            return None;
        }
        Some(self.name_bytes(self.position))
    }

    /// The name bytes from here; an arrow ends a name.
    fn name_bytes(&mut self, start: usize) -> Name<'a> {
        let bytes = self.text.as_bytes();
        let from = self.position;
        while let Some(&byte) = bytes.get(self.position) {
            if !is_name_byte(byte) || (byte == b'-' && bytes.get(self.position + 1) == Some(&b'>')) {
                break;
            }
            self.position += 1;
        }
        Name { text: self.slice(from..self.position), span: self.since(start) }
    }

    /// The name of an instruction or a computation, with or without `%`; without it, none of the words that mean
    /// something else.
    pub(super) fn name(&mut self, expected: &str) -> Result<Name<'a>, Failure> {
        let name = self.loose_name(expected)?;
        if name.is_bare() && is_reserved(name.text) {
            let message = if is_type(name.text) {
                format!("expected {expected}, found the element type `{}`", name.text)
            } else {
                format!("expected {expected}, found the word `{0}`; as a name it is written `%{0}`", name.text)
            };
            return Err(failure(codes::NAME, name.span, message));
        }
        Ok(name)
    }

    /// A name with or without `%`, whatever else it may mean. As in XLA a colon right behind a word makes it a name.
    pub(super) fn loose_name(&mut self, expected: &str) -> Result<Name<'a>, Failure> {
        if self.peek() != Some(b'%') {
            let start = self.position;
            let word = self.word().ok_or_else(|| self.unexpected(expected))?;
            if self.byte() != Some(b':') {
                return Ok(word);
            }
            self.position += 1;
            return Ok(Name { text: word.text, span: self.since(start) });
        }
        let start = self.position;
        self.position += 1;
        if !self.byte().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_') {
            self.position = start;
            return Err(self.unexpected(expected));
        }
        Ok(self.name_bytes(start))
    }

    /// A decimal number that fits an `i64`.
    pub(super) fn integer(&mut self, expected: &str) -> Result<i64, Failure> {
        self.skip_trivia();
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut end = start + usize::from(self.byte() == Some(b'-'));
        let digits = end;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        if end == digits {
            return Err(self.unexpected(expected));
        }
        // What goes on as a word or a fraction is no such number.
        let is_arrow = bytes.get(end) == Some(&b'-') && bytes.get(end + 1) == Some(&b'>');
        if bytes.get(end).is_some_and(|&byte| is_name_byte(byte)) && !is_arrow {
            return Err(self.unexpected(expected));
        }
        self.position = end;
        let text = self.slice(start..end);
        text.parse().map_err(|_| {
            let message = format!("expected {expected} that fits 64 bits, found {}", quote(text));
            failure(codes::NUMBER, self.since(start), message)
        })
    }

    /// Moves past a string, which starts here with one of the two kinds of quotes. Its escapes must be those of C.
    pub(super) fn skip_string(&mut self) -> Result<(), Failure> {
        let bytes = self.text.as_bytes();
        let start = self.position;
        let quotes = bytes.get(start).copied().unwrap_or(b'"');
        let mut position = start + 1;
        loop {
            match bytes.get(position) {
                None => {
                    let message = format!("this string never ends, expected `{}`", char::from(quotes));
                    return Err(failure(codes::UNBALANCED, Span::new(start..start + 1), message));
                }
                Some(b'\\') => match escape_length(&bytes[position..]) {
                    Some(length) => position += length,
                    None => return Err(self.no_escape(position)),
                },
                Some(&byte) if byte == quotes => break,
                Some(_) => position += 1,
            }
        }
        self.position = position + 1;
        Ok(())
    }

    fn no_escape(&self, at: usize) -> Failure {
        let end = self.slice(at + 1..self.text.len()).chars().next().map_or(at + 1, |next| at + 1 + next.len_utf8());
        if end == self.text.len() {
            return failure(codes::UNBALANCED, Span::new(at..end), "this string never ends, expected its quotes");
        }
        let message =
            format!("expected an escape of C such as `\\n`, `\\\"`, `\\x41`, found {}", quote(self.slice(at..end)));
        failure(codes::ESCAPE, Span::new(at..end), message)
    }

    /// Moves past a value in braces, which starts here, of which only braces and strings in double quotes count, and
    /// returns it.
    pub(super) fn braced_value(&mut self) -> Result<&'a str, Failure> {
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut depth = 0usize;
        while let Some(&byte) = bytes.get(self.position) {
            match byte {
                b'"' => {
                    self.skip_loose_string()?;
                    continue;
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.position += 1;
            if depth == 0 {
                return Ok(self.slice(start..self.position));
            }
        }
        Err(failure(codes::UNBALANCED, Span::new(start..start + 1), "this `{` is never closed"))
    }

    /// Moves past a string, which starts here with one of the two kinds of quotes and whose escapes are not looked at.
    fn skip_loose_string(&mut self) -> Result<(), Failure> {
        let bytes = self.text.as_bytes();
        let mut position = self.position + 1;
        let quotes = bytes.get(self.position).copied();
        while let Some(&byte) = bytes.get(position) {
            position += if byte == b'\\' { 2 } else { 1 };
            if Some(byte) == quotes {
                self.position = position;
                return Ok(());
            }
        }
        let message = "this string never ends, expected `\"`";
        Err(failure(codes::UNBALANCED, Span::new(self.position..self.position + 1), message))
    }

    /// The text since `start`, where [`comments`](Self::comments) was as given, with the comments left out.
    pub(super) fn without_comments(&self, start: usize, comments: usize) -> String {
        let text = self.slice(start..self.position);
        if self.comments == comments {
            return text.to_owned();
        }
        let mut cursor = Cursor::new(self.slice(0..self.position));
        cursor.position = start;
        let (mut kept, mut from) = (String::with_capacity(text.len()), start);
        while let Some(byte) = cursor.byte() {
            let at = cursor.position;
            if byte == b'/' && cursor.skip_comment() {
                kept.push_str(self.slice(from..at));
                from = cursor.position;
            } else if !matches!(byte, b'"' | b'\'') || cursor.skip_string().is_err() {
                cursor.position = at + 1;
            }
        }
        kept.push_str(self.slice(from..self.position));
        kept
    }

    /// Takes note of elements that a literal has and the text does not write. `false` if there are too many of them.
    pub(super) fn reserve_unwritten(&mut self, count: usize) -> bool {
        self.unwritten = self.unwritten.saturating_add(count);
        self.unwritten <= MAX_UNWRITTEN
    }

    /// How many comments were passed over so far.
    pub(super) fn comments(&self) -> usize {
        self.comments
    }

    /// Moves past the rest of a value that was not understood, to what ends it outside all brackets: a comma, a closing
    /// brace, the end of the line, or a blank before anything but a bracket. `false` where brackets or strings do not end
    /// on this line or do not match, so that nothing can be said of what follows.
    pub(super) fn skip_value(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut open: Vec<u8> = Vec::new();
        while let Some(&byte) = bytes.get(self.position) {
            match byte {
                b'"' | b'\'' => {
                    let from = self.position;
                    let ends = self.skip_loose_string().is_ok();
                    if !ends || self.slice(from..self.position).bytes().any(ends_line) {
                        return false;
                    }
                    continue;
                }
                b'{' | b'[' | b'(' => open.push(byte),
                b'}' | b']' | b')' => match open.pop() {
                    None => return byte == b'}',
                    // In ASCII a bracket and the one that closes it are one or two apart.
                    Some(opening) if opening.abs_diff(byte) > 2 => return false,
                    Some(_) => {}
                },
                b',' if open.is_empty() => return true,
                _ if ends_line(byte) => return open.is_empty(),
                _ if is_blank(byte) && open.is_empty() && self.position > start => {
                    self.skip_trivia();
                    if !matches!(self.byte(), Some(b'{' | b'[' | b'(')) {
                        return true;
                    }
                    continue;
                }
                _ => {}
            }
            self.position += 1;
        }
        open.is_empty()
    }

    /// The rest of this line, without its end.
    pub(super) fn line(&self) -> &'a str {
        self.rest().split(['\n', '\r']).next().unwrap_or("")
    }

    /// Moves to the end of this line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.position..];
        self.position += rest.iter().position(|&byte| ends_line(byte)).unwrap_or(rest.len());
    }

    /// Moves to the start of the next line, if there is one.
    pub(super) fn next_line(&mut self) -> bool {
        self.skip_line();
        let rest = self.rest();
        let end = ["\r\n", "\r", "\n"].into_iter().find(|end| rest.starts_with(end)).map_or(0, str::len);
        self.position += end;
        end > 0
    }
}

/// How many bytes the escape takes that starts here with a backslash; `None` if it is none.
fn escape_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize, most: usize, is: fn(&u8) -> bool| {
        bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| is(byte)).count()
    };
    let hexadecimal: fn(&u8) -> bool = u8::is_ascii_hexdigit;
    match bytes.get(1)? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' | b'?' | b'\'' | b'"' => Some(2),
        b'0'..=b'7' => Some(1 + digits(1, 3, |byte| matches!(byte, b'0'..=b'7'))),
        b'x' | b'X' => Some(2 + digits(2, 2, hexadecimal)).filter(|&length| length > 2),
        b'u' => Some(6).filter(|_| digits(2, 4, hexadecimal) == 4),
        b'U' => Some(10).filter(|_| digits(2, 8, hexadecimal) == 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_are_skipped() {
        let mut cursor = Cursor::new(" /* a */ // b\n\t%x.1-y->");
        assert_eq!(cursor.name("a name").unwrap().text, "x.1-y");
        assert!(cursor.eat_token("->"));
        assert!(cursor.at_end());
    }

    #[test]
    fn comments_in_strings_are_none() {
        let text = "{a, \"/*}\\\"\" /*index=5*/b}";
        let mut cursor = Cursor::new(text);
        assert_eq!(cursor.braced_value().unwrap(), text);
        // As if a comment had been passed over meanwhile.
        cursor.comments = 1;
        assert_eq!(cursor.without_comments(0, 0), "{a, \"/*}\\\"\" b}");
    }

    #[test]
    fn open_braces_strings_and_comments_are_found() {
        assert_eq!(Cursor::new("{a").braced_value().unwrap_err().code, codes::UNBALANCED);
        assert_eq!(Cursor::new("{\"a").braced_value().unwrap_err().code, codes::UNBALANCED);
        assert_eq!(Cursor::new("\"a\\").skip_string().unwrap_err().code, codes::UNBALANCED);
        assert_eq!(Cursor::new("\"\\q\"").skip_string().unwrap_err().code, codes::ESCAPE);
        assert!(Cursor::new("'\\x41\\101\\u00e4\\\"\"'").skip_string().is_ok());
        assert_eq!(Cursor::new("/* a").unexpected("b").code, codes::UNBALANCED);
    }

    #[test]
    fn values_are_skipped_to_the_comma_after_them() {
        let after = |text: &'static str| {
            let mut cursor = Cursor::new(text);
            cursor.skip_value().then(|| cursor.rest())
        };
        assert_eq!(after("{a, (b)}, c"), Some(", c"));
        assert_eq!(after("a\nc"), Some("\nc"));
        assert_eq!(after("{a} b = c"), Some("b = c"));
        assert_eq!(after("a[2] {1}, b"), Some(", b"));
        assert_eq!(after("a}"), Some("}"));
        assert_eq!(after("a)"), None);
        assert_eq!(after("{a)}"), None);
        assert_eq!(after("{a\nb}"), None);
        assert_eq!(after("\"a\nb\""), None);
    }

    #[test]
    fn integers_are_bounded() {
        assert_eq!(Cursor::new("-9223372036854775808").integer("a number").unwrap(), i64::MIN);
        assert_eq!(Cursor::new("9223372036854775808").integer("a number").unwrap_err().code, codes::NUMBER);
        assert_eq!(Cursor::new("-x").integer("a number").unwrap_err().code, codes::SYNTAX);
    }
}
