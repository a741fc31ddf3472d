//! Failures, and how they are told.
//!
//! With `--format json` each is one line on standard error: `{"error": {"code", "message", "line", "column", "help"}}`, where what
//! does not apply is `null`; of a program that is wrong the first finding stands there, and all of them in `findings`. Notes are
//! lines of their own, `{"note": …}`. Codes are those of the library that failed, or of this command:
//!
//! | Code | Says |
//! |---|---|
//! | `CLI001` | the command line cannot be meant |
//! | `CLI002` | a file cannot be read |
//! | `CLI003` | results cannot be written |
//! | `CLI004` | the inputs are not those that the program takes |
//! | `CLI005` | there is no such thing, or nothing that could be done with it |
//! | `TGT003` | a file does not describe a target |

use crate::args::Format;
use crate::excerpt::Excerpt;
use crate::source::Source;
use clap::error::ErrorKind;
use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use codespan_reporting::term::termcolor::{ColorChoice, StandardStream};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::Path;
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
    /// Something else, in a sentence, and what may help.
    Message { code: &'static str, text: String, help: Option<String> },
    /// The command line cannot be meant.
    Misuse(String),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// There is no such thing, or nothing that could be done with it.
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Failure::coded("CLI005", text)
    }

    /// A file cannot be read.
    pub(crate) fn not_read(text: impl Into<String>) -> Self {
        Failure::coded("CLI002", text)
    }

    /// A file cannot be written.
    pub(crate) fn not_written(path: &Path, error: &io::Error) -> Self {
        Failure::coded("CLI003", format!("cannot write {}: {error}", path.display()))
    }

    /// The inputs are not those that the program takes.
    pub(crate) fn inputs(text: impl Into<String>) -> Self {
        Failure::coded("CLI004", text)
    }

    fn coded(code: &'static str, text: impl Into<String>) -> Self {
        Failure::Message { code, text: text.into(), help: None }
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
        let help = match &error {
            Error::NoAdapter(advice) if !advice.0.is_empty() => Some(advice.0.clone()),
            _ => None,
        };
        // The runtime's messages begin with their code already.
        Failure::Message { code: error.code(), text: error.to_string(), help }
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
            let findings = findings_json(source, findings);
            let first = |key: &str| findings.get(0).map_or(Value::Null, |first| first[key].clone());
            let mut error = error_json(&first("code"), &first("message"), None);
            (error["line"], error["column"]) = (first("line"), first("column"));
            error["findings"] = findings;
            say_error(&error)
        }
        (Failure::Message { code, text, help }, Format::Json) => {
            say_error(&error_json(&json!(code), &json!(text), help.as_deref()))
        }
        (Failure::Misuse(text), Format::Json) => say_error(&error_json(&json!(MISUSE), &json!(text), None)),
        (Failure::Output(error), Format::Json) => {
            say_error(&error_json(&json!("CLI003"), &json!(error.to_string()), None))
        }
        (Failure::Message { text, .. } | Failure::Misuse(text), Format::Text) => say(&format!("error: {text}")),
        (Failure::Output(error), Format::Text) => say(&format!("error: cannot write the results: {error}")),
    };
    // If not even standard error can be written, the exit code is all that is left.
    let _ = told;
    match failure {
        Failure::Misuse(_) => ExitCode::from(2),
        _ => ExitCode::from(1),
    }
}

/// Tells on standard error what is wrong with a command line that could not be read, or shows the help that it asks for, and
/// returns the exit code that belongs to it.
pub(crate) fn report_command_line(error: &clap::Error) -> ExitCode {
    let is_asked_for = error.exit_code() == 0;
    let told = if is_asked_for || !asks_for_json() {
        error.print()
    } else {
        let text = error.render().to_string();
        let (message, help) = match error.kind() {
            // Then all of the text is help.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ("a command is missing", text.as_str()),
            _ => text.split_once("\n\n").unwrap_or((text.as_str(), "")),
        };
        let message = message.trim().trim_start_matches("error: ");
        let help = Some(help.trim()).filter(|help| !help.is_empty());
        say_error(&error_json(&json!(MISUSE), &json!(message), help))
    };
    // Whoever does not read what was asked for does not want it.
    let _ = told;
    if is_asked_for { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// Whether a command line that could not be read asks for JSON.
fn asks_for_json() -> bool {
    let words: Vec<_> = std::env::args_os().take_while(|word| word != "--").collect();
    words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// The code of a command line that cannot be meant.
const MISUSE: &str = "CLI001";

fn error_json(code: &Value, message: &Value, help: Option<&str>) -> Value {
    json!({ "code": code, "message": message, "line": null, "column": null, "help": help })
}

fn say_error(error: &Value) -> io::Result<()> {
    say(&json!({ "error": error }).to_string())
}

/// Tells on standard error of something that went wrong without ending the command.
pub(crate) fn complain(code: &'static str, text: &str, format: Format) -> io::Result<()> {
    match format {
        Format::Text => say(&format!("error: {text}")),
        Format::Json => say_error(&error_json(&json!(code), &json!(text), None)),
    }
}

/// Tells on standard error what the results do not say.
pub(crate) fn note(text: &str, format: Format) -> io::Result<()> {
    match format {
        Format::Text => say(text),
        Format::Json => say(&json!({ "note": text }).to_string()),
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
            "help": null,
        })
    };
    located.0.iter().map(finding).collect()
}
