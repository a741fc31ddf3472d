//! Binary floating-point formats of at most 16 bits.

use super::{ElementType, for_each_element_type};
use std::cmp::Ordering;

/// A binary floating-point format of at most 16 bits, all of whose values are values of `f32`.
///
/// The names say how: `e5m2` has five bits of exponent and two of mantissa; `fn` is finite (no infinities, only the
/// pattern of all ones is a NaN); `fnuz` has the one NaN where negative zero would be; `b11` moves the bias. These are
/// the formats of IEEE 754 (`f16`), of the OCP specifications for 8-bit floats and for microscaling, and of
/// *8-bit Numerical Formats for Deep Neural Networks* (Noune et al., 2022).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

const LISTED: &str = "the table of element types has the format";

macro_rules! formats {
    ($($variant:ident $name:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident
        [$($exponent:literal $mantissa:literal $bias:literal $specials:ident)?];)*) => {
        impl FloatFormat {
            /// As [`of`](Self::of), also of the formats of more than 16 bits. Patterns of these do not fit what takes or gives them.
            const fn of_any(element_type: ElementType) -> Option<Self> {
                match element_type {
                    $($(ElementType::$variant => Some(FloatFormat {
                        exponent_bits: $exponent,
                        mantissa_bits: $mantissa,
                        bias: $bias,
                        specials: Specials::$specials,
                    }),)?)*
                    _ => None,
                }
            }
        }
    };
}

for_each_element_type! { formats }

/// Which numbers a format of any size has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct FloatRange {
    /// The exponent of the greatest finite value.
    pub(crate) greatest: i32,
    /// The exponent of the least positive value.
    pub(crate) least: i32,
    /// How many bits of a significand follow the first.
    pub(crate) mantissa_bits: u32,
    /// Whether there are infinities, NaNs and a zero of either sign.
    pub(crate) is_ieee: bool,
    /// Whether zero has a sign.
    pub(crate) has_negative_zero: bool,
}

impl FloatRange {
    /// Of a real floating-point type.
    pub(crate) fn of(element_type: ElementType) -> Option<Self> {
        let format = FloatFormat::of_any(element_type)?;
        let FloatFormat { exponent_bits, mantissa_bits, bias, specials } = format;
        let top = (1 << exponent_bits) - 1 - bias;
        // The highest exponent is one of numbers unless all of its patterns are something else.
        let taken = match specials {
            Specials::Ieee => true,
            Specials::AllOnes | Specials::Unsigned => mantissa_bits == 0,
            Specials::NegativeZero | Specials::Nothing => false,
        };
        Some(FloatRange {
            greatest: top - i32::from(taken),
            least: if format.has_sign() { 1 - bias - mantissa_bits as i32 } else { -bias },
            mantissa_bits,
            is_ieee: specials == Specials::Ieee,
            has_negative_zero: !matches!(specials, Specials::NegativeZero | Specials::Unsigned),
        })
    }
}

/// Which patterns are no numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Specials {
    /// The highest exponent is for infinities and NaNs, as in IEEE 754.
    Ieee,
    /// All ones, of either sign, is a NaN; there are no infinities.
    AllOnes,
    /// The pattern of negative zero is the only NaN; there are no infinities.
    NegativeZero,
    /// Every pattern is a number.
    Nothing,
    /// There is neither sign nor zero; all ones is a NaN.
    Unsigned,
}

/// A pattern of bits, read.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Decoded {
    /// A number or an infinity, with the sign of zero.
    Value(f32),
    /// A NaN; its payload where the format has any.
    Nan { negative: bool, payload: Option<u16> },
}

impl FloatFormat {
    /// `f16` of IEEE 754.
    pub const F16: Self = FloatFormat::of(ElementType::F16).expect(LISTED);
    /// `bf16`: the upper half of an `f32`.
    pub const BF16: Self = FloatFormat::of(ElementType::Bf16).expect(LISTED);

    /// The format of an element type; `None` for `f32`, `f64` and what is no real floating-point type.
    pub const fn of(element_type: ElementType) -> Option<Self> {
        match FloatFormat::of_any(element_type) {
            Some(format) if format.bits() <= 16 => Some(format),
            _ => None,
        }
    }

    /// The number of bits of a value, the sign included.
    pub const fn bits(self) -> u32 {
        self.exponent_bits + self.mantissa_bits + self.has_sign() as u32
    }

    /// The number of bits behind the point of a significand.
    pub const fn mantissa_bits(self) -> u32 {
        self.mantissa_bits
    }

    /// What is added to the exponent of a normal number to give the exponent's bits.
    pub const fn bias(self) -> i32 {
        self.bias
    }

    /// Whether zero has a sign.
    pub const fn has_negative_zero(self) -> bool {
        !matches!(self.specials, Specials::NegativeZero | Specials::Unsigned)
    }

    pub(crate) const fn has_sign(self) -> bool {
        !matches!(self.specials, Specials::Unsigned)
    }

    /// The pattern of the sign: its bit, 0 in a format that has none.
    pub const fn sign(self) -> u16 {
        if self.has_sign() { 1 << (self.exponent_bits + self.mantissa_bits) } else { 0 }
    }

    /// The pattern of the highest exponent.
    const fn top(self) -> u16 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// The pattern of the greatest finite value.
    pub const fn greatest(self) -> u16 {
        let ones = self.top() | ((1 << self.mantissa_bits) - 1);
        match self.specials {
            Specials::Ieee => self.top() - 1,
            Specials::AllOnes | Specials::Unsigned => ones - 1,
            Specials::NegativeZero | Specials::Nothing => ones,
        }
    }

    /// The greatest finite value.
    pub fn max(self) -> f32 {
        self.value(self.greatest())
    }

    /// The number of decimal digits that always suffice to tell two values apart: `ceil(1 + p log10(2))` for `p` bits
    /// of precision.
    pub const fn digits(self) -> u32 {
        // 0.30103 is the logarithm of 2, closely enough for all p to 11.
        1 + ((self.mantissa_bits + 1) * 30_103).div_ceil(100_000)
    }

    /// The value with these bits; those above the format's are passed over.
    pub fn value(self, bits: u16) -> f32 {
        match self.decode(bits) {
            Decoded::Value(value) => value,
            Decoded::Nan { negative, .. } => f32::NAN.copysign(if negative { -1.0 } else { 1.0 }),
        }
    }

    pub(crate) fn decode(self, bits: u16) -> Decoded {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.top() | ((1 << self.mantissa_bits) - 1));
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let nan = |payload| Decoded::Nan { negative, payload };
        match self.specials {
            Specials::Ieee if magnitude > self.top() => return nan(Some(mantissa)),
            Specials::Ieee if magnitude == self.top() => {
                return Decoded::Value(if negative { f32::NEG_INFINITY } else { f32::INFINITY });
            }
            Specials::AllOnes | Specials::Unsigned if magnitude > self.greatest() => return nan(None),
            Specials::NegativeZero if negative && magnitude == 0 => return nan(None),
            _ => {}
        }
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let (significand, exponent) = if exponent == 0 && self.has_sign() {
            (mantissa, 1)
        } else {
            (mantissa | 1 << self.mantissa_bits, exponent)
        };
        // A significand of at most 11 bits times a power of two from -133 to 127: exact in both types.
        let scale = power_of_two(exponent - self.bias - self.mantissa_bits as i32);
        let value = (f64::from(significand) * scale) as f32;
        Decoded::Value(if negative { -value } else { value })
    }

    /// The bits of infinity, if the format has one.
    pub fn infinity(self, negative: bool) -> Option<u16> {
        (self.specials == Specials::Ieee).then(|| self.top() | if negative { self.sign() } else { 0 })
    }

    /// The bits of the NaN without payload, if the format has a NaN. Where there is only one, the sign does not matter.
    pub fn nan(self, negative: bool) -> Option<u16> {
        let sign = if negative { self.sign() } else { 0 };
        match self.specials {
            Specials::Ieee => Some(self.top() | 1 << (self.mantissa_bits - 1) | sign),
            Specials::AllOnes | Specials::Unsigned => Some((self.greatest() + 1) | sign),
            Specials::NegativeZero => Some(self.sign()),
            Specials::Nothing => None,
        }
    }

    /// The greatest payload of a NaN; zero where NaNs have none.
    pub fn max_payload(self) -> u16 {
        if self.specials == Specials::Ieee { (1 << self.mantissa_bits) - 1 } else { 0 }
    }

    /// The bits of the value nearest to `value`, ties to even; `None` where that is beyond the greatest, and for NaN.
    ///
    /// Formats in which every pattern is a number keep to their greatest value instead. What is positive and below the
    /// least value of a format without zero rounds to that least value; zero and negative numbers are refused there.
    pub fn nearest(self, value: f64) -> Option<u16> {
        self.nearest_of(value, || Ordering::Equal)
    }

    /// The bits of the value nearest to a number of which `value` is the nearest `f64`. If `value` is the middle
    /// between two values, `side` says on which side of it the number's magnitude is.
    pub(crate) fn nearest_of(self, value: f64, side: impl FnOnce() -> Ordering) -> Option<u16> {
        if !value.is_finite() || (!self.has_sign() && value <= 0.0) {
            return None;
        }
        let bits = value.abs().to_bits();
        // |value| = significand * 2^exponent, and 2^floor is the greatest power of two below it.
        let (significand, exponent) = match bits >> 52 {
            0 => (bits, -1074),
            biased => (bits & ((1 << 52) - 1) | 1 << 52, biased as i32 - 1075),
        };
        let floor = exponent + 63 - significand.leading_zeros() as i32;
        let lowest = if self.has_sign() { 1 - self.bias } else { -self.bias };
        let floor = floor.max(lowest);
        // At most ten of the 53 bits stay; a subnormal f64 is far below the least value of every format.
        let shift = floor - self.mantissa_bits as i32 - exponent;
        let rounded = if shift > 54 { 0 } else { round(significand, shift as u32, side) };
        // A carry out of the mantissa goes to the exponent above it.
        let code = (i64::from(floor - lowest) << self.mantissa_bits) + rounded as i64;
        let code = if self.has_sign() { code } else { (code - 1).max(0) };
        let magnitude = match u16::try_from(code) {
            Ok(code) if code <= self.greatest() => code,
            _ if self.specials == Specials::Nothing => self.greatest(),
            _ => return None,
        };
        let negative = value.is_sign_negative() && !(magnitude == 0 && self.specials == Specials::NegativeZero);
        Some(if negative { magnitude | self.sign() } else { magnitude })
    }
}

/// `significand / 2^shift` rounded to an integer, ties by `side` and then to even.
fn round(significand: u64, shift: u32, side: impl FnOnce() -> Ordering) -> u64 {
    let quotient = significand >> shift;
    let remainder = significand & ((1 << shift) - 1);
    let up = match remainder.cmp(&(1 << (shift - 1))) {
        Ordering::Equal => match side() {
            Ordering::Equal => quotient % 2 == 1,
            other => other == Ordering::Greater,
        },
        other => other == Ordering::Greater,
    };
    quotient + u64::from(up)
}

/// `2^exponent` for an exponent of a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> impl Iterator<Item = (ElementType, FloatFormat)> {
        ElementType::ALL.iter().filter_map(|&element_type| Some((element_type, FloatFormat::of(element_type)?)))
    }

    /// Every pattern of a format.
    fn patterns(format: FloatFormat) -> impl Iterator<Item = u16> {
        0..=u16::MAX >> (16 - format.bits())
    }

    /// The finite values of a format in increasing order, zero once, with their bits.
    fn finite(format: FloatFormat) -> Vec<(f64, u16)> {
        let mut values: Vec<(f64, u16)> = patterns(format).map(|bits| (f64::from(format.value(bits)), bits)).collect();
        values.retain(|&(value, _)| value.is_finite() && !(value == 0.0 && value.is_sign_negative()));
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values
    }

    #[test]
    fn every_type_has_the_format_of_its_bits() {
        for &element_type in ElementType::ALL {
            let format = FloatFormat::of(element_type);
            assert_eq!(format.is_some(), element_type.is_float() && element_type.bits() <= 16, "{element_type}");
            assert_eq!(FloatFormat::of_any(element_type).is_some(), element_type.is_float(), "{element_type}");
            assert!(format.is_none_or(|format| format.bits() == element_type.bits()), "{element_type}");
        }
    }

    /// The greatest values and the least positive ones, from the documents that define the formats.
    #[test]
    fn extremes_are_those_of_the_documents() {
        let two = |exponent| power_of_two(exponent);
        for (element_type, greatest, least) in [
            (ElementType::F4E2M1Fn, 6.0, 0.5),
            (ElementType::F6E2M3Fn, 7.5, two(-3)),
            (ElementType::F6E3M2Fn, 28.0, two(-4)),
            (ElementType::F8E3M4, 15.5, two(-6)),
            (ElementType::F8E4M3, 240.0, two(-9)),
            (ElementType::F8E4M3B11Fnuz, 30.0, two(-13)),
            (ElementType::F8E4M3Fn, 448.0, two(-9)),
            (ElementType::F8E4M3Fnuz, 240.0, two(-10)),
            (ElementType::F8E5M2, 57344.0, two(-16)),
            (ElementType::F8E5M2Fnuz, 57344.0, two(-17)),
            (ElementType::F8E8M0Fnu, two(127), two(-127)),
            (ElementType::F16, 65504.0, two(-24)),
            (ElementType::Bf16, f64::from(half::bf16::MAX), two(-133)),
        ] {
            let format = FloatFormat::of(element_type).unwrap();
            let positive = finite(format).into_iter().map(|(value, _)| value).find(|&value| value > 0.0);
            assert_eq!((f64::from(format.max()), positive), (greatest, Some(least)), "{element_type}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_values() {
        for (element_type, format) in formats() {
            let range = FloatRange::of(element_type).unwrap();
            let values = finite(format);
            let exponent = |value: f64| (value.to_bits() >> 52) as i32 - 1023;
            let least = values.iter().find(|(value, _)| *value > 0.0).map(|(value, _)| exponent(*value));
            assert_eq!(exponent(f64::from(format.max())), range.greatest, "{element_type}");
            assert_eq!(least, Some(range.least), "{element_type}");
            let negative_zero = patterns(format).any(|bits| format.value(bits).to_bits() == (-0f32).to_bits());
            assert_eq!(negative_zero, range.has_negative_zero, "{element_type}");
            assert_eq!(format.infinity(false).is_some(), range.is_ieee, "{element_type}");
        }
    }

    #[test]
    fn half_precision_agrees_with_the_half_crate() {
        for bits in 0..=u16::MAX {
            let same = |ours: f32, theirs: f32| ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same(FloatFormat::F16.value(bits), half::f16::from_bits(bits).to_f32()), "{bits:#x}");
            assert!(same(FloatFormat::BF16.value(bits), half::bf16::from_bits(bits).to_f32()), "{bits:#x}");
        }
    }

    #[test]
    fn every_value_is_nearest_to_itself() {
        for (element_type, format) in formats() {
            for bits in patterns(format) {
                let value = format.value(bits);
                if value.is_finite() {
                    assert_eq!(format.nearest(f64::from(value)), Some(bits), "{element_type} {bits:#x}");
                } else {
                    assert_eq!(format.nearest(f64::from(value)), None, "{element_type} {bits:#x}");
                    let negative = value.is_sign_negative();
                    let special = if value.is_nan() { format.nan(negative) } else { format.infinity(negative) };
                    assert!(special.is_some(), "{element_type} {bits:#x}");
                    assert!(value.is_nan() || special == Some(bits), "{element_type} {bits:#x}");
                }
            }
        }
    }

    /// Between two neighbors the middle decides, and the middle itself goes to the even one of them.
    #[test]
    fn rounding_is_to_nearest_and_even_at_every_boundary() {
        for (element_type, format) in formats() {
            let values = finite(format);
            for pair in values.windows(2) {
                let [(low, low_bits), (high, high_bits)] = [pair[0], pair[1]];
                let middle = (low + high) / 2.0;
                // Zero of either sign is one value here.
                let nearest = |value: f64| f64::from(format.value(format.nearest(value).unwrap()));
                assert_eq!(nearest(middle.next_down()), low, "{element_type} below {middle}");
                assert_eq!(nearest(middle.next_up()), high, "{element_type} above {middle}");
                // A format without mantissa has one odd significand, so its ties go up.
                let to_high = !format.has_sign() || high_bits % 2 == 0;
                assert!(!format.has_sign() || low_bits % 2 != high_bits % 2 || low_bits & high_bits == 0);
                assert_eq!(nearest(middle), if to_high { high } else { low }, "{element_type} at {middle}");
                let sided = |side| format.nearest_of(middle, || side).map(|bits| f64::from(format.value(bits)));
                let (inner, outer) = if low < 0.0 { (high, low) } else { (low, high) };
                assert_eq!(sided(Ordering::Less), Some(inner), "{element_type} {middle}");
                assert_eq!(sided(Ordering::Greater), Some(outer), "{element_type} {middle}");
            }
        }
    }

    #[test]
    fn beyond_the_greatest_value_is_nothing() {
        for (element_type, format) in formats() {
            let values = finite(format);
            let (greatest, bits) = values[values.len() - 1];
            let below = values[values.len() - 2].0;
            // Where the next value would be, were there one.
            let gap = if format.has_sign() { greatest - below } else { greatest };
            let middle = greatest + gap / 2.0;
            assert_eq!(format.nearest(middle.next_down()), Some(bits), "{element_type}");
            let saturates = format.specials == Specials::Nothing;
            let to_greatest = saturates || (format.has_sign() && bits % 2 == 0);
            assert_eq!(format.nearest(middle), to_greatest.then_some(bits), "{element_type}");
            for value in [middle.next_up(), f64::MAX] {
                assert_eq!(format.nearest(value), saturates.then_some(bits), "{element_type}");
            }
            for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                assert_eq!(format.nearest(value), None, "{element_type}");
            }
        }
    }

    #[test]
    fn signs_of_zero_are_kept_where_there_are_two() {
        for (element_type, format) in formats() {
            let zero = format.nearest(-0.0).map(|bits| format.value(bits).to_bits());
            let expected = match format.specials {
                Specials::Unsigned => None,
                Specials::NegativeZero => Some(0),
                _ => Some((-0f32).to_bits()),
            };
            assert_eq!(zero, expected, "{element_type}");
            let tiny = format.nearest(-f64::from_bits(1)).map(|bits| format.value(bits).to_bits());
            assert_eq!(tiny, expected, "{element_type}");
        }
    }
}
