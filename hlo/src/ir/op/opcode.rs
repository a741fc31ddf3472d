//! The flags of opcodes.

use super::Opcode;

/// The flags that a row of the table may have.
pub(super) mod flags {
    pub(in crate::ir::op) const ELEMENTWISE: u8 = 1;
    pub(in crate::ir::op) const MOVES_DATA: u8 = 1 << 1;
    pub(in crate::ir::op) const SIDE_EFFECTS: u8 = 1 << 2;
    pub(in crate::ir::op) const SHAPE_FOLLOWS: u8 = 1 << 3;
    pub(in crate::ir::op) const COMPUTED: u8 = 1 << 4;
}

impl Opcode {
    /// Whether each element of the result is computed of the elements of the operands at the same index alone. (The
    /// predicate of a `select` and the bounds of a `clamp` may be scalars.)
    pub fn is_elementwise(self) -> bool {
        self.flags() & flags::ELEMENTWISE != 0
    }

    /// Whether it moves the elements of its one operand and computes nothing: each element of the result is an element of
    /// the operand. (A `bitcast` may reinterpret bits as well; then the element types differ.)
    pub fn only_moves_data(self) -> bool {
        self.flags() & flags::MOVES_DATA != 0
    }

    /// Whether running it may do something besides giving a value, or give another value each time: it talks to the host, to
    /// other devices or to a state, or runs beside other instructions. Of a `custom-call`, [`Op::has_side_effects`](super::Op::has_side_effects) knows.
    pub fn may_have_side_effects(self) -> bool {
        self.flags() & flags::SIDE_EFFECTS != 0
    }

    /// Whether the shape of the result follows from operands, attributes and computations alone, so that HLO text may leave
    /// it out: the opcodes for which XLA's reader finds it, but `broadcast` and `scan`, of whose results it takes another shape
    /// than its verifier.
    pub fn shape_follows_from_operands(self) -> bool {
        self.flags() & flags::SHAPE_FOLLOWS != 0
    }

    /// Whether code is generated for the operation. All have maps, or a reason why not ([`indexing`](crate::indexing)); what
    /// the evaluator knows is answered by [`eval::check`](crate::eval::check).
    pub fn is_computed(self) -> bool {
        self.flags() & flags::COMPUTED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let names: std::collections::BTreeSet<&str> = Opcode::NAMES.iter().copied().collect();
        assert_eq!(names.len(), Opcode::ALL.len());
        for opcode in Opcode::ALL {
            assert_eq!(opcode.to_string().parse(), Ok(*opcode));
        }
        let unknown = "slice-start".parse::<Opcode>().unwrap_err();
        assert_eq!(unknown.to_string(), "`slice-start` is the name of no Opcode");
    }

    #[test]
    fn flags_tell_kinds_apart() {
        for opcode in Opcode::ALL {
            let kinds = [opcode.is_elementwise(), opcode.only_moves_data(), opcode.may_have_side_effects()];
            assert!(kinds.iter().filter(|kind| **kind).count() <= 1, "{opcode}");
        }
        assert!(Opcode::Add.is_elementwise() && Opcode::Add.shape_follows_from_operands());
        assert!(Opcode::Reshape.only_moves_data() && !Opcode::Reshape.shape_follows_from_operands());
        assert!(Opcode::Infeed.may_have_side_effects());
    }
}
