//! Extents, from the shape functions of the operations.

use super::function::{ErrorKind, Extents, ShapeError, Specialized};
use super::{Operation, show, specialize_extents, standard_library};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArrayShape, ElementType, Op, Shape, Span};
use crate::verify::code;

impl Operation<'_> {
    /// The extents of the leaves of the result.
    pub(super) fn extents(&self) -> Result<Vec<Extents>, Diagnostics> {
        self.cache.infer(self.op, self.operands, self.declared).map_err(|error| self.finding(&error))
    }

    /// The one array of the result, of elements of this type.
    pub(super) fn array_of(&self, element_type: ElementType) -> Result<Shape, Diagnostics> {
        let extents = self.extents()?;
        let extents = extents.first().map(|extents| extents.to_vec()).unwrap_or_default();
        Ok(Shape::Array(ArrayShape::new(element_type, extents)))
    }

    /// The declared shape with the extents of its leaves replaced, for an operation of which only these are known; the
    /// declared shape itself if no function is mapped to it, or if it has another number of leaves.
    pub(super) fn by_extents(&self) -> Result<Shape, Diagnostics> {
        let extents = match self.cache.infer(self.op, self.operands, self.declared) {
            Ok(extents) => extents,
            Err(error) if error.kind == ErrorKind::Unknown => return Ok(self.declared.without_layout()),
            Err(error) => return Err(self.finding(&error)),
        };
        let mut shape = self.declared.without_layout();
        if shape.leaves().len() == extents.len() {
            replace_extents(&mut shape, &mut extents.into_iter());
        }
        Ok(shape)
    }

    /// What is wrong with the extents whatever the bounded ones turn out to be.
    pub(super) fn sure_error(&self) -> Result<(), Diagnostics> {
        match specialize_extents(standard_library(), self.op, self.operands, self.declared) {
            Ok(Specialized::Known(_) | Specialized::Residual(_)) => Ok(()),
            Err(error) if error.kind == ErrorKind::Unknown => Ok(()),
            Ok(Specialized::Error(error)) | Err(error) => Err(self.finding(&error)),
        }
    }

    fn finding(&self, error: &ShapeError) -> Diagnostics {
        let code = match error.kind {
            ErrorKind::Constraint => code::EXTENTS,
            ErrorKind::Overflow | ErrorKind::Limit => code::SHAPE,
            ErrorKind::Arguments => code::OPERAND_COUNT,
            ErrorKind::DivisionByZero
            | ErrorKind::Index
            | ErrorKind::NegativeExtent
            | ErrorKind::Attribute
            | ErrorKind::Unknown => code::ATTRIBUTE,
        };
        let leaves: Vec<String> = self
            .operands
            .iter()
            .flat_map(|operand| operand.leaves())
            .filter_map(|leaf| leaf.as_array().map(|array| show(&array.extents)))
            .collect();
        let mut message = format!("{}: {}", self.op.opcode(), error.message);
        if !leaves.is_empty() {
            let several = if leaves.len() == 1 { "operand has" } else { "operands have" };
            message.push_str(&format!("; the {several} extents {}", list(&leaves)));
        }
        let made_as_declared = matches!(self.op, Op::Iota { .. } | Op::Broadcast { .. } | Op::Reshape | Op::Bitcast);
        if let (true, Some(array)) = (made_as_declared, self.declared.as_array()) {
            message.push_str(&format!("; the result has {}", show(&array.extents)));
        }
        Diagnostic::new(code, Span::default(), message).into()
    }
}

/// `a`, `a and b`, `a, b and c`; of many the first four.
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] if parts.len() <= 4 => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", parts[..4].join(", "), parts.len() - 4),
    }
}

fn replace_extents(shape: &mut Shape, extents: &mut impl Iterator<Item = Extents>) {
    match shape {
        Shape::Tuple(elements) => {
            for element in elements {
                replace_extents(element, extents);
            }
        }
        Shape::Array(array) => {
            if let Some(extents) = extents.next() {
                // Marks of dynamic dimensions stay with the dimensions that they mark.
                array.dynamic.retain(|&dimension| dimension < extents.len());
                array.extents = extents.to_vec();
            }
        }
        Shape::Token | Shape::Opaque => drop(extents.next()),
    }
}
