// The bits of a whole number n of magnitude below 2^22 as an i32: those of a sum in which each is worth 1. Conversions that are right
// for all numbers, NaN too, cost more.
fn whole_f32(n: f32) -> u32 {
    return bitcast<u32>(n + 12582912.0) - u32(0x4b400000u);
}
