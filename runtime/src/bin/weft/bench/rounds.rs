//! Rounds: everything that is compared, once each, again and again.

use super::clock::{Sample, timed};
use std::time::{Duration, Instant};
use weft_runtime::Error;

/// Rounds whose times are dropped.
const WARM_UP: usize = 2;

/// Rounds that are measured however long they take.
const AT_LEAST: usize = 3;

/// How much to measure.
#[derive(Copy, Clone, Debug)]
pub(super) struct Budget {
    /// Rounds at most.
    pub(super) rounds: usize,
    /// No round begins later than this.
    pub(super) time: Duration,
}

/// Something that runs on the device and waits for it.
pub(super) type Contestant<'a> = Box<dyn Fn() -> Result<(), Error> + 'a>;

/// The samples of each contestant, one per round.
///
/// Every round runs all of them, beginning with another one each time, so that drift of the machine, and what one
/// leaves in its caches, hits all alike.
///
/// # Errors
/// The first error of any contestant.
pub(super) fn measure(contestants: &[Contestant<'_>], budget: Budget) -> Result<Vec<Vec<Sample>>, Error> {
    let mut samples = vec![Vec::new(); contestants.len()];
    let order = |round: usize| (0..contestants.len()).map(move |turn| (round + turn) % contestants.len());
    for round in 0..WARM_UP {
        order(round).try_for_each(|number| contestants[number]())?;
    }
    let started = Instant::now();
    for round in 0..budget.rounds {
        if round >= AT_LEAST && started.elapsed() >= budget.time {
            break;
        }
        for number in order(round) {
            let (outcome, sample) = timed(|| contestants[number]());
            outcome?;
            samples[number].push(sample);
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
            Box::new(move || {
                log.borrow_mut().push(name);
                Ok(())
            })
        };
        let contestants = [contestant('a'), contestant('b'), contestant('c')];
        let budget = Budget { rounds: 4, time: Duration::from_secs(100) };
        let samples = measure(&contestants, budget).expect("none fails");
        assert_eq!(log.borrow().as_str(), ["abc", "bca", "abc", "bca", "cab", "abc"].concat());
        assert!(samples.iter().all(|samples| samples.len() == 4));
    }

    #[test]
    fn time_ends_the_rounds_but_not_before_a_few() {
        let contestants: [Contestant<'_>; 1] = [Box::new(|| Ok(()))];
        let samples = measure(&contestants, Budget { rounds: 1000, time: Duration::ZERO }).expect("it does not fail");
        assert_eq!(samples[0].len(), AT_LEAST);
    }

    #[test]
    fn an_error_ends_all() {
        let contestants: [Contestant<'_>; 1] = [Box::new(|| Err(Error::DeviceLost("test".into())))];
        let budget = Budget { rounds: 1, time: Duration::ZERO };
        assert_eq!(measure(&contestants, budget), Err(Error::DeviceLost("test".into())));
    }
}
