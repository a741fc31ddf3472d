//! The kernel IR: a small structured language of pure functions, and an entry that says what every invocation does.
//!
//! A [`Function`] takes indices and values and returns values. Its body is a [`Block`]: scalar values in order, calls of
//! other functions, conditionals, and loops that carry values. Indices are never values: they are expressions ([`Expr`]) over the
//! function's index variables `d0, d1, …`, the loop variables `s0, s1, …` in sight, numbered by depth, and runtime variables
//! `rt0, rt1, …`, each bound to a value within known bounds; so they can be simplified at every stage, and what they range over
//! is known. [Memories](Memory) are read with `extract` anywhere; only the entry writes. The entry is a function of the
//! coordinates of the workgroup and, last, of the number of the invocation within it.
//!
//! Stages differ in how memories are indexed: with one index per dimension as the emitter made them, then with a
//! single row-major position after [`flatten`](crate::lower::flatten). Both have the same text, which
//! [`Kernel::parse`] reads back, and the same rules, which [`Kernel::verify`] checks.
//!
//! ```text
//! kernel    := kernel @NAME( buffer, … ) { tile… function… entry }
//! buffer    := {in | uniform | out | inout | scattered} %NAME: TYPE[EXTENT, …] [of TYPE[EXTENT, …]] [at binding N + BYTES] [part of %NAME] [in pairs] [window]
//! window    := window(INDEX) of N                                   the word where each begins, by its number d0; its words
//! tile      := {tile | registers} %NAME: TYPE[EXTENT, …]            one per workgroup, one per invocation
//!            | matrix {a | b | c} of MEMBERS %NAME: TYPE[EXTENT, EXTENT]    one per subgroup, of so many invocations
//! function  := func @NAME(d0 in [0, N], … [; value: TYPE, …]) -> (TYPE, …) { block return }
//! entry     := entry groups [X, Y, Z] [windows N] threads N [lanes N] [rolled] { block }   d0, d1, d2: the workgroup's coordinates; the window; last the thread
//! block     := statement… [(return | yield) operand, …]
//! statement := [value: TYPE, … =] call @NAME(INDEX, … [; operand, …])
//!            | [value: TYPE, … =] if CONDITION { block } [else { block }]
//!            | [value: TYPE, … =] loop [for s0 in [0, N], …] [with value: TYPE = operand, …] { block }
//!            | [value: TYPE, … =] while [with value: TYPE = operand, …] { block } do { block }
//!            | bind RT in [LO, HI] = {clamp | assume} operand  |  let RT = index(INDEX)
//!            | merge %NAME[INDEX] at (PLACE), operand
//!            | store %NAME[INDEX, …], operand  |  update %NAME[INDEX, …] by {@NAME | ATOMIC} operand  |  barrier
//!            | clear %MATRIX  |  load %MATRIX from %NAME[INDEX, …] by {rows | columns}
//!            | multiply %MATRIX, %MATRIX into %MATRIX  |  save %MATRIX to %NAME[INDEX, …]
//!            | value: TYPE = share %NAME[INDEX, …]
//!            | value: TYPE, … = {reduce | combine | scan | exclusive-scan} SCOPE @NAME operand, … [through %NAME, …]
//!            | value: TYPE = index TYPE(INDEX)  |  value: TYPE = extract %NAME[INDEX, …]
//!            | value: TYPE = compare DIRECTION [ORDER] operand, operand  |  value: TYPE = convert TYPE operand
//!            | value: TYPE = complex operand, operand  |  value: TYPE = {real | imag} operand
//!            | value: u32 = encode TYPE operand  |  value: f32 = decode TYPE operand
//!            | value: f64 = join operand, operand  |  value: u32 = {low | high} operand
//!            | value: TYPE = bitcast TYPE operand  |  value: TYPE = reduce-precision eEmM operand
//!            | value: TYPE = {keep | keep-chosen | keep-apart} operand
//!            | value: TYPE = splat operand  |  value: TYPE = compose operand, …  |  value: TYPE = lane LANE operand
//!            | value: TYPE = {multiply-add | multiply-add-at-once} operand, operand, operand
//!            | value: TYPE = member NUMBER apart COUNT operand
//!            | value: u32 = pack operand, operand, operand, operand  |  value: TYPE = packed-dot {s8 | u8} operand, operand
//!            | value: TYPE = OPERATION operand, …          select, clamp, and HLO's elementwise operations
//!            | unused value: TYPE, …                       only at the top of a function
//! SCOPE     := workgroup | part of COUNT apart COUNT | subgroup
//! ATOMIC    := add | minimum | maximum | and | or | xor | exchange
//! CONDITION := true | INDEX in [LO, HI] and …  |  value  |  bind RT in [LO, HI] = operand and …
//! value     := %NUMBER[:NAME]
//! TYPE      := an element type of HLO, in one lane, or in several: f32x2, f32x4
//! operand   := value | true | false | s32 INTEGER | u32 INTEGER | f32 NUMBER | f32 nan(BITS) | TYPE bits(BITS)
//! ```
//!
//! A value of several [lanes](Value::lanes) is a vector: operations work lane by lane, and a constant beside one stands in every lane. From a
//! memory, and to one, go as many consecutive elements, from a position on that is a multiple of their number.
//!
//! Packed elements are bits of words: `out %y: u32[25] of s8[100]`. A `merge` replaces the bits of one, from the place on that is given.
//!
//! An `INDEX` is an expression in the notation of [`weft_affine::text`]; definitions of shared terms stand after `where`
//! at the end of the list they serve. Names of other characters than letters, digits, `_`, `.` and `-` stand in quotes.
//! White space separates and means nothing else, except that none stands within a value; `//` begins a comment. A block that yields
//! nothing may leave out its last line.

mod known;
mod matrices;
mod named;
mod parse;
mod reach;
mod rounds;
mod scalar_op;
mod statement;
mod structure;
mod text;
mod uniform_array;
mod value_type;
mod verify;
mod window;

pub(crate) use known::Known;
pub use matrices::{MatrixOp, MatrixOrder, MatrixRole};
pub(crate) use named::written_out;
pub(crate) use reach::Reach;
pub use scalar_op::{Hiding, ScalarOp};
pub use statement::{AtomicOp, Binding, Combination, Combiner, Condition, OutOfBounds, Scope, Statement};
pub(crate) use uniform_array::{UNIFORM_LANES, UNIFORM_STRIDE, uniform_bytes};
pub use value_type::ValueType;
pub use verify::Finding;
pub(crate) use verify::{is_multiple, is_within};
pub use window::Window;

use weft_affine::Expr;
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, ElementType, Scalar};
use weft_partition::Form;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal,)*) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl ArenaId for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("a kernel holds fewer than 2^32 items of a kind"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A memory of a kernel.
    MemoryId "m",
    /// A function of a kernel.
    FunctionId "f",
    /// A value of one function.
    ValueId "v",
}

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// What it reads and writes: buffers, the fusion's operands first and then its results, and memories of its own.
    pub memories: Arena<MemoryId, Memory>,
    /// Its functions, callers before callees.
    pub functions: Arena<FunctionId, Function>,
    /// What each invocation does. The last index is the number of the invocation within its workgroup, those before it are
    /// the coordinates of the workgroup: `x`, or `x` and `y`, or all three. Where there are several windows, the number of the window
    /// stands between them.
    pub entry: Function,
    /// The dispatches that the kernel is run in, one after the other, each with a [`Window`] of the memories that are too large to be bound
    /// as a whole; 1 where one does everything.
    pub windows: i64,
    /// How many invocations that follow one another in a workgroup become one, as the lanes of its vectors ([`vectorize`](crate::lower::vectorize)): 1, 2
    /// or 4, and 1 from then on.
    pub lanes: u32,
    /// Whether drivers are not told how many rounds those loops make in which nothing is done [together](Kernel::is_together), so that none writes them
    /// out ([`roll`](crate::lower::roll)). An invocation leaves them by itself, for all that is known.
    pub rolled: bool,
}

/// An array of elements, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its shape; the layout plays no role.
    pub shape: ArrayShape,
    /// The shape of the packed elements that its words hold, after [`words`](crate::lower::words): it is of so many `u32` in one dimension,
    /// and what it holds lies row-major, the first element in the lowest bits.
    pub packed: Option<ArrayShape>,
    /// Where it lies.
    pub space: Space,
    /// What of it a dispatch binds; `None` where that is all of it.
    pub window: Option<Window>,
    /// The memory before it that holds the same tensor, where a kernel reads that through several bindings, each of another part.
    pub part_of: Option<MemoryId>,
    /// Whether the buffer is declared as numbers of 64 bits, each of two words that follow one another, after [`pairs`](crate::lower::pairs): then only
    /// vectors of words go to it and come from it.
    pub pairs: bool,
}

/// Where a memory lies, and who sees it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Space {
    /// In a buffer that the runtime binds.
    Buffer {
        /// The number of the binding. Memories in one buffer share it: a buffer is bound once.
        binding: u32,
        /// The byte at which the memory begins.
        offset: u64,
        /// What the kernel does with it.
        access: Access,
    },
    /// In workgroup memory, seen by the invocations of one workgroup; not initialized.
    Workgroup,
    /// In registers of one invocation; not initialized.
    Thread,
    /// In registers of the members of a subgroup, in a way that only the device knows: a matrix; not initialized. Only
    /// [what subgroups do with matrices](MatrixOp) touches it.
    Matrix {
        /// What it is to products.
        role: MatrixRole,
        /// Invocations of a subgroup, which follow one another in the workgroup.
        members: u32,
    },
}

/// What a kernel does with a buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It reads; the buffer is bound as a uniform, in vectors of four elements.
    Uniform,
    /// It writes every element once.
    Write,
    /// It reads, and writes some elements: each is touched by one invocation at most.
    ReadWrite,
    /// It reads and writes some elements, at places that values tell. That each is touched by one invocation at most, but for undivided updates,
    /// is what the program says.
    Scattered,
}

impl Memory {
    /// A memory of words, all of which is bound, where it is bound.
    pub fn new(name: String, shape: ArrayShape, space: Space) -> Self {
        Memory { name, shape, packed: None, space, window: None, part_of: None, pairs: false }
    }

    /// Type and extents of the elements that it holds.
    pub fn held(&self) -> &ArrayShape {
        self.packed.as_ref().unwrap_or(&self.shape)
    }

    /// How many elements a word of it holds: 1 unless they are packed in words.
    pub fn per_word(&self) -> u32 {
        let packed = self.packed.as_ref().and_then(|shape| Form::of(shape.element_type));
        packed.map_or(1, Form::per_word)
    }

    /// Whether the runtime binds it.
    pub fn is_buffer(&self) -> bool {
        matches!(self.space, Space::Buffer { .. })
    }

    /// Whether statements may write it.
    pub fn is_writable(&self) -> bool {
        !matches!(self.space, Space::Buffer { access: Access::Read | Access::Uniform, .. })
    }

    /// Whether it lies in a buffer that is bound as a uniform.
    pub fn is_uniform(&self) -> bool {
        matches!(self.space, Space::Buffer { access: Access::Uniform, .. })
    }

    /// Whether `extract` may read it.
    pub fn is_readable(&self) -> bool {
        !matches!(self.space, Space::Buffer { access: Access::Write, .. })
    }
}

/// A function from indices and values to values.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The extent of each index; index `k` runs over `[0, extents[k] - 1]`.
    pub extents: Vec<i64>,
    /// The values it is given: the result of a hero, the operands of a combiner.
    pub parameters: Vec<ValueId>,
    /// Every value of the body, the parameters among them.
    pub values: Arena<ValueId, Value>,
    /// The body; its results are what the function returns.
    pub body: Block,
}

/// A value: a scalar, or a vector of several lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// A name to remember it by; not necessarily unique.
    pub name: String,
    /// Its type, or that of each lane.
    pub element_type: ElementType,
    /// How many lanes it has: 1, 2 or 4.
    pub lanes: u32,
}

impl Value {
    /// A value of one lane.
    pub fn scalar(name: impl Into<String>, element_type: ElementType) -> Self {
        Value { name: name.into(), element_type, lanes: 1 }
    }

    /// Its type with the number of lanes.
    pub fn ty(&self) -> ValueType {
        ValueType { element_type: self.element_type, lanes: self.lanes }
    }
}

/// What an operation reads: a value in sight or a constant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value defined before, in this block or one around it.
    Value(ValueId),
    /// A constant.
    Constant(Scalar),
}

/// Statements in order, then results.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// What the block yields.
    pub results: Vec<Operand>,
}

impl Function {
    /// The number of an invocation in the launch of an entry, all windows one after the other, by the coordinates of its workgroup and its
    /// number there.
    ///
    /// # Errors
    /// If it exceeds 64 bits.
    pub fn invocation(&self) -> Result<Expr, weft_affine::Error> {
        let Some((threads, groups)) = self.extents.split_last() else { return Ok(Expr::constant(0)) };
        let variable = |dimension: usize| Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX));
        let mut group = Expr::constant(0);
        for (dimension, extent) in groups.iter().enumerate().rev() {
            group = group.checked_mul(*extent)?.checked_add(&variable(dimension))?;
        }
        group.checked_mul(*threads)?.checked_add(&variable(groups.len()))
    }

    /// The functions that it calls, once for each call.
    pub(crate) fn callees(&self) -> Vec<FunctionId> {
        fn collect(block: &Block, callees: &mut Vec<FunctionId>) {
            for statement in &block.statements {
                callees.extend(statement.callee());
                statement.blocks().into_iter().for_each(|block| collect(block, callees));
            }
        }
        let mut callees = Vec::new();
        collect(&self.body, &mut callees);
        callees
    }
}

impl Kernel {
    /// Workgroups of a dispatch along `x`, `y` and `z`.
    pub fn workgroups(&self) -> [i64; 3] {
        let groups = self.entry.extents.split_last().map(|(_, groups)| groups).unwrap_or_default();
        let groups = &groups[..self.window_coordinate().unwrap_or(groups.len())];
        std::array::from_fn(|dimension| groups.get(dimension).copied().unwrap_or(1))
    }

    /// Invocations of a workgroup.
    pub fn threads(&self) -> i64 {
        self.entry.extents.last().copied().unwrap_or(1)
    }

    /// Whether statements may write the memory, or another in the same buffer.
    pub fn may_change(&self, memory: MemoryId) -> bool {
        let memory = &self.memories[memory];
        memory.is_writable() || self.in_one_buffer(memory).any(Memory::is_writable)
    }

    /// The memories in the same buffer as this one, which is among them; none where it lies in no buffer.
    pub(crate) fn in_one_buffer<'k>(&'k self, memory: &Memory) -> impl Iterator<Item = &'k Memory> + use<'k> {
        let of = |memory: &Memory| match memory.space {
            Space::Buffer { binding, .. } => Some(binding),
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => None,
        };
        let binding = of(memory);
        self.memories.values().filter(move |other| binding.is_some() && of(other) == binding)
    }

    /// The functions and, last, the entry.
    pub fn bodies(&self) -> impl Iterator<Item = &Function> {
        self.functions.values().chain([&self.entry])
    }

    /// For each memory whether it is one of the workgroup that matrices are taken from or put into.
    pub(crate) fn in_matrices(&self) -> Vec<bool> {
        fn find(block: &Block, found: &mut [bool]) {
            for statement in &block.statements {
                if let Statement::Matrix(op) = statement
                    && let Some((memory, _)) = op.place()
                    && let Some(found) = found.get_mut(memory.index())
                {
                    *found = true;
                }
                statement.blocks().into_iter().for_each(|block| find(block, found));
            }
        }
        let mut found = vec![false; self.memories.len()];
        find(&self.entry.body, &mut found);
        found
    }

    /// Whether subgroups have matrices of `f16`, which a kernel takes from tiles of such: it makes them of their bits, as integers of 16 bits.
    pub fn has_halves(&self) -> bool {
        let is_half = |memory: &Memory| memory.shape.element_type == ElementType::F16;
        self.memories.values().any(|memory| matches!(memory.space, Space::Matrix { .. }) && is_half(memory))
    }

    /// Whether subgroups have matrices.
    pub fn has_matrices(&self) -> bool {
        self.memories.values().any(|memory| matches!(memory.space, Space::Matrix { .. }))
    }

    /// Whether invocations wait for each other in a block, or ask for each other's values.
    pub fn is_together(block: &Block) -> bool {
        block.statements.iter().any(|statement| {
            let asks = match statement {
                Statement::Let { op, .. } => matches!(op, ScalarOp::Member { .. }),
                other => other.waits() || matches!(other, Statement::Matrix(_)),
            };
            asks || statement.blocks().into_iter().any(Kernel::is_together)
        })
    }

    /// Whether buffers are declared as integers of 64 bits, which not all devices have.
    pub fn has_pairs(&self) -> bool {
        self.memories.values().any(|memory| memory.pairs)
    }

    /// Whether numbers of 64 bits are computed with, which not all devices do: then they need `f64` and integers of 64 bits.
    pub fn has_f64(&self) -> bool {
        self.bodies().flat_map(|function| function.values.values()).any(|value| value.element_type == ElementType::F64)
    }

    /// The type of an operand in a function, or that of its lanes.
    pub fn operand_type(function: &Function, operand: Operand) -> ElementType {
        match operand {
            Operand::Value(value) => function.values[value].element_type,
            Operand::Constant(scalar) => scalar.element_type(),
        }
    }

    /// How many lanes an operand has; a constant has one, or as many as there are where it stands.
    pub fn operand_lanes(function: &Function, operand: Operand) -> u32 {
        match operand {
            Operand::Value(value) => function.values[value].lanes,
            Operand::Constant(_) => 1,
        }
    }

    /// The types a function returns.
    pub fn result_types(function: &Function) -> Vec<ValueType> {
        let ty = |result: &Operand| ValueType {
            element_type: Kernel::operand_type(function, *result),
            lanes: Kernel::operand_lanes(function, *result),
        };
        function.body.results.iter().map(ty).collect()
    }
}
