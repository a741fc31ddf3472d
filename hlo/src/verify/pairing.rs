//! Verification of asynchronous pairs: every start has one end, and every end a start of its kind.

use super::code;
use super::name_of;
use super::order::Finding;
use crate::ir::{ArenaId, AsyncPhase, Computation, ComputationId, InstrId, Module, Op, Opcode};
use std::collections::HashMap;

/// The thread of what names none.
const MAIN_THREAD: &str = "main";

/// What an instruction starts, goes on with or ends.
#[derive(Copy, Clone)]
struct Step {
    /// The opcode without its phase; `None` where a computation says what runs.
    kind: Option<Opcode>,
    phase: AsyncPhase,
}

impl Step {
    fn of(op: &Op) -> Option<Step> {
        let (kind, phase) = match op {
            Op::AllGatherStart { .. } => (Some(Opcode::AllGather), AsyncPhase::Start),
            Op::AllGatherDone => (Some(Opcode::AllGather), AsyncPhase::Done),
            Op::AllReduceStart { .. } => (Some(Opcode::AllReduce), AsyncPhase::Start),
            Op::AllReduceDone => (Some(Opcode::AllReduce), AsyncPhase::Done),
            Op::CollectivePermuteStart { .. } => (Some(Opcode::CollectivePermute), AsyncPhase::Start),
            Op::CollectivePermuteDone => (Some(Opcode::CollectivePermute), AsyncPhase::Done),
            Op::CopyStart { .. } => (Some(Opcode::Copy), AsyncPhase::Start),
            Op::CopyDone => (Some(Opcode::Copy), AsyncPhase::Done),
            Op::Send { .. } => (Some(Opcode::Send), AsyncPhase::Start),
            Op::SendDone { .. } => (Some(Opcode::Send), AsyncPhase::Done),
            Op::Recv { .. } => (Some(Opcode::Recv), AsyncPhase::Start),
            Op::RecvDone { .. } => (Some(Opcode::Recv), AsyncPhase::Done),
            Op::AsyncStart { .. } => (None, AsyncPhase::Start),
            Op::AsyncUpdate { .. } => (None, AsyncPhase::Update),
            Op::AsyncDone { .. } => (None, AsyncPhase::Done),
            Op::AsyncShorthand { wrapped, phase, .. } => (Some(*wrapped), *phase),
            _ => return None,
        };
        Some(Step { kind, phase })
    }

    /// The opcode of what a start starts: of a computation that of its root, as in XLA.
    fn kind_within(self, module: &Module, start: &Op) -> Option<Opcode> {
        match start {
            Op::AsyncStart { calls, .. } => {
                let computation = module.computations.get(*calls);
                let root = computation.and_then(|computation| computation.instructions.get(computation.root));
                root.map(|root| root.op.opcode())
            }
            _ => self.kind,
        }
    }

    /// Whether a transfer, which may also be carried from one round of a loop to the next.
    fn is_transfer(self) -> bool {
        matches!(self.kind, Some(Opcode::Send | Opcode::Recv))
    }
}

/// How often an instruction is read, and whether by an end.
#[derive(Copy, Clone, Default)]
struct Readers {
    ends: usize,
    others: usize,
}

/// Checks a computation; `faulty` says which of its instructions break the rule of their operation, from which it may
/// follow that they end nothing.
pub(super) fn check(module: &Module, computation: &Computation, faulty: &[bool], findings: &mut Vec<Finding>) {
    // For each step what started it, where that is known.
    let mut starts: Vec<Option<InstrId>> = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        let Some(step) = Step::of(&instruction.op) else { continue };
        starts.resize(computation.instructions.len(), None);
        starts[id.index()] = match step.phase {
            AsyncPhase::Start => Some(id),
            _ if faulty[id.index()] => None,
            _ => end(module, computation, id, step, &starts, findings),
        };
    }
    if !starts.is_empty() {
        ended_once(computation, findings);
    }
}

/// Checks that what an update or an end reads is a start or an update; the start.
fn end(
    module: &Module,
    computation: &Computation,
    id: InstrId,
    step: Step,
    starts: &[Option<InstrId>],
    findings: &mut Vec<Finding>,
) -> Option<InstrId> {
    let instruction = &computation.instructions[id];
    let [operand] = instruction.operands[..] else { return None };
    let producer = computation.instructions.get(operand).filter(|_| operand < id)?;
    let given = Step::of(&producer.op).filter(|given| given.phase != AsyncPhase::Done);
    let start = starts[operand.index()];
    match given {
        Some(given) if is_one_of_pair(step, given) => {
            channels(id, &instruction.op, &producer.op, findings);
            let started = &computation.instructions[start?].op;
            if step.kind.is_none() || Step::of(started)?.kind_within(module, started) == step.kind {
                same_run(module, id, &instruction.op, started, findings);
                return start;
            }
        }
        None if step.is_transfer() => return None,
        _ => {}
    }
    let (opcode, kind) = (instruction.op.name(), step.kind.map_or("async", Opcode::name));
    let given = producer.op.name();
    let message = format!("operand 0 of {opcode} must be what {kind} started, and {} is {given}", producer.name);
    findings.push((id, code::PAIRING, message));
    None
}

/// Whether the one ends what the other starts. The two spellings of asynchronous computations may meet.
fn is_one_of_pair(step: Step, started: Step) -> bool {
    use Opcode::{AllGather, AllReduce, CollectivePermute, Copy, Recv, Send};
    let is_own = |kind| matches!(kind, Some(AllGather | AllReduce | CollectivePermute | Copy | Send | Recv));
    let own = is_own(step.kind) || is_own(started.kind);
    step.kind == started.kind || (!own && (step.kind.is_none() || started.kind.is_none()))
}

/// The two halves of a transfer use one channel.
fn channels(id: InstrId, done: &Op, start: &Op, findings: &mut Vec<Finding>) {
    let (Some(done), Some(start)) = (channel(done), channel(start)) else { return };
    if done != start {
        let show = |(channel, host): (Option<i64>, bool)| {
            let channel = channel.map_or_else(|| "no channel".to_owned(), |channel| format!("channel {channel}"));
            format!("{channel}{}", if host { " of the host" } else { "" })
        };
        let message =
            format!("both halves of a transfer must use one channel, and use {} and {}", show(start), show(done));
        findings.push((id, code::CHANNEL, message));
    }
}

fn channel(op: &Op) -> Option<(Option<i64>, bool)> {
    match op {
        Op::Send { channel_id, is_host_transfer }
        | Op::SendDone { channel_id, is_host_transfer }
        | Op::Recv { channel_id, is_host_transfer }
        | Op::RecvDone { channel_id, is_host_transfer } => Some((*channel_id, *is_host_transfer)),
        _ => None,
    }
}

/// Where an update or an end repeats the computation and the thread, they are those of the start; one that starts no
/// computation, or names no thread, has one without a name, or the main thread.
fn same_run(module: &Module, id: InstrId, later: &Op, start: &Op, findings: &mut Vec<Finding>) {
    let ((named, thread), (started, own)) = (run(later), run(start));
    if let Some(named) = named.filter(|named| Some(*named) != started) {
        let started = started.map_or("one without a name", |started| name_of(&module.computations, started));
        let named = name_of(&module.computations, named);
        let message = format!("{} must name the computation that was started, {started}, not {named}", later.name());
        findings.push((id, code::PAIRING, message));
    }
    let own = own.unwrap_or(MAIN_THREAD);
    if let Some(thread) = thread.filter(|thread| *thread != own) {
        let message = format!("what was started on thread {own} must go on and end there, not on {thread}");
        findings.push((id, code::PAIRING, message));
    }
}

/// What two starts share, among the computations that the entry reaches: as in XLA a computation that one start names
/// belongs to it. For each start that comes second its computation, and what is wrong.
pub(super) fn shared(module: &Module) -> Vec<(ComputationId, Finding)> {
    let mut reached = vec![false; module.computations.len()];
    if let Some(entry) = reached.get_mut(module.entry.index()) {
        *entry = true;
    }
    // Callees come before their callers; that they do is another rule.
    for (id, computation) in module.computations.iter().rev().filter(|(id, _)| *id <= module.entry) {
        if reached[id.index()] {
            let callees = computation.instructions.values().flat_map(|it| it.op.called_computations());
            callees.filter(|callee| *callee < id).for_each(|callee| reached[callee.index()] = true);
        }
    }
    let mut first: HashMap<ComputationId, String> = HashMap::new();
    let mut findings = Vec::new();
    for (id, computation) in module.computations.iter().filter(|(id, _)| reached[id.index()]) {
        for (at, instruction) in computation.instructions.iter() {
            let Op::AsyncStart { calls, .. } = instruction.op else { continue };
            let place = format!("{}/{}", computation.name, instruction.name);
            if let Some(other) = first.get(&calls) {
                let name = name_of(&module.computations, calls);
                let message = format!("{name} must be started by one async-start, and {other} starts it too");
                findings.push((id, (at, code::PAIRING, message)));
            } else {
                first.insert(calls, place);
            }
        }
    }
    findings
}

/// The computation and the thread of a step of an asynchronous operation, where the text names them.
fn run(op: &Op) -> (Option<ComputationId>, Option<&str>) {
    match op {
        Op::AsyncStart { async_execution_thread, calls, .. } => (Some(*calls), async_execution_thread.as_deref()),
        Op::AsyncUpdate { async_execution_thread, calls } | Op::AsyncDone { async_execution_thread, calls } => {
            (*calls, async_execution_thread.as_deref())
        }
        Op::AsyncShorthand { async_execution_thread, .. } => (None, async_execution_thread.as_deref()),
        _ => (None, None),
    }
}

/// What is started is read once, by what ends it or goes on with it.
fn ended_once(computation: &Computation, findings: &mut Vec<Finding>) {
    let mut readers = vec![Readers::default(); computation.instructions.len()];
    for (id, instruction) in computation.instructions.iter() {
        let ends = Step::of(&instruction.op).is_some_and(|step| step.phase != AsyncPhase::Start);
        for operand in instruction.operands.iter().filter(|operand| **operand < id) {
            let count = &mut readers[operand.index()];
            if ends { count.ends += 1 } else { count.others += 1 }
        }
    }
    for (id, instruction) in computation.instructions.iter() {
        let Some(step) = Step::of(&instruction.op).filter(|step| step.phase != AsyncPhase::Done) else { continue };
        let Readers { ends, others } = readers[id.index()];
        // A transfer may leave the computation as a part of its result.
        let loose = step.is_transfer() && ends <= 1;
        if (ends, others) != (1, 0) && !loose {
            let message = format!(
                "what {} starts must be read once, by what ends it; {ends} ends and {others} other instructions read it",
                instruction.op.name()
            );
            findings.push((id, code::PAIRING, message));
        }
    }
}
