//! Hand-written kernels on a device.

use super::reference::{Access, Reference, Role};
use super::rounds::Contestant;
use std::borrow::Cow;
use weft_hlo::ir::{ArrayShape, Literal};
use weft_runtime::{Device, DeviceBuffer, Error};

/// A [`Reference`] ready to run.
pub(super) struct Kernels {
    device: Device,
    name: String,
    launches: Vec<Launch>,
    /// How often a run makes all launches.
    times: u32,
    output: wgpu::Buffer,
}

struct Launch {
    pipeline: wgpu::ComputePipeline,
    bound: wgpu::BindGroup,
    groups: [u32; 3],
}

/// How many invocations of one subgroup the device's kernels have; `None` where it has none, or no one size.
pub(super) fn subgroup_size(device: &Device) -> Option<u32> {
    let gpu = device.wgpu_device();
    let info = gpu.adapter_info();
    let is_known =
        gpu.features().contains(wgpu::Features::SUBGROUP) && info.subgroup_min_size == info.subgroup_max_size;
    is_known.then_some(info.subgroup_max_size)
}

impl Kernels {
    /// Makes pipelines and buffers; `arguments` stay where they are.
    ///
    /// # Errors
    /// Why it cannot run on this device or on these arguments.
    pub(super) fn new(device: &Device, reference: &Reference, arguments: &[DeviceBuffer]) -> Result<Kernels, String> {
        if let Some(size) = reference.subgroup_size()
            && subgroup_size(device) != Some(size)
        {
            let here = subgroup_size(device).map_or("of no one size".to_owned(), |here| format!("of {here}"));
            return Err(format!("it is for subgroups of {size}; here they are {here}"));
        }
        for buffer in &reference.buffers {
            if let Role::Argument(number) = buffer.role {
                let given = arguments.get(number).map(DeviceBuffer::bytes);
                if given != Some(buffer.bytes) {
                    return Err(format!("argument {number} is not of {} bytes", buffer.bytes));
                }
            }
        }
        let make = device.scoped(&reference.name, |device| make(device, reference, arguments));
        pollster::block_on(make).map_err(|error| error.to_string())
    }

    /// The same so many times in a run, within one pass of wgpu.
    pub(super) fn times(self, times: u32) -> Kernels {
        Kernels { times, ..self }
    }

    /// Runs all passes and waits for them.
    ///
    /// # Errors
    /// Whatever the device reports.
    pub(super) fn run(&self) -> Result<(), Error> {
        let gpu = self.device.wgpu_device();
        let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(&self.name) });
        self.record(&mut encoder);
        self.device.wgpu_queue().submit([encoder.finish()]);
        self.device.wait(&self.name)
    }

    /// Records all passes.
    pub(super) fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for Launch { pipeline, bound, groups: [x, y, z] } in (0..self.times).flat_map(|_| &self.launches) {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, bound, &[]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
    }

    pub(super) fn contestant(&self) -> Contestant<'_> {
        Contestant::new(|| self.run()).recorded(|encoder| {
            self.record(encoder);
            Ok(())
        })
    }

    /// The result of the last run, which is an array of this shape.
    ///
    /// # Errors
    /// Whatever the device reports.
    pub(super) fn result(&self, shape: &ArrayShape) -> Result<Literal, Error> {
        DeviceBuffer::from_wgpu(&self.device, self.output.clone(), shape.clone())?.download()
    }
}

/// To be called inside a scope.
fn make(device: &Device, reference: &Reference, arguments: &[DeviceBuffer]) -> Kernels {
    let gpu = device.wgpu_device();
    let buffers: Vec<wgpu::Buffer> = (reference.buffers.iter())
        .map(|buffer| {
            let bindings = reference.passes.iter().flat_map(|pass| &pass.bindings);
            let is_uniform = bindings.filter(|(name, _)| *name == buffer.name).any(|(_, it)| *it == Access::Uniform);
            let create = |usage: wgpu::BufferUsages| {
                let label = Some(buffer.name.as_str());
                // Whole vectors, as `DeviceBuffer::from_wgpu` asks for.
                let size = buffer.bytes.next_multiple_of(16);
                gpu.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
            };
            match buffer.role {
                // Fresh buffers are zero by the rules of WebGPU.
                Role::Parameters => create(wgpu::BufferUsages::UNIFORM),
                Role::Written => create(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC),
                Role::Argument(number) if !is_uniform => arguments[number].wgpu_buffer().clone(),
                Role::Argument(number) => {
                    let uniform = create(wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
                    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                    let argument = &arguments[number];
                    let (from, offset) = (argument.wgpu_buffer(), argument.offset());
                    encoder.copy_buffer_to_buffer(from, offset, &uniform, 0, buffer.bytes);
                    device.wgpu_queue().submit([encoder.finish()]);
                    uniform
                }
            }
        })
        .collect();
    let place = |name: &str| reference.buffers.iter().position(|buffer| buffer.name == name);
    let launch = |pass: &super::reference::Pass| {
        let label = Some(reference.name.as_str());
        let module = gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(pass.wgsl)),
        });
        let layouts: Vec<wgpu::BindGroupLayoutEntry> =
            (0..).zip(&pass.bindings).map(|(number, (_, access))| layout(number, *access)).collect();
        let layout = gpu.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &layouts });
        let pipeline_layout = gpu.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(pass.bindings.iter().filter_map(|(name, _)| place(name)))
            .map(|(binding, place)| {
                // An argument's buffer may be larger than what it holds.
                let size = wgpu::BufferSize::new(reference.buffers[place].bytes);
                let offset = match reference.buffers[place].role {
                    Role::Argument(number) if buffers[place] == *arguments[number].wgpu_buffer() => {
                        arguments[number].offset()
                    }
                    _ => 0,
                };
                let buffer = wgpu::BufferBinding { buffer: &buffers[place], offset, size };
                wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) }
            })
            .collect();
        let bound = gpu.create_bind_group(&wgpu::BindGroupDescriptor { label, layout: &layout, entries: &entries });
        Launch { pipeline, bound, groups: pass.groups }
    };
    let launches = reference.passes.iter().map(launch).collect();
    let output = buffers[reference.output].clone();
    Kernels { device: device.clone(), name: reference.name.clone(), launches, times: 1, output }
}

fn layout(binding: u32, access: Access) -> wgpu::BindGroupLayoutEntry {
    let ty = match access {
        Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
        Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
        Access::Uniform => wgpu::BufferBindingType::Uniform,
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
