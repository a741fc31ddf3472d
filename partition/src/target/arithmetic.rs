//! What a device does to floats.

/// What becomes of float arithmetic between the kernel's text and its result. What is not known here, kernels have to bear.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Arithmetic {
    /// Whether `a * b + c` of the program may become a fused multiply-add, which rounds once instead of twice. XLA allows it on
    /// CPUs and GPUs, and drivers of real GPUs do it. Functions of the library whose error terms it would break are protected in
    /// any case.
    pub contraction: bool,
    /// Whether a division of two `f32` is known to be rounded correctly. Vulkan allows an error of 2.5 units in the last place.
    pub exact_division: bool,
    /// Whether the square root of an `f32` is known to be rounded correctly. Vulkan allows what `1 / inverseSqrt(x)` may have.
    pub exact_sqrt: bool,
    /// Whether WGSL's `fma` of three `f32` is known to round once. Vulkan allows it to be a product and a sum, each rounded.
    pub exact_fma: bool,
    /// Whether sums, products and quotients take subnormal `f32` for zero, as operands and as results; `Some(false)` where all
    /// operations keep them, `None` where that is not known, and either may happen, even from one operation to the next.
    pub flushes_denormals: Option<bool>,
}
