// C's fmod, exact: the remainder of the significands by long division, eight binary places at a time; the sign of x.
fn remainder_f32(x: f32, y: f32) -> f32 {
    let a = bitcast<u32>(x) & 0x7fffffffu;
    let b = bitcast<u32>(y) & 0x7fffffffu;
    if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) {
        return nan_f32();
    }
    if (a < b) {
        return x;
    }
    // Subnormal numbers have the exponent of the least normal ones, without the leading bit.
    let divisor = select(b & 0x007fffffu, (b & 0x007fffffu) | 0x00800000u, b >= 0x00800000u);
    let dividend = select(a & 0x007fffffu, (a & 0x007fffffu) | 0x00800000u, a >= 0x00800000u);
    let exponent = max(b >> 23u, 1u);
    var rest = dividend % divisor;
    var places = max(a >> 23u, 1u) - exponent;
    while (places > 0u && rest != 0u) {
        let step = min(places, 8u);
        rest = (rest << step) % divisor;
        places = places - step;
    }
    // rest * 2^(exponent - 150), its leading bit moved to the place of a normal number's if the exponent allows.
    let shift = min(countLeadingZeros(rest) - 8u, exponent - 1u);
    let significand = rest << shift;
    let normal = ((exponent - shift) << 23u) | (significand & 0x007fffffu);
    let magnitude = select(significand, normal, significand >= 0x00800000u);
    return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | magnitude);
}
