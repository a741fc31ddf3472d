//! Evaluation of maps and replica ids, point by point.

use super::program::Program;
use super::world::World;
use std::collections::BTreeSet;
use weft_affine::{Expr, Point};
use weft_hlo::indexing::{Dependence, Dependences, ElementMap, Exchange, Number, Participants, Source};
use weft_hlo::ir::{ComputationId, Instruction, Module, Op};
use weft_indexing::RuntimeVariable;

/// Evaluates maps of a program's entry.
pub(crate) struct Reader<'a> {
    pub(crate) program: &'a Program,
    pub(crate) module: &'a Module,
    pub(crate) found: &'a Dependences,
}

impl Reader<'_> {
    /// The devices and elements that a dependence leads to from an element of a device.
    pub(crate) fn reached(&self, dependence: &Dependence, device: usize, index: &[i64]) -> BTreeSet<(usize, Vec<i64>)> {
        if let Some(reason) = dependence.relation.undefined() {
            panic!("undefined: {reason}");
        }
        let mut all = BTreeSet::new();
        for map in dependence.relation.maps() {
            assert_eq!(map.coarse, None);
            let mut ranges = vec![Vec::new()];
            for variable in map.map.ranges() {
                let with = |values: Vec<i64>| {
                    (variable.bounds().lo..=variable.bounds().hi).map(move |value| [&values[..], &[value]].concat())
                };
                ranges = ranges.into_iter().flat_map(with).collect();
            }
            all.extend(ranges.iter().filter_map(|ranges| self.at(map, device, index, ranges)));
        }
        all
    }

    fn at(&self, map: &ElementMap, device: usize, dims: &[i64], ranges: &[i64]) -> Option<(usize, Vec<i64>)> {
        let mut runtime = Vec::new();
        for variable in map.map.runtime() {
            let value = self.value(variable, device, &Point { dims, ranges, runtime: &runtime })?;
            runtime.push(value);
        }
        if !map.map.contains(dims, ranges, &runtime) {
            return None;
        }
        let element = map.map.evaluate(dims, ranges, &runtime).expect("small indices do not overflow");
        let mut asked = device;
        for step in map.replica_id.iter().flat_map(|id| &id.steps) {
            let point = Point { dims, ranges, runtime: &runtime };
            asked = self.peer(&step.exchange, asked, number(&step.member, &point))?;
        }
        Some((asked, element))
    }

    /// The value of a runtime variable, as seen from a device; nothing where whoever has it does not take part.
    fn value(&self, variable: &RuntimeVariable, device: usize, point: &Point<'_>) -> Option<i64> {
        let source = variable.owner().and_then(|owner| self.found.owners.source(owner)).expect("owners are known");
        let access: Vec<i64> = variable.access().iter().map(|e| number(e, point)).collect();
        let (element, members) = access.split_at(access.len() - source.exchanges.len());
        let mut asked = device;
        for (exchange, member) in source.exchanges.iter().zip(members) {
            asked = self.peer(exchange, asked, *member)?;
        }
        let name = &self.instruction(&source).name;
        assert!(element.is_empty());
        let value = match source.number {
            Number::Element => self.program.starts[name][asked].clamp(variable.bounds().lo, variable.bounds().hi),
            Number::Position => {
                let mut groups = self.program.groups[name].iter();
                let position = groups.find_map(|group| group.iter().position(|&member| member == asked))?;
                i64::try_from(position).expect("groups are small")
            }
        };
        assert!(variable.bounds().contains(value), "{value} of {name} is not in {}", variable.bounds());
        Some(value)
    }

    fn instruction(&self, source: &Source) -> &Instruction {
        let mut within: Option<ComputationId> = Some(self.module.entry);
        let mut last = None;
        for &id in &source.path {
            let instruction = &self.module.computations[within.expect("what is called calls")].instructions[id];
            within = match instruction.op {
                Op::AsyncStart { calls, .. } => Some(calls),
                _ => None,
            };
            last = Some(instruction);
        }
        last.expect("a path is never empty")
    }

    /// Who is asked by a device.
    fn peer(&self, exchange: &Exchange, device: usize, member: i64) -> Option<usize> {
        let world: World = self.program.world;
        let find = |pairs: &[Vec<i64>], own: usize, other: usize| {
            let natural = |id: &i64| usize::try_from(*id).expect("ids are at least 0");
            let lists: Vec<Vec<usize>> = pairs.iter().map(|pair| pair.iter().map(natural).collect()).collect();
            let pairs = world.groups(exchange.ids, &lists);
            pairs.iter().find(|pair| pair[own] == device).map(|pair| pair[other])
        };
        match &exchange.participants {
            Participants::Source(pairs) => find(pairs, 1, 0),
            Participants::Target(pairs) => find(pairs, 0, 1),
            Participants::Group(groups) => {
                let groups = world.read(exchange.ids, groups);
                let group = groups.into_iter().find(|group| group.contains(&device))?;
                group.get(usize::try_from(member).expect("members are counted from 0")).copied()
            }
        }
    }
}

fn number(e: &Expr, point: &Point<'_>) -> i64 {
    e.evaluate_at(point).expect("small indices do not overflow")
}
