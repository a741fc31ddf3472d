//! Pictures of what reads what: boxes with arrows, laid out in rows, as SVG or DOT.

mod dot;
mod layout;
mod place;
mod rows;
mod svg;

use crate::output;
use crate::report::Failure;
use std::path::Path;

/// Characters of a line that are shown; the tooltip has all of it.
const SHOWN: usize = 48;

/// Boxes, which may hold boxes, and arrows between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// Whether the boxes stand one below the other, in their order; else each stands below those that arrows lead from.
    pub(crate) is_list: bool,
}

/// A box.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// What is written in it, each line as far as it is shown.
    pub(crate) lines: Vec<String>,
    /// The tooltip.
    pub(crate) title: String,
    /// What it holds.
    pub(crate) inner: Graph,
}

/// What a box is, which decides how it looks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Parameter,
    Constant,
    /// An instruction of a kernel, or one that only passes values on.
    Instruction,
    /// A kernel.
    Kernel,
    /// A launch that is no fusion, or what the host computes.
    Alone,
    /// What runs other computations.
    Control,
    /// A computation that holds launches.
    Program,
    /// A function of a kernel.
    Function,
    /// What is written beside an arrow.
    Label,
}

/// An arrow from what is read to what reads it.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Which box within that at its end it leads to.
    pub(crate) port: Option<usize>,
    /// The tooltip.
    pub(crate) title: String,
}

impl Graph {
    /// Adds a box, and returns its number.
    pub(crate) fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds an arrow.
    pub(crate) fn connect(&mut self, from: usize, to: usize, port: Option<usize>, title: impl Into<String>) {
        self.edges.push(Edge { from, to, port, title: title.into() });
    }
}

impl Node {
    /// A box with nothing in it but text.
    pub(crate) fn new(kind: Kind, lines: &[&str], title: impl Into<String>) -> Node {
        let lines = lines.iter().map(|line| clipped(line, SHOWN)).collect();
        Node { kind, lines, title: title.into(), inner: Graph::default() }
    }
}

/// The text, or the beginning of it where it is longer than so many characters.
pub(crate) fn clipped(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Writes a picture with a note above it, if there is one, to a file: as DOT where its name ends in `.dot`, else as SVG; for `-` as DOT to standard output.
pub(crate) fn write(graph: &Graph, note: Option<&str>, path: &Path) -> Result<(), Failure> {
    if is_output(path) {
        return Ok(output::text(&dot::dot(graph, note))?);
    }
    let is_dot = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dot"));
    let drawing = if is_dot { dot::dot(graph, note) } else { svg::svg(graph, note) };
    std::fs::write(path, drawing).map_err(|error| Failure::not_written(path, &error))
}

/// Whether what is written to this path goes to standard output.
pub(crate) fn is_output(path: &Path) -> bool {
    path == Path::new("-")
}
