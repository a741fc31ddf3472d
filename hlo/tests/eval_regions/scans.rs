//! `scan`.

use super::common::{codes, combined, indices, listed, module, position, random, run, s32};
use weft_hlo::eval::{Config, check};
use weft_hlo::ir::Literal;
use weft_hlo::random::Rng;

#[test]
fn scan_hands_on_from_slice_to_slice_in_either_direction() {
    let mut rng = Rng::new(6);
    for _ in 0..100 {
        let extents: Vec<i64> = (0..rng.between(1, 3)).map(|_| rng.between(0, 4)).collect();
        let (dimension, is_reverse) = (rng.below(extents.len()), rng.chance(50));
        let mut rest = extents.clone();
        let length = rest.remove(dimension);
        let (x, z) = (random(&mut rng, &extents, -9, 9), random(&mut rng, &rest, -9, 9));
        let (all, slice) = (listed(&extents), listed(&rest));
        let text = format!(
            "step {{\n  a = s32[{slice}] parameter(0)\n  b = s32[{slice}] parameter(1)\n  k = s32[] constant(3)\n  \
             n = s32[{slice}] broadcast(k), dimensions={{}}\n  d = s32[{slice}] multiply(b, n)\n  \
             c = s32[{slice}] subtract(d, a)\n  ROOT t = (s32[{slice}], s32[{slice}]) tuple(b, c)\n}}\n\nENTRY e {{\n  \
             x = s32[{all}] parameter(0)\n  z = s32[{slice}] parameter(1)\n  \
             ROOT r = (s32[{all}], s32[{slice}]) scan(x, z), dimensions={{{dimension}}}, num_carries=1, \
             is_reverse={is_reverse}, to_apply=step\n}}"
        );
        let (mut seen, mut carried) = (vec![0; s32(&x).len()], s32(&z).to_vec());
        for step in 0..length {
            for (number, index) in indices(&rest).into_iter().enumerate() {
                let mut index = index;
                index.insert(dimension, if is_reverse { length - 1 - step } else { step });
                let at = position(&extents, &index);
                seen[at] = carried[number];
                carried[number] = combined(carried[number], s32(&x)[at]);
            }
        }
        let results = run(&text, &[x, z]);
        assert_eq!((s32(&results[0]), s32(&results[1])), (&seen[..], &carried[..]), "{text}");
    }
}

#[test]
fn a_step_may_sort_and_scatter() {
    let text = "before {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n
        add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n
        step {\n  x = s32[3] parameter(0)\n  c = s32[4] parameter(1)\n  y = s32[3] sort(x), dimensions={0}, to_apply=before
          o = s32[] constant(1)\n  u = s32[3] broadcast(o), dimensions={}
          d = s32[4] scatter(c, x, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
          ROOT t = (s32[3], s32[4]) tuple(y, d)\n}\n
        ENTRY e {\n  x = s32[2,3] constant({{3, 1, 3}, {2, 0, 1}})\n  z = s32[4] constant({0, 0, 0, 0})
          ROOT r = (s32[2,3], s32[4]) scan(x, z), dimensions={0}, num_carries=1, to_apply=step\n}";
    let wanted = [Literal::array([2, 3], vec![1, 3, 3, 0, 1, 2]), Literal::array([4], vec![1, 2, 1, 2])];
    assert_eq!(run(text, &[]), wanted);
}

#[test]
fn scans_whose_computation_does_not_fit_are_refused_before_anything_is_computed() {
    let with = |slice: &str, carry: &str, output: &str, last: &str| {
        let text = format!(
            "step {{\n  a = f32[{slice}] parameter(0)\n  b = f32[{carry}] parameter(1)\n  \
             ROOT t = (f32[{slice}], f32[{carry}]) tuple(a, b)\n}}\n\nENTRY e {{\n  x = f32[3,2] parameter(0)\n  \
             z = f32[{last}] parameter(1)\n  ROOT r = (f32[{output}], f32[{last}]) scan(x, z), dimensions={{0}}, \
             num_carries=1, to_apply=step\n}}"
        );
        check(&module(&text), &Config::default()).map_err(codes)
    };
    assert_eq!(with("2", "", "3,2", ""), Ok(()));
    for (slice, carry, output, last) in
        [("", "", "3", ""), ("2", "", "4,2", ""), ("2", "", "", ""), ("2", "5", "3,2", ""), ("2,1", "", "3,2,1", "")]
    {
        // What the shape function sees is the verifier's to say.
        let found = with(slice, carry, output, last).expect_err("it does not fit");
        assert!(
            ["HLO106", "HLO107", "HLO108", "HLO201"].contains(&found[0]),
            "{slice} {carry} {output} {last}: {found:?}"
        );
    }
    let endless = "step {\n  a = f32[] parameter(0)\n  ROOT t = (f32[]) tuple(a)\n}\n\nENTRY e {\n  z = f32[] constant(7)\n  \
                   ROOT r = (f32[]) scan(z), dimensions={0}, num_carries=1, to_apply=step\n}";
    assert_eq!(check(&module(endless), &Config::default()).map_err(codes), Err(vec!["HLO201"]));
}
