//! Random programs of collectives, and a naive simulation of all devices that run them: for each element, which elements of
//! which device's parameters have gone into it.

use super::world::{Groups, Wanted, World};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::indexing::Ids;
use weft_hlo::random::Rng;

/// An element of a parameter: the device, the parameter, the position in row-major order.
pub(crate) type Cell = (usize, usize, usize);

/// What went into each element on one device.
pub(crate) type Cells = Vec<BTreeSet<Cell>>;

/// An array on all devices.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) extents: Vec<i64>,
    pub(crate) devices: Vec<Cells>,
}

/// A program, and what it does.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) world: World,
    before: String,
    body: Vec<String>,
    pub(crate) arrays: Vec<Array>,
    /// The groups of each collective, by the name of the instruction that has them.
    pub(crate) groups: BTreeMap<String, Vec<Vec<usize>>>,
    /// The values of starts on each device, by the name of the parameter.
    pub(crate) starts: BTreeMap<String, Vec<i64>>,
    /// How many parameters are arrays, rather than starts.
    parameters: usize,
}

pub(crate) const COLLECTIVES: [&str; 7] = [
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "all-to-all of parts",
    "collective-permute",
    "collective-broadcast",
];
const MAX_ELEMENTS: i64 = 48;

/// All indices of an array in row-major order.
pub(crate) fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &extent in extents {
        all =
            all.into_iter().flat_map(|index: Vec<i64>| (0..extent).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    all
}

pub(crate) fn linear(extents: &[i64], index: &[i64]) -> usize {
    assert_eq!(extents.len(), index.len(), "{index:?} is no index into {extents:?}");
    let within = extents.iter().zip(index).all(|(extent, i)| (0..*extent).contains(i));
    assert!(within, "{index:?} lies outside {extents:?}");
    let position = extents.iter().zip(index).fold(0, |sum, (extent, i)| sum * extent + i);
    usize::try_from(position).expect("indices are at least 0")
}

fn shape(extents: &[i64]) -> String {
    format!("s32[{}]", extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

fn size(count: usize) -> i64 {
    i64::try_from(count).expect("programs are small")
}

impl Program {
    /// Parameters alone.
    pub(crate) fn new(rng: &mut Rng) -> Program {
        let world = World::any(rng);
        let mut program = Program {
            world,
            before: String::new(),
            body: Vec::new(),
            arrays: Vec::new(),
            groups: BTreeMap::new(),
            starts: BTreeMap::new(),
            parameters: 0,
        };
        for number in 0..1 + rng.below(2) {
            let extents: Vec<i64> = loop {
                let extents: Vec<i64> = (0..1 + rng.below(2)).map(|_| [1, 2, 3, 4, 6, 8, 12][rng.below(7)]).collect();
                if extents.iter().product::<i64>() <= 24 {
                    break extents;
                }
            };
            program.parameter(format!("p{number}"), extents);
            program.parameters += 1;
        }
        program
    }

    fn parameter(&mut self, name: String, extents: Vec<i64>) {
        let number = self.body.len();
        self.body.push(format!("{name} = {} parameter({number})", shape(&extents)));
        let count = indices(&extents).len();
        let own = |device| (0..count).map(|position| BTreeSet::from([(device, number, position)])).collect();
        let devices = (0..self.world.devices()).map(own).collect();
        self.arrays.push(Array { name, extents, devices });
    }

    /// Starts of slices, which each device has its own of.
    pub(crate) fn add_starts(&mut self, rng: &mut Rng) {
        for number in 0..2 {
            let name = format!("t{number}");
            let values = (0..self.world.devices()).map(|_| rng.between(-1, 6)).collect();
            self.starts.insert(name.clone(), values);
            self.parameter(name, Vec::new());
        }
    }

    /// The module, whose value is the array that came last.
    pub(crate) fn text(&self) -> String {
        let World { replicas, partitions } = self.world;
        let root = self.arrays.last().expect("there is a parameter");
        format!(
            "HloModule m, replica_count={replicas}, num_partitions={partitions}\n\
             add {{\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT s = s32[] add(a, b)\n}}\n{}\
             ENTRY e {{\n {}\n ROOT root = {} copy({})\n}}\n",
            self.before,
            self.body.join("\n "),
            shape(&root.extents),
            root.name
        )
    }

    /// One of the arrays, mostly the last.
    fn operand(&self, rng: &mut Rng) -> Array {
        let arrays: Vec<&Array> = self.arrays.iter().filter(|array| !self.starts.contains_key(&array.name)).collect();
        let at = if rng.chance(70) { arrays.len() - 1 } else { rng.below(arrays.len()) };
        arrays[at].clone()
    }

    fn ids(&self, rng: &mut Rng, says_so: bool) -> (Ids, String) {
        let channel = format!(", channel_id={}", self.body.len() + 1);
        match rng.below(3) {
            0 => (Ids::Replicas, String::new()),
            1 if says_so => (Ids::Devices, format!("{channel}, use_global_device_ids=true")),
            _ if says_so => (Ids::ReplicasWithPartitions, channel),
            _ => (Ids::Partitions, channel),
        }
    }

    /// Adds a collective; false where it came to nothing.
    pub(crate) fn add_collective(&mut self, rng: &mut Rng, opcode: &str) -> bool {
        let operand = self.operand(rng);
        let dimension = rng.below(operand.extents.len());
        let extent = operand.extents[dimension];
        let along = format!(", dimensions={{{dimension}}}");
        match opcode {
            "all-gather" | "reduce-scatter" => {
                let (ids, channel) = self.ids(rng, true);
                if ids == Ids::ReplicasWithPartitions && self.world.partitions > 1 {
                    // The verifier takes groups for those of replicas alone.
                    return false;
                }
                let groups = self.world.random_groups(rng, ids, Wanted::Even, &channel);
                let members = size(groups.devices[0].len());
                let mut operands = vec![operand];
                let other = self.operand(rng);
                if rng.chance(30) && other.extents.len() > dimension {
                    operands.push(other);
                }
                let is_gather = opcode == "all-gather";
                let attributes = format!("{}{along}{}", groups.text, if is_gather { "" } else { ", to_apply=add" });
                let mut results = Vec::new();
                for operand in &operands {
                    let extent = operand.extents[dimension];
                    let mut extents = operand.extents.clone();
                    extents[dimension] = if is_gather { extent * members } else { extent / members };
                    if (!is_gather && extent % members != 0) || extents.iter().product::<i64>() > MAX_ELEMENTS {
                        return false;
                    }
                    let own = if is_gather { extent } else { extents[dimension] };
                    let devices = self.simulate(&groups, &extents, |group, position, index| {
                        let mut at = index.to_vec();
                        if is_gather {
                            at[dimension] = index[dimension] % own;
                            let part = usize::try_from(index[dimension] / own).expect("indices are at least 0");
                            return operand.devices[group[part]][linear(&operand.extents, &at)].clone();
                        }
                        at[dimension] = index[dimension] + own * size(position);
                        let all = group.iter().map(|&device| &operand.devices[device][linear(&operand.extents, &at)]);
                        all.flatten().copied().collect()
                    });
                    results.push((extents, devices));
                }
                self.emit(rng, opcode, &operands, results, &attributes, Some(&groups));
            }
            "all-reduce" => {
                let (ids, channel) = self.ids(rng, true);
                let groups = self.world.random_groups(rng, ids, Wanted::Cover, &channel);
                let operands = if rng.chance(30) { vec![operand, self.operand(rng)] } else { vec![operand] };
                let combined = |operand: &Array| {
                    let devices = self.simulate(&groups, &operand.extents, |group, _, index| {
                        let at = linear(&operand.extents, index);
                        group.iter().flat_map(|&device| &operand.devices[device][at]).copied().collect()
                    });
                    (operand.extents.clone(), devices)
                };
                let results = operands.iter().map(combined).collect();
                let attributes = format!("{}, to_apply=add", groups.text);
                self.emit(rng, opcode, &operands, results, &attributes, Some(&groups));
            }
            "all-to-all" => {
                let (ids, channel) = self.ids(rng, false);
                let groups = self.world.random_groups(rng, ids, Wanted::Even, &channel);
                let members = size(groups.devices[0].len());
                if extent % members != 0 {
                    return false;
                }
                let part = extent / members;
                let devices = self.simulate(&groups, &operand.extents, |group, position, index| {
                    let mut at = index.to_vec();
                    at[dimension] = part * size(position) + index[dimension] % part;
                    let from = usize::try_from(index[dimension] / part).expect("indices are at least 0");
                    operand.devices[group[from]][linear(&operand.extents, &at)].clone()
                });
                let results = vec![(operand.extents.clone(), devices)];
                let attributes = format!("{}{along}", groups.text);
                self.emit(rng, opcode, &[operand], results, &attributes, Some(&groups));
            }
            "all-to-all of parts" => {
                let (ids, channel) = self.ids(rng, false);
                let groups = self.world.random_groups(rng, ids, Wanted::Even, &channel);
                let alike: Vec<Array> =
                    self.arrays.iter().filter(|array| array.extents == operand.extents).cloned().collect();
                let operands: Vec<Array> =
                    (0..groups.devices[0].len()).map(|_| alike[rng.below(alike.len())].clone()).collect();
                let received = |from: usize| {
                    let devices = self.simulate(&groups, &operand.extents, |group, position, index| {
                        operands[position].devices[group[from]][linear(&operand.extents, index)].clone()
                    });
                    (operand.extents.clone(), devices)
                };
                let results = (0..operands.len()).map(received).collect();
                self.emit(rng, "all-to-all", &operands, results, &groups.text, Some(&groups));
            }
            "collective-broadcast" => {
                let (ids, channel) = self.ids(rng, false);
                let groups = self.world.random_groups(rng, ids, Wanted::Some, &channel);
                let devices = self.simulate(&groups, &operand.extents, |group, _, index| {
                    operand.devices[group[0]][linear(&operand.extents, index)].clone()
                });
                let results = vec![(operand.extents.clone(), devices)];
                self.emit(rng, opcode, &[operand], results, &groups.text, Some(&groups));
            }
            _ => {
                let (ids, channel) = self.ids(rng, false);
                let count = self.world.count(ids);
                let (mut from, mut to): (Vec<usize>, Vec<usize>) = ((0..count).collect(), (0..count).collect());
                rng.shuffle(&mut from);
                rng.shuffle(&mut to);
                let pairs: Vec<(usize, usize)> = from.into_iter().zip(to).take(1 + rng.below(count)).collect();
                let mut devices = vec![vec![BTreeSet::new(); indices(&operand.extents).len()]; self.world.devices()];
                for &(source, target) in &pairs {
                    for pair in self.world.groups(ids, &[vec![source, target]]) {
                        devices[pair[1]].clone_from(&operand.devices[pair[0]]);
                    }
                }
                let pairs: Vec<String> = pairs.iter().map(|(from, to)| format!("{{{from},{to}}}")).collect();
                let attributes = format!("source_target_pairs={{{}}}{channel}", pairs.join(","));
                let results = vec![(operand.extents.clone(), devices)];
                self.emit(rng, opcode, &[operand], results, &attributes, None);
            }
        }
        true
    }

    /// The cells of a result: `cell` gives those of an element from the group of a device and its position there.
    fn simulate(
        &self,
        groups: &Groups,
        extents: &[i64],
        cell: impl Fn(&[usize], usize, &[i64]) -> BTreeSet<Cell>,
    ) -> Vec<Cells> {
        let all = indices(extents);
        let mut devices = vec![vec![BTreeSet::new(); all.len()]; self.world.devices()];
        for group in &groups.devices {
            for (position, &device) in group.iter().enumerate() {
                devices[device] = all.iter().map(|index| cell(group, position, index)).collect();
            }
        }
        devices
    }

    /// Adds something that stays on its device: a slice at starts known only there, a transpose, a copy.
    pub(crate) fn add_local(&mut self, rng: &mut Rng) {
        let operand = self.operand(rng);
        let rank = operand.extents.len();
        if rng.chance(30) {
            let mut order: Vec<usize> = (0..rank).collect();
            rng.shuffle(&mut order);
            let extents: Vec<i64> = order.iter().map(|&dimension| operand.extents[dimension]).collect();
            let moved = |index: &Vec<i64>| {
                let mut at = vec![0; rank];
                order.iter().zip(index).for_each(|(&dimension, &i)| at[dimension] = i);
                linear(&operand.extents, &at)
            };
            let from: Vec<usize> = indices(&extents).iter().map(moved).collect();
            let device = |cells: &Cells| from.iter().map(|&at| cells[at].clone()).collect();
            let devices = operand.devices.iter().map(device).collect();
            let order: Vec<String> = order.iter().map(ToString::to_string).collect();
            let attributes = format!("dimensions={{{}}}", order.join(","));
            self.emit(rng, "transpose", &[operand], vec![(extents, devices)], &attributes, None);
            return;
        }
        let extents: Vec<i64> = operand.extents.iter().map(|&extent| rng.between(1, extent)).collect();
        let names: Vec<String> = (0..rank).map(|_| format!("t{}", rng.below(2))).collect();
        let starts: Vec<Array> = names
            .iter()
            .map(|name| self.arrays.iter().find(|array| array.name == *name).expect("there are two starts").clone())
            .collect();
        let device = |device: usize| -> Cells {
            let cell = |index: Vec<i64>| {
                let at: Vec<i64> = (0..rank)
                    .map(|dimension| {
                        let start = self.starts[&names[dimension]][device];
                        index[dimension] + start.clamp(0, operand.extents[dimension] - extents[dimension])
                    })
                    .collect();
                let mut cells = operand.devices[device][linear(&operand.extents, &at)].clone();
                starts.iter().for_each(|start| cells.extend(&start.devices[device][0]));
                cells
            };
            indices(&extents).into_iter().map(cell).collect()
        };
        let devices = (0..self.world.devices()).map(device).collect();
        let sizes: Vec<String> = extents.iter().map(ToString::to_string).collect();
        let attributes = format!("dynamic_slice_sizes={{{}}}", sizes.join(","));
        let operands: Vec<Array> = std::iter::once(operand.clone()).chain(starts.clone()).collect();
        self.emit(rng, "dynamic-slice", &operands, vec![(extents, devices)], &attributes, None);
    }

    /// Adds an instruction in one of its forms, and takes its results apart.
    fn emit(
        &mut self,
        rng: &mut Rng,
        opcode: &str,
        operands: &[Array],
        results: Vec<(Vec<i64>, Vec<Cells>)>,
        attributes: &str,
        groups: Option<&Groups>,
    ) {
        let name = format!("i{}", self.body.len());
        let tuple = |shapes: &[String]| format!("({})", shapes.join(", "));
        let results_text: Vec<String> = results.iter().map(|(extents, _)| shape(extents)).collect();
        // Parts come as a tuple even where one comes.
        let is_of_parts = opcode == "all-to-all" && !attributes.contains("dimensions=");
        let is_tuple = is_of_parts || results.len() > 1;
        let value = if is_tuple { tuple(&results_text) } else { results_text[0].clone() };
        let operands_text: Vec<String> = operands.iter().map(|operand| shape(&operand.extents)).collect();
        let names: Vec<&str> = operands.iter().map(|operand| operand.name.as_str()).collect();
        let names = names.join(", ");
        let has_own_start = ["all-gather", "all-reduce", "collective-permute"].contains(&opcode);
        let mut holders = Vec::new();
        match rng.below(6) {
            0 => {
                let inner = format!("{name}.inner");
                let parameters: Vec<String> = (0..operands.len()).map(|number| format!("{name}.q{number}")).collect();
                self.before += &format!("{name}.called {{\n");
                for (number, parameter) in parameters.iter().enumerate() {
                    self.before += &format!(" {parameter} = {} parameter({number})\n", operands_text[number]);
                }
                let parameters = parameters.join(", ");
                self.before += &format!(" ROOT {inner} = {value} {opcode}({parameters}), {attributes}\n}}\n");
                let state = format!("({}, {value}, s32[])", tuple(&operands_text));
                self.body.push(format!("{name}.start = {state} async-start({names}), calls={name}.called"));
                self.body.push(format!("{name}.update = {state} async-update({name}.start)"));
                self.body.push(format!("{name} = {value} async-done({name}.update)"));
                holders.push(inner);
            }
            1 => {
                let start = format!("{name}.start");
                let passed = if operands.len() > 1 { tuple(&operands_text) } else { operands_text[0].clone() };
                let state = match opcode {
                    "all-gather" => format!("({passed}, {value})"),
                    "all-reduce" => value.clone(),
                    "collective-permute" => format!("({passed}, {value}, u32[], u32[])"),
                    _ => format!("({}, {value}, s32[])", tuple(&operands_text)),
                };
                self.body.push(format!("{start} = {state} {opcode}-start({names}), {attributes}"));
                let mut last = start.clone();
                if !has_own_start {
                    last = format!("{name}.update");
                    self.body.push(format!("{last} = {state} {opcode}-update({start})"));
                }
                self.body.push(format!("{name} = {value} {opcode}-done({last})"));
                holders.push(start);
            }
            _ => {
                self.body.push(format!("{name} = {value} {opcode}({names}), {attributes}"));
                holders.push(name.clone());
            }
        }
        if let Some(groups) = groups {
            self.groups.extend(holders.into_iter().map(|holder| (holder, groups.devices.clone())));
        }
        for (number, (extents, devices)) in results.into_iter().enumerate() {
            let mut own = name.clone();
            if is_tuple {
                own = format!("{name}.{number}");
                self.body.push(format!("{own} = {} get-tuple-element({name}), index={number}", shape(&extents)));
            }
            self.arrays.push(Array { name: own, extents, devices });
        }
    }

    /// The extents of each parameter.
    pub(crate) fn parameter_extents(&self) -> Vec<Vec<i64>> {
        self.arrays[..self.parameters + self.starts.len()].iter().map(|array| array.extents.clone()).collect()
    }
}
