//! Operations that move elements without computing with them.

use super::{Findings, Operation, dimension_index, distinct_dimensions, refuse, show};
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
    findings.unless_any(operation.declared.without_layout())
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
    let targets = distinct_dimensions(&mut findings, "dimensions", dimensions, declared.rank());
    for (source, target) in targets.into_iter().enumerate() {
        let Some(target) = target else { continue };
        let (given, wanted) = (operand.extents[source], declared.extents[target]);
        if given != wanted {
            findings.add(
                code::EXTENTS,
                format!(
                    "operand dimension {source} of extent {given} becomes result dimension {target} of extent {wanted}"
                ),
            );
        }
    }
    findings.unless_any(Shape::array(operand.element_type, declared.extents.clone()))
}

pub(super) fn reshape(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let declared = operation.declared_array()?;
    same_count(operand, declared, "reshape")?;
    Ok(Shape::array(operand.element_type, declared.extents.clone()))
}

pub(super) fn bitcast(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let declared = operation.declared_array()?;
    let mut findings = Findings::default();
    if let Err(found) = same_count(operand, declared, "bitcast") {
        findings.0.extend(found.0);
    }
    if operand.element_type.bits() != declared.element_type.bits() {
        findings.add(
            code::ELEMENT_TYPE,
            format!(
                "bitcast keeps bytes, and elements of {} and {} differ in size",
                operand.element_type, declared.element_type
            ),
        );
    }
    findings.unless_any(operation.declared.without_layout())
}

fn same_count(operand: &ArrayShape, declared: &ArrayShape, opcode: &str) -> Result<(), Diagnostics> {
    // Shapes of more elements than i64 counts are refused as such by the verifier.
    if operand.element_count() == declared.element_count() {
        return Ok(());
    }
    let count = |shape: &ArrayShape| shape.element_count().map_or_else(|| "too many".to_owned(), |n| n.to_string());
    refuse(
        code::EXTENTS,
        format!(
            "{opcode} keeps the number of elements, and {operand} has {}, {declared} has {}",
            count(operand),
            count(declared)
        ),
    )
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
    let sources = distinct_dimensions(&mut findings, "dimensions", permutation, operand.rank());
    let extents: Vec<i64> = sources.into_iter().flatten().map(|source| operand.extents[source]).collect();
    findings.unless_any(Shape::array(operand.element_type, extents))
}

pub(super) fn slice(operation: &Operation<'_>, dimensions: &[SliceDimension]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    one_per_dimension("slice", dimensions.len(), operand)?;
    let mut findings = Findings::default();
    let mut extents = Vec::with_capacity(operand.rank());
    for (dimension, (part, &extent)) in dimensions.iter().zip(&operand.extents).enumerate() {
        let SliceDimension { start, limit, stride } = *part;
        if !(0 <= start && start <= limit && limit <= extent) {
            findings.add(
                code::ATTRIBUTE,
                format!(
                    "slice of dimension {dimension}: 0 <= start <= limit <= extent does not hold for start {start}, \
                     limit {limit}, extent {extent}"
                ),
            );
        } else if stride < 1 {
            findings.add(
                code::ATTRIBUTE,
                format!("slice of dimension {dimension}: the stride must be at least 1 and is {stride}"),
            );
        } else {
            let span = limit - start;
            extents.push(if span == 0 { 0 } else { (span - 1) / stride + 1 });
        }
    }
    findings.unless_any(Shape::array(operand.element_type, extents))
}

pub(super) fn reverse(operation: &Operation<'_>, dimensions: &[i64]) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let mut findings = Findings::default();
    distinct_dimensions(&mut findings, "dimensions", dimensions, operand.rank());
    findings.unless_any(Shape::array(operand.element_type, operand.extents.clone()))
}

pub(super) fn concatenate(operation: &Operation<'_>, dimension: i64) -> Result<Shape, Diagnostics> {
    let operands = operation.all_arrays()?;
    let Some((first, rest)) = operands.split_first() else {
        return refuse(code::OPERAND_COUNT, "concatenate takes at least one operand and has none".to_owned());
    };
    let Some(joined) = dimension_index(dimension, first.rank()) else {
        return refuse(
            code::ATTRIBUTE,
            format!("dimensions={{{dimension}}} is no dimension of operands of rank {}", first.rank()),
        );
    };
    let mut findings = Findings::default();
    let mut total = Some(first.extents[joined]);
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
        let agree = operand.rank() == first.rank()
            && (0..first.rank()).all(|other| other == joined || operand.extents[other] == first.extents[other]);
        if agree {
            total = total.and_then(|total| total.checked_add(operand.extents[joined]));
        } else {
            findings.add(
                code::EXTENTS,
                format!(
                    "operand {position} of concatenate has extents {}, which differ from {} of operand 0 outside \
                     dimension {joined}",
                    show(&operand.extents),
                    show(&first.extents)
                ),
            );
        }
    }
    let mut extents = first.extents.clone();
    match total {
        Some(total) => extents[joined] = total,
        None => findings.add(code::SHAPE, format!("the extent of dimension {joined} exceeds 64 bits")),
    }
    findings.unless_any(Shape::array(first.element_type, extents))
}

pub(super) fn pad(operation: &Operation<'_>, padding: &[PadDimension]) -> Result<Shape, Diagnostics> {
    let [operand, value] = operation.arrays()?;
    one_per_dimension("padding", padding.len(), operand)?;
    let mut findings = Findings::default();
    if value.rank() != 0 || value.element_type != operand.element_type {
        findings.add(code::ELEMENT_TYPE, format!("operand 1 of pad must be {}[] and is {value}", operand.element_type));
    }
    let mut extents = Vec::with_capacity(operand.rank());
    for (dimension, (padding, &extent)) in padding.iter().zip(&operand.extents).enumerate() {
        if padding.interior < 0 {
            findings.add(
                code::ATTRIBUTE,
                format!("padding of dimension {dimension}: interior padding {} is negative", padding.interior),
            );
            continue;
        }
        match padded_extent(extent, padding) {
            Some(padded) if padded >= 0 => extents.push(padded),
            Some(padded) => findings.add(
                code::ATTRIBUTE,
                format!("padding of dimension {dimension}: the extent would be {padded}, which is negative"),
            ),
            None => findings.add(code::SHAPE, format!("padding of dimension {dimension}: the extent exceeds 64 bits")),
        }
    }
    findings.unless_any(Shape::array(operand.element_type, extents))
}

/// `low + n + (n - 1) * interior + high`, where an empty dimension has no inside; `None` on overflow.
fn padded_extent(extent: i64, padding: &PadDimension) -> Option<i64> {
    let inside = padding.interior.checked_mul(extent.saturating_sub(1).max(0))?;
    extent.checked_add(inside)?.checked_add(padding.low)?.checked_add(padding.high)
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
