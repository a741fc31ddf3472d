//! Numbers and reasons in JSON.

use serde_json::{Value, json};
use weft_affine::Interval;

/// A count: a number where it fits 64 bits, which is all that readers of JSON can be trusted with, and its digits beyond.
pub(super) fn count(count: u128) -> Value {
    u64::try_from(count).map_or_else(|_| json!(count.to_string()), |count| json!(count))
}

/// `[lo, hi]`
pub(super) fn interval(bounds: Interval) -> Value {
    json!([bounds.lo, bounds.hi])
}

/// A stable code and the sentence that explains it.
pub(super) fn reason(code: &str, text: &dyn std::fmt::Display) -> Value {
    json!({ "code": code, "reason": text.to_string() })
}
