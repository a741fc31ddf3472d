//! Constants.

use weft_hlo::ir::Scalar;

/// A constant as an expression that stands beside any operator.
pub(super) fn literal(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        Scalar::U32(value) => format!("{value}u"),
        // The least i32 cannot be written as a negated literal.
        Scalar::S32(i32::MIN) => "bitcast<i32>(0x80000000u)".to_owned(),
        Scalar::S32(value) if value < 0 => format!("({value}i)"),
        Scalar::S32(value) => format!("{value}i"),
        // Infinities and NaN are no constants of the language, and a negative zero may lose its sign in one.
        Scalar::F32(value) if !value.is_finite() || value.to_bits() == 1 << 31 => {
            format!("bitcast<f32>({:#010x}u ^ zeros.zero_constant)", value.to_bits())
        }
        Scalar::F32(value) if value < 0.0 => format!("({}f)", digits(value)),
        Scalar::F32(value) => format!("{}f", digits(value)),
        // Likewise; they are made of their words.
        Scalar::F64(value) if !value.is_finite() || value.to_bits() == 1 << 63 => {
            let (high, low) = (value.to_bits() >> 32, value.to_bits() & u64::from(u32::MAX));
            format!("bitcast<f64>((u64({high:#010x}u ^ zeros.zero_constant) << 32u) | u64({low:#010x}u))")
        }
        Scalar::F64(value) if value < 0.0 => format!("({value:?}lf)"),
        Scalar::F64(value) => format!("{value:?}lf"),
        // WGSL has no other types, and no kernel values of them.
        other => other.to_string(),
    }
}

/// The shortest digits that are read as this number. Of the largest one they are more than it is, which some readers refuse: its digits are
/// those in 64 bits.
fn digits(value: f32) -> String {
    if value.abs() == f32::MAX { format!("{:?}", f64::from(value)) } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_within_the_type() {
        assert_eq!(literal(Scalar::F32(1.5)), "1.5f");
        assert_eq!(literal(Scalar::F32(f32::MAX)), "3.4028234663852886e38f");
        assert_eq!(literal(Scalar::F32(f32::MIN)), "(-3.4028234663852886e38f)");
        assert_eq!(literal(Scalar::F32(-1e-45)), "(-1e-45f)");
        assert_eq!(literal(Scalar::S32(-7)), "(-7i)");
        assert_eq!(literal(Scalar::F64(0.1)), "0.1lf");
        assert_eq!(literal(Scalar::F64(f64::MIN)), "(-1.7976931348623157e308lf)");
        let zero = "bitcast<f64>((u64(0x80000000u ^ zeros.zero_constant) << 32u) | u64(0x00000000u))";
        assert_eq!(literal(Scalar::F64(-0.0)), zero);
    }
}
