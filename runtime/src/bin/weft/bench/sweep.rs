//! Programs of many shapes, each beside its plain loops.

mod family;

use super::args::Clock;
use super::judge::{WRONG, largest_error};
use super::rounds::{Budget, Contestant, measure};
use super::row::Ratios;
use super::statistics::Summary;
use super::table::{Table, number};
use super::timestamps::Timestamps;
use crate::random::{self, Distribution};
use crate::report::Failure;
use family::{Family, Given};
use serde_json::{Value, json};
use weft_hlo::ir::{ArrayShape, ElementType, Literal};
use weft_partition::{Fused, Schedule, Target};
use weft_runtime::program::compile_fused;
use weft_runtime::{AdapterInfo, Device, DeviceBuffer, Error, Executable, Options, optimize};

/// How many times as long as the plain loops a program may take.
const AT_MOST: f64 = 2.0;

/// Rows, and columns, are powers of this, and besides of these shapes, whose extents are primes.
const STEP: u32 = 4;
const PRIMES: [[i64; 2]; 5] = [[1009, 1013], [7, 100_003], [100_003, 7], [3, 1_000_003], [1_000_003, 3]];

/// What was measured on one device.
pub(super) struct Sweep {
    adapter: AdapterInfo,
    /// The logarithm of the most elements.
    most: u32,
    clock: Clock,
    schedules: Vec<Schedule>,
    /// The schedule that suits what was compiled for.
    own: Schedule,
    points: Vec<Point>,
}

/// A program of one shape.
struct Point {
    family: Family,
    extents: [i64; 2],
    /// Seconds that plain loops take, or why there are none.
    loops: Result<Option<Summary>, String>,
    /// For each schedule how many times as long as plain loops it takes, or why it does not run.
    times: Vec<Result<Option<f64>, String>>,
}

/// What to compile for, and how to measure.
pub(super) struct Settings {
    pub(super) target: Target,
    pub(super) schedules: Vec<Schedule>,
    pub(super) budget: Budget,
    pub(super) seed: u64,
    pub(super) clock: Clock,
    pub(super) is_checked: bool,
}

/// The shapes of at most so many elements, as a power of two.
fn shapes(most: u32) -> Vec<[i64; 2]> {
    let powers = || (0..=most).step_by(STEP as usize);
    let pairs = powers().flat_map(|rows| powers().map(move |columns| (rows, columns)));
    let pairs = pairs.filter(|(rows, columns)| rows + columns <= most).map(|(rows, columns)| [1 << rows, 1 << columns]);
    pairs.chain(PRIMES.into_iter().filter(|[rows, columns]| rows * columns <= 1 << most)).collect()
}

impl Sweep {
    /// Measures all programs; `tell` is told what comes next.
    ///
    /// # Errors
    /// If the inputs of a shape cannot be made, or the device is lost.
    pub(super) fn of(
        device: &Device,
        settings: &Settings,
        most: u32,
        tell: &mut dyn FnMut(String),
    ) -> Result<Sweep, Failure> {
        let mut points = Vec::new();
        for extents in shapes(most) {
            for family in Family::ALL {
                tell(format!("{} of {} × {}", family.name(), extents[0], extents[1]));
                device.trim();
                points.push(point(device, settings, family, extents)?);
            }
        }
        let Settings { target, schedules, clock, .. } = settings;
        let own = target.clone().with(|target| target.schedule = None).effective_schedule();
        let (adapter, schedules) = (device.info().clone(), schedules.clone());
        Ok(Sweep { adapter, most, clock: *clock, schedules, own, points })
    }

    /// Whether a program with the schedule that suits the device takes too long, or does not run.
    pub(super) fn has_findings(&self) -> bool {
        let is_own = |(schedule, _): &(&Schedule, _)| **schedule == self.own;
        let is_bad = |times: &Result<Option<f64>, String>| match times {
            Ok(ratio) => ratio.is_some_and(|ratio| ratio > AT_MOST),
            Err(_) => true,
        };
        self.points.iter().any(|point| self.schedules.iter().zip(&point.times).filter(is_own).any(|(_, it)| is_bad(it)))
    }

    fn preface(&self) -> String {
        let (most, clock) = (self.most, self.clock.name());
        let names: Vec<&str> = self.schedules.iter().map(|schedule| schedule.name()).collect();
        format!(
            "{}; f32[rows,columns] of at most 2^{most} elements. Milliseconds that plain loops take, an invocation a result, and how many times as long by {clock} time the schedules of kind {} take; 1 is as fast.\n",
            self.adapter,
            names.join(" and ")
        )
    }

    fn table(&self) -> Table {
        let mut heading = vec!["rows × columns"];
        for family in Family::ALL {
            heading.push(match family {
                Family::RowSum => "row sum: loops, ms",
                Family::ColumnSum => "column sum: loops, ms",
                Family::Softmax => "softmax: loops, ms",
                Family::Transpose => "transpose: loops, ms",
                Family::Product => "product: loops, ms",
            });
            heading.extend(self.schedules.iter().map(|schedule| schedule.name()));
        }
        let ratio = |times: &Result<Option<f64>, String>| match times {
            Ok(ratio) => ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            Err(reason) => reason.clone(),
        };
        let cells = |point: &Point| {
            let loops = match &point.loops {
                Ok(seconds) => seconds.map(|seconds| number(seconds.median * 1e3)).unwrap_or_default(),
                Err(reason) => reason.clone(),
            };
            std::iter::once(loops).chain(point.times.iter().map(ratio)).collect::<Vec<String>>()
        };
        let row = |points: &[Point]| {
            let [rows, columns] = points[0].extents;
            std::iter::once(format!("{rows} × {columns}")).chain(points.iter().flat_map(cells)).collect()
        };
        Table { heading, rows: self.points.chunks(Family::ALL.len()).map(row).collect(), has_notes: false }
    }

    /// What takes too long, for each schedule.
    fn verdict(&self) -> String {
        let mut text = String::new();
        for (number, schedule) in self.schedules.iter().enumerate() {
            let found = self.points.iter().filter_map(|point| {
                let ratio = point.times.get(number)?.as_ref().ok().copied().flatten()?;
                Some((ratio, point))
            });
            let (mut greatest, mut slow) = (None::<(f64, &Point)>, 0);
            for (ratio, point) in found {
                slow += usize::from(ratio > AT_MOST);
                if greatest.is_none_or(|(most, _)| ratio > most) {
                    greatest = Some((ratio, point));
                }
            }
            if let Some((ratio, Point { family, extents: [rows, columns], .. })) = greatest {
                text += &format!(
                    "{schedule}: at most {ratio:.2} times as long as plain loops, {} of {rows} × {columns}; {slow} of {} take more than {AT_MOST} times.\n",
                    family.name(),
                    self.points.len()
                );
            }
        }
        text
    }

    /// For people.
    pub(super) fn to_text(&self) -> String {
        format!("{}\n{}\n{}", self.preface(), self.table().to_text(), self.verdict())
    }

    /// As Markdown has it.
    pub(super) fn to_markdown(&self) -> String {
        format!("## {}\n\n{}\n{}\n{}", self.adapter.name, self.preface(), self.table().to_markdown(), self.verdict())
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let point = |point: &Point| {
            let Point { family, extents: [rows, columns], loops, times } = point;
            let times: serde_json::Map<String, Value> = (self.schedules.iter().zip(times))
                .map(|(schedule, times)| {
                    let value = match times {
                        Ok(ratio) => json!(ratio),
                        Err(reason) => json!({ "cannot_run": reason }),
                    };
                    (schedule.name().to_owned(), value)
                })
                .collect();
            let seconds = match loops {
                Ok(seconds) => json!(seconds.map(|seconds| seconds.median)),
                Err(reason) => json!({ "cannot_run": reason }),
            };
            json!({ "program": family.name(), "rows": rows, "columns": columns, "loops_seconds": seconds, "times_loops": times })
        };
        json!({
            "device": self.adapter.name,
            "most_elements": 1u64 << self.most,
            "clock": self.clock.name(),
            "sweep": self.points.iter().map(point).collect::<Vec<Value>>(),
        })
    }
}

/// A program with its argument.
struct Ready<'a> {
    executable: Executable,
    argument: &'a DeviceBuffer,
}

impl Ready<'_> {
    fn run(&self) -> Result<Vec<DeviceBuffer>, Error> {
        let results = self.executable.execute(std::slice::from_ref(self.argument))?;
        self.executable.device().wait("running the program")?;
        Ok(results)
    }

    fn contestant(&self) -> Contestant<'_> {
        let record = |encoder: &mut wgpu::CommandEncoder| self.executable.record(encoder, vec![self.argument.into()]);
        Contestant::new(|| self.run().map(|_| ())).recorded(record)
    }

    fn results(&self) -> Result<Vec<Literal>, Error> {
        self.run()?.iter().map(DeviceBuffer::download).collect()
    }
}

fn point(device: &Device, settings: &Settings, family: Family, extents: [i64; 2]) -> Result<Point, Failure> {
    let shape = ArrayShape::new(ElementType::F32, extents);
    let input = random::literal(settings.seed, 0, "x", &shape, Distribution::Positive)?;
    let argument = DeviceBuffer::upload(device, &input)?;
    drop(input);
    let of_loops = settings.target.clone().with(|target| target.faults.barriers = true);
    let loops = ready(device, &of_loops, family.text(extents, Given::Loops), true, &argument);
    let expected = match &loops {
        Ok(loops) if settings.is_checked => Some(loops.results()?),
        _ => None,
    };
    let mut planned: Vec<Result<Ready<'_>, String>> = Vec::new();
    for schedule in &settings.schedules {
        let target = settings.target.clone().with(|target| target.schedule = Some(*schedule));
        let mut ready = ready(device, &target, family.text(extents, Given::Whole), false, &argument);
        if let (Ok(program), Some(expected)) = (&ready, &expected)
            && largest_error(&program.results()?, expected).is_none_or(|error| error >= WRONG)
        {
            ready = Err("wrong".to_owned());
        }
        planned.push(ready);
    }
    let contestants: Vec<Contestant<'_>> =
        loops.iter().chain(planned.iter().flatten()).map(Ready::contestant).collect();
    let timestamps = (settings.clock == Clock::Device).then(|| Timestamps::new(device)).flatten();
    let samples = measure(&contestants, settings.budget, timestamps.as_ref())?;
    drop(contestants);
    let mut samples = samples.into_iter();
    let of_loops = loops.as_ref().ok().and_then(|_| samples.next()).unwrap_or_default();
    let times = planned.into_iter().map(|program| {
        program?;
        Ok(samples.next().and_then(|own| Ratios::of(&own, &of_loops, 1.0).by(settings.clock)).map(|it| it.median))
    });
    let times = times.collect();
    let seconds = Summary::of(of_loops.iter().map(|sample| sample.device.unwrap_or(sample.wall)));
    let loops = loops.map(|_| seconds);
    Ok(Point { family, extents, loops, times })
}

/// The program of a text compiled, and run once: kernel by kernel as it is given, or as the compiler divides it. Or why it cannot be.
fn ready<'a>(
    device: &Device,
    target: &Target,
    text: String,
    is_divided: bool,
    argument: &'a DeviceBuffer,
) -> Result<Ready<'a>, String> {
    let compiled = || -> Result<Ready<'a>, Error> {
        let module = weft_hlo::text::parse(&text)?;
        let options = Options { host: false, ..Options::default() };
        let fused = match is_divided {
            true => Fused::of(module, target)?,
            false => weft_partition::fuse_explained(&optimize(&module, &options)?.module, target)?,
        };
        let executable = Executable::new(device, compile_fused(fused, target, &options)?)?;
        let ready = Ready { executable, argument };
        ready.run()?;
        Ok(ready)
    };
    compiled().map_err(|error| error.code().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_powers_and_primes_within_bounds() {
        assert_eq!(shapes(4), [[1, 1], [1, 16], [16, 1]]);
        let all = shapes(24);
        assert_eq!(all.len(), 28 + PRIMES.len());
        assert!(all.iter().all(|[rows, columns]| rows * columns <= 1 << 24));
        assert!(all.contains(&[4096, 4096]) && all.contains(&[1, 1 << 24]));
    }
}
