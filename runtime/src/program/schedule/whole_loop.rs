//! Loops that are one kernel, as steps.

use super::visit::{Frame, Leaves, Visit, refused};
use super::{Carried, Planned, PlannedLaunch, PlannedWhile};
use crate::Error;
use crate::program::schedule::region::Region;
use weft_codegen_wgsl::LoopShader;
use weft_hlo::ir::ArrayShape;
use weft_hlo::ir::{ElementType, InstrId, Instruction};
use weft_partition::{Outside, Site};

/// What one dispatch of a loop's kernel makes.
struct Dispatched {
    launch: Planned,
    carried: Vec<usize>,
    /// Whether the loop goes on, where that is told.
    flag: Option<usize>,
}

impl<'a> Visit<'a> {
    /// A loop that is one kernel. Where the number of rounds is known, it is dispatched as often as they need; else once, and again for as long as it
    /// says that the loop goes on.
    pub(super) fn whole_loop(
        &mut self,
        frame: &mut Frame<'a>,
        id: InstrId,
        instruction: &Instruction,
        whole: &LoopShader,
    ) -> Result<Leaves, Error> {
        let site = Site { computation: frame.id, instruction: id };
        let initial = self.operand(frame, instruction, 0)?;
        let missing = || refused(instruction, "what it begins with has no value");
        let leaf = |leaf: usize| initial.get(leaf).copied().flatten().ok_or_else(missing);
        let mut read = Vec::with_capacity(whole.plan.read.len());
        for outside in &whole.plan.read {
            read.push(match outside {
                Outside::Leaf(position) => leaf(*position)?,
                Outside::Constant(site) => self.constant(*site)?,
            });
        }
        let mut carried =
            whole.plan.carried.iter().map(|carried| leaf(carried.leaf)).collect::<Result<Vec<usize>, Error>>()?;
        let region = frame.region;
        match whole.dispatches {
            Some(1) => {
                let made = self.dispatched(instruction, (site, whole), region, (&read, &carried, false), false)?;
                frame.steps.push(made.launch);
                carried = made.carried;
            }
            Some(count) => {
                carried = self.dispatches(frame, instruction, (site, whole), (&read, &carried), Some(count))?
            }
            None => carried = self.dispatches(frame, instruction, (site, whole), (&read, &carried), None)?,
        }
        if whole.rest.is_some() {
            let made = self.dispatched(instruction, (site, whole), region, (&read, &carried, false), true)?;
            frame.steps.push(made.launch);
            carried = made.carried;
        }
        let mut leaves = initial;
        for (of, value) in whole.plan.carried.iter().zip(carried) {
            leaves[of.leaf] = Some(value);
        }
        Ok(leaves)
    }

    /// Several dispatches: so many, or one and then as many as are needed.
    fn dispatches(
        &mut self,
        frame: &mut Frame<'a>,
        instruction: &Instruction,
        (site, whole): (Site, &LoopShader),
        (read, carried): (&[usize], &[usize]),
        trip_count: Option<u64>,
    ) -> Result<Vec<usize>, Error> {
        let region = frame.region;
        let mut initial = carried.to_vec();
        if trip_count.is_none() {
            let Dispatched { launch, carried, flag } =
                self.dispatched(instruction, (site, whole), region, (read, carried, true), false)?;
            frame.steps.push(launch);
            initial = carried.into_iter().chain(flag).collect();
        }
        let start = self.step(instruction)?;
        let regions = self.regions.of_loop(region);
        let like = |visit: &mut Self, value: usize, region: Region, at: usize| {
            visit.like(value, visit.values[value].name.clone(), region, at)
        };
        let state: Vec<usize> = initial.iter().map(|value| like(self, *value, regions.body, start)).collect();
        let (given, told) = state.split_at(carried.len());
        let flag = told.first().copied();
        if let Some(flag) = flag {
            let at = self.step(instruction)?;
            self.uses(flag, at, regions.condition);
        }
        let made = self.dispatched(instruction, (site, whole), regions.body, (read, given, flag.is_some()), false)?;
        let end = self.step(instruction)?;
        let mut kept = Vec::with_capacity(initial.len());
        let next: Vec<usize> = made.carried.into_iter().chain(made.flag).collect();
        for ((initial, state), next) in initial.into_iter().zip(state).zip(next) {
            let last = like(self, state, region, end);
            self.uses(initial, start, region);
            self.uses(next, end, regions.body);
            kept.push(Carried { initial, state, next, last });
        }
        self.regions.ends(regions, end);
        let last = kept.iter().take(carried.len()).map(|carried| carried.last).collect();
        frame.steps.push(Planned::While(Box::new(PlannedWhile {
            site,
            start,
            end,
            region,
            body_region: regions.body,
            trip_count,
            condition: Vec::new(),
            flag,
            carried: kept,
            body: vec![made.launch],
            exchanges: Vec::new(),
            ahead: None,
        })));
        Ok(last)
    }

    /// One dispatch.
    fn dispatched(
        &mut self,
        instruction: &Instruction,
        (site, whole): (Site, &LoopShader),
        region: Region,
        (read, carried, tells): (&[usize], &[usize], bool),
        is_rest: bool,
    ) -> Result<Dispatched, Error> {
        let at = self.step(instruction)?;
        let inputs: Vec<usize> = read.iter().chain(carried).copied().collect();
        inputs.iter().for_each(|input| self.uses(*input, at, region));
        let mut made = Vec::with_capacity(carried.len());
        for (of, value) in whole.plan.carried.iter().zip(carried) {
            let (name, shape) = (of.name.clone(), self.values[*value].shape.clone());
            made.push(self.made_by_step(name, &shape, region, at)?);
        }
        let goes_on = ArrayShape::new(ElementType::Pred, Vec::<i64>::new());
        let name = || format!("{} goes on", instruction.name);
        let flag = tells.then(|| self.made_by_step(name(), &goes_on, region, at)).transpose()?;
        let outputs = made.iter().copied().chain(flag).collect();
        let (read, written, updated, copied) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let launch = PlannedLaunch { site, is_rest, at, region, inputs, outputs, read, written, updated, copied };
        Ok(Dispatched { launch: Planned::Launch(launch), carried: made, flag })
    }
}
