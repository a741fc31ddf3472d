//! Integers of less than 32 bits, extended to 32.

use super::code::{Code, word};
use crate::kernel::Operand;
use weft_hlo::ir::{BinaryOp, ElementType, Scalar, UnaryOp};

/// An integer type of less than 32 bits.
#[derive(Copy, Clone)]
pub(super) struct Narrow {
    signed: bool,
    bits: u32,
}

impl Narrow {
    pub(super) fn of(element_type: ElementType) -> Option<Narrow> {
        let bits = element_type.bits();
        (element_type.is_integer() && bits < 32).then(|| Narrow { signed: element_type.is_signed(), bits })
    }

    /// The type of its registers.
    pub(super) fn register(self) -> ElementType {
        if self.signed { ElementType::S32 } else { ElementType::U32 }
    }

    fn constant(self, value: i64) -> Operand {
        Operand::Constant(match self.signed {
            true => Scalar::from_bits(i128::from(value).cast_unsigned(), ElementType::S32),
            false => Scalar::from_bits(i128::from(value).cast_unsigned(), ElementType::U32),
        })
    }

    /// Its own bits of a register, the others 0.
    pub(super) fn pattern(self, code: &mut Code, operand: Operand) -> Operand {
        let bits = code.bitcast(operand, ElementType::U32);
        if self.signed { code.and(bits, word(u32::MAX >> (32 - self.bits))) } else { bits }
    }

    /// The lowest bits of a register, extended.
    pub(super) fn wrapped(self, code: &mut Code, operand: Operand) -> Operand {
        if !self.signed {
            return code.and(operand, word(u32::MAX >> (32 - self.bits)));
        }
        let unused = self.constant(i64::from(32 - self.bits));
        let up = code.binary(BinaryOp::ShiftLeft, operand, unused);
        code.binary(BinaryOp::ShiftRightArithmetic, up, unused)
    }

    /// The nearest number of the type.
    pub(super) fn clamped(self, code: &mut Code, operand: Operand) -> Operand {
        let (least, greatest) = match self.signed {
            true => (-(1i64 << (self.bits - 1)), (1i64 << (self.bits - 1)) - 1),
            false => (0, (1i64 << self.bits) - 1),
        };
        let least = self.constant(least);
        let raised = if self.signed { code.binary(BinaryOp::Maximum, operand, least) } else { operand };
        code.binary(BinaryOp::Minimum, raised, self.constant(greatest))
    }

    pub(super) fn unary(self, code: &mut Code, op: UnaryOp, operand: Operand) -> Operand {
        let result = match op {
            UnaryOp::CountLeadingZeros => {
                let pattern = self.pattern(code, operand);
                let zeros = code.unary(op, pattern);
                let zeros = code.subtract(zeros, word(32 - self.bits));
                code.bitcast(zeros, self.register())
            }
            UnaryOp::PopulationCount => {
                let pattern = self.pattern(code, operand);
                let ones = code.unary(op, pattern);
                code.bitcast(ones, self.register())
            }
            _ => code.unary(op, operand),
        };
        self.wrapped(code, result)
    }

    pub(super) fn binary(self, code: &mut Code, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        let result = match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Maximum | BinaryOp::Minimum => {
                return code.binary(op, a, b);
            }
            BinaryOp::ShiftRightLogical => {
                let pattern = self.pattern(code, a);
                let by = code.bitcast(b, ElementType::U32);
                let down = code.down(pattern, by);
                code.bitcast(down, self.register())
            }
            // The highest bit counts as a sign, also of a number without.
            BinaryOp::ShiftRightArithmetic if !self.signed => {
                let extended = code.bitcast(a, ElementType::S32);
                let extended = Narrow { signed: true, ..self }.wrapped(code, extended);
                let by = code.bitcast(b, ElementType::S32);
                let down = code.binary(op, extended, by);
                code.bitcast(down, ElementType::U32)
            }
            _ => code.binary(op, a, b),
        };
        self.wrapped(code, result)
    }
}
