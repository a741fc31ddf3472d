// Greater or equal, where false comes before true.
fn ge_bool(x: bool, y: bool) -> bool {
    return x | !y;
}
