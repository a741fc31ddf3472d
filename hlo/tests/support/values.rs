//! Inputs of every type: ordinary numbers, and the special ones of each type.

use weft_hlo::ir::*;
use weft_hlo::random::Rng;

/// One literal per array among the entry's parameters, in order; the same for the same seed.
pub(crate) fn inputs(module: &Module, seed: u64) -> Vec<Literal> {
    let mut rng = Rng::new(seed);
    let entry = module.entry_computation();
    let shapes = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape);
    let leaves: Vec<&Shape> = shapes.flat_map(Shape::leaves).collect();
    leaves.into_iter().filter_map(Shape::as_array).map(|shape| literal(&mut rng, shape)).collect()
}

/// A number of few digits, or a special one.
fn real(rng: &mut Rng) -> f64 {
    let special = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.0, 1e30, 1e-40, 7.5, 65504.0];
    match rng.below(3) {
        0 => rng.choose(&special).unwrap_or(0.0),
        1 => rng.between(-1_000_000, 1_000_000) as f64 * 7.3e-6,
        _ => rng.between(-16, 16) as f64 * 0.25,
    }
}

/// Any bits, or a small number.
fn integer(rng: &mut Rng) -> i64 {
    let special = [i64::MIN, i64::MAX, -1, 0, 1, 127, -128, i64::from(i32::MIN), i64::from(i32::MAX)];
    match rng.below(3) {
        0 => rng.choose(&special).unwrap_or(0),
        1 => rng.next_u64().cast_signed(),
        _ => rng.between(-9, 9),
    }
}

macro_rules! literals {
    ($($variant:ident |$rng:ident| $value:expr;)*) => {
        fn literal(rng: &mut Rng, shape: &ArrayShape) -> Literal {
            let count = shape.element_count().unwrap_or(0);
            let data = match shape.element_type {
                $(ElementType::$variant => {
                    let make = |$rng: &mut Rng| $value;
                    Data::$variant((0..count).map(|_| make(rng)).collect())
                })*
                // What has no line of its own: numbers as its type has them.
                other if other.is_integer() => converted(other, (0..count).map(|_| integer(rng)).collect::<Vec<_>>()),
                other => converted(other, (0..count).map(|_| real(rng)).collect::<Vec<_>>()),
            };
            Literal::array(shape.extents.clone(), data)
        }
    };
}

fn converted(element_type: ElementType, numbers: impl Into<Data>) -> Data {
    weft_hlo::eval::converted(&numbers.into(), element_type).unwrap_or(Data::Elided)
}

/// The nearest number of a small format; a NaN where it has one and none is near.
macro_rules! small {
    ($native:ident, $rng:ident) => {{
        let value = real($rng);
        let nan = $native::FORMAT.nan(value.is_sign_negative()).map(|bits| $native::from_bits(bits as u8));
        $native::nearest(value).or(nan).unwrap_or_default()
    }};
}

literals! {
    Pred |rng| rng.chance(50);
    S1 |rng| S1::wrapping(integer(rng) as i8);
    S2 |rng| S2::wrapping(integer(rng) as i8);
    S4 |rng| S4::wrapping(integer(rng) as i8);
    S8 |rng| integer(rng) as i8;
    S16 |rng| integer(rng) as i16;
    S32 |rng| integer(rng) as i32;
    S64 |rng| integer(rng);
    U1 |rng| U1::wrapping(integer(rng) as u8);
    U2 |rng| U2::wrapping(integer(rng) as u8);
    U4 |rng| U4::wrapping(integer(rng) as u8);
    U8 |rng| integer(rng) as u8;
    U16 |rng| integer(rng) as u16;
    U32 |rng| integer(rng) as u32;
    U64 |rng| integer(rng) as u64;
    F4E2M1Fn |rng| small!(F4E2M1Fn, rng);
    F6E2M3Fn |rng| small!(F6E2M3Fn, rng);
    F6E3M2Fn |rng| small!(F6E3M2Fn, rng);
    F8E3M4 |rng| small!(F8E3M4, rng);
    F8E4M3 |rng| small!(F8E4M3, rng);
    F8E4M3B11Fnuz |rng| small!(F8E4M3B11Fnuz, rng);
    F8E4M3Fn |rng| small!(F8E4M3Fn, rng);
    F8E4M3Fnuz |rng| small!(F8E4M3Fnuz, rng);
    F8E5M2 |rng| small!(F8E5M2, rng);
    F8E5M2Fnuz |rng| small!(F8E5M2Fnuz, rng);
    F8E8M0Fnu |rng| small!(F8E8M0Fnu, rng);
    F16 |rng| f16::from_f64(real(rng));
    Bf16 |rng| bf16::from_f64(real(rng));
    F32 |rng| real(rng) as f32;
    F64 |rng| real(rng);
    C64 |rng| Complex::new(real(rng) as f32, real(rng) as f32);
    C128 |rng| Complex::new(real(rng), real(rng));
}
