//! The one place where the verifier asks for extents.

use crate::diagnostic::Diagnostics;
use crate::ir::{Op, Shape};
use crate::shape::{InferenceCache, check_open, infer_cached};

/// What is known of the extents of a result.
pub(super) enum Extents {
    /// Nothing: the rule of the operation knows the result, or the extents are known at run time only.
    Open,
    /// The shape that follows from the operands.
    Known(Shape),
    /// The operands do not fit each other or the attributes.
    Refused(Diagnostics),
}

/// The shape that follows from the operands of an operation whose number of operands, kinds and attributes are legal.
pub(super) fn extents(cache: &InferenceCache, op: &Op, operands: &[&Shape], declared: &Shape) -> Extents {
    // What passes values on has no extents of its own: its rule knows the whole result.
    if matches!(
        op,
        Op::Parameter { .. }
            | Op::Constant(_)
            | Op::Copy
            | Op::Tuple
            | Op::GetTupleElement { .. }
            | Op::Call { .. }
            | Op::Fusion { .. }
    ) {
        return Extents::Open;
    }
    if !declared.is_static() || !operands.iter().all(|operand| operand.is_static()) {
        // Of open extents only what is wrong for all of them is found here; the rest is known when they are.
        return match check_open(op, operands, declared) {
            Ok(()) => Extents::Open,
            Err(found) => Extents::Refused(found),
        };
    }
    match infer_cached(cache, op, operands, declared) {
        Ok(shape) => Extents::Known(shape),
        Err(found) => Extents::Refused(found),
    }
}
