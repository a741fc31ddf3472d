// Greater, where false comes before true.
fn gt_bool(x: bool, y: bool) -> bool {
    return x & !y;
}
