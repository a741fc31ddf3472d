//! What `--svg` draws: a program with its fusions, and a fusion with its functions.

mod functions;

pub(crate) use functions::fusions;

use crate::graph::{Graph, Kind, Node, clipped};
use crate::output::scalar_text;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArenaId, ComputationId, Instruction, Module, Op};
use weft_hlo::text::{PrintOptions, print_instruction};
use weft_partition::{Launches, Site};

/// Instructions that are drawn one by one; of a program that has more, each fusion is one box.
const DRAWN: usize = 1000;

/// Characters of a tooltip.
const TOLD: usize = 400;

/// A module: a box for each computation whose instructions are launches or pass values on, and in it one for each instruction; a fusion holds those of its own. What is above
/// the picture tells if it is not all.
pub(crate) fn program(module: &Module) -> (Graph, Option<String>) {
    let programs = programs(module);
    let count: usize = drawn(module, &programs).map(|id| module.computations[id].instructions.len()).sum();
    let is_whole = count <= DRAWN;
    let note = (!is_whole).then(|| format!("{count} instructions, more than {DRAWN}: each fusion is one box"));
    let launches: BTreeSet<Site> = Launches::of(module).0.iter().map(|launch| launch.site).collect();
    let mut numbers = BTreeMap::new();
    let mut graph = Graph::default();
    for &id in &programs {
        let inner = instructions(module, id, &launches, is_whole);
        let name = &module.computations[id].name;
        let line = if id == module.entry { format!("ENTRY {name}") } else { name.clone() };
        numbers.insert(id, graph.add(Node { inner, ..Node::new(Kind::Program, &[&line], line.clone()) }));
    }
    for &id in &programs {
        for instruction in module.computations[id].instructions.values() {
            for callee in run_by(&instruction.op) {
                let title = format!("{} runs {}", instruction.name, module.computations[callee].name);
                graph.connect(numbers[&id], numbers[&callee], None, title);
            }
        }
    }
    (graph, note)
}

/// The computations that an instruction runs as programs of their own.
fn run_by(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::Call { .. } | Op::While { .. } | Op::Conditional { .. } | Op::AsyncStart { .. } => op.called_computations(),
        _ => Vec::new(),
    }
}

/// The entry, and the computations that it and these run, each behind what runs it first.
fn programs(module: &Module) -> Vec<ComputationId> {
    let mut known = BTreeSet::from([module.entry]);
    let mut programs = vec![module.entry];
    let mut next = 0;
    while let Some(&id) = programs.get(next) {
        next += 1;
        let run = module.computations[id].instructions.values().flat_map(|instruction| run_by(&instruction.op));
        programs.extend(run.filter(|callee| known.insert(*callee)));
    }
    programs
}

/// The computations whose instructions are drawn: programs, and once for each fusion in them what it calls.
fn drawn(module: &Module, programs: &[ComputationId]) -> impl Iterator<Item = ComputationId> {
    programs.iter().flat_map(|&id| {
        let called = module.computations[id].instructions.values().filter_map(|instruction| match instruction.op {
            Op::Fusion { calls, .. } => Some(calls),
            _ => None,
        });
        std::iter::once(id).chain(called)
    })
}

/// The instructions of a computation, and those of its fusions, if these are drawn whole.
fn instructions(module: &Module, owner: ComputationId, launches: &BTreeSet<Site>, is_whole: bool) -> Graph {
    let computation = &module.computations[owner];
    let mut graph = Graph::default();
    for (id, instruction) in computation.instructions.iter() {
        let mut node = instruction_node(module, Site { computation: owner, instruction: id });
        if node.kind == Kind::Instruction && launches.contains(&Site { computation: owner, instruction: id }) {
            node.kind = Kind::Alone;
        }
        let mut ports = Vec::new();
        if let Op::Fusion { calls, .. } = instruction.op {
            let called = &module.computations[calls];
            if is_whole {
                node.inner = instructions(module, calls, launches, is_whole);
                ports = called.parameters().into_iter().map(ArenaId::index).collect();
            } else {
                node.lines.push(format!("{} instructions", called.instructions.len()));
            }
        }
        graph.add(node);
        for (index, operand) in instruction.operands.iter().enumerate() {
            let title = format!("{} reads {}", instruction.name, computation.instructions[*operand].name);
            graph.connect(operand.index(), id.index(), ports.get(index).copied(), title);
        }
    }
    graph
}

/// The box of an instruction.
fn instruction_node(module: &Module, site: Site) -> Node {
    let instruction = &module.computations[site.computation].instructions[site.instruction];
    let Instruction { name, shape, op, .. } = instruction;
    let value = match op {
        Op::Constant(literal) if literal.data.len() == Some(1) => literal.data.get(0),
        _ => None,
    };
    let shape = shape.without_layout();
    let line = match (value, op) {
        (Some(value), _) => format!("{shape} {}", scalar_text(value)),
        (None, Op::Parameter { number }) => format!("{shape} parameter {number}"),
        _ => format!("{} {shape}", op.name()),
    };
    let told = match op {
        // Its elements may be any number.
        Op::Constant(_) => format!("{name} = {line}"),
        _ => print_instruction(module, site.computation, site.instruction, &options()),
    };
    Node::new(kind(op), &[name, &line], clipped(&told, TOLD))
}

/// How instructions are told of.
fn options() -> PrintOptions {
    PrintOptions { carried: false, ..PrintOptions::short() }
}

/// What the box of an instruction is.
fn kind(op: &Op) -> Kind {
    match op {
        Op::Parameter { .. } => Kind::Parameter,
        Op::Constant(_) => Kind::Constant,
        Op::Fusion { .. } => Kind::Kernel,
        Op::While { .. } | Op::Conditional { .. } | Op::Call { .. } | Op::AsyncStart { .. } => Kind::Control,
        _ => Kind::Instruction,
    }
}
