//! What a value is computed of that surely lies in memory.

use crate::access::element_count;
use crate::form::Form;
use std::collections::BTreeSet;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Shape};

/// Values that a value is computed of are told apart up to this number; then its operands stand for them.
const MOST: usize = 16;

/// For each instruction of a program the values in memory that it is computed of, if it is no such value itself.
pub(super) struct Leaves {
    of: Vec<BTreeSet<InstrId>>,
}

impl Leaves {
    /// Those of a program in which `is_read` says of an instruction that its value lies in memory, and `is_constant` that it is written in place.
    pub(super) fn new(
        program: &Computation,
        is_read: impl Fn(InstrId) -> bool,
        is_constant: impl Fn(InstrId) -> bool,
    ) -> Leaves {
        let mut of: Vec<BTreeSet<InstrId>> = Vec::with_capacity(program.instructions.len());
        for instruction in program.instructions.values() {
            let operands = || instruction.operands.iter().copied().filter(|operand| !is_constant(*operand));
            let mut leaves = BTreeSet::new();
            for operand in operands() {
                match is_read(operand) {
                    true => {
                        leaves.insert(operand);
                    }
                    false => leaves.extend(of[operand.index()].iter().copied()),
                }
            }
            of.push(if leaves.len() > MOST { operands().collect() } else { leaves });
        }
        Leaves { of }
    }

    /// Those that an instruction is computed of.
    pub(super) fn of(&self, id: InstrId) -> &BTreeSet<InstrId> {
        &self.of[id.index()]
    }
}

/// Bytes of so many elements of the arrays of a shape, and no more than there are.
pub(super) fn bytes_of(shape: &Shape, elements: f64) -> f64 {
    let count = element_count(shape);
    if count > 0.0 { Form::shape_bytes(shape) as f64 * (elements / count).min(1.0) } else { 0.0 }
}
