//! What the variables of a map are called.

use weft_affine::text::{Printer, Scope};
use weft_affine::{Constraint, Expr, Interval, Var};
use weft_indexing::IndexingMap;

/// All variables in the order of the header, with the names that were chosen for them.
pub(super) fn variables(map: &IndexingMap) -> Vec<(Var, Option<&str>)> {
    let dims = (0..).map(Var::Dim).zip(map.dims().iter().map(|v| v.name()));
    let ranges = (0..).map(Var::Range).zip(map.ranges().iter().map(|v| v.name()));
    let runtime = (0..).map(Var::Runtime).zip(map.runtime().iter().map(|v| v.name()));
    dims.chain(ranges).chain(runtime).collect()
}

/// The name of a variable: the one that was chosen, or its standard one.
pub(super) fn name(map: &IndexingMap, v: Var) -> String {
    chosen(map, v).unwrap_or_else(|| v.to_string())
}

fn chosen(map: &IndexingMap, v: Var) -> Option<String> {
    let found = variables(map).into_iter().find(|(known, _)| *known == v);
    found.and_then(|(_, name)| Some(name?.to_owned()))
}

/// The variable of this name, chosen or standard.
pub(super) fn variable(map: &IndexingMap, name: &str) -> Option<Var> {
    let all = variables(map);
    let chosen = all.iter().find(|(_, known)| *known == Some(name));
    chosen.or_else(|| all.iter().find(|(v, _)| v.to_string() == name)).map(|(v, _)| *v)
}

/// What names mean in an expression over the variables of the map.
pub(super) fn scope(map: &IndexingMap) -> Scope {
    let mut scope = Scope::empty();
    for (v, name) in variables(map) {
        // A name that two variables have is the first one's, as in the text of maps.
        name.map(|name| scope.define(name, Expr::var(v)));
    }
    for (v, _) in variables(map) {
        scope.define(&v.to_string(), Expr::var(v));
    }
    scope
}

/// `expr in [lo, hi]` with the names of the map.
pub(super) fn constraint(map: &IndexingMap, Constraint { expr, bounds }: &Constraint) -> String {
    bounded(map, expr, *bounds)
}

/// As [`constraint`], from its parts.
pub(super) fn bounded(map: &IndexingMap, e: &Expr, bounds: Interval) -> String {
    format!("{} in {bounds}", expression(map, e))
}

/// The expression with the names of the map.
pub(super) fn expression(map: &IndexingMap, e: &Expr) -> String {
    written(e, |v| chosen(map, v))
}

/// The expression with names for some variables.
pub(super) fn written(e: &Expr, name: impl Fn(Var) -> Option<String>) -> String {
    let printer = Printer::with_names([e], name);
    let mut text = String::new();
    // Memory can always be written.
    let _ = printer.write(&mut text, e).and_then(|()| printer.write_where(&mut text));
    text
}
