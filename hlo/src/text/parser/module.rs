//! The header, the tables, and what is known only once every computation is read.

use super::computation::Parsed;
use super::order::{dependencies_first, describe_cycle};
use super::{Parser, Use};
use crate::ir::{Arena, ArenaId, Attribute, Computation, ComputationId, Module};
use crate::text::codes;
use crate::text::lexer::{Failure, failure, quote};
use crate::text::suggest::nearest;
use std::collections::HashMap;

/// Tables of source locations that may stand between the header and the computations.
const TABLES: &[&str] = &["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

/// How many attributes a header, a computation or an instruction may have.
pub(super) const MAX_ATTRIBUTES: usize = 256;

/// How many names are searched for the nearest to an unknown one.
pub(super) const MAX_SUGGESTED: usize = 2000;

impl<'a> Parser<'a> {
    /// The whole text; `None` only if there are findings.
    pub(super) fn module(&mut self) -> Option<Module> {
        let mut attributes = Vec::new();
        let name = match self.header(&mut attributes) {
            Ok(name) => name.to_owned(),
            Err(failure) => {
                self.report(failure);
                self.skip_to_computation();
                String::new()
            }
        };
        let tables = self.tables();
        let mut computations: Vec<Parsed<'a>> = Vec::new();
        while !self.cursor.at_end() && !self.stopped() {
            computations.extend(self.computation());
        }
        // A comment that never ends hides whatever follows it; that is the finding, not what is missed.
        if let Some(failure) = self.cursor.open_comment() {
            self.lost = true;
            let known = self.findings.iter().any(|finding| finding.span == failure.span);
            if !known {
                self.report(failure);
            }
        }
        let (computations, entry) = self.link(computations)?;
        Some(Module { name, attributes, tables, computations, entry })
    }

    fn header(&mut self, attributes: &mut Vec<Attribute>) -> Result<&'a str, Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        if self.cursor.word().is_none_or(|word| word.text != "HloModule") {
            self.cursor.set_position(start);
            return Err(self.cursor.unexpected_as(codes::HEADER, "`HloModule` and the module's name"));
        }
        if self.keyword("ENTRY") {
            let span = self.cursor.since(start);
            return Err(failure(codes::HEADER, span, "expected the module's name after `HloModule`, found `ENTRY`"));
        }
        let name = match self.cursor.word() {
            Some(name) => name.text,
            None => return Err(self.cursor.unexpected_as(codes::HEADER, "the module's name")),
        };
        while self.cursor.eat(b',') {
            let attribute = match self.cursor.word() {
                Some(attribute) => attribute,
                None => return Err(self.cursor.unexpected("the name of an attribute of the module")),
            };
            if attributes.iter().any(|known| known.name == attribute.text) {
                let message = format!("the module has the attribute {} twice", quote(attribute.text));
                self.report(failure(codes::ATTRIBUTE_REPEATED, attribute.span, message));
            }
            if attributes.len() == MAX_ATTRIBUTES {
                let message = format!("the module has more than {MAX_ATTRIBUTES} attributes");
                return Err(failure(codes::TOO_MANY, attribute.span, message));
            }
            self.cursor.expect(b'=', "`=` after the name of an attribute")?;
            attributes.push(Attribute { name: attribute.text.to_owned(), value: self.cursor.raw_value()? });
        }
        Ok(name)
    }

    fn tables(&mut self) -> Vec<(String, Vec<String>)> {
        let mut tables = Vec::new();
        loop {
            self.cursor.skip_trivia();
            let start = self.cursor.position();
            let heading = self.cursor.word().map_or("", |word| word.text);
            let line_end = self.cursor.rest().find('\n').unwrap_or(self.cursor.rest().len());
            if !TABLES.contains(&heading) || !self.cursor.rest()[..line_end].trim().is_empty() {
                self.cursor.set_position(start);
                return tables;
            }
            self.cursor.set_position(self.cursor.position() + line_end);
            let mut lines = Vec::new();
            // A line of a table starts with its number.
            while let Some(rest) = self.cursor.rest().strip_prefix('\n') {
                let line = rest.split('\n').next().unwrap_or("");
                if !line.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
                    break;
                }
                lines.push(line.trim().to_owned());
                self.cursor.set_position(self.cursor.position() + 1 + line.len());
            }
            tables.push((heading.to_owned(), lines));
        }
    }

    /// Replaces names of computations by ids, and puts callees before callers.
    fn link(&mut self, parsed: Vec<Parsed<'a>>) -> Option<(Arena<ComputationId, Computation>, ComputationId)> {
        let mut positions: HashMap<&str, usize> = HashMap::with_capacity(parsed.len());
        for (position, computation) in parsed.iter().enumerate() {
            let name = computation.name;
            if *positions.entry(name.text).or_insert(position) != position {
                let message = format!("there already is a computation {}", quote(name.text));
                self.report(failure(codes::DUPLICATE_COMPUTATION, name.span, message));
            }
        }
        let entry = self.entry(&parsed);
        let targets = self.targets(&positions, &parsed)?;
        let callees = |caller: usize, k: usize| parsed[caller].callees.get(k).map(|callee| targets[callee.index()]);
        let order = match dependencies_first(parsed.len(), callees) {
            Ok(order) => order,
            Err(cycle) => {
                let first = cycle[0];
                let path = describe_cycle(&cycle, |position| parsed[position].name.text);
                let message = format!("computations may not call themselves: {path}");
                self.report(failure(codes::RECURSION, parsed[first].name.span, message));
                return None;
            }
        };
        let entry = entry?;
        let mut ids = vec![ComputationId::from_index(0); parsed.len()];
        for (index, &position) in order.iter().enumerate() {
            ids[position] = ComputationId::from_index(index);
        }
        let mut slots: Vec<Option<Computation>> =
            parsed.into_iter().map(|computation| computation.computation).collect();
        let mut computations = Arena::new();
        for position in order {
            // A computation without a value was reported when it was read.
            let mut computation = slots[position].take()?;
            for instruction in computation.instructions.values_mut() {
                instruction.op.rename_computations(|reference| ids[targets[reference.index()]]);
            }
            computations.push(computation);
        }
        Some((computations, ids[entry]))
    }

    /// The position of the entry computation.
    fn entry(&mut self, parsed: &[Parsed<'a>]) -> Option<usize> {
        let mut entries = parsed.iter().enumerate().filter(|(_, computation)| computation.entry);
        if let Some((position, _)) = entries.next() {
            for (_, second) in entries {
                let message = format!(
                    "a module has one entry computation; {} already is marked `ENTRY`",
                    quote(parsed[position].name.text)
                );
                self.report(failure(codes::ENTRY, second.name.span, message));
            }
            return Some(position);
        }
        match parsed {
            [_] => return Some(0),
            _ if self.lost => {}
            [] => {
                let failure = self.cursor.unexpected_as(codes::ENTRY, "a computation");
                self.report(failure);
            }
            [first, ..] => {
                let message = format!("one of the {} computations must be marked `ENTRY`", parsed.len());
                self.report(failure(codes::ENTRY, first.name.span, message));
            }
        }
        None
    }

    /// For each reference the position of the computation it names.
    fn targets(&mut self, positions: &HashMap<&str, usize>, parsed: &[Parsed<'a>]) -> Option<Vec<usize>> {
        let uses = std::mem::take(&mut self.references.uses);
        let mut targets = Vec::with_capacity(uses.len());
        for Use { name, computation, instruction } in &uses {
            match positions.get(name.text) {
                Some(&position) => targets.push(position),
                None if self.lost || self.stopped() => return None,
                None => {
                    let names = parsed.iter().take(MAX_SUGGESTED).map(|computation| computation.name.text);
                    let hint = nearest(name.text, names).map(|near| format!("; did you mean `{near}`?"));
                    let message = format!("there is no computation {}{}", quote(name.text), hint.unwrap_or_default());
                    let failure = failure(codes::UNKNOWN_COMPUTATION, name.span, message);
                    self.report(failure.about(format!("{computation}/{instruction}")));
                }
            }
        }
        (targets.len() == uses.len()).then_some(targets)
    }
}
