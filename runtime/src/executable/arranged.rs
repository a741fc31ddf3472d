//! Arguments where kernels look for them.

use super::{Argument, Executable};
use crate::buffer::{Stretch, Use};
use crate::program::layout::encode;
use crate::program::{BufferKind, Place, Program};
use crate::{DeviceBuffer, Error};
use std::sync::Arc;
use weft_hlo::ir::{Literal, Shape};

/// The numbers of the arguments in an arena, with their places.
fn members(program: &Program, arena: u32) -> impl Iterator<Item = (usize, u64)> {
    program.buffers().iter().filter_map(move |buffer| match (buffer.kind, buffer.place) {
        (BufferKind::Parameter(number), Some(Place { arena: own, offset })) if own == arena => Some((number, offset)),
        _ => None,
    })
}

/// The arena of this number, if these arguments lie in one buffer as they have to, which results of such a program do, and what is [uploaded](Executable::upload) for it.
pub(super) fn arranged(program: &Program, arena: u32, inputs: &[Argument<'_>]) -> Option<Stretch> {
    let mut found: Option<Stretch> = None;
    for (number, offset) in members(program, arena) {
        let given = inputs.get(number)?.buffer().stretch();
        let whole = Stretch { memory: Arc::clone(&given.memory), offset: given.offset.checked_sub(offset)? };
        if found.get_or_insert_with(|| whole.clone()).address() != whole.address() {
            return None;
        }
    }
    let bytes = program.arenas().get(arena as usize)?.bytes;
    found.filter(|found| found.offset.checked_add(bytes).is_some_and(|end| end <= found.buffer().size()))
}

impl Executable {
    /// Copies arguments to the device, each to where the program looks for it: those in arenas side by side, others each to a buffer of its own. Arguments that were
    /// uploaded by themselves are as right, and are copied once more where they lie in arenas.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::InputMismatch`], and those of [`DeviceBuffer::upload_async`].
    pub async fn upload_async(&self, inputs: &[Literal]) -> Result<Vec<DeviceBuffer>, Error> {
        self.check_inputs(inputs.iter().map(|literal| &literal.shape))?;
        let mut uploaded: Vec<Option<DeviceBuffer>> = vec![None; inputs.len()];
        for (number, arena) in (0..).zip(self.program.arenas()) {
            if !matches!(arena.kind, BufferKind::Parameter(_)) {
                continue;
            }
            let mut content = vec![0; usize::try_from(arena.bytes).unwrap_or(0)];
            for (number, offset) in members(&self.program, number) {
                let bytes = encode(&inputs[number]);
                let within = usize::try_from(offset).ok().zip(bytes.as_deref()).and_then(|(first, bytes)| {
                    content.get_mut(first..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
                    Some(())
                });
                let value = inputs[number].shape.to_string();
                within.ok_or(Error::NoDeviceForm { value, reason: "its elements are not held".into() })?;
            }
            let write = |device: &crate::Device| {
                let memory = device.pool().take(device.wgpu_device(), Use::Tensor, content.len() as u64);
                device.wgpu_queue().write_buffer(&memory.buffer, 0, &content);
                Stretch::whole(memory.into_arena())
            };
            let whole = self.device.scoped("uploading arguments", write).await?;
            for (number, offset) in members(&self.program, number) {
                if let Shape::Array(shape) = &inputs[number].shape {
                    let bytes = self.program.parameters()[number].bytes;
                    let tensor = DeviceBuffer::new(&self.device, whole.behind(offset), shape.clone(), bytes);
                    uploaded[number] = Some(tensor);
                }
            }
        }
        let mut tensors = Vec::with_capacity(inputs.len());
        for (uploaded, input) in uploaded.into_iter().zip(inputs) {
            tensors.push(match uploaded {
                Some(tensor) => tensor,
                None => DeviceBuffer::upload_async(&self.device, input).await?,
            });
        }
        Ok(tensors)
    }

    /// [`upload_async`](Executable::upload_async), waiting.
    ///
    /// # Errors
    /// As there.
    #[cfg(feature = "blocking")]
    pub fn upload(&self, inputs: &[Literal]) -> Result<Vec<DeviceBuffer>, Error> {
        pollster::block_on(self.upload_async(inputs))
    }
}
