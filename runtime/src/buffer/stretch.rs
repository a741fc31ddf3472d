//! Parts of buffers.

use super::{DeviceBuffer, Pooled};
use std::sync::Arc;

/// Memory from a byte on: a whole buffer, or what lies within one with others.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) memory: Arc<Pooled>,
    /// Its first byte.
    pub(crate) offset: u64,
}

impl Stretch {
    /// All of a buffer.
    pub(crate) fn whole(memory: Arc<Pooled>) -> Self {
        Stretch { memory, offset: 0 }
    }

    /// What is left behind so many bytes.
    pub(crate) fn behind(&self, bytes: u64) -> Self {
        Stretch { memory: Arc::clone(&self.memory), offset: self.offset + bytes }
    }

    /// The buffer that it is a part of.
    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.memory.buffer
    }

    /// What tells it from all others that are held at the same time.
    pub(crate) fn address(&self) -> (usize, u64) {
        (Arc::as_ptr(&self.memory).addr(), self.offset)
    }
}

impl From<&DeviceBuffer> for Stretch {
    fn from(tensor: &DeviceBuffer) -> Self {
        tensor.stretch().clone()
    }
}
