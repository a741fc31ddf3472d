//! Reductions of up to ten million elements, by all schedules, against loops of the host.

use super::targets;
use crate::support::{compile, device, module};
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};
use weft_runtime::Executable;

/// What is left of an array, and along which dimension it is reduced.
const SHAPES: [(&[i64], i64); 14] = [
    (&[0], 0),
    (&[1], 0),
    (&[2], 0),
    (&[65_537], 0),
    (&[1_000_003], 0),
    (&[4_194_303], 0),
    (&[4_194_304], 0),
    (&[4_194_305], 0),
    (&[10_000_000], 0),
    (&[3, 0], 1),
    (&[0, 3], 0),
    (&[7, 142_867], 1),
    (&[142_867, 7], 0),
    (&[142_867, 7], 1),
];

/// Sum, least, and the greatest with its place, the first of several.
fn program(extents: &[i64], dimension: i64) -> String {
    let list = |extents: &[i64]| extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let at = usize::try_from(dimension).expect("it is not negative");
    let kept: Vec<i64> = extents.iter().enumerate().filter(|(own, _)| *own != at).map(|(_, extent)| *extent).collect();
    let (all, row) = (list(extents), list(&kept));
    let over = format!("dimensions={{{dimension}}}, to_apply=");
    format!(
        "HloModule m
sum {{\n  a = u32[] parameter(0)\n  b = u32[] parameter(1)\n  ROOT r = u32[] add(a, b)\n}}
least {{\n  a = u32[] parameter(0)\n  b = u32[] parameter(1)\n  ROOT r = u32[] minimum(a, b)\n}}
pair {{\n  a = u32[] parameter(0)\n  i = s32[] parameter(1)\n  b = u32[] parameter(2)\n  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT\n  v = u32[] select(g, a, b)\n  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, k), direction=LT\n  t = pred[] and(e, l)\n  w = pred[] or(g, t)\n  n = s32[] select(w, i, k)
  ROOT r = (u32[], s32[]) tuple(v, n)\n}}
ENTRY e {{
  x = u32[{all}] parameter(0)
  i = s32[{all}] iota(), iota_dimension={dimension}
  none = u32[] constant(0)
  most = u32[] constant(4294967295)
  first = s32[] constant(2147483647)
  s = u32[{row}] reduce(x, none), {over}sum
  m = u32[{row}] reduce(x, most), {over}least
  t = (u32[{row}], s32[{row}]) reduce(x, i, none, first), {over}pair
  g = u32[{row}] get-tuple-element(t), index=0
  k = s32[{row}] get-tuple-element(t), index=1
  ROOT r = (u32[{row}], u32[{row}], u32[{row}], s32[{row}]) tuple(s, m, g, k)
}}
"
    )
}

/// The same for rows that lie `step` apart from element to element.
fn expected(values: &[u32], extents: &[i64], dimension: i64) -> [Vec<u32>; 4] {
    let extent = |number: usize| usize::try_from(extents[number]).expect("it is not negative");
    let (results, length, between, step) = match (extents.len(), dimension) {
        (1, _) => (1, extent(0), 0, 1),
        (_, 1) => (extent(0), extent(1), extent(1), 1),
        _ => (extent(1), extent(0), 1, extent(1)),
    };
    let mut found: [Vec<u32>; 4] = Default::default();
    for result in 0..results {
        let (mut sum, mut least, mut greatest, mut place) = (0u32, u32::MAX, 0u32, i32::MAX.cast_unsigned());
        for at in 0..length {
            let value = values[result * between + at * step];
            sum = sum.wrapping_add(value);
            least = least.min(value);
            if value > greatest || value == greatest && (at as u32) < place {
                (greatest, place) = (value, at as u32);
            }
        }
        found.iter_mut().zip([sum, least, greatest, place]).for_each(|(all, own)| all.push(own));
    }
    found
}

#[test]
fn reductions_of_any_length_agree_with_the_host() {
    let device = device();
    // Each of some values stands in several places.
    let number = |at: u32| (at.wrapping_mul(2_654_435_761) >> 9) % 3_000_001;
    let all: Vec<u32> = (0..10_000_000).map(number).collect();
    for (extents, dimension) in SHAPES {
        let module = module(&program(extents, dimension));
        let count = usize::try_from(extents.iter().product::<i64>()).expect("it is a count");
        let shape = Shape::Array(ArrayShape::new(ElementType::U32, extents));
        let input = Literal { shape, data: Data::U32(all[..count].to_vec()) };
        let expected = expected(&all[..count], extents, dimension);
        for target in targets(&device) {
            let program = compile(&module, &target).expect("it can be compiled");
            let executable = Executable::new(&device, program).expect("the device takes it");
            let results = executable.run(std::slice::from_ref(&input)).expect("it runs");
            for (expected, result) in expected.iter().zip(&results) {
                let found: Vec<u32> = match &result.data {
                    Data::U32(values) => values.clone(),
                    Data::S32(values) => values.iter().map(|value| value.cast_unsigned()).collect(),
                    other => panic!("{other:?}"),
                };
                let (schedule, subgroups) = (target.effective_schedule(), target.features.subgroup);
                assert!(found == *expected, "{extents:?} along {dimension}, {schedule}, subgroups {subgroups:?}");
            }
        }
    }
}
