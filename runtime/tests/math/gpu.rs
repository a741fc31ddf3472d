//! Runs one expression over many operands on the default adapter.

use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use weft_codegen_wgsl::math;
use weft_hlo::ir::ElementType;

const NO_ADAPTER: &str = "these tests need a GPU or a software Vulkan driver; \
    on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1";

/// What a device needs for numbers of 64 bits.
const DOUBLES: wgpu::Features = wgpu::Features::SHADER_F64.union(wgpu::Features::SHADER_INT64);

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

static GPU: LazyLock<Gpu> = LazyLock::new(|| {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = wait(instance.request_adapter(&wgpu::RequestAdapterOptions::default())).expect(NO_ADAPTER);
    let required_features = adapter.features() & DOUBLES;
    let descriptor = wgpu::DeviceDescriptor { required_features, ..wgpu::DeviceDescriptor::default() };
    let (device, queue) = wait(adapter.request_device(&descriptor)).expect("the adapter gives a device");
    Gpu { device, queue }
});

/// The outcome of a future that is soon ready, as wgpu's are on native targets.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// The name of `ty` in WGSL.
fn wgsl(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Pred => "bool",
        ElementType::S32 => "i32",
        ElementType::U32 => "u32",
        _ => "f32",
    }
}

/// How a word of a buffer becomes a value of type `ty`.
fn decode(ty: ElementType, word: &str) -> String {
    match ty {
        ElementType::Pred => format!("({word} != 0u)"),
        _ => format!("bitcast<{}>({word})", wgsl(ty)),
    }
}

/// `call` on each of the operands, of types `operands`. Words hold the bits of the values, 0 or 1 for `pred`.
pub(crate) fn run(call: math::Call, operands: &[ElementType], result: ElementType, inputs: [&[u32]; 2]) -> Vec<u32> {
    let names: Vec<_> = ["a[i]", "b[i]"].iter().zip(operands).map(|(word, ty)| decode(*ty, word)).collect();
    let value = call.write(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let word = if result == ElementType::Pred { format!("u32({value})") } else { format!("bitcast<u32>({value})") };
    let mut source = math::prelude(0);
    for function in math::closure(call.function()) {
        source += function.source;
    }
    execute(&format!("{source}{}", entry(&word)), inputs)
}

/// `call` on each of the pairs of numbers of 64 bits, of which it takes one or both; `None` where the device has none.
pub(crate) fn run_on_doubles(call: math::Call, operands: usize, inputs: [&[f64]; 2]) -> Option<Vec<f64>> {
    if !GPU.device.features().contains(DOUBLES) {
        return None;
    }
    let bits = inputs.map(|numbers| -> Vec<u32> {
        let words = |number: &f64| [number.to_bits() as u32, (number.to_bits() >> 32) as u32];
        numbers.iter().flat_map(words).collect()
    });
    let value = call.write(&["x", "y"][..operands]);
    let mut source = math::prelude(0);
    let called = call.function().into_iter().chain(["join_f64", "low_f64", "high_f64"]);
    math::closure(called).iter().for_each(|function| source += function.source);
    source += "
fn half(i: u32) -> u32 {
    let at = i & ~1u;
    let x = join_f64(a[at], a[at + 1u]);
    let y = join_f64(b[at], b[at + 1u]);
    let z = VALUE;
    return select(low_f64(z), high_f64(z), (i & 1u) == 1u);
}
"
    .replace("VALUE", &value)
    .as_str();
    let words = execute(&format!("{source}{}", entry("half(i)")), [&bits[0], &bits[1]]);
    let number = |pair: &[u32]| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32);
    Some(words.chunks_exact(2).map(number).collect())
}

/// The same of a function of the library, on vectors of four neighbors; the last one stands for those beyond it.
pub(crate) fn run_on_vectors(
    name: &'static str,
    operands: &[ElementType],
    result: ElementType,
    inputs: [&[u32]; 2],
) -> Vec<u32> {
    let count = inputs[0].len();
    let vector = |buffer: &str| {
        let lanes = (0..4).map(|lane| format!("{buffer}[min((i & ~3u) + {lane}u, {}u)]", count - 1));
        format!("vec4<u32>({})", lanes.collect::<Vec<_>>().join(", "))
    };
    let decoded = |(buffer, ty): (&str, &ElementType)| match ty {
        ElementType::Pred => format!("({} != vec4<u32>())", vector(buffer)),
        _ => format!("bitcast<vec4<{}>>({})", wgsl(*ty), vector(buffer)),
    };
    let arguments: Vec<String> = ["a", "b"].into_iter().zip(operands).map(decoded).collect();
    let value = format!("{}({})", math::lane_wise_name(name, 4), arguments.join(", "));
    let words = if result == ElementType::Pred { "vec4<u32>" } else { "bitcast<vec4<u32>>" };
    let of_lanes = math::lane_wise([(name, 4)]);
    let mut source = math::prelude(0);
    math::closure(of_lanes.scalar.iter().copied()).iter().for_each(|function| source += function.source);
    source += &of_lanes.declarations.concat();
    execute(&format!("{source}{}", entry(&format!("{words}({value})[i & 3u]"))), inputs)
}

/// The entry point that computes `word` of element `i`.
fn entry(word: &str) -> String {
    format!(
        "@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    {zeros}
    let i = id.x;
    if (i < arrayLength(&results)) {{
        results[i] = {word} + (b[i] & params.zero);
    }}
}}
",
        zeros = math::zeros("lane")
    )
}

/// The results of a shader for each of the operands.
fn execute(source: &str, inputs: [&[u32]; 2]) -> Vec<u32> {
    let Gpu { device, queue } = &*GPU;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let count = inputs[0].len();
    assert_eq!(inputs[1].len(), count, "one second operand for each first one");
    let size = 4 * count as u64;
    let buffer = |usage, size| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let upload = |words: &[u32], usage| {
        let buffer = buffer(usage | wgpu::BufferUsages::COPY_DST, 4 * words.len() as u64);
        queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    };
    let results = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC, size);
    let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST, size);
    let bound = [
        upload(&[0; 4], wgpu::BufferUsages::UNIFORM),
        upload(inputs[0], wgpu::BufferUsages::STORAGE),
        upload(inputs[1], wgpu::BufferUsages::STORAGE),
        results,
    ];
    let entries: Vec<_> = (0..)
        .zip(&bound)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(u32::try_from(count.div_ceil(64)).expect("sweeps are short"), 1, 1);
    }
    encoder.copy_buffer_to_buffer(&bound[3], 0, &staging, 0, size);
    queue.submit([encoder.finish()]);
    staging.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the device finishes its work");
    let view = staging.slice(..).get_mapped_range().expect("the buffer is mapped once the device has finished");
    bytemuck::cast_slice(&view).to_vec()
}
