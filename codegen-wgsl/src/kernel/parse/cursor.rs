//! A position in the text of a kernel.

use crate::kernel::text::is_plain;
use weft_affine::text as affine;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::Span;

/// A position in a text, and the small things that are read there.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Where the next thing begins.
    pub(super) fn place(&mut self) -> usize {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with("//") {
                return self.at;
            }
            self.at = self.rest().find('\n').map_or(self.text.len(), |end| self.at + end);
        }
    }

    /// The finding that something else was expected at a place.
    pub(super) fn error_at(&self, place: usize, message: impl Into<String>) -> Diagnostic {
        let end = self.text[place..].chars().next().map_or(place, |c| place + c.len_utf8());
        let span = Span::new(place..end);
        let mut error = Diagnostic::new("HLO416", span, message);
        error.position = Some(span.line_column(self.text));
        error
    }

    /// The finding that `wanted` was expected here.
    pub(super) fn expected(&mut self, wanted: &str) -> Diagnostic {
        let place = self.place();
        let found = match (self.peek_word(), self.rest().chars().next()) {
            ("", None) => "the end".to_owned(),
            ("", Some(c)) => format!("`{c}`"),
            (word, _) => format!("`{}`", word.chars().take(40).collect::<String>()),
        };
        self.error_at(place, format!("expected {wanted}, found {found}"))
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.place() == self.text.len()
    }

    /// Whether punctuation is next.
    pub(super) fn peek_is(&mut self, mark: &str) -> bool {
        self.place();
        self.rest().starts_with(mark)
    }

    /// Steps over punctuation if it is next.
    pub(super) fn accept(&mut self, mark: &str) -> bool {
        let found = self.peek_is(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), Diagnostic> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// The letters, digits and so on that come next; empty if none do.
    pub(super) fn peek_word(&mut self) -> &'t str {
        self.place();
        let rest = self.rest();
        &rest[..rest.find(|c| !is_plain(c)).unwrap_or(rest.len())]
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.accept_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// A word with a meaning.
    pub(super) fn word<T>(
        &mut self,
        wanted: &str,
        meaning: impl FnOnce(&'t str) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let word = self.peek_word();
        match meaning(word) {
            Some(meaning) if !word.is_empty() => {
                self.at += word.len();
                Ok(meaning)
            }
            _ => Err(self.expected(wanted)),
        }
    }

    /// A number, digits and sign.
    pub(super) fn number<T: std::str::FromStr>(&mut self, wanted: &str) -> Result<T, Diagnostic> {
        self.word(wanted, |word| word.parse().ok())
    }

    /// A name behind its sign, `@` or `%`.
    pub(super) fn name(&mut self, sign: &str, wanted: &str) -> Result<String, Diagnostic> {
        if !self.accept(sign) {
            return Err(self.expected(wanted));
        }
        self.bare_name(wanted)
    }

    fn bare_name(&mut self, wanted: &str) -> Result<String, Diagnostic> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        if !self.rest().starts_with(is_plain) {
            return Err(self.expected(wanted));
        }
        self.word(wanted, |word| Some(word.to_owned()))
    }

    fn quoted(&mut self) -> Result<String, Diagnostic> {
        let start = self.at;
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => {
                    self.at = start + offset + 1;
                    return Ok(name);
                }
                '\\' => {
                    let escaped = match characters.next() {
                        Some((_, c @ ('"' | '\\'))) => Some(c),
                        Some((_, 'u')) => {
                            let digits: String =
                                characters.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').take(10).collect();
                            let code = digits.strip_prefix('{').and_then(|code| u32::from_str_radix(code, 16).ok());
                            code.and_then(char::from_u32)
                        }
                        _ => None,
                    };
                    let wanted = "expected `\\\"`, `\\\\` or `\\u{…}` in a quoted name";
                    name.push(escaped.ok_or_else(|| self.error_at(start + offset, wanted))?);
                }
                c => name.push(c),
            }
        }
        Err(self.error_at(start, "this quoted name has no end"))
    }

    /// `%7` or `%7:add.3`; the number, and the name where there is one. White space does not stand within it.
    pub(super) fn value(&mut self) -> Result<(u32, Option<String>), Diagnostic> {
        self.expect("%")?;
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let Ok(number) = digits.parse() else { return Err(self.expected("the number of a value")) };
        self.at += digits.len();
        let named = self.rest().strip_prefix(':').is_some_and(|rest| rest.starts_with(|c| is_plain(c) || c == '"'));
        if !named {
            return Ok((number, None));
        }
        self.at += 1;
        Ok((number, Some(self.bare_name("a name")?)))
    }

    /// What stands between here and one of the marks that end it, to be read as affine text; the mark is read too.
    pub(super) fn affine(&mut self, ends: &[char]) -> Result<(Affine<'t>, char), Diagnostic> {
        let start = self.place();
        let mut open = 0usize;
        for (offset, c) in self.rest().char_indices() {
            match c {
                c if ends.contains(&c) && open == 0 => {
                    self.at = start + offset + c.len_utf8();
                    let text = &self.text[start..start + offset];
                    let here = Cursor { text: self.text, at: start };
                    let cursor = affine::Cursor::new(text).map_err(|error| here.affine_error(&error))?;
                    return Ok((Affine { cursor, here }, c));
                }
                '(' | '[' => open += 1,
                ')' | ']' if open > 0 => open -= 1,
                ')' | ']' | '{' | '}' => break,
                _ => {}
            }
        }
        let ends: Vec<String> = ends.iter().map(|end| format!("`{end}`")).collect();
        Err(self.error_at(start, format!("expected index expressions up to {}", ends.join(" or "))))
    }

    fn affine_error(&self, error: &weft_affine::Error) -> Diagnostic {
        let place = self.at + error.span().map_or(0, |span| span.start);
        self.error_at(place.min(self.text.len()), error.to_string())
    }
}

/// A part of the text in affine notation.
pub(super) struct Affine<'t> {
    cursor: affine::Cursor<'t>,
    here: Cursor<'t>,
}

impl Affine<'_> {
    /// Items with a separator between them, over the standard variables and what `where` defines at the end.
    pub(super) fn items<T>(
        mut self,
        separator: &str,
        mut item: impl FnMut(&mut affine::Cursor<'_>, &affine::Scope) -> Result<T, weft_affine::Error>,
    ) -> Result<Vec<T>, Diagnostic> {
        let mut read = || {
            let mut scope = affine::Scope::standard();
            let start = self.cursor.position();
            self.cursor.skip_balanced("where")?;
            self.cursor.where_clause(&mut scope)?;
            self.cursor.expect_end()?;
            let mut items = Vec::new();
            let mut cursor = self.cursor.at(start);
            while !cursor.at_end() && !cursor.peek_is("where") {
                if !items.is_empty() {
                    cursor.expect(separator)?;
                }
                items.push(item(&mut cursor, &scope)?);
            }
            Ok(items)
        };
        read().map_err(|error: weft_affine::Error| self.here.affine_error(&error))
    }
}
