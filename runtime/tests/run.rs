//! Programs on a device, compared with the reference evaluator.

use crate::support::{self, compile};
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Module, Scalar};
use weft_partition::Schedule;
use weft_runtime::{Checks, DeviceBuffer, Executable, Options, compile_with};

fn load(module: &Module) -> Executable {
    let device = support::device();
    let program = compile(module, device.target()).expect("the module compiles");
    Executable::new(&device, program).expect("the program loads")
}

fn assert_close(found: &[Literal], expected: &[Literal]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        match (&found.data, &expected.data) {
            (Data::F32(a), Data::F32(b)) => {
                assert_eq!(a.len(), b.len());
                for (a, b) in a.iter().zip(b) {
                    let close = a == b
                        || (a.is_nan() && b.is_nan())
                        || (b.is_finite() && (a - b).abs() <= 1e-5 + 1e-4 * b.abs());
                    assert!(close, "{a} instead of {b}");
                }
            }
            _ => assert_eq!(found.data, expected.data),
        }
    }
}

fn check(module: &Module, inputs: &[Literal]) {
    let expected = weft_hlo::eval::evaluate(module, inputs).expect("the evaluator knows it");
    let executable = load(module);
    for _ in 0..2 {
        assert_close(&executable.run(inputs).expect("it runs"), &expected);
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|position| ((position * 37 % 101) as f32 - 50.0) / 8.0).collect()
}

#[test]
fn many_small_tensors_of_one_buffer_keep_their_values() {
    let module = support::module(&crate::program::many_small(12));
    let device = support::device();
    let program = compile(&module, device.target()).expect("the module compiles");
    assert!(!program.arenas().is_empty(), "{program}");
    check(&module, &[Literal::array([64, 4], numbers(256))]);
}

#[test]
fn all_four_types_come_and_go() {
    let module = support::entry(
        "a = f32[5] parameter(0)\nb = s32[5] parameter(1)\nc = u32[5] parameter(2)\nd = pred[5] parameter(3)\n\
         na = f32[5] negate(a)\nnb = s32[5] negate(b)\ncc = u32[5] multiply(c, c)\nnd = pred[5] not(d)\n\
         s = f32[5] select(d, a, na)\n\
         ROOT r = (f32[5], s32[5], u32[5], pred[5]) tuple(s, nb, cc, nd)",
    );
    let inputs = [
        Literal::array([5], vec![1.0f32, -2.0, 0.5, 3.0, -0.0]),
        Literal::array([5], vec![1i32, -2, 3, i32::MAX, i32::MIN]),
        Literal::array([5], vec![1u32, 2, 3, 70_000, u32::MAX]),
        Literal::array([5], vec![true, false, true, false, false]),
    ];
    check(&module, &inputs);
}

#[test]
fn results_may_be_parameters_constants_and_each_other() {
    let module = support::entry(
        "x = f32[4] parameter(0)\nc = f32[2] constant({1, 2})\nk = pred[] constant(true)\ny = f32[4] add(x, x)\n\
         ROOT r = (f32[4], f32[2], f32[4], f32[4], pred[]) tuple(x, c, y, y, k)",
    );
    check(&module, &[Literal::array([4], numbers(4))]);
}

#[test]
fn a_program_may_launch_nothing() {
    check(&support::entry("ROOT x = s32[3] parameter(0)"), &[Literal::array([3], vec![1i32, 2, 3])]);
    check(&support::entry("ROOT c = s32[3] constant({4, 5, 6})"), &[]);
    check(&support::entry("ROOT t = () tuple()"), &[]);
}

#[test]
fn empty_tensors_run() {
    let module = support::module(
        "HloModule empty\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n\
         ENTRY main {\n x = f32[3,0] parameter(0)\n zero = f32[] constant(2)\n y = f32[3,0] negate(x)\n\
         \x20r = f32[3] reduce(x, zero), dimensions={1}, to_apply=add\n\
         \x20ROOT t = (f32[3,0], f32[3], f32[3,0]) tuple(y, r, x)\n}\n",
    );
    check(&module, &[Literal::array([3, 0], Vec::<f32>::new())]);
}

#[test]
fn tuples_are_flattened_on_both_sides() {
    let module = support::entry(
        "p = (f32[2], (s32[], f32[2])) parameter(0)\na = f32[2] get-tuple-element(p), index=0\n\
         q = (s32[], f32[2]) get-tuple-element(p), index=1\nb = f32[2] get-tuple-element(q), index=1\n\
         n = s32[] get-tuple-element(q), index=0\nd = f32[2] subtract(a, b)\n\
         i = (f32[2], s32[]) tuple(d, n)\nROOT r = ((f32[2], s32[]), f32[2]) tuple(i, a)",
    );
    let inputs = [
        Literal::array([2], vec![5.0f32, 7.0]),
        Literal::array([], vec![9i32]),
        Literal::array([2], vec![1.0f32, 1.5]),
    ];
    check(&module, &inputs);
}

#[test]
fn hundreds_of_launches_run() {
    let steps = 320;
    let mut text = String::from(
        "HloModule chain\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n\
         ENTRY main {\n x0 = f32[4,8] parameter(0)\n low = f32[] constant(-inf)\n",
    );
    for step in 0..steps {
        let root = if step + 1 == steps { "ROOT " } else { "" };
        text += &format!(
            " m{step} = f32[4] reduce(x{step}, low), dimensions={{1}}, to_apply=max\n\
             \x20b{step} = f32[4,8] broadcast(m{step}), dimensions={{0}}\n\
             \x20{root}x{} = f32[4,8] subtract(b{step}, x{step})\n",
            step + 1
        );
    }
    let module = support::module(&(text + "}\n"));
    // Elsewhere a few of them may be one kernel.
    let device = support::device();
    let target = device.target().clone().with(|target| target.schedule = Some(Schedule::Software));
    let program = compile(&module, &target).expect("the module compiles");
    let executable = Executable::new(&device, program).expect("the program loads");
    assert!(executable.program().launches().count() >= steps);
    let input = Literal::array([4, 8], numbers(32));
    let expected = weft_hlo::eval::evaluate(&module, std::slice::from_ref(&input)).expect("the evaluator knows it");
    assert_close(&executable.run(&[input]).expect("it runs"), &expected);
}

#[test]
fn results_stay_on_the_device_between_runs() {
    let module = support::entry("x = f32[1000] parameter(0)\nROOT y = f32[1000] add(x, x)");
    let executable = load(&module);
    let start = Literal::array([1000], numbers(1000));
    let mut held = DeviceBuffer::upload(executable.device(), &start).expect("it fits");
    for _ in 0..4 {
        held = executable.execute(&[held]).expect("it runs").swap_remove(0);
    }
    let expected = numbers(1000).into_iter().map(|value| value * 16.0).collect::<Vec<f32>>();
    assert_eq!(held.download(), Ok(Literal::array([1000], expected)));
}

#[test]
fn one_executable_runs_from_many_threads() {
    let module = support::entry("x = s32[256] parameter(0)\nROOT y = s32[256] multiply(x, x)");
    let executable = load(&module);
    std::thread::scope(|scope| {
        for thread in 0..4i32 {
            let executable = &executable;
            scope.spawn(move || {
                for round in 0..64 {
                    let value = thread * 100 + round;
                    let results = executable.run(&[Literal::array([256], vec![value; 256])]).expect("it runs");
                    assert_eq!(results[0].data, Data::S32(vec![value * value; 256]));
                }
            });
        }
    });
}

#[test]
fn equal_kernels_share_a_pipeline() {
    let module = support::entry("x = f32[16] parameter(0)\nROOT y = f32[16] negate(x)");
    let device = support::device();
    let program = compile(&module, device.target()).expect("it compiles");
    let [first, second] = [(); 2].map(|()| Executable::new(&device, program.clone()).expect("it loads"));
    let input = Literal::array([16], numbers(16));
    assert_eq!(first.run(std::slice::from_ref(&input)), second.run(std::slice::from_ref(&input)));
    device.trim();
    assert!(first.run(&[input]).is_ok(), "an executable keeps its pipelines");
}

#[test]
fn a_tensor_given_twice_is_bound_once() {
    let text = "HloModule m\nf {\n  a = f32[6,4] parameter(0)\n  b = f32[6,4] parameter(1)\n  c = f32[4] parameter(2)\n  \
        d = f32[6,4] parameter(3)\n  r = f32[6,4] reverse(b), dimensions={0}\n  s = f32[6,4] subtract(a, r)\n  \
        w = f32[6,4] broadcast(c), dimensions={1}\n  t = f32[6,4] multiply(s, w)\n  ROOT u = f32[6,4] subtract(t, d)\n}\n\
        ENTRY e {\n  x = f32[6,4] parameter(0)\n  y = f32[4] parameter(1)\n  \
        ROOT z = f32[6,4] fusion(x, x, y, x), kind=kLoop, calls=f\n}\n";
    let module = weft_hlo::text::parse(text).expect("the text is right");
    let device = support::device();
    let fused = weft_partition::Fused::of(module.clone(), device.target()).expect("it has a plan");
    let program =
        weft_runtime::program::compile_fused(fused, device.target(), &Options::default()).expect("it compiles");
    assert_eq!(program.launches().map(|launch| launch.inputs.len()).sum::<usize>(), 2);
    let executable = Executable::new(&device, program).expect("it loads");
    let inputs = [Literal::array([6, 4], numbers(24)), Literal::array([4], vec![1.0f32, -2.0, 0.5, 3.0])];
    let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
    assert_close(&executable.run(&inputs).expect("it runs"), &expected);
}

#[test]
fn wrong_inputs_are_named() {
    let executable = load(&support::entry("x = f32[2,3] parameter(0)\nROOT y = f32[2,3] negate(x)"));
    let error = executable.run(&[]).expect_err("one is missing");
    assert_eq!(error.to_string(), "RUN030: the program takes 1 inputs, 0 were given");
    let error = executable.run(&[Literal::array([3, 2], vec![0.0f32; 6])]).expect_err("it is turned");
    assert_eq!(error.to_string(), "RUN031: parameter 0 (x) is f32[2,3], f32[3,2] was given");
    let error = executable.run(&[Literal::array([2, 3], vec![0i32; 6])]).expect_err("it is of another type");
    assert_eq!(error.to_string(), "RUN031: parameter 0 (x) is f32[2,3], s32[2,3] was given");
    let mut liar = Literal::array([2, 3], vec![0.0f32; 6]);
    liar.data = Data::F32(vec![0.0]);
    assert!(executable.run(&[liar]).is_err(), "shape and elements disagree");
}

#[test]
fn a_bitcast_may_change_the_type() {
    let module = support::entry(
        "  x = f32[2,3]{0,1} parameter(0)\n  a = s32[6] bitcast(x)\n  b = u32[6] bitcast(a)\n  c = f32[6] bitcast(b)\n  \
         n = s32[] constant(2143289344)\n  m = f32[] bitcast(n)\n  \
         ROOT r = (s32[6], u32[6], f32[6], f32[]) tuple(a, b, c, m)",
    );
    let values = vec![1.5f32, -0.0, f32::INFINITY, 1e-3, -7.25, 3e30];
    let inputs = [Literal::array([2, 3], values)];
    let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
    let found = load(&module).run(&inputs).expect("it runs");
    assert_eq!(found, expected);
}

#[test]
fn bits_are_converted_alike_with_and_without_passes() {
    let module = support::entry(
        "  x = f32[6] parameter(0)\n  a = s32[6] bitcast-convert(x)\n  n = s32[6] negate(a)\n  \
         b = u32[6] bitcast-convert(n)\n  c = f32[6] bitcast-convert(a)\n  \
         ROOT r = (s32[6], u32[6], f32[6]) tuple(a, b, c)",
    );
    let inputs = [Literal::array([6], vec![1.5f32, -0.0, f32::INFINITY, 1e-3, -7.25, 3e30])];
    let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
    let device = support::device();
    for optimize in [true, false] {
        let program = compile_with(&module, device.target(), &Options { optimize, host: false, ..Options::default() })
            .expect("the module compiles");
        let executable = Executable::new(&device, program).expect("the program loads");
        assert_eq!(executable.run(&inputs).expect("it runs"), expected, "{optimize}");
    }
}

#[test]
fn a_bitcast_of_tiles_is_refused() {
    let module = support::entry("  x = f32[8,128]{1,0:T(8,128)} parameter(0)\n  ROOT a = f32[1024]{0} bitcast(x)");
    let error = compile(&module, support::device().target()).expect_err("tiles are not known to maps");
    assert!(error.to_string().contains("tiled"), "{error}");
}

/// Starts out of range are clamped by the kernel itself, so a kernel without checks at run time reads what one with them reads.
#[test]
fn checks_that_proofs_stand_for_make_no_difference() {
    let module = support::entry(
        "  x = f32[5,7] parameter(0)\n  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n  \
         ROOT s = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}",
    );
    let device = support::device();
    let program = std::sync::Arc::new(compile(&module, device.target()).expect("the module compiles"));
    assert!(program.shaders().iter().all(|shader| shader.proofs().are_complete()));
    let x = Literal::array([5, 7], (0..35u8).map(f32::from).collect::<Vec<_>>());
    for (i, j) in [(0, 0), (3, 4), (4, 6), (-1, 1_000_000), (i32::MIN, i32::MAX)] {
        let inputs = [x.clone(), Literal::scalar(Scalar::S32(i)), Literal::scalar(Scalar::S32(j))];
        let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
        for checks in [Checks::Unproved, Checks::All] {
            let executable = Executable::with_checks(&device, program.clone(), checks).expect("the program loads");
            assert_eq!(executable.run(&inputs).expect("it runs"), expected, "{i}, {j}: {checks:?}");
        }
    }
}

/// From 2^20 elements on an invocation of a software device computes several: ragged ends, outputs of several sizes, none read
/// or written twice.
#[test]
fn invocations_compute_several_elements() {
    let device = support::device();
    for (rows, columns) in [(1_048_583, 1), (1 << 10, 1 << 10), (1023, 1031)] {
        let module = support::entry(&format!(
            "  x = s32[{rows},{columns}] parameter(0)\n  b = s32[{columns}] parameter(1)\n  \
             c = s32[{rows},{columns}] broadcast(b), dimensions={{1}}\n  s = s32[{rows},{columns}] add(x, c)\n  \
             r = s32[{rows},{columns}] reverse(s), dimensions={{0}}\n  h = s32[1,{columns}] slice(r), slice={{[0:1], [0:{columns}]}}\n  \
             ROOT t = (s32[{rows},{columns}], s32[1,{columns}]) tuple(r, h)"
        ));
        let count = i32::try_from(rows * columns).expect("it is small");
        let x = Literal::array(
            [rows, columns],
            (0..count).map(|i| i.wrapping_mul(0x9E37_79B1_u32 as i32)).collect::<Vec<_>>(),
        );
        let b = Literal::array([columns], (0..i32::try_from(columns).expect("it is small")).collect::<Vec<_>>());
        let expected = weft_hlo::eval::evaluate(&module, &[x.clone(), b.clone()]).expect("the evaluator knows it");
        let program = compile(&module, device.target()).expect("the module compiles");
        let is_several = |shader: &weft_codegen_wgsl::Shader| {
            i64::from(shader.workgroups[0]) * i64::from(shader.workgroup_size[0]) < rows * columns
        };
        let is_software = device.target().kind == weft_partition::DeviceKind::Software;
        assert!(!is_software || program.shaders().iter().any(is_several));
        assert!(program.shaders().iter().all(|shader| shader.proofs().are_complete()), "{rows} by {columns}");
        let found = Executable::new(&device, program).expect("the program loads").run(&[x, b]).expect("it runs");
        assert_eq!(found, expected, "{rows} by {columns}");
    }
}

/// A region may apply another, before or after something else applies that one.
#[test]
fn regions_apply_regions() {
    let module = support::module(
        "HloModule nested
        twice { a = s32[] parameter(0)\nROOT r = s32[] add(a, a) }
        next { a = s32[] parameter(0)\none = s32[] constant(1)\nb = s32[] map(a), dimensions={}, to_apply=twice
          ROOT r = s32[] add(b, one) }
        fold { a = s32[] parameter(0)\nb = s32[] parameter(1)\nc = s32[] map(b), dimensions={}, to_apply=next
          ROOT r = s32[] add(a, c) }
        ENTRY main {
          x = s32[7,9] parameter(0)
          zero = s32[] constant(0)
          t = s32[7,9] map(x), dimensions={0,1}, to_apply=twice
          n = s32[7,9] map(t), dimensions={0,1}, to_apply=next
          m = s32[7,9] map(n), dimensions={0,1}, to_apply=twice
          ROOT s = s32[7] reduce(m, zero), dimensions={1}, to_apply=fold
        }",
    );
    check(&module, &[Literal::array([7, 9], (0..63).collect::<Vec<i32>>())]);
}

/// Elements that the caller holds go to the device and come back without a literal, of every width.
#[test]
fn bytes_of_the_caller_come_and_go() {
    let device = support::device();
    let module = support::entry("x = f32[3] parameter(0)\nROOT y = f32[3] add(x, x)");
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    let shape = ArrayShape::new(ElementType::F32, [3]);
    let numbers: Vec<u8> = [1.5f32, -2.0, 3.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
    let x = DeviceBuffer::upload_bytes(&device, &shape, &numbers).unwrap_or_else(|error| panic!("{error}"));
    let y = executable.execute(&[x]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let mut found = [0u8; 12];
    y.download_into(&mut found).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<f32> =
        found.chunks(4).map(|word| f32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
    assert_eq!(found, [3.0, -4.0, 6.0]);
    for (element_type, bytes) in [
        (ElementType::S4, vec![0xf9u8, 0x07, 0xff]),
        (ElementType::U8, vec![1, 2, 250]),
        (ElementType::U64, vec![7; 24]),
    ] {
        let shape = ArrayShape::new(element_type, [3]);
        let tensor = DeviceBuffer::upload_bytes(&device, &shape, &bytes).unwrap_or_else(|error| panic!("{error}"));
        let mut found = vec![0u8; bytes.len()];
        tensor.download_into(&mut found).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, bytes, "{element_type}");
        assert!(DeviceBuffer::upload_bytes(&device, &shape, &bytes[1..]).is_err_and(|error| error.code() == "RUN002"));
        assert!(tensor.download_into(&mut found[1..]).is_err_and(|error| error.code() == "RUN002"));
    }
}
