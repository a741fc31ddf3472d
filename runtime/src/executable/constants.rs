//! The constants of a program on a device.

use crate::buffer::{Stretch, Use};
use crate::program::layout::encode;
use crate::program::{BufferKind, Place, Program};
use crate::{Device, DeviceBuffer, Error};
use std::sync::Arc;

/// Copies the constants of a program to a device: those that lie in an arena together, the others each to a buffer.
///
/// # Errors
/// [`Error::NoDeviceForm`], and whatever the device reports.
pub(super) async fn upload(device: &Device, program: &Program) -> Result<Vec<Stretch>, Error> {
    let mut contents: Vec<Option<Vec<u8>>> = Vec::new();
    for arena in program.arenas() {
        let bytes = usize::try_from(arena.bytes).ok().filter(|_| matches!(arena.kind, BufferKind::Constant(_)));
        contents.push(bytes.map(|bytes| vec![0; bytes]));
    }
    for (tensor, literal) in program.constants() {
        let Some(Place { arena, offset }) = program.buffers()[tensor.buffer.index()].place else { continue };
        let bytes = encode(literal).filter(|bytes| bytes.len() as u64 == tensor.bytes);
        let no_form = || Error::NoDeviceForm {
            value: format!("{} {}", tensor.name, tensor.shape),
            reason: "its elements are not held".into(),
        };
        let bytes = bytes.ok_or_else(no_form)?;
        let content = contents.get_mut(arena as usize).and_then(Option::as_mut);
        let place = usize::try_from(offset).ok().zip(content);
        let place = place.and_then(|(first, content)| content.get_mut(first..)?.get_mut(..bytes.len()));
        place.ok_or_else(no_form)?.copy_from_slice(&bytes);
    }
    let write = |device: &Device| {
        let write = |content: &Option<Vec<u8>>| {
            let content = content.as_ref()?;
            let memory = device.pool().take(device.wgpu_device(), Use::Tensor, content.len() as u64);
            device.wgpu_queue().write_buffer(&memory.buffer, 0, content);
            Some(Arc::new(memory))
        };
        contents.iter().map(write).collect::<Vec<_>>()
    };
    let arenas = device.scoped("uploading constants", write).await?;
    let mut constants = Vec::new();
    for (tensor, literal) in program.constants() {
        let place = program.buffers()[tensor.buffer.index()].place;
        let within = place.and_then(|Place { arena, offset }| {
            let memory = arenas.get(arena as usize)?.as_ref()?;
            Some(Stretch { memory: Arc::clone(memory), offset })
        });
        constants.push(match within {
            Some(stretch) => stretch,
            None => Stretch::from(&DeviceBuffer::upload_async(device, literal).await?),
        });
    }
    Ok(constants)
}
