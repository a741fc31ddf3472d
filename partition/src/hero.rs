//! Heroes: the instructions that a kernel is shaped around, recognized by their indexing maps.

use crate::Target;
use crate::access::{element_count, read_map};
use crate::plan::leaf_extents;
use crate::scan::Scan;
use std::fmt;
use std::str::FromStr;
use weft_affine::{Atom, Expr, Var};
use weft_hlo::ir::{Computation, InstrId};
use weft_indexing::IndexingMap;

/// What kind of iteration an instruction is, whatever operation it was written as: the emitters of a fusion compiler are chosen by
/// it. Counts are of elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeroKind {
    /// Each result combines elements that lie next to each other: the dimension that varies fastest is reduced.
    RowReduction {
        /// How many results there are.
        rows: i64,
        /// How many elements each combines.
        length: i64,
    },
    /// Each result combines elements that lie `minor` apart: the dimension that varies fastest is kept.
    ColumnReduction {
        /// How many results there are.
        columns: i64,
        /// How many elements each combines.
        length: i64,
        /// How many results lie between two elements that are combined.
        minor: i64,
    },
    /// Each result combines the elements of a window; windows overlap.
    Window {
        /// How many results there are.
        results: i64,
        /// How many elements a window has.
        length: i64,
    },
    /// Each result combines the elements of its line up to its own, or before it, or the same from the other end.
    Scan {
        /// How many lines of elements there are, each scanned by itself.
        lines: i64,
        /// How many elements each has.
        length: i64,
    },
    /// Each result is a sum of products of elements of two operands, which are read through different maps.
    Product {
        /// How many results there are.
        results: i64,
        /// How many products each is the sum of.
        length: i64,
    },
    /// The elements of the operand, or runs of them, in another order: neighbors in the result are not neighbors in the operand.
    Transposition {
        /// The extent of the result's dimension along which the operand's runs are neighbors; dimensions that stay neighbors are one.
        rows: i64,
        /// The extent of the result's dimension along which its runs are neighbors.
        columns: i64,
        /// How many elements lie side by side in operand and result alike.
        run: i64,
    },
}

impl HeroKind {
    /// The kind of an instruction, `None` for one that shapes no kernel.
    ///
    /// But for scans, which are told by their windows, only maps are looked at. Range variables are what an instruction combines; a second operand read through them, by
    /// another map, makes it a product; more elements read than there are make it a window. Without range variables it is a
    /// transposition if the operand's row-major position has strides in another order than the result's.
    pub fn of(computation: &Computation, id: InstrId) -> Option<HeroKind> {
        let instruction = &computation.instructions[id];
        let scan = Scan::of(&computation.instructions, instruction);
        if let Some(scan) = scan.filter(|scan| scan.is_exclusive().is_some()) {
            return Some(HeroKind::Scan { lines: scan.lines(), length: scan.extent() });
        }
        if instruction.operands.is_empty() || instruction.op.opcode().is_elementwise() {
            return None;
        }
        let map = read_map(computation, id, 0).ok()??;
        if !map.runtime().is_empty() || map.is_known_empty() {
            return None;
        }
        let read = leaf_extents(&computation.instructions[instruction.operands[0]].shape);
        let strides = strides(&map, &read);
        if map.ranges().is_empty() {
            let is_movement = instruction.op.opcode().only_moves_data() && instruction.operands.len() == 1;
            return is_movement.then(|| transposition(&map, &strides?)).flatten();
        }
        let results = element_count(&instruction.shape) as i64;
        let length = map.ranges().iter().map(|range| range.bounds().hi.saturating_add(1)).fold(1, i64::saturating_mul);
        let second = (instruction.operands.len() > 1).then(|| read_map(computation, id, 1).ok()).flatten().flatten();
        let is_other =
            |other: &IndexingMap| other.ranges().len() == map.ranges().len() && other.results() != map.results();
        if second.as_ref().is_some_and(is_other) {
            return Some(HeroKind::Product { results, length });
        }
        let elements = read.iter().copied().fold(1, i64::saturating_mul);
        if !map.constraints().is_empty() || results.saturating_mul(length) > elements {
            return Some(HeroKind::Window { results, length });
        }
        Some(reduction(&map, strides.as_deref(), results, length))
    }

    /// Why it roots a function of its own even where its only user could take it in.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            HeroKind::RowReduction { .. } | HeroKind::ColumnReduction { .. } | HeroKind::Window { .. } => {
                "it is a reduction, a loop of its own"
            }
            HeroKind::Scan { .. } => "it is a scan, which folds elements one after the other",
            HeroKind::Product { .. } => "it is a sum of products, a loop of its own",
            HeroKind::Transposition { .. } => "it is a transposition, a hero that emitters tile",
        }
    }

    /// Whether an emitter that tiles would pay, and why not where it would not.
    ///
    /// The bounds are XLA's: a loop is as good for rows shorter than 32 that do not divide 32, for columns shorter than 32, or
    /// than 64 with fewer than 32 results side by side, and for transpositions with a dimension below 8, or below 16 with fewer
    /// than 8192 elements in the two.
    pub fn pays(&self) -> Result<(), String> {
        match *self {
            HeroKind::RowReduction { length, .. } if length < 32 && (length < 1 || 32 % length != 0) => {
                Err(format!("rows of {length} are short and do not divide 32"))
            }
            HeroKind::ColumnReduction { length, minor, .. } if length < 32 || (length < 64 && minor < 32) => {
                Err(format!("columns of {length} are short"))
            }
            HeroKind::Transposition { rows, columns, .. }
                if rows.min(columns) < 8 || (rows.min(columns) < 16 && rows.saturating_mul(columns) < 8192) =>
            {
                Err(format!("{rows} by {columns} elements are few"))
            }
            _ => Ok(()),
        }
    }

    /// The workgroup that its emitter would tile by, a formula of the extents and the target.
    ///
    /// - Row reductions: `min(1024, round_up(⌈length / 16⌉, 32))` invocations a row, rows packed to 256; the partial results.
    /// - Column reductions and transpositions: tiles of 32 × 32 elements, read back transposed, a column more against bank
    ///   conflicts; 1024 invocations for reductions and 128 for transpositions. What tiles a transposition has is said by [`Transposed`](crate::Transposed).
    /// - Products: 8 × 8 invocations of 4 × 4 results, 32 products deep, both operands in tiles. Windows have no tile; how scans share out elements is said by [`Reduced`](crate::Reduced).
    pub fn tiling(&self, target: &Target) -> HeroTiling {
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x)).max(1);
        let (threads, tile) = match *self {
            HeroKind::RowReduction { length, .. } => {
                let row = round_up(round_up(length.max(1), 16) / 16, 32).min(1024).min(most);
                let packed = row * (256 / row).max(1);
                (packed.min(most), vec![packed.min(most)])
            }
            HeroKind::ColumnReduction { .. } => (most.min(1024), vec![32, 33]),
            HeroKind::Transposition { .. } => (most.min(128), vec![32, 33]),
            HeroKind::Product { .. } => (most.min(64), vec![2, 32, 33]),
            HeroKind::Window { .. } | HeroKind::Scan { .. } => (most.min(256), Vec::new()),
        };
        HeroTiling { threads: u32::try_from(threads).unwrap_or(1), tile }
    }
}

/// The workgroup of a kernel that is tiled around a hero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeroTiling {
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Extents of the workgroup memory, in elements; nothing where there is none.
    pub tile: Vec<i64>,
}

impl HeroTiling {
    /// Bytes of workgroup memory, for elements of so many bytes.
    pub fn bytes(&self, element: u64) -> u64 {
        let elements = self.tile.iter().map(|extent| u64::try_from(*extent).unwrap_or(0)).product::<u64>();
        if self.tile.is_empty() { 0 } else { elements * element }
    }
}

/// The least multiple that is not less than a positive count.
fn round_up(count: i64, multiple: i64) -> i64 {
    (count.saturating_add(multiple - 1) / multiple) * multiple
}

/// What the operand's row-major position advances by with each dimension and each range variable of the map, the constant left
/// out; `None` for a position that is not linear in them.
pub(crate) fn strides(map: &IndexingMap, extents: &[i64]) -> Option<Vec<(Var, i64)>> {
    let mut linear = map.linearized(extents).ok()?;
    linear.simplify();
    let position: &Expr = linear.results().first()?;
    let stride = |term: &weft_affine::Term| match term.atom {
        Atom::Var(variable) => Some((variable, term.coefficient)),
        Atom::FloorDiv(..) | Atom::Mod(..) => None,
    };
    position.terms().iter().map(stride).collect()
}

fn extent(map: &IndexingMap, variable: Var) -> i64 {
    map.variable(variable).map_or(1, |known| known.bounds().hi.saturating_sub(known.bounds().lo).saturating_add(1))
}

/// Extents and strides of a map's dimensions, in their order: those of extent 1 left out, and neighbors that are neighbors in the operand as well as one.
pub(crate) fn merged(map: &IndexingMap, strides: &[(Var, i64)]) -> Vec<(i64, i64)> {
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for dimension in 0..u32::try_from(map.dims().len()).unwrap_or(u32::MAX) {
        let variable = Var::Dim(dimension);
        let extent = extent(map, variable);
        let stride = strides.iter().find(|(of, _)| *of == variable).map_or(0, |(_, stride)| *stride);
        match merged.last_mut() {
            _ if extent == 1 => {}
            Some((before, of_before)) if *of_before == stride.saturating_mul(extent) => {
                (*before, *of_before) = (before.saturating_mul(extent), stride);
            }
            _ => merged.push((extent, stride)),
        }
    }
    merged
}

fn transposition(map: &IndexingMap, strides: &[(Var, i64)]) -> Option<HeroKind> {
    let mut moved = merged(map, strides);
    // Those that are broadcast have no stride.
    moved.retain(|(_, stride)| *stride != 0);
    let is_sorted = moved.windows(2).all(|pair| pair[0].1.abs() >= pair[1].1.abs());
    let run = if moved.len() > 1 { moved.pop_if(|(_, stride)| *stride == 1).map_or(1, |(run, _)| run) } else { 1 };
    let (rows, _) = *moved.iter().min_by_key(|(_, stride)| stride.abs())?;
    let (columns, _) = *moved.last()?;
    (!is_sorted).then_some(HeroKind::Transposition { rows, columns, run })
}

fn reduction(map: &IndexingMap, strides: Option<&[(Var, i64)]>, results: i64, length: i64) -> HeroKind {
    let least = |is_range: bool| {
        let strides = strides.unwrap_or_default().iter();
        let own = strides.filter(|(variable, _)| matches!(variable, Var::Range(_)) == is_range);
        own.filter(|(variable, _)| extent(map, *variable) > 1).map(|(_, stride)| stride.abs()).min()
    };
    match (least(true), least(false)) {
        (Some(reduced), Some(kept)) if kept < reduced => {
            HeroKind::ColumnReduction { columns: results, length, minor: reduced }
        }
        _ => HeroKind::RowReduction { rows: results, length },
    }
}

impl fmt::Display for HeroKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeroKind::RowReduction { rows, length } => write!(f, "row-reduction rows={rows} length={length}"),
            HeroKind::ColumnReduction { columns, length, minor } => {
                write!(f, "column-reduction columns={columns} length={length} minor={minor}")
            }
            HeroKind::Window { results, length } => write!(f, "window results={results} length={length}"),
            HeroKind::Scan { lines, length } => write!(f, "scan lines={lines} length={length}"),
            HeroKind::Product { results, length } => write!(f, "product results={results} length={length}"),
            HeroKind::Transposition { rows, columns, run: 1 } => {
                write!(f, "transposition rows={rows} columns={columns}")
            }
            HeroKind::Transposition { rows, columns, run } => {
                write!(f, "transposition rows={rows} columns={columns} run={run}")
            }
        }
    }
}

impl FromStr for HeroKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("'{text}' is no kind of hero");
        let mut words = text.split_whitespace();
        let has_run = text.contains(" run=");
        let name = words.next().unwrap_or_default();
        let mut count = |key: &str| -> Result<i64, String> {
            let value = words.next().and_then(|word| word.strip_prefix(key)?.strip_prefix('=')).ok_or_else(wrong)?;
            value.parse().map_err(|_| wrong())
        };
        let kind = match name {
            "row-reduction" => HeroKind::RowReduction { rows: count("rows")?, length: count("length")? },
            "column-reduction" => HeroKind::ColumnReduction {
                columns: count("columns")?,
                length: count("length")?,
                minor: count("minor")?,
            },
            "window" => HeroKind::Window { results: count("results")?, length: count("length")? },
            "scan" => HeroKind::Scan { lines: count("lines")?, length: count("length")? },
            "product" => HeroKind::Product { results: count("results")?, length: count("length")? },
            "transposition" => HeroKind::Transposition {
                rows: count("rows")?,
                columns: count("columns")?,
                run: if has_run { count("run")? } else { 1 },
            },
            _ => return Err(wrong()),
        };
        if words.next().is_none() { Ok(kind) } else { Err(wrong()) }
    }
}
