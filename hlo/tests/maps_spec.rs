//! The examples of XLA's document "Indexing analysis", text for text. Maps of single operations are not simplified.
#![allow(clippy::panic, reason = "a test that cannot go on says why")]

use std::collections::BTreeSet;
use weft_hlo::indexing::{computation_maps, output_to_input};
use weft_hlo::text::parse;

/// The maps of the root of a program, as text.
fn maps_of(body: &str) -> Vec<Vec<String>> {
    let text = format!("HloModule spec\n{body}");
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let entry = module.entry_computation();
    let maps = output_to_input(&module, entry, entry.root).unwrap_or_else(|found| panic!("{found}\n{text}"));
    maps.operands.iter().map(|maps| maps.iter().map(ToString::to_string).collect()).collect()
}

fn entry(body: &str) -> Vec<Vec<String>> {
    maps_of(&format!("ENTRY e {{\n{body}\n}}"))
}

#[test]
fn elementwise_as_in_the_specification() {
    let maps = entry("p0 = f32[10,20] parameter(0)\n p1 = f32[10,20] parameter(1)\n ROOT o = f32[10,20] add(p0, p1)");
    assert_eq!(maps, [["(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]"]; 2]);
}

#[test]
fn iota_has_no_operand() {
    assert!(entry("ROOT iota = f32[2,4] iota(), iota_dimension=1").is_empty());
}

#[test]
fn movement_as_in_the_specification() {
    for (body, expected) in [
        (
            "p0 = f32[20] parameter(0)\n ROOT o = f32[10,20,30] broadcast(p0), dimensions={1}",
            "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
        ),
        (
            "p0 = f32[3,12288,6,128] parameter(0)\n ROOT o = f32[3,6,128,12288] transpose(p0), dimensions={0,2,3,1}",
            "(d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]",
        ),
        (
            "p0 = f32[1,17,9,9] parameter(0)\n ROOT o = f32[1,17,9,9] reverse(p0), dimensions={1,2}",
            "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), \
             domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
        ),
        (
            "p0 = f32[10,20,50] parameter(0)\n ROOT o = f32[5,3,25] slice(p0), slice={[5:10:1], [3:20:7], [0:50:2]}",
            "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]",
        ),
        (
            "p0 = f32[4,8] parameter(0)\n ROOT o = f32[32] reshape(p0)",
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        ),
        (
            "p0 = f32[32] parameter(0)\n ROOT o = f32[4,8] reshape(p0)",
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        ),
        (
            "p0 = f32[4,8,12] parameter(0)\n ROOT o = f32[32,3,4] reshape(p0)",
            "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
        ),
    ] {
        assert_eq!(entry(body), [[expected]], "{body}");
    }
}

/// The maps of the root of a program whose text is the specification's after simplification.
fn simplified(body: &str) -> Vec<Vec<String>> {
    let text = format!("HloModule spec\nENTRY e {{\n{body}\n}}");
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let maps = computation_maps(&module, module.entry_computation()).unwrap_or_else(|found| panic!("{found}\n{text}"));
    maps.iter().map(|maps| maps.iter().map(ToString::to_string).collect()).collect()
}

#[test]
fn generic_reshape_as_in_the_specification() {
    assert_eq!(
        simplified("p0 = f32[4,8] parameter(0)\n ROOT o = f32[2,4,4] reshape(p0)"),
        [["(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), \
             domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]"]]
    );
}

#[test]
fn variadic_reduce_as_in_the_specification() {
    let maps = maps_of(
        "max {
            a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)
            m = f32[] maximum(a, b)\n k = s32[] maximum(i, j)\n ROOT t = (f32[], s32[]) tuple(m, k)
        }
        ENTRY e {
            p0 = f32[256,10] parameter(0)\n p0_init = f32[] constant(-inf)
            p1 = s32[256,10] parameter(1)\n p1_init = s32[] constant(0)
            ROOT out = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init), dimensions={0}, to_apply=max
        }",
    );
    let input = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]";
    let initial = "(d0) -> (), domain: d0 in [0, 9]";
    assert_eq!(maps, [[input], [input], [initial], [initial]]);
}

#[test]
fn concatenate_as_in_the_specification() {
    let maps = entry(
        "p0 = f32[2,5,7] parameter(0)\n p1 = f32[2,11,7] parameter(1)\n p2 = f32[2,17,7] parameter(2)
         ROOT output = f32[2,33,7] concatenate(p0, p1, p2), dimensions={1}",
    );
    assert_eq!(
        maps,
        [
            ["(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]"],
            ["(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]"],
            ["(d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]"],
        ]
    );
}

#[test]
fn pad_as_in_the_specification() {
    let maps = entry(
        "p0 = f32[4,4] parameter(0)\n p1 = f32[] parameter(1)\n ROOT pad = f32[12,16] pad(p0, p1), padding=1_4_1x4_8_0",
    );
    assert_eq!(
        maps,
        [
            ["(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), \
                 domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]"],
            ["(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]"],
        ]
    );
}

#[test]
fn fusions_as_in_the_specification() {
    let maps = maps_of(
        "f {
            p0 = f32[1000,1000] parameter(0)
            transpose_p0 = f32[1000,1000]{0,1} transpose(p0), dimensions={1,0}
            ROOT a0 = f32[1000,1000] add(p0, transpose_p0)
        }
        ENTRY e {\n p = f32[1000,1000] parameter(0)\n ROOT o = f32[1000,1000] fusion(p), kind=kLoop, calls=f\n}",
    );
    let maps: BTreeSet<&str> = maps[0].iter().map(String::as_str).collect();
    let expected = [
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]",
    ];
    assert_eq!(maps, BTreeSet::from(expected));

    let deduplicated = maps_of(
        "f {
            p0 = f32[20,10,50] parameter(0)
            lhs_transpose_1 = f32[10,20,50] transpose(p0), dimensions={1,0,2}
            lhs_e = f32[10,20,50] exponential(lhs_transpose_1)
            lhs_transpose_2 = f32[10,50,20] transpose(lhs_e), dimensions={0,2,1}
            rhs_transpose_1 = f32[50,10,20] transpose(p0), dimensions={2,1,0}
            rhs_log = f32[50,10,20] exponential(rhs_transpose_1)
            rhs_transpose_2 = f32[10,50,20] transpose(rhs_log), dimensions={1,0,2}
            ROOT output = f32[10,50,20] add(lhs_transpose_2, rhs_transpose_2)
        }
        ENTRY e {\n p = f32[20,10,50] parameter(0)\n ROOT o = f32[10,50,20] fusion(p), kind=kLoop, calls=f\n}",
    );
    let expected = "(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]";
    assert_eq!(deduplicated, [[expected]]);
}

#[test]
fn softmax_as_in_the_specification() {
    let text = "HloModule softmax
        maximum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}
        sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}
        ENTRY e {
            p0 = f32[2,65,125] parameter(0)
            lowest = f32[] constant(-inf)
            largest = f32[2,65] reduce(p0, lowest), dimensions={2}, to_apply=maximum
            largest_everywhere = f32[2,65,125] broadcast(largest), dimensions={0,1}
            shifted = f32[2,65,125] subtract(p0, largest_everywhere)
            powers = f32[2,65,125] exponential(shifted)
            zero = f32[] constant(0)
            total = f32[2,65] reduce(powers, zero), dimensions={2}, to_apply=sum
            total_everywhere = f32[2,65,125] broadcast(total), dimensions={0,1}
            ROOT divide = f32[2,65,125] divide(powers, total_everywhere)
        }";
    let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    let mut maps = computation_maps(&module, module.entry_computation()).unwrap_or_else(|found| panic!("{found}"));
    let mut texts: Vec<String> = maps
        .remove(0)
        .iter_mut()
        .map(|map| {
            // The sum's loop around the maximum's loop reads the same elements again.
            map.remove_unused_symbols();
            map.to_string()
        })
        .collect();
    texts.sort();
    texts.dedup();
    let domain = "domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]";
    assert_eq!(
        texts,
        [
            format!("(d0, d1, d2) -> (d0, d1, d2), {domain}"),
            format!("(d0, d1, d2)[s0] -> (d0, d1, s0), {domain}, s0 in [0, 124]")
        ]
    );
}
