// A float with fewer bits of exponent and mantissa: the mantissa is rounded, ties to even, then what is too large becomes an
// infinity and what has too small an exponent a zero, both with its sign. NaNs stay what they are.
fn reduce_precision_f32(x: f32, exponent_bits: u32, mantissa_bits: u32) -> f32 {
    let pattern = bitcast<u32>(x);
    var magnitude = pattern & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return x;
    }
    if mantissa_bits < 23u {
        let last = 1u << (23u - mantissa_bits);
        let odd = select(0u, 1u, (magnitude & last) != 0u);
        magnitude = (magnitude + last / 2u - 1u + odd) & ~(last - 1u);
    }
    if exponent_bits < 8u {
        let bias = (1u << (exponent_bits - 1u)) - 1u;
        let held = magnitude >> 23u;
        if held > 127u + bias {
            magnitude = 0x7f800000u;
        } else if held <= 127u - bias {
            magnitude = 0u;
        }
    }
    return bitcast<f32>((pattern & 0x80000000u) | magnitude);
}
