//! Matrices that subgroups multiply.

use super::Answer;
use super::kernel::{Kernel, unwritten};
use crate::{Device, Error};
use weft_hlo::ir::ElementType;
use weft_partition::CooperativeMatrix;

/// Whether products of the matrices that the compiler uses are exact: of `f16` that are subnormal, and of `f32` whose digits are more than narrower types have. Sums have few digits, so that they are exact in any
/// order.
pub(super) async fn products(device: &Device) -> Result<Answer, Error> {
    let features = &device.target().features;
    let members = match features.subgroup {
        Some(sizes) if sizes.min == sizes.max => sizes.max,
        _ => return Ok(Answer::Skipped("subgroups have several sizes".to_owned())),
    };
    let mut tested = Vec::new();
    for matrix in &features.cooperative_matrices {
        let CooperativeMatrix { m, n, k, factor, sum, .. } = *matrix;
        let has_halves = features.shader_f16 && features.shader_i16;
        let is_meant = factor == ElementType::F32 || factor == ElementType::F16 && has_halves;
        if !is_meant || sum != ElementType::F32 || m != n || n != k || !matches!(m, 8 | 16) {
            continue;
        }
        let name = format!("{m}x{n}x{k} {factor}");
        let side = m as usize;
        let found = Kernel {
            text: &text(m, factor, members),
            input: elements(side, factor, 0).chain(elements(side, factor, 1)).map(|(word, _)| word).collect(),
            output: unwritten(side * side),
            groups: 1,
        };
        let found = found.run(device).await?;
        let [left, right] =
            [0, 1].map(|operand| elements(side, factor, operand).map(|(_, it)| it).collect::<Vec<i64>>());
        for (place, word) in found.into_iter().enumerate() {
            let (row, column) = (place / side, place % side);
            // Twice, as two products are added.
            let sum: i64 = (0..side).map(|at| 2 * left[row * side + at] * right[at * side + column]).sum();
            let scale = if factor == ElementType::F16 { f64::from(-24).exp2() } else { 1.0 };
            let (expected, found) = (sum as f64 * scale, f64::from(f32::from_bits(word)));
            if found != expected {
                let message = format!("{name}: {found:e} in row {row}, column {column} for {expected:e}");
                return Ok(Answer::Fails(message));
            }
        }
        tested.push(name);
    }
    match tested[..] {
        [] => Ok(Answer::Skipped("none of them is of use".to_owned())),
        _ => Ok(Answer::Holds(tested.join(", "))),
    }
}

/// The elements of a factor: their bits, and what they are, of halves on the left in units of `2^-24`.
fn elements(side: usize, factor: ElementType, operand: u32) -> impl Iterator<Item = (u32, i64)> {
    (0u32..).take(side * side).map(move |place| {
        let mixed = place.wrapping_mul(2_654_435_761).wrapping_add(operand) >> 7;
        let sign = mixed >> 3 & 1;
        let signed = |magnitude: u32| if sign == 1 { -i64::from(magnitude) } else { i64::from(magnitude) };
        match (factor, operand) {
            (ElementType::F16, 0) => {
                let magnitude = 1 + mixed % 1000;
                (sign << 15 | magnitude, signed(magnitude))
            }
            (ElementType::F16, _) => {
                let exponent = mixed % 3;
                (sign << 15 | (15 + exponent) << 10, signed(1 << exponent))
            }
            _ => {
                let magnitude = if operand == 0 { 0x4001 + 2 * (mixed % 0x1000) } else { 1 << (mixed % 3) };
                let number = signed(magnitude);
                ((number as f32).to_bits(), number)
            }
        }
    })
}

/// The left factor lies in rows and the right one in columns, behind it.
fn text(side: u32, factor: ElementType, members: u32) -> String {
    let (before, ty, element) = match factor {
        ElementType::F16 => ("enable f16;\nenable wgpu_int16;\n", "f16", "bitcast<f16>(u16(input[at]))"),
        _ => ("", "f32", "bitcast<f32>(input[at])"),
    };
    let (count, name) = (side * side, format!("coop_mat{side}x{side}"));
    format!(
        "{before}enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> left: array<{ty}, {count}>;
var<workgroup> right: array<{ty}, {count}>;
var<workgroup> sums: array<f32, {count}>;
@compute @workgroup_size({members}) fn main(@builtin(local_invocation_index) local: u32) {{
    for (var at = local; at < {count}u; at += {members}u) {{
        left[at] = {element};
    }}
    for (var at = local + {count}u; at < {}u; at += {members}u) {{
        let place = at - {count}u;
        right[(place % {side}u) * {side}u + place / {side}u] = {element};
    }}
    workgroupBarrier();
    let a = coopLoadT<{name}<{ty}, A>>(&left[0], {side}u);
    let b = coopLoad<{name}<{ty}, B>>(&right[0], {side}u);
    var c = {name}<f32, C>();
    c = coopMultiplyAdd(a, b, c);
    c = coopMultiplyAdd(a, b, c);
    coopStoreT(c, &sums[0], {side}u);
    workgroupBarrier();
    for (var at = local; at < {count}u; at += {members}u) {{
        output[at] = bitcast<u32>(sums[at]);
    }}
}}
",
        2 * count
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_their_bits_say() {
        for (side, factor) in [(8, ElementType::F32), (16, ElementType::F16), (16, ElementType::F32)] {
            for (place, (word, number)) in elements(side, factor, 0).chain(elements(side, factor, 1)).enumerate() {
                let is_left = place < side * side;
                let found = match factor {
                    ElementType::F32 => f64::from(f32::from_bits(word)),
                    // Subnormal halves are their bits.
                    _ if is_left => f64::from(word & 0x3ff) * if word >> 15 == 1 { -1.0 } else { 1.0 },
                    _ => f64::from(word >> 10 & 0x1f).exp2() / 32768.0 * if word >> 15 == 1 { -1.0 } else { 1.0 },
                };
                assert_eq!(found, number as f64, "{word:#x}");
            }
        }
    }
}
