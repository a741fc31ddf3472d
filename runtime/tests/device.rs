//! Devices answer with errors, never with panics.

use crate::support::{self, compile};
use std::borrow::Cow;
use weft_hlo::ir::{ArrayShape, ElementType, Literal};
use weft_partition::{DeviceKind, Target};
use weft_runtime::{Device, DeviceBuffer, DeviceOptions, Error, Executable, Selection};

fn scoped<T>(device: &Device, work: impl FnOnce(&Device) -> T) -> Result<T, Error> {
    pollster::block_on(device.scoped("testing", work))
}

fn shader(device: &Device, source: &str) -> Result<wgpu::ShaderModule, Error> {
    scoped(device, |device| {
        let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(source));
        device.wgpu_device().create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
    })
}

#[test]
fn text_that_is_no_shader_is_an_error() {
    for device in [support::noop(), support::device()] {
        let error = shader(&device, "fn main( {").expect_err("this is no WGSL");
        assert_eq!(error.code(), "RUN020", "{error}");
        let error = shader(&device, "fn f() -> u32 { return 1.5; }").expect_err("the types differ");
        assert_eq!(error.code(), "RUN020", "{error}");
        shader(&device, "fn f() -> u32 { return 1u; }").expect("the device still works after errors");
    }
}

#[test]
fn a_buffer_beyond_the_limits_is_an_error() {
    for device in [support::noop(), support::device()] {
        let create = |device: &Device| {
            device.wgpu_device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: device.target().max_buffer_bytes + 256,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        };
        let error = scoped(&device, create).expect_err("the buffer is too large");
        assert_eq!(error.code(), "RUN020", "{error}");
    }
}

#[test]
fn a_lost_device_is_an_error() {
    let device = support::device();
    let program = compile(&support::entry("x = f32[2] parameter(0)\nROOT y = f32[2] add(x, x)"), device.target());
    let executable = Executable::new(&device, program.expect("an addition compiles")).expect("it loads");
    let input = Literal::array([2], vec![1.0f32, 2.0]);
    let held = DeviceBuffer::upload(&device, &input).expect("the device works");
    device.wgpu_device().destroy();
    let codes = [
        executable.run(&[input]).expect_err("the device is gone").code(),
        executable.execute(std::slice::from_ref(&held)).expect_err("the device is gone").code(),
        held.download().expect_err("the device is gone").code(),
    ];
    assert!(codes.iter().all(|code| code.starts_with("RUN02")), "{codes:?}");
}

#[test]
fn what_is_not_there_is_named() {
    let error = Device::new(&Selection::Name("no such device".into())).expect_err("nothing is called that");
    assert!(matches!(error, Error::AdapterNotFound { .. } | Error::NoAdapter(_)), "{error}");
    let error = Device::new(&Selection::Index(1000)).expect_err("there are fewer");
    assert!(error.to_string().contains("number 1000") || matches!(error, Error::NoAdapter(_)), "{error}");
}

#[test]
fn tensors_go_to_the_device_and_back() {
    let device = support::device();
    for literal in [
        Literal::array([2, 2], vec![1.0f32, -0.0, f32::NAN, f32::INFINITY]),
        Literal::array([3], vec![i32::MIN, 0, i32::MAX]),
        Literal::array([1], vec![u32::MAX]),
        Literal::array([5], vec![true, false, true, true, false]),
        Literal::array([], vec![7i32]),
        Literal::array([3, 0], Vec::<f32>::new()),
    ] {
        let buffer = DeviceBuffer::upload(&device, &literal).expect("it fits");
        assert_eq!(buffer.download(), Ok(literal));
    }
}

#[test]
fn buffers_of_others_are_checked() {
    let device = support::device();
    let buffer = |size, usage| {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        device.wgpu_device().create_buffer(&descriptor)
    };
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let shape = ArrayShape::new(ElementType::U32, [3]);
    assert!(DeviceBuffer::from_wgpu(&device, buffer(12, usage), shape.clone()).is_err());
    assert!(DeviceBuffer::from_wgpu(&device, buffer(16, wgpu::BufferUsages::COPY_SRC), shape.clone()).is_err());
    let exact = buffer(16, usage);
    device.wgpu_queue().write_buffer(&exact, 0, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let exact = DeviceBuffer::from_wgpu(&device, exact, shape).expect("it is large enough");

    let program = support::entry("x = u32[3] parameter(0)\nROOT y = u32[3] add(x, x)");
    let program = compile(&program, device.target()).expect("an addition compiles");
    let executable = Executable::new(&device, program).expect("it loads");
    let results = executable.execute(&[exact]).expect("it runs on a buffer with no room to spare");
    assert_eq!(results[0].download(), Ok(Literal::array([3], vec![2u32, 4, 6])));

    let table = ArrayShape::new(ElementType::F32, [4]);
    let text = "t = f32[4] parameter(0)\ni = s32[64] iota(), iota_dimension=0\nr = s32[64,1] reshape(i)\n\
                ROOT y = f32[64] gather(t, r), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, \
                index_vector_dim=1, slice_sizes={1}";
    let target = device.target().clone().with(|target| target.kind = DeviceKind::Software);
    let program = compile(&support::entry(text), &target).expect("it compiles");
    assert!(program.shaders()[0].bindings[0].uniform, "{}", program.shaders()[0].source);
    let reads = Executable::new(&device, program).expect("it loads");
    let stored = DeviceBuffer::from_wgpu(&device, buffer(16, usage), table.clone()).expect("it is large enough");
    let refused = reads.execute(&[stored]).expect_err("it cannot be a uniform");
    let reason = "reads input 0 as a uniform, and its buffer lacks the usage UNIFORM";
    assert!(refused.code() == "RUN020" && refused.to_string().contains(reason), "{refused}");
    let both = buffer(16, usage | wgpu::BufferUsages::UNIFORM);
    let both = DeviceBuffer::from_wgpu(&device, both, table).expect("it is large enough");
    reads.execute(&[both]).expect("it runs on a uniform with no room to spare");

    let elsewhere = support::device();
    let foreign = DeviceBuffer::upload(&elsewhere, &Literal::array([3], vec![0u32; 3])).expect("it fits");
    assert_eq!(executable.execute(&[foreign]).expect_err("it lies elsewhere").code(), "RUN032");
}

#[test]
fn a_failed_read_leaves_nothing_mapped_behind() {
    let device = support::device();
    let usage = wgpu::BufferUsages::STORAGE;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 256, usage, mapped_at_creation: false };
    let buffer = device.wgpu_device().create_buffer(&descriptor);
    let shape = ArrayShape::new(ElementType::U32, [3]);
    let unreadable = DeviceBuffer::from_wgpu(&device, buffer, shape).expect("kernels can use it");
    let literal = Literal::array([3], vec![1u32, 2, 3]);
    let held = DeviceBuffer::upload(&device, &literal).expect("it fits");
    for _ in 0..3 {
        assert_eq!(unreadable.download().expect_err("it cannot be copied from").code(), "RUN020");
        assert_eq!(held.download().as_ref(), Ok(&literal), "the next read is not given a buffer that is still mapped");
    }
}

#[test]
fn a_program_for_a_larger_device_is_refused() {
    let device = support::noop();
    let target = device.target().clone().with(|target| target.max_storage_buffers = 1000);
    let program = compile(&support::entry("x = f32[2] parameter(0)\nROOT y = f32[2] add(x, x)"), &target);
    let error = Executable::new(&device, program.expect("it compiles")).expect_err("it asks for too much");
    assert_eq!(error.code(), "RUN013");
}

#[test]
fn pipelines_are_accepted_without_a_driver() {
    let device = support::noop();
    let text = "x = f32[64,32] parameter(0)\ny = f32[64,32] exponential(x)\nROOT z = f32[32,64] transpose(y), dimensions={1,0}";
    let program = compile(&support::entry(text), device.target()).expect("it compiles for the floor");
    let executable = Executable::new(&device, program).expect("its pipelines are valid");
    executable
        .execute(&[DeviceBuffer::upload(&device, &Literal::array([64, 32], vec![0.0f32; 2048])).expect("fits")])
        .expect("its bindings are valid");
}

#[test]
fn a_device_is_opened_with_what_its_description_tells_of() {
    let device = support::device();
    let offered = &device.info().target;
    assert_eq!((offered.check(), device.target().check()), (Ok(()), Ok(())));
    assert_eq!(device.target().excess_over(offered), None);
    assert_eq!(*device.target(), *offered);
    assert_eq!(Target::default().excess_over(device.target()), None);
    if device.target().kind == DeviceKind::Software {
        let software = Target::preset("software").expect("there is such a preset");
        assert_eq!(software.excess_over(device.target()), None);
    }
}

/// An instance or an adapter of the caller's gives the same device as one of this crate's own.
#[test]
fn instances_and_adapters_of_others_serve() {
    let own = support::device();
    let options = DeviceOptions::default().with_cache(None);
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let of_instance = Device::from_instance(&instance, &support::selection(), &options);
    let of_instance = of_instance.unwrap_or_else(|error| panic!("{error}"));
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let chosen = adapters.iter().find(|adapter| adapter.get_info().name == own.info().name).expect("it is there");
    let of_adapter = Device::from_adapter(chosen, &options).unwrap_or_else(|error| panic!("{error}"));
    let nothing = Device::from_instance(&instance, &Selection::Name("no such adapter".into()), &options);
    assert!(matches!(nothing, Err(Error::AdapterNotFound { .. })), "{nothing:?}");
    let module = support::entry("x = f32[4] parameter(0)\nROOT y = f32[4] add(x, x)");
    for device in [of_instance, of_adapter] {
        assert_eq!(device.info().name, own.info().name);
        assert_eq!(device.target().features, plain(&own).features);
        let program = support::compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        let results = executable.run(&[Literal::array([4], vec![1.0f32, 2.0, 3.0, 4.0])]);
        assert_eq!(
            results.unwrap_or_else(|error| panic!("{error}")),
            [Literal::array([4], vec![2.0f32, 4.0, 6.0, 8.0])]
        );
    }
}

/// The target of a device but for what only a self-test tells.
fn plain(device: &Device) -> Target {
    device.target().clone().with(|target| target.features.no_contraction = false)
}

/// What a description says of divisions and square roots holds, of numbers that are far from subnormal.
#[test]
fn what_is_said_to_be_exact_is() {
    let device = support::device();
    let count = 1 << 16;
    let mut state = 1u64;
    let mut next = || {
        // Knuth's generator for MMIX; its high bits are the better ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state >> 32) as u32;
        let exponent = 96 + (bits >> 23) % 64;
        f32::from_bits(bits & 0x007f_ffff | exponent << 23)
    };
    let mut numbers = || Literal::array([count], (0..count).map(|_| next()).collect::<Vec<f32>>());
    let inputs = [numbers(), numbers()];
    let arithmetic = device.target().arithmetic;
    for (is_exact, text) in [(arithmetic.exact_division, "divide(x, y)"), (arithmetic.exact_sqrt, "sqrt(x)")] {
        if !is_exact {
            continue;
        }
        let module = support::entry(&format!(
            "x = f32[{count}] parameter(0)\ny = f32[{count}] parameter(1)\nROOT z = f32[{count}] {text}"
        ));
        let program = compile(&module, device.target()).expect("it compiles");
        let found = Executable::new(&device, program).and_then(|executable| executable.run(&inputs));
        let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
        assert!(found.expect("it runs") == expected, "{text} is not rounded correctly");
    }
}

/// For a device of which nothing is known quotients and square roots are corrected, which changes none that is right.
#[test]
fn corrections_leave_what_is_exact() {
    let device = support::device();
    let values: Vec<f32> = (0..4096).map(|at| f32::from_bits(0x2000_0000 + at * 0x0003_1415)).collect();
    let turned: Vec<f32> = values.iter().rev().map(|value| -value).collect();
    let special = [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -3.0];
    let (x, y): (Vec<f32>, Vec<f32>) =
        special.iter().flat_map(|x| special.iter().map(|y| (*x, *y))).chain(values.into_iter().zip(turned)).unzip();
    let count = x.len() as i64;
    let inputs = [Literal::array([count], x), Literal::array([count], y)];
    let target = device.target().clone().with(|target| {
        (target.arithmetic.exact_division, target.arithmetic.exact_sqrt) = (false, false);
    });
    for text in ["divide(x, y)", "divide(y, x)", "sqrt(x)", "sqrt(y)"] {
        let module = support::entry(&format!(
            "x = f32[{count}] parameter(0)\ny = f32[{count}] parameter(1)\nROOT z = f32[{count}] {text}"
        ));
        let run = |target: &Target| {
            let program = compile(&module, target).expect("it compiles");
            let found = Executable::new(&device, program).and_then(|executable| executable.run(&inputs));
            // Every NaN is as good as another.
            format!("{:?}", found.expect("it runs")[0].data)
        };
        assert_eq!(run(&target), run(device.target()), "{text}");
    }
}

#[test]
fn a_target_that_no_device_can_be_is_refused() {
    let module = support::entry("x = f32[2] parameter(0)\nROOT y = f32[2] add(x, x)");
    let target = Target::default().with(|target| target.max_invocations_per_workgroup = 0);
    let error = compile(&module, &target).expect_err("no workgroup has no invocations");
    assert_eq!(error.code(), "TGT002");
    assert_eq!(error.to_string(), "TGT002: max_invocations_per_workgroup of a target is 0, which leaves nothing");
}
