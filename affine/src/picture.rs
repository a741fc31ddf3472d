//! The picture of an e-graph: its classes of equal expressions, and the ways of writing each.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use crate::{Expr, Interval};

/// The e-graph of one expression after saturation; see [`Simplifier::egraph`](crate::Simplifier::egraph).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EgraphPicture {
    /// The classes, in the order in which they were found first.
    pub classes: Vec<ClassPicture>,
    /// The class of the expression itself, by place.
    pub root: usize,
}

/// Expressions that are equal over the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassPicture {
    /// Holds the value of every member.
    pub range: Interval,
    /// The cheapest member; none where all ways of writing one overflow.
    pub best: Option<Expr>,
    /// The ways of making a member from members of other classes.
    pub nodes: Vec<NodePicture>,
}

/// One variable, sum, floor division or remainder over classes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodePicture {
    /// The operation, its operands named `c0, c1, …` for the places of their classes.
    pub label: String,
    /// The classes of the operands, by place.
    pub children: Vec<usize>,
}

impl EgraphPicture {
    /// The graph in the DOT language: a box for each class with its name, range and best member above its nodes, and an edge
    /// from each node to the classes that it is made from. The box of the expression itself is drawn bold.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph egraph {\n  node [shape=record];\n");
        // Writing to a string cannot fail.
        let _ = self.write_boxes(&mut dot);
        let _ = self.write_edges(&mut dot);
        dot + "}\n"
    }

    fn write_boxes(&self, dot: &mut String) -> fmt::Result {
        for (i, class) in self.classes.iter().enumerate() {
            let best = class.best.as_ref().map_or("overflow".to_owned(), escaped);
            let nodes = class.nodes.iter().enumerate().map(|(j, node)| format!("<n{j}> {}", escaped(&node.label)));
            let nodes: Vec<String> = nodes.collect();
            let style = if i == self.root { ", style=bold" } else { "" };
            writeln!(
                dot,
                "  c{i} [label=\"{{c{i} in {}|{best}|{{{}}}}}\"{style}];",
                escaped(&class.range),
                nodes.join("|")
            )?;
        }
        Ok(())
    }

    fn write_edges(&self, dot: &mut String) -> fmt::Result {
        for (i, class) in self.classes.iter().enumerate() {
            for (j, node) in class.nodes.iter().enumerate() {
                for child in node.children.iter().copied().collect::<BTreeSet<_>>() {
                    writeln!(dot, "  c{i}:n{j} -> c{child};")?;
                }
            }
        }
        Ok(())
    }
}

/// The text with what means something in a record's label escaped.
fn escaped(text: &impl fmt::Display) -> String {
    let special = |c: char| matches!(c, '"' | '\\' | '{' | '}' | '|' | '<' | '>');
    text.to_string().chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
