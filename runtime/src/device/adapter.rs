//! Adapters: which there are, and which to take.

use crate::Error;
use crate::error::Advice;
use std::fmt;
use weft_partition::{DeviceKind, Target};

/// A device that could be used, as the system describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterInfo {
    /// Position in the system's order, from 0.
    pub index: usize,
    /// The system's name for it.
    pub name: String,
    /// The API it is reached through (`vulkan`, `metal`, `dx12`, …).
    pub backend: String,
    /// The driver and its version, as far as they are told.
    pub driver: String,
    /// Its kind and limits.
    pub target: Target,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.backend, kind_name(self.target.kind))
    }
}

/// A kind of device in one word.
pub fn kind_name(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Discrete => "discrete",
        DeviceKind::Integrated => "integrated",
        DeviceKind::Virtual => "virtual",
        DeviceKind::Software => "software",
        _ => "unknown",
    }
}

/// Which adapter to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// The fastest kind there is: discrete before integrated before virtual before software before unknown; among
    /// equals the system's first.
    #[default]
    Best,
    /// The adapter at this position of [`adapters`](super::adapters).
    Index(usize),
    /// The best adapter whose name or driver contains this, upper or lower case alike.
    Name(String),
    /// The first adapter of this kind.
    Kind(DeviceKind),
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::Best => f.write_str("the best"),
            Selection::Index(index) => write!(f, "number {index}"),
            Selection::Name(name) => write!(f, "called {name:?}"),
            Selection::Kind(kind) => f.write_str(kind_name(*kind)),
        }
    }
}

impl Selection {
    /// The position of the adapter chosen among `adapters`.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there are none, [`Error::AdapterNotFound`] if none is what was asked for.
    pub fn choose(&self, adapters: &[AdapterInfo]) -> Result<usize, Error> {
        if adapters.is_empty() {
            return Err(Error::NoAdapter(Advice::for_this_system()));
        }
        let best = |accepted: &dyn Fn(&AdapterInfo) -> bool| {
            let candidates = adapters.iter().enumerate().filter(|(_, adapter)| accepted(adapter));
            candidates.min_by_key(|(_, adapter)| rank(adapter.target.kind)).map(|(position, _)| position)
        };
        let chosen = match self {
            Selection::Best => best(&|_| true),
            Selection::Index(index) => (*index < adapters.len()).then_some(*index),
            Selection::Name(name) => {
                let wanted = name.to_lowercase();
                best(&|adapter| {
                    adapter.name.to_lowercase().contains(&wanted) || adapter.driver.to_lowercase().contains(&wanted)
                })
            }
            Selection::Kind(kind) => best(&|adapter| adapter.target.kind == *kind),
        };
        chosen.ok_or_else(|| Error::AdapterNotFound {
            asked: self.to_string(),
            available: adapters.iter().map(|adapter| adapter.name.clone()).collect(),
        })
    }
}

fn rank(kind: DeviceKind) -> u8 {
    match kind {
        DeviceKind::Discrete => 0,
        DeviceKind::Integrated => 1,
        DeviceKind::Virtual => 2,
        DeviceKind::Software => 3,
        _ => 4,
    }
}

/// What wgpu says of an adapter, in this crate's words.
pub(super) fn describe(index: usize, info: &wgpu::AdapterInfo, limits: &wgpu::Limits) -> AdapterInfo {
    let driver = match (info.driver.as_str(), info.driver_info.as_str()) {
        (driver, "") => driver.to_string(),
        ("", version) => version.to_string(),
        (driver, version) => format!("{driver} {version}"),
    };
    let target = target(kind(info.device_type), limits);
    AdapterInfo { index, name: info.name.clone(), backend: info.backend.to_string(), driver, target }
}

fn kind(device_type: wgpu::DeviceType) -> DeviceKind {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::Other => DeviceKind::Unknown,
    }
}

fn target(kind: DeviceKind, limits: &wgpu::Limits) -> Target {
    Target {
        kind,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group - 1),
        max_storage_binding_bytes: limits.max_storage_buffer_binding_size,
        max_buffer_bytes: limits.max_buffer_size,
        max_invocations_per_workgroup: limits.max_compute_invocations_per_workgroup,
        max_workgroup_size_x: limits.max_compute_workgroup_size_x,
        max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        max_loop_iterations: match kind {
            DeviceKind::Discrete | DeviceKind::Integrated => None,
            _ => Target::default().max_loop_iterations,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapters() -> Vec<AdapterInfo> {
        let adapter = |index, name: &str, kind| AdapterInfo {
            index,
            name: name.into(),
            backend: "vulkan".into(),
            driver: String::new(),
            target: Target { kind, ..Target::default() },
        };
        vec![
            adapter(0, "llvmpipe", DeviceKind::Software),
            adapter(1, "Iris", DeviceKind::Integrated),
            adapter(2, "Big Iris", DeviceKind::Discrete),
        ]
    }

    #[test]
    fn the_fastest_kind_wins() {
        assert_eq!(Selection::Best.choose(&adapters()), Ok(2));
        assert_eq!(Selection::Best.choose(&adapters()[..2]), Ok(1));
        assert_eq!(Selection::Kind(DeviceKind::Software).choose(&adapters()), Ok(0));
        assert_eq!(Selection::Name("iris".into()).choose(&adapters()), Ok(2));
        assert_eq!(Selection::Name("LLVM".into()).choose(&adapters()), Ok(0));
        assert_eq!(Selection::Index(1).choose(&adapters()), Ok(1));
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let error = Selection::Index(7).choose(&adapters()).expect_err("there are three");
        assert_eq!(error.to_string(), "RUN011: no adapter is number 7; there are: 0 llvmpipe, 1 Iris, 2 Big Iris");
        let error = Selection::Best.choose(&[]).expect_err("there are none");
        assert!(error.to_string().starts_with("RUN010: no GPU adapter was found"), "{error}");
    }
}
