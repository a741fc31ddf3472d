//! Measurement of short times, and their distribution.

use std::fmt;
use std::time::{Duration, Instant};

/// A batch runs at least this long, so that the clock's steps do not matter.
const BATCH: Duration = Duration::from_millis(2);
/// Of these many batches the quickest counts: the others were interrupted more.
const BATCHES: usize = 7;

/// The nanoseconds one run of `work` takes.
pub(crate) fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let mut iterations = 1u32;
    // The doubling also warms the caches and the clock of the processor.
    while time(&mut work, iterations) < BATCH && iterations < 1 << 30 {
        iterations *= 2;
    }
    let quickest = (0..BATCHES).map(|_| time(&mut work, iterations)).min().unwrap_or_default();
    quickest.as_secs_f64() * 1e9 / f64::from(iterations)
}

fn time(work: &mut impl FnMut(), iterations: u32) -> Duration {
    let start = Instant::now();
    (0..iterations).for_each(|_| work());
    start.elapsed()
}

/// Median, nine tenths and maximum of some times.
pub(crate) struct Percentiles(Vec<f64>);

impl Percentiles {
    pub(crate) fn of(mut times: Vec<f64>) -> Percentiles {
        times.sort_by(f64::total_cmp);
        Percentiles(times)
    }

    /// The least time that a tenth part of `tenths` does not exceed.
    fn at(&self, tenths: usize) -> f64 {
        let rank = (self.0.len() * tenths).div_ceil(10);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "median {:.0}, p90 {:.0}, max {:.0}", self.at(5), self.at(9), self.at(10))
    }
}
