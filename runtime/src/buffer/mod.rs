//! Tensors on a device.

mod idle;
mod pool;
mod read;
mod stretch;

pub(crate) use pool::{Keeper, Pool, Pooled, Use};
pub(crate) use read::read_all;
pub(crate) use stretch::Stretch;

use crate::device::Waiting;
use crate::program::layout::{binding_bytes, buffer_bytes, decode_into, encode, encode_bytes, host_bytes};
use crate::program::tensor_bytes;
use crate::{Device, Error};
use read::read_with;
use std::borrow::Cow;
use std::sync::Arc;
use weft_hlo::ir::{ArrayShape, Literal, Shape};

/// A tensor in a device's memory, row-major, in whole words as [`Form`](weft_partition::Form) packs its elements. Cheap to clone; clones share
/// the memory.
///
/// It is a value: runs never write their inputs but for those that are [donated](crate::Argument::Donated). Dropping the last clone returns the memory to the
/// device's pool.
///
/// Results of one run are the inputs of the next:
///
/// ```
#[doc = include_str!("../../examples/training_on_device.rs")]
/// ```
#[derive(Clone, Debug)]
pub struct DeviceBuffer {
    device: Device,
    stretch: Stretch,
    shape: ArrayShape,
    bytes: u64,
}

impl DeviceBuffer {
    /// A tensor that lies there.
    pub(crate) fn new(device: &Device, stretch: Stretch, shape: ArrayShape, bytes: u64) -> Self {
        DeviceBuffer { device: device.clone(), stretch, shape, bytes }
    }

    /// A buffer that was made elsewhere on the same `wgpu` device and holds a tensor of `shape`.
    ///
    /// It needs as many bytes as the tensor has, rounded up to 16, since kernels read tensors as vectors of four; the usage `STORAGE`, and
    /// `COPY_SRC` for [`download`](DeviceBuffer::download), for programs that copy it ([`Step::Copy`](crate::program::Step)) or take it
    /// [donated](crate::program::Donated), and where loops, branches or
    /// the host ask for its value. Kernels for software devices read small
    /// tensors as uniforms ([`Binding::uniform`](weft_codegen_wgsl::Binding::uniform)), which takes the usage `UNIFORM`. A `pred` takes a
    /// byte, 0 or 1; elements of less share bytes. Whoever writes it while a run is queued races with that run.
    ///
    /// # Errors
    /// [`Error::NoDeviceForm`] if the shape cannot lie on a device; [`Error::Validation`] if the buffer is too small
    /// or lacks the usage.
    pub fn from_wgpu(device: &Device, buffer: wgpu::Buffer, shape: ArrayShape) -> Result<Self, Error> {
        let bytes = device_bytes(&shape)?;
        let refused = |message: String| Error::Validation { what: format!("taking a buffer for {shape}"), message };
        let whole = binding_bytes(bytes);
        if buffer.size() < whole {
            return Err(refused(format!("it has {} bytes, the tensor takes {whole}", buffer.size())));
        }
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(refused("it lacks the usage STORAGE".into()));
        }
        Ok(Self::new(device, Stretch::whole(Arc::new(Pooled::foreign(buffer))), shape, bytes))
    }

    /// Copies `literal` to the device.
    ///
    /// # Errors
    /// [`Error::NoDeviceForm`], [`Error::BufferTooLarge`], and whatever the device reports.
    pub async fn upload_async(device: &Device, literal: &Literal) -> Result<Self, Error> {
        let Shape::Array(shape) = &literal.shape else {
            return Err(no_form(&literal.shape.to_string(), "only arrays lie on a device"));
        };
        Self::upload_encoded(device, shape, encode(literal)).await
    }

    /// As [`upload_async`](DeviceBuffer::upload_async), of elements that the caller holds: their bytes in row-major order, as
    /// [`Data::as_bytes`](weft_hlo::ir::Data::as_bytes) has them, one for each element of fewer than eight bits.
    ///
    /// # Errors
    /// As there, and [`Error::NoDeviceForm`] where these are not the bytes of so many elements.
    pub async fn upload_bytes_async(device: &Device, shape: &ArrayShape, bytes: &[u8]) -> Result<Self, Error> {
        let wanted = host_bytes(shape);
        if wanted.is_some_and(|wanted| wanted != bytes.len()) {
            let reason = format!("its elements take {} bytes, and {} are given", wanted.unwrap_or(0), bytes.len());
            return Err(no_form(&shape.to_string(), &reason));
        }
        Self::upload_encoded(device, shape, encode_bytes(shape, bytes)).await
    }

    async fn upload_encoded(
        device: &Device,
        shape: &ArrayShape,
        encoded: Option<Cow<'_, [u8]>>,
    ) -> Result<Self, Error> {
        let bytes = device_bytes(shape)?;
        let limit = device.target().max_buffer_bytes;
        let too_large = || Error::too_large("the input", shape, Some(bytes), limit);
        let allocated = buffer_bytes(bytes).filter(|&bytes| bytes <= limit).ok_or_else(too_large)?;
        let encoded = encoded.filter(|encoded| encoded.len() as u64 == bytes);
        let encoded = encoded.ok_or_else(|| no_form(&shape.to_string(), "its elements are not held"))?;
        let upload = |device: &Device| {
            let memory = device.pool().take(device.wgpu_device(), Use::Tensor, allocated);
            if !encoded.is_empty() {
                device.wgpu_queue().write_buffer(&memory.buffer, 0, &encoded);
            }
            Self::new(device, Stretch::whole(Arc::new(memory)), shape.clone(), bytes)
        };
        device.scoped("uploading a tensor", upload).await
    }

    /// Copies the tensor to the host, once everything queued before is done. The future does not block: a thread of the device waits for it.
    ///
    /// # Errors
    /// Whatever the device reports.
    pub async fn download_async(&self) -> Result<Literal, Error> {
        self.read(Waiting::Elsewhere).await
    }

    /// As [`download_async`](DeviceBuffer::download_async), into bytes of the caller, as many as
    /// [`upload_bytes_async`](DeviceBuffer::upload_bytes_async) takes.
    ///
    /// # Errors
    /// As there, and [`Error::NoDeviceForm`] where there is room for more or fewer.
    pub async fn download_into_async(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.read_into(bytes, Waiting::Elsewhere).await
    }

    async fn read_into(&self, bytes: &mut [u8], waiting: Waiting) -> Result<(), Error> {
        let wanted = host_bytes(&self.shape).unwrap_or(0);
        if wanted != bytes.len() {
            let reason = format!("its elements take {wanted} bytes, and there is room for {}", bytes.len());
            return Err(no_form(&self.shape.to_string(), &reason));
        }
        let into = |tensor: &DeviceBuffer, held: &[u8]| decode_into(&tensor.shape, held, bytes);
        read_with(&self.device, std::slice::from_ref(self), waiting, into).await.map(|_| ())
    }

    async fn read(&self, waiting: Waiting) -> Result<Literal, Error> {
        let mut literals = read_all(&self.device, std::slice::from_ref(self), waiting).await?;
        Ok(literals.swap_remove(0))
    }

    /// Type and extents.
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// Bytes of content; the buffer may be larger.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device it lies on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The buffer underneath, in which the tensor begins at [`offset`](DeviceBuffer::offset). It must not be written.
    pub fn wgpu_buffer(&self) -> &wgpu::Buffer {
        self.stretch.buffer()
    }

    /// The byte of the buffer underneath at which the tensor begins: 0, or a multiple of 256 where it lies in an arena with others, as small arguments and results of
    /// programs with very many of them do ([`Arenas`](weft_partition::Arenas)).
    pub fn offset(&self) -> u64 {
        self.stretch.offset
    }

    pub(crate) fn memory(&self) -> &Arc<Pooled> {
        &self.stretch.memory
    }

    pub(crate) fn stretch(&self) -> &Stretch {
        &self.stretch
    }
}

#[cfg(feature = "blocking")]
impl DeviceBuffer {
    /// [`upload_async`](DeviceBuffer::upload_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn upload(device: &Device, literal: &Literal) -> Result<Self, Error> {
        pollster::block_on(Self::upload_async(device, literal))
    }

    /// [`upload_bytes_async`](DeviceBuffer::upload_bytes_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn upload_bytes(device: &Device, shape: &ArrayShape, bytes: &[u8]) -> Result<Self, Error> {
        pollster::block_on(Self::upload_bytes_async(device, shape, bytes))
    }

    /// [`download_into_async`](DeviceBuffer::download_into_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn download_into(&self, bytes: &mut [u8]) -> Result<(), Error> {
        pollster::block_on(self.read_into(bytes, Waiting::Here))
    }

    /// [`download_async`](DeviceBuffer::download_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn download(&self) -> Result<Literal, Error> {
        pollster::block_on(self.read(Waiting::Here))
    }
}

fn device_bytes(shape: &ArrayShape) -> Result<u64, Error> {
    tensor_bytes(shape).ok_or_else(|| no_form(&shape.to_string(), "its type or size has no form on a device yet"))
}

fn no_form(value: &str, reason: &str) -> Error {
    Error::NoDeviceForm { value: value.into(), reason: reason.into() }
}
