//! What kernels may use besides what every device has.

use weft_hlo::ir::ElementType;

/// Optional abilities of a device, of its driver and of the API through which it is reached.
///
/// `dot4I8Packed` and `dot4U8Packed` are no features: every device computes them, where there is no such instruction by the
/// writer's code for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Features {
    /// Operations within subgroups (wgpu's `SUBGROUP`), and how large subgroups are; `None` where there are none. Vulkan, Metal,
    /// D3D12.
    pub subgroup: Option<Subgroups>,
    /// Barriers within subgroups (`SUBGROUP_BARRIER`). Vulkan, Metal; needs [`subgroup`](Features::subgroup).
    pub subgroup_barrier: bool,
    /// `f16` in kernels and buffers (`SHADER_F16`). Vulkan, Metal, D3D12, browsers.
    pub shader_f16: bool,
    /// `i16` and `u16` in kernels and buffers (`SHADER_I16`). Vulkan, Metal, D3D12.
    pub shader_i16: bool,
    /// `i64` and `u64` in kernels and buffers (`SHADER_INT64`). Vulkan, Metal, D3D12.
    pub shader_int64: bool,
    /// All atomic operations on 64-bit integers (`SHADER_INT64_ATOMIC_ALL_OPS`). Vulkan, D3D12; needs
    /// [`shader_int64`](Features::shader_int64).
    pub int64_atomics: bool,
    /// `f64` in kernels and buffers (`SHADER_F64`). Vulkan; kernels compute with it where there is [`shader_int64`](Features::shader_int64), too.
    pub shader_f64: bool,
    /// Atomic additions to `f32` (`SHADER_FLOAT32_ATOMIC`). Vulkan, Metal.
    pub float32_atomics: bool,
    /// The products of small matrices that a subgroup computes together (`EXPERIMENTAL_COOPERATIVE_MATRIX`); none where there
    /// are none. Vulkan, Metal; needs [`subgroup`](Features::subgroup).
    pub cooperative_matrices: Vec<CooperativeMatrix>,
    /// Clocks of the device that are read between dispatches (`TIMESTAMP_QUERY`). Vulkan, Metal, D3D12.
    pub timestamp_query: bool,
    /// Buffers of kernels that the host may map (`MAPPABLE_PRIMARY_BUFFERS`): told only of devices that share the host's memory,
    /// where it saves a copy; on others it would make kernels slow.
    pub mappable_primary_buffers: bool,
    /// Compiled pipelines that can be kept in a file (`PIPELINE_CACHE`). Vulkan.
    pub pipeline_cache: bool,
    /// Kernels that a driver computes in the order in which they are written: their float operations are marked `NoContraction`, and only literal
    /// zeros are hidden. Vulkan; found by the self-test of a runtime that was built with it.
    pub no_contraction: bool,
}

/// How many invocations the subgroups of a device may have: powers of two, both ends included. Which of them a kernel gets is
/// the driver's choice where they differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Subgroups {
    /// The smallest.
    pub min: u32,
    /// The largest.
    pub max: u32,
}

/// A product that subgroups compute: an `m` by `k` matrix times a `k` by `n` matrix, added to an `m` by `n` matrix.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct CooperativeMatrix {
    /// Rows of the product.
    pub m: u32,
    /// Columns of the product.
    pub n: u32,
    /// Columns of the first factor.
    pub k: u32,
    /// Elements of both factors.
    #[cfg_attr(feature = "serde", serde(with = "super::json::element_type"))]
    pub factor: ElementType,
    /// Elements of the sum and the result.
    #[cfg_attr(feature = "serde", serde(with = "super::json::element_type"))]
    pub sum: ElementType,
}

impl CooperativeMatrix {
    /// A product of `m` by `k` and `k` by `n` factors.
    pub fn new([m, n, k]: [u32; 3], factor: ElementType, sum: ElementType) -> Self {
        CooperativeMatrix { m, n, k, factor, sum }
    }
}
