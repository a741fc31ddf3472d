//! The workgroup memory of collectives.

use crate::kernel::{Kernel, Memory, MemoryId, Space};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, ElementType};

/// Memory that the collectives of a kernel share: so many elements for each operand of a type, as those need that need the most.
pub(super) struct Tiles {
    names: BTreeSet<String>,
    /// Memories of the kernel.
    first: usize,
    made: Vec<Memory>,
    /// By type, and the number among the operands of this type.
    known: BTreeMap<(&'static str, usize), MemoryId>,
}

impl Tiles {
    pub(super) fn new(kernel: &Kernel) -> Self {
        let names = kernel.memories.values().map(|memory| memory.name.clone());
        Tiles {
            names: names.chain(kernel.functions.values().map(|function| function.name.clone())).collect(),
            first: kernel.memories.len(),
            made: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// A tile of at least so many elements for each operand of a collective, given their types.
    pub(super) fn of(&mut self, types: &[ElementType], elements: i64) -> Vec<MemoryId> {
        let number = |position: usize| types[..position].iter().filter(|ty| **ty == types[position]).count();
        (0..types.len()).map(|position| self.tile(types[position], number(position), elements)).collect()
    }

    fn tile(&mut self, ty: ElementType, number: usize, elements: i64) -> MemoryId {
        if let Some(known) = self.known.get(&(ty.name(), number)) {
            let extent = &mut self.made[known.index() - self.first].shape.extents[0];
            *extent = elements.max(*extent);
            return *known;
        }
        let mut name = format!("shared_{ty}");
        while !self.names.insert(name.clone()) {
            name.push_str("_v");
        }
        let shape = ArrayShape::new(ty, vec![elements]);
        let id = MemoryId::from_index(self.first + self.made.len());
        self.made.push(Memory::new(name, shape, Space::Workgroup));
        self.known.insert((ty.name(), number), id);
        id
    }

    pub(super) fn add_to(self, memories: &mut Arena<MemoryId, Memory>) {
        for memory in self.made {
            memories.push(memory);
        }
    }
}
