//! The intermediate representation: modules of computations of instructions.
//!
//! Everything is owned data in arenas addressed by small typed ids; there are no references between nodes and no
//! lifetimes in any type. A computation keeps its instructions in topological order, operands before users, and a
//! module keeps its computations so that a computation precedes those that call it; a forward loop visits both rightly.

mod alone;
mod arena;
mod data;
mod element_type;
mod float_format;
mod frontend;
mod header;
mod identity;
mod layout;
mod literal;
mod longhand;
mod minifloat;
mod module;
mod names;
mod narrow;
mod op;
pub(crate) mod selection;
mod shape;
mod span;
mod words;

pub(crate) use alone::{Alone, alone, is_collective, keeps_what_it_was_given};
pub use arena::{Arena, ArenaId, ComputationId, InstrId};
pub use data::{Data, NativeType, Scalar};
pub use element_type::ElementType;
pub(crate) use element_type::for_each_element_type;
pub use float_format::FloatFormat;
pub(crate) use float_format::{Decoded, FloatRange};
pub use half::{bf16, f16};
pub use header::{BufferDonor, EntryLayout, HeaderAttribute, InputOutputAlias};
pub use identity::identity;
pub use layout::{DimensionLevel, Layout, LevelFormat, PhysicalLayout, SplitConfig, Tile};
pub use literal::Literal;
pub use minifloat::*;
pub use module::{Attribute, Computation, Instruction, Module};
pub use names::{UniqueNames, UnknownName};
pub use narrow::*;
pub use num_complex::Complex;
pub use op::{
    ApiVersion, AsyncPhase, BinaryOp, CallSchedule, CollectiveMode, ComparisonDirection, ComparisonType,
    ConvolutionDimensions, ConvolutionKind, DotAlgorithm, Epsilon, FftType, FusionKind, Op, Opcode, OperandAlias,
    PadDimension, PaddingType, Precision, RandomAlgorithm, RandomDistribution, ReplicaGroups, SliceDimension,
    TransposeKind, UnaryOp, Window, WindowDimension,
};
pub(crate) use op::{
    Field, FieldValue, FieldValues, FieldView, GatherDimensions, Presence, Spelling, async_shorthand, fields_of,
    from_fields, shorthand_fields,
};
pub use shape::{ArrayShape, Shape};
pub use span::Span;
pub(crate) use span::ends_line;
pub(crate) use words::{Word, Words, words_of};
