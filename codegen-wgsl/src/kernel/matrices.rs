//! What subgroups do with small matrices together.

use super::MemoryId;
use weft_affine::Expr;

/// What a matrix is to products: `a` times `b`, added to `c`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MatrixRole {
    /// The left factor.
    Left,
    /// The right factor.
    Right,
    /// The sum.
    Sum,
}

impl MatrixRole {
    /// All of them.
    pub const ALL: [MatrixRole; 3] = [MatrixRole::Left, MatrixRole::Right, MatrixRole::Sum];

    /// Its letter in the text: `a`, `b` or `c`.
    pub fn name(self) -> &'static str {
        match self {
            MatrixRole::Left => "a",
            MatrixRole::Right => "b",
            MatrixRole::Sum => "c",
        }
    }
}

/// How the elements of a matrix lie in a memory of two dimensions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MatrixOrder {
    /// A row of the matrix lies in a row of the memory.
    Rows,
    /// A column of the matrix lies in a row of the memory.
    Columns,
}

impl MatrixOrder {
    /// Its name in the text: `rows` or `columns`.
    pub fn name(self) -> &'static str {
        match self {
            MatrixOrder::Rows => "rows",
            MatrixOrder::Columns => "columns",
        }
    }
}

/// What the members of a subgroup do with matrices that they have together. All of them come to it, with the same indices.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixOp {
    /// Makes all elements zero.
    Clear {
        /// The matrix.
        matrix: MemoryId,
    },
    /// Takes all elements from a memory of the workgroup.
    Load {
        /// The matrix, a factor.
        matrix: MemoryId,
        /// The memory, of two dimensions and the same type.
        memory: MemoryId,
        /// Where the first element lies: one index for each dimension, or the row-major position.
        indices: Vec<Expr>,
        /// How the others lie from there on.
        order: MatrixOrder,
    },
    /// Adds the product of two factors to a sum. In which order products are added, and how often sums are rounded, is the device's choice.
    MultiplyAdd {
        /// The sum.
        sum: MemoryId,
        /// The left factor, and the right one.
        factors: [MemoryId; 2],
    },
    /// Puts all elements into a memory of the workgroup, by rows.
    Store {
        /// The matrix, a sum.
        matrix: MemoryId,
        /// The memory, of two dimensions and the same type.
        memory: MemoryId,
        /// Where the first element goes, as for [`Load`](MatrixOp::Load).
        indices: Vec<Expr>,
    },
}

impl MatrixOp {
    /// The matrices that it touches.
    pub fn matrices(&self) -> Vec<MemoryId> {
        match self {
            MatrixOp::Clear { matrix } | MatrixOp::Load { matrix, .. } | MatrixOp::Store { matrix, .. } => {
                vec![*matrix]
            }
            MatrixOp::MultiplyAdd { sum, factors: [left, right] } => vec![*sum, *left, *right],
        }
    }

    /// The same, to be changed.
    pub fn matrices_mut(&mut self) -> Vec<&mut MemoryId> {
        match self {
            MatrixOp::Clear { matrix } | MatrixOp::Load { matrix, .. } | MatrixOp::Store { matrix, .. } => vec![matrix],
            MatrixOp::MultiplyAdd { sum, factors: [left, right] } => vec![sum, left, right],
        }
    }

    /// The memory of the workgroup that it reads or writes, and where its first element lies there.
    pub fn place(&self) -> Option<(MemoryId, &[Expr])> {
        match self {
            MatrixOp::Load { memory, indices, .. } | MatrixOp::Store { memory, indices, .. } => {
                Some((*memory, indices))
            }
            MatrixOp::Clear { .. } | MatrixOp::MultiplyAdd { .. } => None,
        }
    }

    /// The same, to be changed.
    pub fn place_mut(&mut self) -> Option<(&mut MemoryId, &mut Vec<Expr>)> {
        match self {
            MatrixOp::Load { memory, indices, .. } | MatrixOp::Store { memory, indices, .. } => Some((memory, indices)),
            MatrixOp::Clear { .. } | MatrixOp::MultiplyAdd { .. } => None,
        }
    }
}
