//! The codes of the verifier's findings; they never change their meaning.

/// An operand does not precede its user, which also rules out cycles, or does not exist.
pub const OPERAND_ORDER: &str = "HLO101";
/// The module has no entry, or a computation has no root.
pub const ROOT: &str = "HLO102";
/// Parameters are not numbered 0, 1, 2, … once each.
pub const PARAMETER_NUMBERS: &str = "HLO103";
/// An operation has too few or too many operands.
pub const OPERAND_COUNT: &str = "HLO104";
/// An operand has a type the operation is not defined for, or two types that must agree do not.
pub const ELEMENT_TYPE: &str = "HLO105";
/// The shape that stands in the text is not the one that follows from the operands.
pub const RESULT_SHAPE: &str = "HLO106";
/// An attribute is out of range, too short or too long, or not a permutation.
pub const ATTRIBUTE: &str = "HLO107";
/// Extents of operands that must agree do not.
pub const EXTENTS: &str = "HLO108";
/// A layout is not a permutation of the dimensions.
pub const LAYOUT: &str = "HLO109";
/// The computation of a `reduce` has the wrong signature.
pub const REGION: &str = "HLO110";
/// The computation of a `call` or `fusion` does not fit operands or result.
pub const SIGNATURE: &str = "HLO111";
/// A computation is called that does not exist, or does not precede its caller, which also rules out recursion.
pub const CALL_ORDER: &str = "HLO112";
/// The module's `entry_computation_layout` does not describe the entry computation.
pub const ENTRY_LAYOUT: &str = "HLO113";
/// A name is used twice.
pub const NAME: &str = "HLO114";
/// The value of a constant does not fit its shape.
pub const CONSTANT: &str = "HLO115";
/// A shape is impossible: a negative extent, more elements than `i64` counts, a mark on a dimension that is not there.
pub const SHAPE: &str = "HLO116";
/// The operation is read and printed, its rule is not verified yet.
pub const UNSUPPORTED_OPERATION: &str = "HLO190";
/// The element type is read and printed, no operation computes with it yet.
pub const UNSUPPORTED_TYPE: &str = "HLO191";
/// Dimensions of bounded extent are read and printed, no rule covers them yet.
pub const UNSUPPORTED_DYNAMIC: &str = "HLO192";
