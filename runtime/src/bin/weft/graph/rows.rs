//! Which row each box stands in, and in which order.

use super::{Graph, Kind};
use std::collections::{BTreeMap, VecDeque};

/// Bends of all arrows together; arrows beyond pass behind boxes.
const MAX_BENDS: usize = 20_000;

/// How often rows are put in order anew.
const SWEEPS: usize = 8;

/// Boxes and bends of arrows in rows. An item below the number of boxes is a box, the others are bends.
pub(super) struct Rows {
    /// The items of each row from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// What stands one above the other and is joined by a line.
    pub(super) links: Vec<Link>,
    /// The bends of each arrow, from the upper row to the lower.
    pub(super) bends: Vec<Vec<usize>>,
    /// The numbers of boxes and of items.
    pub(super) boxes: usize,
    pub(super) items: usize,
}

/// A line from an item to one in the next row.
#[derive(Copy, Clone, Debug)]
pub(super) struct Link {
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Where in the lower box it ends, from its middle on.
    pub(super) offset: f64,
}

/// Puts the boxes of a graph in rows; `offsets` says for each arrow where in the box at its end it leads to, from its middle on, and parameters stay in the first row where
/// `is_inner`.
pub(super) fn rows(graph: &Graph, widths: &[f64], offsets: &[f64], is_inner: bool) -> Rows {
    let count = graph.nodes.len();
    let levels = levels(graph, is_inner);
    let height = levels.iter().map(|level| level + 1).max().unwrap_or(0);
    let mut rows = vec![Vec::new(); height];
    levels.iter().enumerate().for_each(|(node, level)| rows[*level].push(node));
    let mut reach: BTreeMap<usize, usize> = BTreeMap::new();
    for edge in &graph.edges {
        if levels[edge.to] > levels[edge.from] + 1 {
            let furthest = reach.entry(edge.from).or_default();
            *furthest = levels[edge.to].max(*furthest);
        }
    }
    // What is read in several rows is one line down to the last of them.
    let mut items = count;
    let mut chains: BTreeMap<usize, usize> = BTreeMap::new();
    let mut links = Vec::new();
    for (&from, &furthest) in &reach {
        let passed = levels[from] + 1..furthest;
        if items - count + passed.len() > MAX_BENDS {
            continue;
        }
        chains.insert(from, items);
        let mut upper = from;
        for row in passed {
            rows[row].push(items);
            links.push(Link { upper, lower: items, offset: 0.0 });
            upper = items;
            items += 1;
        }
    }
    let mut bends = Vec::with_capacity(graph.edges.len());
    for (edge, &offset) in graph.edges.iter().zip(offsets) {
        let (above, below) = (levels[edge.from], levels[edge.to]);
        let passed = below.saturating_sub(above + 1);
        let chain = chains.get(&edge.from).filter(|_| passed > 0);
        let own: Vec<usize> = chain.map(|first| (*first..first + passed).collect()).unwrap_or_default();
        if below == above + 1 || !own.is_empty() {
            links.push(Link { upper: own.last().copied().unwrap_or(edge.from), lower: edge.to, offset });
        }
        bends.push(own);
    }
    let mut rows = Rows { rows, links, bends, boxes: count, items };
    rows.order(widths);
    rows
}

/// The row of each box: below all that arrows lead from. What nothing leads to stands right above the first that it leads to.
fn levels(graph: &Graph, is_inner: bool) -> Vec<usize> {
    let count = graph.nodes.len();
    if graph.is_list {
        return (0..count).collect();
    }
    let mut users = vec![Vec::new(); count];
    let mut missing = vec![0usize; count];
    for edge in &graph.edges {
        users[edge.from].push(edge.to);
        missing[edge.to] += 1;
    }
    let is_source: Vec<bool> = missing.iter().map(|missing| *missing == 0).collect();
    let mut levels = vec![0usize; count];
    let mut is_done = vec![false; count];
    let mut ready: VecDeque<usize> = (0..count).filter(|node| is_source[*node]).collect();
    let mut rest = 0..count;
    // Where arrows lead around in circles, the first box of them begins.
    while let Some(node) = ready.pop_front().or_else(|| rest.find(|node| !is_done[*node])) {
        if std::mem::replace(&mut is_done[node], true) {
            continue;
        }
        for &user in users[node].iter().filter(|user| !is_done[**user]) {
            levels[user] = levels[user].max(levels[node] + 1);
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push_back(user);
            }
        }
    }
    for (node, users) in users.iter().enumerate().filter(|(node, _)| is_source[*node]) {
        let stays = is_inner && graph.nodes[node].kind == Kind::Parameter;
        let first = users.iter().map(|user| levels[*user]).min();
        if let Some(first) = first.filter(|_| !stays) {
            levels[node] = first.saturating_sub(1);
        }
    }
    // Rows that nothing is left in go away.
    let mut numbers: BTreeMap<usize, usize> = levels.iter().map(|level| (*level, 0)).collect();
    numbers.values_mut().enumerate().for_each(|(number, level)| *level = number);
    levels.iter().map(|level| numbers[level]).collect()
}

impl Rows {
    /// Moves what is joined near to one another, so that few lines cross.
    fn order(&mut self, widths: &[f64]) {
        let mut positions = vec![0.0; self.items];
        let number = |row: &[usize], positions: &mut [f64]| {
            row.iter().enumerate().for_each(|(position, item)| positions[*item] = position as f64);
        };
        self.rows.iter().for_each(|row| number(row, &mut positions));
        // Where in the row a line to a box ends: boxes are as wide as one place.
        let end = |link: &Link| widths.get(link.lower).map_or(0.0, |width| link.offset / width.max(1.0));
        let (mut above, mut below) = (vec![Vec::new(); self.items], vec![Vec::new(); self.items]);
        for link in &self.links {
            above[link.lower].push((link.upper, -end(link)));
            below[link.upper].push((link.lower, end(link)));
        }
        let mut best = (self.crossings(&positions, &end), self.rows.clone());
        for sweep in 0..SWEEPS {
            let is_down = sweep % 2 == 0;
            let neighbors = if is_down { &above } else { &below };
            let count = self.rows.len();
            for step in 0..count {
                let row = &mut self.rows[if is_down { step } else { count - 1 - step }];
                let key = |item: &usize| {
                    let all = &neighbors[*item];
                    let sum: f64 = all.iter().map(|(other, offset)| positions[*other] + offset).sum();
                    if all.is_empty() { positions[*item] } else { sum / all.len() as f64 }
                };
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|item| (key(item), *item)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *row = keyed.into_iter().map(|(_, item)| item).collect();
                number(row, &mut positions);
            }
            let crossings = self.crossings(&positions, &end);
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// How many pairs of lines cross between rows that follow one another.
    fn crossings(&self, positions: &[f64], end: &dyn Fn(&Link) -> f64) -> u64 {
        let mut row_of = vec![0usize; self.items];
        for (number, row) in self.rows.iter().enumerate() {
            row.iter().for_each(|item| row_of[*item] = number);
        }
        let mut between: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.rows.len()];
        for link in &self.links {
            between[row_of[link.upper]].push((positions[link.upper], positions[link.lower] + end(link)));
        }
        between.iter_mut().map(|lines| inversions(lines)).sum()
    }
}

/// How many pairs stand the other way around by their second numbers than by their first.
fn inversions(lines: &mut [(f64, f64)]) -> u64 {
    lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut ends: Vec<f64> = lines.iter().map(|line| line.1).collect();
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    // How many lines end at each place so far, as sums over stretches of places.
    let mut sums = vec![0u64; ends.len() + 1];
    let mut crossings = 0;
    for (known, line) in (0u64..).zip(lines.iter()) {
        let place = ends.partition_point(|other| *other < line.1) + 1;
        let mut up_to = 0;
        let mut at = place;
        while at > 0 {
            up_to += sums[at];
            at &= at - 1;
        }
        crossings += known - up_to;
        at = place;
        while at < sums.len() {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_counted() {
        let count = |lines: &[(f64, f64)]| inversions(&mut lines.to_vec());
        assert_eq!(count(&[(0.0, 0.0), (1.0, 1.0)]), 0);
        assert_eq!(count(&[(0.0, 1.0), (1.0, 0.0)]), 1);
        // Lines that begin or end together do not cross.
        assert_eq!(count(&[(0.0, 1.0), (0.0, 0.0), (1.0, 1.0)]), 0);
        assert_eq!(count(&[(0.0, 2.0), (1.0, 1.0), (2.0, 0.0)]), 3);
        assert_eq!(count(&[]), 0);
    }
}
