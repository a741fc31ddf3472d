//! The operations of shape functions.

use super::{Extents, Type};

macro_rules! plain_kinds {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// The kinds of operations. The names are those of MLIR's Shape dialect where it has the operation.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            /// `shape.const_size 2`: a size.
            ConstSize(i64),
            /// `shape.const_shape [2, 3]`: a shape; every extent is at least 0.
            ConstShape(Extents),
            /// `shape.const_shape [-1, 3] : tensor<?xindex>`: a list of sizes.
            ConstSizes(Extents),
            /// `shape.const_bool true`: a truth value.
            ConstBool(bool),
            /// `shape.const_witness true`: evidence for or against, known beforehand. The one against fails.
            ConstWitness(bool),
            /// `shape.attribute "window_size" : tensor<?xindex>`: an attribute of the instruction: a size, a list of
            /// sizes, a shape, a list of shapes or a truth value. An attribute that is not there, or of another type, is an error.
            Attribute(String, Type),
            /// `func.call @window(%a) : (!shape.size) -> (!shape.size)`: another function of the library.
            Call(String, Vec<Type>),
            $($(#[$doc])* $variant,)*
        }

        impl Kind {
            /// The operations that carry nothing but operands, regions and an error message.
            pub const PLAIN: &'static [Kind] = &[$(Kind::$variant,)*];

            /// The spelling in text.
            pub fn name(&self) -> &'static str {
                match self {
                    Kind::ConstSize(_) => "shape.const_size",
                    Kind::ConstShape(_) | Kind::ConstSizes(_) => "shape.const_shape",
                    Kind::ConstBool(_) => "shape.const_bool",
                    Kind::ConstWitness(_) => "shape.const_witness",
                    Kind::Attribute(..) => "shape.attribute",
                    Kind::Call(..) => "func.call",
                    $(Kind::$variant => $name,)*
                }
            }

            /// The operation without parameters of its own that is spelled `name`.
            pub fn plain(name: &str) -> Option<Kind> {
                match name { $($name => Some(Kind::$variant),)* _ => None }
            }
        }
    };
}

plain_kinds! {
    /// The shape of an operand.
    ShapeOf "shape.shape_of",
    /// The number of extents of a list.
    Rank "shape.rank",
    /// The extent at an index, which must be in `[0, rank)`.
    GetExtent "shape.get_extent",
    /// The extents before an index and those from it on. The index is in `[-rank, rank]`; a negative one counts from
    /// the end.
    SplitAt "shape.split_at",
    /// The extents of all operands, one list after the other; at most [`MAX_RANK`](super::MAX_RANK).
    Concat "shape.concat",
    /// The shape of these extents, which must not be negative.
    FromExtents "shape.from_extents",
    /// The list of these sizes.
    FromElements "tensor.from_elements",
    /// A list of sizes as a shape; none may be negative.
    FromExtentTensor "shape.from_extent_tensor",
    /// A shape as a list of sizes.
    ToExtentTensor "shape.to_extent_tensor",
    /// The product of the extents; it must fit 64 bits.
    NumElements "shape.num_elements",
    /// The sum of two sizes. Arithmetic beyond 64 bits is an error.
    Add "shape.add",
    /// The difference of two sizes.
    Sub "shape.sub",
    /// The product of two sizes.
    Mul "shape.mul",
    /// The quotient rounded down; a divisor of 0 is an error.
    Div "shape.div",
    /// The quotient rounded up; a divisor of 0 is an error.
    CeilDiv "shape.ceil_div",
    /// The remainder of floor division, of the sign of the divisor; a divisor of 0 is an error.
    Mod "shape.mod",
    /// The lesser size.
    Min "shape.min",
    /// The greater size.
    Max "shape.max",
    /// Whether two sizes are equal.
    Eq "shape.eq",
    /// Whether two sizes differ.
    Ne "shape.ne",
    /// Whether the first size is less.
    Lt "shape.lt",
    /// Whether the first size is not greater.
    Le "shape.le",
    /// Whether the first size is greater.
    Gt "shape.gt",
    /// Whether the first size is not less.
    Ge "shape.ge",
    /// The second operand where the first is true, else the third.
    Select "shape.select",
    /// Whether all truth values hold.
    And "shape.and",
    /// Whether one of the truth values holds.
    Or "shape.or",
    /// Whether the truth value does not hold.
    Not "shape.not",
    /// Whether all operands (sizes or lists of sizes) are equal.
    ShapeEq "shape.shape_eq",
    /// Whether extents, aligned at the last, are equal or 1 in all operands.
    IsBroadcastable "shape.is_broadcastable",
    /// The greatest extents, aligned at the last, of operands that broadcast; an error of those that do not.
    Broadcast "shape.broadcast",
    /// The operands, which must all be equal; else an error. Form 1.
    Meet "shape.meet",
    /// True, or an error where the operand is false. Form 1.
    Require "shape.require",
    /// The first operand; all are known to be equal.
    Any "shape.any",
    /// A loop over the elements of a list, `^bb0(%index, %element, %accumulators…)`.
    Reduce "shape.reduce",
    /// One of two regions, by a truth value.
    If "shape.if",
    /// The number of shapes of a list.
    Length "shape.length",
    /// The shape at an index of a list, which must be in `[0, length)`.
    GetShape "shape.get_shape",
    /// The list of these shapes.
    ListOf "shape.list_of",
    /// The list and one shape more; at most [`MAX_RANK`](super::MAX_RANK).
    Append "shape.append",
    /// As many copies of a shape as a size says, which is in `[0, `[`MAX_LIST`](super::MAX_LIST)`]`.
    Repeat "shape.repeat",
    /// Evidence that all operands are equal. Form 2.
    CstrEq "shape.cstr_eq",
    /// Evidence that the operands broadcast. Form 2.
    CstrBroadcastable "shape.cstr_broadcastable",
    /// Evidence that the operand is true. Form 2.
    CstrRequire "shape.cstr_require",
    /// Evidence of all operands; the first that fails is the error. Form 2.
    AssumingAll "shape.assuming_all",
    /// A region that runs under evidence; without it, the error. Form 2.
    Assuming "shape.assuming",
    /// An error unless the operand is true. Form 3.
    Assert "assert",
}

impl Kind {
    /// Whether the operation fails for some operands of its types, apart from what its regions and callees do.
    ///
    /// Constraints of form 2 do not fail: they yield evidence, and `assuming` fails.
    pub fn is_partial(&self) -> bool {
        matches!(
            self,
            Kind::Attribute(..)
                | Kind::Call(..)
                | Kind::GetExtent
                | Kind::SplitAt
                | Kind::Concat
                | Kind::FromExtents
                | Kind::FromExtentTensor
                | Kind::NumElements
                | Kind::Add
                | Kind::Sub
                | Kind::Mul
                | Kind::Div
                | Kind::CeilDiv
                | Kind::Mod
                | Kind::Broadcast
                | Kind::Meet
                | Kind::Require
                | Kind::GetShape
                | Kind::Append
                | Kind::Repeat
                | Kind::Assuming
                | Kind::Assert
        )
    }

    /// Whether text may give the operation an error message in place of the usual one.
    pub fn takes_error(&self) -> bool {
        matches!(self, Kind::CstrEq | Kind::CstrBroadcastable | Kind::CstrRequire | Kind::ConstWitness(false))
            || (self.is_partial() && !matches!(self, Kind::Call(..) | Kind::Assuming))
    }

    /// The number of regions of the operation.
    pub fn region_count(&self) -> usize {
        match self {
            Kind::Reduce | Kind::Assuming => 1,
            Kind::If => 2,
            _ => 0,
        }
    }
}
