//! What the compiler must know of a device.

/// What kind of device executes kernels; schedules are chosen by it, never by a device's name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
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

/// The limits a kernel has to keep to. Everything from fusion to WGSL is a pure function of the program and this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The kind of device.
    pub kind: DeviceKind,
    /// Storage buffers that one kernel may bind, inputs and outputs together.
    pub max_storage_buffers: u32,
    /// Bytes of one storage buffer that a kernel may bind.
    pub max_storage_binding_bytes: u64,
    /// Bytes of one buffer.
    pub max_buffer_bytes: u64,
    /// Invocations of one workgroup, all dimensions together.
    pub max_invocations_per_workgroup: u32,
    /// Size of a workgroup along its first dimension.
    pub max_workgroup_size_x: u32,
    /// Workgroups of one dispatch along each dimension.
    pub max_workgroups_per_dimension: u32,
    /// Rounds that all loops of one invocation may make together; `None` where there is no such limit.
    ///
    /// llvmpipe leaves every loop, silently, after 65,535 rounds (`LP_MAX_TGSI_LOOP_ITERATIONS`), counted over the whole
    /// shader.
    pub max_loop_iterations: Option<u32>,
}

impl Default for Target {
    /// The floor: WebGPU's default limits, and the rounds that llvmpipe makes; every adapter offers them.
    fn default() -> Self {
        Target {
            kind: DeviceKind::Unknown,
            max_storage_buffers: 8,
            max_storage_binding_bytes: 128 << 20,
            max_buffer_bytes: 256 << 20,
            max_invocations_per_workgroup: 256,
            max_workgroup_size_x: 256,
            max_workgroups_per_dimension: 65_535,
            max_loop_iterations: Some(65_535),
        }
    }
}
