//! A computation under construction: how operands are found and instructions added.

use super::operation::Maker;
use super::value_range::ValueRange;
use super::world::{World, extents, ranked_extents};
use super::{element, error_bounds, structure};
use crate::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, ElementType, InstrId, Instruction, Layout, Op, Shape, Span,
};
use crate::shape::{InstructionAttributes, infer_cached};

/// The greatest rank.
pub(super) const MOST_DIMENSIONS: usize = 6;

/// How many elements an array has at most, whatever is asked for, so that products of extents stay small numbers.
pub(super) const MOST_ELEMENTS: i64 = 1 << 20;

/// What a computation is for.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The one that runs; it takes parameters as it needs them.
    Entry,
    /// The one that runs and holds one operation, whose operands are parameters and constants as far as they can be.
    Around,
    /// One that is called with whole values, and takes parameters as it needs them.
    Function,
    /// One whose parameters are settled.
    Settled,
    /// One that is applied to elements. It runs often, so that its values are small; most of them are scalars.
    Region,
}

/// How an array comes about that an operation needs.
#[derive(Copy, Clone)]
enum Adaptation {
    Convert,
    Reshape,
    Repeat,
    Count,
}

impl Adaptation {
    fn opcode(self) -> &'static str {
        match self {
            Adaptation::Convert => "convert",
            Adaptation::Reshape => "reshape",
            Adaptation::Repeat => "broadcast",
            Adaptation::Count => "iota",
        }
    }

    /// Whether one array can be made from another this way.
    fn suits(self, from: &ArrayShape, to: &ArrayShape) -> bool {
        let same_type = from.element_type == to.element_type;
        match self {
            Adaptation::Convert => {
                let loses_nothing = to.element_type.is_complex() || !from.element_type.is_complex();
                from.extents == to.extents && !same_type && loses_nothing
            }
            Adaptation::Reshape => same_type && from.element_count() == to.element_count(),
            Adaptation::Repeat => same_type && from.rank() == 0 && to.rank() > 0,
            Adaptation::Count => false,
        }
    }
}

/// A computation under construction.
pub(super) struct Body<'w> {
    pub(super) world: &'w mut World,
    pub(super) instructions: Arena<InstrId, Instruction>,
    /// For each instruction the ranges of its arrays, where numbers are tame.
    ranges: Vec<Vec<ValueRange>>,
    pub(super) parameters: Vec<Shape>,
    pub(super) place: Place,
    /// Whether its parameters are arrays and what it yields is one, or a tuple of arrays.
    pub(super) is_plain: bool,
    /// How many computations deep it is called.
    pub(super) depth: usize,
}

impl<'w> Body<'w> {
    pub(super) fn new(world: &'w mut World, place: Place, depth: usize) -> Self {
        let is_plain = !world.options.tuples;
        Body { world, instructions: Arena::new(), ranges: Vec::new(), parameters: Vec::new(), place, is_plain, depth }
    }

    /// A computation that this one is to call.
    pub(super) fn nested(&mut self, place: Place) -> Body<'_> {
        // What is called within a region runs as often as the region.
        let place = if self.place == Place::Region { Place::Region } else { place };
        Body::new(self.world, place, self.depth + 1)
    }

    /// How many elements an array may have.
    pub(super) fn elements(&self) -> i64 {
        let most = if self.place == Place::Region { 4 } else { MOST_ELEMENTS };
        self.world.options.elements.clamp(1, most)
    }

    /// Adds about so many instructions.
    pub(super) fn grow(&mut self, count: usize) {
        let target = self.instructions.len() + count;
        // Not every attempt comes to something.
        for _ in 0..8 * count {
            if self.instructions.len() >= target {
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
        let preferred = match self.place {
            Place::Region if rng.chance(80) => rng.choose(scalar_makers),
            _ if rng.chance(4) => rng.choose(control_makers),
            _ => None,
        };
        preferred.or_else(|| rng.choose(makers))
    }

    /// The finished computation.
    pub(super) fn finish(self, name: String, root: InstrId) -> ComputationId {
        let instructions = self.instructions;
        self.world.computations.push(Computation {
            name,
            instructions,
            root,
            attributes: Vec::new(),
            span: Span::default(),
        })
    }

    pub(super) fn shape(&self, id: InstrId) -> &Shape {
        &self.instructions[id].shape
    }

    /// The type and extents of an array.
    pub(super) fn array_shape(&self, id: InstrId) -> ArrayShape {
        self.shape(id).as_array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, Vec::new()))
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
        instruction.name = format!("{}.{}", instruction.op.name(), self.instructions.len());
        self.instructions.push(instruction)
    }

    /// The ranges of what an instruction would yield; `None` where it would not be tame.
    fn ranges(&self, op: &Op, operands: &[InstrId], shape: &Shape) -> Option<Vec<ValueRange>> {
        let float = match self.place {
            Place::Entry | Place::Around => ValueRange::INPUT,
            Place::Function | Place::Settled | Place::Region => ValueRange::ARGUMENT,
        };
        if let Op::Parameter { .. } = op {
            return Some(error_bounds::given(shape, float));
        }
        let operand = |id: &InstrId| (self.shape(*id), &self.ranges[id.index()][..]);
        let operands: Vec<error_bounds::Ranged<'_>> = operands.iter().map(operand).collect();
        error_bounds::ranges(&self.world.computations, op, shape, &operands)
    }

    /// The range of an array, where numbers are tame.
    pub(super) fn range(&self, id: InstrId) -> ValueRange {
        self.ranges.get(id.index()).and_then(|ranges| ranges.first().copied()).unwrap_or(ValueRange::UNKNOWN)
    }

    /// Whether an instruction may be added: where numbers are tame, its result has to be so.
    pub(super) fn is_allowed(&self, op: &Op, operands: &[InstrId], shape: &Shape) -> bool {
        !self.world.is_tame() || self.ranges(op, operands, shape).is_some()
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
                array.rank() <= MOST_DIMENSIONS && array.element_count().is_some_and(|count| count <= self.elements())
            })
        };
        let is_allowed = shape.leaves().iter().all(fits) && self.is_allowed(&op, &operands, &shape);
        is_allowed.then(|| self.push(op, operands, shape))
    }

    /// An element type that is among those asked for, one of the module's few most of the time.
    pub(super) fn element_type(&mut self, accepts: impl Fn(ElementType) -> bool) -> Option<ElementType> {
        let of = |types: &[ElementType]| -> Vec<ElementType> {
            types.iter().copied().filter(|&element_type| accepts(element_type)).collect()
        };
        let (few, all) = (of(&self.world.types), of(&self.world.options.types));
        let few = if self.world.rng.chance(75) { few } else { Vec::new() };
        self.world.rng.choose(&few).or_else(|| self.world.rng.choose(&all))
    }

    /// An integer type for indices.
    pub(super) fn index_type(&mut self) -> ElementType {
        let integers: Vec<ElementType> =
            self.world.options.types.iter().copied().filter(|element_type| element_type.is_integer()).collect();
        let any = if self.world.rng.chance(40) { self.world.rng.choose(&integers) } else { None };
        any.unwrap_or(ElementType::S32)
    }

    /// Extents of a new value, those of one of the module's few shapes most of the time.
    pub(super) fn extents(&mut self, least_rank: usize) -> Vec<i64> {
        let elements = self.elements();
        if self.place == Place::Region && least_rank == 0 && self.world.rng.chance(80) {
            return Vec::new();
        }
        let fits = |extents: &[i64]| extents.len() >= least_rank && extents.iter().product::<i64>() <= elements;
        if self.world.rng.chance(60) {
            let few: Vec<usize> = (0..self.world.extents.len()).filter(|&at| fits(&self.world.extents[at])).collect();
            if let Some(at) = self.world.rng.choose(&few) {
                return self.world.extents[at].clone();
            }
        }
        let is_empty = self.world.is_empty;
        let any = extents(&mut self.world.rng, elements, is_empty);
        if any.len() >= least_rank {
            return any;
        }
        ranked_extents(&mut self.world.rng, least_rank, elements, is_empty)
    }

    /// An array of a type that is accepted and asked for: one that is there most of the time, else a new one.
    pub(super) fn array(&mut self, accepts: impl Fn(ElementType) -> bool, least_rank: usize) -> Option<InstrId> {
        let elements = self.elements();
        let asked = &self.world.options.types;
        let fits = |shape: &Shape| {
            shape.as_array().is_some_and(|array| {
                array.rank() >= least_rank
                    && accepts(array.element_type)
                    && asked.contains(&array.element_type)
                    && array.element_count().is_some_and(|count| count <= elements)
            })
        };
        let there: Vec<InstrId> =
            self.instructions.iter().filter(|(_, instruction)| fits(&instruction.shape)).map(|(id, _)| id).collect();
        if self.world.rng.chance(75)
            && let Some(id) = self.late(&there)
        {
            return Some(id);
        }
        let element_type = self.element_type(accepts)?;
        let extents = self.extents(least_rank);
        Some(self.operand(element_type, &extents))
    }

    /// One of the values, a late one rather than an early one, so that chains come about.
    pub(super) fn late(&mut self, values: &[InstrId]) -> Option<InstrId> {
        let (one, other) = (self.world.rng.choose(values)?, self.world.rng.choose(values)?);
        Some(if self.world.rng.chance(50) { one.max(other) } else { one })
    }

    /// The values of a shape.
    pub(super) fn values_like(&self, shape: &Shape) -> Vec<InstrId> {
        let alike = self.instructions.iter().filter(|(_, instruction)| instruction.shape.is_compatible(shape));
        alike.map(|(id, _)| id).collect()
    }

    /// An array of this type and these extents: one that is there, one made from another, or a new one.
    pub(super) fn operand(&mut self, element_type: ElementType, extents: &[i64]) -> InstrId {
        let shape = Shape::array(element_type, extents);
        let there = self.values_like(&shape);
        if self.world.rng.chance(70)
            && let Some(id) = self.late(&there)
        {
            return id;
        }
        if self.world.rng.chance(75) {
            let mut ways = [Adaptation::Convert, Adaptation::Reshape, Adaptation::Repeat];
            self.world.rng.shuffle(&mut ways);
            // Counting gives no value a reader, so that it comes last.
            let count = self.world.rng.chance(30).then_some(Adaptation::Count);
            for how in ways.into_iter().chain(count) {
                if let Some(id) = self.adapted(how, element_type, extents) {
                    return id;
                }
            }
        }
        self.fresh(shape)
    }

    /// As [`operand`](Self::operand), unless it would be too large.
    pub(super) fn small_operand(&mut self, element_type: ElementType, extents: &[i64]) -> Option<InstrId> {
        let fits = extents.len() <= MOST_DIMENSIONS && extents.iter().product::<i64>() <= self.elements();
        fits.then(|| self.operand(element_type, extents))
    }

    /// An array made from one that is there, or by counting.
    fn adapted(&mut self, how: Adaptation, element_type: ElementType, extents: &[i64]) -> Option<InstrId> {
        if self.place == Place::Around || !self.world.is_asked(how.opcode()) {
            return None;
        }
        let declared = ArrayShape::new(element_type, extents);
        let op = match how {
            Adaptation::Convert => Op::Convert,
            Adaptation::Reshape => Op::Reshape,
            Adaptation::Repeat => Op::Broadcast { dimensions: Vec::new() },
            Adaptation::Count if extents.is_empty() || element_type == ElementType::Pred => return None,
            Adaptation::Count => Op::Iota { dimension: self.world.rng.below(extents.len()) as i64 },
        };
        let operands = match how {
            Adaptation::Count => Vec::new(),
            _ => {
                let arrays = self.instructions.iter().filter_map(|(id, it)| Some((id, it.shape.as_array()?)));
                let sources: Vec<InstrId> =
                    arrays.filter(|(_, array)| how.suits(array, &declared)).map(|(id, _)| id).collect();
                vec![self.late(&sources)?]
            }
        };
        self.emit_as(op, operands, Shape::Array(declared))
    }

    /// A new parameter or constant.
    fn fresh(&mut self, shape: Shape) -> InstrId {
        let most = match self.place {
            Place::Entry | Place::Around => 8,
            Place::Function => 4,
            Place::Settled | Place::Region => 0,
        };
        if self.parameters.len() < most && self.world.rng.chance(60) {
            return self.parameter(shape);
        }
        self.constant(&shape)
    }

    /// The next parameter.
    pub(super) fn parameter(&mut self, shape: Shape) -> InstrId {
        let number = self.parameters.len() as i64;
        self.parameters.push(shape.clone());
        self.push(Op::Parameter { number }, Vec::new(), shape)
    }

    /// A new constant; of a tuple, the tuple of new constants.
    pub(super) fn constant(&mut self, shape: &Shape) -> InstrId {
        let Some(array) = shape.as_array() else { return self.value(shape) };
        let literal =
            element::array(&mut self.world.rng, self.world.options.numbers, array.element_type, &array.extents);
        self.literal(literal)
    }

    /// A constant of this value.
    pub(super) fn literal(&mut self, literal: crate::ir::Literal) -> InstrId {
        let shape = literal.shape.clone();
        self.push(Op::Constant(literal), Vec::new(), shape)
    }

    /// A value of this shape, whatever it is: one that is there, or one made for it.
    pub(super) fn value(&mut self, shape: &Shape) -> InstrId {
        match shape {
            Shape::Array(array) => self.operand(array.element_type, &array.extents),
            _ => {
                let there = self.values_like(shape);
                if self.world.rng.chance(50)
                    && let Some(id) = self.late(&there)
                {
                    return id;
                }
                let elements = shape.as_tuple().unwrap_or_default();
                let operands: Vec<InstrId> = elements.iter().map(|element| self.value(element)).collect();
                let op = if matches!(shape, Shape::Tuple(_)) { Op::Tuple } else { Op::AfterAll };
                self.push(op, operands, shape.without_layout())
            }
        }
    }

    /// A value of this shape that a computation may be called with: where numbers are tame, its are small.
    pub(super) fn argument(&mut self, shape: &Shape) -> InstrId {
        if !self.world.is_tame() {
            return self.value(shape);
        }
        let mut there = self.values_like(shape);
        there.retain(|&id| self.is_argument(id));
        if self.world.rng.chance(90)
            && let Some(id) = self.late(&there)
        {
            return id;
        }
        match shape.as_tuple() {
            Some(elements) => {
                let elements = elements.iter().map(|element| self.argument(element)).collect();
                self.push(Op::Tuple, elements, shape.without_layout())
            }
            None => {
                let value = self.value(shape);
                if self.is_argument(value) { value } else { self.constant(shape) }
            }
        }
    }

    fn is_argument(&self, id: InstrId) -> bool {
        let is_small = |(leaf, range): (&Shape, &ValueRange)| {
            range.is_argument() || leaf.as_array().is_some_and(|array| array.element_type != ElementType::F32)
        };
        self.shape(id).leaves().into_iter().zip(&self.ranges[id.index()]).all(is_small)
    }

    /// The shape of a value to hand around: an array, or a tuple of some.
    pub(super) fn any_shape(&mut self) -> Option<Shape> {
        if self.is_plain {
            let element_type = self.element_type(|_| true)?;
            return Some(Shape::array(element_type, self.extents(0)));
        }
        let count = if self.world.rng.chance(75) { 1 } else { self.world.rng.below(4) };
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            let element_type = self.element_type(|_| true)?;
            elements.push(Shape::array(element_type, self.extents(0)));
        }
        Some(match elements.pop() {
            Some(one) if elements.is_empty() && self.world.rng.chance(90) => one,
            Some(last) => Shape::Tuple(elements.into_iter().chain([last]).collect()),
            None => Shape::Tuple(elements),
        })
    }

    /// The value that is returned: most of the time all that nobody reads, as a tuple.
    pub(super) fn root(&mut self) -> InstrId {
        let readers = self.readers();
        let mut unread: Vec<InstrId> =
            self.instructions.ids().filter(|id| readers[id.index()] == 0 && *self.shape(*id) != Shape::Token).collect();
        if self.is_plain {
            unread.retain(|id| self.shape(*id).as_array().is_some());
        }
        if self.world.rng.chance(20) {
            self.world.rng.shuffle(&mut unread);
            unread.truncate(1 + self.world.rng.below(3));
        }
        if self.place != Place::Entry {
            // Whoever calls this must not come to hold everything.
            unread.reverse();
            unread.truncate(3);
        }
        match unread[..] {
            [one] => one,
            [] if self.is_plain || self.instructions.is_empty() => self.constant(&Shape::scalar(ElementType::F32)),
            [one, ..] if self.world.rng.chance(10) => one,
            _ => {
                let shape = Shape::Tuple(unread.iter().map(|&id| self.shape(id).without_layout()).collect());
                self.push(Op::Tuple, unread, shape)
            }
        }
    }

    /// How many instructions read each.
    fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.instructions.len()];
        for instruction in self.instructions.values() {
            instruction.operands.iter().for_each(|operand| readers[operand.index()] += 1);
        }
        readers
    }
}
