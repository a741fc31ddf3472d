//! What random modules are made of.

use super::operation::operations;
use crate::ir::ElementType;

/// What random modules are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Instructions of the entry, about; those that feed others are counted.
    pub instructions: usize,
    /// Elements of an array, at most.
    pub elements: i64,
    /// The operations that are made for their own sake, by opcode; what feeds them comes along: parameters, constants, tuples
    /// and their elements, and the arithmetic of loops and of computations applied to elements. Opcodes that are not among
    /// [`operations`] make nothing.
    pub operations: Vec<&'static str>,
    /// The element types that are chosen; those that an operation demands (`pred` of comparisons, `s32` of indices) come
    /// along. Operations that none of these types suits make nothing.
    pub types: Vec<ElementType>,
    /// How deep computations may call others.
    pub nesting: usize,
    /// Whether arrays may have layouts, which matter to `bitcast`.
    pub layouts: bool,
    /// Whether computations that are applied to elements (`reduce`, `scatter`, `sort`, …) may be anything. Else those are left
    /// out that XLA gives no meaning, because the order of their application matters, or because they are no order to sort by.
    pub disorderly: bool,
}

impl Default for Options {
    /// Every operation and type: 24 instructions of up to 64 elements, nested 3 deep, with layouts and all computations.
    fn default() -> Self {
        Options {
            instructions: 24,
            elements: 64,
            operations: operations().collect(),
            types: ElementType::ALL.to_vec(),
            nesting: 3,
            layouts: true,
            disorderly: true,
        }
    }
}
