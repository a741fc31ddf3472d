//! Which arguments and results are small enough for arenas.

use super::{Class, Role};
use crate::{Form, Target};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use weft_hlo::ir::{ArrayShape, InstrId, Module, Op};

/// The small arguments and results of a flat module.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    arguments: BTreeMap<InstrId, Class>,
    results: BTreeMap<InstrId, Class>,
    /// The argument and the result that are parts of one state, in the order of the results; then the arguments that are none, and the results.
    pub(super) states: Vec<(InstrId, InstrId)>,
    pub(super) other_arguments: Vec<InstrId>,
    pub(super) other_results: Vec<InstrId>,
    bytes: BTreeMap<InstrId, u64>,
}

impl Small {
    pub(super) fn of(module: &Module, target: &Target) -> Self {
        let entry = module.entry_computation();
        let (most, room) = (target.hardware.bytes_of_a_launch(), target.max_storage_binding_bytes);
        let bytes_of = |id: InstrId| {
            let bytes = entry.instructions[id].shape.as_array().and_then(Form::tensor_bytes)?;
            let aligned = bytes.checked_next_multiple_of(super::ALIGNMENT)?;
            (bytes > 0 && aligned <= most).then_some(aligned)
        };
        let root = &entry.instructions[entry.root];
        let results: Vec<InstrId> = if root.op == Op::Tuple { root.operands.clone() } else { vec![entry.root] };
        let parameters = entry.parameters();
        let is_made = |id: &InstrId| !matches!(entry.instructions[*id].op, Op::Parameter { .. } | Op::Constant(_));
        let mut times: HashMap<InstrId, usize> = HashMap::new();
        results.iter().for_each(|result| *times.entry(*result).or_default() += 1);
        let once = |id: &InstrId| times.get(id) == Some(&1);
        let pairs = pairs(module, &parameters, &results);
        let mut small = Small {
            arguments: BTreeMap::new(),
            results: BTreeMap::new(),
            states: Vec::new(),
            other_arguments: Vec::new(),
            other_results: Vec::new(),
            bytes: BTreeMap::new(),
        };
        // Arenas of one role and type follow one another where one would be larger than a kernel may bind.
        let mut filled: BTreeMap<Class, u64> = BTreeMap::new();
        let mut class = |role: Role, shape: &ArrayShape, bytes: u64| {
            let mut class = Class { role, element_type: shape.element_type, number: 0 };
            while filled.get(&class).is_some_and(|filled| filled.saturating_add(bytes) > room) {
                class.number += 1;
            }
            *filled.entry(class).or_default() += bytes;
            class
        };
        let mut paired: BTreeMap<InstrId, InstrId> = BTreeMap::new();
        for (argument, result) in pairs {
            let shape = entry.instructions[result].shape.as_array();
            let (Some(shape), Some(bytes)) = (shape, bytes_of(result)) else { continue };
            if !is_made(&result) || !once(&result) {
                continue;
            }
            let before = class(Role::State, shape, bytes);
            small.arguments.insert(argument, before);
            small.results.insert(result, Class { role: Role::NextState, ..before });
            small.states.push((argument, result));
            small.bytes.extend([(argument, bytes), (result, bytes)]);
            paired.insert(argument, result);
        }
        for argument in parameters.iter().copied().filter(|id| !paired.contains_key(id)) {
            let shape = entry.instructions[argument].shape.as_array();
            let (Some(shape), Some(bytes)) = (shape, bytes_of(argument)) else { continue };
            small.arguments.insert(argument, class(Role::Argument, shape, bytes));
            small.other_arguments.push(argument);
            small.bytes.insert(argument, bytes);
        }
        for result in results.iter().copied().filter(|id| is_made(id) && once(id)) {
            let shape = entry.instructions[result].shape.as_array();
            let (Some(shape), Some(bytes)) = (shape, bytes_of(result)) else { continue };
            let Entry::Vacant(place) = small.results.entry(result) else { continue };
            place.insert(class(Role::Result, shape, bytes));
            small.other_results.push(result);
            small.bytes.insert(result, bytes);
        }
        small
    }

    /// The class of an argument; `None` for what is none, or not small.
    pub(super) fn argument(&self, id: InstrId) -> Option<Class> {
        self.arguments.get(&id).copied()
    }

    /// The class of a result; `None` for what is none, or not small.
    pub(super) fn result(&self, id: InstrId) -> Option<Class> {
        self.results.get(&id).copied()
    }

    /// Bytes that one of them takes in an arena.
    pub(super) fn bytes(&self, id: InstrId) -> u64 {
        self.bytes.get(&id).copied().unwrap_or(0)
    }
}

/// Which argument a result takes the place of when the program runs again: as `input_output_alias` says, or else, of arguments and results of one shape, one after the other.
fn pairs(module: &Module, parameters: &[InstrId], results: &[InstrId]) -> Vec<(InstrId, InstrId)> {
    let mut of_result: BTreeMap<usize, usize> = module.aliases().into_iter().rev().collect();
    let shape = |id: &InstrId| module.entry_computation().instructions[*id].shape.without_layout().to_string();
    if of_result.is_empty() {
        let mut of_shape: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, parameter) in parameters.iter().enumerate() {
            of_shape.entry(shape(parameter)).or_default().push(number);
        }
        let mut next = 0;
        for (result, id) in results.iter().enumerate() {
            let alike = of_shape.get(&shape(id)).map(Vec::as_slice).unwrap_or_default();
            if let Some(parameter) = alike.get(alike.partition_point(|number| *number < next)) {
                of_result.insert(result, *parameter);
                next = parameter + 1;
            }
        }
    }
    let mut taken = BTreeSet::new();
    let alike = |(result, parameter): &(usize, usize)| shape(&parameters[*parameter]) == shape(&results[*result]);
    let pairs = of_result.into_iter().filter(alike).filter(|(_, parameter)| taken.insert(*parameter));
    pairs.map(|(result, parameter)| (parameters[parameter], results[result])).collect()
}
