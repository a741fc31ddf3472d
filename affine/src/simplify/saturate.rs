//! Equality saturation: the search of an e-graph for a cheaper form.
//!
//! Remainders are tight in range and divisions cancel in sums; here both forms live side by side. Every rule returns an
//! expression, which joins the class of what it was applied to, as it is and in normal form. Classes are visited in the
//! order of their numbers and rules in the order of their list; the work ends at a number of nodes or rounds.

use std::hash::{Hash, Hasher};

use egg::{Id, Language};
use rustc_hash::{FxHashSet, FxHasher};

use super::Config;
use super::analysis::Facts;
use super::language::{Graph, Node, add, expression};
use super::normal::Normalizer;
use super::rules::{OperationRule, floordiv, modulo};
use crate::Expr;
use crate::picture::{ClassPicture, EgraphPicture, NodePicture};

/// Alternatives of one argument that are tried; the rest would mostly repeat them.
const MAX_ALTERNATIVES: usize = 8;
/// Changes of what is known of classes, for each node of the limit; only contradicting facts need as many.
const MAX_CHANGES_PER_NODE: usize = 16;

/// The best expression found that equals `seed`.
pub(super) fn saturate(normalizer: &mut Normalizer, seed: &Expr, config: &Config) -> Option<Expr> {
    let (graph, root) = grown(normalizer, seed, config, true);
    graph[root].data.best.clone()
}

/// The whole graph around `seed`, to be looked at.
pub(super) fn picture(normalizer: &mut Normalizer, seed: &Expr, config: &Config) -> EgraphPicture {
    let (graph, root) = grown(normalizer, seed, config, false);
    let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
    ids.sort_unstable();
    let place = |id: Id| ids.binary_search(&graph.find(id)).unwrap_or(0);
    let name = |id: Id| format!("c{}", place(id));
    let class = |id: &Id| {
        let class = &graph[*id];
        let node = |node: &Node| NodePicture {
            label: node.label(&name),
            children: node.children().iter().map(|child| place(*child)).collect(),
        };
        ClassPicture {
            range: class.data.range,
            best: class.data.best.clone(),
            nodes: class.nodes.iter().map(node).collect(),
        }
    };
    EgraphPicture { classes: ids.iter().map(class).collect(), root: place(root) }
}

/// The graph after all rounds, or after the first that found something cheaper: the search goes on from there, in a
/// smaller graph.
fn grown(normalizer: &mut Normalizer, seed: &Expr, config: &Config, until_cheaper: bool) -> (Graph, Id) {
    let domain = normalizer.context.analysis.clone();
    let log = normalizer.context.keeps_log().then(Vec::new);
    let mut search = Search {
        graph: Graph::new(Facts { domain, changes_left: config.max_nodes.saturating_mul(MAX_CHANGES_PER_NODE), log }),
        normalizer,
        seen: FxHashSet::default(),
        visited: FxHashSet::default(),
        limit: config.max_nodes,
    };
    let root = add(&mut search.graph, seed);
    search.graph.rebuild();
    for _ in 0..config.max_rounds {
        let grew = search.round();
        if let Some(log) = &mut search.graph.analysis.log {
            search.normalizer.context.append(std::mem::take(log));
        }
        let is_cheaper = search.graph[root].data.best.as_ref().is_some_and(|best| best.cost() < seed.cost());
        if !grew || (until_cheaper && is_cheaper) {
            break;
        }
    }
    (search.graph, root)
}

struct Search<'a> {
    graph: Graph,
    normalizer: &'a mut Normalizer,
    /// Expressions that rules were applied to, or that were added.
    seen: FxHashSet<u128>,
    /// Nodes visited, with what was known of their children then.
    visited: FxHashSet<u64>,
    limit: usize,
}

impl Search<'_> {
    /// Applies every rule once everywhere; false when nothing new came of it or the graph is full.
    fn round(&mut self) -> bool {
        let mut classes: Vec<Id> = self.graph.classes().map(|c| c.id).collect();
        classes.sort_unstable();
        let mut found: Vec<(Id, Expr)> = Vec::new();
        for id in classes {
            for node in self.graph[id].nodes.clone() {
                // Each equality adds a node or more, so what lies beyond the limit need not be computed.
                if self.graph.total_number_of_nodes() + found.len() >= self.limit {
                    break;
                }
                if !self.is_fresh(&node) {
                    continue;
                }
                match &node {
                    Node::Var(_) => {}
                    Node::FloorDiv(c, [x]) => {
                        for argument in self.alternatives(*x) {
                            let before = argument.checked_floor_div(*c).ok();
                            self.apply(id, before, &argument, *c, [floordiv::RULES, floordiv::EXPLORING], &mut found);
                        }
                    }
                    Node::Mod(c, [x]) => {
                        for argument in self.alternatives(*x) {
                            let before = argument.checked_modulo(*c).ok();
                            self.apply(id, before, &argument, *c, [modulo::RULES, modulo::EXPLORING], &mut found);
                        }
                    }
                    Node::Linear(_, _, children) => self.rewrite_sum(id, &node, children, &mut found),
                }
            }
        }
        let mut grew = false;
        for (id, after) in found {
            if self.graph.total_number_of_nodes() >= self.limit {
                self.graph.rebuild();
                return false;
            }
            let other = add(&mut self.graph, &after);
            grew |= self.graph.union(id, other);
        }
        self.graph.rebuild();
        grew
    }

    /// False when the node was visited before and nothing about its children has changed since.
    fn is_fresh(&mut self, node: &Node) -> bool {
        let mut state = FxHasher::default();
        node.hash(&mut state);
        for child in node.children() {
            let class = &self.graph[*child];
            (class.nodes.len(), class.data.best.as_ref().map(Expr::structural_hash)).hash(&mut state);
        }
        self.visited.insert(state.finish())
    }

    /// The members of a class, one for each of its nodes, over the cheapest members of the children.
    fn alternatives(&self, id: Id) -> Vec<Expr> {
        let mut list: Vec<Expr> = Vec::new();
        let best = |child: Id| self.graph[child].data.best.clone();
        list.extend(best(id));
        for node in &self.graph[id].nodes {
            if let Some(e) = expression(node, &best)
                && !list.contains(&e)
            {
                list.push(e);
            }
            if list.len() >= MAX_ALTERNATIVES {
                break;
            }
        }
        list
    }

    fn apply(
        &mut self,
        id: Id,
        before: Option<Expr>,
        argument: &Expr,
        c: i64,
        lists: [&'static [OperationRule]; 2],
        found: &mut Vec<(Id, Expr)>,
    ) {
        let Some(before) = before else { return };
        if argument.as_constant().is_some() || !self.seen.insert(before.structural_hash()) {
            return;
        }
        for rule in lists.into_iter().flatten() {
            self.normalizer.context.forget();
            if let Some(after) = (rule.apply)(&mut self.normalizer.context, argument, c) {
                self.normalizer.context.record(rule.law, &before, &after);
                found.push((id, after.clone()));
                self.normalize(id, &after, found);
            }
        }
    }

    fn normalize(&mut self, id: Id, e: &Expr, found: &mut Vec<(Id, Expr)>) {
        let normal = self.normalizer.root(e);
        if normal != *e && self.seen.insert(normal.structural_hash() ^ 1) {
            found.push((id, normal));
        }
    }

    /// A sum with one child written in another way may cancel where it did not before.
    fn rewrite_sum(&mut self, id: Id, node: &Node, children: &[Id], found: &mut Vec<(Id, Expr)>) {
        let best = |child: Id| self.graph[child].data.best.clone();
        let Some(plain) = expression(node, &best) else { return };
        let mut sums = vec![plain.clone()];
        for child in children {
            for alternative in self.alternatives(*child).into_iter().skip(1) {
                let chosen = |other: Id| if other == *child { Some(alternative.clone()) } else { best(other) };
                sums.extend(expression(node, &chosen));
            }
        }
        for sum in sums {
            if self.seen.insert(sum.structural_hash()) {
                if sum != plain {
                    found.push((id, sum.clone()));
                }
                self.normalize(id, &sum, found);
            }
        }
    }
}
