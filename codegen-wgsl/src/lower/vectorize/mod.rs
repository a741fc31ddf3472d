//! From elements to vectors: several elements of an invocation side by side.
//!
//! The loop emitter has an invocation compute several elements a launch apart. Here [`LANES`] of them become neighbors instead, and the
//! functions that compute them functions of vectors; in other kernels so do loops of as many rounds whose elements are neighbors already. What an operand differs in from lane to lane is known from its index, which is an
//! expression. Where an index begins at a multiple of the lanes and is one more in each further lane, one vector is read; where it is the
//! same in all lanes, one element; the halves of elements that take two words each are read as two vectors and taken apart; else an element is
//! read for each lane. A condition on indices that holds in all lanes or in none stays; one
//! that may hold in some selects among lanes of what is read wherever it holds in any, if that lies within its memory; else it is tested for
//! all lanes first, and lane by lane where that fails.
//!
//! Packed elements that only move are treated alike before: as many as fill a word become one ([`moved`]).

mod analysis;
mod apart;
mod branches;
mod collective;
mod entry;
mod function;
mod length;
mod pairs;
mod rounds;
mod scalar;
mod steps;

use super::words::words;
use crate::kernel::{Access, Function, FunctionId, Kernel, Memory, Space};
pub use apart::lanes_apart;
pub(super) use function::overlap;
use function::vectorized;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use weft_affine::Error;
use weft_hlo::ir::{Arena, ArenaId, ElementType};
use weft_partition::Form;

/// Lanes of a vector.
pub(crate) const LANES: u32 = 4;

/// How long a kernel of vectors may be: so long in any case, else so many times as long as without. Drivers write all calls out, and take
/// time for it that grows faster than what they write.
const MAX_LENGTH: u64 = 512;
const MAX_TIMES: u64 = 2;

/// Statements that are written for each lane by itself, in all functions of a kernel.
const MAX_COPIES: usize = 1024;

/// Calls that nest around a function of vectors.
const MAX_DEPTH: usize = 64;

/// The kernel with vectors, where an invocation computes a multiple of four elements a launch apart, or four in the rounds of a loop, and reads
/// most of what it reads as vectors or once for several lanes; any other as it is.
#[must_use]
pub fn vectorize(kernel: &Kernel) -> Kernel {
    let vectors = match entry::vectorized_kernel(kernel, Held::Vector(LANES)) {
        Err(Refusal::Rounds) => rounds::vectorized_rounds(kernel, Held::Vector(LANES)),
        other => other,
    };
    vectors.unwrap_or_else(|refusal| {
        tracing::debug!(kernel = %kernel.name, %refusal, "elements stay scalars");
        kernel.clone()
    })
}

/// The kernel in which as many invocations that follow one another as it has [lanes](Kernel::lanes) are one, which computes what they did as vectors; a kernel
/// of single lanes as it is. What lanes combine with others they combine among themselves first.
///
/// # Errors
/// Why there are no vectors of what is computed.
pub fn merge_lanes(kernel: &Kernel) -> Result<Kernel, String> {
    if kernel.lanes == 1 {
        return Ok(kernel.clone());
    }
    entry::merged_kernel(kernel).map_err(|refusal| refusal.to_string())
}

/// The kernel in which packed elements that only move do so as the words that hold them, where an invocation moves a multiple of what a word
/// holds, a launch apart or in the rounds of loops, and most of what it reads lies side by side; any other as it is. All results have to be packed alike.
///
/// What fills a word is read as one word where it begins with one, else put together of the two that hold it. Where a condition holds for some
/// elements of a word only, the word is put together of elements.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn moved(kernel: &Kernel) -> Result<Kernel, Error> {
    let Some(word) = Held::word_of(kernel) else { return Ok(kernel.clone()) };
    let of_words = match entry::vectorized_kernel(kernel, word) {
        Err(Refusal::Rounds) => rounds::vectorized_rounds(kernel, word),
        other => other,
    };
    match of_words {
        Ok(of_words) => words(&of_words),
        Err(refusal) => {
            tracing::debug!(kernel = %kernel.name, %refusal, "elements do not move as words");
            Ok(kernel.clone())
        }
    }
}

/// What holds elements that lie side by side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Held {
    /// A vector of so many registers.
    Vector(u32),
    /// The word that elements fill, as so many lanes of the unsigned type that takes as many bits.
    Word(ElementType),
}

impl Held {
    /// The words that move in a kernel: those of all its results.
    fn word_of(kernel: &Kernel) -> Option<Held> {
        let of = |memory: &Memory| {
            let form = Form::of(memory.shape.element_type).filter(|form| form.is_packed())?;
            let is_result = matches!(memory.space, Space::Buffer { access: Access::Write, .. });
            is_result.then_some(form.stored_bits())
        };
        let mut words = kernel.memories.values().filter(|it| it.is_buffer() && it.is_writable()).map(of);
        let bits = words.next()??;
        let unsigned = |ty: &&ElementType| ty.is_unsigned() && ty.bits() == bits;
        let word = ElementType::ALL.iter().find(unsigned)?;
        words.all(|other| other == Some(bits)).then_some(Held::Word(*word))
    }

    /// Whether it is a vector.
    fn is_vector(self) -> bool {
        matches!(self, Held::Vector(_))
    }

    /// How many elements it holds.
    fn lanes(self) -> u32 {
        match self {
            Held::Vector(lanes) => lanes,
            Held::Word(element_type) => Form::of(element_type).map_or(1, Form::per_word),
        }
    }

    /// The type of its lanes, of elements in registers of a type.
    fn element_type(self, register: ElementType) -> ElementType {
        match self {
            Held::Vector(_) => register,
            Held::Word(element_type) => element_type,
        }
    }
}

/// Which form of a function is wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    /// The index that advances from lane to lane, divided by the lanes in the variant; only values differ if there is none.
    axis: Option<u32>,
}

/// Why a function, or a kernel, has no vectors.
#[derive(Clone, Debug)]
enum Refusal {
    /// The elements of an invocation are not a launch apart, or not a multiple of the lanes.
    Rounds,
    /// It has effects other than storing elements.
    Effects,
    /// It has vectors already.
    Vectors,
    /// A value that differs from lane to lane decides what is computed.
    Branch,
    /// It computes with `f64`, of which there are no vectors.
    Doubles,
    /// There are fewer elements than lanes.
    Extents,
    /// It is long: calls of the library, or statements for each lane.
    Long,
    /// Most of what it reads is not side by side.
    Apart,
    /// It computes with elements that would have to move as words, or chooses among them one by one.
    Computed,
    /// An index leaves 64 bits.
    Index(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Index(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Rounds => f.write_str("an invocation does not compute a multiple of the lanes a launch apart"),
            Refusal::Effects => f.write_str("it does more than compute elements and store them"),
            Refusal::Vectors => f.write_str("it has vectors already"),
            Refusal::Branch => f.write_str("a value that differs from lane to lane decides what is computed"),
            Refusal::Doubles => f.write_str("it computes with f64, of which there are no vectors"),
            Refusal::Extents => f.write_str("there are fewer elements than lanes"),
            Refusal::Long => f.write_str("too much would be written for each lane by itself"),
            Refusal::Apart => f.write_str("most of what it reads does not lie side by side"),
            Refusal::Computed => f.write_str("packed elements do more than move"),
            Refusal::Index(error) => write!(f, "an index: {error}"),
        }
    }
}

/// What is read, counted by how.
#[derive(Copy, Clone, Debug, Default)]
struct Gains {
    /// As vectors.
    vectors: usize,
    /// Once for all lanes.
    shared: usize,
    /// Lane by lane, registers and tiles aside.
    composed: usize,
    /// Vectors that are stored.
    stored: usize,
}

/// The functions of vectors made so far.
pub(super) struct Pass<'k> {
    kernel: &'k Kernel,
    held: Held,
    /// For each variant asked for its place in `made`, if there is one.
    known: BTreeMap<(FunctionId, Variant), Option<usize>>,
    made: Vec<(FunctionId, Function)>,
    names: BTreeSet<String>,
    depth: usize,
    copies: usize,
    gains: Gains,
}

impl<'k> Pass<'k> {
    fn new(kernel: &'k Kernel, held: Held) -> Self {
        let memories = kernel.memories.values().map(|memory| memory.name.clone());
        let names = memories.chain(kernel.functions.values().map(|function| function.name.clone())).collect();
        let (known, made, gains) = (BTreeMap::new(), Vec::new(), Gains::default());
        Pass { kernel, held, known, made, names, depth: 0, copies: 0, gains }
    }

    /// A variant of a function, numbered behind the functions of the kernel, or `None` where it has to be called for each lane.
    fn variant(&mut self, id: FunctionId, variant: Variant) -> Option<FunctionId> {
        let provisional = |made: usize| FunctionId::from_index(self.kernel.functions.len() + made);
        if let Some(known) = self.known.get(&(id, variant)) {
            return known.map(provisional);
        }
        let source = &self.kernel.functions[id];
        let name = self.name(&source.name);
        self.depth += 1;
        let made = if self.depth > MAX_DEPTH { Err(Refusal::Long) } else { vectorized(self, source, variant, name) };
        self.depth -= 1;
        let made = match made {
            Ok(function) => {
                self.made.push((id, function));
                Some(self.made.len() - 1)
            }
            Err(refusal) => {
                tracing::debug!(function = %source.name, %refusal, "the function is called for each lane");
                None
            }
        };
        self.known.insert((id, variant), made);
        made.map(|made| FunctionId::from_index(self.kernel.functions.len() + made))
    }

    /// A name for a variant that no other function or memory has.
    fn name(&mut self, of: &str) -> String {
        let mut name = format!("{of}_x{}", self.held.lanes());
        while !self.names.insert(name.clone()) {
            name.push_str("_v");
        }
        name
    }

    /// Counts a statement that is written for one lane.
    fn count_copy(&mut self) -> Result<(), Refusal> {
        self.copies += 1;
        if self.copies > MAX_COPIES { Err(Refusal::Long) } else { Ok(()) }
    }

    /// The functions that the entry reaches, variants before the functions they are of, and for each by its provisional number the one it
    /// gets.
    fn functions(self, entry: &Function) -> (Arena<FunctionId, Function>, Vec<Option<FunctionId>>) {
        let count = self.kernel.functions.len();
        let all: Vec<&Function> =
            self.kernel.functions.values().chain(self.made.iter().map(|(_, function)| function)).collect();
        let mut reached = vec![false; all.len()];
        let mut open = entry.callees();
        while let Some(callee) = open.pop() {
            if !std::mem::replace(&mut reached[callee.index()], true) {
                open.extend(all[callee.index()].callees());
            }
        }
        let mut order: Vec<usize> = (0..all.len()).filter(|function| reached[*function]).collect();
        let place = |function: &usize| match self.made.get(function.wrapping_sub(count)) {
            Some((source, _)) => (source.index(), 0, *function),
            None => (*function, 1, *function),
        };
        order.sort_by_key(place);
        let mut image = vec![None; all.len()];
        let mut functions = Arena::new();
        for function in order {
            image[function] = Some(functions.push(all[function].clone()));
        }
        (functions, image)
    }
}
