//! The interpreter, which runs the instructions of a computation one after the other.

use super::call::{Call, Run};
use super::chance::Drawn;
use super::value::{Buffer, Value, byte_size};
use super::work::{Stop, Work, zeroed};
use super::{Progress, kernel};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{
    Alone, ArenaId, ArrayShape, Computation, ComputationId, Data, InstrId, Instruction, Literal, Op, Scalar, Shape,
    keeps_what_it_was_given,
};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";

/// How deep computations that are applied element by element, and are more than arithmetic, may be nested.
const MAX_NESTING: usize = 32;

/// The results of the entry, flattened; tokens are no results.
pub(super) fn run(run: &Run<'_>, arguments: Vec<Value<'_>>) -> Result<Vec<Literal>, Diagnostics> {
    let mut machine = Machine::new(run, 0);
    if let Some(chance) = &run.config.chance {
        machine.drawn = chance.drawn();
    }
    machine.enter(run.module.entry, arguments);
    let result = machine.run().map_err(|stopped| machine.explain(stopped))?;
    if let Some(chance) = &run.config.chance {
        chance.keep(std::mem::take(&mut machine.drawn));
    }
    let mut literals = Vec::new();
    flatten(result, run.module.entry_computation().result_shape(), &mut literals);
    Ok(literals)
}

/// The results of a computation of scalars.
pub(super) fn apply(
    run: &Run<'_>,
    id: ComputationId,
    arguments: Vec<Value<'_>>,
    nesting: usize,
) -> Result<Vec<Scalar>, Stop> {
    let mut scalars = Vec::new();
    enter(run, id, arguments, nesting)?.collect_scalars(&mut scalars);
    Ok(scalars)
}

/// The result of a computation that an operation applies again and again.
pub(super) fn enter<'a>(
    run: &Run<'a>,
    id: ComputationId,
    arguments: Vec<Value<'a>>,
    nesting: usize,
) -> Result<Value<'a>, Stop> {
    if nesting > MAX_NESTING {
        let message = format!("computations that loop are applied element by element, more than {MAX_NESTING} deep");
        return Err(Stop::Refused("HLO206", message));
    }
    let mut machine = Machine::new(run, nesting);
    machine.enter(id, arguments);
    machine.run()
}

fn flatten(value: Value<'_>, shape: &Shape, literals: &mut Vec<Literal>) {
    match (value, shape) {
        (Value::Tuple(values), Shape::Tuple(shapes)) => {
            values.into_iter().zip(shapes).for_each(|(value, shape)| flatten(value, shape, literals));
        }
        (Value::Array(buffer), shape) => {
            literals.push(Literal { shape: shape.without_layout(), data: buffer.into_data() });
        }
        (Value::Token, _) => {}
        (Value::Tuple(_), _) => unreachable!("{VERIFIED}"),
    }
}

struct Machine<'r, 'a> {
    run: &'r Run<'a>,
    /// The computations being run, each called by the one before it. Calls do not use the stack, however deep.
    frames: Vec<Frame<'a>>,
    nesting: usize,
    drawn: Drawn,
}

struct Frame<'a> {
    computation: &'a Computation,
    last_uses: &'a [usize],
    /// The next instruction, or the one being run.
    next: usize,
    arguments: Vec<Option<Value<'a>>>,
    /// The values that are still needed.
    values: Vec<Option<Value<'a>>>,
    /// What becomes of the value of the computation that the next instruction has called.
    waiting: Continuation<'a>,
    /// How many rounds the loop that is being run has made.
    rounds: u64,
}

/// The use of a called computation's value when it returns.
enum Continuation<'a> {
    /// Its value is that of the instruction.
    Value,
    /// It says whether a loop goes on from this value.
    Condition(Value<'a>),
    /// Its value is what a loop goes on with.
    Body,
    /// Its value is what an asynchronous operation with these operands ends with.
    Started(Vec<Value<'a>>),
}

impl<'r, 'a> Machine<'r, 'a> {
    fn new(run: &'r Run<'a>, nesting: usize) -> Self {
        Machine { run, frames: Vec::new(), nesting, drawn: Drawn::default() }
    }
}

impl<'a> Machine<'_, 'a> {
    fn enter(&mut self, id: ComputationId, arguments: Vec<Value<'a>>) {
        let computation = &self.run.module.computations[id];
        self.frames.push(Frame {
            computation,
            last_uses: &self.run.plan.last_uses[&id],
            next: 0,
            arguments: arguments.into_iter().map(Some).collect(),
            values: vec![None; computation.instructions.len()],
            waiting: Continuation::Value,
            rounds: 0,
        });
    }

    fn run(&mut self) -> Result<Value<'a>, Stop> {
        loop {
            let frame = self.frames.last_mut().expect("the entry's frame is popped by returning");
            if frame.next == frame.computation.instructions.len() {
                let result = frame.values[frame.computation.root.index()].take().expect(VERIFIED);
                self.frames.pop();
                match self.frames.is_empty() {
                    true => return Ok(result),
                    false => self.resume(result)?,
                }
                continue;
            }
            self.count()?;
            let frame = self.frames.last_mut().expect("a computation is being run");
            let instruction = &frame.computation.instructions[InstrId::from_index(frame.next)];
            let mut operands = frame.operands(instruction);
            match &instruction.op {
                Op::Call { to_apply: callee } | Op::Fusion { calls: callee, .. } => self.enter(*callee, operands),
                Op::While { condition, .. } => {
                    let state = operands.pop().expect(VERIFIED);
                    frame.rounds = 0;
                    frame.waiting = Continuation::Condition(state.clone());
                    self.enter(*condition, vec![state]);
                }
                Op::AsyncStart { calls, .. } => {
                    frame.waiting = Continuation::Started(operands.clone());
                    self.enter(*calls, operands);
                }
                Op::Conditional { branches, .. } => {
                    let taken = branch(operands[0].scalar(), branches.len());
                    self.enter(branches[taken], vec![operands.swap_remove(taken + 1)]);
                }
                Op::Parameter { number } => {
                    // The verifier allows each number once, so nobody else takes the argument.
                    let argument = frame.arguments[*number as usize].take().expect(VERIFIED);
                    frame.finish(argument);
                }
                _ => {
                    let value = self.compute(instruction, operands)?;
                    self.frames.last_mut().expect("no frame was popped").finish(value);
                }
            }
        }
    }

    /// Goes on with what was called.
    fn resume(&mut self, result: Value<'a>) -> Result<(), Stop> {
        let frame = self.frames.last_mut().expect("somebody called");
        let instruction = &frame.computation.instructions[InstrId::from_index(frame.next)];
        let Op::While { condition, body } = &instruction.op else {
            match std::mem::replace(&mut frame.waiting, Continuation::Value) {
                Continuation::Started(operands) => {
                    let elements = vec![Value::Tuple(operands), result];
                    let value = with_contexts(&self.run.work, elements, &instruction.shape)?;
                    frame.finish(value);
                }
                _ => frame.finish(result),
            }
            return Ok(());
        };
        match std::mem::replace(&mut frame.waiting, Continuation::Value) {
            Continuation::Condition(state) if result.scalar() == Scalar::Pred(true) => {
                frame.rounds += 1;
                let limit = self.run.config.iteration_limit;
                if limit.is_some_and(|limit| frame.rounds > limit) {
                    let message = format!("the loop has not ended after {} rounds", frame.rounds - 1);
                    return Err(Stop::Refused("HLO208", message));
                }
                frame.waiting = Continuation::Body;
                self.enter(*body, vec![state]);
            }
            Continuation::Condition(state) => frame.finish(state),
            Continuation::Body | Continuation::Value | Continuation::Started(_) => {
                frame.waiting = Continuation::Condition(result.clone());
                self.enter(*condition, vec![result]);
            }
        }
        Ok(())
    }

    /// One more instruction: tells whoever watches, and stops where too many have run.
    fn count(&mut self) -> Result<(), Stop> {
        let Run { config, work, instructions, .. } = self.run;
        let count = instructions.fetch_add(1, Ordering::Relaxed) + 1;
        work.go_on()?;
        if count > config.instruction_limit {
            let message = format!("more than {} instructions have run", config.instruction_limit);
            return Err(Stop::Refused("HLO207", message));
        }
        let (Some(watch), Some(frame), 0) = (&config.watch, self.frames.last(), self.nesting) else { return Ok(()) };
        let instruction = &frame.computation.instructions[InstrId::from_index(frame.next)];
        let progress = Progress {
            instructions: count,
            computation: &frame.computation.name,
            instruction: &instruction.name,
            bytes: work.meter.alive(),
        };
        match watch.tell(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Interrupted),
        }
    }

    /// What stopped the machine, and at which instruction.
    fn explain(&self, stop: Stop) -> Diagnostics {
        let frame = self.frames.last().expect("the machine stopped within a computation");
        let instruction = &frame.computation.instructions[InstrId::from_index(frame.next)];
        let (code, message) = match stop {
            Stop::OutOfMemory => {
                ("HLO205", format!("there is not enough memory for {}", instruction.shape.without_layout()))
            }
            Stop::Interrupted => ("HLO209", "interrupted".to_owned()),
            Stop::Refused(code, message) => (code, message),
        };
        let place = format!("{}/{}", frame.computation.name, instruction.name);
        Diagnostic::new(code, instruction.span, message).about(place).into()
    }
}

/// A tuple with what further elements an asynchronous operation's shape has: numbers that only its end understands.
fn with_contexts<'a>(work: &Work, mut elements: Vec<Value<'a>>, shape: &Shape) -> Result<Value<'a>, Stop> {
    for context in shape.as_tuple().unwrap_or_default().iter().skip(elements.len()) {
        elements.push(zeros(work, context)?);
    }
    Ok(Value::Tuple(elements))
}

/// A value of this shape of zeros.
fn zeros<'a>(work: &Work, shape: &Shape) -> Result<Value<'a>, Stop> {
    let mut zeros = Vec::new();
    for array in shape.leaves().into_iter().filter_map(Shape::as_array) {
        let bytes = work.reserve(byte_size(array).ok_or(Stop::OutOfMemory)?)?;
        let count = array.element_count().and_then(|count| usize::try_from(count).ok()).ok_or(Stop::OutOfMemory)?;
        let data = zeroed(count, array.element_type)?;
        zeros.push(Value::Array(Buffer::made(data, bytes)));
    }
    Ok(assemble(shape, &mut zeros.into_iter()))
}

fn element(tuple: Value<'_>, index: usize) -> Value<'_> {
    match tuple {
        Value::Tuple(mut elements) => elements.swap_remove(index),
        _ => unreachable!("{VERIFIED}"),
    }
}

/// Which of a number of branches is taken: those of a `pred` are for true and false, any number that is not one of a branch
/// takes the last.
fn branch(chosen: Scalar, branches: usize) -> usize {
    match chosen {
        Scalar::Pred(chosen) => usize::from(!chosen),
        Scalar::S32(number) => usize::try_from(number).unwrap_or(usize::MAX).min(branches - 1),
        _ => unreachable!("{VERIFIED}"),
    }
}

impl<'a> Frame<'a> {
    /// The operands' values; those that are read for the last time are handed over.
    fn operands(&mut self, instruction: &Instruction) -> Vec<Value<'a>> {
        let mut values = Vec::with_capacity(instruction.operands.len());
        for operand in &instruction.operands {
            values.push(self.values[operand.index()].clone().expect(VERIFIED));
        }
        for operand in &instruction.operands {
            if self.last_uses[operand.index()] == self.next {
                self.values[operand.index()] = None;
            }
        }
        values
    }

    /// Stores the value of the next instruction, if it has readers, and moves on.
    fn finish(&mut self, value: Value<'a>) {
        if self.last_uses[self.next] != self.next {
            self.values[self.next] = Some(value);
        }
        self.next += 1;
    }
}

impl<'a> Machine<'_, 'a> {
    /// The value of an instruction that calls nothing.
    fn compute(&mut self, instruction: &'a Instruction, mut operands: Vec<Value<'a>>) -> Result<Value<'a>, Stop> {
        match &instruction.op {
            Op::Constant(literal) => return Ok(given(literal)),
            Op::Tuple => return Ok(Value::Tuple(operands)),
            Op::GetTupleElement { index } => match operands.pop() {
                Some(tuple) => return Ok(element(tuple, *index as usize)),
                None => unreachable!("{VERIFIED}"),
            },
            // Elements are kept in row-major order, whatever the layout.
            Op::Copy | Op::Reshape | Op::OptimizationBarrier | Op::AddDependency => {
                return Ok(operands.swap_remove(0));
            }
            Op::Bitcast if self.is_reshape(instruction) => return Ok(operands.swap_remove(0)),
            Op::AfterAll => return Ok(Value::Token),
            op if matches!(Alone::of(op), Some(Alone::Given | Alone::Zeros)) => {
                return self.exchanged(instruction, operands);
            }
            Op::Domain { .. } | Op::AsyncUpdate { .. } | Op::AllReduceDone => return Ok(operands.swap_remove(0)),
            // Everything has been computed when it was started.
            Op::CopyStart { .. } => {
                let operand = operands.swap_remove(0);
                return with_contexts(&self.run.work, vec![operand.clone(), operand], &instruction.shape);
            }
            Op::CopyDone => return Ok(element(operands.swap_remove(0), 0)),
            Op::AsyncDone { .. } | Op::AllGatherDone | Op::CollectivePermuteDone => {
                return Ok(element(operands.swap_remove(0), 1));
            }
            _ => {}
        }
        let chance = self.chance(instruction);
        let mut arrays: Vec<(&'a ArrayShape, &Data)> = Vec::with_capacity(operands.len());
        for (shape, value) in self.shapes(instruction).zip(&operands) {
            value.collect_arrays(shape, &mut arrays);
        }
        let mut bytes = Vec::new();
        for leaf in instruction.shape.leaves().into_iter().filter_map(Shape::as_array) {
            bytes.push(self.run.work.reserve(byte_size(leaf).ok_or(Stop::OutOfMemory)?)?);
        }
        let call = Call { run: self.run, instruction, operands: arrays, nesting: self.nesting, chance };
        let made = kernel::compute(&call)?.into_iter().zip(bytes);
        let mut made = made.map(|(data, bytes)| Value::Array(Buffer::made(data, bytes)));
        Ok(assemble(&instruction.shape, &mut made))
    }

    /// What a collective of one device yields.
    fn exchanged(&self, instruction: &'a Instruction, operands: Vec<Value<'a>>) -> Result<Value<'a>, Stop> {
        let (op, shape, work) = (&instruction.op, &instruction.shape, &self.run.work);
        let keeps = keeps_what_it_was_given(op);
        let result = shape.as_tuple().filter(|_| keeps).map_or(shape, |elements| &elements[1]);
        let together = |mut values: Vec<Value<'a>>| match result {
            Shape::Tuple(_) => Value::Tuple(values),
            _ => values.swap_remove(0),
        };
        let given = together(operands);
        let received = if Alone::of(op) == Some(Alone::Zeros) { zeros(work, result)? } else { given.clone() };
        if keeps { with_contexts(work, vec![given, received], shape) } else { Ok(received) }
    }

    /// What an operation that depends on chance is given in its place.
    fn chance(&mut self, instruction: &Instruction) -> u128 {
        let frame = self.frames.last().expect("an instruction is being run");
        self.drawn.next(instruction, &frame.computation.name, frame.next)
    }

    /// Whether a bitcast is between row-major arrays of one type.
    fn is_reshape(&self, bitcast: &'a Instruction) -> bool {
        let row_major = |array: &ArrayShape| array.minor_to_major().windows(2).all(|pair| pair[0] > pair[1]);
        let result = bitcast.shape.as_array().expect(VERIFIED);
        row_major(result)
            && self
                .shapes(bitcast)
                .filter_map(Shape::as_array)
                .all(|operand| row_major(operand) && operand.element_type == result.element_type)
    }

    /// The operands' shapes.
    fn shapes(&self, instruction: &'a Instruction) -> impl Iterator<Item = &'a Shape> {
        let computation = self.frames.last().expect("an instruction is being run").computation;
        instruction.operands.iter().map(|&id| &computation.instructions[id].shape)
    }
}

/// The value of a shape with these arrays as its leaves, from left to right.
fn assemble<'a>(shape: &Shape, arrays: &mut dyn Iterator<Item = Value<'a>>) -> Value<'a> {
    match shape {
        Shape::Tuple(elements) => Value::Tuple(elements.iter().map(|shape| assemble(shape, arrays)).collect()),
        Shape::Array(_) => arrays.next().expect("one array is made for each leaf of a shape"),
        _ => Value::Token,
    }
}

fn given(literal: &Literal) -> Value<'_> {
    match &literal.data {
        Data::Tuple(elements) => Value::Tuple(elements.iter().map(given).collect()),
        data => Value::Array(Buffer::Given(data)),
    }
}
