//! Pictures as DOT, which other programs draw.

use super::{Graph, Kind, Node};
use std::fmt::Write;

/// A graph as DOT, with a note above it, if there is one.
pub(super) fn dot(graph: &Graph, note: Option<&str>) -> String {
    let mut text = String::from("digraph program {\n  compound=true\n  node [shape=box, fontname=monospace]\n");
    if let Some(note) = note {
        let _ = writeln!(text, "  label={}\n  labelloc=t", quoted(note));
    }
    write(graph, "n", 1, &mut text);
    text + "}\n"
}

/// Boxes are named by the numbers of all boxes around them and their own.
fn write(graph: &Graph, prefix: &str, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for (number, node) in graph.nodes.iter().enumerate() {
        let name = format!("{prefix}_{number}");
        let label = quoted(&node.lines.join("\n"));
        let tooltip = quoted(&node.title);
        if node.inner.nodes.is_empty() {
            let plain = if node.kind == Kind::Label { ", shape=plaintext" } else { "" };
            let _ = writeln!(text, "{indent}{name} [label={label}, tooltip={tooltip}{plain}]");
        } else {
            let _ = writeln!(text, "{indent}subgraph cluster_{name} {{");
            let _ = writeln!(text, "{indent}  label={label}\n{indent}  tooltip={tooltip}");
            write(&node.inner, &name, depth + 1, text);
            let _ = writeln!(text, "{indent}}}");
        }
    }
    for edge in &graph.edges {
        let (from, to) = (&graph.nodes[edge.from], &graph.nodes[edge.to]);
        let names = [edge.from, edge.to].map(|number| format!("{prefix}_{number}"));
        let [tail, head] =
            [leaf(from, &names[0], from.inner.nodes.len().checked_sub(1)), leaf(to, &names[1], edge.port.or(Some(0)))];
        let mut attributes = vec![format!("tooltip={}", quoted(&edge.title))];
        if !from.inner.nodes.is_empty() {
            attributes.push(format!("ltail=cluster_{}", names[0]));
        }
        if !to.inner.nodes.is_empty() {
            attributes.push(format!("lhead=cluster_{}", names[1]));
        }
        let _ = writeln!(text, "{indent}{tail} -> {head} [{}]", attributes.join(", "));
    }
}

/// The name of a box that holds none: it itself, or a box in it, that of this number first.
fn leaf(node: &Node, name: &str, number: Option<usize>) -> String {
    let number = number.filter(|number| *number < node.inner.nodes.len()).unwrap_or(0);
    match node.inner.nodes.get(number) {
        Some(inner) => leaf(inner, &format!("{name}_{number}"), Some(0)),
        None => name.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
