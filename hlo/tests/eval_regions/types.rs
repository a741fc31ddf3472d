//! Every operation in every element type, by moving elements where another operation moves them too.

use super::common::run;
use weft_hlo::ir::{ElementType, Literal};

/// Pairs of results that must agree, for one element type.
fn pairs(of: ElementType) -> Vec<Literal> {
    let t = of.name();
    let text = format!(
        "
first {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = {t}[] copy(a)
}}

second {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = {t}[] copy(b)
}}

always {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = pred[] constant(true)
}}

larger_key {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = {t}[] parameter(2)
  d = {t}[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=GT
}}

delay {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT c = ({t}[], {t}[]) tuple(b, a)
}}

ENTRY e {{
  k = s32[6] iota(), iota_dimension=0
  x = {t}[6] convert(k)
  z = {t}[] constant(1)
  one = {t}[1] reshape(z)

  even = {t}[3] slice(x), slice={{[0:6:2]}}
  odd = {t}[3] slice(x), slice={{[1:6:2]}}
  head = {t}[5] slice(x), slice={{[0:5]}}
  middle = {t}[2] slice(x), slice={{[2:4]}}
  last = {t}[1] slice(x), slice={{[5:6]}}
  tail = {t}[1] slice(x), slice={{[0:1]}}
  ends = {t}[3] slice(x), slice={{[3:6]}}

  mapped = {t}[6] map(x, x), dimensions={{0}}, to_apply=second
  windows = {t}[3] reduce-window(x, z), window={{size=2 stride=2}}, to_apply=second
  selected = {t}[6] select-and-scatter(x, odd, z), window={{size=2 stride=2}}, select=always, scatter=first
  spread = {t}[6] pad(odd, z), padding=0_1_1
  i = s32[1] constant({{1}})
  scattered = {t}[6] scatter(x, i, middle), update_window_dims={{0}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=second
  replaced = {t}[6] concatenate(tail, middle, ends), dimensions={{0}}
  sorted = (s32[6], {t}[6]) sort(k, x), dimensions={{0}}, to_apply=larger_key
  values = {t}[6] get-tuple-element(sorted), index=1
  reversed = {t}[6] reverse(x), dimensions={{0}}
  scanned = ({t}[6], {t}[]) scan(x, z), dimensions={{0}}, num_carries=1, to_apply=delay
  delayed = {t}[6] get-tuple-element(scanned), index=0
  late = {t}[6] concatenate(one, head), dimensions={{0}}
  carried = {t}[] get-tuple-element(scanned), index=1
  rest = {t}[] reshape(last)
  ROOT all = ({t}[6], {t}[6], {t}[3], {t}[3], {t}[6], {t}[6], {t}[6], {t}[6], {t}[6], {t}[6], {t}[6], {t}[6], {t}[], {t}[])
    tuple(mapped, x, windows, odd, selected, spread, scattered, replaced, values, reversed, delayed, late, carried, rest)
}}"
    );
    run(&text.replace("constant(1)", if of == ElementType::Pred { "constant(true)" } else { one(of) }), &[])
}

fn one(of: ElementType) -> &'static str {
    match of {
        ElementType::S1 => "constant(-1)",
        _ if of.is_complex() => "constant((1, 0))",
        _ => "constant(1)",
    }
}

#[test]
fn every_type_is_folded_scattered_sorted_and_scanned() {
    for &of in ElementType::ALL {
        let results = pairs(of);
        for (number, pair) in results.chunks(2).enumerate() {
            assert_eq!(pair[0], pair[1], "pair {number} of {of}");
        }
    }
}

#[test]
fn topk_of_every_type_with_an_order_is_a_stable_sort() {
    for &of in ElementType::ALL.iter().filter(|of| !of.is_complex()) {
        for (largest, direction) in [(true, "GT"), (false, "LT")] {
            let t = of.name();
            let text = format!(
                "before {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n  \
                 ROOT e = pred[] compare(a, b), direction={direction}\n}}\n\nENTRY e {{\n  \
                 k = s32[5] constant({{2, 1, 4, 1, 2}})\n  i = s32[5] iota(), iota_dimension=0\n  x = {t}[5] convert(k)\n  \
                 s = ({t}[5], s32[5]) sort(x, i), dimensions={{0}}, to_apply=before\n  \
                 t = ({t}[5], s32[5]) topk(x), k=5, largest={largest}\n  \
                 ROOT r = (({t}[5], s32[5]), ({t}[5], s32[5])) tuple(s, t)\n}}"
            );
            let results = run(&text, &[]);
            assert_eq!(results[..2], results[2..], "{text}");
        }
    }
}
