//! What is written as other operations before it is fused: random bits, windows that select, long reductions.

use crate::fuse::read;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module, Op, Scalar};
use weft_hlo::text::print;
use weft_hlo::verify::verify;
use weft_partition::{Fused, Target, Verdict, fuse, fuse_explained};

/// Fuses, and fails unless everything can be compiled and the results are the same.
fn checked(module: &Module, inputs: &[Literal]) -> Fused {
    let fused = fuse_explained(module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let text = print(&fused.module);
    verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert!(fused.uncompiled.is_empty(), "{:?}\n{text}", fused.uncompiled);
    let expected = evaluate(module, inputs).unwrap_or_else(|found| panic!("{found}"));
    let found = evaluate(&fused.module, inputs).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{text}");
    fused
}

fn kernels(fused: &Fused) -> usize {
    let instructions = fused.module.entry_computation().instructions.values();
    instructions.filter(|instruction| matches!(instruction.op, Op::Fusion { .. })).count()
}

/// The instructions that were written as others.
fn rewritten(fused: &Fused) -> Vec<&str> {
    let decisions = fused.decisions.iter().filter(|decision| decision.verdict == Verdict::Rewritten);
    decisions.map(|decision| decision.instruction.as_str()).collect()
}

/// A sum of `s32` along dimensions, within a fusion of the program or without one.
fn sum(extents: &[i64], dimensions: &[i64], in_fusion: bool) -> Module {
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let left: Vec<i64> =
        (0i64..).zip(extents).filter(|(own, _)| !dimensions.contains(own)).map(|(_, extent)| *extent).collect();
    let (from, to, along) = (list(extents), list(&left), list(dimensions));
    let body = format!(
        "x = s32[{from}] parameter(0)\n  i = s32[] parameter(1)\n  \
         ROOT r = s32[{to}] reduce(x, i), dimensions={{{along}}}, to_apply=add"
    );
    let add = "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(b, a)\n}";
    read(&match in_fusion {
        false => format!("HloModule m\n{add}\nENTRY e {{\n  {body}\n}}\n"),
        true => format!(
            "HloModule m\n{add}\nf {{\n  {body}\n}}\nENTRY e {{\n  x = s32[{from}] parameter(0)\n  \
             i = s32[] parameter(1)\n  ROOT r = s32[{to}] fusion(x, i), kind=kInput, calls=f\n}}\n"
        ),
    })
}

#[test]
fn reductions_of_many_elements_to_few_are_made_in_two_passes() {
    // As many kernels as there are passes: of a prime, too, and where no stretch of dimensions is long enough for one.
    let cases: [(&[i64], &[i64], usize); 9] = [
        (&[4096], &[0], 1),
        (&[4097], &[0], 2),
        (&[10_007, 3], &[0], 2),
        (&[5, 8192], &[1], 2),
        (&[60, 2, 90], &[0, 2], 2),
        (&[70, 80, 3, 2], &[0, 1, 3], 2),
        (&[3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3], &[0, 2, 4, 6, 8, 10, 12], 1),
        (&[8192, 0], &[0], 1),
        (&[70_000], &[0], 2),
    ];
    for (extents, dimensions, passes) in cases {
        let count: i64 = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|k| i32::try_from(k % 1000).unwrap_or(0) - 77).collect();
        let inputs = [Literal::array(extents, values), Literal::scalar(Scalar::S32(5))];
        for in_fusion in [false, true] {
            let fused = checked(&sum(extents, dimensions, in_fusion), &inputs);
            let again = fuse(&fused.module, &Target::default()).unwrap_or_else(|found| panic!("{found}")).module;
            assert_eq!(print(&again), print(&fused.module));
            assert_eq!(kernels(&fused), passes, "{extents:?}\n{}", print(&fused.module));
            assert_eq!(rewritten(&fused), vec!["r"; passes - 1], "{extents:?}");
        }
    }
}

/// What has no neutral element, or is no operation, is folded in one pass.
#[test]
fn other_reductions_are_made_in_one_pass() {
    let module = read(
        "HloModule m
        f {
            a = s32[] parameter(0)
            b = s32[] parameter(1)
            c = s32[] add(a, b)
            ROOT r = s32[] subtract(c, b)
        }
        ENTRY e {
            x = s32[9000] parameter(0)
            i = s32[] parameter(1)
            ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f
        }",
    );
    let inputs = [Literal::array([9000], vec![3; 9000]), Literal::scalar(Scalar::S32(5))];
    assert_eq!(rewritten(&checked(&module, &inputs)), Vec::<&str>::new());
}

#[test]
fn random_bits_and_windows_that_select_are_written_out() {
    let module = read(
        "HloModule m
        ge {
            a = u32[] parameter(0)
            b = u32[] parameter(1)
            ROOT r = pred[] compare(a, b), direction=GE
        }
        add {
            a = u32[] parameter(0)
            b = u32[] parameter(1)
            ROOT r = u32[] add(a, b)
        }
        ENTRY e {
            w = u32[4] parameter(0)
            p = u32[2,2] reshape(w)
            s = u64[2] bitcast-convert(p)
            g = (u64[2], u32[9]) rng-bit-generator(s), algorithm=rng_default
            n = u64[2] get-tuple-element(g), index=0
            q = u32[2,2] bitcast-convert(n)
            x = u32[9] get-tuple-element(g), index=1
            i = u32[] constant(1)
            k = u32[4] iota(), iota_dimension=0
            y = u32[9] select-and-scatter(x, k, i), window={size=3 stride=2}, select=ge, scatter=add
            ROOT t = (u32[2,2], u32[9]) tuple(q, y)
        }",
    );
    let inputs = [Literal::array([4], vec![1u32, 2, u32::MAX, 4])];
    let fused = checked(&module, &inputs);
    // What follows from the state, which window selects what, and what is scattered.
    assert_eq!((rewritten(&fused), kernels(&fused)), (vec!["g", "q", "y"], 3));
    let words = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("{found}")).swap_remove(0);
    assert_eq!(words.data, Data::from(vec![1u32, 2, 2, 5]));
}
