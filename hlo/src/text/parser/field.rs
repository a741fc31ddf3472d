//! Parsing of the attributes that operations own, by their spelling.

use crate::diagnostic::did_you_mean;
use crate::ir::{Epsilon, FieldValue, OperandAlias, PadDimension, Precision, ReplicaGroups, SliceDimension, Spelling};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, Name, failure, quote};

impl<'a> Cursor<'a> {
    /// The value of an attribute; its name is for findings. Names of computations and raw text are read elsewhere.
    pub(super) fn field_value(&mut self, name: Name<'a>, spelling: Spelling) -> Result<FieldValue, Failure> {
        Ok(match spelling {
            Spelling::Integer => {
                FieldValue::Integer(self.integer(&format!("a number as the attribute `{}`", name.text))?)
            }
            Spelling::Dimension => FieldValue::Integer(self.dimension(name)?),
            Spelling::Dimensions => FieldValue::Integers(self.integers(b'{', b'}', "a dimension")?),
            Spelling::Flag => FieldValue::Flag(self.flag(name)?),
            Spelling::Epsilon => FieldValue::Epsilon(self.epsilon()?),
            Spelling::Quoted => FieldValue::Text(self.quoted(name)?),
            Spelling::Word(names) => FieldValue::Word(self.one_of(name, names)?),
            Spelling::AnyCase(names) => FieldValue::Word(self.one_of_any_case(name, names)?),
            Spelling::Precisions => FieldValue::Precisions(self.list(b'{', b'}', "a precision", |cursor| {
                let word = cursor.one_of_any_case(name, Precision::NAMES)?;
                Ok(Precision::from_name(word).unwrap_or(Precision::Default))
            })?),
            Spelling::Slices => FieldValue::Slices(self.list(b'{', b'}', "`[start:limit]`", Self::slice_dimension)?),
            Spelling::Padding => FieldValue::Padding(self.padding()?),
            Spelling::Window => FieldValue::Window(self.window()?),
            Spelling::Labels => FieldValue::Labels(self.convolution_dimensions()?),
            Spelling::Groups => FieldValue::Groups(self.replica_groups()?),
            Spelling::Pairs => FieldValue::Pairs(self.nested_integers()?),
            Spelling::Shape => FieldValue::Shape(self.shape()?),
            Spelling::Shapes => FieldValue::Shapes(self.list(b'{', b'}', "a shape", Self::shape)?),
            Spelling::Literal => FieldValue::Literal(self.shaped_literal(0)?),
            Spelling::Aliases => {
                FieldValue::Aliases(self.trailing_list("`{output}: (operand, {index})`", Self::alias)?)
            }
            Spelling::Domain => FieldValue::Text(self.domain()?),
            Spelling::Sparsity => FieldValue::Text(self.sparsity()?),
            Spelling::Computation | Spelling::Computations => return Err(self.unexpected("the name of a computation")),
        })
    }

    /// A number that is not infinite.
    fn epsilon(&mut self) -> Result<Epsilon, Failure> {
        self.skip_trivia();
        let start = self.position();
        let number = self.f32()?;
        if number.is_infinite() {
            return Err(failure(codes::NUMBER, self.since(start), "epsilon is a number or `nan`, found infinity"));
        }
        Ok(Epsilon(number))
    }

    /// Moves past the bracket that opens a list.
    pub(super) fn open_list(&mut self, open: u8, item: &str) -> Result<(), Failure> {
        self.expect(open, &format!("`{}` and {item}", char::from(open)))
    }

    /// Moves past the comma or the bracket after an item; whether it was the bracket.
    pub(super) fn list_ends(&mut self, close: u8, item: &str) -> Result<bool, Failure> {
        if self.eat(b',') {
            return Ok(false);
        }
        self.expect(close, &format!("`,` or `{}` after {item}", char::from(close)))?;
        Ok(true)
    }

    /// Items with commas between two brackets.
    pub(super) fn list<T>(
        &mut self,
        open: u8,
        close: u8,
        item: &str,
        read: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        list(self, |cursor| cursor, (open, close), item, read)
    }

    pub(super) fn integers(&mut self, open: u8, close: u8, item: &str) -> Result<Vec<i64>, Failure> {
        self.list(open, close, item, |cursor| cursor.integer(item))
    }

    /// `{{0,1},{2,3}}`
    fn nested_integers(&mut self) -> Result<Vec<Vec<i64>>, Failure> {
        self.list(b'{', b'}', "`{` and numbers", |cursor| cursor.integers(b'{', b'}', "a number"))
    }

    /// `{1}`
    fn dimension(&mut self, name: Name<'a>) -> Result<i64, Failure> {
        self.skip_trivia();
        let start = self.position();
        let dimensions = self.integers(b'{', b'}', "a dimension")?;
        match dimensions.as_slice() {
            &[dimension] => Ok(dimension),
            other => {
                let message = format!("the attribute `{}` names one dimension, found {}", name.text, other.len());
                Err(failure(codes::ATTRIBUTE_VALUE, self.since(start), message))
            }
        }
    }

    /// What stands in a string; escapes are kept as they are.
    pub(super) fn quoted(&mut self, name: Name<'a>) -> Result<String, Failure> {
        if !matches!(self.peek(), Some(b'"' | b'\'')) {
            let expected = format!("a string in quotes as the attribute `{}`", name.text);
            return Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, &expected));
        }
        let start = self.position();
        self.skip_string()?;
        let text = self.slice(start + 1..self.position() - 1);
        if self.bytes().get(start) == Some(&b'"') {
            return Ok(text.to_owned());
        }
        // It is printed in double quotes, within which those need an escape.
        let mut quoted = String::with_capacity(text.len());
        let mut escaped = false;
        for character in text.chars() {
            if character == '"' && !escaped {
                quoted.push('\\');
            }
            escaped = character == '\\' && !escaped;
            quoted.push(character);
        }
        Ok(quoted)
    }

    /// `true` or `false`
    pub(super) fn flag(&mut self, name: Name<'a>) -> Result<bool, Failure> {
        Ok(self.one_of(name, &["true", "false"])? == "true")
    }

    /// One of a few words.
    fn one_of(&mut self, attribute: Name<'a>, names: &'static [&'static str]) -> Result<&'static str, Failure> {
        self.one_of_where(attribute, names, |name, word| name == word)
    }

    /// One of a few words, in any case.
    fn one_of_any_case(
        &mut self,
        attribute: Name<'a>,
        names: &'static [&'static str],
    ) -> Result<&'static str, Failure> {
        self.one_of_where(attribute, names, str::eq_ignore_ascii_case)
    }

    fn one_of_where(
        &mut self,
        attribute: Name<'a>,
        names: &'static [&'static str],
        is: impl Fn(&str, &str) -> bool,
    ) -> Result<&'static str, Failure> {
        let expected = || {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {} as the attribute `{}`", names.join(", "), attribute.text)
        };
        let Some(word) = self.word() else {
            return Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, &expected()));
        };
        names.iter().copied().find(|name| is(name, word.text)).ok_or_else(|| {
            let hint = did_you_mean(word.text, names.iter().copied());
            let message = format!("expected {}, found {}{hint}", expected(), quote(word.text));
            failure(codes::ATTRIBUTE_VALUE, word.span, message)
        })
    }

    /// `[0:5]` or `[1:20:2]`
    fn slice_dimension(&mut self) -> Result<SliceDimension, Failure> {
        self.expect(b'[', "`[start:limit]` or `[start:limit:stride]`")?;
        let start = self.integer("the start of a slice")?;
        self.expect(b':', "`:` and the limit of a slice")?;
        let limit = self.integer("the limit of a slice")?;
        let stride = if self.eat(b':') { self.integer("the stride of a slice")? } else { 1 };
        self.expect(b']', "`]` after the bounds of a slice")?;
        Ok(SliceDimension { start, limit, stride })
    }

    /// `1_4x0_0_2`; nothing for a scalar.
    fn padding(&mut self) -> Result<Vec<PadDimension>, Failure> {
        if self.byte().is_none_or(|byte| byte == b',' || byte == b'}' || byte.is_ascii_whitespace()) {
            return Ok(Vec::new());
        }
        let start = self.position();
        while self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            self.bump();
        }
        let text = self.slice(start..self.position());
        let mut dimensions = Vec::new();
        for part in text.split('x') {
            let numbers: Option<Vec<i64>> = part.split('_').map(|number| number.parse().ok()).collect();
            let dimension = match numbers.as_deref() {
                Some(&[low, high]) => PadDimension { low, high, interior: 0 },
                Some(&[low, high, interior]) => PadDimension { low, high, interior },
                _ => {
                    let message =
                        format!("expected `low_high` or `low_high_interior` joined by `x`, found {}", quote(text));
                    return Err(failure(codes::ATTRIBUTE_VALUE, self.since(start), message));
                }
            };
            dimensions.push(dimension);
        }
        Ok(dimensions)
    }

    /// `{{0,1},{2,3}}`, `[2,2]<=[4]T(0)`, or a form that names the axes of a mesh.
    fn replica_groups(&mut self) -> Result<ReplicaGroups, Failure> {
        match self.peek() {
            Some(b'{') => Ok(ReplicaGroups::List(self.nested_integers()?)),
            Some(b'[') => self.iota_groups(),
            _ => {
                let (start, comments) = (self.position(), self.comments());
                if self.word().is_none_or(|word| word.text != "mesh") {
                    self.set_position(start);
                    let expected = "`{{0,1},…}`, `[groups,members]<=[count]` or `mesh['x'=2] {'x'}`";
                    return Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, expected));
                }
                self.mesh_axes()?;
                self.axes()?;
                Ok(ReplicaGroups::Mesh(self.without_comments(start, comments)))
            }
        }
    }

    /// `[2,4]<=[4,2]T(1,0)`
    fn iota_groups(&mut self) -> Result<ReplicaGroups, Failure> {
        let start = self.position();
        let dimensions = self.integers(b'[', b']', "how many groups and members")?;
        if dimensions.len() != 2 {
            let message = format!("expected two numbers, of groups and of members, found {}", dimensions.len());
            return Err(failure(codes::ATTRIBUTE_VALUE, self.since(start), message));
        }
        if !self.eat_token("<=") {
            return Err(self.unexpected("`<=` and the extents of the numbers"));
        }
        let reshape = self.integers(b'[', b']', "an extent")?;
        let mut transpose = Vec::new();
        if reshape.len() > 1 {
            self.skip_trivia();
            let at = self.position();
            self.expect(b'T', "`T` and the order of the dimensions")?;
            transpose = self.integers(b'(', b')', "a dimension")?;
            let rank = i64::try_from(reshape.len()).unwrap_or(i64::MAX);
            if transpose.len() != reshape.len() || transpose.iter().any(|dimension| !(0..rank).contains(dimension)) {
                let message = format!("`T` has each dimension from 0 to {} once", rank - 1);
                return Err(failure(codes::ATTRIBUTE_VALUE, self.since(at), message));
            }
        }
        Ok(ReplicaGroups::Iota { dimensions, reshape, transpose })
    }

    /// `{0}: (1, {})`, with `, may-alias` or `, must-alias` after the index.
    fn alias(&mut self) -> Result<OperandAlias, Failure> {
        let output = self.integers(b'{', b'}', "an index into the result")?;
        self.expect(b':', "`:` and an operand")?;
        self.expect(b'(', "`(` and the number of an operand")?;
        let operand = self.integer("the number of an operand")?;
        self.expect(b',', "`,` and an index into the operand")?;
        let operand_index = self.integers(b'{', b'}', "an index into the operand")?;
        self.expect(b')', "`)` after an index into the operand")?;
        Ok(OperandAlias { output, operand, operand_index })
    }
}

/// Items with commas between two brackets, read by whoever holds the cursor.
pub(super) fn list<'a, R, T>(
    reader: &mut R,
    cursor: impl Fn(&mut R) -> &mut Cursor<'a>,
    (open, close): (u8, u8),
    item: &str,
    mut read: impl FnMut(&mut R) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    cursor(reader).open_list(open, item)?;
    let mut items = Vec::new();
    if cursor(reader).eat(close) {
        return Ok(items);
    }
    loop {
        items.push(read(reader)?);
        if cursor(reader).list_ends(close, item)? {
            return Ok(items);
        }
    }
}
