//! The indexing maps of operations and of fusions.
//!
//! A map says which element of an operand an operation reads to compute one element of its output. Maps are those of
//! XLA's document "Indexing analysis": dimension variables are the output's indices, range variables run over the
//! elements that one output element combines (the reduced dimensions of a reduce), and the domain says for which
//! outputs the operand is read at all (each operand of a concatenate has its own part).
//!
//! ```
//! use weft_hlo::{indexing, text};
//!
//! let module = text::parse(
//!     "HloModule m\nENTRY e {\n p = f32[20] parameter(0)\n ROOT b = f32[10,20,30] broadcast(p), dimensions={1}\n}",
//! )?;
//! let entry = module.entry_computation();
//! let maps = indexing::output_to_input(&module, entry, entry.root)?;
//! assert_eq!(
//!     maps.operands[0][0].to_string(),
//!     "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]"
//! );
//! # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
//! ```

mod fusion;
mod movement;
mod reshape;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{ArrayShape, Computation, InstrId, Instruction, Module, Op, Shape};
use weft_affine::Expr;
use weft_indexing::IndexingMap;

pub use fusion::{MAX_MAPS, computation_maps};

/// The maps of one instruction, from its output to its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandMaps {
    /// For each operand the distinct maps it is read through; one for an operation, possibly several for a fusion,
    /// none for an operand that is not read.
    pub operands: Vec<Vec<IndexingMap>>,
}

/// The maps from the output of `id` to each of its operands.
///
/// For an instruction with several outputs (a variadic reduce, a fusion) the maps are those of every output together;
/// all outputs of such an instruction have the same extents, or else the fusion's first output decides and the others
/// are listed with their own dimensions.
///
/// # Errors
/// `HLO301` where the operation has no map yet, `HLO302` where index arithmetic exceeds 64 bits, `HLO304` where an extent is
/// not known.
pub fn output_to_input(module: &Module, computation: &Computation, id: InstrId) -> Result<OperandMaps, Diagnostics> {
    let instruction = &computation.instructions[id];
    if let Op::Fusion { calls, .. } | Op::Call { to_apply: calls } = &instruction.op {
        return Ok(OperandMaps { operands: computation_maps(module, &module.computations[*calls])? });
    }
    let operands = (0..instruction.operands.len())
        .map(|operand| operand_map(computation, id, operand).map(|map| vec![map]))
        .collect::<Result<_, _>>()?;
    Ok(OperandMaps { operands })
}

/// The map from the output of one operation to operand number `operand`; not for `fusion` and `call`.
///
/// # Errors
/// As [`output_to_input`].
pub fn operand_map(computation: &Computation, id: InstrId, operand: usize) -> Result<IndexingMap, Diagnostics> {
    let instruction = &computation.instructions[id];
    let overflow = |_| {
        let message = "the index arithmetic of this shape exceeds 64 bits";
        Diagnostics::from(Diagnostic::new("HLO302", instruction.span, message).about(&instruction.name))
    };
    let input = &computation.instructions[instruction.operands[operand]];
    if !instruction.shape.is_static() || !input.shape.is_static() {
        let message = "maps are of static shapes; give the unknown extents first (`passes::specialize`)";
        return Err(Diagnostic::new("HLO304", instruction.span, message).about(&instruction.name).into());
    }
    let output = leaf_extents(&instruction.shape);
    let input_extents = leaf_extents(&input.shape);
    let map = match &instruction.op {
        Op::Broadcast { dimensions } => movement::broadcast(&output, dimensions),
        Op::Reshape => reshape::reshape(&output, &input_extents).map_err(overflow)?,
        Op::Bitcast => reshape::bitcast(array(instruction), array(input)).map_err(overflow)?,
        Op::Transpose { permutation } => movement::transpose(&output, permutation),
        Op::Slice { dimensions } => movement::slice(&output, dimensions).map_err(overflow)?,
        Op::Reverse { dimensions } => movement::reverse(&output, dimensions),
        Op::Concatenate { dimension } => {
            let before = instruction.operands[..operand].iter();
            let along = usize::try_from(*dimension).unwrap_or(0);
            let offset = before.map(|id| leaf_extents(&computation.instructions[*id].shape)[along]).sum();
            movement::concatenate(&output, along, offset, input_extents[along])
        }
        Op::Pad { padding } if operand == 0 => movement::pad(&output, &input_extents, padding).map_err(overflow)?,
        Op::Pad { .. } => IndexingMap::new(&output, &[], Vec::new()),
        Op::Reduce { dimensions, .. } => {
            let inputs = instruction.operands.len() / 2;
            if operand < inputs {
                movement::reduce(&output, &input_extents, dimensions)
            } else {
                IndexingMap::new(&output, &[], Vec::new())
            }
        }
        Op::Clamp | Op::Select if input_extents.is_empty() => IndexingMap::new(&output, &[], Vec::new()),
        Op::Copy
        | Op::Convert
        | Op::Compare { .. }
        | Op::Select
        | Op::Clamp
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::GetTupleElement { .. } => IndexingMap::identity(&output),
        Op::Tuple => IndexingMap::identity(&input_extents),
        op => {
            let message = format!("'{}' has no indexing map yet", op.opcode());
            return Err(Diagnostic::new("HLO301", instruction.span, message).about(&instruction.name).into());
        }
    };
    Ok(map)
}

/// The extents of an array; of a tuple, those of its first array.
fn leaf_extents(shape: &Shape) -> Vec<i64> {
    match shape.leaves().first() {
        Some(Shape::Array(array)) => array.extents.clone(),
        _ => Vec::new(),
    }
}

fn array(instruction: &Instruction) -> ArrayShape {
    match instruction.shape.leaves().first() {
        Some(Shape::Array(array)) => array.clone(),
        _ => ArrayShape::new(crate::ir::ElementType::Pred, Vec::new()),
    }
}

/// `d0, d1, …` of an array of this rank.
fn dimensions(rank: usize) -> Vec<Expr> {
    (0..rank).map(|dimension| Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX))).collect()
}
