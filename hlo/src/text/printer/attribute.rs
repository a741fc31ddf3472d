//! Printing of attributes.

use super::Printer;
use super::float::push_f32;
use super::literal::write_literal;
use crate::ir::{Attribute, Data, Field, FieldView, Literal, Op, Spelling};
use std::fmt::{self, Write};

impl Printer<'_> {
    /// Writes attributes, each with a comma before it.
    pub(super) fn attributes(&mut self, attributes: &[Attribute]) -> fmt::Result {
        for attribute in attributes {
            write!(self.out, ", {}={}", attribute.name, attribute.value)?;
        }
        Ok(())
    }

    /// Writes the attributes that an operation owns.
    pub(super) fn op_attributes(&mut self, op: &Op) -> fmt::Result {
        let mut result = Ok(());
        op.visit_fields(false, &mut |field, value| {
            if result.is_ok() {
                result = self.field(field, value);
            }
        });
        result
    }

    fn field(&mut self, field: &Field, value: FieldView<'_>) -> fmt::Result {
        write!(self.out, ", {}=", field.name)?;
        match value {
            FieldView::Word(word) => self.out.write_str(word),
            FieldView::Precisions(all) => self.list("{", all, ",", "}", |out, it| out.write_str(it.name())),
            FieldView::Integer(number) if field.spelling == Spelling::Dimension => write!(self.out, "{{{number}}}"),
            FieldView::Integer(number) => write!(self.out, "{number}"),
            FieldView::Integers(all) => self.list("{", all, ",", "}", |out, it| write!(out, "{it}")),
            FieldView::Flag(flag) => write!(self.out, "{flag}"),
            FieldView::Epsilon(epsilon) => {
                let mut text = String::new();
                push_f32(&mut text, epsilon.0);
                self.out.write_str(&text)
            }
            FieldView::Text(text) if field.spelling == Spelling::Quoted => write!(self.out, "\"{text}\""),
            FieldView::Text(text) => self.out.write_str(text),
            FieldView::Slices(all) => {
                let strided = all.iter().any(|dimension| dimension.stride != 1);
                self.list("{", all, ", ", "}", |out, dimension| {
                    write!(out, "[{}:{}", dimension.start, dimension.limit)?;
                    if strided {
                        write!(out, ":{}", dimension.stride)?;
                    }
                    out.write_str("]")
                })
            }
            FieldView::Padding(all) => {
                let interior = all.iter().any(|dimension| dimension.interior != 0);
                self.list("", all, "x", "", |out, dimension| {
                    write!(out, "{}_{}", dimension.low, dimension.high)?;
                    if interior { write!(out, "_{}", dimension.interior) } else { Ok(()) }
                })
            }
            FieldView::Window(window) => write!(self.out, "{window}"),
            FieldView::Labels(labels) => write!(self.out, "{labels}"),
            FieldView::Groups(groups) => write!(self.out, "{groups}"),
            FieldView::Pairs(all) => self.list("{", all, ",", "}", |out, pair| {
                let numbers: Vec<String> = pair.iter().map(i64::to_string).collect();
                write!(out, "{{{}}}", numbers.join(","))
            }),
            FieldView::Computation(computation) => self.computation_name(*computation),
            FieldView::Computations(all) => {
                self.out.write_str("{")?;
                for (position, &computation) in all.iter().enumerate() {
                    self.out.write_str(if position > 0 { ", " } else { "" })?;
                    self.computation_name(computation)?;
                }
                self.out.write_str("}")
            }
            FieldView::Shape(shape) => write!(self.out, "{shape}"),
            FieldView::Shapes(all) => self.list("{", all, ", ", "}", |out, shape| write!(out, "{shape}")),
            FieldView::Literal(literal) => self.shaped_literal(literal),
            FieldView::Aliases(all) => self.list("{", all, ", ", "}", |out, alias| write!(out, "{alias}")),
        }
    }

    /// A literal with its shape, or those of a tuple; the depth of recursion is that of the shape.
    fn shaped_literal(&mut self, literal: &Literal) -> fmt::Result {
        let Data::Tuple(elements) = &literal.data else {
            write!(self.out, "{} ", literal.shape)?;
            return write_literal(self.out, literal);
        };
        self.out.write_str("( ")?;
        for (position, element) in elements.iter().enumerate() {
            self.out.write_str(if position > 0 { ", " } else { "" })?;
            self.shaped_literal(element)?;
        }
        self.out.write_str(" )")
    }

    fn list<T>(
        &mut self,
        opening: &str,
        items: &[T],
        separator: &str,
        closing: &str,
        write: impl Fn(&mut dyn Write, &T) -> fmt::Result,
    ) -> fmt::Result {
        self.out.write_str(opening)?;
        for (position, item) in items.iter().enumerate() {
            self.out.write_str(if position > 0 { separator } else { "" })?;
            write(self.out, item)?;
        }
        self.out.write_str(closing)
    }
}
