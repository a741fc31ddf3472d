//! One line, read from left to right.

use crate::Error;
use crate::program::layout::buffer_bytes;
use crate::program::{BufferId, Tensor, tensor_bytes};
use std::str::FromStr;
use weft_hlo::ir::{ArenaId, ArrayShape, ComputationId, InstrId};
use weft_partition::Site;

/// A line, as far as it was not read yet.
#[derive(Copy, Clone, Debug)]
pub(super) struct Line<'t> {
    rest: &'t str,
    /// Its number, from 1.
    number: usize,
}

impl<'t> Line<'t> {
    pub(super) fn new(text: &'t str, number: usize) -> Self {
        Line { rest: text.trim(), number }
    }

    /// What is wrong with it.
    pub(super) fn error(&self, reason: impl Into<String>) -> Error {
        Error::ProgramText { line: self.number, reason: reason.into() }
    }

    fn expected(&self, what: &str) -> Error {
        let found: String = self.rest.chars().take(20).collect();
        self.error(format!("expected {what}, found `{found}`"))
    }

    /// Whether this stands next, which is read then.
    pub(super) fn accept(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        let goes_on = |c: char| c.is_alphanumeric() || c == '_';
        if token.ends_with(goes_on) && rest.starts_with(goes_on) {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.accept(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// That nothing more stands there.
    pub(super) fn end(&self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// All that is left.
    pub(super) fn remaining(&self) -> &'t str {
        self.rest
    }

    /// A number without a sign.
    pub(super) fn count<T: FromStr>(&mut self) -> Result<T, Error> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at(digits);
        let number = number.parse().map_err(|_| self.expected("a number within its range"))?;
        self.rest = rest.trim_start();
        Ok(number)
    }

    /// A number that may be negative.
    pub(super) fn integer(&mut self) -> Result<i64, Error> {
        let sign = usize::from(self.rest.starts_with('-'));
        let digits = self.rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at(sign + digits);
        let number = number.parse().map_err(|_| self.expected("a number within its range"))?;
        self.rest = rest.trim_start();
        Ok(number)
    }

    /// A string of JSON.
    pub(super) fn name(&mut self) -> Result<String, Error> {
        let mut is_escaped = false;
        let closes = |c: char| {
            let closes = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            closes
        };
        let inner = self.rest.strip_prefix('"').ok_or_else(|| self.expected("a string"))?;
        let end = inner.find(closes).ok_or_else(|| self.expected("a string that ends"))? + 2;
        let (string, rest) = self.rest.split_at(end);
        let name = serde_json::from_str(string).map_err(|error| self.error(format!("{string}: {error}")))?;
        self.rest = rest.trim_start();
        Ok(name)
    }

    pub(super) fn site(&mut self) -> Result<Site, Error> {
        self.expect("at")?;
        let [computation, instruction] = [self.count::<u32>()?, self.count::<u32>()?];
        Ok(Site {
            computation: ComputationId::from_index(computation as usize),
            instruction: InstrId::from_index(instruction as usize),
        })
    }

    pub(super) fn buffer(&mut self) -> Result<BufferId, Error> {
        let digits = self.rest.strip_prefix('b').ok_or_else(|| self.expected("a buffer, such as `b0`"))?;
        self.rest = digits;
        self.count().map(BufferId)
    }

    /// A tensor that may lie on a device.
    pub(super) fn tensor(&mut self) -> Result<Tensor, Error> {
        let buffer = self.buffer()?;
        let shape = self.shape()?;
        let bytes = tensor_bytes(&shape).filter(|bytes| buffer_bytes(*bytes).is_some());
        let bytes = bytes.ok_or_else(|| self.error(format!("{shape} has no form on a device")))?;
        Ok(Tensor { name: self.name()?, shape, buffer, bytes })
    }

    /// The shape of an array, with something behind it.
    pub(super) fn shape(&mut self) -> Result<ArrayShape, Error> {
        let (text, rest) = self.rest.split_once(' ').ok_or_else(|| self.expected("a shape and what follows it"))?;
        let shape = weft_hlo::text::parse_shape(text);
        let shape = shape.map_err(|_| self.expected("a shape"))?;
        let shape = shape.as_array().cloned().ok_or_else(|| self.error(format!("{shape} is no array")))?;
        self.rest = rest.trim_start();
        Ok(shape)
    }

    pub(super) fn tensors(&mut self) -> Result<Vec<Tensor>, Error> {
        self.expect("(")?;
        if self.accept(")") {
            return Ok(Vec::new());
        }
        let tensors = self.list(Line::tensor)?;
        self.expect(")")?;
        Ok(tensors)
    }

    /// At least one of these, between commas.
    pub(super) fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let mut list = vec![read(self)?];
        while self.accept(",") {
            list.push(read(self)?);
        }
        Ok(list)
    }
}
