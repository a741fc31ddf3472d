//! Reading tensors back.

use super::{DeviceBuffer, Pooled, Use};
use crate::program::layout::{buffer_bytes, decode};
use crate::{Device, Error};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use weft_hlo::ir::Literal;

const WHAT: &str = "reading results back";

/// The answer to a request to map a buffer, which comes through a callback.
#[derive(Default)]
struct Answer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    result: Option<Result<(), String>>,
    waiting: Option<Waker>,
}

impl Answer {
    fn give(&self, result: Result<(), String>) {
        if let Ok(mut state) = self.state.lock() {
            state.result = Some(result);
            if let Some(waker) = state.waiting.take() {
                waker.wake();
            }
        }
    }

    async fn wait(&self) -> Result<(), Error> {
        let internal = |message: String| Error::Internal { what: WHAT.into(), message };
        let answered = poll_fn(|context| {
            let Ok(mut state) = self.state.lock() else { return Poll::Ready(Err("a callback panicked".into())) };
            match state.result.take() {
                Some(result) => Poll::Ready(result),
                // The browser answers when it likes; elsewhere the wait before has called all callbacks there are.
                None if cfg!(target_arch = "wasm32") => {
                    state.waiting = Some(context.waker().clone());
                    Poll::Pending
                }
                None => Poll::Ready(Err("the device never answered".into())),
            }
        });
        answered.await.map_err(internal)
    }
}

/// Copies all `tensors` to the host with one wait.
pub(crate) async fn read_all(device: &Device, tensors: &[DeviceBuffer]) -> Result<Vec<Literal>, Error> {
    let request = |device: &Device| -> Vec<Option<(Pooled, Arc<Answer>)>> {
        let gpu = device.wgpu_device();
        let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(WHAT) });
        let mut staged = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            let allocated = buffer_bytes(tensor.bytes).filter(|_| tensor.bytes > 0);
            let stage = allocated.map(|bytes| device.pool().take(gpu, Use::ReadBack, bytes));
            if let Some(stage) = &stage {
                encoder.copy_buffer_to_buffer(tensor.wgpu_buffer(), 0, &stage.buffer, 0, tensor.bytes);
            }
            staged.push(stage);
        }
        device.wgpu_queue().submit([encoder.finish()]);
        let map = |(tensor, stage): (&DeviceBuffer, Option<Pooled>)| {
            let mut stage = stage?;
            // Until it is unmapped: whatever fails before leaves it mapped, or about to be.
            stage.set_reusable(false);
            let answer = Arc::new(Answer::default());
            let giver = Arc::clone(&answer);
            stage.buffer.map_async(wgpu::MapMode::Read, 0..tensor.bytes, move |result| {
                giver.give(result.map_err(|error| error.to_string()));
            });
            Some((stage, answer))
        };
        tensors.iter().zip(staged).map(map).collect()
    };
    let staged = device.scoped(WHAT, request).await?;
    device.wait(WHAT)?;
    let mut literals = Vec::with_capacity(tensors.len());
    for (tensor, stage) in tensors.iter().zip(staged) {
        let Some((mut stage, answer)) = stage else {
            literals.push(decode(&tensor.shape, &[])?);
            continue;
        };
        answer.wait().await?;
        let read = |_: &Device| {
            let view = stage.buffer.get_mapped_range(0..tensor.bytes);
            let literal = view.map(|view| decode(&tensor.shape, &view));
            stage.buffer.unmap();
            literal.map_err(|error| Error::Internal { what: WHAT.into(), message: error.to_string() })
        };
        let literal = device.scoped(WHAT, read).await?;
        stage.set_reusable(true);
        literals.push(literal??);
    }
    Ok(literals)
}
