//! Which instructions share a function.

use weft_hlo::ir::{Computation, Module, Op};
use weft_hlo::passes::Pipeline;
use weft_hlo::text::parse;
use weft_partition::{FusionPlan, HeroKind, Target, fuse};

fn read(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// A target whose kernels are loops: nobody waits for others there.
fn of_loops() -> Target {
    Target::default().with(|target| target.faults.barriers = true)
}

fn plan_of(module: &Module, computation: &Computation, target: &Target) -> FusionPlan {
    FusionPlan::new(module, computation, target).unwrap_or_else(|found| panic!("{found}"))
}

/// The plan of the computation `body { … }`, and its text.
fn plan(body: &str) -> (FusionPlan, String) {
    let module = read(&format!("HloModule m\nENTRY body {{\n{body}\n}}"));
    let computation = module.entry_computation();
    let plan = plan_of(&module, computation, &Target::default());
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
plan transposed threads=128 tile=32 space=[1, 20, 1, 20]
  why: transpose: it is tiled
hero %transpose in transpose: transposition rows=20 columns=20
  tiling: threads=128 tile=[32, 33]
  prologues: log
  epilogue: add at [d0, d1]
output function add [20, 20] given %transpose -> %add
  why: it computes an output
  %add = f32[20,20] add(%log[d0, d1], %transpose)
function transpose [20, 20] -> %transpose
  why: it is a transposition, a hero that emitters tile
  %transpose = f32[20,20] transpose(%log[d1, d0])
function log [20, 20] -> %log
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
    let entry = fused.module.entry_computation();
    assert_eq!(entry.instructions.len(), 2);
    let Op::Fusion { calls, .. } = entry.instructions[entry.root].op else { panic!("the root is the fusion") };
    assert_eq!(fused.plan(calls).map(|plan| plan.functions().len()), Some(3));
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
plan loop threads=64 elements=1
  why: nothing in it shapes a kernel
output function s [8] -> %s
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

/// The transposition has as many elements as the other outputs: one function returns all four.
#[test]
fn outputs_equal_up_to_bitcast_are_one_function() {
    let (plan, text) = plan(
        "p = f32[4,8] parameter(0)
         l = f32[4,8] log(p)
         e = f32[4,8] exponential(l)
         r = f32[32] reshape(l)
         n = f32[32] negate(r)
         h = f32[2] slice(n), slice={[0:2]}
         ROOT o = (f32[4,8], f32[4,8], f32[32], f32[2], f32[4,8]) tuple(e, l, n, h, e)",
    );
    assert_eq!(
        text,
        "\
plan loop threads=64 elements=1
  why: nothing in it shapes a kernel
output function e [4, 8] -> %e, %l, %n[d0 * 8 + d1], %e
  why: it computes an output
  %e = f32[4,8] exponential(%l[d0, d1])
output function h [2] -> %h
  why: it computes an output
  %h = f32[2] slice(%n[d0])
function n [32] -> %n
  why: its users access it in 2 different ways
  %r = f32[32] reshape(%l[d0 floordiv 8, d0 mod 8])
  %n = f32[32] negate(%r)
function l [4, 8] -> %l
  why: its users access it in 2 different ways
  %l = f32[4,8] log(%p[d0, d1])
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
    let l = plan.functions()[2].roots[0].instruction;
    assert_eq!(plan.functions()[0].roots.len(), 3, "{text}");
    assert!(plan.functions()[0].roots.iter().any(|root| root.instruction == l), "{text}");
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
    let plan = plan_of(&module, module.entry_computation(), &of_loops());
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

/// The text of the plan of a module's entry.
fn entry_plan(text: &str) -> String {
    let module = read(text);
    let computation = module.entry_computation();
    plan_of(&module, computation, &of_loops()).text(computation)
}

const SUM: &str = "HloModule m
    sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

/// gpu.md's row reduction: the epilogue is a function of its indices and of the hero's value.
#[test]
fn an_epilogue_is_given_the_value_of_its_hero() {
    let text = entry_plan(&format!(
        "{SUM}ENTRY body {{
            p = f32[64,1000] parameter(0)
            w = f32[8,8] parameter(1)
            zero = f32[] constant(0)
            e = f32[64,1000] exponential(p)
            r = f32[64] reduce(e, zero), dimensions={{1}}, to_apply=sum
            b = f32[8,8] bitcast(r)
            t = f32[8,8] multiply(b, w)
            q = f32[64] sqrt(r)
            ROOT o = (f32[8,8], f32[64]) tuple(t, q)
        }}"
    ));
    assert_eq!(
        text,
        "\
plan loop threads=64 elements=1
  why: r: barriers do not work on the target
hero %r in r: row-reduction rows=64 length=1000
  tiling: threads=256 tile=[256]
  epilogue: t at [d0 floordiv 8, d0 mod 8]
  a loop because: barriers do not work on the target
output function t [8, 8] given %r -> %t, %q[d0 * 8 + d1]
  why: it computes an output
  %b = f32[8,8] bitcast(%r)
  %t = f32[8,8] multiply(%b, %w[d0, d1])
  %q = f32[64] sqrt(%r)
function r [64] -> %r
  why: it is a reduction, a loop of its own
  %e = f32[64,1000] exponential(%p[d0, s0])
  %r = f32[64] reduce(%e, %zero)
"
    );
}

/// What reads a hero at other elements than its own calls it.
#[test]
fn a_hero_that_is_read_elsewhere_is_called() {
    let text = entry_plan(&format!(
        "{SUM}ENTRY body {{
            p = f32[64,1000] parameter(0)
            zero = f32[] constant(0)
            r = f32[64] reduce(p, zero), dimensions={{1}}, to_apply=sum
            v = f32[64] reverse(r), dimensions={{0}}
            ROOT a = f32[64] add(r, v)
        }}"
    ));
    assert!(text.contains("outputs read it at other elements than their own"), "{text}");
    assert!(!text.contains("given"), "{text}");
}

/// Whatever operation it was written as: only maps tell.
#[test]
fn heroes_are_known_by_their_maps() {
    let kinds = [
        ("c = f32[40,20] copy(p)", None),
        ("t = f32[40,20] transpose(p), dimensions={1,0}", Some("transposition rows=40 columns=20")),
        ("b = f32[40,20]{0,1} bitcast(p)", Some("transposition rows=40 columns=20")),
        ("b = f32[20,40,3] broadcast(p), dimensions={0,1}", None),
        ("b = f32[40,3,20] broadcast(p), dimensions={2,0}", Some("transposition rows=40 columns=20")),
        ("r = f32[20] reduce(p, z), dimensions={1}, to_apply=sum", Some("row-reduction rows=20 length=40")),
        (
            "r = f32[40] reduce(p, z), dimensions={0}, to_apply=sum",
            Some("column-reduction columns=40 length=20 minor=40"),
        ),
        ("r = f32[] reduce(p, z), dimensions={0,1}, to_apply=sum", Some("row-reduction rows=1 length=800")),
        (
            "d = f32[20,20] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
            Some("product results=400 length=40"),
        ),
        ("w = f32[20,38] reduce-window(p, z), window={size=1x3}, to_apply=sum", Some("window results=760 length=3")),
        (
            "w = f32[20,10] reduce-window(p, z), window={size=1x4 stride=1x4}, to_apply=sum",
            Some("row-reduction rows=200 length=4"),
        ),
    ];
    for (instruction, expected) in kinds {
        let extents = if instruction.starts_with('c') { "40,20" } else { "20,40" };
        let module = read(&format!(
            "{SUM}ENTRY body {{ p = f32[{extents}] parameter(0)\n z = f32[] constant(0)\n ROOT {instruction}\n}}"
        ));
        let computation = module.entry_computation();
        let kind = HeroKind::of(computation, computation.root);
        assert_eq!(kind.map(|kind| kind.to_string()).as_deref(), expected, "{instruction}");
        if let Some(kind) = kind {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }
}

/// A plan can be cut otherwise by hand; what does not follow from the cuts is refused with its line.
#[test]
fn a_plan_is_read_from_its_text() {
    let body = "p = f32[8] parameter(0)
         l = f32[8] log(p)
         e = f32[8] exponential(l)
         ROOT n = f32[8] negate(e)";
    let module = read(&format!("HloModule m\nENTRY body {{\n{body}\n}}"));
    let (computation, target) = (module.entry_computation(), Target::default());
    let cut = "\
plan loop threads=32 elements=1
  why: nothing in it shapes a kernel
output function n [8] -> %n
  why: it computes an output
  %n = f32[8] negate(%e[d0])
function e [8] -> %e
  why: by hand
  %l = f32[8] log(%p[d0])
  %e = f32[8] exponential(%l)
";
    let plan = FusionPlan::parse(cut, &module, computation, &target).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(plan.functions().len(), 2);
    assert_eq!(plan.text(computation), cut);
    let wrong = [
        (cut.replace("%p[d0]", "%p[d0 + 1]"), "with these functions it reads '  %l = f32[8] log(%p[d0])'"),
        (cut.replace("plan loop", "plan tiled"), "a plan begins with"),
        (cut.replace("-> %e", "-> %x"), "no instruction of this name"),
        (cut.replace("  why: by hand\n", ""), "the line after a function reads"),
        (format!("{cut}function"), "the plan ends before this line"),
        (cut.rsplit_once("  %e").map(|(before, _)| before.to_owned()).unwrap_or_default(), "the text ends before"),
        (String::new(), "the text ends before"),
    ];
    for (text, message) in wrong {
        let found = FusionPlan::parse(&text, &module, computation, &target).expect_err("it is no plan").to_string();
        assert!(found.contains("HLO405") && found.contains(message), "{message}: {found}");
    }
}

/// What the specification asks of gathers: the default passes make them canonical, and the plan reads through the bound starts.
#[test]
fn gathers_are_planned_in_canonical_form() {
    let module = read(
        "HloModule m
        ENTRY e {
            p = f32[10,20] parameter(0)
            i = s32[3,4] parameter(1)
            g = f32[3,4,20] gather(p, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0},
                index_vector_dim=2, slice_sizes={1,20}
            ROOT n = f32[3,4,20] negate(g)
        }",
    );
    let optimized = Pipeline::default().run(&module).unwrap_or_else(|found| panic!("{found}"));
    let fused = fuse(&optimized.module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let entry = fused.module.entry_computation();
    let Op::Fusion { calls, .. } = entry.instructions[entry.root].op else { panic!("the root is the fusion") };
    let computation = &fused.module.computations[calls];
    let text = fused.plan(calls).map(|plan| plan.text(computation)).unwrap_or_default();
    assert_eq!(
        text,
        "\
plan loop threads=64 elements=1
  why: nothing in it shapes a kernel
output function n [3, 4, 20] -> %n
  why: it computes an output
  %g.1 = s32[12,1] reshape(%i[d0, d1])
  %g.2 = f32[12,1,20] gather(%p[rt0, d2], %g.1)
  %g.3 = f32[3,4,20] reshape(%g.2)
  %n = f32[3,4,20] negate(%g.3)
"
    );
}

/// Tuples within tuples are taken apart before a program is fused; the leaves of what comes out are the roots.
#[test]
fn nested_tuples_become_roots() {
    let module = read(
        "HloModule m
        ENTRY e {
            p = (f32[4,8], (f32[4,8], s32[])) parameter(0)
            x = f32[4,8] get-tuple-element(p), index=0
            q = (f32[4,8], s32[]) get-tuple-element(p), index=1
            y = f32[4,8] get-tuple-element(q), index=0
            s = f32[4,8] add(x, y)
            d = f32[4,8] subtract(x, y)
            t = (f32[4,8], f32[4,8]) tuple(s, d)
            ROOT r = ((f32[4,8], f32[4,8]), f32[4,8]) tuple(t, s)
        }",
    );
    let fused = fuse(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let texts = fused
        .module
        .computations
        .ids()
        .filter_map(|id| fused.plan(id).map(|plan| plan.text(&fused.module.computations[id])));
    assert_eq!(
        texts.collect::<Vec<_>>().join("\n"),
        "\
plan loop threads=64 elements=1
  why: nothing in it shapes a kernel
output function s [4, 8] -> %s, %d
  why: it computes an output
  %s = f32[4,8] add(%p.0[d0, d1], %p.1[d0, d1])
  %d = f32[4,8] subtract(%p.0[d0, d1], %p.1[d0, d1])
"
    );
}

/// What a region applies is a plan of its own: one function that is given its parameters.
#[test]
fn a_region_has_a_plan() {
    let module = read(&format!(
        "{SUM}ENTRY e {{ p = f32[64,1000] parameter(0)\n zero = f32[] constant(0)\n \
         ROOT r = f32[64] reduce(p, zero), dimensions={{1}}, to_apply=sum\n}}"
    ));
    let fused = fuse(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let region = fused.module.computations.iter().find(|(_, computation)| computation.name == "sum");
    let (id, computation) = region.unwrap_or_else(|| panic!("the region stays"));
    let plan = fused.applied_plan(id).unwrap_or_else(|| panic!("it has a plan"));
    let text = plan.text(computation);
    assert_eq!(
        text,
        "\
plan applied
  why: it is applied to the elements of others
output function s [] given %a, %b -> %s
  why: it computes an output
  %s = f32[] add(%a, %b)
"
    );
    assert_eq!(FusionPlan::parse(&text, &fused.module, computation, &Target::default()).as_ref(), Ok(plan));
}

/// The plan says which output may lie where which operand lies, and what each update replaces.
#[test]
fn updates_of_parameters_are_planned_in_place() {
    let (plan, text) = plan(
        "x = f32[8,6] parameter(0)
         i = s32[] parameter(1)
         u = f32[3,6] parameter(2)
         zero = s32[] constant(0)
         row = s32[] add(i, i)
         old = f32[3,6] dynamic-slice(x, row, zero), dynamic_slice_sizes={3,6}
         sum = f32[3,6] add(old, u)
         ROOT updated = f32[8,6] dynamic-update-slice(x, sum, row, zero)",
    );
    assert_eq!(plan.updates().len(), 1);
    assert_eq!(
        text,
        "\
plan update-slice threads=64 elements=1
  why: every output is an operand but for its update
update %updated may lie where %x lies: sum writes [d0 + rt0, d1], rt0 in [0, 5] = %row
output function sum [3, 6] given %x -> %sum
  why: it computes an update
  %old = f32[3,6] dynamic-slice(%x, %row, %zero)
  %sum = f32[3,6] add(%old, %u[d0, d1])
start function row [] -> %row
  why: it tells where an update starts
  %row = s32[] add(%i[], %i[])
"
    );
}

/// What is read at other elements than those that an invocation replaces may have been replaced already.
#[test]
fn updates_that_read_what_they_replace_elsewhere_are_loops() {
    let reason = |update: &str| {
        let (plan, text) = plan(&format!(
            "x = f32[8] parameter(0)
             i = s32[] parameter(1)
             one = s32[] constant(1)
             j = s32[] add(i, one)
             {update}
             ROOT updated = f32[8] dynamic-update-slice(x, u, i)"
        ));
        let module = read(&format!(
            "HloModule m\nENTRY body {{ x = f32[8] parameter(0)\n i = s32[] parameter(1)\n one = s32[] constant(1)\n \
             j = s32[] add(i, one)\n {update}\n ROOT updated = f32[8] dynamic-update-slice(x, u, i)\n}}"
        ));
        let again = FusionPlan::parse(&text, &module, module.entry_computation(), &Target::default());
        assert_eq!(again.map_err(|found| found.to_string()), Ok(plan.clone()));
        (plan.updates().is_empty(), plan.why().to_owned())
    };
    let refused = (true, "%u reads elements of %x that %updated may have replaced".to_owned());
    assert_eq!(reason("u = f32[3] dynamic-slice(x, j), dynamic_slice_sizes={3}"), refused);
    assert_eq!(reason("u = f32[3] slice(x), slice={[0:3]}"), refused);
    assert!(reason("s = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}\nu = f32[3] reverse(s), dimensions={0}").0);
    assert!(!reason("u = f32[8] copy(x)").0);
    assert!(!reason("u = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}").0);
}
