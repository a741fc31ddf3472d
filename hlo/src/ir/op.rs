//! Operations and the attributes that each one owns.

use super::{Attribute, ComputationId, Literal};

macro_rules! spelled {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl $enum {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$enum] = &[$($enum::$variant,)*];

            /// The spelling in HLO text.
            pub fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }

            /// The variant spelled `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some($enum::$variant),)* _ => None }
            }
        }
    };
}

spelled! {
    /// An elementwise operation of one operand.
    UnaryOp {
        Abs "abs", Acos "acos", Acosh "acosh", Asin "asin", Asinh "asinh", Atanh "atanh", Cbrt "cbrt", Ceil "ceil",
        CountLeadingZeros "count-leading-zeros", Cosine "cosine", Cosh "cosh", Erf "erf", Exponential "exponential",
        ExponentialMinusOne "exponential-minus-one", Floor "floor", IsFinite "is-finite", Log "log",
        LogPlusOne "log-plus-one", Logistic "logistic", Negate "negate", Not "not", PopulationCount "popcnt",
        RoundNearestAfz "round-nearest-afz", RoundNearestEven "round-nearest-even", Rsqrt "rsqrt", Sign "sign",
        Sine "sine", Sinh "sinh", Sqrt "sqrt", Tan "tan", Tanh "tanh",
    }
}

spelled! {
    /// An elementwise operation of two operands.
    BinaryOp {
        Add "add", And "and", Atan2 "atan2", Divide "divide", Maximum "maximum", Minimum "minimum",
        Multiply "multiply", Or "or", Power "power", Remainder "remainder", ShiftLeft "shift-left",
        ShiftRightArithmetic "shift-right-arithmetic", ShiftRightLogical "shift-right-logical", Subtract "subtract",
        Xor "xor",
    }
}

spelled! {
    /// The relation that `compare` tests.
    ComparisonDirection { Eq "EQ", Ne "NE", Ge "GE", Gt "GT", Le "LE", Lt "LT", }
}

spelled! {
    /// How `compare` orders its operands; the default follows from the element type.
    ComparisonType { Float "FLOAT", TotalOrder "TOTALORDER", Signed "SIGNED", Unsigned "UNSIGNED", }
}

spelled! {
    /// XLA's kinds of fusion.
    FusionKind { Loop "kLoop", Input "kInput", Output "kOutput", Custom "kCustom", }
}

/// The padding of one dimension: `low_high_interior` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PadDimension {
    /// Elements added before the first; negative removes elements.
    pub low: i64,
    /// Elements added after the last; negative removes elements.
    pub high: i64,
    /// Elements added between each two neighbours; at least 0.
    pub interior: i64,
}

/// The part of one dimension that `slice` keeps: `[start:limit:stride]` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct SliceDimension {
    /// The first index kept.
    pub start: i64,
    /// One past the last index that may be kept.
    pub limit: i64,
    /// Distance of the indices kept, at least 1.
    pub stride: i64,
}

/// What an instruction does, with the attributes it owns.
///
/// Semantics are those of XLA's operation semantics document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// The computation's argument `number`.
    Parameter {
        /// Position in the argument list, from 0.
        number: i64,
    },
    /// A value known when the program was written.
    Constant(Literal),
    /// The index along `dimension`, as a number.
    Iota {
        /// The dimension counted along.
        dimension: i64,
    },
    /// Operand dimension `i` becomes result dimension `dimensions[i]`; the rest repeat.
    Broadcast {
        /// One result dimension per operand dimension.
        dimensions: Vec<i64>,
    },
    /// The same elements in row-major order under other extents.
    Reshape,
    /// The same bytes under another shape and layout.
    Bitcast,
    /// Result dimension `i` is operand dimension `permutation[i]`.
    Transpose {
        /// A permutation of the dimensions.
        permutation: Vec<i64>,
    },
    /// A strided box of the operand.
    Slice {
        /// One per dimension.
        dimensions: Vec<SliceDimension>,
    },
    /// The operand mirrored along some dimensions.
    Reverse {
        /// The dimensions mirrored.
        dimensions: Vec<i64>,
    },
    /// The operands one after the other.
    Concatenate {
        /// The dimension they are joined along.
        dimension: i64,
    },
    /// The first operand with the second, a scalar, around and between its elements.
    Pad {
        /// One per dimension.
        padding: Vec<PadDimension>,
    },
    /// The operand, possibly in another layout.
    Copy,
    /// Each element as another type.
    Convert,
    /// A relation of two operands, element by element.
    Compare {
        /// The relation.
        direction: ComparisonDirection,
        /// How elements are ordered, where the text says so.
        order: Option<ComparisonType>,
    },
    /// The second operand where the first is true, else the third.
    Select,
    /// The second operand, no less than the first and no more than the third.
    Clamp,
    /// An elementwise operation of one operand.
    Unary(UnaryOp),
    /// An elementwise operation of two operands.
    Binary(BinaryOp),
    /// `N` inputs and `N` initial values, folded along `dimensions` with `to_apply`, which takes `N` accumulators and
    /// `N` elements.
    Reduce {
        /// The dimensions that disappear.
        dimensions: Vec<i64>,
        /// The combining computation.
        to_apply: ComputationId,
    },
    /// The operands as one value.
    Tuple,
    /// One element of a tuple.
    GetTupleElement {
        /// Which one, from 0.
        index: i64,
    },
    /// The value of a computation applied to the operands.
    Call {
        /// The computation.
        to_apply: ComputationId,
    },
    /// A computation that is to run as one kernel.
    Fusion {
        /// XLA's kind.
        kind: FusionKind,
        /// The computation.
        calls: ComputationId,
    },
    /// An operation that is read and printed, not yet understood.
    Other {
        /// Its opcode, one of [`OPCODES`](super::OPCODES).
        opcode: String,
        /// What stands in the parentheses where that is not operands (`infeed`'s config …); usually empty.
        payload: String,
        /// Its attributes in the order of the text.
        attributes: Vec<Attribute>,
    },
}

impl Op {
    /// The opcode as HLO text spells it.
    pub fn opcode(&self) -> &str {
        match self {
            Op::Parameter { .. } => "parameter",
            Op::Constant(_) => "constant",
            Op::Iota { .. } => "iota",
            Op::Broadcast { .. } => "broadcast",
            Op::Reshape => "reshape",
            Op::Bitcast => "bitcast",
            Op::Transpose { .. } => "transpose",
            Op::Slice { .. } => "slice",
            Op::Reverse { .. } => "reverse",
            Op::Concatenate { .. } => "concatenate",
            Op::Pad { .. } => "pad",
            Op::Copy => "copy",
            Op::Convert => "convert",
            Op::Compare { .. } => "compare",
            Op::Select => "select",
            Op::Clamp => "clamp",
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name(),
            Op::Reduce { .. } => "reduce",
            Op::Tuple => "tuple",
            Op::GetTupleElement { .. } => "get-tuple-element",
            Op::Call { .. } => "call",
            Op::Fusion { .. } => "fusion",
            Op::Other { opcode, .. } => opcode,
        }
    }

    /// Whether the operation moves the elements of its one operand and computes nothing: each element of the result is
    /// an element of the operand. (A bitcast may reinterpret bits as well; then the element types differ.)
    pub fn only_moves(&self) -> bool {
        matches!(
            self,
            Op::Broadcast { .. }
                | Op::Reshape
                | Op::Bitcast
                | Op::Transpose { .. }
                | Op::Slice { .. }
                | Op::Reverse { .. }
                | Op::Copy
        )
    }

    /// The computations this operation names, in the order of its attributes.
    pub fn called_computations(&self) -> Vec<ComputationId> {
        match self {
            Op::Reduce { to_apply, .. } | Op::Call { to_apply } => vec![*to_apply],
            Op::Fusion { calls, .. } => vec![*calls],
            Op::Other { attributes, .. } => {
                attributes.iter().flat_map(|attribute| attribute.called_computations().iter().copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Replaces every computation this operation names by its image under `rename`.
    pub fn rename_computations(&mut self, mut rename: impl FnMut(ComputationId) -> ComputationId) {
        use super::AttributeValue;
        match self {
            Op::Reduce { to_apply, .. } | Op::Call { to_apply } => *to_apply = rename(*to_apply),
            Op::Fusion { calls, .. } => *calls = rename(*calls),
            Op::Other { attributes, .. } => {
                for attribute in attributes {
                    match &mut attribute.value {
                        AttributeValue::Text(_) => {}
                        AttributeValue::Computation(computation) => *computation = rename(*computation),
                        AttributeValue::Computations(computations) => {
                            computations.iter_mut().for_each(|computation| *computation = rename(*computation));
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
