//! `rng-bit-generator`: the bits of each element, and the next state.

use super::counter_based::{philox, threefry};
use crate::eval::bitcast::from_patterns;
use crate::eval::call::Call;
use crate::eval::movement::extents;
use crate::eval::work::Stop;
use crate::ir::{ArrayShape, Data, ElementType, RandomAlgorithm};

/// A state read: a key and where counting goes on.
struct State {
    key: u64,
    counter: u128,
}

impl State {
    /// The first number is the key, the second the counter. A third is its upper half; where there is none, that is the
    /// key for Philox, and Threefry counts with one only.
    fn read(words: &[u64], algorithm: RandomAlgorithm) -> Self {
        let upper = match algorithm {
            RandomAlgorithm::ThreeFry => 0,
            _ => words.get(2).copied().unwrap_or(words[0]),
        };
        State { key: words[0], counter: u128::from(words[1]) | u128::from(upper) << 64 }
    }

    /// The state after so many counters, in as many numbers as before.
    fn after(&self, counters: usize, numbers: usize) -> Vec<u64> {
        let counter = self.counter.wrapping_add(counters as u128);
        [self.key, counter as u64, (counter >> 64) as u64][..numbers].to_vec()
    }
}

/// Why a state is none that the algorithm has.
pub(in crate::eval) fn unsupported(state: &ArrayShape, algorithm: RandomAlgorithm) -> Option<String> {
    let fits = match (state.element_type, state.extents[..].as_ref()) {
        (ElementType::U64, [2]) | (ElementType::U32, [4]) => true,
        (ElementType::U64, [3]) => algorithm != RandomAlgorithm::ThreeFry,
        _ => false,
    };
    (!fits).then(|| {
        format!("the state {state} of {}; it has u64[2], u32[4] or, but for rng_three_fry, u64[3]", algorithm.name())
    })
}

/// The next state, and bits. The default algorithm is Philox, as on XLA's CPU.
///
/// An element takes 32 bits, of which a narrower type keeps the lowest, or 64.
pub(in crate::eval) fn bit_generator(call: &Call<'_, '_>, algorithm: RandomAlgorithm) -> Result<Vec<Data>, Stop> {
    let (narrow, words) = match call.data(0) {
        // JAX's: the halves of two numbers, the lower ones first.
        Data::U32(halves) => {
            (true, halves.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect())
        }
        _ => (false, call.elements::<u64>(0).to_vec()),
    };
    let state = State::read(&words, algorithm);
    let shape = call.results()[1];
    let extents = extents(shape);
    let wide = shape.element_type.bits() == 64;
    let source = match algorithm {
        RandomAlgorithm::ThreeFry if wide => Source::ThreeFryPairs,
        RandomAlgorithm::ThreeFry => Source::ThreeFry(Interleaved::new(&extents)),
        _ => Source::Philox,
    };
    let count = extents.iter().product();
    let pattern = |position: usize| u128::from(source.word(&state, position, wide));
    let bits = from_patterns(call.work(), shape.element_type, count, &pattern)?;
    let next = state.after(source.counters(count, wide), words.len());
    let next = match narrow {
        true => Data::U32(next.iter().flat_map(|&number| [number as u32, (number >> 32) as u32]).collect()),
        false => Data::U64(next),
    };
    Ok(vec![next, bits])
}

/// Where the bits of an element come from.
enum Source {
    /// Both words of the counter with the element's number.
    ThreeFryPairs,
    /// One word of a counter.
    ThreeFry(Interleaved),
    /// One of the four words of a counter, or two; a counter's elements follow each other.
    Philox,
}

impl Source {
    fn word(&self, state: &State, position: usize, wide: bool) -> u64 {
        let first = state.counter as u64;
        match self {
            Source::ThreeFryPairs => pair(&threefry(state.key, first.wrapping_add(position as u64))),
            Source::ThreeFry(interleaved) => {
                let (counter, word) = interleaved.place(position);
                u64::from(threefry(state.key, first.wrapping_add(counter as u64))[word])
            }
            Source::Philox => {
                let each = if wide { 2 } else { 4 };
                let words = philox(state.key, state.counter.wrapping_add((position / each) as u128));
                match wide {
                    true => pair(&words[position % 2 * 2..]),
                    false => u64::from(words[position % 4]),
                }
            }
        }
    }

    /// How many counters `count` elements take.
    fn counters(&self, count: usize, wide: bool) -> usize {
        match self {
            Source::ThreeFryPairs => count,
            Source::ThreeFry(interleaved) => interleaved.counters,
            Source::Philox => count.div_ceil(if wide { 2 } else { 4 }),
        }
    }
}

fn pair(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// Elements in pairs along one dimension, each pair the two words of one counter. Counters count the pairs in row-major
/// order; where the dimension is odd, its last pairs are halves.
struct Interleaved {
    /// The extent of that dimension, and how many elements the dimensions after it have.
    extent: usize,
    inner: usize,
    counters: usize,
}

impl Interleaved {
    /// Along the first dimension that is even, or else along the first of the largest ones.
    fn new(extents: &[usize]) -> Self {
        let even = extents.iter().position(|extent| extent % 2 == 0);
        let largest = || (0..extents.len()).rev().max_by_key(|&dimension| extents[dimension]);
        let Some(dimension) = even.or_else(largest) else {
            return Interleaved { extent: 1, inner: 1, counters: 1 };
        };
        let outer: usize = extents[..dimension].iter().product();
        let inner: usize = extents[dimension + 1..].iter().product();
        let extent = extents[dimension];
        Interleaved { extent, inner, counters: outer * extent.div_ceil(2) * inner }
    }

    /// The counter and the word of it.
    fn place(&self, position: usize) -> (usize, usize) {
        let (before, after) = (position / self.inner, position % self.inner);
        let (outer, index) = (before / self.extent, before % self.extent);
        ((outer * self.extent.div_ceil(2) + index / 2) * self.inner + after, index % 2)
    }
}
