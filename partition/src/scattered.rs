//! How scatters are computed.

use crate::access::{element_count, loop_rounds};
use crate::legal::Reason;
use crate::live::live;
use crate::monoid::operation;
use crate::runs::Runs;
use crate::splat::splats;
use crate::unordered;
use weft_hlo::ir::{
    ArenaId, BinaryOp, Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op, Scalar,
};

/// How a kernel computes a scatter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Updates are combined with what is there and stored: no two of them are for one element.
    Stored,
    /// Updates are combined with what is there in one step that no other comes between, in any order: it makes no difference, or [none that is asked for](unordered).
    Undivided,
    /// Each element of the results folds the updates for it, which it finds by going through all windows in their order, or by halves where they are [runs](Runs).
    Folded,
}

/// Elements of the results times windows that each of them goes through, at most: beyond, the windows are ordered first.
const MOST_TESTED: f64 = (1u64 << 22) as f64;

/// Windows that are few, however many elements go through them.
const FEW_WINDOWS: f64 = 16.0;

impl Way {
    /// That of a scatter of a computation, or why there is none.
    pub(crate) fn of(module: &Module, computation: &Computation, scatter: &Instruction) -> Result<Way, Reason> {
        let Op::Scatter { unique_indices, to_apply, .. } = &scatter.op else {
            return Err(("HLO401", format!("'{}' is no scatter", scatter.op.name())));
        };
        let runs = Runs::of(computation, scatter);
        let windows = if runs.is_some() { f64::INFINITY } else { loop_rounds(computation, scatter) };
        let is_apart = is_apart(scatter);
        if is_apart && (windows <= 1.0 || *unique_indices && is_of_points(computation, scatter)) {
            return Ok(Way::Stored);
        }
        let of_word = |ty: ElementType| matches!(ty, ElementType::S32 | ElementType::U32);
        let is_word = scatter.shape.as_array().is_some_and(|array| of_word(array.element_type));
        if is_apart && is_word && is_commutative(&module.computations[*to_apply]) {
            return Ok(Way::Undivided);
        }
        if is_apart && unordered::is_marked(scatter) && unordered::refusal(module, scatter).is_none() {
            return Ok(Way::Undivided);
        }
        if let Some(runs) = runs {
            return match runs.rows <= Runs::MOST {
                true => Ok(Way::Folded),
                false => {
                    Err(("HLO401", format!("an element of this 'scatter' may come to have {} updates", runs.rows)))
                }
            };
        }
        let elements = element_count(&scatter.shape);
        if windows <= FEW_WINDOWS || windows * elements <= MOST_TESTED {
            return Ok(Way::Folded);
        }
        let message = format!(
            "each of {elements} elements of this 'scatter' would go through {windows} windows, whose updates are combined in their order"
        );
        Err(("HLO401", message))
    }

    /// Whether the results lie where the operands do, and only what changes is written.
    pub(crate) fn is_in_place(self) -> bool {
        matches!(self, Way::Stored | Way::Undivided)
    }
}

/// Whether each operand whose elements change is no other operand besides.
fn is_apart(scatter: &Instruction) -> bool {
    (0..scatter.operands.len() / 2).all(|position| {
        let mut others = scatter.operands.iter().enumerate().filter(|(other, _)| *other != position);
        others.all(|(_, other)| *other != scatter.operands[position])
    })
}

/// Whether a region is an operation on integers of its two parameters that comes to the same in any order.
fn is_commutative(region: &Computation) -> bool {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let found = operation(region, region.root, (0, 1));
    found.is_some_and(|op| matches!(op, Add | Multiply | Minimum | Maximum | And | Or | Xor))
}

/// Whether windows have one element along each dimension that indices are for, so that those of different indices have none in common.
pub(crate) fn is_of_points(computation: &Computation, scatter: &Instruction) -> bool {
    let Op::Scatter {
        update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims, ..
    } = &scatter.op
    else {
        return false;
    };
    let extents = |position: usize| {
        let array = scatter.operands.get(position).and_then(|id| computation.instructions[*id].shape.as_array());
        array.map(|array| array.extents.as_slice()).unwrap_or_default()
    };
    let updates = extents(scatter.operands.len() / 2 + 1);
    let rank = extents(0).len() as i64;
    let is_kept =
        |dimension: &i64| !inserted_window_dims.contains(dimension) && !input_batching_dims.contains(dimension);
    let mut along = (0..rank).filter(is_kept).zip(update_window_dims);
    along.all(|(dimension, own)| {
        let extent = usize::try_from(*own).ok().and_then(|own| updates.get(own)).copied();
        extent == Some(1) || !scatter_dims_to_operand_dims.contains(&dimension)
    })
}

/// Whether a region looks at the first of its parameters, so many of them.
pub(crate) fn reads_elements(region: &Computation, inputs: usize) -> bool {
    let live = live(region);
    let first = region.parameters().into_iter().take(inputs);
    first.into_iter().any(|parameter| live[parameter.index()])
}

/// The operands that a scatter replaces elements of where they lie, if it is computed so.
fn in_place<'c>(module: &Module, computation: &'c Computation, id: InstrId) -> &'c [InstrId] {
    let instruction = &computation.instructions[id];
    if !matches!(instruction.op, Op::Scatter { .. }) {
        return &[];
    }
    let is_in_place = Way::of(module, computation, instruction).is_ok_and(Way::is_in_place);
    if is_in_place { &instruction.operands[..instruction.operands.len() / 2] } else { &[] }
}

/// Whether a scatter replaces elements of its operand of this number where they lie.
pub(crate) fn is_replaced(module: &Module, computation: &Computation, id: InstrId, position: usize) -> bool {
    position < in_place(module, computation, id).len()
}

/// The instructions that are one constant and are written where they are used: [splats], but for those of which a scatter replaces elements, which have to lie somewhere.
pub(crate) fn written_in_place(module: &Module, computation: &Computation) -> Vec<Option<Scalar>> {
    let mut known = splats(computation);
    for id in computation.instructions.ids() {
        in_place(module, computation, id).iter().for_each(|operand| known[operand.index()] = None);
    }
    known
}

/// How the elements that a kernel updates are changed by a scatter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Scattered {
    /// What combines the elements that are there with updates.
    pub region: ComputationId,
    /// Whether it looks at the elements that are there.
    pub reads: bool,
    /// Whether several updates may be for one element: each is combined in one step that no other comes between.
    pub undivided: bool,
}

impl Scattered {
    /// How the root of a fusion changes elements of parameters, if it is a scatter that does.
    pub(crate) fn of(module: &Module, computation: &Computation, root: InstrId) -> Option<Scattered> {
        let scatter = &computation.instructions[root];
        let Op::Scatter { to_apply: region, .. } = scatter.op else { return None };
        let operands = in_place(module, computation, root);
        let is_parameter = |id: &InstrId| matches!(computation.instructions[*id].op, Op::Parameter { .. });
        if operands.is_empty() || !operands.iter().all(is_parameter) {
            return None;
        }
        let undivided = Way::of(module, computation, scatter) == Ok(Way::Undivided);
        Some(Scattered { region, reads: reads_elements(&module.computations[region], operands.len()), undivided })
    }
}
