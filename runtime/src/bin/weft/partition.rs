//! `weft fuse` and `weft partition`: what becomes of a program before any code is written.

use crate::args::{Format, Fuse, Partition, Shown};
use crate::launches::LaunchStats;
use crate::report::{Failure, Outcome, findings_json, say};
use crate::source::Source;
use crate::{device, graph, is_json, output, picture};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::{Analysis, Direction, Relation};
use weft_hlo::ir::{Computation, ComputationId, InstrId, Instruction, Module, Op};
use weft_hlo::passes::PassRun;
use weft_partition::{
    Candidate, Decision, Emitter, Function, FunctionId, Fused, FusionPlan, Hero, Read, Site, Target, TileOwner,
    Uncompiled,
};

/// The program, simplified and fused for a target, with the reasons.
fn fused(arguments: &Shown, target: &Target) -> Result<(Arc<Source>, Vec<PassRun>, Fused), Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let optimized = arguments.passes.applied(&source, &module)?;
    match weft_partition::fuse_with(&optimized.module, target, arguments.passes.fusing()) {
        Ok(fused) => Ok((source, optimized.runs, fused)),
        Err(findings) => Err(Failure::Findings(source, findings)),
    }
}

/// `weft fuse`
pub(crate) fn fuse(arguments: &Fuse, format: Format) -> Result<Outcome, Failure> {
    let passes = &arguments.shown.passes;
    let target = device::target(&arguments.shown.target)?;
    if arguments.given {
        let module = Source::read(&arguments.shown.source)?.parse_valid()?;
        let value = json!({ "hlo": module.to_string() });
        return shown(arguments, (&module, None), &target, (value, module.to_string()), format);
    }
    let (source, runs, fused) = fused(&arguments.shown, &target)?;
    if is_json(format) {
        let decision = |decision: &Decision| {
            let verdict = format!("{:?}", decision.verdict).to_lowercase();
            json!({ "instruction": decision.instruction, "verdict": verdict, "reason": decision.reason })
        };
        let decisions: Vec<Value> = fused.decisions.iter().map(decision).collect();
        let candidates: Vec<Value> = fused.candidates.iter().map(candidate_json).collect();
        let reasons = fused.uncompiled.iter().map(|one| one.reason.clone()).collect();
        let mut value = json!({
            "hlo": fused.module.to_string(),
            "decisions": decisions,
            "candidates": candidates,
            "uncompiled": findings_json(&source, &Diagnostics(reasons)),
        });
        passes.explain_in(&mut value, &runs);
        return shown(arguments, (&fused.module, Some(&fused)), &target, (value, String::new()), format);
    }
    let mut text = passes.explanation(&runs);
    if passes.explain {
        for Decision { instruction, verdict, reason, .. } in &fused.decisions {
            let verdict = format!("{verdict:?}").to_lowercase();
            text += &format!("// {instruction}: {verdict}: {reason}\n");
        }
        for candidate in &fused.candidates {
            text += &format!("// {candidate}\n");
        }
    }
    for Uncompiled { reason, .. } in &fused.uncompiled {
        text += &format!("// {}: not yet compiled: {}: {}\n", reason.instruction, reason.code, reason.message);
    }
    text += &fused.module.to_string();
    shown(arguments, (&fused.module, Some(&fused)), &target, (Value::Null, text), format)
}

/// Writes what is said of a fused module, its picture and its figures, as far as these are asked for.
fn shown(
    arguments: &Fuse,
    (module, fused): (&Module, Option<&Fused>),
    target: &Target,
    (mut value, text): (Value, String),
    format: Format,
) -> Result<Outcome, Failure> {
    let stats = arguments.stats.then(|| LaunchStats::of(module, fused, target));
    if let Some(path) = &arguments.svg {
        let (graph, note) = picture::program(module);
        graph::write(&graph, note.as_deref(), path)?;
    }
    let is_replaced = arguments.svg.as_deref().is_some_and(graph::is_output);
    if is_json(format) && !is_replaced {
        if let Some(stats) = &stats {
            value["stats"] = stats.to_json();
        }
        output::json(&value)?;
        return Ok(Outcome::Done);
    }
    if !is_replaced {
        output::text(&text)?;
    }
    if let Some(stats) = &stats {
        say(&if is_json(format) { stats.to_json().to_string() } else { stats.to_text() })?;
    }
    Ok(Outcome::Done)
}

fn candidate_json(candidate: &Candidate) -> Value {
    json!({
        "move": candidate.kind.name(),
        "kernels": candidate.kernels,
        "nanoseconds_before": candidate.nanoseconds.map(|compared| compared.before),
        "nanoseconds_after": candidate.nanoseconds.map(|compared| compared.after),
        "taken": candidate.is_taken,
        "reason": candidate.reason,
    })
}

/// `weft partition`
pub(crate) fn partition(arguments: &Partition, format: Format) -> Result<Outcome, Failure> {
    let Partition { shown: arguments, fusion: only, svg } = arguments;
    let target = device::target(&arguments.target)?;
    let (_, runs, fused) = fused(arguments, &target)?;
    let is_asked_for = |site: Site| only.as_ref().is_none_or(|only| *only == fused.name(site));
    let asked: Vec<Site> = fused.fusions().filter(|site| is_asked_for(*site)).collect();
    if let Some(only) = only.as_ref().filter(|_| asked.is_empty()) {
        let names: Vec<String> = fused.fusions().map(|site| fused.name(site)).collect();
        return Err(Failure::message(format!("there is no fusion {only}; there are: {}", names.join(", "))));
    }
    if let Some(path) = svg {
        let (graph, note) = picture::fusions(&fused, &asked);
        graph::write(&graph, note.as_deref(), path)?;
        if graph::is_output(path) {
            return Ok(Outcome::Done);
        }
    }
    let reasons: BTreeMap<Site, &Diagnostic> = fused.uncompiled.iter().map(|one| (one.site, &one.reason)).collect();
    let mut analysis = Analysis::new(&fused.module);
    let (mut fusions, mut others) = (Vec::new(), Vec::new());
    let mut whole = arguments.passes.explanation(&runs);
    // The entry is the last computation.
    for (program, owner) in fused.module.computations.iter().rev().filter(|(id, _)| fused.programs.contains(id)) {
        let within = if program == fused.module.entry { String::new() } else { format!("{}/", owner.name) };
        for (id, instruction) in owner.instructions.iter() {
            let site = Site { computation: program, instruction: id };
            if !is_asked_for(site) {
                continue;
            }
            let reason = reasons.get(&site).copied();
            let about = Within { owner, instruction, reason };
            if let Op::Fusion { calls, .. } = instruction.op {
                let computation = &fused.module.computations[calls];
                let division = match fused.plan(calls) {
                    Some(plan) => Division::Planned(plan),
                    None => Division::Whole(reads_of_all(&mut analysis, calls, computation)),
                };
                let text = division.text(computation);
                fusions.push(about.fusion_json(computation, &division, &text));
                let gap = if whole.is_empty() { "" } else { "\n" };
                whole += &format!("{gap}fusion {within}{}\n", instruction.name);
                let reason = reason.map(|reason| format!("not yet compiled: {}: {}\n", reason.code, reason.message));
                for line in reason.unwrap_or_default().lines().chain(text.lines()) {
                    whole += &format!("  {line}\n");
                }
            } else if let Some(reason) = reason {
                let opcode = instruction.op.name();
                others.push(about.instruction_json());
                let gap = if whole.is_empty() { "" } else { "\n" };
                whole += &format!(
                    "{gap}instruction {within}{} = {opcode}\n  not yet compiled: {}: {}\n",
                    instruction.name, reason.code, reason.message
                );
            }
        }
    }
    if is_json(format) {
        let mut value = json!({ "program": fused.module.name, "fusions": fusions, "instructions": others });
        arguments.passes.explain_in(&mut value, &runs);
        output::json(&value)?;
    } else {
        output::text(&whole)?;
    }
    Ok(Outcome::Done)
}

/// How an instruction reads an operand: through these maps, or why nothing is known.
type Maps = Vec<Result<String, String>>;

/// The same of each operand.
type Reads = Vec<Maps>;

/// The functions of a fusion.
enum Division<'p> {
    Planned(&'p FusionPlan),
    /// All of it is one function, of which nobody knows how it will be computed.
    Whole(BTreeMap<InstrId, Reads>),
}

/// The maps of every instruction of a computation to its operands.
fn reads_of_all(
    analysis: &mut Analysis<'_>,
    calls: ComputationId,
    computation: &Computation,
) -> BTreeMap<InstrId, Reads> {
    let mut reads = BTreeMap::new();
    for (id, instruction) in computation.instructions.iter() {
        let mut own: Reads = vec![Vec::new(); instruction.operands.len()];
        for dependence in analysis.instruction(calls, id, Direction::OutputToInput).dependences {
            let Some(read) = dependence.operand.and_then(|operand| own.get_mut(operand)) else { continue };
            match dependence.relation {
                Relation::Maps(maps) => read.extend(maps.into_iter().map(|mut map| {
                    map.simplify();
                    Ok(map.map.to_string())
                })),
                Relation::Undefined(reason) => read.push(Err(reason.to_string())),
            }
        }
        reads.insert(id, own);
    }
    reads
}

impl Division<'_> {
    fn text(&self, computation: &Computation) -> String {
        let reads = match self {
            Division::Planned(plan) => return plan.text(computation),
            Division::Whole(reads) => reads,
        };
        let root = &computation.instructions[computation.root].name;
        let mut text = format!("function {root} -> %{root}\n  why: there is no code for it yet\n");
        for (id, instruction) in computation.instructions.iter().filter(|(_, one)| !is_parameter(one)) {
            let Instruction { name, shape, op, operands, .. } = instruction;
            let named = operands.iter().map(|operand| format!("%{}", computation.instructions[*operand].name));
            let named: Vec<String> = named.collect();
            text += &format!("  %{name} = {} {}({})\n", shape.without_layout(), op.name(), named.join(", "));
            for (operand, maps) in named.iter().zip(reads.get(&id).into_iter().flatten()) {
                for map in maps {
                    let told = map.as_ref().map_or_else(|reason| format!("UNDEFINED: {reason}"), String::clone);
                    text += &format!("    {operand}: {told}\n");
                }
            }
        }
        text
    }

    fn emitter(&self, computation: &Computation) -> Value {
        let Division::Planned(plan) = self else { return Value::Null };
        match plan.emitter() {
            Emitter::Loop(tiling) => {
                json!({ "name": "loop", "threads": tiling.threads, "elements": tiling.elements, "why": plan.why() })
            }
            Emitter::Transposed(transposed) => json!({
                "name": "transposed",
                "threads": transposed.threads,
                "tile": transposed.tile_extents(),
                "space": [transposed.outer, transposed.rows, transposed.middle, transposed.columns],
                "run": transposed.run,
                "why": plan.why(),
            }),
            Emitter::Windowed(windowed) => json!({
                "name": "windowed",
                "threads": windowed.threads,
                "results": windowed.tile(),
                "loaded": windowed.loaded(),
                "why": plan.why(),
            }),
            Emitter::Product(product) => json!({
                "name": "product",
                "threads": product.places(),
                "group": product.group,
                "tile": product.tile,
                "shared": product.tiles == TileOwner::Workgroup,
                "step": product.step,
                "stretch": product.stretch,
                "lanes": product.lanes,
                "members": product.members,
                "ahead": product.ahead,
                "apart": product.apart,
                "space": [product.batch, product.rows, product.depth, product.columns],
                "sums": plan.factors().iter().map(|factors| json!({
                    "instruction": computation.instructions[factors.dot].name,
                    "lhs": plan.function(factors.lhs).name,
                    "rhs": plan.function(factors.rhs).name,
                    "window": factors.window.as_ref().map(ToString::to_string),
                    "results": factors.results.as_ref().map(ToString::to_string),
                })).collect::<Vec<_>>(),
                "rows": plan.rows_of_sums().map(ToString::to_string),
                "folds": plan.passes().iter().flat_map(|pass| &pass.folds).map(|fold| {
                    computation.instructions[fold.reduction].name.as_str()
                }).collect::<Vec<_>>(),
                "orders": plan.tails().iter().map(|tail| json!({
                    "function": plan.function(tail.function).name,
                    "map": tail.map.to_string(),
                })).collect::<Vec<_>>(),
                "why": plan.why(),
            }),
            Emitter::Attention(attention) => json!({
                "name": "attention",
                "threads": attention.places(),
                "group": attention.group,
                "tile": [attention.rows, attention.across],
                "shared": attention.tiles == TileOwner::Workgroup,
                "step": attention.step,
                "lanes": attention.lanes,
                "members": attention.members,
                "space": [attention.batch, attention.queries, attention.keys, attention.depth, attention.columns],
                "orders": plan.tails().iter().map(|tail| json!({
                    "function": plan.function(tail.function).name,
                    "map": tail.map.to_string(),
                })).collect::<Vec<_>>(),
                "why": plan.why(),
            }),
            Emitter::UpdateSlice(tiling) => {
                json!({ "name": "update-slice", "threads": tiling.threads, "elements": tiling.elements, "why": plan.why() })
            }
            Emitter::Scatter(tiling) => {
                json!({ "name": "scatter", "threads": tiling.threads, "elements": tiling.elements, "why": plan.why() })
            }
            _ => Value::Null,
        }
    }

    fn heroes(&self, computation: &Computation) -> Vec<Value> {
        let Division::Planned(plan) = self else { return Vec::new() };
        let called = |id: FunctionId| plan.function(id).name.as_str();
        let hero = |hero: &Hero| {
            json!({
                "instruction": computation.instructions[hero.instruction].name,
                "kind": hero.kind.to_string(),
                "function": called(hero.function),
                "prologues": hero.prologues.iter().map(|id| called(*id)).collect::<Vec<_>>(),
                "epilogues": hero.epilogues.iter().map(|tail| json!({
                    "function": called(tail.function), "map": tail.map.to_string(),
                })).collect::<Vec<_>>(),
                "threads": hero.tiling.threads,
                "tile": hero.tiling.tile,
                "why_loop": hero.why_loop,
            })
        };
        plan.heroes().iter().map(hero).collect()
    }

    fn functions(&self, computation: &Computation) -> Vec<Value> {
        let name = |id: &InstrId| computation.instructions[*id].name.as_str();
        match self {
            Division::Planned(plan) => {
                plan.functions().iter().map(|function| planned_json(computation, plan, function)).collect()
            }
            Division::Whole(reads) => {
                let members = computation.instructions.iter().filter(|(_, one)| !is_parameter(one));
                let member = |(id, instruction): (InstrId, &Instruction)| {
                    let read = |(index, (operand, maps)): (usize, (&InstrId, &Maps))| {
                        let known: Vec<&String> = maps.iter().filter_map(|map| map.as_ref().ok()).collect();
                        let undefined = maps.iter().find_map(|map| map.as_ref().err());
                        let mut value = json!({ "operand": name(operand), "index": index, "maps": known });
                        if let Some(reason) = undefined {
                            value["undefined"] = json!(reason);
                        }
                        value
                    };
                    let reads = instruction.operands.iter().zip(reads.get(&id).into_iter().flatten());
                    member_json(instruction, reads.enumerate().map(read).collect())
                };
                let root = &computation.instructions[computation.root];
                let extents = root.shape.as_array().map(|array| array.extents.clone());
                let parameters = computation.parameters();
                vec![json!({
                    "name": root.name,
                    "roots": [root.name],
                    "extents": extents,
                    "why": "there is no code for it yet",
                    "parameters": parameters.iter().map(|id| parameter_json(&computation.instructions[*id]))
                        .collect::<Vec<Value>>(),
                    "members": members.map(member).collect::<Vec<Value>>(),
                })]
            }
        }
    }
}

fn is_parameter(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Parameter { .. })
}

/// A function of a plan: what it computes of which parameters of the fusion, and through which maps from its own indices.
fn planned_json(computation: &Computation, plan: &FusionPlan, function: &Function) -> Value {
    let name = |id: &InstrId| computation.instructions[*id].name.as_str();
    let mut parameters: BTreeMap<InstrId, Value> = BTreeMap::new();
    let own = plan.functions().iter().position(|one| one == function);
    let mut members = Vec::with_capacity(function.members.len());
    for member in &function.members {
        let instruction = &computation.instructions[*member];
        let mut reads = Vec::with_capacity(instruction.operands.len());
        for (index, operand) in instruction.operands.iter().enumerate() {
            let mut value = json!({ "operand": name(operand), "index": index });
            match plan.read(*member, index) {
                Read::Splat => value["constant"] = json!(plan.splat(*operand).map(|splat| splat.to_string())),
                Read::Never => value["maps"] = json!([]),
                Read::Runtime => value["runtime"] = json!(true),
                Read::Given => value["given"] = json!(true),
                Read::At(map) => value["maps"] = json!([map.to_string()]),
            }
            match plan.home(*operand) {
                Some((home, _)) if Some(home.0 as usize) != own => value["function"] = json!(plan.function(home).name),
                _ => {}
            }
            let read = &computation.instructions[*operand];
            if is_parameter(read) && matches!(plan.read(*member, index), Read::At(_) | Read::Runtime) {
                parameters.insert(*operand, parameter_json(read));
            }
            reads.push(value);
        }
        members.push(member_json(instruction, reads));
    }
    // An output may be a parameter as it is.
    let roots = || function.roots.iter().map(|root| &root.instruction);
    for root in roots().filter(|root| is_parameter(&computation.instructions[**root])) {
        parameters.insert(*root, parameter_json(&computation.instructions[*root]));
    }
    json!({
        "name": function.name,
        "roots": roots().map(name).collect::<Vec<_>>(),
        "root_maps": function.roots.iter().map(|root| root.map.to_string()).collect::<Vec<_>>(),
        "given": function.given.iter().map(name).collect::<Vec<_>>(),
        "extents": function.extents,
        "why": function.reason,
        "evaluations": function.evaluations,
        "parameters": parameters.into_values().collect::<Vec<Value>>(),
        "members": members,
    })
}

fn parameter_json(instruction: &Instruction) -> Value {
    let number = match instruction.op {
        Op::Parameter { number } => Some(number),
        _ => None,
    };
    json!({ "name": instruction.name, "number": number, "shape": instruction.shape.to_string() })
}

fn member_json(instruction: &Instruction, reads: Vec<Value>) -> Value {
    json!({
        "name": instruction.name,
        "operation": instruction.op.name(),
        "shape": instruction.shape.without_layout().to_string(),
        "reads": reads,
    })
}

/// An instruction of a program, and why it cannot be compiled yet, if it cannot.
struct Within<'a> {
    owner: &'a Computation,
    instruction: &'a Instruction,
    reason: Option<&'a Diagnostic>,
}

impl Within<'_> {
    fn reason(&self) -> Value {
        self.reason.map_or(Value::Null, |reason| json!({ "code": reason.code, "message": reason.message }))
    }

    fn fusion_json(&self, computation: &Computation, division: &Division<'_>, text: &str) -> Value {
        let operand = |operand: &InstrId| self.owner.instructions[*operand].name.as_str();
        let parameters = computation.parameters();
        json!({
            "fusion": self.instruction.name,
            "computation": self.owner.name,
            "operands": self.instruction.operands.iter().map(operand).collect::<Vec<_>>(),
            "parameters": parameters.iter().map(|id| parameter_json(&computation.instructions[*id]))
                .collect::<Vec<Value>>(),
            "compiled": self.reason.is_none(),
            "reason": self.reason(),
            "emitter": division.emitter(computation),
            "heroes": division.heroes(computation),
            "functions": division.functions(computation),
            "text": text,
        })
    }

    fn instruction_json(&self) -> Value {
        json!({
            "instruction": self.instruction.name,
            "computation": self.owner.name,
            "operation": self.instruction.op.name(),
            "compiled": false,
            "reason": self.reason(),
        })
    }
}
