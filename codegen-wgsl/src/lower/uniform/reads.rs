//! How often memories are read, and where.

use crate::kernel::{
    Block, Condition, Function, Kernel, MemoryId, Operand, ScalarOp, Statement, UNIFORM_LANES, ValueId,
};
use std::collections::BTreeSet;
use weft_affine::{Expr, Var};
use weft_hlo::ir::ArenaId;

/// The reads of a kernel by memory.
pub(super) struct Reads {
    memories: Vec<ReadsOf>,
    /// For each function which of its indices differ between invocations, at all calls found so far.
    differing: Vec<Vec<bool>>,
}

/// The reads of one memory.
#[derive(Copy, Clone, Debug)]
pub(super) struct ReadsOf {
    /// Elements read, as far as the text tells.
    pub(super) elements: u64,
    /// Whether every read is of one element or of as many as lie side by side in a uniform, and at an index that differs between
    /// invocations.
    pub(super) may_be_uniform: bool,
}

impl Reads {
    pub(super) fn of(kernel: &Kernel) -> Reads {
        let memories = vec![ReadsOf { elements: 0, may_be_uniform: true }; kernel.memories.len()];
        let differing = kernel.functions.values().map(|function| vec![true; function.extents.len()]).collect();
        let mut reads = Reads { memories, differing };
        let of_entry = kernel.entry.extents.iter().map(|extent| *extent > 1).collect();
        reads.function(&kernel.entry, of_entry);
        // Callers stand before callees, so all calls of a function are known when it is reached.
        for (id, function) in kernel.functions.iter() {
            let differing = reads.differing[id.index()].clone();
            reads.function(function, differing);
        }
        reads
    }

    pub(super) fn of_memory(&self, memory: MemoryId) -> ReadsOf {
        self.memories[memory.index()]
    }

    fn function(&mut self, function: &Function, dims: Vec<bool>) {
        let points = points(&function.extents);
        let mut body =
            Body { reads: self, function, dims, loops: Vec::new(), values: BTreeSet::new(), runtime: BTreeSet::new() };
        body.block(&function.body, points);
    }
}

/// The points of a box.
fn points(extents: &[i64]) -> u64 {
    extents.iter().fold(1, |points: u64, extent| points.saturating_mul(u64::try_from(*extent).unwrap_or(0)))
}

/// The body of one function.
struct Body<'r, 'k> {
    reads: &'r mut Reads,
    function: &'k Function,
    /// Which indices differ between invocations.
    dims: Vec<bool>,
    /// The extents of the loops in sight.
    loops: Vec<i64>,
    /// The values that differ between invocations; parameters and what loops carry from equal beginnings count as equal.
    values: BTreeSet<ValueId>,
    /// The runtime variables that do.
    runtime: BTreeSet<u32>,
}

impl Body<'_, '_> {
    /// Whether an index differs between invocations; a driver may write loops out, so their variables do not.
    fn differs(&self, index: &Expr) -> bool {
        index.find_variable(&mut |variable| match variable {
            Var::Dim(dimension) => self.dims.get(dimension as usize).copied().unwrap_or(false),
            Var::Runtime(variable) => self.runtime.contains(&variable),
            _ => false,
        })
    }

    fn any_differs(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|operand| matches!(operand, Operand::Value(value) if self.values.contains(value)))
    }

    /// A block that is run at so many points, and whether it yields something that differs.
    fn block(&mut self, block: &Block, points: u64) -> bool {
        block.statements.iter().for_each(|statement| self.statement(statement, points));
        self.any_differs(&block.results)
    }

    fn statement(&mut self, statement: &Statement, points: u64) {
        let of_indices = statement.indices().into_iter().any(|index| self.differs(index));
        let mut differs = of_indices || self.any_differs(&statement.operands());
        match statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, .. } } => {
                let lanes = self.function.values[*value].lanes;
                let reads = &mut self.reads.memories[memory.index()];
                reads.elements = reads.elements.saturating_add(points.saturating_mul(lanes.into()));
                reads.may_be_uniform &= differs && (lanes == 1 || lanes == UNIFORM_LANES);
            }
            Statement::Call { function, indices, .. } => {
                let own: Vec<bool> = indices.iter().map(|index| self.differs(index)).collect();
                let callee = &mut self.reads.differing[function.index()];
                callee.iter_mut().zip(own).for_each(|(differing, own)| *differing &= own);
            }
            Statement::If { condition, then, otherwise, .. } => {
                for binding in condition.bindings() {
                    self.set_runtime(binding.variable, self.any_differs(&[binding.value]));
                }
                let inside = self.let_through(condition, points);
                differs |= self.block(then, inside);
                differs |= self.block(otherwise, points);
            }
            Statement::Loop { extents, init, accumulators, body, .. } => {
                self.carried(init, accumulators);
                self.loops.extend(extents);
                differs |= self.block(body, points.saturating_mul(self::points(extents)));
                self.loops.truncate(self.loops.len() - extents.len());
            }
            Statement::While { init, accumulators, condition, body, .. } => {
                self.carried(init, accumulators);
                self.block(condition, points);
                differs |= self.block(body, points);
            }
            Statement::Bind { binding, .. } => self.set_runtime(binding.variable, differs),
            Statement::Name { variable, .. } => self.set_runtime(*variable, differs),
            _ => {}
        }
        let accumulators: &[ValueId] = match statement {
            Statement::Loop { accumulators, .. } | Statement::While { accumulators, .. } => accumulators,
            _ => &[],
        };
        if differs {
            self.values.extend(statement.defines().into_iter().filter(|value| !accumulators.contains(value)));
        }
    }

    fn set_runtime(&mut self, variable: u32, differs: bool) {
        if differs {
            self.runtime.insert(variable);
        } else {
            self.runtime.remove(&variable);
        }
    }

    fn carried(&mut self, init: &[Operand], accumulators: &[ValueId]) {
        for (init, accumulator) in init.iter().zip(accumulators) {
            if self.any_differs(&[*init]) {
                self.values.insert(*accumulator);
            }
        }
    }

    /// At how many of these points a condition holds at most.
    fn let_through(&self, condition: &Condition, points: u64) -> u64 {
        let dims = (0..).zip(&self.function.extents).map(|(dim, extent)| (Var::Dim(dim), *extent));
        let loops = (0..).zip(&self.loops).map(|(variable, extent)| (Var::Range(variable), *extent));
        let in_sight: Vec<Var> =
            dims.chain(loops).filter(|(_, extent)| *extent > 1).map(|(variable, _)| variable).collect();
        let mut through = points;
        for constraint in condition.constraints() {
            let variables = constraint.expr.variables();
            if in_sight.iter().all(|variable| variables.contains(variable)) {
                let values = constraint.bounds.hi.saturating_sub(constraint.bounds.lo).saturating_add(1);
                through = through.min(u64::try_from(values).unwrap_or(0));
            }
        }
        through
    }
}
