//! Where in its row each box stands.

use super::rows::Rows;

/// Space between items of a row.
const GAP: f64 = 18.0;

/// How often boxes are drawn to what they are joined with.
const SWEEPS: usize = 6;

/// What a place that an item has already counts, beside a line to another.
const INERTIA: f64 = 0.01;

/// The middles of all items, from left to right; none overlap, and the leftmost begins at 0.
pub(super) fn middles(rows: &Rows, widths: &[f64]) -> Vec<f64> {
    let mut middles = vec![0.0; rows.items];
    for row in &rows.rows {
        let wanted = vec![(0.0, 1.0); row.len()];
        place(row, &wanted, widths, &mut middles);
    }
    // Lines over several rows are straight before boxes stand right below others.
    let weight = |a: usize, b: usize| match (a < rows.boxes, b < rows.boxes) {
        (true, true) => 1.0,
        (false, false) => 8.0,
        _ => 2.0,
    };
    let (mut above, mut below) = (vec![Vec::new(); rows.items], vec![Vec::new(); rows.items]);
    for link in &rows.links {
        let weight = weight(link.upper, link.lower);
        above[link.lower].push((link.upper, -link.offset, weight));
        below[link.upper].push((link.lower, link.offset, weight));
    }
    for sweep in 0..2 * SWEEPS {
        let neighbors = if sweep % 2 == 0 { &above } else { &below };
        let count = rows.rows.len();
        for step in 0..count {
            let row = &rows.rows[if sweep % 2 == 0 { step } else { count - 1 - step }];
            let wanted: Vec<(f64, f64)> = row
                .iter()
                .map(|item| {
                    let mut sum = INERTIA * middles[*item];
                    let mut weights = INERTIA;
                    for (other, offset, weight) in &neighbors[*item] {
                        sum += weight * (middles[*other] + offset);
                        weights += weight;
                    }
                    (sum / weights, weights)
                })
                .collect();
            place(row, &wanted, widths, &mut middles);
        }
    }
    let left = |item: usize| middles[item] - widths[item] / 2.0;
    let leftmost = rows.rows.iter().filter_map(|row| row.first()).map(|item| left(*item)).fold(f64::INFINITY, f64::min);
    middles.iter().map(|middle| middle - leftmost).collect()
}

/// Places the items of a row as near as can be to where each wants to be, which counts as much as is said, in their order and without overlap.
///
/// Less the widths of all before it, the middle of an item is at least that of the item before. So this is a regression to a sequence that does not fall: items that
/// want to be the other way around become a block, which stands at the mean of what its items want.
fn place(row: &[usize], wanted: &[(f64, f64)], widths: &[f64], middles: &mut [f64]) {
    struct Block {
        sum: f64,
        weight: f64,
        items: usize,
    }
    let mut starts = Vec::with_capacity(row.len());
    let mut blocks: Vec<Block> = Vec::new();
    let mut start = 0.0;
    for (position, (item, (middle, weight))) in row.iter().zip(wanted).enumerate() {
        if position > 0 {
            start += (widths[row[position - 1]] + widths[*item]) / 2.0 + GAP;
        }
        starts.push(start);
        let mut block = Block { sum: weight * (middle - start), weight: *weight, items: 1 };
        while let Some(before) = blocks.pop_if(|before| before.sum / before.weight >= block.sum / block.weight) {
            block = Block {
                sum: before.sum + block.sum,
                weight: before.weight + block.weight,
                items: before.items + block.items,
            };
        }
        blocks.push(block);
    }
    let mut places = row.iter().zip(&starts);
    for block in blocks {
        for (item, start) in places.by_ref().take(block.items) {
            middles[*item] = block.sum / block.weight + start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_where_they_want_to_or_beside_one_another() {
        let placed = |wanted: &[f64]| {
            let wanted: Vec<(f64, f64)> = wanted.iter().map(|middle| (*middle, 1.0)).collect();
            let row: Vec<usize> = (0..wanted.len()).collect();
            let mut middles = vec![0.0; row.len()];
            place(&row, &wanted, &vec![10.0; row.len()], &mut middles);
            middles
        };
        assert_eq!(placed(&[0.0, 100.0]), [0.0, 100.0]);
        assert_eq!(placed(&[50.0, 50.0]), [36.0, 64.0]);
        assert_eq!(placed(&[100.0, 0.0]), [36.0, 64.0]);
        assert_eq!(placed(&[50.0, 50.0, 50.0, 300.0]), [22.0, 50.0, 78.0, 300.0]);
    }
}
