//! The steps of a round.

use crate::emit::loop_emitter::{Output, emit_functions, outputs};
use crate::kernel::{
    Block, Condition, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Statement, Value,
    ValueId,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use std::collections::BTreeSet;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, BinaryOp, ComparisonDirection, ElementType, Scalar};
use weft_partition::{ChoiceStep, Fused, FusionStep, LoopStep, Place, RoundStep};

/// A kernel of one workgroup in the making.
pub(super) struct Emission<'f> {
    fused: &'f Fused,
    /// The entry, without a body.
    entry: Function,
    memories: Arena<MemoryId, Memory>,
    functions: Arena<FunctionId, Function>,
    /// The memories of the plan's tiles, and of what it reads.
    tiles: Vec<MemoryId>,
    read: Vec<MemoryId>,
    names: Names,
    /// What invocations have written and read since they waited for each other.
    written: BTreeSet<MemoryId>,
    seen: BTreeSet<MemoryId>,
}

impl<'f> Emission<'f> {
    pub(super) fn new(
        fused: &'f Fused,
        entry: Function,
        memories: Arena<MemoryId, Memory>,
        (tiles, read): (Vec<MemoryId>, Vec<MemoryId>),
        names: Names,
    ) -> Self {
        let (written, seen) = (BTreeSet::new(), BTreeSet::new());
        Emission { fused, entry, memories, functions: Arena::new(), tiles, read, names, written, seen }
    }

    /// The kernel whose invocations do this.
    pub(super) fn finish(self, name: &str, body: Block) -> Kernel {
        let Emission { mut entry, memories, functions, .. } = self;
        entry.body = body;
        Kernel { name: name.to_owned(), memories, functions, entry, windows: 1, lanes: 1, rolled: false }
    }

    pub(super) fn tile(&self, tile: usize) -> MemoryId {
        self.tiles[tile]
    }

    pub(super) fn value(&mut self, name: &str, element_type: ElementType) -> ValueId {
        self.entry.values.push(Value::scalar(name, element_type))
    }

    pub(super) fn define(&mut self, name: &str, ty: ElementType, op: ScalarOp, block: &mut Block) -> Operand {
        let value = self.value(name, ty);
        block.statements.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    fn threads(&self) -> i64 {
        self.entry.extents.last().copied().unwrap_or(1)
    }

    /// Has the invocations wait for each other, if there are several.
    pub(super) fn barrier(&mut self, block: &mut Block) {
        if self.threads() > 1 {
            block.statements.push(Statement::Barrier);
        }
        self.written.clear();
        self.seen.clear();
    }

    /// Says what comes next: where another invocation may write what is read, or read what is written, they wait before.
    fn touch(&mut self, read: &[MemoryId], written: &[MemoryId], block: &mut Block) {
        let depends = read.iter().any(|memory| self.written.contains(memory))
            || written.iter().any(|memory| self.written.contains(memory) || self.seen.contains(memory));
        if depends {
            self.barrier(block);
        }
        self.seen.extend(read);
        self.written.extend(written);
    }

    /// The one element of a tile, which all invocations wait for and read alike.
    pub(super) fn shared(&mut self, tile: MemoryId, shape: &ArrayShape, block: &mut Block) -> Operand {
        let value = self.value("flag", shape.element_type);
        let indices = vec![Expr::constant(0); shape.extents.len()];
        if self.threads() == 1 {
            block.statements.push(Statement::Let { value, op: ScalarOp::Extract { memory: tile, indices } });
        } else {
            block.statements.push(Statement::Share { value, memory: tile, indices });
        }
        self.written.clear();
        self.seen.clear();
        Operand::Value(value)
    }

    /// Does something for the row-major positions below a count, each by one invocation.
    fn each(
        &mut self,
        count: i64,
        block: &mut Block,
        make: impl FnOnce(&mut Self, &Expr, &mut Block) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let threads = self.threads();
        let rounds = count.max(1).saturating_add(threads - 1) / threads;
        let thread = if threads == 1 { Expr::constant(0) } else { Expr::dim(1) };
        let position = match rounds {
            1 => thread,
            _ => Expr::range(0).checked_mul(threads)?.checked_add(&thread)?,
        };
        let mut inner = Block::default();
        make(self, &position, &mut inner)?;
        let mut known = Known::new(&self.entry.extents);
        if rounds > 1 {
            known = known.in_loop(&[rounds]);
        }
        let open = known.open(&[Constraint { expr: position, bounds: Interval::of_extent(count) }]);
        if !open.is_empty() {
            let (condition, otherwise) = (Condition::Indices(open), Block::default());
            let within = Statement::If { values: Vec::new(), condition, then: inner, otherwise };
            inner = Block { statements: vec![within], results: Vec::new() };
        }
        if rounds == 1 {
            block.statements.extend(inner.statements);
        } else {
            let (values, init, accumulators) = (Vec::new(), Vec::new(), Vec::new());
            let extents = vec![rounds];
            block.statements.push(Statement::Loop { values, extents, init, accumulators, body: inner });
        }
        Ok(())
    }

    /// Copies all elements of a memory to another of the same shape.
    pub(super) fn copied(&mut self, from: MemoryId, to: MemoryId, block: &mut Block) -> Result<(), Diagnostics> {
        let shape = self.memories[to].shape.clone();
        self.copy(from, to, &shape, block)
            .map_err(|error| Diagnostic::new("HLO302", Default::default(), error.to_string()).into())
    }

    fn copy(&mut self, from: MemoryId, to: MemoryId, shape: &ArrayShape, block: &mut Block) -> Result<(), Error> {
        self.touch(&[from], &[to], block);
        self.each(shape.element_count().unwrap_or(0), block, |this, position, block| {
            let indices = indices_at(position, &shape.extents)?;
            let op = ScalarOp::Extract { memory: from, indices: indices.clone() };
            let value = this.define("element", shape.element_type, op, block);
            block.statements.push(Statement::Store { memory: to, indices, value });
            Ok(())
        })
    }

    /// Computes what steps make.
    pub(super) fn steps(&mut self, steps: &[RoundStep], block: &mut Block) -> Result<(), Diagnostics> {
        for step in steps {
            match step {
                RoundStep::Fusion(step) => self.fusion(step, block)?,
                RoundStep::Loop(step) => self.repeated(step, block)?,
                RoundStep::Choice(step) => self.chosen(step, block)?,
            }
        }
        Ok(())
    }

    /// A loop of a known number of rounds.
    fn repeated(&mut self, step: &LoopStep, block: &mut Block) -> Result<(), Diagnostics> {
        for carried in &step.carried {
            let (from, to) = (self.memory(carried.initial), self.tiles[carried.tile]);
            self.copied(from, to, block)?;
        }
        self.barrier(block);
        let (round, rounds) = self.counter();
        let mut condition = Block::default();
        condition.results = vec![self.is_within(round, step.rounds, &mut condition)];
        let mut body = Block::default();
        self.steps(&step.body, &mut body)?;
        let handed_on: Vec<(MemoryId, MemoryId)> =
            step.carried.iter().map(|carried| (self.memory(carried.next), self.tiles[carried.tile])).collect();
        self.hand_on(&handed_on, &mut body)?;
        self.barrier(&mut body);
        let counted = self.counted(rounds, (round, condition), body);
        block.statements.push(counted);
        Ok(())
    }

    /// What counts rounds: in a round, and behind the last one.
    pub(super) fn counter(&mut self) -> (ValueId, ValueId) {
        (self.value("round", ElementType::U32), self.value("rounds", ElementType::U32))
    }

    /// Whether there is another round of so many.
    pub(super) fn is_within(&mut self, round: ValueId, most: u32, condition: &mut Block) -> Operand {
        let most = Operand::Constant(Scalar::U32(most));
        let is_within = ScalarOp::Compare {
            direction: ComparisonDirection::Lt,
            order: None,
            operands: [Operand::Value(round), most],
        };
        self.define("is_within", ElementType::Pred, is_within, condition)
    }

    /// The statement of a loop whose rounds are counted.
    pub(super) fn counted(
        &mut self,
        last: ValueId,
        (round, condition): (ValueId, Block),
        mut body: Block,
    ) -> Statement {
        let one = Operand::Constant(Scalar::U32(1));
        let next = ScalarOp::Binary { op: BinaryOp::Add, operands: [Operand::Value(round), one] };
        body.results = vec![self.define("next_round", ElementType::U32, next, &mut body)];
        let init = vec![Operand::Constant(Scalar::U32(0))];
        let (values, accumulators) = (vec![last], vec![round]);
        Statement::While { values, init, accumulators, condition, body }
    }

    /// One of several branches, the same for all invocations.
    fn chosen(&mut self, step: &ChoiceStep, block: &mut Block) -> Result<(), Diagnostics> {
        let memory = self.memory(step.selector);
        let shape = self.memories[memory].shape.clone();
        let selector = match step.selector {
            Place::Tile(_) => self.shared(memory, &shape, block),
            // Nobody writes there.
            Place::Read(_) => {
                let indices = vec![Expr::constant(0); shape.extents.len()];
                let read = ScalarOp::Extract { memory, indices };
                self.define("selector", shape.element_type, read, block)
            }
        };
        let mut made: Vec<Block> = Vec::with_capacity(step.branches.len());
        let (written, seen) = (self.written.clone(), self.seen.clone());
        for branch in &step.branches {
            let mut block = Block::default();
            (self.written, self.seen) = (written.clone(), seen.clone());
            self.steps(&branch.steps, &mut block)?;
            for (from, to) in branch.results.iter().zip(&step.results) {
                let (from, to) = (self.memory(*from), self.tiles[*to]);
                self.copied(from, to, &mut block)?;
            }
            // All or none come here, which is told by their waiting for each other.
            self.barrier(&mut block);
            made.push(block);
        }
        // Each but the last asks whether it is the one.
        let mut otherwise = made.pop().unwrap_or_default();
        for (number, then) in made.into_iter().enumerate().rev() {
            let mut asked = Block::default();
            let condition = if step.is_pred {
                selector
            } else {
                let number = Operand::Constant(Scalar::S32(i32::try_from(number).unwrap_or(i32::MAX)));
                let direction = ComparisonDirection::Eq;
                let is_it = ScalarOp::Compare { direction, order: None, operands: [selector, number] };
                self.define("is_chosen", ElementType::Pred, is_it, &mut asked)
            };
            let condition = Condition::Value(condition);
            asked.statements.push(Statement::If { values: Vec::new(), condition, then, otherwise });
            otherwise = asked;
        }
        block.statements.extend(otherwise.statements);
        Ok(())
    }

    fn fusion(&mut self, step: &FusionStep, block: &mut Block) -> Result<(), Diagnostics> {
        let fused = self.fused;
        let fusion = fused.instruction(step.fusion);
        let calls = fusion.and_then(|fusion| fusion.op.called_computations().first().copied());
        let Some((fusion, calls)) = fusion.zip(calls) else {
            let message = "a round of a loop runs something that is no fusion; this is a fault of the compiler";
            return Err(Diagnostic::new("HLO410", Default::default(), message).into());
        };
        let computation = &fused.module.computations[calls];
        let parameters: Vec<MemoryId> = step.operands.iter().map(|place| self.memory(*place)).collect();
        let results: Vec<MemoryId> = step.results.iter().map(|tile| self.tiles[*tile]).collect();
        let own = emit_functions(fused, computation, &step.plan, (&parameters, None), &mut self.names)?;
        let first = self.functions.len();
        for mut function in own.values().cloned() {
            behind(&mut function.body, first);
            self.functions.push(function);
        }
        self.touch(&parameters, &results, block);
        for output in outputs(computation, &step.plan, &results) {
            self.output(&output, first, block)
                .map_err(|error| Diagnostic::new("HLO302", fusion.span, error.to_string()).about(&fusion.name))?;
        }
        Ok(())
    }

    /// Computes all elements that a function of a step computes; its functions stand behind `first` others.
    fn output(&mut self, output: &Output, first: usize, block: &mut Block) -> Result<(), Error> {
        let behind = |function: FunctionId| FunctionId::from_index(first + function.index());
        let count = self.functions[behind(output.function)].extents.iter().product();
        self.each(count, block, |this, position, block| {
            let mut arguments = Vec::new();
            for given in &output.given {
                arguments.extend(this.call(behind(*given), position, Vec::new(), "given", block)?);
            }
            let values = this.call(behind(output.function), position, arguments, "element", block)?;
            for (value, (memory, extents)) in values.into_iter().zip(&output.memories) {
                let indices = indices_at(position, extents)?;
                block.statements.push(Statement::Store { memory: *memory, indices, value });
            }
            Ok(())
        })
    }

    fn call(
        &mut self,
        function: FunctionId,
        position: &Expr,
        arguments: Vec<Operand>,
        name: &str,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let indices = indices_at(position, &self.functions[function].extents)?;
        let types = Kernel::result_types(&self.functions[function]);
        let values: Vec<ValueId> = types.into_iter().map(|ty| self.value(name, ty.element_type)).collect();
        block.statements.push(Statement::Call { values: values.clone(), function, indices, arguments });
        Ok(values.into_iter().map(Operand::Value).collect())
    }

    pub(super) fn memory(&self, place: Place) -> MemoryId {
        match place {
            Place::Tile(tile) => self.tiles[tile],
            Place::Read(read) => self.read[read],
        }
    }

    /// What a round makes becomes what the next one is given, from a memory to a tile each. What is given on from one tile to another waits elsewhere
    /// until it has been read everywhere.
    pub(super) fn hand_on(&mut self, carried: &[(MemoryId, MemoryId)], block: &mut Block) -> Result<(), Diagnostics> {
        let mut from: Vec<MemoryId> = Vec::with_capacity(carried.len());
        for (next, _) in carried {
            if !carried.iter().any(|(_, tile)| tile == next) {
                from.push(*next);
                continue;
            }
            let name = self.names.take("handed_on");
            let waiting = self.memories.push(Memory { name, ..self.memories[*next].clone() });
            self.copied(*next, waiting, block)?;
            from.push(waiting);
        }
        for (from, (_, to)) in from.into_iter().zip(carried) {
            self.copied(from, *to, block)?;
        }
        Ok(())
    }
}

/// Has a block call the functions that stand so many places further behind.
fn behind(block: &mut Block, first: usize) {
    for statement in &mut block.statements {
        if let Some(callee) = statement.callee_mut() {
            *callee = FunctionId::from_index(first + callee.index());
        }
        statement.blocks_mut().into_iter().for_each(|block| behind(block, first));
    }
}
