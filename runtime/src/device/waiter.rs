//! Waiting for the device without blocking whoever asks.

use std::fmt;
use std::sync::OnceLock;
use std::sync::mpsc::{SendError, Sender, channel};

/// Who waits until the device is done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The thread that asks, which has nothing else to do: the answer comes soonest.
    #[cfg(feature = "blocking")]
    Here,
    /// The [`Waiter`]: futures are woken.
    Elsewhere,
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that waits for a device in place of others, started when it is first needed. It ends with the device.
#[derive(Default)]
pub(crate) struct Waiter {
    jobs: OnceLock<Option<Sender<Job>>>,
}

impl Waiter {
    /// Does `job` on that thread, one after the other; at once where there are no threads.
    pub(crate) fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        match self.jobs.get_or_init(start) {
            Some(jobs) => {
                if let Err(SendError(job)) = jobs.send(job) {
                    job();
                }
            }
            None => job(),
        }
    }
}

fn start() -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    std::thread::Builder::new().name("weft-waiter".into()).spawn(work).ok()?;
    Some(sender)
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("is_started", &self.jobs.get().is_some()).finish()
    }
}
