//! Earlier measurements, to find what has become slower.

use super::args::Clock;
use super::row::{Ours, Row};
use crate::report::Failure;
use serde_json::{Value, json};
use std::path::Path;

/// What `weft bench --format json` wrote.
#[derive(Debug)]
pub(super) struct Baseline {
    file: String,
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    device: String,
    programs: Vec<Program>,
}

/// What a baseline says of a program.
#[derive(Clone, Debug, PartialEq)]
struct Program {
    case: String,
    /// Medians of the time as multiples of the copy's, if it could run: wall time, process time, time on the device.
    times_copy: Option<[Option<f64>; 3]>,
    is_wrong: bool,
}

/// What has become of a program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Within the tolerance.
    Same,
    Faster,
    Slower,
    /// It could run and was right, and now its results are wrong.
    Wrong,
    NoLongerRuns,
    /// It cannot run, as before.
    CannotRun,
    /// The baseline does not hold it, or it could not run there.
    New,
    /// There was no copy, or no such clock, on one side.
    Incomparable,
}

impl Verdict {
    /// Whether the command has to fail.
    pub(super) fn is_regression(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Wrong | Verdict::NoLongerRuns)
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Verdict::Same => "as before",
            Verdict::Faster => "faster",
            Verdict::Slower => "SLOWER",
            Verdict::Wrong => "NOW WRONG",
            Verdict::NoLongerRuns => "NO LONGER RUNS",
            Verdict::CannotRun => "cannot run, as before",
            Verdict::New => "new",
            Verdict::Incomparable => "cannot be compared: no time as a multiple of the copy's",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Wrong => "wrong",
            Verdict::NoLongerRuns => "no_longer_runs",
            Verdict::CannotRun => "cannot_run",
            Verdict::New => "new",
            Verdict::Incomparable => "incomparable",
        }
    }
}

/// A program then and now, in multiples of the copy's time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    pub(super) case: String,
    pub(super) before: Option<f64>,
    pub(super) now: Option<f64>,
    pub(super) verdict: Verdict,
}

impl Comparison {
    /// How many times as long as before it takes.
    pub(super) fn ratio(&self) -> Option<f64> {
        Some(self.now? / self.before?)
    }

    pub(super) fn to_json(&self) -> Value {
        let Comparison { case, before, now, verdict } = self;
        json!({
            "case": case,
            "before": before,
            "now": now,
            "ratio": self.ratio(),
            "verdict": verdict.code(),
            "regression": verdict.is_regression(),
        })
    }
}

impl Baseline {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or is not what this command wrote.
    pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::not_read(format!("cannot read {file}: {error}")))?;
        let sections = sections(&text);
        let sections = sections.map_err(|reason| {
            Failure::not_read(format!("{file} is not what `weft bench --format json` writes: {reason}"))
        })?;
        Ok(Baseline { file, sections })
    }

    /// What has become of each program on a device.
    ///
    /// # Errors
    /// If the baseline was not measured on this device: ratios to a copy differ from one to another.
    pub(super) fn compare(
        &self,
        device: &str,
        rows: &[Row],
        clock: Clock,
        tolerance: f64,
    ) -> Result<Vec<Comparison>, Failure> {
        let section = self.sections.iter().find(|section| section.device == device).ok_or_else(|| {
            let devices: Vec<&str> = self.sections.iter().map(|section| section.device.as_str()).collect();
            let (file, devices) = (&self.file, devices.join(", "));
            Failure::message(format!("{file} was not measured on {device}, but on {devices}"))
        })?;
        let each = |row: &Row| compare(section.programs.iter().find(|it| it.case == row.name), row, clock, tolerance);
        Ok(rows.iter().map(each).collect())
    }
}

fn compare(before: Option<&Program>, row: &Row, clock: Clock, tolerance: f64) -> Comparison {
    let ran_before = before.and_then(|program| program.times_copy);
    let then = ran_before.and_then(|[wall, cpu, device]| match clock {
        Clock::Wall => wall,
        Clock::Cpu => cpu,
        Clock::Device => device,
    });
    let figures = row.ours.as_ref().ok().map(|Ours { figures, .. }| figures);
    let now = figures.and_then(|figures| figures.times_copy.by(clock)).map(|ratio| ratio.median);
    let was_wrong = before.is_some_and(|program| program.is_wrong);
    let verdict = match (ran_before, figures, then.zip(now)) {
        (Some(_), None, _) => Verdict::NoLongerRuns,
        (None, None, _) if before.is_some() => Verdict::CannotRun,
        (None, _, _) => Verdict::New,
        (Some(_), Some(figures), _) if figures.is_wrong() && !was_wrong => Verdict::Wrong,
        (Some(_), Some(_), Some((then, now))) if now > then * tolerance => Verdict::Slower,
        (Some(_), Some(_), Some((then, now))) if now * tolerance < then => Verdict::Faster,
        (Some(_), Some(_), Some(_)) => Verdict::Same,
        (Some(_), Some(_), None) => Verdict::Incomparable,
    };
    Comparison { case: row.name.clone(), before: then, now, verdict }
}

fn sections(text: &str) -> Result<Vec<Section>, String> {
    let whole: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let sections = whole["devices"].as_array().ok_or("it has no `devices`")?;
    sections.iter().map(|it| section(it).ok_or_else(|| "a device is not understood".to_owned())).collect()
}

fn section(value: &Value) -> Option<Section> {
    let device = value["device"]["name"].as_str()?.to_owned();
    let programs = value["cases"].as_array()?.iter().map(program).collect::<Option<_>>()?;
    Some(Section { device, programs })
}

fn program(value: &Value) -> Option<Program> {
    let case = value["case"].as_str()?.to_owned();
    let weft = value["weft"].as_object()?;
    if weft.contains_key("cannot_run") {
        return Some(Program { case, times_copy: None, is_wrong: false });
    }
    let ratios = weft.get("times_copy")?;
    let median = |clock: &str| ratios[clock]["median"].as_f64();
    let times_copy = Some([median("wall"), median("cpu"), median("device")]);
    Some(Program { case, times_copy, is_wrong: weft.get("wrong")?.as_bool()? })
}

#[cfg(test)]
mod tests {
    use super::super::row::{Figures, Ratios, Reason};
    use super::super::stages::Stages;
    use super::super::statistics::Summary;
    use super::*;

    fn row(name: &str, times_copy: Option<f64>, error: f64) -> Row {
        let ratios = Ratios { wall: times_copy.and_then(|it| Summary::of([it])), ..Ratios::default() };
        let figures = Figures::of(&[], ratios, Ok(Some(error)));
        let stages = Stages::default();
        Row {
            ours: Ok(Ours { figures, kernels: 1, launches: 1, bytes_moved: 8, predicted: Ok(1e-3), stages }),
            ..Row::new(name)
        }
    }

    fn broken(name: &str) -> Row {
        Row { ours: Err(Reason::plain("no")), ..Row::new(name) }
    }

    fn baseline() -> Baseline {
        let weft = |wall: f64, wrong: bool| json!({ "times_copy": { "wall": { "median": wall }, "cpu": null }, "wrong": wrong });
        let text = json!({ "devices": [{ "device": { "name": "d" }, "cases": [
            { "case": "a", "weft": weft(2.0, false) },
            { "case": "b", "weft": weft(4.0, true) },
            { "case": "c", "weft": { "cannot_run": { "code": "HLO401", "message": "no" } } },
        ] }] });
        Baseline { file: "f".into(), sections: sections(&text.to_string()).expect("it is understood") }
    }

    fn verdicts(rows: &[Row]) -> Vec<Verdict> {
        let Ok(found) = baseline().compare("d", rows, Clock::Wall, 1.1) else { panic!("the device is there") };
        found.iter().map(|comparison| comparison.verdict).collect()
    }

    #[test]
    fn more_than_the_tolerance_is_slower() {
        let rows = [2.19, 2.21, 1.83, 1.81].map(|now| row("a", Some(now), 0.0));
        assert_eq!(verdicts(&rows), [Verdict::Same, Verdict::Slower, Verdict::Same, Verdict::Faster]);
        assert!(Verdict::Slower.is_regression() && !Verdict::Faster.is_regression());
    }

    #[test]
    fn to_run_no_longer_and_to_be_wrong_are_regressions() {
        let rows =
            [broken("a"), row("a", Some(2.0), 0.5), row("b", Some(4.0), 0.5), broken("c"), row("c", Some(1.0), 0.0)];
        let found = verdicts(&rows);
        use Verdict::{CannotRun, New, NoLongerRuns, Same, Wrong};
        assert_eq!(found, [NoLongerRuns, Wrong, Same, CannotRun, New]);
        let regressions: Vec<bool> = found.into_iter().map(Verdict::is_regression).collect();
        assert_eq!(regressions, [true, true, false, false, false]);
    }

    #[test]
    fn what_has_no_ratio_is_not_compared() {
        assert_eq!(verdicts(&[row("a", None, 0.0), row("z", Some(1.0), 0.0)]), [Verdict::Incomparable, Verdict::New]);
        let Ok(found) = baseline().compare("d", &[row("a", Some(2.0), 0.0)], Clock::Cpu, 1.1) else {
            panic!("it is there")
        };
        assert_eq!(found[0].verdict, Verdict::Incomparable);
    }

    #[test]
    fn another_device_is_no_baseline() {
        let Err(Failure::Message { text, .. }) = baseline().compare("e", &[], Clock::Wall, 1.1) else {
            panic!("no such device")
        };
        assert_eq!(text, "f was not measured on e, but on d");
    }

    #[test]
    fn other_files_are_refused() {
        for text in
            ["", "[]", "{\"devices\": [{}]}", "{\"devices\": [{\"device\": {\"name\": \"d\"}, \"cases\": [{}]}]}"]
        {
            assert!(sections(text).is_err(), "{text}");
        }
    }
}
