// Whether x <= y, of unsigned integers of 64 bits, low words first.
fn at_most_wide(x: vec2<u32>, y: vec2<u32>) -> bool {
    return select(x.y < y.y, x.x <= y.x, x.y == y.y);
}
