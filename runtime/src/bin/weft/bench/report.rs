//! Measurements as tables and as JSON.

use super::args::Clock;
use super::baseline::Comparison;
use super::measure::Settings;
use super::prediction;
use super::row::{Figures, Hand, Ours, Ratios, Reason, Row};
use super::statistics::Summary;
use super::table::{Table, number};
use crate::output;
use serde_json::{Map, Value, json};
use weft_partition::Schedule;
use weft_runtime::AdapterInfo;

/// All that was measured on one device.
pub(super) struct Section {
    pub(super) adapter: AdapterInfo,
    /// Invocations of a subgroup, where all have one size.
    pub(super) subgroup_size: Option<u32>,
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    /// What programs were compiled for, if not for the device as it is.
    pub(super) target: Option<String>,
    /// The schedules that programs were given, if not those that suit the target.
    pub(super) schedule: Option<Schedule>,
    /// Bytes that the copy reads and writes, or why there is none.
    pub(super) copy: Result<u64, String>,
    pub(super) rows: Vec<Row>,
    /// The comparison with a baseline, if one was asked for.
    pub(super) comparisons: Option<Vec<Comparison>>,
}

impl Section {
    /// What was measured, on what, and how.
    fn preface(&self) -> Vec<String> {
        let AdapterInfo { driver, .. } = &self.adapter;
        let subgroups = match self.subgroup_size {
            Some(size) => format!("subgroups of {size}"),
            None => "no subgroups of one size".to_owned(),
        };
        let copy = match (&self.copy, self.copy_median()) {
            (Ok(bytes), Some(seconds)) => {
                let speed = number(*bytes as f64 / seconds / 1e9);
                format!("The copy moves {} MiB in {} ms, {speed} GB/s.", bytes >> 20, number(seconds * 1e3))
            }
            (Ok(_), None) => "The copy was not measured.".to_owned(),
            (Err(reason), _) => format!("There is no copy: {reason}."),
        };
        let Settings { seed, is_optimized, .. } = self.settings;
        let rounds = self.rows.iter().map(|row| row.rounds).filter(|&rounds| rounds > 0);
        let rounds = match (rounds.clone().min(), rounds.max()) {
            (Some(1), Some(1)) => "one round".to_owned(),
            (Some(least), Some(most)) if least == most => format!("{least} rounds"),
            (Some(least), Some(most)) => format!("{least} to {most} rounds"),
            _ => "no rounds".to_owned(),
        };
        let passes = if is_optimized { "" } else { ", without passes" };
        let target = self.target.as_ref().map_or(String::new(), |target| format!(", compiled for {target}"));
        let schedule = self.schedule.map_or(String::new(), |schedule| format!(", schedules of kind {schedule}"));
        let clock = self.clock.name();
        vec![
            format!("{}; driver {driver}; {subgroups}.", self.adapter),
            format!("{copy} Medians of {rounds}, seed {seed}{passes}{target}{schedule}; ratios by {clock} time."),
        ]
    }

    /// The median of the medians that the copy had beside each program.
    fn copy_median(&self) -> Option<f64> {
        let medians = self.rows.iter().filter_map(|row| row.copy.seconds().map(|time| time.median));
        Summary::of(medians).map(|summary| summary.median)
    }

    fn run_times(&self) -> Table {
        let times: &[&str] = match self.clock {
            Clock::Device => &["wall ms", "cpu ms", "device ms"],
            _ => &["wall ms", "cpu ms"],
        };
        let others = ["GB/s", "GFLOP/s", "× copy", "× by hand", "launches", "error", "note"];
        let heading: Vec<&str> = ["case"].iter().chain(times).chain(&others).copied().collect();
        let empty = vec![String::new(); heading.len() - 2];
        let mut rows = Vec::new();
        for row in &self.rows {
            let (cells, note) = match &row.ours {
                Ok(Ours { figures, launches, .. }) => {
                    let best = row.over_best(self.clock).map(ratio_text).unwrap_or_default();
                    let beside = row.beside.as_ref().and_then(|it| Some((it, it.ours_over_it.by(self.clock)?)));
                    let beside = beside.map(|(it, ratio)| format!("{} × {}", ratio_text(ratio), it.name));
                    let note = [Some(remark(figures)).filter(|remark| !remark.is_empty()), beside];
                    let note: Vec<String> = note.into_iter().flatten().collect();
                    (self.cells(row, figures, best, launches.to_string()), note.join("; "))
                }
                Err(reason) => (empty.clone(), format!("cannot run: {}", one_line(&reason.text))),
            };
            rows.push([vec![row.name.clone()], cells, vec![note]].concat());
            for hand in &row.hands {
                let form = hand.name.strip_prefix(&row.name).unwrap_or(&hand.name).trim_start_matches('_');
                let name = if form.is_empty() { "  by hand".to_owned() } else { format!("  by hand, {form}") };
                let (cells, note) = match &hand.outcome {
                    Ok(figures) => (self.cells(row, figures, String::new(), String::new()), remark(figures)),
                    Err(reason) => (empty.clone(), format!("cannot run: {}", one_line(reason))),
                };
                rows.push([vec![name], cells, vec![note]].concat());
            }
        }
        Table { heading, rows, has_notes: true }
    }

    /// What stands between name and note.
    fn cells(&self, row: &Row, figures: &Figures, over_hand: String, launches: String) -> Vec<String> {
        let rate = |count: Option<u64>| figures.rate(count).map(|rate| number(rate / 1e9)).unwrap_or_default();
        let time = |summary: Option<Summary>| {
            let text = |it: Summary| format!("{} ±{:.0}%", number(it.median * 1e3), it.spread() * 50.0);
            summary.map(text).unwrap_or_default()
        };
        let mut times = vec![time(figures.wall), time(figures.cpu)];
        if self.clock == Clock::Device {
            times.push(time(figures.device));
        }
        let others = [
            rate(row.work.and_then(|work| work.bytes())),
            rate(row.work.and_then(|work| work.flops)),
            figures.times_copy.by(self.clock).map(ratio_text).unwrap_or_default(),
            over_hand,
            launches,
            match &figures.error {
                Ok(Some(error)) => number(*error),
                _ => String::new(),
            },
        ];
        times.into_iter().chain(others).collect()
    }

    fn compile_times(&self) -> Table {
        let mut heading = vec!["compile, ms"];
        let mut rows = Vec::new();
        for row in &self.rows {
            let Ok(Ours { stages, .. }) = &row.ours else { continue };
            let named = stages.named();
            heading.truncate(1);
            heading.extend(named.iter().map(|(name, _)| *name));
            let times = named.iter().map(|(_, seconds)| number(seconds * 1e3));
            rows.push(std::iter::once(row.name.clone()).chain(times).collect());
        }
        Table { heading, rows, has_notes: false }
    }

    fn comparison(&self) -> Option<Table> {
        let cell = |value: Option<f64>| value.map(number).unwrap_or_default();
        let row = |it: &Comparison| {
            let verdict = it.verdict.words().to_owned();
            vec![it.case.clone(), cell(it.before), cell(it.now), cell(it.ratio()), verdict]
        };
        let rows = self.comparisons.as_ref()?.iter().map(row).collect();
        Some(Table {
            heading: vec!["baseline", "× copy then", "× copy now", "ratio", "verdict"],
            rows,
            has_notes: true,
        })
    }

    fn tables(&self) -> Vec<Table> {
        let compile_times = Some(self.compile_times()).filter(|table| !table.rows.is_empty());
        let predictions = Some(prediction::table(&self.rows)).filter(|table| !table.rows.is_empty());
        [Some(self.run_times()), compile_times, predictions, self.comparison()].into_iter().flatten().collect()
    }

    /// For people.
    pub(super) fn to_text(&self) -> String {
        let tables: Vec<String> = self.tables().iter().map(Table::to_text).collect();
        format!("{}\n\n{}", self.preface().join("\n"), tables.join("\n"))
    }

    /// For documents.
    pub(super) fn to_markdown(&self) -> String {
        let tables: Vec<String> = self.tables().iter().map(Table::to_markdown).collect();
        format!("## {}\n\n{}\n\n{}", self.adapter.name, self.preface().join("\n"), tables.join("\n"))
    }

    /// For programs; a baseline is read from it.
    pub(super) fn to_json(&self) -> Value {
        let AdapterInfo { name, backend, driver, target, .. } = &self.adapter;
        let mut section = json!({
            "device": {
                "name": name,
                "backend": backend,
                "driver": driver,
                "kind": target.kind.name(),
                "subgroup_size": self.subgroup_size,
            },
            "target": self.target,
            "schedule": self.schedule.map(Schedule::name),
            "seed": self.settings.seed,
            "optimized": self.settings.is_optimized,
            "clock": self.clock.name(),
            "copy_bytes": self.copy.as_ref().ok(),
            "cases": self.rows.iter().map(row_json).collect::<Vec<Value>>(),
            "rank_correlation": prediction::rank_correlation(&self.rows),
        });
        if let Err(reason) = &self.copy {
            section["copy_refused"] = json!(reason);
        }
        if let Some(comparisons) = &self.comparisons {
            section["baseline"] = comparisons.iter().map(Comparison::to_json).collect();
        }
        section
    }
}

fn ratio_text(ratio: Summary) -> String {
    number(ratio.median)
}

/// What is to be said of figures beside the figures.
fn remark(figures: &Figures) -> String {
    match &figures.error {
        Ok(_) if figures.is_wrong() => "wrong".to_owned(),
        Ok(_) => String::new(),
        Err(reason) => format!("not checked: {}", one_line(&reason.text)),
    }
}

/// Messages of drivers may have several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn row_json(row: &Row) -> Value {
    let weft = match &row.ours {
        Ok(ours) => {
            let mut value = figures_json(row, &ours.figures);
            value["kernels"] = json!(ours.kernels);
            value["launches"] = json!(ours.launches);
            value["bytes_moved"] = json!(ours.bytes_moved);
            value["predicted_seconds"] = json!(ours.predicted.as_ref().ok());
            let stages = ours.stages.named().map(|(name, seconds)| (name.replace(' ', "_"), json!(seconds)));
            value["compile_seconds"] = Value::Object(Map::from_iter(stages));
            value
        }
        Err(reason) => json!({ "cannot_run": reason_json(reason) }),
    };
    let mut value = json!({
        "case": row.name,
        "rounds": row.rounds,
        "bytes_read": row.work.and_then(|work| work.bytes_read),
        "bytes_written": row.work.and_then(|work| work.bytes_written),
        "flops": row.work.and_then(|work| work.flops),
        "weft": weft,
        "by_hand": row.hands.iter().map(|hand| hand_json(row, hand)).collect::<Vec<Value>>(),
    });
    if let Some(beside) = &row.beside {
        value["beside"] = json!({ "case": beside.name, "weft_over_it": ratios(&beside.ours_over_it) });
    }
    if row.copy.wall.is_some() {
        let Figures { wall, cpu, device, .. } = row.copy;
        value["copy"] = json!({
            "wall_seconds": summary(wall), "cpu_seconds": summary(cpu), "device_seconds": summary(device),
        });
    }
    value
}

fn hand_json(row: &Row, hand: &Hand) -> Value {
    let mut value = match &hand.outcome {
        Ok(figures) => figures_json(row, figures),
        Err(reason) => json!({ "cannot_run": { "code": null, "message": reason } }),
    };
    value["name"] = json!(hand.name);
    value["form"] = json!(hand.form);
    value["weft_over_it"] = ratios(&hand.ours_over_it);
    value
}

fn figures_json(row: &Row, figures: &Figures) -> Value {
    let work = |count: fn(&weft_partition::Work) -> Option<u64>| figures.rate(row.work.as_ref().and_then(count));
    let mut value = json!({
        "wall_seconds": summary(figures.wall),
        "cpu_seconds": summary(figures.cpu),
        "device_seconds": summary(figures.device),
        "bytes_per_second": work(weft_partition::Work::bytes),
        "flops_per_second": work(|work| work.flops),
        "times_copy": ratios(&figures.times_copy),
        "wrong": figures.is_wrong(),
    });
    match &figures.error {
        Ok(error) => value["largest_relative_error"] = error.map_or(Value::Null, output::number),
        Err(reason) => value["not_checked"] = reason_json(reason),
    }
    value
}

fn reason_json(reason: &Reason) -> Value {
    json!({ "code": reason.code, "message": reason.text })
}

fn ratios(ratios: &Ratios) -> Value {
    json!({ "wall": summary(ratios.wall), "cpu": summary(ratios.cpu), "device": summary(ratios.device) })
}

fn summary(summary: Option<Summary>) -> Value {
    summary.map_or(Value::Null, |Summary { median, lower, upper, least, greatest }| {
        json!({ "median": median, "lower_quartile": lower, "upper_quartile": upper, "least": least, "greatest": greatest })
    })
}
