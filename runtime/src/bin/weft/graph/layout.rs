//! How large a picture is, and what lies where.

use super::rows::{Rows, rows};
use super::{Graph, Kind, Node, place};

/// Size of a character, of a line, and space around text.
const CHARACTER: f64 = 7.3;
pub(super) const LINE: f64 = 15.0;
pub(super) const MARGIN: f64 = 8.0;
/// Space between rows.
const GAP: f64 = 34.0;
/// Space around boxes in a box.
const PADDING: f64 = 14.0;

/// Where the boxes and arrows of a graph lie, from the upper left corner of it on.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Where each box lies.
    pub(super) boxes: Vec<Area>,
    /// The points of each arrow. Between two of them it leaves the first and reaches the second vertically.
    pub(super) routes: Vec<Vec<(f64, f64)>>,
}

/// A box: its corner and size, and what lies in it.
#[derive(Debug, Default)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The corner of what it holds, from its own on.
    pub(super) origin: (f64, f64),
    pub(super) inner: Layout,
}

impl Layout {
    /// That of a graph.
    pub(super) fn of(graph: &Graph) -> Layout {
        Layout::within(graph, false)
    }

    fn within(graph: &Graph, is_inner: bool) -> Layout {
        let mut boxes: Vec<Area> = graph.nodes.iter().map(area).collect();
        let mut widths: Vec<f64> = boxes.iter().map(|area| area.width).collect();
        let offsets: Vec<f64> = graph.edges.iter().map(|edge| port(&boxes[edge.to], edge.port)).collect();
        let rows = rows(graph, &widths, &offsets, is_inner);
        widths.resize(rows.items, 0.0);
        let middles = place::middles(&rows, &widths);
        let (mut tops, mut bottoms) = (vec![0.0; rows.items], vec![0.0; rows.items]);
        let (mut y, mut width) = (0.0, 0.0f64);
        for row in &rows.rows {
            let heights = row.iter().filter_map(|item| boxes.get(*item)).map(|area| area.height);
            let height = heights.fold(0.0, f64::max);
            for &item in row {
                (tops[item], bottoms[item]) = (y, y + height);
                width = width.max(middles[item] + widths[item] / 2.0);
                if let Some(area) = boxes.get_mut(item) {
                    area.x = middles[item] - area.width / 2.0;
                    area.y = y + (height - area.height) / 2.0;
                }
            }
            y += height + GAP;
        }
        let spans = Spans { middles: &middles, tops: &tops, bottoms: &bottoms };
        let routes = spans.routes(graph, &rows, &boxes, &offsets);
        Layout { width, height: (y - GAP).max(0.0), boxes, routes }
    }
}

/// Where in a box an arrow ends, from its middle on.
fn port(area: &Area, port: Option<usize>) -> f64 {
    let inner = port.and_then(|port| area.inner.boxes.get(port));
    inner.map_or(0.0, |inner| area.origin.0 + inner.x + inner.width / 2.0 - area.width / 2.0)
}

/// A box at the corner of its graph.
fn area(node: &Node) -> Area {
    let longest = node.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let is_label = node.kind == Kind::Label;
    let margin = if is_label { 1.0 } else { MARGIN };
    let text = (longest as f64 * CHARACTER + 2.0 * MARGIN, node.lines.len() as f64 * LINE + 2.0 * margin);
    if node.inner.nodes.is_empty() {
        return Area { width: text.0, height: text.1, ..Area::default() };
    }
    let inner = Layout::within(&node.inner, true);
    let width = (inner.width + 2.0 * PADDING).max(text.0);
    let origin = ((width - inner.width) / 2.0, text.1);
    Area { width, height: text.1 + inner.height + PADDING, origin, inner, ..Area::default() }
}

/// Where items lie: their middles, and the rows that they stand in.
struct Spans<'a> {
    middles: &'a [f64],
    tops: &'a [f64],
    bottoms: &'a [f64],
}

impl Spans<'_> {
    fn routes(&self, graph: &Graph, rows: &Rows, boxes: &[Area], offsets: &[f64]) -> Vec<Vec<(f64, f64)>> {
        let route = |((edge, bends), offset): ((&super::Edge, &Vec<usize>), &f64)| {
            let (from, to) = (&boxes[edge.from], &boxes[edge.to]);
            let (start, end) = (self.middles[edge.from], self.middles[edge.to] + offset);
            let mut points = vec![(start, from.y + from.height), (start, self.bottoms[edge.from])];
            for bend in bends {
                points.extend([(self.middles[*bend], self.tops[*bend]), (self.middles[*bend], self.bottoms[*bend])]);
            }
            points.extend([(end, self.tops[edge.to]), (end, to.y)]);
            points.dedup();
            points
        };
        graph.edges.iter().zip(&rows.bends).zip(offsets).map(route).collect()
    }
}
