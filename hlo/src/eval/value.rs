//! Values while a module is being evaluated.

use crate::ir::{ArrayShape, Data, ElementType};
use std::collections::TryReserveError;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A value; cheap to clone. What it does not know of its shape, the instruction that made it does.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Array(Buffer<'a>),
    Tuple(Vec<Value<'a>>),
}

/// Elements in row-major order, as many as the shape of the instruction says.
#[derive(Clone)]
pub(super) enum Buffer<'a> {
    /// Of an input or a constant.
    Given(&'a Data),
    /// Computed.
    Made(Arc<Made>),
}

/// Computed elements.
pub(super) struct Made {
    data: Data,
    _bytes: Reserved,
}

/// Bytes of memory, given back when this is dropped.
pub(super) struct Reserved {
    bytes: u64,
    meter: Arc<Meter>,
}

/// The bytes of all computed values that are alive.
pub(super) struct Meter {
    alive: AtomicU64,
    limit: u64,
}

/// Memory ran out, or would.
pub(super) struct OutOfMemory;

impl From<TryReserveError> for OutOfMemory {
    fn from(_: TryReserveError) -> Self {
        OutOfMemory
    }
}

impl Meter {
    pub(super) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Meter { alive: AtomicU64::new(0), limit })
    }

    /// Sets `bytes` bytes aside, unless that is more than may be alive.
    pub(super) fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Reserved, OutOfMemory> {
        // One thread walks through the program, so nothing comes between reading and writing.
        let alive = self.alive.load(Ordering::Relaxed).checked_add(bytes).filter(|&alive| alive <= self.limit);
        self.alive.store(alive.ok_or(OutOfMemory)?, Ordering::Relaxed);
        Ok(Reserved { bytes, meter: Arc::clone(self) })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.meter.alive.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Deref for Buffer<'_> {
    type Target = Data;
    fn deref(&self) -> &Data {
        match self {
            Buffer::Given(data) => data,
            Buffer::Made(made) => &made.data,
        }
    }
}

impl Buffer<'_> {
    /// Computed elements, which take the bytes set aside.
    pub(super) fn made(data: Data, bytes: Reserved) -> Self {
        Buffer::Made(Arc::new(Made { data, _bytes: bytes }))
    }

    /// The elements, copied only where somebody else still reads them.
    pub(super) fn into_data(self) -> Data {
        match self {
            Buffer::Given(data) => data.clone(),
            Buffer::Made(made) => match Arc::try_unwrap(made) {
                Ok(made) => made.data,
                Err(shared) => shared.data.clone(),
            },
        }
    }
}

/// How many bytes the elements take; `None` past 64 bits.
pub(super) fn byte_size(shape: &ArrayShape) -> Option<u64> {
    let size = if shape.element_type == ElementType::Pred { 1 } else { 4 };
    u64::try_from(shape.element_count()?).ok()?.checked_mul(size)
}
