//! Index arithmetic on dimensions of extent 1.

/// The dimensions of other extents than 1.
pub(super) fn solid(extents: &[i64]) -> Vec<usize> {
    (0..extents.len()).filter(|&dimension| extents[dimension] != 1).collect()
}

/// Whether two lists of extents differ in ones only.
pub(super) fn differ_in_ones(a: &[i64], b: &[i64]) -> bool {
    let solid = |extents: &[i64]| extents.iter().copied().filter(|&extent| extent != 1).collect::<Vec<_>>();
    solid(a) == solid(b)
}

/// For every dimension of `from` one of `to` of the same extent, in order, where all others of `to` have extent 1.
pub(super) fn embedded(from: &[i64], to: &[i64]) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(from.len());
    for (place, &extent) in to.iter().enumerate() {
        if from.get(places.len()) == Some(&extent) {
            places.push(place);
        } else if extent != 1 {
            return None;
        }
    }
    (places.len() == from.len()).then_some(places)
}

/// Where a dimension of extent other than 1 is after `from` became `to`, which differ in ones.
pub(super) fn moved(from: &[i64], to: &[i64], dimension: usize) -> Option<usize> {
    let position = solid(from).iter().position(|&solid| solid == dimension)?;
    solid(to).get(position).copied()
}

/// Numbers of dimensions as positions.
pub(super) fn positions(dimensions: &[i64]) -> Option<Vec<usize>> {
    dimensions.iter().map(|&dimension| usize::try_from(dimension).ok()).collect()
}

/// Positions as an attribute holds them.
pub(super) fn numbers(dimensions: impl IntoIterator<Item = usize>) -> Vec<i64> {
    dimensions.into_iter().filter_map(|dimension| i64::try_from(dimension).ok()).collect()
}

/// Whether each is less than the next.
pub(super) fn ascend(dimensions: &[usize]) -> bool {
    dimensions.windows(2).all(|pair| pair[0] < pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_seen_through() {
        assert!(differ_in_ones(&[1, 2, 3], &[2, 1, 3]) && !differ_in_ones(&[2, 3], &[3, 2]));
        assert_eq!(embedded(&[2, 3], &[1, 2, 1, 3]), Some(vec![1, 3]));
        assert_eq!(embedded(&[1, 2], &[1, 1, 2]), Some(vec![0, 2]));
        assert_eq!(embedded(&[1, 2], &[2]), None);
        assert_eq!(embedded(&[], &[1]), Some(vec![]));
        assert_eq!(embedded(&[], &[2]), None);
        assert_eq!(moved(&[1, 5, 1, 4], &[5, 4], 3), Some(1));
        assert_eq!(moved(&[1, 5], &[5], 0), None);
    }
}
