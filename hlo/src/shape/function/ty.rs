//! The types of a shape function's values.

use std::fmt;

/// What a value of a shape function is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// An operand: a value together with its shape, `!shape.value_shape`.
    ValueShape,
    /// A list of extents, each at least 0, `!shape.shape`.
    Shape,
    /// A list of sizes of either sign, `tensor<?xindex>`: padding, strides, dimension numbers.
    Sizes,
    /// A signed 64-bit integer, `!shape.size`.
    Size,
    /// A truth value, `i1`.
    Bool,
    /// A list of shapes, `!shape.shapes`: the operands of a variadic operation, or its results.
    Shapes,
    /// Evidence that a constraint holds, or the error that it does not, `!shape.witness`.
    Witness,
}

impl Type {
    /// Every type.
    pub const ALL: [Type; 7] =
        [Type::ValueShape, Type::Shape, Type::Sizes, Type::Size, Type::Bool, Type::Shapes, Type::Witness];

    /// The spelling in text.
    pub fn name(self) -> &'static str {
        match self {
            Type::ValueShape => "!shape.value_shape",
            Type::Shape => "!shape.shape",
            Type::Sizes => "tensor<?xindex>",
            Type::Size => "!shape.size",
            Type::Bool => "i1",
            Type::Shapes => "!shape.shapes",
            Type::Witness => "!shape.witness",
        }
    }

    /// The type spelled `name`.
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Whether the value is a list of sizes: a shape or an extent tensor.
    pub fn is_list(self) -> bool {
        matches!(self, Type::Shape | Type::Sizes)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
