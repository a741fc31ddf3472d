//! Where an instruction is evaluated, and through which indices.

use crate::plan::{FunctionId, leaf_extents};
use crate::runs::Runs;
use weft_affine::{Constraint, Expr, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::{Undefined, operand_map};
use weft_hlo::ir::{ArenaId, ArrayShape, Computation, InstrId, Instruction, Op};
use weft_indexing::{IndexingMap, Limits};

/// Nodes, counted as in the printed text, that an access's expressions may have together before the value becomes a
/// function of its own, whose indices are plain variables again. Misaligned chains of reshapes and transposes would
/// otherwise grow without end.
const MAX_MAP_NODES: u64 = 160;

/// Branches and loops that may stand in one another in a kernel, calls looked through: drivers inline calls, and
/// llvmpipe silently ignores conditions nested deeper than 80 (`LP_MAX_TGSI_NESTING`; a chain of 100 concatenates in one
/// kernel gives wrong values there). What functions of the mathematics library nest by themselves comes on top.
pub(crate) const MAX_DEPTH: u32 = 32;

/// One way an instruction is reached: from which function, in which block of it, at which indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Access {
    /// The function whose code reads the value.
    pub(crate) function: FunctionId,
    /// The innermost block: the operand of a concatenate or pad, or the loop of a reduce. Values of one block are not
    /// in sight of another.
    pub(crate) block: Option<(InstrId, usize)>,
    /// How many branches and loops stand around the access in the kernel, those around the calls of the function included.
    pub(crate) depth: u32,
    /// Whether conditions on indices stand around the access, within its function: it does not happen everywhere.
    pub(crate) is_guarded: bool,
    /// From the function's indices (and the range variables of its loop) to the instruction's indices.
    pub(crate) map: IndexingMap,
}

/// An access with how often it happens in one run of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub(crate) access: Access,
    pub(crate) evaluations: f64,
}

/// The map from an index of `user`'s value to the element of operand number `operand` that it reads, in one round of the
/// loop that the operation is, if it is one; `None` for an operand that only runtime variables of the other maps read.
///
/// # Errors
/// Where there is no such map.
pub(crate) fn read_map(
    computation: &Computation,
    user: InstrId,
    operand: usize,
) -> Result<Option<IndexingMap>, Diagnostics> {
    let instruction = &computation.instructions[user];
    match &instruction.op {
        Op::Gather { .. } if operand == 1 => return Ok(None),
        // Slices without elements are of no element.
        Op::Gather { slice_sizes, .. } if slice_sizes.contains(&0) => {
            let rank = computation.instructions[instruction.operands[0]].shape.as_array().map_or(0, ArrayShape::rank);
            let results = vec![Expr::constant(0); rank];
            let map = IndexingMap::of_extents(&leaf_extents(&instruction.shape), &[0], results);
            return map.map(Some).map_err(|error| at_instruction(instruction, error));
        }
        Op::DynamicSlice { .. } if operand >= 1 => return Ok(None),
        Op::Scatter { .. } if operand == instruction.operands.len() / 2 => return Ok(None),
        Op::DynamicUpdateSlice if operand >= 2 => return Ok(None),
        // Where the update lies is another block.
        Op::DynamicUpdateSlice if operand == 0 => return Ok(Some(identity(&leaf_extents(&instruction.shape)))),
        _ => {}
    }
    if operand > instruction.operands.len() / 2
        && let Some(runs) = Runs::of(computation, instruction)
    {
        return runs.updates_map().map(Some).map_err(|error| at_instruction(instruction, error));
    }
    let map = operand_map(computation, user, operand)?;
    match rounds_order(computation, instruction, operand) {
        None => Ok(Some(map)),
        Some(order) => in_order(&map, &order).map(Some).map_err(|error| at_instruction(instruction, error)),
    }
}

/// For an operand of a product the number that each range variable of its map has among the loop's, which are those of
/// the first operand.
fn rounds_order(computation: &Computation, instruction: &Instruction, operand: usize) -> Option<Vec<u32>> {
    if operand != 1 {
        return None;
    }
    let extent = |operand: usize, dimension: i64| {
        let array = computation.instructions[instruction.operands[operand]].shape.as_array();
        array.and_then(|array| array.extents.get(usize::try_from(dimension).ok()?).copied()).unwrap_or(1)
    };
    // The dimensions of each operand that are run over, each with the role that it shares with one of the other operand.
    type Roles = Vec<(i64, i64)>;
    let (mut left, mut right): (Roles, Roles) = match &instruction.op {
        Op::Dot { lhs_contracting_dims, rhs_contracting_dims, .. } => {
            let pairs = || lhs_contracting_dims.iter().zip(rhs_contracting_dims).zip(0i64..);
            (
                pairs().map(|((lhs, _), role)| (*lhs, role)).collect(),
                pairs().map(|((_, rhs), role)| (*rhs, role)).collect(),
            )
        }
        Op::Convolution { dim_labels, .. } => {
            let input = dim_labels.input_spatial.iter().zip(0i64..).map(|(dimension, role)| (*dimension, role));
            let kernel = dim_labels.kernel_spatial.iter().zip(0i64..).map(|(dimension, role)| (*dimension, role));
            let features = i64::try_from(dim_labels.input_spatial.len()).unwrap_or(i64::MAX);
            (
                input.chain([(dim_labels.input_feature, features)]).collect(),
                kernel.chain([(dim_labels.kernel_input_feature, features)]).collect(),
            )
        }
        _ => return None,
    };
    // A convolution does not run over extents of 1, which are the kernel's: those of the windows and of a group's features.
    let is_dot = matches!(instruction.op, Op::Dot { .. });
    let is_run = |role: i64| is_dot || right.iter().any(|(dimension, own)| *own == role && extent(1, *dimension) != 1);
    let run: Vec<i64> = left.iter().map(|(_, role)| *role).filter(|role| is_run(*role)).collect();
    left.retain(|(_, role)| run.contains(role));
    right.retain(|(_, role)| run.contains(role));
    left.sort_unstable();
    right.sort_unstable();
    let number = |role: i64| left.iter().position(|(_, own)| *own == role).unwrap_or(0);
    Some(right.iter().map(|(_, role)| u32::try_from(number(*role)).unwrap_or(u32::MAX)).collect())
}

/// The map with range variable `k` called `order[k]`.
fn in_order(map: &IndexingMap, order: &[u32]) -> Result<IndexingMap, weft_indexing::Error> {
    if order.iter().zip(0u32..).all(|(to, from)| *to == from) || map.ranges().len() != order.len() {
        return Ok(map.clone());
    }
    let mut ranges = map.ranges().to_vec();
    for (range, to) in map.ranges().iter().zip(order) {
        ranges[*to as usize] = range.clone();
    }
    let renamed = |expr: &Expr| {
        expr.substitute(|variable| match variable {
            Var::Range(number) => order.get(number as usize).map(|number| Expr::range(*number)),
            _ => None,
        })
    };
    let results = map.results().iter().map(renamed).collect::<Result<Vec<_>, _>>()?;
    let mut constraints = Vec::with_capacity(map.constraints().len());
    for constraint in map.constraints() {
        constraints.push(Constraint::new(renamed(&constraint.expr)?, constraint.bounds));
    }
    IndexingMap::try_new(map.dims().to_vec(), ranges, map.runtime().to_vec(), results, constraints)
}

/// Whether an operation reads this one of its operands at indices that are values of others.
pub(crate) fn reads_at_values(op: &Op, operand: usize, operands: usize) -> bool {
    match op {
        Op::Gather { .. } | Op::DynamicSlice { .. } => operand == 0,
        Op::DynamicUpdateSlice => operand == 1,
        Op::Scatter { .. } => operand > operands / 2,
        _ => false,
    }
}

fn at_instruction(instruction: &Instruction, error: weft_indexing::Error) -> Diagnostics {
    let reason = Undefined::from(error);
    Diagnostic::new(reason.code(), instruction.span, reason.to_string()).about(&instruction.name).into()
}

/// How an operand is read: through this access, and what reads the runtime variables of its map.
pub(crate) struct OperandAccess {
    pub(crate) access: Counted,
    /// For each runtime variable the instruction that yields it and the access to its element.
    pub(crate) runtime: Vec<(InstrId, Counted)>,
}

/// How `user`, evaluated as `at`, reaches its operand number `operand`; `None` if no element of it is ever read, or only as a
/// runtime variable.
pub(crate) fn operand_access(
    computation: &Computation,
    user: InstrId,
    at: &Counted,
    operand: usize,
) -> Result<Option<OperandAccess>, Diagnostics> {
    let instruction = &computation.instructions[user];
    let Some(step) = read_map(computation, user, operand)? else { return Ok(None) };
    let mut map = at.access.map.then(&step).map_err(|error| at_instruction(instruction, error))?;
    map.simplify();
    if map.is_known_empty() {
        return Ok(None);
    }
    let read = &computation.instructions[instruction.operands[operand]];
    let part = ratio(element_count(&read.shape), element_count(&instruction.shape));
    let inside = |operand: usize, levels: u32| (Some((user, operand)), at.access.depth + levels);
    let ((block, depth), factor) = match &instruction.op {
        Op::Concatenate { .. } => (inside(operand, instruction.operands.len().next_power_of_two().ilog2()), part),
        Op::Pad { .. } if operand == 0 => (inside(0, 1), part.min(1.0)),
        Op::DynamicUpdateSlice if operand == 0 => (inside(0, 1), 1.0),
        Op::DynamicUpdateSlice => (inside(1, 1), part.min(1.0)),
        // In each round where the window lies is known before anything of it is read, within two conditions.
        Op::Scatter { .. } if operand > instruction.operands.len() / 2 => {
            let first = instruction.operands.len() / 2 + 1;
            (inside(first, loops(&map).max(1) + 3), loop_rounds(computation, instruction))
        }
        op if is_looped(op, operand, instruction.operands.len()) => {
            (inside(0, loops(&map)), loop_rounds(computation, instruction))
        }
        _ => ((at.access.block, at.access.depth), 1.0),
    };
    let runs = Runs::of(computation, instruction);
    let mut runtime = Vec::with_capacity(map.runtime().len());
    for variable in map.runtime() {
        let Some(owner) = variable.owner().and_then(|owner| usize::try_from(owner.0).ok()) else { continue };
        let owner = InstrId::from_index(owner);
        let starts = match &runs {
            // Which row it is of is a value.
            Some(runs) => runs.indices_map().and_then(|step| at.access.map.then(&step)),
            None => IndexingMap::try_new(
                map.dims().to_vec(),
                map.ranges().to_vec(),
                Vec::new(),
                variable.access().to_vec(),
                Vec::new(),
            ),
        };
        let mut starts = starts.map_err(|error| at_instruction(instruction, error))?;
        starts.simplify();
        // The value is needed before the branch that reads through it, and in a loop in each round.
        let Access { function, block, depth, is_guarded, .. } = at.access;
        let (block, depth, times) = match instruction.op {
            Op::Scatter { .. } => {
                let (block, depth) = inside(instruction.operands.len() / 2, loops(&map));
                (block, depth, factor)
            }
            _ => (block, depth, 1.0),
        };
        let access = Access { function, block, depth, is_guarded, map: starts };
        runtime.push((owner, Counted { access, evaluations: at.evaluations * times }));
    }
    // A condition on one index is a bound of its variable.
    let narrows = !map.constraints().is_empty() || map.dims() != at.access.map.dims();
    let is_guarded = at.access.is_guarded || narrows;
    let access = Access { function: at.access.function, block, depth, is_guarded, map };
    let mut access = Counted { access, evaluations: at.evaluations * factor };
    // What is not read everywhere is read within the conditions around it only.
    if !is_guarded {
        access = hoist(computation, access);
    }
    Ok(Some(OperandAccess { access, runtime }))
}

/// Whether an operation is a loop over elements of its operands.
pub(crate) fn is_loop(op: &Op) -> bool {
    matches!(
        op,
        Op::Reduce { .. } | Op::ReduceWindow { .. } | Op::Dot { .. } | Op::Convolution { .. } | Op::Scatter { .. }
    )
}

/// Whether an operand is read in every round of a loop.
fn is_looped(op: &Op, operand: usize, operands: usize) -> bool {
    match op {
        Op::Reduce { .. } | Op::ReduceWindow { .. } => operand < operands / 2,
        Op::Scatter { .. } => operand > operands / 2,
        op => is_loop(op),
    }
}

/// How many rounds the loop of an operation makes for one element; 1 for those that are none.
pub(crate) fn loop_rounds(computation: &Computation, instruction: &Instruction) -> f64 {
    let count = |operand: usize| {
        instruction.operands.get(operand).map_or(0.0, |id| element_count(&computation.instructions[*id].shape))
    };
    let extent = |operand: usize, dimension: i64| -> f64 {
        let array = instruction.operands.get(operand).and_then(|id| computation.instructions[*id].shape.as_array());
        let dimension = usize::try_from(dimension).ok();
        array.and_then(|array| array.extents.get(dimension?).copied()).unwrap_or(1) as f64
    };
    match &instruction.op {
        Op::Scatter { scatter_indices_batching_dims, index_vector_dim, .. } => {
            if let Some(runs) = Runs::of(computation, instruction) {
                return runs.rounds();
            }
            let indices = instruction.operands.len() / 2;
            let array = instruction.operands.get(indices).and_then(|id| computation.instructions[*id].shape.as_array());
            let rank = array.map_or(0, |array| array.extents.len() as i64);
            let is_run =
                |dimension: &i64| dimension != index_vector_dim && !scatter_indices_batching_dims.contains(dimension);
            (0..rank).filter(is_run).map(|dimension| extent(indices, dimension)).product()
        }
        Op::Reduce { .. } => ratio(count(0), element_count(&instruction.shape)),
        Op::ReduceWindow { window, .. } => window.dimensions.iter().map(|dimension| dimension.size as f64).product(),
        Op::Dot { lhs_contracting_dims, .. } => {
            lhs_contracting_dims.iter().map(|dimension| extent(0, *dimension)).product()
        }
        Op::Convolution { dim_labels, .. } => ratio(count(1), extent(1, dim_labels.kernel_output_feature)),
        _ => 1.0,
    }
}

/// Moves what does not depend on the variables of the loop around it out of the loop.
fn hoist(computation: &Computation, mut counted: Counted) -> Counted {
    let Some((around, _)) = counted.access.block else { return counted };
    let looping = &computation.instructions[around];
    if !is_looped(&looping.op, 0, looping.operands.len()) || varies_in_loop(&counted.access.map) {
        return counted;
    }
    let depth = loops(&counted.access.map);
    counted.access.map.remove_unused_symbols();
    counted.access.block = None;
    counted.access.depth -= depth.min(counted.access.depth);
    counted.evaluations *= ratio(1.0, loop_rounds(computation, looping));
    counted
}

/// How many loops the range variables of an operand's map are.
fn loops(map: &IndexingMap) -> u32 {
    u32::try_from(map.ranges().len()).unwrap_or(u32::MAX)
}

/// Whether the accessed index depends on a range variable: by itself, or by the place that a value comes from which is a part of it.
fn varies_in_loop(map: &IndexingMap) -> bool {
    let constrained = map.constraints().iter().map(|constraint| &constraint.expr);
    let values = map.runtime().iter().flat_map(|variable| variable.access());
    let mut variables = map.results().iter().chain(constrained).chain(values).flat_map(Expr::variables);
    variables.any(|variable| matches!(variable, Var::Range(_)))
}

/// The identity on these extents, simplified as every other map is (a dimension of extent 1 is always 0).
pub(crate) fn identity(extents: &[i64]) -> IndexingMap {
    let mut map = IndexingMap::identity(extents);
    map.simplify();
    map
}

/// Limits for comparing two accesses as functions: beyond them they count as different, which only costs a function.
const COMPARED: Limits = Limits::STRUCTURE.with_points(1 << 12);

/// Whether two accesses read the same elements from the same place: their maps are compared as functions. Range variables are those of
/// the loops around the place, so in the same round both must read the same element, not only the same elements over all rounds.
pub(crate) fn same_access(one: &Access, other: &Access) -> bool {
    if (one.function, one.block) != (other.function, other.block) {
        return false;
    }
    if one.map == other.map {
        return true;
    }
    let is_comparable = one.map.runtime().is_empty()
        && other.map.runtime().is_empty()
        && one.map.dims() == other.map.dims()
        && one.map.ranges() == other.map.ranges();
    let of_one_round = |map: &IndexingMap| {
        let mut map = map.clone();
        map.ranges_to_dims();
        map
    };
    is_comparable && of_one_round(&one.map).equals(&of_one_round(&other.map), &COMPARED).is_yes()
}

/// The map from indices of one shape to those of the element at the same row-major position of another, which has as many
/// elements; simplified.
pub(crate) fn row_major(from: &[i64], to: &[i64]) -> Result<IndexingMap, weft_indexing::Error> {
    if from == to {
        return Ok(identity(from));
    }
    let position = IndexingMap::identity(from).linearized(from)?;
    let position = position.results().first().cloned().unwrap_or_else(|| Expr::constant(0));
    let mut stride: i64 = 1;
    let mut indices = Vec::with_capacity(to.len());
    for (dimension, extent) in to.iter().enumerate().rev() {
        let quotient = position.checked_floor_div(stride)?;
        indices.push(if dimension == 0 { quotient } else { quotient.checked_modulo((*extent).max(1))? });
        stride = stride.saturating_mul((*extent).max(1));
    }
    indices.reverse();
    let mut map = IndexingMap::of_extents(from, &[], indices)?;
    map.simplify();
    Ok(map)
}

/// Whether a map leads from indices of one shape to the element at the same row-major position of another, for all elements.
pub(crate) fn is_bitcast(map: &IndexingMap, from: &[i64], to: &[i64]) -> bool {
    let count = |extents: &[i64]| extents.iter().copied().fold(1, i64::saturating_mul);
    let is_plain = map.ranges().is_empty() && map.runtime().is_empty() && map.constraints().is_empty();
    if !is_plain || count(from) != count(to) {
        return false;
    }
    row_major(from, to).is_ok_and(|known| known.results() == map.results())
}

/// Whether the results of a simplified map are its dimensions.
pub(crate) fn is_identity(map: &IndexingMap) -> bool {
    let extents: Vec<i64> = map.dims().iter().map(|dim| dim.bounds().hi + 1).collect();
    *map == identity(&extents)
}

/// Whether the indices of an access have grown so long that they should be named.
pub(crate) fn is_long(access: &Access) -> bool {
    let sizes = access.map.results().iter().map(Expr::tree_size);
    sizes.fold(0u64, u64::saturating_add) > MAX_MAP_NODES
}

/// The elements of an array; of a tuple, those of its first array.
pub(crate) fn element_count(shape: &weft_hlo::ir::Shape) -> f64 {
    let leaf = shape.leaves().first().and_then(|leaf| leaf.as_array());
    leaf.map_or(0.0, |array| array.extents.iter().map(|&extent| extent as f64).product())
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
