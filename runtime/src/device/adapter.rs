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
    /// The number of the vendor, as PCI or Vulkan assigns it; 0 where none is told.
    pub vendor: u32,
    /// The vendor's number of the device; 0 where none is told.
    pub device: u32,
    /// Its kind, limits and features as it offers them, and what things cost on devices of its class.
    pub target: Target,
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.backend, self.target.kind)
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
            Selection::Kind(kind) => kind.fmt(f),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn adapters() -> Vec<AdapterInfo> {
        let adapter = |index, name: &str, kind| AdapterInfo {
            index,
            name: name.into(),
            backend: "vulkan".into(),
            driver: String::new(),
            vendor: 0,
            device: 0,
            target: Target::default().with(|target| target.kind = kind),
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
