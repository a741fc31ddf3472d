//! NaN, quotients, square roots and subnormal numbers.

use super::Answer;
use super::kernel::{Numbers, Writing, each_as, is_same};
use crate::{Device, Error};

/// Operands that go together in all pairs.
const SPECIAL: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, -2.5, 1e30, -1e30, 3.0];

fn pairs(values: &[f32]) -> Vec<[f32; 2]> {
    values.iter().flat_map(|x| values.iter().map(|y| [*x, *y])).collect()
}

fn words<const N: usize>(operands: &[[f32; N]]) -> Vec<u32> {
    operands.iter().flatten().map(|value| value.to_bits()).collect()
}

/// An operation in WGSL, of `x` and `y`, and what it means.
type Operation = (&'static str, fn(f32, f32) -> f32);

/// The results of operations for all pairs, operation by operation.
async fn results(
    device: &Device,
    writing: Writing,
    operations: &[Operation],
    pairs: &[[f32; 2]],
) -> Result<Vec<Vec<f32>>, Error> {
    let mut body = "let x = bitcast<f32>(a);\nlet y = bitcast<f32>(b);\n".to_owned();
    for (number, (text, _)) in operations.iter().enumerate() {
        body += &format!("output[at + {number}u] = bitcast<u32>({text});\n");
    }
    let found = each_as(device, writing, "", &body, [2, operations.len()], words(pairs)).await?;
    let of =
        |number: usize| found.iter().skip(number).step_by(operations.len()).map(|bits| f32::from_bits(*bits)).collect();
    Ok((0..operations.len()).map(of).collect())
}

/// The first pair at which each operation is not what it means.
async fn wrong(device: &Device, operations: &[Operation], pairs: &[[f32; 2]]) -> Result<Vec<String>, Error> {
    wrong_as(device, Writing::Plain, operations, pairs).await
}

/// As [`wrong`], of kernels that come to the driver so.
async fn wrong_as(
    device: &Device,
    writing: Writing,
    operations: &[Operation],
    pairs: &[[f32; 2]],
) -> Result<Vec<String>, Error> {
    let found = results(device, writing, operations, pairs).await?;
    Ok(misfits(operations, pairs, found, |_, found, meant| is_same(found, meant)))
}

/// The first pair at which what was found of each operation does not fit what it means; `fits` is told how the operation is written.
fn misfits(
    operations: &[Operation],
    pairs: &[[f32; 2]],
    found: Vec<Vec<f32>>,
    fits: impl Fn(&str, f32, f32) -> bool,
) -> Vec<String> {
    let first = |((text, meaning), found): (&Operation, Vec<f32>)| {
        let mut cases = pairs.iter().zip(found);
        let ([x, y], found) = cases.find(|([x, y], found)| !fits(text, *found, meaning(*x, *y)))?;
        Some(format!("{text} at x = {x:?}, y = {y:?} is {found:?}"))
    };
    operations.iter().zip(found).filter_map(first).collect()
}

/// Whether a result is what is meant; a quotient may be off in its last places, which another test tells.
pub(super) fn is_nearly(text: &str, found: f32, meant: f32) -> bool {
    let is_near = || found.to_bits().abs_diff(meant.to_bits()) <= 3 && meant.is_normal();
    is_same(found, meant) || text.contains('/') && is_near()
}

/// Whether NaN comes out of arithmetic, and infinities and zeros as IEEE 754 has them.
pub(super) async fn nan(device: &Device, writing: Writing) -> Result<Answer, Error> {
    let operations: [Operation; 5] = [
        ("x + y", |x, y| x + y),
        ("x - y", |x, y| x - y),
        ("x * y", |x, y| x * y),
        ("sqrt(x)", |x, _| x.sqrt()),
        ("x / y", |x, y| x / y),
    ];
    // What overflows or is inexact is a matter of other tests.
    let pairs: Vec<[f32; 2]> =
        pairs(&SPECIAL).into_iter().filter(|[x, y]| !(x.is_finite() && y.is_finite()) || *y == 0.0).collect();
    let roots = |[x, _]: &[f32; 2]| !(x.is_finite() && x.abs() > 1.0 || *x == 0.5);
    let pairs: Vec<[f32; 2]> = pairs.into_iter().filter(roots).collect();
    Ok(Answer::of_wrong(&wrong_as(device, writing, &operations, &pairs).await?, operations.len()))
}

/// Whether the minimum and the maximum of a NaN and a number are NaN.
pub(super) async fn nan_min_max(device: &Device) -> Result<Answer, Error> {
    fn or_nan(x: f32, y: f32, other: f32) -> f32 {
        if x.is_nan() || y.is_nan() { f32::NAN } else { other }
    }
    let operations: [Operation; 2] =
        [("min(x, y)", |x, y| or_nan(x, y, x.min(y))), ("max(x, y)", |x, y| or_nan(x, y, x.max(y)))];
    // The order of zeros is open.
    let pairs: Vec<[f32; 2]> = pairs(&SPECIAL).into_iter().filter(|[x, y]| *x != 0.0 || *y != 0.0).collect();
    Ok(Answer::of_wrong(&wrong(device, &operations, &pairs).await?, operations.len()))
}

/// Whether comparisons with NaN fail, and their negations hold.
pub(super) async fn nan_compare(device: &Device) -> Result<Answer, Error> {
    let operations: [Operation; 8] = [
        ("select(0f, 1f, x < y)", |x, y| f32::from(x < y)),
        ("select(0f, 1f, x <= y)", |x, y| f32::from(x <= y)),
        ("select(0f, 1f, x == y)", |x, y| f32::from(x == y)),
        ("select(0f, 1f, x != y)", |x, y| f32::from(x != y)),
        ("select(0f, 1f, !(x < y))", |x, y| f32::from(x.partial_cmp(&y) != Some(std::cmp::Ordering::Less))),
        ("select(0f, 1f, !(x >= y))", |x, y| f32::from(!matches!(x.partial_cmp(&y), Some(order) if order.is_ge()))),
        ("select(0f, 1f, !(x == y))", |x, y| f32::from(x != y)),
        ("select(0f, 1f, x == x)", |x, _| f32::from(!x.is_nan())),
    ];
    Ok(Answer::of_wrong(&wrong(device, &operations, &pairs(&SPECIAL)).await?, operations.len()))
}

/// Whether bits tell NaN, of elements and of what is computed.
pub(super) async fn nan_bits(device: &Device, writing: Writing) -> Result<Answer, Error> {
    let operations: [Operation; 2] = [
        ("select(0f, 1f, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u)", |x, _| f32::from(x.is_nan())),
        ("select(0f, 1f, (bitcast<u32>(x + y) & 0x7fffffffu) > 0x7f800000u)", |x, y| f32::from((x + y).is_nan())),
    ];
    Ok(Answer::of_wrong(&wrong_as(device, writing, &operations, &pairs(&SPECIAL)).await?, operations.len()))
}

/// Pairs of a test of rounding.
const SAMPLE: usize = 1 << 14;

/// Whether quotients are rounded to the nearest.
pub(super) async fn division(device: &Device) -> Result<Answer, Error> {
    let mut numbers = Numbers::new();
    let pairs: Vec<[f32; 2]> = (0..SAMPLE).map(|_| [numbers.float(), numbers.float()]).collect();
    let operations: [Operation; 3] = [
        ("x / y", |x, y| x / y),
        ("1f / y", |_, y| 1.0 / y),
        ("(vec4<f32>(x, y, x, y) / vec4<f32>(y, x, x, y)).x", |x, y| x / y),
    ];
    Ok(Answer::of_wrong(&wrong(device, &operations, &pairs).await?, operations.len()))
}

/// Whether square roots are rounded to the nearest.
pub(super) async fn square_root(device: &Device) -> Result<Answer, Error> {
    let mut numbers = Numbers::new();
    let pairs: Vec<[f32; 2]> = (0..SAMPLE).map(|_| [numbers.float().abs(), numbers.float().abs()]).collect();
    let operations: [Operation; 2] = [("sqrt(x)", |x, _| x.sqrt()), ("sqrt(vec4<f32>(x, y, x, y)).y", |_, y| y.sqrt())];
    Ok(Answer::of_wrong(&wrong(device, &operations, &pairs).await?, operations.len()))
}

/// Whether subnormal numbers are kept by arithmetic, or are zeros to it.
pub(super) async fn denormals(device: &Device, are_flushed: bool) -> Result<Answer, Error> {
    const VALUES: [f32; 10] =
        [1e-40, -1e-40, 3e-39, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1.5e-38, 1.0, -2.0, 1e-20, 0.25];
    fn flushed(x: f32) -> f32 {
        if x.is_subnormal() { 0f32.copysign(x) } else { x }
    }
    let kept: [Operation; 4] =
        [("x + y", |x, y| x + y), ("x - y", |x, y| x - y), ("x * y", |x, y| x * y), ("x / y", |x, y| x / y)];
    let zeros: [Operation; 4] = [
        ("x + y", |x, y| flushed(flushed(x) + flushed(y))),
        ("x - y", |x, y| flushed(flushed(x) - flushed(y))),
        ("x * y", |x, y| flushed(flushed(x) * flushed(y))),
        ("x / y", |x, y| flushed(flushed(x) / flushed(y))),
    ];
    let operations = if are_flushed { zeros } else { kept };
    // Quotients by what is flushed, or to the brink of overflow, may be off in other ways.
    let is_plain = |[x, y]: &[f32; 2]| !y.is_subnormal() && (x / y).abs() < 1e30;
    let mut pairs = pairs(&VALUES);
    pairs.retain(is_plain);
    let found = results(device, Writing::Plain, &operations, &pairs).await?;
    Ok(Answer::of_wrong(&misfits(&operations, &pairs, found, is_nearly), operations.len()))
}
