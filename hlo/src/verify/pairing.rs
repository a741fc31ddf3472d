//! Asynchronous operations: every start has one end, and every end a start of its kind.

use super::code;
use super::order::Finding;
use crate::ir::{ArenaId, Computation, ComputationId, InstrId, Op};

/// Where in the life of an asynchronous operation an instruction stands.
#[derive(Copy, Clone, PartialEq)]
enum Phase {
    Start,
    Update,
    Done,
}

/// What an instruction starts, goes on with or ends.
#[derive(Copy, Clone)]
struct Step<'a> {
    /// The opcode without its phase; `async` where a computation says what runs.
    kind: &'a str,
    phase: Phase,
}

impl Step<'_> {
    fn of(op: &Op) -> Option<Step<'_>> {
        let (kind, phase) = match op {
            Op::AllGatherStart { .. } => ("all-gather", Phase::Start),
            Op::AllGatherDone => ("all-gather", Phase::Done),
            Op::AllReduceStart { .. } => ("all-reduce", Phase::Start),
            Op::AllReduceDone => ("all-reduce", Phase::Done),
            Op::CollectivePermuteStart { .. } => ("collective-permute", Phase::Start),
            Op::CollectivePermuteDone => ("collective-permute", Phase::Done),
            Op::CopyStart { .. } => ("copy", Phase::Start),
            Op::CopyDone => ("copy", Phase::Done),
            Op::Send { .. } => ("send", Phase::Start),
            Op::SendDone { .. } => ("send", Phase::Done),
            Op::Recv { .. } => ("recv", Phase::Start),
            Op::RecvDone { .. } => ("recv", Phase::Done),
            Op::AsyncStart { .. } => ("async", Phase::Start),
            Op::AsyncUpdate { .. } => ("async", Phase::Update),
            Op::AsyncDone { .. } => ("async", Phase::Done),
            Op::AsyncShorthand { opcode, .. } => {
                let phases = [("-start", Phase::Start), ("-update", Phase::Update), ("-done", Phase::Done)];
                phases.iter().find_map(|(suffix, phase)| Some((opcode.strip_suffix(suffix)?, *phase)))?
            }
            _ => return None,
        };
        Some(Step { kind, phase })
    }

    /// Whether a transfer, which may also be carried from one round of a loop to the next.
    fn is_transfer(self) -> bool {
        matches!(self.kind, "send" | "recv")
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
pub(super) fn check(computation: &Computation, faulty: &[bool], findings: &mut Vec<Finding>) {
    let mut any = false;
    for (id, instruction) in computation.instructions.iter() {
        if let Some(step) = Step::of(&instruction.op) {
            any = true;
            if step.phase != Phase::Start && !faulty[id.index()] {
                end(computation, id, step, findings);
            }
        }
    }
    if any {
        ended_once(computation, findings);
    }
}

/// What an update or an end reads is a start or an update.
fn end(computation: &Computation, id: InstrId, step: Step<'_>, findings: &mut Vec<Finding>) {
    let instruction = &computation.instructions[id];
    let [operand] = instruction.operands[..] else { return };
    let Some(producer) = computation.instructions.get(operand).filter(|_| operand < id) else { return };
    let started = Step::of(&producer.op).filter(|started| started.phase != Phase::Done);
    match started {
        Some(started) if is_one_of_pair(step, started) => {
            channels(id, &instruction.op, &producer.op, findings);
            same_run(id, &instruction.op, &producer.op, findings);
        }
        None if step.is_transfer() => {}
        _ => {
            let (opcode, kind) = (instruction.op.opcode(), step.kind);
            let given = producer.op.opcode();
            let message =
                format!("operand 0 of {opcode} must be what {kind} started, and {} is {given}", producer.name);
            findings.push((id, code::PAIRING, message));
        }
    }
}

/// Whether the one ends what the other starts. The two spellings of asynchronous computations may meet.
fn is_one_of_pair(step: Step<'_>, started: Step<'_>) -> bool {
    const OWN: [&str; 6] = ["all-gather", "all-reduce", "collective-permute", "copy", "send", "recv"];
    let own = OWN.contains(&step.kind) || OWN.contains(&started.kind);
    step.kind == started.kind || (!own && (step.kind == "async" || started.kind == "async"))
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

/// Where an update or an end repeats the computation and the thread, they are those of the start.
fn same_run(id: InstrId, later: &Op, earlier: &Op, findings: &mut Vec<Finding>) {
    let (later, earlier) = (run(later), run(earlier));
    if later.0.zip(earlier.0).is_some_and(|(later, earlier)| later != earlier) {
        let message = "what ends an asynchronous operation must name the computation that was started";
        findings.push((id, code::PAIRING, message.to_owned()));
    }
    if let Some((later, earlier)) = later.1.zip(earlier.1).filter(|(later, earlier)| later != earlier) {
        let message = format!("what was started on thread {earlier} must end there, not on {later}");
        findings.push((id, code::PAIRING, message));
    }
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
        let ends = Step::of(&instruction.op).is_some_and(|step| step.phase != Phase::Start);
        for operand in instruction.operands.iter().filter(|operand| **operand < id) {
            let count = &mut readers[operand.index()];
            if ends { count.ends += 1 } else { count.others += 1 }
        }
    }
    for (id, instruction) in computation.instructions.iter() {
        let Some(step) = Step::of(&instruction.op).filter(|step| step.phase != Phase::Done) else { continue };
        let Readers { ends, others } = readers[id.index()];
        // A transfer may leave the computation as a part of its result.
        let loose = step.is_transfer() && ends <= 1;
        if (ends, others) != (1, 0) && !loose {
            let message = format!(
                "what {} starts must be read once, by what ends it; {ends} ends and {others} other instructions read it",
                instruction.op.opcode()
            );
            findings.push((id, code::PAIRING, message));
        }
    }
}
