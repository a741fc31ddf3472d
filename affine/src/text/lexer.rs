//! The lexer: tokens, each with its byte range in the source.

use std::ops::Range;

use crate::Error;

/// One token.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name or keyword.
    Name(&'a str),
    /// The magnitude of an integer literal.
    Integer(u64),
    /// Punctuation: one character, `->`, `<=`, `>=` or `<=>`.
    Mark(&'a str),
}

/// Splits the source into tokens.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, Error> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let run = |accept: fn(u8) -> bool| start + bytes[start..].iter().take_while(|b| accept(**b)).count();
        let token = match bytes[at] {
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'0'..=b'9' => {
                at = run(|b| b.is_ascii_digit());
                let value = source[start..at].parse().map_err(|_| Error::Syntax {
                    message: "integer literal out of range".to_owned(),
                    span: start..at,
                })?;
                Token::Integer(value)
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = run(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
                Token::Name(&source[start..at])
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => {
                at += 2;
                Token::Mark(&source[start..at])
            }
            b'<' | b'>' => {
                let longer = ["<=>", "<=", ">="].into_iter().find(|mark| source[start..].starts_with(mark));
                at += longer.map_or(1, str::len);
                Token::Mark(&source[start..at])
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'+' | b'-' | b'*' | b',' | b':' | b'=' | b'%' | b'#' | b'|' => {
                at += 1;
                Token::Mark(&source[start..at])
            }
            _ => {
                let c = source[start..].chars().next().unwrap_or('?');
                return Err(Error::Syntax {
                    message: format!("unexpected character {c:?}"),
                    span: start..start + c.len_utf8(),
                });
            }
        };
        found.push((token, start..at));
    }
    Ok(found)
}
