//! What was measured of one program.

use super::args::Clock;
use super::clock::Sample;
use super::judge::WRONG;
use super::stages::Stages;
use super::statistics::Summary;
use crate::report::Failure;
use crate::source::Source;
use weft_partition::Work;
use weft_runtime::Error;

/// Why something could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reason {
    /// A stable code, where there is one.
    pub(super) code: Option<String>,
    /// A sentence, which holds the code too.
    pub(super) text: String,
}

impl Reason {
    /// A sentence.
    pub(super) fn plain(text: impl Into<String>) -> Reason {
        Reason { code: None, text: text.into() }
    }

    /// The first finding of an error, at its place in the text.
    pub(super) fn of_error(source: &Source, error: &Error) -> Reason {
        let code = Some(error.code().to_owned());
        let text = match error.findings() {
            Some(findings) => {
                let located = findings.clone().locate(&source.text).0;
                let more = match located.len() {
                    0 | 1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                located.first().map_or_else(|| error.to_string(), |finding| format!("{finding}{more}"))
            }
            None => error.to_string(),
        };
        Reason { code, text }
    }

    /// A failure in words.
    pub(super) fn of_failure(failure: Failure) -> Reason {
        match failure {
            Failure::Findings(source, findings) => Reason::of_error(&source, &findings.into()),
            Failure::Message { code, text, .. } => Reason { code: Some(code.to_owned()), text },
            Failure::Misuse(text) => Reason::plain(text),
            Failure::Output(error) => Reason::plain(error.to_string()),
        }
    }
}

/// Ratios of two that ran in the same rounds, one for each clock.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Ratios {
    pub(super) wall: Option<Summary>,
    pub(super) cpu: Option<Summary>,
    pub(super) device: Option<Summary>,
}

impl Ratios {
    /// The ratios, round by round, of `samples` to `share` times what `others` took.
    pub(super) fn of(samples: &[Sample], others: &[Sample], share: f64) -> Ratios {
        let pairs = || samples.iter().zip(others);
        let by = |clock: fn(&Sample) -> Option<f64>| {
            let ratios: Option<Vec<f64>> = pairs().map(|(a, b)| Some(clock(a)? / (clock(b)? * share))).collect();
            ratios.and_then(Summary::of)
        };
        Ratios { wall: by(|it| Some(it.wall)), cpu: by(|it| it.cpu), device: by(|it| it.device) }
    }

    /// By one clock.
    pub(super) fn by(&self, clock: Clock) -> Option<Summary> {
        match clock {
            Clock::Wall => self.wall,
            Clock::Cpu => self.cpu,
            Clock::Device => self.device,
        }
    }
}

/// How fast something is, and how right.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    /// Seconds that passed in a run.
    pub(super) wall: Option<Summary>,
    /// Seconds that the process computed in a run.
    pub(super) cpu: Option<Summary>,
    /// Seconds that a run took on the device, by its timestamps, if they were asked for.
    pub(super) device: Option<Summary>,
    /// Times as long as the copy takes for as many bytes.
    pub(super) times_copy: Ratios,
    /// The largest relative error, if it was asked for, or why it is not known.
    pub(super) error: Result<Option<f64>, Reason>,
}

impl Figures {
    pub(super) fn of(samples: &[Sample], times_copy: Ratios, error: Result<Option<f64>, Reason>) -> Figures {
        let by = |clock: fn(&Sample) -> Option<f64>| {
            let seconds: Option<Vec<f64>> = samples.iter().map(clock).collect();
            seconds.and_then(Summary::of)
        };
        Figures { wall: by(|it| Some(it.wall)), cpu: by(|it| it.cpu), device: by(|it| it.device), times_copy, error }
    }

    /// Whether the results are known to be wrong.
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self.error, Ok(Some(error)) if error >= WRONG)
    }

    /// Seconds on the device where they are known, of a run else.
    pub(super) fn seconds(&self) -> Option<Summary> {
        self.device.or(self.wall)
    }

    /// So many in the median of [`seconds`](Self::seconds), per second.
    pub(super) fn rate(&self, count: Option<u64>) -> Option<f64> {
        Some(count? as f64 / self.seconds()?.median)
    }
}

/// What was measured of a compiled program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ours {
    pub(super) figures: Figures,
    /// Kernels, each counted once.
    pub(super) kernels: usize,
    /// Launches of a run.
    pub(super) launches: usize,
    /// Bytes of all tensors that launches bind, each as often as it is bound.
    pub(super) bytes_moved: u64,
    /// Seconds of a run by the cost model, or why they are not known.
    pub(super) predicted: Result<f64, String>,
    pub(super) stages: Stages,
}

/// What was measured of a reference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hand {
    pub(super) name: String,
    /// Its form in words.
    pub(super) form: String,
    /// Its figures, or why it cannot run here.
    pub(super) outcome: Result<Figures, String>,
    /// How many times as long as it the program takes.
    pub(super) ours_over_it: Ratios,
}

/// What was measured of another program of as many bytes, or of as many dispatches as the program has rounds or launches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    /// Its name.
    pub(super) name: String,
    /// How many times as long as it the program takes.
    pub(super) ours_over_it: Ratios,
}

/// What was measured of a program and of what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    /// What it asks for, if it could be read.
    pub(super) work: Option<Work>,
    /// The compiled program, or why it cannot run.
    pub(super) ours: Result<Ours, Reason>,
    pub(super) hands: Vec<Hand>,
    /// Another program that was run in the same rounds.
    pub(super) beside: Option<Beside>,
    /// The copy in the same rounds, of its own number of bytes.
    pub(super) copy: Figures,
    /// Rounds that were measured.
    pub(super) rounds: usize,
}

impl Row {
    /// Nothing yet.
    pub(super) fn new(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            work: None,
            ours: Err(Reason::plain("it was not measured")),
            hands: Vec::new(),
            beside: None,
            copy: Figures::of(&[], Ratios::default(), Ok(None)),
            rounds: 0,
        }
    }

    /// How many times as long as the fastest reference with right results the program takes.
    pub(super) fn over_best(&self, clock: Clock) -> Option<Summary> {
        let right = self.hands.iter().filter(|hand| hand.outcome.as_ref().is_ok_and(|figures| !figures.is_wrong()));
        let ratios = right.filter_map(|hand| hand.ours_over_it.by(clock));
        ratios.max_by(|a, b| a.median.total_cmp(&b.median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(walls: &[f64]) -> Vec<Sample> {
        walls.iter().map(|&wall| Sample { wall, cpu: Some(2.0 * wall), device: None }).collect()
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        // The machine is three times as slow in the second round; the ratio does not see it.
        let found = Ratios::of(&samples(&[4.0, 12.0]), &samples(&[1.0, 3.0]), 0.5);
        assert_eq!(found.wall.map(|it| (it.least, it.greatest)), Some((8.0, 8.0)));
        assert_eq!(found.cpu, found.wall);
        assert_eq!(Ratios::of(&samples(&[4.0]), &[], 1.0), Ratios::default());
        assert_eq!(Ratios::of(&samples(&[4.0]), &samples(&[0.0]), 1.0), Ratios::default());
    }

    #[test]
    fn without_process_time_there_is_wall_time() {
        let figures = Figures::of(&[Sample { wall: 2.0, cpu: None, device: None }], Ratios::default(), Ok(None));
        assert_eq!((figures.wall.map(|it| it.median), figures.cpu), (Some(2.0), None));
        assert_eq!(figures.rate(Some(10)), Some(5.0));
        assert_eq!(figures.rate(None), None);
        let figures = Figures::of(&[Sample { wall: 2.0, cpu: None, device: Some(0.5) }], Ratios::default(), Ok(None));
        assert_eq!((figures.device.map(|it| it.median), figures.rate(Some(10))), (Some(0.5), Some(20.0)));
    }

    #[test]
    fn wrong_references_are_not_compared_with() {
        let hand = |median: f64, error: f64| Hand {
            name: String::new(),
            form: String::new(),
            outcome: Ok(Figures::of(&[], Ratios::default(), Ok(Some(error)))),
            ours_over_it: Ratios { wall: Summary::of([median]), ..Ratios::default() },
        };
        let row = Row { hands: vec![hand(2.0, 1e-7), hand(9.0, 0.04), hand(1.5, 0.0)], ..Row::new("r") };
        assert_eq!(row.over_best(Clock::Wall).map(|it| it.median), Some(2.0));
        assert_eq!(row.over_best(Clock::Cpu), None);
        assert!(Figures::of(&[], Ratios::default(), Ok(Some(f64::INFINITY))).is_wrong());
    }
}
