//! Expansion of rng-bit-generator into arithmetic on the words of counters.

use super::bitcast_widths::unsigned;
use super::build::{Build, Callee};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Instruction, Module, Op,
    RandomAlgorithm, Scalar, Shape, SliceDimension, Span,
};

/// How far Threefry rotates the second word, by round; the pattern repeats.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
/// What Threefry masks a key of zeros with.
const PARITY: u32 = 0x1BD1_1BDA;
/// What Philox multiplies the first and the third word by.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What Philox adds to the words of the key between rounds.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Replaces `rng-bit-generator`, from a state `u32[4]` or `u64[2]`, of Philox also `u64[3]`, by a `map` over the numbers of its counters, of one computation on
/// scalars in `u32` arithmetic. The bits and the next state are the same. A wide element is two words side by side, a narrow one the lowest
/// bits of one.
///
/// Elements of 6 or 128 bits and `pred`, other states and more than 2^31 - 1 words stay as they are.
pub struct RandomBits;

impl Pass for RandomBits {
    fn name(&self) -> &'static str {
        "expand-random-bits"
    }

    fn about(&self) -> &'static str {
        "writes rng-bit-generator out as arithmetic on the words of counters"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match candidate.op {
            Op::RngBitGenerator { algorithm } => expand(rebuild, candidate, algorithm),
            Op::BitcastConvert => same_words(rebuild, candidate),
            _ => None,
        }))
    }
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, algorithm: RandomAlgorithm) -> Option<Rule> {
    let [given] = candidate.operands[..] else { return None };
    let bits = candidate.shape.as_tuple()?.get(1)?.as_array()?.clone();
    let own = unsigned(bits.element_type.bits()).filter(|_| bits.element_type != ElementType::Pred)?;
    let is_wide = own == ElementType::U64;
    let mut extents = bits.extents.clone();
    extents.extend(is_wide.then_some(2));
    let count = extents.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
    let count = count.filter(|count| bits.dynamic.is_empty() && i32::try_from(*count).is_ok())?;
    let state = match algorithm {
        RandomAlgorithm::ThreeFry => words(rebuild, given)?,
        _ => numbers(rebuild, given).or_else(|| words(rebuild, given))?,
    };
    let places = match algorithm {
        RandomAlgorithm::ThreeFry if is_wide => Places::in_pairs(count),
        RandomAlgorithm::ThreeFry => Places::interleaved(&extents),
        _ => Places::in_fours(count),
    };
    let [number, word] = places.arrays(rebuild, &extents);
    let region = region(algorithm, rebuild.element_type(state[0]), rebuild.span());
    let to_apply = rebuild.shared_computation(region);
    let everywhere = |rebuild: &mut Rebuild<'_>, word| rebuild.broadcast(word, &[], extents.clone());
    let mut operands: Vec<InstrId> = state.iter().map(|word| everywhere(rebuild, *word)).collect();
    operands.extend([number, word]);
    let op = Op::Map { dimensions: (0..extents.len() as i64).collect(), to_apply };
    let mut made = rebuild.add(Shape::array(ElementType::U32, extents.clone()), op, operands);
    if !is_wide {
        made = rebuild.converted(made, own);
    }
    if bits.element_type != rebuild.element_type(made) {
        made = rebuild.add(Shape::array(bits.element_type, bits.extents), Op::BitcastConvert, vec![made]);
    }

    let is_of_words = rebuild.element_type(state[0]) == ElementType::U32;
    let (key, counter) = state.split_at(if is_of_words { 2 } else { 1 });
    let counters = Scalar::from_bits(places.counters().unsigned_abs().into(), rebuild.element_type(state[0]));
    let counters = rebuild.scalar(counters);
    let counter = added(rebuild, counter, counters);
    let next = key.iter().chain(&counter).map(|word| rebuild.reshaped(*word, vec![1])).collect();
    let mut next = rebuild.concatenated(next, 0);
    if is_of_words && rebuild.element_type(given) == ElementType::U64 {
        next = rebuild.reshaped(next, vec![2, 2]);
        next = rebuild.add(Shape::array(ElementType::U64, [2]), Op::BitcastConvert, vec![next]);
    }
    Some(("rng-bit-generator computes the words of counters", Rewrite::Op(Op::Tuple, vec![next, made])))
}

/// The element of an array of one dimension.
fn element(rebuild: &mut Rebuild<'_>, array: InstrId, start: i64) -> InstrId {
    let op = Op::Slice { dimensions: vec![SliceDimension { start, limit: start + 1, stride: 1 }] };
    let element = rebuild.add(Shape::array(rebuild.element_type(array), [1]), op, vec![array]);
    rebuild.reshaped(element, Vec::new())
}

/// The numbers of a state that has a counter of two, each a scalar: the key, and those of the counter, the lower one first.
fn numbers(rebuild: &mut Rebuild<'_>, state: InstrId) -> Option<Vec<InstrId>> {
    let ArrayShape { element_type, extents, .. } = rebuild.array(state);
    let has_three = *element_type == ElementType::U64 && *extents == [3];
    has_three.then(|| (0..3).map(|number| element(rebuild, state, number)).collect())
}

/// The four words of a state, each a scalar: those of the key, then those of the counter, the lower ones first.
fn words(rebuild: &mut Rebuild<'_>, state: InstrId) -> Option<Vec<InstrId>> {
    let ArrayShape { element_type, extents, .. } = rebuild.array(state).clone();
    let all = match (element_type, &extents[..]) {
        (ElementType::U32, [4]) => state,
        (ElementType::U64, [2]) => {
            let pairs = words_of_pairs(rebuild, state).unwrap_or_else(|| {
                rebuild.add(Shape::array(ElementType::U32, [2, 2]), Op::BitcastConvert, vec![state])
            });
            rebuild.reshaped(pairs, vec![4])
        }
        _ => return None,
    };
    Some((0..4).map(|number| element(rebuild, all, number)).collect())
}

/// The `u32[2,2]` whose bits a `u64[2]` is, where it was made of one.
fn words_of_pairs(rebuild: &Rebuild<'_>, state: InstrId) -> Option<InstrId> {
    let state = rebuild.get(state);
    let words = *state.operands.first().filter(|_| state.op == Op::BitcastConvert)?;
    let array = rebuild.array(words);
    (array.element_type == ElementType::U32 && array.extents == [2, 2]).then_some(words)
}

/// The words of a state that was put together of them just before.
fn same_words(rebuild: &Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let element = rebuild.get(*candidate.operands.first()?);
    let tuple = rebuild.get(*element.operands.first()?);
    if (&element.op, &tuple.op) != (&Op::GetTupleElement { index: 0 }, &Op::Tuple) {
        return None;
    }
    let words = words_of_pairs(rebuild, *tuple.operands.first()?)?;
    let is_same = rebuild.array(words).same_type_and_extents(candidate.shape.as_array()?);
    is_same
        .then_some(("bitcast-convert(get-tuple-element(tuple(bitcast-convert(x), y), 0)) = x", Rewrite::Value(words)))
}

/// Which word of which counter each element is: elements in the order of `[outer, pieces, words, inner]`, of which those beyond
/// `extent` along `[pieces, words]` are left out. Counters count `[outer, pieces, inner]`.
struct Places {
    outer: i64,
    extent: i64,
    words: i64,
    inner: i64,
}

impl Places {
    /// A counter's four words follow each other.
    fn in_fours(count: i64) -> Self {
        Places { outer: 1, extent: count, words: 4, inner: 1 }
    }

    /// A counter's two words follow each other.
    fn in_pairs(count: i64) -> Self {
        Places { outer: 1, extent: count, words: 2, inner: 1 }
    }

    /// Elements in pairs along the first dimension that is even, or else along the first of the largest ones.
    fn interleaved(extents: &[i64]) -> Self {
        let even = extents.iter().position(|extent| extent % 2 == 0);
        let largest = || (0..extents.len()).rev().max_by_key(|&dimension| extents[dimension]);
        let Some(dimension) = even.or_else(largest) else { return Places { outer: 1, extent: 1, words: 2, inner: 1 } };
        let (before, after) = (&extents[..dimension], &extents[dimension + 1..]);
        Places { outer: before.iter().product(), extent: extents[dimension], words: 2, inner: after.iter().product() }
    }

    fn pieces(&self) -> i64 {
        (self.extent + self.words - 1) / self.words
    }

    fn counters(&self) -> i64 {
        self.outer * self.pieces() * self.inner
    }

    /// The number of each element's counter, and of its word there, in arrays of these extents.
    fn arrays(&self, rebuild: &mut Rebuild<'_>, extents: &[i64]) -> [InstrId; 2] {
        let Places { outer, extent, words, inner } = *self;
        let apart = vec![outer, self.pieces(), words, inner];
        let counters = rebuild.iota(ElementType::U32, vec![self.counters()], 0);
        let counters = rebuild.reshaped(counters, vec![outer, self.pieces(), inner]);
        let number = rebuild.broadcast(counters, &[0, 1, 3], apart.clone());
        let word = rebuild.iota(ElementType::U32, apart, 2);
        [number, word].map(|value| {
            let along = self.pieces() * words;
            let mut value = rebuild.reshaped(value, vec![outer, along, inner]);
            if along != extent {
                let all = |limit| SliceDimension { start: 0, limit, stride: 1 };
                let op = Op::Slice { dimensions: vec![all(outer), all(extent), all(inner)] };
                value = rebuild.add(Shape::array(ElementType::U32, [outer, extent, inner]), op, vec![value]);
            }
            rebuild.reshaped(value, extents.to_vec())
        })
    }
}

/// The computation from a state, of four words or three numbers, the number of a counter and that of a word in it to this word.
fn region(algorithm: RandomAlgorithm, state: ElementType, span: Span) -> Computation {
    let name = match algorithm {
        RandomAlgorithm::ThreeFry => "threefry",
        _ => "philox",
    };
    let mut callee = Callee::new(name, span);
    let is_of_words = state == ElementType::U32;
    let given: Vec<InstrId> =
        (0..if is_of_words { 4 } else { 3 }).map(|_| callee.parameter(Shape::scalar(state))).collect();
    let [number, word] = [(); 2].map(|()| callee.parameter(Shape::scalar(ElementType::U32)));
    let state = if is_of_words { given } else { halves(&mut callee, &given) };
    let key = [state[0], state[1]];
    let words = match algorithm {
        RandomAlgorithm::ThreeFry => {
            let counter = added(&mut callee, &state[2..4], number);
            threefry(&mut callee, key, [counter[0], counter[1]]).to_vec()
        }
        // The key is the upper half of the first counter, where the state has none.
        _ => {
            let upper = state.get(4..6).unwrap_or(&key);
            let counter = added(&mut callee, &[&state[2..4], upper].concat(), number);
            philox(&mut callee, key, [counter[0], counter[1], counter[2], counter[3]]).to_vec()
        }
    };
    let mut chosen = words[0];
    for (place, &candidate) in words.iter().enumerate().skip(1) {
        let place = callee.scalar(Scalar::U32(place as u32));
        let is_this = callee.compared(ComparisonDirection::Eq, word, place);
        chosen = callee.selected(is_this, candidate, chosen);
    }
    callee.finish(chosen)
}

/// The words of numbers of 64 bits, the lower one of each first.
pub(super) fn halves(build: &mut impl Build, numbers: &[InstrId]) -> Vec<InstrId> {
    let mut words = Vec::with_capacity(2 * numbers.len());
    for &number in numbers {
        let places = build.scalar(Scalar::U64(32));
        let upper = build.binary(BinaryOp::ShiftRightLogical, number, places);
        words.extend([number, upper].map(|half| build.converted(half, ElementType::U32)));
    }
    words
}

/// The sum of a number in words, the lowest first, and one word; what exceeds the last word is dropped.
fn added(build: &mut impl Build, words: &[InstrId], mut term: InstrId) -> Vec<InstrId> {
    let sums = words.iter().map(|&word| {
        let sum = build.binary(BinaryOp::Add, word, term);
        let carries = build.compared(ComparisonDirection::Lt, sum, word);
        term = build.converted(carries, build.element_type(word));
        sum
    });
    sums.collect()
}

/// Threefry with two words and 20 rounds.
fn threefry(build: &mut impl Build, key: [InstrId; 2], counter: [InstrId; 2]) -> [InstrId; 2] {
    let parity = build.scalar(Scalar::U32(PARITY));
    let both = build.binary(BinaryOp::Xor, key[0], key[1]);
    let keys = [key[0], key[1], build.binary(BinaryOp::Xor, both, parity)];
    let mut x = build.binary(BinaryOp::Add, counter[0], keys[0]);
    let mut y = build.binary(BinaryOp::Add, counter[1], keys[1]);
    for round in 0..20 {
        x = build.binary(BinaryOp::Add, x, y);
        let turned = rotated(build, y, ROTATIONS[round % 8]);
        y = build.binary(BinaryOp::Xor, turned, x);
        // After every four rounds a part of the key comes in.
        if round % 4 == 3 {
            let group = round / 4 + 1;
            x = build.binary(BinaryOp::Add, x, keys[group % 3]);
            let sum = build.binary(BinaryOp::Add, y, keys[(group + 1) % 3]);
            let group = build.scalar(Scalar::U32(group as u32));
            y = build.binary(BinaryOp::Add, sum, group);
        }
    }
    [x, y]
}

/// The word with its bits moved to the left, those that leave it coming back on the right.
fn rotated(build: &mut impl Build, word: InstrId, places: u32) -> InstrId {
    let [left, right] = [places, 32 - places].map(|places| build.scalar(Scalar::U32(places)));
    let upper = build.binary(BinaryOp::ShiftLeft, word, left);
    let lower = build.binary(BinaryOp::ShiftRightLogical, word, right);
    build.binary(BinaryOp::Or, upper, lower)
}

/// Philox with four words and 10 rounds.
pub(super) fn philox(build: &mut impl Build, mut key: [InstrId; 2], counter: [InstrId; 4]) -> [InstrId; 4] {
    let factors = FACTORS.map(|factor| Factor::new(build, factor));
    let weyl = WEYL.map(|term| build.scalar(Scalar::U32(term)));
    let mut words = counter;
    for _ in 0..10 {
        let [first, third] = [(0, 0), (1, 2)].map(|(factor, word)| factors[factor].product(build, words[word]));
        let [left, right] = [(third[1], words[1], key[0]), (first[1], words[3], key[1])].map(|(high, word, key)| {
            let mixed = build.binary(BinaryOp::Xor, high, word);
            build.binary(BinaryOp::Xor, mixed, key)
        });
        words = [left, third[0], right, first[0]];
        key = [0, 1].map(|half| build.binary(BinaryOp::Add, key[half], weyl[half]));
    }
    words
}

/// A constant that words are multiplied by.
struct Factor {
    whole: InstrId,
    lower: InstrId,
    upper: InstrId,
    /// The mask of a lower half, and how many bits it has.
    mask: InstrId,
    half: InstrId,
}

impl Factor {
    fn new(build: &mut impl Build, factor: u32) -> Self {
        let [whole, lower, upper, mask, half] =
            [factor, factor & 0xFFFF, factor >> 16, 0xFFFF, 16].map(|value| build.scalar(Scalar::U32(value)));
        Factor { whole, lower, upper, mask, half }
    }

    /// Both words of the product, the lower one first. In halves `(a + b 2^16) (c + d 2^16)` is
    /// `a c + (b c + a d) 2^16 + b d 2^32`; of the middle only as much is added at once as a word holds.
    fn product(&self, build: &mut impl Build, word: InstrId) -> [InstrId; 2] {
        let lower = build.binary(BinaryOp::And, word, self.mask);
        let upper = build.binary(BinaryOp::ShiftRightLogical, word, self.half);
        let low = build.binary(BinaryOp::Multiply, lower, self.lower);
        let middle = build.binary(BinaryOp::Multiply, upper, self.lower);
        let other = build.binary(BinaryOp::Multiply, lower, self.upper);
        let high = build.binary(BinaryOp::Multiply, upper, self.upper);
        let carried = build.binary(BinaryOp::ShiftRightLogical, low, self.half);
        let part = build.binary(BinaryOp::And, middle, self.mask);
        let sum = build.binary(BinaryOp::Add, carried, part);
        let sum = build.binary(BinaryOp::Add, sum, other);
        let sum = build.binary(BinaryOp::ShiftRightLogical, sum, self.half);
        let rest = build.binary(BinaryOp::ShiftRightLogical, middle, self.half);
        let high = build.binary(BinaryOp::Add, high, rest);
        let high = build.binary(BinaryOp::Add, high, sum);
        [build.binary(BinaryOp::Multiply, word, self.whole), high]
    }
}
