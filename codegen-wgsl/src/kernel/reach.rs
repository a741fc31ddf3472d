//! What a dispatch uses of memories.

use super::{Block, Function, Kernel, Known, MemoryId, Operand, ScalarOp, Statement};
use std::collections::HashMap;
use weft_affine::{Constraint, Error, Expr, Interval, Var, range_of};

/// Statements that are looked at, called functions at each call, and accesses that are kept. More than that are not followed.
const MAX_STATEMENTS: usize = 1 << 16;
const MAX_ACCESSES: usize = 1 << 10;

/// The accesses to some memories in terms of the coordinates of invocations, functions looked into at each call.
pub(crate) struct Reach<'k> {
    kernel: &'k Kernel,
    /// The coordinate that is the number of the window.
    windows: Option<usize>,
    accesses: Vec<Access>,
}

/// An access from one place in a chain of calls.
struct Access {
    memory: MemoryId,
    /// The row-major position of the first element.
    position: Expr,
    /// Elements beyond the first.
    further: i64,
    /// The elements of the memory.
    elements: i64,
    known: Known,
}

impl<'k> Reach<'k> {
    /// The accesses of a kernel to the memories that are wanted; `None` where there are too many to be followed, or an index leaves 64 bits.
    pub(crate) fn of(kernel: &'k Kernel, wanted: &'k dyn Fn(MemoryId) -> bool) -> Option<Reach<'k>> {
        let mut walk = Walk { kernel, wanted, accesses: Vec::new(), statements: 0, runtime: 0 };
        let dims = (0u32..).take(kernel.entry.extents.len()).map(Expr::dim).collect();
        let mut frame = Frame { function: &kernel.entry, dims, loops: 0, runtime: HashMap::new() };
        walk.block(&kernel.entry.body, &mut frame, Known::new(&kernel.entry.extents)).ok()?;
        Some(Reach { kernel, windows: kernel.window_coordinate(), accesses: walk.accesses })
    }

    /// The words of a memory that the dispatch with this number uses at most, from the first to the last; an empty interval if it uses none.
    pub(crate) fn within(&self, memory: MemoryId, window: i64) -> Interval {
        let mut all = Interval { lo: i64::MAX, hi: i64::MIN };
        for access in self.accesses.iter().filter(|access| access.memory == memory) {
            let mut known = access.known.clone();
            // An invocation may never come there in this window.
            if let Some(coordinate) = self.windows
                && let Some(dim) = known.ranges.dims.get_mut(coordinate)
            {
                *dim = dim.intersect(Interval::point(window));
                if dim.is_empty() {
                    continue;
                }
            }
            let holds = |fact: &Constraint| !range_of(&fact.expr, &known.ranges).intersect(fact.bounds).is_empty();
            if !known.facts().iter().all(holds) {
                continue;
            }
            let range = known.range(&access.position);
            // Every index is within its memory, which is proved elsewhere.
            let (lo, hi) = (range.lo.max(0), range.hi.min(access.elements - 1 - access.further));
            if lo <= hi {
                let words = self.kernel.memories[memory].words_of(Interval { lo, hi: hi + access.further });
                all = Interval { lo: all.lo.min(words.lo), hi: all.hi.max(words.hi) };
            }
        }
        all
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    wanted: &'k dyn Fn(MemoryId) -> bool,
    accesses: Vec<Access>,
    statements: usize,
    /// The number of the next runtime variable: those of all functions are numbered together.
    runtime: u32,
}

/// A function at one call.
struct Frame<'k> {
    function: &'k Function,
    /// What its indices are in terms of the entry's.
    dims: Vec<Expr>,
    /// Loop variables around the call, on from which its own are numbered.
    loops: u32,
    /// What its runtime variables are.
    runtime: HashMap<u32, Expr>,
}

impl Frame<'_> {
    /// An index in terms of the entry's.
    fn index(&self, index: &Expr) -> Result<Expr, Error> {
        index.substitute(|variable| match variable {
            Var::Dim(dimension) => self.dims.get(dimension as usize).cloned(),
            Var::Range(number) => Some(Expr::range(self.loops + number)),
            Var::Runtime(number) => self.runtime.get(&number).cloned(),
        })
    }

    fn constraints(&self, constraints: &[Constraint]) -> Result<Vec<Constraint>, Error> {
        let meant = |test: &Constraint| Ok(Constraint { expr: self.index(&test.expr)?, bounds: test.bounds });
        constraints.iter().map(meant).collect()
    }
}

impl<'k> Walk<'k> {
    fn block(&mut self, block: &'k Block, frame: &mut Frame<'k>, mut known: Known) -> Result<(), Stop> {
        for statement in &block.statements {
            self.statements += 1;
            if self.statements > MAX_STATEMENTS {
                return Err(Stop);
            }
            self.statement(statement, frame, &mut known)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'k Statement, frame: &mut Frame<'k>, known: &mut Known) -> Result<(), Stop> {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, value } => {
                self.access(*memory, indices, Operand::Value(*value), frame, known)?;
            }
            Statement::Store { memory, indices, value }
            | Statement::Merge { memory, indices, value, .. }
            | Statement::Update { memory, indices, value, .. } => {
                self.access(*memory, indices, *value, frame, known)?;
            }
            Statement::Call { function, indices, .. } => {
                let function = &self.kernel.functions[*function];
                let dims = indices.iter().map(|index| frame.index(index)).collect::<Result<_, Error>>()?;
                let loops = u32::try_from(known.loops()).unwrap_or(u32::MAX);
                let mut callee = Frame { function, dims, loops, runtime: HashMap::new() };
                self.block(&function.body, &mut callee, known.clone())?;
            }
            Statement::If { condition, then, otherwise, .. } => {
                let constraints = frame.constraints(condition.constraints())?;
                let mut inside = known.when(&constraints);
                for binding in condition.bindings() {
                    self.bind(binding.variable, binding.bounds, frame, &mut inside);
                }
                self.block(then, frame, inside)?;
                // Of a single test that is open on one side the contrary is known.
                let outside = if constraints.is_empty() { known.clone() } else { known.unless(&constraints) };
                self.block(otherwise, frame, outside)?;
            }
            Statement::Loop { extents, body, .. } => self.block(body, frame, known.in_loop(extents))?,
            Statement::Bind { binding, .. } => self.bind(binding.variable, binding.bounds, frame, known),
            Statement::Name { variable, index } => {
                let index = frame.index(index)?;
                frame.runtime.insert(*variable, index);
            }
            _ => {
                for block in statement.blocks() {
                    self.block(block, frame, known.clone())?;
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self, variable: u32, bounds: Interval, frame: &mut Frame<'k>, known: &mut Known) {
        let number = self.runtime;
        self.runtime += 1;
        frame.runtime.insert(variable, Expr::runtime(number));
        known.set(number, bounds);
    }

    fn access(
        &mut self,
        memory: MemoryId,
        indices: &[Expr],
        value: Operand,
        frame: &Frame<'k>,
        known: &Known,
    ) -> Result<(), Stop> {
        if !(self.wanted)(memory) {
            return Ok(());
        }
        let of_memory = &self.kernel.memories[memory];
        let mut position = Expr::constant(0);
        for (index, extent) in indices.iter().zip(super::verify::indexed_extents(of_memory, indices.len())) {
            position = position.checked_mul(extent)?.checked_add(&frame.index(index)?)?;
        }
        let position = known.simplified(&position);
        let further = i64::from(Kernel::operand_lanes(frame.function, value)) - 1;
        let elements = of_memory.shape.element_count().unwrap_or(i64::MAX);
        self.accesses.push(Access { memory, position, further, elements, known: known.clone() });
        if self.accesses.len() > MAX_ACCESSES { Err(Stop) } else { Ok(()) }
    }
}

/// It goes no further.
struct Stop;

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Stop
    }
}
