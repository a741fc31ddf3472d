//! What is known of a class of equal expressions: the range of their value, and the cheapest of them so far.

use egg::{Analysis as EggAnalysis, DidMerge, Id};

use super::extract::is_better;
use super::language::{Graph, Node, expression};
use crate::range::Analysis;
use crate::{Expr, Interval};

/// The domain, which proves ranges.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) domain: Analysis,
    /// Changes of what is known that may still be made. Where facts contradict, a class may equal itself plus one, and
    /// without an end its range and its cheapest member would creep through all of `i64`.
    pub(super) changes_left: usize,
}

/// Facts about one class.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Holds the value of every member.
    pub(super) range: Interval,
    /// The cheapest member; none where every way of writing one overflowed.
    pub(super) best: Option<Expr>,
}

impl EggAnalysis<Node> for Facts {
    type Data = Class;

    fn make(graph: &mut Graph, node: &Node, _: Id) -> Class {
        let best = expression(node, &|id| graph[id].data.best.clone());
        let from_child = match node {
            Node::FloorDiv(c, [x]) => graph[*x].data.range.floor_div(*c),
            Node::Mod(c, [x]) => graph[*x].data.range.modulo(*c),
            _ => Interval::EVERYTHING,
        };
        let own = best.as_ref().map_or(Interval::EVERYTHING, |e| graph.analysis.domain.range(e));
        Class { range: meet(own, from_child), best }
    }

    fn merge(&mut self, a: &mut Class, b: Class) -> DidMerge {
        let mut range = meet(a.range, b.range);
        let mut takes_b = match (&a.best, &b.best) {
            (Some(x), Some(y)) => is_better(y, x),
            (None, Some(_)) => true,
            _ => false,
        };
        if self.changes_left == 0 {
            (range, takes_b) = (a.range, false);
        }
        let a_changed = takes_b || range != a.range;
        self.changes_left -= usize::from(a_changed);
        let b_changed = range != b.range || (!takes_b && a.best != b.best);
        if takes_b {
            a.best = b.best;
        }
        a.range = range;
        DidMerge(a_changed, b_changed)
    }

    fn modify(graph: &mut Graph, id: Id) {
        let Some(value) = graph[id].data.range.as_point() else { return };
        let is_constant = |n: &Node| matches!(n, Node::Linear(_, factors, _) if factors.is_empty());
        if !graph[id].nodes.iter().any(is_constant) {
            let constant = graph.add(Node::Linear(value, [].into(), [].into()));
            graph.union(id, constant);
        }
    }
}

/// The values in both; where facts contradict, the domain is empty and either claim will do.
fn meet(a: Interval, b: Interval) -> Interval {
    let both = a.intersect(b);
    if both.is_empty() { a } else { both }
}
