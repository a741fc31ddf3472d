//! One fusion to one shader.

use crate::binding::{Binding, Content, Contents, bound};
use crate::emit::{Lanes, emit_loop};
use crate::kernel::{Access, Kernel, Memory, MemoryId, Space};
use crate::lower::{Lowering, NO_LANES, alike_calls_before};
use crate::shader::{Proofs, Shader};
use crate::validate::{Used, validate};
use crate::wgsl;
use std::collections::BTreeMap;
use std::ops::Range;
use tracing::debug_span;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Computation, InstrId, Instruction, Op, Span};
use weft_partition::{Fused, FusionPlan, Site, Target};

/// The shader of one fusion of a program ([`Fused::fusions`]).
///
/// Each step is a span of its own, at level `DEBUG`: `emit`, `lower`, `verify`, `write` and `validate`.
///
/// # Errors
/// `HLO410` if there is no fusion at `site`, `HLO411`–`HLO414` for what cannot be emitted, `HLO417`, `HLO418` where the kernel would break
/// a limit of the target, `HLO415` if naga refuses the text: that is a defect of this crate, reported with naga's reason, as is
/// `HLO419` if the kernel breaks a rule that [`Kernel::verify`] checks.
pub fn compile(fused: &Fused, site: Site, target: &Target) -> Result<Shader, Diagnostics> {
    let (fusion, plan) = fusion(fused, site)?;
    let emitted = kernel(fused, site, target)?;
    let bound = bound(&emitted, contents(fused, fusion, plan));
    let kernel = made(fused, site, target, (emitted, Lowering::LAST), &mut |_, _| {})?;
    shader(&kernel, &bound).map_err(|findings| at(findings, fusion))
}

/// The shader of a kernel that was written as text, or made otherwise, after all lowerings. What it reads are the operands, in the order of its
/// memories, and what it writes the results; a memory that it reads and writes is an operand and a result.
///
/// ```
/// use weft_codegen_wgsl::{Target, compile_kernel, kernel::Kernel};
///
/// let kernel = Kernel::parse("kernel @sum(in %x: f32[64], out %y: f32[1]) {
///   func @add(; %0: f32, %1: f32) -> (f32) { %2: f32 = add %0, %1 return %2 }
///   entry groups [1] threads 64 {
///     %0: f32 = extract %x[d1]
///     %1: f32 = reduce workgroup @add %0
///     if d1 in [0, 0] { store %y[0], %1 }
///   }
/// }")?;
/// let shader = compile_kernel(&kernel, &Target::default())?;
/// assert!(shader.proofs().are_complete());
/// assert!(shader.source.contains("workgroupBarrier()"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `HLO419` if the kernel breaks a rule that [`Kernel::verify`] checks, `HLO417` if it breaks a limit of the target, and as [`compile`].
pub fn compile_kernel(kernel: &Kernel, target: &Target) -> Result<Shader, Diagnostics> {
    let refused = |code: &'static str, message: String| {
        Diagnostics::from(Diagnostic::new(code, Span::default(), message).about(&kernel.name))
    };
    kernel
        .verify()
        .map_err(|broken| refused("HLO419", broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    if let Some(broken) = kernel.exceeds(target).into_iter().next() {
        return Err(refused("HLO417", broken.message));
    }
    let mut lowered = with_identifiers(kernel);
    for lowering in Lowering::ALL {
        lowered = lowering.apply(&lowered, target)?;
    }
    let (mut operands, mut results) = (0.., 0..);
    let content = |(id, memory): (MemoryId, &Memory)| {
        let (Space::Buffer { access, .. }, None) = (memory.space, memory.part_of) else { return None };
        Some(match access {
            Access::Read | Access::Uniform => Content::Operand(operands.next().unwrap_or(0)),
            Access::Write => Content::Result(results.next().unwrap_or(0)),
            Access::ReadWrite | Access::Scattered => Content::Updated {
                result: results.next().unwrap_or(0),
                operand: operands.next().unwrap_or(0),
                elements: kernel.memories[id]
                    .shape
                    .element_count()
                    .and_then(|count| count.try_into().ok())
                    .unwrap_or(0),
            },
        })
    };
    let contents: Vec<Content> = kernel.memories.iter().filter_map(content).collect();
    let shader = shader(&lowered, &bound(kernel, contents))?;
    if shader.bindings.len() == usize::try_from(shader.parameter_binding).unwrap_or(usize::MAX) {
        return Ok(shader);
    }
    Err(refused("HLO413", "the numbers of its bindings leave some out".to_owned()))
}

/// Invocations of a workgroup, and windows, of a kernel that is read: proofs take time and memory by them.
const MAX_READ: i64 = 1 << 16;

/// The shader of a kernel that has gone through all lowerings for a target, as [`Shader::kernel`] has it, given what lies in its bindings, in their
/// order. Nothing is believed: the kernel is verified, its text written and validated anew.
///
/// # Errors
/// `HLO416` if the text of the kernel cannot be read, `HLO419` if it breaks a rule that [`Kernel::verify`] checks or WGSL cannot spell one of
/// its names, `HLO417` if it breaks a limit of the target, and as [`compile`].
pub fn compile_lowered(text: &str, contents: &[Contents], target: &Target) -> Result<Shader, Diagnostics> {
    let kernel = Kernel::parse(text)?;
    let refused = |code: &'static str, message: String| {
        Diagnostics::from(Diagnostic::new(code, Span::default(), message).about(&kernel.name))
    };
    for (what, count) in [("invocations in a workgroup", kernel.threads()), ("windows", kernel.windows)] {
        if count > MAX_READ {
            return Err(refused("HLO417", format!("it has {count} {what}, more than {MAX_READ}")));
        }
    }
    for memory in kernel.memories.values() {
        let is_bound = match memory.space {
            Space::Buffer { binding, .. } => {
                let contents = usize::try_from(binding).ok().and_then(|binding| contents.get(binding));
                contents.is_some_and(|contents| contents.hold(memory))
            }
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => true,
        };
        if !is_bound || memory.held().element_count().is_none() || memory.shape.element_count().is_none() {
            return Err(refused(
                "HLO417",
                format!("%{}, {}, is in no buffer that is told of", memory.name, memory.held()),
            ));
        }
    }
    kernel
        .verify()
        .map_err(|broken| refused("HLO419", broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    if let Some(broken) = kernel.exceeds(target).into_iter().next() {
        return Err(refused("HLO417", broken.message));
    }
    // Names stand in the text as they are, so they have to be nothing but names there.
    let spelled = with_identifiers(&kernel);
    let names = |kernel: &Kernel| -> Vec<String> {
        let memories = kernel.memories.values().map(|memory| memory.name.clone());
        memories.chain(kernel.functions.values().map(|function| function.name.clone())).collect()
    };
    if let Some((name, _)) = names(&kernel).into_iter().zip(names(&spelled)).find(|(name, other)| name != other) {
        return Err(refused("HLO419", format!("`{name}` is no name in WGSL, or one that is taken")));
    }
    if kernel.name.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(refused("HLO419", "the kernel's name has more than one line".to_owned()));
    }
    let bound = (0..).zip(contents.iter().cloned()).collect();
    let shader = shader(&kernel, &bound)?;
    if shader.bindings.len() == contents.len() && usize::try_from(shader.parameter_binding) == Ok(contents.len()) {
        return Ok(shader);
    }
    let (bindings, contents) = (shader.parameter_binding, contents.len());
    Err(refused("HLO413", format!("it has {bindings} bindings, and {contents} are told of")))
}

/// The kernel with names that WGSL can spell, as kernels of emitters have them.
fn with_identifiers(kernel: &Kernel) -> Kernel {
    let (mut kernel, mut names) = (kernel.clone(), wgsl::Names::globals());
    kernel.memories.values_mut().for_each(|memory| memory.name = names.take(&memory.name));
    kernel.functions.values_mut().for_each(|function| function.name = names.take(&function.name));
    kernel
}

/// The shader of a kernel that has gone through all lowerings, given what lies in its bindings.
pub(crate) fn shader(kernel: &Kernel, bound: &BTreeMap<u32, Contents>) -> Result<Shader, Diagnostics> {
    if kernel.lanes != 1 {
        let message = "its invocations have yet to be merged to lanes";
        return Err(Diagnostic::new("HLO413", Span::default(), message).about(&kernel.name).into());
    }
    let proofs = debug_span!("verify").in_scope(|| Proofs::of(kernel)).map_err(|broken| {
        let message = format!("{broken}; this is a fault of the compiler");
        Diagnostic::new("HLO419", Span::default(), message)
    })?;
    let source = debug_span!("write").in_scope(|| wgsl::write(kernel))?;
    let used = Used {
        subgroups: wgsl::uses_subgroups(&kernel.entry.body),
        f64: kernel.has_f64(),
        pairs: kernel.has_pairs(),
        matrices: kernel.has_matrices(),
        f16: kernel.has_halves(),
    };
    let validated = debug_span!("validate").in_scope(|| validate(&source, used));
    let (module, info) = validated.map_err(|reason| Diagnostic::new("HLO415", Span::default(), reason))?;
    let mut bindings: BTreeMap<u32, Binding> = BTreeMap::new();
    for (id, memory) in kernel.memories.iter() {
        if let Space::Buffer { binding, .. } = memory.space
            && let Some(contents) = bound.get(&binding)
        {
            let writable = kernel.may_change(id);
            let (name, uniform, tensors) = (memory.name.clone(), memory.is_uniform(), contents.tensors(memory));
            let windows = windows(kernel, memory)
                .map_err(|error| Diagnostic::new("HLO302", Span::default(), error.to_string()))?;
            let first = || Binding { name, writable, uniform, tensors, windows };
            bindings.entry(binding).or_insert_with(first);
        }
    }
    let workgroups = kernel.workgroups().map(|groups| u32::try_from(groups).unwrap_or(0));
    Ok(Shader {
        name: kernel.name.clone(),
        source,
        entry_point: wgsl::ENTRY_POINT.to_owned(),
        bindings: bindings.into_values().collect(),
        parameter_binding: wgsl::bindings(kernel),
        windows: u32::try_from(kernel.windows).unwrap_or(u32::MAX),
        window_binding: kernel.has_windows().then(|| wgsl::bindings(kernel) + 1),
        workgroup_size: [u32::try_from(kernel.threads()).unwrap_or(1), 1, 1],
        workgroups,
        structure: kernel.structure(),
        kernel: kernel.to_string(),
        proofs,
        module,
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
pub fn kernel(fused: &Fused, site: Site, target: &Target) -> Result<Kernel, Diagnostics> {
    emitted_with(fused, site, target, Lanes::Planned)
}

fn emitted_with(fused: &Fused, site: Site, target: &Target, lanes: Lanes) -> Result<Kernel, Diagnostics> {
    let (fusion, plan) = fusion(fused, site)?;
    let mut kernel = debug_span!("emit").in_scope(|| emit_loop(fused, (site, fusion), plan, target, lanes))?;
    alike_calls_before(&mut kernel);
    debug_assert!(
        kernel.verify_rules().is_ok(),
        "emission keeps the rules of the kernel IR: {:?}\n{kernel}",
        kernel.verify_rules()
    );
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
    site: Site,
    target: &Target,
    last: Lowering,
) -> Result<Vec<(Lowering, Kernel)>, Diagnostics> {
    let mut stages: Vec<(Lowering, Kernel)> = Vec::with_capacity(Lowering::ALL.len());
    let emitted = kernel(fused, site, target)?;
    made(fused, site, target, (emitted, last), &mut |lowering, kernel| {
        // What is made again begins anew.
        stages.retain(|(before, _)| *before < lowering);
        stages.push((lowering, kernel.clone()));
    })?;
    Ok(stages)
}

/// The emitted kernel of one fusion, lowered; where its invocations cannot be lanes of others, one that is emitted without lanes.
fn made(
    fused: &Fused,
    site: Site,
    target: &Target,
    (emitted, last): (Kernel, Lowering),
    show: &mut dyn FnMut(Lowering, &Kernel),
) -> Result<Kernel, Diagnostics> {
    let (fusion, _) = fusion(fused, site)?;
    let has_lanes = emitted.lanes > 1;
    match lower(emitted, fusion, target, last, &mut *show) {
        Err(findings) if has_lanes && findings.0.iter().any(|finding| finding.code == NO_LANES) => {
            tracing::debug!(kernel = %fusion.name, %findings, "it is made without lanes");
            lower(emitted_with(fused, site, target, Lanes::One)?, fusion, target, last, show)
        }
        lowered => lowered,
    }
}

/// The kernel of one fusion after all lowerings up to and with `last`, each of which is shown.
pub(crate) fn lower(
    mut kernel: Kernel,
    fusion: &Instruction,
    target: &Target,
    last: Lowering,
    mut show: impl FnMut(Lowering, &Kernel),
) -> Result<Kernel, Diagnostics> {
    let _span = debug_span!("lower").entered();
    for lowering in Lowering::ALL.into_iter().take_while(|lowering| *lowering <= last) {
        let lowered = lowering.apply(&kernel, target).map_err(|findings| at(findings, fusion))?;
        let before = std::mem::replace(&mut kernel, lowered);
        debug_assert!(
            kernel == before || kernel.verify_rules().is_ok(),
            "'{lowering}' keeps the rules of the kernel IR: {:?}\n{kernel}",
            kernel.verify_rules().err()
        );
        show(lowering, &kernel);
    }
    Ok(kernel)
}

/// The plan of one fusion, as text ([`FusionPlan::text`]).
///
/// # Errors
/// As [`compile`].
pub fn functions_text(fused: &Fused, site: Site) -> Result<String, Diagnostics> {
    let (fusion, plan) = fusion(fused, site)?;
    let Op::Fusion { calls, .. } = fusion.op else { return Ok(String::new()) };
    Ok(plan.text(&fused.module.computations[calls]))
}

/// A fusion, and its plan.
fn fusion(fused: &Fused, site: Site) -> Result<(&Instruction, &FusionPlan), Diagnostics> {
    let Some(fusion) = fused.instruction(site) else {
        return Err(Diagnostic::new("HLO410", Default::default(), "there is no such instruction").into());
    };
    let Op::Fusion { calls, .. } = fusion.op else {
        let message = format!("'{}' is no fusion; fuse the module first", fusion.op.name());
        return Err(Diagnostic::new("HLO410", fusion.span, message).about(&fusion.name).into());
    };
    let refused = fused.uncompiled.iter().find(|one| one.site == site);
    if let Some(refused) = refused {
        return Err(refused.reason.clone().into());
    }
    fused.plan(calls).map(|plan| (fusion, plan)).ok_or_else(|| {
        let message = "the fused module has no plan for it; this is a fault of the compiler";
        Diagnostic::new("HLO410", fusion.span, message).about(&fusion.name).into()
    })
}

/// Findings without a place get the fusion's.
pub(crate) fn at(findings: Diagnostics, fusion: &Instruction) -> Diagnostics {
    let placed = findings.0.into_iter().map(|mut finding| {
        finding.span = fusion.span;
        finding.about(&fusion.name)
    });
    Diagnostics(placed.collect())
}
