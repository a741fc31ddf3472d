// Less, where false comes before true.
fn lt_bool(x: bool, y: bool) -> bool {
    return !x & y;
}
