//! Kinds of devices.

use std::fmt;

/// What kind of device executes kernels; schedules are chosen by it, never by a device's name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU seen through virtualization.
    Virtual,
    /// A software rasterizer on the CPU (lavapipe, SwiftShader).
    Software,
    /// Nothing is known.
    Unknown,
}

impl DeviceKind {
    /// The kind in one word, as [`Display`](fmt::Display) and JSON write it.
    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Discrete => "discrete",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Software => "software",
            DeviceKind::Unknown => "unknown",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
