//! The parser: recursive descent over the bytes of the text, several findings per run.

mod carried;
mod computation;
mod field;
mod header;
mod instruction;
mod layout;
mod literal;
mod module;
mod operation;
mod order;
mod shape;
mod shapeless;
mod single;
mod tables;
mod window;

use super::codes;
use super::lexer::{Cursor, Failure, Name, failure};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArenaId, ComputationId, Module, Shape, Span};
use computation::Parsed;
use std::collections::HashMap;
use std::str::FromStr;

/// How deep instructions in place of operands and computations in place of names may nest.
const MAX_NESTED: usize = 32;

/// How many findings are gathered before reading stops.
const MAX_FINDINGS: usize = 100;

/// Reads a module.
///
/// Without the header `HloModule …` the text may be computations, or one instruction, whose operands become parameters.
/// Where no computation is marked `ENTRY`, the last one is the entry.
///
/// Instructions stand before their users and computations before their callers, as in the module returned, in which those
/// that stand in place of a name come before what they stand in.
///
/// Time and memory are linear in the text; nothing in the text makes this panic or exhaust the stack.
///
/// # Errors
/// All findings, in the order of the text, with line and column. The codes are those of the
/// [module's documentation](crate::text).
pub fn parse(text: &str) -> Result<Module, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        let message = "the text is longer than 4 GiB";
        return Err(Diagnostic::new(codes::TOO_MANY, Span::default(), message).into());
    }
    let mut parser = Parser {
        cursor: Cursor::new(text),
        findings: Vec::new(),
        references: References::default(),
        computation: "",
        nested: Vec::new(),
        depth: 0,
        single: false,
        lost: false,
    };
    let module = parser.module();
    let mut findings = parser.findings;
    match module {
        Some(module) if findings.is_empty() => Ok(module),
        _ => {
            findings.sort_by_key(|finding| finding.span.start);
            Err(Diagnostics(findings).locate(text))
        }
    }
}

/// Reads a shape that stands alone: `f32[2,3]{1,0}`, `(s32[], token[])`.
///
/// # Errors
/// The findings, with line and column.
///
/// ```
/// let shape = weft_hlo::text::parse_shape("f32[32,128]")?;
/// assert_eq!(shape.as_array().and_then(|array| array.element_count()), Some(4096));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn parse_shape(text: &str) -> Result<Shape, Diagnostics> {
    let mut cursor = Cursor::new(text);
    let shape = cursor
        .shape()
        .and_then(|shape| if cursor.at_end() { Ok(shape) } else { Err(cursor.unexpected("the end of the shape")) });
    shape.map_err(|failure| Diagnostics::from(*failure).locate(text))
}

/// As [`parse`].
impl FromStr for Module {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Self, Diagnostics> {
        parse(text)
    }
}

/// As [`parse_shape`].
impl FromStr for Shape {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Self, Diagnostics> {
        parse_shape(text)
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    findings: Vec<Diagnostic>,
    references: References<'a>,
    /// The name of the computation being read.
    computation: &'a str,
    /// Computations that stand where their name might stand.
    nested: Vec<Parsed<'a>>,
    /// How many instructions that stand in place of operands, and computations in place of names, are open.
    depth: usize,
    /// Whether the text is one instruction, whose operands then are parameters.
    single: bool,
    /// Whether recovery may have skipped computations, so that what is not found may well be there.
    lost: bool,
}

/// The computations that instructions name. Until all are read, an operation holds the number of a name here in place
/// of a computation's id.
#[derive(Default)]
struct References<'a> {
    numbers: HashMap<&'a str, ComputationId>,
    uses: Vec<Use<'a>>,
}

/// The first use of a computation's name, or the use of a computation without one.
struct Use<'a> {
    name: Name<'a>,
    /// The position of a nested computation, which is not looked for by its name.
    nested: Option<usize>,
    computation: &'a str,
    instruction: &'a str,
}

impl<'a> Parser<'a> {
    fn report(&mut self, finding: impl Into<Failure>) {
        let finding = finding.into();
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(*finding);
        } else if self.findings.len() == MAX_FINDINGS {
            let message = format!("more than {MAX_FINDINGS} findings; the rest is not reported");
            self.findings.push(Diagnostic::new(codes::TOO_MANY, finding.span, message));
        }
    }

    /// Whether there are too many findings to go on.
    fn stopped(&self) -> bool {
        self.findings.len() > MAX_FINDINGS
    }

    /// Reports a finding about an instruction of the computation being read.
    fn report_about(&mut self, instruction: &str, finding: impl Into<Failure>) {
        let slash = if instruction.is_empty() { "" } else { "/" };
        let about = format!("{}{slash}{instruction}", self.computation);
        self.report(finding.into().about(about));
    }

    /// The placeholder of a computation that an instruction names.
    fn reference(&mut self, name: Name<'a>, instruction: &'a str) -> ComputationId {
        let References { numbers, uses } = &mut self.references;
        *numbers.entry(name.text).or_insert_with(|| {
            uses.push(Use { name, nested: None, computation: self.computation, instruction });
            ComputationId::from_index(uses.len() - 1)
        })
    }

    /// The placeholder of the nested computation at this position.
    fn nested_reference(&mut self, name: Name<'a>, nested: usize) -> ComputationId {
        let uses = &mut self.references.uses;
        uses.push(Use { name, nested: Some(nested), computation: self.computation, instruction: "" });
        ComputationId::from_index(uses.len() - 1)
    }

    /// Goes one level deeper into what stands in place of a name; fails if that is too deep.
    fn descend(&mut self, span: Span) -> Result<(), Failure> {
        if self.depth == MAX_NESTED {
            let message = format!("instructions and computations nest deeper than {MAX_NESTED}");
            return Err(failure(codes::TOO_DEEP, span, message));
        }
        self.depth += 1;
        Ok(())
    }

    /// Whether a keyword and then a name come next; moves past the keyword.
    fn keyword(&mut self, keyword: &str) -> bool {
        self.cursor.skip_trivia();
        if !self.cursor.rest().starts_with(keyword) {
            return false;
        }
        let start = self.cursor.position();
        let found = self.cursor.word().is_some_and(|word| word.text == keyword)
            && self.cursor.peek().is_some_and(|byte| byte == b'%' || byte == b'_' || byte.is_ascii_alphabetic());
        if !found {
            self.cursor.set_position(start);
        }
        found
    }
}
