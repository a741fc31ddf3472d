//! Literals of every element type: against what jaxlib stored in `tests/literals`, round trips, broken texts.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

use crate::count::cases;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{
    self, Complex, Data, ElementType, FloatFormat, Literal, Module, Op, S1, S2, S4, Scalar, U1, U2, U4, bf16, f16,
};
use weft_hlo::text::{parse, print};

fn module(shape: &str, literal: &str) -> String {
    format!("HloModule m\n\nENTRY e {{\n  ROOT x = {shape} constant({literal})\n}}\n")
}

fn constant(module: &Module) -> Literal {
    match &module.entry_computation().instructions.values().next().unwrap().op {
        Op::Constant(literal) => literal.clone(),
        other => panic!("{} is no constant", other.name()),
    }
}

fn read(shape: &str, literal: &str) -> Option<Literal> {
    parse(&module(shape, literal)).ok().map(|module| constant(&module))
}

/// What stands between the parentheses.
fn spelling(module: &Module) -> String {
    let text = print(module);
    let (_, rest) = text.split_once(" constant(").unwrap();
    rest.split_once(")\n}").unwrap().0.to_owned()
}

fn spell(literal: Literal) -> String {
    let mut module = parse(&module("s32[]", "0")).unwrap();
    let id = module.entry;
    let instruction = module.computations[id].instructions.values_mut().next().unwrap();
    instruction.shape = literal.shape.clone();
    instruction.op = Op::Constant(literal);
    spelling(&module)
}

/// The array of these patterns of bits, the lowest of each.
fn from_bits(element_type: ElementType, extents: &[i64], bits: &[u128]) -> Literal {
    macro_rules! array {
        ($convert:expr) => {
            Literal::array(extents, bits.iter().map(|&bits| $convert(bits)).collect::<Vec<_>>())
        };
    }
    macro_rules! mini {
        ($($variant:ident)*) => {
            match element_type {
                $(ElementType::$variant => return array!(|bits| ir::$variant::from_bits(bits as u8)),)*
                _ => {}
            }
        };
    }
    mini!(F4E2M1Fn F6E2M3Fn F6E3M2Fn F8E3M4 F8E4M3 F8E4M3B11Fnuz F8E4M3Fn F8E4M3Fnuz F8E5M2 F8E5M2Fnuz F8E8M0Fnu);
    match element_type {
        ElementType::Pred => array!(|bits| bits & 1 == 1),
        ElementType::S1 => array!(|bits| S1::wrapping(bits as i8)),
        ElementType::S2 => array!(|bits| S2::wrapping(bits as i8)),
        ElementType::S4 => array!(|bits| S4::wrapping(bits as i8)),
        ElementType::S8 => array!(|bits| bits as i8),
        ElementType::S16 => array!(|bits| bits as i16),
        ElementType::S32 => array!(|bits| bits as i32),
        ElementType::S64 => array!(|bits| bits as i64),
        ElementType::U1 => array!(|bits| U1::wrapping(bits as u8)),
        ElementType::U2 => array!(|bits| U2::wrapping(bits as u8)),
        ElementType::U4 => array!(|bits| U4::wrapping(bits as u8)),
        ElementType::U8 => array!(|bits| bits as u8),
        ElementType::U16 => array!(|bits| bits as u16),
        ElementType::U32 => array!(|bits| bits as u32),
        ElementType::U64 => array!(|bits| bits as u64),
        ElementType::F16 => array!(|bits| f16::from_bits(bits as u16)),
        ElementType::Bf16 => array!(|bits| bf16::from_bits(bits as u16)),
        ElementType::F32 => array!(|bits| f32::from_bits(bits as u32)),
        ElementType::F64 => array!(|bits| f64::from_bits(bits as u64)),
        ElementType::C64 => {
            array!(|bits| Complex::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 64) as u32)))
        }
        ElementType::C128 => {
            array!(|bits| Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64)))
        }
        other => panic!("{other} has no elements here"),
    }
}

/// FNV-1a of 64 bits.
fn hash<'t>(texts: impl Iterator<Item = &'t str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hexadecimal(text: &str) -> u128 {
    u128::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

#[test]
fn floats_are_spelled_as_jaxlib_spells_them() {
    let mut all = 0;
    let mut single = BTreeMap::new();
    for line in lines(include_str!("literals/spellings.txt")) {
        let words: Vec<&str> = line.split(' ').collect();
        let element_type: ElementType = words[0].parse().unwrap();
        if matches!(element_type, ElementType::F32 | ElementType::F64) {
            let bits = hexadecimal(words[1]);
            let literal = from_bits(element_type, &[], &[bits]);
            assert_eq!(spell(literal.clone()), words[2], "{line}");
            assert_eq!(read(&format!("{element_type}[]"), words[2]), Some(literal), "{line}");
            *single.entry(element_type).or_insert(0) += 1;
            continue;
        }
        let patterns: Vec<u128> = (0..1 << element_type.bits()).collect();
        let literal = from_bits(element_type, &[patterns.len() as i64], &patterns);
        let text = spell(literal.clone());
        let spelled: Vec<&str> = text[1..text.len() - 1].split(", ").collect();
        if element_type.bits() == 16 {
            assert_eq!(u128::from(hash(spelled.iter().copied())), hexadecimal(words[1]), "{element_type}");
        } else {
            assert_eq!(spelled, words[1..], "{element_type}");
        }
        assert_eq!(read(&format!("{element_type}[{}]", patterns.len()), &text), Some(literal), "{element_type}");
        all += 1;
    }
    assert_eq!(all, 13);
    assert!(single.values().all(|&count| count > 300), "{single:?}");
}

#[test]
fn decimals_are_rounded_once() {
    let mut count = 0;
    for line in lines(include_str!("literals/roundings.txt")) {
        let words: Vec<&str> = line.split(' ').collect();
        let element_type: ElementType = words[0].parse().unwrap();
        let expected = (words[2] != "refused").then(|| from_bits(element_type, &[], &[hexadecimal(words[2])]));
        assert_eq!(read(&format!("{element_type}[]"), words[1]), expected, "{line}");
        count += 1;
    }
    assert!(count > 700, "{count}");
}

/// Where we do something else than jaxlib 0.10.2, and why.
fn deviates(shape: &str, text: &str, ours: &str) -> Option<&'static str> {
    let element_type = shape.strip_suffix("[]").and_then(|name| name.parse::<ElementType>().ok());
    let format = element_type.and_then(FloatFormat::of);
    let float = element_type.is_some_and(ElementType::is_float);
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let large = text.parse().is_ok_and(|value: u64| value > i64::MAX as u64);
    if float && magnitude == "0" && ours == "-0" {
        return Some("`-0` is how negative zero is printed; there it is read as the integer 0");
    }
    if large && float {
        return Some("numbers from 2^63 on are read there as negative integers");
    }
    if large && element_type.is_some_and(|element_type| element_type.is_signed()) && ours == "refused" {
        return Some("18446744073709551615 is read there as -1, also of types it is far out of range of");
    }
    if format.is_some_and(|format| {
        (magnitude == "inf" && format.infinity(false).is_none()) || (magnitude == "nan" && format.nan(false).is_none())
    }) && ours == "refused"
    {
        return Some("a format without infinities or NaNs has none; there they become NaN, zero or the greatest value");
    }
    if ["1.0039062500009095", "1.0004882812509095", "3.3961775e38"].contains(&text) {
        return Some("decimals are rounded two or three times there");
    }
    if element_type.is_some_and(ElementType::is_complex) && text == "(inf,nan)" {
        return Some("a NaN in one part becomes both parts there");
    }
    None
}

#[test]
fn texts_are_read_and_refused_as_jaxlib_does() {
    let (mut agreed, mut deviations) = (0, BTreeMap::new());
    let mut wrong = String::new();
    let mut scalars = true;
    for line in include_str!("literals/verdicts.txt").lines() {
        if line.starts_with('#') {
            scalars = !line.starts_with("# Arrays");
            continue;
        }
        let [shapes, text, theirs] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let shapes: Vec<String> = if scalars {
            shapes.split(' ').map(|element_type| format!("{element_type}[]")).collect()
        } else {
            vec![shapes.to_owned()]
        };
        for shape in shapes {
            let parsed = parse(&module(&shape, text));
            let ours = parsed.as_ref().map_or("refused".to_owned(), spelling);
            if ours == theirs {
                agreed += 1;
            } else if let Some(reason) = deviates(&shape, text, &ours) {
                *deviations.entry(reason).or_insert(0) += 1;
            } else {
                writeln!(wrong, "{shape} {text}: {ours}, jaxlib {theirs}").unwrap();
            }
        }
    }
    println!("{agreed} agree, {deviations:#?}");
    assert_eq!(wrong, "");
    assert!(agreed > 3500, "{agreed}");
}

/// A type, extents of rank 0 to 4 and bits for as many elements.
fn arrays() -> impl Strategy<Value = Literal> {
    let extents = prop_oneof![
        3 => prop::collection::vec(1i64..4, 0..=4),
        1 => prop::collection::vec(0i64..4, 0..=4),
        1 => prop::collection::vec(1i64..40, 1..=1),
    ];
    let bits = prop_oneof![
        any::<u128>(),
        any::<u128>().prop_map(|bits| bits & 0x8000_0000_0000_000f_8000_0000_8000_800f),
        any::<u32>().prop_map(|bits| u128::from((f64::from(bits) / 1024.0).to_bits())),
    ];
    (prop::sample::select(ElementType::ALL), extents).prop_flat_map(move |(element_type, extents)| {
        let count = extents.iter().product::<i64>() as usize;
        prop::collection::vec(bits.clone(), count).prop_map(move |bits| from_bits(element_type, &extents, &bits))
    })
}

fn literals() -> impl Strategy<Value = Literal> {
    let elided =
        arrays().prop_filter("scalars are never left out", |array| !array.shape.as_array().unwrap().extents.is_empty());
    let leaf = prop_oneof![8 => arrays(), 1 => elided.prop_map(|array| Literal { data: Data::Elided, ..array })];
    leaf.prop_recursive(3, 12, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Literal::tuple))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600) as u32))]

    #[test]
    fn what_is_printed_reads_back(literal in literals()) {
        let text = spell(literal.clone());
        let found = read(&literal.shape.to_string(), &text);
        prop_assert_eq!(found, Some(literal), "{}", text);
    }

    #[test]
    fn broken_texts_are_refused_or_read_never_more(
        literal in literals(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, any::<prop::sample::Index>()), 1..5),
    ) {
        const TOKENS: [&str; 24] = [
            "{", "}", "(", ")", ",", " ", "-", ".", "...", "{...}", "e", "0", "9", "99999999999999999999", "nan", "inf",
            "(0x1)", "0x", "/*", "*/", "\n", "true", "1e999999999999999999999", "é",
        ];
        let mut text: Vec<char> = spell(literal.clone()).chars().collect();
        for (at, kind, token) in edits {
            let at = at.index(text.len() + 1);
            let token = TOKENS[token.index(TOKENS.len())];
            match kind {
                0 => drop(text.splice(at..at, token.chars())),
                1 if at < text.len() => drop(text.remove(at)),
                2 if at < text.len() => drop(text.splice(at..=at, token.chars())),
                _ => text.truncate(at.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        if let Some(found) = read(&literal.shape.to_string(), &text) {
            // Whatever was read is a literal of this shape, and is printed so that it reads back.
            prop_assert_eq!(found.shape.to_string(), literal.shape.to_string());
            prop_assert_eq!(read(&found.shape.to_string(), &spell(found.clone())), Some(found));
        }
    }
}

/// Every value of every small format, spelled exactly and with the digits of an `f64`, reads back.
#[test]
fn every_value_of_the_small_formats_reads_from_exact_decimals() {
    for &element_type in ElementType::ALL {
        let Some(format) = FloatFormat::of(element_type) else { continue };
        let patterns: Vec<u16> = (0..=u16::MAX >> (16 - format.bits())).collect();
        let finite: Vec<u16> = patterns.into_iter().filter(|&bits| format.value(bits).is_finite()).collect();
        let shape = format!("{element_type}[{}]", finite.len());
        let expected: Vec<u128> = finite.iter().map(|&bits| u128::from(bits)).collect();
        let expected = from_bits(element_type, &[finite.len() as i64], &expected);
        let exact: Vec<String> = finite.iter().map(|&bits| format!("{:.140e}", format.value(bits))).collect();
        assert_eq!(read(&shape, &format!("{{{}}}", exact.join(","))), Some(expected.clone()), "{element_type}");
        let short: Vec<String> = finite.iter().map(|&bits| format!("{:?}", f64::from(format.value(bits)))).collect();
        assert_eq!(read(&shape, &format!("{{{}}}", short.join(" "))), Some(expected), "{element_type}");
    }
}

#[test]
fn huge_shapes_reserve_no_memory() {
    for &element_type in ElementType::ALL {
        for extents in
            ["9000000000000000000", "3000000000,3000000000", "0,9000000000000000000", "9000000000000000000,0"]
        {
            let shape = format!("{element_type}[{extents}]");
            let found = read(&shape, "{...}");
            assert_eq!(found.map(|literal| literal.data), Some(Data::Elided), "{shape}");
            let zero = extents.starts_with("0,") || extents.ends_with(",0");
            assert_eq!(read(&shape, "{}").is_some(), zero, "{shape}");
            assert_eq!(read(&shape, "{1, 1}"), None, "{shape}");
        }
    }
}

#[test]
fn elements_are_left_out_in_tuples_and_behind_others() {
    let literal = read("(f16[3], c64[])", "({1, ...}, (1, -nan))").unwrap();
    let Data::Tuple(elements) = &literal.data else { panic!("{literal:?}") };
    assert_eq!(elements[0].data, Data::Elided);
    let Some(Scalar::C64(value)) = elements[1].data.get(0) else { panic!("{literal:?}") };
    assert!(value.re == 1.0 && value.im.is_nan() && value.im.is_sign_negative());
    assert_eq!(spell(literal), "( {...}, (1, -nan) )");
}

#[test]
fn elements_are_displayed_as_they_are_spelled() {
    assert_eq!(Scalar::Bf16(bf16::from_f32(0.1)).to_string(), "0.1001");
    assert_eq!(Scalar::C128(Complex::new(0.1, -0.0)).to_string(), "(0.1, -0)");
    assert_eq!(Scalar::Pred(true).to_string(), "true");
    assert_eq!(Scalar::S4(S4::MIN).to_string(), "-8");
}

/// Constants and inputs of every type are values, and of another type than the parameter's findings, never panics.
#[test]
fn types_are_those_of_parameters() {
    for &element_type in ElementType::ALL {
        let literal = from_bits(element_type, &[2], &[0x3f80_0000_3c00_3f38; 2]);
        let module = parse(&module(&format!("{element_type}[2]"), &spell(literal.clone()))).unwrap();
        assert_eq!(evaluate(&module, &[]), Ok(vec![literal.clone()]), "{element_type}");
        let taker = parse("HloModule m\n\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n").unwrap();
        let found = evaluate(&taker, std::slice::from_ref(&literal));
        assert_eq!(found.is_ok(), element_type == ElementType::F32, "{element_type}");
        // A literal that says it is what it is not.
        let liar = Literal { data: literal.data, ..Literal::array([2], vec![0f32; 2]) };
        let found = evaluate(&taker, &[liar]);
        assert_eq!(found.is_ok(), element_type == ElementType::F32, "{element_type}");
        assert!(found.err().is_none_or(|found| found.0[0].code == "HLO211"), "{element_type}");
    }
}
