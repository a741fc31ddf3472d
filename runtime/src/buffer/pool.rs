//! Device memory that is used again.

use super::idle::Idle;
use std::sync::{Arc, Mutex, Weak};

/// What a pooled buffer can be used for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Bound to kernels, copied from and to, and told of by them how many workgroups others have.
    Tensor,
    /// Copied to and read by the host.
    ReadBack,
}

impl Use {
    fn usages(self) -> wgpu::BufferUsages {
        match self {
            Use::Tensor => {
                let bound = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM;
                let told = wgpu::BufferUsages::INDIRECT;
                bound | told | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST
            }
            Use::ReadBack => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        }
    }
}

/// Idle buffers of one device by use and size.
///
/// A buffer may be given back while work that uses it is still queued: whatever uses it next is queued behind that.
/// Reuse pays because the first touch of fresh memory is dear (drivers and wgpu clear it).
///
/// What nobody took for a while is freed, and so is what is idle beyond the device's budget.
#[derive(Debug)]
pub(crate) struct Pool {
    idle: Mutex<Idle<wgpu::Buffer>>,
    keepers: Mutex<Vec<Weak<dyn Keeper>>>,
}

/// Somebody who keeps buffers for later without need.
pub(crate) trait Keeper: Send + Sync + std::fmt::Debug {
    /// Gives them back.
    fn release(&self);
}

/// A buffer that goes back to its pool when dropped.
#[derive(Debug)]
pub(crate) struct Pooled {
    pub(crate) buffer: wgpu::Buffer,
    home: Option<(Use, Weak<Pool>)>,
    /// Whether whoever takes it next could use it.
    reusable: bool,
    /// Whether it holds several tensors.
    is_arena: bool,
    /// Held by commands that use the buffer and were not submitted yet, or are not done.
    lease: Arc<()>,
}

impl Pooled {
    /// A buffer that belongs to someone else.
    pub(crate) fn foreign(buffer: wgpu::Buffer) -> Self {
        Pooled { buffer, home: None, reusable: true, is_arena: false, lease: Arc::default() }
    }

    /// Whether the buffer comes from a pool of this crate, and so has all usages and nobody else.
    pub(crate) fn is_own(&self) -> bool {
        self.home.is_some()
    }

    /// The buffer as one that holds several tensors.
    pub(crate) fn into_arena(self) -> Arc<Self> {
        let mut own = self;
        own.is_arena = true;
        Arc::new(own)
    }

    /// Whether it holds several tensors: whoever gives away one does not give away the buffer.
    pub(crate) fn is_arena(&self) -> bool {
        self.is_arena
    }

    /// As long as this is held nobody else is given the buffer: commands use it that somebody will submit.
    pub(crate) fn lease(&self) -> Arc<()> {
        Arc::clone(&self.lease)
    }

    /// Whether somebody holds a lease.
    pub(crate) fn is_leased(&self) -> bool {
        Arc::strong_count(&self.lease) > 1
    }

    /// Whether the buffer may go back to its pool. One that is mapped, or asked to be, may not: no work can use it, and
    /// mapping it again fails.
    pub(crate) fn set_reusable(&mut self, reusable: bool) {
        self.reusable = reusable;
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some((usage, pool)) = self.home.as_ref() else { return };
        let Some(pool) = pool.upgrade() else { return };
        let Ok(mut idle) = pool.idle.lock() else { return };
        idle.release(self.buffer.size());
        if self.reusable && !self.is_leased() {
            idle.keep(*usage, self.buffer.size(), self.buffer.clone());
        }
    }
}

impl Pool {
    /// One that keeps idle what a budget in bytes leaves, if there is one.
    pub(crate) fn new(budget: Option<u64>) -> Self {
        Pool { idle: Mutex::new(Idle::new(budget)), keepers: Mutex::default() }
    }

    /// A buffer of at least `bytes`: an idle one if one fits without wasting more than half of itself, else a new one.
    /// To be called inside an error scope.
    pub(crate) fn take(self: &Arc<Self>, device: &wgpu::Device, usage: Use, bytes: u64) -> Pooled {
        if self.idle.lock().is_ok_and(|idle| idle.is_short_of(bytes)) {
            self.release();
        }
        let found = self.idle.lock().ok().and_then(|mut idle| idle.take(usage, bytes));
        let buffer = found.unwrap_or_else(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes,
                usage: usage.usages(),
                mapped_at_creation: false,
            })
        });
        let home = Some((usage, Arc::downgrade(self)));
        Pooled { buffer, home, reusable: true, is_arena: false, lease: Arc::default() }
    }

    /// Somebody who gives back what is kept when there is need.
    pub(crate) fn add_keeper(&self, keeper: Weak<dyn Keeper>) {
        if let Ok(mut keepers) = self.keepers.lock() {
            keepers.retain(|keeper| keeper.strong_count() > 0);
            keepers.push(keeper);
        }
    }

    /// Has everybody give back what is kept.
    fn release(&self) {
        let keepers = self.keepers.lock().map(|keepers| keepers.clone()).unwrap_or_default();
        keepers.iter().filter_map(Weak::upgrade).for_each(|keeper| keeper.release());
    }

    /// Frees what is idle, and what others keep.
    pub(crate) fn clear(&self) {
        self.release();
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
    }

    /// Bytes of buffers in use, and of those that are idle.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        self.idle.lock().map(|idle| idle.bytes()).unwrap_or_default()
    }
}
