//! The header of a flattened module: what it says of parts of parameters and of the result is said of their leaves.

use crate::ir::{BufferDonor, HeaderAttribute, InputOutputAlias, Module, Shape};
use std::ops::Range;

/// The attributes that still hold, by the numbers that parameters and results have afterwards. What speaks of layouts and of an order
/// is gone.
pub(super) fn flattened(module: &Module) -> Vec<HeaderAttribute> {
    let entry = module.entry_computation();
    let parameters: Vec<&Shape> = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape).collect();
    let result = entry.instructions.get(entry.root).map(|root| &root.shape);
    let leaves = Leaves { parameters, result };
    module.attributes.iter().filter_map(|attribute| leaves.said_of(attribute)).collect()
}

struct Leaves<'m> {
    parameters: Vec<&'m Shape>,
    result: Option<&'m Shape>,
}

impl Leaves<'_> {
    fn said_of(&self, attribute: &HeaderAttribute) -> Option<HeaderAttribute> {
        Some(match attribute {
            HeaderAttribute::EntryComputationLayout(_) | HeaderAttribute::IsScheduled(_) => return None,
            HeaderAttribute::InputOutputAlias(aliases) => {
                HeaderAttribute::InputOutputAlias(aliases.iter().flat_map(|alias| self.alias(alias)).collect())
            }
            HeaderAttribute::BufferDonor(donors) => {
                HeaderAttribute::BufferDonor(donors.iter().flat_map(|donor| self.donor(donor)).collect())
            }
            HeaderAttribute::AllowShardingPropagationToParameters(allowed)
                if allowed.len() == self.parameters.len() =>
            {
                let of_leaves = self.parameters.iter().zip(allowed);
                let of_leaves = of_leaves.flat_map(|(shape, allowed)| vec![*allowed; shape.leaves().len()]);
                HeaderAttribute::AllowShardingPropagationToParameters(of_leaves.collect())
            }
            other => other.clone(),
        })
    }

    fn alias(&self, alias: &InputOutputAlias) -> Vec<InputOutputAlias> {
        let outputs = self.result.and_then(|result| part(result, &alias.output)).unwrap_or_default();
        let is_tuple = matches!(self.result, Some(Shape::Tuple(_)));
        let output = |leaf: usize| if is_tuple { vec![number(leaf)] } else { Vec::new() };
        let pairs = outputs.zip(self.parameter(alias.parameter, &alias.parameter_index));
        let pair = |(leaf, parameter): (usize, usize)| InputOutputAlias {
            output: output(leaf),
            parameter: number(parameter),
            parameter_index: Vec::new(),
            must: alias.must,
        };
        pairs.map(pair).collect()
    }

    fn donor(&self, donor: &BufferDonor) -> Vec<BufferDonor> {
        let leaves = self.parameter(donor.parameter, &donor.parameter_index);
        leaves.map(|leaf| BufferDonor { parameter: number(leaf), parameter_index: Vec::new() }).collect()
    }

    /// The leaves of a part of a parameter, numbered through all parameters.
    fn parameter(&self, parameter: i64, index: &[i64]) -> Range<usize> {
        let Some((parameter, shape)) =
            usize::try_from(parameter).ok().and_then(|parameter| Some((parameter, self.parameters.get(parameter)?)))
        else {
            return 0..0;
        };
        let before: usize = self.parameters[..parameter].iter().map(|shape| shape.leaves().len()).sum();
        let own = part(shape, index).unwrap_or_default();
        before + own.start..before + own.end
    }
}

fn number(leaf: usize) -> i64 {
    i64::try_from(leaf).unwrap_or(i64::MAX)
}

/// Which leaves of a shape belong to the part with this index; nothing where there is no such part.
fn part(shape: &Shape, index: &[i64]) -> Option<Range<usize>> {
    let (mut shape, mut first) = (shape, 0);
    for position in index {
        let Shape::Tuple(elements) = shape else { return None };
        let position = usize::try_from(*position).ok()?;
        let (before, rest) = elements.split_at_checked(position)?;
        first += before.iter().map(|element| element.leaves().len()).sum::<usize>();
        shape = rest.first()?;
    }
    Some(first..first + shape.leaves().len())
}
