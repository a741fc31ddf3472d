//! One loop to one kernel.

use crate::binding::{Content, bound};
use crate::compile::{at, lower, shader};
use crate::emit::{Rounds, emit_rounds};
use crate::kernel::Kernel;
use crate::lower::Lowering;
use crate::shader::Shader;
use tracing::debug_span;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Instruction;
use weft_partition::{Fused, LoopPlan, Site, Target};

/// Rounds of a dispatch at least, where there are more dispatches than one: with fewer, launches of their own are no worse.
const MIN_ROUNDS: u64 = 16;

/// A loop as a kernel of one workgroup, which makes many rounds in a dispatch.
///
/// Operands are what [`LoopPlan::read`] says, in its order, then what is carried as it is before a dispatch; results are what is carried as it is
/// after it, and, where the loop's condition decides, behind that whether the loop goes on. A dispatch of a loop that is over changes nothing.
#[derive(Clone, Debug)]
pub struct LoopShader {
    /// What it was made by.
    pub plan: LoopPlan,
    /// The kernel.
    pub shader: Shader,
    /// How many rounds a dispatch of it makes, at most.
    pub rounds: u32,
    /// How often it is dispatched, where the number of rounds is known; else as long as it says that the loop goes on.
    pub dispatches: Option<u64>,
    /// What makes the rounds that are left after that, if any are.
    pub rest: Option<Shader>,
}

/// The kernel of a loop of a program ([`LoopPlan`]).
///
/// # Errors
/// `HLO421` with the reason for which a loop is none, and the errors of [`compile`](crate::compile()).
pub fn compile_loop(fused: &Fused, site: Site, target: &Target) -> Result<LoopShader, Diagnostics> {
    let instruction = loop_at(fused, site)?;
    let refused = |reason: String| {
        let message = format!("the loop is no kernel: {reason}");
        Diagnostics::from(Diagnostic::new("HLO421", instruction.span, message).about(&instruction.name))
    };
    let plan = LoopPlan::new(fused, site, target).map_err(refused)?;
    // Those of the loop itself, left in a round of its own, and those within it: a line over the number of rounds.
    let made = |rounds: u32| -> Result<u64, Diagnostics> {
        Ok(loop_kernel(fused, instruction, &plan, rounds, target)?.rounds())
    };
    let (one, two) = (made(1)?, made(2)?);
    let each = two.saturating_sub(one).max(1);
    let within_limit = target
        .max_loop_iterations
        .map_or(u64::MAX, |limit| u64::from(limit).saturating_sub(one.saturating_sub(each)) / each);
    let most = u64::from(plan.rounds).min(within_limit);
    if most < plan.trip_count.unwrap_or(MIN_ROUNDS).min(MIN_ROUNDS) {
        return Err(refused(format!("a dispatch would make no more than {most} rounds")));
    }
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    let compiled = |rounds: u32| compiled(fused, instruction, &plan, rounds, target);
    let (rounds, dispatches, rest) = match plan.trip_count {
        None => (most, None, 0),
        Some(count) => {
            let (rounds, dispatches, rest) = shared_out(count, most);
            (rounds, Some(dispatches), rest)
        }
    };
    let shader = compiled(rounds)?;
    let rest = if rest > 0 { Some(compiled(rest)?) } else { None };
    Ok(LoopShader { plan, shader, rounds, dispatches, rest })
}

fn loop_at(fused: &Fused, site: Site) -> Result<&Instruction, Diagnostics> {
    let none = || Diagnostic::new("HLO410", Default::default(), "there is no such instruction").into();
    fused.instruction(site).ok_or_else(none)
}

/// How many rounds each of how many dispatches makes, and how many are left, so that none makes more than `most`.
fn shared_out(count: u64, most: u32) -> (u32, u64, u32) {
    let each = count.div_ceil(count.div_ceil(u64::from(most.max(1))).max(1));
    let narrow = |rounds: u64| u32::try_from(rounds).unwrap_or(u32::MAX);
    match count.checked_div(each) {
        Some(dispatches) => (narrow(each), dispatches, narrow(count % each)),
        None => (0, 1, 0),
    }
}

/// The kernel of a loop as its emitter made it, before any lowering, for so many rounds a dispatch at most.
///
/// # Errors
/// `HLO412` for a tensor with more elements than 32-bit indices reach, `HLO417` where the kernel would break a limit of the target, and the errors of
/// emission.
pub fn loop_kernel(
    fused: &Fused,
    instruction: &Instruction,
    plan: &LoopPlan,
    rounds: u32,
    target: &Target,
) -> Result<Kernel, Diagnostics> {
    let rounds = if plan.flag.is_some() { Rounds::AtMost(rounds) } else { Rounds::Exactly(rounds) };
    let kernel = debug_span!("emit").in_scope(|| emit_rounds(fused, instruction, plan, rounds))?;
    debug_assert!(
        kernel.verify_rules().is_ok(),
        "emission keeps the rules of the kernel IR: {:?}\n{kernel}",
        kernel.verify_rules()
    );
    match kernel.exceeds(target).into_iter().next() {
        None => Ok(kernel),
        Some(broken) => {
            Err(Diagnostic::new("HLO417", instruction.span, broken.message).about(&instruction.name).into())
        }
    }
}

/// The kernel of a loop as [`compile_loop`] takes it, and after each lowering up to and with `last`, in their order.
///
/// # Errors
/// As [`compile_loop`].
pub fn lowered_loop(
    fused: &Fused,
    site: Site,
    target: &Target,
    last: Lowering,
) -> Result<(Kernel, Vec<(Lowering, Kernel)>), Diagnostics> {
    let LoopShader { plan, rounds, .. } = compile_loop(fused, site, target)?;
    let instruction = loop_at(fused, site)?;
    let emitted = loop_kernel(fused, instruction, &plan, rounds, target)?;
    let mut stages = Vec::with_capacity(Lowering::ALL.len());
    lower(emitted.clone(), instruction, target, last, |lowering, kernel| stages.push((lowering, kernel.clone())))?;
    Ok((emitted, stages))
}

fn compiled(
    fused: &Fused,
    instruction: &Instruction,
    plan: &LoopPlan,
    rounds: u32,
    target: &Target,
) -> Result<Shader, Diagnostics> {
    let emitted = loop_kernel(fused, instruction, plan, rounds, target)?;
    let bound = bound(&emitted, contents(plan));
    let kernel = lower(emitted, instruction, target, Lowering::LAST, |_, _| {})?;
    shader(&kernel, &bound).map_err(|findings| at(findings, instruction))
}

/// What the buffers of the kernel are, in their order.
fn contents(plan: &LoopPlan) -> Vec<Content> {
    let first = plan.read.len();
    let read = (0..first).map(Content::Operand);
    let apart = (first..).zip(&plan.carried).filter(|(_, carried)| carried.apart);
    let written = plan.carried.iter().enumerate().map(|(result, carried)| {
        let elements = carried.shape.element_count().and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        if carried.apart {
            Content::Result(result)
        } else {
            Content::Updated { result, operand: first + result, elements }
        }
    });
    let flag = plan.flag.map(|_| Content::Result(plan.carried.len()));
    read.chain(apart.map(|(operand, _)| Content::Operand(operand))).chain(written).chain(flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_shared_out_evenly() {
        assert_eq!(shared_out(0, 10), (0, 1, 0));
        assert_eq!(shared_out(7, 10), (7, 1, 0));
        assert_eq!(shared_out(10, 10), (10, 1, 0));
        assert_eq!(shared_out(12, 10), (6, 2, 0));
        assert_eq!(shared_out(13, 10), (7, 1, 6));
        assert_eq!(shared_out(10_000, 6_000), (5_000, 2, 0));
        assert_eq!(shared_out(u64::from(u32::MAX) * 8, 1 << 24).0, 1 << 24);
    }
}
