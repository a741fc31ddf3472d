//! What wgpu says of adapters and devices, in the compiler's words.

use super::AdapterInfo;
use weft_hlo::ir::ElementType;
use weft_partition::{Arithmetic, CooperativeMatrix, DeviceKind, Features, Hardware, Subgroups, Target, Vendor};
use wgpu::Features as Wgpu;

type Flag = fn(&mut Features) -> &mut bool;

/// The features of wgpu that are one flag of a description.
const FLAGS: [(Wgpu, Flag); 9] = [
    (Wgpu::SUBGROUP_BARRIER, |features| &mut features.subgroup_barrier),
    (Wgpu::SHADER_F16, |features| &mut features.shader_f16),
    (Wgpu::SHADER_I16, |features| &mut features.shader_i16),
    (Wgpu::SHADER_INT64, |features| &mut features.shader_int64),
    (Wgpu::SHADER_INT64_ATOMIC_ALL_OPS, |features| &mut features.int64_atomics),
    (Wgpu::SHADER_F64, |features| &mut features.shader_f64),
    (Wgpu::SHADER_FLOAT32_ATOMIC, |features| &mut features.float32_atomics),
    (Wgpu::TIMESTAMP_QUERY, |features| &mut features.timestamp_query),
    (Wgpu::PIPELINE_CACHE, |features| &mut features.pipeline_cache),
];

/// The features of wgpu that a device is opened with, as far as its adapter has them: those that a description tells of.
pub(super) fn described(kind: DeviceKind) -> Wgpu {
    let others = Wgpu::SUBGROUP | Wgpu::IMMEDIATES | Wgpu::EXPERIMENTAL_COOPERATIVE_MATRIX;
    let flags = FLAGS.iter().fold(others, |all, (feature, _)| all | *feature);
    // SPIR-V of the runtime's own; whether it is of use a self-test tells.
    let flags = if cfg!(feature = "no-contraction") { flags | Wgpu::PASSTHROUGH_SHADERS } else { flags };
    if shares_memory(kind) { flags | Wgpu::MAPPABLE_PRIMARY_BUFFERS } else { flags }
}

/// An adapter with all that it offers.
pub(super) fn adapter(index: usize, adapter: &wgpu::Adapter) -> AdapterInfo {
    let info = adapter.get_info();
    let target = opened(adapter, &adapter.limits(), adapter.features());
    described_as(index, &info, target)
}

/// What can be compiled for on an adapter that is opened with these limits and features.
pub(super) fn opened(adapter: &wgpu::Adapter, limits: &wgpu::Limits, features: Wgpu) -> Target {
    let mut target = target(&adapter.get_info(), limits, features);
    if features.contains(Wgpu::EXPERIMENTAL_COOPERATIVE_MATRIX) {
        matrices(&mut target.features, &adapter.cooperative_matrix_properties());
    }
    target
}

/// Puts the matrices that subgroups multiply into a description that has subgroups. Sums that stay at the greatest number instead of passing it are left out.
fn matrices(features: &mut Features, offered: &[wgpu::CooperativeMatrixProperties]) {
    if features.subgroup.is_none() {
        return;
    }
    for it in offered.iter().filter(|it| !it.saturating_accumulation) {
        let [factor, sum] = [it.ab_type, it.cr_type].map(|element_type| match element_type {
            wgpu::CooperativeScalarType::F32 => ElementType::F32,
            wgpu::CooperativeScalarType::F16 => ElementType::F16,
            wgpu::CooperativeScalarType::I32 => ElementType::S32,
            wgpu::CooperativeScalarType::U32 => ElementType::U32,
        });
        let matrix = CooperativeMatrix::new([it.m_size, it.n_size, it.k_size], factor, sum);
        if !features.cooperative_matrices.contains(&matrix) {
            features.cooperative_matrices.push(matrix);
        }
    }
}

/// A device as it was opened, of whose adapter nothing else is known.
pub(super) fn device(device: &wgpu::Device) -> AdapterInfo {
    let info = device.adapter_info();
    described_as(0, &info, target(&info, &device.limits(), device.features()))
}

fn described_as(index: usize, info: &wgpu::AdapterInfo, target: Target) -> AdapterInfo {
    let driver = match (info.driver.as_str(), info.driver_info.as_str()) {
        (driver, "") => driver.to_string(),
        ("", version) => version.to_string(),
        (driver, version) => format!("{driver} {version}"),
    };
    let (name, backend) = (info.name.clone(), info.backend.to_string());
    AdapterInfo { index, name, backend, driver, vendor: info.vendor, device: info.device, target }
}

/// What can be compiled for.
pub(super) fn target(info: &wgpu::AdapterInfo, limits: &wgpu::Limits, features: Wgpu) -> Target {
    let kind = kind(info.device_type);
    let class = class(kind, info);
    let has_immediates = features.contains(Wgpu::IMMEDIATES);
    let is_watched = cfg!(windows) || info.backend == wgpu::Backend::BrowserWebGpu;
    Target::default().with(|target| {
        target.kind = kind;
        target.vendor = vendor(info);
        // A place is left for the parameter block.
        target.max_storage_buffers =
            limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group.saturating_sub(1));
        if info.backend == wgpu::Backend::Metal {
            // Uniform and storage buffers share their places there.
            target.max_storage_buffers = target.max_storage_buffers.saturating_sub(1);
        }
        target.max_storage_binding_bytes = limits.max_storage_buffer_binding_size;
        target.max_uniform_binding_bytes = limits.max_uniform_buffer_binding_size;
        target.max_uniform_buffers = limits.max_uniform_buffers_per_shader_stage.saturating_sub(1);
        target.max_buffer_bytes = limits.max_buffer_size;
        target.min_storage_offset_alignment = limits.min_storage_buffer_offset_alignment;
        target.max_immediate_bytes = if has_immediates { limits.max_immediate_size } else { 0 };
        target.max_workgroup_storage_bytes = limits.max_compute_workgroup_storage_size;
        target.max_invocations_per_workgroup = limits.max_compute_invocations_per_workgroup;
        target.max_workgroup_size_x = limits.max_compute_workgroup_size_x;
        target.max_workgroup_size_y = limits.max_compute_workgroup_size_y;
        target.max_workgroup_size_z = limits.max_compute_workgroup_size_z;
        target.max_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension;
        if matches!(kind, DeviceKind::Discrete | DeviceKind::Integrated) {
            target.max_loop_iterations = None;
        }
        if !is_watched {
            target.max_dispatch_milliseconds = None;
        }
        target.features = self::features(kind, info, features);
        target.arithmetic = class.arithmetic;
        target.hardware = class.hardware;
    })
}

fn kind(device_type: wgpu::DeviceType) -> DeviceKind {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::Other => DeviceKind::Unknown,
    }
}

fn vendor(info: &wgpu::AdapterInfo) -> Vendor {
    match info.vendor {
        _ if info.backend == wgpu::Backend::Metal && info.device_type == wgpu::DeviceType::IntegratedGpu => {
            Vendor::Apple
        }
        AMD => Vendor::Amd,
        APPLE => Vendor::Apple,
        ARM => Vendor::Arm,
        INTEL => Vendor::Intel,
        NVIDIA => Vendor::Nvidia,
        QUALCOMM => Vendor::Qualcomm,
        _ => Vendor::Unknown,
    }
}

fn shares_memory(kind: DeviceKind) -> bool {
    matches!(kind, DeviceKind::Integrated | DeviceKind::Software)
}

fn features(kind: DeviceKind, info: &wgpu::AdapterInfo, offered: Wgpu) -> Features {
    let mut features = Features::default();
    for (feature, flag) in FLAGS {
        *flag(&mut features) = offered.contains(feature);
    }
    features.mappable_primary_buffers = shares_memory(kind) && offered.contains(Wgpu::MAPPABLE_PRIMARY_BUFFERS);
    // Sizes that are no powers of two in order are a driver's mistake, and nothing to rely on.
    let (min, max) = match (info.subgroup_min_size, info.subgroup_max_size) {
        _ if is_apple_with_matrices(info, offered) => (APPLE_SUBGROUP, APPLE_SUBGROUP),
        told => told,
    };
    let has_sizes = min.is_power_of_two() && max.is_power_of_two() && min <= max;
    features.subgroup = (offered.contains(Wgpu::SUBGROUP) && has_sizes).then_some(Subgroups { min, max });
    features.subgroup_barrier &= features.subgroup.is_some();
    features.int64_atomics &= features.shader_int64;
    features
}

/// Invocations of a subgroup of every GPU of Apple's. Metal tells it of each pipeline alone, and wgpu the sizes of all GPUs that Metal ever ran on.
const APPLE_SUBGROUP: u32 = 32;

/// Whether it is a GPU of Apple's whose subgroups multiply matrices: others that Metal has those of are of other makers.
fn is_apple_with_matrices(info: &wgpu::AdapterInfo, offered: Wgpu) -> bool {
    let has_matrices = offered.contains(Wgpu::EXPERIMENTAL_COOPERATIVE_MATRIX);
    info.backend == wgpu::Backend::Metal && has_matrices && info.name.starts_with("Apple")
}

/// What wgpu does not tell: taken from the devices that this one is most like.
struct Class {
    arithmetic: Arithmetic,
    hardware: Hardware,
}

fn class(kind: DeviceKind, info: &wgpu::AdapterInfo) -> Class {
    let preset = match kind {
        DeviceKind::Discrete => "discrete",
        DeviceKind::Integrated => match info.vendor {
            _ if info.backend == wgpu::Backend::Metal => "apple",
            APPLE => "apple",
            ARM | BROADCOM | IMAGINATION | QUALCOMM | SAMSUNG => "mobile",
            _ => "integrated",
        },
        DeviceKind::Software => "software",
        _ => "floor",
    };
    let Target { mut arithmetic, mut hardware, .. } = Target::preset(preset).unwrap_or_default();
    arithmetic.flushes_denormals = flushes_denormals(info);
    arithmetic.contraction = contracts(info);
    arithmetic.exact_fma = fuses(info);
    hardware.few_registers = info.driver == "SwiftShader driver";
    hardware.serial_access = info.driver == "llvmpipe";
    if kind == DeviceKind::Software {
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
        hardware.cores = u32::try_from(cores).unwrap_or(u32::MAX);
    }
    Class { arithmetic, hardware }
}

/// Known of two drivers, for which tests ask whether it is true; wgpu tells it of none.
fn flushes_denormals(info: &wgpu::AdapterInfo) -> Option<bool> {
    match info.driver.as_str() {
        "llvmpipe" => Some(false),
        "SwiftShader driver" => Some(true),
        _ => None,
    }
}

/// Likewise: of drivers that nothing is known of it is to be borne.
fn contracts(info: &wgpu::AdapterInfo) -> bool {
    !matches!(info.driver.as_str(), "llvmpipe" | "SwiftShader driver")
}

/// Known of NVIDIA's driver for Vulkan, whose GPUs have one operation for it; elsewhere `fma` may become a product and a sum on its way to the driver, and the self-test finds what it is.
fn fuses(info: &wgpu::AdapterInfo) -> bool {
    info.vendor == NVIDIA && info.backend == wgpu::Backend::Vulkan
}

// Numbers of vendors, as PCI and Vulkan assign them.
const AMD: u32 = 0x1002;
const APPLE: u32 = 0x106b;
const ARM: u32 = 0x13b5;
const BROADCOM: u32 = 0x14e4;
const IMAGINATION: u32 = 0x1010;
const INTEL: u32 = 0x8086;
const NVIDIA: u32 = 0x10de;
const QUALCOMM: u32 = 0x5143;
const SAMSUNG: u32 = 0x144d;

#[cfg(test)]
mod tests {
    use super::*;

    fn info(device_type: wgpu::DeviceType, backend: wgpu::Backend, vendor: u32) -> wgpu::AdapterInfo {
        wgpu::AdapterInfo {
            vendor,
            subgroup_min_size: 8,
            subgroup_max_size: 32,
            ..wgpu::AdapterInfo::new(device_type, backend)
        }
    }

    #[test]
    fn webgpu_s_defaults_are_the_floor() {
        let info = info(wgpu::DeviceType::Other, wgpu::Backend::Vulkan, 0);
        let found = target(&info, &wgpu::Limits::default(), Wgpu::empty());
        let expected = Target::default().with(|floor| {
            if !cfg!(windows) {
                floor.max_dispatch_milliseconds = None;
            }
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn matrices_are_described_where_there_are_subgroups() {
        let offered = |saturates| wgpu::CooperativeMatrixProperties {
            m_size: 16,
            n_size: 16,
            k_size: 16,
            ab_type: wgpu::CooperativeScalarType::F16,
            cr_type: wgpu::CooperativeScalarType::F32,
            saturating_accumulation: saturates,
        };
        let mut features = Features::default();
        matrices(&mut features, &[offered(false)]);
        assert_eq!(features.cooperative_matrices, []);
        features.subgroup = Some(Subgroups { min: 32, max: 32 });
        matrices(&mut features, &[offered(true), offered(false), offered(false)]);
        let expected = CooperativeMatrix::new([16; 3], ElementType::F16, ElementType::F32);
        assert_eq!(features.cooperative_matrices, [expected]);
        let apple = wgpu::AdapterInfo {
            name: "Apple M1".to_owned(),
            ..info(wgpu::DeviceType::IntegratedGpu, wgpu::Backend::Metal, 0)
        };
        let sizes = |features: Wgpu| target(&apple, &wgpu::Limits::default(), features).features.subgroup;
        assert_eq!(sizes(Wgpu::SUBGROUP), Some(Subgroups { min: 8, max: 32 }));
        let both = Wgpu::SUBGROUP | Wgpu::EXPERIMENTAL_COOPERATIVE_MATRIX;
        assert_eq!(sizes(both), Some(Subgroups { min: 32, max: 32 }));
    }

    #[test]
    fn what_costs_is_taken_from_devices_of_the_class() {
        use wgpu::{Backend, DeviceType};
        for (device_type, backend, number, preset, vendor) in [
            (DeviceType::DiscreteGpu, Backend::Vulkan, NVIDIA, "discrete", Vendor::Nvidia),
            (DeviceType::DiscreteGpu, Backend::Dx12, NVIDIA, "discrete", Vendor::Nvidia),
            (DeviceType::DiscreteGpu, Backend::Dx12, AMD, "discrete", Vendor::Amd),
            (DeviceType::IntegratedGpu, Backend::Vulkan, INTEL, "integrated", Vendor::Intel),
            (DeviceType::IntegratedGpu, Backend::Metal, 0, "apple", Vendor::Apple),
            (DeviceType::IntegratedGpu, Backend::Vulkan, APPLE, "apple", Vendor::Apple),
            (DeviceType::IntegratedGpu, Backend::Vulkan, QUALCOMM, "mobile", Vendor::Qualcomm),
            (DeviceType::IntegratedGpu, Backend::Vulkan, ARM, "mobile", Vendor::Arm),
            (DeviceType::VirtualGpu, Backend::Vulkan, 0, "floor", Vendor::Unknown),
        ] {
            let found = target(&info(device_type, backend, number), &wgpu::Limits::default(), Wgpu::all());
            let preset = Target::preset(preset).expect("there is such a preset");
            let mut arithmetic = preset.arithmetic;
            arithmetic.exact_fma = vendor == Vendor::Nvidia && backend == Backend::Vulkan;
            assert_eq!((found.hardware, found.arithmetic), (preset.hardware, arithmetic), "{backend}");
            assert_eq!((found.vendor, found.check()), (vendor, Ok(())));
            assert_eq!(found.features.subgroup, Some(Subgroups { min: 8, max: 32 }));
            assert_eq!(found.features.mappable_primary_buffers, device_type == DeviceType::IntegratedGpu);
        }
    }
}
