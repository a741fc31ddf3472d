//! Pipelines, one per kernel.

use crate::device::trusted;
use crate::{Checks, Device, Error};
use std::collections::HashMap;
use std::sync::Mutex;
use weft_codegen_wgsl::Shader;

/// A kernel on a device.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
}

/// What a pipeline is known by: kernels that are one but for their names have one pipeline, whatever programs they are in.
type Key = (String, Wish);

/// How pipelines are made.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wish {
    pub(crate) checks: Checks,
    /// Whether the driver is told to keep to the order of float operations
    /// ([`Features::no_contraction`](weft_partition::Features::no_contraction)).
    pub(crate) no_contraction: bool,
}

/// The pipelines of a device.
#[derive(Debug, Default)]
pub(crate) struct Pipelines {
    known: Mutex<HashMap<Key, Pipeline>>,
}

impl Pipelines {
    /// The pipelines of `shaders`, in order; those not known yet are made, on all cores with the feature `parallel`.
    pub(crate) async fn of(device: &Device, shaders: &[Shader], wish: Wish) -> Result<Vec<Pipeline>, Error> {
        let cache = device.pipelines();
        if wish.no_contraction && wish.checks == Checks::All {
            // What goes to the driver past wgpu has been judged by wgpu, too.
            for shader in shaders.iter().filter(|shader| cache.find(shader, wish).is_none()) {
                let judged = Wish { no_contraction: false, ..wish };
                device
                    .scoped(&shader.name, |device| create(device, shader, judged).map(|_| ()))
                    .await?
                    .map_err(internal)?;
            }
        }
        let make = |shader: &Shader| {
            let known = cache.find(shader, wish);
            let create = |device: &Device| create(device, shader, wish);
            (known.is_none()).then(|| device.start_scoped(&shader.name, create)).ok_or(known)
        };
        #[cfg(feature = "parallel")]
        let made: Vec<_> = {
            use rayon::prelude::*;
            shaders.par_iter().map(make).collect()
        };
        #[cfg(not(feature = "parallel"))]
        let made: Vec<_> = shaders.iter().map(make).collect();
        let mut pipelines = Vec::with_capacity(shaders.len());
        for (shader, made) in shaders.iter().zip(made) {
            let pipeline = match made {
                Err(known) => known.expect("make returns a known pipeline where it makes none"),
                Ok(pending) => {
                    let pipeline = pending.check(device).await?.map_err(internal)?;
                    cache.keep(shader, wish, pipeline.clone());
                    pipeline
                }
            };
            pipelines.push(pipeline);
        }
        Ok(pipelines)
    }

    fn find(&self, shader: &Shader, wish: Wish) -> Option<Pipeline> {
        self.known.lock().ok()?.get(&key(shader, wish)).cloned()
    }

    fn keep(&self, shader: &Shader, wish: Wish, pipeline: Pipeline) {
        if let Ok(mut known) = self.known.lock() {
            known.insert(key(shader, wish), pipeline);
        }
    }

    /// Forgets all pipelines.
    pub(crate) fn clear(&self) {
        if let Ok(mut known) = self.known.lock() {
            known.clear();
        }
    }
}

fn key(shader: &Shader, wish: Wish) -> Key {
    (shader.structure.clone(), wish)
}

fn internal(message: String) -> Error {
    Error::Internal { what: "writing SPIR-V".to_owned(), message }
}

/// The module of a shader, and how its pipeline is compiled.
fn module_of(
    device: &Device,
    shader: &Shader,
    wish: Wish,
) -> Result<(wgpu::ShaderModule, wgpu::PipelineCompilationOptions<'static>), String> {
    let gpu = device.wgpu_device();
    if !wish.no_contraction {
        return Ok(trusted::module(gpu, shader, wish.checks));
    }
    #[cfg(feature = "no-contraction")]
    return trusted::ordered_module(gpu, shader, wish.checks);
    #[cfg(not(feature = "no-contraction"))]
    Err("this library was built without `no-contraction`".to_owned())
}

/// Makes the pipeline of `shader`. The layout is spelled out, so that a binding the kernel never reads stays bound.
fn create(device: &Device, shader: &Shader, wish: Wish) -> Result<Pipeline, String> {
    let gpu = device.wgpu_device();
    let label = Some(shader.name.as_str());
    let (module, compilation_options) = module_of(device, shader, wish)?;
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let mut entries: Vec<_> = (0..)
        .zip(&shader.bindings)
        .map(|(number, binding)| {
            let storage = wgpu::BufferBindingType::Storage { read_only: !binding.writable };
            entry(number, if binding.uniform { wgpu::BufferBindingType::Uniform } else { storage })
        })
        .collect();
    let blocks = [Some(shader.parameter_binding), shader.window_binding];
    entries.extend(blocks.into_iter().flatten().map(|block| entry(block, wgpu::BufferBindingType::Uniform)));
    debug_assert!(
        (0u32..).zip(&entries).all(|(number, entry)| entry.binding == number),
        "bindings are numbered without gaps"
    );
    let layout = gpu.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let pipeline_layout = gpu.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(&shader.entry_point),
        compilation_options,
        cache: None,
    });
    Ok(Pipeline { pipeline, layout })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, compile_with};
    use weft_partition::Target;

    #[test]
    fn names_of_kernels_make_no_pipelines() {
        let keys = |name: &str, operation: &str| -> Vec<Key> {
            let text = format!(
                "HloModule {name}\nENTRY e {{\n {name} = f32[40] parameter(0)\n ROOT {name}_out = f32[40] {operation}({name})\n}}"
            );
            let module = weft_hlo::text::parse(&text).expect("it is a module");
            let program = compile_with(&module, &Target::default(), &Options::default()).expect("it compiles");
            let wish = Wish { checks: Checks::default(), no_contraction: false };
            program.shaders().iter().map(|shader| key(shader, wish)).collect()
        };
        assert_eq!(keys("first", "negate"), keys("second", "negate"));
        assert_ne!(keys("first", "negate"), keys("first", "abs"));
    }
}
