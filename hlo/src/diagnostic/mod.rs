//! Diagnostics: findings about a text or a module, with codes and source locations.

pub mod code;
mod suggest;

pub(crate) use suggest::{did_you_mean, nearest, translated};

use crate::ir::{Span, ends_line};
use std::fmt;

/// What some editors write before the first character of a file. It is no part of the first line.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// One finding: a stable code, a place and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// A stable code: `HLO0xx` from reading text, `HLO1xx` from verifying, `HLO2xx` from evaluating, `HLO3xx` from
    /// passes and maps.
    pub code: &'static str,
    /// The place in the text the module was read from.
    pub span: Span,
    /// The message: the fault, and what was expected.
    pub message: String,
    /// The instruction concerned, as `computation/instruction`; empty where there is none.
    pub instruction: String,
    /// Line and column of the start of the span, from 1; `None` until the text is at hand
    /// ([`Diagnostics::locate`]).
    pub position: Option<(usize, usize)>,
}

impl Diagnostic {
    /// A finding without an instruction.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, span, message: message.into(), instruction: String::new(), position: None }
    }

    /// The same finding about `instruction`.
    pub fn about(mut self, instruction: impl Into<String>) -> Self {
        self.instruction = instruction.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "{line}:{column}: ")?;
        }
        write!(f, "{}: ", self.code)?;
        if !self.instruction.is_empty() {
            write!(f, "{}: ", self.instruction)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// One or more findings, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Fills in line and column of every finding, given the text that the spans point into. Linear in the text.
    pub fn locate(mut self, text: &str) -> Self {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_key(|&index| self.0[index].span.start);
        let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let (mut line, mut column, mut scanned) = (1, 1, first);
        for index in order {
            let finding = &mut self.0[index];
            let mut start = (finding.span.start as usize).clamp(first, text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let bytes = text.as_bytes();
            for at in scanned..start.max(scanned) {
                match bytes[at] {
                    _ if ends_line(bytes, at) => (line, column) = (line + 1, 1),
                    // Columns count characters, of which these bytes are not the first.
                    0x80..=0xbf => {}
                    _ => column += 1,
                }
            }
            scanned = scanned.max(start);
            finding.position = Some((line, column));
        }
        self
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
