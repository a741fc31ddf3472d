//! `sort` and `topk` written out put elements in the order of the operations, bit for bit.

use crate::count::cases;
use std::fmt::Write as _;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, FloatFormat, Literal, Module, Op};
use weft_hlo::passes::{Pass, Sorts};
use weft_hlo::random::Rng;
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

pub(crate) fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

/// The module without sorts, and by which rules.
fn expanded(before: &Module) -> (Module, Vec<&'static str>) {
    let rewritten = Sorts.run(before).unwrap();
    let after = rewritten.module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    let mut instructions = after.computations.values().flat_map(|computation| computation.instructions.values());
    let is_left = instructions.any(|left| matches!(left.op, Op::Sort { .. } | Op::TopK { .. } | Op::CustomCall { .. }));
    assert!(!is_left, "{}", print(before));
    (after, rewritten.changes.iter().map(|change| change.rule).collect())
}

/// Fails unless what is written out has the same bits.
pub(crate) fn same_bits(text: &str, inputs: &[Literal]) -> Vec<&'static str> {
    let before = module(text);
    let (after, rules) = expanded(&before);
    let (wanted, found) = (evaluate(&before, inputs).unwrap(), evaluate(&after, inputs).unwrap());
    // NaNs of the same bits are not equal.
    let bytes = |results: &[Literal]| -> Vec<Vec<u8>> {
        results.iter().map(|literal| literal.data.as_bytes().unwrap().to_vec()).collect()
    };
    assert!(bytes(&wanted) == bytes(&found), "{text}\n{inputs:?}\n{wanted:?}\n{found:?}\n{}", print(&after));
    rules
}

/// Bits of an element: few values, so that many are equal; of floats those that are special, but NaN only on request.
fn pattern(rng: &mut Rng, ty: ElementType, with_nan: bool) -> u128 {
    let bits = ty.bits();
    let all = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    if ty == ElementType::Pred {
        return rng.below(2) as u128;
    }
    if ty.is_integer() {
        let some = [0, 1, 2, 3, all, all - 1, all >> 1, (all >> 1) + 1, all / 3];
        return rng.choose(&some).unwrap() & all;
    }
    if ty.is_complex() {
        let of_part = if ty == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
        return pattern(rng, of_part, with_nan) << (bits / 2) | pattern(rng, of_part, with_nan);
    }
    let (quiet, infinity, one, sign) = match ty {
        ElementType::F32 => (0x7fc0_0000, 0x7f80_0000, 0x3f80_0000, 1 << 31),
        ElementType::F64 => (0x7ff8 << 48, 0x7ff0 << 48, 0x3ff0 << 48, 1 << 63),
        _ => {
            let format = FloatFormat::of(ty).unwrap();
            let some = |pattern: Option<u16>| u128::from(pattern.unwrap_or(0));
            (
                some(format.nan(false)),
                some(format.infinity(false)),
                some(format.nearest(1.0)),
                u128::from(format.sign()),
            )
        }
    };
    let size = rng.choose(&[0, one, one + 1, infinity, one - 1, 1, quiet]).unwrap();
    let size = if size == quiet && !with_nan { one } else { size };
    // What would be negative zero is NaN in some formats.
    let has_sign = FloatFormat::of(ty).is_none_or(|format| format.has_negative_zero() || size != 0);
    if rng.chance(40) && has_sign { size | sign } else { size }
}

pub(crate) fn random(rng: &mut Rng, ty: ElementType, extents: &[i64], with_nan: bool) -> Literal {
    let count: i64 = extents.iter().product();
    let width = (ty.bits() as usize).div_ceil(8);
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.extend_from_slice(&pattern(rng, ty, with_nan).to_le_bytes()[..width]);
    }
    Literal::array(extents, Data::from_bytes(&bytes, ty))
}

pub(crate) fn list(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// A program that sorts operands of these types along a dimension by a comparator that computes `r` of `a0`, `b0`, `a1`, ….
fn sort(types: &[ElementType], extents: &[i64], dimension: usize, comparator: &str) -> String {
    let mut text = "HloModule m\n\nbefore {\n".to_owned();
    for (number, ty) in types.iter().enumerate() {
        let (a, b) = (2 * number, 2 * number + 1);
        writeln!(text, "  a{number} = {ty}[] parameter({a})\n  b{number} = {ty}[] parameter({b})").unwrap();
    }
    write!(text, "  {comparator}\n}}\n\nENTRY e {{\n").unwrap();
    let shape = |ty: &ElementType| format!("{ty}[{}]", list(extents));
    let names: Vec<String> = (0..types.len()).map(|number| format!("x{number}")).collect();
    for (number, ty) in types.iter().enumerate() {
        writeln!(text, "  x{number} = {} parameter({number})", shape(ty)).unwrap();
    }
    let shapes: Vec<String> = types.iter().map(shape).collect();
    let result = if let [one] = &shapes[..] { one.clone() } else { format!("({})", shapes.join(", ")) };
    let names = names.join(", ");
    write!(text, "  ROOT r = {result} sort({names}), dimensions={{{dimension}}}, to_apply=before\n}}\n").unwrap();
    text
}

/// `name` is the float of operand `number` on one side as JAX canonicalises it.
fn canonical(ty: ElementType, side: char, number: usize) -> String {
    let x = format!("{side}{number}");
    format!(
        "n{x} = pred[] compare({x}, {x}), direction=NE\n  nan{x} = {ty}[] constant(nan)\n  zero{x} = {ty}[] constant(0)\n  \
         z{x} = pred[] compare({x}, zero{x}), direction=EQ\n  t{x} = {ty}[] select(z{x}, zero{x}, {x})\n  \
         c{x} = {ty}[] select(n{x}, nan{x}, t{x})\n  "
    )
}

/// A comparator of the first operand, and whether there may be NaN.
pub(crate) fn by_first(rng: &mut Rng, ty: ElementType) -> (String, bool) {
    let direction = rng.choose(&["LT", "GT"]).unwrap();
    if ty.is_complex() {
        let part = if ty == ElementType::C64 { "f32" } else { "f64" };
        let text = format!(
            "ra = {part}[] real(a0)\n  rb = {part}[] real(b0)\n  ia = {part}[] imag(a0)\n  ib = {part}[] imag(b0)\n  \
             lt = pred[] compare(ra, rb), direction={direction}, type=TOTALORDER\n  eq = pred[] compare(ra, rb), direction=EQ, type=TOTALORDER\n  \
             li = pred[] compare(ib, ia), direction={direction}, type=TOTALORDER\n  both = pred[] and(eq, li)\n  ROOT r = pred[] or(lt, both)"
        );
        return (text, true);
    }
    if !ty.is_float() {
        let direction = rng.choose(&["LT", "GT", "LE", "GE"]).unwrap();
        return (format!("ROOT r = pred[] compare(a0, b0), direction={direction}"), true);
    }
    let has_nan = FloatFormat::of(ty).is_none_or(|format| format.nan(false).is_some());
    match rng.below(4) {
        3 if ty == ElementType::F32 => {
            // As XLA writes it for its CPU.
            let bits = |x: &str| {
                format!(
                    "i{x} = s32[] bitcast({x})\n  n{x} = pred[] compare(i{x}, zero), direction=LT\n  f{x} = s32[] xor(most, i{x})\n  \
                     k{x} = s32[] select(n{x}, f{x}, i{x})\n  "
                )
            };
            let head = "zero = s32[] constant(0)\n  most = s32[] constant(2147483647)\n  ";
            let both = bits("a0") + &bits("b0");
            (format!("{head}{both}ROOT r = pred[] compare(ka0, kb0), direction={direction}"), true)
        }
        0 if has_nan && FloatFormat::of(ty).is_none_or(|format| format.sign() > 0) => {
            let both = canonical(ty, 'a', 0) + &canonical(ty, 'b', 0);
            (format!("{both}ROOT r = pred[] compare(ca0, cb0), direction={direction}, type=TOTALORDER"), true)
        }
        1 => (format!("ROOT r = pred[] compare(b0, a0), direction={direction}"), false),
        _ => (format!("ROOT r = pred[] compare(a0, b0), direction={direction}, type=TOTALORDER"), true),
    }
}

/// Extents of which one is sorted along.
pub(crate) fn shape(rng: &mut Rng, lengths: &[i64]) -> (Vec<i64>, usize) {
    let mut extents: Vec<i64> = (0..rng.between(0, 2)).map(|_| rng.between(1, 3)).collect();
    let dimension = rng.below(extents.len() + 1);
    extents.insert(dimension, rng.choose(lengths).unwrap());
    (extents, dimension)
}

pub(crate) const LENGTHS: [i64; 15] = [0, 1, 2, 3, 5, 17, 31, 63, 64, 65, 66, 127, 128, 129, 257];

#[test]
fn keys_of_any_type_are_sorted() {
    let mut rng = Rng::new(1);
    for ty in ElementType::ALL.iter().copied() {
        for _ in 0..cases(12) {
            let (extents, dimension) = shape(&mut rng, &LENGTHS);
            let mut types = vec![ty];
            types.extend((0..rng.below(3)).map(|_| rng.choose(ElementType::ALL).unwrap()));
            let (comparator, with_nan) = by_first(&mut rng, ty);
            let inputs: Vec<Literal> =
                types.iter().map(|ty| random(&mut rng, *ty, &extents, with_nan || *ty != types[0])).collect();
            let rules = same_bits(&sort(&types, &extents, dimension, &comparator), &inputs);
            assert!(!rules.contains(&"a sort by code is a bitonic network"), "{comparator}");
        }
    }
}

#[test]
fn keys_one_after_the_other_are_sorted() {
    use ElementType::{Bf16, F32, Pred, S32, S64, U8};
    let mut rng = Rng::new(2);
    for _ in 0..cases(60) {
        let (extents, dimension) = shape(&mut rng, &LENGTHS);
        let types = [
            rng.choose(&[S32, U8, Pred, S64]).unwrap(),
            rng.choose(&[F32, Bf16]).unwrap(),
            rng.choose(&[S32, F32]).unwrap(),
        ];
        let types = &types[..2 + rng.below(2)];
        let first = rng.choose(&["LT", "GT"]).unwrap();
        let floats = canonical(types[1], 'a', 1) + &canonical(types[1], 'b', 1);
        let second = format!("{floats}l1 = pred[] compare(ca1, cb1), direction=LT, type=TOTALORDER");
        let head = format!("l0 = pred[] compare(a0, b0), direction={first}\n  {second}\n  ");
        let tail = rng
            .choose(&[
                "e0 = pred[] compare(a0, b0), direction=EQ\n  b = pred[] and(e0, l1)\n  ROOT r = pred[] or(l0, b)",
                "e0 = pred[] compare(b0, a0), direction=EQ\n  b = pred[] and(l1, e0)\n  ROOT r = pred[] or(b, l0)",
                "e0 = pred[] compare(a0, b0), direction=EQ\n  ROOT r = pred[] select(e0, l1, l0)",
                "e0 = pred[] compare(a0, b0), direction=NE\n  ROOT r = pred[] select(e0, l0, l1)",
            ])
            .unwrap();
        let inputs: Vec<Literal> = types.iter().map(|ty| random(&mut rng, *ty, &extents, true)).collect();
        let rules = same_bits(&sort(types, &extents, dimension, &format!("{head}{tail}")), &inputs);
        assert!(!rules.contains(&"a sort by code is a bitonic network"));
    }
}

/// Comparators of whole numbers that are strict weak orders, but not by numbers of one element each.
pub(crate) const CODE: [&str; 3] = [
    "d = s32[] subtract(a0, b0)\n  z = s32[] constant(0)\n  ROOT r = pred[] compare(d, z), direction=LT",
    "m = s32[] maximum(a0, b0)\n  h = pred[] compare(m, b0), direction=EQ\n  n = pred[] compare(a0, b0), direction=NE\n  ROOT r = pred[] and(h, n)",
    "s = s32[] constant(1)\n  x = s32[] shift-right-arithmetic(a0, s)\n  y = s32[] shift-right-arithmetic(b0, s)\n  l = pred[] compare(x, y), direction=GE\n  ROOT r = pred[] not(l)",
];

/// Comparators that are no order.
const NO_ORDER: [&str; 4] = [
    "ROOT r = pred[] constant(true)",
    "ROOT r = pred[] compare(a0, b0), direction=NE",
    "c = s32[] constant(3)\n  d = s32[] subtract(b0, a0)\n  e = s32[] remainder(d, c)\n  h = s32[] constant(1)\n  ROOT r = pred[] compare(e, h), direction=EQ",
    "c = s32[] constant(7)\n  d = s32[] multiply(a0, c)\n  e = s32[] xor(d, b0)\n  h = s32[] constant(4)\n  f = s32[] and(e, h)\n  ROOT r = pred[] compare(f, h), direction=EQ",
];

#[test]
fn comparators_of_any_code_are_asked_of_two_elements() {
    let mut rng = Rng::new(3);
    for number in 0..cases(60) {
        let (extents, dimension) = shape(&mut rng, &LENGTHS);
        let types = [ElementType::S32, rng.choose(&[ElementType::F32, ElementType::U4, ElementType::Pred]).unwrap()];
        let types = &types[..1 + rng.below(2)];
        let count = extents.iter().product::<i64>() as usize;
        let keys: Vec<i32> = (0..count).map(|_| rng.between(-9, 9) as i32).collect();
        let mut inputs = vec![Literal::array(&extents[..], keys)];
        inputs.extend(types[1..].iter().map(|ty| random(&mut rng, *ty, &extents, true)));
        let code = CODE[number as usize % CODE.len()];
        let rules = same_bits(&sort(types, &extents, dimension, code), &inputs);
        let forms = [
            "a sort by code is a bitonic network",
            "a sort of few counts what comes before each",
            "a row of one element is sorted",
        ];
        assert!(forms.contains(&rules[0]), "{rules:?}");
    }
}

#[test]
fn comparators_that_are_no_order_leave_all_elements() {
    let mut rng = Rng::new(4);
    for length in [2i64, 3, 7, 40, 64, 65, 100] {
        for comparator in NO_ORDER {
            let text = sort(&[ElementType::S32, ElementType::S32], &[2, length], 1, comparator);
            let keys: Vec<i32> = (0..2 * length).map(|_| rng.between(-9, 9) as i32).collect();
            let numbers: Vec<i32> = (0..2 * length as i32).collect();
            let inputs = [keys.clone(), numbers.clone()].map(|values| Literal::array([2, length], values));
            let results = evaluate(&expanded(&module(&text)).0, &inputs).unwrap();
            let [Data::S32(sorted), Data::S32(places)] = [&results[0].data, &results[1].data] else { panic!() };
            for row in 0..2 {
                let mut row = places[row * length as usize..][..length as usize].to_vec();
                row.sort_unstable();
                assert_eq!(row, numbers[row[0] as usize..][..length as usize], "{comparator}");
            }
            assert!(sorted.iter().zip(places).all(|(key, place)| keys[*place as usize] == *key));
        }
    }
}

#[test]
fn what_is_no_number_comes_last_in_an_order_that_does_not_know_it() {
    let values = [2.0, f32::NAN, -0.0, -1.0, f32::NAN, 0.0, 1.0];
    for (direction, wanted) in [("LT", [3, 2, 5, 6, 0, 1, 4]), ("GT", [0, 6, 2, 5, 3, 1, 4])] {
        for copies in [1usize, 20] {
            let text = sort(
                &[ElementType::F32, ElementType::S32],
                &[7 * copies as i64],
                0,
                &format!("ROOT r = pred[] compare(a0, b0), direction={direction}"),
            );
            let keys: Vec<f32> = values.iter().flat_map(|value| vec![*value; copies]).collect();
            let numbers: Vec<i32> = (0..7).flat_map(|number| vec![number; copies]).collect();
            let shape = [7 * copies as i64];
            let inputs = [Literal::array(shape, keys), Literal::array(shape, numbers)];
            let results = evaluate(&expanded(&module(&text)).0, &inputs).unwrap();
            let wanted: Vec<i32> = wanted.iter().flat_map(|number| vec![*number; copies]).collect();
            // Zeros are equal, and so is all that is no number.
            let class = |number: &i32| match number {
                5 => 2,
                4 => 1,
                other => *other,
            };
            let Data::S32(found) = &results[1].data else { panic!() };
            assert!(found.iter().map(class).eq(wanted.iter().map(class)), "{found:?}");
        }
    }
}

#[test]
fn topk_is_the_beginning_of_a_sort() {
    let mut rng = Rng::new(5);
    let types: Vec<ElementType> = ElementType::ALL.iter().copied().filter(|ty| !ty.is_complex()).collect();
    for _ in 0..cases(120) {
        let ty = rng.choose(&types).unwrap();
        let mut extents: Vec<i64> = (0..rng.between(0, 2)).map(|_| rng.between(0, 3)).collect();
        extents.push(rng.choose(&LENGTHS).unwrap());
        let length = *extents.last().unwrap();
        let k = if rng.chance(30) { length } else { rng.between(0, length.min(70)) };
        let input = random(&mut rng, ty, &extents, true);
        let from = list(&extents);
        *extents.last_mut().unwrap() = k;
        let (to, largest) = (list(&extents), rng.chance(50));
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  x = {ty}[{from}] parameter(0)\n  ROOT r = ({ty}[{to}], s32[{to}]) topk(x), k={k}, largest={largest}\n}}\n"
        );
        same_bits(&text, &[input]);
    }
}

#[test]
fn what_is_not_computed_one_by_one_stays() {
    let comparator = "z = s32[] constant(0)\n  c = s32[3] broadcast(a0), dimensions={}\n  d = s32[1] slice(c), slice={[0:1]}\n  \
                      e = s32[] reshape(d)\n  ROOT r = pred[] compare(e, b0), direction=GT";
    let before = module(&sort(&[ElementType::S32], &[7], 0, comparator));
    assert!(Sorts.run(&before).unwrap().changes.is_empty());
}

#[test]
fn what_is_made_does_not_grow_with_the_rows() {
    let size = |length: i64, comparator: &str| {
        expanded(&module(&sort(&[ElementType::S32], &[length], 0, comparator))).0.instruction_count()
    };
    for comparator in ["ROOT r = pred[] compare(a0, b0), direction=LT", CODE[0]] {
        assert_eq!(size(1 << 10, comparator), size(1 << 24, comparator));
    }
}
