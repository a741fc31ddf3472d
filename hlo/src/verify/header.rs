//! The header's numbers, and the parameters whose buffers results may take.

use super::code;
use super::leaves::part;
use crate::ir::{Computation, Module, Shape};

/// One entry of `input_output_alias` (`{0}: (1, {}, may-alias)`) or of `buffer_donor` (`(1, {})`).
#[derive(Debug, Default, PartialEq)]
struct Entry {
    /// The part of the result; empty for a donor.
    output: Vec<i64>,
    parameter: i64,
    /// The part of the parameter.
    index: Vec<i64>,
}

/// What is wrong with the header of a module that has this entry computation.
pub(super) fn faults(module: &Module, entry: &Computation) -> Vec<(&'static str, String)> {
    let mut findings = Vec::new();
    for name in ["replica_count", "num_partitions"] {
        let Some(value) = module.attribute(name) else { continue };
        if !value.trim().parse::<i64>().is_ok_and(|count| count >= 1) {
            findings.push((code::HEADER, format!("{name} must be at least 1 and is {value}")));
        }
    }
    if let Some(value) = module.attribute("is_scheduled")
        && !matches!(value.trim(), "true" | "false" | "0" | "1")
    {
        findings.push((code::HEADER, format!("is_scheduled must be true or false and is {value}")));
    }
    let parameters: Vec<&Shape> = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape).collect();
    for (name, aliases) in [("input_output_alias", true), ("buffer_donor", false)] {
        let Some(value) = module.attribute(name) else { continue };
        match entries(value, aliases) {
            None => {
                let form = if aliases { "{0}: (1, {}, may-alias)" } else { "(1, {})" };
                findings.push((code::HEADER, format!("{name} must be a list of entries like {form}, and is {value}")));
            }
            Some(entries) => {
                let result = entry.instructions.get(entry.root).map(|root| &root.shape);
                let places = Places { name, parameters: &parameters, result: result.filter(|_| aliases) };
                places.check(&entries, &mut findings);
            }
        }
    }
    findings
}

/// Where the entries of one attribute point.
struct Places<'a> {
    name: &'static str,
    parameters: &'a [&'a Shape],
    /// The entry's result; `None` for donors.
    result: Option<&'a Shape>,
}

impl Places<'_> {
    fn check(&self, entries: &[Entry], findings: &mut Vec<(&'static str, String)>) {
        let name = self.name;
        let mut taken: Vec<(i64, &[i64])> = Vec::with_capacity(entries.len());
        let mut given: Vec<&[i64]> = Vec::with_capacity(entries.len());
        for entry in entries {
            let (parameter, index) = (entry.parameter, braced(&entry.index));
            let from = usize::try_from(parameter).ok().and_then(|number| self.parameters.get(number));
            let from = from.and_then(|shape| part(shape, &entry.index));
            let to = self.result.map(|result| part(result, &entry.output));
            let message = match (from, to) {
                (None, _) => format!("{name} names part {index} of parameter {parameter}, which does not exist"),
                (_, Some(None)) => {
                    format!("{name} names part {} of the result, which does not exist", braced(&entry.output))
                }
                (Some(from), Some(Some(to))) if !same_size(from, to) => format!(
                    "{name} gives part {index} of parameter {parameter}, {}, to part {} of the result, {}, which is of \
                     another size",
                    from.without_layout(),
                    braced(&entry.output),
                    to.without_layout()
                ),
                _ => {
                    taken.push((parameter, &entry.index));
                    given.push(&entry.output);
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
        (Shape::Array(one), Shape::Array(other)) => {
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

/// The entries in the text of an attribute; `None` if it has another form.
fn entries(text: &str, aliases: bool) -> Option<Vec<Entry>> {
    let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let mut entry = Entry::default();
        if aliases {
            let (output, after) = index(rest)?;
            entry.output = output;
            rest = after.strip_prefix(':')?;
        }
        let (number, after) = rest.strip_prefix('(')?.split_once(',')?;
        entry.parameter = number.parse().ok()?;
        let (place, after) = index(after)?;
        entry.index = place;
        let kinds = [",may-alias", ",must-alias"].into_iter();
        let after = kinds.filter(|_| aliases).find_map(|kind| after.strip_prefix(kind)).unwrap_or(after);
        rest = after.strip_prefix(')')?;
        entries.push(entry);
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?;
        }
    }
    Some(entries)
}

/// `{0,1}` and what follows it.
fn index(text: &str) -> Option<(Vec<i64>, &str)> {
    let (inside, rest) = text.strip_prefix('{')?.split_once('}')?;
    if inside.is_empty() {
        return Some((Vec::new(), rest));
    }
    let numbers: Result<Vec<i64>, _> = inside.split(',').map(str::parse).collect();
    Some((numbers.ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read() {
        let entry =
            |output: &[i64], parameter, index: &[i64]| Entry { output: output.into(), parameter, index: index.into() };
        assert_eq!(
            entries("{ {0}: (1, {}, may-alias), {1,2}: (0, {3}) }", true),
            Some(vec![entry(&[0], 1, &[]), entry(&[1, 2], 0, &[3])])
        );
        assert_eq!(entries("{ (2, {}), (0, {1}) }", false), Some(vec![entry(&[], 2, &[]), entry(&[], 0, &[1])]));
        assert_eq!(entries("{}", true), Some(vec![]));
        for text in ["", "{", "{ {0} (1, {}) }", "{ {0}: (x, {}) }", "{ {0}: (1, {}) {1}: (1, {}) }"] {
            assert_eq!(entries(text, true), None, "{text}");
        }
        assert_eq!(entries("{ (0, {}, may-alias) }", false), None);
    }
}
