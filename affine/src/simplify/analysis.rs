//! The e-graph analysis: the range and the cheapest expression of each class.

use egg::{Analysis as EggAnalysis, DidMerge, Id};

use super::language::{Graph, Node, expression};
use super::rules::modulo;
use super::rules::sum::KNOWN_VALUE_OF_EQUALS;
use crate::proof::Step;
use crate::range::Analysis;
use crate::{Expr, Interval, Law};

/// The domain, which proves ranges.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) domain: Analysis,
    /// Changes of what is known that may still be made. Where facts contradict, a class may equal itself plus one, and
    /// without an end its range and its cheapest member would creep through all of `i64`.
    pub(super) changes_left: usize,
    /// Equalities that ranges of whole classes gave, where somebody wants to read them.
    pub(super) log: Option<Vec<Step>>,
}

/// Facts about one class.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Holds the value of every member.
    pub(super) range: Interval,
    /// The cheapest member; none where every way of writing one overflowed.
    pub(super) best: Option<Expr>,
    /// While a log is kept: members whose own ranges give the two ends of `range`.
    ends: Option<Box<[Expr; 2]>>,
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
        let range = meet(own, from_child);
        let mut ends = None;
        if graph.analysis.log.is_some() {
            ends = if range == own { best.clone().map(|e| [e.clone(), e]) } else { inherited_ends(graph, node) };
        }
        Class { range, best, ends: ends.map(Box::new) }
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
        if let (Some(mine), Some(theirs)) = (&mut a.ends, b.ends) {
            let [low, high] = *theirs;
            if range.lo != a.range.lo {
                mine[0] = low;
            }
            if range.hi != a.range.hi {
                mine[1] = high;
            }
        }
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
            let class = &graph[id].data;
            if let (Some(x), Some(ends)) = (class.best.clone(), class.ends.clone()) {
                record_between(&mut graph.analysis, x, *ends, value);
            }
            let constant = graph.add(Node::Linear(value, [].into(), [].into()));
            graph.union(id, constant);
        }
    }
}

/// The ends of a division or remainder, from those of its argument.
fn inherited_ends(graph: &mut Graph, node: &Node) -> Option<[Expr; 2]> {
    let (Node::FloorDiv(c, [child]) | Node::Mod(c, [child])) = node else { return None };
    let argument = graph[*child].data.clone();
    let (x, [low, high]) = (argument.best?, *argument.ends?);
    let quotients = [low.checked_floor_div(*c).ok()?, high.checked_floor_div(*c).ok()?];
    if matches!(node, Node::FloorDiv(..)) {
        return Some(quotients);
    }
    // The argument stays within one block of c values, so x mod c = x - c*q, which is as far from the ends as x is.
    let q = argument.range.floor_div(*c).as_point()?;
    let quotient = x.checked_floor_div(*c).ok()?;
    let definition = x.checked_add_scaled(&quotient, c.checked_neg()?).ok()?;
    let remainder = x.checked_modulo(*c).ok()?;
    record_between(&mut graph.analysis, quotient, quotients, q);
    let letters = vec![('x', x), ('c', Expr::constant(*c))];
    record(&mut graph.analysis, modulo::DEFINITION, remainder, definition, letters);
    let shift = q.checked_mul(*c)?.checked_neg()?;
    Some([low.checked_add_constant(shift).ok()?, high.checked_add_constant(shift).ok()?])
}

fn record_between(facts: &mut Facts, x: Expr, [low, high]: [Expr; 2], value: i64) {
    let q = Expr::constant(value);
    let letters = vec![('x', x.clone()), ('u', low), ('v', high), ('q', q.clone())];
    record(facts, KNOWN_VALUE_OF_EQUALS, x, q, letters);
}

fn record(facts: &mut Facts, law: &'static Law, before: Expr, after: Expr, letters: Vec<(char, Expr)>) {
    if let Some(log) = &mut facts.log {
        log.push(Step { law, before, after, letters, ranges: Vec::new() });
    }
}

/// The values in both; where facts contradict, the domain is empty and either claim will do.
fn meet(a: Interval, b: Interval) -> Interval {
    let both = a.intersect(b);
    if both.is_empty() { a } else { both }
}

/// True when `a` is strictly better, in a total order, so that the choice never depends on how the two were found: cheaper; at equal cost with fewer nodes as a DAG; then first in structural order.
fn is_better(a: &Expr, b: &Expr) -> bool {
    if a == b {
        return false;
    }
    let by_cost = a.cost().cmp(&b.cost());
    let by_size = || a.operation_count().cmp(&b.operation_count());
    by_cost.then_with(by_size).then_with(|| a.cmp(b)).is_lt()
}
