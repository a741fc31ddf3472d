// As reduce_precision_f32.
fn reduce_precision_f64(x: f64, exponent_bits: u32, mantissa_bits: u32) -> f64 {
    let pattern = bitcast<u64>(x);
    var magnitude = pattern & 0x7ffffffffffffffflu;
    if magnitude > 0x7ff0000000000000lu {
        return x;
    }
    if mantissa_bits < 52u {
        let last = 1lu << (52u - mantissa_bits);
        let odd = select(0lu, 1lu, (magnitude & last) != 0lu);
        magnitude = (magnitude + (last >> 1u) - 1lu + odd) & ~(last - 1lu);
    }
    if exponent_bits < 11u {
        let bias = (1u << (exponent_bits - 1u)) - 1u;
        let held = u32(magnitude >> 52u);
        if held > 1023u + bias {
            magnitude = 0x7ff0000000000000lu;
        } else if held <= 1023u - bias {
            magnitude = 0lu;
        }
    }
    return bitcast<f64>((pattern & 0x8000000000000000lu) | magnitude);
}
