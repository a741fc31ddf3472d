//! Expansion of custom calls that HLO has an operation for.

use super::build::Build;
use super::build::Callee;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    BinaryOp, ComparisonDirection, Computation, ElementType, Instruction, Module, Op, Scalar, Shape, TransposeKind,
};

/// Replaces custom calls whose target is known by the operation that computes the same: `TopK` by `topk`, LAPACK's `potrf` by
/// `cholesky` and `trsm` by `triangular-solve`, annotations such as `Sharding` by their operand.
///
/// What LAPACK leaves open may come out otherwise: the triangle that `potrf` does not write, and both triangles where it fails;
/// its `info` is 1 then.
pub struct ExpandCustomCalls;

impl Pass for ExpandCustomCalls {
    fn name(&self) -> &'static str {
        "custom-calls"
    }

    fn about(&self) -> &'static str {
        "replaces custom calls by the operations that compute the same"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let Op::CustomCall { custom_call_target, custom_call_has_side_effect: false, .. } = &candidate.op else {
                return None;
            };
            match custom_call_target.as_str() {
                "TopK" => top_k(rebuild, candidate),
                "lapack_spotrf_ffi" | "lapack_dpotrf_ffi" | "lapack_cpotrf_ffi" | "lapack_zpotrf_ffi" => {
                    factor(rebuild, candidate)
                }
                "lapack_strsm_ffi" | "lapack_dtrsm_ffi" | "lapack_ctrsm_ffi" | "lapack_ztrsm_ffi" => {
                    solve(rebuild, candidate)
                }
                "Sharding" | "SPMDFullToShardShape" | "SPMDShardToFullShape" => annotation(rebuild, candidate),
                _ => None,
            }
        }))
    }
}

fn annotation(rebuild: &Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let is_same = rebuild.get(operand).shape.is_compatible(&candidate.shape);
    is_same.then_some(("an annotation is its operand", Rewrite::Value(operand)))
}

fn top_k(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let [values, _] = candidate.shape.as_tuple()? else { return None };
    let k = *values.as_array()?.extents.last()?;
    let op = Op::TopK { k, largest: true };
    let topk = rebuild.add(candidate.shape.clone(), op, vec![operand]);
    Some(("TopK is topk", Rewrite::Value(topk)))
}

/// The letter that a custom call of LAPACK gives for an option, as `uplo = 76 : ui8` for `L`; 1 for what is true, 0 for what is not.
pub(super) fn option(candidate: &Instruction, name: &str) -> Option<u8> {
    number(candidate, name).and_then(|number| u8::try_from(number).ok())
}

/// The number that a custom call of LAPACK gives for an option.
pub(super) fn number(candidate: &Instruction, name: &str) -> Option<i64> {
    let config = candidate.attributes.iter().find(|attribute| attribute.name == "backend_config")?;
    let text = config.value.trim_matches(|c| c == '{' || c == '}');
    let given = text.split(',').filter_map(|part| part.split_once('='));
    let (_, value) = given.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name)?;
    match value.split(':').next()?.trim() {
        "true" => Some(1),
        "false" => Some(0),
        number => number.parse().ok(),
    }
}

fn factor(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let [matrix, info] = candidate.shape.as_tuple()? else { return None };
    let (matrix, info) = (matrix.clone(), info.as_array()?.clone());
    let lower = match option(candidate, "uplo")? {
        b'L' => true,
        b'U' => false,
        _ => return None,
    };
    if info.element_type != ElementType::S32 || !rebuild.get(operand).shape.is_compatible(&matrix) {
        return None;
    }
    let rank = matrix.as_array()?.rank() as i64;
    let factor = rebuild.add(matrix, Op::Cholesky { lower }, vec![operand]);
    // A matrix that has no factor has one with NaN in it.
    let is_nan = rebuild.compared(ComparisonDirection::Ne, factor, factor);
    let no = rebuild.scalar(Scalar::Pred(false));
    let either = rebuild.add_computation(either(candidate));
    let any = Op::Reduce { dimensions: vec![rank - 2, rank - 1], to_apply: either };
    let failed = rebuild.add(Shape::array(ElementType::Pred, info.extents.clone()), any, vec![is_nan, no]);
    let info = rebuild.converted(failed, ElementType::S32);
    Some(("potrf is cholesky", Rewrite::Value(rebuild.add(candidate.shape.clone(), Op::Tuple, vec![factor, info]))))
}

/// A computation that says whether either of two is true.
fn either(candidate: &Instruction) -> Computation {
    let mut callee = Callee::new("either", candidate.span);
    let [a, b] = [(); 2].map(|()| callee.parameter(Shape::scalar(ElementType::Pred)));
    let either = callee.binary(BinaryOp::Or, a, b);
    callee.finish(either)
}

fn solve(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [matrix, right] = candidate.operands[..] else { return None };
    let result = candidate.shape.as_array()?;
    if !rebuild.array(right).same_type_and_extents(result) {
        return None;
    }
    let flag = |name: &str, yes: u8, no: u8| match option(candidate, name)? {
        letter if letter == yes => Some(true),
        letter if letter == no => Some(false),
        _ => None,
    };
    let op = Op::TriangularSolve {
        left_side: flag("side", b'L', b'R')?,
        lower: flag("uplo", b'L', b'U')?,
        unit_diagonal: flag("diag", b'U', b'N')?,
        transpose_a: match option(candidate, "trans_x")? {
            b'N' => TransposeKind::None,
            b'T' => TransposeKind::Transpose,
            b'C' => TransposeKind::Adjoint,
            _ => return None,
        },
    };
    let shape = candidate.shape.clone();
    Some(("trsm is triangular-solve", Rewrite::Value(rebuild.add(shape, op, vec![matrix, right]))))
}
