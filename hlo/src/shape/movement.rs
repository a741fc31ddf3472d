//! Operations that move elements without computing with them: the legality of their attributes, and types.

use super::{Findings, Operation, dimension_index, distinct_dimensions, refuse};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, ElementType, PadDimension, Shape, SliceDimension};
use crate::verify::code;

pub(super) fn iota(operation: &Operation<'_>, dimension: i64) -> Result<Shape, Diagnostics> {
    operation.expect_operands(0)?;
    let declared = operation.declared_array()?;
    let mut findings = Findings::default();
    if dimension_index(dimension, declared.rank()).is_none() {
        findings.add(
            code::ATTRIBUTE,
            format!("iota_dimension={dimension} is no dimension of a result of rank {}", declared.rank()),
        );
    }
    if declared.element_type == ElementType::Pred {
        findings.add(code::ELEMENT_TYPE, "iota counts in numbers, not in pred".to_owned());
    }
    findings.unless_any(())?;
    operation.array_of(declared.element_type)
}

pub(super) fn broadcast(operation: &Operation<'_>, dimensions: &[i64]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let declared = operation.declared_array()?;
    if dimensions.len() != operand.rank() {
        return refuse(
            code::ATTRIBUTE,
            format!("dimensions={} must have one entry per dimension of {operand}", show_set(dimensions)),
        );
    }
    let mut findings = Findings::default();
    distinct_dimensions(&mut findings, "dimensions", dimensions, declared.rank());
    findings.unless_any(())?;
    operation.array_of(operand.element_type)
}

pub(super) fn reshape(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    operation.declared_array()?;
    operation.array_of(operand.element_type)
}

pub(super) fn bitcast(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let declared = operation.declared_array()?;
    let mut findings = Findings::default();
    if operand.element_type.bits() != declared.element_type.bits() {
        findings.add(
            code::ELEMENT_TYPE,
            format!(
                "bitcast keeps bytes, and elements of {} and {} differ in size",
                operand.element_type, declared.element_type
            ),
        );
    }
    findings.and(operation.array_of(declared.element_type))
}

pub(super) fn transpose(operation: &Operation<'_>, permutation: &[i64]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    if permutation.len() != operand.rank() {
        return refuse(
            code::ATTRIBUTE,
            format!("dimensions={} must be a permutation of the dimensions of {operand}", show_set(permutation)),
        );
    }
    let mut findings = Findings::default();
    distinct_dimensions(&mut findings, "dimensions", permutation, operand.rank());
    findings.unless_any(())?;
    operation.array_of(operand.element_type)
}

pub(super) fn slice(operation: &Operation<'_>, dimensions: &[SliceDimension]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    one_per_dimension("slice", dimensions.len(), operand)?;
    let mut findings = Findings::default();
    for (dimension, part) in dimensions.iter().enumerate() {
        let SliceDimension { start, stride, .. } = *part;
        if start < 0 {
            findings.add(
                code::ATTRIBUTE,
                format!("slice of dimension {dimension}: the start is {start}, which is negative"),
            );
        }
        if stride < 1 {
            findings.add(
                code::ATTRIBUTE,
                format!("slice of dimension {dimension}: the stride must be at least 1 and is {stride}"),
            );
        }
    }
    findings.unless_any(())?;
    operation.array_of(operand.element_type)
}

pub(super) fn reverse(operation: &Operation<'_>, dimensions: &[i64]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let mut findings = Findings::default();
    distinct_dimensions(&mut findings, "dimensions", dimensions, operand.rank());
    findings.unless_any(())?;
    operation.array_of(operand.element_type)
}

pub(super) fn concatenate(operation: &Operation<'_>, dimension: i64) -> Result<Shape, Diagnostics> {
    let operands = operation.all_arrays()?;
    let Some((first, rest)) = operands.split_first() else {
        return refuse(code::OPERAND_COUNT, "concatenate takes at least one operand and has none".to_owned());
    };
    if dimension_index(dimension, first.rank()).is_none() {
        return refuse(
            code::ATTRIBUTE,
            format!("dimensions={{{dimension}}} is no dimension of operands of rank {}", first.rank()),
        );
    }
    let mut findings = Findings::default();
    for (position, operand) in rest.iter().enumerate().map(|(position, operand)| (position + 1, operand)) {
        if operand.element_type != first.element_type {
            findings.add(
                code::ELEMENT_TYPE,
                format!(
                    "operand {position} of concatenate must be {} as operand 0 and is {}",
                    first.element_type, operand.element_type
                ),
            );
        }
    }
    findings.and(operation.array_of(first.element_type))
}

pub(super) fn pad(operation: &Operation<'_>, padding: &[PadDimension]) -> Result<Shape, Diagnostics> {
    let [operand, value] = operation.arrays()?;
    one_per_dimension("padding", padding.len(), operand)?;
    let mut findings = Findings::default();
    if value.element_type != operand.element_type {
        findings.add(code::ELEMENT_TYPE, format!("operand 1 of pad must be {}[] and is {value}", operand.element_type));
    }
    for (dimension, padding) in padding.iter().enumerate() {
        if padding.interior < 0 {
            findings.add(
                code::ATTRIBUTE,
                format!("padding of dimension {dimension}: interior padding {} is negative", padding.interior),
            );
        }
    }
    findings.unless_any(())?;
    operation.array_of(operand.element_type)
}

fn one_per_dimension(name: &str, count: usize, operand: &ArrayShape) -> Result<(), Diagnostics> {
    if count == operand.rank() {
        return Ok(());
    }
    refuse(
        code::ATTRIBUTE,
        format!(
            "{name} must have one entry for each of the {} dimensions of the operand, and has {count}",
            operand.rank()
        ),
    )
}

fn show_set(dimensions: &[i64]) -> String {
    let parts: Vec<String> = dimensions.iter().map(i64::to_string).collect();
    format!("{{{}}}", parts.join(","))
}
