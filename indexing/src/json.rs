//! Serialization of 128-bit counts.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::{Basis, Pattern, Stride, Unknown, VariableStride, VectorLimit, Verdict};

/// A count: a number where it fits 64 bits, which is all that readers of JSON can be trusted with, and its digits as a string
/// beyond.
pub(crate) fn count<S: Serializer>(count: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    match u64::try_from(*count) {
        Ok(count) => serializer.serialize_u64(count),
        Err(_) => serializer.collect_str(count),
    }
}

/// `{"code": "overflow", "reason": "numbers leave their range"}`
impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        explained(serializer, "Unknown", self.code(), &self.to_string())
    }
}

/// `{"code": "closed-form", "exact": true, "reason": "exact, in closed form"}`
impl Serialize for Basis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Basis", 3)?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("exact", &self.is_exact())?;
        fields.serialize_field("reason", &self.to_string())?;
        fields.end()
    }
}

/// A code and the sentence that explains it.
fn explained<S: Serializer>(serializer: S, name: &'static str, code: &str, reason: &str) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct(name, 2)?;
    fields.serialize_field("code", code)?;
    fields.serialize_field("reason", reason)?;
    fields.end()
}

/// `{"code": "partial", "reason": "partly coalesced"}`
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        explained(serializer, "Verdict", self.code(), &self.to_string())
    }
}

/// `{"code": "uniform", "reason": "all lanes of a subgroup read one element"}`
impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        explained(serializer, "Pattern", self.code(), &self.to_string())
    }
}

/// `{"code": "device", "reason": "the device reads no more at once"}`
impl Serialize for VectorLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        explained(serializer, "VectorLimit", self.code(), &self.to_string())
    }
}

/// `{"variable": "d0", "name": "th_x", "code": "constant", "distance": 1, "period": null, "reason": "1"}`; `distance` is what
/// the address moves by, in a constant stride at each value and in a piecewise one every `period` values.
impl Serialize for VariableStride {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (distance, period) = match self.stride {
            Stride::Constant(distance) => (Some(distance), None),
            Stride::Piecewise { period, advance } => (Some(advance), Some(period)),
            Stride::Irregular | Stride::Isolated | Stride::Unknown(_) => (None, None),
        };
        let mut fields = serializer.serialize_struct("VariableStride", 6)?;
        fields.serialize_field("variable", &self.variable.to_string())?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("code", self.stride.code())?;
        fields.serialize_field("distance", &distance)?;
        fields.serialize_field("period", &period)?;
        fields.serialize_field("reason", &self.stride.to_string())?;
        fields.end()
    }
}
