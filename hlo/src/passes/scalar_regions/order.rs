//! What rearranges elements by their values: sorts and scatters.

use super::expansion::{Candidate, Expansion, Value, count, indices, position};
use crate::indexing::scattered_map;
use crate::ir::{ComparisonDirection, ComputationId, InstrId};
use weft_indexing::RuntimeVariable;

impl Expansion<'_> {
    /// A network: neighbors change places where the second comes before the first, until none can; so equals keep their order.
    pub(super) fn sorted(
        &mut self,
        candidate: &Candidate<'_>,
        dimension: i64,
        to_apply: ComputationId,
    ) -> Option<Value> {
        let array = candidate.array(0)?;
        let (elements, dimension) = (count(array)?, usize::try_from(dimension).ok()?);
        let length = *array.extents.get(dimension)?;
        let arrays = candidate.operands.iter().map(|operand| Some(operand.elements()?.to_vec()));
        let mut arrays = arrays.collect::<Option<Vec<_>>>()?;
        for first in (0..elements).filter(|number| indices(*number, &array.extents)[dimension] == 0) {
            let place = |index: i64| {
                let mut at = indices(first, &array.extents);
                at[dimension] = index;
                position(&at, &array.extents)
            };
            for last in (1..length).rev() {
                for lower in 0..last {
                    self.exchanged(&mut arrays, [place(lower), place(lower + 1)], to_apply)?;
                }
            }
        }
        Some(Value::of_arrays(arrays))
    }

    /// Has the elements at two places change where the second comes before the first.
    fn exchanged(
        &mut self,
        arrays: &mut [Vec<InstrId>],
        [lower, upper]: [usize; 2],
        to_apply: ComputationId,
    ) -> Option<()> {
        let pairs = arrays.iter().flat_map(|array| [array[upper], array[lower]]).collect();
        let is_before = *self.apply_to_scalars(to_apply, pairs)?.first()?;
        for array in arrays {
            let [a, b] = [array[lower], array[upper]];
            array[lower] = self.selected(is_before, [b, a])?;
            array[upper] = self.selected(is_before, [a, b])?;
        }
        Some(())
    }

    /// Windows come in row-major order of the scatter indices; each of their elements is combined with each one that it may be for, where it is for that.
    pub(super) fn scattered(&mut self, candidate: &Candidate<'_>, to_apply: ComputationId) -> Option<Value> {
        let inputs = candidate.operands.len() / 2;
        let map = scattered_map(candidate.computation, candidate.id).ok()?;
        let dimensions = candidate.instruction().op.gather_dimensions()?;
        let (extents, updates) = (&candidate.array(0)?.extents, candidate.array(inputs + 1)?);
        let arrays = candidate.operands[..inputs].iter().map(|operand| Some(operand.elements()?.to_vec()));
        let mut arrays = arrays.collect::<Option<Vec<_>>>()?;
        let mut order: Vec<i64> = (0..count(updates)?).collect();
        order.sort_by_key(|number| {
            let at = indices(*number, &updates.extents);
            let is_of_window = |dimension: usize| dimensions.window.contains(&(dimension as i64));
            let (window, batch): (Vec<_>, Vec<_>) = at.into_iter().enumerate().partition(|(own, _)| is_of_window(*own));
            (batch, window)
        });
        for number in order {
            let at = indices(number, &updates.extents);
            let given = candidate.operands[inputs + 1..]
                .iter()
                .map(|operand| operand.elements()?.get(usize::try_from(number).ok()?).copied());
            let given = given.collect::<Option<Vec<_>>>()?;
            let starts = map.runtime().iter().map(|variable| self.start(candidate, variable, &at));
            let starts = starts.collect::<Option<Vec<_>>>()?;
            for values in combinations(map.runtime())? {
                self.look(1)?;
                // What a narrow type does not have no start is.
                let mut pairs = starts.iter().zip(&values);
                if !pairs.all(|(start, value)| Self::has_index(*value, self.element_type(*start))) {
                    continue;
                }
                if !map.contains(&at, &[], &values) {
                    continue;
                }
                let place = position(&map.evaluate(&at, &[], &values).ok()?, extents);
                let mut is_for = None;
                for (start, value) in starts.iter().zip(&values) {
                    let is = self.is_to(*start, ComparisonDirection::Eq, *value)?;
                    is_for = Some(self.both(is_for, is)?);
                }
                let found = arrays.iter().map(|array| array.get(place).copied()).collect::<Option<Vec<_>>>()?;
                let combined = self.apply_to_scalars(to_apply, [found, given.clone()].concat())?;
                for (array, combined) in arrays.iter_mut().zip(combined) {
                    array[place] = match is_for {
                        Some(is_for) => self.selected(is_for, [combined, array[place]])?,
                        None => combined,
                    };
                }
            }
        }
        Some(Value::of_arrays(arrays))
    }
}

/// All values that runtime variables have together within their bounds, if they are few.
fn combinations(variables: &[RuntimeVariable]) -> Option<Vec<Vec<i64>>> {
    let mut all = vec![Vec::new()];
    for bounds in variables.iter().map(RuntimeVariable::bounds) {
        let count = usize::try_from((bounds.hi - bounds.lo + 1).max(0)).ok()?;
        count.checked_mul(all.len()).filter(|count| *count <= super::ScalarRegions::MOST)?;
        all = all
            .iter()
            .flat_map(|before| (bounds.lo..=bounds.hi).map(|value| [before.as_slice(), &[value]].concat()))
            .collect();
    }
    Some(all)
}
