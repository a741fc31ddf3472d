//! Pipelines: passes repeated until none changes anything.

use super::PASSES;
use super::pass::{Change, Pass};
use crate::diagnostic::Diagnostics;
use crate::ir::Module;
use std::collections::BTreeMap;

/// The limit on rounds of a pipeline that comes to no fixed point.
pub const MAX_ROUNDS: usize = 16;

/// A list of passes that run again and again, at most [`MAX_ROUNDS`] times.
pub struct Pipeline {
    passes: Vec<Box<dyn Pass>>,
    rounds: usize,
}

/// The result of a pipeline.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The module after the last pass.
    pub module: Module,
    /// Every run of a pass, in order.
    pub runs: Vec<PassRun>,
    /// Whether no pass would change anything more; otherwise the bound on rounds was met.
    pub is_fixed_point: bool,
}

/// One run of one pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassRun {
    /// Its name.
    pub pass: &'static str,
    /// The round, from 0.
    pub round: usize,
    /// Instructions of all computations before.
    pub before: usize,
    /// Instructions of all computations after.
    pub after: usize,
    /// The changes it made.
    pub changes: Vec<Change>,
}

impl PassRun {
    /// The number of applications of each rule.
    pub fn rules(&self) -> BTreeMap<&'static str, usize> {
        let mut rules = BTreeMap::new();
        self.changes.iter().for_each(|change| *rules.entry(change.rule).or_default() += 1);
        rules
    }
}

impl Default for Pipeline {
    /// The [`PASSES`].
    fn default() -> Self {
        PASSES.iter().copied().fold(Pipeline::new(), Pipeline::with)
    }
}

impl Pipeline {
    /// No passes.
    pub fn new() -> Self {
        Pipeline { passes: Vec::new(), rounds: MAX_ROUNDS }
    }

    /// The same with one more pass at the end: one of this crate, by value or as a reference of [`PASSES`], or one's own.
    ///
    /// ```
    /// use weft_hlo::passes::{DeadCode, InlineCalls, Pipeline};
    ///
    /// let module = "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] abs(x)\n  ROOT z = f32[2] negate(x)\n}\n".parse()?;
    /// let optimized = Pipeline::new().with(InlineCalls).with(DeadCode).run(&module)?;
    /// assert_eq!(optimized.module.instruction_count(), 2);
    /// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn with(mut self, pass: impl Pass + 'static) -> Self {
        self.passes.push(Box::new(pass));
        self
    }

    /// The module after all passes have run as often as they change something.
    ///
    /// # Errors
    /// The first error of a pass.
    pub fn run(&self, module: &Module) -> Result<Optimized, Diagnostics> {
        self.run_watched(module, &mut |_, _| {})
    }

    /// As [`run`](Self::run); `after` is shown the module after every run of a pass.
    ///
    /// # Errors
    /// The first error of a pass.
    pub fn run_watched(
        &self,
        module: &Module,
        after: &mut dyn FnMut(&PassRun, &Module),
    ) -> Result<Optimized, Diagnostics> {
        let mut optimized = Optimized { module: module.clone(), runs: Vec::new(), is_fixed_point: false };
        for round in 0..self.rounds {
            let mut is_changed = false;
            for pass in &self.passes {
                let before = optimized.module.instruction_count();
                let span = tracing::debug_span!("pass", name = pass.name(), round);
                let rewritten = span.in_scope(|| pass.run(&optimized.module))?;
                is_changed |= !rewritten.changes.is_empty();
                optimized.module = rewritten.module;
                let run = PassRun {
                    pass: pass.name(),
                    round,
                    before,
                    after: optimized.module.instruction_count(),
                    changes: rewritten.changes,
                };
                for change in &run.changes {
                    tracing::trace!(pass = run.pass, place = change.place, rule = change.rule);
                }
                after(&run, &optimized.module);
                optimized.runs.push(run);
            }
            if !is_changed {
                optimized.is_fixed_point = true;
                break;
            }
        }
        Ok(optimized)
    }
}
