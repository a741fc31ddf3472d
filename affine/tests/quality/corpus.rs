//! The corpus of ranged expressions, `tests/corpus/ranged.txt`: one case a line, four or five fields with `|` between.
//!
//! ```text
//! name [hard:KIND] | expression | domain | best known form | all N or sampled N
//! ```
//!
//! The domain lists `expression in [lo, hi]`. The first entry about a bare variable gives its bounds; every other entry is a
//! constraint. `=` as best form stands for the expression itself. The last field says on how many points the best form was compared with the expression: on `all` points of the
//! domain, which proves it, or on a sample. Lines that are empty or begin with `#` are for the reader.

use weft_affine::text::{Cursor, Scope};
use weft_affine::{Constraint, Error, Expr, Interval, Ranges, Var};

/// The file as it was when the program was built.
pub(crate) const TEXT: &str = include_str!("../corpus/ranged.txt");

/// One expression over one domain, and the cheapest equal form that anybody knows.
pub(crate) struct Case {
    pub(crate) name: String,
    /// Why rules applied in one direction are likely to miss the best form.
    pub(crate) hard: Option<String>,
    pub(crate) expr: Expr,
    pub(crate) ranges: Ranges,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) best: Expr,
    /// How the best form was checked; empty until it has been.
    pub(crate) checked: String,
}

impl Case {
    /// The variables with their bounds: dimensions, then range variables, then runtime variables.
    pub(crate) fn variables(&self) -> Vec<(Var, Interval)> {
        let dims = (0..).map(Var::Dim).zip(self.ranges.dims.iter().copied());
        let ranges = (0..).map(Var::Range).zip(self.ranges.ranges.iter().copied());
        let runtime = (0..).map(Var::Runtime).zip(self.ranges.runtime.iter().copied());
        dims.chain(ranges).chain(runtime).collect()
    }

    /// How close a form of this cost comes.
    pub(crate) fn grade(&self, cost: u64) -> Grade {
        if cost <= self.best.cost() {
            Grade::Solved
        } else if cost < self.expr.cost() {
            Grade::Partly
        } else {
            Grade::Not
        }
    }
}

/// How close a simplifier came to the best known form.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Grade {
    /// As cheap as the best known form.
    Solved,
    /// Cheaper than the expression, but not as cheap as that.
    Partly,
    /// No cheaper than the expression.
    Not,
}

/// Reads every case.
///
/// # Errors
/// The number of the first line that is no case, and why.
pub(crate) fn read(text: &str) -> Result<Vec<Case>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| is_case(line));
    lines.map(|(i, line)| case(line).map_err(|reason| format!("line {}: {reason}\n{line}", i + 1))).collect()
}

/// True for a line that is neither empty nor a remark.
pub(crate) fn is_case(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

fn case(line: &str) -> Result<Case, String> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let (&[title, expr, domain, best], checked) = match fields.split_at_checked(4) {
        Some((front, [])) => (front.first_chunk().ok_or("no fields")?, ""),
        Some((front, [checked])) => (front.first_chunk().ok_or("no fields")?, *checked),
        _ => return Err("a case has four or five fields".to_owned()),
    };
    let (name, hard) = match title.split_once(" hard:") {
        Some((name, kind)) => (name, Some(kind.to_owned())),
        None => (title, None),
    };
    let read = |text: &str| text.parse::<Expr>().map_err(|e| format!("`{text}`: {e}"));
    let expr = read(expr)?;
    let best = if best == "=" { expr.clone() } else { read(best)? };
    let (ranges, constraints) = read_domain(domain).map_err(|e| format!("`{domain}`: {e}"))?;
    let case = Case { name: name.to_owned(), hard, expr, ranges, constraints, best, checked: checked.to_owned() };
    let declared = case.variables();
    let facts = case.constraints.iter().map(|c| &c.expr);
    let used: Vec<Var> = [&case.expr, &case.best].into_iter().chain(facts).flat_map(Expr::variables).collect();
    match used.iter().find(|v| !declared.iter().any(|(w, _)| *v == w)) {
        Some(unknown) => Err(format!("`{unknown}` has no bounds")),
        None => Ok(case),
    }
}

/// Reads `expression in [lo, hi]`, separated by commas.
fn read_domain(text: &str) -> Result<(Ranges, Vec<Constraint>), Error> {
    let (mut ranges, mut constraints) = (Ranges::default(), Vec::new());
    let mut cursor = Cursor::new(text)?;
    let scope = Scope::standard();
    while !cursor.at_end() {
        let expr = cursor.expression(&scope)?;
        cursor.expect("in")?;
        let bounds = cursor.interval()?;
        if !cursor.at_end() {
            cursor.expect(",")?;
        }
        let list = match expr.as_var() {
            Some(Var::Dim(i)) => Some((i, &mut ranges.dims)),
            Some(Var::Range(i)) => Some((i, &mut ranges.ranges)),
            Some(Var::Runtime(i)) => Some((i, &mut ranges.runtime)),
            None => None,
        };
        match list {
            Some((i, list)) if i as usize == list.len() => list.push(bounds),
            _ => constraints.push(Constraint::new(expr, bounds)),
        }
    }
    Ok((ranges, constraints))
}
