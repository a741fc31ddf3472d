//! The e-graph's language: sums with any number of summands, divisions and remainders by constants.
//!
//! A sum keeps its children in the order of the expression it came from, so associativity and commutativity need no rules
//! here either.

use egg::{EGraph, Id, Language};

use super::analysis::Facts;
use crate::{Atom, Expr, Term, Var};

/// One e-node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Node {
    /// A variable.
    Var(Var),
    /// A constant plus factors times children.
    Linear(i64, Box<[i64]>, Box<[Id]>),
    /// A floor division of the child.
    FloorDiv(i64, [Id; 1]),
    /// A remainder of the child.
    Mod(i64, [Id; 1]),
}

/// What must agree for two nodes to be equal when their children are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Head {
    Var(Var),
    Linear(i64, Box<[i64]>),
    FloorDiv(i64),
    Mod(i64),
}

impl Language for Node {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        match self {
            Node::Var(v) => Head::Var(*v),
            Node::Linear(k, factors, _) => Head::Linear(*k, factors.clone()),
            Node::FloorDiv(c, _) => Head::FloorDiv(*c),
            Node::Mod(c, _) => Head::Mod(*c),
        }
    }

    fn matches(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Var(v), Node::Var(w)) => v == w,
            (Node::Linear(k, f, _), Node::Linear(l, g, _)) => k == l && f == g,
            (Node::FloorDiv(c, _), Node::FloorDiv(d, _)) | (Node::Mod(c, _), Node::Mod(d, _)) => c == d,
            _ => false,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Node::Var(_) => &[],
            Node::Linear(_, _, children) => children,
            Node::FloorDiv(_, child) | Node::Mod(_, child) => child,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Node::Var(_) => &mut [],
            Node::Linear(_, _, children) => children,
            Node::FloorDiv(_, child) | Node::Mod(_, child) => child,
        }
    }
}

impl Node {
    /// The node as text, over names for its children.
    pub(super) fn label(&self, name: &dyn Fn(Id) -> String) -> String {
        match self {
            Node::Var(v) => v.to_string(),
            Node::FloorDiv(c, [x]) => format!("{} floordiv {c}", name(*x)),
            Node::Mod(c, [x]) => format!("{} mod {c}", name(*x)),
            Node::Linear(constant, factors, children) => {
                let term = |(factor, id): (&i64, &Id)| match factor {
                    1 => name(*id),
                    _ => format!("{} * {factor}", name(*id)),
                };
                let terms = factors.iter().zip(children).map(term);
                let constant = (*constant != 0 || children.is_empty()).then(|| constant.to_string());
                terms.chain(constant).collect::<Vec<_>>().join(" + ")
            }
        }
    }
}

/// The graph of equal expressions over one domain.
pub(super) type Graph = EGraph<Node, Facts>;

/// Adds an expression with all its parts.
pub(super) fn add(graph: &mut Graph, e: &Expr) -> Id {
    if let Some(atom) = e.as_atom() {
        return add_atom(graph, atom);
    }
    let children: Vec<Id> = e.terms().iter().map(|t| add_atom(graph, &t.atom)).collect();
    let factors: Vec<i64> = e.terms().iter().map(|t| t.coefficient).collect();
    graph.add(Node::Linear(e.constant_term(), factors.into(), children.into()))
}

fn add_atom(graph: &mut Graph, atom: &Atom) -> Id {
    match atom {
        Atom::Var(v) => graph.add(Node::Var(*v)),
        Atom::FloorDiv(x, c) => {
            let x = add(graph, x);
            graph.add(Node::FloorDiv(*c, [x]))
        }
        Atom::Mod(x, c) => {
            let x = add(graph, x);
            graph.add(Node::Mod(*c, [x]))
        }
    }
}

/// The node as an expression over the given ones for its children; nothing where a number leaves `i64`.
pub(super) fn expression(node: &Node, child: &dyn Fn(Id) -> Option<Expr>) -> Option<Expr> {
    match node {
        Node::Var(v) => Some(Expr::var(*v)),
        Node::FloorDiv(c, [x]) => child(*x)?.checked_floor_div(*c).ok(),
        Node::Mod(c, [x]) => child(*x)?.checked_modulo(*c).ok(),
        Node::Linear(k, factors, children) => {
            let mut constant = *k;
            let mut terms: Vec<Term> = Vec::with_capacity(children.len());
            for (factor, id) in factors.iter().zip(children) {
                let e = child(*id)?;
                constant = constant.checked_add(e.constant_term().checked_mul(*factor)?)?;
                for t in e.terms() {
                    terms.push(Term { coefficient: t.coefficient.checked_mul(*factor)?, atom: t.atom.clone() });
                }
            }
            Expr::sum(constant, terms).ok()
        }
    }
}
