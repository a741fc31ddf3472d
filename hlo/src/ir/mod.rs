//! The intermediate representation: modules of computations of instructions.
//!
//! Everything is owned data in arenas addressed by small typed ids; there are no references between nodes and no
//! lifetimes in any type. A computation keeps its instructions in topological order, operands before users, and a
//! module keeps its computations so that a computation precedes those that call it; a forward loop visits both rightly.

mod arena;
mod attribute;
mod computation;
mod element_type;
mod instruction;
mod literal;
mod module;
mod op;
mod opcode;
mod shape;
mod span;

pub use arena::{Arena, ArenaId, ComputationId, InstrId};
pub use attribute::Attribute;
pub use computation::Computation;
pub use element_type::ElementType;
pub use instruction::Instruction;
pub use literal::{Data, Literal, Scalar};
pub use module::Module;
pub use op::{
    ApiVersion, BinaryOp, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType, ConvolutionDimensions,
    ConvolutionKind, DotAlgorithm, Epsilon, FftType, FusionKind, Op, OperandAlias, PadDimension, PaddingType,
    Precision, RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceDimension, TransposeKind, UnaryOp, Window,
    WindowDimension,
};
pub(crate) use op::{
    Field, FieldValue, FieldValues, FieldView, Spelling, async_shorthand, fields_of, from_fields, thread_field,
};
pub use opcode::{OPCODES, is_opcode};
pub use shape::{ArrayShape, Layout, Shape};
pub use span::Span;
