//! Pictures as SVG.

use super::layout::{Area, LINE, Layout, MARGIN};
use super::{Graph, Kind, Node};
use std::fmt::Write;

/// Space around the picture.
const BORDER: f64 = 16.0;

/// A graph as SVG, with a note above it, if there is one.
pub(super) fn svg(graph: &Graph, note: Option<&str>) -> String {
    let layout = Layout::of(graph);
    let above = if note.is_some() { 2.0 * LINE } else { 0.0 };
    // What is said of the picture may be wider than it.
    let noted = note.map_or(0.0, |note| 8.0 * note.chars().count() as f64);
    let (width, height) = (layout.width.max(noted) + 2.0 * BORDER, layout.height + 2.0 * BORDER + above);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"monospace\" font-size=\"12\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8Z\" fill=\"#555555\"/></marker></defs>\n\
         <path d=\"M0 0H{width:.0}V{height:.0}H0Z\" fill=\"#ffffff\"/>\n"
    );
    if let Some(note) = note {
        let _ = writeln!(text, "<text x=\"{BORDER}\" y=\"{:.1}\">{}</text>", BORDER + LINE, escaped(note));
    }
    draw(graph, &layout, (BORDER, BORDER + above), &mut text);
    text + "</svg>\n"
}

/// Draws a graph whose corner is at `(x, y)`: arrows first, which boxes then cover.
fn draw(graph: &Graph, layout: &Layout, (x, y): (f64, f64), text: &mut String) {
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        let is_to_label = graph.nodes[edge.to].kind == Kind::Label;
        let marker = if is_to_label { "" } else { " marker-end=\"url(#arrow)\"" };
        let _ = write!(text, "<path d=\"{}\" fill=\"none\" stroke=\"#555555\"{marker}>", path(route, (x, y)));
        let _ = writeln!(text, "<title>{}</title></path>", escaped(&edge.title));
    }
    for (node, area) in graph.nodes.iter().zip(&layout.boxes) {
        draw_box(node, area, (x + area.x, y + area.y), text);
    }
}

fn draw_box(node: &Node, area: &Area, (x, y): (f64, f64), text: &mut String) {
    let (fill, stroke) = colours(node.kind);
    let round = if node.kind == Kind::Instruction { 3 } else { 7 };
    let _ = writeln!(text, "<g><title>{}</title>", escaped(&node.title));
    let _ = writeln!(
        text,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
        area.width, area.height
    );
    let margin = if node.kind == Kind::Label { 1.0 } else { MARGIN };
    for (number, line) in node.lines.iter().enumerate() {
        let weight = if number == 0 && !node.inner.nodes.is_empty() { " font-weight=\"bold\"" } else { "" };
        let below = y + margin + (number as f64 + 0.8) * LINE;
        let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{below:.1}\"{weight}>{}</text>", x + MARGIN, escaped(line));
    }
    text.push_str("</g>\n");
    draw(&node.inner, &area.inner, (x + area.origin.0, y + area.origin.1), text);
}

/// Lines where points lie one below the other, else curves.
fn path(route: &[(f64, f64)], (x, y): (f64, f64)) -> String {
    let mut text = String::new();
    let mut last: Option<(f64, f64)> = None;
    for (right, down) in route.iter().map(|point| (x + point.0, y + point.1)) {
        let _ = match last {
            None => write!(text, "M{right:.1} {down:.1}"),
            Some((before, _)) if (before - right).abs() < 0.05 => write!(text, "L{right:.1} {down:.1}"),
            Some((before, above)) => {
                let middle = f64::midpoint(above, down);
                write!(text, "C{before:.1} {middle:.1} {right:.1} {middle:.1} {right:.1} {down:.1}")
            }
        };
        last = Some((right, down));
    }
    text
}

/// How a box is filled, and its border.
fn colours(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Parameter => ("#e3f2e1", "#5a9a52"),
        Kind::Constant => ("#f0f0f0", "#999999"),
        Kind::Instruction => ("#ffffff", "#777777"),
        Kind::Kernel => ("#e8f0fb", "#4a7ab8"),
        Kind::Alone => ("#fbeee0", "#c08a4a"),
        Kind::Control => ("#f3e8f8", "#8a5aa8"),
        Kind::Program => ("#fafafa", "#bbbbbb"),
        Kind::Function => ("#fdf8e1", "#b8a04a"),
        Kind::Label => ("#ffffff", "none"),
    }
}

/// Text as XML has it; what XML has no characters for is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
