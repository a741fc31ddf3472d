// x^y modulo 2^32, by squaring.
fn power_u32(x: u32, y: u32) -> u32 {
    var result = 1u;
    var square = x;
    for (var rest = y; rest != 0u; rest = rest >> 1u) {
        if ((rest & 1u) == 1u) {
            result = result * square;
        }
        square = square * square;
    }
    return result;
}
