//! Whether a device is enough for what was compiled for another.

use super::{CooperativeMatrix, Faults, Features, Target};

/// Reads a limit.
type Read = fn(&Target) -> u64;

/// What kernels for one target may use that another does not offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// A limit.
    Limit {
        /// Which limit: `storage buffers per kernel`.
        what: &'static str,
        /// What kernels may use; `u64::MAX` where they have no limit.
        asked: u64,
        /// What there is.
        offered: u64,
    },
    /// A feature, by its name in [`Features`], with sizes where these are what differs.
    Feature(String),
    /// What the device does wrong, by its name in [`Faults`].
    Fault(&'static str),
}

impl Target {
    /// The first thing that kernels compiled for this target may use and `device` does not offer; `None` where all of them can
    /// run there. Kind, vendor, schedules, arithmetic, matrices that are [emulated](Target::emulate_matrices), contraction, the order of updates and costs do not matter: they make kernels slow, or their last digits differ.
    pub fn excess_over(&self, device: &Target) -> Option<Excess> {
        let limits: [(&'static str, Read); 15] = [
            ("storage buffers per kernel", |it| it.max_storage_buffers.into()),
            ("bytes per binding", |it| it.max_storage_binding_bytes),
            ("bytes per uniform binding", |it| it.max_uniform_binding_bytes),
            ("uniform buffers per kernel", |it| it.max_uniform_buffers.into()),
            ("bytes per buffer", |it| it.max_buffer_bytes),
            ("bytes of immediates", |it| it.max_immediate_bytes.into()),
            ("bytes of workgroup memory", |it| it.max_workgroup_storage_bytes.into()),
            ("bytes of arrays per invocation", |it| it.max_private_array_bytes.into()),
            ("invocations per workgroup", |it| it.max_invocations_per_workgroup.into()),
            ("invocations along x", |it| it.max_workgroup_size_x.into()),
            ("invocations along y", |it| it.max_workgroup_size_y.into()),
            ("invocations along z", |it| it.max_workgroup_size_z.into()),
            ("workgroups per dimension", |it| it.max_workgroups_per_dimension.into()),
            ("rounds of all loops", |it| it.max_loop_iterations.map_or(u64::MAX, u64::from)),
            ("milliseconds per dispatch", |it| it.max_dispatch_milliseconds.map_or(u64::MAX, u64::from)),
        ];
        for (what, limit) in limits {
            let (asked, offered) = (limit(self), limit(device));
            if asked > offered {
                return Some(Excess::Limit { what, asked, offered });
            }
        }
        let (asked, offered) = (self.min_storage_offset_alignment, device.min_storage_offset_alignment);
        if asked < offered {
            let what = "bytes that offsets of bindings are multiples of";
            return Some(Excess::Limit { what, asked: asked.into(), offered: offered.into() });
        }
        let mut asked = self.features.clone();
        if self.emulate_matrices {
            asked.cooperative_matrices.clear();
        }
        let missing = missing(&asked, &device.features).map(Excess::Feature);
        missing.or_else(|| broken(self.faults, device.faults).map(Excess::Fault))
    }
}

/// The first fault of a device that another does not have.
fn broken(asked: Faults, device: Faults) -> Option<&'static str> {
    // Names all of them, so that none is forgotten.
    let Faults { barriers, atomics } = device;
    let faults = [("barriers", barriers, asked.barriers), ("atomics", atomics, asked.atomics)];
    faults.into_iter().find(|(_, device, asked)| *device && !asked).map(|(name, ..)| name)
}

/// The first feature of `asked` that is not among those `offered`.
fn missing(asked: &Features, offered: &Features) -> Option<String> {
    // Names all of them, so that none is forgotten.
    let Features {
        subgroup,
        subgroup_barrier,
        shader_f16,
        shader_i16,
        shader_int64,
        int64_atomics,
        shader_f64,
        float32_atomics,
        cooperative_matrices,
        timestamp_query,
        mappable_primary_buffers,
        pipeline_cache,
        no_contraction,
    } = asked;
    if let Some(sizes) = subgroup {
        let is_within = offered.subgroup.is_some_and(|device| sizes.min <= device.min && device.max <= sizes.max);
        if !is_within {
            return Some(format!("subgroup of {} to {}", sizes.min, sizes.max));
        }
    }
    let flags = [
        ("subgroup_barrier", *subgroup_barrier, offered.subgroup_barrier),
        ("shader_f16", *shader_f16, offered.shader_f16),
        ("shader_i16", *shader_i16, offered.shader_i16),
        ("shader_int64", *shader_int64, offered.shader_int64),
        ("int64_atomics", *int64_atomics, offered.int64_atomics),
        ("shader_f64", *shader_f64, offered.shader_f64),
        ("float32_atomics", *float32_atomics, offered.float32_atomics),
        ("timestamp_query", *timestamp_query, offered.timestamp_query),
        ("mappable_primary_buffers", *mappable_primary_buffers, offered.mappable_primary_buffers),
        ("pipeline_cache", *pipeline_cache, offered.pipeline_cache),
        ("no_contraction", *no_contraction, offered.no_contraction),
    ];
    if let Some((name, ..)) = flags.iter().find(|(_, asked, offered)| *asked && !offered) {
        return Some((*name).to_owned());
    }
    let other = cooperative_matrices.iter().find(|matrix| !offered.cooperative_matrices.contains(matrix));
    other.map(|CooperativeMatrix { m, n, k, factor, sum }| {
        format!("cooperative_matrices of {m} by {n} by {k}, {factor} into {sum}")
    })
}
