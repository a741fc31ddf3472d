//! Expansion of LAPACK's routines, as JAX calls them.

use super::matrices::{Matrices, real_type};
use super::scope::Scope;
use super::singular::Vectors;
use super::{bands, cholesky, eigen, lu, reflections, singular, triangular};
use crate::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, ElementType, InstrId, Instruction, Op, Scalar, Shape, TransposeKind,
};
use crate::passes::build::Build;
use crate::passes::custom_calls::{number, option};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// A call of a routine.
struct Call<'c> {
    candidate: &'c Instruction,
    operands: Vec<ArrayShape>,
    results: Vec<ArrayShape>,
    /// The leading extents of all operands and results.
    batch: Vec<i64>,
    /// Those of the matrix that the call is about.
    rows: i64,
    columns: i64,
}

/// The type and the name of a routine.
fn routine(target: &str) -> Option<(ElementType, &str)> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let element_type = match name.get(..1)? {
        "s" => ElementType::F32,
        "d" => ElementType::F64,
        "c" => ElementType::C64,
        "z" => ElementType::C128,
        _ => return None,
    };
    Some((element_type, name.get(1..)?))
}

/// The call as loops of elementary operations, if the routine is known and its arrays are as LAPACK has them.
pub(super) fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, target: &str) -> Option<Rule> {
    let (working, name) = routine(target)?;
    let matrix = if name == "gtsv" { 3 } else { 0 };
    let call = Call::new(rebuild, candidate, matrix)?;
    let has_type = |shape: &&ArrayShape| shape.element_type == working;
    call.operands.get(matrix).filter(has_type)?;
    let (values, why) = match name {
        "potrf" => (call.potrf(rebuild)?, "potrf is a loop over panels of columns"),
        "trsm" => (call.trsm(rebuild)?, "trsm is a loop over blocks of rows"),
        "getrf" => (call.getrf(rebuild)?, "getrf is a loop over panels of columns"),
        "geqrf" => (call.geqrf(rebuild)?, "geqrf is a loop over panels of columns"),
        "geqp3" => (call.geqp3(rebuild)?, "geqp3 is a loop over columns"),
        "orgqr" | "ungqr" => (call.orgqr(rebuild)?, "a product of reflections is a loop over blocks of them"),
        "ormqr" | "unmqr" => (call.ormqr(rebuild)?, "a product with reflections is a loop over blocks of them"),
        "gtsv" => (call.gtsv(rebuild)?, "gtsv is two loops over rows"),
        "syevd" | "heevd" => (call.syevd(rebuild)?, "eigenvalues come from sweeps of rotations"),
        "gehrd" => (call.gehrd(rebuild)?, "gehrd is a loop over columns"),
        "sytrd" | "hetrd" => (call.sytrd(rebuild)?, "sytrd is a loop over columns"),
        "gesdd" | "gesvd" => (call.gesdd(rebuild)?, "singular values come from sweeps of rotations"),
        _ => return None,
    };
    Some((why, Rewrite::Value(call.given(rebuild, values))))
}

impl<'c> Call<'c> {
    fn new(rebuild: &Rebuild<'_>, candidate: &'c Instruction, matrix: usize) -> Option<Self> {
        let is_plain = |shape: &&ArrayShape| shape.dynamic.is_empty() && shape.element_count().is_some();
        let array = |shape: &Shape| shape.as_array().filter(is_plain).cloned();
        let operands: Option<Vec<_>> = candidate.operands.iter().map(|id| array(&rebuild.get(*id).shape)).collect();
        let results: Option<Vec<_>> = candidate.shape.leaves().into_iter().map(array).collect();
        let (operands, results) = (operands?, results?);
        let extents = &operands.get(matrix)?.extents;
        let (batch, [rows, columns]) = extents.split_last_chunk::<2>()?;
        let (batch, rows, columns) = (batch.to_vec(), *rows, *columns);
        Some(Call { candidate, operands, results, batch, rows, columns })
    }

    /// Whether operands or results have these extents behind those of the batch.
    fn are(&self, shapes: &[ArrayShape], extents: &[&[i64]]) -> Option<()> {
        let is_so = |(shape, extents): (&ArrayShape, &&[i64])| shape.extents == [&self.batch, *extents].concat();
        (shapes.len() == extents.len() && shapes.iter().zip(extents).all(is_so)).then_some(())
    }

    fn option(&self, name: &str) -> Option<u8> {
        option(self.candidate, name)
    }

    fn letter(&self, name: &str, yes: u8, no: u8) -> Option<bool> {
        self.option(name).filter(|letter| [yes, no].contains(letter)).map(|letter| letter == yes)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.option(name).filter(|flag| *flag < 2).map(|flag| flag == 1)
    }

    fn count(&self) -> i64 {
        self.batch.iter().product()
    }

    /// An operand as `[batch, …]`.
    fn operand(&self, scope: &mut Scope<'_, '_>, number: usize) -> InstrId {
        let inner = &self.operands[number].extents[self.batch.len()..];
        scope.reshaped(self.candidate.operands[number], [&[self.count()], inner].concat())
    }

    /// The results as the call has them.
    fn given(&self, rebuild: &mut Rebuild<'_>, values: Vec<InstrId>) -> InstrId {
        let mut leaves = Vec::new();
        for (value, shape) in values.into_iter().zip(&self.results) {
            let value = rebuild.converted(value, shape.element_type);
            let value = rebuild.reshaped(value, shape.extents.clone());
            let is_laid_out = rebuild.array(value).minor_to_major() == shape.minor_to_major();
            leaves.push(match is_laid_out {
                true => value,
                false => rebuild.add(Shape::Array(shape.clone()), Op::Copy, vec![value]),
            });
        }
        match self.candidate.shape {
            Shape::Tuple(_) => rebuild.add(self.candidate.shape.clone(), Op::Tuple, leaves),
            _ => leaves[0],
        }
    }

    /// Whether the matrix has no elements, so that there is nothing to compute.
    fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.count() == 0
    }

    /// Zeros for all results.
    fn nothing(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let mut zeros = Vec::new();
        for shape in &self.results {
            let extents = [&[self.count()], &shape.extents[self.batch.len()..]].concat();
            zeros.push(match shape.element_type {
                ElementType::S32 => {
                    let zero = rebuild.scalar(Scalar::S32(0));
                    rebuild.broadcast(zero, &[], extents)
                }
                working => rebuild.filled(working, 0.0, &extents),
            });
        }
        Some(zeros)
    }

    fn potrf(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let order = self.rows;
        self.are(&self.operands, &[&[order, order]])?;
        self.are(&self.results, &[&[order, order], &[]])?;
        let lower = self.letter("uplo", b'L', b'U')?;
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, order);
        let a = self.operand(&mut scope, 0);
        let made = cholesky::factored(&mut scope, a, lower);
        // The other triangle stays what it was, and all of a matrix that has no factor.
        let extents = scope.extents(a);
        let zero = scope.integer(0);
        let direction = if lower { ComparisonDirection::Ge } else { ComparisonDirection::Le };
        let is_factor = scope.triangle(direction, zero, &extents);
        let is_definite = made.is_definite(&mut scope);
        let is_definite = scope.spread(is_definite, &extents);
        let is_factor = scope.binary(BinaryOp::And, is_factor, is_definite);
        let factor = scope.selected(is_factor, made.factor, a);
        Some(vec![factor, scope.converted(made.minor, ElementType::S32)])
    }

    fn trsm(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let other: [i64; 2] = self.operands.get(1)?.extents.get(self.batch.len()..)?.try_into().ok()?;
        self.are(&self.operands, &[&[self.rows, self.rows], &other])?;
        self.are(&self.results, &[&other])?;
        let system = triangular::System {
            left_side: self.letter("side", b'L', b'R')?,
            lower: self.letter("uplo", b'L', b'U')?,
            unit_diagonal: self.letter("diag", b'U', b'N')?,
            transpose_a: match self.option("trans_x")? {
                b'N' => TransposeKind::None,
                b'T' => TransposeKind::Transpose,
                b'C' => TransposeKind::Adjoint,
                _ => return None,
            },
        };
        if other[usize::from(!system.left_side)] != self.rows {
            return None;
        }
        if self.is_empty() || other.contains(&0) {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, self.rows.max(other[0]).max(other[1]));
        let (a, b) = (self.operand(&mut scope, 0), self.operand(&mut scope, 1));
        Some(vec![triangular::solved(&mut scope, a, b, &system)])
    }

    fn getrf(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let steps = self.rows.min(self.columns);
        self.are(&self.operands, &[&[self.rows, self.columns]])?;
        self.are(&self.results, &[&[self.rows, self.columns], &[steps], &[]])?;
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, self.rows.max(self.columns));
        let a = self.operand(&mut scope, 0);
        let made = lu::factored(&mut scope, a);
        Some(vec![made.factors, made.pivots, made.zero])
    }

    fn geqrf(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        self.are(&self.operands, &[&[self.rows, self.columns]])?;
        self.are(&self.results, &[&[self.rows, self.columns], &[self.rows.min(self.columns)]])?;
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, self.rows.max(self.columns));
        let a = self.operand(&mut scope, 0);
        let made = reflections::factored(&mut scope, a);
        Some(vec![made.factor, made.taus])
    }

    fn geqp3(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let steps = self.rows.min(self.columns);
        self.are(&self.operands, &[&[self.rows, self.columns], &[self.columns]])?;
        self.are(&self.results, &[&[self.rows, self.columns], &[self.columns], &[steps]])?;
        // Columns that are to come first would have to be known.
        is_zero(rebuild, self.candidate.operands[1]).then_some(())?;
        if self.is_empty() {
            let mut values = self.nothing(rebuild)?;
            // Columns of no elements keep their order.
            let place = rebuild.iota(ElementType::S32, vec![self.count(), self.columns], 1);
            let one = rebuild.scalar(Scalar::S32(1));
            let one = rebuild.broadcast(one, &[], vec![self.count(), self.columns]);
            values[1] = rebuild.binary(BinaryOp::Add, place, one);
            return Some(values);
        }
        let mut scope = Scope::new(rebuild, self.rows.max(self.columns));
        let a = self.operand(&mut scope, 0);
        let (made, order) = reflections::pivoted(&mut scope, a);
        Some(vec![made.factor, order, made.taus])
    }

    fn orgqr(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let count = *self.operands.get(1)?.extents.last()?;
        self.are(&self.operands, &[&[self.rows, self.columns], &[count]])?;
        self.are(&self.results, &[&[self.rows, self.columns]])?;
        if self.columns > self.rows || count > self.columns {
            return None;
        }
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, self.rows);
        let (a, taus) = (self.operand(&mut scope, 0), self.operand(&mut scope, 1));
        if count == 0 {
            let working = scope.element_type(a);
            return Some(vec![scope.identity(working, &[self.count(), self.rows, self.columns])]);
        }
        let vectors = scope.first(a, &[self.count(), self.rows, count]);
        Some(vec![reflections::product(&mut scope, vectors, taus, self.columns)])
    }

    fn ormqr(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let count = *self.operands.get(1)?.extents.last()?;
        let other: [i64; 2] = self.operands.get(2)?.extents.get(self.batch.len()..)?.try_into().ok()?;
        self.are(&self.operands, &[&[self.rows, self.columns], &[count], &other])?;
        self.are(&self.results, &[&other])?;
        let (from_left, adjoint) = (self.flag("left")?, self.flag("transpose")?);
        let facing = if from_left { other[0] } else { other[1] };
        if facing != self.rows || count > self.rows.min(self.columns) {
            return None;
        }
        if self.is_empty() || other.contains(&0) || count == 0 {
            return Some(vec![self.candidate.operands[2]]);
        }
        let mut scope = Scope::new(rebuild, self.rows.max(self.columns).max(other[0]).max(other[1]));
        let [a, taus, c] = [0, 1, 2].map(|number| self.operand(&mut scope, number));
        let vectors = scope.first(a, &[self.count(), self.rows, count]);
        if from_left {
            return Some(vec![reflections::multiplied(&mut scope, vectors, taus, c, adjoint)]);
        }
        // c q is the adjoint of qᴴ cᴴ.
        let c = scope.adjoint(c);
        let made = reflections::multiplied(&mut scope, vectors, taus, c, !adjoint);
        Some(vec![scope.adjoint(made)])
    }

    fn gtsv(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let (order, columns) = (self.rows, self.columns);
        let shapes: [&[i64]; 4] = [&[order], &[order], &[order], &[order, columns]];
        self.are(&self.operands, &shapes)?;
        self.are(&self.results, &[shapes[0], shapes[1], shapes[2], shapes[3], &[]])?;
        if order == 0 || self.count() == 0 {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, (order + 2).max(columns));
        let [below, diagonal, above, given] = [0, 1, 2, 3].map(|number| self.operand(&mut scope, number));
        // Diagonals are eliminated even where there is nothing to solve for.
        let b = match columns {
            0 => scope.filled(scope.element_type(given), 0.0, &[self.count(), order, 1]),
            _ => given,
        };
        let made = bands::solved(&mut scope, [below, diagonal, above], b);
        let [below, diagonal, above] = made.bands;
        let x = if columns == 0 { given } else { made.x };
        Some(vec![below, diagonal, above, x, made.zero])
    }

    fn syevd(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let order = self.rows;
        self.are(&self.operands, &[&[order, order]])?;
        self.are(&self.results, &[&[order, order], &[order], &[]])?;
        self.letter("mode", b'V', b'N')?;
        let lower = self.letter("uplo", b'L', b'U')?;
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, order.saturating_add(1).saturating_pow(2));
        let a = self.operand(&mut scope, 0);
        let made = eigen::decomposed(&mut scope, a, lower);
        Some(vec![made.vectors, made.values, made.info])
    }

    fn gehrd(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let order = self.rows;
        self.are(&self.operands, &[&[order, order]])?;
        self.are(&self.results, &[&[order, order], &[(order - 1).max(0)], &[]])?;
        // What is reduced of some rows and columns only is no case of JAX's.
        if number(self.candidate, "low")? != 1 || number(self.candidate, "high")? != order {
            return None;
        }
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, order);
        let a = self.operand(&mut scope, 0);
        let made = reflections::condensed(&mut scope, a);
        Some(vec![made.factor, made.taus, self.success(&mut scope)])
    }

    fn sytrd(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let order = self.rows;
        let beside = (order - 1).max(0);
        self.are(&self.operands, &[&[order, order]])?;
        self.are(&self.results, &[&[order, order], &[order], &[beside], &[beside], &[]])?;
        let lower = self.letter("uplo", b'L', b'U')?;
        if self.is_empty() {
            return self.nothing(rebuild);
        }
        let mut scope = Scope::new(rebuild, order.saturating_add(1).saturating_pow(2));
        let a = self.operand(&mut scope, 0);
        let made = eigen::tridiagonal(&mut scope, a, lower);
        Some(vec![made.packed, made.diagonal, made.beside, made.taus, self.success(&mut scope)])
    }

    /// LAPACK's `info` where nothing can fail.
    fn success(&self, scope: &mut Scope<'_, '_>) -> InstrId {
        let zero = scope.scalar(Scalar::S32(0));
        scope.everywhere(zero, &[self.count()])
    }

    fn gesdd(&self, rebuild: &mut Rebuild<'_>) -> Option<Vec<InstrId>> {
        let (rows, columns) = (self.rows, self.columns);
        let count = rows.min(columns);
        let vectors = match self.option("mode")? {
            b'A' => Vectors::All,
            b'S' => Vectors::Some,
            b'N' => Vectors::None,
            _ => return None,
        };
        let [_, _, left, right, _] = &self.results[..] else { return None };
        let inner = |shape: &ArrayShape| shape.extents.get(self.batch.len()..).map(<[i64]>::to_vec);
        let (left, right) = match vectors {
            Vectors::All => (vec![rows, rows], vec![columns, columns]),
            Vectors::Some => (vec![rows, count], vec![count, columns]),
            Vectors::None => (inner(left)?, inner(right)?),
        };
        self.are(&self.operands, &[&[rows, columns]])?;
        self.are(&self.results, &[&[rows, columns], &[count], &left, &right, &[]])?;
        let mut scope = Scope::new(rebuild, rows.max(columns).saturating_add(1));
        let a = self.operand(&mut scope, 0);
        if self.is_empty() {
            // Vectors that belong to no value are those of a basis.
            let working = scope.element_type(a);
            let [left, right] = [left, right].map(|extents| {
                let extents = [&[self.count()], &extents[..]].concat();
                match (vectors, &extents[..]) {
                    (Vectors::All | Vectors::Some, &[batch, rows, columns]) => {
                        scope.identity(working, &[batch, rows, columns])
                    }
                    _ => scope.filled(working, 0.0, &extents),
                }
            });
            let real = real_type(working);
            let values = scope.filled(real, 0.0, &[self.count(), 0]);
            return Some(vec![a, values, left, right, self.success(&mut scope)]);
        }
        let made = singular::decomposed(&mut scope, a, vectors);
        let working = scope.element_type(a);
        let [left, right] = made.vectors.unwrap_or_else(|| {
            [left, right].map(|extents| scope.filled(working, 0.0, &[&[self.count()], &extents[..]].concat()))
        });
        Some(vec![a, made.values, left, right, made.info])
    }
}

/// Whether a value is zero everywhere, as its text says.
fn is_zero(rebuild: &Rebuild<'_>, value: InstrId) -> bool {
    let instruction = rebuild.get(value);
    match &instruction.op {
        Op::Broadcast { .. } | Op::Reshape | Op::Copy => {
            instruction.operands.first().is_some_and(|operand| is_zero(rebuild, *operand))
        }
        Op::Constant(literal) => {
            literal.data.len() == Some(0) || literal.splat().is_some_and(|scalar| scalar == Scalar::S32(0))
        }
        _ => false,
    }
}
