//! The options of the generator of random modules.

use super::operation::operations;
use crate::ir::{ElementType, Opcode};

/// Options of random modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Instructions of the entry, about; those that feed others are counted.
    pub instructions: usize,
    /// Elements of an array, at most.
    pub elements: i64,
    /// The operations that are made for their own sake; what feeds them comes along: parameters, constants, tuples
    /// and their elements, the arithmetic of loops and of computations applied to elements, and what keeps numbers
    /// [tame](Numbers::Tame). One that is listed twice is made twice as often. Opcodes that are not among [`operations`] make
    /// nothing.
    pub operations: Vec<Opcode>,
    /// The element types that are chosen; those that an operation demands (`pred` of comparisons, `s32` of indices) come
    /// along. Operations that none of these types suits make nothing.
    pub types: Vec<ElementType>,
    /// The limit on nesting of calls.
    pub nesting: usize,
    /// The limit on inputs of variadic operations (`reduce`, `sort`, `map`, …), at least 1.
    pub inputs: usize,
    /// Whether `bitcast-convert` keeps the width of elements, and with it the extents.
    pub same_width: bool,
    /// The numbers in constants and [`inputs`](super::inputs).
    pub numbers: Numbers,
    /// Whether arrays may have layouts, which matter to `bitcast`.
    pub layouts: bool,
    /// Whether parameters, constants and what called computations yield may be tuples. Without them only the entry's result
    /// is one, and what yields several arrays by nature.
    pub tuples: bool,
    /// Whether fusions take arrays and yield an array or one tuple of arrays, as compilers make them. Else they take and yield
    /// anything.
    pub plain_fusions: bool,
    /// Whether computations that are applied to elements (`reduce`, `scatter`, `sort`, …) may be anything. Else those are left
    /// out that XLA gives no meaning, because the order of their application matters, or because they are no order to sort by.
    pub disorderly: bool,
}

/// The numbers in constants and inputs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Small numbers most of the time; often NaNs, infinities, zeros of both signs, subnormal numbers and the ends of the
    /// integers; and any bits.
    Any,
    /// Small numbers of few and of many digits.
    Small,
    /// `f32` that are multiples of 1/4 up to 4, small integers, and rarely any integer. Only what is
    /// [`computed`](super::computed) is made, of `f32`, integers and `pred`, and such that no value becomes large and errors of
    /// rounding never grow: comparing, rounding and converting are applied to exactly known numbers only, and functions stay
    /// away from their poles. So an implementation can be held to [`error_bounds`](super::error_bounds).
    Tame,
}

impl Options {
    /// Options for testing compilers of kernels: the operations that are [`computed`](super::computed), above all those
    /// that move elements, and reductions, of `pred`, `s32`, `u32` and `f32`. Arrays have 420 elements at most,
    /// operations two inputs, fusions are plain, `bitcast-convert` keeps the width, and the order in which elements are
    /// combined does not matter.
    pub fn computed() -> Self {
        let weight = |opcode: Opcode| {
            let count = match opcode {
                Opcode::Reduce => 14,
                Opcode::Broadcast | Opcode::Reshape | Opcode::Pad => 8,
                Opcode::Bitcast | Opcode::Transpose | Opcode::Slice | Opcode::Reverse | Opcode::Concatenate => 6,
                Opcode::Copy => 4,
                Opcode::Add | Opcode::Compare | Opcode::Select | Opcode::Convert => 2,
                _ => 1,
            };
            std::iter::repeat_n(opcode, count)
        };
        Options {
            elements: 420,
            operations: super::computed().flat_map(weight).collect(),
            types: vec![ElementType::F32, ElementType::F32, ElementType::S32, ElementType::U32, ElementType::Pred],
            nesting: 2,
            inputs: 2,
            same_width: true,
            plain_fusions: true,
            disorderly: false,
            ..Options::default()
        }
    }

    /// The same, but that an operation is not made for its own sake.
    #[must_use]
    pub fn without(mut self, opcode: Opcode) -> Self {
        self.operations.retain(|asked| *asked != opcode);
        self
    }
}

impl Default for Options {
    /// Every operation and type: 24 instructions of up to 64 elements, nested 3 deep, with layouts, tuples, any numbers and all
    /// computations.
    fn default() -> Self {
        Options {
            instructions: 24,
            elements: 64,
            operations: operations().collect(),
            types: ElementType::ALL.to_vec(),
            nesting: 3,
            inputs: 3,
            same_width: false,
            numbers: Numbers::Any,
            layouts: true,
            tuples: true,
            plain_fusions: false,
            disorderly: true,
        }
    }
}
