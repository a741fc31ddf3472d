//! Running a kernel of the self-test.

use crate::{Device, DeviceBuffer, Error};
use std::borrow::Cow;
use weft_codegen_wgsl::math;
use weft_hlo::ir::{Data, Literal};

/// Declarations of most kernels: words that are read and words that are written, and the library's `keep`.
const BUFFERS: &str = "@group(0) @binding(0) var<storage, read> input: array<u32>;\n\
                       @group(0) @binding(1) var<storage, read_write> output: array<u32>;\n";

/// What results hold before a kernel runs, to tell one that wrote nothing.
const UNWRITTEN: u32 = 0xdead_beef;

/// Invocations of a workgroup of [`each`]. Not 32, which a driver of Metal compiles wrongly.
const INVOCATIONS: usize = 64;

/// A kernel, and what it is run on.
pub(super) struct Kernel<'t> {
    /// Its text, with an entry point `main`, `input` at binding 0 and `output` at binding 1; the parameter block of the library is at binding 2.
    pub(super) text: &'t str,
    /// What it reads.
    pub(super) input: Vec<u32>,
    /// What the output holds before.
    pub(super) output: Vec<u32>,
    /// How many workgroups there are.
    pub(super) groups: u32,
}

/// How a kernel comes to the driver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// In wgpu's writing.
    Plain,
    /// In SPIR-V whose float operations are marked `NoContraction`.
    Ordered,
}

impl Writing {
    fn module(self, gpu: &wgpu::Device, label: &str, text: &str) -> Result<wgpu::ShaderModule, String> {
        match self {
            Writing::Plain => Ok(gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(text)),
            })),
            #[cfg(feature = "no-contraction")]
            Writing::Ordered => crate::device::trusted::ordered_test(gpu, text),
            #[cfg(not(feature = "no-contraction"))]
            Writing::Ordered => Err("this library was built without `no-contraction`".to_owned()),
        }
    }
}

impl Kernel<'_> {
    /// The output after the kernel has run.
    pub(super) async fn run(self, device: &Device) -> Result<Vec<u32>, Error> {
        self.run_as(device, Writing::Plain).await
    }

    async fn run_as(self, device: &Device, writing: Writing) -> Result<Vec<u32>, Error> {
        const WHAT: &str = "testing the adapter";
        let words = |words: Vec<u32>| Literal::array([i64::try_from(words.len()).unwrap_or(i64::MAX)], words);
        let input = DeviceBuffer::upload_async(device, &words(self.input)).await?;
        let output = DeviceBuffer::upload_async(device, &words(self.output)).await?;
        let submit = |device: &Device| {
            let gpu = device.wgpu_device();
            let module = writing.module(gpu, WHAT, self.text)?;
            let layout = layout(gpu);
            let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(WHAT),
                layout: Some(&gpu.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some(WHAT),
                    bind_group_layouts: &[Some(&layout)],
                    immediate_size: 0,
                })),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let buffers = [input.wgpu_buffer(), output.wgpu_buffer(), device.parameter_block()];
            let entries: Vec<_> = (0..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                .collect();
            let group = gpu.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(WHAT),
                layout: &layout,
                entries: &entries,
            });
            let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(WHAT) });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(self.groups, 1, 1);
            drop(pass);
            device.wgpu_queue().submit([encoder.finish()]);
            Ok(())
        };
        let submitted: Result<(), String> = device.scoped(WHAT, submit).await?;
        submitted.map_err(|message| Error::Internal { what: WHAT.to_owned(), message })?;
        match output.download_async().await?.data {
            Data::U32(words) => Ok(words),
            _ => Ok(Vec::new()),
        }
    }
}

fn layout(gpu: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    gpu.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("testing the adapter"),
        entries: &[
            entry(0, wgpu::BufferBindingType::Storage { read_only: true }),
            entry(1, wgpu::BufferBindingType::Storage { read_only: false }),
            entry(2, wgpu::BufferBindingType::Uniform),
        ],
    })
}

/// Output that tells what was not written.
pub(super) fn unwritten(count: usize) -> Vec<u32> {
    vec![UNWRITTEN; count]
}

/// Runs `body` once for each `operands` words of `input`; it reads those as `a`, `b`, `c`, which are `u32`, and writes `results` words by
/// `output[at + k] = …`. `before` is declared before the entry point.
pub(super) async fn each(
    device: &Device,
    before: &str,
    body: &str,
    counts: [usize; 2],
    input: Vec<u32>,
) -> Result<Vec<u32>, Error> {
    each_as(device, Writing::Plain, before, body, counts, input).await
}

/// As [`each`], of a kernel that comes to the driver so.
pub(super) async fn each_as(
    device: &Device,
    writing: Writing,
    before: &str,
    body: &str,
    [operands, results]: [usize; 2],
    input: Vec<u32>,
) -> Result<Vec<u32>, Error> {
    let count = input.len() / operands;
    let named = ["a", "b", "c"].iter().take(operands).enumerate();
    let named: String =
        named.map(|(number, name)| format!("let {name} = input[i * {operands}u + {number}u];\n")).collect();
    let text = format!(
        "{BUFFERS}{prelude}{before}\n@compute @workgroup_size({INVOCATIONS}) fn main(\n\
         @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{\n{zeros}\n\
         let i = id.x;\nif i >= {count}u {{ return; }}\n{named}let at = i * {results}u;\n{body}\n}}\n",
        prelude = math::prelude(2),
        zeros = math::zeros("lane"),
    );
    let groups = u32::try_from(count.div_ceil(INVOCATIONS)).unwrap_or(u32::MAX);
    Kernel { text: &text, input, output: unwritten(count * results), groups }.run_as(device, writing).await
}

/// Runs a kernel that adds two numbers. Whatever keeps it from the right sum keeps all tests from running.
pub(super) async fn simplest(device: &Device) -> Result<(), Error> {
    let input: Vec<u32> = (0..200).collect();
    let expected: Vec<u32> = input.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    let found = each(device, "", "output[at] = a + b;", [2, 1], input).await?;
    if found == expected {
        return Ok(());
    }
    let what = "testing the adapter".to_owned();
    Err(Error::Internal { what, message: "a kernel that adds integers yields other sums".to_owned() })
}

/// Numbers that are the same in every run (Knuth's generator for MMIX, of which the high bits are the better ones).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers(1)
    }

    /// Any 32 bits.
    pub(super) fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// A number of either sign from 2^-32 to 2^32, whose products and quotients are normal.
    pub(super) fn float(&mut self) -> f32 {
        let [bits, exponent] = [self.bits(), 95 + self.bits() % 64];
        f32::from_bits(bits & 0x807f_ffff | exponent << 23)
    }
}

/// Whether two numbers are the same: bit by bit, but for NaN.
pub(super) fn is_same(found: f32, expected: f32) -> bool {
    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
}
