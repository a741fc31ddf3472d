//! Devices: finding one, and doing things on it without ever panicking.

mod adapter;
mod describe;
mod options;
mod poller;
mod scope;
pub(crate) mod trusted;
mod waiter;

pub use adapter::{AdapterInfo, Selection};
pub use options::DeviceOptions;
pub(crate) use poller::Poller;
pub(crate) use waiter::Waiting;

use crate::buffer::Pool;
use crate::pipelines::Pipelines;
use crate::{Cache, Error, SelfTest};
use std::sync::{Arc, Mutex, OnceLock};
use waiter::Waiter;
use weft_partition::Target;

/// A device, opened and ready for programs. Cheap to clone; clones are the same device.
#[derive(Clone, Debug)]
pub struct Device {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: AdapterInfo,
    target: Target,
    poller: Poller,
    pool: Arc<Pool>,
    pipelines: Pipelines,
    /// 16 zero bytes: every kernel's parameter block.
    parameters: OnceLock<wgpu::Buffer>,
    /// Behind all handles of the device, for it waits for its thread: what that still holds of the device is the last.
    waiter: Waiter,
}

/// What the device reported outside of any call.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    lost: OnceLock<String>,
    uncaptured: Mutex<Option<Error>>,
}

/// The adapters of this system, in its order. None is no error.
///
/// Only the native APIs (Vulkan, Metal, DirectX 12, WebGPU) are asked; OpenGL is not. Each is described as the system has it, corrected by the
/// [`SelfTest`] that is kept in the [user's cache](Cache::user), as it is when the adapter is opened.
pub async fn adapters_async() -> Vec<AdapterInfo> {
    adapters_with_async(Cache::user().as_ref()).await
}

/// As [`adapters_async`], corrected by what is kept in this cache, or by nothing.
pub async fn adapters_with_async(cache: Option<&Cache>) -> Vec<AdapterInfo> {
    let found = enumerate(&instance()).await.into_iter();
    let corrected = found.map(|(mut info, _)| {
        if let Some(known) = cache.and_then(|cache| SelfTest::load(cache, &info)) {
            known.apply(&mut info.target);
        }
        info
    });
    corrected.collect()
}

/// An instance of wgpu of this crate's own.
fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        // No validation layers and no debug labels in any build: wgpu's own validation is what errors come from.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

async fn enumerate(instance: &wgpu::Instance) -> Vec<(AdapterInfo, wgpu::Adapter)> {
    let found = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
    found.into_iter().enumerate().map(|(index, adapter)| (describe::adapter(index, &adapter), adapter)).collect()
}

impl Device {
    /// Opens the adapter `selection` names, with all limits it has and those of its features that a [`Target`] tells of. Its [`target`](Device::target) is corrected by the [`SelfTest`] that is kept in the
    /// [user's cache](Cache::user), if there is one; [`open_async`](Device::open_async) can do without.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::AdapterNotFound`], or [`Error::NoDevice`] where the adapter refuses.
    pub async fn new_async(selection: &Selection) -> Result<Device, Error> {
        Self::open_async(selection, &DeviceOptions::default()).await
    }

    /// As [`new_async`](Device::new_async), and with those of the `wanted` features that the adapter has, for callers with kernels
    /// of their own. Programs are compiled the same with and without.
    ///
    /// # Errors
    /// As [`new_async`](Device::new_async).
    pub async fn with_features_async(selection: &Selection, wanted: wgpu::Features) -> Result<Device, Error> {
        Self::open_async(selection, &DeviceOptions::default().with_features(wanted)).await
    }

    /// As [`new_async`](Device::new_async), with these options.
    ///
    /// # Errors
    /// As [`new_async`](Device::new_async).
    pub async fn open_async(selection: &Selection, options: &DeviceOptions) -> Result<Device, Error> {
        Self::from_instance_async(&instance(), selection, options).await
    }

    /// As [`open_async`](Device::open_async), with an adapter of somebody's instance, as far as that has the back ends that there are (Vulkan, Metal, D3D12).
    ///
    /// # Errors
    /// As [`new_async`](Device::new_async).
    pub async fn from_instance_async(
        instance: &wgpu::Instance,
        selection: &Selection,
        options: &DeviceOptions,
    ) -> Result<Device, Error> {
        let mut found = enumerate(instance).await;
        let infos: Vec<AdapterInfo> = found.iter().map(|(info, _)| info.clone()).collect();
        let (info, adapter) = found.swap_remove(selection.choose(&infos)?);
        Self::opened(info, &adapter, options).await
    }

    /// As [`open_async`](Device::open_async), with an adapter that somebody chose: one that draws to their surface, say.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where the adapter refuses.
    pub async fn from_adapter_async(adapter: &wgpu::Adapter, options: &DeviceOptions) -> Result<Device, Error> {
        Self::opened(describe::adapter(0, adapter), adapter, options).await
    }

    async fn opened(mut info: AdapterInfo, adapter: &wgpu::Adapter, options: &DeviceOptions) -> Result<Device, Error> {
        tracing::debug!(adapter = %info, "opening a device");
        let required_features = adapter.features() & (describe::described(info.target.kind) | options.features);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("weft"),
            required_features,
            experimental_features: trusted::experiments(required_features),
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| Error::NoDevice(error.to_string()))?;
        let faults = Arc::new(Faults::default());
        let heard = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error| {
            if let Ok(mut first) = heard.uncaptured.lock() {
                first.get_or_insert_with(|| Error::from_wgpu("outside of any call", &error));
            }
        }));
        let heard = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            // Dropping the last handle reports a loss too; by then nobody asks.
            let _ = heard.lost.set(if message.is_empty() { format!("{reason:?}") } else { message });
        });
        let mut target = describe::opened(adapter, &device.limits(), device.features());
        if let Some(known) = options.cache.as_ref().and_then(|cache| SelfTest::load(cache, &info)) {
            known.apply(&mut info.target);
            known.apply(&mut target);
        }
        Ok(Self::assemble(device, queue, info, target, faults, options.memory_budget))
    }

    /// A device that was opened elsewhere, to share buffers with other users of wgpu.
    ///
    /// Its error and loss callbacks are left as they are: everything this crate does runs inside error scopes of its
    /// own. The device's limits and features, not the adapter's, become the [`target`](Device::target); no cache is looked into.
    ///
    /// ```
    #[doc = include_str!("../../examples/own_device.rs")]
    /// ```
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Device {
        let info = describe::device(&device);
        let target = info.target.clone();
        Self::assemble(device, queue, info, target, Arc::default(), None)
    }

    fn assemble(
        device: wgpu::Device,
        queue: wgpu::Queue,
        info: AdapterInfo,
        target: Target,
        faults: Arc<Faults>,
        memory_budget: Option<u64>,
    ) -> Device {
        let pool = Arc::new(Pool::new(memory_budget));
        let (pipelines, waiter, parameters) = Default::default();
        let poller = Poller::new(device.clone(), faults);
        let inner = Inner { device, queue, info, target, poller, pool, pipelines, parameters, waiter };
        Device { inner: Arc::new(inner) }
    }

    /// What the system says of the adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.inner.info
    }

    /// What to compile programs for: the limits and features that the device was opened with.
    pub fn target(&self) -> &Target {
        &self.inner.target
    }

    /// The device underneath.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The queue underneath.
    pub fn wgpu_queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// Whether both are handles to one device.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Frees what is kept for later: idle buffers, and pipelines that no executable holds.
    pub fn trim(&self) {
        self.inner.pool.clear();
        self.inner.pipelines.clear();
    }

    /// Bytes of buffers that are in use, and of those that are idle and kept for later: tensors, and what is read back by the host.
    pub fn memory_bytes(&self) -> (u64, u64) {
        self.inner.pool.bytes()
    }

    pub(crate) fn pipelines(&self) -> &Pipelines {
        &self.inner.pipelines
    }

    pub(crate) fn poller(&self) -> &Poller {
        &self.inner.poller
    }

    pub(crate) fn waiter(&self) -> &Waiter {
        &self.inner.waiter
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.inner.pool
    }

    /// The uniform buffer of 16 zero bytes, made on first use. To be called inside a scope.
    pub(crate) fn parameter_block(&self) -> &wgpu::Buffer {
        self.inner.parameters.get_or_init(|| {
            // Fresh buffers are zero by the rules of WebGPU.
            self.inner.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("parameters"),
                size: 16,
                usage: wgpu::BufferUsages::UNIFORM,
                mapped_at_creation: false,
            })
        })
    }
}

/// [`adapters_async`], waiting for the answer.
#[cfg(feature = "blocking")]
pub fn adapters() -> Vec<AdapterInfo> {
    pollster::block_on(adapters_async())
}

/// [`adapters_with_async`], waiting for the answer.
#[cfg(feature = "blocking")]
pub fn adapters_with(cache: Option<&Cache>) -> Vec<AdapterInfo> {
    pollster::block_on(adapters_with_async(cache))
}

#[cfg(feature = "blocking")]
impl Device {
    /// [`Device::new_async`], waiting for the answer.
    ///
    /// # Errors
    /// As [`Device::new_async`].
    pub fn new(selection: &Selection) -> Result<Device, Error> {
        pollster::block_on(Device::new_async(selection))
    }

    /// [`Device::with_features_async`], waiting for the answer.
    ///
    /// # Errors
    /// As [`Device::new_async`].
    pub fn with_features(selection: &Selection, wanted: wgpu::Features) -> Result<Device, Error> {
        pollster::block_on(Device::with_features_async(selection, wanted))
    }

    /// [`Device::open_async`], waiting for the answer.
    ///
    /// # Errors
    /// As [`Device::open_async`].
    pub fn open(selection: &Selection, options: &DeviceOptions) -> Result<Device, Error> {
        pollster::block_on(Device::open_async(selection, options))
    }

    /// [`from_instance_async`](Device::from_instance_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn from_instance(
        instance: &wgpu::Instance,
        selection: &Selection,
        options: &DeviceOptions,
    ) -> Result<Device, Error> {
        pollster::block_on(Self::from_instance_async(instance, selection, options))
    }

    /// [`from_adapter_async`](Device::from_adapter_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn from_adapter(adapter: &wgpu::Adapter, options: &DeviceOptions) -> Result<Device, Error> {
        pollster::block_on(Self::from_adapter_async(adapter, options))
    }
}
