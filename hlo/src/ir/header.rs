//! Attributes of a module's header.

use super::Shape;
use std::fmt;

/// One attribute of the header, `name=value` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderAttribute {
    /// `is_scheduled`: whether the order of the text is the order in which instructions run.
    IsScheduled(bool),
    /// `input_output_alias`: parts of the result that use the buffer of a parameter.
    InputOutputAlias(Vec<InputOutputAlias>),
    /// `buffer_donor`: parts of parameters whose buffers the program may use for any result.
    BufferDonor(Vec<BufferDonor>),
    /// `alias_passthrough_params`: whether parameters that are results as they are share their buffers.
    AliasPassthroughParams(bool),
    /// `entry_computation_layout`: how the caller lays out arguments and result.
    EntryComputationLayout(EntryLayout),
    /// `allow_spmd_sharding_propagation_to_parameters`: for each parameter whether its sharding may be chosen; one value
    /// stands for all.
    AllowShardingPropagationToParameters(Vec<bool>),
    /// `allow_spmd_sharding_propagation_to_output`: for each part of the result whether its sharding may be chosen; one
    /// value stands for all.
    AllowShardingPropagationToOutput(Vec<bool>),
    /// `replica_count`: how many replicas run the program.
    ReplicaCount(i64),
    /// `num_partitions`: into how many partitions the program is cut.
    NumPartitions(i64),
    /// `frontend_attributes`: what the program's source says to tools, as in the text.
    FrontendAttributes(String),
    /// `origin_recovery_table`: how values of the program before optimization are found again, as in the text.
    OriginRecoveryTable(String),
}

/// One entry of `input_output_alias`: `{0}: (1, {}, may-alias)` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputOutputAlias {
    /// The part of the result, as indices into nested tuples.
    pub output: Vec<i64>,
    /// The number of the parameter.
    pub parameter: i64,
    /// The part of that parameter, as indices into nested tuples.
    pub parameter_index: Vec<i64>,
    /// Whether the program relies on it; otherwise the caller may give another buffer.
    pub must: bool,
}

/// One entry of `buffer_donor`: `(1, {0})` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferDonor {
    /// The number of the parameter.
    pub parameter: i64,
    /// The part of that parameter, as indices into nested tuples.
    pub parameter_index: Vec<i64>,
}

/// The shapes of arguments and result with the layouts that the caller gives and takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryLayout {
    /// One per parameter of the entry computation.
    pub parameters: Vec<Shape>,
    /// The result.
    pub result: Shape,
}

impl HeaderAttribute {
    /// The names of all attributes that a header may have, in the order in which XLA prints them.
    pub const NAMES: &'static [&'static str] = &[
        "is_scheduled",
        "input_output_alias",
        "buffer_donor",
        "alias_passthrough_params",
        "entry_computation_layout",
        "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
        "replica_count",
        "num_partitions",
        "frontend_attributes",
        "origin_recovery_table",
    ];

    /// The name in HLO text.
    pub fn name(&self) -> &'static str {
        let position = match self {
            HeaderAttribute::IsScheduled(_) => 0,
            HeaderAttribute::InputOutputAlias(_) => 1,
            HeaderAttribute::BufferDonor(_) => 2,
            HeaderAttribute::AliasPassthroughParams(_) => 3,
            HeaderAttribute::EntryComputationLayout(_) => 4,
            HeaderAttribute::AllowShardingPropagationToParameters(_) => 5,
            HeaderAttribute::AllowShardingPropagationToOutput(_) => 6,
            HeaderAttribute::ReplicaCount(_) => 7,
            HeaderAttribute::NumPartitions(_) => 8,
            HeaderAttribute::FrontendAttributes(_) => 9,
            HeaderAttribute::OriginRecoveryTable(_) => 10,
        };
        Self::NAMES[position]
    }
}

/// Indices between braces.
struct Index<'a>(&'a [i64]);

impl fmt::Display for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, "{", self.0, ",", "}")
    }
}

fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    opening: &str,
    items: &[T],
    separator: &str,
    closing: &str,
) -> fmt::Result {
    f.write_str(opening)?;
    for (position, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if position > 0 { separator } else { "" })?;
    }
    f.write_str(closing)
}

impl fmt::Display for InputOutputAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.must { "must-alias" } else { "may-alias" };
        write!(f, "{}: ({}, {}, {kind})", Index(&self.output), self.parameter, Index(&self.parameter_index))
    }
}

impl fmt::Display for BufferDonor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.parameter, Index(&self.parameter_index))
    }
}

impl fmt::Display for EntryLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{(")?;
        for (position, shape) in self.parameters.iter().enumerate() {
            f.write_str(if position > 0 { ", " } else { "" })?;
            if position > 0 && position % 5 == 0 {
                write!(f, "/*index={position}*/")?;
            }
            shape.fmt(f)?;
        }
        write!(f, ")->{}}}", self.result)
    }
}

/// The value as HLO text spells it.
impl fmt::Display for HeaderAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderAttribute::IsScheduled(flag) | HeaderAttribute::AliasPassthroughParams(flag) => write!(f, "{flag}"),
            HeaderAttribute::InputOutputAlias(aliases) => list(f, "{ ", aliases, ", ", " }"),
            HeaderAttribute::BufferDonor(donors) => list(f, "{ ", donors, ", ", " }"),
            HeaderAttribute::EntryComputationLayout(layout) => layout.fmt(f),
            HeaderAttribute::AllowShardingPropagationToParameters(flags)
            | HeaderAttribute::AllowShardingPropagationToOutput(flags) => list(f, "{", flags, ",", "}"),
            HeaderAttribute::ReplicaCount(count) | HeaderAttribute::NumPartitions(count) => write!(f, "{count}"),
            HeaderAttribute::FrontendAttributes(text) | HeaderAttribute::OriginRecoveryTable(text) => f.write_str(text),
        }
    }
}
