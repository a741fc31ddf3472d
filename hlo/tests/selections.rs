//! The custom calls `ApproxTopK` and `PartialReduce`: what they give, what is refused, and that they are written out as they are
//! evaluated.

use crate::count::cases;
use crate::sorts::{CODE, LENGTHS, by_first, list, module, random, same_bits, shape};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, Literal};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

/// A call with arrays of these types, of which `places` elements along a dimension are left; the comparator computes `r` of `a0`, `b0`, `a1`, ….
fn selection(
    target: &str,
    config: &str,
    types: &[ElementType],
    extents: &[i64],
    dimension: usize,
    places: i64,
    comparator: &str,
) -> String {
    let mut text = "HloModule m\n\nbefore {\n".to_owned();
    for (number, ty) in types.iter().enumerate() {
        let (a, b) = (2 * number, 2 * number + 1);
        writeln!(text, "  a{number} = {ty}[] parameter({a})\n  b{number} = {ty}[] parameter({b})").unwrap();
    }
    write!(text, "  {comparator}\n}}\n\nENTRY e {{\n").unwrap();
    let mut to = extents.to_vec();
    to[dimension] = places;
    let (from, to) = (list(extents), list(&to));
    for (number, ty) in types.iter().enumerate() {
        let behind = types.len() + number;
        writeln!(text, "  x{number} = {ty}[{from}] parameter({number})\n  i{number} = {ty}[] parameter({behind})")
            .unwrap();
    }
    let results: Vec<String> = types.iter().map(|ty| format!("{ty}[{to}]")).collect();
    let names: Vec<String> =
        ["x", "i"].iter().flat_map(|name| (0..types.len()).map(move |number| format!("{name}{number}"))).collect();
    writeln!(
        text,
        "  ROOT r = ({}) custom-call({}), custom_call_target=\"{target}\", called_computations={{before}}, backend_config={config}\n}}",
        results.join(", "),
        names.join(", ")
    )
    .unwrap();
    text
}

#[test]
fn selections_are_written_out() {
    let mut rng = Rng::new(1);
    let mut seen = BTreeSet::new();
    for (_, first) in (0..cases(160)).zip(ElementType::ALL.iter().cycle()) {
        let (extents, dimension) = shape(&mut rng, &LENGTHS);
        let length = extents[dimension];
        let mut types = vec![*first];
        let (comparator, with_nan) = if rng.chance(15) {
            types[0] = ElementType::S32;
            (rng.choose(&CODE[1..]).unwrap().to_owned(), true)
        } else {
            by_first(&mut rng, types[0])
        };
        types.extend((0..rng.below(3)).map(|_| rng.choose(ElementType::ALL).unwrap()));
        let (target, config, places) = if rng.chance(50) && length > 0 {
            let k = rng.between(1, length.min(70));
            let config = format!("{{\"top_k\": {k}, \"reduction_dim\": {dimension}, \"aggregate_to_topk\": true}}");
            ("ApproxTopK", config, k)
        } else {
            let places = rng.between(i64::from(length > 0), length + 3);
            ("PartialReduce", format!("{{reduction_dim = {dimension} : i64}}"), places)
        };
        let extents_of_all = types.iter().map(|ty| (*ty, &extents[..])).chain(types.iter().map(|ty| (*ty, &[][..])));
        let inputs: Vec<Literal> =
            extents_of_all.map(|(ty, extents)| random(&mut rng, ty, extents, with_nan || ty != types[0])).collect();
        let text = selection(target, &config, &types, &extents, dimension, places, &comparator);
        seen.extend(same_bits(&text, &inputs));
    }
    let wanted = [
        "the best are the beginning of a sort",
        "the best few are found one after the other",
        "the best of each class is a reduction",
        "the best of nothing is what it begins with",
        "the best of one element is that",
    ];
    assert!(seen.into_iter().eq(wanted));
}

#[test]
fn results_are_exact_and_of_equal_elements_the_first() {
    let mut rng = Rng::new(2);
    for _ in 0..cases(60) {
        let (length, rows) = (rng.between(1, 40), 3);
        let keys: Vec<i32> = (0..rows * length).map(|_| rng.below(9) as i32).collect();
        let ties: Vec<i32> = (0..rows * length).map(|element| (element % length) as i32).collect();
        let inputs = [
            Literal::array([rows, length], keys.clone()),
            Literal::array([rows, length], ties),
            Literal::array([], vec![-7]),
            Literal::array([], vec![-1]),
        ];
        let largest = rng.chance(50);
        let direction = if largest { "GT" } else { "LT" };
        let comparator = format!("ROOT r = pred[] compare(a0, b0), direction={direction}");
        let types = [ElementType::S32; 2];
        let places = rng.between(1, length);
        let by_key = |row: &[i32], place: &usize| if largest { -row[*place] } else { row[*place] };
        let mut wanted = [Vec::new(), Vec::new()];
        let is_ordered = rng.chance(50);
        for row in keys.chunks(length as usize) {
            let mut order: Vec<usize> = (0..row.len()).collect();
            order.sort_by_key(|place| by_key(row, place));
            let best = |class: usize| order.iter().find(|place| **place % places as usize == class).copied();
            let found: Vec<usize> = match is_ordered {
                true => order[..places as usize].to_vec(),
                false => (0..places as usize).filter_map(best).collect(),
            };
            wanted[0].extend(found.iter().map(|place| row[*place]));
            wanted[1].extend(found.iter().map(|place| *place as i32));
        }
        let config = format!(
            "\"{{\\\"top_k\\\": {places}, \\\"reduction_dim\\\": 1, \\\"aggregate_to_topk\\\": {is_ordered}, \\\"recall_target\\\": 0.95}}\""
        );
        let text = selection("ApproxTopK", &config, &types, &[rows, length], 1, places, &comparator);
        let found = evaluate(&module(&text), &inputs).unwrap();
        assert_eq!(found, wanted.map(|wanted| Literal::array([rows, places], wanted)), "{text}\n{inputs:?}");
    }
}

#[test]
fn places_without_elements_have_the_initial_value() {
    let config = "{\"reduction_dim\": 0, \"to_apply_type\": \"comparator\", \"log2_reduction\": 0}";
    let comparator = "ROOT r = pred[] compare(a0, b0), direction=GT";
    let text = selection("PartialReduce", config, &[ElementType::F32], &[2], 0, 4, comparator);
    let inputs = [Literal::array([2], vec![f32::NEG_INFINITY, f32::NAN]), Literal::array([], vec![3.0f32])];
    let found = evaluate(&module(&text), &inputs).unwrap();
    let Data::F32(found) = &found[0].data else { panic!() };
    assert_eq!((found[0], found[1].is_nan(), found[2], found[3]), (f32::NEG_INFINITY, true, 3.0, 3.0));
}

#[test]
fn calls_that_contradict_themselves_are_refused() {
    let comparator = "ROOT r = pred[] compare(a0, b0), direction=GT";
    let given = |target: &str, config: &str, places: i64| {
        selection(target, config, &[ElementType::F32, ElementType::S32], &[2, 9], 1, places, comparator)
    };
    let full = "{\"top_k\": 3, \"reduction_dim\": 1, \"aggregate_to_topk\": true}";
    let whole = given("ApproxTopK", full, 3);
    assert_eq!(verify(&module(&whole)), Ok(()));
    let replaced = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replace(from, to)
    };
    for (text, code, words) in [
        (given("ApproxTopK", full, 4), "HLO106", "yields f32[2,3], the text says f32[2,4]"),
        (replaced("(f32[2,3], s32[2,3])", "(f32[2,3], f32[2,3])"), "HLO106", "yields s32[2,3]"),
        (replaced("(f32[2,3], s32[2,3])", "(f32[2,3])"), "HLO106", "yields 2 arrays"),
        (replaced("x0, x1, i0, i1", "x0, x1, i0"), "HLO104", "as many initial values as arrays"),
        (replaced("x0, x1, i0, i1", "x0, x1, i1, i0"), "HLO105", "must be f32 as operand 0"),
        (replaced("x0, x1, i0, i1", "x0, x1, i0, x1"), "HLO108", "initial value 1"),
        (replaced("x1 = s32[2,9]", "x1 = s32[2,8]"), "HLO108", "must have the same extents"),
        (replaced("called_computations={before}", "called_computations={}"), "HLO107", "must be one comparator"),
        (replaced("b1 = s32[]", "b1 = u32[]"), "HLO110", "parameter 3 of before must be s32[]"),
        (replaced("\"reduction_dim\": 1", "\"reduction_dim\": 2"), "HLO107", "reduction_dim=2"),
        (replaced("\"reduction_dim\": 1, ", ""), "HLO107", "must give reduction_dim"),
        (replaced("\"top_k\": 3, ", ""), "HLO107", "must give top_k"),
        (replaced("\"top_k\": 3", "\"top_k\": 0"), "HLO107", "at least 1"),
        (replaced(", \"aggregate_to_topk\": true", ""), "HLO107", "must give aggregate_to_topk"),
        (replaced("true", "7"), "HLO107", "must be true or false and is 7"),
        (replaced("\"top_k\"", "\"recall_target\": 1.5, \"top_k\""), "HLO107", "recall_target"),
        (given("ApproxTopK", &full.replace('3', "10"), 10), "HLO108", "takes 10 elements of 9"),
        (given("ApproxTopK", &full.replace("true", "false"), 2), "HLO108", "of 3 elements yields 2"),
        (given("PartialReduce", "{\"reduction_dim\": 1}", 0), "HLO108", "yields no elements of 9"),
        (
            given("PartialReduce", "{\"reduction_dim\": 1, \"log2_reduction\": 1}", 4),
            "HLO108",
            "log2_reduction=1 yields 4 elements of 9",
        ),
    ] {
        let parsed = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let found = verify(&parsed).expect_err(&text);
        let hit = found.0.iter().any(|finding| finding.code == code && finding.message.contains(words));
        assert!(hit, "{text}\n{found}\ninstead of {code}: {words}");
    }
    let other = given("PartialReduce", "{\"reduction_dim\": 1, \"to_apply_type\": \"reduction\"}", 5);
    let found = weft_hlo::eval::check(&module(&other), &Default::default()).expect_err("it is no comparator");
    assert!(found.0[0].code == "HLO201" && found.to_string().contains("no comparator"), "{found}");
}
