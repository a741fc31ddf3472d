//! Small arguments and results that lie side by side.
//!
//! A device binds few buffers to a kernel: 8 in WebGPU, 16 on desktop cards. The updates of a hundred parameters, each of which reads four tensors and writes
//! three, would be fifty launches then. So what is small and would be bound by a kernel that binds too much lies in *arenas*: buffers that hold many
//! tensors, each at an offset that is known when the kernel is compiled, and which the kernel binds once. (Optimizers of deep-learning frameworks do
//! so by hand: "flat parameters", "multi-tensor apply".)
//!
//! - *Small* is what memory moves in no more time than a launch takes besides its work ([`Hardware::bytes_of_a_launch`](crate::Hardware::bytes_of_a_launch)).
//! - Only arguments of the program and results that nobody but its caller reads: where they lie follows from the module alone, and no launch reads what lies
//!   beside what another one writes.
//! - Tensors of one element type share an arena, as an array in WGSL has one.
//! - An argument and the result that takes its place when the program runs again ([state](Role::State), by `input_output_alias`, or by order and shape) have one offset in
//!   an arena of arguments and one of results. So the results of one run are the arguments of the next as they lie, and nothing is copied. Arguments that lie elsewhere
//!   are copied to where they belong.
//! - A kernel that binds few buffers binds each by itself, in an arena too: offsets are multiples of 256 bytes, as devices ask of what is bound.

mod bindings;
mod small;

pub(crate) use bindings::Bindings;

use crate::Target;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ElementType, InstrId, Module, Op};

/// Bytes that tensors in arenas begin at multiples of: the strictest alignment that WebGPU asks of what is bound.
const ALIGNMENT: u64 = 256;

/// What the tensors of an arena are to the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Arguments whose place results take.
    State,
    /// Other arguments.
    Argument,
    /// Results that take the place of arguments.
    NextState,
    /// Other results.
    Result,
}

/// What tensors of one arena have in common.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    role: Role,
    element_type: ElementType,
    /// Of several, since one would be larger than a kernel may bind.
    number: u32,
}

/// Where a tensor lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The number of the arena.
    pub arena: usize,
    /// Its first byte there, a multiple of 256.
    pub offset: u64,
}

/// The arenas of a fused program: which kernels bind them, and what lies in them. Empty where no kernel of the entry binds more buffers than the target allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arenas {
    roles: Vec<Role>,
    arguments: BTreeMap<InstrId, Slot>,
    results: BTreeMap<(InstrId, usize), Slot>,
    kernels: BTreeSet<InstrId>,
}

impl Arenas {
    /// Those of a fused module for a target, by its entry alone.
    pub(crate) fn of(module: &Module, target: &Target) -> Self {
        let bindings = Bindings::of(module, module.entry, target);
        let Some(small) = bindings.small() else { return Arenas::default() };
        let mut arenas = Arenas::default();
        let (mut arguments, mut results): (BTreeSet<InstrId>, BTreeMap<InstrId, (InstrId, usize)>) = Default::default();
        for (id, instruction) in module.entry_computation().instructions.iter() {
            let Op::Fusion { calls, .. } = instruction.op else { continue };
            let Some((own, made)) = bindings.in_arenas(id, &module.computations[calls]) else { continue };
            arguments.extend(own);
            results.extend(made.into_iter().map(|(leaf, value)| (value, (id, leaf))));
            arenas.kernels.insert(id);
        }
        let mut layout = Layout::default();
        for (argument, result) in small.states.iter().copied() {
            let (is_read, made) = (arguments.contains(&argument), results.get(&result));
            if !is_read && made.is_none() {
                continue;
            }
            // Both have room, whether or not both lie there, so that all others have one offset in both.
            if let (Some(before), Some(after)) = (small.argument(argument), small.result(result)) {
                let offset = layout.room(before, small.bytes(argument));
                if is_read {
                    arenas.arguments.insert(argument, Slot { arena: layout.number(before), offset });
                }
                if let Some(made) = made {
                    arenas.results.insert(*made, Slot { arena: layout.number(after), offset });
                }
            }
        }
        for argument in small.other_arguments.iter().copied().filter(|id| arguments.contains(id)) {
            if let Some(class) = small.argument(argument) {
                let offset = layout.room(class, small.bytes(argument));
                arenas.arguments.insert(argument, Slot { arena: layout.number(class), offset });
            }
        }
        for result in &small.other_results {
            if let (Some(made), Some(class)) = (results.get(result), small.result(*result)) {
                let offset = layout.room(class, small.bytes(*result));
                arenas.results.insert(*made, Slot { arena: layout.number(class), offset });
            }
        }
        arenas.roles = layout.roles;
        arenas
    }

    /// What the tensors of each arena are, by their numbers.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Whether a fusion of the entry binds arenas as wholes.
    pub fn are_bound_by(&self, fusion: InstrId) -> bool {
        self.kernels.contains(&fusion)
    }

    /// Where an argument lies, a `parameter` of the entry; `None` if it is a buffer of its own.
    pub fn argument(&self, parameter: InstrId) -> Option<Slot> {
        self.arguments.get(&parameter).copied()
    }

    /// Where the result of this number of a fusion lies; `None` if it is a buffer of its own.
    pub fn result(&self, fusion: InstrId, number: usize) -> Option<Slot> {
        self.results.get(&(fusion, number)).copied()
    }
}

/// Arenas while they are filled.
#[derive(Default)]
struct Layout {
    roles: Vec<Role>,
    numbers: BTreeMap<Class, usize>,
    ends: BTreeMap<Class, u64>,
}

impl Layout {
    /// The number of the arena of a class.
    fn number(&mut self, class: Class) -> usize {
        *self.numbers.entry(class).or_insert_with(|| {
            self.roles.push(class.role);
            self.roles.len() - 1
        })
    }

    /// The first of so many bytes behind what lies there already.
    fn room(&mut self, class: Class, bytes: u64) -> u64 {
        let end = self.ends.entry(class).or_default();
        let first = *end;
        *end += bytes;
        first
    }
}
