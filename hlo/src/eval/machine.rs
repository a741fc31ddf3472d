//! Running computations, one instruction after the other.

use super::check::Plan;
use super::value::{Buffer, Meter, OutOfMemory, Value, byte_size};
use super::{Config, elementwise, movement, reduce};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{
    ArenaId, ArrayShape, Computation, ComputationId, Data, InstrId, Instruction, Literal, Module, Op, Shape,
};
use std::sync::Arc;

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";

/// The results of the entry, flattened.
pub(super) fn run<'a>(
    module: &'a Module,
    plan: &'a Plan,
    arguments: Vec<Value<'a>>,
    config: &Config,
) -> Result<Vec<Literal>, Diagnostics> {
    let mut machine = Machine { module, plan, meter: Meter::new(config.byte_limit), frames: Vec::new() };
    machine.enter(module.entry, arguments);
    let result = machine.run()?;
    let mut literals = Vec::new();
    flatten(result, module.entry_computation().result_shape(), &mut literals);
    Ok(literals)
}

fn flatten(value: Value<'_>, shape: &Shape, literals: &mut Vec<Literal>) {
    match (value, shape) {
        (Value::Tuple(values), Shape::Tuple(shapes)) => {
            values.into_iter().zip(shapes).for_each(|(value, shape)| flatten(value, shape, literals));
        }
        (Value::Array(buffer), shape) => {
            literals.push(Literal { shape: shape.without_layout(), data: buffer.into_data() });
        }
        (Value::Tuple(_), _) => unreachable!("{VERIFIED}"),
    }
}

struct Machine<'a> {
    module: &'a Module,
    plan: &'a Plan,
    meter: Arc<Meter>,
    /// The computations being run, each called by the one before it. Calls do not use the stack, however deep.
    frames: Vec<Frame<'a>>,
}

struct Frame<'a> {
    computation: &'a Computation,
    last_uses: &'a [usize],
    /// The next instruction, or the call being run.
    next: usize,
    arguments: Vec<Option<Value<'a>>>,
    /// The values that are still needed.
    values: Vec<Option<Value<'a>>>,
}

impl<'a> Machine<'a> {
    fn enter(&mut self, id: ComputationId, arguments: Vec<Value<'a>>) {
        let computation = &self.module.computations[id];
        self.frames.push(Frame {
            computation,
            last_uses: &self.plan.last_uses[&id],
            next: 0,
            arguments: arguments.into_iter().map(Some).collect(),
            values: vec![None; computation.instructions.len()],
        });
    }

    fn run(&mut self) -> Result<Value<'a>, Diagnostics> {
        loop {
            let frame = self.frames.last_mut().expect("the entry's frame is popped by returning");
            if frame.next == frame.computation.instructions.len() {
                let result = frame.values[frame.computation.root.index()].take().expect(VERIFIED);
                self.frames.pop();
                match self.frames.last_mut() {
                    None => return Ok(result),
                    Some(caller) => caller.finish(result),
                }
                continue;
            }
            let instruction = &frame.computation.instructions[InstrId::from_index(frame.next)];
            let operands = frame.operands(instruction);
            match &instruction.op {
                Op::Call { to_apply: callee } | Op::Fusion { calls: callee, .. } => self.enter(*callee, operands),
                Op::Parameter { number } => {
                    // The verifier allows each number once, so nobody else takes the argument.
                    let argument = frame.arguments[*number as usize].take().expect(VERIFIED);
                    frame.finish(argument);
                }
                _ => {
                    let value = self.compute(instruction, operands);
                    let frame = self.frames.last_mut().expect("no frame was popped");
                    match value {
                        Ok(value) => frame.finish(value),
                        Err(OutOfMemory) => return Err(frame.out_of_memory(instruction)),
                    }
                }
            }
        }
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

    fn out_of_memory(&self, instruction: &Instruction) -> Diagnostics {
        let message = format!("there is not enough memory for {}", instruction.shape.without_layout());
        let place = format!("{}/{}", self.computation.name, instruction.name);
        Diagnostic::new("HLO205", instruction.span, message).about(place).into()
    }
}

impl<'a> Machine<'a> {
    /// The value of an instruction that is neither a parameter nor a call.
    fn compute(&self, instruction: &'a Instruction, mut operands: Vec<Value<'a>>) -> Result<Value<'a>, OutOfMemory> {
        match &instruction.op {
            Op::Constant(literal) => return Ok(given(literal)),
            Op::Tuple => return Ok(Value::Tuple(operands)),
            Op::GetTupleElement { index } => match operands.pop() {
                Some(Value::Tuple(mut elements)) => return Ok(elements.swap_remove(*index as usize)),
                _ => unreachable!("{VERIFIED}"),
            },
            // Elements are kept in row-major order, whatever the layout.
            Op::Copy | Op::Reshape => return Ok(operands.pop().expect(VERIFIED)),
            Op::Bitcast if self.is_reshape(instruction) => return Ok(operands.pop().expect(VERIFIED)),
            Op::Reduce { dimensions, to_apply } => {
                return self.reduce(instruction, dimensions, *to_apply, &operands);
            }
            _ => {}
        }
        let result = instruction.shape.as_array().expect(VERIFIED);
        let arrays: Vec<(&ArrayShape, &Data)> = self.shapes(instruction).zip(operands.iter().map(data)).collect();
        let bytes = byte_size(result).ok_or(OutOfMemory)?;
        let bytes = self.meter.reserve(bytes)?;
        Ok(Value::Array(Buffer::made(kernel(&instruction.op, result, &arrays)?, bytes)))
    }

    /// Whether a bitcast is between row-major arrays of one type.
    fn is_reshape(&self, bitcast: &'a Instruction) -> bool {
        let row_major = |array: &ArrayShape| array.minor_to_major().windows(2).all(|pair| pair[0] > pair[1]);
        let result = bitcast.shape.as_array().expect(VERIFIED);
        row_major(result)
            && self.shapes(bitcast).all(|operand| row_major(operand) && operand.element_type == result.element_type)
    }

    /// The operands' shapes, which are those of arrays.
    fn shapes(&self, instruction: &'a Instruction) -> impl Iterator<Item = &'a ArrayShape> {
        let computation = self.frames.last().expect("an instruction is being run").computation;
        instruction.operands.iter().map(|&id| computation.instructions[id].shape.as_array().expect(VERIFIED))
    }
}

impl<'a> Machine<'a> {
    fn reduce(
        &self,
        instruction: &'a Instruction,
        dimensions: &[i64],
        to_apply: ComputationId,
        operands: &[Value<'a>],
    ) -> Result<Value<'a>, OutOfMemory> {
        let shape = self.shapes(instruction).next().expect(VERIFIED);
        let (inputs, initials) = operands.split_at(operands.len() / 2);
        let (inputs, initials): (Vec<&Data>, Vec<&Data>) =
            (inputs.iter().map(data).collect(), initials.iter().map(data).collect());
        let mut bytes = Vec::with_capacity(inputs.len());
        for leaf in instruction.shape.leaves() {
            let size = leaf.as_array().and_then(byte_size).ok_or(OutOfMemory)?;
            bytes.push(self.meter.reserve(size)?);
        }
        let results = reduce::reduce(dimensions, &self.plan.regions[&to_apply], shape, &inputs, &initials)?;
        let made = results.into_iter().zip(bytes).map(|(data, bytes)| Value::Array(Buffer::made(data, bytes)));
        let mut values: Vec<Value<'a>> = made.collect();
        Ok(if instruction.shape.as_tuple().is_some() { Value::Tuple(values) } else { values.swap_remove(0) })
    }
}

/// The elements of an array made from other arrays.
fn kernel(op: &Op, result: &ArrayShape, operands: &[(&ArrayShape, &Data)]) -> Result<Data, OutOfMemory> {
    let operand = |position: usize| operands[position].1;
    match op {
        Op::Iota { dimension } => movement::iota(*dimension as usize, result),
        Op::Broadcast { dimensions } => movement::broadcast(dimensions, operands[0].0, operand(0), result),
        Op::Bitcast => bitcast(operands[0].0, operand(0), result),
        Op::Transpose { permutation } => {
            let permutation: Vec<usize> = permutation.iter().map(|&dimension| dimension as usize).collect();
            movement::transpose(&permutation, operands[0].0, operand(0))
        }
        Op::Slice { dimensions } => movement::slice(dimensions, operands[0].0, operand(0), result),
        Op::Reverse { dimensions } => movement::reverse(dimensions, operands[0].0, operand(0)),
        Op::Concatenate { dimension } => movement::concatenate(*dimension as usize, operands, result),
        Op::Pad { padding } => movement::pad(padding, operands[0].0, operand(0), operand(1), result),
        Op::Convert => elementwise::convert(operand(0), result.element_type),
        Op::Compare { direction, order } => elementwise::compare(*direction, *order, operand(0), operand(1)),
        Op::Select => elementwise::select(operand(0), operand(1), operand(2)),
        Op::Clamp => elementwise::clamp(operand(0), operand(1), operand(2)),
        Op::Unary(op) => elementwise::unary(*op, operand(0)),
        Op::Binary(op) => elementwise::binary(*op, operand(0), operand(1)),
        _ => unreachable!("these are seen to before, or refused"),
    }
}

/// The elements in the order they lie in memory under the operand's layout are those under the result's layout.
fn bitcast(shape: &ArrayShape, operand: &Data, result: &ArrayShape) -> Result<Data, OutOfMemory> {
    let retyped = elementwise::reinterpret(operand, result.element_type)?;
    let mut major_to_minor = shape.minor_to_major();
    major_to_minor.reverse();
    let in_memory = movement::transpose(&major_to_minor, shape, &retyped)?;
    // The result's elements as memory orders them, and where each of its dimensions went there.
    let mut order = result.minor_to_major();
    order.reverse();
    let extents: Vec<i64> = order.iter().map(|&dimension| result.extents[dimension]).collect();
    let mut back = vec![0; order.len()];
    for (position, &dimension) in order.iter().enumerate() {
        back[dimension] = position;
    }
    movement::transpose(&back, &ArrayShape::new(result.element_type, extents), &in_memory)
}

fn given(literal: &Literal) -> Value<'_> {
    match &literal.data {
        Data::Tuple(elements) => Value::Tuple(elements.iter().map(given).collect()),
        data => Value::Array(Buffer::Given(data)),
    }
}

fn data<'v>(value: &'v Value<'_>) -> &'v Data {
    match value {
        Value::Array(buffer) => buffer,
        Value::Tuple(_) => unreachable!("{VERIFIED}"),
    }
}
