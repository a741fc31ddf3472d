//! The emitter of loops that are one kernel: one workgroup makes their rounds.

mod round;

use crate::kernel::{Access, Block, Function, Kernel, Memory, MemoryId, ScalarOp, Space};
use crate::wgsl::Names;
use round::Emission;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArrayShape, BinaryOp, ElementType, Instruction};
use weft_partition::{Fused, LoopPlan, Outside};

/// How many rounds a dispatch makes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// So many, whatever the condition says.
    Exactly(u32),
    /// As long as the condition holds, and no more than so many.
    AtMost(u32),
}

/// The kernel of a loop. It reads what the plan reads, in its order, then what is carried [apart](weft_partition::Carried::apart); it writes that, and
/// updates in place what is carried otherwise, in the order of the plan; and at last, where its condition decides, it writes whether that holds still.
///
/// # Errors
/// `HLO412` for a tensor with more elements than 32-bit indices reach, and the errors of emission.
pub(crate) fn emit_rounds(
    fused: &Fused,
    instruction: &Instruction,
    plan: &LoopPlan,
    rounds: Rounds,
) -> Result<Kernel, Diagnostics> {
    let mut names = Names::globals();
    let buffers = Buffers::of(fused, instruction, plan, matches!(rounds, Rounds::AtMost(_)), &mut names)?;
    let Buffers { mut memories, read, from, to, goes_on } = buffers;
    let tiles: Vec<MemoryId> = (plan.tiles.iter().enumerate())
        .map(|(number, shape)| {
            let name = names.take(&format!("tile_{number}"));
            let shape = shape.clone();
            memories.push(Memory::new(name, shape, Space::Workgroup))
        })
        .collect();
    let entry = Function {
        name: "entry".to_owned(),
        parameters: Vec::new(),
        values: Arena::new(),
        body: Block::default(),
        extents: vec![1, i64::from(plan.threads)],
    };
    let mut emission = Emission::new(fused, entry, memories, (tiles, read), names);
    let mut body = Block::default();
    for (tile, from) in from.iter().enumerate() {
        emission.copied(*from, emission.tile(tile), &mut body)?;
    }
    emission.barrier(&mut body);
    let (round, last) = emission.counter();
    let (Rounds::Exactly(most) | Rounds::AtMost(most)) = rounds;
    let mut condition = Block::default();
    emission.steps(&plan.condition, &mut condition)?;
    let mut holds = emission.is_within(round, most, &mut condition);
    if let (Some(flag), Rounds::AtMost(_)) = (plan.flag, rounds) {
        let shape = &plan.tiles[flag];
        let flag = emission.shared(emission.tile(flag), shape, &mut condition);
        let both = ScalarOp::Binary { op: BinaryOp::And, operands: [flag, holds] };
        holds = emission.define("goes_on", ElementType::Pred, both, &mut condition);
    }
    condition.results = vec![holds];
    let mut made = Block::default();
    emission.steps(&plan.body, &mut made)?;
    let handed_on: Vec<(MemoryId, MemoryId)> = (plan.carried.iter().enumerate())
        .map(|(tile, carried)| (emission.memory(carried.next), emission.tile(tile)))
        .collect();
    emission.hand_on(&handed_on, &mut made)?;
    emission.barrier(&mut made);
    let counted = emission.counted(last, (round, condition), made);
    body.statements.push(counted);
    for (tile, to) in to.iter().enumerate() {
        emission.copied(emission.tile(tile), *to, &mut body)?;
    }
    if let (Some(flag), Some(goes_on)) = (plan.flag, goes_on) {
        emission.copied(emission.tile(flag), goes_on, &mut body)?;
    }
    Ok(emission.finish(&instruction.name, body))
}

/// The buffers of a loop.
struct Buffers {
    memories: Arena<MemoryId, Memory>,
    read: Vec<MemoryId>,
    /// Where what is carried lies before the first round, and where after the last.
    from: Vec<MemoryId>,
    to: Vec<MemoryId>,
    goes_on: Option<MemoryId>,
}

impl Buffers {
    fn of(
        fused: &Fused,
        instruction: &Instruction,
        plan: &LoopPlan,
        tells: bool,
        names: &mut Names,
    ) -> Result<Self, Diagnostics> {
        let mut memories: Arena<MemoryId, Memory> = Arena::new();
        let mut buffer = |name: &str, shape: &ArrayShape, access: Access| {
            if shape.element_count().is_none_or(|count| count >= i64::from(i32::MAX)) {
                let message = format!("{shape} has more elements than a kernel's 32-bit indices reach");
                return Err(Diagnostic::new("HLO412", instruction.span, message).about(&instruction.name));
            }
            let binding = u32::try_from(memories.len()).unwrap_or(u32::MAX);
            let space = Space::Buffer { binding, offset: 0, access };
            let (name, shape) = (names.take(name), ArrayShape { layout: None, ..shape.clone() });
            Ok(memories.push(Memory::new(name, shape, space)))
        };
        let leaves = instruction.shape.leaves();
        let mut read = Vec::with_capacity(plan.read.len());
        for outside in &plan.read {
            let (name, shape) = match outside {
                Outside::Leaf(leaf) => {
                    (format!("{}.{leaf}", instruction.name), leaves.get(*leaf).and_then(|leaf| leaf.as_array()))
                }
                Outside::Constant(site) => {
                    let constant = fused.instruction(*site);
                    let name = constant.map_or_else(String::new, |constant| constant.name.clone());
                    (name, constant.and_then(|constant| constant.shape.as_array()))
                }
            };
            let shape = shape.ok_or_else(|| {
                let message = "what a loop reads is no array; this is a fault of the compiler";
                Diagnostic::new("HLO410", instruction.span, message).about(&instruction.name)
            })?;
            read.push(buffer(&name, shape, Access::Read)?);
        }
        let mut from: Vec<Option<MemoryId>> = Vec::with_capacity(plan.carried.len());
        for carried in &plan.carried {
            from.push(carried.apart.then(|| buffer(&carried.name, &carried.shape, Access::Read)).transpose()?);
        }
        let mut to = Vec::with_capacity(plan.carried.len());
        for (carried, from) in plan.carried.iter().zip(&from) {
            let access = if from.is_some() { Access::Write } else { Access::ReadWrite };
            to.push(buffer(&format!("{}.out", carried.name), &carried.shape, access)?);
        }
        let from = from.into_iter().zip(&to).map(|(from, to)| from.unwrap_or(*to)).collect();
        let flag = plan.flag.filter(|_| tells).map(|flag| buffer("goes_on", &plan.tiles[flag], Access::Write));
        let goes_on = flag.transpose()?;
        Ok(Buffers { memories, read, from, to, goes_on })
    }
}
