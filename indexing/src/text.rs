//! The notation of the specification, both ways.
//!
//! ```text
//! (d0, d1)[s0]{rt0} -> (d0 + s0, rt0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1], rt0 in [0, 4], d0 + s0 in [0, 3]
//! ```
//!
//! Reading takes commas and line breaks as the specification's examples have them: a comma may be missing before `domain:` and
//! between entries, and one may trail. `UNDEFINED` is the undefined map; `KNOWN EMPTY` in front of a map says that
//! its domain was proved empty.
//!
//! The verbose form adds to each runtime variable who owns its value, the policy and the element it is:
//! `rt0 in [0, 4] hlo: #7 clamp (d0)[s0]{rt0} -> (d0, 0)`.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::ops::Range;

use weft_affine::text::{Cursor, Printer, Scope};
use weft_affine::{Constraint, Error as AffineError, Expr, Interval, Var};

use crate::map::State;
use crate::{Error, IndexingMap, OutOfBounds, Owner, RuntimeVariable, Variable};

impl fmt::Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_map(self, f, false)
    }
}

impl fmt::Debug for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_map(self, f, true)
    }
}

/// A map with everything known of its runtime variables; see [`IndexingMap::verbose`].
#[derive(Debug)]
pub struct Verbose<'a>(&'a IndexingMap);

impl fmt::Display for Verbose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_map(self.0, f, true)
    }
}

impl IndexingMap {
    /// The text that also shows the owner, the policy and the access of each runtime variable; it can be read back.
    pub fn verbose(&self) -> Verbose<'_> {
        Verbose(self)
    }

    /// The chosen names of the variables, where every one is usable: identifiers, distinct, and not the number of another.
    fn chosen_names(&self) -> Vec<(Var, String)> {
        let dims = (0..).map(Var::Dim).zip(self.dims.iter().map(|v| &v.name));
        let ranges = (0..).map(Var::Range).zip(self.ranges.iter().map(|v| &v.name));
        let runtime = (0..).map(Var::Runtime).zip(self.runtime.iter().map(|v| &v.name));
        let all: Vec<(Var, Option<&String>)> =
            dims.chain(ranges).chain(runtime).map(|(v, name)| (v, name.as_ref())).collect();
        let mut seen = BTreeSet::new();
        for (v, name) in &all {
            let shown = name.cloned().unwrap_or_else(|| v.to_string());
            let fresh = shown == v.to_string() || Scope::standard().get(&shown).is_none();
            if !is_identifier(&shown) || !fresh || !seen.insert(shown) {
                return Vec::new();
            }
        }
        all.into_iter().filter_map(|(v, name)| Some((v, name?.clone()))).collect()
    }
}

fn is_identifier(name: &str) -> bool {
    Cursor::new(name).is_ok_and(|mut cursor| cursor.name().is_ok() && cursor.at_end())
}

fn write_map(map: &IndexingMap, f: &mut fmt::Formatter<'_>, verbose: bool) -> fmt::Result {
    match map.state {
        State::Undefined => return f.write_str("UNDEFINED"),
        State::KnownEmpty => f.write_str("KNOWN EMPTY ")?,
        State::Defined => {}
    }
    let names = map.chosen_names();
    let accesses = map.runtime.iter().flat_map(|v| &v.access).filter(|_| verbose);
    let roots = map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).chain(accesses);
    let chosen = |v: Var| names.iter().find(|(w, _)| *w == v).map(|(_, name)| name.clone());
    // All variables count as written, so that no shared term gets the name of one that only the header mentions.
    let variables: Vec<Expr> = bounds_of(map).into_iter().map(|(v, _)| Expr::var(v)).collect();
    let printer = Printer::with_names(roots.chain(&variables), chosen);
    let variable = |v: Var| chosen(v).unwrap_or_else(|| v.to_string());
    let mut header = String::new();
    let mut bracket = |open: char, close: char, list: &mut dyn Iterator<Item = Var>| {
        let names: Vec<String> = list.map(variable).collect();
        if open == '(' || !names.is_empty() {
            header.push(open);
            header.push_str(&names.join(", "));
            header.push(close);
        }
    };
    bracket('(', ')', &mut (0..).map(Var::Dim).take(map.dims.len()));
    bracket('[', ']', &mut (0..).map(Var::Range).take(map.ranges.len()));
    bracket('{', '}', &mut (0..).map(Var::Runtime).take(map.runtime.len()));
    write!(f, "{header} -> (")?;
    printer.write_list(f, &map.results)?;
    f.write_str(")")?;
    printer.write_where(f)?;
    let mut separator = ", domain: ";
    let mut entry = |f: &mut fmt::Formatter<'_>| {
        let written = f.write_str(separator);
        separator = ", ";
        written
    };
    for (v, bounds) in bounds_of(map) {
        entry(f)?;
        write!(f, "{} in {bounds}", variable(v))?;
        if let (true, Var::Runtime(i)) = (verbose, v)
            && let Some(RuntimeVariable { owner: Some(Owner(owner)), access, out_of_bounds, .. }) =
                map.runtime.get(i as usize)
        {
            let policy = match out_of_bounds {
                OutOfBounds::Clamp => "clamp",
                OutOfBounds::Drop => "drop",
            };
            write!(f, " hlo: #{owner} {policy} {header} -> (")?;
            printer.write_list(f, access)?;
            f.write_str(")")?;
        }
    }
    for Constraint { expr, bounds } in &map.constraints {
        entry(f)?;
        printer.write(f, expr)?;
        write!(f, " in {bounds}")?;
    }
    Ok(())
}

fn bounds_of(map: &IndexingMap) -> Vec<(Var, Interval)> {
    let dims = (0..).map(Var::Dim).zip(map.dims.iter().map(|v| v.bounds));
    let ranges = (0..).map(Var::Range).zip(map.ranges.iter().map(|v| v.bounds));
    let runtime = (0..).map(Var::Runtime).zip(map.runtime.iter().map(|v| v.bounds));
    dims.chain(ranges).chain(runtime).collect()
}

/// Reads a map in the notation of the specification; errors carry the bytes they are about.
impl std::str::FromStr for IndexingMap {
    type Err = Error;

    fn from_str(source: &str) -> Result<IndexingMap, Error> {
        let mut cursor = Cursor::new(source)?;
        if cursor.accept("UNDEFINED") {
            cursor.expect_end()?;
            return Ok(IndexingMap::undefined());
        }
        let known_empty = cursor.accept("KNOWN");
        if known_empty {
            cursor.expect("EMPTY")?;
        }
        let mut scope = Scope::empty();
        let header = cursor.header(&mut scope)?;
        cursor.expect("->")?;
        cursor.expect("(")?;
        let results_at = cursor.position();
        cursor.skip_balanced(")")?;
        cursor.expect(")")?;
        cursor.where_clause(&mut scope)?;
        let results = cursor.at(results_at).expression_list(&scope, ")")?;
        let entries = domain(&mut cursor, &scope)?;
        cursor.expect_end()?;

        let mut reader = Entries { entries: entries.into() };
        let mut variables = |names: &[String], kind: fn(u32) -> Var| -> Result<Vec<(Entry, Option<String>)>, Error> {
            let numbered = (0..).map(kind).zip(names);
            numbered.map(|(v, name)| Ok((reader.take(v, name, &cursor)?, chosen(v, name)))).collect()
        };
        let plain = |(entry, name): (Entry, Option<String>)| Variable { bounds: entry.bounds, name };
        let dims = variables(&header.dims, Var::Dim)?.into_iter().map(plain).collect();
        let ranges = variables(&header.ranges, Var::Range)?.into_iter().map(plain).collect();
        let runtime = variables(&header.runtime, Var::Runtime)?
            .into_iter()
            .map(|(entry, name)| RuntimeVariable {
                bounds: entry.bounds,
                name,
                owner: entry.origin.as_ref().map(|o| o.owner),
                out_of_bounds: entry.origin.as_ref().map(|o| o.out_of_bounds).unwrap_or_default(),
                access: entry.origin.map(|o| o.access).unwrap_or_default(),
            })
            .collect();
        let constraints = reader.entries.into_iter().map(|e| Constraint::new(e.expr, e.bounds)).collect();
        let mut map = IndexingMap::from_parts(dims, ranges, runtime, results, constraints);
        if known_empty {
            map.set_known_empty();
        }
        Ok(map)
    }
}

fn chosen(v: Var, name: &str) -> Option<String> {
    (name != v.to_string()).then(|| name.to_owned())
}

/// One `expr in [lo, hi]` of a domain.
struct Entry {
    expr: Expr,
    bounds: Interval,
    origin: Option<Origin>,
}

/// What the verbose form says of a runtime variable.
struct Origin {
    owner: Owner,
    out_of_bounds: OutOfBounds,
    access: Vec<Expr>,
    span: Range<usize>,
}

struct Entries {
    /// Taken from the front where they come in the order of the header, which is then quick.
    entries: VecDeque<Entry>,
}

impl Entries {
    /// Takes the first entry about the variable, which gives its bounds.
    fn take(&mut self, v: Var, name: &str, cursor: &Cursor<'_>) -> Result<Entry, Error> {
        let found = self.entries.iter().position(|e| e.expr.as_var() == Some(v));
        let missing =
            || AffineError::Syntax { message: format!("the domain gives no bounds for `{name}`"), span: cursor.span() };
        let entry = found.and_then(|i| self.entries.remove(i)).ok_or_else(missing)?;
        if let (Var::Runtime(own), Some(origin)) = (v, &entry.origin) {
            let is_later = |v: &Var| matches!(v, Var::Runtime(i) if *i >= own);
            if origin.access.iter().any(|e| e.variables().iter().any(is_later)) {
                let message =
                    format!("the access of `{name}` mentions a runtime variable that does not come before it");
                return Err(AffineError::Syntax { message, span: origin.span.clone() }.into());
            }
        }
        Ok(entry)
    }
}

fn domain(cursor: &mut Cursor<'_>, scope: &Scope) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    let comma = cursor.accept(",");
    if !cursor.peek_is("domain") {
        return if comma { Err(cursor.unexpected("`domain`").into()) } else { Ok(entries) };
    }
    cursor.expect("domain")?;
    cursor.expect(":")?;
    while !cursor.at_end() {
        let expr = cursor.expression(scope)?;
        cursor.expect("in")?;
        let bounds = cursor.interval()?;
        let origin = if cursor.accept("hlo") { Some(origin(cursor, scope)?) } else { None };
        entries.push(Entry { expr, bounds, origin });
        cursor.accept(",");
    }
    Ok(entries)
}

fn origin(cursor: &mut Cursor<'_>, scope: &Scope) -> Result<Origin, Error> {
    cursor.expect(":")?;
    cursor.expect("#")?;
    let owner = Owner(cursor.magnitude()?);
    let out_of_bounds = if cursor.accept("drop") {
        OutOfBounds::Drop
    } else {
        cursor.expect("clamp")?;
        OutOfBounds::Clamp
    };
    // The header repeats the map's own; its names mean what they mean there.
    cursor.header(&mut Scope::empty())?;
    cursor.expect("->")?;
    cursor.expect("(")?;
    let start = cursor.span().start;
    let access = cursor.expression_list(scope, ")")?;
    Ok(Origin { owner, out_of_bounds, access, span: start..cursor.span().start })
}
