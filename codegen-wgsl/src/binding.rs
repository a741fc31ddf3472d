//! What lies in the bindings of a kernel.

use crate::kernel::{Kernel, Memory, MemoryId, Space};
use std::collections::BTreeMap;
use std::ops::Range;
use weft_hlo::ir::ArrayShape;
use weft_partition::Form;

/// One storage buffer, or uniform, of a [`Shader`](crate::Shader).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in the text, that of the first memory in it.
    pub name: String,
    /// Whether the kernel writes it (`read_write`) or only reads it.
    pub writable: bool,
    /// Whether it is a uniform and no storage buffer: the buffer needs the usage `UNIFORM`, and the binding covers the tensor's
    /// bytes rounded up to 16.
    pub uniform: bool,
    /// What lies in it: a tensor that begins with it, or several of an [arena](weft_partition::Arenas).
    pub tensors: Vec<Held>,
    /// For each dispatch the words of 32 bits to bind, where the tensor is larger than what a kernel may bind; empty where all of it is bound. They begin
    /// at multiples of the target's alignment of offsets.
    pub windows: Vec<Range<u64>>,
}

/// A tensor in a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it is to the fusion.
    pub content: Content,
    /// Its shape; it lies row-major.
    pub shape: ArrayShape,
    /// The byte of the binding at which it begins.
    pub offset: u64,
}

/// What a tensor is to the fusion that a kernel computes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The operand of this number, which is read; the first of these where a tensor is given several times.
    Operand(usize),
    /// The result of this number, of which every element is written.
    Result(usize),
    /// The result of this number, which holds the operand of another number already: only what differs is written.
    Updated {
        /// The result.
        result: usize,
        /// The operand, which is bound nowhere else.
        operand: usize,
        /// How many elements are written, and read at most.
        elements: u64,
    },
}

/// What is told of a binding before its kernel is a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// All of it is one tensor.
    Tensor(Content),
    /// It holds these, each at its offset.
    Arena(Vec<Held>),
}

impl Contents {
    /// The tensors, given the memory that a kernel has there.
    pub(crate) fn tensors(&self, memory: &Memory) -> Vec<Held> {
        match self {
            Contents::Tensor(content) => vec![Held { content: *content, shape: memory.held().clone(), offset: 0 }],
            Contents::Arena(tensors) => tensors.clone(),
        }
    }

    /// Whether a memory of a kernel lies within the tensors, one behind the other; within one alone nothing is known of its size.
    pub(crate) fn hold(&self, memory: &Memory) -> bool {
        let (Contents::Arena(tensors), Space::Buffer { offset, .. }) = (self, memory.space) else { return true };
        let end_of = |held: &Held| Form::tensor_bytes(&held.shape)?.checked_add(held.offset);
        let end = tensors.iter().map(end_of).collect::<Option<Vec<u64>>>().and_then(|ends| ends.into_iter().max());
        let own = memory.words().and_then(|words| u64::try_from(words).ok()?.checked_mul(4)?.checked_add(offset));
        own.is_some_and(|own| end.is_some_and(|end| own <= end))
    }
}

/// What lies in each binding of a kernel as it was made, given what its buffers are, but for further parts of them. Lowerings keep bindings.
pub(crate) fn bound(kernel: &Kernel, contents: Vec<Content>) -> BTreeMap<u32, Contents> {
    let (mut contents, mut of_memories) = (contents.into_iter(), BTreeMap::new());
    let mut held: BTreeMap<u32, Vec<Held>> = BTreeMap::new();
    for (id, memory) in kernel.memories.iter() {
        let Space::Buffer { binding, offset, .. } = memory.space else { continue };
        let content: Option<Content> =
            memory.part_of.map_or_else(|| contents.next(), |whole: MemoryId| of_memories.get(&whole).copied());
        let Some(content) = content else { continue };
        of_memories.insert(id, content);
        let held = held.entry(binding).or_default();
        if held.iter().all(|other| other.offset != offset) {
            held.push(Held { content, shape: memory.held().clone(), offset });
        }
    }
    let contents = |tensors: Vec<Held>| match tensors[..] {
        [Held { content, offset: 0, .. }] => Contents::Tensor(content),
        _ => Contents::Arena(tensors),
    };
    held.into_iter().map(|(binding, tensors)| (binding, contents(tensors))).collect()
}
