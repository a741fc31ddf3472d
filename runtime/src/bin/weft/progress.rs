//! A sign of life while something takes long.

use crate::report::say;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use weft_hlo::eval::Watch;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// How often a line is written where there is no terminal.
const PACE: Duration = Duration::from_secs(1);

/// Shows a spinner on standard error, if that is a terminal, from a while after it is made until it is dropped; else lines, if they are asked for.
pub(crate) struct Progress {
    stop: Option<(Sender<()>, JoinHandle<()>)>,
    /// How far the work has come, for the line beside the spinner.
    far: Arc<Mutex<String>>,
}

impl Progress {
    pub(crate) fn start(what: &'static str) -> Self {
        Progress::asked_for(what, false)
    }

    /// As [`start`](Progress::start); whether lines are to be written where there is no terminal.
    pub(crate) fn asked_for(what: &'static str, writes_lines: bool) -> Self {
        match (std::io::stderr().is_terminal(), writes_lines) {
            (true, _) => Progress::spinning(what),
            (false, true) => Progress::writing(what),
            (false, false) => Progress { stop: None, far: Arc::default() },
        }
    }

    /// Lines, no more than one in a while.
    fn writing(what: &'static str) -> Self {
        let far: Arc<Mutex<String>> = Arc::default();
        let told = Arc::clone(&far);
        let (sender, receiver) = channel::<()>();
        let write = move || {
            let mut last = None;
            while receiver.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                let far = told.lock().map(|far| far.clone()).unwrap_or_default();
                if last.as_ref() != Some(&far) {
                    let line = if far.is_empty() { what.to_owned() } else { format!("{what}: {far}") };
                    // Who does not listen is told nothing.
                    let _ = say(&line);
                    last = Some(far);
                }
            }
        };
        Progress { stop: Some((sender, std::thread::spawn(write))), far }
    }

    fn spinning(what: &'static str) -> Self {
        let far: Arc<Mutex<String>> = Arc::default();
        let told = Arc::clone(&far);
        let (sender, receiver) = channel::<()>();
        let spin = move || {
            if receiver.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            bar.set_message(what);
            while receiver.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                if let Ok(far) = told.lock()
                    && !far.is_empty()
                {
                    bar.set_message(format!("{what}: {far}"));
                }
                bar.tick();
            }
            bar.finish_and_clear();
        };
        Progress { stop: Some((sender, std::thread::spawn(spin))), far }
    }

    /// Says how far the work has come.
    pub(crate) fn tell(&self, what: String) {
        if let Ok(mut far) = self.far.lock() {
            *far = what;
        }
    }

    /// Has a compilation or runs say how far they have come, if there is somebody to read it.
    pub(crate) fn watch_device(&self) -> Option<weft_runtime::Watch> {
        let far = Arc::clone(&self.far);
        self.stop.is_some().then(|| {
            weft_runtime::Watch::new(move |progress| {
                if let Ok(mut far) = far.lock() {
                    *far = progress.to_string();
                }
            })
        })
    }

    /// Has an evaluation say how far it has come, if there is somebody to read it.
    pub(crate) fn watch(&self) -> Option<Watch> {
        let far = Arc::clone(&self.far);
        self.stop.is_some().then(|| {
            Watch::new(move |progress| {
                if let Ok(mut far) = far.lock() {
                    let (number, mebibytes) = (progress.instructions, progress.bytes >> 20);
                    *far = format!(
                        "instruction {number}, {}/{}, {mebibytes} MiB",
                        progress.computation, progress.instruction
                    );
                }
                ControlFlow::Continue(())
            })
        })
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
