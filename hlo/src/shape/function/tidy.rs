//! Clean-up after every pass: dead values are dropped, the others renumbered and renamed.

use super::{Function, Kind, Operation, Region, ValueData, ValueId};
use std::collections::{HashMap, HashSet};

/// The function without operations that neither fail nor are used. `safe` are values whose operations are known not to
/// fail. Values are numbered in the order of the text, and names are distinct.
pub(super) fn tidy(mut function: Function, safe: &HashSet<ValueId>) -> Function {
    let mut used = HashSet::new();
    prune(&mut function.body, safe, &mut used);
    // Constants need nothing, and are read best where the function begins.
    let constant = |operation: &Operation| {
        matches!(operation.kind, Kind::ConstSize(_) | Kind::ConstShape(_) | Kind::ConstSizes(_) | Kind::ConstBool(_))
    };
    let (mut operations, others): (Vec<Operation>, Vec<Operation>) =
        std::mem::take(&mut function.body.operations).into_iter().partition(constant);
    operations.extend(others);
    function.body.operations = operations;
    let mut renumbering =
        Renumbering { old: &function.values, new: Vec::new(), ids: HashMap::new(), names: HashMap::new() };
    let body = renumbering.region(&function.body);
    Function { values: renumbering.new, name: function.name, body }
}

/// Drops operations from the last to the first, so that the uses of each are known.
fn prune(region: &mut Region, safe: &HashSet<ValueId>, used: &mut HashSet<ValueId>) {
    used.extend(region.results.iter().copied());
    let operations = std::mem::take(&mut region.operations);
    for mut operation in operations.into_iter().rev() {
        let wanted = operation.results.iter().any(|id| used.contains(id));
        if !wanted && cannot_fail(&operation, safe) {
            continue;
        }
        for region in &mut operation.regions {
            prune(region, safe, used);
        }
        used.extend(operation.operands.iter().copied());
        region.operations.push(operation);
    }
    region.operations.reverse();
}

fn cannot_fail(operation: &Operation, safe: &HashSet<ValueId>) -> bool {
    let itself = match operation.kind {
        Kind::Assuming | Kind::Assert => false,
        _ => !operation.kind.is_partial() || operation.results.iter().all(|id| safe.contains(id)),
    };
    let inside = |region: &Region| region.operations.iter().all(|operation| cannot_fail(operation, safe));
    itself && operation.regions.iter().all(inside)
}

struct Renumbering<'a> {
    old: &'a [ValueData],
    new: Vec<ValueData>,
    ids: HashMap<ValueId, ValueId>,
    /// How often each name was given.
    names: HashMap<String, usize>,
}

impl Renumbering<'_> {
    fn region(&mut self, region: &Region) -> Region {
        let arguments = region.arguments.iter().map(|&id| self.define(id)).collect();
        let operations = region
            .operations
            .iter()
            .map(|operation| {
                let operands = operation.operands.iter().map(|&id| self.image(id)).collect();
                let regions = operation.regions.iter().map(|region| self.region(region)).collect();
                Operation {
                    kind: operation.kind.clone(),
                    operands,
                    regions,
                    results: operation.results.iter().map(|&id| self.define(id)).collect(),
                    error: operation.error.clone(),
                }
            })
            .collect();
        Region { arguments, operations, results: region.results.iter().map(|&id| self.image(id)).collect() }
    }

    fn image(&self, id: ValueId) -> ValueId {
        *self.ids.get(&id).expect("a value is defined before its uses")
    }

    fn define(&mut self, id: ValueId) -> ValueId {
        let data = &self.old[id.index()];
        let base = match data.name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('_') {
            Some(base) if !base.is_empty() => base,
            _ if data.name.is_empty() => "v",
            _ => &data.name,
        };
        let name = loop {
            let count = self.names.entry(base.to_owned()).or_insert(0);
            *count += 1;
            let name = if *count == 1 { base.to_owned() } else { format!("{base}_{}", *count - 1) };
            if name == base || !self.names.contains_key(&name) {
                break name;
            }
        };
        self.names.entry(name.clone()).or_insert(1);
        let new = ValueId(u32::try_from(self.new.len()).expect("a function has fewer than 2^32 values"));
        self.new.push(ValueData { name, ty: data.ty });
        self.ids.insert(id, new);
        new
    }
}
