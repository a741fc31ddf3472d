//! Parsing of attributes that are kept as text, of which only the grammar is checked.

mod origin;
mod record;
mod sharding;

use crate::diagnostic::did_you_mean;
use crate::ir::{Opcode, Span};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, Name, failure, quote};
pub(super) use record::{FILE_LOCATION, STACK_FRAME};

/// Attributes that any instruction may carry.
pub(super) const CARRIED: &[&str] = &[
    "metadata",
    "backend_config",
    "frontend_attributes",
    "sharding",
    "parameter_replication",
    "control-predecessors",
    "origin",
    "original_value",
    "statistics",
];

/// Attributes that the instructions of one opcode may carry besides.
pub(super) const CARRIED_BY: &[(Opcode, &str)] =
    &[(Opcode::Call, "is_composite"), (Opcode::Reshape, "inferred_dimension")];

/// How many numbers and names the value of a carried attribute mentions, where others have to fit them.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions<'a> {
    /// The instructions that `control-predecessors` names.
    pub(super) predecessors: Vec<Name<'a>>,
    /// How many leaves `parameter_replication` speaks of.
    pub(super) replicated: Option<usize>,
}

impl<'a> Cursor<'a> {
    /// Moves past the value of a carried attribute and returns it as text, comments left out.
    pub(super) fn carried(&mut self, name: Name<'a>, mentions: &mut Mentions<'a>) -> Result<String, Failure> {
        self.skip_trivia();
        let (start, comments) = (self.position(), self.comments());
        match name.text {
            "metadata" => self.metadata()?,
            "backend_config" => return self.backend_config().map(str::to_owned),
            "frontend_attributes" => return self.frontend_attributes(),
            "sharding" => self.sharding()?,
            "parameter_replication" => mentions.replicated = Some(self.flags("whether a leaf is replicated")?.len()),
            "control-predecessors" => {
                mentions.predecessors = self.predecessors()?;
                let names = &mentions.predecessors;
                // What is kept has no colons.
                if names.iter().any(|name| self.slice(name.span.range()).ends_with(':')) {
                    let names: Vec<String> = names.iter().map(|name| format!("%{}", name.text)).collect();
                    return Ok(format!("{{{}}}", names.join(", ")));
                }
            }
            "origin" | "original_value" => self.origin()?,
            "statistics" => self.statistics()?,
            "result_accuracy" => self.result_accuracy()?,
            "inferred_dimension" => {
                self.integer("a dimension")?;
            }
            _ => {
                self.flag(name)?;
            }
        }
        Ok(self.without_comments(start, comments))
    }

    /// `"text"` or `{"key":"value"}`; of the latter only braces and strings are looked at.
    fn backend_config(&mut self) -> Result<&'a str, Failure> {
        let start = self.position();
        match self.peek() {
            Some(b'{') => self.braced_value(),
            Some(b'"' | b'\'') => {
                self.skip_string()?;
                Ok(self.slice(start..self.position()))
            }
            _ => Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, "a string in quotes or `{…}` as the configuration")),
        }
    }

    /// `{name="value",other={…}}`
    pub(super) fn frontend_attributes(&mut self) -> Result<String, Failure> {
        self.expect(b'{', "`{` and attributes of the frontend")?;
        // Values in braces may hold what looks like a comment, so those between attributes are left out one by one.
        let mut kept = String::from("{");
        if !self.eat(b'}') {
            loop {
                self.skip_trivia();
                kept.push_str(if kept.len() > 1 { "," } else { "" });
                let from = self.position();
                self.attribute_name("the name of an attribute of the frontend")?;
                match self.peek() {
                    Some(b'{') => {
                        self.braced_value()?;
                    }
                    Some(b'"' | b'\'') => self.skip_string()?,
                    _ => return Err(self.unexpected("a string in quotes or `{…}` as the value of the attribute")),
                }
                kept.push_str(self.slice(from..self.position()));
                if self.list_ends(b'}', "an attribute of the frontend")? {
                    break;
                }
            }
        }
        kept.push('}');
        Ok(kept)
    }

    /// A name with `=` right after it, which is passed over.
    pub(super) fn attribute_name(&mut self, expected: &str) -> Result<Name<'a>, Failure> {
        let Some(name) = self.word() else { return Err(self.unexpected(expected)) };
        if self.byte() == Some(b'=') {
            self.bump();
            return Ok(name);
        }
        if matches!(name.text, "ENTRY" | "ROOT") {
            self.set_position(name.span.range().start);
            return Err(self.unexpected(expected));
        }
        if self.peek() == Some(b'=') {
            let message = format!("expected `=` right after {}, found a blank between them", quote(name.text));
            return Err(failure(codes::SYNTAX, Span::new(name.span.range().end..self.position()), message));
        }
        Err(self.unexpected(&format!("`=` right after {}", quote(name.text))))
    }

    /// `{true,false}`
    pub(super) fn flags(&mut self, what: &str) -> Result<Vec<bool>, Failure> {
        self.list(b'{', b'}', what, |cursor| {
            cursor.skip_trivia();
            let start = cursor.position();
            match cursor.word().map(|word| word.text) {
                Some("true") => Ok(true),
                Some("false") => Ok(false),
                _ => {
                    cursor.set_position(start);
                    Err(cursor.unexpected(&format!("`true` or `false`: {what}")))
                }
            }
        })
    }

    /// `{%a, %b}`
    fn predecessors(&mut self) -> Result<Vec<Name<'a>>, Failure> {
        let predecessors = self.list(b'{', b'}', "the name of an instruction", |cursor| {
            cursor.name("the name of an instruction that runs before this one")
        })?;
        if predecessors.is_empty() {
            let span = self.since(self.position() - 1);
            return Err(failure(codes::SYNTAX, span, "expected the name of an instruction, found `}`"));
        }
        Ok(predecessors)
    }

    /// `{visualizing_index=0,name=1.5}`
    fn statistics(&mut self) -> Result<(), Failure> {
        self.expect(b'{', "`{` and statistics")?;
        if self.eat(b'}') {
            return Ok(());
        }
        let name = self.attribute_name("`visualizing_index=`")?;
        if name.text != "visualizing_index" {
            let hint = did_you_mean(name.text, std::iter::once("visualizing_index"));
            let message = format!(
                "statistics start with `visualizing_index`, the number of one; found {}{hint}",
                quote(name.text)
            );
            return Err(failure(codes::ATTRIBUTE_VALUE, name.span, message));
        }
        self.integer("the number of the statistic that is shown")?;
        while !self.list_ends(b'}', "a statistic")? {
            self.attribute_name("the name of a statistic")?;
            self.skip_trivia();
            let start = self.position();
            if self.real_number("the value of a statistic")?.is_infinite() {
                return Err(failure(
                    codes::NUMBER,
                    self.since(start),
                    "a statistic is a number or `nan`, found infinity",
                ));
            }
        }
        Ok(())
    }

    /// `{mode=highest}` or `{tolerance={atol=0,rtol=0.001,ulps=10}}`
    fn result_accuracy(&mut self) -> Result<(), Failure> {
        self.expect(b'{', "`{` and an accuracy")?;
        let form = self.attribute_name("`mode=` or `tolerance=`")?;
        match form.text {
            "mode" => {
                let Some(mode) = self.word() else { return Err(self.unexpected("`default` or `highest`")) };
                let known = ["default", "highest"];
                if !known.iter().any(|known| known.eq_ignore_ascii_case(mode.text)) {
                    let hint = did_you_mean(mode.text, known.into_iter());
                    let message = format!("expected `default` or `highest`, found {}{hint}", quote(mode.text));
                    return Err(failure(codes::ATTRIBUTE_VALUE, mode.span, message));
                }
            }
            "tolerance" => {
                self.list(b'{', b'}', "a tolerance", |cursor| {
                    let name = cursor.attribute_name("`atol=`, `rtol=` or `ulps=`")?;
                    if !["atol", "rtol", "ulps"].contains(&name.text) {
                        let hint = did_you_mean(name.text, ["atol", "rtol", "ulps"].into_iter());
                        let found = quote(name.text);
                        let message = format!("a tolerance is `atol`, `rtol` or `ulps`, found {found}{hint}");
                        return Err(failure(codes::ATTRIBUTE_VALUE, name.span, message));
                    }
                    cursor.skip_trivia();
                    let start = cursor.position();
                    if cursor.real_number("a tolerance")? < 0.0 {
                        return Err(failure(codes::NUMBER, cursor.since(start), "a tolerance is at least 0"));
                    }
                    Ok(())
                })?;
            }
            _ => {
                let hint = did_you_mean(form.text, ["mode", "tolerance"].into_iter());
                let message = format!("an accuracy is `mode` or `tolerance`, found {}{hint}", quote(form.text));
                return Err(failure(codes::ATTRIBUTE_VALUE, form.span, message));
            }
        }
        self.expect(b'}', "`}` after an accuracy")
    }

    /// A number with or without fraction and exponent, or `nan`, or `inf`.
    fn real_number(&mut self, what: &str) -> Result<f64, Failure> {
        self.skip_trivia();
        let start = self.position();
        while self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.bump();
        }
        let text = self.slice(start..self.position());
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        let is_number = magnitude.starts_with(|first: char| first.is_ascii_digit());
        match text.parse::<f64>() {
            Ok(value) if is_number || magnitude == "nan" || magnitude == "inf" => Ok(value),
            _ => {
                self.set_position(start);
                Err(self.unexpected(&format!("a number as {what}")))
            }
        }
    }
}
