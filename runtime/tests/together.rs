//! What invocations do together, on the device and in the interpreter of kernels.

use crate::count::cases;
use crate::{lockstep, support, together_support as together};
use std::sync::LazyLock;
use weft_codegen_wgsl::kernel::{Kernel, Space};
use weft_codegen_wgsl::{Shader, Target, compile_kernel};
use weft_runtime::Device;

/// One device for all tests: some drivers take long to open one.
static DEVICE: LazyLock<Device> = LazyLock::new(support::device);

/// Runs a shader on these buffers, and returns what they hold then.
fn run(shader: &Shader, buffers: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let (gpu, queue) = (DEVICE.wgpu_device(), DEVICE.wgpu_queue());
    let module = gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&shader.name),
        source: wgpu::ShaderSource::Wgsl(shader.source.as_str().into()),
    });
    let buffer = |words: &[u32], usage: wgpu::BufferUsages| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let usage = usage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let size = bytes.len() as u64;
        let buffer = gpu.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        queue.write_buffer(&buffer, 0, &bytes);
        buffer
    };
    let parameters = buffer(&[0; 4], wgpu::BufferUsages::UNIFORM);
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM;
    let bound: Vec<wgpu::Buffer> = buffers.iter().map(|words| buffer(words, storage)).collect();
    let entry = |binding: u32, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let types = shader.bindings.iter().map(|binding| match binding.uniform {
        true => wgpu::BufferBindingType::Uniform,
        false => wgpu::BufferBindingType::Storage { read_only: !binding.writable },
    });
    let entries: Vec<_> =
        (0..).zip(types.chain([wgpu::BufferBindingType::Uniform])).map(|(number, ty)| entry(number, ty)).collect();
    let layout = gpu.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let entries: Vec<_> = (0..)
        .zip(bound.iter().chain([&parameters]))
        .map(|(number, buffer)| wgpu::BindGroupEntry { binding: number, resource: buffer.as_entire_binding() })
        .collect();
    let group = gpu.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let pipeline_layout = gpu.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&shader.name),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(&shader.entry_point),
        // As the runtime compiles what is proved.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: !shader.proofs().are_complete(),
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let [x, y, z] = shader.workgroups;
        pass.dispatch_workgroups(x, y, z);
    }
    let read = |buffer: &wgpu::Buffer| {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let size = buffer.size();
        gpu.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let mapped: Vec<wgpu::Buffer> = bound.iter().map(read).collect();
    for (from, to) in bound.iter().zip(&mapped) {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    }
    queue.submit([encoder.finish()]);
    for buffer in &mapped {
        buffer.slice(..).map_async(wgpu::MapMode::Read, |result| result.expect("it maps"));
    }
    gpu.poll(wgpu::PollType::wait_indefinitely()).expect("the device finishes");
    let words = |buffer: &wgpu::Buffer| {
        let bytes = buffer.slice(..).get_mapped_range().expect("it is mapped");
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    mapped.iter().map(words).collect()
}

/// Checks what a kernel computes on the device, given what its operands hold.
fn check(name: &str, text: &str, operands: &[Vec<u32>], target: &Target) {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let mut operands = operands.iter();
    let contents = kernel.memories.values().filter(|memory| matches!(memory.space, Space::Buffer { .. }));
    let mut buffers: Vec<Vec<u32>> = contents
        .map(|memory| {
            let count = usize::try_from(memory.shape.element_count().unwrap()).unwrap();
            operands.next().filter(|_| memory.is_readable()).cloned().unwrap_or_else(|| vec![0; count])
        })
        .collect();
    let shader = compile_kernel(&kernel, target).unwrap_or_else(|findings| panic!("{name}: {findings}\n{text}"));
    let found = run(&shader, &buffers);
    lockstep::run(&kernel, &mut buffers, subgroup());
    assert_eq!(found, buffers, "{name} on {}:\n{text}\n{}", DEVICE.info(), shader.source);
}

/// Members of a subgroup on the adapter; where it has none, or of several sizes, kernels that ask for them are of other targets.
fn subgroup() -> usize {
    let sizes = DEVICE.target().features.subgroup.filter(|sizes| sizes.min == sizes.max);
    sizes.map_or(8, |sizes| sizes.max as usize)
}

/// Whether all three of a combination, a function and a size are tried together.
fn is_long() -> bool {
    cases(1) > 1
}

#[test]
fn workgroups_combine_their_values() {
    let tree = support::without_subgroups(DEVICE.target().clone());
    together::for_each_collective("workgroup", is_long(), |name, text, operands| {
        check(name, text, operands, DEVICE.target());
        if name.starts_with("combine") {
            check(name, text, operands, &tree);
        }
    });
    for (part, _) in together::PARTS {
        together::for_each_collective(part, is_long(), |name, text, operands| {
            check(name, text, operands, DEVICE.target())
        });
    }
}

#[test]
fn subgroups_combine_their_values() {
    together::for_each_collective("subgroup", is_long(), |name, text, operands| {
        check(name, text, operands, DEVICE.target())
    });
}

#[test]
fn collectives_stand_in_loops_and_under_conditions() {
    for (name, text) in together::CONSTRUCTS {
        let ty = if text.contains("in %x: f32") { "f32" } else { "s32" };
        let count = if name == "rounds" { 400 } else { 64 };
        check(name, text, &[together::words(ty, count, 3)], DEVICE.target());
    }
}

#[test]
fn updates_are_undivided() {
    for (name, update) in together::UPDATES {
        let ty = update.split_once(';').unwrap().0;
        let operands = vec![together::places(), together::given(ty)];
        check(name, &together::histogram(update), &operands, DEVICE.target());
        check(name, &together::scatter(update), &[operands, vec![vec![0; 5]]].concat(), DEVICE.target());
    }
}
