//! The parser of indexing maps.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use weft_affine::text::{Cursor, Header, Scope};
use weft_affine::{Error as AffineError, Expr, Interval, Ranges, Var};

use super::names::{Name, UNKNOWN, blanked};
use crate::{Error, IndexingMap, OutOfBounds, Owner, RuntimeVariable, Variable};

/// The map of a text, and the bounds that the text gives its variables, which constraints further on may narrow in the map.
pub(super) fn read_map(
    source: &str,
    owner: &mut dyn FnMut(&str) -> Option<Owner>,
) -> Result<(IndexingMap, Ranges), Error> {
    let (blank, names) = blanked(source);
    let mut cursor = Cursor::new(&blank)?;
    if cursor.accept("UNDEFINED") {
        cursor.expect_end()?;
        return Ok((IndexingMap::undefined(), Ranges::default()));
    }
    let known_empty = cursor.accept("KNOWN");
    if known_empty {
        cursor.expect("EMPTY")?;
    }
    let (mut map, given) = if known_empty && cursor.at_end() {
        (IndexingMap::identity(&[]), Ranges::default())
    } else {
        read(cursor, names, owner)?
    };
    if known_empty {
        map.set_known_empty();
    }
    Ok((map, given))
}

fn read(
    mut cursor: Cursor<'_>,
    names: BTreeMap<usize, Name<'_>>,
    owner: &mut dyn FnMut(&str) -> Option<Owner>,
) -> Result<(IndexingMap, Ranges), Error> {
    let mut scope = Scope::empty();
    let mut header = cursor.header(&mut scope)?;
    let results_at = cursor.skip_results()?;
    cursor.where_clause(&mut scope)?;
    let mut results = cursor.at(results_at).expression_list(&scope, ")")?;
    let mut domain = Domain { scope: &scope, header: &header, names, owner }.read(&mut cursor)?;
    cursor.expect_end()?;
    let kinds = Kinds::told_apart(&header, &domain);
    if !kinds.runtime.is_empty() {
        let all = domain.iter_mut().flat_map(|entry| {
            let access = entry.origin.iter_mut().flat_map(|origin| &mut origin.access);
            std::iter::once(&mut entry.expr).chain(access)
        });
        for e in results.iter_mut().chain(all) {
            *e = e.substitute(|v| kinds.renamed(v)).map_err(Error::from)?;
        }
        header = kinds.header(header);
    }
    assemble(&header, results, domain.into(), &cursor)
}

/// One `expr in [lo, hi]` of a domain.
struct Entry {
    expr: Expr,
    bounds: Interval,
    out_of_bounds: OutOfBounds,
    origin: Option<Origin>,
}

/// What the verbose form says of a runtime variable.
struct Origin {
    owner: Option<Owner>,
    access: Vec<Expr>,
    span: Range<usize>,
}

struct Domain<'a> {
    scope: &'a Scope,
    header: &'a Header,
    names: BTreeMap<usize, Name<'a>>,
    owner: &'a mut dyn FnMut(&str) -> Option<Owner>,
}

impl Domain<'_> {
    fn read(mut self, cursor: &mut Cursor<'_>) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        let comma = cursor.accept(",");
        if !cursor.peek_is("domain") {
            return if comma { Err(cursor.unexpected("`domain`").into()) } else { Ok(entries) };
        }
        cursor.expect("domain")?;
        cursor.expect(":")?;
        while !cursor.at_end() {
            entries.push(self.entry(cursor)?);
            cursor.accept(",");
        }
        Ok(entries)
    }

    fn entry(&mut self, cursor: &mut Cursor<'_>) -> Result<Entry, Error> {
        let (expr, bounds) = self.bounded(cursor)?;
        let span = cursor.span();
        let is_drop = self.policy_follows(cursor) && cursor.accept("drop");
        let out_of_bounds = if is_drop { OutOfBounds::Drop } else { OutOfBounds::Clamp };
        let origin = self.origin(cursor)?;
        let may_have = match expr.as_var() {
            Some(Var::Runtime(_)) => true,
            Some(Var::Range(_)) => origin.is_some(),
            _ => false,
        };
        if (is_drop || origin.is_some()) && !may_have {
            let span = span.start..cursor.span().start;
            return Err(syntax("only a runtime variable has an owner and may be dropped", span));
        }
        Ok(Entry { expr, bounds, out_of_bounds, origin })
    }

    /// `expr in [lo, hi]` or `lo <= expr <= hi`.
    fn bounded(&self, cursor: &mut Cursor<'_>) -> Result<(Expr, Interval), Error> {
        let mut older = cursor.clone();
        if let Ok(lo) = older.integer()
            && older.accept("<=")
        {
            let expr = older.expression(self.scope)?;
            older.expect("<=")?;
            let hi = older.integer()?;
            *cursor = older;
            return Ok((expr, Interval::new(lo, hi)));
        }
        let expr = cursor.expression(self.scope)?;
        cursor.expect("in")?;
        Ok((expr, cursor.interval()?))
    }

    /// True where `drop` is next and is the policy: no variable has this name, or what follows does not speak of it.
    fn policy_follows(&self, cursor: &Cursor<'_>) -> bool {
        let mut ahead = cursor.clone();
        let speaks_of_it = ["in", "+", "-", "*", "floordiv", "ceildiv", "mod", "floorDiv", "ceilDiv"];
        ahead.accept("drop")
            && (self.scope.get("drop").is_none() || !speaks_of_it.into_iter().any(|text| ahead.peek_is(text)))
    }

    /// The owner and the access, after a comma or without.
    fn origin(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Origin>, Error> {
        let mut ahead = cursor.clone();
        ahead.accept(",");
        let word = ahead.span().start;
        if !ahead.accept("hlo") || !ahead.accept(":") {
            return Ok(None);
        }
        *cursor = ahead;
        let owner = match self.names.remove(&word) {
            None => {
                cursor.expect("#")?;
                Some(Owner(cursor.magnitude()?))
            }
            Some(Name { text: UNKNOWN, .. }) => None,
            Some(Name { text: "", span }) => return Err(syntax("expected the name of an owner", span)),
            Some(Name { text, span }) => {
                let known = (self.owner)(text);
                Some(known.ok_or_else(|| syntax(&format!("no owner is known by the name `{text}`"), span))?)
            }
        };
        let start = cursor.span().start;
        let repeated = cursor.header(&mut Scope::empty())?;
        let known = [&self.header.dims, &self.header.ranges, &self.header.runtime];
        let mut names = [repeated.dims, repeated.ranges, repeated.runtime].into_iter().flatten();
        if let Some(other) = names.find(|name| !known.iter().any(|list| list.contains(name))) {
            return Err(syntax(&format!("the map has no variable `{other}`"), start..cursor.span().start));
        }
        cursor.expect("->")?;
        cursor.expect("(")?;
        let start = cursor.span().start;
        let access = cursor.expression_list(self.scope, ")")?;
        Ok(Some(Origin { owner, access, span: start..cursor.span().start }))
    }
}

/// Which of the variables in brackets are runtime variables, as the older notation has them; they come before those in braces.
struct Kinds {
    ranges: Vec<u32>,
    runtime: Vec<u32>,
}

impl Kinds {
    fn told_apart(header: &Header, domain: &[Entry]) -> Kinds {
        let owned = |i: u32| domain.iter().any(|e| e.origin.is_some() && e.expr.as_var() == Some(Var::Range(i)));
        let (runtime, ranges) = (0..).take(header.ranges.len()).partition(|i| owned(*i));
        Kinds { ranges, runtime }
    }

    fn renamed(&self, v: Var) -> Option<Expr> {
        let position = |list: &[u32], i: u32| list.iter().position(|j| *j == i).and_then(|at| u32::try_from(at).ok());
        match v {
            Var::Dim(_) => None,
            Var::Range(i) => {
                position(&self.ranges, i).map(Expr::range).or_else(|| position(&self.runtime, i).map(Expr::runtime))
            }
            Var::Runtime(i) => Some(Expr::runtime(i.checked_add(u32::try_from(self.runtime.len()).ok()?)?)),
        }
    }

    fn header(&self, mut header: Header) -> Header {
        let taken = |list: &[u32], names: &[String]| -> Vec<String> {
            list.iter().filter_map(|i| names.get(*i as usize).cloned()).collect()
        };
        header.runtime = [taken(&self.runtime, &header.ranges), header.runtime].concat();
        header.ranges = taken(&self.ranges, &header.ranges);
        header
    }
}

/// The map of these parts, and the bounds that its variables are given: by the first entry about a variable alone. All others
/// are constraints.
fn assemble(
    header: &Header,
    results: Vec<Expr>,
    mut entries: VecDeque<Entry>,
    cursor: &Cursor<'_>,
) -> Result<(IndexingMap, Ranges), Error> {
    // Taken from the front where they come in the order of the header, which is then quick.
    let mut bounds = |v: Var, name: &str| -> Result<Entry, Error> {
        let found = entries.iter().position(|e| e.expr.as_var() == Some(v)).and_then(|i| entries.remove(i));
        found.ok_or_else(|| syntax(&format!("the domain gives no bounds for `{name}`"), cursor.span()))
    };
    let mut variables = |names: &[String], kind: fn(u32) -> Var| -> Result<Vec<Variable>, Error> {
        let numbered = (0..).map(kind).zip(names);
        numbered.map(|(v, name)| Ok(Variable { bounds: bounds(v, name)?.bounds, name: chosen(name) })).collect()
    };
    let dims = variables(&header.dims, Var::Dim)?;
    let ranges = variables(&header.ranges, Var::Range)?;
    let mut runtime = Vec::with_capacity(header.runtime.len());
    for (i, name) in (0..).zip(&header.runtime) {
        let Entry { bounds, out_of_bounds, origin, .. } = bounds(Var::Runtime(i), name)?;
        let is_later = |v: &Var| matches!(v, Var::Runtime(j) if *j >= i);
        if let Some(Origin { access, span, .. }) = &origin
            && access.iter().any(|e| e.variables().iter().any(is_later))
        {
            let message = format!("the access of `{name}` mentions a runtime variable that does not come before it");
            return Err(syntax(&message, span.clone()));
        }
        let (owner, access) = origin.map_or((None, Vec::new()), |origin| (origin.owner, origin.access));
        runtime.push(RuntimeVariable { bounds, name: chosen(name), owner, access, out_of_bounds });
    }
    let mut map = IndexingMap::of_valid(dims, ranges, runtime, results, Vec::new());
    let given = map.variable_ranges();
    for Entry { expr, bounds, .. } in entries {
        map.constrain(expr, bounds);
    }
    Ok((map, given))
}

/// The name of a variable, where it was chosen.
fn chosen(name: &str) -> Option<String> {
    Scope::standard().get(name).is_none().then(|| name.to_owned())
}

fn syntax(message: &str, span: Range<usize>) -> Error {
    AffineError::Syntax { message: message.to_owned(), span }.into()
}
