//! Makers of devices.

use std::fmt;

/// Who made a GPU: the shapes of tiles that suit it are chosen by this and by the [kind](super::DeviceKind), never by a device's name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Vendor {
    /// AMD.
    Amd,
    /// Apple.
    Apple,
    /// Arm: Mali.
    Arm,
    /// Intel.
    Intel,
    /// NVIDIA.
    Nvidia,
    /// Qualcomm: Adreno.
    Qualcomm,
    /// Nothing is known, as in a browser, or it is none of those.
    Unknown,
}

impl Vendor {
    /// All of them.
    pub const ALL: [Vendor; 7] =
        [Vendor::Amd, Vendor::Apple, Vendor::Arm, Vendor::Intel, Vendor::Nvidia, Vendor::Qualcomm, Vendor::Unknown];

    /// The name in one word, as [`Display`](fmt::Display) and JSON write it.
    pub fn name(self) -> &'static str {
        match self {
            Vendor::Amd => "amd",
            Vendor::Apple => "apple",
            Vendor::Arm => "arm",
            Vendor::Intel => "intel",
            Vendor::Nvidia => "nvidia",
            Vendor::Qualcomm => "qualcomm",
            Vendor::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
