//! What it takes to compute a value where it is read, beside what it takes as a kernel of its own.

use super::{Offer, Walk};
use crate::access::element_count;
use crate::cost::{operation_cost, weight};
use crate::estimate::{compute_nanoseconds, gathered_nanoseconds};
use crate::fuse::candidate::{Candidate, Comparison, Move};
use crate::fuse::given::name_in;
use crate::fuse::leaves::bytes_of;
use std::collections::BTreeSet;
use weft_hlo::ir::InstrId;

impl Walk<'_> {
    /// What an instruction and the kernels that read it take if it is a kernel, and if they compute it: in nanoseconds, as far as it makes a difference.
    pub(super) fn compared(&self, id: InstrId, offers: &[Offer]) -> Comparison {
        let hardware = &self.target.hardware;
        let instruction = &self.entry.instructions[id];
        let elements = element_count(&instruction.shape);
        let read = |leaf: &InstrId, elements: f64| bytes_of(&self.entry.instructions[*leaf].shape, elements);
        let leaves = self.leaves.of(id);
        let once: f64 = leaves.iter().map(|leaf| read(leaf, elements)).sum();
        let own: f64 = offers.iter().map(|offer| bytes_of(&instruction.shape, offer.home.evaluations)).sum();
        let before = bytes_of(&instruction.shape, elements) + once + own;
        let mut after = 0.0;
        for offer in offers {
            let kernel = &self.kernels[offer.kernel];
            let known: BTreeSet<InstrId> = match offers.len() {
                // All that it reads is read there anyway.
                1 => BTreeSet::new(),
                _ => {
                    let others = kernel.inputs.iter().filter(|input| **input != id);
                    others.flat_map(|input| self.leaves.of(*input).iter().copied().chain([*input])).collect()
                }
            };
            let more = leaves.iter().filter(|leaf| !known.contains(leaf));
            after += more.map(|leaf| read(leaf, offer.home.evaluations)).sum::<f64>();
        }
        let moved = |bytes: f64| 1e9 * bytes / hardware.dram_bytes_per_second as f64;
        let evaluations: f64 = offers.iter().map(|offer| offer.home.evaluations).sum();
        if self.is_again_for_products(id, offers) {
            // What it is computed of would be computed again with it.
            let computed = |times: f64| compute_nanoseconds(self.prologues.units(id) * times, self.target);
            let launch = f64::from(hardware.launch_nanoseconds);
            return Comparison {
                before: launch + moved(before) + computed(elements),
                after: moved(after) + computed(evaluations),
            };
        }
        let units = operation_cost(&instruction.op) * weight(instruction);
        let computed = |times: f64| 1e9 * units * times / hardware.flops_per_second();
        let gathered = |id: &InstrId| self.gathered(*id, offers);
        Comparison {
            before: f64::from(hardware.launch_nanoseconds) + moved(before) + computed(elements) + gathered(&id),
            after: moved(after) + computed(evaluations) + leaves.iter().map(gathered).sum::<f64>(),
        }
    }

    /// What it takes to read a value in memory where kernels compute something of it again and again at places that values tell.
    fn gathered(&self, id: InstrId, offers: &[Offer]) -> f64 {
        let again = offers.iter().filter(|offer| offer.is_gathered_again).map(|offer| offer.home.evaluations).sum();
        let shape = &self.entry.instructions[id].shape;
        let count = element_count(shape);
        if count > 1.0 { gathered_nanoseconds(bytes_of(shape, count), again, self.target) } else { 0.0 }
    }

    /// Why what several kernels read, or one again and again, should be a kernel, where that takes less time than if they computed it.
    pub(super) fn refused_for_time(&self, id: InstrId, offers: &[Offer], compared: Comparison) -> Option<String> {
        let is_again = self.is_again_for_products(id, offers);
        // Of what lies at places that values say, nothing is in a cache because a neighbor has just read it.
        let is_gathered_again = offers.iter().any(|offer| offer.is_gathered_again);
        let is_longer = (offers.len() > 1 || is_again || is_gathered_again) && compared.saved() < 0.0;
        is_longer.then(|| {
            let (count, Comparison { before, after }) = (offers.len(), compared);
            let who = match count {
                1 if is_again => "sums of products would compute it again and again".to_owned(),
                1 => "where values say it would be computed again and again".to_owned(),
                _ => format!("{count} kernels would compute it"),
            };
            format!("{who}, in {after:.0} ns; as a kernel of its own it takes {before:.0} ns")
        })
    }

    /// Whether sums of products would compute an instruction for more than one of their tiles, if that is any work.
    fn is_again_for_products(&self, id: InstrId, offers: &[Offer]) -> bool {
        let instruction = &self.entry.instructions[id];
        let elements = element_count(&instruction.shape);
        let is_again = |offer: &Offer| {
            self.prologues.is_of_tiles(id, self.kernels[offer.kernel].root) && offer.home.evaluations > elements
        };
        operation_cost(&instruction.op) > 0.0 && offers.iter().any(is_again)
    }

    /// Remembers what was decided about fusing an instruction into the kernels that read it.
    pub(super) fn consider(&mut self, id: InstrId, offers: &[Offer], compared: Comparison, refusal: Option<String>) {
        let users = offers.iter().map(|offer| self.kernels[offer.kernel].root);
        let kernels = [id].into_iter().chain(users).map(|id| name_in(self.module, self.program, id)).collect();
        let is_taken = refusal.is_none();
        let saves = || match offers.is_empty() {
            true => "none of its elements is needed".to_owned(),
            false => format!("it saves {:.0} ns", compared.saved()),
        };
        let reason = refusal.unwrap_or_else(saves);
        self.candidates.push(Candidate {
            kind: Move::IntoUsers,
            kernels,
            nanoseconds: Some(compared),
            is_taken,
            reason,
        });
    }
}
