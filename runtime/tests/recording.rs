//! Programs as a part of what a caller records, and futures that do not block.

use crate::support::{self, ROUNDS, compile, device};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::Literal;
use weft_runtime::program::Donated;
use weft_runtime::{Argument, Device, DeviceBuffer, Executable, Options, compile_with};

fn input() -> Literal {
    Literal::array([64], (0..64u8).map(f32::from).collect::<Vec<_>>())
}

fn executable(text: &str, device: &Device) -> Executable {
    let program = compile(&support::module(text), device.target()).unwrap_or_else(|error| panic!("{error}"));
    Executable::new(device, program).unwrap()
}

fn encoder(device: &Device) -> wgpu::CommandEncoder {
    device.wgpu_device().create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None })
}

#[test]
fn a_caller_s_commands_and_ours_are_one_submission() {
    let device = device();
    let executable = executable(ROUNDS, &device);
    let argument = DeviceBuffer::upload(&device, &input()).unwrap();
    let once = evaluate(&support::module(ROUNDS), &[input()]).unwrap();
    let twice = evaluate(&support::module(ROUNDS), &once).unwrap();
    let mut encoder = encoder(&device);
    let first = executable.record(&mut encoder, vec![(&argument).into()]).unwrap();
    // The second run reads what the first will have made; both are submitted together, after a third that takes memory from the same pool.
    let second = executable.record(&mut encoder, vec![(&first[0]).into()]).unwrap();
    let other = executable.execute(std::slice::from_ref(&argument)).unwrap();
    device.wgpu_queue().submit([encoder.finish()]);
    assert_eq!(second[0].download().unwrap(), twice[0]);
    assert_eq!(first[0].download().unwrap(), once[0]);
    assert_eq!(other[0].download().unwrap(), once[0]);
    assert_eq!(argument.download().unwrap(), input());
}

#[test]
fn what_commands_were_recorded_with_stays_until_they_are_done() {
    let device = device();
    let options = Options { donated: Donated::All, host: false, ..Options::default() };
    let module = support::module(ROUNDS);
    let program = compile_with(&module, device.target(), &options).unwrap();
    let executable = Executable::new(&device, program).unwrap();
    let expected = evaluate(&module, &[input()]).unwrap();
    let [borrowed, given] = [(); 2].map(|()| DeviceBuffer::upload(&device, &input()).unwrap());
    let mut encoder = encoder(&device);
    let first = executable.record(&mut encoder, vec![(&borrowed).into()]).unwrap();
    // Neither the next upload nor a run that is submitted sooner may write what the commands are about to read.
    let second = executable.execute_with(vec![borrowed.into()]).unwrap();
    drop(given);
    let other = DeviceBuffer::upload(&device, &Literal::array([64], vec![7.0f32; 64])).unwrap();
    device.wgpu_queue().submit([encoder.finish()]);
    assert_eq!(first[0].download().unwrap(), expected[0]);
    assert_eq!(second[0].download().unwrap(), expected[0]);
    // The result of what was recorded is given away as any other.
    let third = executable.execute_with(first.into_iter().map(Argument::Donated).collect()).unwrap();
    assert_eq!(third[0].download().unwrap(), evaluate(&module, &expected).unwrap()[0]);
    drop(other);
}

#[test]
fn answers_come_whoever_asks_the_device() {
    let device = device();
    let executable = executable(ROUNDS, &device);
    let expected = evaluate(&support::module(ROUNDS), &[input()]).unwrap();
    let started = Instant::now();
    let is_over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Asks all the time, so callbacks are called before whoever waits for them looks.
        scope.spawn(|| {
            while is_over.load(Ordering::SeqCst) == 0 {
                let _ = device.wgpu_device().poll(wgpu::PollType::Poll);
            }
        });
        for _ in 0..50 {
            assert_eq!(pollster::block_on(executable.run_async(&[input()])).unwrap(), expected);
        }
        is_over.store(1, Ordering::SeqCst);
    });
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
}

#[test]
fn what_is_never_submitted_leaves_nothing_behind() {
    let device = device();
    let executable = executable(ROUNDS, &device);
    let argument = DeviceBuffer::upload(&device, &input()).unwrap();
    let mut encoder = encoder(&device);
    drop(executable.record(&mut encoder, vec![(&argument).into()]).unwrap());
    drop(encoder);
    // Its memory is free again: nothing else holds the argument's.
    let results = executable.execute_with(vec![argument.into()]).unwrap();
    assert_eq!(results[0].download().unwrap(), evaluate(&support::module(ROUNDS), &[input()]).unwrap()[0]);
}

#[test]
fn what_needs_the_host_is_refused() {
    let device = device();
    let text = ROUNDS.replace("n = s32[] constant(5)", "x = f32[64] get-tuple-element(s), index=1\n  f = f32[1] slice(x), slice={[0:1]}\n  g = f32[] reshape(f)\n  n = s32[] convert(g)");
    let executable = executable(&text, &device);
    let argument = DeviceBuffer::upload(&device, &input()).unwrap();
    let mut encoder = encoder(&device);
    let refused = executable.record(&mut encoder, vec![Argument::Borrowed(&argument)]).unwrap_err();
    assert_eq!(refused.code(), "RUN034", "{refused}");
}

/// Counts how often it was woken.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_future_gives_way_while_the_device_works() {
    let device = device();
    let executable = executable(ROUNDS, &device);
    let inputs = [input()];
    let counter = Arc::new(Counter::default());
    let waker = Waker::from(Arc::clone(&counter));
    let mut running = pin!(executable.run_async(&inputs));
    let expected = evaluate(&support::module(ROUNDS), &inputs).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut polls = 0;
    let results = loop {
        assert!(Instant::now() < deadline, "the future never ended");
        let woken = counter.0.load(Ordering::SeqCst);
        match running.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(results) => break results.unwrap(),
            Poll::Pending => polls += 1,
        }
        // Whoever waits is woken, and nobody else asks the device meanwhile.
        while counter.0.load(Ordering::SeqCst) == woken && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    assert!(polls <= 4, "{polls} polls");
    assert_eq!(results, expected);
}
