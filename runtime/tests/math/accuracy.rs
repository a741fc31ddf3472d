//! How far results lie from what is right, and the table of it: `codegen-wgsl/docs/accuracy.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use weft_hlo::ir::{ElementType, FloatFormat};

/// The worst result of a function on elements of a type.
pub(crate) struct Row {
    pub(crate) ty: ElementType,
    /// The operation, and what its operands are restricted to, if anything.
    pub(crate) function: String,
    /// How many results were looked at.
    pub(crate) points: usize,
    /// The largest error of numbers, in units in the last place.
    pub(crate) error: f64,
    /// The largest error that the library promises.
    pub(crate) allowed: f64,
    /// The operands of the worst result, and what it was.
    pub(crate) place: String,
    /// Likewise of all that is a NaN, an infinity or a zero and should not be, or should be and is not.
    pub(crate) special: Vec<String>,
}

/// How many of the special values that are wrong are told.
const TOLD: usize = 12;

impl Row {
    /// Of results, each with its error and what describes it.
    pub(crate) fn worst(
        ty: ElementType,
        function: &str,
        allowed: f64,
        results: impl Iterator<Item = (f64, impl FnOnce() -> String)>,
    ) -> Row {
        let (function, place, special) = (function.to_owned(), String::new(), Vec::new());
        let mut row = Row { ty, function, points: 0, error: 0.0, allowed, place, special };
        for (error, place) in results {
            row.points += 1;
            if error.is_infinite() {
                row.special.push(place());
            } else if error > row.error {
                (row.error, row.place) = (error, place());
            }
        }
        row
    }

    /// The worse of both.
    pub(crate) fn and(mut self, other: Row) -> Row {
        self.points += other.points;
        self.special.extend(other.special);
        if self.error < other.error {
            (self.error, self.place) = (other.error, other.place);
        }
        self
    }

    fn failure(&self) -> Option<String> {
        let Row { ty, function, error, allowed, place, special, .. } = self;
        let mut text = String::new();
        if error > allowed {
            writeln!(text, "{function} of {ty}: {error:.2} ulp, {allowed} allowed, {place}").ok()?;
        }
        if !special.is_empty() {
            let told = special.iter().take(TOLD).map(|place| format!("\n    {place}"));
            writeln!(
                text,
                "{function} of {ty}: {} special values are wrong{}",
                special.len(),
                told.collect::<String>()
            )
            .ok()?;
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Fails with what is less accurate than it should be, rows of one function together; with `SNAPSHOTS=overwrite` the rows go into the table first. A row that the table
/// lacks, or has with another bound, is a failure too.
pub(crate) fn check(rows: impl IntoIterator<Item = Row>) {
    let mut together: Vec<Row> = Vec::new();
    for row in rows {
        match together.iter().position(|other| (other.ty, &other.function) == (row.ty, &row.function)) {
            Some(position) => {
                let other = together.swap_remove(position);
                together.push(other.and(row));
            }
            None => together.push(row),
        }
    }
    let rows = &together;
    static TABLE: Mutex<()> = Mutex::new(());
    let _guard = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../codegen-wgsl/docs/accuracy.md");
    let mut table = Table::parse(&std::fs::read_to_string(&path).unwrap_or_default());
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        table.add(&adapter(), rows);
        std::fs::write(&path, table.print()).expect("the table can be written");
    }
    let missing = rows.iter().filter(|row| !table.promises(row)).map(|row| {
        format!("the table lacks {} of {}, at most {} ulp: SNAPSHOTS=overwrite", row.function, row.ty, row.allowed)
    });
    super::none(&rows.iter().filter_map(Row::failure).chain(missing).collect::<Vec<_>>());
}

/// The first word of the adapter's name.
fn adapter() -> String {
    let name = crate::support::device().info().name.clone();
    name.split_whitespace().next().unwrap_or("adapter").to_owned()
}

/// A row of the table: the bound, and what was measured on each adapter.
struct Line {
    allowed: String,
    measured: BTreeMap<String, String>,
}

/// The table, by types and functions.
struct Table {
    lines: BTreeMap<(usize, String), Line>,
}

const INTRODUCTION: &str = "# Accuracy

The largest errors found of each function on each adapter, in units in the last place of the exact result, and the bounds that
`runtime/tests/math.rs` holds every adapter to. Of a complex result the unit is that of its larger part, and the error that of the worse
part. Special values are exact: NaNs and infinities stand where HLO has them. Where a device takes numbers below the normal range of `f32` for zeros,
operands and results may be such zeros, and so may the products of parts that complex products are sums of.

`WEFT_CASES=100 SNAPSHOTS=overwrite cargo test -p weft-runtime --test gpu accurate` measures on the default adapter and writes this file: 2^20 points
a function of `f32`, `f64`, `c64` and `c128` (special values, all magnitudes, dense where functions change their course), and all 2^16 of a 16-bit
type, those aside that a device takes for zeros. Without `WEFT_CASES` the test looks at some 10,000 points of a complex function, 80,000 of one of
`f32`, 120,000 of `f64`. ‘·’ is a type that an adapter does not compute with.
";

impl Table {
    fn parse(text: &str) -> Table {
        let mut table = Table { lines: BTreeMap::new() };
        let (mut ty, mut adapters) = (None, Vec::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                ty = ElementType::ALL.iter().position(|ty| ty.name() == name.trim_matches('`'));
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let (Some(ty), ["", function, allowed, measured @ .., ""]) = (ty, &cells[..]) else { continue };
            if *function == "function" {
                adapters = measured.iter().map(|name| (*name).to_owned()).collect();
            } else if !function.starts_with("--") {
                let measured = adapters.iter().cloned().zip(measured.iter().map(|cell| (*cell).to_owned()));
                let line = Line { allowed: (*allowed).to_owned(), measured: measured.collect() };
                table.lines.insert((ty, (*function).to_owned()), line);
            }
        }
        table
    }

    fn key(row: &Row) -> (usize, String) {
        (ElementType::ALL.iter().position(|ty| *ty == row.ty).unwrap_or(0), row.function.clone())
    }

    fn add(&mut self, adapter: &str, rows: &[Row]) {
        for row in rows {
            let line = self
                .lines
                .entry(Table::key(row))
                .or_insert_with(|| Line { allowed: String::new(), measured: BTreeMap::new() });
            line.allowed = row.allowed.to_string();
            line.measured.insert(adapter.to_owned(), format!("{:.2}", row.error));
        }
    }

    fn promises(&self, row: &Row) -> bool {
        self.lines.get(&Table::key(row)).is_some_and(|line| line.allowed == row.allowed.to_string())
    }

    fn print(&self) -> String {
        let adapters: std::collections::BTreeSet<&String> =
            self.lines.values().flat_map(|line| line.measured.keys()).collect();
        let (mut text, mut last) = (INTRODUCTION.to_owned(), None);
        for ((ty, function), line) in &self.lines {
            if last != Some(*ty) {
                last = Some(*ty);
                let names: String = adapters.iter().map(|name| format!(" {name} |")).collect();
                write!(text, "\n## `{}`\n\n| function | allowed |{names}\n", ElementType::ALL[*ty].name())
                    .expect("strings can be written to");
                text += &format!("|---|---|{}\n", "---|".repeat(adapters.len()));
            }
            let cells: String = adapters
                .iter()
                .map(|name| format!(" {} |", line.measured.get(*name).map_or("·", String::as_str)))
                .collect();
            writeln!(text, "| {function} | {} |{cells}", line.allowed).expect("strings can be written to");
        }
        text
    }
}

/// Numbers of a format, as far as rounding is concerned.
#[derive(Copy, Clone)]
pub(crate) struct Precision {
    /// Places of a significand behind the point.
    places: i32,
    /// The exponent of the least normal number.
    least: i32,
    greatest: f64,
    /// What is smaller may be taken for zero.
    flushed: f64,
}

impl Precision {
    /// Of the numbers that elements of a type are, or the parts of these.
    pub(crate) fn of(ty: ElementType) -> Precision {
        let single = f64::from(f32::MIN_POSITIVE);
        match (ty, FloatFormat::of(ty)) {
            (ElementType::F64 | ElementType::C128, _) => {
                Precision { places: 52, least: -1022, greatest: f64::MAX, flushed: 0.0 }
            }
            (_, Some(format)) => Precision {
                places: format.mantissa_bits() as i32,
                least: 1 - format.bias(),
                greatest: f64::from(format.max()),
                flushed: single,
            },
            // Parts of complex numbers come by way of others that are somewhat smaller.
            _ => Precision { places: 23, least: -126, greatest: f64::from(f32::MAX), flushed: 4.0 * single },
        }
    }

    fn exponent(self, value: f64) -> i32 {
        let bits = (value.abs().to_bits() >> 52) as i32;
        (bits - 1023).max(self.least)
    }

    /// `value` in units in the last place of a number of the size of `like`.
    fn in_units(self, value: f64, like: f64) -> f64 {
        let unit = self.exponent(like) - self.places;
        // In two steps, neither of which overflows.
        let half = unit / 2;
        value / 2f64.powi(half) / 2f64.powi(unit - half)
    }

    /// The error of a number, in units in the last place of one of the size of `like`: zero where special values are as they should be,
    /// infinite where they are not.
    pub(crate) fn distance(self, got: f64, want: f64, like: f64) -> f64 {
        if want.is_nan() || got.is_nan() {
            return if want.is_nan() == got.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if got == want || got.abs().max(want.abs()) < self.flushed {
            return 0.0;
        }
        if self.greatest == f64::MAX && (want.is_infinite() || got.is_infinite()) {
            // What is rounded to an infinity may be rounded to what is next to it.
            let is_next = got.abs().min(want.abs()) == f64::MAX && (got > 0.0) == (want > 0.0);
            return if is_next { 1.0 } else { f64::INFINITY };
        }
        if want.is_infinite() {
            return f64::INFINITY;
        }
        // An infinity that is rounded to stands for the number that would follow the greatest; beyond that all are as good.
        let follower = self.greatest + 2f64.powi(self.exponent(self.greatest) - self.places);
        let (got, want) = match self.greatest {
            f64::MAX => (got, want),
            _ => (got.clamp(-follower, follower), want.clamp(-follower, follower)),
        };
        // Next to a part that is too large the unit is still that of the larger part.
        let size = if want.abs() < self.greatest { like.abs().max(want.abs()) } else { self.greatest };
        self.in_units((got - want).abs(), size)
    }
}
