//! Cases in the notation of isl, whose variables are parameters here.

use std::fmt::Write;

use weft_affine::{Atom, Expr};

use crate::corpus::Case;

/// `[d0, s0] -> { [(…)] }`.
pub(crate) fn function(case: &Case) -> String {
    format!("{} -> {{ [({})] }}", parameters(case), text(&case.expr))
}

/// `[d0, s0] -> { : 0 <= d0 <= 9 and … }`.
pub(crate) fn domain(case: &Case) -> String {
    let bounds = case.variables().into_iter().map(|(v, i)| format!("{} <= {v} <= {}", i.lo, i.hi));
    let facts = case.constraints.iter().map(|c| format!("{} <= {} <= {}", c.bounds.lo, text(&c.expr), c.bounds.hi));
    let all: Vec<String> = bounds.chain(facts).collect();
    format!("{} -> {{ : {} }}", parameters(case), all.join(" and "))
}

fn parameters(case: &Case) -> String {
    let names: Vec<String> = case.variables().iter().map(|(v, _)| v.to_string()).collect();
    format!("[{}]", names.join(", "))
}

fn text(e: &Expr) -> String {
    let mut text = e.constant_term().to_string();
    for term in e.terms() {
        let atom = match &term.atom {
            Atom::Var(v) => v.to_string(),
            Atom::FloorDiv(x, c) => format!("floor(({})/{c})", self::text(x)),
            Atom::Mod(x, c) => format!("(({}) mod {c})", self::text(x)),
        };
        write!(text, " + {} * {atom}", term.coefficient).expect("a String takes any text");
    }
    text
}
