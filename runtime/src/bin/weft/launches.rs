//! `weft fuse --stats`: what the launches of a fused program move and compute, in figures.

use serde_json::{Value, json};
use std::fmt::Write;
use weft_hlo::ir::{Instruction, Module};
use weft_partition::{Fused, Launch, Launches, Target};

/// How many launches are told of one by one, those that take longest first.
const SHOWN: usize = 10;

/// The launches of a module, and what they cost on a target.
pub(crate) struct LaunchStats<'a> {
    module: &'a Module,
    /// The module with its plans, where we fused it.
    fused: Option<&'a Fused>,
    target: &'a Target,
    launches: Launches,
}

impl<'a> LaunchStats<'a> {
    /// Those of a verified module.
    pub(crate) fn of(module: &'a Module, fused: Option<&'a Fused>, target: &'a Target) -> Self {
        LaunchStats { module, fused, target, launches: Launches::of(module) }
    }

    /// A line for all of them, and one for each of those that take longest.
    pub(crate) fn to_text(&self) -> String {
        let Launches(each) = &self.launches;
        let (flops, without) = self.launches.flops();
        let mut text = format!("{} launches, {} bytes, {flops} flops", each.len(), self.launches.bytes());
        if without > 0 {
            let _ = write!(text, " besides those of {without} launches that are not counted");
        }
        let _ = write!(text, ", {} estimated", time(self.all_nanoseconds()));
        let mut slowest: Vec<(f64, &Launch)> = each.iter().map(|launch| (self.nanoseconds(launch), launch)).collect();
        slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (nanoseconds, launch) in slowest.iter().take(SHOWN) {
            let flops = launch.flops.map_or_else(|| "unknown".to_owned(), |flops| flops.to_string());
            let (read, written) = (launch.bytes_read, launch.bytes_written);
            let (time, name) = (time(*nanoseconds), self.name(launch));
            let _ = write!(text, "\n{time:>12}  {read} bytes read, {written} written, {flops} flops: {name}");
        }
        if each.len() > SHOWN {
            let _ = write!(text, "\n{:>12}  {} more", "", each.len() - SHOWN);
        }
        text
    }

    /// The same as data, of all launches in their order.
    pub(crate) fn to_json(&self) -> Value {
        let launch = |launch: &Launch| {
            json!({
                "instruction": self.name(launch),
                "operation": self.instruction(launch).op.name(),
                "bytes_read": launch.bytes_read,
                "bytes_written": launch.bytes_written,
                "flops": launch.flops,
                "estimated_nanoseconds": self.nanoseconds(launch),
            })
        };
        let (flops, without) = self.launches.flops();
        json!({
            "launches": self.launches.0.len(),
            "bytes": self.launches.bytes(),
            "flops": flops,
            "launches_without_flops": without,
            "estimated_nanoseconds": self.all_nanoseconds(),
            "each": self.launches.0.iter().map(launch).collect::<Vec<_>>(),
        })
    }

    /// By the cost model where there is a plan; else by bytes alone.
    fn nanoseconds(&self, launch: &Launch) -> f64 {
        let estimate = self.fused.and_then(|fused| fused.estimate(launch.site, self.target));
        estimate.map_or_else(|| launch.estimated_nanoseconds(self.target), |estimate| estimate.nanoseconds)
    }

    fn all_nanoseconds(&self) -> f64 {
        self.launches.0.iter().map(|launch| self.nanoseconds(launch)).sum()
    }

    fn instruction(&self, launch: &Launch) -> &Instruction {
        &self.module.computations[launch.site.computation].instructions[launch.site.instruction]
    }

    /// The name of an instruction of the entry, `computation/instruction` of another.
    fn name(&self, launch: &Launch) -> String {
        let name = &self.instruction(launch).name;
        let computation = launch.site.computation;
        if computation == self.module.entry {
            return name.clone();
        }
        format!("{}/{name}", self.module.computations[computation].name)
    }
}

/// A time in the unit that suits it.
fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}
