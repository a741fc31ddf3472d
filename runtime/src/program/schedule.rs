//! From a fused module to launches and buffers.

use super::assign::{Tenant, assign};
use super::layout::{WORD_BYTES, binding_bytes, buffer_bytes, tensor_bytes};
use super::{Buffer, BufferId, BufferKind, Copy, Launch, Program, Step, Tensor, Updated};
use crate::Error;
use indexmap::IndexMap;
use weft_codegen_wgsl::{Binding, Content, Shader};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{ArrayShape, Computation, InstrId, Instruction, Op, Shape};
use weft_partition::{Form, Fused, Target};

/// A tensor before it has a buffer. The values of a [`Schedule`] are numbered in the order they come to be.
struct Value {
    name: String,
    shape: ArrayShape,
    bytes: u64,
    origin: Origin,
    is_result: bool,
    /// The last launch that touches it.
    last: usize,
    /// The value that it is an update of, and whose buffer it takes over.
    updates: Option<usize>,
}

#[derive(Copy, Clone)]
enum Origin {
    Parameter(usize),
    Constant(InstrId),
    Launch(usize),
}

/// A launch before its tensors have buffers.
struct Planned {
    fusion: InstrId,
    /// The operands.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// What the kernel reads, in the order of its bindings.
    read: Vec<usize>,
    /// The outputs that the kernel updates.
    updated: Vec<Update>,
}

/// An output that a kernel updates.
#[derive(Copy, Clone)]
struct Update {
    output: usize,
    /// The operand that it is an update of.
    operand: usize,
    /// How many elements are written.
    elements: u64,
}

struct Schedule<'a> {
    entry: &'a Computation,
    target: &'a Target,
    values: Vec<Value>,
    /// The values of each instruction: one, or one per element.
    of: IndexMap<InstrId, Vec<usize>>,
    steps: Vec<Planned>,
    parameters: Vec<usize>,
}

/// Schedules the entry of a fused module; `kernels` compiles the fusions it is given.
pub(super) fn build(
    fused: Fused,
    target: &Target,
    kernels: impl FnOnce(&Fused, &[InstrId], &Target) -> Result<Vec<Shader>, Error>,
) -> Result<Program, Error> {
    let mut schedule = Schedule::new(fused.module.entry_computation(), target);
    schedule.visit()?;
    let results = schedule.results()?;
    schedule.check_limits()?;
    let fusions: Vec<InstrId> = schedule.steps.iter().map(|step| step.fusion).collect();
    let shaders = kernels(&fused, &fusions, target)?;
    schedule.bind(&shaders)?;
    let (buffers, tensors, temporaries_without_reuse) = schedule.place()?;
    let tensor = |value: &usize| tensors[*value].clone();
    let updated = |step: &Planned, update: &Update| {
        let form = Form::of(schedule.values[step.outputs[update.output]].shape.element_type);
        let bytes = form.and_then(|form| form.bytes(update.elements)).unwrap_or(u64::MAX);
        Updated { output: update.output, bytes }
    };

    let mut distinct: IndexMap<_, Shader> = IndexMap::new();
    let mut steps = Vec::with_capacity(schedule.steps.len());
    for (step, shader) in schedule.steps.iter().zip(shaders) {
        let instruction = &schedule.entry.instructions[step.fusion];
        for update in &step.updated {
            let (from, to) = (tensor(&step.inputs[update.operand]), tensor(&step.outputs[update.output]));
            if from.buffer != to.buffer {
                steps.push(Step::Copy(Copy { from, to }));
            }
        }
        let (workgroups, windows) = (shader.workgroups, shader.windows);
        // One text may be run with windows of tensors of different sizes.
        let of_bindings: Vec<_> = shader.bindings.iter().map(|binding| binding.windows.clone()).collect();
        let slot = distinct.entry((shader.source.clone(), shader.entry_point.clone(), of_bindings));
        let index = slot.index();
        slot.or_insert(shader);
        if workgroups.contains(&0) {
            continue;
        }
        steps.push(Step::Launch(Launch {
            name: instruction.name.clone(),
            fusion: step.fusion,
            shader: index,
            workgroups,
            windows,
            inputs: step.read.iter().map(tensor).collect(),
            outputs: step.outputs.iter().map(tensor).collect(),
            updated: step.updated.iter().map(|update| updated(step, update)).collect(),
        }));
    }
    let parameters = schedule.parameters.iter().map(tensor).collect();
    let constants = (schedule.values.iter().zip(&tensors))
        .filter_map(|(value, tensor)| match value.origin {
            Origin::Constant(id) => Some((id, tensor.clone())),
            _ => None,
        })
        .collect();
    let results = results.iter().map(tensor).collect();
    tracing::debug!(steps = steps.len(), kernels = distinct.len(), buffers = buffers.len(), "scheduled");
    Ok(Program {
        target: target.clone(),
        shaders: distinct.into_values().collect(),
        steps,
        buffers,
        parameters,
        constants,
        results,
        temporaries_without_reuse,
        passes: Vec::new(),
        module: fused.module,
    })
}

/// What a kernel reads, and the results that it updates, each with the operand that it updates. A kernel has to bind what its fusion
/// yields, and of the operands what it does not update; anything else is a fault of the compiler, told before a device meets it.
fn bindings(
    instruction: &Instruction,
    shader: &Shader,
    operands: usize,
    results: usize,
) -> Result<(Vec<usize>, Vec<Update>), Error> {
    let fault = || {
        let message = format!(
            "the kernel binds {} buffers otherwise than the fusion has {operands} operands and {results} results; this is a fault of \
             the compiler",
            shader.bindings.len(),
        );
        Diagnostic::new("RUN003", instruction.span, message).about(&instruction.name)
    };
    let (mut read, mut updated, mut written) = (Vec::new(), Vec::new(), 0);
    for binding in &shader.bindings {
        let is_expected = match binding.content {
            Content::Operand(operand) => {
                read.push(operand);
                operand < operands && !binding.writable && written == 0
            }
            Content::Result(result) | Content::Updated { result, .. } => {
                if let Content::Updated { operand, elements, .. } = binding.content {
                    updated.push(Update { output: result, operand, elements });
                }
                written += 1;
                result + 1 == written && binding.writable
            }
        };
        if !is_expected {
            return Err(fault().into());
        }
    }
    let is_within = updated.iter().all(|one| one.operand < operands && !read.contains(&one.operand));
    if written == results && is_within { Ok((read, updated)) } else { Err(fault().into()) }
}

impl<'a> Schedule<'a> {
    fn new(entry: &'a Computation, target: &'a Target) -> Self {
        Schedule { entry, target, values: Vec::new(), of: IndexMap::new(), steps: Vec::new(), parameters: Vec::new() }
    }

    fn value(&mut self, name: String, shape: &ArrayShape, origin: Origin) -> Result<usize, Error> {
        let no_form = |reason: &str| Error::NoDeviceForm { value: format!("{name} {shape}"), reason: reason.into() };
        if !shape.dynamic.is_empty() {
            return Err(no_form("its extents are not known before it runs"));
        }
        if Form::of(shape.element_type).is_none() {
            return Err(no_form(&format!("tensors of {} cannot lie on a device yet", shape.element_type)));
        }
        let limit = self.target.max_buffer_bytes;
        let bytes = tensor_bytes(shape).ok_or_else(|| Error::too_large(&name, shape, None, limit))?;
        let last = match origin {
            Origin::Launch(step) => step,
            _ => 0,
        };
        self.values.push(Value { name, shape: shape.clone(), bytes, origin, is_result: false, last, updates: None });
        Ok(self.values.len() - 1)
    }

    /// The arrays an instruction's value consists of.
    fn arrays(instruction: &Instruction) -> Result<Vec<(String, &ArrayShape)>, Error> {
        let not_array = |shape: &Shape| Error::NoDeviceForm {
            value: format!("{} {shape}", instruction.name),
            reason: "only arrays lie on a device".into(),
        };
        match &instruction.shape {
            Shape::Array(array) => Ok(vec![(instruction.name.clone(), array)]),
            Shape::Tuple(elements) => (elements.iter().enumerate())
                .map(|(position, element)| match element {
                    Shape::Array(array) => Ok((format!("{}{{{position}}}", instruction.name), array)),
                    other => Err(not_array(other)),
                })
                .collect(),
            other => Err(not_array(other)),
        }
    }

    fn visit(&mut self) -> Result<(), Error> {
        // Parameters first and by number, so that their buffers come first in every program.
        for (number, id) in self.entry.parameters().into_iter().enumerate() {
            let instruction = &self.entry.instructions[id];
            let Shape::Array(shape) = &instruction.shape else {
                return Err(refused(instruction, "a parameter of the fused entry is not an array"));
            };
            let value = self.value(instruction.name.clone(), shape, Origin::Parameter(number))?;
            self.parameters.push(value);
            self.of.insert(id, vec![value]);
        }
        for (id, instruction) in self.entry.instructions.iter() {
            let values = match &instruction.op {
                Op::Parameter { .. } => continue,
                Op::Constant(literal) => {
                    let Shape::Array(shape) = &instruction.shape else {
                        return Err(refused(instruction, "a constant of the fused entry is not an array"));
                    };
                    if super::layout::encode(literal).is_none() {
                        return Err(refused(instruction, "the constant's elements are not in the text"));
                    }
                    vec![self.value(instruction.name.clone(), shape, Origin::Constant(id))?]
                }
                Op::Fusion { .. } => self.fusion(id, instruction)?,
                Op::GetTupleElement { index } => {
                    let elements = self.operand(instruction, 0)?;
                    let element = usize::try_from(*index).ok().and_then(|index| elements.get(index));
                    vec![*element.ok_or_else(|| refused(instruction, "there is no such element"))?]
                }
                Op::Tuple if id == self.entry.root => {
                    let mut values = Vec::new();
                    for position in 0..instruction.operands.len() {
                        values.extend(self.operand(instruction, position)?);
                    }
                    values
                }
                _ => return Err(refused(instruction, "it stands outside of any fusion")),
            };
            self.of.insert(id, values);
        }
        Ok(())
    }

    fn fusion(&mut self, id: InstrId, instruction: &Instruction) -> Result<Vec<usize>, Error> {
        let arrays = Self::arrays(instruction)?;
        let launched = arrays.iter().any(|(_, shape)| shape.element_count() != Some(0));
        let step = self.steps.len();
        let mut inputs = Vec::new();
        for position in 0..instruction.operands.len() {
            inputs.extend(self.operand(instruction, position)?);
        }
        let mut outputs = Vec::new();
        for (name, shape) in arrays {
            outputs.push(self.value(name, shape, Origin::Launch(step))?);
        }
        if launched {
            for &input in &inputs {
                self.values[input].last = step;
            }
            let (read, updated) = (Vec::new(), Vec::new());
            self.steps.push(Planned { fusion: id, inputs, outputs: outputs.clone(), read, updated });
        }
        Ok(outputs)
    }

    fn operand(&self, instruction: &Instruction, position: usize) -> Result<Vec<usize>, Error> {
        let values = instruction.operands.get(position).and_then(|operand| self.of.get(operand));
        values.cloned().ok_or_else(|| refused(instruction, "an operand has no value yet"))
    }

    /// The values of the root, which from now on have buffers of their own.
    fn results(&mut self) -> Result<Vec<usize>, Error> {
        let root = &self.entry.instructions[self.entry.root];
        let results = self.of.get(&self.entry.root).cloned().ok_or_else(|| refused(root, "the root has no value"))?;
        for &result in &results {
            self.values[result].is_result = true;
        }
        Ok(results)
    }

    /// Whether every tensor fits in a buffer. What is allocated is rounded up; where even the rounding has no room, the tensor has none.
    fn check_limits(&self) -> Result<(), Error> {
        let limit = self.target.max_buffer_bytes;
        let is_large = |value: &&Value| buffer_bytes(value.bytes).is_none_or(|bytes| bytes > limit);
        match self.values.iter().find(is_large) {
            Some(value) => Err(Error::too_large(&value.name, &value.shape, Some(value.bytes), limit)),
            None => Ok(()),
        }
    }

    /// Whether a kernel may bind what it binds of a tensor, all of it or a window; what is bound is rounded up.
    fn check_binding(&self, value: usize, binding: &Binding) -> Result<(), Error> {
        let value = &self.values[value];
        let words = binding.windows.iter().map(|window| window.end.saturating_sub(window.start)).max();
        let bytes = words.map_or(value.bytes, |words| words.saturating_mul(WORD_BYTES));
        let limit = self.target.max_storage_binding_bytes.min(self.target.max_buffer_bytes);
        if !binding.uniform && binding_bytes(bytes) > limit {
            return Err(Error::too_large(&value.name, &value.shape, Some(bytes), limit));
        }
        Ok(())
    }

    /// Takes from the kernels what they bind, and lets outputs that update an operand take over its buffer where nothing needs that
    /// operand any more: it is an intermediate value, this launch is the last that touches it, and reads nothing else of it.
    fn bind(&mut self, shaders: &[Shader]) -> Result<(), Error> {
        for (step, shader) in self.steps.iter().zip(shaders) {
            for binding in &shader.bindings {
                let value = match binding.content {
                    Content::Operand(operand) => step.inputs.get(operand),
                    Content::Result(result) | Content::Updated { result, .. } => step.outputs.get(result),
                };
                value.map_or(Ok(()), |value| self.check_binding(*value, binding))?;
            }
        }
        for (number, (step, shader)) in self.steps.iter_mut().zip(shaders).enumerate() {
            let instruction = &self.entry.instructions[step.fusion];
            let (read, updated) = bindings(instruction, shader, step.inputs.len(), step.outputs.len())?;
            let read: Vec<usize> = read.into_iter().map(|operand| step.inputs[operand]).collect();
            let mut taken: Vec<usize> = Vec::new();
            for update in &updated {
                let (output, operand) = (step.outputs[update.output], step.inputs[update.operand]);
                let value = &self.values[operand];
                let is_free = matches!(value.origin, Origin::Launch(_)) && !value.is_result && value.last == number;
                if is_free && !read.contains(&operand) && !taken.contains(&operand) {
                    taken.push(operand);
                    self.values[output].updates = Some(operand);
                }
            }
            (step.read, step.updated) = (read, updated);
        }
        Ok(())
    }

    /// For each value the last one that takes over its buffer, by way of others: itself where none does.
    fn successors(&self) -> Vec<usize> {
        let mut successors: Vec<usize> = (0..self.values.len()).collect();
        for (index, value) in self.values.iter().enumerate().rev() {
            if let Some(updated) = value.updates {
                successors[updated] = successors[index];
            }
        }
        successors
    }

    /// Buffers, the tensor of each value, and the bytes of temporaries if none shared a buffer.
    fn place(&self) -> Result<(Vec<Buffer>, Vec<Tensor>, u64), Error> {
        let mut buffers = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; self.values.len()];
        let mut tenants = Vec::new();
        let mut tenant_values = Vec::new();
        let mut without_reuse = 0u64;
        let mut constants = 0;
        let successors = self.successors();
        for (index, value) in self.values.iter().enumerate() {
            if value.updates.is_some() {
                continue;
            }
            let successor = &self.values[successors[index]];
            let too_large = || Error::too_large(&value.name, &value.shape, None, self.target.max_buffer_bytes);
            let bytes = buffer_bytes(value.bytes).ok_or_else(too_large)?;
            let kind = match value.origin {
                Origin::Parameter(number) => BufferKind::Parameter(number),
                Origin::Constant(_) => {
                    constants += 1;
                    BufferKind::Constant(constants - 1)
                }
                Origin::Launch(_) if successor.is_result => BufferKind::Result,
                Origin::Launch(first) => {
                    tenants.push(Tenant { bytes, first, last: successor.last });
                    tenant_values.push(index);
                    without_reuse = without_reuse.saturating_add(bytes);
                    continue;
                }
            };
            place[index] = Some(buffers.len());
            buffers.push(Buffer { kind, bytes });
        }
        let assignment = assign(&tenants);
        for (&value, &temporary) in tenant_values.iter().zip(&assignment.place) {
            place[value] = Some(buffers.len() + temporary);
        }
        for (index, value) in self.values.iter().enumerate() {
            if let Some(updated) = value.updates {
                place[index] = place[updated];
            }
        }
        let temporary = |&bytes: &u64| Buffer { kind: BufferKind::Temporary, bytes };
        buffers.extend(assignment.buffers.iter().map(temporary));
        let tensors = (self.values.iter().zip(place))
            .map(|(value, place)| {
                let place = place.expect("every value is a parameter, a constant, a result or a tenant");
                let buffer = BufferId(u32::try_from(place).expect("a program has fewer than 2^32 values"));
                Tensor { name: value.name.clone(), shape: value.shape.clone(), buffer, bytes: value.bytes }
            })
            .collect();
        Ok((buffers, tensors, without_reuse))
    }
}

fn refused(instruction: &Instruction, reason: &str) -> Error {
    let message = format!("{} cannot be scheduled: {reason}", instruction.op.name());
    Diagnostic::new("RUN004", instruction.span, message).about(&instruction.name).into()
}
