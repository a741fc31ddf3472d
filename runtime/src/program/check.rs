//! What has to hold of a program whatever made it, so that nothing it does can go wrong on a device: that every number names something, that tensors
//! fit into their buffers, and that launches are those which their kernels are proved for.

use super::layout::{WORD_BYTES, binding_bytes, buffer_bytes};
use super::step::all;
use super::{
    Ahead, BufferId, BufferKind, Conditional, Copy, Draw, Gate, Host, Launch, Place, Program, Step, Tensor, While,
    tensor_bytes,
};
use std::collections::BTreeSet;
use weft_codegen_wgsl::{Held, Shader};
use weft_hlo::eval::{self, Config};
use weft_hlo::ir::{ElementType, Op, Shape};
use weft_partition::Site;

/// Rounds that may be handed over at once, and dispatches of one launch.
const MAX_ROUNDS: usize = 1 << 12;
const MAX_WINDOWS: u32 = 1 << 16;

/// Where a program comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This very build has made it, and nobody has changed it since.
    Own,
    /// From anywhere.
    Foreign,
}

/// The outcome of a check, or what is wrong.
type Checked = Result<(), String>;

fn require(holds: bool, reason: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(reason()) }
}

/// Checks steps of a program that has everything but these.
pub(super) struct Check<'p> {
    pub(super) program: &'p Program,
    pub(super) origin: Origin,
}

impl Check<'_> {
    /// All that comes before steps.
    pub(super) fn declarations(&self) -> Checked {
        let Program { buffers, parameters, constants, results, sizes, .. } = self.program;
        let of_parameter = |number: usize| parameters.get(number).map(|it| (it.buffer, it.bytes));
        let of_constant = |number: usize| constants.get(number).map(|(_, it)| (it.buffer, it.bytes));
        for (number, buffer) in buffers.iter().enumerate() {
            let is_whole = buffer.bytes > 0 && buffer_bytes(buffer.bytes) == Some(buffer.bytes);
            require(is_whole, || format!("buffer b{number} has {} bytes, no multiple of 256", buffer.bytes))?;
            let own = match buffer.kind {
                BufferKind::Parameter(own) | BufferKind::Donated(own) => of_parameter(own),
                BufferKind::Constant(own) => of_constant(own),
                BufferKind::Sizes(own) => {
                    let id = BufferId(u32::try_from(number).unwrap_or(u32::MAX));
                    sizes.get(own).map(|sizes| (id, WORD_BYTES.saturating_mul(sizes.len() as u64)))
                }
                BufferKind::Result | BufferKind::Temporary => continue,
            };
            let fits =
                own.is_some_and(|(own, bytes)| own.index() == number && buffer_bytes(bytes) == Some(buffer.bytes));
            require(fits, || format!("buffer b{number} is not that of what it is said to hold"))?;
        }
        for (number, parameter) in parameters.iter().enumerate() {
            let kind = self.kind(parameter.buffer);
            let is_own = matches!(kind, Some(BufferKind::Parameter(own) | BufferKind::Donated(own)) if own == number);
            require(is_own, || format!("parameter {number} does not lie in a buffer of its own"))?;
        }
        for (number, (site, constant)) in constants.iter().enumerate() {
            let is_own = self.kind(constant.buffer) == Some(BufferKind::Constant(number));
            require(is_own, || format!("constant {number} does not lie in a buffer of its own"))?;
            let literal = match self.instruction(*site)? {
                Op::Constant(literal) => literal.shape.as_array(),
                _ => None,
            };
            let is_literal = literal.is_some_and(|shape| shape.same_type_and_extents(&constant.shape));
            require(is_literal, || format!("the module has no constant {} there", constant.shape))?;
        }
        results.iter().try_for_each(|result| self.tensor(result))
    }

    fn kind(&self, buffer: BufferId) -> Option<BufferKind> {
        self.program.buffers.get(buffer.index()).map(|buffer| buffer.kind)
    }

    fn instruction(&self, site: Site) -> Result<&Op, String> {
        let computation = self.program.module.computations.get(site.computation);
        let instruction = computation.and_then(|computation| computation.instructions.get(site.instruction));
        instruction.map(|it| &it.op).ok_or_else(|| "the module has no instruction there".to_owned())
    }

    /// A tensor that lies within its buffer.
    fn tensor(&self, tensor: &Tensor) -> Checked {
        let Tensor { buffer, bytes, shape, .. } = tensor;
        let Program { buffers, parameters, constants, sizes, .. } = self.program;
        let held = buffers.get(buffer.index()).ok_or_else(|| format!("there is no buffer {buffer}"))?;
        // What others have made may be no larger than what it was made for.
        let room = match held.kind {
            BufferKind::Parameter(number) => parameters.get(number).map_or(0, |parameter| parameter.bytes),
            BufferKind::Constant(number) => constants.get(number).map_or(0, |(_, constant)| constant.bytes),
            BufferKind::Sizes(number) => sizes.get(number).map_or(0, |sizes| WORD_BYTES * sizes.len() as u64),
            BufferKind::Donated(_) | BufferKind::Result | BufferKind::Temporary => held.bytes,
        };
        require(*bytes <= room, || format!("{shape} takes {bytes} bytes, of which {buffer} has {room}"))
    }

    /// A tensor that a step makes.
    fn made(&self, tensor: &Tensor) -> Checked {
        self.writable(tensor.buffer)?;
        self.tensor(tensor)
    }

    fn writable(&self, buffer: BufferId) -> Checked {
        let kind = self.kind(buffer);
        let is_writable = matches!(kind, Some(BufferKind::Donated(_) | BufferKind::Result | BufferKind::Temporary));
        require(is_writable, || format!("steps may not write {buffer}"))
    }

    /// A truth value or number that the host reads.
    fn single(&self, tensor: &Tensor, types: &[ElementType]) -> Checked {
        self.tensor(tensor)?;
        let is_single = types.contains(&tensor.shape.element_type) && tensor.shape.element_count() == Some(1);
        require(is_single, || format!("{} decides nothing", tensor.shape))
    }

    pub(super) fn launch(&self, launch: &Launch) -> Checked {
        self.instruction(launch.fusion)?;
        let shader = self.program.shaders.get(launch.shader);
        let shader = shader.ok_or_else(|| format!("there is no kernel {}", launch.shader))?;
        // What is proved is proved of so many invocations.
        let is_proved = launch.workgroups == shader.workgroups && launch.windows == shader.windows;
        require(is_proved, || format!("kernel {} is another launch's", launch.shader))?;
        require(launch.windows <= MAX_WINDOWS, || format!("{} windows are too many", launch.windows))?;
        let tensors = launch.inputs.iter().chain(&launch.outputs);
        let count = launch.inputs.len() + launch.outputs.len();
        let wanted = shader.tensors().count();
        require(count == wanted, || format!("the kernel binds {wanted} tensors, and these are {count}"))?;
        for (position, (tensor, (binding, held))) in tensors.zip(shader.tensors()).enumerate() {
            self.tensor(tensor)?;
            let (shape, bytes) = (&held.shape, tensor.bytes);
            let fits = tensor_bytes(shape).is_some_and(|needed| needed <= bytes);
            require(fits, || format!("the kernel binds {shape} where {} is", tensor.shape))?;
            let is_within = |end: u64| end.checked_mul(WORD_BYTES).is_some_and(|end| end <= binding_bytes(bytes));
            let are_within = binding.windows.iter().all(|window| window.start <= window.end && is_within(window.end));
            require(are_within, || format!("windows of {} lie outside of it", binding.name))?;
            let is_input = position < launch.inputs.len();
            require(!(is_input && binding.writable), || format!("the kernel writes its input {position}"))?;
        }
        self.arenas(launch, shader)?;
        for (position, output) in launch.outputs.iter().enumerate() {
            self.made(output)?;
            let mut others = launch.inputs.iter().chain(&launch.outputs[..position]);
            let is_alone = others.all(|other| other.buffer != output.buffer);
            require(is_alone, || format!("{} is bound twice, and written", output.buffer))?;
        }
        let are_outputs = launch.updated.iter().all(|updated| updated.output < launch.outputs.len());
        require(are_outputs, || "what is updated is no output".to_owned())
    }

    /// That tensors which a kernel finds in one binding lie in one arena, as far from one another as it takes them to.
    fn arenas(&self, launch: &Launch, shader: &Shader) -> Checked {
        let mut tensors = launch.inputs.iter().chain(&launch.outputs);
        for binding in &shader.bindings {
            let own: Vec<&Tensor> = tensors.by_ref().take(binding.tensors.len()).collect();
            if matches!(&binding.tensors[..], [Held { offset: 0, .. }]) {
                continue;
            }
            let place = |tensor: &Tensor| self.program.buffers.get(tensor.buffer.index()).and_then(|it| it.place);
            let arena = own.first().and_then(|tensor| place(tensor)).map(|place| place.arena);
            for (tensor, held) in own.into_iter().zip(&binding.tensors) {
                let wanted = arena.map(|arena| Place { arena, offset: held.offset });
                let is_there = wanted.is_some() && place(tensor) == wanted;
                require(is_there, || format!("{} does not lie where the kernel looks for it", tensor.buffer))?;
            }
        }
        Ok(())
    }

    pub(super) fn copy(&self, Copy { from, to }: &Copy) -> Checked {
        self.tensor(from)?;
        self.made(to)?;
        require(from.buffer != to.buffer, || format!("{} is copied onto itself", from.buffer))?;
        require(from.bytes == to.bytes, || format!("{} becomes {}", from.shape, to.shape))
    }

    pub(super) fn draw(&self, Draw { output, .. }: &Draw) -> Checked {
        self.made(output)?;
        let is_state = output.shape.element_type == ElementType::U64 && matches!(output.shape.extents[..], [] | [2]);
        require(is_state, || format!("{} is no random state", output.shape))
    }

    pub(super) fn repeated(&self, step: &While) -> Checked {
        match (&step.flag, step.trip_count) {
            (None, None) => return Err("neither its rounds nor its condition are told".to_owned()),
            (Some(flag), _) => self.single(flag, &[ElementType::Pred])?,
            (None, Some(_)) => {}
        }
        step.carried.iter().try_for_each(|carried| self.tensor(carried))?;
        for exchange in &step.exchanges {
            let [buffer, with] = [exchange.buffer, exchange.with];
            [buffer, with].into_iter().try_for_each(|buffer| self.writable(buffer))?;
            let [own, other] = [buffer, with].map(|it| self.program.buffers.get(it.index()).map(|it| it.bytes));
            require(own == other, || format!("{buffer} and {with} differ in size"))?;
        }
        let taken: BTreeSet<BufferId> = step.exchanges.iter().map(|exchange| exchange.with).collect();
        let given: BTreeSet<BufferId> = step.exchanges.iter().map(|exchange| exchange.buffer).collect();
        let is_permutation = taken == given && given.len() == step.exchanges.len();
        require(is_permutation, || "exchanges are no permutation".to_owned())?;
        match &step.ahead {
            None => Ok(()),
            Some(Ahead::Kept(rounds)) => {
                let mut steps = step.body.iter().chain(&step.condition);
                require(steps.all(|step| matches!(step, Step::Launch(_))), || {
                    "more than launches are kept".to_owned()
                })?;
                self.ahead(step, *rounds)
            }
            Some(Ahead::Gated(gate)) => {
                self.ahead(step, gate.most)?;
                self.gate(step, gate)
            }
        }
    }

    fn ahead(&self, step: &While, rounds: usize) -> Checked {
        let is_open = step.trip_count.is_none() && step.flag.is_some();
        require(is_open && (1..=MAX_ROUNDS).contains(&rounds), || format!("{rounds} rounds ahead make no sense here"))
    }

    /// The sizes that launches are dispatched by are those that their kernels are proved for, or zeros: they are read from memory that
    /// nothing but a kernel of this form writes.
    fn gate(&self, step: &While, gate: &Gate) -> Checked {
        self.launch(&gate.launch)?;
        let (mut sizes, mut written) = (Vec::new(), BTreeSet::new());
        written.extend(step.exchanges.iter().map(|exchange| exchange.buffer));
        for step in all(&step.body).chain(all(&step.condition)) {
            match step {
                Step::Launch(launch) => {
                    sizes.extend(launch.workgroups);
                    written.extend(launch.outputs.iter().map(|output| output.buffer));
                }
                Step::While(step) if step.trip_count.is_some() && step.ahead.is_none() => {
                    written.extend(step.exchanges.iter().map(|exchange| exchange.buffer));
                }
                _ => return Err("more than launches stand behind a gate".to_owned()),
            }
        }
        let ([flag, told], [over, rounds, grids]) = (gate.launch.inputs.as_slice(), gate.launch.outputs.as_slice())
        else {
            return Err("a gate reads two tensors and makes three".to_owned());
        };
        let are_own = [over, rounds, grids].iter().all(|tensor| !written.contains(&tensor.buffer));
        require(are_own, || "what a gate makes is written in the loop".to_owned())?;
        require(step.flag.as_ref() == Some(flag), || "a gate reads another condition".to_owned())?;
        let are_sizes = match self.kind(told.buffer) {
            Some(BufferKind::Sizes(own)) => self.program.sizes.get(own) == Some(&sizes),
            _ => false,
        };
        require(are_sizes, || "the sizes are not those of the launches".to_owned())?;
        if self.origin == Origin::Own {
            return Ok(());
        }
        let words = u32::try_from(sizes.len()).map_err(|_| "a gate has too many sizes".to_owned())?;
        let made = weft_codegen_wgsl::gate(words, &self.program.target).map_err(|found| found.to_string())?;
        let is_gate = self.program.shaders.get(gate.launch.shader).is_some_and(|own| own.structure == made.structure);
        require(is_gate, || "the kernel of a gate is another".to_owned())
    }

    pub(super) fn conditional(&self, step: &Conditional) -> Checked {
        self.single(&step.selector, &[ElementType::Pred, ElementType::S32])?;
        require(!step.branches.is_empty(), || "there is no branch".to_owned())?;
        step.outputs.iter().try_for_each(|output| self.made(output))
    }

    pub(super) fn host(&self, step: &Host) -> Checked {
        step.inputs.iter().try_for_each(|input| self.tensor(input))?;
        step.outputs.iter().try_for_each(|output| self.made(output))?;
        if self.origin == Origin::Own {
            return Ok(());
        }
        weft_hlo::verify::verify(&step.module).map_err(|found| found.to_string())?;
        eval::check(&step.module, &Config::default()).map_err(|found| found.to_string())?;
        let entry = step.module.entry_computation();
        let parameters = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape);
        let root = &entry.instructions[entry.root].shape;
        let is = |shape: &Shape, tensor: &Tensor| {
            shape.as_array().is_some_and(|shape| shape.same_type_and_extents(&tensor.shape))
        };
        let constants: Vec<&Shape> = self.program.constants_of(step).map(|constant| &constant.shape).collect();
        require(constants.len() == step.constants.len(), || "the module has no such constants".to_owned())?;
        let parameters: Vec<&Shape> = parameters.collect();
        let (first, rest) = parameters.split_at(step.inputs.len().min(parameters.len()));
        let same = |(one, other): (&&Shape, &&Shape)| match (one.as_array(), other.as_array()) {
            (Some(one), Some(other)) => one.same_type_and_extents(other),
            _ => false,
        };
        let are_inputs = first.len() == step.inputs.len()
            && first.iter().zip(&step.inputs).all(|(shape, tensor)| is(shape, tensor))
            && rest.len() == constants.len()
            && rest.iter().zip(&constants).all(same);
        require(are_inputs, || "the inputs are not what the module takes".to_owned())?;
        let results = root.leaves();
        let are_outputs = results.len() == step.outputs.len()
            && results.into_iter().zip(&step.outputs).all(|(shape, tensor)| is(shape, tensor));
        require(are_outputs, || "the outputs are not what the module makes".to_owned())
    }
}
