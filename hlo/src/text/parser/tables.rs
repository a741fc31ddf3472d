//! Parsing of the tables of source locations between the header and the computations.

use super::Parser;
use super::carried::{FILE_LOCATION, STACK_FRAME};
use crate::diagnostic::did_you_mean;
use crate::text::codes;
use crate::text::lexer::{Failure, failure, quote};

/// Their headings, in the order in which they stand; where one is, all are.
const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

impl Parser<'_> {
    /// The tables with their entries as text; none after a finding.
    pub(super) fn tables(&mut self) -> Vec<(String, Vec<String>)> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let Some(heading) = self.cursor.word() else { return Vec::new() };
        self.cursor.skip_trivia();
        // After a heading an entry starts with its number, which nothing else in a module does.
        let is_table = TABLES.contains(&heading.text) || self.cursor.byte().is_some_and(|byte| byte.is_ascii_digit());
        self.cursor.set_position(start);
        if !is_table {
            return Vec::new();
        }
        let mut tables = Vec::with_capacity(TABLES.len());
        for heading in TABLES {
            match self.table(heading) {
                Ok(entries) => tables.push((heading.to_owned(), entries)),
                Err(failure) => {
                    self.report(failure);
                    self.skip_tables();
                    return Vec::new();
                }
            }
        }
        tables
    }

    fn table(&mut self, heading: &'static str) -> Result<Vec<String>, Failure> {
        self.cursor.skip_trivia();
        let at = self.cursor.position();
        let expected = format!("the table `{heading}`; the tables are {}, in this order", TABLES.join(", "));
        let Some(found) = self.cursor.word() else { return Err(self.cursor.unexpected_as(codes::TABLE, &expected)) };
        if found.text != heading {
            self.cursor.set_position(at);
            let is_other = TABLES.contains(&found.text);
            let hint = if is_other { String::new() } else { did_you_mean(found.text, TABLES.into_iter()) };
            let message = format!("expected {expected}; found {}{hint}", quote(found.text));
            return Err(failure(codes::TABLE, found.span, message));
        }
        let mut entries = Vec::new();
        while self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'-') {
            let start = self.cursor.position();
            self.cursor.integer("the number of an entry")?;
            match heading {
                "FileLocations" => self.cursor.record(&FILE_LOCATION)?,
                "StackFrames" => self.cursor.record(&STACK_FRAME)?,
                _ if matches!(self.cursor.peek(), Some(b'"' | b'\'')) => self.cursor.skip_string()?,
                _ => return Err(self.cursor.unexpected_as(codes::TABLE, "a name in quotes after the number")),
            }
            entries.push(self.cursor.slice(start..self.cursor.position()).to_owned());
        }
        Ok(entries)
    }

    /// Moves past the lines of tables, to the first that is neither a heading nor starts with a number nor is empty.
    fn skip_tables(&mut self) {
        // The cursor may stand within a line, or at a word where a heading should be.
        if !self.at_table_line() && !self.at_body() {
            self.cursor.skip_line();
        }
        while !self.cursor.rest().is_empty() {
            self.cursor.skip_trivia();
            if !self.at_table_line() {
                return;
            }
            self.cursor.skip_line();
        }
    }

    fn at_table_line(&self) -> bool {
        let line = self.cursor.line().trim();
        TABLES.contains(&line) || line.starts_with(|first: char| first.is_ascii_digit() || first == '"')
    }

    /// Whether this line opens the body of a computation.
    fn at_body(&self) -> bool {
        self.cursor.line().trim_end().ends_with('{')
    }
}
