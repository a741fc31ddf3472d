//! Equality saturation: forms that no order of directed rules reaches, because they first get dearer.
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
use super::rules::{Rule, floordiv, modulo};
use crate::Expr;

/// Alternatives of one argument that are tried; the rest would mostly repeat them.
const ALTERNATIVES: usize = 8;
/// Changes of what is known of classes, for each node of the limit; only contradicting facts need as many.
const CHANGES: usize = 16;

/// The best expression found that equals `seed`.
pub(super) fn saturate(normalizer: &mut Normalizer, seed: &Expr, config: &Config) -> Option<Expr> {
    let domain = normalizer.analysis.clone();
    let mut search = Search {
        graph: Graph::new(Facts { domain, changes_left: config.nodes.saturating_mul(CHANGES) }),
        normalizer,
        seen: FxHashSet::default(),
        visited: FxHashSet::default(),
        limit: config.nodes,
    };
    let root = add(&mut search.graph, seed);
    search.graph.rebuild();
    for _ in 0..config.rounds {
        if !search.round() {
            break;
        }
    }
    search.graph[root].data.best.clone()
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
        let mut found: Vec<(Id, &'static str, Expr, Expr)> = Vec::new();
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
        for (id, rule, before, after) in found {
            if self.graph.total_number_of_nodes() >= self.limit {
                self.graph.rebuild();
                return false;
            }
            self.normalizer.record(rule, &before, &after);
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
            if list.len() >= ALTERNATIVES {
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
        lists: [&'static [Rule]; 2],
        found: &mut Vec<(Id, &'static str, Expr, Expr)>,
    ) {
        let Some(before) = before else { return };
        if argument.as_constant().is_some() || !self.seen.insert(before.structural_hash()) {
            return;
        }
        for rule in lists.into_iter().flatten() {
            if let Some(after) = (rule.apply)(&mut self.normalizer.analysis, argument, c) {
                found.push((id, rule.name, before.clone(), after.clone()));
                self.normalize(id, &after, found);
            }
        }
    }

    fn normalize(&mut self, id: Id, e: &Expr, found: &mut Vec<(Id, &'static str, Expr, Expr)>) {
        let normal = self.normalizer.root(e);
        if normal != *e && self.seen.insert(normal.structural_hash() ^ 1) {
            found.push((id, "normal-form", e.clone(), normal));
        }
    }

    /// A sum with one child written in another way may cancel where it did not before.
    fn rewrite_sum(&mut self, id: Id, node: &Node, children: &[Id], found: &mut Vec<(Id, &'static str, Expr, Expr)>) {
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
                    found.push((id, "equal-summand", plain.clone(), sum.clone()));
                }
                self.normalize(id, &sum, found);
            }
        }
    }
}
