//! Which descriptions no device can have.

use super::{Features, Hardware, Target};

/// Why there is no such target.
///
/// [`code`](TargetError::code) is stable; the wording is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// No preset has this name.
    #[error("there is no target {name:?}; there are: {}", Target::PRESETS.join(", "))]
    UnknownPreset {
        /// What was asked for.
        name: String,
    },
    /// A field has a value that no device can have.
    #[error("{field} of a target {reason}")]
    Impossible {
        /// The field, as in JSON: `hardware.cores`.
        field: &'static str,
        /// What is wrong with it, after the field's name.
        reason: String,
    },
}

impl TargetError {
    /// A stable code: `TGT001` for a preset that there is not, `TGT002` for an impossible value.
    pub fn code(&self) -> &'static str {
        match self {
            TargetError::UnknownPreset { .. } => "TGT001",
            TargetError::Impossible { .. } => "TGT002",
        }
    }
}

impl Target {
    /// Whether a device can be like this: limits that allow something, alignments and subgroups that are powers of two, no
    /// feature without those that it needs, no cache slower than what lies behind it.
    ///
    /// # Errors
    /// [`TargetError::Impossible`] with the first field that cannot be.
    pub fn check(&self) -> Result<(), TargetError> {
        let limits = [
            ("max_storage_buffers", u64::from(self.max_storage_buffers)),
            ("max_storage_binding_bytes", self.max_storage_binding_bytes),
            ("max_uniform_binding_bytes", self.max_uniform_binding_bytes),
            ("max_buffer_bytes", self.max_buffer_bytes),
            ("max_workgroup_storage_bytes", self.max_workgroup_storage_bytes.into()),
            ("max_private_array_bytes", self.max_private_array_bytes.into()),
            ("max_invocations_per_workgroup", self.max_invocations_per_workgroup.into()),
            ("max_workgroup_size_x", self.max_workgroup_size_x.into()),
            ("max_workgroup_size_y", self.max_workgroup_size_y.into()),
            ("max_workgroup_size_z", self.max_workgroup_size_z.into()),
            ("max_workgroups_per_dimension", self.max_workgroups_per_dimension.into()),
            ("max_loop_iterations", self.max_loop_iterations.unwrap_or(u32::MAX).into()),
            ("max_dispatch_milliseconds", self.max_dispatch_milliseconds.unwrap_or(u32::MAX).into()),
        ];
        limits.into_iter().try_for_each(|(field, value)| positive(field, value))?;
        power_of_two("min_storage_offset_alignment", self.min_storage_offset_alignment)?;
        features(&self.features)?;
        hardware(&self.hardware)
    }
}

fn features(features: &Features) -> Result<(), TargetError> {
    let needs = |field, is_there: bool, needed: &str, has_needed: bool| match is_there && !has_needed {
        true => Err(impossible(field, format!("needs {needed}"))),
        false => Ok(()),
    };
    let has_subgroups = features.subgroup.is_some();
    if let Some(sizes) = features.subgroup {
        power_of_two("features.subgroup.min", sizes.min)?;
        power_of_two("features.subgroup.max", sizes.max)?;
        if sizes.min > sizes.max {
            let reason = format!("is {}, more than max, which is {}", sizes.min, sizes.max);
            return Err(impossible("features.subgroup.min", reason));
        }
    }
    needs("features.subgroup_barrier", features.subgroup_barrier, "subgroup", has_subgroups)?;
    needs("features.int64_atomics", features.int64_atomics, "shader_int64", features.shader_int64)?;
    let matrices = &features.cooperative_matrices;
    needs("features.cooperative_matrices", !matrices.is_empty(), "subgroup", has_subgroups)?;
    matrices.iter().try_for_each(|matrix| {
        [matrix.m, matrix.n, matrix.k]
            .into_iter()
            .try_for_each(|extent| positive("features.cooperative_matrices", extent.into()))
    })
}

fn hardware(hardware: &Hardware) -> Result<(), TargetError> {
    positive("hardware.cores", hardware.cores.into())?;
    positive("hardware.lanes_per_core", hardware.lanes_per_core.into())?;
    positive("hardware.clock_hertz", hardware.clock_hertz)?;
    positive("hardware.dram_bytes_per_second", hardware.dram_bytes_per_second)?;
    power_of_two("hardware.dram_transaction_bytes", hardware.dram_transaction_bytes)?;
    let speeds = [
        ("hardware.l2_speed_percent", hardware.l2_speed_percent),
        ("hardware.l1_speed_percent", hardware.l1_speed_percent),
    ];
    match speeds.into_iter().find(|(_, percent)| *percent < 100) {
        Some((field, percent)) => Err(impossible(
            field,
            format!("is {percent}: a cache is not slower than what lies behind it, which is 100"),
        )),
        None => Ok(()),
    }
}

fn positive(field: &'static str, value: u64) -> Result<(), TargetError> {
    if value == 0 { Err(impossible(field, "is 0, which leaves nothing".into())) } else { Ok(()) }
}

fn power_of_two(field: &'static str, value: u32) -> Result<(), TargetError> {
    if value.is_power_of_two() {
        Ok(())
    } else {
        Err(impossible(field, format!("is {value}, which is no power of two")))
    }
}

fn impossible(field: &'static str, reason: String) -> TargetError {
    TargetError::Impossible { field, reason }
}
