//! Shader modules without the checks that a kernel's proofs stand for, and SPIR-V that wgpu did not write. The one file of the workspace that
//! may say `unsafe`.

#![allow(
    unsafe_code,
    reason = "wgpu leaves out checks, and takes SPIR-V as it is, only where its caller takes the blame"
)]

use crate::Checks;
use std::borrow::Cow;
use weft_codegen_wgsl::Shader;

/// The module of a shader, and how its pipeline is compiled: with all of wgpu's checks, or without those that are proved to be
/// idle.
pub(crate) fn module(
    gpu: &wgpu::Device,
    shader: &Shader,
    checks: Checks,
) -> (wgpu::ShaderModule, wgpu::PipelineCompilationOptions<'static>) {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(shader.name.as_str()),
        source: wgpu::ShaderSource::Naga(Cow::Owned(shader.module().clone())),
    };
    if checks == Checks::All || !shader.proofs().are_complete() {
        return (gpu.create_shader_module(descriptor), wgpu::PipelineCompilationOptions::default());
    }
    let idle = wgpu::ShaderRuntimeChecks {
        bounds_checks: false,
        force_loop_bounding: !shader.proofs().loops_end,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: Undefined behavior can come from what is switched off only, which is:
    // - bounds checks. `Kernel::verify` has proved for every access of the kernel that its index is within the extents of its
    //   memory (`Proofs::are_complete`), and every buffer that is bound has at least the bytes of these extents, or of the window that all
    //   accesses are proved to lie in: `Executable` binds
    //   tensors of the shapes that the program was compiled for and compares those of its caller (`check_inputs`). The one array of
    //   the library, in `two_over_pi_f64`, clamps its indices. The text of a shader is made by `weft_codegen_wgsl` alone: the
    //   module, the proofs and the text of a `Shader` come from one kernel. Programs that were read from text or bytes do not come here
    //   (`Program::is_foreign`). One from the cache has what this very build has proved: folder and file are the user's, nobody else may write
    //   there (`Cache::is_private`, `Cache::read`), and whoever acts as the user could as well change this program.
    // - bounds of loops, where no loop of the kernel goes on for as long as a value holds (`loops_end`): loops of the kernel IR count
    //   through their extents, and those of the library at most 187 rounds (`Call::rounds`).
    // Divisions stay guarded, and there are no rays, tasks or meshes.
    let module = unsafe { gpu.create_shader_module_trusted(descriptor, idle) };
    (module, without_zeros())
}

/// wgpu's experiments that a device with these features may be part of: cooperative matrices, and no other.
pub(super) fn experiments(features: wgpu::Features) -> wgpu::ExperimentalFeatures {
    if features & wgpu::Features::all_experimental_mask() != wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX {
        return wgpu::ExperimentalFeatures::disabled();
    }
    // SAFETY: wgpu promises nothing of what an experiment does that is used in another way than it is meant. Of this one, a feature of shaders alone, this crate uses what naga has validated, and of that only
    // what `Kernel::verify` has proved: matrices are loaded from arrays in workgroup memory and stored there, with all elements within these (`kernel/verify/reads.rs`), written before and by nobody else meanwhile
    // (`kernel/verify/tiles.rs`); all invocations of a workgroup, which is a whole number of subgroups, come to each of these operations with the same place in a subgroup (`kernel/verify/uniform.rs`,
    // `tiles.rs`); sizes and types are among those that the adapter lists (`Product::of_matrices`, `Target::excess_over`); rows begin at multiples of 16 bytes, as Vulkan asks. No other experiment is let in, and callers who open a
    // device for shaders of their own answer for those.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// What is read of workgroup memory is proved to be written before.
fn without_zeros() -> wgpu::PipelineCompilationOptions<'static> {
    wgpu::PipelineCompilationOptions {
        zero_initialize_workgroup_memory: false,
        ..wgpu::PipelineCompilationOptions::default()
    }
}

/// As [`module`], in SPIR-V whose float operations are marked `NoContraction`. The device was opened with `PASSTHROUGH_SHADERS`, and whoever asks
/// for all checks has had wgpu judge the module before.
///
/// # Errors
/// naga's reason, should it not write what it has validated.
#[cfg(feature = "no-contraction")]
pub(crate) fn ordered_module(
    gpu: &wgpu::Device,
    shader: &Shader,
    checks: Checks,
) -> Result<(wgpu::ShaderModule, wgpu::PipelineCompilationOptions<'static>), String> {
    let is_checked = checks == Checks::All || !shader.proofs().are_complete();
    let words = shader.to_ordered_spirv(weft_codegen_wgsl::SpirvOptions {
        checks: is_checked,
        bounds_loops: !shader.proofs().loops_end,
        has_subgroups: gpu.features().contains(wgpu::Features::SUBGROUP),
    })?;
    // SAFETY: The driver is given what it is not made to check.
    // - The words are valid SPIR-V for it: naga wrote them of a module that its validator accepted, with the capabilities that the target of the program has,
    //   which the device offers (`check_target`); marks on results of float arithmetic are all that was added. Version 1.0, or 1.3 where
    //   there are subgroups, is what every Vulkan that wgpu opens reads. Bindings are those of the layout that `Pipelines` spells out,
    //   which are numbered from 0 on without gaps, as wgpu numbers them for the driver; sizes of workgroups are within the limits of the target
    //   (`Kernel::exceeds`).
    // - What they compute keeps to its memory: where all is proved, by the proofs and sizes of bindings that `module` counts on; that a binding has
    //   as many bytes as an array of fixed length, which wgpu checks there besides, is so since buffers have the sizes of their tensors; elsewhere naga clamps indices, ends loops and writes zeros to workgroup memory as it does for wgpu.
    //   Divisions are guarded in both.
    let module =
        unsafe { gpu.create_shader_module_passthrough(passed_through(&shader.name, &shader.entry_point, words)) };
    Ok((module, if is_checked { wgpu::PipelineCompilationOptions::default() } else { without_zeros() }))
}

/// The module of a WGSL text of the self-test, likewise, with all checks.
///
/// # Errors
/// naga's reason.
#[cfg(feature = "no-contraction")]
pub(crate) fn ordered_test(gpu: &wgpu::Device, text: &str) -> Result<wgpu::ShaderModule, String> {
    let words = weft_codegen_wgsl::wgsl_to_ordered_spirv(text)?;
    // SAFETY: As above, of texts that this crate makes, with all checks; they use no more than every adapter has.
    Ok(unsafe { gpu.create_shader_module_passthrough(passed_through("testing the adapter", "main", words)) })
}

/// SPIR-V that a driver is given as it is.
#[cfg(feature = "no-contraction")]
fn passed_through<'n>(
    name: &'n str,
    entry_point: &'n str,
    words: Vec<u32>,
) -> wgpu::ShaderModuleDescriptorPassthrough<'n> {
    let entry_point = wgpu::PassthroughShaderEntryPoint { name: Cow::Borrowed(entry_point), workgroup_size: (0, 0, 0) };
    wgpu::ShaderModuleDescriptorPassthrough {
        label: Some(name),
        entry_points: Cow::Owned(vec![entry_point]),
        spirv: Some(Cow::Owned(words)),
        ..Default::default()
    }
}
