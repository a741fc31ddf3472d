//! Cells of arrays: indices and row-major positions.

/// Every index of an array in row-major order.
pub(crate) fn cells(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &extent in extents {
        let longer = |start: &Vec<i64>| -> Vec<Vec<i64>> {
            (0..extent).map(|next| start.iter().copied().chain([next]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Where a cell stands in row-major order; `None` outside of the array.
pub(crate) fn position(extents: &[i64], cell: &[i64]) -> Option<usize> {
    let mut position = 0;
    for (&extent, &at) in extents.iter().zip(cell) {
        if !(0..extent).contains(&at) {
            return None;
        }
        position = position * extent + at;
    }
    Some(position as usize)
}

/// How many cells an array has.
pub(crate) fn count(extents: &[i64]) -> usize {
    extents.iter().product::<i64>() as usize
}
