//! Comparing a tile with what the map gives at each position.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use weft_affine::Point;
use weft_indexing::{BoxAxis, Constraint, IndexingMap, Interval, SizeCondition, SymbolicTile, TileMisfit, TileRefusal};

use crate::support::random::Random;

/// Sizes tried for each map.
const SIZES: usize = 6;
/// Maps with more points are not judged.
const MAX_POINTS: u128 = 20_000;
/// Maps and sizes shown that were turned down though there is a box.
const MAX_SHOWN: usize = 5;

/// What became of the maps and sizes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) maps: usize,
    pub(crate) skipped: usize,
    /// Refused maps by reason, and those of them that had a box for some size tried.
    pub(crate) refused: BTreeMap<&'static str, (usize, usize)>,
    pub(crate) sizes: usize,
    /// Sizes at which the box was exact everywhere.
    pub(crate) exact: usize,
    /// Sizes turned down where some position has no box.
    pub(crate) rightly: usize,
    /// Sizes turned down though every position has a box.
    pub(crate) needlessly: BTreeMap<&'static str, usize>,
    /// Sizes turned down at a position that is not known to be a box, and at one that is known to be none.
    pub(crate) refuted: [usize; 2],
    pub(crate) positions: usize,
    pub(crate) incomplete: usize,
    pub(crate) cases: usize,
    /// Sizes of whole tiles that the constraints on sizes allow, and those that they do not though a case holds everywhere.
    pub(crate) allowed: usize,
    pub(crate) barred: usize,
    examples: Vec<String>,
}

impl Counts {
    /// Of all sizes at which there is a box everywhere, how many of a thousand were turned down.
    pub(crate) fn needless_per_mille(&self) -> usize {
        let needless: usize = self.needlessly.values().sum();
        needless * 1000 / (needless + self.exact).max(1)
    }

    /// Of all maps, how many of a thousand were refused though some size tried gives a box.
    pub(crate) fn refused_per_mille(&self) -> usize {
        let refused: usize = self.refused.values().map(|(_, boxes)| boxes).sum();
        refused * 1000 / self.maps.max(1)
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < MAX_SHOWN && !self.examples.contains(&text) {
            self.examples.push(text);
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {} maps, {} too large to judge, {} cases, {} incomplete",
            self.maps, self.skipped, self.cases, self.incomplete
        )?;
        writeln!(f, "  refused (and had a box after all): {:?}", self.refused)?;
        writeln!(
            f,
            "  {} sizes: {} exact at {} positions, {} rightly turned down, needlessly {:?}; not known and known to be no box {:?}",
            self.sizes, self.exact, self.positions, self.rightly, self.needlessly, self.refuted
        )?;
        writeln!(
            f,
            "  constraints on sizes: {} allowed, {} turned down though a case holds at every whole tile",
            self.allowed, self.barred
        )?;
        self.examples.iter().try_for_each(|text| writeln!(f, "    {text}"))
    }
}

/// Whether the map has no value at some point of its domain.
fn overflows(map: &IndexingMap) -> bool {
    !map.points().all(|p| map.evaluate(&p.dims, &p.ranges, &p.runtime).is_ok())
}

/// The tile index of the tile that holds an index.
fn position(index: &[i64], origin: &[i64], sizes: &[i64]) -> Vec<i64> {
    index.iter().zip(origin).zip(sizes).map(|((i, o), t)| (i - o).div_euclid(*t)).collect()
}

/// The sets of indices read, by tile index and runtime values.
type Reads = BTreeMap<(Vec<i64>, Vec<i64>), BTreeSet<Vec<i64>>>;

fn reads(map: &IndexingMap, origin: &[i64], sizes: &[i64]) -> Reads {
    let mut reads = Reads::new();
    for point in map.points() {
        let position = position(&point.dims, origin, sizes);
        let value = map.evaluate(&point.dims, &point.ranges, &point.runtime).expect("small numbers");
        reads.entry((position, point.runtime)).or_default().insert(value);
    }
    reads
}

/// Whether the indices are a product of arithmetic progressions.
fn is_box(set: &BTreeSet<Vec<i64>>) -> bool {
    let rank = set.first().map_or(0, Vec::len);
    let mut count = 1;
    for axis in 0..rank {
        let values: Vec<i64> = set.iter().map(|v| v[axis]).collect::<BTreeSet<i64>>().into_iter().collect();
        if values.windows(3).any(|w| w[2] - w[1] != w[1] - w[0]) {
            return false;
        }
        count *= values.len();
    }
    count == set.len()
}

fn indices(axes: &[BoxAxis]) -> BTreeSet<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        all = all.iter().flat_map(|i: &Vec<i64>| axis.values().map(move |v| [&i[..], &[v]].concat())).collect();
    }
    all.into_iter().collect()
}

/// The indices that are mapped into a tile, by its tile index and runtime values.
fn preimages(map: &IndexingMap, grid: &[Interval], origin: &[i64], sizes: &[i64]) -> Reads {
    let mut reads = Reads::new();
    for point in map.points() {
        let value = map.evaluate(&point.dims, &point.ranges, &point.runtime).expect("small numbers");
        if grid.iter().zip(&value).all(|(g, v)| g.contains(*v)) {
            reads.entry((position(&value, origin, sizes), point.runtime)).or_default().insert(point.dims);
        }
    }
    reads
}

/// Judges the tile of a map on a grid at a few sizes.
pub(crate) fn judge(random: &mut Random, map: &IndexingMap, grid: &[Interval], counts: &mut Counts) {
    let origin = some_origin(random, grid);
    let of = |grid: &[Interval]| SymbolicTile::on_grid(map, grid)?.with_origin(&origin);
    judge_one(random, map, grid, of, |sizes| reads(map, &origin, sizes), counts);
}

/// Judges what a map takes into the tiles of a grid.
pub(crate) fn judge_back(random: &mut Random, map: &IndexingMap, grid: &[Interval], counts: &mut Counts) {
    let origin = some_origin(random, grid);
    let of = |grid: &[Interval]| SymbolicTile::of_preimage(map, grid)?.with_origin(&origin);
    judge_one(random, map, grid, of, |sizes| preimages(map, grid, &origin, sizes), counts);
}

fn judge_one(
    random: &mut Random,
    map: &IndexingMap,
    grid: &[Interval],
    of: impl Fn(&[Interval]) -> Result<SymbolicTile, TileRefusal>,
    reads: impl Fn(&[i64]) -> Reads,
    counts: &mut Counts,
) {
    counts.maps += 1;
    let extents: Vec<i64> = grid.iter().map(|b| i64::try_from(b.size()).unwrap_or(i64::MAX)).collect();
    let tile = of(grid);
    let sizes: Vec<Vec<i64>> = (0..SIZES).map(|_| some_sizes(random, &extents)).collect();
    let all = grid.iter().copied().chain(map.runtime().iter().map(|v| v.bounds()));
    let volume = all.fold(1, |n: u128, b| n.saturating_mul(b.size().max(1)));
    if volume.max(map.box_size()) > MAX_POINTS || overflows(map) {
        counts.skipped += 1;
        // Not to be judged, but neither to panic.
        for (tile, sizes) in tile.iter().flat_map(|tile| sizes.iter().map(move |sizes| (tile, sizes))) {
            let _ = (tile.to_string(), tile.size_constraints().to_string(), tile.evaluate(sizes));
        }
        return;
    }
    let tile = match tile {
        Ok(tile) => tile,
        Err(reason) => {
            let had_box = sizes.iter().any(|sizes| reads(sizes).values().all(is_box));
            if had_box {
                counts.example(format!("{reason}: {map}"));
            }
            let (n, boxes) = counts.refused.entry(reason.code()).or_default();
            *n += 1;
            *boxes += usize::from(had_box);
            return;
        }
    };
    counts.cases += tile.cases().len();
    counts.incomplete += usize::from(!tile.is_complete());
    for sizes in sizes {
        counts.sizes += 1;
        judge_constraints(&tile, &sizes, counts);
        let reads = reads(&sizes);
        match tile.evaluate(&sizes) {
            Ok(concrete) => {
                counts.exact += 1;
                // All values within their bounds: where they break a constraint nothing is read.
                let runtime = runtime_values(map);
                let starts = positions(concrete.tiles());
                for position in starts
                    .iter()
                    .map(|p| p.iter().zip(concrete.first()).map(|(p, first)| p + first).collect::<Vec<_>>())
                {
                    for runtime in &runtime {
                        // An offset may overflow on the way to a value that does not, and says so.
                        let Ok(found) = concrete.at(&position, runtime) else { continue };
                        let found = found.map(|axes| indices(&axes)).unwrap_or_default();
                        let truth = reads.get(&(position.clone(), runtime.clone())).cloned().unwrap_or_default();
                        assert!(
                            found == truth,
                            "{map}\n{tile}\n{concrete:?}\nsizes {sizes:?} at {position:?}, {runtime:?}\nfound {found:?}\ntruth {truth:?}"
                        );
                        counts.positions += 1;
                    }
                }
            }
            Err(misfit) => {
                if let TileMisfit::NoCase { position, is_refuted } = &misfit {
                    let is_here = |(at, _): &(&(Vec<i64>, Vec<i64>), _)| at.0 == *position;
                    let has_box = reads.iter().filter(is_here).all(|(_, set)| is_box(set));
                    assert!(!is_refuted || !has_box, "{misfit} with sizes {sizes:?}: {map}");
                    counts.refuted[usize::from(*is_refuted)] += 1;
                }
                if reads.values().all(is_box) {
                    counts.example(format!("{misfit} with sizes {sizes:?}: {map}"));
                    *counts.needlessly.entry(misfit.code()).or_default() += 1;
                } else {
                    let is_asked_wrongly = matches!(misfit, TileMisfit::Arity { .. } | TileMisfit::Size { .. });
                    assert!(!is_asked_wrongly, "{misfit}");
                    counts.rightly += 1;
                }
            }
        }
    }
}

/// Where the constraints on sizes hold, some case does at every whole tile.
fn judge_constraints(tile: &SymbolicTile, sizes: &[i64], counts: &mut Counts) {
    let start: Vec<i64> = tile.grid().iter().map(|g| g.lo).collect();
    let first = position(&start, tile.origin(), sizes);
    // Those that begin before the grid, or end behind it, are not inside.
    let tiles: Vec<i64> = tile.grid().iter().zip(sizes).map(|(g, t)| g.size() as i64 / t + 2).collect();
    let offsets = |position: &[i64]| -> Vec<i64> {
        let at = position.iter().zip(&first).zip(tile.origin().iter().zip(sizes));
        at.map(|((p, first), (o, t))| (p + first).saturating_mul(*t).saturating_add(*o)).collect()
    };
    let bounds: Vec<Interval> = tile.map().dims().iter().map(|v| v.bounds()).collect();
    let is_inside = |offsets: &Vec<i64>| {
        offsets.iter().zip(sizes).zip(&bounds).all(|((o, t), b)| b.contains(*o) && b.contains(o.saturating_add(t - 1)))
    };
    let whole: Vec<Vec<i64>> = positions(&tiles).iter().map(|p| offsets(p)).filter(is_inside).collect();
    let runtime = runtime_values(tile.map());
    // Near the ends of `i64` a condition may have no value; then nothing is compared.
    let overflowed = Cell::new(false);
    let holds = |c: &Constraint, offsets: &[i64], runtime: &[i64]| {
        let value = c.expr.evaluate_at(&Point { dims: offsets, ranges: sizes, runtime });
        overflowed.set(overflowed.get() || value.is_err());
        value.is_ok_and(|value| c.bounds.contains(value))
    };
    let everywhere = |test: &dyn Fn(&[i64], &[i64]) -> bool| whole.iter().all(|o| runtime.iter().all(|r| test(o, r)));
    let is_met = |condition: &SizeCondition| match condition {
        SizeCondition::Within(c) => holds(c, &[], &[]),
        SizeCondition::Divides { size, of } => {
            let size = size.evaluate_at(&Point { ranges: sizes, ..Point::default() }).expect("small numbers");
            size > 0 && of % size == 0
        }
        SizeCondition::Everywhere(c) => everywhere(&|o, r| holds(c, o, r)),
    };
    let constraints = tile.size_constraints();
    let is_allowed = constraints.alternatives().iter().any(|all| all.iter().all(is_met));
    let has_case = everywhere(&|o, r| tile.cases().iter().any(|case| case.conditions.iter().all(|c| holds(c, o, r))));
    assert!(!is_allowed || has_case || overflowed.get(), "{constraints} allows {sizes:?}\n{tile}");
    let has_one = tile.cases().iter().any(|case| everywhere(&|o, r| case.conditions.iter().all(|c| holds(c, o, r))));
    counts.allowed += usize::from(is_allowed);
    if !whole.is_empty() && has_one && !is_allowed {
        counts.barred += 1;
        counts.example(format!("{constraints} bars {sizes:?}: {}", tile.map()));
    }
}

/// All values of the runtime variables within their bounds.
fn runtime_values(map: &IndexingMap) -> Vec<Vec<i64>> {
    map.runtime().iter().fold(vec![Vec::new()], |all: Vec<Vec<i64>>, v| {
        let values = v.bounds().lo..=v.bounds().hi;
        all.iter().flat_map(|r| values.clone().map(move |x| [&r[..], &[x]].concat())).collect()
    })
}

/// Where the grid begins mostly, now and then within it or beyond.
fn some_origin(random: &mut Random, grid: &[Interval]) -> Vec<i64> {
    let one = |b: &Interval| {
        let beyond = i64::try_from(b.size()).unwrap_or(9).min(9);
        let moved = if random.chance(30) { random.between(-9, beyond + 3) } else { 0 };
        b.lo.saturating_add(moved)
    };
    grid.iter().map(one).collect()
}

/// Divisors mostly, now and then anything.
fn some_sizes(random: &mut Random, root: &[i64]) -> Vec<i64> {
    let one = |n: &i64| {
        let n = (*n).max(1);
        if n > 1000 {
            return random.pick(&[1, 8, n / 2, n]);
        }
        let divisors: Vec<i64> = (1..=n).filter(|t| n % t == 0).collect();
        match random.below(8) {
            0 | 1 => n,
            2 => 1,
            3 => random.between(1, n),
            _ => random.pick(&divisors),
        }
    };
    root.iter().map(one).collect()
}

fn positions(tiles: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for n in tiles {
        all = all.iter().flat_map(|p: &Vec<i64>| (0..*n).map(move |i| [&p[..], &[i]].concat())).collect();
    }
    all
}
