//! Cloning of computations, once for each call that gives them other extents.

use super::{COPIES, refusal};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArenaId, Computation, ComputationId, InstrId, Module};
use std::collections::HashMap;

/// How many copies of computations there may be.
const MAX_INSTANCES: usize = 1 << 16;

/// One computation as one call calls it.
pub(super) struct Instance {
    pub(super) source: ComputationId,
    /// For each call of an open computation: the instruction and which of its computations, and the instance called.
    pub(super) callees: HashMap<(InstrId, usize), usize>,
    /// Where its instructions start in a table of the instructions of all instances.
    pub(super) base: usize,
}

/// All instances; the entry's is the first.
pub(super) struct Instances {
    pub(super) all: Vec<Instance>,
    /// Whether a computation, or one that it calls, has open extents.
    pub(super) open: Vec<bool>,
    /// Instructions of all instances.
    pub(super) instructions: usize,
}

impl Instances {
    pub(super) fn new(module: &Module) -> Result<Self, Diagnostics> {
        let mut open: Vec<bool> = Vec::with_capacity(module.computations.len());
        for computation in module.computations.values() {
            let calls_open = |callee: ComputationId| open.get(callee.index()).copied().unwrap_or(false);
            let is_open = computation.instructions.values().any(|instruction| {
                !instruction.shape.is_static() || instruction.op.called_computations().into_iter().any(calls_open)
            });
            open.push(is_open);
        }
        let mut instances = Instances { all: Vec::new(), open, instructions: 0 };
        instances.add(module, module.entry)?;
        let mut next = 0;
        while next < instances.all.len() {
            let computation = &module.computations[instances.all[next].source];
            for (id, instruction) in computation.instructions.iter() {
                for (position, callee) in instruction.op.called_computations().into_iter().enumerate() {
                    if instances.open[callee.index()] {
                        let called = instances.add(module, callee)?;
                        instances.all[next].callees.insert((id, position), called);
                    }
                }
            }
            next += 1;
        }
        Ok(instances)
    }

    fn add(&mut self, module: &Module, source: ComputationId) -> Result<usize, Diagnostics> {
        if self.all.len() == MAX_INSTANCES {
            let message = format!("specializing would copy computations more than {MAX_INSTANCES} times");
            return Err(refusal(COPIES, message));
        }
        self.all.push(Instance { source, callees: HashMap::new(), base: self.instructions });
        self.instructions += module.computations[source].instructions.len();
        Ok(self.all.len() - 1)
    }

    pub(super) fn computation<'m>(&self, module: &'m Module, instance: usize) -> &'m Computation {
        &module.computations[self.all[instance].source]
    }
}
