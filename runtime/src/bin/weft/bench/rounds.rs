//! Rounds: everything that is compared, once each, again and again.

use super::clock::{Sample, timed};
use super::timestamps::Timestamps;
use std::time::{Duration, Instant};
use weft_runtime::Error;

/// Rounds whose times are dropped, at least.
const WARM_UP: usize = 2;

/// How long these take at least as a rule: GPUs need some time to raise their clocks.
pub(super) const WARM_UP_TIME: Duration = Duration::from_millis(200);

/// Rounds that are measured however long they take.
const AT_LEAST: usize = 3;

/// How much to measure.
#[derive(Copy, Clone, Debug)]
pub(super) struct Budget {
    /// Rounds at most.
    pub(super) rounds: usize,
    /// No round begins later than this.
    pub(super) time: Duration,
    /// How long rounds are run before any is measured.
    pub(super) warm_up: Duration,
}

/// Something that runs on the device and waits for it.
pub(super) struct Contestant<'a> {
    run: Box<dyn Fn() -> Result<(), Error> + 'a>,
    on_device: Option<OnDevice<'a>>,
}

/// Runs it once more, for the seconds between two timestamps.
type OnDevice<'a> = Box<dyn Fn(&Timestamps) -> Result<Option<f64>, Error> + 'a>;

impl<'a> Contestant<'a> {
    /// One that has no time on the device of its own.
    pub(super) fn new(run: impl Fn() -> Result<(), Error> + 'a) -> Self {
        Contestant { run: Box::new(run), on_device: None }
    }

    /// The same, where a run is also what `record` records; `T` lives until the device is done.
    pub(super) fn recorded<T>(self, record: impl Fn(&mut wgpu::CommandEncoder) -> Result<T, Error> + 'a) -> Self {
        let on_device = move |timestamps: &Timestamps| timestamps.seconds(&record);
        Contestant { on_device: Some(Box::new(on_device)), ..self }
    }

    fn sample(&self, timestamps: Option<&Timestamps>) -> Result<Sample, Error> {
        let (outcome, mut sample) = timed(|| (self.run)());
        outcome?;
        if let (Some(timestamps), Some(on_device)) = (timestamps, &self.on_device) {
            sample.device = on_device(timestamps)?;
        }
        Ok(sample)
    }
}

/// The samples of each contestant, one per round.
///
/// Every round runs all of them, beginning with another one each time, so that drift of the machine, and what one
/// leaves in its caches, hits all alike. With `timestamps` each is run twice, the second time by the device's clock.
///
/// # Errors
/// The first error of any contestant.
pub(super) fn measure(
    contestants: &[Contestant<'_>],
    budget: Budget,
    timestamps: Option<&Timestamps>,
) -> Result<Vec<Vec<Sample>>, Error> {
    let mut samples = vec![Vec::new(); contestants.len()];
    let order = |round: usize| (0..contestants.len()).map(move |turn| (round + turn) % contestants.len());
    let started = Instant::now();
    for round in (0..).take_while(|round| *round < WARM_UP || started.elapsed() < budget.warm_up) {
        order(round).try_for_each(|number| contestants[number].sample(timestamps).map(|_| ()))?;
    }
    let started = Instant::now();
    for round in 0..budget.rounds {
        if round >= AT_LEAST && started.elapsed() >= budget.time {
            break;
        }
        for number in order(round) {
            samples[number].push(contestants[number].sample(timestamps)?);
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn all_take_turns_and_begin_in_turn() {
        let log = RefCell::new(String::new());
        let contestant = |name: char| -> Contestant<'_> {
            let log = &log;
            Contestant::new(move || {
                log.borrow_mut().push(name);
                Ok(())
            })
        };
        let contestants = [contestant('a'), contestant('b'), contestant('c')];
        let budget = Budget { rounds: 4, time: Duration::from_secs(100), warm_up: Duration::ZERO };
        let samples = measure(&contestants, budget, None).expect("none fails");
        assert_eq!(log.borrow().as_str(), ["abc", "bca", "abc", "bca", "cab", "abc"].concat());
        assert!(samples.iter().all(|samples| samples.len() == 4));
    }

    #[test]
    fn time_ends_the_rounds_but_not_before_a_few() {
        let contestants: [Contestant<'_>; 1] = [Contestant::new(|| Ok(()))];
        let samples =
            measure(&contestants, Budget { rounds: 1000, time: Duration::ZERO, warm_up: Duration::ZERO }, None)
                .expect("it does not fail");
        assert_eq!(samples[0].len(), AT_LEAST);
    }

    #[test]
    fn an_error_ends_all() {
        let contestants: [Contestant<'_>; 1] = [Contestant::new(|| Err(Error::DeviceLost("test".into())))];
        let budget = Budget { rounds: 1, time: Duration::ZERO, warm_up: Duration::ZERO };
        assert_eq!(measure(&contestants, budget, None), Err(Error::DeviceLost("test".into())));
    }
}
