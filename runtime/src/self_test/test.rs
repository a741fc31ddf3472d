//! The tests: what each asks, and what follows.

use super::kernel::Writing;
use super::{Answer, arithmetic, atomics, matrices, order, subgroups, wide, workgroup};
use crate::{Device, Error};
use weft_partition::Target;

/// Something that is asked of an adapter.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Test {
    /// NaN comes out of arithmetic that NaN goes into.
    NanArithmetic,
    /// WGSL's `min` and `max` of a NaN are NaN.
    NanMinMax,
    /// No comparison with NaN holds, and the negation of each does.
    NanCompare,
    /// NaN is told by its bits, computed or read.
    NanBits,
    /// Quotients of `f32` are the nearest numbers.
    Division,
    /// Square roots of `f32` are the nearest numbers.
    SquareRoot,
    /// `a * b` is rounded before `c` is added to it or taken from it.
    ProductsApart,
    /// `fma(a, b, c)` rounds once.
    ProductsFused,
    /// Sums and products are computed in the order in which they are written.
    OrderKept,
    /// They are, where values are hidden by the compiler's `keep`.
    OrderProtected,
    /// They are, with zeros alone hidden, and so are comparisons, in SPIR-V whose float operations are marked `NoContraction`.
    NoContraction,
    /// Subnormal `f32` go into arithmetic and come out of it.
    DenormalsKept,
    /// Subnormal `f32` are zeros to arithmetic, as operands and as results.
    DenormalsFlushed,
    /// Loops make as many rounds as they are written to make.
    LongLoops,
    /// What is written to workgroup memory is read by others of the workgroup behind a barrier.
    WorkgroupBarrier,
    /// Workgroup memory is zero at first.
    WorkgroupZeroed,
    /// Atomic operations on `u32` lose nothing, in buffers and in workgroup memory.
    Atomics,
    /// Atomic compare-and-exchange of `u32` lets one of several win.
    AtomicExchange,
    /// Subgroups are of the sizes that are told, and their lanes are numbered.
    SubgroupSize,
    /// Lanes of a subgroup are invocations that follow one another.
    SubgroupLanes,
    /// Sums, scans, ballots and exchanges within subgroups are right.
    SubgroupCollectives,
    /// What is written to workgroup memory is read by others of the subgroup behind the subgroup's barrier.
    SubgroupBarrier,
    /// Products of the matrices that are told are exact in all digits of their factors, as are sums of few digits.
    SubgroupMatrices,
    /// `f16` are computed with and rounded.
    F16,
    /// `i16` and `u16` wrap around.
    I16,
    /// `i64` and `u64` are computed with.
    I64,
    /// `f64` are computed with, and rounded to the nearest.
    F64,
    /// Atomic additions to `u64` lose nothing.
    AtomicsI64,
    /// Atomic additions to `f32` lose nothing.
    AtomicsF32,
}

type Decide = fn(&mut Target, bool);

/// A row of the table.
struct Row {
    name: &'static str,
    /// The part of a target that the answer decides, or else what is done whatever the answer.
    follows: Result<&'static str, &'static str>,
    decide: Decide,
}

const fn decides(name: &'static str, part: &'static str, decide: Decide) -> Row {
    Row { name, follows: Ok(part), decide }
}

const fn tells(name: &'static str, what: &'static str) -> Row {
    Row { name, follows: Err(what), decide: |_, _| {} }
}

static ROWS: [(Test, Row); Test::ALL.len()] = [
    (Test::NanArithmetic, tells("nan-arithmetic", "where it fails, results for NaN are wrong")),
    (Test::NanMinMax, tells("nan-min-max", "the compiler writes minima and maxima by comparisons of bits")),
    (Test::NanCompare, tells("nan-compare", "the compiler tells NaN by its bits")),
    (Test::NanBits, tells("nan-bits", "where it fails, results for NaN are wrong")),
    (
        Test::Division,
        decides("division", "arithmetic.exact_division", |it, holds| it.arithmetic.exact_division = holds),
    ),
    (Test::SquareRoot, decides("square-root", "arithmetic.exact_sqrt", |it, holds| it.arithmetic.exact_sqrt = holds)),
    (
        Test::ProductsApart,
        decides("products-apart", "arithmetic.contraction", |it, holds| it.arithmetic.contraction = !holds),
    ),
    (
        Test::ProductsFused,
        decides("products-fused", "arithmetic.exact_fma", |it, holds| it.arithmetic.exact_fma = holds),
    ),
    (Test::OrderKept, tells("order-kept", "the compiler hides sums and products from the driver")),
    (Test::OrderProtected, tells("order-protected", "where it fails, floats are rounded otherwise than written")),
    (
        Test::NoContraction,
        decides("no-contraction", "features.no_contraction", |it, holds| {
            // Kept by a build that could, it is of no use to one that cannot.
            it.features.no_contraction = holds && cfg!(feature = "no-contraction");
        }),
    ),
    // Two of them decide one part, see `SelfTest::apply`.
    (Test::DenormalsKept, decides("denormals-kept", "arithmetic.flushes_denormals", |_, _| {})),
    (Test::DenormalsFlushed, decides("denormals-flushed", "arithmetic.flushes_denormals", |_, _| {})),
    (
        Test::LongLoops,
        decides("long-loops", "max_loop_iterations", |it, holds| {
            if !holds {
                it.max_loop_iterations = Some(it.max_loop_iterations.unwrap_or(u32::MAX).min(LEAST_ROUNDS));
            }
        }),
    ),
    (Test::WorkgroupBarrier, decides("workgroup-barrier", "faults.barriers", |it, holds| it.faults.barriers |= !holds)),
    (Test::WorkgroupZeroed, tells("workgroup-zeroed", "kernels write workgroup memory before they read it")),
    (Test::Atomics, decides("atomics", "faults.atomics", |it, holds| it.faults.atomics |= !holds)),
    (Test::AtomicExchange, decides("atomic-exchange", "faults.atomics", |it, holds| it.faults.atomics |= !holds)),
    (Test::SubgroupSize, decides("subgroup-size", "features.subgroup", without_subgroups)),
    (Test::SubgroupLanes, tells("subgroup-lanes", "no kernel computes a lane's number")),
    (Test::SubgroupCollectives, decides("subgroup-collectives", "features.subgroup", without_subgroups)),
    (
        Test::SubgroupBarrier,
        decides("subgroup-barrier", "features.subgroup_barrier", |it, holds| it.features.subgroup_barrier &= holds),
    ),
    (
        Test::SubgroupMatrices,
        decides("subgroup-matrices", "features.cooperative_matrices", |it, holds| {
            if !holds {
                it.features.cooperative_matrices.clear();
            }
        }),
    ),
    (Test::F16, decides("f16", "features.shader_f16", |it, holds| it.features.shader_f16 &= holds)),
    (Test::I16, decides("i16", "features.shader_i16", |it, holds| it.features.shader_i16 &= holds)),
    (
        Test::I64,
        decides("i64", "features.shader_int64", |it, holds| {
            it.features.shader_int64 &= holds;
            it.features.int64_atomics &= holds;
        }),
    ),
    (Test::F64, decides("f64", "features.shader_f64", |it, holds| it.features.shader_f64 &= holds)),
    (
        Test::AtomicsI64,
        decides("atomics-i64", "features.int64_atomics", |it, holds| it.features.int64_atomics &= holds),
    ),
    (
        Test::AtomicsF32,
        decides("atomics-f32", "features.float32_atomics", |it, holds| it.features.float32_atomics &= holds),
    ),
];

/// The rounds that every driver known makes (llvmpipe leaves loops after as many).
const LEAST_ROUNDS: u32 = 65_535;

fn without_subgroups(target: &mut Target, holds: bool) {
    if !holds {
        target.features.subgroup = None;
        target.features.subgroup_barrier = false;
        target.features.cooperative_matrices.clear();
    }
}

/// Whether the device takes SPIR-V as it is.
fn takes_spirv(device: &Device) -> bool {
    let gpu = device.wgpu_device();
    gpu.features().contains(wgpu::Features::PASSTHROUGH_SHADERS) && gpu.adapter_info().backend == wgpu::Backend::Vulkan
}

impl Test {
    /// All tests, in the order in which they run.
    pub const ALL: [Test; 29] = [
        Test::NanArithmetic,
        Test::NanMinMax,
        Test::NanCompare,
        Test::NanBits,
        Test::Division,
        Test::SquareRoot,
        Test::ProductsApart,
        Test::ProductsFused,
        Test::OrderKept,
        Test::OrderProtected,
        Test::NoContraction,
        Test::DenormalsKept,
        Test::DenormalsFlushed,
        Test::LongLoops,
        Test::WorkgroupBarrier,
        Test::WorkgroupZeroed,
        Test::Atomics,
        Test::AtomicExchange,
        Test::SubgroupSize,
        Test::SubgroupLanes,
        Test::SubgroupCollectives,
        Test::SubgroupBarrier,
        Test::SubgroupMatrices,
        Test::F16,
        Test::I16,
        Test::I64,
        Test::F64,
        Test::AtomicsI64,
        Test::AtomicsF32,
    ];

    fn row(self) -> &'static Row {
        &ROWS[self as usize].1
    }

    /// Its name: `products-apart`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The part of a [`Target`] that the answer decides, as JSON names it: `arithmetic.contraction`. `None` where it decides nothing,
    /// because the compiler does without it in any case, or could not.
    pub fn decides(self) -> Option<&'static str> {
        self.row().follows.ok()
    }

    /// What the compiler does whatever the answer, of tests that decide nothing.
    pub fn remark(self) -> Option<&'static str> {
        self.row().follows.err()
    }

    /// Puts what follows from an answer into a description.
    pub(super) fn decide(self, target: &mut Target, holds: bool) {
        (self.row().decide)(target, holds);
    }

    /// Why the test cannot be run, if what it is about is not there.
    pub(super) fn lacks(self, device: &Device) -> Option<String> {
        let features = &device.target().features;
        let needed: &[(bool, &'static str)] = match self {
            Test::SubgroupSize | Test::SubgroupLanes | Test::SubgroupCollectives => {
                &[(features.subgroup.is_some(), "subgroup")]
            }
            Test::SubgroupBarrier => &[(features.subgroup_barrier, "subgroup_barrier")],
            Test::SubgroupMatrices => &[(!features.cooperative_matrices.is_empty(), "cooperative_matrices")],
            Test::F16 => &[(features.shader_f16, "shader_f16")],
            Test::I16 => &[(features.shader_i16, "shader_i16")],
            Test::I64 => &[(features.shader_int64, "shader_int64")],
            Test::F64 => &[(features.shader_f64, "shader_f64"), (features.shader_int64, "shader_int64")],
            Test::AtomicsI64 => &[(features.int64_atomics, "int64_atomics")],
            Test::AtomicsF32 => &[(features.float32_atomics, "float32_atomics")],
            Test::NoContraction if !cfg!(feature = "no-contraction") => {
                return Some("this build does without it".to_owned());
            }
            Test::NoContraction => &[(takes_spirv(device), "SPIR-V that is passed through")],
            _ => &[],
        };
        needed.iter().find(|(is_there, _)| !is_there).map(|(_, name)| format!("the adapter has no {name}"))
    }

    /// Runs it.
    pub(super) async fn run(self, device: &Device) -> Result<Answer, Error> {
        match self {
            Test::NanArithmetic => arithmetic::nan(device, Writing::Plain).await,
            Test::NanMinMax => arithmetic::nan_min_max(device).await,
            Test::NanCompare => arithmetic::nan_compare(device).await,
            Test::NanBits => arithmetic::nan_bits(device, Writing::Plain).await,
            Test::Division => arithmetic::division(device).await,
            Test::SquareRoot => arithmetic::square_root(device).await,
            Test::ProductsApart => order::products_apart(device, Writing::Plain).await,
            Test::ProductsFused => order::products_fused(device).await,
            Test::OrderKept => order::kept(device).await,
            Test::OrderProtected => order::protected(device).await,
            Test::NoContraction => order::no_contraction(device).await,
            Test::DenormalsKept => arithmetic::denormals(device, false).await,
            Test::DenormalsFlushed => arithmetic::denormals(device, true).await,
            Test::LongLoops => workgroup::long_loops(device).await,
            Test::WorkgroupBarrier => workgroup::barrier(device).await,
            Test::WorkgroupZeroed => workgroup::zeroed(device).await,
            Test::Atomics => atomics::additions(device).await,
            Test::AtomicExchange => atomics::exchanges(device).await,
            Test::SubgroupSize => subgroups::sizes(device).await,
            Test::SubgroupLanes => subgroups::lanes(device).await,
            Test::SubgroupCollectives => subgroups::collectives(device).await,
            Test::SubgroupBarrier => subgroups::barrier(device).await,
            Test::SubgroupMatrices => matrices::products(device).await,
            Test::F16 => wide::f16(device).await,
            Test::I16 => wide::i16(device).await,
            Test::I64 => wide::i64(device).await,
            Test::F64 => wide::f64(device).await,
            Test::AtomicsI64 => atomics::additions_i64(device).await,
            Test::AtomicsF32 => atomics::additions_f32(device).await,
        }
    }
}
