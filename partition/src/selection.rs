//! Regions that choose among elements by comparing them, as those of `argmax` and `argmin` do.
//!
//! Such a region makes nothing new: each result is what one of the two tuples has there, and which one follows from how the two
//! compare. Whether it is associative is decided, not guessed, since a few values stand for all:
//!
//! Let `f` be made of comparisons of what two tuples have in one place, of truth values, of choices between what two tuples have
//! in one place, and of the greater or smaller of these. Let `p` map the values of each place such that it keeps their order (`x < y`
//! just where `p(x) < p(y)`), NaN, and the zeros of both signs where there are both. Then every condition is the same for `p` of its
//! operands, so `f(p(a), p(b)) = p(f(a, b))`. Among three tuples a place has three values at most. Three different numbers are mapped
//! to the least number, 0 and the greatest; if two are zeros that differ in sign, these to themselves and the third to an end. On
//! these few values `p` can be undone, and thus
//!
//! > `f(f(a, b), c) = f(a, f(b, c))` for all tuples just where it holds for those of the *samples*: of numbers the least, 0 and the
//! > greatest, of floats -0 and NaN too, of truth values both.
//!
//! The same holds for `f(a, b) = f(b, a)`; and for `f(e, x) = x` where `e` is of the ends of types, which `p` can keep, as only one
//! other tuple is to be mapped.
//!
//! JAX's `argmax`, "the first if it is greater or NaN, and of equals the smaller index", is associative by this, and does not commute:
//! of two NaN the first is chosen whatever the indices, and of zeros the second. With integers it commutes.

use std::cmp::Ordering;
use weft_hlo::ir::{
    ArenaId, BinaryOp, ComparisonDirection, ComparisonType, Computation, ElementType, FloatFormat, InstrId,
    Instruction, Op, Scalar, UnaryOp,
};

/// Tuples of samples at most; triples are tried.
const MAX_TUPLES: usize = 100;

/// An associative choice between two tuples.
#[derive(Debug, PartialEq)]
pub(crate) struct Selection {
    /// The tuple that is chosen only against itself, whichever side it stands on, if there is one.
    pub(crate) neutral: Option<Vec<Scalar>>,
    /// Whether the order of the two does not matter.
    pub(crate) commutes: bool,
}

impl Selection {
    /// What a region of `count` results chooses for some of its places, which depend on no others; `results` is what it
    /// returns for these. `None` where it is no choice, or one among too many values to try all.
    ///
    /// # Errors
    /// The reason why it is not associative.
    pub(crate) fn of(
        region: &Computation,
        count: usize,
        places: &[usize],
        results: &[InstrId],
    ) -> Result<Option<Selection>, String> {
        let Some(tuples) = Tuples::new(region, count, places, results) else { return Ok(None) };
        let size = tuples.size();
        let mut table = Vec::with_capacity(size * size);
        for left in 0..size {
            for right in 0..size {
                let Some(chosen) = tuples.chosen(left, right) else { return Ok(None) };
                table.push(chosen);
            }
        }
        let chosen = |left: usize, right: usize| table[left * size + right];
        let all = || (0..size).flat_map(|left| (0..size).map(move |right| (left, right)));
        let is_associative = |(a, b): (usize, usize)| {
            let first = chosen(a, b);
            (0..size).all(|c| chosen(first, c) == chosen(a, chosen(b, c)))
        };
        if let Some((a, b)) = all().find(|pair| !is_associative(*pair)) {
            let (a, b) = (tuples.scalars(a), tuples.scalars(b));
            return Err(format!("its region is not associative: it depends on the grouping of {a:?} and {b:?}"));
        }
        let is_neutral = |own: &usize| (0..size).all(|x| chosen(*own, x) == x && chosen(x, *own) == x);
        let neutral = (0..size).filter(|own| tuples.is_of_ends(*own)).find(is_neutral).map(|own| tuples.scalars(own));
        let commutes = all().all(|(a, b)| chosen(a, b) == chosen(b, a));
        Ok(Some(Selection { neutral, commutes }))
    }
}

/// A value of a region whose parameters are samples.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Value {
    Truth(bool),
    /// The sample of this number, of what tuples have in a place.
    Sample(usize, usize),
}

/// The values that stand for all of a type, ascending; NaN is last.
fn samples(element_type: ElementType) -> Option<Vec<Scalar>> {
    Some(match element_type {
        ElementType::Pred => [false, true].map(Scalar::Pred).to_vec(),
        ElementType::F32 => [f32::NEG_INFINITY, -0.0, 0.0, f32::INFINITY, f32::NAN].map(Scalar::F32).to_vec(),
        ElementType::F64 => [f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, f64::NAN].map(Scalar::F64).to_vec(),
        _ => match FloatFormat::of(element_type) {
            Some(format) => {
                let [least, greatest] = [format.infinity(true)?, format.infinity(false)?];
                let bits = [least, format.sign(), 0, greatest, format.nan(false)?];
                bits.map(|bits| Scalar::from_bits(u128::from(bits), element_type)).to_vec()
            }
            None if element_type.is_signed() && element_type.bits() > 1 => {
                let least = 1u128 << (element_type.bits() - 1);
                [least, 0, least - 1].map(|bits| Scalar::from_bits(bits, element_type)).to_vec()
            }
            None if element_type.is_unsigned() && element_type.bits() > 1 => {
                [0, 1, u128::MAX].map(|bits| Scalar::from_bits(bits, element_type)).to_vec()
            }
            None => return None,
        },
    })
}

/// The number that a sample is, NaN or one that compares as it does with other samples of its type.
fn number(sample: Scalar) -> Option<f64> {
    let element_type = sample.element_type();
    let bits = sample.bits();
    Some(match (sample, FloatFormat::of(element_type)) {
        (Scalar::F32(number), _) => f64::from(number),
        (Scalar::F64(number), _) => number,
        (_, Some(format)) => f64::from(format.value(u16::try_from(bits).ok()?)),
        // From the least one on, all the others are above 0.
        _ if element_type.is_signed() => (bits ^ 1 << (element_type.bits() - 1)) as f64,
        _ if element_type.is_unsigned() => bits as f64,
        _ => return None,
    })
}

/// Whether a sample is an end of its type: a number is the least or the greatest.
fn is_end(sample: Scalar) -> bool {
    let samples = samples(sample.element_type()).unwrap_or_default();
    match number(sample) {
        Some(number) if sample.element_type().is_float() => number.is_infinite(),
        Some(_) => samples.first() == Some(&sample) || samples.last() == Some(&sample),
        None => true,
    }
}

/// All tuples of samples, which have numbers, and the region that chooses.
struct Tuples<'m> {
    region: &'m Computation,
    /// Results of the region.
    count: usize,
    /// The places that are looked at, with their samples.
    places: Vec<(usize, Vec<Scalar>)>,
    results: &'m [InstrId],
    /// What the results need, operands first.
    needed: Vec<InstrId>,
}

impl<'m> Tuples<'m> {
    fn new(region: &'m Computation, count: usize, places: &[usize], results: &'m [InstrId]) -> Option<Tuples<'m>> {
        let parameters = region.parameters();
        let mut sampled = Vec::with_capacity(places.len());
        let mut size = 1usize;
        for &place in places {
            let shape = parameters.get(place).map(|id| &region.instructions[*id].shape);
            let samples = shape.and_then(|shape| samples(shape.as_array()?.element_type));
            let samples = samples?;
            size = size.saturating_mul(samples.len());
            sampled.push((place, samples));
        }
        if size > MAX_TUPLES {
            return None;
        }
        let mut is_needed = vec![false; region.instructions.len()];
        results.iter().for_each(|result| is_needed[result.index()] = true);
        for (id, instruction) in region.instructions.iter().rev() {
            if is_needed[id.index()] {
                instruction.operands.iter().for_each(|operand| is_needed[operand.index()] = true);
            }
        }
        let needed = region.instructions.ids().filter(|id| is_needed[id.index()]).collect();
        Some(Tuples { region, count, places: sampled, results, needed })
    }

    fn size(&self) -> usize {
        self.places.iter().map(|(_, samples)| samples.len()).product()
    }

    /// The samples of a tuple, each by its number.
    fn digits(&self, mut tuple: usize) -> Vec<usize> {
        let mut digits = Vec::with_capacity(self.places.len());
        for (_, samples) in &self.places {
            digits.push(tuple % samples.len());
            tuple /= samples.len();
        }
        digits
    }

    fn scalars(&self, tuple: usize) -> Vec<Scalar> {
        let digits = self.digits(tuple);
        self.places.iter().zip(digits).map(|((_, samples), digit)| samples[digit]).collect()
    }

    fn is_of_ends(&self, tuple: usize) -> bool {
        self.scalars(tuple).into_iter().all(is_end)
    }

    /// The tuple that the region makes of two, if it chooses it from them.
    fn chosen(&self, left: usize, right: usize) -> Option<usize> {
        let sides = [self.digits(left), self.digits(right)];
        let mut values: Vec<Option<Value>> = vec![None; self.region.instructions.len()];
        for &id in &self.needed {
            values[id.index()] = Some(self.value(&self.region.instructions[id], &sides, &values)?);
        }
        let mut tuple = 0;
        for ((place, samples), result) in self.places.iter().zip(self.results).rev() {
            let digit = match values[result.index()] {
                Some(Value::Sample(own, digit)) if own == *place => digit,
                Some(Value::Truth(truth)) if samples.len() == 2 => usize::from(truth),
                _ => return None,
            };
            tuple = tuple * samples.len() + digit;
        }
        Some(tuple)
    }

    /// The value of an instruction; `None` where it is not of the operations that the module's text speaks of.
    fn value(&self, instruction: &Instruction, sides: &[Vec<usize>; 2], values: &[Option<Value>]) -> Option<Value> {
        use BinaryOp::{And, Maximum, Minimum, Or, Xor};
        let operand = |position: usize| values[instruction.operands.get(position)?.index()];
        Some(match &instruction.op {
            Op::Parameter { number } => {
                let number = usize::try_from(*number).ok()?;
                let (side, place) = (number / self.count, number % self.count);
                let position = self.places.iter().position(|(own, _)| *own == place)?;
                let digit = sides.get(side)?[position];
                match self.places[position].1[digit] {
                    Scalar::Pred(truth) => Value::Truth(truth),
                    _ => Value::Sample(place, digit),
                }
            }
            Op::Constant(literal) => match literal.splat()? {
                Scalar::Pred(truth) if instruction.shape.as_array()?.rank() == 0 => Value::Truth(truth),
                _ => return None,
            },
            Op::Unary(UnaryOp::Not) => match operand(0)? {
                Value::Truth(truth) => Value::Truth(!truth),
                Value::Sample(..) => return None,
            },
            Op::Binary(op) => match (op, operand(0)?, operand(1)?) {
                (And | Minimum, Value::Truth(a), Value::Truth(b)) => Value::Truth(a & b),
                (Or | Maximum, Value::Truth(a), Value::Truth(b)) => Value::Truth(a | b),
                (Xor, Value::Truth(a), Value::Truth(b)) => Value::Truth(a ^ b),
                // NaN is the greatest sample, and of zeros -0 the smaller, as it is to both operations.
                (Maximum, Value::Sample(place, a), Value::Sample(other, b)) if place == other => {
                    Value::Sample(place, a.max(b))
                }
                (Minimum, Value::Sample(place, a), Value::Sample(other, b)) if place == other => {
                    let is_nan = self.scalar(place, a)?.1 || self.scalar(place, b)?.1;
                    Value::Sample(place, if is_nan { a.max(b) } else { a.min(b) })
                }
                _ => return None,
            },
            Op::Select => match (operand(0)?, operand(1)?, operand(2)?) {
                (Value::Truth(first), Value::Truth(a), Value::Truth(b)) => Value::Truth(if first { a } else { b }),
                (Value::Truth(first), Value::Sample(place, a), Value::Sample(other, b)) if place == other => {
                    Value::Sample(place, if first { a } else { b })
                }
                _ => return None,
            },
            Op::Compare { direction, order } => {
                let ordering = match (operand(0)?, operand(1)?) {
                    (Value::Truth(a), Value::Truth(b)) if order.is_none() => Some(a.cmp(&b)),
                    (Value::Sample(place, a), Value::Sample(other, b)) if place == other => {
                        let ((a, a_is_nan), (b, b_is_nan)) = (self.scalar(place, a)?, self.scalar(place, b)?);
                        if !is_plain(*order, a) {
                            return None;
                        }
                        if a_is_nan || b_is_nan { None } else { compared(a, b) }
                    }
                    _ => return None,
                };
                Value::Truth(holds(*direction, ordering))
            }
            _ => return None,
        })
    }

    /// A sample of a place, and whether it is NaN.
    fn scalar(&self, place: usize, digit: usize) -> Option<(Scalar, bool)> {
        let (_, samples) = self.places.iter().find(|(own, _)| *own == place)?;
        let sample = *samples.get(digit)?;
        Some((sample, number(sample).is_some_and(f64::is_nan)))
    }
}

/// Whether an order is the usual one of a number's type.
fn is_plain(order: Option<ComparisonType>, number: Scalar) -> bool {
    let element_type = number.element_type();
    match order {
        None => true,
        Some(ComparisonType::Float) => element_type.is_float(),
        Some(ComparisonType::Signed) => element_type.is_signed(),
        Some(ComparisonType::Unsigned) => element_type.is_unsigned(),
        Some(_) => false,
    }
}

fn compared(a: Scalar, b: Scalar) -> Option<Ordering> {
    number(a)?.partial_cmp(&number(b)?)
}

/// Whether a relation holds between two values that compare so; beside NaN they do not compare.
fn holds(direction: ComparisonDirection, ordering: Option<Ordering>) -> bool {
    match direction {
        ComparisonDirection::Eq => ordering == Some(Ordering::Equal),
        ComparisonDirection::Ne => ordering != Some(Ordering::Equal),
        ComparisonDirection::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        ComparisonDirection::Gt => ordering == Some(Ordering::Greater),
        ComparisonDirection::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        ComparisonDirection::Lt => ordering == Some(Ordering::Less),
    }
}

#[cfg(test)]
mod tests {
    use super::number;
    use crate::fold::{Fold, Semigroup};
    use std::fmt::Write;
    use weft_hlo::eval::evaluate;
    use weft_hlo::ir::{Data, ElementType, Literal, Module, Scalar, Shape};
    use weft_hlo::random::Rng;
    use weft_hlo::text::parse;

    const DIRECTIONS: [&str; 6] = ["EQ", "NE", "GE", "GT", "LE", "LT"];

    /// The body of a region that chooses between `(a, i)` and `(b, k)`; `@` stands for extents.
    fn body(rng: &mut Rng, value: &str) -> String {
        let mut text = String::new();
        for (number, (name, ty)) in [("a", value), ("i", "s32"), ("b", value), ("k", "s32")].into_iter().enumerate() {
            writeln!(text, "  {name} = {ty}[@] parameter({number})").expect("strings can be written to");
        }
        let direction = |rng: &mut Rng| DIRECTIONS[rng.below(6)];
        let (first, second) = (direction(rng), direction(rng));
        let third = if rng.below(2) == 0 { "EQ" } else { direction(rng) };
        let odd = ["a, a", "b, b", "a, b"][rng.below(3)];
        write!(
            text,
            "  better = pred[@] compare(a, b), direction={first}\n  odd = pred[@] compare({odd}), direction=NE\n  \
             equal = pred[@] compare(a, b), direction={third}\n  before = pred[@] compare(i, k), direction={second}\n  \
             tie = pred[@] and(equal, before)\n  not = pred[@] not(odd)\n  and = pred[@] and(better, not)\n  \
             or = pred[@] or(better, odd)\n"
        )
        .expect("strings can be written to");
        let strict = ["better", "or", "or", "and"][rng.below(4)];
        let which = ["whole", "strict", "strict"][rng.below(3)].replace("strict", strict);
        let (x, y, j, l) = if rng.below(2) == 0 { ("a", "b", "i", "k") } else { ("b", "a", "k", "i") };
        let whole = ["tie", strict][usize::from(rng.below(4) == 0)];
        let chosen = match rng.below(6) {
            0 => format!("maximum({x}, {y})"),
            1 => format!("minimum({x}, {y})"),
            _ => format!("select({which}, {x}, {y})"),
        };
        let index = if rng.below(8) == 0 { "minimum(i, k)".to_owned() } else { format!("select(whole, {j}, {l})") };
        write!(
            text,
            "  whole = pred[@] or({strict}, {whole})\n  v = {value}[@] {chosen}\n  n = s32[@] {index}\n  \
             ROOT r = ({value}[@], s32[@]) tuple(v, n)\n"
        )
        .expect("strings can be written to");
        text
    }

    fn module(text: &str) -> Module {
        parse(text).unwrap_or_else(|found| panic!("{}\n{text}", found.locate(text)))
    }

    /// `f(f(a, b), c)`, `f(a, f(b, c))`, `f(a, b)` and `f(b, a)` of arrays.
    fn groupings(body: &str, value: &str, count: usize) -> Module {
        let body = body.replace('@', &count.to_string());
        let (v, i) = (format!("{value}[{count}]"), format!("s32[{count}]"));
        let mut text = format!("HloModule m\nf {{\n{body}}}\nENTRY e {{\n");
        for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
            let (first, second) = (2 * number, 2 * number + 1);
            writeln!(text, "  {name} = {v} parameter({first})\n  {name}i = {i} parameter({second})").expect("text");
        }
        for (name, x, y) in [("d", "a", "b"), ("l", "d", "c"), ("g", "b", "c"), ("r", "a", "g"), ("s", "b", "a")] {
            writeln!(
                text,
                "  {name}t = ({v}, {i}) call({x}, {x}i, {y}, {y}i), to_apply=f\n  \
                 {name} = {v} get-tuple-element({name}t), index=0\n  {name}i = {i} get-tuple-element({name}t), index=1"
            )
            .expect("text");
        }
        let results = format!("({v}, {i}, {v}, {i}, {v}, {i}, {v}, {i})");
        module(&format!("{text}  ROOT t = {results} tuple(l, li, r, ri, d, di, s, si)\n}}\n"))
    }

    /// The bits of results; NaN is NaN.
    fn words(literal: &Literal) -> Vec<u128> {
        let bits = |own: Scalar| if number(own).is_some_and(f64::is_nan) { u128::MAX } else { own.bits() };
        (0..).map_while(|position| literal.data.get(position)).map(bits).collect()
    }

    fn array(values: &[Scalar]) -> Literal {
        let mut data = Data::filled(values[0], values.len());
        values.iter().enumerate().for_each(|(position, value)| data.set(position, *value).expect("one type"));
        let shape = Shape::array(values[0].element_type(), vec![values.len() as i64]);
        Literal { shape, data }
    }

    /// Values that are no samples, too.
    fn all_triples(value: ElementType) -> Vec<Literal> {
        const FLOATS: [f32; 8] = [f32::NEG_INFINITY, -2.5, -0.0, 0.0, 0.0625, 7.0, f32::INFINITY, f32::NAN];
        const INDICES: [i32; 4] = [0, 3, 8, i32::MAX];
        let values: Vec<Scalar> = match value {
            ElementType::F32 => FLOATS.map(Scalar::F32).to_vec(),
            // The upper half of an f32.
            ElementType::Bf16 => FLOATS.map(|own| Scalar::from_bits(u128::from(own.to_bits() >> 16), value)).to_vec(),
            _ => {
                let top = 1u128 << (value.bits() - 1);
                [top, u128::MAX - 3, 0, 9, top - 1].map(|bits| Scalar::from_bits(bits, value)).to_vec()
            }
        };
        let size = values.len() * INDICES.len();
        let mut inputs = Vec::new();
        for power in [1, size, size * size] {
            let tuples = (0..size * size * size).map(|number| number / power % size);
            let chosen: Vec<Scalar> = tuples.clone().map(|tuple| values[tuple % values.len()]).collect();
            let indices: Vec<Scalar> = tuples.map(|tuple| Scalar::S32(INDICES[tuple / values.len()])).collect();
            inputs.extend([array(&chosen), array(&indices)]);
        }
        inputs
    }

    /// What is said of a region holds for values that were not tried, and what is refused has a counterexample.
    #[test]
    fn regions_are_divided_just_where_grouping_does_not_matter() {
        let (mut rng, mut accepted, mut commuting, mut monoids, mut refused) = (Rng::new(91), 0, 0, 0, 0);
        let types = [ElementType::F32, ElementType::S32, ElementType::Bf16, ElementType::U8, ElementType::S64];
        for (value, cases) in types.into_iter().zip([300, 300, 60, 60, 60]) {
            let inputs = all_triples(value);
            let value = value.name();
            let count = inputs[1].shape.as_array().map_or(0, |array| array.extents[0]) as usize;
            for _ in 0..cases {
                let body = body(&mut rng, value);
                let region = module(&format!("HloModule m\nENTRY f {{\n{}}}\n", body.replace('@', "")));
                let fold = Semigroup::of(region.entry_computation());
                let is_refuted = matches!(&fold, Err(reason) if reason.contains("is not associative"));
                // One in sixteen of what is refuted is enough.
                if fold.is_err() && (!is_refuted || rng.below(16) != 0) {
                    continue;
                }
                let found = evaluate(&groupings(&body, value, count), &inputs).unwrap_or_else(|e| panic!("{e}"));
                let found: Vec<Vec<u128>> = found.iter().map(words).collect();
                assert_eq!(found[..2] == found[2..4], fold.is_ok(), "{fold:?}\n{body}");
                let Ok(fold) = fold else {
                    refused += 1;
                    continue;
                };
                assert_eq!(found[4..6] == found[6..], fold.commutes, "{body}");
                accepted += 1;
                commuting += usize::from(fold.commutes);
                let Some(neutral) = &fold.neutral else { continue };
                monoids += 1;
                let neutral: Vec<Literal> = neutral.iter().map(|own| splat(*own, count)).collect();
                for neutral_first in [true, false] {
                    let (own, other) =
                        if neutral_first { (&neutral[..], &inputs[..2]) } else { (&inputs[..2], &neutral[..]) };
                    let given = [own, other, &inputs[..2]].concat();
                    let found = evaluate(&groupings(&body, value, count), &given).unwrap_or_else(|e| panic!("{e}"));
                    assert_eq!(words(&found[4]), words(&inputs[0]), "{:?}\n{body}", fold.neutral);
                    assert_eq!(words(&found[5]), words(&inputs[1]), "{:?}\n{body}", fold.neutral);
                }
            }
        }
        println!("{accepted} accepted, {monoids} of them with a neutral tuple, {commuting} commute, {refused} refused");
        assert!(monoids > 15 && monoids < accepted && commuting > 5 && commuting < accepted && refused > 10);
    }

    fn splat(value: Scalar, count: usize) -> Literal {
        array(&vec![value; count])
    }

    /// The region with these instructions behind its parameters `a`, `i`, `b` and `k`.
    fn fold(value: &str, instructions: &str) -> Result<Fold, String> {
        let text = format!(
            "HloModule m\nENTRY f {{\n  a = {value}[] parameter(0)\n  i = s32[] parameter(1)\n  b = {value}[] parameter(2)\n  \
             k = s32[] parameter(3)\n{instructions}\n  ROOT r = ({value}[], s32[]) tuple(v, n)\n}}\n"
        );
        Fold::of(module(&text).entry_computation())
    }

    /// As JAX prints `argmax`.
    const ARGMAX: &str = "g = pred[] compare(a, b), direction=GT
        u = pred[] compare(a, a), direction=NE
        o = pred[] or(g, u)
        v = @[] select(o, a, b)
        e = pred[] compare(a, b), direction=EQ
        l = pred[] compare(i, k), direction=LT
        t = pred[] and(e, l)
        w = pred[] or(o, t)
        n = s32[] select(w, i, k)";

    #[test]
    fn argmax_is_a_monoid_and_commutes_for_integers() {
        let neutral = vec![Scalar::F32(f32::NEG_INFINITY), Scalar::S32(i32::MAX)];
        assert_eq!(
            fold("f32", &ARGMAX.replace('@', "f32")),
            Ok(Fold { neutral, commutes: false, is_completed: false })
        );
        let neutral = vec![Scalar::S32(i32::MIN), Scalar::S32(i32::MAX)];
        assert_eq!(fold("s32", &ARGMAX.replace('@', "s32")), Ok(Fold { neutral, commutes: true, is_completed: false }));
    }

    #[test]
    fn what_is_no_monoid_is_refused_with_the_reason() {
        let cases = [
            // The first of equals: no value gives way to all on both sides.
            (
                "g = pred[] compare(a, b), direction=GE\nv = s32[] select(g, a, b)\nn = s32[] select(g, i, k)",
                "no neutral",
            ),
            (
                "g = pred[] compare(a, b), direction=NE\nv = s32[] select(g, a, b)\nn = s32[] select(g, k, i)",
                "not associative",
            ),
            (
                "g = pred[] compare(a, k), direction=GT\nv = s32[] select(g, a, b)\nn = s32[] select(g, i, k)",
                "not associative",
            ),
            (
                "g = pred[] compare(a, b), direction=GT\nv = s32[] select(g, a, b)\nn = s32[] select(g, a, k)",
                "no neutral",
            ),
            (
                "g = pred[] compare(a, b), direction=GT\nv = s32[] select(g, i, k)\nn = s32[] select(g, a, b)",
                "not associative",
            ),
            ("v = s32[] add(a, b)\nn = s32[] subtract(i, k)", "not associative"),
            // A mean of so many.
            (
                "n = s32[] add(i, k)\nx = s32[] multiply(a, i)\ny = s32[] multiply(b, k)\ns = s32[] add(x, y)\n\
                 v = s32[] divide(s, n)",
                "not associative",
            ),
            (
                // The first that is greater than 3.
                "z = s32[] constant(3)\ng = pred[] compare(a, z), direction=GT\nv = s32[] select(g, a, b)\nn = s32[] add(i, k)",
                "no neutral",
            ),
        ];
        for (instructions, reason) in cases {
            let found = fold("s32", instructions);
            assert!(matches!(&found, Err(text) if text.contains(reason)), "{found:?}\n{instructions}");
        }
    }

    /// Sums beside a maximum, each by its own rule.
    #[test]
    fn independent_results_are_monoids_of_their_own() {
        let neutral = vec![Scalar::F32(-0.0), Scalar::S32(i32::MIN)];
        let found = fold("f32", "v = f32[] add(b, a)\nn = s32[] maximum(i, k)");
        assert_eq!(found, Ok(Fold { neutral, commutes: true, is_completed: false }));
    }
}
