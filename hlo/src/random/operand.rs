//! Choice of operands: existing values, values made from those, and new ones.

use super::body::{Body, ComputationKind};
use super::literal;
use super::shape::MAX_RANK;
use super::value_range::ValueRange;
use crate::ir::{ArenaId, ArrayShape, ElementType, InstrId, Op, Opcode, Shape};

/// How an array comes about that an operation needs.
#[derive(Copy, Clone)]
enum Adaptation {
    Convert,
    Reshape,
    Repeat,
    Count,
}

impl Adaptation {
    fn opcode(self) -> Opcode {
        match self {
            Adaptation::Convert => Opcode::Convert,
            Adaptation::Reshape => Opcode::Reshape,
            Adaptation::Repeat => Opcode::Broadcast,
            Adaptation::Count => Opcode::Iota,
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

impl Body<'_> {
    /// One of the values, a late one rather than an early one, so that chains come about.
    pub(super) fn late(&mut self, values: &[InstrId]) -> Option<InstrId> {
        let (one, other) = (self.world.rng.choose(values)?, self.world.rng.choose(values)?);
        Some(if self.world.rng.chance(50) { one.max(other) } else { one })
    }

    /// The values of a shape.
    pub(super) fn values_like(&self, shape: &Shape) -> Vec<InstrId> {
        let alike = self.instructions().iter().filter(|(_, instruction)| instruction.shape.is_compatible(shape));
        alike.map(|(id, _)| id).collect()
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
            self.instructions().iter().filter(|(_, instruction)| fits(&instruction.shape)).map(|(id, _)| id).collect();
        if self.world.rng.chance(75)
            && let Some(id) = self.late(&there)
        {
            return Some(id);
        }
        let element_type = self.element_type(accepts)?;
        let extents = self.extents(least_rank);
        Some(self.operand(element_type, &extents))
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
        let fits = extents.len() <= MAX_RANK && extents.iter().product::<i64>() <= self.elements();
        fits.then(|| self.operand(element_type, extents))
    }

    /// An array made from one that is there, or by counting.
    fn adapted(&mut self, how: Adaptation, element_type: ElementType, extents: &[i64]) -> Option<InstrId> {
        if self.kind == ComputationKind::SingleOperation || !self.world.is_asked(how.opcode()) {
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
                let arrays = self.instructions().iter().filter_map(|(id, it)| Some((id, it.shape.as_array()?)));
                let sources: Vec<InstrId> =
                    arrays.filter(|(_, array)| how.suits(array, &declared)).map(|(id, _)| id).collect();
                vec![self.late(&sources)?]
            }
        };
        self.emit_as(op, operands, Shape::Array(declared))
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

    /// A new parameter or constant.
    fn fresh(&mut self, shape: Shape) -> InstrId {
        let most = match self.kind {
            ComputationKind::Entry | ComputationKind::SingleOperation => 8,
            ComputationKind::Function => 4,
            ComputationKind::FixedSignature | ComputationKind::Region => 0,
        };
        if self.parameters.len() < most && self.world.rng.chance(60) {
            return self.parameter(shape);
        }
        self.constant(&shape)
    }

    /// A new constant; of a tuple, the tuple of new constants.
    pub(super) fn constant(&mut self, shape: &Shape) -> InstrId {
        let Some(array) = shape.as_array() else { return self.value(shape) };
        let literal =
            literal::array(&mut self.world.rng, self.world.options.numbers, array.element_type, &array.extents);
        self.literal(literal)
    }
}
