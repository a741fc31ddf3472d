//! The domain of a tile: bounds of its parameters and conditions that hold in all its cases.

use std::fmt;

use weft_affine::text::Printer;
use weft_affine::{Constraint, Expr, Interval, Var};

use super::search::is_on_runtime_alone;
use super::symbolic::SymbolicTile;
use super::text::parameter;
use crate::OutOfBounds;

/// The domain of a symbolic tile, the same for all its cases: the bounds of its parameters, and constraints on them.
///
/// In expressions offsets are the dimension variables and sizes the range variables, as in the cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileDomain {
    /// The first index of the tile in each dimension.
    pub offsets: Vec<Interval>,
    /// The bounds of the tile's size in each dimension; at an edge the size is what is left.
    pub sizes: Vec<Interval>,
    /// The values of runtime variables.
    pub runtime: Vec<Interval>,
    /// The last index of the tile is one of the map, `o + t ≤ hi + 1` in each dimension.
    pub ends: Vec<Constraint>,
    /// The constraints of the map on runtime variables alone, and the bounds of those that [drop](OutOfBounds::Drop) what lies
    /// outside. Where one does not hold, nothing is read.
    pub runtime_conditions: Vec<Constraint>,
}

impl SymbolicTile {
    /// Within what the cases hold: the bounds that the map leaves its variables, and its conditions on runtime variables. Nothing
    /// for a map that is known to be empty, whose one case holds everywhere.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, SymbolicTile};
    ///
    /// let even: IndexingMap = "(d0){rt0} -> (d0 + rt0), domain: d0 in [2, 9], rt0 in [0, 8], rt0 mod 2 in [0, 0]".parse()?;
    /// let tile = SymbolicTile::of(&even)?;
    /// assert_eq!(
    ///     tile.domain().to_string(),
    ///     "o0 in [2, 9], t0 in [1, 8], rt0 in [0, 8], o0 + t0 in [3, 10], rt0 mod 2 in [0, 0]"
    /// );
    /// let boxes = tile.evaluate(&[4])?;
    /// assert_eq!(boxes.at(&[0], &[3])?, None);
    /// assert_eq!(boxes.at(&[0], &[4])?.map(|axes| axes[0].offset), Some(6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn domain(&self) -> TileDomain {
        if self.map.is_known_empty() {
            return TileDomain::default();
        }
        let ranges = self.map.variable_ranges();
        let size = |b: &Interval| Interval::new(1, i64::try_from(b.size()).unwrap_or(i64::MAX));
        let end = |(i, b): (u32, &Interval)| {
            let end = Expr::dim(i).checked_add(&Expr::range(i)).ok()?;
            Some(Constraint::new(end, Interval::new(b.lo.saturating_add(1), b.hi.saturating_add(1))))
        };
        TileDomain {
            sizes: ranges.dims.iter().map(size).collect(),
            ends: (0..).zip(&ranges.dims).filter(|(_, b)| b.size() > 1).filter_map(end).collect(),
            offsets: ranges.dims,
            runtime: ranges.runtime,
            runtime_conditions: self.runtime_conditions(),
        }
    }

    /// What runtime variables satisfy where anything is read: the constraints on them alone, and bounds that drop.
    pub(super) fn runtime_conditions(&self) -> Vec<Constraint> {
        let variables = (0..).map(Expr::runtime).zip(&self.map.runtime);
        let drops = variables.filter(|(_, own)| own.out_of_bounds == OutOfBounds::Drop);
        let bounds = drops.map(|(v, own)| Constraint::new(v, own.bounds));
        let constraints = self.map.constraints.iter().filter(|c| is_on_runtime_alone(c)).cloned();
        bounds.chain(constraints).collect()
    }
}

impl TileDomain {
    /// All of it as constraints: bounds of offsets, of sizes, of runtime variables, and the rest.
    pub fn constraints(&self) -> Vec<Constraint> {
        let bounds = |kind: fn(u32) -> Var, all: &[Interval]| -> Vec<Constraint> {
            (0..).map(kind).zip(all).map(|(v, b)| Constraint::new(Expr::var(v), *b)).collect()
        };
        let all =
            [bounds(Var::Dim, &self.offsets), bounds(Var::Range, &self.sizes), bounds(Var::Runtime, &self.runtime)];
        let mut all: Vec<Constraint> = all.into_iter().flatten().chain(self.ends.iter().cloned()).collect();
        let new = |c: &&Constraint| !all.contains(*c);
        let others: Vec<Constraint> = self.runtime_conditions.iter().filter(new).cloned().collect();
        all.extend(others);
        all
    }
}

/// `o0 in [0, 31], t0 in [1, 32], o0 + t0 in [1, 32]`; nothing where there is nothing to say.
impl fmt::Display for TileDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_constraints(f, &self.constraints())
    }
}

/// Constraints over `o0 …`, `t0 …` and `rt0 …`, between commas.
pub(super) fn write_constraints(f: &mut fmt::Formatter<'_>, all: &[Constraint]) -> fmt::Result {
    for (i, Constraint { expr, bounds }) in all.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        let printer = Printer::with_names([expr], parameter);
        printer.write(f, expr)?;
        printer.write_where(f)?;
        write!(f, " in {bounds}")?;
    }
    Ok(())
}
