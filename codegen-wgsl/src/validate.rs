//! Validation by naga.

use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// What a text is written with besides what every adapter has.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Used {
    /// Operations of subgroups.
    pub(crate) subgroups: bool,
    /// `f64`.
    pub(crate) f64: bool,
    /// Integers of 64 bits, of which buffers are declared.
    pub(crate) pairs: bool,
    /// Matrices of subgroups.
    pub(crate) matrices: bool,
    /// `f16` in workgroup memory, which is made of integers of 16 bits.
    pub(crate) f16: bool,
}

/// Parses and validates WGSL with the capabilities that every adapter has and those that are used.
///
/// # Errors
/// naga's reason, with the line it concerns.
pub(crate) fn validate(source: &str, used: Used) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::SUBGROUP, used.subgroups);
    capabilities.set(Capabilities::COOPERATIVE_MATRIX, used.matrices);
    capabilities.set(Capabilities::SHADER_FLOAT16 | Capabilities::SHADER_INT16, used.f16);
    // The words of an f64 are those of an integer.
    capabilities.set(Capabilities::FLOAT64, used.f64);
    capabilities.set(Capabilities::SHADER_INT64, used.f64 || used.pairs);
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if used.subgroups {
        validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    }
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok((module, info))
}
