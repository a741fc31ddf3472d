// Less or equal, where false comes before true.
fn le_bool(x: bool, y: bool) -> bool {
    return !x | y;
}
