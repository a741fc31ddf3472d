//! Values while a module is being evaluated.

use crate::ir::{ArrayShape, Data, Scalar, Shape};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A value; cheap to clone. What it does not know of its shape, the instruction that made it does.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Array(Buffer<'a>),
    Tuple(Vec<Value<'a>>),
    /// Says nothing but that something was done.
    Token,
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

impl Meter {
    pub(super) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Meter { alive: AtomicU64::new(0), limit })
    }

    /// How many bytes values take now.
    pub(super) fn alive(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    /// Sets `bytes` bytes aside, unless that is more than may be alive.
    pub(super) fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reserved> {
        let more = |alive: u64| alive.checked_add(bytes).filter(|&alive| alive <= self.limit);
        self.alive.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Reserved { bytes, meter: Arc::clone(self) })
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

impl Value<'_> {
    /// The only element.
    pub(super) fn scalar(&self) -> Scalar {
        match self {
            Value::Array(buffer) => buffer.get(0).expect("the verifier has seen to it that this is a scalar"),
            _ => unreachable!("the verifier has seen to it that this is an array"),
        }
    }

    /// The first elements of all arrays, from left to right.
    pub(super) fn collect_scalars(&self, scalars: &mut Vec<Scalar>) {
        match self {
            Value::Array(buffer) => scalars.extend(buffer.get(0)),
            Value::Tuple(values) => values.iter().for_each(|value| value.collect_scalars(scalars)),
            Value::Token => {}
        }
    }

    /// All arrays of a value of this shape, from left to right.
    pub(super) fn collect_arrays<'v, 's>(&'v self, shape: &'s Shape, arrays: &mut Vec<(&'s ArrayShape, &'v Data)>) {
        match (self, shape) {
            (Value::Array(buffer), Shape::Array(array)) => arrays.push((array, buffer)),
            (Value::Tuple(values), Shape::Tuple(shapes)) => {
                values.iter().zip(shapes).for_each(|(value, shape)| value.collect_arrays(shape, arrays));
            }
            _ => {}
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
    // Elements of less than a byte take one each.
    let size = u64::from(shape.element_type.bits().div_ceil(8));
    u64::try_from(shape.element_count()?).ok()?.checked_mul(size)
}
