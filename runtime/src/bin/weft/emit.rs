//! `weft emit`.

use crate::args::{Emit, Format, Stage};
use crate::report::{Failure, Outcome, note};
use crate::source::Source;
use crate::{device, is_json, output, passes};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{Shader, functions_text, kernel, lowered, lowered_loop};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Op;
use weft_partition::{Fused, Site, Target, Uncompiled};

/// What becomes one kernel.
#[derive(Copy, Clone)]
enum Subject {
    Fusion(Site),
    /// A loop whose state is small.
    Loop(Site),
}

/// A kernel at the stage asked for.
enum Code {
    Text(String),
    Words(Vec<u32>),
}

/// Why a kernel has no code at some stage.
enum Trouble {
    Program(Diagnostics),
    Writer(String),
}

impl From<Diagnostics> for Trouble {
    fn from(findings: Diagnostics) -> Self {
        Trouble::Program(findings)
    }
}

pub(crate) fn emit(arguments: &Emit, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let target = device::target(&arguments.target)?;
    let failed = |findings: Diagnostics| Failure::Findings(Arc::clone(&source), findings);
    let optimized = arguments.passes.applied(&source, &module)?;
    let fused = weft_partition::fuse_with(&optimized.module, &target, arguments.passes.fusing()).map_err(failed)?;
    let fused = fused.with_conditions_joined(&target, true);
    let fusions = selected(&fused, &target, arguments.kernel.as_deref())?;
    let to_pipe = !is_json(format) && !std::io::stdout().is_terminal();
    if arguments.stage == Stage::Spirv && to_pipe && fusions.len() != 1 {
        let count = fusions.len();
        return Err(Failure::Misuse(format!("{count} kernels do not fit one SPIR-V binary; take one with --kernel")));
    }
    let mut kernels = Vec::with_capacity(fusions.len());
    let is_refused =
        |one: &&Uncompiled| !matches!(fused.instruction(one.site).map(|it| &it.op), Some(Op::Fusion { .. }));
    let mut missing: Vec<Diagnostic> =
        fused.uncompiled.iter().filter(is_refused).map(|one| one.reason.clone()).collect();
    for (number, subject) in fusions {
        match code(&fused, subject, &target, arguments.stage) {
            Ok(code) => kernels.push((number, name(&fused, subject), code)),
            Err(Trouble::Program(findings)) => missing.extend(findings.0),
            Err(Trouble::Writer(message)) => return Err(Failure::message(message)),
        }
    }
    // What the host computes has no code, and nobody asked for it by name unless there is nothing else.
    if kernels.is_empty() && !missing.is_empty() {
        return Err(failed(Diagnostics(missing)));
    }
    for Diagnostic { instruction, code, message, .. } in &missing {
        note(&format!("{instruction} has no kernel: {code}: {message}"), format)?;
    }
    if is_json(format) {
        let kernels: Vec<Value> = kernels.iter().map(|(number, name, code)| kernel_json(*number, name, code)).collect();
        let mut value = json!({ "stage": stage_name(arguments.stage), "kernels": kernels });
        arguments.passes.explain_in(&mut value, &optimized.runs);
        output::json(&value)?;
        return Ok(Outcome::Done);
    }
    if let ([(_, _, Code::Words(words))], true) = (kernels.as_slice(), to_pipe) {
        // A binary has no room for comments.
        if arguments.passes.explain {
            note(passes::to_text(&optimized.runs).trim_end(), format)?;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        output::bytes(&bytes)?;
        return Ok(Outcome::Done);
    }
    let mut text = arguments.passes.explanation(&optimized.runs);
    for (number, name, code) in &kernels {
        if kernels.len() > 1 {
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}// kernel {number}: {name}\n");
        }
        match code {
            Code::Text(code) => text += code,
            Code::Words(words) => text += &hexadecimal(words),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    output::text(&text)?;
    Ok(Outcome::Done)
}

/// The fusions of the program with their numbers, the entry's first, and its loops that are kernels behind them, or the one that `wanted`
/// names or numbers.
fn selected(fused: &Fused, target: &Target, wanted: Option<&str>) -> Result<Vec<(usize, Subject)>, Failure> {
    let mut all: Vec<(usize, Subject)> =
        fused.fusions().map(Subject::Fusion).chain(loops(fused, target)).enumerate().collect();
    let Some(wanted) = wanted else { return Ok(all) };
    let plain = wanted.strip_prefix('%').unwrap_or(wanted);
    let number = wanted.parse().ok();
    let found = all.iter().position(|&(index, subject)| name(fused, subject) == plain || Some(index) == number);
    match found {
        Some(position) => Ok(vec![all.swap_remove(position)]),
        None => {
            let names: Vec<String> =
                all.iter().map(|&(index, subject)| format!("{index} {}", name(fused, subject))).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            Err(Failure::message(format!("there is no kernel {wanted}; there are: {names}")))
        }
    }
}

/// The loops that are one kernel each.
fn loops(fused: &Fused, target: &Target) -> impl Iterator<Item = Subject> {
    let mut sites = Vec::new();
    for (computation, body) in fused.module.computations.iter() {
        let of_loops = body.instructions.iter().filter(|(_, it)| matches!(it.op, Op::While { .. }));
        sites.extend(of_loops.map(|(instruction, _)| Site { computation, instruction }));
    }
    sites.retain(|site| weft_codegen_wgsl::compile_loop(fused, *site, target).is_ok());
    sites.into_iter().map(Subject::Loop)
}

fn name(fused: &Fused, subject: Subject) -> String {
    match subject {
        Subject::Fusion(site) => fused.name(site),
        Subject::Loop(site) => fused.instruction(site).map_or_else(String::new, |instruction| instruction.name.clone()),
    }
}

fn code(fused: &Fused, subject: Subject, target: &Target, stage: Stage) -> Result<Code, Trouble> {
    let site = match subject {
        Subject::Fusion(site) => site,
        Subject::Loop(site) => return code_of_loop(fused, site, target, stage),
    };
    if let Some(last) = lowering(stage) {
        return lowered_text(fused, site, target, last);
    }
    match stage {
        Stage::Functions => return Ok(Code::Text(functions_text(fused, site)?)),
        Stage::Kernel => return Ok(Code::Text(kernel(fused, site, target)?.to_string())),
        Stage::All => return all_stages(fused, site, target),
        _ => {}
    }
    written(&weft_codegen_wgsl::compile(fused, site, target)?, stage)
}

/// The kernel of a loop; its functions are those of the fusions within.
fn code_of_loop(fused: &Fused, site: Site, target: &Target, stage: Stage) -> Result<Code, Trouble> {
    let text = |last| -> Result<String, Trouble> {
        let (emitted, stages) = lowered_loop(fused, site, target, last)?;
        Ok(stages.last().map_or_else(|| emitted.to_string(), |(_, kernel)| kernel.to_string()))
    };
    if let Some(last) = lowering(stage) {
        return text(last).map(Code::Text);
    }
    match stage {
        Stage::Functions => Ok(Code::Text(String::new())),
        Stage::Kernel => Ok(Code::Text(lowered_loop(fused, site, target, Lowering::Inlined)?.0.to_string())),
        Stage::All => {
            let (emitted, stages) = lowered_loop(fused, site, target, Lowering::LAST)?;
            let shader = weft_codegen_wgsl::compile_loop(fused, site, target)?.shader;
            Ok(Code::Text(with_stages(emitted, stages, &shader)))
        }
        _ => written(&weft_codegen_wgsl::compile_loop(fused, site, target)?.shader, stage),
    }
}

/// The lowering that a stage shows the result of.
fn lowering(stage: Stage) -> Option<Lowering> {
    Some(match stage {
        Stage::Inlined => Lowering::Inlined,
        Stage::Split => Lowering::Split,
        Stage::Typed => Lowering::Typed,
        Stage::Legal => Lowering::Legal,
        Stage::Collectives => Lowering::Collective,
        Stage::Flat => Lowering::Flat,
        Stage::Merged => Lowering::Merged,
        Stage::Moved => Lowering::Moved,
        Stage::Uniform => Lowering::Uniform,
        Stage::Vectorized => Lowering::Vectorized,
        Stage::Matrices => Lowering::Matrices,
        Stage::Words => Lowering::Words,
        Stage::Held => Lowering::Held,
        Stage::Peeled => Lowering::Peeled,
        Stage::Registers => Lowering::Registers,
        Stage::Shared => Lowering::Shared,
        Stage::Protected => Lowering::Protected,
        Stage::Unrolled => Lowering::Unrolled,
        Stage::Neighbors => Lowering::Neighbors,
        Stage::Hoisted => Lowering::Hoisted,
        Stage::Lanes => Lowering::LaneByLane,
        Stage::Paired => Lowering::Paired,
        Stage::Rolled => Lowering::Rolled,
        _ => return None,
    })
}

/// A kernel in the language that the stage names.
fn written(shader: &Shader, stage: Stage) -> Result<Code, Trouble> {
    let written = match stage {
        Stage::Spirv => shader.to_spirv().map(Code::Words),
        Stage::Msl => shader.to_msl().map(Code::Text),
        Stage::Hlsl => shader.to_hlsl().map(Code::Text),
        Stage::Glsl => shader.to_glsl().map(Code::Text),
        _ => Ok(Code::Text(shader.source.clone())),
    };
    written.map_err(|reason| {
        Trouble::Writer(format!("kernel {} cannot be written as {}: {reason}", shader.name, stage_name(stage)))
    })
}

/// A kernel after a lowering.
fn lowered_text(fused: &Fused, site: Site, target: &Target, last: Lowering) -> Result<Code, Trouble> {
    let stages = lowered(fused, site, target, last)?;
    Ok(Code::Text(stages.last().map(|(_, kernel)| kernel.to_string()).unwrap_or_default()))
}

/// Every stage of a kernel with its name; of those that changed nothing only the name.
fn all_stages(fused: &Fused, site: Site, target: &Target) -> Result<Code, Trouble> {
    let mut text = format!("// stage functions\n{}\n", functions_text(fused, site)?);
    let shader = weft_codegen_wgsl::compile(fused, site, target)?;
    text += &with_stages(kernel(fused, site, target)?, lowered(fused, site, target, Lowering::LAST)?, &shader);
    Ok(Code::Text(text))
}

/// A kernel as it was emitted, after each lowering that changed it, and as WGSL.
fn with_stages(emitted: Kernel, stages: Vec<(Lowering, Kernel)>, shader: &Shader) -> String {
    let mut text = format!("// stage kernel\n{emitted}");
    let mut last = emitted;
    for (lowering, kernel) in stages {
        if kernel == last {
            text += &format!("\n// stage {lowering}: as before\n");
        } else {
            text += &format!("\n// stage {lowering}\n{kernel}");
        }
        last = kernel;
    }
    text + &format!("\n// stage wgsl\n{}", shader.source)
}

fn kernel_json(number: usize, name: &str, code: &Code) -> Value {
    match code {
        Code::Text(text) => json!({ "kernel": number, "fusion": name, "text": text }),
        Code::Words(words) => json!({ "kernel": number, "fusion": name, "words": words }),
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Functions => "functions",
        Stage::Kernel => "kernel",
        Stage::Inlined => "inlined",
        Stage::Split => "split",
        Stage::Neighbors => "neighbors",
        Stage::Typed => "typed",
        Stage::Legal => "legal",
        Stage::Collectives => "collectives",
        Stage::Flat => "flat",
        Stage::Merged => "merged",
        Stage::Moved => "moved",
        Stage::Uniform => "uniform",
        Stage::Vectorized => "vectorized",
        Stage::Matrices => "matrices",
        Stage::Words => "words",
        Stage::Held => "held",
        Stage::Peeled => "peeled",
        Stage::Registers => "registers",
        Stage::Shared => "shared",
        Stage::Protected => "protected",
        Stage::Unrolled => "unrolled",
        Stage::Hoisted => "hoisted",
        Stage::Lanes => "lanes",
        Stage::Paired => "paired",
        Stage::Rolled => "rolled",
        Stage::Wgsl => "wgsl",
        Stage::Spirv => "spirv",
        Stage::Msl => "msl",
        Stage::Hlsl => "hlsl",
        Stage::Glsl => "glsl",
        Stage::All => "all",
    }
}

/// Eight words a line.
fn hexadecimal(words: &[u32]) -> String {
    let mut text = String::new();
    for line in words.chunks(8) {
        for word in line {
            // Writing to a string cannot fail.
            let _ = write!(text, "{word:08x} ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
