// Division; all ones by zero.
fn divide_u32(x: u32, y: u32) -> u32 {
    if (y == 0u) {
        return 0xffffffffu;
    }
    return x / y;
}
