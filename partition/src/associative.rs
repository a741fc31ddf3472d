//! Whether a region is associative, tried out where it is not proved.
//!
//! HLO asks of the region of a reduction that it be associative, so what is looked for is a program that means the order of its elements
//! (a difference, a mean of two), not a proof. `f(f(a, b), c)` is computed beside `f(a, f(b, c))` for triples of three kinds: positive numbers out of
//! few, so that there are equal ones; negative ones likewise; and numbers of both signs of which no sum or difference is 0. Floats are computed in `f64`, where
//! both sides of an equation of real numbers agree to many digits. What is the same if `a` and `b` are exchanged commutes, also where some are NaN. Numbers are small: what is defined for some of a type, such as products modulo a
//! prime, is tried where it is defined.

use crate::elementwise::{applied, other_than_elementwise};
use weft_hlo::eval::{Config, evaluate_precisely};
use weft_hlo::ir::{
    Arena, Computation, Data, ElementType, FloatFormat, InstrId, Instruction, Literal, Module, Op, Scalar, Shape,
};

/// Triples of each kind.
const EACH: usize = 32;

/// How far two floats are apart at most that count as equal: by the greater of them, and at all.
const RELATIVE: f64 = 1e-6;
const ABSOLUTE: f64 = 1e-12;

/// Kinds of numbers.
#[derive(Copy, Clone)]
enum Kind {
    Positive,
    Negative,
    Mixed,
    /// Positive, or none, which only matters to the order: what chooses the greater of two may take the first NaN.
    OrNan,
}

const KINDS: [Kind; 4] = [Kind::Positive, Kind::Negative, Kind::Mixed, Kind::OrNan];

/// Tries out whether a region is associative, and then whether it commutes.
///
/// # Errors
/// The reason why it is not, with the values, or why it cannot be tried.
pub(crate) fn tried(region: &Computation) -> Result<bool, String> {
    if let Some(op) = other_than_elementwise(region) {
        return Err(format!("its region holds a `{op}`, and only regions of elementwise operations are tried out"));
    }
    let types: Option<Vec<ElementType>> = region
        .parameters()
        .into_iter()
        .map(|id| Some(region.instructions[id].shape.as_array()?.element_type))
        .collect();
    let types = types.ok_or("its region takes more than numbers")?;
    let types = &types[..types.len() / 2];
    let sides = samples(types);
    let inputs: Vec<Literal> = sides.iter().flatten().cloned().collect();
    let found = evaluate_precisely(&groupings(region, types), &inputs, &Config::default())
        .map_err(|found| format!("its region cannot be tried out: {found}"))?;
    let [first, last, own, exchanged] = [0, 1, 2, 3].map(|part| &found[part * types.len()..(part + 1) * types.len()]);
    for position in 0..(KINDS.len() - 1) * EACH {
        if !agree(first, last, position) {
            let [a, b, c] = [0, 1, 2].map(|side| tuple(&sides[side], position));
            let (first, last) = (tuple(first, position), tuple(last, position));
            return Err(format!(
                "its region is not associative: of {a}, {b} and {c} it makes {first} or {last}, depending on the grouping"
            ));
        }
    }
    Ok((0..KINDS.len() * EACH).all(|position| agree(own, exchanged, position)))
}

/// `f(f(a, b), c)`, `f(a, f(b, c))`, `f(a, b)` and `f(b, a)` of arrays of tuples.
fn groupings(region: &Computation, types: &[ElementType]) -> Module {
    let extents = [i64::try_from(KINDS.len() * EACH).unwrap_or(0)];
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut add = |shape: Shape, op: Op, operands: Vec<InstrId>| {
        let name = format!("v{}", instructions.len());
        instructions.push(Instruction::new(name, shape, op, operands))
    };
    let mut parameters = Vec::with_capacity(3 * types.len());
    for (number, element_type) in (0..).zip(types.iter().cycle().take(3 * types.len())) {
        parameters.push(add(Shape::array(*element_type, extents), Op::Parameter { number }, Vec::new()));
    }
    let [a, b, c] = [0, 1, 2].map(|side| &parameters[side * types.len()..(side + 1) * types.len()]);
    let mut of = |left: &[InstrId], right: &[InstrId]| applied(region, &[left, right].concat(), &extents, &mut add);
    let own = of(a, b);
    let first = of(&own, c);
    let behind = of(b, c);
    let last = of(a, &behind);
    let exchanged = of(b, a);
    let results = [first, last, own, exchanged].concat();
    let shapes = types.iter().cycle().take(results.len()).map(|own| Shape::array(*own, extents));
    let root = add(Shape::Tuple(shapes.collect()), Op::Tuple, results);
    let mut computations = Arena::new();
    let entry = computations.push(Computation::new("groupings", instructions, root));
    Module::new("groupings", computations, entry)
}

/// For each side of a triple an array of each place of its tuples.
fn samples(types: &[ElementType]) -> [Vec<Literal>; 3] {
    let mut numbers = Numbers(1);
    [0, 1, 2].map(|side| {
        let array = |element_type: &ElementType| {
            let count = KINDS.len() * EACH;
            let mut data = Data::filled(Scalar::from_bits(0, *element_type), count);
            for position in 0..count {
                data.set(position, numbers.sample(*element_type, side, KINDS[position / EACH]));
            }
            Literal::array([i64::try_from(count).unwrap_or(0)], data)
        };
        types.iter().map(array).collect()
    })
}

/// Numbers that look random, the same each time (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits >> 33) as usize % count
    }

    fn sample(&mut self, element_type: ElementType, side: usize, kind: Kind) -> Scalar {
        match element_type {
            ElementType::Pred => Scalar::Pred(self.below(2) == 1),
            ElementType::C64 | ElementType::C128 => {
                let part = element_type.bits() / 2;
                let [re, im] = [self.float(kind), self.float(kind)].map(|number| match part {
                    32 => u128::from((number as f32).to_bits()),
                    _ => u128::from(number.to_bits()),
                });
                Scalar::from_bits(re | im << part, element_type)
            }
            ElementType::F32 => Scalar::F32(self.float(kind) as f32),
            ElementType::F64 => Scalar::F64(self.float(kind)),
            _ => {
                let bits = match FloatFormat::of(element_type) {
                    Some(format) => {
                        let number = self.float(kind);
                        let nan = || format.nan(false).filter(|_| number.is_nan());
                        u128::from(format.nearest(number).or_else(nan).unwrap_or(0))
                    }
                    None => self.integer(element_type, side, kind).cast_unsigned().into(),
                };
                Scalar::from_bits(bits, element_type)
            }
        }
    }

    fn float(&mut self, kind: Kind) -> f64 {
        const FEW: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 3.0];
        match kind {
            Kind::Positive => FEW[self.below(FEW.len())],
            Kind::Negative => -FEW[self.below(FEW.len())],
            Kind::OrNan if self.below(3) == 0 => f64::NAN,
            Kind::OrNan => FEW[self.below(FEW.len())],
            Kind::Mixed => {
                let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
                sign * (0.25 + self.below(1 << 20) as f64 * 3.0 / f64::from(1 << 20))
            }
        }
    }

    /// Those of a side of a triple are, in numbers of both signs, less than those of the next one, so that their sums are not 0.
    fn integer(&mut self, element_type: ElementType, side: usize, kind: Kind) -> i64 {
        const FEW: [i64; 5] = [1, 2, 3, 5, 7];
        // Half of a narrow type's numbers are negative, and there are three sides.
        let (step, most): (i64, usize) = match element_type.bits() {
            0..=4 => (1, 1),
            5..=8 => (5, 2),
            _ => (10, 9),
        };
        let number = match kind {
            Kind::Mixed => step.pow(side as u32) * (1 + self.below(most) as i64),
            _ if element_type.bits() <= 4 => 1 + self.below(2) as i64,
            _ => FEW[self.below(FEW.len())],
        };
        let is_negative = match kind {
            Kind::Positive | Kind::OrNan => false,
            Kind::Negative => true,
            Kind::Mixed => self.below(2) == 0,
        };
        if is_negative && element_type.is_signed() { -number } else { number }
    }
}

/// Whether two tuples are the same: floats about, others to the bit.
fn agree(one: &[Literal], other: &[Literal], position: usize) -> bool {
    one.iter().zip(other).all(|(one, other)| match (one.data.get(position), other.data.get(position)) {
        (Some(one), Some(other)) if one.element_type() == ElementType::C128 => {
            parts(one).into_iter().zip(parts(other)).all(|(one, other)| are_near(one, other))
        }
        (Some(Scalar::F64(one)), Some(Scalar::F64(other))) => are_near(one, other),
        (one, other) => one == other,
    })
}

/// The real and the imaginary part of a `c128`.
fn parts(number: Scalar) -> [f64; 2] {
    let bits = number.bits();
    [bits as u64, (bits >> 64) as u64].map(f64::from_bits)
}

fn are_near(one: f64, other: f64) -> bool {
    let (far, most) = ((one - other).abs(), one.abs().max(other.abs()));
    one == other || one.is_nan() && other.is_nan() || far <= ABSOLUTE || far <= RELATIVE * most && most.is_finite()
}

/// The text of a tuple.
fn tuple(places: &[Literal], position: usize) -> String {
    let texts: Vec<String> =
        places.iter().filter_map(|place| place.data.get(position)).map(|own| own.to_string()).collect();
    if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::tried;
    use std::fmt::Write;
    use weft_hlo::ir::Module;
    use weft_hlo::text::parse;

    /// A region of operands of these types, `a0`, `a1`, …, and `b0`, `b1`, …, which returns `results`.
    fn region(types: &[&str], body: &str, results: &str) -> Module {
        let mut text = "HloModule m\nENTRY f {\n".to_owned();
        for (side, name) in ["a", "b"].into_iter().enumerate() {
            for (place, ty) in types.iter().enumerate() {
                let number = side * types.len() + place;
                writeln!(text, "  {name}{place} = {ty}[] parameter({number})").expect("strings can be written to");
            }
        }
        let shapes: Vec<String> = types.iter().map(|ty| format!("{ty}[]")).collect();
        let text = format!("{text}{body}\n  ROOT r = ({}) tuple({results})\n}}\n", shapes.join(", "));
        parse(&text).unwrap_or_else(|found| panic!("{}\n{text}", found.locate(&text)))
    }

    const WELFORD: &str = "n = T[] add(a2, b2)\nd = T[] subtract(b0, a0)\nw = T[] divide(b2, n)\ns = T[] multiply(d, w)
        m = T[] add(a0, s)\ndd = T[] multiply(d, d)\naw = T[] multiply(a2, w)\nq = T[] multiply(dd, aw)
        both = T[] add(a1, b1)\nv = T[] add(both, q)";

    const LOG_ADD_EXP: &str =
        "m = T[] maximum(a0, b0)\nd = T[] subtract(a0, b0)\nu = pred[] compare(d, d), direction=NE
        s = T[] add(a0, b0)\nh = T[] abs(d)\nn = T[] negate(h)\ne = T[] exponential(n)\nl = T[] log-plus-one(e)
        k = T[] add(m, l)\nv = T[] select(u, s, k)";

    #[test]
    fn associative_regions_are_accepted() {
        let welford = WELFORD.replace('T', "f32");
        let log_add_exp = LOG_ADD_EXP.replace('T', "bf16");
        let matrix = "p = s32[] multiply(a0, b0)\nq = s32[] multiply(a1, b2)\nv = s32[] add(p, q)
            t = s32[] multiply(a0, b1)\nu = s32[] multiply(a1, b3)\nw = s32[] add(t, u)
            e = s32[] multiply(a2, b0)\nf = s32[] multiply(a3, b2)\nx = s32[] add(e, f)
            g = s32[] multiply(a2, b1)\nh = s32[] multiply(a3, b3)\ny = s32[] add(g, h)";
        // The greater or the first NaN; of equals that of the smaller index.
        let greatest = "g = pred[] compare(a0, b0), direction=GT\nu = pred[] compare(a0, a0), direction=NE\no = pred[] or(g, u)
            v = f32[] select(o, a0, b0)\nc = pred[] compare(a0, b0), direction=EQ\nl = pred[] compare(a1, b1), direction=LT
            t = pred[] and(c, l)\nw = pred[] or(o, t)\nn = s32[] select(w, a1, b1)";
        let without = greatest.replace("or(g, u)", "or(g, g)");
        let cases: [(&[&str], &str, &str, bool); 13] = [
            (&["f32", "s32"], greatest, "v, n", false),
            (&["s32", "s32"], &without.replace("f32", "s32"), "v, n", true),
            (&["f32"; 3], &welford, "m, v, n", true),
            (&["bf16"], &log_add_exp, "v", true),
            (
                &["u32"; 2],
                "x = u32[] multiply(a0, b0)\ny = u32[] multiply(a1, b0)\nz = u32[] add(y, b1)",
                "x, z",
                false,
            ),
            (&["s32"; 4], matrix, "v, w, x, y", false),
            (&["c64"], "x = c64[] multiply(a0, b0)", "x", true),
            (
                &["f16"],
                "x = f32[] convert(a0)\ny = f32[] convert(b0)\ns = f32[] add(x, y)\nr16 = f16[] convert(s)",
                "r16",
                true,
            ),
            // Products modulo a prime.
            (
                &["u64"],
                "x = u64[] multiply(a0, b0)\np = u64[] constant(998244353)\nm = u64[] remainder(x, p)",
                "m",
                true,
            ),
            // Strings of bits, one behind the other.
            (&["u32"; 2], "x = u32[] shift-left(a0, b1)\ny = u32[] or(x, b0)\nn = u32[] add(a1, b1)", "y, n", false),
            (
                &["f32"],
                "x = f32[] multiply(a0, a0)\ny = f32[] multiply(b0, b0)\nz = f32[] add(x, y)\ns = f32[] sqrt(z)",
                "s",
                true,
            ),
            (&["f64"], "x = f64[] multiply(a0, b0)\ny = f64[] add(a0, b0)\nz = f64[] divide(x, y)", "z", true),
            (
                &["pred", "s8"],
                "g = pred[] xor(a0, b0)\nm = s8[] maximum(a1, b1)\nn = s8[] select(a0, a1, m)",
                "g, m",
                true,
            ),
        ];
        for (types, body, results, commutes) in cases {
            let module = region(types, body, results);
            assert_eq!(tried(module.entry_computation()), Ok(commutes), "{body}");
        }
    }

    #[test]
    fn others_are_refused_with_a_counterexample() {
        let cases: [(&[&str], &str, &str, &str); 8] = [
            (&["s32"], "v = s32[] subtract(a0, b0)", "v", "of 5, 2 and 7 it makes -4 or 10, depending on the grouping"),
            (
                &["f32"],
                "s = f32[] add(a0, b0)\nh = f32[] constant(0.5)\nv = f32[] multiply(s, h)",
                "v",
                "depending on the grouping",
            ),
            (&["f64"], "v = f64[] divide(a0, b0)", "v", "depending on the grouping"),
            (&["f32"], "v = f32[] power(a0, b0)", "v", "depending on the grouping"),
            // What counts elements is no fold of them.
            (&["s32"], "o = s32[] constant(1)\nv = s32[] add(a0, o)", "v", "depending on the grouping"),
            (&["f32"], "d = f32[] subtract(a0, b0)\nv = f32[] abs(d)", "v", "depending on the grouping"),
            // Sums of at most 50 are, of numbers of one sign only.
            (
                &["s16"],
                "s = s16[] add(a0, b0)\nm = s16[] constant(50)\nv = s16[] minimum(s, m)",
                "v",
                "depending on the grouping",
            ),
            (&["u8", "pred"], "v = u8[] add(a0, b0)\nw = pred[] compare(a0, b0), direction=LT", "v, w", "it makes ("),
        ];
        for (types, body, results, reason) in cases {
            let found = tried(region(types, body, results).entry_computation());
            assert!(matches!(&found, Err(text) if text.contains(reason)), "{found:?}\n{body}");
        }
        let nested = parse(
            "HloModule m\ng {\n  x = s32[] parameter(0)\n  ROOT n = s32[] negate(x)\n}\nENTRY f {\n  a = s32[] parameter(0)\n  \
             b = s32[] parameter(1)\n  c = s32[] call(b), to_apply=g\n  ROOT r = s32[] add(a, c)\n}\n",
        );
        let nested = nested.unwrap_or_else(|found| panic!("{found}"));
        let reason = "its region holds a `call`, and only regions of elementwise operations are tried out";
        assert_eq!(tried(nested.entry_computation()), Err(reason.to_owned()));
    }
}
