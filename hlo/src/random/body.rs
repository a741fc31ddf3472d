//! A random computation under construction.

use super::module::World;
use super::operation::Maker;
use super::shape::{MAX_ELEMENTS, MAX_RANK};
use super::value_range::ValueRange;
use super::{error_bounds, structure};
use crate::build::ComputationBuilder;
use crate::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, ElementType, InstrId, Instruction, Layout, Literal, Op,
    Shape,
};
use crate::shape::{InstructionAttributes, infer_cached};

/// What a computation is for.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum ComputationKind {
    /// The entry of a module; parameters are added as operands need them.
    Entry,
    /// The entry of a module around one operation, whose operands are parameters and constants as far as they can be.
    SingleOperation,
    /// A computation that is called with whole values; parameters are added as operands need them.
    Function,
    /// A computation whose parameters its caller fixes: a branch, a loop's condition and body, a step of a scan.
    FixedSignature,
    /// A computation that is applied to elements. It runs often, so that its values are small; most of them are scalars.
    Region,
}

/// A computation under construction.
pub(super) struct Body<'w> {
    pub(super) world: &'w mut World,
    builder: ComputationBuilder<'static>,
    /// For each instruction the ranges of its arrays, where numbers are tame.
    pub(super) ranges: Vec<Vec<ValueRange>>,
    pub(super) parameters: Vec<Shape>,
    pub(super) kind: ComputationKind,
    /// Whether its parameters are arrays and what it yields is one, or a tuple of arrays.
    pub(super) is_plain: bool,
    /// How many computations deep it is called.
    pub(super) depth: usize,
}

impl<'w> Body<'w> {
    pub(super) fn new(world: &'w mut World, kind: ComputationKind, depth: usize) -> Self {
        let is_plain = !world.options.tuples;
        let builder = ComputationBuilder::detached("");
        Body { world, builder, ranges: Vec::new(), parameters: Vec::new(), kind, is_plain, depth }
    }

    /// A computation that this one is to call.
    pub(super) fn nested(&mut self, kind: ComputationKind) -> Body<'_> {
        // What is called within a region runs as often as the region.
        let kind = if self.kind == ComputationKind::Region { ComputationKind::Region } else { kind };
        Body::new(self.world, kind, self.depth + 1)
    }

    /// Adds about so many instructions.
    pub(super) fn grow(&mut self, count: usize) {
        let target = self.instructions().len() + count;
        // Not every attempt comes to something.
        for _ in 0..8 * count {
            if self.instructions().len() >= target {
                return;
            }
            let Some(maker) = self.maker() else { return };
            if maker.is_nested() && self.depth >= self.world.options.nesting {
                continue;
            }
            if let Some(made) = maker.make(self) {
                structure::take_apart(self, made);
            }
        }
    }

    /// What to add next: in regions mostly what computes with scalars.
    fn maker(&mut self) -> Option<Maker> {
        let World { rng, makers, scalar_makers, control_makers, .. } = &mut *self.world;
        let preferred = match self.kind {
            ComputationKind::Region if rng.chance(80) => rng.choose(scalar_makers),
            _ if rng.chance(4) => rng.choose(control_makers),
            _ => None,
        };
        preferred.or_else(|| rng.choose(makers))
    }

    /// The value that is returned: most of the time all that nobody reads, as a tuple.
    pub(super) fn root(&mut self) -> InstrId {
        let readers = self.readers();
        let mut unread: Vec<InstrId> = self
            .instructions()
            .ids()
            .filter(|id| readers[id.index()] == 0 && *self.shape(*id) != Shape::Token)
            .collect();
        if self.is_plain {
            unread.retain(|id| self.shape(*id).as_array().is_some());
        }
        if self.world.rng.chance(20) {
            self.world.rng.shuffle(&mut unread);
            unread.truncate(1 + self.world.rng.below(3));
        }
        if self.kind != ComputationKind::Entry {
            // Whoever calls this must not come to hold everything.
            unread.reverse();
            unread.truncate(3);
        }
        match unread[..] {
            [one] => one,
            [] if self.is_plain || self.instructions().is_empty() => self.constant(&Shape::scalar(ElementType::F32)),
            [one, ..] if self.world.rng.chance(10) => one,
            _ => {
                let shape = Shape::Tuple(unread.iter().map(|&id| self.shape(id).without_layout()).collect());
                self.push(Op::Tuple, unread, shape)
            }
        }
    }

    /// How many instructions read each.
    fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.instructions().len()];
        for instruction in self.instructions().values() {
            instruction.operands.iter().for_each(|operand| readers[operand.index()] += 1);
        }
        readers
    }

    /// Adds the computation to the module, under a name that tells what it is for.
    pub(super) fn finish(self, purpose: &str, root: InstrId) -> ComputationId {
        let name = format!("{purpose}_{}", self.world.module.computations().len());
        self.finish_as(name, root)
    }

    /// Adds the computation to the module, under this name.
    pub(super) fn finish_as(self, name: String, root: InstrId) -> ComputationId {
        let computation = Computation { name, ..self.builder.finish_detached(root) };
        self.world.module.add(computation).expect("the root and all callees exist")
    }

    /// The instructions added so far.
    pub(super) fn instructions(&self) -> &Arena<InstrId, Instruction> {
        self.builder.instructions()
    }

    pub(super) fn shape(&self, id: InstrId) -> &Shape {
        self.builder.shape(id)
    }

    /// The type and extents of an array.
    pub(super) fn array_shape(&self, id: InstrId) -> ArrayShape {
        self.shape(id).as_array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, Vec::new()))
    }

    /// How many elements an array may have.
    pub(super) fn elements(&self) -> i64 {
        let most = if self.kind == ComputationKind::Region { 4 } else { MAX_ELEMENTS };
        self.world.options.elements.clamp(1, most)
    }

    /// Adds an instruction whose shape is known.
    pub(super) fn push(&mut self, op: Op, operands: Vec<InstrId>, shape: Shape) -> InstrId {
        if self.world.is_tame() {
            let unknown = || vec![ValueRange::UNKNOWN; shape.leaves().len()];
            let ranges = self.ranges(&op, &operands, &shape).unwrap_or_else(unknown);
            self.ranges.push(ranges);
        }
        let mut instruction = Instruction::new("", shape, op, operands);
        self.lay_out(&mut instruction);
        instruction.name = format!("{}.{}", instruction.op.name(), self.instructions().len());
        self.builder.push(instruction)
    }

    /// Gives an array a layout, in modules that have layouts.
    fn lay_out(&mut self, instruction: &mut Instruction) {
        let Shape::Array(array) = &mut instruction.shape else { return };
        array.layout = None;
        let often = matches!(instruction.op, Op::Bitcast | Op::Copy | Op::Transpose { .. });
        if array.rank() < 2 || !self.world.layouts || !self.world.rng.chance(if often { 75 } else { 30 }) {
            return;
        }
        let minor_to_major = self.world.rng.dimensions(array.rank(), array.rank());
        array.layout = Some(Layout { minor_to_major, physical: None });
        if let Op::Constant(literal) = &mut instruction.op {
            literal.shape = instruction.shape.clone();
        }
    }

    /// Adds an operation that yields an array of this type, with the extents that follow from its operands; `None` if it
    /// would be too large, or break a rule.
    pub(super) fn emit(&mut self, op: Op, operands: Vec<InstrId>, element_type: ElementType) -> Option<InstrId> {
        self.emit_as(op, operands, Shape::scalar(element_type))
    }

    /// As [`emit`](Self::emit), for results whose extents the operands leave open, and tuples.
    pub(super) fn emit_as(&mut self, op: Op, operands: Vec<InstrId>, declared: Shape) -> Option<InstrId> {
        let shapes: Vec<&Shape> = operands.iter().map(|&operand| self.shape(operand)).collect();
        let instruction =
            InstructionAttributes { op: &op, operands: &shapes, declared: &declared, called: None, partitions: 1 };
        let shape = infer_cached(&self.world.cache, &instruction).ok()?;
        let fits = |leaf: &&Shape| {
            leaf.as_array().is_none_or(|array| {
                array.rank() <= MAX_RANK && array.element_count().is_some_and(|count| count <= self.elements())
            })
        };
        let is_allowed = shape.leaves().iter().all(fits) && self.is_allowed(&op, &operands, &shape);
        is_allowed.then(|| self.push(op, operands, shape))
    }

    /// The ranges of what an instruction would yield; `None` where it would not be tame.
    fn ranges(&self, op: &Op, operands: &[InstrId], shape: &Shape) -> Option<Vec<ValueRange>> {
        let float = match self.kind {
            ComputationKind::Entry | ComputationKind::SingleOperation => ValueRange::INPUT,
            ComputationKind::Function | ComputationKind::FixedSignature | ComputationKind::Region => {
                ValueRange::ARGUMENT
            }
        };
        if let Op::Parameter { .. } = op {
            return Some(error_bounds::given(shape, float));
        }
        let operand = |id: &InstrId| (self.shape(*id), &self.ranges[id.index()][..]);
        let operands: Vec<error_bounds::Ranged<'_>> = operands.iter().map(operand).collect();
        error_bounds::ranges(self.world.module.computations(), op, shape, &operands)
    }

    /// The range of an array, where numbers are tame.
    pub(super) fn range(&self, id: InstrId) -> ValueRange {
        self.ranges.get(id.index()).and_then(|ranges| ranges.first().copied()).unwrap_or(ValueRange::UNKNOWN)
    }

    /// Whether an instruction may be added: where numbers are tame, its result has to be so.
    pub(super) fn is_allowed(&self, op: &Op, operands: &[InstrId], shape: &Shape) -> bool {
        !self.world.is_tame() || self.ranges(op, operands, shape).is_some()
    }

    /// The next parameter.
    pub(super) fn parameter(&mut self, shape: Shape) -> InstrId {
        let number = self.parameters.len() as i64;
        self.parameters.push(shape.clone());
        self.push(Op::Parameter { number }, Vec::new(), shape)
    }

    /// A constant of this value.
    pub(super) fn literal(&mut self, literal: Literal) -> InstrId {
        let shape = literal.shape.clone();
        self.push(Op::Constant(literal), Vec::new(), shape)
    }
}
