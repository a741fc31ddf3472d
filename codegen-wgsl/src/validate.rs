//! Validation by naga.

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// Parses and validates WGSL with the capabilities that every adapter has.
///
/// # Errors
/// naga's reason, with the line it concerns.
pub(crate) fn validate(source: &str) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(source))?;
    Ok((module, info))
}
