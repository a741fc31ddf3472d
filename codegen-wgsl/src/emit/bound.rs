//! Which binding each tensor of a kernel has.

use weft_hlo::ir::InstrId;
use weft_partition::{Arenas, Fused, Site, Slot};

/// The bindings of a kernel, in the order in which they are first asked for: one for each tensor, and one for each [arena](Arenas) where the kernel binds those.
pub(super) struct Bound<'f> {
    arenas: Option<(&'f Arenas, InstrId)>,
    bindings: Vec<What>,
}

#[derive(PartialEq)]
enum What {
    Operand(InstrId),
    Result(usize),
    Arena(usize),
}

impl<'f> Bound<'f> {
    /// Of the kernel of a fusion.
    pub(super) fn of(fused: &'f Fused, site: Site) -> Self {
        let is_in_arenas = site.computation == fused.module.entry && fused.arenas.are_bound_by(site.instruction);
        Bound { arenas: is_in_arenas.then_some((&fused.arenas, site.instruction)), bindings: Vec::new() }
    }

    /// The binding of an operand, and the byte at which it begins there. A tensor that is given several times is bound once: a device refuses one
    /// buffer in two roles.
    pub(super) fn operand(&mut self, operand: InstrId) -> (usize, u64) {
        let slot = self.arenas.and_then(|(arenas, _)| arenas.argument(operand));
        self.place(slot, What::Operand(operand))
    }

    /// The binding of the result of this number, and the byte at which it begins there.
    pub(super) fn result(&mut self, number: usize) -> (usize, u64) {
        let slot = self.arenas.and_then(|(arenas, fusion)| arenas.result(fusion, number));
        self.place(slot, What::Result(number))
    }

    fn place(&mut self, slot: Option<Slot>, apart: What) -> (usize, u64) {
        let (what, offset) = match slot {
            Some(Slot { arena, offset }) => (What::Arena(arena), offset),
            None => (apart, 0),
        };
        let known = self.bindings.iter().position(|other| *other == what);
        let binding = known.unwrap_or_else(|| {
            self.bindings.push(what);
            self.bindings.len() - 1
        });
        (binding, offset)
    }
}
