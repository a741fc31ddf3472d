//! The kernel IR: a small structured language of element functions and an entry that stores their results.
//!
//! A [`Function`] takes indices and returns elements. Its body is a [`Block`]: scalar values in order, calls of other
//! functions, conditionals whose condition is a conjunction of index constraints, and at most nested loops over index
//! ranges that carry values. Indices are never values: they are expressions ([`Expr`]) over the function's index
//! variables `d0, d1, …` and the loop variables `s0, s1, …` in sight, so that they can be simplified at every stage.
//! Tensors are read with `extract` anywhere; only the entry writes, and each element of each result exactly once.
//!
//! Stages differ in how tensors are indexed only: with one index per dimension as the emitter made them, then with a
//! single row-major position after [`flatten`](crate::lower::flatten). Both have the same text, which
//! [`Kernel::parse`] reads back, and the same rules, which [`Kernel::verify`] checks.
//!
//! ```text
//! kernel    := kernel @NAME( {in | out} %NAME: TYPE[EXTENT, …], … ) { function… entry }
//! function  := func @NAME(d0 in [0, N], …) -> (TYPE, …) { block return }
//! block     := statement… (return | yield) operand, …
//! statement := [value: TYPE, … =] call @NAME(INDEX, …)
//!            | [value: TYPE, … =] if INDEX in [LO, HI] and … { block } else { block }
//!            | [value: TYPE, … =] loop [for s0 in [0, N], …] [with value: TYPE = operand, …] { block }
//!            | value: TYPE = index TYPE(INDEX)  |  value: TYPE = extract %NAME[INDEX, …]
//!            | value: TYPE = compare DIRECTION [ORDER] operand, operand  |  value: TYPE = convert TYPE operand
//!            | value: TYPE = OPERATION operand, …          select, clamp, and HLO's elementwise operations
//!            | unused value: TYPE, …                       only at the top of a function
//! value     := %NUMBER[:NAME]
//! operand   := value | true | false | s32 INTEGER | u32 INTEGER | f32 NUMBER | f32 nan(BITS)
//! entry     := entry workgroups [X, Y[, Z]] of SIZE { store… }     (Z where it is not 1)
//! store     := store %NAME[d0, …], … = call @NAME(d0, …) [for d0 in [0, N], …]
//! ```
//!
//! An `INDEX` is an expression in the notation of [`weft_affine::text`]; definitions of shared terms stand after `where`
//! at the end of the list they serve. Names of other characters than letters, digits, `_`, `.` and `-` stand in quotes.
//! White space separates and means nothing else, except that none stands within a value; `//` begins a comment.

mod known;
mod parse;
mod rounds;
mod text;
mod verify;

pub(crate) use known::Known;
pub use verify::Finding;

use weft_affine::{Constraint, Expr};
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Scalar, UnaryOp,
};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal,)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl ArenaId for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("a kernel holds fewer than 2^32 items of a kind"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A tensor of a kernel.
    TensorId "t",
    /// A function of a kernel.
    FunctionId "f",
    /// A value of one function.
    ValueId "v",
}

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The tensors it reads and writes: the fusion's operands, then its results.
    pub tensors: Arena<TensorId, Tensor>,
    /// Its functions, callers before callees.
    pub functions: Arena<FunctionId, Function>,
    /// What it stores where.
    pub entry: Entry,
}

/// A tensor in a buffer, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its shape; the layout plays no role.
    pub shape: ArrayShape,
    /// Whether the kernel writes it.
    pub writable: bool,
}

/// A function from indices to elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The extent of each index; index `k` runs over `[0, extents[k] - 1]`.
    pub extents: Vec<i64>,
    /// Every value of the body.
    pub values: Arena<ValueId, Value>,
    /// The body; its results are what the function returns.
    pub body: Block,
}

/// A scalar value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// A name to remember it by; not necessarily unique.
    pub name: String,
    /// Its type.
    pub element_type: ElementType,
}

/// What an operation reads: a value in sight or a constant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value defined before, in this block or one around it.
    Value(ValueId),
    /// A constant.
    Constant(Scalar),
}

/// Statements in order, then results.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// What the block yields.
    pub results: Vec<Operand>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Defines one value.
    Let {
        /// The value.
        value: ValueId,
        /// What it is.
        op: ScalarOp,
    },
    /// Defines the values that a function returns at some indices.
    Call {
        /// The values, one per result.
        values: Vec<ValueId>,
        /// The function.
        function: FunctionId,
        /// Its arguments.
        indices: Vec<Expr>,
    },
    /// Defines the values that one of two blocks yields.
    If {
        /// The values.
        values: Vec<ValueId>,
        /// What must hold for the first block, all of it.
        condition: Vec<Constraint>,
        /// Runs where the condition holds.
        then: Block,
        /// Runs where it does not.
        otherwise: Block,
    },
    /// Defines the last values of accumulators that a block updates over and over.
    Loop {
        /// The values after the last round.
        values: Vec<ValueId>,
        /// The extents of the loop variables `s0, s1, …`; the first varies slowest.
        extents: Vec<i64>,
        /// What the accumulators are before the first round.
        init: Vec<Operand>,
        /// The accumulators, in sight of the body.
        accumulators: Vec<ValueId>,
        /// One round; its results are the accumulators of the next.
        body: Block,
    },
}

/// An operation on scalars.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarOp {
    /// An index as a number.
    Index {
        /// The index.
        index: Expr,
        /// The type of the number.
        element_type: ElementType,
    },
    /// An element of a tensor.
    Extract {
        /// The tensor.
        tensor: TensorId,
        /// One index per dimension; after flattening a single one.
        indices: Vec<Expr>,
    },
    /// An HLO operation of one operand; the type is that of the operand.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// The operand.
        operand: Operand,
    },
    /// An HLO operation of two operands of one type.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// The operands.
        operands: [Operand; 2],
    },
    /// A relation of two operands of one type.
    Compare {
        /// The relation.
        direction: ComparisonDirection,
        /// How they are ordered.
        order: Option<ComparisonType>,
        /// The operands.
        operands: [Operand; 2],
    },
    /// The second operand if the first is true, else the third.
    Select {
        /// A `pred`, then two of one type.
        operands: [Operand; 3],
    },
    /// The second operand, no less than the first and no more than the third.
    Clamp {
        /// Three of one type.
        operands: [Operand; 3],
    },
    /// The bits of the operand as another type of the same size.
    Bitcast {
        /// The operand.
        operand: Operand,
        /// The type it becomes.
        to: ElementType,
    },
    /// The operand as another type.
    Convert {
        /// The operand.
        operand: Operand,
        /// The type it becomes.
        to: ElementType,
    },
}

/// How a kernel is launched and what it stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Invocations per workgroup, along the first dimension.
    pub workgroup_size: u32,
    /// Workgroups along each dimension; together they cover the largest store.
    pub workgroups: [u32; 3],
    /// What is stored. Invocation `i` handles element `i`, in row-major order, of every store that has one.
    pub stores: Vec<Store>,
}

/// Stores all elements a function returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The function.
    pub function: FunctionId,
    /// The tensors its results go to, each of the function's extents.
    pub tensors: Vec<TensorId>,
}

impl Kernel {
    /// The type of an operand in a function.
    pub fn operand_type(function: &Function, operand: Operand) -> ElementType {
        match operand {
            Operand::Value(value) => function.values[value].element_type,
            Operand::Constant(scalar) => scalar.element_type(),
        }
    }

    /// The types a function returns.
    pub fn result_types(function: &Function) -> Vec<ElementType> {
        function.body.results.iter().map(|result| Kernel::operand_type(function, *result)).collect()
    }
}

impl ScalarOp {
    /// The operands, in order.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            ScalarOp::Index { .. } | ScalarOp::Extract { .. } => Vec::new(),
            ScalarOp::Unary { operand, .. } | ScalarOp::Bitcast { operand, .. } | ScalarOp::Convert { operand, .. } => {
                vec![*operand]
            }
            ScalarOp::Binary { operands, .. } | ScalarOp::Compare { operands, .. } => operands.to_vec(),
            ScalarOp::Select { operands } | ScalarOp::Clamp { operands } => operands.to_vec(),
        }
    }
}

impl Statement {
    /// The values it defines; those of a loop's accumulators are in sight of its body only.
    pub fn defines(&self) -> Vec<ValueId> {
        match self {
            Statement::Let { value, .. } => vec![*value],
            Statement::Call { values, .. } | Statement::If { values, .. } => values.clone(),
            Statement::Loop { values, accumulators, .. } => values.iter().chain(accumulators).copied().collect(),
        }
    }

    /// The blocks within it, in the order of the text.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::Let { .. } | Statement::Call { .. } => Vec::new(),
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. } => vec![body],
        }
    }

    /// The blocks within it, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Statement::Let { .. } | Statement::Call { .. } => Vec::new(),
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. } => vec![body],
        }
    }
}
