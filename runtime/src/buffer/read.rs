//! Reading tensors back.

use super::{DeviceBuffer, Pooled, Use};
use crate::device::{Poller, Waiting};
use crate::program::layout::{buffer_bytes, decode};
use crate::{Device, Error};
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;
use weft_hlo::ir::Literal;

const WHAT: &str = "reading results back";

/// How long the answer to a request may stay out once the device is done, before the device is asked again.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often it is asked.
const INQUIRIES: u32 = 100;

/// The answer to a request to map a buffer, which comes through a callback.
#[derive(Default)]
struct Answer {
    state: Mutex<State>,
    given: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether it was given; the result may have been taken since.
    is_given: bool,
    result: Option<Result<(), Error>>,
    waiting: Option<Waker>,
}

impl Answer {
    /// Gives the answer; the first one counts.
    fn give(&self, result: Result<(), Error>) {
        let Ok(mut state) = self.state.lock() else { return };
        if state.is_given {
            return;
        }
        state.is_given = true;
        state.result = Some(result);
        let waiting = state.waiting.take();
        drop(state);
        self.given.notify_all();
        // Whoever is woken may look at once.
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    /// Waits for the answer, which somebody brings about.
    async fn wait(&self) -> Result<(), Error> {
        poll_fn(|context| {
            let Ok(mut state) = self.state.lock() else {
                return Poll::Ready(Err(internal("a callback panicked".into())));
            };
            match state.result.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    state.waiting = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Blocks until the answer was given. The device is done, so the callback has been called, or some other thread that asked the device at the
    /// same time is about to call it.
    fn block(&self, device: &Poller) -> Result<(), Error> {
        for _ in 0..INQUIRIES {
            let panicked = || internal("a callback panicked".into());
            let state = self.state.lock().map_err(|_| panicked())?;
            let waited = self.given.wait_timeout_while(state, PATIENCE, |state| !state.is_given);
            let (state, _) = waited.map_err(|_| panicked())?;
            if state.is_given {
                return Ok(());
            }
            drop(state);
            device.wait(WHAT)?;
        }
        Err(internal("the device never answered".into()))
    }
}

fn internal(message: String) -> Error {
    Error::Internal { what: WHAT.into(), message }
}

/// Blocks until the answers to requests that this submission is to fulfil are there, which each gets in any case.
fn bring_about(device: &Poller, submission: wgpu::SubmissionIndex, answers: &[Arc<Answer>]) {
    let done = device.wait_for(WHAT, submission);
    for answer in answers {
        let outcome = done.clone().and_then(|()| answer.block(device));
        if let Err(error) = outcome {
            answer.give(Err(error));
        }
    }
}

/// Copies all `tensors` to the host with one wait.
pub(crate) async fn read_all(
    device: &Device,
    tensors: &[DeviceBuffer],
    waiting: Waiting,
) -> Result<Vec<Literal>, Error> {
    read_with(device, tensors, waiting, |tensor, bytes| decode(&tensor.shape, bytes)).await
}

/// As [`read_all`], with what is made of the bytes of each tensor while they are mapped.
pub(super) async fn read_with<T>(
    device: &Device,
    tensors: &[DeviceBuffer],
    waiting: Waiting,
    mut make: impl FnMut(&DeviceBuffer, &[u8]) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let request = |device: &Device| {
        let gpu = device.wgpu_device();
        let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(WHAT) });
        let mut staged = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            let allocated = buffer_bytes(tensor.bytes).filter(|_| tensor.bytes > 0);
            let stage = allocated.map(|bytes| device.pool().take(gpu, Use::ReadBack, bytes));
            if let Some(stage) = &stage {
                let from = tensor.stretch();
                encoder.copy_buffer_to_buffer(from.buffer(), from.offset, &stage.buffer, 0, tensor.bytes);
            }
            staged.push(stage);
        }
        let submission = device.wgpu_queue().submit([encoder.finish()]);
        let map = |(tensor, stage): (&DeviceBuffer, Option<Pooled>)| {
            let mut stage = stage?;
            // Until it is unmapped: whatever fails before leaves it mapped, or about to be.
            stage.set_reusable(false);
            let answer = Arc::new(Answer::default());
            let giver = Arc::clone(&answer);
            stage.buffer.map_async(wgpu::MapMode::Read, 0..tensor.bytes, move |result| {
                giver.give(result.map_err(|error| internal(error.to_string())));
            });
            Some((stage, answer))
        };
        let staged: Vec<Option<(Pooled, Arc<Answer>)>> = tensors.iter().zip(staged).map(map).collect();
        (submission, staged)
    };
    let (submission, staged) = device.scoped(WHAT, request).await?;
    // The browser answers by itself, when it likes.
    if !cfg!(target_arch = "wasm32") {
        let answers: Vec<Arc<Answer>> = staged.iter().flatten().map(|(_, answer)| Arc::clone(answer)).collect();
        match waiting {
            #[cfg(feature = "blocking")]
            Waiting::Here => bring_about(device.poller(), submission, &answers),
            Waiting::Elsewhere => {
                let poller = device.poller().clone();
                device.waiter().hand_over(move || bring_about(&poller, submission, &answers));
            }
        }
    }
    let mut all = Vec::with_capacity(tensors.len());
    for (tensor, stage) in tensors.iter().zip(staged) {
        let Some((mut stage, answer)) = stage else {
            all.push(make(tensor, &[])?);
            continue;
        };
        answer.wait().await?;
        let read = |_: &Device| {
            let view = stage.buffer.get_mapped_range(0..tensor.bytes);
            let made = view.map(|view| make(tensor, &view));
            stage.buffer.unmap();
            made.map_err(|error| Error::Internal { what: WHAT.into(), message: error.to_string() })
        };
        let made = device.scoped(WHAT, read).await?;
        stage.set_reusable(true);
        all.push(made??);
    }
    Ok(all)
}
