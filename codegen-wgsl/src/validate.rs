//! Validation by naga.

use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// Parses and validates WGSL with the capabilities that every adapter has, and subgroups where they are used.
///
/// # Errors
/// naga's reason, with the line it concerns.
pub(crate) fn validate(source: &str, has_subgroups: bool) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let capabilities = if has_subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if has_subgroups {
        validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    }
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok((module, info))
}
