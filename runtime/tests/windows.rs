//! Tensors larger than what a kernel may bind, against the evaluator.

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ElementType, Literal, Module, Opcode};
use weft_hlo::random::{Options, inputs, module};
use weft_hlo::text::print;
use weft_partition::{DeviceKind, Target};
use weft_runtime::{Device, Executable, Program};

/// As the device, but that kernels bind so many bytes of a buffer.
fn narrow(device: &Device, bytes: u64) -> Target {
    device.target().clone().with(|target| target.max_storage_binding_bytes = bytes)
}

/// Compiles a module, runs it twice, and compares; or why that is refused.
fn check(device: &Device, target: &Target, module: &Module, arguments: &[Literal]) -> Result<Program, String> {
    let program = compile(module, target).map_err(|error| error.to_string())?;
    let text = print(module);
    // Windows leave nothing unproved that is proved without them.
    let whole = target.clone().with(|it| it.max_storage_binding_bytes = it.max_buffer_bytes);
    let whole = compile(module, &whole).map_err(|error| error.to_string())?;
    let known: Vec<_> = whole.shaders().iter().flat_map(|shader| &shader.proofs().unproved).collect();
    for shader in program.shaders() {
        for unproved in &shader.proofs().unproved {
            assert!(known.contains(&unproved), "{unproved}\n{}\n{text}", shader.source);
        }
        for binding in &shader.bindings {
            let bytes = |words: u64| words * 4;
            let most = binding.windows.iter().map(|window| bytes(window.end - window.start)).max();
            assert!(binding.uniform || most.unwrap_or(0) <= target.max_storage_binding_bytes, "{binding:?}\n{text}");
        }
    }
    let expected = evaluate(module, arguments).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let executable = Executable::new(device, program.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for _ in 0..2 {
        let results = executable.run(arguments).unwrap_or_else(|error| panic!("{error}\n{program}\n{text}"));
        for (result, expected) in results.iter().zip(&expected) {
            assert_eq!(result.data, expected.data, "{program}\n{text}");
        }
    }
    Ok(program)
}

/// The arguments of a module: integers.
fn arguments(module: &Module) -> Vec<Literal> {
    inputs(module, 1, &integers())
}

/// The program of some instructions for a target on which kernels bind 4 KiB, and the dispatches of each of its launches.
fn windows(instructions: &str, kind: DeviceKind) -> Result<(Program, Vec<u32>), String> {
    let device = support::device();
    let add = "add {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] add(x, y)\n}\n";
    let module = support::module(&format!("HloModule test\n{add}ENTRY main {{\n{instructions}\n}}\n"));
    let target = narrow(&device, 4096).with(|target| {
        target.kind = kind;
        target.max_storage_buffers = target.max_storage_buffers.min(16);
    });
    let program = check(&device, &target, &module, &arguments(&module))?;
    let dispatches = program.launches().map(|launch| launch.windows).collect();
    Ok((program, dispatches))
}

const KINDS: [DeviceKind; 2] = [DeviceKind::Software, DeviceKind::Discrete];

#[test]
fn elements_are_computed_window_by_window() {
    for kind in KINDS {
        let text = "a = s32[5000] parameter(0)\nb = s32[5000] parameter(1)\nROOT c = s32[5000] subtract(a, b)";
        let (program, dispatches) = windows(text, kind).unwrap();
        assert_eq!(dispatches, [5], "{program}");
        let shader = &program.shaders()[0];
        for binding in &shader.bindings {
            let firsts: Vec<u64> = binding.windows.iter().map(|window| window.start).collect();
            assert_eq!(firsts, [0, 1024, 2048, 3072, 4096], "{program}");
        }
        // Elements that lie side by side are vectors still.
        assert_eq!(shader.source.contains("vec4<i32>"), kind == DeviceKind::Software, "{}", shader.source);
    }
}

#[test]
fn operands_have_windows_where_indices_allow() {
    let cases = [
        "r = s32[70] parameter(0)\nROOT c = s32[70,90] broadcast(r), dimensions={0}",
        "r = s32[90] parameter(0)\nROOT c = s32[70,90] broadcast(r), dimensions={1}",
        "r = s32[2000] parameter(0)\nROOT c = s32[2000,3] broadcast(r), dimensions={0}",
        "a = s32[90,100] parameter(0)\nROOT c = s32[70,100] slice(a), slice={[11:81], [0:100]}",
        "a = s32[90,100] parameter(0)\nROOT c = s32[70,80] slice(a), slice={[11:81], [5:85]}",
        "a = s32[90,100] parameter(0)\nROOT c = s32[30,100] slice(a), slice={[0:90:3], [0:100]}",
        "a = s32[90,100] parameter(0)\nROOT c = s32[3,10] slice(a), slice={[40:43], [5:15]}",
        "a = s32[9000] parameter(0)\nn = s32[9000] negate(a)\nROOT c = s32[30,30,10] reshape(n)",
        "a = s32[9000] parameter(0)\nROOT c = s32[9000] reverse(a), dimensions={0}",
        "a = s32[64,10,10] parameter(0)\nROOT c = s32[64,10,10] transpose(a), dimensions={0,2,1}",
        "a = s32[64,100] parameter(0)\nb = s32[30,100] parameter(1)\nz = s32[] constant(7)\n\
         c = s32[94,100] concatenate(a, b), dimensions={0}\nROOT p = s32[100,100] pad(c, z), padding=4_2x0_0",
        "a = s32[64,100] parameter(0)\nz = s32[] constant(0)\nROOT r = s32[64] reduce(a, z), dimensions={1}, to_apply=add",
        "a = s32[5000,3] parameter(0)\nz = s32[] constant(0)\n\
         ROOT r = s32[5000] reduce(a, z), dimensions={1}, to_apply=add",
        "ROOT i = s32[100,80] iota(), iota_dimension=0",
        "a = s32[6000] parameter(0)\ns = s32[] parameter(1)\nt = s32[6000] broadcast(s), dimensions={}\n\
         u = s32[6000] multiply(a, t)\nv = s32[6000] add(u, a)\n\
         ROOT w = (s32[6000], s32[6000]) tuple(u, v)",
    ];
    for text in cases {
        for kind in KINDS {
            let (program, dispatches) = windows(text, kind).unwrap_or_else(|why| panic!("{why}\n{text}"));
            let shaders = program.shaders();
            let has_windows = shaders.iter().flat_map(|shader| &shader.bindings).any(|it| !it.windows.is_empty());
            assert!(has_windows, "{program}");
            assert!(dispatches.iter().all(|count| *count < 100), "{program}");
            assert!(program.to_string().contains(" by "), "{program}");
            assert!(program.explanation().contains("a kernel may bind 4096 bytes"), "{program}");
        }
    }
}

/// One text for windows of tensors of different sizes.
#[test]
fn equal_kernels_have_their_own_windows() {
    let text = "a = s32[4096] parameter(0)\nn = s32[4096] negate(a)\nb = s32[3072] parameter(1)\nm = s32[3072] negate(b)\n\
                ROOT t = (s32[4096], s32[3072]) tuple(n, m)";
    for kind in KINDS {
        let (program, dispatches) = windows(text, kind).unwrap();
        assert!(dispatches.iter().sum::<u32>() >= 4, "{program}");
    }
}

/// Of each the least number of bindings that a kernel has.
#[test]
fn what_is_used_everywhere_is_bound_in_parts() {
    let cases = [
        ("a = s32[64,100] parameter(0)\nROOT c = s32[100,64] transpose(a), dimensions={1,0}", 8),
        (
            "a = s32[64,100] parameter(0)\nz = s32[] constant(0)\n\
             ROOT r = s32[100] reduce(a, z), dimensions={0}, to_apply=add",
            8,
        ),
        (
            "t = s32[500,8] parameter(0)\ni = s32[90,1] parameter(1)\n\
             ROOT g = s32[90,8] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
             index_vector_dim=1, slice_sizes={1,8}",
            6,
        ),
        (
            "t = s32[1500] parameter(0)\ni = s32[1500,1] parameter(1)\n\
             g = s32[1500] gather(t, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, \
             index_vector_dim=1, slice_sizes={1}\nr = s32[1500] reverse(t), dimensions={0}\n\
             ROOT s = s32[1500] add(g, r)",
            4,
        ),
        (
            "t = s16[50,60] parameter(0)\nu = s16[60,50] transpose(t), dimensions={1,0}\n\
             ROOT c = s32[60,50] convert(u)",
            3,
        ),
        ("t = pred[99,99] parameter(0)\nROOT u = pred[99,99] transpose(t), dimensions={1,0}", 4),
        ("t = s64[31,33] parameter(0)\nROOT u = s64[33,31] transpose(t), dimensions={1,0}", 3),
        (
            "t = s32[3000] parameter(0)\ns = s32[] parameter(1)\n\
             ROOT d = s32[900] dynamic-slice(t, s), dynamic_slice_sizes={900}",
            5,
        ),
    ];
    for (text, bindings) in cases {
        for kind in KINDS {
            let (program, _) = windows(text, kind).unwrap_or_else(|why| panic!("{why}\n{text}"));
            let most = program.shaders().iter().map(|shader| shader.bindings.len()).max();
            assert!(most >= Some(bindings), "{program}");
        }
    }
}

#[test]
fn what_has_more_parts_than_bindings_is_refused() {
    let text = "a = s32[64,1000] parameter(0)\nROOT c = s32[1000,64] transpose(a), dimensions={1,0}";
    let why = windows(text, DeviceKind::Discrete).unwrap_err();
    assert!(why.starts_with("HLO417") && why.contains("4096 bytes") && why.contains("bindings"), "{why}");
}

fn integers() -> Options {
    let mut options = Options { instructions: 8, elements: 3000, ..Options::computed() };
    options.types = vec![ElementType::S32, ElementType::U32, ElementType::Pred];
    options.operations = vec![
        Opcode::Add,
        Opcode::Multiply,
        Opcode::Compare,
        Opcode::Select,
        Opcode::Negate,
        Opcode::Iota,
        Opcode::Broadcast,
        Opcode::Reshape,
        Opcode::Slice,
        Opcode::Concatenate,
        Opcode::Pad,
        Opcode::Reverse,
        Opcode::Reduce,
        Opcode::Transpose,
        Opcode::DynamicSlice,
        Opcode::DynamicUpdateSlice,
    ];
    options
}

#[test]
fn modules_agree_with_the_evaluator() {
    let device = support::device();
    let (mut windowed, mut refused, mut report) = (0, 0, String::new());
    let (first, count) = (700_000 + first_seed(), cases(200));
    for seed in first..first + count {
        let module = module(seed, &integers());
        let arguments = inputs(&module, seed, &integers());
        let kind = KINDS[usize::from(seed % 2 == 0)];
        // Few enough bindings for parts to be few.
        let buffers = device.target().max_storage_buffers.min(12);
        let target = narrow(&device, 512).with(|it| (it.kind, it.max_storage_buffers) = (kind, buffers));
        match check(&device, &target, &module, &arguments) {
            Ok(program) => windowed += u64::from(program.launches().any(|launch| launch.windows > 1)),
            Err(why) if why.contains("512 bytes") => refused += 1,
            Err(why) => writeln!(report, "seed {seed}: {why}\n{}", print(&module)).unwrap(),
        }
    }
    assert!(report.is_empty(), "{report}");
    println!("{windowed} with windows, {refused} refused, of {count}");
    assert!(windowed * 10 >= count, "{windowed} of {count} modules have windows, {refused} are refused");
}

/// Positions in what is never in memory may be numbers of any size: they are divided as two words.
#[test]
fn positions_beyond_32_bits_are_divided_as_two_words() {
    let device = support::device();
    // The element at position 1000000007 i + 5 of an array of 10^12 elements, where each of 1009 is repeated.
    let module = support::entry(
        "  p = s32[1009] parameter(0)
  b = s32[1048583,1009,1013] broadcast(p), dimensions={1}
  r = s32[1071774510211] reshape(b)
  s = s32[1072] slice(r), slice={[5:1071774510211:1000000007]}
  ROOT c = s32[1072] reverse(s), dimensions={0}",
    );
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    assert!(program.shaders().iter().any(|shader| shader.source.contains("divide_wide")), "{program}");
    let values: Vec<i32> = (0..1009).map(|value| value * value).collect();
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    let results = executable.run(&[Literal::array([1009], values.clone())]).unwrap_or_else(|error| panic!("{error}"));
    let at = |i: u64| values[usize::try_from((1_000_000_007 * i + 5) / 1013 % 1009).unwrap()];
    let expected: Vec<i32> = (0..1072).rev().map(at).collect();
    assert_eq!(results, [Literal::array([1072], expected)]);
}

/// A tensor that no buffer holds lies with the host, between the instructions that make and read it.
#[test]
fn what_takes_more_than_a_buffer_the_host_computes() {
    let text = "HloModule m
        add {
            x = s32[] parameter(0)
            y = s32[] parameter(1)
            ROOT z = s32[] add(x, y)
        }
        ENTRY main {
            a = s32[64,8] parameter(0)
            b = s32[8,64] parameter(1)
            n = s32[64,8] negate(a)
            d = s32[64,64] dot(n, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
            zero = s32[] constant(0)
            r = s32[64] reduce(d, zero), dimensions={1}, to_apply=add
            ROOT m = s32[64] multiply(r, r)
        }";
    let device = support::device();
    let target = narrow(&device, 8192).with(|target| target.max_buffer_bytes = 8192);
    let module = support::module(text);
    let program = weft_runtime::compile(&module, &target).unwrap_or_else(|error| panic!("{error}"));
    let reasons: Vec<String> =
        program.host_steps().flat_map(|host| &host.reasons).map(|reason| reason.to_string()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("RUN001")), "{reasons:?}\n{program}");
    assert!(program.buffers().iter().all(|buffer| buffer.bytes <= 8192), "{program}");
    let arguments = arguments(&module);
    let results = Executable::new(&device, program).unwrap().run(&arguments).unwrap();
    assert_eq!(results[0].data, evaluate(&module, &arguments).unwrap()[0].data);
    // What is given or returned has to lie in a buffer.
    let returned = text.replace("ROOT m", "m").replace("d = s32[64,64]", "ROOT d = s32[64,64]");
    let error = weft_runtime::compile(&support::module(&returned), &target).expect_err("the result has no room");
    assert_eq!(error.code(), "RUN001", "{error}");
}
