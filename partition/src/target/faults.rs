//! What a device should do and does not.

/// What kernels may count on by the rules of WebGPU, and cannot on this device: a fault of its driver, found by a test. No preset has
/// any. Kernels that would need it are not compiled.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Faults {
    /// What an invocation writes to workgroup memory is not what others of the workgroup read behind a barrier.
    pub barriers: bool,
    /// Atomic operations on `u32` lose updates.
    pub atomics: bool,
}
