//! Whether matrices are what their roles say, and what is done with them is what subgroups can do.

use super::Findings;
use crate::kernel::{Kernel, MatrixOp, MatrixRole, Memory, MemoryId, Space};
use weft_hlo::ir::{ArenaId, ElementType};

/// Rows, and columns, of the matrices that WGSL has a type for.
const SIDES: [i64; 2] = [8, 16];

/// Finds matrices that no subgroup has: of other sizes than WGSL has types for, of elements that are no floats of 16 or 32 bits, in workgroups without a whole number of subgroups.
pub(super) fn check_memory(kernel: &Kernel, memory: &Memory, findings: &mut Findings) {
    let Space::Matrix { members, .. } = memory.space else { return };
    let place = format!("%{}", memory.name);
    let is_square = matches!(memory.shape.extents[..], [rows, columns] if rows == columns && SIDES.contains(&rows));
    if !is_square || !matches!(memory.shape.element_type, ElementType::F16 | ElementType::F32) {
        findings.add(&place, format!("there are no matrices {}", memory.shape));
    }
    let all = i64::from(members).saturating_mul(i64::from(kernel.lanes));
    if !members.is_power_of_two() || kernel.threads() % all.max(1) != 0 {
        let threads = kernel.threads();
        findings.add(&place, format!("{threads} invocations are no whole number of subgroups of {members}"));
    }
}

/// What is wrong with something that is done with matrices.
pub(super) fn broken(kernel: &Kernel, op: &MatrixOp) -> Option<String> {
    let matrix = |id: MemoryId, role: MatrixRole| match kernel.memories.get(id) {
        None => Err(format!("there is no memory number {}", id.index())),
        Some(memory) => match memory.space {
            Space::Matrix { role: own, members } if own == role => Ok((memory, members)),
            _ => Err(format!("%{} is no matrix {}", memory.name, role.name())),
        },
    };
    let found = match op {
        MatrixOp::Clear { matrix: sum } => matrix(*sum, MatrixRole::Sum).map(|_| ()),
        MatrixOp::MultiplyAdd { sum, factors: [left, right] } => (|| {
            let (sum, members) = matrix(*sum, MatrixRole::Sum)?;
            let (left, of_left) = matrix(*left, MatrixRole::Left)?;
            let (right, of_right) = matrix(*right, MatrixRole::Right)?;
            let fits = left.shape.element_type == right.shape.element_type
                && left.shape.extents.first() == sum.shape.extents.first()
                && right.shape.extents.last() == sum.shape.extents.last()
                && left.shape.extents.last() == right.shape.extents.first()
                && [of_left, of_right] == [members; 2];
            match fits {
                true => Ok(()),
                false => Err(format!("{} by {} is not added to {}", left.shape, right.shape, sum.shape)),
            }
        })(),
        MatrixOp::Load { matrix: factor, memory, indices, .. } => matrix(*factor, MatrixRole::Left)
            .or_else(|_| matrix(*factor, MatrixRole::Right))
            .and_then(|(factor, _)| moved(kernel, factor, *memory, indices.len())),
        MatrixOp::Store { matrix: sum, memory, indices } => {
            matrix(*sum, MatrixRole::Sum).and_then(|(sum, _)| moved(kernel, sum, *memory, indices.len()))
        }
    };
    found.err()
}

/// Whether elements of a matrix may go to a memory, or come from it.
fn moved(kernel: &Kernel, matrix: &Memory, memory: MemoryId, indices: usize) -> Result<(), String> {
    let Some(memory) = kernel.memories.get(memory) else {
        return Err(format!("there is no memory number {}", memory.index()));
    };
    let is_tile = memory.space == Space::Workgroup && memory.shape.rank() == 2 && memory.packed.is_none();
    if !is_tile || memory.shape.element_type != matrix.shape.element_type {
        return Err(format!("%{}, {}, is no tile of what %{} holds", memory.name, memory.shape, matrix.name));
    }
    match indices {
        1 | 2 => Ok(()),
        _ => Err(format!("{indices} indices into %{}, {}", memory.name, memory.shape)),
    }
}
