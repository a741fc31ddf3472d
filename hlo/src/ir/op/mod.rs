//! Operations and the attributes that each one owns.

#[macro_use]
mod words;
#[macro_use]
mod declare;
#[macro_use]
mod communication;
mod access;
mod alias;
mod collective;
mod convolution;
mod field;
mod lookup;
mod movement;
mod opcode;
mod table;
mod window;

pub use alias::OperandAlias;
pub use collective::ReplicaGroups;
pub use convolution::ConvolutionDimensions;
pub use field::Epsilon;
pub(crate) use field::{Field, FieldValue, FieldValues, FieldView, Presence, Spelling};
pub(crate) use lookup::{async_shorthand, fields_of, from_fields, shorthand_fields};
pub use movement::{PadDimension, SliceDimension};
pub use table::{BinaryOp, Op, Opcode, UnaryOp};
use table::{declared_fields, declared_op};
pub use window::{Window, WindowDimension};
pub use words::{
    ApiVersion, AsyncPhase, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType, ConvolutionKind,
    DotAlgorithm, FftType, FusionKind, PaddingType, Precision, RandomAlgorithm, RandomDistribution, TransposeKind,
};
