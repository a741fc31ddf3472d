//! Asking the device how far it is.

use super::Faults;
use crate::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What it takes to wait for a device, without being a handle of it: who waits keeps nothing else of it alive.
#[derive(Clone, Debug)]
pub(crate) struct Poller {
    device: wgpu::Device,
    faults: Arc<Faults>,
}

impl Poller {
    pub(super) fn new(device: wgpu::Device, faults: Arc<Faults>) -> Self {
        Poller { device, faults }
    }

    /// As [`Device::wait`](super::Device::wait).
    pub(crate) fn wait(&self, what: &str) -> Result<(), Error> {
        self.poll(what, wgpu::PollType::wait_indefinitely())
    }

    /// As [`wait`](Poller::wait), for one submission and those before it.
    pub(crate) fn wait_for(&self, what: &str, submission: wgpu::SubmissionIndex) -> Result<(), Error> {
        self.poll(what, wgpu::PollType::Wait { submission_index: Some(submission), timeout: None })
    }

    pub(super) fn poll(&self, what: &str, how: wgpu::PollType) -> Result<(), Error> {
        if cfg!(target_arch = "wasm32") {
            return self.faults.check();
        }
        // wgpu panics where polling meets a lost device (its `Device::poll` has an error for time-outs only), so this
        // one call is fenced.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        self.faults.check()?;
        match outcome {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Error::Internal { what: what.to_string(), message: error.to_string() }),
            Err(_) => Err(Error::DeviceLost(format!("{what}: asking the device failed"))),
        }
    }
}
