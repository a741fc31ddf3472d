//! Rounds of loops that are made whether they are needed or not.

use super::{Memories, Run, exchanged_by};
use crate::buffer::{Stretch, Use, read_all};
use crate::program::layout::{BUFFER_ALIGNMENT, WORD_BYTES};
use crate::program::{Step, While};
use crate::{DeviceBuffer, Error};
use std::collections::BTreeSet;
use std::sync::Arc;
use weft_hlo::ir::{ArrayShape, ElementType, Scalar};

/// The conditions of rounds, side by side in one buffer, so that they are read at once.
struct Told {
    memory: Stretch,
    /// How many conditions it holds.
    slots: usize,
    /// The buffer of the program that each round writes its condition to, if that can be memory of `memory`: nothing else of the round reads it.
    written: Option<usize>,
}

impl Told {
    fn slot(&self, number: usize) -> Stretch {
        self.memory.behind(number as u64 * BUFFER_ALIGNMENT)
    }
}

impl<'a> Run<'a> {
    /// Makes more rounds than are known to be needed, each with memory of its own for what it makes. Afterwards buffers have the memory that they
    /// had behind the last one that was needed.
    pub(super) async fn repeat_kept(&mut self, step: &'a While, most: usize) -> Result<(), Error> {
        let Some(flag) = &step.flag else { return Ok(()) };
        let written: BTreeSet<usize> = launches(step).flat_map(|launch| &launch.outputs).map(number).collect();
        let touched: BTreeSet<usize> = written.union(&exchanged_by(step).collect()).copied().collect();
        // More than are made at once: what these begin with was made in the rounds before, as many of them as a value may be handed on from
        // one element of the state to the next.
        let slots = most + step.carried.len() + 1;
        let told = self.told(step, slots).await?;
        let own: BTreeSet<usize> = written.into_iter().filter(|buffer| told.written != Some(*buffer)).collect();
        let mut kept: Vec<Memories> = Vec::with_capacity(slots);
        let before = self.memories(&told.written.into_iter().chain([number(flag)]).collect());
        self.steps(&step.condition).await?;
        let (mut round, mut count) = (0, 2.min(most));
        loop {
            let mut after = vec![self.memories(&touched)];
            let mut flags = vec![self.memory(flag)];
            for _ in 0..count {
                if kept.len() < slots {
                    let mut memories = self.memory_for(&own).await?;
                    memories.extend(told.written.map(|buffer| (buffer, told.slot(kept.len()))));
                    kept.push(memories);
                }
                self.restore(kept[round % slots].clone());
                self.steps(&step.body).await?;
                self.exchange(step);
                self.steps(&step.condition).await?;
                after.push(self.memories(&touched));
                flags.push(self.memory(flag));
                round += 1;
            }
            let last = self.first_false(&flags, &told).await?;
            if let Some(memories) = last.and_then(|last| after.into_iter().nth(last)) {
                self.restore(memories);
                if told.written.is_some() {
                    // Other steps may read one of these and write the other, so they are to lie in different buffers again.
                    let last = self.memory(flag);
                    self.restore(before);
                    let own = self.memory(flag);
                    if own.address() != last.address() {
                        self.recorder.copy(last, own, WORD_BYTES).await?;
                    }
                }
                // What was kept goes back to where it came from.
                self.recorder.forget();
                return Ok(());
            }
            self.tell(step, round as u64);
            count = (2 * count).min(most);
        }
    }

    /// Memory for the conditions of so many rounds.
    async fn told(&self, step: &While, slots: usize) -> Result<Told, Error> {
        // One more for the condition that comes before the first round.
        let bytes = (slots as u64 + 1) * BUFFER_ALIGNMENT;
        let take = |device: &crate::Device| {
            Stretch::whole(Arc::new(device.pool().take(device.wgpu_device(), Use::Tensor, bytes)))
        };
        let memory = self.executable.device.scoped("taking memory for conditions of a loop", take).await?;
        let flag = step.flag.as_ref().map(number);
        let source = step.exchanges.iter().find(|exchange| Some(exchange.buffer.index()) == flag);
        let written = source.map(|exchange| exchange.with.index()).or(flag);
        // No dispatch may read one part of a buffer and write another.
        let is_read = launches(step).flat_map(|launch| &launch.inputs).map(number).any(|input| {
            let both = [flag, written];
            both.contains(&Some(input))
        });
        let is_made = launches(step).flat_map(|launch| &launch.outputs).map(number).any(|it| Some(it) == written);
        // What the state hands on is one value in several places.
        let is_handed_on = step.exchanges.iter().filter(|exchange| flag == Some(exchange.with.index()));
        let is_handed_on = is_handed_on.into_iter().any(|exchange| Some(exchange.buffer.index()) != written);
        Ok(Told { memory, slots, written: written.filter(|_| is_made && !is_read && !is_handed_on) })
    }

    /// Which is the first of some truth values, a word for each, that is false. Those that do not lie side by side are brought together.
    async fn first_false(&mut self, flags: &[Stretch], told: &Told) -> Result<Option<usize>, Error> {
        let mut words = Vec::with_capacity(flags.len());
        for (position, flag) in flags.iter().enumerate() {
            let offset = if Arc::ptr_eq(&flag.memory, &told.memory.memory) {
                flag.offset
            } else {
                let slot = if told.written.is_some() { told.slot(told.slots) } else { told.slot(position) };
                self.recorder.copy(flag.clone(), slot.clone(), WORD_BYTES).await?;
                slot.offset
            };
            words.push((offset / WORD_BYTES) as usize);
        }
        self.recorder.submit().await?;
        let bytes = (told.slots as u64 + 1) * BUFFER_ALIGNMENT;
        let shape = ArrayShape::new(ElementType::U32, [i64::try_from(bytes / WORD_BYTES).unwrap_or(i64::MAX)]);
        let all = DeviceBuffer::new(&self.executable.device, told.memory.clone(), shape, bytes);
        let all = read_all(&self.executable.device, &[all], self.waiting).await?;
        // The value is the first byte of its word.
        let is_false = |word: &usize| match all.first().and_then(|all| all.data.get(*word)) {
            Some(Scalar::U32(word)) => word & 0xff == 0,
            _ => true,
        };
        Ok(words.iter().position(is_false))
    }

    /// Memory for these buffers besides what they have.
    async fn memory_for(&self, buffers: &BTreeSet<usize>) -> Result<Memories, Error> {
        let all = self.executable.program.buffers();
        let take = |device: &crate::Device| {
            let one = |buffer: &usize| {
                let memory = device.pool().take(device.wgpu_device(), Use::Tensor, all[*buffer].bytes);
                (*buffer, Stretch::whole(Arc::new(memory)))
            };
            buffers.iter().map(one).collect()
        };
        self.executable.device.scoped("taking memory for rounds of a loop", take).await
    }
}

/// The number of the buffer of a tensor.
fn number(tensor: &crate::program::Tensor) -> usize {
    tensor.buffer.index()
}

/// The launches of a round, which holds nothing else.
fn launches(step: &While) -> impl Iterator<Item = &crate::program::Launch> {
    step.body.iter().chain(&step.condition).filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        _ => None,
    })
}
