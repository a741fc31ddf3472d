// y * 2^n for a normal y, by adding to the exponent bits; beyond the normal range 0 or infinity.
fn scale_f32(y: f32, n: i32) -> f32 {
    let bits = bitcast<u32>(y);
    let exponent = bitcast<i32>((bits >> u32(23u)) & u32(255u)) + n;
    let sign = bits & u32(0x80000000u);
    let scaled = sign | (bitcast<u32>(exponent) << u32(23u)) | (bits & u32(0x007fffffu));
    return bitcast<f32>(select(select(scaled, sign, exponent <= i32(0)), sign | u32(0x7f800000u), exponent >= i32(255)));
}
