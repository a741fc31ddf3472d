//! Parsing of records, `{op_name="a" source_line=3}`: `metadata` and the tables of source locations.

use crate::diagnostic::did_you_mean;
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};

/// What a value of a record is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `"text"`
    Text,
    /// `3`, of 32 bits
    Number,
    /// `{1}`, from 0 to 3
    ProfileTypes,
}

/// The names and kinds of the values of a record, and whether all must be there.
pub(in crate::text::parser) struct Record {
    what: &'static str,
    fields: &'static [(&'static str, Kind)],
    complete: bool,
}

/// `metadata`
const METADATA: Record = Record {
    what: "the metadata",
    fields: &[
        ("op_type", Kind::Text),
        ("op_name", Kind::Text),
        ("source_file", Kind::Text),
        ("source_line", Kind::Number),
        ("source_end_line", Kind::Number),
        ("source_column", Kind::Number),
        ("source_end_column", Kind::Number),
        ("stack_frame_id", Kind::Number),
        ("deduplicated_name", Kind::Text),
        ("scheduling_name", Kind::Text),
        ("metadata_payload", Kind::Text),
        ("profile_type", Kind::ProfileTypes),
    ],
    complete: false,
};

/// An entry of `FileLocations`.
pub(in crate::text::parser) const FILE_LOCATION: Record = Record {
    what: "a file location",
    fields: &[
        ("file_name_id", Kind::Number),
        ("function_name_id", Kind::Number),
        ("line", Kind::Number),
        ("end_line", Kind::Number),
        ("column", Kind::Number),
        ("end_column", Kind::Number),
    ],
    complete: true,
};

/// An entry of `StackFrames`.
pub(in crate::text::parser) const STACK_FRAME: Record = Record {
    what: "a stack frame",
    fields: &[("file_location_id", Kind::Number), ("parent_frame_id", Kind::Number)],
    complete: true,
};

impl Cursor<'_> {
    /// `{op_type="add" op_name="a/b"}`
    pub(super) fn metadata(&mut self) -> Result<(), Failure> {
        self.record(&METADATA)
    }

    /// Named values between braces, with blanks or commas between them.
    pub(in crate::text::parser) fn record(&mut self, record: &Record) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        self.expect(b'{', &format!("`{{` and {}", record.what))?;
        // One bit per field, of which no record has more than 32.
        let mut seen = 0u32;
        loop {
            let comma = self.eat(b',');
            if !comma && self.eat(b'}') {
                break;
            }
            let name = self.attribute_name(&format!("`}}` or a name in {}", record.what))?;
            let Some(position) = record.fields.iter().position(|(known, _)| *known == name.text) else {
                let hint = did_you_mean(name.text, record.fields.iter().map(|(known, _)| *known));
                let known: Vec<String> = record.fields.iter().map(|(known, _)| format!("`{known}`")).collect();
                let message = format!("{} has no {}; it has {}{hint}", record.what, quote(name.text), known.join(", "));
                return Err(failure(codes::ATTRIBUTE_UNKNOWN, name.span, message));
            };
            if seen & (1 << position) != 0 {
                let message = format!("{} has {} twice", record.what, quote(name.text));
                return Err(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
            }
            seen |= 1 << position;
            match record.fields[position].1 {
                Kind::Text if matches!(self.peek(), Some(b'"' | b'\'')) => self.skip_string()?,
                Kind::Text => {
                    let expected = format!("a string in quotes as `{}`", name.text);
                    return Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, &expected));
                }
                Kind::Number => self.small_number(name.text)?,
                Kind::ProfileTypes => {
                    self.list(b'{', b'}', "a type of profile", Self::profile_type)?;
                }
            }
        }
        let missing: Vec<&str> = (0..record.fields.len())
            .filter(|position| record.complete && seen & (1 << position) == 0)
            .map(|position| record.fields[position].0)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("{} needs `{}`, found none", record.what, missing.join("`, `"));
        Err(failure(codes::ATTRIBUTE_MISSING, self.since(start), message))
    }

    fn profile_type(&mut self) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        let number = self.integer("a type of profile")?;
        if (0..=3).contains(&number) {
            return Ok(());
        }
        let message = format!("a type of profile is a number from 0 to 3, found {number}");
        Err(failure(codes::ATTRIBUTE_VALUE, self.since(start), message))
    }

    /// A number of 32 bits.
    fn small_number(&mut self, name: &str) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        let number = self.integer(&format!("a number as `{name}`"))?;
        if i32::try_from(number).is_ok() {
            return Ok(());
        }
        let message = format!("`{name}` has 32 bits, found {number}");
        Err(failure(codes::NUMBER, self.since(start), message))
    }
}
