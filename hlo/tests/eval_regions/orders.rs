//! `sort` and `topk`.

use super::common::{codes, count, indices, listed, module, position, random, run, s32};
use std::cmp::Reverse;
use weft_hlo::eval::{Config, evaluate_with};
use weft_hlo::ir::{Data, Literal};
use weft_hlo::random::Rng;

#[test]
fn sort_is_stable_along_any_dimension_and_moves_all_operands_alike() {
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let extents: Vec<i64> = (0..rng.between(1, 4)).map(|_| rng.between(0, 7)).collect();
        let dimension = rng.below(extents.len());
        let (keys, numbers) = (random(&mut rng, &extents, 0, 3), (0..count(&extents) as i32).collect::<Vec<_>>());
        let shape = listed(&extents);
        let text = format!(
            "before {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] parameter(2)\n  \
             d = s32[] parameter(3)\n  ROOT r = pred[] compare(a, b), direction=GT\n}}\n\nENTRY e {{\n  \
             x = s32[{shape}] parameter(0)\n  y = s32[{shape}] parameter(1)\n  \
             ROOT r = (s32[{shape}], s32[{shape}]) sort(x, y), dimensions={{{dimension}}}, to_apply=before\n}}"
        );
        let mut wanted = numbers.clone();
        for index in indices(&extents).into_iter().filter(|index| index[dimension] == 0) {
            let at = |place: i64| {
                let mut index = index.clone();
                index[dimension] = place;
                position(&extents, &index)
            };
            let mut row: Vec<usize> = (0..extents[dimension]).map(at).collect();
            row.sort_by_key(|&element| Reverse(s32(&keys)[element]));
            (0..).zip(row).for_each(|(place, element)| wanted[at(place)] = numbers[element]);
        }
        let sorted_keys: Vec<i32> = wanted.iter().map(|&element| s32(&keys)[element as usize]).collect();
        let results = run(&text, &[keys, Literal::array(&extents[..], numbers)]);
        assert_eq!((s32(&results[0]), s32(&results[1])), (&sorted_keys[..], &wanted[..]), "{text}");
    }
}

/// 0, 1, …, 6 under a comparator that computes `r` from `a` and `b`.
fn sorted(comparator: &str) -> Vec<i32> {
    let text = format!(
        "before {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  {comparator}\n}}\n\nENTRY e {{\n  \
         x = s32[7] iota(), iota_dimension=0\n  ROOT r = s32[7] sort(x), dimensions={{0}}, to_apply=before\n}}"
    );
    s32(&run(&text, &[])[0]).to_vec()
}

#[test]
fn comparators_that_are_no_order_give_one_permutation() {
    assert_eq!(sorted("ROOT r = pred[] constant(false)"), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(sorted("ROOT r = pred[] constant(true)"), [6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(sorted("ROOT r = pred[] compare(a, b), direction=NE"), [6, 5, 4, 3, 2, 1, 0]);
    // Each comes before its successor modulo 3.
    let circle = "c = s32[] constant(3)\n  d = s32[] subtract(b, a)\n  e = s32[] add(d, c)\n  f = s32[] add(e, c)\n  \
                  g = s32[] remainder(f, c)\n  h = s32[] constant(1)\n  ROOT r = pred[] compare(g, h), direction=EQ";
    // Runs of one: 0 1, 2 3, 4 5, 6. Of two: 2 comes before 0, 3 before 1, and 6 before 4. Of four, 2 0 3 1 and 6 4 5: 6
    // comes before 1 alone, 4 not before 1.
    assert_eq!(sorted(circle), [2, 0, 3, 6, 1, 4, 5]);
}

#[test]
fn comparators_may_compute_with_arrays() {
    let comparator = "z = s32[] constant(0)\n  c = s32[3] broadcast(a), dimensions={}\n  \
                      d = s32[] reduce(c, z), dimensions={0}, to_apply=add\n  k = s32[] constant(3)\n  \
                      e = s32[] multiply(b, k)\n  ROOT r = pred[] compare(d, e), direction=GT";
    let text = format!(
        "add {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}}\n\nbefore {{\n  \
         a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  {comparator}\n}}\n\nENTRY e {{\n  \
         x = s32[7] iota(), iota_dimension=0\n  ROOT r = s32[7] sort(x), dimensions={{0}}, to_apply=before\n}}"
    );
    assert_eq!(s32(&run(&text, &[])[0]), [6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn what_sorting_needs_on_the_way_counts_as_memory() {
    let text = "before {\n  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n
                ENTRY e {\n  x = s8[1000] parameter(0)\n  ROOT r = s8[1000] sort(x), dimensions={0}, to_apply=before\n}";
    let input = [Literal::array([1000], vec![0i8; 1000])];
    let within = |byte_limit| evaluate_with(&module(text), &input, &Config { byte_limit, ..Config::default() });
    assert_eq!(codes(within(10_000).unwrap_err()), ["HLO205"]);
    assert_eq!(within(20_000).unwrap(), input);
}

/// The place of a float in the total order, by its bits.
fn rank(value: f32) -> i64 {
    let bits = i64::from(value.to_bits());
    if bits >> 31 == 0 { bits } else { (1 << 31) - 1 - bits }
}

#[test]
fn topk_takes_the_extremes_of_the_total_order_and_of_equals_the_first() {
    let mut rng = Rng::new(5);
    let some = [0.0, -0.0, 1.0, -1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.0];
    for _ in 0..200 {
        let mut extents: Vec<i64> = (0..rng.between(1, 3)).map(|_| rng.between(0, 7)).collect();
        let values: Vec<f32> = (0..count(&extents)).map(|_| rng.choose(&some).unwrap()).collect();
        let (length, from) = (*extents.last().unwrap(), listed(&extents));
        let (k, largest) = (rng.between(0, length), rng.chance(50));
        let input = Literal::array(&extents[..], values.clone());
        *extents.last_mut().unwrap() = k;
        let to = listed(&extents);
        let text = format!(
            "ENTRY e {{\n  x = f32[{from}] parameter(0)\n  \
             ROOT r = (f32[{to}], s32[{to}]) topk(x), k={k}, largest={largest}\n}}"
        );
        let (mut taken, mut places) = (Vec::new(), Vec::new());
        for row in values.chunks((length as usize).max(1)) {
            let mut order: Vec<usize> = (0..row.len()).collect();
            order.sort_by_key(|&place| if largest { -rank(row[place]) } else { rank(row[place]) });
            order.truncate(k as usize);
            taken.extend(order.iter().map(|&place| row[place]));
            places.extend(order.iter().map(|&place| place as i32));
        }
        let results = run(&text, &[input]);
        assert_eq!((&results[0].data, &results[1].data), (&Data::F32(taken), &Data::S32(places)), "{text}");
    }
}
