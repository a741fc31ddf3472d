//! Parsing of `sharding`: `{devices=[2,1]<=[2]}`.

use crate::diagnostic::did_you_mean;
use crate::ir::Span;
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};

/// What names an axis of a mesh.
const AXIS: &str = "the name of an axis in quotes";

/// The words of a sharding.
const WORDS: [&str; 13] = [
    "replicated",
    "maximal",
    "manual",
    "unknown",
    "unreduced",
    "device",
    "devices",
    "metadata",
    "last_tile_dims",
    "last_tile_dim_replicate",
    "shard_as",
    "shard_like",
    "mesh",
];

/// What dimensions of devices beyond those of the array may be for.
const SUBGROUPS: [&str; 5] = ["manual", "replicated", "unreduced", "unknown", "maximal"];

/// The fields of a sharding that were read so far.
#[derive(Default)]
struct ShardingFields {
    /// Whether no list of devices is needed.
    whole: bool,
    replicated: bool,
    maximal: bool,
    device: bool,
    devices: bool,
    /// Whether one device is all there are, listed by its number.
    one: bool,
}

impl Cursor<'_> {
    /// One sharding, or one per leaf of a tuple.
    pub(super) fn sharding(&mut self) -> Result<(), Failure> {
        self.expect(b'{', "`{` and a sharding")?;
        match self.peek() {
            Some(b'}') => {
                self.bump();
                Ok(())
            }
            Some(b'{') => loop {
                self.expect(b'{', "`{` and the sharding of a leaf")?;
                self.single_sharding()?;
                if self.list_ends(b'}', "the sharding of a leaf")? {
                    return Ok(());
                }
            },
            _ => self.single_sharding(),
        }
    }

    /// The words of one sharding, up to and with the closing brace.
    fn single_sharding(&mut self) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        let mut said = ShardingFields::default();
        while !self.eat(b'}') {
            let Some(word) = self.word() else { return Err(self.unexpected("`}` or a word of a sharding")) };
            match word.text {
                "replicated" => (said.replicated, said.whole) = (true, true),
                "maximal" => said.maximal = true,
                "manual" | "unknown" | "unreduced" => said.whole = true,
                "device" => {
                    self.equals("the number of a device")?;
                    self.integer("the number of a device")?;
                    said.device = true;
                }
                "devices" => {
                    self.equals("the extents of the devices")?;
                    if said.devices {
                        let message = "a sharding names its devices once";
                        return Err(failure(codes::ATTRIBUTE_REPEATED, word.span, message));
                    }
                    said.one = self.devices()?;
                    said.devices = true;
                }
                "metadata" => {
                    self.equals("metadata")?;
                    self.sharding_metadata()?;
                }
                "last_tile_dims" => {
                    self.equals("what the last dimensions of the devices are for")?;
                    self.list(b'{', b'}', "what a dimension of devices is for", Self::subgroup)?;
                }
                "last_tile_dim_replicate" => {}
                "shard_as" | "shard_like" => {
                    self.integer("the number of a group of shardings")?;
                }
                "mesh" => {
                    self.mesh()?;
                    said.whole = true;
                }
                _ => {
                    let hint = did_you_mean(word.text, WORDS.into_iter());
                    let message = format!("{} is no word of a sharding{hint}", quote(word.text));
                    return Err(failure(codes::ATTRIBUTE_VALUE, word.span, message));
                }
            }
        }
        let wrong = if said.maximal && !said.device {
            "a maximal sharding names its device, as `maximal device=0`"
        } else if said.replicated && said.device {
            "a replicated sharding names no device"
        } else if said.one && !said.maximal && !said.whole {
            "a sharding of one device is `maximal`"
        } else if !said.maximal && !said.whole && !said.devices {
            "a sharding that is not `replicated`, `maximal`, `manual`, `unknown` or `unreduced` needs `devices=[…]`"
        } else {
            return Ok(());
        };
        Err(failure(codes::ATTRIBUTE_VALUE, Span::new(start - 1..self.position()), wrong))
    }

    /// Moves past the `=` right after a word of a sharding.
    fn equals(&mut self, what: &str) -> Result<(), Failure> {
        if self.byte() == Some(b'=') {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected(&format!("`=` right after the word, and {what}")))
    }

    /// `[2,2]<=[2,2]T(1,0)` or `[2,2]0,1,2,3`; whether it lists one number.
    fn devices(&mut self) -> Result<bool, Failure> {
        let extents = self.integers(b'[', b']', "an extent of the devices")?;
        if extents.is_empty() {
            let span = self.since(self.position() - 1);
            return Err(failure(codes::SYNTAX, span, "expected an extent of the devices, found `]`"));
        }
        if !self.eat_token("<=") {
            let mut listed = 0;
            loop {
                self.integer("`<=` and extents, or the number of a device")?;
                listed += 1;
                if !self.eat(b',') {
                    return Ok(listed == 1);
                }
            }
        }
        let reshape = self.integers(b'[', b']', "an extent of the numbers of devices")?;
        if reshape.len() < 2 {
            return Ok(false);
        }
        if self.peek() != Some(b'T') {
            return Err(self.unexpected("`T` and the order of the dimensions"));
        }
        let start = self.position();
        self.bump();
        let mut order = self.integers(b'(', b')', "a dimension")?;
        order.sort_unstable();
        if order.len() == reshape.len() && (0..).zip(&order).all(|(expected, found)| expected == *found) {
            return Ok(false);
        }
        let message = format!("`T` has each dimension from 0 to {} once", reshape.len().saturating_sub(1));
        Err(failure(codes::ATTRIBUTE_VALUE, self.since(start), message))
    }

    fn subgroup(&mut self) -> Result<(), Failure> {
        let Some(word) = self.word() else { return Err(self.unexpected("`manual`, `replicated` or `unreduced`")) };
        if SUBGROUPS.contains(&word.text) {
            return Ok(());
        }
        let hint = did_you_mean(word.text, SUBGROUPS.into_iter());
        let message = format!("expected `manual`, `replicated` or `unreduced`, found {}{hint}", quote(word.text));
        Err(failure(codes::ATTRIBUTE_VALUE, word.span, message))
    }

    /// `{op_name="a"}` or `{{op_name="a"}, {op_name="b"}}`
    fn sharding_metadata(&mut self) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        self.expect(b'{', "`{` and metadata")?;
        if self.peek() != Some(b'{') {
            self.set_position(start);
            return self.metadata();
        }
        loop {
            self.metadata()?;
            if self.list_ends(b'}', "metadata")? {
                return Ok(());
            }
        }
    }

    /// `['x'=2,'y'=2], [{'x'}, {'y'}]`: axes with their extents, then for each dimension the axes that cut it.
    fn mesh(&mut self) -> Result<(), Failure> {
        self.mesh_axes()?;
        self.eat(b',');
        self.list(b'[', b']', "the axes of a dimension", Self::axes)?;
        Ok(())
    }

    /// `['x'=2,'y'=2]`
    pub(in crate::text::parser) fn mesh_axes(&mut self) -> Result<(), Failure> {
        self.list(b'[', b']', AXIS, |cursor| {
            cursor.quoted_word(AXIS)?;
            cursor.expect(b'=', "`=` and the extent of an axis")?;
            cursor.integer("the extent of an axis")
        })?;
        Ok(())
    }

    /// `{'x','y'}`
    pub(in crate::text::parser) fn axes(&mut self) -> Result<(), Failure> {
        self.list(b'{', b'}', AXIS, |cursor| cursor.quoted_word(AXIS))?;
        Ok(())
    }

    /// `{kind="sharding", entry={replicated}, exit={manual}}`
    pub(in crate::text::parser) fn domain(&mut self) -> Result<String, Failure> {
        const PARTS: [&str; 3] = ["kind", "entry", "exit"];
        self.skip_trivia();
        let (start, comments) = (self.position(), self.comments());
        self.expect(b'{', "`{` and a kind, an entry and an exit")?;
        let mut seen: Vec<&str> = Vec::with_capacity(PARTS.len());
        while !self.eat(b'}') {
            self.eat(b',');
            let part = self.attribute_name("`kind=`, `entry=` or `exit=`")?;
            if !PARTS.contains(&part.text) || seen.contains(&part.text) {
                let hint = did_you_mean(part.text, PARTS.into_iter().filter(|known| !seen.contains(known)));
                let message =
                    format!("a domain has `kind`, `entry` and `exit`, each once; found {}{hint}", quote(part.text));
                return Err(failure(codes::ATTRIBUTE_VALUE, part.span, message));
            }
            seen.push(part.text);
            if part.text != "kind" {
                self.sharding()?;
            } else if self.quoted(part)? != "sharding" {
                let message = "the only kind of domain is `\"sharding\"`";
                return Err(failure(codes::ATTRIBUTE_VALUE, part.span, message));
            }
        }
        let missing: Vec<&str> = PARTS.into_iter().filter(|part| !seen.contains(part)).collect();
        if !missing.is_empty() {
            let message = format!("a domain needs `{}`, found none", missing.join("`, `"));
            return Err(failure(codes::ATTRIBUTE_MISSING, self.since(start), message));
        }
        Ok(self.without_comments(start, comments))
    }

    /// `{}`: nothing else is known of it.
    pub(in crate::text::parser) fn sparsity(&mut self) -> Result<String, Failure> {
        self.expect(b'{', "`{}`")?;
        self.expect(b'}', "`}`: nothing else is known of a sparsity")?;
        Ok("{}".to_owned())
    }

    fn quoted_word(&mut self, expected: &str) -> Result<(), Failure> {
        if matches!(self.peek(), Some(b'"' | b'\'')) { self.skip_string() } else { Err(self.unexpected(expected)) }
    }
}
