//! Targets from text, strictly: a field that there is none of is an error, and one that is left out is as in the base.

use super::{
    Arithmetic, CooperativeMatrix, DeviceKind, Faults, Features, Hardware, Schedule, Subgroups, Target, Vendor,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// A description of which any field may be missing, and how what it gives is put into a whole one.
macro_rules! partial {
    ($(#[$doc:meta])* $partial:ident of $whole:ident {
        fields { $($field:ident: $type:ty,)* }
        $(parts { $($part:ident: $parts:ident,)* } beside $extra:ident)?
    }) => {
        $(#[$doc])*
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $partial {
            $(#[serde(deserialize_with = "given")] $field: Option<$type>,)*
            $($(#[serde(deserialize_with = "object")] $part: $parts,)* $extra: Option<String>,)?
        }

        impl $partial {
            fn put_into(self, whole: &mut $whole) {
                // Names all fields, so that none is forgotten.
                let $whole { $($field,)* $($($part,)*)? } = whole;
                $(if let Some(given) = self.$field {
                    *$field = given;
                })*
                $($(self.$part.put_into($part);)*)?
            }
        }
    };
}

/// `Some` of what stands there: `null` is a value of its own, not a field that is missing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// What an object says: fields are named, so a list of them says nothing.
fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

partial! {
    PartialTarget of Target {
        fields {
            kind: DeviceKind,
            vendor: Vendor,
            schedule: Option<Schedule>,
            max_storage_buffers: u32,
            max_storage_binding_bytes: u64,
            max_uniform_binding_bytes: u64,
            max_uniform_buffers: u32,
            max_buffer_bytes: u64,
            min_storage_offset_alignment: u32,
            max_immediate_bytes: u32,
            max_workgroup_storage_bytes: u32,
            max_private_array_bytes: u32,
            max_invocations_per_workgroup: u32,
            max_workgroup_size_x: u32,
            max_workgroup_size_y: u32,
            max_workgroup_size_z: u32,
            max_workgroups_per_dimension: u32,
            max_loop_iterations: Option<u32>,
            max_dispatch_milliseconds: Option<u32>,
            forbid_contraction: bool,
            fast_scatter: bool,
            emulate_matrices: bool,
        }
        parts {
            features: PartialFeatures,
            faults: PartialFaults,
            arithmetic: PartialArithmetic,
            hardware: PartialHardware,
        } beside base
    }
}

partial! {
    PartialFeatures of Features {
        fields {
            subgroup: Option<Subgroups>,
            subgroup_barrier: bool,
            shader_f16: bool,
            shader_i16: bool,
            shader_int64: bool,
            int64_atomics: bool,
            shader_f64: bool,
            float32_atomics: bool,
            cooperative_matrices: Vec<CooperativeMatrix>,
            timestamp_query: bool,
            mappable_primary_buffers: bool,
            pipeline_cache: bool,
            no_contraction: bool,
        }
    }
}

partial! {
    PartialFaults of Faults {
        fields {
            barriers: bool,
            atomics: bool,
        }
    }
}

partial! {
    PartialArithmetic of Arithmetic {
        fields {
            contraction: bool,
            exact_division: bool,
            exact_sqrt: bool,
            exact_fma: bool,
            flushes_denormals: Option<bool>,
        }
    }
}

partial! {
    PartialHardware of Hardware {
        fields {
            cores: u32,
            lanes_per_core: u32,
            clock_hertz: u64,
            dram_bytes_per_second: u64,
            dram_transaction_bytes: u32,
            l2_bytes: u64,
            l2_speed_percent: u32,
            l1_bytes_per_core: u32,
            l1_speed_percent: u32,
            launch_nanoseconds: u32,
            few_registers: bool,
            serial_access: bool,
        }
    }
}

/// From an object of its fields; see [`Target`].
impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let partial = object::<PartialTarget, D>(deserializer)?;
        let mut target = match &partial.base {
            Some(name) => Target::preset(name).map_err(D::Error::custom)?,
            None => Target::default(),
        };
        partial.put_into(&mut target);
        target.check().map_err(D::Error::custom)?;
        Ok(target)
    }
}

/// Element types by their names in HLO.
pub(super) mod element_type {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use weft_hlo::ir::ElementType;

    pub(in super::super) fn serialize<S: Serializer>(value: &ElementType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ElementType, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
