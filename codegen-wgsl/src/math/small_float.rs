//! Floats of at most 16 bits as their bits.

use weft_hlo::ir::{ElementType, FloatFormat};

/// What stands for bits that no number has.
const NONE: u32 = u32::MAX;

/// A function of the library, and what it is given after its first argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coding {
    /// The function's name.
    pub function: &'static str,
    /// Its other arguments, each a `u32`.
    pub arguments: Vec<u32>,
}

/// How an `f32` becomes the bits of the nearest number of a type, the others of the `u32` being 0; `None` if the type is no float of at most 16
/// bits.
///
/// Ties go to the number whose bits are even. What is too large is an infinity, in a format without a NaN, and in one without either the greatest
/// number; a NaN of such a format is its negative zero.
pub fn encode(element_type: ElementType) -> Option<Coding> {
    let format = FloatFormat::of(element_type)?;
    let coding = |function, arguments| Some(Coding { function, arguments });
    match element_type {
        ElementType::Bf16 => coding("encode_bf16", Vec::new()),
        ElementType::F8E8M0Fnu => coding("encode_f8e8m0fnu", Vec::new()),
        _ => {
            let (sign, greatest) = (u32::from(format.sign()), u32::from(format.greatest()));
            let zero_sign = if format.has_negative_zero() { sign } else { 0 };
            let nan = format.nan(false).map_or(sign, u32::from);
            let over = format.infinity(false).or_else(|| format.nan(false)).map_or(greatest, u32::from);
            let bias = format.bias().cast_unsigned();
            coding("encode_small_float", vec![format.mantissa_bits(), bias, sign, zero_sign, greatest, over, nan])
        }
    }
}

/// How the bits of a number of a type, the others of the `u32` being 0, become the `f32` that it is; `None` if the type is no float of at
/// most 16 bits.
pub fn decode(element_type: ElementType) -> Option<Coding> {
    let format = FloatFormat::of(element_type)?;
    let coding = |function, arguments| Some(Coding { function, arguments });
    match element_type {
        ElementType::Bf16 => coding("decode_bf16", Vec::new()),
        ElementType::F8E8M0Fnu => coding("decode_f8e8m0fnu", Vec::new()),
        _ => {
            let sign = u32::from(format.sign());
            let infinity = format.infinity(false).map(u32::from);
            // With infinities every pattern above is a NaN; without, the one that follows the greatest number, or negative zero.
            let nan = format.nan(false).map(u32::from);
            let only_nan = nan.filter(|nan| *nan == sign);
            let least_nan = infinity.map(|infinity| infinity + 1).or(nan.filter(|_| only_nan.is_none()));
            let or_none = |bits: Option<u32>| bits.unwrap_or(NONE);
            let bias = format.bias().cast_unsigned();
            coding(
                "decode_small_float",
                vec![format.mantissa_bits(), bias, sign, or_none(infinity), or_none(least_nan), or_none(only_nan)],
            )
        }
    }
}
