//! The values that shape functions compute with.

use super::ShapeError;
use smallvec::SmallVec;
use std::fmt;

/// A list of sizes or extents; short ones need no allocation.
pub type Extents = SmallVec<[i64; 6]>;

/// The most extents a list has that a function makes.
pub const MAX_RANK: usize = 1024;

/// The most extents an operand has, or an attribute that is a list.
pub const MAX_OPERAND_RANK: usize = 255;

/// The most shapes a list of shapes has that a function makes by repeating one.
pub const MAX_LIST: usize = 1 << 16;

/// A known value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Of type [`Type::Size`].
    Size(i64),
    /// Of type [`Type::Bool`].
    Bool(bool),
    /// Of type [`Type::ValueShape`], [`Type::Shape`] or [`Type::Sizes`].
    Extents(Extents),
    /// Of type [`Type::Shapes`].
    Shapes(Vec<Extents>),
    /// Of type [`Type::Witness`]: evidence, or the error that stands in for it.
    Witness(Option<ShapeError>),
}

impl Value {
    /// The shape of these extents.
    pub fn shape(extents: impl IntoIterator<Item = i64>) -> Value {
        Value::Extents(extents.into_iter().collect())
    }

    /// Whether this may be an operand or an attribute of the type: shapes have no negative extent, and no list is too
    /// long.
    pub fn is(&self, ty: Type) -> bool {
        let natural =
            |extents: &Extents| extents.len() <= MAX_OPERAND_RANK && extents.iter().all(|&extent| extent >= 0);
        match (self, ty) {
            (Value::Size(_), Type::Size) | (Value::Bool(_), Type::Bool) | (Value::Witness(_), Type::Witness) => true,
            (Value::Extents(sizes), Type::Sizes) => sizes.len() <= MAX_OPERAND_RANK,
            (Value::Extents(extents), Type::Shape | Type::ValueShape) => natural(extents),
            (Value::Shapes(shapes), Type::Shapes) => shapes.len() <= MAX_LIST && shapes.iter().all(natural),
            _ => false,
        }
    }

    /// The extents, if this is a list of them.
    pub fn as_extents(&self) -> Option<&Extents> {
        match self {
            Value::Extents(extents) => Some(extents),
            _ => None,
        }
    }
}

/// Extents as text spells them.
pub(super) fn show(extents: &[i64]) -> String {
    let parts: Vec<String> = extents.iter().map(i64::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// The types of values of shape functions.
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
