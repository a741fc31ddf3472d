//! `weft run --stats`: what a program did, in figures.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use weft_runtime::Program;

/// The figures of a program that ran on a device.
pub(crate) struct Stats {
    launches: usize,
    kernels: usize,
    /// How many steps of the host compute each operation.
    on_host: BTreeMap<String, usize>,
    bytes_moved: u64,
    bytes_held: u64,
    bytes_at_peak: u64,
    bytes_live: u64,
    bytes_without_reuse: u64,
    /// Whether the program was found in the cache; `None` where none was looked into.
    is_found: Option<bool>,
    /// How long each stage took of those that took place, in their order; those of kernels added up over all cores.
    stages: Vec<(&'static str, Duration)>,
    compiled_in: Duration,
    ran_in: Duration,
}

/// The stages of compiling, as spans are called, in their order. What a program takes from the cache is `load`, what it leaves there `keep`.
const STAGES: [&str; 13] = [
    "load",
    "passes",
    "fuse",
    "plan",
    "emit",
    "lower",
    "verify",
    "write",
    "validate",
    "schedule",
    "keep",
    "pipelines",
    "constants",
];

impl Stats {
    /// Those of a program, which took so long to compile, pipelines included, and to run, transfers included; `spans` are what a stopwatch
    /// measured meanwhile.
    pub(crate) fn of(
        program: &Program,
        is_found: Option<bool>,
        spans: &BTreeMap<&'static str, Duration>,
        compiled_in: Duration,
        ran_in: Duration,
    ) -> Self {
        let mut on_host = BTreeMap::new();
        for operation in program.host_steps().flat_map(|host| host.operations()) {
            *on_host.entry(operation).or_default() += 1;
        }
        let totals = program.totals();
        // Planning is a part of fusing.
        let plan = spans.get("plan").copied().unwrap_or_default();
        let lasted =
            |stage| spans.get(stage).map(|time| if stage == "fuse" { time.saturating_sub(plan) } else { *time });
        Stats {
            launches: program.launches().count(),
            kernels: program.shaders().len(),
            on_host,
            bytes_moved: program.bytes_moved(),
            bytes_held: totals.allocated(),
            bytes_at_peak: program.peak_bytes(),
            bytes_live: totals.least,
            bytes_without_reuse: totals.without_reuse(),
            is_found,
            stages: STAGES.into_iter().filter_map(|stage| Some((stage, lasted(stage)?))).collect(),
            compiled_in,
            ran_in,
        }
    }

    /// A line for each.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("{} launches of {} kernels\n", self.launches, self.kernels);
        let on_host: Vec<String> = self.on_host.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !on_host.is_empty() {
            let _ = writeln!(text, "on the host: {}", on_host.join(", "));
        }
        let (moved, held, live) = (self.bytes_moved, self.bytes_held, self.bytes_live);
        let (peak, without) = (self.bytes_at_peak, self.bytes_without_reuse);
        let _ = write!(
            text,
            "{moved} bytes moved\n{held} bytes held, {peak} at its peak, {live} live at once at most, {without} without reuse\n"
        );
        let [compiled, ran] = [self.compiled_in, self.ran_in].map(|time| time.as_secs_f64() * 1e3);
        let from = if self.is_found == Some(true) { "taken from the cache" } else { "compiled" };
        let _ = write!(text, "{from} in {compiled:.1} ms, ran in {ran:.1} ms");
        for (stage, time) in &self.stages {
            let _ = write!(text, "\n{:>10.1} ms  {stage}", time.as_secs_f64() * 1e3);
        }
        text
    }

    /// The same as data; times in seconds.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "launches": self.launches,
            "kernels": self.kernels,
            "host": self.on_host,
            "bytes_moved": self.bytes_moved,
            "bytes": self.bytes_held,
            "bytes_at_peak": self.bytes_at_peak,
            "bytes_live": self.bytes_live,
            "bytes_without_reuse": self.bytes_without_reuse,
            "from_cache": self.is_found,
            "stages": self.stages.iter().map(|(stage, time)| ((*stage).to_owned(), json!(time.as_secs_f64()))).collect::<Value>(),
            "compile_seconds": self.compiled_in.as_secs_f64(),
            "run_seconds": self.ran_in.as_secs_f64(),
        })
    }
}
