//! The lexer of shape functions' text.

use super::codes;
use crate::diagnostic::Diagnostic;
use crate::ir::Span;
use std::ops::Range;

/// One token; what is quoted is without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// `%name`
    Value(&'t str),
    /// `@name`
    Symbol(&'t str),
    /// `^bb0`
    Block(&'t str),
    /// `shape.meet`, `!shape.size`, `tensor<?xindex>`, `reduce-window`, `true`
    Word(&'t str),
    /// A string without escapes left in it.
    Text(String),
    /// `-12`
    Integer(&'t str),
    /// `->`
    Arrow,
    /// One of `(){}[],:=`
    Mark(char),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// What a finding calls it.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Value(name) => format!("`%{name}`"),
            Token::Symbol(name) => format!("`@{name}`"),
            Token::Block(name) => format!("`^{name}`"),
            Token::Word(word) | Token::Integer(word) => format!("`{word}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::Arrow => "`->`".to_owned(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// The text, read token by token.
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer { text, position: 0 }
    }

    /// Whether nothing but space stands before the place on its line.
    pub(super) fn began_line(&self, place: Span) -> bool {
        let before = self.text[..place.range().start].trim_end_matches([' ', '\t', '\r']);
        before.is_empty() || before.ends_with('\n')
    }

    /// The next token and where it stands.
    pub(super) fn next(&mut self) -> Result<(Token<'t>, Span), Diagnostic> {
        self.skip();
        let start = self.position;
        let Some(first) = self.peek() else { return Ok((Token::End, Span::new(start..start))) };
        let token = match first {
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' => {
                self.position += 1;
                Token::Mark(first)
            }
            '"' => Token::Text(self.string()?),
            '%' => Token::Value(self.name_after_sigil("%")?),
            '@' => Token::Symbol(self.name_after_sigil("@")?),
            '^' => Token::Block(self.name_after_sigil("^")?),
            '-' if self.text[start..].starts_with("->") => {
                self.position += 2;
                Token::Arrow
            }
            '-' | '0'..='9' => {
                self.position += 1;
                let digits = self.take_while(|c| c.is_ascii_digit());
                if first == '-' && digits.is_empty() {
                    return Err(self.finding(start..self.position, codes::SYNTAX, "expected a number after `-`"));
                }
                Token::Integer(&self.text[start..self.position])
            }
            '!' | '_' | 'a'..='z' | 'A'..='Z' => {
                self.position += 1;
                self.word(start)?
            }
            other => {
                let end = start + other.len_utf8();
                return Err(self.finding(start..end, codes::SYNTAX, format!("`{other}` begins nothing here")));
            }
        };
        Ok((token, Span::new(start..self.position)))
    }

    fn finding(&self, range: Range<usize>, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Span::new(range), message)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.position..];
        let length = rest.find(|c| !test(c)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    /// Passes over space and comments, which run from `//` to the end of the line.
    fn skip(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.text[self.position..].starts_with("//") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn name_after_sigil(&mut self, sigil: &str) -> Result<&'t str, Diagnostic> {
        let start = self.position;
        self.position += 1;
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
        if name.is_empty() {
            let message = format!("expected a name after `{sigil}`");
            return Err(self.finding(start..self.position, codes::SYNTAX, message));
        }
        Ok(name)
    }

    /// A word: dots and dashes inside belong to it, and what stands in angle brackets after it.
    fn word(&mut self, start: usize) -> Result<Token<'t>, Diagnostic> {
        loop {
            self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
            let mut rest = self.text[self.position..].chars();
            match (rest.next(), rest.next()) {
                (Some('-'), Some(next)) if next.is_ascii_alphanumeric() => self.position += 1,
                (Some('<'), _) => {
                    let open = self.position;
                    self.take_while(|c| c != '>' && c != '\n');
                    if self.peek() != Some('>') {
                        return Err(self.finding(open..open + 1, codes::UNTERMINATED, "this `<` is never closed"));
                    }
                    self.position += 1;
                    break;
                }
                _ => break,
            }
        }
        Ok(Token::Word(&self.text[start..self.position]))
    }

    fn string(&mut self) -> Result<String, Diagnostic> {
        let start = self.position;
        self.position += 1;
        let mut value = String::new();
        loop {
            value.push_str(self.take_while(|c| !matches!(c, '"' | '\\' | '\n')));
            let Some(next) = self.peek().filter(|&c| c != '\n') else {
                return Err(self.finding(start..start + 1, codes::UNTERMINATED, "this string is never closed"));
            };
            self.position += 1;
            if next == '"' {
                return Ok(value);
            }
            let escape = self.position - 1;
            match self.peek() {
                Some('n') => value.push('\n'),
                Some(c @ ('"' | '\\')) => value.push(c),
                _ => {
                    let message = "expected `\\\\`, `\\\"` or `\\n`";
                    return Err(self.finding(escape..self.position, codes::SYNTAX, message));
                }
            }
            self.position += 1;
        }
    }
}
