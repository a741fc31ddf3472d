//! Operations of the kernel IR.

use super::{MemoryId, Operand};
use weft_affine::Expr;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, UnaryOp};

/// An operation on scalars, or on vectors lane by lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScalarOp {
    /// An index as a number.
    Index {
        /// The index.
        index: Expr,
        /// The type of the number.
        element_type: ElementType,
    },
    /// An element of a memory, or as many consecutive ones as the value has lanes.
    Extract {
        /// The memory.
        memory: MemoryId,
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
    /// The product of the first two operands and the third, of one type of 32 bits: a step of a sum whose order is open, so that the third may be
    /// what a driver's algebra makes of it, or, at once on a device that rounds it once, what a product lacks exactly.
    MultiplyAdd {
        /// The factors, and what is added.
        operands: [Operand; 3],
        /// Whether it is one operation to the device, which may round once.
        is_one: bool,
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
    /// The complex number with these parts.
    Complex {
        /// The real and the imaginary part, of one real type.
        operands: [Operand; 2],
    },
    /// The real part of a complex number; a real number itself.
    Real {
        /// The operand.
        operand: Operand,
    },
    /// The imaginary part of a complex number; of a real number zero.
    Imag {
        /// The operand.
        operand: Operand,
    },
    /// The operand as another type.
    Convert {
        /// The operand.
        operand: Operand,
        /// The type it becomes.
        to: ElementType,
    },
    /// The bits of the float of a type of at most 16 bits that is nearest to an `f32`, ties to even, as the lowest bits of a `u32`
    /// whose others are 0. What is too large is an infinity, else a NaN, else the greatest number, whichever the type has first; a NaN of a type
    /// without is its negative zero.
    Encode {
        /// The operand.
        operand: Operand,
        /// The type whose bits they are.
        to: ElementType,
    },
    /// The `f32` that these bits are in a type of at most 16 bits; the others of the `u32` are 0.
    Decode {
        /// The operand.
        operand: Operand,
        /// The type whose bits they are.
        from: ElementType,
    },
    /// The `f64` that has these bits.
    Join {
        /// The low and the high word, each a `u32`.
        operands: [Operand; 2],
    },
    /// A word of an `f64`'s bits, a `u32`.
    Half {
        /// The operand.
        operand: Operand,
        /// Whether it is the high word.
        is_high: bool,
    },
    /// The float nearest to the operand in a format with fewer bits; the type is that of the operand.
    ReducePrecision {
        /// The operand.
        operand: Operand,
        /// Bits of the exponent.
        exponent_bits: u32,
        /// Bits of the mantissa.
        mantissa_bits: u32,
    },
    /// The `f32` or `f64` itself, so that a driver cannot know what it is.
    Keep {
        /// The operand.
        operand: Operand,
        /// From what it is hidden.
        hiding: Hiding,
    },
    /// A scalar in every lane.
    Splat {
        /// The scalar.
        operand: Operand,
    },
    /// A vector of these lanes.
    Compose {
        /// A scalar for each lane.
        operands: Vec<Operand>,
    },
    /// One lane of a vector.
    Lane {
        /// The vector.
        operand: Operand,
        /// The lane's number, from 0 on.
        lane: u32,
    },
    /// The word of the lowest 8 bits of four integers of up to 32 bits, of one type; the first is the lowest.
    Pack {
        /// The integers.
        operands: [Operand; 4],
    },
    /// The sum of the products of the four numbers of 8 bits in a word and in another, modulo 2³².
    PackedDot {
        /// The words.
        operands: [Operand; 2],
        /// Whether the numbers are signed, and the sum an `s32`; else it is a `u32`.
        is_signed: bool,
    },
    /// What the operand is in another invocation of a workgroup that is one subgroup, to which all of them come: invocation `t` gets that of
    /// `number * apart + t mod apart`.
    Member {
        /// The operand.
        operand: Operand,
        /// The number of the other, where the first of those that are apart count as one.
        number: u32,
        /// How many invocations lie between one number and the next.
        apart: u32,
    },
}

/// From what a driver's algebra a value is hidden. Each has a zero of its own: what is hidden twice behind one is bare.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hiding {
    /// From the operation that computed it, where it is defined.
    Value,
    /// From the several values that it is one of, which may be hidden each.
    Chosen,
    /// From an equal value, which it is compared with.
    Apart,
}

impl Hiding {
    /// All of them.
    pub const ALL: [Hiding; 3] = [Hiding::Value, Hiding::Chosen, Hiding::Apart];

    /// The word of the text.
    pub fn name(self) -> &'static str {
        match self {
            Hiding::Value => "keep",
            Hiding::Chosen => "keep-chosen",
            Hiding::Apart => "keep-apart",
        }
    }
}

impl ScalarOp {
    /// The operands, in order.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            ScalarOp::Index { .. } | ScalarOp::Extract { .. } => Vec::new(),
            ScalarOp::Unary { operand, .. }
            | ScalarOp::Bitcast { operand, .. }
            | ScalarOp::Convert { operand, .. }
            | ScalarOp::Real { operand }
            | ScalarOp::Imag { operand }
            | ScalarOp::Encode { operand, .. }
            | ScalarOp::Decode { operand, .. }
            | ScalarOp::Half { operand, .. }
            | ScalarOp::ReducePrecision { operand, .. }
            | ScalarOp::Keep { operand, .. }
            | ScalarOp::Splat { operand }
            | ScalarOp::Lane { operand, .. }
            | ScalarOp::Member { operand, .. } => vec![*operand],
            ScalarOp::Compose { operands } => operands.clone(),
            ScalarOp::Binary { operands, .. }
            | ScalarOp::Compare { operands, .. }
            | ScalarOp::Complex { operands }
            | ScalarOp::PackedDot { operands, .. }
            | ScalarOp::Join { operands } => operands.to_vec(),
            ScalarOp::Pack { operands } => operands.to_vec(),
            ScalarOp::Select { operands } | ScalarOp::Clamp { operands } | ScalarOp::MultiplyAdd { operands, .. } => {
                operands.to_vec()
            }
        }
    }

    /// The operands, to be changed.
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        match self {
            ScalarOp::Index { .. } | ScalarOp::Extract { .. } => &mut [],
            ScalarOp::Unary { operand, .. }
            | ScalarOp::Bitcast { operand, .. }
            | ScalarOp::Convert { operand, .. }
            | ScalarOp::Real { operand }
            | ScalarOp::Imag { operand }
            | ScalarOp::Encode { operand, .. }
            | ScalarOp::Decode { operand, .. }
            | ScalarOp::Half { operand, .. }
            | ScalarOp::ReducePrecision { operand, .. }
            | ScalarOp::Keep { operand, .. }
            | ScalarOp::Splat { operand }
            | ScalarOp::Lane { operand, .. }
            | ScalarOp::Member { operand, .. } => std::slice::from_mut(operand),
            ScalarOp::Compose { operands } => operands,
            ScalarOp::Binary { operands, .. }
            | ScalarOp::Compare { operands, .. }
            | ScalarOp::Complex { operands }
            | ScalarOp::PackedDot { operands, .. }
            | ScalarOp::Join { operands } => operands,
            ScalarOp::Pack { operands } => operands,
            ScalarOp::Select { operands } | ScalarOp::Clamp { operands } | ScalarOp::MultiplyAdd { operands, .. } => {
                operands
            }
        }
    }

    /// Whether each lane of the result depends on the same lane of the operands alone, so that a constant stands in every lane.
    pub fn is_lane_wise(&self) -> bool {
        !matches!(self, ScalarOp::Splat { .. } | ScalarOp::Compose { .. } | ScalarOp::Lane { .. })
    }

    /// The indices it reads at.
    pub fn indices(&self) -> &[Expr] {
        match self {
            ScalarOp::Index { index, .. } => std::slice::from_ref(index),
            ScalarOp::Extract { indices, .. } => indices,
            _ => &[],
        }
    }

    /// The indices it reads at, to be changed.
    pub fn indices_mut(&mut self) -> &mut [Expr] {
        match self {
            ScalarOp::Index { index, .. } => std::slice::from_mut(index),
            ScalarOp::Extract { indices, .. } => indices,
            _ => &mut [],
        }
    }
}
