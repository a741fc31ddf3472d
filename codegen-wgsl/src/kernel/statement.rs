//! Statements of the kernel IR.

use super::{Block, FunctionId, MatrixOp, MemoryId, Operand, ScalarOp, ValueId};
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::ir::ElementType;

/// What must hold for the first block of an `if`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of these constraints on indices.
    Indices(Vec<Constraint>),
    /// This `pred`.
    Value(Operand),
    /// All of these values are within their bounds. The runtime variables are in sight of the first block.
    InBounds(Vec<Binding>),
}

/// A runtime variable that stands for a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The number of the variable; no two of a function have the same.
    pub variable: u32,
    /// What the variable is within.
    pub bounds: Interval,
    /// The value, an integer of any type or a `pred`.
    pub value: Operand,
}

/// What a [`Statement::Bind`] does with a value that is out of bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OutOfBounds {
    /// The variable is the bound nearest to the value, compared in the value's own type.
    Clamp,
    /// It never is: the program says so.
    Assume,
}

/// Whose values a collective combines.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of a workgroup.
    Workgroup,
    /// Those of a part of a workgroup. Invocation `t` is number `(t floordiv apart) mod count` of its part, which it shares with those that have the same
    /// `t floordiv (count * apart)` and `t mod apart`.
    Part {
        /// Invocations of a part; a workgroup has a multiple of `count * apart`.
        count: u32,
        /// How far apart they are that follow one another.
        apart: u32,
    },
    /// Those of a subgroup.
    Subgroup,
}

/// How a collective combines values, in the order of the invocations unless told otherwise.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Combination {
    /// All of them; every invocation gets the result.
    Reduce,
    /// All of them, in an order that the device and the kernel decide, the same in every run; every invocation gets the result.
    Combine,
    /// Those up to and with the invocation's own.
    Scan,
    /// Those before the invocation's own; the first gets its own value.
    ExclusiveScan,
}

/// What an update makes of the element that is there and a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// What a function returns of the element, its first parameter, and the value.
    Function(FunctionId),
    /// What a device does in one step.
    Atomic(AtomicOp),
}

/// What devices do to an element in memory in one step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// The sum, modulo 2^32.
    Add,
    /// The lesser of both.
    Minimum,
    /// The greater of both.
    Maximum,
    /// The bits that both have, or whether both are true.
    And,
    /// The bits that one of both has, or whether one is true.
    Or,
    /// The bits in which they differ, or whether they do.
    Xor,
    /// The value, whatever was there.
    Exchange,
}

impl AtomicOp {
    /// All of them.
    pub const ALL: [AtomicOp; 7] = [
        AtomicOp::Add,
        AtomicOp::Minimum,
        AtomicOp::Maximum,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Exchange,
    ];

    /// The word of the text.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Minimum => "minimum",
            AtomicOp::Maximum => "maximum",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Exchange => "exchange",
        }
    }

    /// Whether every device does it to elements of this type, each in a word: to integers of 32 bits, where it is logic to `pred`, and
    /// where nothing is computed to all.
    pub fn takes(self, element_type: ElementType) -> bool {
        match self {
            AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum => {
                matches!(element_type, ElementType::S32 | ElementType::U32)
            }
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
                matches!(element_type, ElementType::S32 | ElementType::U32 | ElementType::Pred)
            }
            AtomicOp::Exchange => true,
        }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Defines one value.
    Let {
        /// The value.
        value: ValueId,
        /// What it is.
        op: ScalarOp,
    },
    /// Defines the values that a function returns.
    Call {
        /// The values, one per result.
        values: Vec<ValueId>,
        /// The function.
        function: FunctionId,
        /// Its indices.
        indices: Vec<Expr>,
        /// Its parameters.
        arguments: Vec<Operand>,
    },
    /// Defines the values that one of two blocks yields.
    If {
        /// The values.
        values: Vec<ValueId>,
        /// What must hold for the first block.
        condition: Condition,
        /// Runs where the condition holds.
        then: Block,
        /// Runs where it does not.
        otherwise: Block,
    },
    /// Defines the last values of accumulators that a block updates over and over.
    Loop {
        /// The values after the last round.
        values: Vec<ValueId>,
        /// The extents of the loop variables, which are numbered on from those around it; the first varies slowest.
        extents: Vec<i64>,
        /// What the accumulators are before the first round.
        init: Vec<Operand>,
        /// The accumulators, in sight of the body.
        accumulators: Vec<ValueId>,
        /// One round; its results are the accumulators of the next.
        body: Block,
    },
    /// The same for as long as a value holds.
    While {
        /// The values after the last round.
        values: Vec<ValueId>,
        /// What the accumulators are before the first round.
        init: Vec<Operand>,
        /// The accumulators, in sight of both blocks.
        accumulators: Vec<ValueId>,
        /// Yields a `pred`: whether there is another round.
        condition: Block,
        /// One round; its results are the accumulators of the next.
        body: Block,
    },
    /// Makes a value an index, in sight of what follows in the block.
    Bind {
        /// The variable and its value.
        binding: Binding,
        /// What becomes of a value out of bounds.
        out_of_bounds: OutOfBounds,
    },
    /// Gives an index a name: a runtime variable is that index, in sight of what follows in the block.
    Name {
        /// The number of the variable; no two of a function have the same.
        variable: u32,
        /// The index.
        index: Expr,
    },
    /// Writes one element.
    Store {
        /// The memory.
        memory: MemoryId,
        /// One index per dimension; after flattening a single one.
        indices: Vec<Expr>,
        /// The element.
        value: Operand,
    },
    /// Replaces the bits of one packed element in a word, undivided.
    Merge {
        /// The memory, of words that hold packed elements.
        memory: MemoryId,
        /// The position of the word.
        indices: Vec<Expr>,
        /// The number of the lowest bit, a multiple of the bits of an element.
        place: Expr,
        /// The bits, the lowest ones of a `u32` whose others are 0.
        value: Operand,
    },
    /// Replaces one element by what it and a value combine to, undivided: no other invocation comes between.
    Update {
        /// The memory.
        memory: MemoryId,
        /// One index per dimension; after flattening a single one.
        indices: Vec<Expr>,
        /// How they combine.
        combiner: Combiner,
        /// The value.
        value: Operand,
    },
    /// Waits for all invocations of the workgroup, defines one value as the element of workgroup memory that all of them read alike, and
    /// waits again.
    Share {
        /// The value, the same in all of them.
        value: ValueId,
        /// The memory.
        memory: MemoryId,
        /// One index per dimension, or a single one; the same in all of them.
        indices: Vec<Expr>,
    },
    /// Defines what values of several invocations come to. All invocations of the scope come to it.
    Collective {
        /// The results, one per operand.
        values: Vec<ValueId>,
        /// Whose values.
        scope: Scope,
        /// Which of them.
        combination: Combination,
        /// A function of two tuples of operands, associative.
        function: FunctionId,
        /// The values of this invocation.
        operands: Vec<Operand>,
        /// Tiles that what subgroups come to goes through, one for each operand, which nothing else touches meanwhile: all invocations are combined by way of
        /// subgroups. None until that is decided.
        tiles: Vec<MemoryId>,
    },
    /// Waits for all invocations of the workgroup; what they wrote to workgroup memory before is seen after.
    Barrier,
    /// Does something with matrices that the members of a subgroup have together.
    Matrix(MatrixOp),
}

impl Condition {
    /// Where nothing must hold.
    pub fn always() -> Self {
        Condition::Indices(Vec::new())
    }

    /// The constraints on indices, if it is made of those.
    pub fn constraints(&self) -> &[Constraint] {
        match self {
            Condition::Indices(constraints) => constraints,
            Condition::Value(_) | Condition::InBounds(_) => &[],
        }
    }

    /// The runtime variables that are in sight where it holds.
    pub fn bindings(&self) -> &[Binding] {
        match self {
            Condition::InBounds(bindings) => bindings,
            Condition::Indices(_) | Condition::Value(_) => &[],
        }
    }

    /// The operands, in order.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Condition::Indices(_) => Vec::new(),
            Condition::Value(operand) => vec![*operand],
            Condition::InBounds(bindings) => bindings.iter().map(|binding| binding.value).collect(),
        }
    }
}

impl Statement {
    /// The values it defines, those of accumulators included, which are in sight of the blocks within only.
    pub fn defines(&self) -> Vec<ValueId> {
        match self {
            Statement::Let { value, .. } | Statement::Share { value, .. } => vec![*value],
            Statement::Call { values, .. } | Statement::If { values, .. } | Statement::Collective { values, .. } => {
                values.clone()
            }
            Statement::Loop { values, accumulators, .. } | Statement::While { values, accumulators, .. } => {
                values.iter().chain(accumulators).copied().collect()
            }
            Statement::Bind { .. }
            | Statement::Name { .. }
            | Statement::Store { .. }
            | Statement::Merge { .. }
            | Statement::Update { .. }
            | Statement::Barrier
            | Statement::Matrix(_) => Vec::new(),
        }
    }

    /// The same values, to be changed.
    pub fn defines_mut(&mut self) -> Vec<&mut ValueId> {
        match self {
            Statement::Let { value, .. } | Statement::Share { value, .. } => vec![value],
            Statement::Call { values, .. } | Statement::If { values, .. } | Statement::Collective { values, .. } => {
                values.iter_mut().collect()
            }
            Statement::Loop { values, accumulators, .. } | Statement::While { values, accumulators, .. } => {
                values.iter_mut().chain(accumulators).collect()
            }
            Statement::Bind { .. }
            | Statement::Name { .. }
            | Statement::Store { .. }
            | Statement::Merge { .. }
            | Statement::Update { .. }
            | Statement::Barrier
            | Statement::Matrix(_) => Vec::new(),
        }
    }

    /// The operands of the statement itself, in order; those of the blocks within are not among them.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Statement::Let { op, .. } => op.operands(),
            Statement::Call { arguments, .. } => arguments.clone(),
            Statement::If { condition, .. } => condition.operands(),
            Statement::Loop { init, .. } | Statement::While { init, .. } => init.clone(),
            Statement::Bind { binding, .. } => vec![binding.value],
            Statement::Store { value, .. } | Statement::Merge { value, .. } | Statement::Update { value, .. } => {
                vec![*value]
            }
            Statement::Collective { operands, .. } => operands.clone(),
            Statement::Name { .. } | Statement::Share { .. } | Statement::Barrier | Statement::Matrix(_) => Vec::new(),
        }
    }

    /// The operands of the statement itself, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Statement::Let { op, .. } => op.operands_mut().iter_mut().collect(),
            Statement::Call { arguments, .. } => arguments.iter_mut().collect(),
            Statement::If { condition, .. } => match condition {
                Condition::Indices(_) => Vec::new(),
                Condition::Value(operand) => vec![operand],
                Condition::InBounds(bindings) => bindings.iter_mut().map(|binding| &mut binding.value).collect(),
            },
            Statement::Loop { init, .. } | Statement::While { init, .. } => init.iter_mut().collect(),
            Statement::Bind { binding, .. } => vec![&mut binding.value],
            Statement::Store { value, .. } | Statement::Merge { value, .. } | Statement::Update { value, .. } => {
                vec![value]
            }
            Statement::Collective { operands, .. } => operands.iter_mut().collect(),
            Statement::Name { .. } | Statement::Share { .. } | Statement::Barrier | Statement::Matrix(_) => Vec::new(),
        }
    }

    /// The index expressions of the statement itself, those of conditions included.
    pub fn indices(&self) -> Vec<&Expr> {
        match self {
            Statement::Let { op, .. } => op.indices().iter().collect(),
            Statement::Call { indices, .. }
            | Statement::Store { indices, .. }
            | Statement::Update { indices, .. }
            | Statement::Share { indices, .. } => indices.iter().collect(),
            Statement::Merge { indices, place, .. } => indices.iter().chain([place]).collect(),
            Statement::Matrix(op) => op.place().map_or_else(Vec::new, |(_, indices)| indices.iter().collect()),
            Statement::Name { index, .. } => vec![index],
            Statement::If { condition, .. } => condition.constraints().iter().map(|tested| &tested.expr).collect(),
            Statement::Loop { .. }
            | Statement::While { .. }
            | Statement::Bind { .. }
            | Statement::Collective { .. }
            | Statement::Barrier => Vec::new(),
        }
    }

    /// The index expressions of the statement itself, to be changed.
    pub fn indices_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Statement::Let { op, .. } => op.indices_mut().iter_mut().collect(),
            Statement::Call { indices, .. }
            | Statement::Store { indices, .. }
            | Statement::Update { indices, .. }
            | Statement::Share { indices, .. } => indices.iter_mut().collect(),
            Statement::Merge { indices, place, .. } => indices.iter_mut().chain([place]).collect(),
            Statement::Matrix(op) => op.place_mut().map_or_else(Vec::new, |(_, indices)| indices.iter_mut().collect()),
            Statement::Name { index, .. } => vec![index],
            Statement::If { condition: Condition::Indices(constraints), .. } => {
                constraints.iter_mut().map(|tested| &mut tested.expr).collect()
            }
            Statement::If { .. }
            | Statement::Loop { .. }
            | Statement::While { .. }
            | Statement::Bind { .. }
            | Statement::Collective { .. }
            | Statement::Barrier => Vec::new(),
        }
    }

    /// Whether it changes a memory or waits for others to; what is within it does not count.
    pub(crate) fn is_effect(&self) -> bool {
        let changes = matches!(
            self,
            Statement::Store { .. } | Statement::Merge { .. } | Statement::Update { .. } | Statement::Matrix(_)
        );
        self.waits() || changes
    }

    /// Whether it waits for other invocations; what is within it does not count.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Statement::Collective { .. } | Statement::Share { .. } | Statement::Barrier)
    }

    /// Whether it, or a statement within it, changes a memory or waits for others to.
    pub fn has_effects(&self) -> bool {
        self.is_effect() || self.blocks().into_iter().any(|block| block.statements.iter().any(Statement::has_effects))
    }

    /// The memory that the statement itself reads or changes.
    pub fn memory(&self) -> Option<MemoryId> {
        match self {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. }
            | Statement::Share { memory, .. }
            | Statement::Store { memory, .. }
            | Statement::Merge { memory, .. }
            | Statement::Update { memory, .. } => Some(*memory),
            Statement::Matrix(op) => op.place().map(|(memory, _)| memory),
            _ => None,
        }
    }

    /// The memory that the statement itself reads or changes, to be changed.
    pub fn memory_mut(&mut self) -> Option<&mut MemoryId> {
        match self {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. }
            | Statement::Share { memory, .. }
            | Statement::Store { memory, .. }
            | Statement::Merge { memory, .. }
            | Statement::Update { memory, .. } => Some(memory),
            Statement::Matrix(op) => op.place_mut().map(|(memory, _)| memory),
            _ => None,
        }
    }

    /// The function it calls.
    pub fn callee(&self) -> Option<FunctionId> {
        match self {
            Statement::Call { function, .. }
            | Statement::Update { combiner: Combiner::Function(function), .. }
            | Statement::Collective { function, .. } => Some(*function),
            _ => None,
        }
    }

    /// The function it calls, to be changed.
    pub fn callee_mut(&mut self) -> Option<&mut FunctionId> {
        match self {
            Statement::Call { function, .. }
            | Statement::Update { combiner: Combiner::Function(function), .. }
            | Statement::Collective { function, .. } => Some(function),
            _ => None,
        }
    }

    /// The blocks within it, in the order of the text.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. } => vec![body],
            Statement::While { condition, body, .. } => vec![condition, body],
            _ => Vec::new(),
        }
    }

    /// The blocks within it, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. } => vec![body],
            Statement::While { condition, body, .. } => vec![condition, body],
            _ => Vec::new(),
        }
    }
}
