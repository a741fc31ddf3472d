//! Time: that which passes, and that which the process computes.

use std::time::{Duration, Instant};

/// One measurement.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// Seconds that passed.
    pub(super) wall: f64,
    /// Seconds that the threads of this process computed meanwhile; `None` where the system does not tell.
    pub(super) cpu: Option<f64>,
    /// Seconds that a run took on the device, by its timestamps; `None` where nobody asked for them, or there are none.
    pub(super) device: Option<f64>,
}

/// Does `work` and says how long it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, Sample) {
    let (started, computed) = (Instant::now(), process_time());
    let value = work();
    let wall = started.elapsed().as_secs_f64();
    let cpu = process_time().zip(computed).map(|(after, before)| after.saturating_sub(before).as_secs_f64());
    (value, Sample { wall, cpu, device: None })
}

/// How long all threads of this process have computed so far.
#[cfg(unix)]
fn process_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn process_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_computes_nothing() {
        let ((), sample) = timed(|| std::thread::sleep(Duration::from_millis(20)));
        assert!(sample.wall >= 0.02, "{sample:?}");
    }

    #[cfg(unix)]
    #[test]
    fn computing_takes_process_time() {
        let (_, sample) = timed(|| (0..2_000_000u64).fold(1u64, |a, b| std::hint::black_box(a ^ b)));
        assert!(sample.cpu.is_some_and(|cpu| cpu > 0.0), "{sample:?}");
    }
}
