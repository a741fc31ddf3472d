//! What commands on maps are given: an indexing map, a map without a domain, or one expression.

use crate::report::Failure;
use crate::source::Source;
use std::sync::Arc;
use weft_affine::{AffineMap, Expr, Interval, Ranges, Var};
use weft_indexing::{Error, Explanation, IndexingMap, Owner, OwnerNames, RuntimeVariable, SimplifyOptions, Variable};

/// Expressions with a domain have at most this many variables of a kind, each of which gets bounds.
const VARIABLES: u32 = 4096;

/// A map, and how it was written.
pub(crate) struct Subject {
    pub(crate) map: IndexingMap,
    /// The bounds that the text of an indexing map gives its variables, before conditions narrow them.
    pub(crate) given: Option<Ranges>,
    notation: Notation,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Notation {
    Indexing,
    Affine,
    Expression,
}

impl Subject {
    /// Reads the source in whichever notation it is.
    pub(crate) fn read(source: &Arc<Source>, owners: &mut OwnerNames) -> Result<Subject, Failure> {
        let text = source.text.as_str();
        let read = match text.find("domain") {
            _ if text.contains("->") || is_state(text) => map(text, owners),
            None => text.parse().map_err(Error::from).and_then(unbounded),
            Some(domain) => bounded(text, domain),
        };
        read.map_err(|error| Failure::from_indexing(source, &error))
    }

    /// Reads a map, with or without a domain.
    pub(crate) fn read_map(source: &Arc<Source>, owners: &mut OwnerNames) -> Result<Subject, Failure> {
        map(&source.text, owners).map_err(|error| Failure::from_indexing(source, &error))
    }

    /// Simplifies, and says why.
    pub(crate) fn explain(&mut self, options: &SimplifyOptions) -> Explanation {
        self.map.explain_with(options)
    }

    /// Another map, written as this one.
    pub(crate) fn like(&self, map: IndexingMap) -> Subject {
        Subject { map, given: None, notation: self.notation }
    }

    /// True for a map whose variables have no bounds.
    pub(crate) fn is_affine(&self) -> bool {
        self.notation == Notation::Affine
    }

    /// As [`Display`](std::fmt::Display), and under each runtime variable its owner and element.
    pub(crate) fn verbose(&self, owners: &dyn Fn(Owner) -> Option<String>) -> String {
        let is_indexing = self.notation == Notation::Indexing && !self.map.runtime().is_empty();
        if is_indexing { self.map.verbose_with(owners).to_string() } else { self.to_string() }
    }
}

/// True for a text that says of a map that nothing is known of it, or that it has no points.
fn is_state(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("UNDEFINED") || text.starts_with("KNOWN")
}

/// A map in the one notation or the other.
fn map(text: &str, owners: &mut OwnerNames) -> Result<Subject, Error> {
    if text.contains("->") && !text.contains("domain") && !is_state(text) {
        return text.parse().map_err(Error::from).map(affine);
    }
    let (map, given) = IndexingMap::parse_with_bounds(text, &mut |name| Some(owners.owner(name)))?;
    Ok(Subject { map, given: Some(given), notation: Notation::Indexing })
}

/// In the notation in which it was written.
impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match (self.notation, self.map.results()) {
            (Notation::Expression, [e]) => e.fmt(f),
            (Notation::Affine, _) if self.has_no_domain() => {
                let map = &self.map;
                let [dims, ranges] = [map.dims(), map.ranges()].map(|variables| count(variables.len()));
                match AffineMap::new(dims, ranges, count(map.runtime().len()), map.results().to_vec()) {
                    Ok(map) => map.fmt(f),
                    Err(_) => self.map.fmt(f),
                }
            }
            _ => self.map.fmt(f),
        }
    }
}

impl Subject {
    fn has_no_domain(&self) -> bool {
        let ranges = self.map.variable_ranges();
        let mut bounds = ranges.dims.iter().chain(&ranges.ranges).chain(&ranges.runtime);
        let is_stateless = !self.map.is_undefined() && !self.map.is_known_empty();
        is_stateless && self.map.constraints().is_empty() && bounds.all(|b| *b == Interval::EVERYTHING)
    }
}

/// A map whose variables have no bounds.
fn affine(map: AffineMap) -> Subject {
    let variables = |count: u32| (0..count).map(|_| Variable::new(Interval::EVERYTHING)).collect();
    let runtime = (0..map.runtime()).map(|_| RuntimeVariable::new(Interval::EVERYTHING)).collect();
    let (dims, ranges) = (variables(map.dims()), variables(map.ranges()));
    let map = IndexingMap::try_new(dims, ranges, runtime, map.into_results(), Vec::new())
        .expect("an affine map is over its own variables");
    Subject { map, given: None, notation: Notation::Affine }
}

/// One expression, of whose variables nothing is known.
fn unbounded(e: Expr) -> Result<Subject, Error> {
    let [dims, ranges, runtime] = counts(&e)?;
    let map = AffineMap::new(dims, ranges, runtime, vec![e])?;
    Ok(Subject { notation: Notation::Expression, ..affine(map) })
}

/// How many variables of each kind an expression needs.
fn counts(e: &Expr) -> Result<[u32; 3], Error> {
    let mut counts = [0u32; 3];
    for v in e.variables() {
        let (count, i) = match v {
            Var::Dim(i) => (&mut counts[0], i),
            Var::Range(i) => (&mut counts[1], i),
            Var::Runtime(i) => (&mut counts[2], i),
        };
        *count = (*count).max(i.saturating_add(1));
    }
    if let Some(found) = counts.into_iter().find(|count| *count > VARIABLES) {
        let (expected, found) = (VARIABLES as usize, found as usize);
        return Err(Error::Arity { what: "variables, at most", expected, found });
    }
    Ok(counts)
}

/// An expression, a comma, and the domain at this position.
fn bounded(text: &str, domain: usize) -> Result<Subject, Error> {
    let (head, tail) = text.split_at(domain);
    let head = head.trim_end();
    let e: Expr = head.strip_suffix(',').unwrap_or(head).parse()?;
    let [dims, ranges, runtime] = counts(&e)?;
    let list = |letter: &str, count: u32| (0..count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(", ");
    let header = format!("({})[{}]{{{}}} -> (), ", list("d", dims), list("s", ranges), list("rt", runtime));
    let map: Result<IndexingMap, Error> = format!("{header}{tail}").parse();
    // The header was not in the text, so places in the domain move back over it.
    let moved = |position: usize| position.saturating_sub(header.len()) + domain;
    let mut map = map.map_err(|error| match (error.span(), error) {
        (Some(span), Error::Affine(error)) => Error::Affine(weft_affine::Error::Syntax {
            message: error.to_string(),
            span: moved(span.start)..moved(span.end),
        }),
        (_, error) => error,
    })?;
    map.set_results(vec![e])?;
    Ok(Subject { map, given: None, notation: Notation::Expression })
}
