//! Waiting for the device without blocking whoever asks.

use std::fmt;
use std::sync::OnceLock;
use std::sync::mpsc::{SendError, Sender, channel};
use std::thread::JoinHandle;

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

/// A thread that waits for a device in place of others, started when it is first needed. It ends with the device, which waits for that: a process that
/// ended meanwhile would take the driver from under what the thread gives back.
#[derive(Default)]
pub(crate) struct Waiter {
    worker: OnceLock<Option<Worker>>,
}

struct Worker {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

impl Waiter {
    /// Does `job` on that thread, one after the other; at once where there are no threads.
    pub(crate) fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        match self.worker.get_or_init(start) {
            Some(worker) => {
                if let Err(SendError(job)) = worker.jobs.send(job) {
                    job();
                }
            }
            None => job(),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(Worker { jobs, thread }) = self.worker.take().flatten() else { return };
        drop(jobs);
        // Whom it wakes may give up the device's last handle, on that thread.
        if thread.thread().id() != std::thread::current().id() {
            // A job that panicked has told of it.
            let _ = thread.join();
        }
    }
}

fn start() -> Option<Worker> {
    let (sender, jobs) = channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    let thread = std::thread::Builder::new().name("weft-waiter".into()).spawn(work).ok()?;
    Some(Worker { jobs: sender, thread })
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("is_started", &self.worker.get().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn what_was_handed_over_is_done_before_the_waiter_is_gone() {
        let (is_done, waiter) = (Arc::new(AtomicBool::new(false)), Waiter::default());
        let told = Arc::clone(&is_done);
        waiter.hand_over(move || {
            std::thread::sleep(Duration::from_millis(50));
            told.store(true, Ordering::SeqCst);
        });
        drop(waiter);
        assert!(is_done.load(Ordering::SeqCst));
    }

    #[test]
    fn its_own_thread_may_end_it() {
        let waiter = Arc::new(Waiter::default());
        let (sender, receiver) = channel();
        let last = Arc::clone(&waiter);
        waiter.hand_over(move || {
            // Nobody else has it by then.
            receiver.recv().expect("the test says when");
            drop(last);
        });
        drop(waiter);
        sender.send(()).expect("the thread listens");
    }
}
