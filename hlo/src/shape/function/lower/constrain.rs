//! Lowering of form 1 to form 2: constraints become evidence.

use super::LowerError;
use super::totality::totality;
use crate::shape::function::builder::Builder;
use crate::shape::function::{Function, Kind, MAX_DEPTH, Operation, Region, ValueId};
use std::collections::HashMap;

/// The function in form 2. Constraints are evaluated as soon as their operands are there, and assumed together before
/// the next operation that may fail.
pub(super) fn constrain(function: &Function) -> Result<Function, LowerError> {
    let mut builder = Builder::new(function.name.clone());
    let mut images = vec![None; function.values.len()];
    for &id in &function.body.arguments {
        let data = function.value(id);
        images[id.index()] = Some((builder.argument(data.ty, data.name.clone()), 0));
    }
    let total = totality(function);
    let mut wanted = vec![false; function.values.len()];
    mark_wanted(&function.body, &mut wanted);
    // Simplification leaves constants at the top of the body.
    let mut constant = vec![false; function.values.len()];
    for operation in &function.body.operations {
        if let Kind::ConstSize(_) | Kind::ConstShape(_) | Kind::ConstSizes(_) = operation.kind {
            operation.results.iter().for_each(|id| constant[id.index()] = true);
        }
    }
    let mut lowering = Lowering { function, builder, images, total, wanted, constant, next: 0 };
    let results = lowering.region(&function.body)?;
    Ok(lowering.builder.finish(results).expect("form 2 has the types of form 1"))
}

struct Lowering<'a> {
    function: &'a Function,
    builder: Builder,
    /// For each old value the new one, and how deep the region is that defines it.
    images: Vec<Option<(ValueId, usize)>>,
    /// Which operations cannot fail, in the order of the walk.
    total: Vec<bool>,
    /// Which values constraints are computed from.
    wanted: Vec<bool>,
    /// Which values are constants.
    constant: Vec<bool>,
    next: usize,
}

/// Marks the values that constraints are computed from, also by way of others.
fn mark_wanted(region: &Region, wanted: &mut [bool]) {
    for operation in region.operations.iter().rev() {
        for region in &operation.regions {
            mark_wanted(region, wanted);
        }
        let constraint = matches!(operation.kind, Kind::Meet | Kind::Require | Kind::Broadcast);
        if constraint || operation.results.iter().any(|id| wanted[id.index()]) {
            operation.operands.iter().for_each(|id| wanted[id.index()] = true);
        }
    }
}

/// How many regions under evidence may be open at once in a region at depth `base`, one inside the other. When they are
/// as many, they are closed, and what comes after stands behind them: the error of evidence is that of the whole function
/// either way. What loops and branches in the region need is left for them: for each its own region, and one under
/// evidence.
fn longest_chain(region: &Region, base: usize) -> usize {
    MAX_DEPTH.saturating_sub(base + 2 * nesting(region)).max(1)
}

/// How deep the regions of the operations nest.
fn nesting(region: &Region) -> usize {
    let inside = region.operations.iter().flat_map(|operation| &operation.regions);
    inside.map(|region| 1 + nesting(region)).max().unwrap_or(0)
}

/// The position of the last operation that uses each value, itself or in its regions; what the region yields is used
/// after all of them.
fn uses(region: &Region) -> HashMap<ValueId, usize> {
    let mut last = HashMap::new();
    for (position, operation) in region.operations.iter().enumerate() {
        last.extend(operation.operands.iter().map(|&id| (id, position)));
        for inner in &operation.regions {
            last.extend(inner.results.iter().map(|&id| (id, position)));
            inner.visit(&mut |operation| last.extend(operation.operands.iter().map(|&id| (id, position))));
            visit_yields(inner, &mut |id| last.extend([(id, position)]));
        }
    }
    last.extend(region.results.iter().map(|&id| (id, usize::MAX)));
    last
}

/// What the regions inside of a region yield.
fn visit_yields(region: &Region, visit: &mut dyn FnMut(ValueId)) {
    for inner in region.operations.iter().flat_map(|operation| &operation.regions) {
        inner.results.iter().for_each(|&id| visit(id));
        visit_yields(inner, visit);
    }
}

/// Evidence of one region.
struct Level<'a> {
    /// The depth of the region that is being lowered.
    base: usize,
    /// Operations that cannot fail and that no constraint needs: they go under the evidence that is pending.
    deferred: Vec<&'a Operation>,
    /// Evidence that was made and not yet assumed.
    pending: Vec<ValueId>,
    /// The evidence of the regions that are open inside the base, outermost first.
    assumed: Vec<ValueId>,
}

impl<'a> Lowering<'a> {
    /// Lowers the operations into the innermost open region; what they yield, there.
    fn region(&mut self, region: &'a Region) -> Result<Vec<ValueId>, LowerError> {
        let mut level =
            Level { base: self.builder.depth(), deferred: Vec::new(), pending: Vec::new(), assumed: Vec::new() };
        let longest = longest_chain(region, level.base);
        let mut last_uses = None;
        // The first operation whose results are not yielded yet by regions that were closed.
        let mut first = 0;
        for (position, operation) in region.operations.iter().enumerate() {
            self.operation(operation, &mut level)?;
            if level.assumed.len() >= longest && level.pending.is_empty() && level.deferred.is_empty() {
                let last_uses = last_uses.get_or_insert_with(|| uses(region));
                let made = region.operations[first..=position].iter().flat_map(|operation| &operation.results);
                let live = made.copied().filter(|id| last_uses.get(id).is_some_and(|&last| last > position));
                let live: Vec<ValueId> = live.filter(|&id| self.depth_of(&[id]) > level.base).collect();
                let images = self.close(&mut level, &live);
                for (&old, new) in live.iter().zip(images) {
                    self.images[old.index()] = Some((new, level.base));
                }
                first = position + 1;
            }
        }
        self.assume(&mut level)?;
        Ok(self.close(&mut level, &region.results))
    }

    /// Closes the regions that are open under evidence; what the values are outside of them.
    fn close(&mut self, level: &mut Level<'a>, values: &[ValueId]) -> Vec<ValueId> {
        let mut results: Vec<ValueId> = values.iter().map(|&id| self.image(id)).collect();
        while let Some(witness) = level.assumed.pop() {
            let body = self.builder.close(results);
            results = self.push(self.builder.depth(), Kind::Assuming, vec![witness], vec![body], None);
            for (&new, &old) in results.iter().zip(values) {
                self.builder.rename(new, self.function.value(old).name.clone());
            }
        }
        results
    }

    fn operation(&mut self, operation: &'a Operation, level: &mut Level<'a>) -> Result<(), LowerError> {
        let total = self.total[self.next];
        self.next += 1;
        match operation.kind {
            Kind::Meet => {
                self.constraint(Kind::CstrEq, operation, level);
                // Under the evidence the operands are equal, and any of them is the result: a constant is the best.
                let constant = operation.operands.iter().find(|id| self.constant[id.index()]);
                let chosen = constant.unwrap_or(&operation.operands[0]);
                self.images[operation.results[0].index()] = self.images[chosen.index()];
                Ok(())
            }
            Kind::Require => {
                self.constraint(Kind::CstrRequire, operation, level);
                self.images[operation.results[0].index()] = self.images[operation.operands[0].index()];
                Ok(())
            }
            Kind::Broadcast if !total => {
                self.constraint(Kind::CstrBroadcastable, operation, level);
                self.assume(level)?;
                self.copy(operation, self.builder.depth())
            }
            _ if total && operation.regions.is_empty() => {
                let wanted = operation.results.iter().any(|id| self.wanted[id.index()]);
                if wanted || level.pending.is_empty() {
                    let depth = self.depth_of(&operation.operands).max(level.base);
                    return self.copy(operation, depth);
                }
                level.deferred.push(operation);
                Ok(())
            }
            // A loop or a branch that cannot fail needs no evidence either, unless it sees something deferred; it is
            // lowered where the builder stands.
            _ if total && level.deferred.is_empty() => self.copy(operation, self.builder.depth()),
            _ => {
                self.assume(level)?;
                self.copy(operation, self.builder.depth())
            }
        }
    }

    /// Evidence, made where the operands are, and to be assumed.
    fn constraint(&mut self, kind: Kind, operation: &Operation, level: &mut Level<'a>) {
        let operands: Vec<ValueId> = operation.operands.iter().map(|&id| self.image(id)).collect();
        let depth = self.depth_of(&operation.operands).max(level.base);
        let witness = self.push(depth, kind, operands, Vec::new(), operation.error.clone())[0];
        self.builder.rename(witness, "w");
        level.pending.push(witness);
    }

    /// Opens a region under all evidence that is pending.
    fn assume(&mut self, level: &mut Level<'a>) -> Result<(), LowerError> {
        let witness = match level.pending.as_slice() {
            // What is deferred waits for evidence that is pending.
            [] => return Ok(()),
            [witness] => *witness,
            _ => {
                let all = std::mem::take(&mut level.pending);
                let witness = self.push(self.builder.depth(), Kind::AssumingAll, all, Vec::new(), None)[0];
                self.builder.rename(witness, "w");
                witness
            }
        };
        level.pending.clear();
        self.open()?;
        level.assumed.push(witness);
        for operation in std::mem::take(&mut level.deferred) {
            self.copy(operation, self.builder.depth())?;
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), LowerError> {
        if self.builder.depth() >= MAX_DEPTH {
            return Err(LowerError::TooDeep(self.function.name.clone()));
        }
        self.builder.open();
        Ok(())
    }

    /// Copies an operation, whose regions are lowered, into the region open at `depth`.
    fn copy(&mut self, operation: &'a Operation, depth: usize) -> Result<(), LowerError> {
        let operands = operation.operands.iter().map(|&id| self.image(id)).collect();
        let mut regions = Vec::new();
        for region in &operation.regions {
            self.open()?;
            let inside = self.builder.depth();
            for &id in &region.arguments {
                let data = self.function.value(id);
                self.images[id.index()] = Some((self.builder.argument(data.ty, data.name.clone()), inside));
            }
            let results = self.region(region)?;
            regions.push(self.builder.close(results));
        }
        let results = self.push(depth, operation.kind.clone(), operands, regions, operation.error.clone());
        for (&old, new) in operation.results.iter().zip(results) {
            self.builder.rename(new, self.function.value(old).name.clone());
            self.images[old.index()] = Some((new, depth));
        }
        Ok(())
    }

    fn push(
        &mut self,
        depth: usize,
        kind: Kind,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
        error: Option<String>,
    ) -> Vec<ValueId> {
        self.builder.push_at(depth, kind, operands, regions, error).expect("form 2 has the types of form 1")
    }

    fn image(&self, id: ValueId) -> ValueId {
        self.images[id.index()].expect("a value is defined before its uses").0
    }

    /// How deep the innermost region is that defines one of the values.
    fn depth_of(&self, ids: &[ValueId]) -> usize {
        ids.iter().filter_map(|id| self.images[id.index()]).map(|(_, depth)| depth).max().unwrap_or(0)
    }
}
