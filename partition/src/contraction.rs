//! Sums of products as those of matrices.

use crate::access::{is_loop, read_map};
use crate::plan::leaf_extents;
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{ArenaId, Computation, ConvolutionDimensions, InstrId, Op, Window, WindowDimension};
use weft_indexing::IndexingMap;

/// A dot or a convolution as products of matrices: `batch` times `rows` by `depth` and `depth` by `columns`.
///
/// A dot has its batch dimensions, the free ones of the left operand, those of the right and the contracted ones for these, in the order in which it names them.
///
/// Of a convolution the groups are the batch, a column is a feature of a group, a row a place of the window with its image, and the depth goes over the window, then over the features
/// of the input: so what reads a place for many features tests once whether the window covers an element there. Where results that differ by their place lie closer together than those that
/// differ by their feature, images and places further apart than the features are of the batch. Where the window covers no element of the input, there is no product.
///
/// Of a convolution whose features read each its own ([`Rows::Apart`]) columns are the features of all groups, the left matrix of which has a fourth index: the column. Rows are places of a line, or
/// of some lines side by side, of which one place is followed by that of the next line. The depth goes over the features of the input first, and at last along the line: neighbors share of what their windows cover most.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    pub(crate) batch: i64,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    pub(crate) depth: i64,
    /// Products that the innermost of the dimensions has which the depth goes over: those of one place of a window, if these are several; all of a dot. Where columns read each its own, those of a window along the
    /// line, and across all lines.
    pub(crate) run: i64,
    /// Rows that are places of a window in a line; 1 where there are none.
    pub(crate) line: i64,
    pub(crate) lhs: Side,
    pub(crate) rhs: Side,
    /// From the indices `(o, r, c)` to the result's.
    pub(crate) results: IndexingMap,
    /// Whether results lie in the order of these.
    pub(crate) is_in_order: bool,
    /// Columns that read the same of the left operand, if others do not.
    pub(crate) apart: Option<i64>,
    /// Lines whose places rows are.
    pub(crate) lines: i64,
}

/// What rows are of a convolution whose results do not lie in their order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Images and places that lie closer together than features.
    Places,
    /// Places in a line, which tiles need not divide.
    Line,
    /// Places of so many lines, of features each of which may read another part of the input.
    Apart(i64),
}

/// An operand.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// Its number.
    pub(crate) operand: usize,
    /// From the indices `(o, r, k)` of an element of the left matrix, or `(o, r, k, c)`, and `(o, k, c)` of the right, to the operand's.
    pub(crate) indices: IndexingMap,
    /// Whether these have elements that the operand has not, outside the domain of the indices.
    pub(crate) is_partial: bool,
}

/// Products of a window along a line and across several of them, at most.
const MOST_ACROSS: i64 = 16;

/// Index variables of matrices: of the batch; of rows and of products on the left; of products and of columns on the right; of rows and of columns of results.
const BATCH: u32 = 0;
const ROW: u32 = 1;
const LEFT_DEPTH: u32 = 2;
const RIGHT_DEPTH: u32 = 1;
const COLUMN: u32 = 2;
const LEFT_COLUMN: u32 = 3;

impl Contraction {
    /// That of an instruction, or why there is none.
    pub(crate) fn of(computation: &Computation, id: InstrId, rows: Rows) -> Result<Contraction, String> {
        let found = match &computation.instructions[id].op {
            Op::Dot { .. } => dot(computation, id),
            Op::Convolution { .. } => convolution(computation, id, rows),
            _ => None,
        };
        found.unwrap_or_else(|| Err("it is no sum of products".to_owned()))
    }

    /// Whether results that differ by their column alone lie side by side.
    pub(crate) fn keeps_columns(&self) -> bool {
        self.is_in_order || has_columns_side_by_side(&self.results)
    }

    /// Whether elements of the right operand that differ by their column alone lie side by side.
    pub(crate) fn reads_columns_side_by_side(&self) -> bool {
        has_columns_side_by_side(&self.rhs.indices)
    }

    /// The extents of the matrices of the left operand, of those of the right and of the results.
    pub(crate) fn extents(&self) -> [[i64; 3]; 3] {
        let Contraction { batch, rows, columns, depth, .. } = *self;
        [[batch, rows, depth], [batch, depth, columns], [batch, rows, columns]]
    }
}

impl Side {
    fn new(operand: usize, indices: IndexingMap, extents: &[i64]) -> Side {
        let is_whole =
            indices.dims().iter().zip(extents).all(|(dim, extent)| dim.bounds() == Interval::of_extent(*extent));
        let is_partial = !is_whole || !indices.constraints().is_empty();
        Side { operand, indices, is_partial }
    }
}

/// Whether the last of the indices that is no constant steps by one with the column.
pub(crate) fn has_columns_side_by_side(map: &IndexingMap) -> bool {
    let column = Expr::dim(COLUMN);
    let mut indices = map.results().iter().rev().filter(|index| index.as_constant().is_none());
    indices
        .next()
        .is_some_and(|minor| minor.checked_sub(&column).is_ok_and(|rest| !rest.variables().contains(&Var::Dim(COLUMN))))
}

/// Dimensions of one index, the most significant first.
type Dimensions = Vec<usize>;

fn numbers(dimensions: &[i64], rank: usize) -> Option<Dimensions> {
    dimensions.iter().map(|it| usize::try_from(*it).ok().filter(|it| *it < rank)).collect()
}

/// How many elements some dimensions have.
fn count(extents: &[i64], dimensions: &[usize]) -> i64 {
    dimensions.iter().map(|dimension| extents[*dimension]).fold(1, i64::saturating_mul)
}

/// The digits of an index, each of so many values, the most significant first.
fn digits(index: &Expr, extents: impl DoubleEndedIterator<Item = i64>) -> Result<Vec<Expr>, Error> {
    let mut stride: i64 = 1;
    let mut digits = Vec::new();
    for extent in extents.rev() {
        let extent = extent.max(1);
        digits.push(index.checked_floor_div(stride)?.checked_modulo(extent)?);
        stride = stride.saturating_mul(extent);
    }
    digits.reverse();
    Ok(digits)
}

/// The map of matrices' indices whose results are the digits of these.
fn of_digits(extents: &[i64], matrix: [i64; 3], dimensions: [&Dimensions; 3]) -> Result<IndexingMap, String> {
    let mut results = vec![Expr::constant(0); extents.len()];
    for (index, dimensions) in (0u32..).zip(dimensions) {
        let digits = digits(&Expr::dim(index), dimensions.iter().map(|it| extents[*it])).map_err(told)?;
        dimensions.iter().zip(digits).for_each(|(dimension, digit)| results[*dimension] = digit);
    }
    let mut map = IndexingMap::of_extents(&matrix, &[], results).map_err(told)?;
    map.simplify();
    Ok(map)
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

fn dot(computation: &Computation, id: InstrId) -> Option<Result<Contraction, String>> {
    let instruction = &computation.instructions[id];
    let Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. } = &instruction.op
    else {
        return None;
    };
    let [lhs, rhs] = instruction.operands[..] else { return None };
    let [left, right] = [lhs, rhs].map(|operand| leaf_extents(&computation.instructions[operand].shape));
    let factor = |extents: &[i64], batch: &[i64], contracted: &[i64]| {
        let (batch, contracted) = (numbers(batch, extents.len())?, numbers(contracted, extents.len())?);
        let free: Dimensions =
            (0..extents.len()).filter(|it| !batch.contains(it) && !contracted.contains(it)).collect();
        Some([batch, free, contracted])
    };
    let [left_batch, left_free, left_depth] = factor(&left, lhs_batch_dims, lhs_contracting_dims)?;
    let [right_batch, right_free, right_depth] = factor(&right, rhs_batch_dims, rhs_contracting_dims)?;
    let (batch, depth) = (count(&left, &left_batch), count(&left, &left_depth));
    let (rows, columns) = (count(&left, &left_free), count(&right, &right_free));
    let (left_matrix, right_matrix) = ([batch, rows, depth], [batch, depth, columns]);
    let made = || {
        let lhs = of_digits(&left, left_matrix, [&left_batch, &left_free, &left_depth])?;
        let rhs = of_digits(&right, right_matrix, [&right_batch, &right_depth, &right_free])?;
        let (lhs, rhs) = (Side::new(0, lhs, &left_matrix), Side::new(1, rhs, &right_matrix));
        let extents = leaf_extents(&instruction.shape);
        let first = [0, left_batch.len(), left_batch.len() + left_free.len(), extents.len()];
        let [of_batch, of_rows, of_columns] = [0, 1, 2].map(|index| (first[index]..first[index + 1]).collect());
        let results = of_digits(&extents, [batch, rows, columns], [&of_batch, &of_rows, &of_columns])?;
        let (run, line, lines, is_in_order, apart) = (depth, 1, 1, true, None);
        Ok(Contraction { batch, rows, columns, depth, run, line, lhs, rhs, results, is_in_order, apart, lines })
    };
    Some(made())
}

/// The dimensions of a convolution's results that are places and images: those of the batch, and those of rows.
struct Places {
    batch: Dimensions,
    rows: Dimensions,
    /// One of the batch, of which so many indices side by side are those of rows, the least significant.
    across: Option<(usize, i64)>,
}

impl Places {
    fn of(extents: &[i64], features: usize, groups: i64, rows: Rows) -> Places {
        let places = || (0..extents.len()).filter(|dimension| *dimension != features);
        let is_minor = extents[features + 1..].iter().all(|extent| *extent == 1);
        let first = match (is_minor, rows) {
            (true, Rows::Line) if groups == 1 => 0,
            (true, Rows::Places) => 0,
            (false, Rows::Places) => features,
            (_, Rows::Line | Rows::Apart(_)) => places().rfind(|dimension| extents[*dimension] > 1).unwrap_or(0),
        };
        let (batch, rows) = places().partition(|dimension| *dimension < first);
        Places { batch, rows, across: None }
    }

    /// The dimension, and its window, of the results' space that rows go along.
    fn line<'w>(
        &self,
        extents: &[i64],
        labels: &ConvolutionDimensions,
        window: &'w Window,
    ) -> Option<(usize, &'w WindowDimension)> {
        let mut space = labels.output_spatial.iter().zip(&window.dimensions);
        space.find_map(|(to, window)| {
            let to = usize::try_from(*to).ok()?;
            (self.rows.contains(&to) && extents[to] > 1).then_some((to, window))
        })
    }

    /// The same with the places of so many lines, whose windows overlap.
    fn across(
        self,
        extents: &[i64],
        (labels, window): (&ConvolutionDimensions, &Window),
        lines: i64,
    ) -> Result<Places, String> {
        if lines == 1 {
            return Ok(self);
        }
        let overlaps = |window: &WindowDimension| {
            window.size > 1 && window.stride < window.size && window.window_dilation == 1 && window.base_dilation == 1
        };
        let along = self.line(extents, labels, window).filter(|(_, window)| window.base_dilation == 1);
        let most = along.map_or(0, |(_, window)| MOST_ACROSS / window.size.max(1));
        let space = labels.output_spatial.iter().zip(&window.dimensions).rev();
        let mut beside = space.filter_map(|(to, window)| Some((usize::try_from(*to).ok()?, window)));
        let found = beside.find(|(to, window)| {
            self.batch.contains(to) && extents[*to] % lines == 0 && window.size <= most && overlaps(window)
        });
        match found {
            Some((dimension, _)) => Ok(Places { across: Some((dimension, lines)), ..self }),
            None => Err(format!("windows of {lines} lines have nothing in common")),
        }
    }

    /// Lines whose places rows are.
    fn lines(&self) -> i64 {
        self.across.map_or(1, |(_, lines)| lines)
    }
}

fn convolution(computation: &Computation, id: InstrId, rows: Rows) -> Option<Result<Contraction, String>> {
    let instruction = &computation.instructions[id];
    let Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } = &instruction.op else {
        return None;
    };
    let [input, kernel] = [operand_map(computation, id, 0).map(Some), read_map(computation, id, 1)];
    let kernel_shape = leaf_extents(&computation.instructions[*instruction.operands.get(1)?].shape);
    let features = *kernel_shape.get(usize::try_from(dim_labels.kernel_output_feature).ok()?)?;
    let groups = (*feature_group_count).max(*batch_group_count).max(1);
    let extents = leaf_extents(&instruction.shape);
    let of_features = usize::try_from(dim_labels.output_feature).ok().filter(|it| *it < extents.len())?;
    let made = || {
        let told = |findings: Diagnostics| findings.to_string();
        let (Some(input), Some(kernel)) = (input.map_err(told)?, kernel.map_err(told)?) else {
            return Err("it reads none of its operands".to_owned());
        };
        let places = Places::of(&extents, of_features, groups, rows);
        let (places, apart) = match rows {
            Rows::Apart(lines) => (places.across(&extents, (dim_labels, window), lines)?, Some(features / groups)),
            _ => (places, None),
        };
        let groups = if apart.is_some() { 1 } else { groups };
        let convolution =
            Convolution { extents, of_features, features: features / groups, groups, apart, input, kernel };
        convolution.contraction(dim_labels, &places)
    };
    Some(made())
}

struct Convolution {
    /// Those of the results.
    extents: Vec<i64>,
    /// Their dimension of features.
    of_features: usize,
    /// Features of a group.
    features: i64,
    groups: i64,
    /// Features that read the same, if these are those of all groups.
    apart: Option<i64>,
    /// From the indices of a result and of a round to those of the operands.
    input: IndexingMap,
    kernel: IndexingMap,
}

impl Convolution {
    fn contraction(&self, labels: &ConvolutionDimensions, places: &Places) -> Result<Contraction, String> {
        let Convolution { extents, features: columns, groups, apart, .. } = self;
        let lines = places.lines();
        let (columns, rows) = (*columns, count(extents, &places.rows).saturating_mul(lines));
        let batch = (count(extents, &places.batch) / lines).saturating_mul(*groups);
        let rounds = self.rounds(labels, places);
        let range = |round: &u32| self.input.ranges()[*round as usize].bounds().hi + 1;
        let depth = rounds.iter().map(range).fold(1, i64::saturating_mul);
        let is_feature =
            |round: &&u32| usize::try_from(labels.kernel_input_feature).is_ok_and(|it| self.goes_along(it, **round));
        let run = match apart {
            None => rounds.last().filter(is_feature).map_or(1, range),
            Some(_) => rounds.iter().rev().take(if lines == 1 { 1 } else { 2 }).map(range).product(),
        };
        let line = places.rows.iter().rev().map(|place| extents[*place]).find(|extent| *extent > 1).unwrap_or(1);
        let of_round = |at: u32| -> Result<Vec<(u32, Expr)>, String> {
            let digits = digits(&Expr::dim(at), rounds.iter().map(range)).map_err(told)?;
            Ok(rounds.iter().copied().zip(digits).collect())
        };
        let (mut left, right) = (vec![batch, rows, depth], [batch, depth, columns]);
        let own = apart.map(|_| Expr::dim(LEFT_COLUMN));
        left.extend(own.as_ref().map(|_| columns));
        let indices = self.places(places).and_then(|at| self.with(at, own.as_ref())).map_err(told)?;
        let input = substituted(&self.input, &left, &indices, &of_round(LEFT_DEPTH)?, true)?;
        let nowhere = vec![Expr::constant(0); extents.len()];
        let indices = self.with(nowhere, Some(&Expr::dim(COLUMN))).map_err(told)?;
        let kernel = substituted(&self.kernel, &right, &indices, &of_round(RIGHT_DEPTH)?, false)?;
        let indices = self.places(places).and_then(|at| self.with(at, Some(&Expr::dim(COLUMN)))).map_err(told)?;
        let mut results = IndexingMap::of_extents(&[batch, rows, columns], &[], indices).map_err(told)?;
        results.simplify();
        let is_in_order =
            *groups == 1 && lines == 1 && extents[self.of_features + 1..].iter().all(|extent| *extent == 1);
        let (mut lhs, rhs) = (Side::new(0, input, &left), Side::new(1, kernel, &right));
        lhs.is_partial |= apart.is_some();
        let apart = *apart;
        Ok(Contraction { batch, rows, columns, depth, run, line, lhs, rhs, results, is_in_order, apart, lines })
    }

    /// The numbers of the rounds' variables, the most significant first: those of the window, and that of the features; where features are apart, that, and those of the window, at last along rows.
    fn rounds(&self, labels: &ConvolutionDimensions, places: &Places) -> Vec<u32> {
        let of_rows = |to: &i64| match usize::try_from(*to) {
            Ok(to) if places.rows.contains(&to) && self.extents[to] > 1 => 2,
            Ok(to) if places.across.is_some_and(|(across, _)| across == to) => 1,
            _ => 0,
        };
        let mut window: Vec<(i64, i64)> =
            labels.output_spatial.iter().map(of_rows).zip(labels.kernel_spatial.iter().copied()).collect();
        let mut dimensions = vec![labels.kernel_input_feature];
        match self.apart {
            None => dimensions.splice(..0, labels.kernel_spatial.iter().copied()).for_each(drop),
            Some(_) => {
                window.sort_by_key(|(of_rows, _)| *of_rows);
                dimensions.extend(window.into_iter().map(|(_, dimension)| dimension));
            }
        }
        let dimensions: Vec<usize> = dimensions.into_iter().filter_map(|it| usize::try_from(it).ok()).collect();
        let count = u32::try_from(self.input.ranges().len()).unwrap_or(u32::MAX);
        let mut rounds: Vec<u32> = (0..count).collect();
        rounds.sort_by_key(|round| dimensions.iter().position(|dimension| self.goes_along(*dimension, *round)));
        rounds
    }

    /// Whether a variable of the rounds goes along a dimension of the kernel.
    fn goes_along(&self, dimension: usize, round: u32) -> bool {
        self.kernel.results().get(dimension).is_some_and(|index| index.variables().contains(&Var::Range(round)))
    }

    /// The indices of the place of a row; nothing of features.
    fn places(&self, places: &Places) -> Result<Vec<Expr>, Error> {
        let mut indices = vec![Expr::constant(0); self.extents.len()];
        let extent = |dimension: &usize| match places.across {
            Some((across, lines)) if across == *dimension => self.extents[across] / lines,
            _ => self.extents[*dimension],
        };
        let lines = places.lines();
        let row = Expr::dim(ROW).checked_floor_div(lines)?;
        let rows = digits(&row, places.rows.iter().map(extent))?;
        let beside = digits(&Expr::dim(BATCH), places.batch.iter().map(extent).chain([self.groups]))?;
        places.rows.iter().zip(rows).for_each(|(dimension, digit)| indices[*dimension] = digit);
        places.batch.iter().zip(beside).for_each(|(dimension, digit)| indices[*dimension] = digit);
        if let Some((across, _)) = places.across {
            let line = Expr::dim(ROW).checked_modulo(lines)?;
            indices[across] = indices[across].checked_mul(lines)?.checked_add(&line)?;
        }
        Ok(indices)
    }

    /// The indices of a result at a place, of a feature of the group or its first.
    fn with(&self, mut place: Vec<Expr>, feature: Option<&Expr>) -> Result<Vec<Expr>, Error> {
        let first = Expr::dim(BATCH).checked_modulo(self.groups)?.checked_mul(self.features)?;
        place[self.of_features] = match feature {
            Some(feature) => first.checked_add(feature)?,
            None => first,
        };
        Ok(place)
    }
}

/// The map with other indices for those of results and of rounds; what it demands of them stays, or not.
fn substituted(
    map: &IndexingMap,
    matrix: &[i64],
    indices: &[Expr],
    rounds: &[(u32, Expr)],
    has_domain: bool,
) -> Result<IndexingMap, String> {
    let of = |expr: &Expr| {
        expr.substitute(|variable| match variable {
            Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
            Var::Range(round) => rounds.iter().find(|(own, _)| *own == round).map(|(_, digit)| digit.clone()),
            Var::Runtime(_) => None,
        })
    };
    let results = map.results().iter().map(of).collect::<Result<Vec<_>, _>>().map_err(told)?;
    let mut whole = IndexingMap::of_extents(matrix, &[], results).map_err(told)?;
    // What is demanded of a variable alone are its bounds.
    let dims = (0u32..).map(Expr::dim).zip(map.dims());
    let ranges = (0u32..).map(Expr::range).zip(map.ranges());
    let bounds = dims.chain(ranges).map(|(variable, known)| Constraint::new(variable, known.bounds()));
    for constraint in bounds.chain(map.constraints().iter().cloned()).filter(|_| has_domain) {
        whole.add_constraint(of(&constraint.expr).map_err(told)?, constraint.bounds).map_err(told)?;
    }
    whole.simplify();
    match whole.is_known_empty() && !matrix.contains(&0) {
        true => Err("its window meets no element".to_owned()),
        false => Ok(whole),
    }
}

/// For each instruction whether an operand of a sum of products is computed of it, without a loop in between.
pub(crate) fn feeding(computation: &Computation, is_sum: impl Fn(InstrId) -> bool) -> Vec<bool> {
    let mut feeds = vec![false; computation.instructions.len()];
    for (id, instruction) in computation.instructions.iter().rev() {
        if is_sum(id) || feeds[id.index()] && !is_loop(&instruction.op) {
            instruction.operands.iter().for_each(|operand| feeds[operand.index()] = true);
        }
    }
    feeds
}

/// Whether an operation takes its elements from one place or another, which devices in software do not do for each element of a tile: drivers copy the branches as often, and SwiftShader makes machine code of that
/// for minutes.
pub(crate) fn branches(op: &Op) -> bool {
    matches!(op, Op::Concatenate { .. } | Op::Pad { .. })
}
