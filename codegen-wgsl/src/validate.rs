//! Validation by naga.

use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// Parses and validates WGSL with the capabilities that every adapter has, and subgroups and `f64` where they are used.
///
/// # Errors
/// naga's reason, with the line it concerns.
pub(crate) fn validate(source: &str, has_subgroups: bool, has_f64: bool) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::SUBGROUP, has_subgroups);
    // The words of an f64 are those of an integer.
    capabilities.set(Capabilities::FLOAT64 | Capabilities::SHADER_INT64, has_f64);
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if has_subgroups {
        validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    }
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok((module, info))
}
