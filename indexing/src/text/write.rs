//! The printer of indexing maps.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use weft_affine::text::{Cursor, Printer, Scope};
use weft_affine::{Expr, Interval, Var};

use super::names::{UNKNOWN, is_token};
use crate::map::State;
use crate::{IndexingMap, OutOfBounds, Owner, RuntimeVariable};

/// How a map is written.
pub(super) struct Form<'a> {
    /// Each entry of the domain on a line of its own.
    pub(super) lines: bool,
    /// What owners are called, where they are shown.
    pub(super) owners: Option<&'a dyn Fn(Owner) -> Option<String>>,
}

pub(super) fn write_map(map: &IndexingMap, f: &mut dyn Write, form: &Form<'_>) -> fmt::Result {
    match map.state {
        State::Undefined => return f.write_str("UNDEFINED"),
        State::KnownEmpty => f.write_str("KNOWN EMPTY ")?,
        State::Defined => {}
    }
    let names = chosen_names(map);
    let chosen = |v: Var| names.iter().find(|(w, _)| *w == v).map(|(_, name)| name.clone());
    let accesses = map.runtime.iter().flat_map(|v| &v.access).filter(|_| form.owners.is_some());
    let roots = map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).chain(accesses);
    // All variables count as written, so that no shared term gets the name of one that only the header mentions.
    let variables: Vec<Expr> = bounds_of(map).into_iter().map(|(v, _)| Expr::var(v)).collect();
    let printer = Printer::with_names(roots.chain(&variables), chosen);
    let header = Header { map, printer: &printer };
    header.write(f, true, true)?;
    f.write_str(" -> (")?;
    printer.write_list(f, &map.results)?;
    f.write_str(")")?;
    printer.write_where(f)?;
    let (first, next) = if form.lines { (",\ndomain:\n", ",\n") } else { (", domain: ", ", ") };
    let mut separator = first;
    for (v, bounds) in bounds_of(map) {
        write!(f, "{separator}{} in {bounds}", printer.variable(v))?;
        separator = next;
        if let (Var::Runtime(i), Some(owners)) = (v, form.owners)
            && let Some(variable) = map.runtime.get(i as usize)
        {
            header.write_origin(f, variable, owners)?;
        }
    }
    let mut constraints = Vec::with_capacity(map.constraints.len());
    for constraint in &map.constraints {
        let mut text = String::new();
        printer.write(&mut text, &constraint.expr)?;
        write!(text, " in {}", constraint.bounds)?;
        constraints.push(text);
    }
    constraints.sort();
    for text in constraints {
        write!(f, "{separator}{text}")?;
        separator = next;
    }
    Ok(())
}

/// The variables in front of an arrow.
struct Header<'a> {
    map: &'a IndexingMap,
    printer: &'a Printer,
}

impl Header<'_> {
    /// `(dims)[ranges]{runtime}`, without brackets that would be empty or are not wanted.
    fn write(&self, f: &mut dyn Write, ranges: bool, runtime: bool) -> fmt::Result {
        self.write_list(f, ['(', ')'], Var::Dim, self.map.dims.len())?;
        if ranges && !self.map.ranges.is_empty() {
            self.write_list(f, ['[', ']'], Var::Range, self.map.ranges.len())?;
        }
        if runtime && !self.map.runtime.is_empty() {
            self.write_list(f, ['{', '}'], Var::Runtime, self.map.runtime.len())?;
        }
        Ok(())
    }

    fn write_list(&self, f: &mut dyn Write, around: [char; 2], kind: fn(u32) -> Var, count: usize) -> fmt::Result {
        let names: Vec<String> = (0..).take(count).map(|i| self.printer.variable(kind(i))).collect();
        write!(f, "{}{}{}", around[0], names.join(", "), around[1])
    }

    /// The policy, and two lines for the owner and for the element. In front of the element stand the dimensions, and the other
    /// kinds only where it depends on some of them.
    fn write_origin(
        &self,
        f: &mut dyn Write,
        variable: &RuntimeVariable,
        owners: &dyn Fn(Owner) -> Option<String>,
    ) -> fmt::Result {
        if variable.out_of_bounds == OutOfBounds::Drop {
            f.write_str(" drop")?;
        }
        if variable.owner.is_none() && variable.access.is_empty() {
            return Ok(());
        }
        match variable.owner.map(|owner| (owner, owners(owner))) {
            Some((_, Some(name))) if is_readable(&name) => write!(f, "\n  hlo: {name}\n  ")?,
            Some((owner, _)) => write!(f, "\n  hlo: #{}\n  ", owner.0)?,
            None => write!(f, "\n  hlo: {UNKNOWN}\n  ")?,
        }
        let used: BTreeSet<Var> = variable.access.iter().flat_map(Expr::variables).collect();
        let uses = |is_kind: fn(&Var) -> bool| used.iter().any(is_kind);
        self.write(f, uses(|v| matches!(v, Var::Range(_))), uses(|v| matches!(v, Var::Runtime(_))))?;
        f.write_str(" -> (")?;
        self.printer.write_list(f, &variable.access)?;
        f.write_str(")")
    }
}

/// True for a name that is read back from a line of its own.
fn is_readable(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains('\n') && name != UNKNOWN && !is_token(name)
}

/// The bounds of all variables in the order of the header.
fn bounds_of(map: &IndexingMap) -> Vec<(Var, Interval)> {
    let dims = (0..).map(Var::Dim).zip(map.dims.iter().map(|v| v.bounds));
    let ranges = (0..).map(Var::Range).zip(map.ranges.iter().map(|v| v.bounds));
    let runtime = (0..).map(Var::Runtime).zip(map.runtime.iter().map(|v| v.bounds));
    dims.chain(ranges).chain(runtime).collect()
}

/// The chosen names that are shown: identifiers, each of one variable only, and not the number of another.
fn chosen_names(map: &IndexingMap) -> Vec<(Var, String)> {
    let dims = (0..).map(Var::Dim).zip(map.dims.iter().map(|v| v.name.as_ref()));
    let ranges = (0..).map(Var::Range).zip(map.ranges.iter().map(|v| v.name.as_ref()));
    let runtime = (0..).map(Var::Runtime).zip(map.runtime.iter().map(|v| v.name.as_ref()));
    let mut seen = BTreeSet::new();
    dims.chain(ranges)
        .chain(runtime)
        .filter_map(|(v, name)| Some((v, name?)))
        .filter(|(_, name)| is_identifier(name) && Scope::standard().get(name).is_none() && seen.insert(name.as_str()))
        .map(|(v, name)| (v, name.clone()))
        .collect()
}

fn is_identifier(name: &str) -> bool {
    // Operators in their older spelling.
    !["floorDiv", "ceilDiv"].contains(&name)
        && Cursor::new(name).is_ok_and(|mut cursor| cursor.name() == Ok(name) && cursor.at_end())
}
