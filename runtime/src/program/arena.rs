//! Buffers that are one on the device.
//!
//! A small buffer costs a device more for being one (it is taken from the pool, followed through each submission, and made and cleared where none is
//! idle) than for its bytes. So small buffers lie side by side in *arenas*: buffers of the device that hold several of a program's.
//!
//! - *Small* is what memory moves in no more time than a launch takes besides its work, by the
//!   [`Hardware`](weft_partition::Hardware::bytes_of_a_launch) of the target. Launches that write neighbors in an arena wait for one another, whether they need to or
//!   not, and for what is small that costs no more than a launch. Larger ones stay apart, so that the pool can give each what fits.
//! - wgpu refuses a dispatch that reads one part of a buffer and writes another, and a copy within a buffer. So arenas are colors: what a launch or a copy
//!   reads lies in another one than what it writes. Each buffer, in order, joins the first arena that has room and none of those.
//! - Constants have arenas of their own, which belong to the executable; those of temporaries belong to a run.
//! - What has to be a whole buffer stays one: [`apart`].
//! - An arena of one buffer is none.
//!
//! Arguments and results lie in arenas where kernels would bind too many buffers otherwise, and then where these kernels look for them
//! ([`Arenas`](weft_partition::Arenas)). Arguments that lie elsewhere when the program runs are copied there first.
//!
//! Buffers are whole units of 256 bytes, the strictest alignment that WebGPU asks of what is bound, so arenas take no byte more than their buffers.

use super::layout::BUFFER_ALIGNMENT;
use super::step::all;
use super::{Ahead, Buffer, BufferId, BufferKind, Copy, Program, Step, Tensor};
use std::collections::{BTreeMap, BTreeSet};
use weft_partition::Target;

/// Where a buffer lies within a larger one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The number of the [arena](Program::arenas).
    pub arena: u32,
    /// Its first byte there, a multiple of 256.
    pub offset: u64,
}

/// An arena in the making.
struct Arena {
    kind: BufferKind,
    members: Vec<usize>,
    bytes: u64,
}

/// The kinds of buffers that arenas hold, without numbers.
fn class(kind: BufferKind) -> Option<BufferKind> {
    match kind {
        BufferKind::Temporary | BufferKind::Result => Some(kind),
        BufferKind::Constant(_) => Some(BufferKind::Constant(0)),
        BufferKind::Parameter(_) => Some(BufferKind::Parameter(0)),
        BufferKind::Donated(_) | BufferKind::Sizes(_) => None,
    }
}

/// Whether buffers of a kind are put into arenas by [`gather`]; others are where kernels look for them.
fn is_gathered(kind: BufferKind) -> bool {
    matches!(kind, BufferKind::Temporary | BufferKind::Constant(_))
}

/// Puts the small ones of these buffers into arenas, those that have places already apart.
pub(super) fn gather(buffers: &mut [Buffer], steps: &[Step], results: &[Tensor], target: &Target) {
    let (small, mut apart, conflicts) = (target.hardware.bytes_of_a_launch(), apart(steps), conflicts(steps));
    apart.extend(results.iter().map(|result| result.buffer.index()));
    let kinds: Vec<Option<(BufferKind, u64)>> = (buffers.iter().enumerate())
        .map(|(number, buffer)| {
            let may_lie = is_gathered(buffer.kind) && buffer.bytes <= small && !apart.contains(&number);
            class(buffer.kind).filter(|_| may_lie).map(|kind| (kind, buffer.bytes))
        })
        .collect();
    let taken = buffers.iter().filter_map(|buffer| buffer.place).map(|place| place.arena + 1).max().unwrap_or(0);
    for (buffer, place) in buffers.iter_mut().zip(colored(&kinds, &conflicts, target.max_buffer_bytes)) {
        if let Some(Place { arena, offset }) = place {
            buffer.place = Some(Place { arena: taken + arena, offset });
        }
    }
}

/// Places for buffers of these kinds and sizes, so that those which conflict lie in different arenas, none of more than `most` bytes.
fn colored(
    buffers: &[Option<(BufferKind, u64)>],
    conflicts: &BTreeMap<usize, BTreeSet<usize>>,
    most: u64,
) -> Vec<Option<Place>> {
    let mut arenas: Vec<Arena> = Vec::new();
    let mut color: Vec<Option<usize>> = vec![None; buffers.len()];
    for (number, buffer) in buffers.iter().enumerate() {
        let Some((kind, bytes)) = *buffer else { continue };
        let others = conflicts.get(&number).into_iter().flatten();
        let barred: BTreeSet<usize> = others.filter_map(|other| color.get(*other).copied().flatten()).collect();
        let takes = |(at, arena): (usize, &Arena)| {
            arena.kind == kind && !barred.contains(&at) && bytes <= most.saturating_sub(arena.bytes)
        };
        let at = arenas.iter().enumerate().position(takes).unwrap_or_else(|| {
            arenas.push(Arena { kind, members: Vec::new(), bytes: 0 });
            arenas.len() - 1
        });
        arenas[at].members.push(number);
        arenas[at].bytes += bytes;
        color[number] = Some(at);
    }
    let mut places = vec![None; buffers.len()];
    for (number, arena) in (0..).zip(arenas.iter().filter(|arena| arena.members.len() > 1)) {
        let mut offset = 0;
        for member in &arena.members {
            places[*member] = Some(Place { arena: number, offset });
            offset += buffers[*member].map_or(0, |(_, bytes)| bytes);
        }
    }
    places
}

/// The buffers that have to be whole ones: those that loops exchange, or make anew in each round; those by which the device decides. So have those of results,
/// which outlive the run, unless a kernel looks for them in an arena, which outlives it then.
fn apart(steps: &[Step]) -> BTreeSet<usize> {
    let mut apart: BTreeSet<usize> = BTreeSet::new();
    for step in all(steps) {
        let Step::While(step) = step else { continue };
        apart.extend(step.exchanges.iter().flat_map(|exchange| [exchange.buffer.index(), exchange.with.index()]));
        match &step.ahead {
            None => {}
            Some(Ahead::Kept(_)) => {
                for step in all(&step.body).chain(all(&step.condition)) {
                    if let Step::Launch(launch) = step {
                        apart.extend(launch.outputs.iter().map(|output| output.buffer.index()));
                    }
                }
            }
            Some(Ahead::Gated(gate)) => {
                apart.extend([&gate.over, &gate.rounds, &gate.grids].map(|tensor| tensor.buffer.index()));
            }
        }
    }
    apart
}

/// For each buffer those that it may not share an arena with: one is read where the other is written.
fn conflicts(steps: &[Step]) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut conflicts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut differ = |read: &Tensor, written: &Tensor| {
        let [read, written] = [read, written].map(|tensor| tensor.buffer.index());
        conflicts.entry(read).or_default().insert(written);
        conflicts.entry(written).or_default().insert(read);
    };
    for step in all(steps) {
        let launch = match step {
            Step::Launch(launch) => launch,
            Step::While(step) => match step.gate() {
                Some(gate) => &gate.launch,
                None => continue,
            },
            Step::Copy(Copy { from, to }) => {
                differ(from, to);
                continue;
            }
            Step::Conditional(_) | Step::Host(_) | Step::Draw(_) => continue,
        };
        for input in &launch.inputs {
            launch.outputs.iter().for_each(|output| differ(input, output));
        }
    }
    conflicts
}

impl Program {
    /// The buffers of the device that hold several of the program's, with the kind of these, without its number, and bytes: those that the
    /// [places](Buffer::place) of its buffers tell of.
    pub fn arenas(&self) -> Vec<Buffer> {
        let mut arenas: Vec<Buffer> = Vec::new();
        for buffer in &self.buffers {
            let (Some(Place { arena, offset }), Some(kind)) = (buffer.place, class(buffer.kind)) else { continue };
            let at = arena as usize;
            if arenas.len() <= at {
                arenas.resize(at + 1, Buffer { kind, bytes: 0, place: None });
            }
            let end = offset.saturating_add(buffer.bytes);
            arenas[at] = Buffer { kind, bytes: arenas[at].bytes.max(end), place: None };
        }
        arenas
    }

    /// That arenas are as this module says: buffers of one kind side by side, none of which has to be a whole one, and none that is read where another is
    /// written.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn check_arenas(&self) -> Result<(), String> {
        let (mut apart, conflicts) = (apart(&self.steps), conflicts(&self.steps));
        let results = self.results.iter().map(|result| result.buffer.index());
        apart.extend(results.filter(|number| self.buffers.get(*number).is_none_or(|it| is_gathered(it.kind))));
        let placed = self.buffers.iter().enumerate().filter_map(|(number, buffer)| Some((buffer.place?, number)));
        let mut placed: Vec<(Place, usize)> = placed.collect();
        placed.sort_unstable();
        let mut before: Option<(u32, BufferKind, u64)> = None;
        for (Place { arena, offset }, number) in placed {
            let buffer = &self.buffers[number];
            let whole = || format!("b{number} is no part of arena {arena}: it is a buffer of its own");
            let kind = class(buffer.kind).filter(|_| !apart.contains(&number)).ok_or_else(whole)?;
            let next = before.map_or(0, |(arena, ..)| arena + 1);
            let (of, end) = match before {
                Some((same, kind, end)) if same == arena => (kind, end),
                _ if arena == next => (kind, 0),
                _ => return Err(format!("arena {arena} is not the next")),
            };
            // Kernels look for arguments and results at places that may leave room for others.
            let follows =
                if is_gathered(kind) { end == offset } else { end <= offset && offset % BUFFER_ALIGNMENT == 0 };
            if of != kind || !follows {
                return Err(format!("b{number} does not follow what is in arena {arena}"));
            }
            let end = offset.checked_add(buffer.bytes).filter(|end| *end <= self.target.max_buffer_bytes);
            let end = end.ok_or_else(|| format!("arena {arena} is larger than a buffer may be"))?;
            before = Some((arena, kind, end));
            let arena_of = |other: &usize| self.buffers.get(*other).and_then(|other| other.place);
            let mut others = conflicts.get(&number).into_iter().flatten();
            if let Some(other) = others.find(|other| arena_of(other).is_some_and(|place| place.arena == arena)) {
                let [number, other] = [number, *other].map(|it| BufferId(u32::try_from(it).unwrap_or(u32::MAX)));
                return Err(format!(
                    "{number} and {other} are in arena {arena}, one is read where the other is written"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEMPORARY: BufferKind = BufferKind::Temporary;

    #[test]
    fn what_is_read_lies_in_another_arena_than_what_is_written() {
        let buffers = vec![Some((TEMPORARY, 256)); 4];
        let conflicts = [(0, [2].into()), (1, [3].into()), (2, [0].into()), (3, [1].into())].into();
        let places = colored(&buffers, &conflicts, 1 << 20);
        let place = |arena, offset| Some(Place { arena, offset });
        assert_eq!(places, [place(0, 0), place(0, 256), place(1, 0), place(1, 256)]);
    }

    #[test]
    fn an_arena_of_one_buffer_is_none() {
        let buffers = vec![Some((TEMPORARY, 256)), None, Some((BufferKind::Constant(0), 512)), Some((TEMPORARY, 256))];
        let conflicts = [(0, [3].into()), (3, [0].into())].into();
        assert_eq!(colored(&buffers, &conflicts, 1 << 20), [None; 4]);
    }

    #[test]
    fn small_is_what_moves_while_a_launch_begins() {
        let target = Target::preset("software").expect("a preset");
        assert_eq!(target.hardware.bytes_of_a_launch(), 204_000);
    }

    proptest! {
        #[test]
        fn arenas_hold_what_lies_apart_and_is_not_read_where_it_is_written(
            buffers in prop::collection::vec(prop::option::of((any::<bool>(), 1u64..20)), 0..60),
            pairs in prop::collection::vec((0usize..60, 0usize..60), 0..120),
            most in 20u64..200,
        ) {
            let kind = |is_constant| if is_constant { BufferKind::Constant(0) } else { TEMPORARY };
            let buffers: Vec<_> =
                buffers.into_iter().map(|it| it.map(|(is_constant, units)| (kind(is_constant), 256 * units))).collect();
            let mut conflicts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for (one, other) in pairs.into_iter().filter(|(one, other)| one != other) {
                conflicts.entry(one).or_default().insert(other);
                conflicts.entry(other).or_default().insert(one);
            }
            let places = colored(&buffers, &conflicts, 256 * most);
            let mut held: BTreeMap<u32, Vec<(usize, u64, u64)>> = BTreeMap::new();
            for (number, (buffer, place)) in buffers.iter().zip(&places).enumerate() {
                let Some(Place { arena, offset }) = place else { continue };
                let (kind, bytes) = buffer.expect("only what may lie in an arena does");
                prop_assert_eq!(offset % 256, 0);
                prop_assert!(offset + bytes <= 256 * most);
                for (other, first, end) in held.get(arena).into_iter().flatten() {
                    prop_assert!(offset >= end || offset + bytes <= *first);
                    prop_assert!(!conflicts.get(&number).is_some_and(|others| others.contains(other)));
                    prop_assert_eq!(buffers[*other].map(|(kind, _)| kind), Some(kind));
                }
                held.entry(*arena).or_default().push((number, *offset, offset + bytes));
            }
            prop_assert!(held.values().all(|members| members.len() > 1));
            prop_assert!(held.keys().copied().eq(0..u32::try_from(held.len()).expect("few")));
        }
    }
}
