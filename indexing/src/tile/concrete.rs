//! Tiles of given sizes, at every position.

use weft_affine::{Constraint, Expr, Interval, Point, Ranges, Simplifier, Var};

use super::refusal::TileMisfit;
use super::symbolic::{SymbolicTile, TileCase};

/// Attempts to find a case that holds for many positions at once.
const MAX_ATTEMPTS: usize = 300;

/// The tiles of an operand for tiles of given sizes.
///
/// A position is a tile index `p`: in dimension `i` the tile starts at `origin + p · size` and has `size` indices, fewer where
/// the bounds of the map end within it. Positions in no part read nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcreteTile {
    sizes: Vec<i64>,
    tiles: Vec<i64>,
    first: Vec<i64>,
    runtime_conditions: Vec<Constraint>,
    parts: Vec<TilePart>,
}

impl ConcreteTile {
    /// The sizes asked for.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// The number of tiles in each dimension; the first and the last may be partial.
    pub fn tiles(&self) -> &[i64] {
        &self.tiles
    }

    /// The least tile index in each dimension, which is zero where the grid begins at its origin.
    pub fn first(&self) -> &[i64] {
        &self.first
    }

    /// The constraints on runtime variables under which anything is read.
    pub fn runtime_conditions(&self) -> &[Constraint] {
        &self.runtime_conditions
    }

    /// The boxes, for disjoint sets of positions: whole tiles, partial ones at the edges, and what else differs.
    pub fn parts(&self) -> &[TilePart] {
        &self.parts
    }
}

/// The box of all positions within some bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TilePart {
    /// The tile indices, inclusive in each dimension.
    pub positions: Vec<Interval>,
    /// The sizes of the index's tile here, which are those asked for except at an edge.
    pub clipped: Vec<i64>,
    /// The index of the symbolic tile's case.
    pub case: usize,
    /// The first index, over the tile index as dimension variables and over the runtime variables of the map.
    pub offsets: Vec<Expr>,
    /// The number of values of each result; zeros where nothing is read.
    pub sizes: Vec<i64>,
    /// From one value to the next.
    pub strides: Vec<i64>,
    /// The values that count.
    pub masks: Vec<Interval>,
}

/// One dimension of a box: `offset + stride · k` for `k` in `[0, size − 1]`, of those the ones in the mask.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BoxAxis {
    /// The first value.
    pub offset: i64,
    /// The number of values before the mask.
    pub size: i64,
    /// From one value to the next; never zero.
    pub stride: i64,
    /// The values that count.
    pub mask: Interval,
}

impl BoxAxis {
    /// The values, in the order of the tile.
    pub fn values(self) -> impl Iterator<Item = i64> {
        let steps = (0..self.size).map_while(move |k| k.checked_mul(self.stride)?.checked_add(self.offset));
        steps.filter(move |v| self.mask.contains(*v))
    }
}

/// The tile indices of one dimension that are treated alike, and what they have in common.
#[derive(Clone, Debug)]
struct Stretch {
    positions: Interval,
    offset: Expr,
    size: i64,
}

impl SymbolicTile {
    /// The tile at given sizes: a box for each position, exactly what the map gives there.
    ///
    /// Sizes may be larger than a dimension. Boxes hold for every value that the runtime variables may have and that satisfies the
    /// conditions on them alone.
    ///
    /// # Errors
    /// Where what some position maps to is no box, or not known to be one.
    pub fn evaluate(&self, sizes: &[i64]) -> Result<ConcreteTile, TileMisfit> {
        if sizes.len() != self.grid.len() {
            return Err(TileMisfit::Arity { expected: self.grid.len(), found: sizes.len() });
        }
        if let Some((dim, size)) = sizes.iter().enumerate().find(|(_, size)| **size < 1) {
            return Err(TileMisfit::Size { dim, size: *size });
        }
        let (mut tiles, mut first) = (Vec::new(), Vec::new());
        for ((grid, origin), size) in self.grid.iter().zip(&self.origin).zip(sizes) {
            let position = |index: i64| (i128::from(index) - i128::from(*origin)).div_euclid(i128::from(*size));
            let (least, greatest) = if grid.is_empty() { (0, -1) } else { (position(grid.lo), position(grid.hi)) };
            let fits = |n: i128| i64::try_from(n).map_err(|_| TileMisfit::Overflow);
            tiles.push(fits(greatest - least + 1)?);
            first.push(fits(least)?);
        }
        let runtime_conditions = self.runtime_conditions();
        let mut concrete = ConcreteTile { sizes: sizes.to_vec(), tiles, first, runtime_conditions, parts: Vec::new() };
        if self.map.is_known_empty() {
            return Ok(concrete);
        }
        let mut waiting = self.stretches(sizes)?;
        let mut attempts = 0;
        while let Some(stretches) = waiting.pop() {
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                return Err(TileMisfit::TooManyParts);
            }
            if let Some(part) = self.part(&stretches)? {
                concrete.parts.push(part);
                continue;
            }
            let width = |s: &Stretch| s.positions.size();
            let Some(i) = (0..stretches.len()).rev().max_by_key(|i| stretches.get(*i).map_or(0, width)) else {
                return Err(self.no_case(&stretches));
            };
            let Interval { lo, hi } = stretches[i].positions;
            if lo == hi {
                return Err(self.no_case(&stretches));
            }
            let middle = lo + (hi - lo) / 2;
            for half in [Interval::new(middle + 1, hi), Interval::new(lo, middle)] {
                let mut narrower = stretches.clone();
                narrower[i].positions = half;
                waiting.push(narrower);
            }
        }
        Ok(concrete)
    }

    /// All combinations of stretches of the dimensions, the last first.
    fn stretches(&self, sizes: &[i64]) -> Result<Vec<Vec<Stretch>>, TileMisfit> {
        let mut all = vec![Vec::new()];
        for (i, ((origin, size), own)) in (0..).zip(self.origin.iter().zip(sizes).zip(&self.map.dims)) {
            let stretches = stretches(i, *origin, *size, own.bounds)?;
            if all.len().saturating_mul(stretches.len()) > MAX_ATTEMPTS {
                return Err(TileMisfit::TooManyParts);
            }
            let longer = |one: &Vec<Stretch>, s: &Stretch| one.iter().cloned().chain([s.clone()]).collect();
            all = all.iter().flat_map(|one| stretches.iter().map(move |s| longer(one, s))).collect();
        }
        all.reverse();
        Ok(all)
    }

    /// The box of all positions, where one case is shown to hold at all of them with the same sizes.
    fn part(&self, stretches: &[Stretch]) -> Result<Option<TilePart>, TileMisfit> {
        let ranges = Ranges {
            dims: stretches.iter().map(|s| s.positions).collect(),
            ranges: Vec::new(),
            runtime: self.map.runtime.iter().map(|v| v.bounds).collect(),
        };
        let mut simplifier = Simplifier::new(&ranges, &self.runtime_conditions());
        for (i, case) in self.cases.iter().enumerate() {
            if let Some(part) = part_of(i, case, stretches, &ranges.runtime, &mut simplifier)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// The refusal at the first of the positions.
    fn no_case(&self, stretches: &[Stretch]) -> TileMisfit {
        let position: Vec<i64> = stretches.iter().map(|s| s.positions.lo).collect();
        let indices = |s: &Stretch| {
            let lo = s.offset.evaluate(|_| s.positions.lo).ok()?;
            Some(Interval::new(lo, lo.checked_add(s.size - 1)?))
        };
        let indices: Option<Vec<Interval>> = stretches.iter().map(indices).collect();
        let is_refuted = indices.is_some_and(|indices| self.is_refuted_over(&indices));
        TileMisfit::NoCase { position, is_refuted }
    }
}

fn part_of(
    i: usize,
    case: &TileCase,
    stretches: &[Stretch],
    runtime: &[Interval],
    simplifier: &mut Simplifier,
) -> Result<Option<TilePart>, TileMisfit> {
    let stretch = |i: u32| stretches.get(usize::try_from(i).ok()?);
    let here = |e: &Expr, simplifier: &mut Simplifier| -> Result<Expr, TileMisfit> {
        let placed = e.substitute(|v| match v {
            Var::Dim(i) => stretch(i).map(|s| match s.positions.as_point() {
                Some(p) => s.offset.substitute(|_| Some(p.into())).unwrap_or_else(|_| s.offset.clone()),
                None => s.offset.clone(),
            }),
            Var::Range(i) => stretch(i).map(|s| s.size.into()),
            Var::Runtime(_) => None,
        })?;
        Ok(simplifier.simplify(&placed))
    };
    // Most cases fail already at one point.
    let corner: Vec<i64> = stretches.iter().map(|s| s.positions.lo).collect();
    let first = |e: &Expr| {
        let runtime = |i: u32| runtime.get(i as usize).map_or(0, |b| b.lo);
        e.evaluate(|v| match v {
            Var::Dim(i) => stretch(i).and_then(|s| s.offset.evaluate(|_| corner[i as usize]).ok()).unwrap_or(0),
            Var::Range(i) => stretch(i).map_or(1, |s| s.size),
            Var::Runtime(i) => runtime(i),
        })
    };
    if case.conditions.iter().any(|c| first(&c.expr).is_ok_and(|value| !c.bounds.contains(value))) {
        return Ok(None);
    }
    for c in &case.conditions {
        let condition = here(&c.expr, simplifier)?;
        if !c.bounds.contains_interval(simplifier.range_of(&condition)) {
            return Ok(None);
        }
    }
    let mut sizes = Vec::new();
    for axis in &case.axes {
        let Some(size) = here(&axis.size, simplifier)?.as_constant() else { return Ok(None) };
        sizes.push(size);
    }
    let offsets: Vec<Expr> = case.axes.iter().map(|a| here(&a.offset, simplifier)).collect::<Result<_, _>>()?;
    Ok(Some(TilePart {
        positions: stretches.iter().map(|s| s.positions).collect(),
        clipped: stretches.iter().map(|s| s.size).collect(),
        case: i,
        offsets,
        sizes,
        strides: case.axes.iter().map(|a| a.stride).collect(),
        masks: case.axes.iter().map(|a| a.mask).collect(),
    }))
}

/// The tiles of one dimension that meet `own`: those cut at the lower end, whole ones, those cut at the upper end.
fn stretches(i: u32, origin: i64, size: i64, own: Interval) -> Result<Vec<Stretch>, TileMisfit> {
    let (from, size) = (i128::from(origin), i128::from(size));
    let (lo, hi) = (i128::from(own.lo), i128::from(own.hi));
    let start = |p: i128| from + p * size;
    let fits = |v: i128| i64::try_from(v).map_err(|_| TileMisfit::Overflow);
    let is_whole = |p: i128| start(p) >= lo && start(p) + size - 1 <= hi;
    let (mut first, mut last) = ((lo - from).div_euclid(size), (hi - from).div_euclid(size));
    let cut = |p: i128| -> Result<Stretch, TileMisfit> {
        let from = start(p).max(lo);
        let to = (start(p) + size - 1).min(hi);
        Ok(Stretch {
            positions: Interval::point(fits(p)?),
            offset: Expr::constant(fits(from)?),
            size: fits(to - from + 1)?,
        })
    };
    let (mut found, mut behind) = (Vec::new(), None);
    if !is_whole(first) {
        found.push(cut(first)?);
        first += 1;
    }
    if first <= last && !is_whole(last) {
        behind = Some(cut(last)?);
        last -= 1;
    }
    if first <= last {
        let offset = Expr::dim(i).checked_mul(fits(size)?)?.checked_add_constant(origin)?;
        found.push(Stretch { positions: Interval::new(fits(first)?, fits(last)?), offset, size: fits(size)? });
    }
    found.extend(behind);
    Ok(found)
}

impl ConcreteTile {
    /// The box at a position, for given values of the runtime variables; nothing where the position reads nothing, because
    /// it is not in the grid, because all of it lies outside the bounds of the map, or because the runtime values do not satisfy
    /// their conditions.
    ///
    /// # Errors
    /// When an offset leaves `i64`, or there is no value for a runtime variable.
    pub fn at(&self, position: &[i64], runtime: &[i64]) -> Result<Option<Vec<BoxAxis>>, TileMisfit> {
        let is_here = |part: &&TilePart| {
            part.positions.len() == position.len() && part.positions.iter().zip(position).all(|(b, p)| b.contains(*p))
        };
        let Some(part) = self.parts.iter().find(is_here) else { return Ok(None) };
        let point = Point { dims: position, ranges: &[], runtime };
        for Constraint { expr, bounds } in &self.runtime_conditions {
            if !bounds.contains(expr.evaluate_at(&point)?) {
                return Ok(None);
            }
        }
        let axes = part.offsets.iter().zip(&part.sizes).zip(&part.strides).zip(&part.masks);
        let axes: Result<Vec<BoxAxis>, TileMisfit> = axes
            .map(|(((offset, size), stride), mask)| {
                Ok(BoxAxis { offset: offset.evaluate_at(&point)?, size: *size, stride: *stride, mask: *mask })
            })
            .collect();
        Ok(Some(axes?).filter(|axes| axes.iter().all(|a| a.size > 0)))
    }

    /// The sizes that hold the box of every position: those of whole tiles, where there are any.
    pub fn largest(&self) -> Vec<i64> {
        let mut sizes = self.parts.first().map(|part| part.sizes.clone()).unwrap_or_default();
        for part in &self.parts {
            for (size, own) in sizes.iter_mut().zip(&part.sizes) {
                *size = (*size).max(*own);
            }
        }
        sizes
    }
}
