//! Flattening: inlines calls, takes tuples apart and drops dead instructions.
//!
//! Afterwards a value is an array, except for the instructions that have several results by nature (a variadic reduce,
//! a fusion with several outputs) and the `tuple` at a computation's root. Tuple parameters become several parameters,
//! nested tuples of results become one flat tuple: the order is that of the leaves, left to right.

mod header;

use super::dead_code::{DeadCode, reachable, without_unreachable};
use super::pass::Pass;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, Data, InstrId, Instruction, Literal, Module, Op, Shape,
    Span, UniqueNames,
};

/// Instructions a flattened computation may have: calls of calls of calls can double at every level.
const MAX_INSTRUCTIONS: usize = 4_000_000;

/// The module without calls, tuples or dead code; computations that nothing uses any more are gone.
///
/// Of the attributes that any instruction may carry only `metadata` stays: the others name instructions or devices
/// that no longer exist. `entry_computation_layout` and `is_scheduled` are dropped, for the same reason; `input_output_alias` and
/// `buffer_donor` name the leaves.
///
/// # Errors
/// `HLO310` if inlining would make more than 4,000,000 instructions; `HLO311` for an operation this pass cannot look
/// through because it handles tuples in a way of its own (`while`, `conditional`, …).
pub fn flatten(module: &Module) -> Result<Module, Diagnostics> {
    flattened(module, false)
}

/// As [`flatten`], but an operation that it cannot look through stays as it is: a `while`, a `custom-call`, a `sort` of several
/// arrays, a transfer with a token. Tuples that it reads are put together before it, its value is taken apart after it, and the
/// computations that it names are flattened within and keep their parameters and results. It keeps its attributes, but for control
/// predecessors. What has an effect stays.
///
/// # Errors
/// `HLO310` as [`flatten`]; `HLO311` for an element that a tuple does not have.
pub fn flatten_around(module: &Module) -> Result<Module, Diagnostics> {
    let flat = flattened(module, true)?;
    Ok(DeadCode.run(&flat)?.module)
}

fn flattened(module: &Module, keeps: bool) -> Result<Module, Diagnostics> {
    let count = module.computations.len();
    let mut pass = Flatten {
        module,
        keeps,
        bodies: Vec::new(),
        made: Arena::new(),
        realized: vec![None; count],
        whole: vec![None; count],
        names: UniqueNames::default(),
    };
    let needed = reachable(module);
    for (id, computation) in module.computations.iter() {
        let body = if needed[id.index()] { Some(pass.body(computation)?) } else { None };
        pass.bodies.push(body);
        if id == module.entry {
            break;
        }
    }
    let entry = pass.realize(module.entry);
    let attributes = header::flattened(module);
    let (name, tables) = (module.name.clone(), module.tables.clone());
    let flat = Module { name, attributes, tables, computations: pass.made, entry };
    let reached = reachable(&flat);
    Ok(without_unreachable(&flat, &reached))
}

/// A value taken apart: the instructions that hold its leaves. What an asynchronous operation has begun is a leaf as a whole.
#[derive(Clone, Debug)]
enum Value {
    Leaf(InstrId),
    Tuple(Vec<Value>),
}

impl Value {
    fn leaves(&self) -> Vec<InstrId> {
        let (mut leaves, mut pending) = (Vec::new(), vec![self]);
        while let Some(value) = pending.pop() {
            match value {
                Value::Leaf(id) => leaves.push(*id),
                Value::Tuple(elements) => pending.extend(elements.iter().rev()),
            }
        }
        leaves
    }

    /// A value of this shape made of `leaves` in order.
    fn of_shape(shape: &Shape, leaves: &mut impl Iterator<Item = InstrId>) -> Value {
        match shape {
            Shape::Tuple(elements) => {
                Value::Tuple(elements.iter().map(|element| Value::of_shape(element, leaves)).collect())
            }
            _ => Value::Leaf(leaves.next().expect("there is a leaf for each leaf of the shape")),
        }
    }

    fn map(&self, image: &[InstrId]) -> Value {
        match self {
            Value::Leaf(id) => Value::Leaf(image[id.index()]),
            Value::Tuple(elements) => Value::Tuple(elements.iter().map(|element| element.map(image)).collect()),
        }
    }
}

/// A computation with its calls inlined and its tuples taken apart.
struct Body {
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
    result: Value,
}

impl Body {
    fn new() -> Self {
        Body { instructions: Arena::new(), names: UniqueNames::default(), result: Value::Tuple(Vec::new()) }
    }

    /// The value as one instruction of this shape.
    fn put_together(&mut self, value: &Value, shape: &Shape, span: Span) -> InstrId {
        match (self.laid_out(value, shape), shape) {
            (Value::Tuple(elements), Shape::Tuple(shapes)) => {
                let pairs = elements.iter().zip(shapes);
                let operands = pairs.map(|(element, shape)| self.put_together(element, shape, span)).collect();
                let mut tuple = Instruction::new("tuple", shape.clone(), Op::Tuple, operands);
                tuple.span = span;
                self.push(tuple)
            }
            (Value::Leaf(id), _) => id,
            (Value::Tuple(_), _) => unreachable!("only tuples are taken apart"),
        }
    }

    /// The leaves of an instruction's value.
    fn take_apart(&mut self, whole: InstrId) -> Value {
        match &self.instructions[whole].shape {
            Shape::Tuple(_) => {
                let elements = self.elements(whole);
                Value::Tuple(elements.into_iter().map(|element| self.take_apart(element)).collect())
            }
            _ => Value::Leaf(whole),
        }
    }

    fn push(&mut self, mut instruction: Instruction) -> InstrId {
        instruction.name = self.names.take(&instruction.name);
        self.instructions.push(instruction)
    }

    /// The value in the layouts of `shape`, with copies where they differ: a bitcast reads what it is given as the layout
    /// says, and the layout of a parameter or of a tuple's element is the one that stands there.
    fn laid_out(&mut self, value: &Value, shape: &Shape) -> Value {
        match (value, shape) {
            (Value::Tuple(elements), Shape::Tuple(shapes)) => {
                let pairs = elements.iter().zip(shapes);
                Value::Tuple(pairs.map(|(element, shape)| self.laid_out(element, shape)).collect())
            }
            (Value::Leaf(id), Shape::Array(wanted)) => {
                let given = &self.instructions[*id];
                let is_same = |given: &ArrayShape| given.minor_to_major() == wanted.minor_to_major();
                if given.shape.as_array().is_none_or(is_same) {
                    return value.clone();
                }
                let copy = Instruction { shape: shape.clone(), op: Op::Copy, operands: vec![*id], ..given.clone() };
                Value::Leaf(self.push(copy))
            }
            _ => value.clone(),
        }
    }

    /// `get-tuple-element` of every element of `producer`, whose shape is a flat tuple.
    fn elements(&mut self, producer: InstrId) -> Vec<InstrId> {
        let from = self.instructions[producer].clone();
        let shapes = from.shape.as_tuple().unwrap_or_default().to_vec();
        (0i64..)
            .zip(shapes)
            .map(|(index, shape)| {
                let name = format!("{}.{index}", from.name);
                let op = Op::GetTupleElement { index };
                self.push(Instruction { name, shape, op, operands: vec![producer], ..from.clone() })
            })
            .collect()
    }
}

struct Flatten<'m> {
    module: &'m Module,
    /// Whether operations that cannot be looked through stay, or are refused.
    keeps: bool,
    bodies: Vec<Option<Body>>,
    made: Arena<ComputationId, Computation>,
    realized: Vec<Option<ComputationId>>,
    /// Those with their own parameters and results.
    whole: Vec<Option<ComputationId>>,
    names: UniqueNames,
}

impl Flatten<'_> {
    fn body(&mut self, computation: &Computation) -> Result<Body, Diagnostics> {
        let mut body = Body::new();
        // The number of each parameter's first leaf.
        let mut first_leaf = Vec::new();
        let mut leaves = 0i64;
        for parameter in computation.parameters() {
            first_leaf.push(leaves);
            leaves += i64::try_from(computation.instructions[parameter].shape.leaves().len()).unwrap_or(i64::MAX);
        }
        let mut values: Vec<Value> = Vec::with_capacity(computation.instructions.len());
        for instruction in computation.instructions.values() {
            let value = self.value(&mut body, (computation, instruction), &first_leaf, &values)?;
            values.push(value);
            if body.instructions.len() > MAX_INSTRUCTIONS {
                let message = format!("inlining calls makes more than {MAX_INSTRUCTIONS} instructions");
                return Err(Diagnostic::new("HLO310", computation.span, message).about(&computation.name).into());
            }
        }
        body.result = values[computation.root.index()].clone();
        Ok(body)
    }

    fn value(
        &mut self,
        body: &mut Body,
        (computation, instruction): (&Computation, &Instruction),
        first_leaf: &[i64],
        values: &[Value],
    ) -> Result<Value, Diagnostics> {
        let operands = || instruction.operands.iter().map(|operand| &values[operand.index()]);
        let leaves = || operands().flat_map(Value::leaves).collect::<Vec<_>>();
        let mut kept =
            Instruction::new(&instruction.name, instruction.shape.clone(), instruction.op.clone(), Vec::new());
        kept.span = instruction.span;
        kept.attributes.extend(instruction.attributes.iter().filter(|kept| kept.name == "metadata").cloned());
        match &instruction.op {
            Op::Parameter { number } => {
                let first = usize::try_from(*number).ok().and_then(|number| first_leaf.get(number)).copied();
                let first = first.unwrap_or_default();
                let shapes = instruction.shape.leaves();
                let is_array = matches!(instruction.shape, Shape::Array(_));
                let made: Vec<InstrId> = (0i64..)
                    .zip(&shapes)
                    .map(|(leaf, shape)| {
                        let name = if is_array { kept.name.clone() } else { format!("{}.{leaf}", kept.name) };
                        let op = Op::Parameter { number: first + leaf };
                        body.push(Instruction { name, shape: (*shape).clone(), op, ..kept.clone() })
                    })
                    .collect();
                Ok(Value::of_shape(&instruction.shape, &mut made.into_iter()))
            }
            Op::Constant(literal) if matches!(literal.data, Data::Tuple(_)) => {
                let arrays = instruction.shape.leaves().into_iter().zip(literal.leaves()).enumerate();
                let made: Vec<InstrId> = arrays
                    .map(|(leaf, (shape, array))| {
                        let name = format!("{}.{leaf}", kept.name);
                        let op = Op::Constant(Literal { shape: shape.clone(), data: array.data.clone() });
                        body.push(Instruction { name, shape: shape.clone(), op, ..kept.clone() })
                    })
                    .collect();
                Ok(Value::of_shape(&instruction.shape, &mut made.into_iter()))
            }
            Op::Tuple => Ok(Value::Tuple(operands().cloned().collect())),
            Op::GetTupleElement { index } => match operands().next() {
                Some(Value::Tuple(elements)) => usize::try_from(*index)
                    .ok()
                    .and_then(|index| elements.get(index))
                    .map(|element| body.laid_out(element, &instruction.shape))
                    .ok_or_else(|| opaque(instruction, "it takes an element that its operand does not have")),
                Some(&Value::Leaf(whole)) if self.keeps => {
                    kept.operands = vec![whole];
                    Ok(Value::Leaf(body.push(kept)))
                }
                _ => Err(opaque(instruction, "its operand is no tuple")),
            },
            // Whatever is to stay apart has been kept apart by now.
            Op::OptimizationBarrier => {
                let operand = operands().next().ok_or_else(|| opaque(instruction, "it has no operand"))?;
                Ok(body.laid_out(operand, &instruction.shape))
            }
            Op::Copy if matches!(instruction.shape, Shape::Tuple(_)) => {
                let operand = operands().next().ok_or_else(|| opaque(instruction, "it has no operand"))?;
                Ok(body.laid_out(operand, &instruction.shape))
            }
            Op::Call { to_apply } if self.keeps && leaves().len() != self.leaf_count(*to_apply) => {
                Ok(self.kept(body, (computation, instruction), values))
            }
            Op::Call { to_apply } => {
                let callee = self.bodies[to_apply.index()].as_ref().expect("callees precede callers and are reached");
                let result = inline(body, callee, &leaves());
                Ok(body.laid_out(&result, &instruction.shape))
            }
            Op::Fusion { calls, kind, .. } => {
                let shapes = self.result_shapes(*calls);
                let is_array = matches!(instruction.shape, Shape::Array(_));
                let calls = self.realize(*calls);
                // Its operands and results are numbered anew, so what shared a buffer is forgotten.
                kept.op = Op::fusion(*kind, calls);
                kept.operands = leaves();
                if is_array {
                    return Ok(Value::Leaf(body.push(kept)));
                }
                kept.shape = Shape::Tuple(shapes);
                let producer = body.push(kept);
                let elements = body.elements(producer);
                Ok(Value::of_shape(&instruction.shape, &mut elements.into_iter()))
            }
            Op::Reduce { dimensions, to_apply } => {
                let to_apply = self.realize(*to_apply);
                kept.op = Op::Reduce { dimensions: dimensions.clone(), to_apply };
                kept.operands = leaves();
                let producer = body.push(kept);
                if matches!(instruction.shape, Shape::Array(_)) {
                    return Ok(Value::Leaf(producer));
                }
                Ok(Value::Tuple(body.elements(producer).into_iter().map(Value::Leaf).collect()))
            }
            op => {
                let handles_tuples = !matches!(instruction.shape, Shape::Array(_))
                    || operands().any(|value| matches!(value, Value::Tuple(_)))
                    || !op.called_computations().is_empty();
                if self.keeps && (handles_tuples || !op.is_computed()) {
                    return Ok(self.kept(body, (computation, instruction), values));
                }
                if handles_tuples {
                    let opcode = op.name();
                    return Err(opaque(
                        instruction,
                        &format!("'{opcode}' on tuples or computations cannot be compiled yet"),
                    ));
                }
                kept.operands = leaves();
                Ok(Value::Leaf(body.push(kept)))
            }
        }
    }

    /// The value of an operation that stays as it is.
    fn kept(
        &mut self,
        body: &mut Body,
        (computation, instruction): (&Computation, &Instruction),
        values: &[Value],
    ) -> Value {
        let mut kept = instruction.clone();
        kept.attributes.retain(|attribute| attribute.name != "control-predecessors");
        kept.op.rename_computations(|callee| self.realize_whole(callee));
        let together = |operand: &InstrId| {
            body.put_together(&values[operand.index()], &computation.instructions[*operand].shape, instruction.span)
        };
        kept.operands = instruction.operands.iter().map(together).collect();
        let whole = body.push(kept);
        if is_begun(&instruction.op) { Value::Leaf(whole) } else { body.take_apart(whole) }
    }

    /// The leaves of all parameters.
    fn leaf_count(&self, id: ComputationId) -> usize {
        let computation = &self.module.computations[id];
        let parameters = computation.parameters().into_iter();
        parameters.map(|parameter| computation.instructions[parameter].shape.leaves().len()).sum()
    }

    fn result_shapes(&self, id: ComputationId) -> Vec<Shape> {
        let body = self.bodies[id.index()].as_ref().expect("callees precede callers and are reached");
        body.result.leaves().into_iter().map(|leaf| body.instructions[leaf].shape.clone()).collect()
    }

    /// The computation made from a body, the same one each time.
    fn realize(&mut self, id: ComputationId) -> ComputationId {
        if let Some(made) = self.realized[id.index()] {
            return made;
        }
        let source = &self.module.computations[id];
        let body = self.bodies[id.index()].as_ref().expect("callees precede callers and are reached");
        let leaves = body.result.leaves();
        let mut live = vec![false; body.instructions.len()];
        leaves.iter().for_each(|leaf| live[leaf.index()] = true);
        for (id, instruction) in body.instructions.iter().rev() {
            // What may have an effect is kept for those who know.
            if self.keeps || matches!(instruction.op, Op::Parameter { .. }) {
                live[id.index()] = true;
            }
            if live[id.index()] {
                instruction.operands.iter().for_each(|operand| live[operand.index()] = true);
            }
        }
        let mut instructions = Arena::new();
        let mut image = vec![InstrId::from_index(0); body.instructions.len()];
        for (id, instruction) in body.instructions.iter().filter(|(id, _)| live[id.index()]) {
            let mut instruction = instruction.clone();
            instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
            image[id.index()] = instructions.push(instruction);
        }
        let root = match &body.result {
            Value::Leaf(leaf) => image[leaf.index()],
            Value::Tuple(_) => {
                let shapes = leaves.iter().map(|leaf| body.instructions[*leaf].shape.clone()).collect();
                let operands = leaves.iter().map(|leaf| image[leaf.index()]).collect();
                let name = body.names.clone().take("tuple");
                let mut tuple = Instruction::new(name, Shape::Tuple(shapes), Op::Tuple, operands);
                tuple.span = source.instructions[source.root].span;
                instructions.push(tuple)
            }
        };
        let name = self.names.take(&source.name);
        let computation = Computation { name, instructions, root, attributes: Vec::new(), span: source.span };
        let made = self.made.push(computation);
        self.realized[id.index()] = Some(made);
        made
    }
}

impl Flatten<'_> {
    /// The computation made from a body, with the parameters and the result that it had; the same one each time.
    fn realize_whole(&mut self, id: ComputationId) -> ComputationId {
        if let Some(made) = self.whole[id.index()] {
            return made;
        }
        let source = &self.module.computations[id];
        let body = self.bodies[id.index()].as_ref().expect("callees precede callers and are reached");
        let mut whole = Body::new();
        let mut arguments: Vec<InstrId> = Vec::new();
        for parameter in source.parameters() {
            let parameter = whole.push(source.instructions[parameter].clone());
            arguments.extend(whole.take_apart(parameter).leaves());
        }
        let result = inline(&mut whole, body, &arguments);
        let root = &source.instructions[source.root];
        let root = whole.put_together(&result, &root.shape, root.span);
        let name = self.names.take(&source.name);
        let made = self.made.push(Computation { name, instructions: whole.instructions, root, ..source.clone() });
        self.whole[id.index()] = Some(made);
        made
    }
}

/// Whether the value is of an operation under way, which only the operations that go on with it may read.
fn is_begun(op: &Op) -> bool {
    matches!(
        op,
        Op::AsyncStart { .. }
            | Op::AsyncUpdate { .. }
            | Op::AsyncShorthand { .. }
            | Op::AllGatherStart { .. }
            | Op::AllReduceStart { .. }
            | Op::CollectivePermuteStart { .. }
            | Op::CopyStart { .. }
            | Op::Send { .. }
            | Op::Recv { .. }
    )
}

/// Copies `callee` into `body` with `arguments` for its parameters.
fn inline(body: &mut Body, callee: &Body, arguments: &[InstrId]) -> Value {
    let mut image = Vec::with_capacity(callee.instructions.len());
    for instruction in callee.instructions.values() {
        if let Op::Parameter { number } = instruction.op {
            let number = usize::try_from(number).expect("flattened parameters are numbered from 0");
            match body.laid_out(&Value::Leaf(arguments[number]), &instruction.shape) {
                Value::Leaf(argument) => image.push(argument),
                Value::Tuple(_) => image.push(arguments[number]),
            }
            continue;
        }
        let mut copy = instruction.clone();
        copy.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        image.push(body.push(copy));
    }
    callee.result.map(&image)
}

fn opaque(instruction: &Instruction, reason: &str) -> Diagnostics {
    Diagnostic::new("HLO311", instruction.span, reason).about(&instruction.name).into()
}
