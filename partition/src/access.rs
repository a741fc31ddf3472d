//! Where an instruction is evaluated, and through which indices.

use crate::plan::FunctionId;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::{Undefined, operand_map};
use weft_hlo::ir::{Computation, InstrId, Op};
use weft_indexing::IndexingMap;

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
    /// From the function's indices (and the range variables of its loop) to the instruction's indices.
    pub(crate) map: IndexingMap,
}

/// An access with how often it happens in one run of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub(crate) access: Access,
    pub(crate) evaluations: f64,
}

/// How `user`, evaluated as `at`, reaches its operand number `operand`; `None` if no element of it is ever read.
pub(crate) fn operand_access(
    computation: &Computation,
    user: InstrId,
    at: &Counted,
    operand: usize,
) -> Result<Option<Counted>, Diagnostics> {
    let instruction = &computation.instructions[user];
    let step = operand_map(computation, user, operand)?;
    let mut map = at.access.map.then(&step).map_err(Undefined::from).map_err(|reason| {
        Diagnostic::new(reason.code(), instruction.span, reason.to_string()).about(&instruction.name)
    })?;
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
        Op::Reduce { dimensions, .. } if operand < instruction.operands.len() / 2 => {
            (inside(0, loops(dimensions)), part)
        }
        _ => ((at.access.block, at.access.depth), 1.0),
    };
    let access = Access { function: at.access.function, block, depth, map };
    Ok(Some(hoist(computation, Counted { access, evaluations: at.evaluations * factor })))
}

/// Moves what does not depend on the variables of the loop around it out of the loop.
fn hoist(computation: &Computation, mut counted: Counted) -> Counted {
    let Some((around, _)) = counted.access.block else { return counted };
    let reduce = &computation.instructions[around];
    let Op::Reduce { dimensions, .. } = &reduce.op else { return counted };
    if varies_in_loop(&counted.access.map) {
        return counted;
    }
    let input = &computation.instructions[reduce.operands[0]];
    counted.access.map.remove_unused_symbols();
    counted.access.block = None;
    counted.access.depth -= loops(dimensions);
    counted.evaluations *= ratio(element_count(&reduce.shape), element_count(&input.shape));
    counted
}

/// How many loops a reduction along these dimensions is.
fn loops(dimensions: &[i64]) -> u32 {
    u32::try_from(dimensions.len()).unwrap_or(u32::MAX)
}

/// Whether the accessed index depends on a range variable.
fn varies_in_loop(map: &IndexingMap) -> bool {
    let constrained = map.constraints().iter().map(|constraint| &constraint.expr);
    let mut variables = map.results().iter().chain(constrained).flat_map(weft_affine::Expr::variables);
    variables.any(|variable| matches!(variable, weft_affine::Var::Range(_)))
}

/// The identity on these extents, simplified as every other map is (a dimension of extent 1 is always 0).
pub(crate) fn identity(extents: &[i64]) -> IndexingMap {
    let mut map = IndexingMap::identity(extents);
    map.simplify();
    map
}

/// Whether the results of a simplified map are its dimensions.
pub(crate) fn is_identity(map: &IndexingMap) -> bool {
    let extents: Vec<i64> = map.dims().iter().map(|dim| dim.bounds().hi + 1).collect();
    *map == identity(&extents)
}

/// Whether the indices of an access have grown so long that they should be named.
pub(crate) fn is_long(access: &Access) -> bool {
    let sizes = access.map.results().iter().map(weft_affine::Expr::tree_size);
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
