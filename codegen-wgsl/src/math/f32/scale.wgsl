// y * 2^n for a normal y, by adding to the exponent bits; beyond the normal range 0 or infinity.
fn scale_f32(y: f32, n: i32) -> f32 {
    let bits = bitcast<u32>(y);
    let exponent = i32((bits >> 23u) & 255u) + n;
    let sign = bits & 0x80000000u;
    let scaled = sign | (u32(exponent) << 23u) | (bits & 0x007fffffu);
    return bitcast<f32>(select(select(scaled, sign, exponent <= 0), sign | 0x7f800000u, exponent >= 255));
}
