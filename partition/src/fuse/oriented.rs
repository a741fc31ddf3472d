//! Products of matrices whose results are wanted transposed.
//!
//! `dot(a, b)` is the transposition of `dot(b, a)`, sum by sum: the one is taken whose results lie side by side where they are wanted.

use super::{Decision, Verdict};
use crate::Target;
use crate::fuse::given::name_in;
use crate::plan::leaf_extents;
use weft_affine::Var;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, UniqueNames,
};
use weft_hlo::passes::FourierMatrix;

/// Has the dots of a program whose results are only read transposed be the other way round; on devices in software but for those that [need no products](crate::Product::transforms) as they are.
pub(super) fn orient(mut module: Module, id: ComputationId, target: &Target, decisions: &mut Vec<Decision>) -> Module {
    let entry = &module.computations[id];
    let users = entry.users();
    let stays = |dot: InstrId| target.is_software() && FourierMatrix::of(entry, dot).is_some();
    let turned = |dot: InstrId| if stays(dot) { None } else { Turned::of(entry, &users, dot) };
    let found: Vec<Option<Turned>> = entry.instructions.ids().map(turned).collect();
    if found.iter().all(Option::is_none) {
        return module;
    }
    let mut names = UniqueNames::default();
    entry.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut image: Vec<InstrId> = Vec::with_capacity(entry.instructions.len());
    for ((own, instruction), turned) in entry.instructions.iter().zip(found) {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        if let Some(Turned { dot, extents, permutation }) = turned {
            decisions.push(Decision {
                instruction: name_in(&module, id, own),
                verdict: Verdict::Rewritten,
                reason: "its results are wanted transposed: so are its operands".to_owned(),
            });
            let mut other = instruction.clone();
            other.name = names.take(&instruction.name);
            other.op = dot;
            other.operands.reverse();
            if let Shape::Array(shape) = &instruction.shape {
                other.shape = Shape::Array(ArrayShape::new(shape.element_type, extents));
            }
            instruction.operands = vec![instructions.push(other)];
            instruction.op = Op::Transpose { permutation };
        }
        image.push(instructions.push(instruction));
    }
    let entry = &mut module.computations[id];
    entry.root = image[entry.root.index()];
    entry.instructions = instructions;
    module
}

/// A dot the other way round.
struct Turned {
    /// Of the operands in the other order.
    dot: Op,
    /// Those of its results.
    extents: Vec<i64>,
    /// What transposes these.
    permutation: Vec<i64>,
}

impl Turned {
    fn of(computation: &Computation, users: &[Vec<InstrId>], id: InstrId) -> Option<Turned> {
        let instruction = &computation.instructions[id];
        let Op::Dot {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            operand_precision,
            ..
        } = &instruction.op
        else {
            return None;
        };
        let array = instruction.shape.as_array().filter(|array| array.dynamic.is_empty())?;
        let rank = |operand: usize| {
            Some(computation.instructions[*instruction.operands.get(operand)?].shape.as_array()?.rank())
        };
        let batch = lhs_batch_dims.len();
        let rows = batch..rank(0)?.checked_sub(lhs_contracting_dims.len())?;
        let columns = rows.end..array.extents.len();
        if rank(1)?.checked_sub(rhs_contracting_dims.len() + batch)? != columns.len() {
            return None;
        }
        let fastest = fastest(computation, users, id)?;
        if !rows.contains(&fastest) {
            return None;
        }
        let mut dot = instruction.op.clone();
        let Op::Dot {
            lhs_batch_dims: left_batch,
            lhs_contracting_dims: left,
            rhs_batch_dims: right_batch,
            rhs_contracting_dims: right,
            operand_precision: precision,
            ..
        } = &mut dot
        else {
            return None;
        };
        (*left_batch, *right_batch) = (rhs_batch_dims.clone(), lhs_batch_dims.clone());
        (*left, *right) = (rhs_contracting_dims.clone(), lhs_contracting_dims.clone());
        *precision = operand_precision.iter().rev().copied().collect();
        let order: Vec<usize> = (0..batch).chain(columns.clone()).chain(rows.clone()).collect();
        let place =
            |dimension: usize| order.iter().position(|own| *own == dimension).and_then(|it| i64::try_from(it).ok());
        Some(Turned {
            dot,
            extents: order.iter().map(|dimension| array.extents[*dimension]).collect(),
            permutation: (0..array.extents.len()).map(place).collect::<Option<_>>()?,
        })
    }
}

/// The dimension of an instruction along which elements lie side by side where they are read, behind what only moves them; `None` where that is not one, or where they are read as they are.
fn fastest(computation: &Computation, users: &[Vec<InstrId>], id: InstrId) -> Option<usize> {
    let mut chain = Vec::new();
    let mut last = id;
    while let [user] = users[last.index()][..] {
        let instruction = &computation.instructions[user];
        if !matches!(instruction.op, Op::Reshape | Op::Bitcast | Op::Copy | Op::Transpose { .. }) {
            break;
        }
        chain.push(user);
        last = user;
    }
    let mut moves = chain.into_iter().rev();
    let mut map = operand_map(computation, moves.next()?, 0).ok()?;
    for user in moves {
        map = map.then(&operand_map(computation, user, 0).ok()?).ok()?;
    }
    map.simplify();
    let extents = leaf_extents(&computation.instructions[last].shape);
    let minor = u32::try_from(extents.iter().rposition(|extent| *extent > 1)?).ok()?;
    let mut along = map.results().iter().enumerate().filter(|(_, index)| index.variables().contains(&Var::Dim(minor)));
    match (along.next(), along.next()) {
        (Some((dimension, _)), None) => Some(dimension),
        _ => None,
    }
}
