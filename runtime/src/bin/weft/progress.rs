//! A sign of life while something takes long.

use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// Shows a spinner on standard error, if that is a terminal, from a while after it is made until it is dropped.
pub(crate) struct Progress {
    stop: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress { stop: None };
        }
        let (sender, receiver) = channel::<()>();
        let spin = move || {
            if receiver.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            bar.set_message(what);
            while receiver.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        };
        Progress { stop: Some((sender, std::thread::spawn(spin))) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.stop.take() {
            drop(sender);
            // A spinner that failed has cleared nothing, and there is nothing more to do about it.
            let _ = thread.join();
        }
    }
}
