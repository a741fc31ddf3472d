//! Results on standard output.

use crate::check::Difference;
use crate::inputs::plain;
use serde_json::{Value, json};
use std::io::{self, Write};
use weft_hlo::eval;
use weft_hlo::ir::{Data, ElementType, Literal, Scalar, Shape};

/// Elements shown of a result.
const PREVIEW: usize = 8;

/// Writes `text`, and a line end if it has none.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes bytes as they are.
pub(crate) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes one JSON value.
pub(crate) fn json(value: &Value) -> io::Result<()> {
    text(&value.to_string())
}

/// A result, where it was written to, and how it compares, as far as these were asked for.
pub(crate) struct Shown<'a> {
    pub(crate) name: String,
    pub(crate) literal: &'a Literal,
    pub(crate) file: Option<String>,
    pub(crate) difference: Option<&'a Difference>,
}

/// Smallest, mean and largest of the elements as numbers; NaN if any is.
struct Statistics {
    min: f64,
    mean: f64,
    max: f64,
}

fn statistics(data: &Data) -> Option<Statistics> {
    let fold = |values: &mut dyn Iterator<Item = f64>| {
        let (mut min, mut max, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0u64);
        for value in values {
            if value.is_nan() {
                (min, max) = (value, value);
            } else if !min.is_nan() {
                (min, max) = (min.min(value), max.max(value));
            }
            sum += value;
            count += 1;
        }
        (count > 0).then(|| Statistics { min, mean: sum / count as f64, max })
    };
    // Complex numbers have no order.
    let element_type = data.element_type().filter(|element_type| !element_type.is_complex())?;
    match (data, element_type) {
        (Data::S64(values), _) => fold(&mut values.iter().map(|&value| value as f64)),
        (Data::U64(values), _) => fold(&mut values.iter().map(|&value| value as f64)),
        _ => match eval::converted(data, ElementType::F64)? {
            Data::F64(values) => fold(&mut values.into_iter()),
            _ => None,
        },
    }
}

/// A number as HLO writes it, floats in their shortest form.
pub(crate) fn scalar_text(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        // The shortest decimal that reads back as the same float.
        Scalar::F32(value) => format!("{value:?}"),
        Scalar::F64(value) => format!("{value:?}"),
        other => other.to_string(),
    }
}

fn scalar_json(scalar: Scalar) -> Value {
    let element_type = scalar.element_type();
    match scalar {
        Scalar::Pred(value) => json!(value),
        Scalar::S64(value) => json!(value),
        Scalar::U64(value) => json!(value),
        Scalar::F64(value) => number(value),
        // Through its shortest decimal, so that 0.1 is not shown as 0.10000000149011612.
        Scalar::F32(value) => number(format!("{value:?}").parse().unwrap_or(f64::from(value))),
        Scalar::C64(value) => json!([number(value.re.into()), number(value.im.into())]),
        Scalar::C128(value) => json!([number(value.re), number(value.im)]),
        other => match eval::converted(&other.into(), ElementType::F64) {
            Some(Data::F64(values)) if element_type.is_integer() => json!(values[0] as i64),
            Some(Data::F64(values)) => number(values[0]),
            _ => json!(other.to_string()),
        },
    }
}

/// A number, or for NaN and the infinities, which JSON lacks, their names as strings.
pub(crate) fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

fn shape_text(shape: &Shape) -> String {
    match shape {
        Shape::Array(array) => plain(array).to_string(),
        other => other.to_string(),
    }
}

impl Shown<'_> {
    /// A line or three for people.
    pub(crate) fn to_text(&self) -> String {
        let mut line = format!("{} {}", self.name, shape_text(&self.literal.shape));
        if let Some(statistics) = statistics(&self.literal.data) {
            let Statistics { min, mean, max } = statistics;
            line += &format!("  min {min:.6} mean {mean:.6} max {max:.6}");
        }
        if let Some(difference) = self.difference {
            line +=
                &format!("\n  largest error {:e} absolute, {:e} relative", difference.absolute, difference.relative);
            if let Some((position, found, expected)) = &difference.first {
                let count = difference.count;
                line += &format!("; {count} out of tolerance, first [{position}]: {found} instead of {expected}");
            }
        }
        match &self.file {
            Some(file) => line += &format!("\n  written to {file}"),
            None => line += &format!("\n  [{}]", self.preview()),
        }
        line
    }

    fn preview(&self) -> String {
        let data = &self.literal.data;
        let shown: Vec<String> = (0..PREVIEW).map_while(|position| data.get(position)).map(scalar_text).collect();
        let more = if data.len().is_some_and(|count| count > PREVIEW) { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let data = &self.literal.data;
        let (element_type, extents) = match &self.literal.shape {
            Shape::Array(array) => (array.element_type.to_string(), array.extents.clone()),
            other => (other.to_string(), Vec::new()),
        };
        let preview: Vec<Value> = (0..PREVIEW).map_while(|position| data.get(position)).map(scalar_json).collect();
        let mut value = json!({ "name": self.name, "type": element_type, "extents": extents, "preview": preview });
        if let Some(Statistics { min, mean, max }) = statistics(data) {
            value["min"] = number(min);
            value["mean"] = number(mean);
            value["max"] = number(max);
        }
        if let Some(file) = &self.file {
            value["file"] = json!(file);
        }
        if let Some(difference) = self.difference {
            value["check"] = json!({
                "absolute": number(difference.absolute),
                "relative": number(difference.relative),
                "out_of_tolerance": difference.count,
            });
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_tell_of_nan() {
        let found = statistics(&Data::F32(vec![1.0, f32::NAN, 2.0])).expect("three elements");
        assert!(found.min.is_nan() && found.max.is_nan() && found.mean.is_nan());
        let found = statistics(&Data::S32(vec![-1, 4])).expect("two elements");
        assert_eq!((found.min, found.mean, found.max), (-1.0, 1.5, 4.0));
        assert!(statistics(&Data::F32(Vec::new())).is_none());
    }

    #[test]
    fn what_json_lacks_is_a_string() {
        assert_eq!(scalar_json(Scalar::F32(0.1)), json!(0.1));
        assert_eq!(scalar_json(Scalar::F32(f32::NAN)), json!("NaN"));
        assert_eq!(scalar_json(Scalar::F32(f32::NEG_INFINITY)), json!("-inf"));
    }
}
