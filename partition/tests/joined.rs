//! Loops that carry their conditions, against the evaluator.

use crate::count::cases;
use crate::fuse::{difference, read};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Op, Opcode};
use weft_hlo::random::{self, Options};
use weft_hlo::text::print;
use weft_hlo::verify::verify;
use weft_partition::{Fused, Fusing, Target, fuse_with};

/// A module fused with loops and branches as steps, and with the conditions joined.
fn joined(text: &str) -> Fused {
    let module = read(text);
    let fused = fuse_with(&module, &Target::default(), Fusing::default()).unwrap_or_else(|found| panic!("{found}"));
    let fused = fused.with_conditions_joined(&Target::default(), false);
    verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused.module)));
    fused
}

/// A loop over `state`, whose body yields `next` and whose condition is `test` of that.
fn looped(state: &str, body: &str, condition: &str) -> String {
    format!(
        "HloModule m
         add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}
         body {{
            s = {state} parameter(0)
            {body}
         }}
         condition {{
            s = {state} parameter(0)
            {condition}
         }}
         ENTRY main {{
            x = {state} parameter(0)
            w = {state} while(x), condition=condition, body=body
            ROOT r = {state} copy(w)
         }}"
    )
}

const OF_ONE: &str = "v = f32[1] slice(s), slice={[0:1]}\n e = f32[] reshape(v)\n k = f32[] constant(100)\n ROOT c = pred[] compare(e, k), direction=LT";

#[test]
fn what_makes_the_state_tells_whether_there_is_another_round() {
    let body = "k = f32[] constant(3)\n t = f32[64] broadcast(k), dimensions={}\n ROOT n = f32[64] add(s, t)";
    let text = looped("f32[64]", body, OF_ONE);
    let fused = joined(&text);
    assert_eq!(fused.joined.len(), 1, "{}", print(&fused.module));
    let module = read(&text);
    for first in [0.0f32, 99.0, 100.0, f32::NAN] {
        let mut values = vec![0.0; 64];
        values[0] = first;
        let inputs = [Literal::array([64], values)];
        let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
        let actual = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(difference(&expected, &actual), None, "{first}");
    }
    // Each round is one kernel, and the condition none.
    let (site, name) = fused.joined.first_key_value().expect("there is one");
    let Some(Op::While { condition, body }) = fused.instruction(*site).map(|it| it.op.clone()) else {
        panic!("{site:?} is no loop")
    };
    let fusions = |id| {
        let instructions = fused.module.computations[id].instructions.values();
        instructions.filter(|one| matches!(one.op, Op::Fusion { .. })).map(|one| one.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!((fusions(condition), fusions(body)), (vec![], vec![name.clone()]));
}

#[test]
fn conditions_that_take_long_are_launches_of_their_own() {
    let body = "k = f32[] constant(3)\n t = f32[40000] broadcast(k), dimensions={}\n ROOT n = f32[40000] add(s, t)";
    let of_all = "z = f32[] constant(0)\n e = f32[] reduce(s, z), dimensions={0}, to_apply=add\n k = f32[] constant(100)\n ROOT c = pred[] compare(e, k), direction=LT";
    for condition in [of_all, "k = pred[] constant(false)\n ROOT c = pred[] copy(k)"] {
        assert!(joined(&looped("f32[40000]", body, condition)).joined.is_empty());
    }
    // A loop that is a kernel stays one.
    let module = read(&looped("f32[64]", &body.replace("40000", "64"), OF_ONE));
    let fused = fuse_with(&module, &Target::default(), Fusing::default()).unwrap_or_else(|found| panic!("{found}"));
    assert!(fused.with_conditions_joined(&Target::default(), true).joined.is_empty());
}

/// Counters and flags, states that are handed on, loops within loops: whatever random modules hold.
#[test]
fn loops_that_carry_their_conditions_keep_the_values_of_random_modules() {
    let mut options = Options { instructions: 12, elements: 40, nesting: 3, ..Options::computed() };
    options.operations.extend([Opcode::While; 60].into_iter().chain([Opcode::Conditional; 20]));
    let (mut joined, mut others) = (0, 0);
    for seed in 0..cases(150) {
        let module = random::module(seed, &options);
        let inputs = random::inputs(&module, seed, &options);
        let target = Target::preset(["floor", "software", "discrete"][seed as usize % 3]).expect("it is a preset");
        let fusing = Fusing { all_branches: seed % 2 == 0, ..Fusing::default() };
        let fused = fuse_with(&module, &target, fusing).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        let known = (fused.trip_counts.len(), fused.asked.len(), fused.uncompiled.len());
        let whole = seed % 3 == 2;
        let fused = fused.with_conditions_joined(&target, whole);
        verify(&fused.module).unwrap_or_else(|found| panic!("seed {seed}: {found}\n{}", print(&fused.module)));
        assert_eq!((fused.trip_counts.len(), fused.asked.len(), fused.uncompiled.len()), known, "seed {seed}");
        let is_loop = |site| matches!(fused.instruction(site).map(|it| &it.op), Some(Op::While { .. }));
        assert!(fused.joined.keys().chain(fused.trip_counts.keys()).all(|site| is_loop(*site)), "seed {seed}");
        for site in fused.fusions() {
            let Some(Op::Fusion { calls, .. }) = fused.instruction(site).map(|it| it.op.clone()) else { continue };
            let is_refused = fused.uncompiled.iter().any(|one| one.site == site);
            assert!(is_refused || fused.plan(calls).is_some(), "seed {seed}: {}", fused.name(site));
        }
        let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        let actual = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        assert_eq!(difference(&expected, &actual), None, "seed {seed}\n{}\n{}", print(&module), print(&fused.module));
        joined += fused.joined.len();
        let all = fused.module.computations.values().flat_map(|one| one.instructions.values());
        others += all.filter(|one| matches!(one.op, Op::While { .. })).count();
    }
    println!("{joined} of {others} loops carry their conditions");
    assert!(joined > 0);
}
