//! Expansion of custom calls that HLO has an operation for.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{Instruction, Module, Op, TransposeKind};

/// Replaces custom calls whose target is known by the operation that computes the same: `TopK` by `topk`, LAPACK's `trsm` by
/// `triangular-solve`, annotations such as `Sharding` and `annotate_device_placement` by their operand.
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
            let Op::CustomCall { custom_call_target, custom_call_has_side_effect, .. } = &candidate.op else {
                return None;
            };
            match custom_call_target.as_str() {
                // Where a value is to be is no effect of a program that one device runs, whatever its text says.
                "Sharding"
                | "SPMDFullToShardShape"
                | "SPMDShardToFullShape"
                | "annotate_device_placement"
                | "MoveToHost"
                | "MoveToDevice" => annotation(rebuild, candidate),
                _ if *custom_call_has_side_effect => None,
                "TopK" => top_k(rebuild, candidate),
                "lapack_strsm_ffi" | "lapack_dtrsm_ffi" | "lapack_ctrsm_ffi" | "lapack_ztrsm_ffi" => {
                    solve(rebuild, candidate)
                }
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
