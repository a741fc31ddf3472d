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
    /// Bytes of device memory that buffers should take together: what is idle and kept for later is freed as far as those in use leave no room for
    /// it. What is in use is not refused for it, which a [budget of a program](crate::Options::memory_budget) does; `None` keeps up to 1 GiB idle.
    pub memory_budget: Option<u64>,
}

/// No features besides, no budget, and the [user's cache](Cache::user).
impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions { features: wgpu::Features::empty(), cache: Cache::user(), memory_budget: None }
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

    /// The same with a budget of so many bytes, or none.
    #[must_use]
    pub fn with_memory_budget(self, memory_budget: Option<u64>) -> Self {
        DeviceOptions { memory_budget, ..self }
    }
}
