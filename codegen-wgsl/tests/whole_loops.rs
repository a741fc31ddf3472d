//! Loops that are one kernel: their text, and what is proved of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::fused;
use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::{Site, Target, compile_loop, loop_kernel};
use weft_hlo::ir::Op;
use weft_partition::{Fused, LoopPlan};

/// A loop over a counter and an array, as often as the counter is below `bound`.
fn looped(shape: &str, bound: &str, body: &str) -> Fused {
    let text = format!(
        "HloModule m
         condition {{
            p = (s32[], {shape}, s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            n = s32[] get-tuple-element(p), index=2
            k = s32[] constant(7)
            ROOT c = pred[] compare(i, {bound}), direction=LT
         }}
         body {{
            p = (s32[], {shape}, s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = {shape} get-tuple-element(p), index=1
            n = s32[] get-tuple-element(p), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            {body}
            ROOT t = (s32[], {shape}, s32[]) tuple(j, y, n)
         }}
         ENTRY main {{
            x = {shape} parameter(0)
            n = s32[] parameter(1)
            zero = s32[] constant(0)
            s = (s32[], {shape}, s32[]) tuple(zero, x, n)
            w = (s32[], {shape}, s32[]) while(s), condition=condition, body=body
            ROOT y = {shape} get-tuple-element(w), index=1
         }}"
    );
    fused(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"))
}

fn site(fused: &Fused) -> Site {
    let computation = fused.module.entry;
    let mut instructions = fused.module.computations[computation].instructions.iter();
    let (instruction, _) = instructions.find(|(_, instruction)| matches!(instruction.op, Op::While { .. })).unwrap();
    Site { computation, instruction }
}

/// The kernel of the loop, which is proved, as is what it is lowered to.
fn kernel(fused: &Fused, target: &Target) -> Kernel {
    let site = site(fused);
    let plan = LoopPlan::new(fused, site, target).unwrap();
    let kernel = loop_kernel(fused, fused.instruction(site).unwrap(), &plan, 100, target).unwrap();
    assert_eq!(kernel.verify(), Ok(Vec::new()), "{kernel}");
    let shader = compile_loop(fused, site, target).unwrap_or_else(|findings| panic!("{findings}")).shader;
    assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.source);
    kernel
}

/// Loops and branches within the rounds of a loop are proved like the rest, and counted.
#[test]
fn loops_and_branches_stand_in_rounds() {
    let text = "HloModule m
        inner_condition {
            p = (s32[], s32[9], s32[9]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            k = s32[] constant(5)
            ROOT c = pred[] compare(i, k), direction=LT
        }
        inner_body {
            p = (s32[], s32[9], s32[9]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = s32[9] get-tuple-element(p), index=1
            y = s32[9] get-tuple-element(p), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            v = s32[9] reverse(x), dimensions={0}
            z = s32[9] subtract(v, y)
            ROOT t = (s32[], s32[9], s32[9]) tuple(j, y, z)
        }
        up {
            p = (s32[9], s32[]) parameter(0)
            x = s32[9] get-tuple-element(p), index=0
            i = s32[] get-tuple-element(p), index=1
            n = s32[9] negate(x)
            zero = s32[] constant(0)
            s = (s32[], s32[9], s32[9]) tuple(zero, x, n)
            w = (s32[], s32[9], s32[9]) while(s), condition=inner_condition, body=inner_body
            ROOT y = s32[9] get-tuple-element(w), index=2
        }
        down {
            p = (s32[9], s32[]) parameter(0)
            ROOT x = s32[9] get-tuple-element(p), index=0
        }
        other {
            p = (s32[9], s32[]) parameter(0)
            x = s32[9] get-tuple-element(p), index=0
            ROOT r = s32[9] reverse(x), dimensions={0}
        }
        condition {
            p = (s32[], s32[9], s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            n = s32[] get-tuple-element(p), index=2
            ROOT c = pred[] compare(i, n), direction=LT
        }
        body {
            p = (s32[], s32[9], s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = s32[9] get-tuple-element(p), index=1
            n = s32[] get-tuple-element(p), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            three = s32[] constant(3)
            m = s32[] remainder(i, three)
            given = (s32[9], s32[]) tuple(x, i)
            y = s32[9] conditional(m, given, given, given), branch_computations={up, down, other}
            ROOT t = (s32[], s32[9], s32[]) tuple(j, y, n)
        }
        ENTRY main {
            x = s32[9] parameter(0)
            n = s32[] parameter(1)
            zero = s32[] constant(0)
            s = (s32[], s32[9], s32[]) tuple(zero, x, n)
            w = (s32[], s32[9], s32[]) while(s), condition=condition, body=body
            ROOT y = s32[9] get-tuple-element(w), index=1
        }";
    let fused = fused(text).unwrap_or_else(|findings| panic!("{findings}"));
    for target in ["floor", "software", "discrete"] {
        let target = Target::preset(target).unwrap();
        let kernel = kernel(&fused, &target);
        let entry = entry(&kernel);
        assert_eq!((entry.matches("while").count(), entry.matches("is_chosen").count()), (2, 2 * 2), "{entry}");
        // Two rounds, and those of the loop in each, all left in rounds of their own.
        assert!(kernel.rounds() >= 100 * 6 + 101, "{}", kernel.rounds());
    }
    let limited = Target::preset("software").unwrap().with(|target| target.max_loop_iterations = Some(300));
    let shader = compile_loop(&fused, site(&fused), &limited).unwrap_or_else(|findings| panic!("{findings}"));
    assert!((16..=42).contains(&shader.rounds), "{}", shader.rounds);
}

/// The text of an entry.
fn entry(kernel: &Kernel) -> String {
    let text = kernel.to_string();
    let start = text.find("  entry").unwrap();
    assert_eq!(Kernel::parse(&text).unwrap().to_string(), text);
    text[start..].to_owned()
}

const SCALARS: &str = "  entry groups [1] threads 1 {
    %0:element: s32 = extract %w_0_[]
    store %tile_0[], %0:element
    %1:element: s32 = extract %w_1_out[]
    store %tile_1[], %1:element
    %3:rounds: u32 = while with %2:round: u32 = u32 0 {
      %4:is_within: pred = compare LT %2:round, u32 100
      yield %4:is_within
    } do {
      %5:element: s32, %6:element: s32 = call @j()
      store %tile_2[], %5:element
      store %tile_3[], %6:element
      %7:element: s32 = extract %tile_2[]
      store %tile_0[], %7:element
      %8:element: s32 = extract %tile_3[]
      store %tile_1[], %8:element
      %9:next_round: u32 = add %2:round, u32 1
      yield %9:next_round
    }
    %10:element: s32 = extract %tile_0[]
    store %w_0_out[], %10:element
    %11:element: s32 = extract %tile_1[]
    store %w_1_out[], %11:element
  }
}
";

const ARRAYS: &str = "  entry groups [1] threads 128 {
    if d1 in [0, 0] {
      %0:element: s32 = extract %w_0_[]
      store %tile_0[], %0:element
    }
    if d1 in [0, 99] {
      %1:element: f32 = extract %w_1_out[d1]
      store %tile_1[d1], %1:element
    }
    barrier
    %3:rounds: u32 = while with %2:round: u32 = u32 0 {
      if d1 in [0, 0] {
        %4:element: pred = call @c()
        store %tile_2[], %4:element
      }
      %5:is_within: pred = compare LT %2:round, u32 100
      %6:flag: pred = share %tile_2[]
      %7:goes_on: pred = and %6:flag, %5:is_within
      yield %7:goes_on
    } do {
      if d1 in [0, 0] {
        %8:element: s32 = call @j()
        store %tile_3[], %8:element
      }
      if d1 in [0, 99] {
        %9:element: f32 = call @y(d1)
        store %tile_4[d1], %9:element
      }
      barrier
      if d1 in [0, 0] {
        %10:element: s32 = extract %tile_3[]
        store %tile_0[], %10:element
      }
      if d1 in [0, 99] {
        %11:element: f32 = extract %tile_4[d1]
        store %tile_1[d1], %11:element
      }
      barrier
      %12:next_round: u32 = add %2:round, u32 1
      yield %12:next_round
    }
    if d1 in [0, 0] {
      %13:element: s32 = extract %tile_0[]
      store %w_0_out[], %13:element
    }
    if d1 in [0, 99] {
      %14:element: f32 = extract %tile_1[d1]
      store %w_1_out[d1], %14:element
    }
    if d1 in [0, 0] {
      %15:element: pred = extract %tile_2[]
      store %goes_on[], %15:element
    }
  }
}
";

#[test]
fn a_state_of_scalars_is_one_invocation() {
    let fused = looped("s32[]", "k", "y = s32[] multiply(x, i)");
    let kernel = kernel(&fused, &Target::default());
    assert_eq!(entry(&kernel), SCALARS);
}

#[test]
fn invocations_wait_where_they_need_each_other() {
    let fused = looped("f32[100]", "n", "v = f32[100] reverse(x), dimensions={0}\n y = f32[100] subtract(x, v)");
    let kernel = kernel(&fused, &Target::default());
    assert_eq!(entry(&kernel), ARRAYS);
}

#[test]
fn a_loop_that_is_none_says_why() {
    let target = Target::default();
    let why = |fused: &Fused, target: &Target| LoopPlan::new(fused, site(fused), target).unwrap_err();
    let small = looped("f32[100]", "n", "y = f32[100] reverse(x), dimensions={0}");
    let few = target.clone().with(|target| target.max_storage_buffers = 3);
    assert_eq!(why(&small, &few), "its kernel would bind 4 buffers and the target allows 3");
    let narrow = target.clone().with(|target| target.max_workgroup_storage_bytes = 512);
    assert_eq!(why(&small, &narrow), "a round holds 812 bytes and a workgroup of the target 512");
    let wide = looped("f32[100000]", "n", "y = f32[100000] negate(x)");
    assert!(why(&wide, &target).contains("ns in one workgroup"), "{}", why(&wide, &target));
    let limited = target.with(|target| target.max_loop_iterations = Some(10));
    let error = compile_loop(&small, site(&small), &limited).unwrap_err().to_string();
    assert!(error.contains("HLO421") && error.contains("rounds"), "{error}");
}

/// What is wrong with a kernel, or else unproved.
fn found(body: &str) -> Vec<String> {
    let text = format!(
        "kernel @k(in %x: s32[64], out %y: s32[64]) {{
           tile %t: s32[64]
           func @other(d0 in [0, 63]) -> (s32) {{ %0: s32 = extract %t[63 - d0] return %0 }}
           func @own(d0 in [0, 63]) -> (s32) {{ %0: s32 = extract %t[d0] return %0 }}
           entry groups [1] threads 64 {{ {body} }}
         }}"
    );
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    kernel.verify().unwrap_or_else(|findings| findings).iter().map(ToString::to_string).collect()
}

#[test]
fn functions_read_what_was_written() {
    let write = "%0: s32 = extract %x[d1] store %t[d1], %0";
    let read = |name: &str| format!("%1: s32 = call @{name}(d1) store %y[d1], %1");
    let alone = "%0: s32 = call @own(d1) store %y[d1], %0";
    assert_eq!(found(&format!("{write} {}", read("own"))), [""; 0]);
    assert_eq!(found(&format!("{write} barrier {}", read("other"))), [""; 0]);
    assert_eq!(
        found(&format!("{write} {}", read("other"))),
        ["%t: an element is read that another invocation writes without a barrier between"]
    );
    assert_eq!(found(alone), ["%t: an element is read that was never written"]);
}

#[test]
fn what_is_carried_is_the_same_in_all_where_each_round_makes_it_so() {
    let rounds = |init: &str, next: &str, within: &str| {
        format!(
            "%0: s32 = extract %x[d1] store %y[d1], %0
             %1: s32 = while with %2: s32 = {init} {{ {within} %3: pred = compare LT %2, s32 9 yield %3 }}
             do {{ barrier %4: s32 = {next} yield %4 }}"
        )
    };
    let differs = ["entry: a barrier stands where not all invocations come"];
    assert_eq!(found(&rounds("s32 0", "add %2, s32 1", "")), [""; 0]);
    assert_eq!(found(&rounds("%0", "add %2, s32 1", "")), differs);
    assert_eq!(found(&rounds("s32 0", "add %2, %0", "")), differs);
    let twice = [differs[0], differs[0]];
    assert_eq!(found(&rounds("s32 0", "add %2, %0", "barrier")), twice);
}
