//! How a device is opened.

use crate::Cache;

/// What a device is opened with besides what every device is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// Features that the caller's own kernels use, as far as the adapter has them. Programs are compiled the same with and without.
    pub features: wgpu::Features,
    /// Where it is looked up what is known of the adapter ([`SelfTest`](crate::SelfTest)); `None` to leave the disk alone.
    pub cache: Option<Cache>,
}

/// No features besides, and the [user's cache](Cache::user).
impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions { features: wgpu::Features::empty(), cache: Cache::user() }
    }
}

impl DeviceOptions {
    /// The same with these features for the caller's kernels.
    #[must_use]
    pub fn with_features(self, features: wgpu::Features) -> Self {
        DeviceOptions { features, ..self }
    }

    /// The same with another cache, or none.
    #[must_use]
    pub fn with_cache(self, cache: Option<Cache>) -> Self {
        DeviceOptions { cache, ..self }
    }
}
