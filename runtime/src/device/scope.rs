//! Calls into wgpu whose errors come back as values.

use super::{Device, Faults};
use crate::Error;
use std::future::Future;
use std::pin::Pin;

type Popped = Pin<Box<dyn Future<Output = Option<wgpu::Error>> + Send>>;

/// The outcome of a scoped call, before the device was asked whether it went well.
pub(crate) struct Pending<T> {
    value: T,
    what: String,
    errors: [Popped; 3],
}

impl<T> Pending<T> {
    /// The value, unless the device refused.
    pub(crate) async fn check(self, device: &Device) -> Result<T, Error> {
        let mut first = None;
        for error in self.errors {
            first = first.or(error.await);
        }
        // A loss is silent until the device is asked how far it is.
        device.poller().poll(&self.what, wgpu::PollType::Poll)?;
        match first {
            None => Ok(self.value),
            Some(error) => {
                // Buffers that the device refused to make are not for anybody else.
                drop(self.value);
                device.pool().clear();
                Err(Error::from_wgpu(&self.what, &error))
            }
        }
    }
}

impl Faults {
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(reason) = self.lost.get() {
            return Err(Error::DeviceLost(reason.clone()));
        }
        let uncaptured = self.uncaptured.lock().ok().and_then(|mut error| error.take());
        uncaptured.map_or(Ok(()), Err)
    }
}

impl Device {
    /// Calls `work`, which may use the device and its queue as it likes, and returns its value unless one of its calls
    /// was refused: then the first refusal. `what` says in the error what was being done.
    ///
    /// # Errors
    /// [`Error::Validation`], [`Error::OutOfMemory`], [`Error::Internal`], [`Error::DeviceLost`].
    pub async fn scoped<T>(&self, what: &str, work: impl FnOnce(&Device) -> T) -> Result<T, Error> {
        self.start_scoped(what, work).check(self).await
    }

    /// The part of [`scoped`](Device::scoped) that has to happen on one thread: error scopes belong to threads.
    pub(crate) fn start_scoped<T>(&self, what: &str, work: impl FnOnce(&Device) -> T) -> Pending<T> {
        let device = self.wgpu_device();
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        let value = work(self);
        let internal: Popped = Box::pin(internal.pop());
        let memory: Popped = Box::pin(memory.pop());
        let validation: Popped = Box::pin(validation.pop());
        Pending { value, what: what.to_string(), errors: [memory, internal, validation] }
    }

    /// Waits until everything submitted so far is done and its callbacks were called; `what` says in an error what was
    /// being done. On the web there is nothing to wait for: the browser calls back by itself.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Internal`], and errors that the device reported outside of any call.
    pub fn wait(&self, what: &str) -> Result<(), Error> {
        self.poller().wait(what)
    }
}
