//! How long each stage of a compilation takes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, filter::filter_fn};

/// Adds up how long the spans of `weft-partition`, `weft-codegen-wgsl` and `weft-runtime` last, by name. Kernels are written on all cores, so a sum may be
/// more than the time that passed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch {
    sums: Arc<Mutex<BTreeMap<&'static str, Duration>>>,
}

/// When a span was entered.
struct Entered(Instant);

impl Stopwatch {
    /// What lets through the spans that are measured, and nothing else, so that others cost nothing.
    pub(crate) fn filter() -> FilterFn<impl Fn(&Metadata<'_>) -> bool> {
        let measured = ["weft_partition", "weft_codegen_wgsl", "weft_runtime"];
        filter_fn(move |metadata| metadata.is_span() && measured.iter().any(|it| metadata.target().starts_with(it)))
            .with_max_level_hint(LevelFilter::DEBUG)
    }

    /// What was measured since this was last asked.
    pub(crate) fn take(&self) -> BTreeMap<&'static str, Duration> {
        self.sums.lock().map(|mut sums| std::mem::take(&mut *sums)).unwrap_or_default()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Stopwatch {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let Some(Entered(entered)) = span.extensions_mut().remove() else { return };
        if let Ok(mut sums) = self.sums.lock() {
            *sums.entry(span.name()).or_default() += entered.elapsed();
        }
    }
}

/// Seconds that each stage took of making a program ready, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stages {
    /// Reading the text and verifying the module.
    pub(super) parse: f64,
    /// Passes from HLO to HLO.
    pub(super) passes: f64,
    /// Fusing, without planning.
    pub(super) fuse: f64,
    /// Planning all fusions.
    pub(super) plan: f64,
    /// From plans to WGSL, added up over kernels.
    pub(super) emit: f64,
    /// naga's reading and validation, added up over kernels.
    pub(super) validate: f64,
    /// Creating pipelines and uploading constants.
    pub(super) pipelines: f64,
    /// The first run: where drivers generate code, and memory is touched for the first time.
    pub(super) first_run: f64,
    /// From text to the end of the first run, as time passed.
    pub(super) ready: f64,
}

impl Stages {
    /// All of them with their names.
    pub(super) fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("parse", self.parse),
            ("passes", self.passes),
            ("fuse", self.fuse),
            ("plan", self.plan),
            ("emit", self.emit),
            ("validate", self.validate),
            ("pipelines", self.pipelines),
            ("first run", self.first_run),
            ("ready", self.ready),
        ]
    }

    /// Takes in what a stopwatch measured.
    pub(super) fn add_kernels(&mut self, sums: &BTreeMap<&'static str, Duration>) {
        let of = |names: &[&str]| names.iter().filter_map(|name| sums.get(name)).map(Duration::as_secs_f64).sum();
        self.plan = of(&["plan"]);
        self.fuse = (self.fuse - self.plan).max(0.0);
        self.emit = of(&["emit", "lower", "verify", "write"]);
        self.validate = of(&["validate"]);
    }
}
