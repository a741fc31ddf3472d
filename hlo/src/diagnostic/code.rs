//! The codes of the verifier's findings; they never change their meaning.

/// An operand does not precede its user, which also rules out cycles, or does not exist.
pub const OPERAND_ORDER: &str = "HLO101";
/// The module has no entry, or a computation has no root.
pub const ROOT: &str = "HLO102";
/// Parameters are not numbered 0, 1, 2, … once each.
pub const PARAMETER_NUMBERS: &str = "HLO103";
/// An operation has too few or too many operands.
pub const OPERAND_COUNT: &str = "HLO104";
/// An operand has a kind or type the operation is not defined for, or two types that must agree do not.
pub const ELEMENT_TYPE: &str = "HLO105";
/// The shape that stands in the text is not the one that follows from the operands.
pub const RESULT_SHAPE: &str = "HLO106";
/// An attribute is out of range, not sorted, names something twice, or contradicts another.
pub const ATTRIBUTE: &str = "HLO107";
/// Ranks or extents of operands do not fit each other, or do not fit an attribute.
pub const EXTENTS: &str = "HLO108";
/// A layout is not a permutation of the dimensions.
pub const LAYOUT: &str = "HLO109";
/// A computation that an operation applies to elements (`reduce`, `sort`, `scatter`, …) has the wrong signature.
pub const REGION: &str = "HLO110";
/// A computation that is called with whole values (`call`, `while`, …) does not fit operands or result.
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
/// The groups of a collective, or its pairs of sources and targets, name members wrongly.
pub const GROUPS: &str = "HLO118";
/// The channels of a transfer or collective are missing or disagree.
pub const CHANNEL: &str = "HLO119";
/// The start and the end of an asynchronous operation do not belong together, or two starts share a computation.
pub const PAIRING: &str = "HLO120";
/// Values that share a buffer do not exist, do not fit each other, or share it twice.
pub const ALIAS: &str = "HLO121";
/// A control predecessor does not exist or makes a cycle.
pub const CONTROL: &str = "HLO123";
/// An attribute of the module's header is malformed or out of range.
pub const HEADER: &str = "HLO124";
