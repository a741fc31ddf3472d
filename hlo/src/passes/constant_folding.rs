//! Constant folding.

use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::side_effects::has_effect;
use super::wide_sums::narrow_fold;
use crate::diagnostic::Diagnostics;
use crate::eval::{self, Config};
use crate::ir::{Arena, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Literal, Module, Op};
use std::collections::BTreeMap;

/// Replaces instructions whose operands are constants by the constant that the [evaluator](crate::eval) gives for them,
/// unless the result or an operand is large, or the result is larger than all operands (`iota`, `broadcast`, `pad`), which
/// would turn a formula into data.
///
/// The constants have the same bits on every machine. A NaN that is computed has not, its sign and payload being up to the
/// processor; what gives one is left as it is. So are sums and products of narrow floats by `reduce` and `reduce-window`, which
/// implementations accumulate in a wider type ([`WideSums`](super::WideSums)), as the evaluator does not: folded or not, a sum is to be the same.
pub struct ConstantFolding;

/// Elements that a result may have.
const MAX_ELEMENTS: i64 = 1 << 12;
/// Elements that operands may have.
const MAX_READ: i64 = 1 << 16;
/// Products that a contraction or a window may come to, as a bound on the work.
const MAX_WORK: i64 = 1 << 22;

impl Pass for ConstantFolding {
    fn name(&self) -> &'static str {
        "constant-folding"
    }

    fn about(&self) -> &'static str {
        "computes what depends on constants only"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut fold))
    }
}

fn fold(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let is_folded = !matches!(
        candidate.op,
        Op::Parameter { .. }
            | Op::Constant(_)
            | Op::Tuple
            | Op::GetTupleElement { .. }
            | Op::While { .. }
            | Op::Conditional { .. }
            | Op::Call { .. }
            | Op::Fusion { .. }
            | Op::CustomCall { .. }
            | Op::OptimizationBarrier
            | Op::AfterAll
            | Op::AddDependency
            | Op::PartitionId
            | Op::ReplicaId
            | Op::Domain { .. }
    );
    if !is_folded
        || candidate.operands.is_empty()
        || has_effect(candidate, &|_| false)
        || narrow_fold(rebuild.computations(), candidate).is_some()
    {
        return None;
    }
    let result = candidate.shape.as_array()?;
    let count = result.element_count()?;
    let mut literals: Vec<Literal> = Vec::with_capacity(candidate.operands.len());
    for &operand in &candidate.operands {
        let Op::Constant(literal) = &rebuild.get(operand).op else { return None };
        if literal.data == Data::Elided {
            return None;
        }
        literals.push(literal.clone());
    }
    let read =
        literals.iter().try_fold(0i64, |sum, literal| sum.checked_add(literal.shape.as_array()?.element_count()?))?;
    let is_small = count <= MAX_ELEMENTS && read <= MAX_READ && count.checked_mul(read.max(1))? <= MAX_WORK;
    let grows = count > read.max(1) && !matches!(candidate.op, Op::Dot { .. });
    if !is_small || grows {
        return None;
    }
    let literal = evaluate(rebuild.computations(), candidate, literals)?;
    if !moves(&candidate.op) && has_nan(&literal.data) {
        return None;
    }
    Some(("an operation of constants is a constant", Rewrite::Op(Op::Constant(literal), Vec::new())))
}

/// Whether the elements of an operation's result are elements of its operands, or their bits.
fn moves(op: &Op) -> bool {
    matches!(
        op,
        Op::Bitcast
            | Op::BitcastConvert
            | Op::Broadcast { .. }
            | Op::Complex
            | Op::Concatenate { .. }
            | Op::Copy
            | Op::DynamicSlice { .. }
            | Op::DynamicUpdateSlice
            | Op::Gather { .. }
            | Op::Imag
            | Op::Pad { .. }
            | Op::Real
            | Op::Reshape
            | Op::Reverse { .. }
            | Op::Select
            | Op::Slice { .. }
            | Op::Transpose { .. }
    )
}

fn has_nan(data: &Data) -> bool {
    match eval::converted(data, ElementType::C128) {
        Some(Data::C128(values)) => values.iter().any(|value| value.re.is_nan() || value.im.is_nan()),
        _ => false,
    }
}

/// The value of an instruction of these constants, which may call some of the computations.
fn evaluate(
    all: &Arena<ComputationId, Computation>,
    candidate: &Instruction,
    literals: Vec<Literal>,
) -> Option<Literal> {
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut operands = Vec::with_capacity(literals.len());
    for (number, literal) in literals.into_iter().enumerate() {
        let shape = literal.shape.clone();
        operands.push(instructions.push(Instruction::new(
            format!("c{number}"),
            shape,
            Op::Constant(literal),
            Vec::new(),
        )));
    }
    let mut computations: Arena<ComputationId, Computation> = Arena::new();
    let mut root = Instruction::new("folded", candidate.shape.clone(), candidate.op.clone(), operands);
    copy_callees(all, &mut root.op, &mut computations)?;
    let root = instructions.push(root);
    let span = candidate.span;
    let entry = Computation { name: "folding".into(), instructions, root, attributes: Vec::new(), span };
    let entry = computations.push(entry);
    let folding = Module { name: "folding".into(), attributes: Vec::new(), tables: Vec::new(), computations, entry };
    let config = Config { instruction_limit: 1 << 10, iteration_limit: Some(0), ..Config::default() };
    let value = eval::evaluate_with(&folding, &[], &config).ok()?.into_iter().next()?;
    // The constant keeps the layout of what it stands for.
    Some(Literal { shape: candidate.shape.clone(), data: value.data })
}

/// Copies the computations that an operation calls, and has it call the copies. Fails where they call others.
fn copy_callees(
    all: &Arena<ComputationId, Computation>,
    op: &mut Op,
    copies: &mut Arena<ComputationId, Computation>,
) -> Option<()> {
    let mut known: BTreeMap<ComputationId, ComputationId> = BTreeMap::new();
    for callee in op.called_computations() {
        if known.contains_key(&callee) {
            continue;
        }
        let mut computation = all[callee].clone();
        // Of computations applied to elements few call others, and those that do are no constants worth folding. Those that look
        // at bits may see those of a NaN.
        let is_left = |op: &Op| !op.called_computations().is_empty() || matches!(op, Op::BitcastConvert);
        if computation.instructions.values().any(|instruction| is_left(&instruction.op)) {
            return None;
        }
        computation.name = format!("callee.{}", copies.len());
        known.insert(callee, copies.push(computation));
    }
    op.rename_computations(|callee| known[&callee]);
    Some(())
}
