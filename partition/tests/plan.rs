//! Which instructions share a function.

use weft_hlo::ir::{Computation, Module, Op};
use weft_hlo::text::parse;
use weft_partition::{FusionPlan, Target, fuse};

fn read(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

fn plan_of(computation: &Computation) -> FusionPlan {
    FusionPlan::new(computation).unwrap_or_else(|found| panic!("{found}"))
}

/// The plan of the computation `body { … }`, and its text.
fn plan(body: &str) -> (FusionPlan, String) {
    let module = read(&format!("HloModule m\nENTRY body {{\n{body}\n}}"));
    let computation = module.entry_computation();
    let plan = plan_of(computation);
    let text = plan.text(computation);
    (plan, text)
}

/// The graph of the document "XLA MLIR fusion emitters": three functions of one instruction each.
const SPECIFICATION: &str = "
    param = f32[20,20] parameter(0)
    log = f32[20,20] log(param)
    transpose = f32[20,20] transpose(log), dimensions={1,0}
    ROOT add = f32[20,20] add(log, transpose)";

#[test]
fn the_graph_of_the_specification_is_three_functions() {
    let (plan, text) = plan(SPECIFICATION);
    assert_eq!(plan.functions().len(), 3);
    assert!(plan.functions().iter().all(|function| function.members.len() == 1));
    assert_eq!(
        text,
        "\
function add [20,20] -> %add
  why: it computes an output
  %add = f32[20,20] add(%log[d0, d1], %transpose[d0, d1])
function transpose [20,20] -> %transpose
  why: it is a transposition, a hero that emitters tile
  %transpose = f32[20,20] transpose(%log[d1, d0])
function log [20,20] -> %log
  why: its users access it in 2 different ways
  %log = f32[20,20] log(%param[d0, d1])
"
    );
}

#[test]
fn the_graph_of_the_specification_given_as_one_fusion_stays_one_kernel() {
    let module = read(&format!(
        "HloModule m\nf {{{SPECIFICATION}\n}}
        ENTRY e {{\n p = f32[20,20] parameter(0)\n ROOT o = f32[20,20] fusion(p), kind=kLoop, calls=f\n}}"
    ));
    let fused = fuse(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let entry = fused.entry_computation();
    assert_eq!(entry.instructions.len(), 2);
    let Op::Fusion { calls, .. } = entry.instructions[entry.root].op else { panic!("the root is the fusion") };
    assert_eq!(plan_of(&fused.computations[calls]).functions().len(), 3);
}

#[test]
fn an_elementwise_diamond_is_one_function() {
    let (plan, text) = plan(
        "p = f32[4,8] parameter(0)
         l = f32[4,8] log(p)
         e = f32[4,8] exponential(l)
         n = f32[4,8] negate(l)
         ROOT s = f32[4,8] add(e, n)",
    );
    assert_eq!(plan.functions().len(), 1, "{text}");
    assert_eq!(plan.functions()[0].members.len(), 4);
}

/// Two ways to the same indices are one access.
#[test]
fn equal_accesses_join_though_they_come_by_different_ways() {
    let (plan, text) = plan(
        "p = f32[6,4] parameter(0)
         l = f32[6,4] log(p)
         r = f32[24] reshape(l)
         b = f32[6,4] reshape(r)
         v = f32[6,4] reverse(l), dimensions={0}
         w = f32[6,4] reverse(v), dimensions={0}
         ROOT s = f32[6,4] add(b, w)",
    );
    assert_eq!(plan.functions().len(), 1, "{text}");
}

#[test]
fn a_value_read_at_two_indices_is_a_function() {
    let (plan, text) = plan(
        "p = f32[8] parameter(0)
         l = f32[8] log(p)
         v = f32[8] reverse(l), dimensions={0}
         ROOT s = f32[8] add(l, v)",
    );
    assert_eq!(
        text,
        "\
function s [8] -> %s
  why: it computes an output
  %v = f32[8] reverse(%l[-d0 + 7])
  %s = f32[8] add(%l[d0], %v)
function l [8] -> %l
  why: its users access it in 2 different ways
  %l = f32[8] log(%p[d0])
"
    );
    assert_eq!(plan.outputs().len(), 1);
}

/// The branches of a concatenate are not in sight of each other.
#[test]
fn branches_of_a_concatenate_are_blocks() {
    let (plan, text) = plan(
        "p = f32[4] parameter(0)
         q = f32[6] parameter(1)
         l = f32[4] log(p)
         e = f32[6] exponential(q)
         c = f32[10] concatenate(l, e), dimensions={0}
         ROOT n = f32[10] negate(c)",
    );
    assert_eq!(plan.functions().len(), 1, "{text}");
    let blocks: Vec<bool> = plan.functions()[0].members.iter().map(|id| plan.block(*id).is_some()).collect();
    assert_eq!(blocks, [true, true, false, false], "{text}");
}

/// What both branches read at the same indices is in sight of neither.
#[test]
fn a_value_of_two_branches_is_a_function() {
    let (plan, text) = plan(
        "p = f32[4] parameter(0)
         l = f32[4] log(p)
         e = f32[4] exponential(l)
         n = f32[4] negate(l)
         ROOT c = f32[8] concatenate(e, n), dimensions={0}",
    );
    assert_eq!(plan.functions().len(), 2, "{text}");
    assert_eq!(plan.functions()[1].name, "l");
}

#[test]
fn outputs_of_equal_extents_are_one_function() {
    let (plan, text) = plan(
        "p = f32[4,8] parameter(0)
         l = f32[4,8] log(p)
         e = f32[4,8] exponential(l)
         t = f32[8,4] transpose(p), dimensions={1,0}
         ROOT o = (f32[4,8], f32[4,8], f32[8,4], f32[4,8]) tuple(e, l, t, e)",
    );
    assert_eq!(
        text,
        "\
function e [4,8] -> %e, %l, %e
  why: it computes an output
  %l = f32[4,8] log(%p[d0, d1])
  %e = f32[4,8] exponential(%l)
function t [8,4] -> %t
  why: it computes an output
  %t = f32[8,4] transpose(%p[d1, d0])
"
    );
    assert_eq!(plan.outputs().len(), 2);
}

/// An output that is read at other indices too is a function that the outputs call.
#[test]
fn an_output_can_be_called() {
    let (plan, text) = plan(
        "p = f32[4,8] parameter(0)
         l = f32[4,8] log(p)
         e = f32[4,8] exponential(l)
         t = f32[8,4] transpose(l), dimensions={1,0}
         ROOT o = (f32[4,8], f32[4,8], f32[8,4]) tuple(e, l, t)",
    );
    let names: Vec<&str> = plan.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["e", "t", "l"], "{text}");
    let l = plan.functions()[2].roots[0];
    assert_eq!(plan.functions()[0].roots.len(), 2, "{text}");
    assert!(plan.functions()[0].roots.contains(&l), "{text}");
}

#[test]
fn a_reduction_inside_a_fusion_is_a_function() {
    let module = read(
        "HloModule m
        sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}
        ENTRY body {
            p = f32[4,8] parameter(0)
            zero = f32[] constant(0)
            e = f32[4,8] exponential(p)
            r = f32[4] reduce(e, zero), dimensions={1}, to_apply=sum
            b = f32[4,8] broadcast(r), dimensions={0}
            ROOT d = f32[4,8] divide(e, b)
        }",
    );
    let plan = plan_of(module.entry_computation());
    let text = plan.text(module.entry_computation());
    let names: Vec<&str> = plan.functions().iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["d", "r", "e"], "{text}");
    // Each element of the result sums its row anew: that is what the excess counts.
    assert!(plan.excess_per_element() > 8.0, "{}", plan.excess_per_element());
}

/// Constants of one value are written where they are used.
#[test]
fn splats_need_no_function() {
    let (plan, text) = plan(
        "p = f32[4,8] parameter(0)
         one = f32[] constant(1)
         ones = f32[4,8] broadcast(one), dimensions={}
         ROOT s = f32[4,8] add(p, ones)",
    );
    assert_eq!(plan.functions()[0].members.len(), 1, "{text}");
}
