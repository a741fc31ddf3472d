//! What is written as other operations before it is fused: random bits, windows that select, long reductions.

use crate::fuse::read;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module, Op, Scalar};
use weft_hlo::random::Rng;
use weft_hlo::text::print;
use weft_hlo::verify::verify;
use weft_partition::{DeviceKind, Fused, Target, Verdict, fuse, fuse_explained};

/// Fuses, and fails unless everything can be compiled and the results are the same.
fn checked(module: &Module, inputs: &[Literal]) -> Fused {
    checked_for(&Target::default(), module, inputs)
}

fn checked_for(target: &Target, module: &Module, inputs: &[Literal]) -> Fused {
    let fused = fuse_explained(module, target).unwrap_or_else(|found| panic!("{found}"));
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

/// A fusion that the program brings along is kept where it is one kernel, not where a sort in it is several.
#[test]
fn fusions_that_sort_are_taken_apart() {
    let text = "HloModule m\nbefore {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GT\n}\n\
                sorted {\n  x = s32[70] parameter(0)\n  n = s32[70] negate(x)\n  ROOT s = s32[70] sort(n), dimensions={0}, to_apply=before\n}\n\
                doubled {\n  x = s32[70] parameter(0)\n  ROOT s = s32[70] add(x, x)\n}\nENTRY e {\n  x = s32[70] parameter(0)\n  \
                d = s32[70] fusion(x), kind=kLoop, calls=doubled\n  ROOT f = s32[70] fusion(d), kind=kLoop, calls=sorted\n}\n";
    let numbers: Vec<i32> = (0..70).map(|place| place * 37 % 71).collect();
    let fused = checked(&read(text), &[Literal::array([70], numbers)]);
    let verdict = |name: &str| {
        let decision = fused.decisions.iter().find(|decision| decision.instruction == name).unwrap();
        (decision.verdict, decision.reason.as_str())
    };
    assert_eq!(verdict("f"), (Verdict::Dissolved, "what it holds is several kernels"));
    assert_eq!(verdict("d").0, Verdict::Kept);
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

/// The floor, and the floor as a device in software.
fn targets() -> [Target; 2] {
    [Target::default(), Target::default().with(|target| target.kind = DeviceKind::Software)]
}

#[test]
fn reductions_of_many_elements_to_few_are_made_in_two_passes() {
    // As many kernels as there are passes, on GPUs and in software: of a prime, too, and where no stretch of dimensions is long enough for one.
    let cases: [(&[i64], &[i64], [usize; 2]); 14] = [
        (&[4096], &[0], [1, 1]),
        (&[4097], &[0], [1, 2]),
        (&[16_384], &[0], [1, 2]),
        (&[16_385], &[0], [2, 2]),
        (&[4096, 3], &[0], [1, 1]),
        (&[4097, 3], &[0], [2, 2]),
        (&[10_007, 3], &[0], [2, 2]),
        (&[5, 8192], &[1], [1, 2]),
        (&[300, 4099], &[1], [1, 1]),
        (&[60, 2, 300], &[0, 2], [2, 2]),
        (&[70, 80, 3, 2], &[0, 1, 3], [1, 2]),
        (&[3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3], &[0, 2, 4, 6, 8, 10, 12], [1, 1]),
        (&[8192, 0], &[0], [1, 1]),
        (&[70_000], &[0], [2, 2]),
    ];
    for (extents, dimensions, passes) in cases {
        let count: i64 = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|k| i32::try_from(k % 1000).unwrap_or(0) - 77).collect();
        let inputs = [Literal::array(extents, values), Literal::scalar(Scalar::S32(5))];
        for (target, passes) in targets().iter().zip(passes) {
            for in_fusion in [false, true] {
                let fused = checked_for(target, &sum(extents, dimensions, in_fusion), &inputs);
                let again = fuse(&fused.module, target).unwrap_or_else(|found| panic!("{found}")).module;
                assert_eq!(print(&again), print(&fused.module));
                assert_eq!(kernels(&fused), passes, "{extents:?}\n{}", print(&fused.module));
                assert_eq!(rewritten(&fused), vec!["r"; passes - 1], "{extents:?}");
            }
        }
    }
}

/// On GPUs the parts of rows are rows, and those of columns lie side by side.
#[test]
fn parts_are_read_side_by_side_on_gpus() {
    let cases = [
        (vec![65_536], 0, vec![vec![256, 256], vec![256]]),
        (vec![3, 20_000], 1, vec![vec![3, 250, 80], vec![3, 250]]),
        (vec![8192, 3], 0, vec![vec![64, 128, 3], vec![128, 3]]),
        (vec![2, 5000, 100], 1, vec![vec![2, 40, 125, 100], vec![2, 125, 100]]),
    ];
    for (extents, dimension, passes) in cases {
        let count: i64 = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|k| i32::try_from(k % 1000).unwrap_or(0) - 77).collect();
        let inputs = [Literal::array(extents.clone(), values), Literal::scalar(Scalar::S32(5))];
        let fused = checked(&sum(&extents, &[dimension], false), &inputs);
        assert_eq!(folded(&fused), passes, "{extents:?}\n{}", print(&fused.module));
    }
}

/// A softmax of long rows, given as one fusion: two passes over each reduction would be more kernels, each of which reads the rows again.
#[test]
fn long_rows_that_are_read_again_stay_one_kernel_where_there_are_enough() {
    let softmax = |rows: i64, columns: i64| {
        read(&format!(
            "HloModule m
            max {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }}
            add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
            f {{
                x = f32[{rows},{columns}] parameter(0)
                i = f32[] constant(-inf)
                m = f32[{rows}] reduce(x, i), dimensions={{1}}, to_apply=max
                n = f32[{rows},{columns}] broadcast(m), dimensions={{0}}
                d = f32[{rows},{columns}] subtract(x, n)
                e = f32[{rows},{columns}] exponential(d)
                z = f32[] constant(0)
                s = f32[{rows}] reduce(e, z), dimensions={{1}}, to_apply=add
                t = f32[{rows},{columns}] broadcast(s), dimensions={{0}}
                ROOT y = f32[{rows},{columns}] divide(e, t)
            }}
            ENTRY e {{
                x = f32[{rows},{columns}] parameter(0)
                ROOT y = f32[{rows},{columns}] fusion(x), kind=kLoop, calls=f
            }}"
        ))
    };
    for (rows, columns, expected) in
        [(4, 20_000, [5, 5]), (300, 20_000, [1, 1]), (300, 5000, [1, 1]), (100, 5000, [1, 1]), (4, 5000, [1, 5])]
    {
        for (target, expected) in targets().iter().zip(expected) {
            let fused = fuse(&softmax(rows, columns), target).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!(kernels(&fused), expected, "{rows} of {columns}\n{}", print(&fused.module));
        }
    }
}

/// The operands of the reductions of a fused module, in its kernels' order.
fn folded(fused: &Fused) -> Vec<Vec<i64>> {
    let mut folded = Vec::new();
    for instruction in fused.module.entry_computation().instructions.values() {
        let Op::Fusion { calls, .. } = instruction.op else { continue };
        let inner = &fused.module.computations[calls].instructions;
        for reduce in inner.values().filter(|inner| matches!(inner.op, Op::Reduce { .. })) {
            let operand = &inner[reduce.operands[0]].shape;
            folded.push(operand.as_array().map(|array| array.extents.clone()).unwrap_or_default());
        }
    }
    folded
}

/// In software an invocation reads for itself: its part is a stretch of elements, and columns are short.
#[test]
fn parts_are_stretches_of_elements_in_software() {
    let software = Target::default().with(|target| target.kind = DeviceKind::Software);
    let cases = [
        (vec![16_384], 0, vec![vec![128, 128], vec![128]]),
        (vec![1024, 256], 0, vec![vec![32, 32, 256], vec![32, 256]]),
        (vec![2, 576, 512], 1, vec![vec![2, 18, 32, 512], vec![2, 18, 512]]),
        // Of a prime near to what 32 leave, and columns that are short, near or few.
        (vec![1031, 256], 0, vec![vec![32, 33, 256], vec![32, 256]]),
        (vec![255, 1100], 0, vec![vec![255, 1100]]),
        (vec![4096, 255], 0, vec![vec![4096, 255]]),
    ];
    for (extents, dimension, passes) in cases {
        let count: i64 = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|k| i32::try_from(k % 1000).unwrap_or(0) - 77).collect();
        let inputs = [Literal::array(extents.clone(), values), Literal::scalar(Scalar::S32(5))];
        let fused = checked_for(&software, &sum(&extents, &[dimension], false), &inputs);
        assert_eq!(folded(&fused), passes, "{extents:?}\n{}", print(&fused.module));
    }
}

/// A reduction of three arrays, by a sum, and as JAX prints the `argmax` (or `argmin`) of an array and its indices.
fn sum_and_argument(value: &str, better: &str, extents: &[i64], dimensions: &[i64]) -> Module {
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let left: Vec<i64> =
        (0i64..).zip(extents).filter(|(own, _)| !dimensions.contains(own)).map(|(_, extent)| *extent).collect();
    let (from, to, along) = (list(extents), list(&left), list(dimensions));
    read(&format!(
        "HloModule m
        f {{
            a = {value}[] parameter(0)
            s = u32[] parameter(1)
            i = s32[] parameter(2)
            b = {value}[] parameter(3)
            t = u32[] parameter(4)
            k = s32[] parameter(5)
            g = pred[] compare(a, b), direction={better}
            u = pred[] compare(a, a), direction=NE
            o = pred[] or(g, u)
            v = {value}[] select(o, a, b)
            e = pred[] compare(a, b), direction=EQ
            l = pred[] compare(i, k), direction=LT
            w = pred[] and(e, l)
            x = pred[] or(o, w)
            n = s32[] select(x, i, k)
            p = u32[] add(s, t)
            ROOT r = ({value}[], u32[], s32[]) tuple(v, p, n)
        }}
        ENTRY e {{
            a = {value}[{from}] parameter(0)
            s = u32[{from}] parameter(1)
            i = s32[{from}] parameter(2)
            b = {value}[] parameter(3)
            k = s32[] parameter(4)
            t = u32[] constant(7)
            ROOT r = ({value}[{to}], u32[{to}], s32[{to}]) reduce(a, s, i, b, t, k), dimensions={{{along}}}, to_apply=f
        }}"
    ))
}

/// Extents near the least that is divided, ties, NaN and zeros of both signs, indices in any order, and any initial values.
#[test]
fn tuples_are_folded_in_two_passes_in_their_order() {
    let mut rng = Rng::new(5);
    let mut divided = 0;
    for case in 0..40 {
        let (extents, dimensions): (Vec<i64>, Vec<i64>) = match case % 5 {
            0 => (vec![rng.between(15_000, 20_000)], vec![0]),
            1 => (vec![rng.between(1, 3), rng.between(16_380, 16_390)], vec![1]),
            2 => (vec![rng.between(4090, 4200), rng.between(1, 3)], vec![0]),
            3 => (vec![rng.between(1, 70), rng.between(1, 3), rng.between(240, 520)], vec![2, 0]),
            _ => (vec![1, 2, rng.between(2, 4), 1, rng.between(5000, 8400)], vec![0, 2, 4]),
        };
        let count: i64 = extents.iter().product();
        let is_float = rng.chance(70);
        let few = [f32::NAN, -0.0, 0.0, f32::NEG_INFINITY, 2.5, -1.0, f32::INFINITY];
        // At times most are equal, and the greatest are rare.
        let (most, kinds) = (rng.below(7), 1 + rng.below(7));
        let mut floats = || if rng.chance(99) { few[most] } else { few[rng.below(kinds)] };
        let values: Vec<f32> = (0..=count).map(|_| floats()).collect();
        let indices: Vec<i32> = (0..=count).map(|_| rng.between(0, 50) as i32).collect();
        let sums: Vec<u32> = (0..=count).map(|_| rng.next_u64() as u32).collect();
        let literal = |value: Data| Literal::array(extents.clone(), value);
        let last = count as usize;
        let (array, initial) = match is_float {
            true => (literal(Data::from(values[..last].to_vec())), Scalar::F32(values[last])),
            false => {
                let values: Vec<i32> = values.iter().map(|own| *own as i32).collect();
                (literal(Data::from(values[..last].to_vec())), Scalar::S32(values[last]))
            }
        };
        let inputs = [
            array,
            literal(Data::from(sums[..last].to_vec())),
            literal(Data::from(indices[..last].to_vec())),
            Literal::scalar(initial),
            Literal::scalar(Scalar::S32(indices[last])),
        ];
        let better = ["GT", "LT"][rng.below(2)];
        let module = sum_and_argument(if is_float { "f32" } else { "s32" }, better, &extents, &dimensions);
        let fused = checked(&module, &inputs);
        let rounds: i64 = dimensions.iter().map(|dimension| extents[*dimension as usize]).product();
        let are_columns = case % 5 == 2 && extents[1] > 1;
        let is_long = rounds > if are_columns { 4096 } else { 16_384 };
        assert_eq!(kernels(&fused), if is_long { 2 } else { 1 }, "{extents:?}\n{}", print(&fused.module));
        let reason = fused.decisions.iter().find(|decision| decision.verdict == Verdict::Rewritten);
        assert_eq!(reason.is_some(), is_long);
        if let Some(reason) = reason {
            assert_eq!(reason.reason.ends_with("keep the order of the elements"), is_float, "{}", reason.reason);
            divided += 1;
        }
    }
    assert!(divided > 15, "{divided}");
}

/// The second pass reads what the first wrote, and needs a buffer for each; where it cannot have them, there is one loop.
#[test]
fn what_would_bind_too_many_buffers_is_made_in_one_pass() {
    let module = read(
        "HloModule m
        f {
            a = s32[] parameter(0)
            b = s32[] parameter(1)
            c = s32[] parameter(2)
            d = s32[] parameter(3)
            e = s32[] parameter(4)
            f = s32[] parameter(5)
            s = s32[] add(a, d)
            l = s32[] maximum(b, e)
            o = s32[] xor(f, c)
            ROOT r = (s32[], s32[], s32[]) tuple(s, l, o)
        }
        ENTRY e {
            x = s32[50000] parameter(0)
            a = s32[] parameter(1)
            b = s32[] parameter(2)
            c = s32[] parameter(3)
            ROOT r = (s32[], s32[], s32[]) reduce(x, x, x, a, b, c), dimensions={0}, to_apply=f
        }",
    );
    let decided = |limit: u32| {
        let target = Target::default().with(|target| target.max_storage_buffers = limit);
        let fused = fuse_explained(&module, &target).unwrap_or_else(|found| panic!("{found}"));
        let decision = fused.decisions.into_iter().find(|decision| decision.instruction == "r");
        decision.map(|decision| (decision.verdict, decision.reason))
    };
    let of = "of 50000 elements for each of 1 it is made in";
    assert_eq!(decided(9), Some((Verdict::Rewritten, format!("{of} two passes"))));
    let reason = "one pass: its second pass would bind 9 buffers and the target allows 8";
    assert_eq!(decided(8), Some((Verdict::Kept, format!("{of} {reason}"))));
}

/// What is not associative is folded in one pass, and why is told.
#[test]
fn other_reductions_are_made_in_one_pass() {
    let module = read(
        "HloModule m
        f {
            a = s32[] parameter(0)
            b = s32[] parameter(1)
            c = s32[] add(a, b)
            ROOT r = s32[] add(c, a)
        }
        ENTRY e {
            x = s32[19000] parameter(0)
            i = s32[] parameter(1)
            ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f
        }",
    );
    let inputs = [Literal::array([19_000], vec![3; 19_000]), Literal::scalar(Scalar::S32(5))];
    let fused = checked(&module, &inputs);
    assert_eq!(rewritten(&fused), Vec::<&str>::new());
    let kept = fused.decisions.iter().find(|decision| decision.verdict == Verdict::Kept);
    let reason = kept.map(|decision| decision.reason.as_str());
    assert_eq!(
        reason,
        Some(
            "of 19000 elements for each of 1 it is made in one pass: its region is not associative: of 5, 2 and 7 it \
             makes 31 or 21, depending on the grouping"
        )
    );
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

/// What 4,096 updates by a region make of 40,000 elements; `more` are attributes.
fn scattered(ty: &str, region: &str, more: &str) -> Module {
    read(&format!(
        "HloModule m\nr {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT r = {ty}[] {region}(a, b)\n}}\nENTRY e {{\n  \
         x = {ty}[40000] parameter(0)\n  i = s32[4096,1] parameter(1)\n  u = {ty}[4096] parameter(2)\n  \
         ROOT s = {ty}[40000] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, \
         index_vector_dim=1, to_apply=r{more}\n}}\n"
    ))
}

#[test]
fn floats_are_scattered_as_they_come_where_that_is_asked_for() {
    let fast = Target::default().with(|target| target.fast_scatter = true);
    let reasons = |module: &Module, target: &Target| {
        let fused = fuse_explained(module, target).unwrap_or_else(|found| panic!("{found}"));
        let kept = fused.decisions.iter().filter(|decision| decision.verdict == Verdict::Kept);
        (kernels(&fused), kept.map(|decision| decision.reason.clone()).collect::<Vec<_>>())
    };
    let sums = scattered("f32", "add", "");
    let (ordered, told) = reasons(&sums, &Target::default());
    assert!(ordered > 1 && told.is_empty(), "{ordered} {told:?}");
    let (kernels, told) = reasons(&sums, &fast);
    assert!(kernels == 1 && told[0].contains("in any order"), "{kernels} {told:?}");
    // A program may say so itself.
    let marked = scattered("f32", "add", ", frontend_attributes={weft_scatter_order=\"any\"}");
    assert_eq!(reasons(&marked, &Target::default()), (1, Vec::new()));
    let broken = fast.clone().with(|target| target.faults.atomics = true);
    for (module, target, why) in [
        (scattered("bf16", "add", ""), &fast, "elements of bf16"),
        (scattered("f32", "divide", ""), &fast, "its region is no sum"),
        (sums, &broken, "no atomics that work"),
    ] {
        let (kernels, told) = reasons(&module, target);
        assert!(kernels > 1 && told[0].contains(why), "{kernels} {told:?}");
    }
}

/// Updates whose indices the text tells are stored, each by itself, where they are all different.
#[test]
fn indices_that_differ_are_proved_to() {
    let module = |indices: &str| {
        read(&format!(
            "HloModule m\nr {{\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT r = bf16[] subtract(b, a)\n}}\nENTRY e {{\n  \
             x = bf16[40,50] parameter(0)\n  u = bf16[20] parameter(1)\n  j = s32[20,1] parameter(2)\n  {indices}\n  \
             ROOT s = bf16[40,50] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0,1}}, \
             scatter_dims_to_operand_dims={{1,0}}, index_vector_dim=1, to_apply=r\n}}\n"
        ))
    };
    let row = "n = s32[20,1] iota(), iota_dimension=0\n  ";
    let spread = "two = s32[] constant(2)\n  t = s32[20,1] broadcast(two), dimensions={}\n  m = s32[20,1] multiply(n, t)\n  \
                  one = s32[] constant(1)\n  o = s32[20,1] broadcast(one), dimensions={}\n  k = s32[20,1] add(m, o)\n  ";
    let wrapped = "h = s32[] constant(40)\n  w = s32[20,1] broadcast(h), dimensions={}\n  v = s32[20,1] add(n, w)\n  \
                   nil = s32[] constant(0)\n  z = s32[20,1] broadcast(nil), dimensions={}\n  \
                   lt = pred[20,1] compare(n, z), direction=LT\n  y = s32[20,1] select(lt, v, n)\n  ";
    let constant = |twice: bool| {
        let vector = |row: usize| format!("{{ {}, {} }}", row * row % 7, if twice { row % 6 } else { row });
        let vectors: Vec<String> = (0..20).map(vector).collect();
        format!("i = s32[20,2] constant({{ {} }})", vectors.join(", "))
    };
    let both = |first: &str, second: &str| format!("i = s32[20,2] concatenate({first}, {second}), dimensions={{1}}");
    for (indices, is_apart) in [
        (format!("{row}{}", both("n", "j")), true),
        (format!("{row}{spread}{}", both("j", "k")), true),
        (format!("{row}{wrapped}{}", both("y", "j")), true),
        (both("j", "j"), false),
        (
            format!(
                "{row}five = s32[] constant(5)\n  f = s32[20,1] broadcast(five), dimensions={{}}\n  d = s32[20,1] divide(n, f)\n  {}",
                both("d", "j")
            ),
            false,
        ),
        (constant(false), true),
        (constant(true), false),
    ] {
        let fused = fuse_explained(&module(&indices), &Target::default()).unwrap_or_else(|found| panic!("{found}"));
        let told =
            fused.decisions.iter().any(|decision| decision.reason.starts_with("no two updates are for one element"));
        assert_eq!(told, is_apart, "{indices}");
        assert_eq!(print(&fused.module).contains("unique_indices=true"), is_apart, "{indices}");
    }
}
