//! Operations and their attributes.

#[macro_use]
mod words;
#[macro_use]
mod declare;
#[macro_use]
mod communication;
mod access;
mod attribute;
mod field;
mod gather;
mod opcode;
mod table;

pub(crate) use access::{async_shorthand, fields_of, from_fields, shorthand_fields};
pub use attribute::{
    ConvolutionDimensions, OperandAlias, PadDimension, ReplicaGroups, SliceDimension, Window, WindowDimension,
};
pub use field::Epsilon;
pub(crate) use field::{Field, FieldValue, FieldValues, FieldView, Presence, Spelling};
pub(crate) use gather::GatherDimensions;
pub use table::{BinaryOp, Op, Opcode, UnaryOp};
use table::{declared_fields, declared_op};
pub use words::{
    ApiVersion, AsyncPhase, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType, ConvolutionKind,
    DotAlgorithm, FftType, FusionKind, PaddingType, Precision, RandomAlgorithm, RandomDistribution, TransposeKind,
};
