//! Attributes.

use super::Printer;
use crate::ir::{Attribute, AttributeValue, Op};
use std::fmt::{self, Write};

/// Writes a value with the comments in which XLA counts the elements of long tuples.
pub(super) fn write_counted(out: &mut dyn Write, value: &str) -> fmt::Result {
    // In a string the comment would become part of the value.
    if value.contains('"') {
        return out.write_str(value);
    }
    // For each open bracket whether it counts, and how many commas stood in it.
    let mut open: Vec<(bool, usize)> = Vec::new();
    let mut from = 0;
    for (position, byte) in value.bytes().enumerate() {
        match byte {
            b'(' => open.push((true, 0)),
            b'{' | b'[' => open.push((false, 0)),
            b')' | b'}' | b']' => {
                open.pop();
            }
            b',' => {
                let Some((true, commas)) = open.last_mut() else { continue };
                *commas += 1;
                if *commas % 5 == 0 {
                    let next = value.as_bytes().get(position + 1);
                    let end = position + 1 + usize::from(next == Some(&b' '));
                    write!(out, "{}/*index={commas}*/", &value[from..end])?;
                    from = end;
                }
            }
            _ => {}
        }
    }
    out.write_str(&value[from..])
}

impl Printer<'_> {
    /// Writes attributes, each with a comma before it.
    pub(super) fn attributes(&mut self, attributes: &[Attribute]) -> fmt::Result {
        for attribute in attributes {
            write!(self.out, ", {}=", attribute.name)?;
            match &attribute.value {
                AttributeValue::Text(text) => self.out.write_str(text)?,
                AttributeValue::Computation(computation) => self.computation_name(*computation)?,
                AttributeValue::Computations(computations) => {
                    self.out.write_str("{")?;
                    for (position, &computation) in computations.iter().enumerate() {
                        self.out.write_str(if position > 0 { ", " } else { "" })?;
                        self.computation_name(computation)?;
                    }
                    self.out.write_str("}")?;
                }
            }
        }
        Ok(())
    }

    /// Writes the attributes that an operation owns.
    pub(super) fn op_attributes(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Iota { dimension } => write!(self.out, ", iota_dimension={dimension}"),
            Op::Broadcast { dimensions } | Op::Reverse { dimensions } => self.dimensions(dimensions),
            Op::Transpose { permutation } => self.dimensions(permutation),
            Op::Concatenate { dimension } => self.dimensions(&[*dimension]),
            Op::Slice { dimensions } => {
                let strided = dimensions.iter().any(|dimension| dimension.stride != 1);
                self.list(", slice={", dimensions, ", ", |out, dimension| {
                    write!(out, "[{}:{}", dimension.start, dimension.limit)?;
                    if strided {
                        write!(out, ":{}", dimension.stride)?;
                    }
                    out.write_str("]")
                })?;
                self.out.write_str("}")
            }
            Op::Pad { padding } => {
                let interior = padding.iter().any(|dimension| dimension.interior != 0);
                self.list(", padding=", padding, "x", |out, dimension| {
                    write!(out, "{}_{}", dimension.low, dimension.high)?;
                    if interior { write!(out, "_{}", dimension.interior) } else { Ok(()) }
                })
            }
            Op::Compare { direction, order } => {
                write!(self.out, ", direction={}", direction.name())?;
                match order {
                    Some(order) => write!(self.out, ", type={}", order.name()),
                    None => Ok(()),
                }
            }
            Op::Reduce { dimensions, to_apply } => {
                self.dimensions(dimensions)?;
                self.out.write_str(", to_apply=")?;
                self.computation_name(*to_apply)
            }
            Op::GetTupleElement { index } => write!(self.out, ", index={index}"),
            Op::Call { to_apply } => {
                self.out.write_str(", to_apply=")?;
                self.computation_name(*to_apply)
            }
            Op::Fusion { kind, calls } => {
                write!(self.out, ", kind={}, calls=", kind.name())?;
                self.computation_name(*calls)
            }
            Op::Other { attributes, .. } => self.attributes(attributes),
            _ => Ok(()),
        }
    }

    fn dimensions(&mut self, dimensions: &[i64]) -> fmt::Result {
        self.list(", dimensions={", dimensions, ",", |out, dimension| write!(out, "{dimension}"))?;
        self.out.write_str("}")
    }

    fn list<T>(
        &mut self,
        opening: &str,
        items: &[T],
        separator: &str,
        write: impl Fn(&mut dyn Write, &T) -> fmt::Result,
    ) -> fmt::Result {
        self.out.write_str(opening)?;
        for (position, item) in items.iter().enumerate() {
            self.out.write_str(if position > 0 { separator } else { "" })?;
            write(self.out, item)?;
        }
        Ok(())
    }
}
