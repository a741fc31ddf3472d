//! Targets: presets, which can be, and which are enough for which.

use proptest::prelude::*;
use proptest::test_runner::Config;
use weft_hlo::ir::ElementType;
use weft_partition::{CooperativeMatrix, DeviceKind, Excess, Schedule, Subgroups, Target, TargetError, Vendor};

fn preset(name: &str) -> Target {
    Target::preset(name).unwrap()
}

/// What is compiled for the floor has the same text for ever.
#[test]
fn the_floor_is_what_webgpu_promises() {
    let floor = Target::default();
    assert_eq!(floor, preset("floor"));
    assert_eq!((floor.kind, floor.max_storage_buffers), (DeviceKind::Unknown, 8));
    assert_eq!((floor.max_storage_binding_bytes, floor.max_buffer_bytes), (128 << 20, 256 << 20));
    assert_eq!((floor.max_uniform_binding_bytes, floor.min_storage_offset_alignment), (65_536, 256));
    assert_eq!(floor.max_uniform_buffers, 11, "12, one of which is the parameter block");
    assert_eq!((floor.max_invocations_per_workgroup, floor.max_workgroup_storage_bytes), (256, 16_384));
    let sizes = [floor.max_workgroup_size_x, floor.max_workgroup_size_y, floor.max_workgroup_size_z];
    assert_eq!(sizes, [256, 256, 64]);
    assert_eq!((floor.max_workgroups_per_dimension, floor.max_loop_iterations), (65_535, Some(65_535)));
    assert_eq!(floor.features, Default::default());
}

#[test]
fn presets_can_be_and_are_no_less_than_the_floor() {
    for name in Target::PRESETS {
        let target = preset(name);
        assert_eq!(target.check(), Ok(()), "{name}");
        assert_eq!(Target::default().excess_over(&target), None, "{name}");
        assert_eq!(target.excess_over(&target), None, "{name}");
        let teraflops = target.hardware.flops_per_second() / 1e12;
        assert!((0.1..100.0).contains(&teraflops), "{name}: {teraflops}");
    }
    assert_eq!(preset("apple").hardware.launch_seconds(), 1e-6);
}

#[test]
fn a_name_that_is_none_is_told_with_those_that_are() {
    let error = Target::preset("apples").expect_err("there is no such preset");
    let names = "floor, discrete, integrated, apple, mobile, software";
    assert_eq!(error.to_string(), format!("there is no target \"apples\"; there are: {names}"));
    assert_eq!(error.code(), "TGT001");
}

#[test]
fn what_no_device_can_be_is_refused_with_the_field() {
    type Change = fn(&mut Target);
    let changes: [(&str, Change); 14] = [
        ("max_storage_buffers", |it| it.max_storage_buffers = 0),
        ("max_storage_binding_bytes", |it| it.max_storage_binding_bytes = 0),
        ("max_workgroup_size_z", |it| it.max_workgroup_size_z = 0),
        ("max_loop_iterations", |it| it.max_loop_iterations = Some(0)),
        ("max_dispatch_milliseconds", |it| it.max_dispatch_milliseconds = Some(0)),
        ("min_storage_offset_alignment", |it| it.min_storage_offset_alignment = 48),
        ("features.subgroup.min", |it| it.features.subgroup = Some(Subgroups { min: 64, max: 32 })),
        ("features.subgroup.max", |it| it.features.subgroup = Some(Subgroups { min: 32, max: 48 })),
        ("features.subgroup_barrier", |it| it.features.subgroup_barrier = true),
        ("features.int64_atomics", |it| it.features.int64_atomics = true),
        ("features.cooperative_matrices", |it| it.features.cooperative_matrices = vec![matrix()]),
        ("hardware.cores", |it| it.hardware.cores = 0),
        ("hardware.dram_transaction_bytes", |it| it.hardware.dram_transaction_bytes = 0),
        ("hardware.l1_speed_percent", |it| it.hardware.l1_speed_percent = 99),
    ];
    for (expected, change) in changes {
        let error = Target::default().with(change).check().expect_err(expected);
        assert_eq!(error.code(), "TGT002");
        let TargetError::Impossible { field, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*field, expected, "{error}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

fn matrix() -> CooperativeMatrix {
    CooperativeMatrix::new([8, 8, 8], ElementType::F16, ElementType::F32)
}

#[test]
fn what_a_device_lacks_is_named() {
    let limit = |what, asked, offered| Some(Excess::Limit { what, asked, offered });
    let subgroups = |min, max| move |it: &mut Target| it.features.subgroup = Some(Subgroups { min, max });
    let floor = Target::default();
    let more = |change: fn(&mut Target)| floor.clone().with(change).excess_over(&floor);
    assert_eq!(more(|it| it.max_storage_buffers = 9), limit("storage buffers per kernel", 9, 8));
    assert_eq!(more(|it| it.max_uniform_buffers = 12), limit("uniform buffers per kernel", 12, 11));
    assert_eq!(more(|it| it.max_loop_iterations = None), limit("rounds of all loops", u64::MAX, 65_535));
    assert_eq!(more(|it| it.max_workgroup_size_y = 512), limit("invocations along y", 512, 256));
    let alignment = "bytes that offsets of bindings are multiples of";
    assert_eq!(more(|it| it.min_storage_offset_alignment = 32), limit(alignment, 32, 256));
    assert_eq!(more(|it| it.features.shader_f16 = true), Some(Excess::Feature("shader_f16".into())));
    // Kind, vendor and costs are no matter.
    assert_eq!(more(|it| (it.kind, it.vendor, it.hardware.cores) = (DeviceKind::Discrete, Vendor::Amd, 99)), None);
    assert_eq!(more(|it| it.schedule = Some(Schedule::Software)), None);
    // Kernels work for any of the sizes that they were compiled for, and for no other.
    let device = floor.clone().with(subgroups(16, 32));
    assert_eq!(floor.clone().with(subgroups(8, 64)).excess_over(&device), None);
    let narrow = floor.clone().with(subgroups(32, 32)).excess_over(&device);
    assert_eq!(narrow, Some(Excess::Feature("subgroup of 32 to 32".into())));
    let matrices = device.clone().with(|it| it.features.cooperative_matrices.push(matrix()));
    let told = "cooperative_matrices of 8 by 8 by 8, f16 into f32";
    assert_eq!(matrices.excess_over(&device), Some(Excess::Feature(told.into())));
    assert_eq!(matrices.excess_over(&matrices), None);
    // What is written out as loops runs everywhere.
    assert_eq!(matrices.with(|it| it.emulate_matrices = true).excess_over(&device), None);
}

/// Any target that can be.
fn any_target() -> impl Strategy<Value = Target> {
    let limits = prop::array::uniform14(prop_oneof![1u32..16, 1..=u32::MAX]);
    let large = prop::array::uniform6(prop_oneof![1u64..1000, 1..=u64::MAX]);
    let powers = prop::array::uniform4(0u32..8);
    let choices = prop::array::uniform16(any::<bool>());
    let kind = prop::sample::select(vec![
        DeviceKind::Discrete,
        DeviceKind::Integrated,
        DeviceKind::Virtual,
        DeviceKind::Software,
        DeviceKind::Unknown,
    ]);
    let presets = prop::sample::select(Target::PRESETS.to_vec());
    (limits, large, powers, choices, kind, presets).prop_map(|(limits, large, powers, choices, kind, name)| {
        preset(name).with(|it| {
            it.kind = kind;
            it.vendor = Vendor::ALL[limits[13] as usize % Vendor::ALL.len()];
            it.schedule = choices[7].then_some(Schedule::ALL[usize::from(choices[8])]);
            [
                it.max_storage_buffers,
                it.max_immediate_bytes,
                it.max_workgroup_storage_bytes,
                it.max_private_array_bytes,
                it.max_invocations_per_workgroup,
                it.max_workgroup_size_x,
                it.max_workgroup_size_y,
                it.max_workgroup_size_z,
                it.max_workgroups_per_dimension,
                it.hardware.cores,
                it.hardware.lanes_per_core,
                it.hardware.l1_bytes_per_core,
                it.hardware.launch_nanoseconds,
                it.max_uniform_buffers,
            ] = limits;
            let speed = |at: usize| limits[at].saturating_add(99);
            (it.hardware.l2_speed_percent, it.hardware.l1_speed_percent) = (speed(13), speed(0));
            [
                it.max_storage_binding_bytes,
                it.max_uniform_binding_bytes,
                it.max_buffer_bytes,
                it.hardware.clock_hertz,
                it.hardware.dram_bytes_per_second,
                it.hardware.l2_bytes,
            ] = large;
            let [alignment, transaction, smallest, largest] = powers.map(|power| 1 << power);
            (it.min_storage_offset_alignment, it.hardware.dram_transaction_bytes) = (alignment, transaction);
            let features = &mut it.features;
            let has_subgroups;
            [
                has_subgroups,
                features.subgroup_barrier,
                features.shader_f16,
                features.shader_i16,
                features.shader_int64,
                features.int64_atomics,
                features.shader_f64,
                features.float32_atomics,
                features.timestamp_query,
                features.mappable_primary_buffers,
                features.pipeline_cache,
                features.no_contraction,
                it.arithmetic.contraction,
                it.arithmetic.exact_division,
                it.arithmetic.exact_sqrt,
                it.arithmetic.exact_fma,
                ..,
            ] = choices;
            let sizes = Subgroups { min: smallest.min(largest), max: smallest.max(largest) };
            features.subgroup = has_subgroups.then_some(sizes);
            features.subgroup_barrier &= has_subgroups;
            features.int64_atomics &= features.shader_int64;
            features.cooperative_matrices = if has_subgroups { vec![matrix()] } else { Vec::new() };
            it.arithmetic.flushes_denormals = choices[14].then_some(choices[15]);
            [it.faults.barriers, it.faults.atomics, it.forbid_contraction] = [choices[0], choices[5], choices[9]];
            it.fast_scatter = choices[9];
            it.emulate_matrices = choices[10];
            [it.hardware.few_registers, it.hardware.serial_access] = [choices[13], choices[10]];
            it.max_loop_iterations = choices[15].then_some(limits[13]);
            it.max_dispatch_milliseconds = choices[14].then_some(limits[13]);
        })
    })
}

proptest! {
    #![proptest_config(Config::with_cases(crate::count::cases(256) as u32))]

    #[test]
    fn to_be_enough_is_an_order(a in any_target(), b in any_target(), c in any_target()) {
        prop_assert_eq!(a.check(), Ok(()));
        prop_assert_eq!(a.excess_over(&a), None);
        if a.excess_over(&b).is_none() && b.excess_over(&c).is_none() {
            prop_assert_eq!(a.excess_over(&c), None);
        }
    }
}

#[cfg(feature = "serde")]
mod json {
    use super::*;

    fn read(text: &str) -> Result<Target, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_is_as_in_the_base() {
        assert_eq!(read("{}"), Ok(Target::default()));
        for name in Target::PRESETS {
            assert_eq!(read(&format!("{{\"base\": \"{name}\"}}")), Ok(preset(name)));
        }
        let text = r#"{"features": {"shader_f16": true, "subgroup": null}, "base": "apple", "max_loop_iterations": 7,
            "hardware": {"cores": 10}, "arithmetic": {"flushes_denormals": true}, "kind": "discrete"}"#;
        let expected = preset("apple").with(|it| {
            it.features.subgroup = None;
            // Nothing else is changed by that.
            it.features.subgroup_barrier = true;
            (it.max_loop_iterations, it.hardware.cores, it.kind) = (Some(7), 10, DeviceKind::Discrete);
            it.arithmetic.flushes_denormals = Some(true);
        });
        assert!(read(text).expect_err("no barrier without subgroups").contains("features.subgroup_barrier"));
        let text = text.replace("\"subgroup\"", "\"subgroup_barrier\": false, \"subgroup\"");
        assert_eq!(read(&text), Ok(expected.with(|it| it.features.subgroup_barrier = false)));
        // What is there may be taken away.
        assert_eq!(read(r#"{"max_loop_iterations": null}"#).map(|it| it.max_loop_iterations), Ok(None));
    }

    /// Field by field, so that none is forgotten: more than a device has is too much for it, and nothing is no limit.
    #[test]
    fn every_limit_and_feature_is_compared_and_checked() {
        let floor = Target::default();
        let whole = serde_json::to_value(&floor).expect("it can be written");
        let limits = whole.as_object().expect("it is an object").iter().filter(|(key, _)| key.starts_with("max_"));
        let mut count = 0;
        for (key, value) in limits {
            let value = value.as_u64().expect("the floor has all limits");
            let more = read(&format!("{{\"{key}\": {}}}", value + 1)).expect("it can be");
            let excess = Some((value + 1, value));
            let found = more.excess_over(&floor).and_then(|excess| match excess {
                Excess::Limit { asked, offered, .. } => Some((asked, offered)),
                Excess::Feature(_) | Excess::Fault(_) => None,
            });
            assert_eq!((found, floor.excess_over(&more)), (excess, None), "{key}");
            let none = read(&format!("{{\"{key}\": 0}}"));
            let may_be_none = ["max_immediate_bytes", "max_uniform_buffers"].contains(&key.as_str());
            assert!(may_be_none || none.is_err_and(|told| told.contains(key)), "{key}");
            count += 1;
        }
        assert_eq!(count, 15);
        let features = whole["features"].as_object().expect("it is an object");
        for (key, _) in features.iter().filter(|(_, value)| **value == false) {
            let others = match key.as_str() {
                "subgroup_barrier" => "\"subgroup\": {\"min\": 4, \"max\": 4}, ",
                "int64_atomics" => "\"shader_int64\": true, ",
                _ => "",
            };
            let [less, more] = ["false", "true"]
                .map(|flag| read(&format!("{{\"features\": {{{others}\"{key}\": {flag}}}}}")).expect("it can be"));
            assert_eq!(more.excess_over(&less), Some(Excess::Feature(key.clone())));
            assert_eq!(less.excess_over(&more), None, "{key}");
        }
        for (key, _) in whole["faults"].as_object().expect("it is an object") {
            let faulty = read(&format!("{{\"faults\": {{\"{key}\": true}}}}")).expect("it can be");
            assert!(matches!(floor.excess_over(&faulty), Some(Excess::Fault(name)) if name == key), "{key}");
            assert_eq!(faulty.excess_over(&floor), None, "{key}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, told) in [
            (r#"{"max_storage_bufers": 8}"#, "unknown field `max_storage_bufers`"),
            (r#"{"features": {"f16": true}}"#, "unknown field `f16`"),
            (r#"{"features": {"subgroup": {"min": 8, "max": 8, "size": 8}}}"#, "unknown field `size`"),
            (r#"{"hardware": {"dram": 1}}"#, "unknown field `dram`"),
            (r#"{"faults": {"everything": true}}"#, "unknown field `everything`"),
            (r#"{"arithmetic": {"exact": true}}"#, "unknown field `exact`"),
            (r#"{"max_storage_buffers": -1}"#, "invalid value: integer `-1`, expected u32"),
            (r#"{"max_storage_buffers": 4294967296}"#, "invalid value: integer `4294967296`, expected u32"),
            (r#"{"max_storage_buffers": 1.5}"#, "invalid type: floating point `1.5`, expected u32"),
            (r#"{"max_storage_buffers": null}"#, "invalid type: null, expected u32"),
            (r#"{"max_storage_buffers": 0}"#, "max_storage_buffers of a target is 0"),
            (r#"{"max_buffer_bytes": 1, "max_buffer_bytes": 2}"#, "duplicate field `max_buffer_bytes`"),
            (r#"{"kind": "toaster"}"#, "unknown variant `toaster`"),
            (r#"{"schedule": "toaster"}"#, "unknown variant `toaster`"),
            (r#"{"base": "toaster"}"#, "there is no target \"toaster\"; there are: floor"),
            (r#"{"features": {"subgroup": {"min": 8}}}"#, "missing field `max`"),
            (
                r#"{"features": {"cooperative_matrices": [{"m": 8, "n": 8, "k": 8, "factor": "f17", "sum": "f32"}]}}"#,
                "f17",
            ),
            ("[]", "invalid type: sequence, expected an object"),
            (r#"{"hardware": [1]}"#, "invalid type: sequence, expected an object"),
            ("8", "invalid type: integer `8`, expected an object"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    proptest! {
        #![proptest_config(Config::with_cases(crate::count::cases(256) as u32))]

        #[test]
        fn targets_come_back_from_text(target in any_target()) {
            let text = serde_json::to_string(&target).expect("it can be written");
            prop_assert_eq!(read(&text), Ok(target.clone()));
            // All of it is written, so that the base does not matter.
            let based = text.replacen('{', "{\"base\":\"software\",", 1);
            prop_assert_eq!(read(&based), Ok(target));
        }
    }
}
