//! Targets by name, for compiling without a device.

use super::{Arithmetic, DeviceKind, Faults, Features, Hardware, Subgroups, Target, TargetError, Vendor};

type Make = fn() -> Target;

const PRESETS: [(&str, Make); 6] = [
    ("floor", floor),
    ("discrete", discrete),
    ("integrated", integrated),
    ("apple", apple),
    ("mobile", mobile),
    ("software", software),
];

impl Target {
    /// The names of all presets.
    pub const PRESETS: [&'static str; 6] = {
        let mut names = [""; 6];
        let mut at = 0;
        while at < names.len() {
            names[at] = PRESETS[at].0;
            at += 1;
        }
        names
    };

    /// The target of this name. Limits and features are those that the devices of its kind have in common, so that what is compiled
    /// for it runs on nearly all of them; costs are those of one of them, as its maker publishes them.
    ///
    /// | Name | Limits and features | Costs |
    /// |---|---|---|
    /// | `floor` | WebGPU's defaults, which every adapter offers: the same as [`Target::default`] | as `integrated` |
    /// | `discrete` | desktop cards of NVIDIA, AMD and Intel, on Vulkan and D3D12 | NVIDIA GeForce RTX 3060 |
    /// | `integrated` | GPUs of desktop processors of AMD and Intel, on Vulkan and D3D12 | Intel Iris Xe, 96 units, DDR4-3200 |
    /// | `apple` | Apple's processors for computers, on Metal | M1 with 8 cores |
    /// | `mobile` | GPUs of Arm and Qualcomm, on Vulkan | Arm Mali-G78 MP20, LPDDR5 |
    /// | `software` | lavapipe and SwiftShader | measured on lavapipe, four cores |
    ///
    /// # Errors
    /// [`TargetError::UnknownPreset`] for any other name.
    pub fn preset(name: &str) -> Result<Target, TargetError> {
        let found = PRESETS.iter().find(|(known, _)| *known == name);
        found.map(|(_, make)| make()).ok_or_else(|| TargetError::UnknownPreset { name: name.to_owned() })
    }
}

/// Nothing is known of what rounds or flushes. The software adapters are the exception, tests compare them with the evaluator.
const UNKNOWN: Arithmetic = Arithmetic {
    contraction: true,
    exact_division: false,
    exact_sqrt: false,
    exact_fma: false,
    flushes_denormals: None,
};

/// WebGPU's default limits, and no features.
pub(super) fn floor() -> Target {
    Target {
        kind: DeviceKind::Unknown,
        vendor: Vendor::Unknown,
        schedule: None,
        max_storage_buffers: 8,
        max_storage_binding_bytes: 128 << 20,
        max_uniform_binding_bytes: 64 << 10,
        max_uniform_buffers: 11,
        max_buffer_bytes: 256 << 20,
        min_storage_offset_alignment: 256,
        max_immediate_bytes: 0,
        max_workgroup_storage_bytes: 16 << 10,
        max_private_array_bytes: 128 << 10,
        max_invocations_per_workgroup: 256,
        max_workgroup_size_x: 256,
        max_workgroup_size_y: 256,
        max_workgroup_size_z: 64,
        max_workgroups_per_dimension: 65_535,
        max_loop_iterations: Some(65_535),
        max_dispatch_milliseconds: Some(100),
        features: Features::default(),
        faults: Faults::default(),
        arithmetic: UNKNOWN,
        forbid_contraction: false,
        fast_scatter: false,
        emulate_matrices: false,
        // Of the kinds of devices the one in the middle.
        hardware: IRIS_XE,
    }
}

/// What desktop cards have on Vulkan and on D3D12. NVIDIA's have subgroups of 32, AMD's of 32 or 64, Intel's of 8 to 32. Intel's
/// have no `f64`, and D3D12 has neither barriers of subgroups nor atomic floats.
fn discrete() -> Target {
    Target {
        kind: DeviceKind::Discrete,
        max_storage_buffers: 16,
        max_storage_binding_bytes: 1 << 30,
        max_buffer_bytes: 1 << 30,
        max_immediate_bytes: 128,
        max_workgroup_storage_bytes: 32 << 10,
        max_invocations_per_workgroup: 1024,
        max_workgroup_size_x: 1024,
        max_workgroup_size_y: 1024,
        max_loop_iterations: None,
        features: Features {
            subgroup: Some(Subgroups { min: 8, max: 64 }),
            shader_f16: true,
            shader_i16: true,
            shader_int64: true,
            int64_atomics: true,
            timestamp_query: true,
            ..Features::default()
        },
        // NVIDIA's specification of the GeForce RTX 3060 and its white paper on GA10x: 28 multiprocessors of 128 lanes at 1.78 GHz,
        // 12 GiB at 360 GB/s, 3 MiB of L2, 128 KiB of L1 with shared memory.
        hardware: Hardware {
            cores: 28,
            lanes_per_core: 128,
            clock_hertz: 1_780_000_000,
            dram_bytes_per_second: 360_000_000_000,
            l2_bytes: 3 << 20,
            l1_bytes_per_core: 128 << 10,
            ..IRIS_XE
        },
        ..floor()
    }
}

/// As [`discrete`], but for the memory, which is the host's.
fn integrated() -> Target {
    let discrete = discrete();
    Target {
        kind: DeviceKind::Integrated,
        features: Features { mappable_primary_buffers: true, ..discrete.features },
        hardware: IRIS_XE,
        ..discrete
    }
}

/// Intel's description of Xe-LP: 96 units of 8 lanes, 16 units and 64 KiB of L1 to a subslice, 1.35 GHz, 3.75 MiB of shared cache;
/// two channels of DDR4-3200. Transactions, launches and the speeds of caches are those of XLA's model of GPUs.
const IRIS_XE: Hardware = Hardware {
    cores: 6,
    lanes_per_core: 128,
    clock_hertz: 1_350_000_000,
    dram_bytes_per_second: 51_200_000_000,
    dram_transaction_bytes: 64,
    l2_bytes: 3840 << 10,
    l2_speed_percent: 250,
    l1_bytes_per_core: 64 << 10,
    l1_speed_percent: 800,
    launch_nanoseconds: 1_000,
    few_registers: false,
    serial_access: false,
};

/// What Metal offers on Apple7 (M1) and later. Of its 31 places for buffers wgpu keeps two for itself (the sizes of the others,
/// immediates) and a kernel's parameter block takes one. Matrices of 8 by 8 are there too, but wgpu 30 gives them to nobody without
/// `unsafe`.
fn apple() -> Target {
    Target {
        kind: DeviceKind::Integrated,
        vendor: Vendor::Apple,
        max_storage_buffers: 28,
        max_storage_binding_bytes: 1 << 30,
        max_buffer_bytes: 1 << 30,
        max_immediate_bytes: 4096,
        max_workgroup_storage_bytes: 32 << 10,
        max_invocations_per_workgroup: 1024,
        max_workgroup_size_x: 1024,
        max_workgroup_size_y: 1024,
        max_loop_iterations: None,
        features: Features {
            // wgpu says 4 to 64 of every Metal device, whatever it has.
            subgroup: Some(Subgroups { min: 4, max: 64 }),
            subgroup_barrier: true,
            shader_f16: true,
            shader_i16: true,
            shader_int64: true,
            float32_atomics: true,
            timestamp_query: true,
            mappable_primary_buffers: true,
            ..Features::default()
        },
        // Apple's figures of the M1: 8 cores, 2.6 TFLOPS, which are 128 lanes at 1.28 GHz, and 68 GB/s; measurements published of
        // its caches: 8 MiB for the whole system, 8 KiB for a core.
        hardware: Hardware {
            cores: 8,
            lanes_per_core: 128,
            clock_hertz: 1_278_000_000,
            dram_bytes_per_second: 68_250_000_000,
            l2_bytes: 8 << 20,
            l1_bytes_per_core: 8 << 10,
            ..IRIS_XE
        },
        max_dispatch_milliseconds: None,
        ..floor()
    }
}

/// What Arm's Mali and Qualcomm's Adreno have in common on Vulkan: limits hardly above the floor, subgroups of 4 (the oldest
/// Mali) to 128 (Adreno), and of Adreno no 64-bit integers.
fn mobile() -> Target {
    Target {
        kind: DeviceKind::Integrated,
        vendor: Vendor::Arm,
        max_immediate_bytes: 128,
        max_loop_iterations: None,
        features: Features {
            subgroup: Some(Subgroups { min: 4, max: 128 }),
            shader_f16: true,
            shader_i16: true,
            mappable_primary_buffers: true,
            ..Features::default()
        },
        // Arm's description of the Mali-G78: two engines of 16 lanes in a core; as built into a telephone 20 cores at 848 MHz,
        // 2 MiB of L2, 16 KiB for a core, and two channels of LPDDR5.
        hardware: Hardware {
            cores: 20,
            lanes_per_core: 32,
            clock_hertz: 848_000_000,
            dram_bytes_per_second: 51_200_000_000,
            l2_bytes: 2 << 20,
            l1_bytes_per_core: 16 << 10,
            ..IRIS_XE
        },
        max_dispatch_milliseconds: None,
        ..floor()
    }
}

/// What lavapipe and SwiftShader have in common; of features that is subgroups, of 8 and of 4. Their divisions and square roots
/// are the processor's, and neither fuses what it multiplies and adds.
fn software() -> Target {
    Target {
        kind: DeviceKind::Software,
        max_storage_buffers: 10,
        max_immediate_bytes: 128,
        max_buffer_bytes: 1 << 30,
        max_workgroup_storage_bytes: 32 << 10,
        features: Features {
            subgroup: Some(Subgroups { min: 4, max: 8 }),
            subgroup_barrier: true,
            timestamp_query: true,
            mappable_primary_buffers: true,
            pipeline_cache: true,
            ..Features::default()
        },
        arithmetic: Arithmetic { contraction: false, exact_division: true, exact_sqrt: true, ..UNKNOWN },
        // Four cores with vectors of 8 `f32`. Copies written by hand reach 8 to 12 GB/s on lavapipe, a launch within a pass takes
        // 17 µs, and loads rather than caches are what costs; caches as usual in servers, lines of 64 bytes.
        hardware: Hardware {
            cores: 4,
            lanes_per_core: 8,
            clock_hertz: 3_000_000_000,
            dram_bytes_per_second: 12_000_000_000,
            l2_bytes: 8 << 20,
            l1_bytes_per_core: 32 << 10,
            launch_nanoseconds: 17_000,
            ..IRIS_XE
        },
        max_dispatch_milliseconds: None,
        ..floor()
    }
}
