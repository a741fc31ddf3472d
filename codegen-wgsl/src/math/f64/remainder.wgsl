// C's fmod, exact: the remainder of the significands by long division, eleven binary places at a time; the sign of x.
fn remainder_f64(x: f64, y: f64) -> f64 {
    let a = bitcast<u64>(x) & 0x7ffffffffffffffflu;
    let b = bitcast<u64>(y) & 0x7ffffffffffffffflu;
    if (a >= 0x7ff0000000000000lu || b > 0x7ff0000000000000lu || b == 0lu) {
        return nan_f64();
    }
    if (a < b) {
        return x;
    }
    // Subnormal numbers have the exponent of the least normal ones, without the leading bit.
    let divisor = (b & 0xffffffffffffflu) | select(0lu, 0x10000000000000lu, b >= 0x10000000000000lu);
    let dividend = (a & 0xffffffffffffflu) | select(0lu, 0x10000000000000lu, a >= 0x10000000000000lu);
    let exponent = max(u32(b >> 52u), 1u);
    var rest = dividend % divisor;
    var places = max(u32(a >> 52u), 1u) - exponent;
    while (places > 0u && rest != 0lu) {
        let step = min(places, 11u);
        rest = (rest << step) % divisor;
        places = places - step;
    }
    // rest * 2^(exponent - 1075), its leading bit moved to the place of a normal number's if the exponent allows.
    let high = u32(rest >> 32u);
    let zeros = select(countLeadingZeros(high), 32u + countLeadingZeros(u32(rest & 0xfffffffflu)), high == 0u);
    let shift = min(zeros - 11u, exponent - 1u);
    let significand = rest << shift;
    let normal = (u64(exponent - shift) << 52u) | (significand & 0xffffffffffffflu);
    let magnitude = select(significand, normal, significand >= 0x10000000000000lu);
    return bitcast<f64>((bitcast<u64>(x) & 0x8000000000000000lu) | magnitude);
}
