//! Parsing of windows and of a convolution's dimension labels.

use crate::diagnostic::did_you_mean;
use crate::ir::{ConvolutionDimensions, Window, WindowDimension};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, Name, failure, quote};

/// What a window says of its dimensions.
const PROPERTIES: [&str; 6] = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];

/// How many dimensions a window may have: as many as an array.
const MAX_DIMENSIONS: usize = 255;

impl<'a> Cursor<'a> {
    /// `{size=3x3 stride=2x2 pad=1_1x1_1}`
    pub(super) fn window(&mut self) -> Result<Window, Failure> {
        self.skip_trivia();
        let start = self.position();
        self.expect(b'{', "`{` and the sizes of a window")?;
        let mut seen: Vec<&str> = Vec::new();
        let mut dimensions: Vec<WindowDimension> = Vec::new();
        while !self.eat(b'}') {
            let Some(property) = self.word() else {
                return Err(self.unexpected("`}` or a property of a window after a blank"));
            };
            if !PROPERTIES.contains(&property.text) {
                let hint = did_you_mean(property.text, PROPERTIES.into_iter());
                let known = PROPERTIES.map(|name| format!("`{name}`")).join(", ");
                let message = format!("a window has {known}, found {}{hint}", quote(property.text));
                return Err(failure(codes::ATTRIBUTE_VALUE, property.span, message));
            }
            if seen.contains(&property.text) {
                let message = format!("the property {} of a window is repeated", quote(property.text));
                return Err(failure(codes::ATTRIBUTE_REPEATED, property.span, message));
            }
            seen.push(property.text);
            if self.byte() != Some(b'=') {
                return Err(self.unexpected("`=` right after a property of a window"));
            }
            self.bump();
            self.window_property(property, &mut dimensions)?;
        }
        if !seen.is_empty() && !seen.contains(&"size") {
            return Err(failure(
                codes::ATTRIBUTE_MISSING,
                self.since(start),
                "a window needs the property `size`, found none",
            ));
        }
        Ok(Window { dimensions })
    }

    /// `3x3`, one number or pair of numbers for each dimension.
    fn window_property(&mut self, property: Name<'a>, dimensions: &mut Vec<WindowDimension>) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        let bytes = self.bytes();
        let mut end = start;
        while bytes.get(end).is_some_and(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            end += 1;
        }
        self.set_position(end);
        let text = self.slice(start..end);
        let span = self.since(start);
        let wrong = |message: String| failure(codes::ATTRIBUTE_VALUE, span, message);
        let parts: Vec<&str> = text.split('x').collect();
        if dimensions.is_empty() {
            if parts.len() > MAX_DIMENSIONS {
                return Err(wrong(format!("a window has at most {MAX_DIMENSIONS} dimensions, found {}", parts.len())));
            }
            dimensions.resize(parts.len(), WindowDimension::default());
        }
        if parts.len() != dimensions.len() {
            let (name, found, others) = (property.text, parts.len(), dimensions.len());
            let message = format!("the property `{name}` speaks of {found} dimensions, those before it of {others}");
            return Err(wrong(message));
        }
        for (part, dimension) in parts.into_iter().zip(dimensions) {
            let number = |text: &str| {
                text.parse::<i64>().map_err(|_| {
                    wrong(format!("expected numbers joined by `x`, found {}", quote(self.slice(start..end))))
                })
            };
            match property.text {
                "size" => dimension.size = number(part)?,
                "stride" => dimension.stride = number(part)?,
                "lhs_dilate" => dimension.base_dilation = number(part)?,
                "rhs_dilate" => dimension.window_dilation = number(part)?,
                "rhs_reversal" => dimension.reversal = number(part)? != 0,
                _ => {
                    let Some((low, high)) = part.split_once('_') else {
                        let message = format!("expected `low_high` joined by `x`, found {}", quote(text));
                        return Err(wrong(message));
                    };
                    (dimension.padding_low, dimension.padding_high) = (number(low)?, number(high)?);
                }
            }
        }
        Ok(())
    }

    /// `b01f_01io->b01f`
    pub(super) fn convolution_dimensions(&mut self) -> Result<ConvolutionDimensions, Failure> {
        self.skip_trivia();
        let start = self.position();
        let bytes = self.bytes();
        let mut end = start;
        while bytes
            .get(end)
            .is_some_and(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'>' | b'?'))
        {
            end += 1;
        }
        self.set_position(end);
        let text = self.slice(start..end);
        let wrong = |reason: &str| {
            let message =
                format!("expected the roles of dimensions such as `b01f_01io->b01f`, found {}{reason}", quote(text));
            failure(codes::ATTRIBUTE_VALUE, self.since(start), message)
        };
        let sides = text.split_once('_').and_then(|(input, rest)| Some((input, rest.split_once("->")?)));
        let Some((input, (kernel, output))) = sides else { return Err(wrong("")) };
        let side = |labels: &str, first: u8, second: u8| roles(labels.as_bytes(), first, second);
        let (Some(input), Some(kernel), Some(output)) =
            (side(input, b'b', b'f'), side(kernel, b'i', b'o'), side(output, b'b', b'f'))
        else {
            return Err(wrong(
                ": input and output have `b`, `f`, the kernel `i`, `o`, and each the digits from `0` on, once",
            ));
        };
        if input.2.len() != kernel.2.len() || input.2.len() != output.2.len() {
            return Err(wrong(": input, kernel and output have equally many spatial dimensions"));
        }
        Ok(ConvolutionDimensions {
            input_batch: input.0,
            input_feature: input.1,
            input_spatial: input.2,
            kernel_input_feature: kernel.0,
            kernel_output_feature: kernel.1,
            kernel_spatial: kernel.2,
            output_batch: output.0,
            output_feature: output.1,
            output_spatial: output.2,
        })
    }
}

/// The positions of two letters and of the digits from 0 on; `None` unless each stands there once, and nothing else but
/// `?`, a dimension without a role.
fn roles(labels: &[u8], first: u8, second: u8) -> Option<(i64, i64, Vec<i64>)> {
    let position = |label: u8| {
        let mut found = labels.iter().enumerate().filter(|(_, at)| **at == label);
        let position = found.next()?.0;
        if found.next().is_some() { None } else { i64::try_from(position).ok() }
    };
    let named = labels.iter().filter(|label| **label != b'?').count();
    let spatial = named.checked_sub(2).filter(|&count| count <= 10)?;
    let digits: Option<Vec<i64>> = (0..spatial).map(|digit| position(b'0' + digit as u8)).collect();
    Some((position(first)?, position(second)?, digits?))
}
