//! One fusion to one shader.

use crate::emit::emit_loop;
use crate::kernel::{Kernel, Memory, Space};
use crate::lower::Lowering;
use crate::shader::{Binding, Content, Proofs, Shader};
use crate::validate::validate;
use crate::wgsl;
use std::collections::BTreeMap;
use std::ops::Range;
use tracing::debug_span;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Computation, InstrId, Instruction, Op};
use weft_partition::{Fused, FusionPlan, Target};

/// The shader of one fusion of the entry computation.
///
/// Each step is a span of its own, at level `DEBUG`: `emit`, `lower`, `verify`, `write` and `validate`.
///
/// # Errors
/// `HLO410` if `id` is no fusion, `HLO411`–`HLO414` for what cannot be emitted, `HLO417`, `HLO418` where the kernel would break
/// a limit of the target, `HLO415` if naga refuses the text: that is a defect of this crate, reported with naga's reason, as is
/// `HLO419` if the kernel breaks a rule that [`Kernel::verify`] checks.
pub fn compile(fused: &Fused, id: InstrId, target: &Target) -> Result<Shader, Diagnostics> {
    let (fusion, plan) = fusion(fused, id)?;
    let kernel = lower(fused, id, target, Lowering::LAST, |_, _| {})?;
    let proofs = debug_span!("verify").in_scope(|| Proofs::of(&kernel));
    let proofs = proofs.map_err(|broken| {
        let message = format!("{broken}; this is a fault of the compiler");
        Diagnostic::new("HLO419", fusion.span, message).about(&fusion.name)
    })?;
    let written = debug_span!("write").in_scope(|| wgsl::write(&kernel));
    let source = written.map_err(|findings| at(findings, fusion))?;
    let validated = debug_span!("validate").in_scope(|| validate(&source));
    let (naga_module, info) =
        validated.map_err(|reason| Diagnostic::new("HLO415", fusion.span, reason).about(&fusion.name))?;
    let mut bindings: BTreeMap<u32, Binding> = BTreeMap::new();
    let buffers = kernel.memories.iter().filter(|(_, memory)| memory.is_buffer());
    for ((id, memory), content) in buffers.zip(contents(fused, fusion, plan)) {
        if let Space::Buffer { binding, .. } = memory.space {
            let writable = kernel.may_change(id);
            let (name, shape, uniform) = (memory.name.clone(), memory.held().clone(), memory.is_uniform());
            let windows = windows(&kernel, memory)
                .map_err(|error| Diagnostic::new("HLO302", fusion.span, error.to_string()).about(&fusion.name))?;
            let first = || Binding { name, shape, writable, uniform, content, windows };
            bindings.entry(binding).or_insert_with(first);
        }
    }
    let workgroups = kernel.workgroups().map(|groups| u32::try_from(groups).unwrap_or(0));
    Ok(Shader {
        name: kernel.name.clone(),
        source,
        entry_point: wgsl::ENTRY_POINT.to_owned(),
        bindings: bindings.into_values().collect(),
        parameter_binding: wgsl::bindings(&kernel),
        windows: u32::try_from(kernel.windows).unwrap_or(u32::MAX),
        window_binding: kernel.has_windows().then(|| wgsl::bindings(&kernel) + 1),
        workgroup_size: [u32::try_from(kernel.threads()).unwrap_or(1), 1, 1],
        workgroups,
        proofs,
        module: naga_module,
        info,
    })
}

/// The words of a memory that each dispatch binds; none where each binds all.
fn windows(kernel: &Kernel, memory: &Memory) -> Result<Vec<Range<u64>>, weft_affine::Error> {
    let Some(window) = &memory.window else { return Ok(Vec::new()) };
    let words = memory.words().unwrap_or(i64::MAX);
    let of_dispatch = |number: i64| {
        let Range { start, end } = window.words(number, words)?;
        let [start, end] = [start, end].map(|position| u64::try_from(position).unwrap_or(0));
        Ok(start..end)
    };
    (0..kernel.windows).map(of_dispatch).collect()
}

/// What the buffers of a kernel are to its fusion, in their order.
fn contents(fused: &Fused, fusion: &Instruction, plan: &FusionPlan) -> Vec<Content> {
    let computation = fusion.op.called_computations().first().map(|calls| &fused.module.computations[*calls]);
    let parameters = computation.map(Computation::parameters).unwrap_or_default();
    let is_updated = |parameter: &InstrId| plan.updates().iter().any(|update| update.operand == *parameter);
    let kept = (0..parameters.len()).filter(|operand| !is_updated(&parameters[*operand]));
    let result = |result: usize| {
        let updated = plan.updates().get(result).and_then(|update| {
            let operand = parameters.iter().position(|parameter| *parameter == update.operand)?;
            let elements: i64 = plan.function(update.function).extents.iter().product();
            Some(Content::Updated { result, operand, elements: u64::try_from(elements).unwrap_or(0) })
        });
        updated.unwrap_or(Content::Result(result))
    };
    let results = 0..fusion.shape.leaves().len();
    kept.map(Content::Operand).chain(results.map(result)).collect()
}

/// The kernel of one fusion as its emitter made it, before any lowering.
///
/// # Errors
/// As [`compile`].
pub fn kernel(fused: &Fused, id: InstrId, target: &Target) -> Result<Kernel, Diagnostics> {
    let (fusion, plan) = fusion(fused, id)?;
    let kernel = debug_span!("emit").in_scope(|| emit_loop(fused, fusion, plan, target))?;
    debug_assert!(kernel.verify().is_ok(), "emission keeps the rules of the kernel IR:\n{kernel}");
    match kernel.exceeds(target).into_iter().next() {
        None => Ok(kernel),
        Some(broken) => Err(Diagnostic::new("HLO417", fusion.span, broken.message).about(&fusion.name).into()),
    }
}

/// The kernel of one fusion after each lowering up to and with `last`, in their order.
///
/// # Errors
/// As [`compile`].
pub fn lowered(
    fused: &Fused,
    id: InstrId,
    target: &Target,
    last: Lowering,
) -> Result<Vec<(Lowering, Kernel)>, Diagnostics> {
    let mut stages = Vec::with_capacity(Lowering::ALL.len());
    lower(fused, id, target, last, |lowering, kernel| stages.push((lowering, kernel.clone())))?;
    Ok(stages)
}

/// The kernel of one fusion after all lowerings up to and with `last`, each of which is shown.
fn lower(
    fused: &Fused,
    id: InstrId,
    target: &Target,
    last: Lowering,
    mut show: impl FnMut(Lowering, &Kernel),
) -> Result<Kernel, Diagnostics> {
    let (fusion, _) = fusion(fused, id)?;
    let mut kernel = kernel(fused, id, target)?;
    let _span = debug_span!("lower").entered();
    for lowering in Lowering::ALL.into_iter().take_while(|lowering| *lowering <= last) {
        kernel = lowering.apply(&kernel, target).map_err(|findings| at(findings, fusion))?;
        debug_assert!(
            kernel.verify().is_ok(),
            "'{lowering}' keeps the rules of the kernel IR: {:?}\n{kernel}",
            kernel.verify().err()
        );
        show(lowering, &kernel);
    }
    Ok(kernel)
}

/// The plan of one fusion, as text ([`FusionPlan::text`]).
///
/// # Errors
/// As [`compile`].
pub fn functions_text(fused: &Fused, id: InstrId) -> Result<String, Diagnostics> {
    let (fusion, plan) = fusion(fused, id)?;
    let Op::Fusion { calls, .. } = fusion.op else { return Ok(String::new()) };
    Ok(plan.text(&fused.module.computations[calls]))
}

/// A fusion of the entry, and its plan.
fn fusion(fused: &Fused, id: InstrId) -> Result<(&Instruction, &FusionPlan), Diagnostics> {
    let module = &fused.module;
    let Some(fusion) = module.entry_computation().instructions.get(id) else {
        return Err(Diagnostic::new("HLO410", Default::default(), "there is no such instruction").into());
    };
    let Op::Fusion { calls, .. } = fusion.op else {
        let message = format!("'{}' is no fusion; fuse the module first", fusion.op.name());
        return Err(Diagnostic::new("HLO410", fusion.span, message).about(&fusion.name).into());
    };
    let refused = fused.uncompiled.iter().find(|one| one.computation == module.entry && one.instruction == id);
    if let Some(refused) = refused {
        return Err(refused.reason.clone().into());
    }
    fused.plan(calls).map(|plan| (fusion, plan)).ok_or_else(|| {
        let message = "the fused module has no plan for it; this is a fault of the compiler";
        Diagnostic::new("HLO410", fusion.span, message).about(&fusion.name).into()
    })
}

/// Findings without a place get the fusion's.
fn at(findings: Diagnostics, fusion: &Instruction) -> Diagnostics {
    let placed = findings.0.into_iter().map(|mut finding| {
        finding.span = fusion.span;
        finding.about(&fusion.name)
    });
    Diagnostics(placed.collect())
}
