//! Failures, and how they are told.

use crate::args::Format;
use crate::excerpt::Excerpt;
use crate::source::Source;
use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use codespan_reporting::term::termcolor::{ColorChoice, StandardStream};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Span;
use weft_runtime::Error;

/// How a command ended that did what it was asked.
pub(crate) enum Outcome {
    /// All is well.
    Done,
    /// It has told what is wrong.
    Findings,
}

/// Why a command could not do what it was asked.
pub(crate) enum Failure {
    /// Something is wrong with the program, at places in its text.
    Findings(Arc<Source>, Diagnostics),
    /// Something else, in a sentence; with a code where there is one.
    Message(Option<&'static str>, String),
    /// The command line cannot be meant.
    Misuse(String),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Failure::Message(None, text.into())
    }

    /// An error of the runtime about the program in `source`.
    pub(crate) fn from_runtime(source: &Arc<Source>, error: Error) -> Self {
        match error {
            Error::Program(findings) => Failure::Findings(Arc::clone(source), findings),
            other => other.into(),
        }
    }

    /// An error about the map in `source`: at its place in the text, or else about all of it.
    pub(crate) fn from_indexing(source: &Arc<Source>, error: &weft_indexing::Error) -> Self {
        let span = error.span().unwrap_or(0..source.text.len());
        let finding = Diagnostic::new(error.code(), Span::new(span), error.to_string());
        Failure::Findings(Arc::clone(source), Diagnostics(vec![finding]))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        // The runtime's messages begin with their code already.
        Failure::Message(Some(error.code()), error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Tells a failure on standard error and returns the exit code that belongs to it.
pub(crate) fn report(failure: &Failure, format: Format) -> ExitCode {
    let told = match (failure, format) {
        // Whoever reads the output has gone; there is nobody to tell.
        (Failure::Output(error), _) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        (Failure::Findings(source, findings), Format::Text) => render(source, findings),
        (Failure::Findings(source, findings), Format::Json) => {
            say(&json!({ "error": { "findings": findings_json(source, findings) } }).to_string())
        }
        (Failure::Message(code, text), Format::Json) => {
            say(&json!({ "error": { "code": code, "message": text } }).to_string())
        }
        (Failure::Misuse(text), Format::Json) => say(&json!({ "error": { "misuse": text } }).to_string()),
        (Failure::Output(error), Format::Json) => {
            say(&json!({ "error": { "message": error.to_string() } }).to_string())
        }
        (Failure::Message(_, text) | Failure::Misuse(text), Format::Text) => say(&format!("error: {text}")),
        (Failure::Output(error), Format::Text) => say(&format!("error: cannot write the results: {error}")),
    };
    // If not even standard error can be written, the exit code is all that is left.
    let _ = told;
    match failure {
        Failure::Misuse(_) => ExitCode::from(2),
        _ => ExitCode::from(1),
    }
}

/// Writes a line to standard error.
pub(crate) fn say(line: &str) -> io::Result<()> {
    writeln!(io::stderr().lock(), "{line}")
}

/// Writes findings to standard error with the text they are about, underlined.
pub(crate) fn render(source: &Source, findings: &Diagnostics) -> io::Result<()> {
    let choice = if io::stderr().is_terminal() { ColorChoice::Auto } else { ColorChoice::Never };
    let stream = StandardStream::stderr(choice);
    let file = SimpleFile::new(source.name.as_str(), source.text.as_str());
    let config = term::Config::default();
    for finding in &findings.0 {
        let range = range(source, finding);
        let outcome = match Excerpt::around(source, &range) {
            Some((excerpt, range)) if range != NOWHERE => {
                term::emit_to_write_style(&mut stream.lock(), &config, &excerpt, &rendered(finding, range))
            }
            _ => term::emit_to_write_style(&mut stream.lock(), &config, &file, &rendered(finding, range)),
        };
        outcome.map_err(io::Error::other)?;
    }
    Ok(())
}

/// No place of the text; any other range that is empty is where something is missing.
const NOWHERE: Range<usize> = 0..0;

/// The finding with its place: `range` of the text that is shown.
fn rendered(finding: &Diagnostic, range: Range<usize>) -> Rendered<()> {
    let rendered = Rendered::error().with_code(finding.code).with_message(&finding.message);
    if range == NOWHERE {
        let about = if finding.instruction.is_empty() { Vec::new() } else { vec![finding.instruction.clone()] };
        return rendered.with_notes(about);
    }
    rendered.with_label(Label::primary((), range).with_message(&finding.instruction))
}

/// The bytes a finding is about, kept inside the text and to whole characters.
fn range(source: &Source, finding: &Diagnostic) -> Range<usize> {
    let text = &source.text;
    let clamp = |mut position: usize| {
        position = position.min(text.len());
        while !text.is_char_boundary(position) {
            position -= 1;
        }
        position
    };
    let range = finding.span.range();
    let (start, end) = (clamp(range.start), clamp(range.end.max(range.start)));
    // White space at the end would draw the underline over lines that have nothing to do with it.
    start..start + text[start..end].trim_end().len()
}

/// Findings as JSON, each with its code, place and message.
pub(crate) fn findings_json(source: &Source, findings: &Diagnostics) -> Value {
    let located = findings.clone().locate(&source.text);
    let finding = |finding: &Diagnostic| {
        json!({
            "code": finding.code,
            "file": source.name,
            "line": finding.position.map(|(line, _)| line),
            "column": finding.position.map(|(_, column)| column),
            "start": finding.span.start,
            "end": finding.span.end,
            "instruction": finding.instruction,
            "message": finding.message,
        })
    };
    located.0.iter().map(finding).collect()
}
