//! What the compiler must know of a device.

mod arithmetic;
mod check;
mod faults;
mod features;
mod fit;
mod hardware;
#[cfg(feature = "serde")]
mod json;
mod kind;
mod preset;
mod schedule;
mod vendor;

pub use arithmetic::Arithmetic;
pub use check::TargetError;
pub use faults::Faults;
pub use features::{CooperativeMatrix, Features, Subgroups};
pub use fit::Excess;
pub use hardware::Hardware;
pub use kind::DeviceKind;
pub use schedule::Schedule;
pub use vendor::Vendor;

/// A device as the compiler sees it: what kernels have to keep to, what they may use, and what things cost there. Everything
/// from fusion to WGSL is a pure function of the program and this.
///
/// A target is made from a [preset](Target::preset), from the [floor](Target::default) or from a device (`weft-runtime`), and
/// then changed field by field:
///
/// ```
/// use weft_partition::Target;
///
/// let narrow = Target::default().with(|target| target.max_storage_buffers = 4);
/// assert_eq!(narrow.check(), Ok(()));
/// ```
///
/// With the feature `serde` it has a JSON form: an object of its fields, [`features`](Target::features),
/// [`faults`](Target::faults), [`arithmetic`](Target::arithmetic) and [`hardware`](Target::hardware) objects in it, `null` for `None`. What a text leaves
/// out is as in the preset that it names as `"base"`, or else as in the floor; a field that there is none of, a number out of
/// the range of its field and what [`check`](Target::check) refuses are errors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Target {
    /// The kind of device.
    pub kind: DeviceKind,
    /// Who made it. Like the kind it chooses among kernels, all of which run everywhere.
    pub vendor: Vendor,
    /// The schedules that kernels are given, whatever the kind of device; `None` for those that suit it. It is a wish, as
    /// [`forbid_contraction`](Target::forbid_contraction) is: kernels of either set run on every device, those of the other one more slowly.
    pub schedule: Option<Schedule>,
    /// Storage buffers that one kernel may bind, inputs and outputs together.
    pub max_storage_buffers: u32,
    /// Bytes of one storage buffer that a kernel may bind.
    pub max_storage_binding_bytes: u64,
    /// Bytes of one uniform buffer that a kernel may bind.
    pub max_uniform_binding_bytes: u64,
    /// Uniform buffers that one kernel may bind besides its parameter block.
    pub max_uniform_buffers: u32,
    /// Bytes of one buffer.
    pub max_buffer_bytes: u64,
    /// What the offset of a binding in its storage buffer has to be a multiple of, in bytes: a power of two. More of it asks for
    /// more, unlike other limits.
    pub min_storage_offset_alignment: u32,
    /// Bytes of immediates (push constants) of one kernel; 0 where there are none.
    pub max_immediate_bytes: u32,
    /// Bytes of workgroup memory of one kernel. wgpu does not check it.
    pub max_workgroup_storage_bytes: u32,
    /// Bytes of the arrays of one invocation, its registers aside. No API tells of this limit: Mesa's driver for Intel GPUs
    /// takes at most 128 KiB, which is what all descriptions say.
    pub max_private_array_bytes: u32,
    /// Invocations of one workgroup, all dimensions together.
    pub max_invocations_per_workgroup: u32,
    /// Size of a workgroup along its first dimension.
    pub max_workgroup_size_x: u32,
    /// Size of a workgroup along its second dimension.
    pub max_workgroup_size_y: u32,
    /// Size of a workgroup along its third dimension.
    pub max_workgroup_size_z: u32,
    /// Workgroups of one dispatch along each dimension.
    pub max_workgroups_per_dimension: u32,
    /// Rounds that all loops of one invocation may make together; `None` where there is no such limit.
    ///
    /// llvmpipe leaves every loop, silently, after 65,535 rounds (`LP_MAX_TGSI_LOOP_ITERATIONS`), counted over the whole
    /// shader.
    pub max_loop_iterations: Option<u32>,
    /// Milliseconds that one dispatch may take as the cost model counts; `None` where nobody watches.
    ///
    /// Windows resets a device that takes longer than 2 seconds, browsers do alike: 100 there, since a model may be wrong by
    /// ten and more.
    pub max_dispatch_milliseconds: Option<u32>,
    /// What kernels and their callers may use besides what every device has.
    pub features: Features,
    /// What every device should do and this one was found not to.
    pub faults: Faults,
    /// What the device does to floats.
    pub arithmetic: Arithmetic,
    /// Whether a product has to be rounded before anything is added to it or taken from it. It is a wish, not what a device is like: kernels
    /// keep to it where the device would [contract](Arithmetic::contraction).
    pub forbid_contraction: bool,
    /// Whether scatters may combine updates for one element in any order where that makes a difference: sums, products, minima and maxima of `f32`, which
    /// invocations then combine as they come. It is a wish, too: such results may differ from run to run in their last digits, and by more where updates cancel out.
    pub fast_scatter: bool,
    /// Whether what subgroups do with [cooperative matrices](Features::cooperative_matrices) is written out as loops over their elements, for devices that have none: such kernels
    /// run everywhere, and slowly. It is a wish, for tests of what they compute.
    pub emulate_matrices: bool,
    /// What memory and arithmetic cost.
    pub hardware: Hardware,
}

impl Target {
    /// The same with some fields changed.
    pub fn with(mut self, change: impl FnOnce(&mut Target)) -> Target {
        change(&mut self);
        self
    }
}

impl Default for Target {
    /// The floor: WebGPU's default limits, and the rounds that llvmpipe makes; every adapter offers them.
    fn default() -> Self {
        preset::floor()
    }
}
