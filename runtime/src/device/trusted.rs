//! Shader modules without the checks that a kernel's proofs stand for. The one file of the workspace that may say `unsafe`.

#![allow(unsafe_code, reason = "wgpu leaves out checks at run time only where its caller takes the blame")]

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
    //   the library, in `two_over_pi_u32`, clamps its index. The text of a shader is made by `weft_codegen_wgsl` alone: the
    //   module, the proofs and the text of a `Shader` come from one kernel. Programs that were read from text or bytes do not come here
    //   (`Program::is_foreign`). One from the cache has what this very build has proved: folder and file are the user's, nobody else may write
    //   there (`Cache::is_private`, `Cache::read`), and whoever acts as the user could as well change this program.
    // - bounds of loops, where no loop of the kernel goes on for as long as a value holds (`loops_end`): loops of the kernel IR count
    //   through their extents, and those of the library at most 33 rounds (`Call::rounds`).
    // Divisions stay guarded, and there are no rays, tasks or meshes.
    let module = unsafe { gpu.create_shader_module_trusted(descriptor, idle) };
    // What is read of workgroup memory is proved to be written before.
    let options = wgpu::PipelineCompilationOptions {
        zero_initialize_workgroup_memory: false,
        ..wgpu::PipelineCompilationOptions::default()
    };
    (module, options)
}
