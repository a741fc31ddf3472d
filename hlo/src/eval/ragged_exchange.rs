//! `ragged-all-to-all` of one device: rows of the input in the places of the output that they are meant for.

use super::call::Call;
use super::movement::extents;
use super::product::reader;
use super::scalar::Number;
use super::work::{Stop, copied, words, words_as};
use crate::ir::{Data, Word, words_of};

const VERIFIED: &str = "the verifier has seen to the types of offsets and sizes";

/// The output with the parts of the input written to it one after the other. Of a part that begins before the input or the
/// output nothing is written, of one that goes on behind them only what lies within.
pub(super) fn ragged_all_to_all(call: &Call<'_, '_>, dimension: usize) -> Result<Data, Stop> {
    let (given, made) = (extents(call.shape(0)), extents(call.shape(1)));
    let (outer, inner) = (made[..dimension].iter().product::<usize>(), made[dimension + 1..].iter().product::<usize>());
    let numbers = |operand: usize| {
        let (read, count) = (reader(call.shape(operand).element_type), extents(call.shape(operand)).iter().product());
        (0..count).map(move |at| match read(call.data(operand), at) {
            // Unsigned ones beyond the signed are as far out.
            Number::Integer(number) => number as i64,
            _ => unreachable!("{VERIFIED}"),
        })
    };
    words_of!(words(call.data(1)), output, W => {
        let input = words_as::<W>(call.data(0));
        let mut values = copied(output)?;
        for ((from, size), to) in numbers(2).zip(numbers(3)).zip(numbers(4)) {
            let (Ok(from), Ok(to), Ok(size)) = (usize::try_from(from), usize::try_from(to), usize::try_from(size)) else {
                continue;
            };
            let within = |rows: usize, first: usize| rows.saturating_sub(first);
            let rows = size.min(within(given[dimension], from)).min(within(made[dimension], to));
            if rows == 0 {
                continue;
            }
            for block in 0..outer {
                let [source, target] =
                    [(given[dimension], from), (made[dimension], to)].map(|(rows, row)| (block * rows + row) * inner);
                values[target..][..rows * inner].copy_from_slice(&input[source..][..rows * inner]);
            }
        }
        Ok(W::data(values, call.result().element_type))
    })
}
