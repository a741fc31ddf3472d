//! Where an instruction is evaluated, and through which indices.

use crate::plan::FunctionId;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Computation, InstrId, Op};
use weft_indexing::IndexingMap;

/// Nodes, counted as in the printed text, that an access's expressions may have together before the value becomes a
/// function of its own, whose indices are plain variables again. Misaligned chains of reshapes and transposes would
/// otherwise grow without end.
const MAX_MAP_NODES: u64 = 160;

/// One way an instruction is reached: from which function, in which block of it, at which indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Access {
    /// The function whose code reads the value.
    pub(crate) function: FunctionId,
    /// The innermost block: the operand of a concatenate or pad, or the loop of a reduce. Values of one block are not
    /// in sight of another.
    pub(crate) block: Option<(InstrId, usize)>,
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
    let mut map = at
        .access
        .map
        .compose(&step)
        .map_err(|error| Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name))?;
    map.simplify();
    if map.is_known_empty() {
        return Ok(None);
    }
    let read = &computation.instructions[instruction.operands[operand]];
    let elements = |shape: &weft_hlo::ir::Shape| element_count(shape);
    let (block, factor) = match &instruction.op {
        Op::Concatenate { .. } => (Some((user, operand)), ratio(elements(&read.shape), elements(&instruction.shape))),
        Op::Pad { .. } if operand == 0 => {
            (Some((user, 0)), ratio(elements(&read.shape), elements(&instruction.shape)).min(1.0))
        }
        Op::Reduce { .. } if operand < instruction.operands.len() / 2 => {
            (Some((user, 0)), ratio(elements(&read.shape), elements(&instruction.shape)))
        }
        _ => (at.access.block, 1.0),
    };
    let access = Access { function: at.access.function, block, map };
    Ok(Some(Counted { access, evaluations: at.evaluations * factor }))
}

/// The identity on these extents, simplified as every other map is (a dimension of extent 1 is always 0).
pub(crate) fn identity(extents: &[i64]) -> IndexingMap {
    let mut map = IndexingMap::identity(extents);
    map.simplify();
    map
}

/// Whether the results of a simplified map are its dimensions.
pub(crate) fn is_identity(map: &IndexingMap) -> bool {
    let extents: Vec<i64> = map.dims.iter().map(|dim| dim.bounds.hi + 1).collect();
    *map == identity(&extents)
}

/// Whether the indices of an access have grown so long that they should be named.
pub(crate) fn is_long(access: &Access) -> bool {
    let sizes = access.map.results.iter().map(weft_affine::Expr::tree_size);
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
