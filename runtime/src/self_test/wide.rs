//! Types that not all devices have.

use super::Answer;
use super::kernel::{Kernel, Numbers, unwritten};
use super::workgroup::compared;
use crate::{Device, Error};

const COUNT: usize = 256;

/// Runs `body` for each four words, which are `w`, `x`, `y` and `z`; it writes `results` words by `output[at + k] = …`.
async fn each(device: &Device, before: &str, body: &str, results: usize, input: Vec<u32>) -> Result<Vec<u32>, Error> {
    let count = input.len() / 4;
    let text = format!(
        "{before}
@group(0) @binding(0) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    if id.x >= {count}u {{ return; }}
    let words = input[id.x];
    let w = words.x; let x = words.y; let y = words.z; let z = words.w;
    let at = id.x * {results}u;
    {body}
}}
"
    );
    let groups = u32::try_from(count.div_ceil(64)).unwrap_or(u32::MAX);
    Kernel { text: &text, input, output: unwritten(count * results), groups }.run(device).await
}

fn any() -> Vec<u32> {
    let mut numbers = Numbers::new();
    (0..4 * COUNT).map(|_| numbers.bits()).collect()
}

fn pairs(words: &[u32]) -> impl Iterator<Item = (u64, u64)> {
    let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    words.chunks_exact(4).map(move |words| (join(words[0], words[1]), join(words[2], words[3])))
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Sums, products, shifts, quotients and comparisons of 64 bits.
pub(super) async fn i64(device: &Device) -> Result<Answer, Error> {
    let body = "let p = u64(w) | (u64(x) << 32u);
    let q = u64(y) | (u64(z) << 32u);
    let sum = p + q;
    let product = p * q;
    let shifted = (p >> (y % 64u)) ^ (q << (w % 64u));
    let quotient = p / (q | 1lu);
    output[at] = u32(sum);
    output[at + 1u] = u32(sum >> 32u);
    output[at + 2u] = u32(product);
    output[at + 3u] = u32(product >> 32u);
    output[at + 4u] = u32(shifted);
    output[at + 5u] = u32(shifted >> 32u);
    output[at + 6u] = u32(quotient);
    output[at + 7u] = u32(quotient >> 32u);
    output[at + 8u] = select(0u, 1u, bitcast<i64>(p) < bitcast<i64>(q)) + select(0u, 2u, p < q);";
    let mut input = any();
    // Quotients of more than a few bits, too.
    input.chunks_exact_mut(4).step_by(2).for_each(|words| words[3] = 0);
    let expected = pairs(&input).flat_map(|(p, q)| {
        let shifted = (p >> (q as u32 % 64)) ^ (q << (p as u32 % 64));
        let words = [p.wrapping_add(q), p.wrapping_mul(q), shifted, p / (q | 1)];
        let order = u32::from(p.cast_signed() < q.cast_signed()) + 2 * u32::from(p < q);
        words.into_iter().flat_map(halves).chain([order]).collect::<Vec<_>>()
    });
    let expected: Vec<u32> = expected.collect();
    Ok(compared(&each(device, "", body, 9, input).await?, &expected))
}

/// Sums, differences and products of `f64`, rounded to the nearest; NaN and infinities among them.
pub(super) async fn f64(device: &Device) -> Result<Answer, Error> {
    let result = |number: usize, text: &str| {
        let at = 2 * number;
        format!(
            "let r{number} = bitcast<u64>({text});\noutput[at + {at}u] = u32(r{number});\n\
             output[at + {at}u + 1u] = u32(r{number} >> 32u);\n"
        )
    };
    let mut body =
        "let p = bitcast<f64>(u64(w) | (u64(x) << 32u));\nlet q = bitcast<f64>(u64(y) | (u64(z) << 32u));\n".to_owned();
    for (number, text) in ["p + q", "p - q", "p * q"].into_iter().enumerate() {
        body += &result(number, text);
    }
    let mut numbers = Numbers::new();
    let mut float = || {
        let exponent = u64::from(1023 - 40 + numbers.bits() % 80);
        let [low, high] = [u64::from(numbers.bits()), u64::from(numbers.bits())];
        f64::from_bits(low | high << 32 & 0x800f_ffff_0000_0000 | exponent << 52)
    };
    let special = [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut pairs: Vec<[f64; 2]> = special.iter().flat_map(|p| special.iter().map(|q| [*p, *q])).collect();
    pairs.extend((0..COUNT).map(|_| [float(), float()]));
    let input: Vec<u32> = pairs.iter().flatten().flat_map(|value| halves(value.to_bits())).collect();
    let found = each(device, "", &body, 6, input).await?;
    // Any NaN is as good as another.
    let plain = |value: f64| halves(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() });
    let found: Vec<u32> = found
        .chunks_exact(2)
        .flat_map(|words| plain(f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32)))
        .collect();
    let expected: Vec<u32> = pairs.iter().flat_map(|[p, q]| [p + q, p - q, p * q]).flat_map(plain).collect();
    Ok(compared(&found, &expected))
}

/// Sums and products of whole numbers that `f16` holds, and one that it rounds.
pub(super) async fn f16(device: &Device) -> Result<Answer, Error> {
    let body = "let p = f16(f32(w));
    let q = f16(f32(x));
    output[at] = u32(f32(p + q));
    output[at + 1u] = u32(f32(p * q));
    output[at + 2u] = u32(f32(f16(2048f) + p * f16(2f) / f16(2f)));";
    let input: Vec<u32> = (0..4 * COUNT as u32).map(|at| at * 7 % 45).collect();
    let expected: Vec<u32> = input
        .chunks_exact(4)
        .flat_map(|words| {
            // From 2048 to 4096 the numbers of 11 bits are even; ties go to multiples of 4.
            let (half, is_odd) = ((2048 + words[0]) / 2, words[0] % 2);
            let rounded = 2 * if is_odd == 1 { half + half % 2 } else { half };
            [words[0] + words[1], words[0] * words[1], rounded]
        })
        .collect();
    Ok(compared(&each(device, "enable f16;", body, 3, input).await?, &expected))
}

/// Sums and products of 16 bits, which wrap around.
pub(super) async fn i16(device: &Device) -> Result<Answer, Error> {
    let body = "let p = i16(bitcast<i32>(w << 16u) >> 16u);
    let q = i16(bitcast<i32>(x << 16u) >> 16u);
    output[at] = bitcast<u32>(i32(p + q));
    output[at + 1u] = bitcast<u32>(i32(p * q));
    output[at + 2u] = select(0u, 1u, p < q);";
    let input = any();
    let expected: Vec<u32> = input
        .chunks_exact(4)
        .flat_map(|words| {
            let [p, q] = [words[0], words[1]].map(|word| (word as u16).cast_signed());
            [p.wrapping_add(q), p.wrapping_mul(q)]
                .map(|value| i32::from(value).cast_unsigned())
                .into_iter()
                .chain([u32::from(p < q)])
                .collect::<Vec<_>>()
        })
        .collect();
    Ok(compared(&each(device, "enable wgpu_int16;", body, 3, input).await?, &expected))
}
