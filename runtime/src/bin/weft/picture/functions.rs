//! Fusions with their functions.

use super::{DRAWN, instruction_node};
use crate::graph::{Graph, Kind, Node};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ComputationId, InstrId, Op};
use weft_partition::{Function, FunctionId, Fused, FusionPlan, Read, Site};

/// Fusions of a program, one below the other: a box for each function, with the instructions that it computes and the constants that these are given, and for each parameter. On the
/// way from a function to one that calls it stands the map by which it is called. A fusion that there is no code for yet is one function. What is above the picture tells if it is
/// not all.
pub(crate) fn fusions(fused: &Fused, sites: &[Site]) -> (Graph, Option<String>) {
    let called = |site: &Site| match fused.instruction(*site)?.op {
        Op::Fusion { calls, .. } => Some((*site, calls)),
        _ => None,
    };
    let called: Vec<(Site, ComputationId)> = sites.iter().filter_map(called).collect();
    let count: usize = called.iter().map(|(_, calls)| fused.module.computations[*calls].instructions.len()).sum();
    let is_whole = count <= DRAWN;
    let note = (!is_whole).then(|| format!("{count} instructions, more than {DRAWN}: each function is one box"));
    let mut graph = Graph { is_list: true, ..Graph::default() };
    for (site, calls) in called {
        let fusion = Fusion { fused, calls, is_whole };
        let line = format!("fusion {}", fused.name(site));
        let (inner, why) = match fused.plan(calls) {
            Some(plan) => (fusion.planned(plan), plan.why()),
            None => (fusion.whole(), NO_CODE),
        };
        graph.add(Node { inner, ..Node::new(Kind::Kernel, &[&line, why], why) });
    }
    (graph, note)
}

const NO_CODE: &str = "there is no code for it yet";

/// A fusion, and whether its functions are drawn with their instructions.
struct Fusion<'a> {
    fused: &'a Fused,
    calls: ComputationId,
    is_whole: bool,
}

impl Fusion<'_> {
    /// By a plan: parameters, then functions, then what is folded by passes over rows, and maps.
    fn planned(&self, plan: &FusionPlan) -> Graph {
        let computation = &self.fused.module.computations[self.calls];
        let mut graph = Graph::default();
        // What is no function's to compute.
        let mut others: BTreeMap<InstrId, usize> = BTreeMap::new();
        for id in computation.parameters() {
            others.insert(id, graph.add(self.instruction(id)));
        }
        let ids: Vec<FunctionId> = (0u32..).zip(plan.functions()).map(|(number, _)| FunctionId(number)).collect();
        let mut functions = BTreeMap::new();
        for &id in &ids {
            let function = plan.function(id);
            let mut node = function_node(function, plan.outputs().contains(&id));
            if self.is_whole {
                node.inner = self.members(plan, id);
            } else {
                node.lines.push(format!("{} instructions", function.members.len()));
            }
            functions.insert(id, graph.add(node));
        }
        for folded in plan.passes().iter().flat_map(|pass| pass.folds.iter().chain(&pass.scans)) {
            // A scan of rows that invocations share is folded first.
            let node = *others.entry(folded.reduction).or_insert_with(|| graph.add(self.instruction(folded.reduction)));
            let sources = std::iter::once(folded.function).chain(folded.initial);
            for source in sources.map(|function| functions[&function]) {
                if !graph.edges.iter().any(|edge| (edge.from, edge.to) == (source, node)) {
                    graph.connect(source, node, None, "its elements are folded");
                }
            }
        }
        for &id in &ids {
            self.connect(plan, id, &functions, &others, &mut graph);
        }
        graph
    }

    /// Adds what a function reads, once for each way in which it does.
    fn connect(
        &self,
        plan: &FusionPlan,
        own: FunctionId,
        functions: &BTreeMap<FunctionId, usize>,
        others: &BTreeMap<InstrId, usize>,
        graph: &mut Graph,
    ) {
        let computation = &self.fused.module.computations[self.calls];
        let function = plan.function(own);
        let mut known: BTreeSet<(usize, String)> = BTreeSet::new();
        for (position, member) in function.members.iter().enumerate() {
            let port = self.is_whole.then_some(position);
            for (index, &operand) in computation.instructions[*member].operands.iter().enumerate() {
                let Some(told) = told(plan.read(*member, index)) else { continue };
                match (others.get(&operand), plan.home(operand)) {
                    (Some(&other), _) if known.insert((other, told.clone())) => {
                        graph.connect(other, functions[&own], port, told);
                    }
                    (None, Some((home, _))) if home != own && known.insert((functions[&home], told.clone())) => {
                        let short = told.split(", domain: ").next().unwrap_or_default();
                        let label = graph.add(Node::new(Kind::Label, &[short], told.clone()));
                        graph.connect(functions[&home], label, None, told.clone());
                        graph.connect(label, functions[&own], port, told);
                    }
                    _ => {}
                }
            }
        }
        // A parameter, or what is folded, may be an output as it is.
        for root in &function.roots {
            if let Some(&other) = others.get(&root.instruction) {
                graph.connect(other, functions[&own], None, root.map.to_string());
            }
        }
    }

    /// The instructions of a function.
    fn members(&self, plan: &FusionPlan, id: FunctionId) -> Graph {
        let computation = &self.fused.module.computations[self.calls];
        let members = &plan.function(id).members;
        let numbers: BTreeMap<InstrId, usize> = members.iter().enumerate().map(|(number, id)| (*id, number)).collect();
        let mut graph = Graph::default();
        for (number, &member) in members.iter().enumerate() {
            let mut node = self.instruction(member);
            node.kind = Kind::Instruction;
            for (index, operand) in computation.instructions[member].operands.iter().enumerate() {
                let name = &computation.instructions[*operand].name;
                match plan.read(member, index) {
                    Read::Splat => {
                        let value = plan.splat(*operand).map(|value| value.to_string()).unwrap_or_default();
                        node.lines.push(format!("{name} = {value}"));
                    }
                    read => {
                        let from = numbers.get(operand).filter(|from| **from != number);
                        if let (Some(&from), Some(told)) = (from, told(read)) {
                            graph.connect(from, number, None, told);
                        }
                    }
                }
            }
            graph.add(node);
        }
        graph
    }

    /// Without a plan: all of it is one function.
    fn whole(&self) -> Graph {
        let instructions = &self.fused.module.computations[self.calls].instructions;
        let mut graph = Graph::default();
        if !self.is_whole {
            graph.add(Node::new(Kind::Function, &[&format!("{} instructions", instructions.len())], NO_CODE));
            return graph;
        }
        let numbers: BTreeMap<InstrId, usize> =
            instructions.ids().enumerate().map(|(number, id)| (id, number)).collect();
        for (id, instruction) in instructions.iter() {
            graph.add(self.instruction(id));
            for operand in &instruction.operands {
                graph.connect(numbers[operand], numbers[&id], None, instructions[*operand].name.clone());
            }
        }
        graph
    }

    fn instruction(&self, instruction: InstrId) -> Node {
        instruction_node(&self.fused.module, Site { computation: self.calls, instruction })
    }
}

fn function_node(function: &Function, is_output: bool) -> Node {
    let kind = if is_output { "output function" } else { "function" };
    let extents: Vec<String> = function.extents.iter().map(i64::to_string).collect();
    let line = format!("{kind} {} [{}]", function.name, extents.join(","));
    Node::new(Kind::Function, &[&line, &function.reason], format!("{line}: {}", function.reason))
}

/// How an operand is read, if it is another's value.
fn told(read: &Read) -> Option<String> {
    match read {
        Read::Splat | Read::Never => None,
        Read::Runtime => Some("where another is read".to_owned()),
        Read::Given => Some("given".to_owned()),
        Read::At(map) => Some(map.to_string()),
    }
}
