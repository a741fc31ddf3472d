//! How much work an instruction is, and how much recomputation is accepted.

use weft_hlo::ir::{BinaryOp, ElementType, Instruction, Op, UnaryOp};

/// The work of computing one element of `op`, in units of about one addition; movement of elements is free or nearly
/// so. Ratios matter, not the unit: they only decide when recomputing is dearer than a trip through memory.
pub fn operation_cost(op: &Op) -> f64 {
    match op {
        Op::Unary(op) => match op {
            UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::Floor
            | UnaryOp::IsFinite
            | UnaryOp::Negate
            | UnaryOp::Not
            | UnaryOp::Sign
            | UnaryOp::CountLeadingZeros
            | UnaryOp::PopulationCount
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven => 1.0,
            UnaryOp::Sqrt | UnaryOp::Rsqrt => 4.0,
            _ => 8.0,
        },
        Op::Binary(op) => match op {
            BinaryOp::Divide | BinaryOp::Remainder => 4.0,
            BinaryOp::Atan2 => 8.0,
            BinaryOp::Power => 16.0,
            _ => 1.0,
        },
        Op::Compare { .. } | Op::Select | Op::Clamp | Op::Convert | Op::Iota { .. } | Op::Reduce { .. } => 1.0,
        Op::Concatenate { .. } | Op::Pad { .. } | Op::Scatter { .. } => 2.0,
        // A computation of any length, such as a cipher.
        Op::Map { .. } => 16.0,
        _ => 0.0,
    }
}

/// How many times as much an operation costs as one of 32 bits, for the types of its result: what is written out by other operations costs
/// their number, at the least.
pub(crate) fn weight(instruction: &Instruction) -> f64 {
    let of = |ty: ElementType| match ty {
        ElementType::F64 | ElementType::C128 => 32.0,
        ElementType::C64 => 4.0,
        ty if ty.bits() > 32 => 8.0,
        _ => 1.0,
    };
    let types = instruction.shape.leaves().into_iter().filter_map(|leaf| leaf.as_array());
    types.map(|array| of(array.element_type)).fold(1.0, f64::max)
}

/// Nanoseconds until the host has a value of the device, besides what the device computes: it submits what is recorded, waits, and maps a copy. On
/// lavapipe a dispatch and the wait for it take 40 to 50 µs and a small copy back 25 µs; with GPUs it is more, for they stand idle meanwhile.
pub(crate) const READ_BACK_NANOSECONDS: u64 = 65_000;

/// What fusing may cost before it stops paying.
///
/// A value that several kernels, or several functions of one kernel, compute anew is work that materializing it would
/// have saved. That excess is counted in units of [`operation_cost`] and may accumulate up to
/// [`excess_per_element`](Self::excess_per_element) times the elements that the kernel walks over (those of its output,
/// or of the input that it reduces); a producer that would
/// exceed it becomes a kernel of its own. Drivers inline every call, so without a bound `n` nested diamonds in one
/// kernel would run `2^n` times.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Budget {
    /// Units of recomputation per element that a kernel walks over.
    pub excess_per_element: f64,
    /// The same for a fusion that the program brings along; past it the fusion is dissolved and fused anew.
    pub given_excess_per_element: f64,
    /// Instructions in one kernel: drivers compile long kernels slowly.
    pub instructions_per_kernel: usize,
    /// Instructions in one kernel once its functions are written in place of their calls, as drivers do: where an element is one of several (of a concatenation, or of what is padded), each of the values
    /// that it may be has its code, which calls others in turn, though a run takes one way through it. Computations that operations apply to elements do not count.
    pub inlined_per_kernel: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            excess_per_element: 32.0,
            given_excess_per_element: 256.0,
            instructions_per_kernel: 200,
            inlined_per_kernel: 1000,
        }
    }
}
