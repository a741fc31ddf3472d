//! What a round of a loop costs.

use super::{FusionStep, RoundStep};
use crate::access::is_loop;
use crate::cost::{READ_BACK_NANOSECONDS, weight};
use crate::{Emitter, Factors, Fused, FusionPlan, Target, operation_cost};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{ArrayShape, Computation, InstrId, Instruction, Module, Op};

/// Cycles that an operation takes if nothing else is done meanwhile.
const CYCLES: f64 = 8.0;

/// Cycles until the invocations of a workgroup have waited for each other, and have begun again.
const CYCLES_OF_STEP: f64 = 128.0;

/// The same in software for as many as are computed at once, for these are put aside and taken up again one after the other: a step of 64 invocations takes llvmpipe 1.4 µs, SwiftShader 5.
const SOFTWARE_CYCLES_OF_STEP: f64 = 512.0;

/// What takes so many units is a function of the library.
const LIBRARY_UNITS: f64 = 8.0;

/// The work of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Units of work.
    units: f64,
    /// The most elements that a step computes.
    pub(super) widest: i64,
    steps: u32,
    /// Loops in it, by what a round of each takes.
    loops: Vec<(u32, Round)>,
    /// Conditionals in it, by what each branch takes.
    choices: Vec<Vec<Round>>,
}

impl Round {
    /// That of steps on tiles of these shapes.
    ///
    /// # Errors
    /// Where their work cannot be counted.
    pub(super) fn of(fused: &Fused, tiles: &[ArrayShape], steps: &[RoundStep]) -> Result<Round, String> {
        let mut round = Round::default();
        let elements = |tile: usize| tiles[tile].element_count().unwrap_or(i64::MAX);
        for step in steps {
            match step {
                RoundStep::Fusion(step) => round.add_fusion(fused, step)?,
                RoundStep::Loop(step) => {
                    let mut inner = Round::of(fused, tiles, &step.body)?;
                    for carried in &step.carried {
                        round.add_moved(elements(carried.tile));
                        inner.add_moved(elements(carried.tile));
                    }
                    round.widest = round.widest.max(inner.widest);
                    round.loops.push((step.rounds, inner));
                }
                RoundStep::Choice(step) => {
                    step.results.iter().for_each(|tile| round.add_moved(elements(*tile)));
                    let branches = step.branches.iter().map(|branch| Round::of(fused, tiles, &branch.steps));
                    let branches = branches.collect::<Result<Vec<_>, _>>()?;
                    round.widest = branches.iter().map(|branch| branch.widest).fold(round.widest, i64::max);
                    round.choices.push(branches);
                }
            }
        }
        Ok(round)
    }

    /// Adds what is done besides.
    pub(super) fn add(&mut self, other: Round) {
        self.units += other.units;
        self.widest = self.widest.max(other.widest);
        self.steps += other.steps;
        self.loops.extend(other.loops);
        self.choices.extend(other.choices);
    }

    fn add_fusion(&mut self, fused: &Fused, step: &FusionStep) -> Result<(), String> {
        let calls = fused.instruction(step.fusion).and_then(|fusion| fusion.op.called_computations().first().copied());
        let computation = calls.map(|calls| &fused.module.computations[calls]).ok_or("a fusion in it calls nothing")?;
        self.units += units(&fused.module, computation, &step.plan)?;
        for output in step.plan.outputs() {
            self.widest = self.widest.max(step.plan.function(*output).extents.iter().product());
        }
        self.steps += 1;
        Ok(())
    }

    /// Adds elements that are moved.
    pub(super) fn add_moved(&mut self, elements: i64) {
        self.units += elements as f64;
        self.widest = self.widest.max(elements);
    }

    /// Nanoseconds of the round in launches; a loop in it is one, of so many invocations, where that takes less.
    pub(super) fn launched(&self, threads: u32, target: &Target) -> u64 {
        let launch = u64::from(target.hardware.launch_nanoseconds);
        let mut all = u64::from(self.steps).saturating_mul(launch);
        all = all.saturating_add((self.units / target.hardware.flops_per_second() * 1e9) as u64);
        for (rounds, inner) in &self.loops {
            let apart = inner.launched(threads, target).saturating_mul((*rounds).into());
            let together = inner.together(threads, target).saturating_mul((*rounds).into()).saturating_add(launch);
            all = all.saturating_add(apart.min(together));
        }
        for branches in &self.choices {
            let longest = branches.iter().map(|branch| branch.launched(threads, target)).max().unwrap_or(0);
            all = all.saturating_add(longest).saturating_add(READ_BACK_NANOSECONDS);
        }
        all
    }

    /// Nanoseconds of the round in one workgroup of so many invocations.
    pub(super) fn together(&self, threads: u32, target: &Target) -> u64 {
        let lanes = f64::from(threads.min(target.hardware.lanes_per_core).max(1));
        let step = match target.is_software() {
            true => SOFTWARE_CYCLES_OF_STEP * (f64::from(threads) / lanes).ceil(),
            false => CYCLES_OF_STEP,
        };
        let cycles = CYCLES * self.units / lanes + step * f64::from(self.steps);
        let mut all = (cycles * 1e9 / target.hardware.clock_hertz.max(1) as f64).ceil() as u64;
        for (rounds, inner) in &self.loops {
            all = all.saturating_add(inner.together(threads, target).saturating_mul((*rounds).into()));
        }
        for branches in &self.choices {
            let longest = branches.iter().map(|branch| branch.together(threads, target)).max().unwrap_or(0);
            all = all.saturating_add(longest);
        }
        all
    }
}

/// The units of work of a kernel of this plan: those of its functions, as often as they run.
///
/// # Errors
/// Where they cannot be counted.
pub(crate) fn units(module: &Module, computation: &Computation, plan: &FusionPlan) -> Result<f64, String> {
    let mut all = sums(computation, plan);
    for function in plan.functions() {
        let mut units = 1.0;
        for member in &function.members {
            units += work(module, computation, plan, *member, 1.0)?;
        }
        all += function.evaluations * units;
    }
    Ok(all)
}

/// The units of sums of products that no function computes: a product and an addition each.
fn sums(computation: &Computation, plan: &FusionPlan) -> f64 {
    match plan.emitter() {
        Emitter::Product(product) => {
            let operations = |factors: &Factors| product.operations(computation, factors.dot);
            plan.factors().iter().map(operations).sum()
        }
        Emitter::Attention(attention) => 2.0 * attention.scores() as f64 * (attention.depth + attention.columns) as f64,
        _ => 0.0,
    }
}

/// As [`units`], without calls of functions and what only moves elements, and with those of functions of the library so many times.
///
/// # Errors
/// As there.
pub(crate) fn operations(
    module: &Module,
    computation: &Computation,
    plan: &FusionPlan,
    library: f64,
) -> Result<f64, String> {
    let mut all = sums(computation, plan);
    for function in plan.functions() {
        for member in &function.members {
            let is_library = operation_cost(&computation.instructions[*member].op) >= LIBRARY_UNITS;
            let times = if is_library { library } else { 1.0 };
            all += function.evaluations * times * work(module, computation, plan, *member, 0.0)?;
        }
    }
    Ok(all)
}

/// Nanoseconds that so many units of work take an invocation that does nothing else meanwhile.
pub(crate) fn serial_nanoseconds(units: f64, target: &Target) -> u64 {
    (CYCLES * units * 1e9 / target.hardware.clock_hertz.max(1) as f64).ceil() as u64
}

/// The work of a member of a function each time that the function runs, of which each instruction is so much by itself.
fn work(
    module: &Module,
    computation: &Computation,
    plan: &FusionPlan,
    id: InstrId,
    itself: f64,
) -> Result<f64, String> {
    let instruction = &computation.instructions[id];
    let rounds = |id: InstrId| -> Result<f64, String> {
        let looping = &computation.instructions[id];
        // What a scatter runs over are its windows, which it reads of the updates.
        let read = if matches!(looping.op, Op::Scatter { .. }) { looping.operands.len() / 2 + 1 } else { 0 };
        let map = operand_map(computation, id, read).map_err(|findings| findings.to_string())?;
        Ok(map.ranges().iter().map(|range| (range.bounds().hi + 1) as f64).product())
    };
    let is_loop = |id: InstrId| is_loop(&computation.instructions[id].op);
    let applied = instruction.op.called_computations().into_iter();
    let is_computed = |instruction: &&Instruction| !matches!(instruction.op, Op::Parameter { .. });
    let applied: usize =
        applied.map(|region| module.computations[region].instructions.values().filter(is_computed).count()).sum();
    let products = if matches!(instruction.op, Op::Dot { .. } | Op::Convolution { .. }) { 2.0 } else { 0.0 };
    let own = operation_cost(&instruction.op).max(products * (1.0 - itself));
    let each = (itself + own + applied as f64) * weight(instruction);
    let mut times = if is_loop(id) { rounds(id)? } else { 1.0 };
    let mut block = plan.block(id);
    while let Some((owner, _)) = block {
        if is_loop(owner) {
            times *= rounds(owner)?;
        }
        block = plan.block(owner);
    }
    Ok(each * times)
}
