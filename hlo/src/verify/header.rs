//! Verification of the header: numbers, entry layout, and input-output aliasing.

use super::code;
use super::shapes::{ShortShape, part};
use crate::ir::{Computation, EntryLayout, HeaderAttribute, Module, Shape};

/// One entry of `input_output_alias` or of `buffer_donor`.
struct Entry<'a> {
    /// The part of the result; empty for a donor.
    output: &'a [i64],
    parameter: i64,
    /// The part of the parameter.
    index: &'a [i64],
}

/// What is wrong with the header of a module that has this entry computation.
pub(super) fn faults(module: &Module, entry: &Computation) -> Vec<(&'static str, String)> {
    let mut findings = Vec::new();
    let parameters: Vec<&Shape> = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape).collect();
    let result = entry.instructions.get(entry.root).map(|root| &root.shape);
    for attribute in &module.attributes {
        let name = attribute.name();
        let places = |result| AliasTargets { name, parameters: &parameters, result };
        match attribute {
            HeaderAttribute::ReplicaCount(count) | HeaderAttribute::NumPartitions(count) if *count < 1 => {
                findings.push((code::HEADER, format!("{name} must be at least 1 and is {count}")));
            }
            HeaderAttribute::InputOutputAlias(aliases) => {
                let entries: Vec<Entry<'_>> = aliases
                    .iter()
                    .map(|alias| Entry {
                        output: &alias.output,
                        parameter: alias.parameter,
                        index: &alias.parameter_index,
                    })
                    .collect();
                places(result).check(&entries, &mut findings);
            }
            HeaderAttribute::BufferDonor(donors) => {
                let entries: Vec<Entry<'_>> = donors
                    .iter()
                    .map(|donor| Entry { output: &[], parameter: donor.parameter, index: &donor.parameter_index })
                    .collect();
                places(None).check(&entries, &mut findings);
            }
            _ => {}
        }
    }
    findings
}

/// Where the entries of one attribute point.
struct AliasTargets<'a> {
    name: &'static str,
    parameters: &'a [&'a Shape],
    /// The entry's result; `None` for donors.
    result: Option<&'a Shape>,
}

impl AliasTargets<'_> {
    fn check(&self, entries: &[Entry<'_>], findings: &mut Vec<(&'static str, String)>) {
        let name = self.name;
        let mut taken: Vec<(i64, &[i64])> = Vec::with_capacity(entries.len());
        let mut given: Vec<&[i64]> = Vec::with_capacity(entries.len());
        for entry in entries {
            let (parameter, index) = (entry.parameter, braced(entry.index));
            let from = usize::try_from(parameter).ok().and_then(|number| self.parameters.get(number));
            let from = from.and_then(|shape| part(shape, entry.index));
            let to = self.result.map(|result| part(result, entry.output));
            let message = match (from, to) {
                (None, _) => format!("{name} names part {index} of parameter {parameter}, which does not exist"),
                (_, Some(None)) => {
                    format!("{name} names part {} of the result, which does not exist", braced(entry.output))
                }
                (Some(from), Some(Some(to))) if !same_size(from, to) => format!(
                    "{name} gives part {index} of parameter {parameter}, {}, to part {} of the result, {}, which is of \
                     another size",
                    ShortShape(from),
                    braced(entry.output),
                    ShortShape(to)
                ),
                _ => {
                    taken.push((parameter, entry.index));
                    given.push(entry.output);
                    continue;
                }
            };
            findings.push((code::ALIAS, message));
        }
        if let Some(pair) = repeated(&mut taken) {
            let (parameter, index) = (pair.0, braced(pair.1));
            findings.push((code::ALIAS, format!("{name} names part {index} of parameter {parameter} twice")));
        }
        if let Some(output) = repeated(&mut given).filter(|_| self.result.is_some()) {
            findings.push((code::ALIAS, format!("{name} names part {} of the result twice", braced(output))));
        }
    }
}

fn repeated<T: Ord + Copy>(items: &mut [T]) -> Option<T> {
    items.sort_unstable();
    items.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Whether two values take as many bytes, tiles and paddings aside.
fn same_size(one: &Shape, other: &Shape) -> bool {
    match (one, other) {
        (Shape::Array(one) | Shape::Buffer(one), Shape::Array(other) | Shape::Buffer(other)) => {
            let bits = |array: &crate::ir::ArrayShape| {
                array.element_count().map(|count| i128::from(count) * i128::from(array.element_type.bits()))
            };
            bits(one) == bits(other)
        }
        (one, other) => one.is_compatible(other),
    }
}

fn braced(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().map(i64::to_string).collect();
    format!("{{{}}}", parts.join(","))
}

/// How the header's `entry_computation_layout` contradicts the entry computation, layouts aside: it may ask for other
/// layouts than the instructions have, never for other types or extents.
pub(super) fn mismatch(module: &Module, entry: &Computation) -> Option<String> {
    let claimed = module.entry_layout()?;
    let parameters = entry.parameters();
    let root = entry.instructions.get(entry.root)?;
    let fits = claimed.parameters.len() == parameters.len()
        && claimed
            .parameters
            .iter()
            .zip(&parameters)
            .all(|(shape, &id)| shape.is_compatible(&entry.instructions[id].shape))
        && claimed.result.is_compatible(&root.shape);
    if fits {
        return None;
    }
    let actual = EntryLayout {
        parameters: parameters.into_iter().map(|id| entry.instructions[id].shape.without_layout()).collect(),
        result: root.shape.without_layout(),
    };
    Some(format!("entry_computation_layout must describe the entry computation, which is {actual}"))
}
