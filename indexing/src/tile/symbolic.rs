//! The tile of a map, symbolic in where the tile of its index lies and how large it is.

use weft_affine::{Atom, Constraint, Expr, Interval, Simplifier, Var};

use super::refusal::TileRefusal;
use super::search::cases;
use crate::overflow::may_hold_beyond;
use crate::{Error, IndexingMap, Variable};
use num_integer::gcd;

/// One dimension of a tile: `offset + stride · k` for `k` in `[0, size − 1]`, as far as the mask admits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TileAxis {
    /// The first value, over the parameters of the tile.
    pub offset: Expr,
    /// The number of values, over the parameters of the tile.
    pub size: Expr,
    /// From one value to the next; negative where the dimension runs backwards, one where there is a single value.
    pub stride: i64,
    /// Values outside are not part of the tile; [`Interval::EVERYTHING`] where all are. A map bounds a result in this way
    /// where it pads a window.
    pub mask: Interval,
}

/// A tile under conditions: a box, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TileCase {
    /// The conditions of the case on offsets and sizes, in conjunction, sorted.
    pub conditions: Vec<Constraint>,
    /// One axis for each result of the map; sizes of zero where nothing is read.
    pub axes: Vec<TileAxis>,
}

/// The image of a tile of a map's index, symbolic in its offsets and sizes.
///
/// A tile is a box of a tensor: in each dimension an offset, a size and a stride. Who computes a result tile by tile must know
/// which elements of each operand one tile needs, and wants them to be a tile too, so that they can be loaded by one strided
/// copy. Whether they are depends on the sizes. Of a matrix with rows of eight that was reshaped from a vector, two whole rows
/// are a tile of the vector, and half a row is; one row and a half is not:
///
/// ```
/// use weft_indexing::{IndexingMap, SymbolicTile};
///
/// let reshape: IndexingMap = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]".parse()?;
/// let tile = SymbolicTile::of(&reshape)?;
/// assert_eq!(
///     tile.to_string(),
///     "(o0)[t0] -> offsets (o0 floordiv 8, 0), sizes (t0 floordiv 8, 8), strides (1, 1), \
///      if o0 mod 8 in [0, 0], t0 mod 8 in [0, 0]\n \
///      or offsets (o0 floordiv 8, o0 mod 8), sizes (1, t0), strides (1, 1), if t0 + o0 mod 8 in [1, 8],\n \
///      domain: o0 in [0, 31], t0 in [1, 32], o0 + t0 in [1, 32]"
/// );
/// // Tiles of a grid start at multiples of their size, which leaves conditions on sizes alone: 8 | t0, or t0 | 8.
/// assert_eq!(tile.size_constraints().to_string(), "t0 mod 8 in [0, 0] or 8 mod t0 in [0, 0]");
///
/// // The second tile of sixteen is rows 2 and 3.
/// let boxes = tile.evaluate(&[16])?;
/// let rows = boxes.at(&[1], &[])?.map(|axes| axes[0].values().collect::<Vec<_>>());
/// assert_eq!(rows, Some(vec![2, 3]));
/// assert!(tile.evaluate(&[12]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it says
///
/// The parameters are the offset `oᵢ` and the size `tᵢ` of the tile in each dimension, in expressions the dimension variable
/// `dᵢ` and the range variable `sᵢ`; runtime variables are those of the map. The tile holds the indices `dᵢ` in
/// `[oᵢ, oᵢ + tᵢ − 1]`, all within the bounds of the map; range variables take all their values.
///
/// Each case says under which conditions the results take exactly the values of a box, no more and no fewer; in which order a box
/// is walked belongs to the operation. The conditions of all cases are the disjunction under which there is a box. Where several
/// hold, they describe the same set. What the [domain](SymbolicTile::domain) says already conditions do not repeat: the bounds of
/// offsets, sizes and runtime variables, and that a tile ends where the map does. It also holds the constraints of the map on
/// runtime variables alone; where they do not hold, nothing is read.
///
/// A size at an edge is less than that of the others. `tᵢ` is then what is left, so the same formulas hold;
/// [`SymbolicTile::evaluate`] lists the edges as parts of their own. Where the map cuts off something else, as a padded window does,
/// the case has a [mask](TileAxis::mask): sizes stay those of the whole box, and elements beyond the mask are to be left out.
///
/// # Both directions
///
/// The tile of a map from the output's index to an input's is what a tile of the output needs. The other direction, what of the
/// output needs a tile of the input, is the tile of the map from the input's index where there is one, and
/// [`SymbolicTile::of_preimage`] of the output's map where there is none at hand:
///
/// ```
/// use weft_indexing::{IndexingMap, Interval, SymbolicTile};
///
/// let slice: IndexingMap = "(d0) -> (d0 * 2 + 4), domain: d0 in [0, 5]".parse()?;
/// let users = SymbolicTile::of_preimage(&slice, &[Interval::of_extent(16)])?.evaluate(&[8])?;
/// let outputs = |tile: i64| -> Result<Vec<i64>, Box<dyn std::error::Error>> {
///     Ok(users.at(&[tile], &[])?.into_iter().flatten().flat_map(|axis| axis.values()).collect())
/// };
/// assert_eq!((outputs(0)?, outputs(1)?), (vec![0, 1], vec![2, 3, 4, 5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Several maps in a row are one composed map, and [`SymbolicTile::through`] continues with the next: nothing is lost on the
/// way, since it is the map that is carried on and not the box. The instructions of a whole fusion are a
/// [`FusionTiling`](crate::FusionTiling).
///
/// # Refusals
///
/// A [`TileRefusal`] says why no box was found at any size: `(d0)[s0] -> (s0, d0 + s0)` reads a diagonal band. Not all that are
/// boxes are found: sums of runs, their quotients and remainders, and constraints that cut one run are understood, and
/// every case found is exact, but a set may be a box by chance. Refused too is a map near the ends of `i64` with a constraint that
/// may have no value at some point, where integers beyond `i64` would satisfy it. The idea of tiles that are symbolic in their parameters, with
/// constraints, is that of XLA's symbolic tile analysis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolicTile {
    pub(super) map: IndexingMap,
    pub(super) grid: Vec<Interval>,
    pub(super) origin: Vec<i64>,
    pub(super) cases: Vec<TileCase>,
    pub(super) is_complete: bool,
}

impl SymbolicTile {
    /// The map, simplified.
    pub fn map(&self) -> &IndexingMap {
        &self.map
    }

    /// The indices that tiles divide up. Those outside the bounds of the map read nothing.
    pub fn grid(&self) -> &[Interval] {
        &self.grid
    }

    /// In each dimension an index at which a tile starts, whatever the size; the others start at multiples of the size before and
    /// behind it. The least index of the grid, unless [said otherwise](SymbolicTile::with_origin).
    pub fn origin(&self) -> &[i64] {
        &self.origin
    }

    /// The ways in which the tile is a box; never none.
    pub fn cases(&self) -> &[TileCase] {
        &self.cases
    }

    /// False where there were more cases than are followed, so that sizes may be turned down that would do.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The tile of a map whose index runs over the bounds of its dimensions.
    ///
    /// # Errors
    /// The reason why no tile size gives a box.
    pub fn of(map: &IndexingMap) -> Result<SymbolicTile, TileRefusal> {
        let grid: Vec<Interval> = map.dims.iter().map(|v| v.bounds).collect();
        SymbolicTile::on_grid(map, &grid)
    }

    /// The tile of a map whose index runs over a grid that may be larger than the bounds of its dimensions: the operand of a
    /// pad or concatenation, which only some of the output's tiles read.
    ///
    /// # Errors
    /// The reason why no tile size gives a box, [`TileRefusal::Arity`] where the grid is not one of the map.
    pub fn on_grid(map: &IndexingMap, grid: &[Interval]) -> Result<SymbolicTile, TileRefusal> {
        if map.is_undefined() {
            return Err(TileRefusal::Undefined);
        }
        if grid.len() != map.dims.len() {
            return Err(TileRefusal::Arity);
        }
        let mut map = map.clone();
        for (i, b) in (0..).zip(grid) {
            map.constrain(Expr::dim(i), *b);
        }
        let given = map.constraints.clone();
        map.simplify();
        refuse_beyond(&given, &map)?;
        relax(&mut map, grid);
        SymbolicTile::of_relation(map, grid)
    }

    fn of_relation(map: IndexingMap, grid: &[Interval]) -> Result<SymbolicTile, TileRefusal> {
        let unbounded = |b: &&Interval| !b.is_empty() && (b.lo == i64::MIN || b.hi == i64::MAX);
        if grid.iter().any(|b| unbounded(&b) || i64::try_from(b.size()).is_err()) {
            return Err(TileRefusal::Unbounded);
        }
        let (cases, is_complete) = if map.is_known_empty() {
            let nothing = TileAxis { offset: 0.into(), size: 0.into(), stride: 1, mask: Interval::EVERYTHING };
            (vec![TileCase { conditions: Vec::new(), axes: vec![nothing; map.results.len()] }], true)
        } else {
            cases(&map)?
        };
        let origin = grid.iter().map(|b| b.lo).collect();
        Ok(SymbolicTile { map, grid: grid.to_vec(), origin, cases, is_complete })
    }

    /// The same over a grid of tiles that start at other indices: the one of position zero at the origin. Before it positions are
    /// negative, and where it does not lie at an end of the grid tiles are cut at both ends. The cases stay what they are, since
    /// they hold for tiles anywhere; which sizes satisfy them on the grid may change:
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, SymbolicTile};
    ///
    /// let reshape: IndexingMap = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]".parse()?;
    /// let tile = SymbolicTile::of(&reshape)?.with_origin(&[4])?;
    /// assert_eq!(tile.size_constraints().to_string(), "4 mod t0 in [0, 0]");
    /// let boxes = tile.evaluate(&[2])?;
    /// let values = |p: i64| -> Result<Vec<Vec<i64>>, Box<dyn std::error::Error>> {
    ///     Ok(boxes.at(&[p], &[])?.into_iter().flatten().map(|axis| axis.values().collect()).collect())
    /// };
    /// assert_eq!((boxes.first()[0], boxes.tiles()[0]), (-2, 16));
    /// assert_eq!((values(-2)?, values(2)?), (vec![vec![0], vec![0, 1]], vec![vec![1], vec![0, 1]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TileRefusal::Arity`] where there is not one index for each dimension of the grid.
    pub fn with_origin(self, origin: &[i64]) -> Result<SymbolicTile, TileRefusal> {
        if origin.len() != self.grid.len() {
            return Err(TileRefusal::Arity);
        }
        Ok(SymbolicTile { origin: origin.to_vec(), ..self })
    }

    /// Backwards: the indices that a map takes into a tile of what it maps to. For the map from an output's index to an
    /// input's, these are the elements of the output that use some element of the input's tile.
    ///
    /// The tile of the input lies in the grid, one interval for each result; the cases are over its offsets and sizes.
    ///
    /// # Errors
    /// The reason why no tile size gives a box.
    pub fn of_preimage(map: &IndexingMap, grid: &[Interval]) -> Result<SymbolicTile, TileRefusal> {
        if map.is_undefined() {
            return Err(TileRefusal::Undefined);
        }
        if grid.len() != map.results.len() {
            return Err(TileRefusal::Arity);
        }
        refuse_beyond(&map.constraints, map)?;
        // Not simplified before: bounds narrowed to values that have an index would end in the middle of a group.
        SymbolicTile::of_relation(converse(map, grid)?, grid)
    }

    /// The tile one step further: what the tile's elements are mapped to in turn. From the tile of an instruction this gives
    /// that of its operand, through the map from its index to the operand's.
    ///
    /// # Errors
    /// When the maps do not compose, and where there is no tile.
    pub fn through(&self, map: &IndexingMap) -> Result<SymbolicTile, Error> {
        let composed = self.map.then(map)?;
        Ok(SymbolicTile::on_grid(&composed, &self.grid)?.with_origin(&self.origin)?)
    }
}

/// Tiles are worked out over the integers. A point where a constraint as it was given has no value is not in the domain; where one
/// might hold of integers all the same, within the bounds of the map, tiles would take the point in.
fn refuse_beyond(given: &[Constraint], map: &IndexingMap) -> Result<(), TileRefusal> {
    let ranges = map.variable_ranges();
    let is_beyond = !map.is_known_empty() && given.iter().any(|c| may_hold_beyond(c, &ranges));
    if is_beyond { Err(TileRefusal::Overflow) } else { Ok(()) }
}

/// The relation read backwards: `(r)[d, s]{rt} -> (d)`, where each result of the map is the `r` of its place.
fn converse(map: &IndexingMap, grid: &[Interval]) -> Result<IndexingMap, TileRefusal> {
    let count = |n: usize| u32::try_from(n).map_err(|_| TileRefusal::TooLarge);
    let dims = count(map.dims.len())?;
    let renamed = |v: Var| match v {
        Var::Dim(i) => Some(Expr::range(i)),
        Var::Range(i) => Some(Expr::range(dims.saturating_add(i))),
        Var::Runtime(_) => None,
    };
    let mut runtime = map.runtime.clone();
    for access in runtime.iter_mut().flat_map(|v| &mut v.access) {
        *access = access.substitute(renamed)?;
    }
    let mut constraints = Vec::new();
    for c in &map.constraints {
        constraints.push(Constraint::new(c.expr.substitute(renamed)?, c.bounds));
    }
    for (r, result) in (0..).map(Expr::dim).zip(&map.results) {
        constraints.push(Constraint::new(result.substitute(renamed)?.checked_sub(&r)?, Interval::point(0)));
    }
    let mut simplifier = Simplifier::new(&map.variable_ranges(), &map.constraints);
    let image = |(result, grid): (&Expr, &Interval)| Variable::new(reached(&mut simplifier, result).intersect(*grid));
    let tiled = map.results.iter().zip(grid).map(image).collect();
    let ranges = map.dims.iter().chain(&map.ranges).cloned().collect();
    let results = (0..dims).map(Expr::range).collect();
    let mut converse = IndexingMap::of_valid(tiled, ranges, runtime, results, constraints);
    if map.is_known_empty() {
        converse.set_known_empty();
    }
    Ok(converse)
}

/// An interval that holds all values of a result. It ends where the next value would come, so that a result in steps of `g` has
/// groups of `g` indices throughout.
fn reached(simplifier: &mut Simplifier, result: &Expr) -> Interval {
    let range = simplifier.range_of(result);
    let step = result.terms().iter().fold(0, |g, term| gcd(term.coefficient.unsigned_abs(), g));
    let group = i64::try_from(step.saturating_sub(1)).unwrap_or(0);
    Interval::new(range.lo, range.hi.saturating_add(group))
}

/// Steps by which a bound is moved outwards.
const MAX_RELAXED: usize = 1024;

/// Moves the bounds of each dimension outwards, within the grid, over values that a constraint on a remainder of that dimension
/// alone excludes.
///
/// The domain stays the same. Bounds are narrowed to values that occur, and would cut the last of several equal groups short: of
/// `d0 in [0, 15]` with `d0 mod 4 in [0, 1]` they leave `[0, 13]`.
fn relax(map: &mut IndexingMap, grid: &[Interval]) {
    if map.is_known_empty() {
        return;
    }
    for (v, grid) in (0..).map(Var::Dim).zip(grid) {
        let own: Vec<Constraint> = map.constraints.iter().filter(|c| is_remainder_of(v, c)).cloned().collect();
        let is_excluded =
            |x: i64| own.iter().any(|c| c.expr.evaluate(|_| x).is_ok_and(|value| !c.bounds.contains(value)));
        let Some(known) = map.bounds_mut(v) else { continue };
        let Interval { mut lo, mut hi } = *known;
        for _ in 0..MAX_RELAXED {
            lo = lo.checked_sub(1).filter(|x| grid.contains(*x) && is_excluded(*x)).unwrap_or(lo);
            hi = hi.checked_add(1).filter(|x| grid.contains(*x) && is_excluded(*x)).unwrap_or(hi);
        }
        *known = Interval::new(lo, hi);
    }
}

fn is_remainder_of(v: Var, constraint: &Constraint) -> bool {
    let is_remainder = matches!(constraint.expr.as_atom(), Some(Atom::Mod(..)));
    is_remainder && constraint.expr.variables().iter().all(|w| *w == v)
}
