//! Parsing of the header: `HloModule name, attribute=value, …`.

use super::Parser;
use crate::diagnostic::did_you_mean;
use crate::ir::{BufferDonor, EntryLayout, HeaderAttribute, InputOutputAlias};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, Name, failure, quote};

impl<'a> Parser<'a> {
    /// Whether the text starts with a header.
    pub(super) fn at_header(&mut self) -> bool {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let found = self.cursor.word().is_some_and(|word| word.text == "HloModule");
        self.cursor.set_position(start);
        found
    }

    /// The name and the attributes of the module. A finding about the value of an attribute does not end the header.
    pub(super) fn header(&mut self, attributes: &mut Vec<HeaderAttribute>) -> Result<&'a str, Failure> {
        self.cursor.word();
        let name = match self.cursor.name("the module's name") {
            Ok(name) => name.text,
            Err(failure) if failure.code == codes::SYNTAX => {
                return Err(self.cursor.unexpected_as(codes::HEADER, "the module's name after `HloModule`"));
            }
            Err(mut failure) => {
                failure.code = codes::HEADER;
                return Err(failure);
            }
        };
        let mut seen: Vec<&str> = Vec::new();
        while self.cursor.eat(b',') {
            let name = self.cursor.attribute_name("the name of an attribute of the module")?;
            if seen.contains(&name.text) {
                let message = format!("the module has the attribute {} twice", quote(name.text));
                self.report(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
            }
            seen.push(name.text);
            if !HeaderAttribute::NAMES.contains(&name.text) {
                let hint = did_you_mean(name.text, HeaderAttribute::NAMES.iter().copied());
                let known: Vec<String> = HeaderAttribute::NAMES.iter().map(|known| format!("`{known}`")).collect();
                let message =
                    format!("a module has no attribute {}; it has {}{hint}", quote(name.text), known.join(", "));
                self.skip_header_value(failure(codes::ATTRIBUTE_UNKNOWN, name.span, message))?;
                seen.pop();
                continue;
            }
            let value = self.cursor.position();
            match self.cursor.header_attribute(name) {
                Ok(attribute) => attributes.push(attribute),
                Err(failure) => {
                    self.cursor.set_position(value);
                    self.skip_header_value(failure)?;
                }
            }
        }
        self.missing_comma()?;
        Ok(name)
    }

    /// Fails where an attribute follows without a comma.
    fn missing_comma(&mut self) -> Result<(), Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let word = self.cursor.word();
        let is_attribute = word.is_some() && self.cursor.byte() == Some(b'=');
        self.cursor.set_position(start);
        match word.filter(|_| is_attribute) {
            None => Ok(()),
            Some(word) => {
                let message = format!("expected `,` before the attribute {} of the module", quote(word.text));
                Err(failure(codes::SYNTAX, word.span, message))
            }
        }
    }

    /// Reports a failure and goes on after the value it is in; fails with it where that value does not end.
    fn skip_header_value(&mut self, failure: Failure) -> Result<(), Failure> {
        if !self.stopped() && self.cursor.skip_value() {
            self.report(failure);
            return Ok(());
        }
        Err(failure)
    }
}

impl<'a> Cursor<'a> {
    /// The value of an attribute of the header, one of [`HeaderAttribute::NAMES`].
    fn header_attribute(&mut self, name: Name<'a>) -> Result<HeaderAttribute, Failure> {
        Ok(match name.text {
            "is_scheduled" => HeaderAttribute::IsScheduled(self.flag(name)?),
            "alias_passthrough_params" => HeaderAttribute::AliasPassthroughParams(self.flag(name)?),
            "input_output_alias" => HeaderAttribute::InputOutputAlias(
                self.trailing_list("`{output}: (parameter, {index}, may-alias)`", Self::input_output_alias)?,
            ),
            "buffer_donor" => {
                HeaderAttribute::BufferDonor(self.trailing_list("`(parameter, {index})`", Self::buffer_donor)?)
            }
            "entry_computation_layout" => HeaderAttribute::EntryComputationLayout(self.entry_layout()?),
            "allow_spmd_sharding_propagation_to_parameters" => {
                HeaderAttribute::AllowShardingPropagationToParameters(self.flag_or_flags(name)?)
            }
            "allow_spmd_sharding_propagation_to_output" => {
                HeaderAttribute::AllowShardingPropagationToOutput(self.flag_or_flags(name)?)
            }
            "replica_count" => HeaderAttribute::ReplicaCount(self.integer("the number of replicas")?),
            "num_partitions" => HeaderAttribute::NumPartitions(self.integer("the number of partitions")?),
            "frontend_attributes" => HeaderAttribute::FrontendAttributes(self.frontend_attributes()?),
            _ => HeaderAttribute::OriginRecoveryTable(self.origin_recovery_table()?),
        })
    }

    /// Items with commas between braces, of which one may stand at the end.
    pub(super) fn trailing_list<T>(
        &mut self,
        item: &str,
        mut read: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        self.open_list(b'{', item)?;
        let mut items = Vec::new();
        while !self.eat(b'}') {
            items.push(read(self)?);
            if self.list_ends(b'}', item)? {
                break;
            }
        }
        Ok(items)
    }

    /// `{0}: (1, {}, must-alias)`
    fn input_output_alias(&mut self) -> Result<InputOutputAlias, Failure> {
        let output = self.integers(b'{', b'}', "an index into the result")?;
        self.expect(b':', "`:` and a parameter")?;
        self.expect(b'(', "`(` and the number of a parameter")?;
        let parameter = self.at_least("the number of a parameter", 0)?;
        self.expect(b',', "`,` and an index into the parameter")?;
        let parameter_index = self.integers(b'{', b'}', "an index into the parameter")?;
        let mut must = false;
        if self.eat(b',') {
            let kinds = ["may-alias", "must-alias"];
            let Some(kind) = self.word() else { return Err(self.unexpected("`may-alias` or `must-alias`")) };
            if !kinds.contains(&kind.text) {
                let hint = did_you_mean(kind.text, kinds.into_iter());
                let message = format!("expected `may-alias` or `must-alias`, found {}{hint}", quote(kind.text));
                return Err(failure(codes::ATTRIBUTE_VALUE, kind.span, message));
            }
            must = kind.text == "must-alias";
        }
        self.expect(b')', "`)` after an index into the parameter")?;
        Ok(InputOutputAlias { output, parameter, parameter_index, must })
    }

    /// `(1, {0})`
    fn buffer_donor(&mut self) -> Result<BufferDonor, Failure> {
        self.expect(b'(', "`(` and the number of a parameter")?;
        let parameter = self.at_least("the number of a parameter", 0)?;
        self.expect(b',', "`,` and an index into the parameter")?;
        let parameter_index = self.integers(b'{', b'}', "an index into the parameter")?;
        self.expect(b')', "`)` after an index into the parameter")?;
        Ok(BufferDonor { parameter, parameter_index })
    }

    /// `{(f32[2]{0}, s32[])->f32[2]{0}}`
    fn entry_layout(&mut self) -> Result<EntryLayout, Failure> {
        self.expect(b'{', "`{` and the shapes of the parameters in parentheses")?;
        let parameters = self.list(b'(', b')', "the shape of a parameter", Self::spaced_shape)?;
        if !self.eat_token("->") {
            return Err(self.unexpected("`->` and the shape of the result"));
        }
        let result = self.spaced_shape()?;
        self.expect(b'}', "`}` after the shape of the result")?;
        Ok(EntryLayout { parameters, result })
    }

    /// `true` or `{true,false}`
    fn flag_or_flags(&mut self, name: Name<'a>) -> Result<Vec<bool>, Failure> {
        if self.peek() == Some(b'{') {
            self.flags("whether a sharding may be chosen")
        } else {
            Ok(vec![self.flag(name)?])
        }
    }

    /// `{ {"x"} : {"y"}, "module" … }`: a value of the program before, one of this program, and the text of a module
    /// that makes the first of the second.
    fn origin_recovery_table(&mut self) -> Result<String, Failure> {
        self.skip_trivia();
        let (start, comments) = (self.position(), self.comments());
        self.expect(b'{', "`{` and origins")?;
        while !self.eat(b'}') {
            self.origin_array()?;
            self.expect(b':', "`:` and the value that replaces it")?;
            self.origin_array()?;
            self.expect(b',', "`,` and the text of a module in quotes")?;
            if !matches!(self.peek(), Some(b'"' | b'\'')) {
                return Err(self.unexpected("the text of a module in quotes"));
            }
            self.skip_string()?;
            self.eat(b',');
        }
        Ok(self.without_comments(start, comments))
    }
}
