//! How workgroups are laid out in three dimensions.

/// Numbers of rows, and of planes, that are tried for the least waste, from the fewest on.
const TRIALS: u64 = 8;

/// A grid of at least `count` workgroups with at most `limit` along each dimension, `None` if there is none.
///
/// One dimension if that is enough, else two, else three. Beyond the first, all rows are equally long and none is nearly
/// empty, since software devices share out whole rows: 65,536 groups are 32,768 × 2. Of the grids with few rows the one with the
/// fewest groups in excess is taken; there are always fewer of these than rows.
pub(super) fn grid(count: u64, limit: u32) -> Option<[u32; 3]> {
    let limit = u64::from(limit);
    if limit == 0 {
        return None;
    }
    if count <= limit {
        return narrow([count, 1, 1]);
    }
    let fewest = count.div_ceil(limit * limit);
    let planes = fewest..=limit.min(fewest.saturating_add(TRIALS - 1));
    let grids = planes.filter_map(|planes| {
        let [x, y] = rows(count.div_ceil(planes), limit)?;
        Some([x, y, planes])
    });
    narrow(grids.min_by_key(|[x, y, z]| u128::from(x * y) * u128::from(*z))?)
}

/// At least `count` workgroups as rows of at most `limit`, and at most as many rows.
fn rows(count: u64, limit: u64) -> Option<[u64; 2]> {
    let fewest = count.div_ceil(limit);
    let rows = fewest..=limit.min(fewest + TRIALS - 1);
    rows.map(|rows| [count.div_ceil(rows), rows]).min_by_key(|[length, rows]| length * rows)
}

fn narrow(grid: [u64; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = grid.map(|count| u32::try_from(count).ok());
    Some([x?, y?, z?])
}

#[cfg(test)]
mod tests {
    use super::grid;
    use proptest::prelude::*;

    #[test]
    fn rows_are_equally_long() {
        let limit = 65_535;
        assert_eq!(grid(0, limit), Some([0, 1, 1]));
        assert_eq!(grid(1, limit), Some([1, 1, 1]));
        assert_eq!(grid(65_535, limit), Some([65_535, 1, 1]));
        assert_eq!(grid(65_536, limit), Some([32_768, 2, 1]));
        // A prime number of groups.
        assert_eq!(grid(65_537, limit), Some([32_769, 2, 1]));
        assert_eq!(grid(2 * 65_535, limit), Some([65_535, 2, 1]));
        assert_eq!(grid(2 * 65_535 + 1, limit), Some([32_768, 4, 1]));
        assert_eq!(grid(65_535 * 65_535, limit), Some([65_535, 65_535, 1]));
        assert_eq!(grid(65_535 * 65_535 + 1, limit).map(|[_, _, z]| z > 1), Some(true));
        assert_eq!(grid(u64::MAX, limit), None);
        assert_eq!(grid(1, 0), None);
    }

    proptest! {
        #[test]
        fn grids_hold_all_groups_within_the_limit(count in 0u64..5000, limit in 1u32..20) {
            let wide = u64::from(limit);
            match grid(count, limit) {
                None => prop_assert!(count > wide * wide * wide),
                Some(sides) => {
                    prop_assert!(sides.iter().all(|side| *side <= limit));
                    let [x, y, z] = sides.map(u64::from);
                    prop_assert!(x * y * z >= count);
                    prop_assert!(x * y * z - count < y * z, "{count} in {x} x {y} x {z}");
                }
            }
        }

        #[test]
        fn large_grids_waste_little(count in 1u64..1 << 31) {
            let [x, y, z] = grid(count, 65_535).expect("every tensor fits").map(u64::from);
            prop_assert!(x * y * z >= count);
            prop_assert!((x * y * z - count) * 100 <= count || count < 1000, "{count} in {x} x {y} x {z}");
        }
    }
}
