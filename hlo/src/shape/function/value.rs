//! What values of shape functions are when they are known.

use super::{ShapeError, Type};
use smallvec::SmallVec;

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
