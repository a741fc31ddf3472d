//! Verification of control predecessors.

use super::code;
use crate::ir::{ArenaId, Computation, InstrId};
use std::collections::{BTreeMap, BTreeSet};

/// An instruction, a code and what is wrong with it.
pub(super) type Finding = (InstrId, &'static str, String);

/// Control predecessors exist and, together with operands, make no cycle.
pub(super) fn control(computation: &Computation, findings: &mut Vec<Finding>) {
    let lists: Vec<(InstrId, &str)> = computation
        .instructions
        .iter()
        .flat_map(|(id, instruction)| instruction.attributes.iter().map(move |attribute| (id, attribute)))
        .filter(|(_, attribute)| attribute.name == "control-predecessors")
        .map(|(id, attribute)| (id, attribute.value.as_str()))
        .collect();
    if lists.is_empty() {
        return;
    }
    let names: BTreeMap<&str, InstrId> =
        computation.instructions.iter().map(|(id, instruction)| (instruction.name.as_str(), id)).collect();
    let mut edges: BTreeMap<InstrId, Vec<InstrId>> = BTreeMap::new();
    for (id, list) in lists {
        let list = list.trim().trim_start_matches('{').trim_end_matches('}');
        for name in list.split(',').map(|name| name.trim().trim_start_matches('%')).filter(|name| !name.is_empty()) {
            match names.get(name) {
                Some(&predecessor) => edges.entry(id).or_default().push(predecessor),
                None => {
                    let message =
                        format!("control-predecessors names {name}, which is no instruction of the computation");
                    findings.push((id, code::CONTROL, message));
                }
            }
        }
    }
    if let Some(cycle) = cycle(computation, &edges) {
        let named: Vec<&str> = cycle.iter().map(|&id| computation.instructions[id].name.as_str()).take(6).collect();
        // A cycle needs a control edge, as operands alone precede their users.
        let at = cycle.iter().copied().find(|id| edges.contains_key(id)).unwrap_or(cycle[0]);
        let message = format!("control-predecessors and operands make a cycle through {}", named.join(", "));
        findings.push((at, code::CONTROL, message));
    }
}

/// The instructions of a cycle of operands and control predecessors, if there is one. Linear in edges.
fn cycle(computation: &Computation, edges: &BTreeMap<InstrId, Vec<InstrId>>) -> Option<Vec<InstrId>> {
    let count = computation.instructions.len();
    let before = |id: InstrId| {
        let operands = computation.instructions[id].operands.iter().filter(move |operand| **operand < id);
        operands.chain(edges.get(&id).into_iter().flatten()).copied()
    };
    let mut waiting = vec![0usize; count];
    let mut after = vec![Vec::new(); count];
    for id in computation.instructions.ids() {
        for predecessor in before(id) {
            waiting[id.index()] += 1;
            after[predecessor.index()].push(id);
        }
    }
    let mut ready: Vec<InstrId> = computation.instructions.ids().filter(|id| waiting[id.index()] == 0).collect();
    let mut left = count;
    while let Some(id) = ready.pop() {
        left -= 1;
        for &next in &after[id.index()] {
            waiting[next.index()] -= 1;
            if waiting[next.index()] == 0 {
                ready.push(next);
            }
        }
    }
    if left == 0 {
        return None;
    }
    // Every instruction that still waits does so for another one that waits: going back must come round.
    let mut at = computation.instructions.ids().find(|id| waiting[id.index()] > 0)?;
    let (mut path, mut seen) = (Vec::new(), BTreeSet::new());
    while seen.insert(at) {
        path.push(at);
        at = before(at).find(|predecessor| waiting[predecessor.index()] > 0)?;
    }
    let from = path.iter().position(|&id| id == at).unwrap_or(0);
    Some(path.split_off(from))
}
