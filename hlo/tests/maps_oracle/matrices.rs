//! The oracle of linear algebra, by the recurrences of the textbooks.

use super::scene::Recorder;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{Op, TransposeKind};

/// Elements of matrices: operand, row, column.
type Elements = BTreeSet<(usize, i64, i64)>;

/// Notes for each matrix of a batch what the elements of the result's read.
fn note(r: &mut Recorder<'_>, of: impl Fn(i64, i64) -> Elements) {
    for output in r.outputs(0) {
        let (outer, inner) = output.split_at(output.len() - 2);
        for (operand, row, column) in of(inner[0], inner[1]) {
            let cell: Vec<i64> = outer.iter().copied().chain([row, column]).collect();
            r.one(0, &output, operand, &cell);
        }
    }
}

/// L(i, j) = (A(i, j) - sum over k < j of L(i, k) L(j, k)) / L(j, j), where L(j, j) is the root of what is left of A(j, j);
/// the other triangle is zero.
pub(crate) fn cholesky(r: &mut Recorder<'_>, lower: bool) {
    let operand = r.scene.operand(0);
    let order = operand[operand.len() - 1];
    let mut factor: Vec<Vec<Elements>> = vec![Vec::new(); order as usize];
    for i in 0..order {
        for j in 0..=i {
            let (row, column) = if lower { (i, j) } else { (j, i) };
            let mut reads = Elements::from([(0, row, column)]);
            // Both rows before column `j`, of which one may be the row itself, and the element on the diagonal.
            reads.extend(factor[i as usize].iter().flatten().copied());
            if i != j {
                reads.extend(factor[j as usize].iter().flatten().copied());
            }
            factor[i as usize].push(reads);
        }
    }
    note(r, |row, column| {
        let (i, j) = if lower { (row, column) } else { (column, row) };
        factor[i as usize].get(j as usize).cloned().unwrap_or_default()
    });
}

/// Substitution: the unknown of each row of the triangle is found from those before it. From the right the rows are columns.
pub(crate) fn triangular_solve(r: &mut Recorder<'_>) {
    let Op::TriangularSolve { left_side, lower, unit_diagonal, transpose_a } = r.scene.instruction().op.clone() else {
        return;
    };
    let matrix = r.scene.operand(0);
    let order = matrix[matrix.len() - 1];
    let is_transposed = matches!(transpose_a, TransposeKind::Transpose | TransposeKind::Adjoint);
    // Of X op(A) = B the transpose is op(A)' X' = B'.
    let swaps = is_transposed == left_side;
    let at = |i: i64, k: i64| if swaps { (0, k, i) } else { (0, i, k) };
    let is_lower = lower != swaps;
    let rows: Vec<i64> = if is_lower { (0..order).collect() } else { (0..order).rev().collect() };
    let right_sides = r.scene.operand(1);
    let other = right_sides[right_sides.len() - if left_side { 1 } else { 2 }];
    let mut solved: BTreeMap<(i64, i64), Elements> = BTreeMap::new();
    for line in 0..other {
        for (done, &i) in rows.iter().enumerate() {
            let mut reads = Elements::from([if left_side { (1, i, line) } else { (1, line, i) }]);
            if !unit_diagonal {
                reads.insert(at(i, i));
            }
            for &k in &rows[..done] {
                reads.insert(at(i, k));
                reads.extend(solved[&(k, line)].iter().copied());
            }
            solved.insert((i, line), reads);
        }
    }
    note(r, |row, column| {
        let key = if left_side { (row, column) } else { (column, row) };
        solved[&key].clone()
    });
}
