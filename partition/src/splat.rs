//! Values whose elements are all the same constant.

use weft_hlo::ir::{ArenaId, Computation, Op, Scalar};

/// For each instruction of a computation the constant that every element of it is, where that shows from constants
/// moved about, or from slices without elements.
///
/// Such values are written where they are used: they need no function, no buffer and no index.
pub fn splats(computation: &Computation) -> Vec<Option<Scalar>> {
    let mut known: Vec<Option<Scalar>> = Vec::with_capacity(computation.instructions.len());
    for instruction in computation.instructions.values() {
        let value = match &instruction.op {
            Op::Constant(literal) => literal.splat(),
            // Of a slice without elements a result may still have some, where the dimension is dropped: zeros.
            Op::Gather { slice_sizes, .. } if slice_sizes.contains(&0) => {
                instruction.shape.as_array().map(|array| Scalar::from_bits(0, array.element_type))
            }
            op if op.opcode().only_moves_data() => {
                // A bitcast may also reinterpret bits; only the same type keeps the value.
                let source = instruction.operands.first().copied();
                let value = source.and_then(|source| known[source.index()]);
                let element_type = instruction.shape.as_array().map(|array| array.element_type);
                value.filter(|value| Some(value.element_type()) == element_type)
            }
            _ => None,
        };
        known.push(value);
    }
    known
}
