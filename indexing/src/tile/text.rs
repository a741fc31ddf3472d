//! The text of tiles.

use std::fmt;

use weft_affine::text::Printer;
use weft_affine::{Expr, Interval, Var};

use super::domain::{TileDomain, write_constraints};
use super::symbolic::{SymbolicTile, TileAxis, TileCase};

/// Offsets are `o0 …` and sizes `t0 …` in text.
pub(super) fn parameter(v: Var) -> Option<String> {
    match v {
        Var::Dim(i) => Some(format!("o{i}")),
        Var::Range(i) => Some(format!("t{i}")),
        Var::Runtime(_) => None,
    }
}

/// The parameters, then each case: offsets, sizes and strides of the results, masks after `within` where there are any, and
/// conditions after `if`; at last the domain within which the conditions are to be read. Constraints and expressions are those
/// of the map notation over `o0 …`, `t0 …` and `rt0 …`.
///
/// ```text
/// (o0)[t0] -> offsets (o0 floordiv 8, 0), sizes (t0 floordiv 8, 8), strides (1, 1), if o0 mod 8 in [0, 0], t0 mod 8 in [0, 0]
///  or offsets (o0 floordiv 8, o0 mod 8), sizes (1, t0), strides (1, 1), if t0 + o0 mod 8 in [1, 8],
///  domain: o0 in [0, 31], t0 in [1, 32], o0 + t0 in [1, 32]
/// ```
///
/// A line `or further cases` says that not all cases are listed.
impl fmt::Display for SymbolicTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |letter: char, n: usize| (0..n).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(", ");
        let n = self.map.dims.len();
        write!(f, "({})[{}]", list('o', n), list('t', n))?;
        if !self.map.runtime.is_empty() {
            let names: Vec<String> = (0..self.map.runtime.len()).map(|i| format!("rt{i}")).collect();
            write!(f, "{{{}}}", names.join(", "))?;
        }
        for (i, case) in self.cases.iter().enumerate() {
            write!(f, "{}{case}", if i == 0 { " -> " } else { "\n or " })?;
        }
        if !self.is_complete {
            f.write_str("\n or further cases")?;
        }
        let domain = self.domain();
        if domain != TileDomain::default() {
            write!(f, ",\n domain: {domain}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TileCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, name: &str, get: &dyn Fn(&TileAxis) -> Expr| {
            let all: Vec<Expr> = self.axes.iter().map(get).collect();
            let printer = Printer::with_names(&all, parameter);
            write!(f, "{name} (")?;
            printer.write_list(f, &all)?;
            f.write_str(")")?;
            printer.write_where(f)
        };
        part(f, "offsets", &|a| a.offset.clone())?;
        part(f, ", sizes", &|a| a.size.clone())?;
        part(f, ", strides", &|a| a.stride.into())?;
        if self.axes.iter().any(|a| a.mask != Interval::EVERYTHING) {
            let masks: Vec<String> = self.axes.iter().map(|a| mask(a.mask)).collect();
            write!(f, ", within ({})", masks.join(", "))?;
        }
        f.write_str(if self.conditions.is_empty() { "" } else { ", if " })?;
        write_constraints(f, &self.conditions)
    }
}

fn mask(bounds: Interval) -> String {
    if bounds == Interval::EVERYTHING { "all".to_owned() } else { bounds.to_string() }
}
