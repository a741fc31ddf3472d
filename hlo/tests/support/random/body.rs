//! A computation that grows one instruction after another.

use super::facts::Facts;
use super::inputs::literal;
use super::{Config, Rng};
use std::collections::BTreeMap;
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Layout, Literal,
    Op, Scalar, Shape,
};

pub(super) const TYPES: [ElementType; 4] = [ElementType::F32, ElementType::S32, ElementType::U32, ElementType::Pred];

/// What all computations of a module have in common.
pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) config: Config,
    pub(super) computations: Arena<ComputationId, Computation>,
    pub(super) functions: Vec<Function>,
    pub(super) regions: BTreeMap<String, ComputationId>,
    /// The extents of this module; few, so that shapes agree often.
    extents: Vec<i64>,
}

/// A computation that may be called.
#[derive(Clone)]
pub(super) struct Function {
    pub(super) id: ComputationId,
    pub(super) parameters: Vec<Shape>,
    pub(super) result: Shape,
    pub(super) facts: Vec<Facts>,
    /// Whether a fusion may call it: no tuples go in, at most a flat one comes out.
    pub(super) is_plain: bool,
}

/// A computation while it grows.
pub(super) struct Body<'w> {
    pub(super) world: &'w mut World,
    pub(super) instructions: Arena<InstrId, Instruction>,
    /// For each instruction the facts of its leaves.
    pub(super) facts: Vec<Vec<Facts>>,
    parameters: i64,
    is_entry: bool,
}

impl World {
    pub(super) fn new(mut rng: Rng, config: Config) -> Self {
        let mut extents = vec![*rng.choose(&[2, 3]).unwrap_or(&2), *rng.choose(&[3, 5, 7]).unwrap_or(&3), 2];
        if rng.chance(60) {
            extents.push(1);
        }
        if rng.chance(8) {
            extents.push(0);
        }
        World { rng, config, computations: Arena::new(), functions: Vec::new(), regions: BTreeMap::new(), extents }
    }

    pub(super) fn extent(&mut self) -> i64 {
        *self.rng.choose(&self.extents).unwrap_or(&1)
    }

    /// Extents of some rank whose product is within the limit.
    pub(super) fn extents(&mut self) -> Vec<i64> {
        let rank = self.rng.weighted(&[10, 22, 30, 24, 8, 6]);
        let mut extents: Vec<i64> = Vec::new();
        for _ in 0..rank {
            let extent = self.extent();
            if extents.iter().product::<i64>() * extent <= self.config.elements {
                extents.push(extent);
            }
        }
        extents
    }

    pub(super) fn element_type(&mut self) -> ElementType {
        TYPES[self.rng.weighted(&[45, 25, 15, 15])]
    }

    /// The shape, possibly with a layout.
    pub(super) fn laid_out(&mut self, mut shape: ArrayShape) -> Shape {
        if self.config.layouts && shape.rank() > 0 && self.rng.chance(12) {
            let mut order: Vec<usize> = (0..shape.rank()).rev().collect();
            if self.rng.chance(75) {
                self.rng.shuffle(&mut order);
            }
            shape.layout = Some(Layout::new(order));
        }
        Shape::Array(shape)
    }
}

impl<'w> Body<'w> {
    pub(super) fn new(world: &'w mut World, is_entry: bool) -> Self {
        Body { world, instructions: Arena::new(), facts: Vec::new(), parameters: 0, is_entry }
    }

    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.world.rng
    }

    pub(super) fn is_tame(&self) -> bool {
        self.world.config.tame
    }

    /// Appends an instruction as it is.
    pub(super) fn push(&mut self, op: Op, shape: Shape, operands: Vec<InstrId>, facts: Vec<Facts>) -> InstrId {
        let name = format!("{}.{}", op.name(), self.instructions.len());
        assert_eq!(facts.len(), shape.leaves().len(), "each leaf has its facts");
        self.facts.push(facts);
        self.instructions.push(Instruction::new(name, shape, op, operands))
    }

    /// Appends an instruction whose value is an array.
    pub(super) fn push_array(&mut self, op: Op, shape: ArrayShape, operands: Vec<InstrId>, facts: Facts) -> InstrId {
        let is_constant = matches!(op, Op::Constant(_));
        let shape = if is_constant { Shape::Array(shape) } else { self.world.laid_out(shape) };
        self.push(op, shape, operands, vec![facts])
    }

    pub(super) fn array(&self, id: InstrId) -> &ArrayShape {
        self.instructions[id].shape.as_array().expect("only arrays are asked for")
    }

    pub(super) fn extents(&self, id: InstrId) -> Vec<i64> {
        self.array(id).extents.clone()
    }

    pub(super) fn element_type(&self, id: InstrId) -> ElementType {
        self.array(id).element_type
    }

    /// What is known of an array.
    pub(super) fn facts(&self, id: InstrId) -> Facts {
        self.facts[id.index()][0]
    }

    /// The arrays that are accepted.
    pub(super) fn arrays(&self, accept: impl Fn(&ArrayShape) -> bool) -> Vec<InstrId> {
        let is_wanted = |shape: &Shape| shape.as_array().is_some_and(&accept);
        self.instructions.iter().filter(|(_, found)| is_wanted(&found.shape)).map(|(id, _)| id).collect()
    }

    /// One of the arrays that are accepted: a late one, an early one or any.
    pub(super) fn pick(&mut self, accept: impl Fn(&ArrayShape) -> bool) -> Option<InstrId> {
        let found = self.arrays(accept);
        let window = match self.rng().below(4) {
            0 | 1 => &found[found.len().saturating_sub(4)..],
            2 => &found[..found.len().min(3)],
            _ => &found[..],
        };
        self.rng().choose(window).copied()
    }

    /// Appends the parameters that a computation starts with.
    pub(super) fn parameters(&mut self) {
        for _ in 0..1 + self.rng().below(4) {
            self.parameter();
        }
    }

    pub(super) fn parameter(&mut self) -> Option<InstrId> {
        let shape =
            if self.world.config.tuples && self.rng().chance(10) { self.tuple_shape(2) } else { self.array_shape() };
        let facts = shape.leaves().into_iter().map(|leaf| self.parameter_facts(leaf)).collect();
        let number = self.parameters;
        self.parameters += 1;
        Some(self.push(Op::Parameter { number }, shape, Vec::new(), facts))
    }

    fn parameter_facts(&self, leaf: &Shape) -> Facts {
        match leaf.as_array().map(|array| array.element_type) {
            Some(ElementType::F32) if !self.is_tame() => Facts::WILD,
            Some(ElementType::F32) if self.is_entry => Facts::exact(4.0, 2),
            Some(ElementType::F32) => Facts::ARGUMENT,
            Some(ElementType::Pred) => Facts::integer(1.0),
            _ => Facts::integer(f64::INFINITY),
        }
    }

    fn array_shape(&mut self) -> Shape {
        let shape = ArrayShape::new(self.world.element_type(), self.world.extents());
        self.world.laid_out(shape)
    }

    fn tuple_shape(&mut self, depth: usize) -> Shape {
        let count = self.rng().below(4);
        let element = |body: &mut Self| {
            if depth > 0 && body.rng().chance(25) { body.tuple_shape(depth - 1) } else { body.array_shape() }
        };
        Shape::Tuple((0..count).map(|_| element(self)).collect())
    }

    /// Appends instructions until there are `count`.
    pub(super) fn grow(&mut self, count: usize) {
        for _ in 0..count * 20 {
            if self.instructions.len() >= count {
                return;
            }
            let _ = self.step();
        }
    }

    fn step(&mut self) -> Option<InstrId> {
        let functions = if self.world.functions.is_empty() { 0 } else { 5 };
        let tuples = if self.world.config.tuples { 3 } else { 0 };
        let fusions = if self.world.config.fusions { functions } else { 0 };
        match self.rng().weighted(&[3, 4, 2, 34, 34, 14, 7, tuples, tuples + 1, functions, fusions]) {
            0 => self.parameter(),
            1 => self.constant(),
            2 => self.iota(),
            3 => self.movement(),
            4 => self.elementwise(),
            5 => self.diamond(),
            6 => self.reduce(),
            7 => self.tuple(),
            8 => self.get_tuple_element(),
            9 => self.call(),
            _ => self.fusion(),
        }
    }

    fn constant(&mut self) -> Option<InstrId> {
        let shape = ArrayShape::new(self.world.element_type(), self.world.extents());
        Some(self.constant_of(shape))
    }

    /// A constant; of one value or of several.
    pub(super) fn constant_of(&mut self, shape: ArrayShape) -> InstrId {
        let config = self.world.config.clone();
        let mut value = literal(&mut self.world.rng, &shape, &config);
        if self.rng().chance(40)
            && let Some(scalar) = value.data.get(0)
        {
            value = splat(&shape.extents, scalar);
        }
        let facts = match shape.element_type {
            ElementType::F32 if !config.tame => Facts::WILD,
            ElementType::F32 => Facts::exact(4.0, 2),
            ElementType::Pred => Facts::integer(1.0),
            _ => Facts::integer(f64::INFINITY),
        };
        self.push_array(Op::Constant(value), shape, Vec::new(), facts)
    }

    /// `value` everywhere, as a constant or as a broadcast of a scalar.
    pub(super) fn filled(&mut self, extents: &[i64], value: Scalar) -> InstrId {
        let facts = match value {
            Scalar::F32(value) => Facts::exact(f64::from(value.abs()), 3),
            Scalar::S32(value) => Facts::integer(f64::from(value).abs()),
            Scalar::U32(value) => Facts::integer(f64::from(value)),
            Scalar::Pred(_) => Facts::integer(1.0),
            other => panic!("the generator makes no constants of {}", other.element_type()),
        };
        let shape = ArrayShape::new(value.element_type(), extents);
        if extents.is_empty() || self.rng().chance(40) {
            return self.push_array(Op::Constant(splat(extents, value)), shape, Vec::new(), facts);
        }
        let scalar = ArrayShape::new(value.element_type(), []);
        let scalar = self.push_array(Op::Constant(Literal::scalar(value)), scalar, Vec::new(), facts);
        self.push_array(Op::Broadcast { dimensions: Vec::new() }, shape, vec![scalar], facts)
    }

    pub(super) fn iota(&mut self) -> Option<InstrId> {
        let extents = self.world.extents();
        if extents.is_empty() {
            return None;
        }
        let element_type = TYPES[self.rng().below(3)];
        let dimension = self.rng().below(extents.len()) as i64;
        let facts = match element_type {
            ElementType::F32 => Facts::exact(8.0, 0),
            _ => Facts::integer(8.0),
        };
        Some(self.push_array(Op::Iota { dimension }, ArrayShape::new(element_type, extents), Vec::new(), facts))
    }

    /// A value of this type and these extents, whatever its layout: one that is there, or one made for it.
    pub(super) fn like(&mut self, element_type: ElementType, extents: &[i64]) -> InstrId {
        let wanted = ArrayShape::new(element_type, extents);
        if self.rng().chance(85)
            && let Some(found) = self.pick(|shape| shape.same_type_and_extents(&wanted))
        {
            return found;
        }
        let count = wanted.element_count();
        let chosen = self.rng().below(3);
        if chosen == 0
            && let Some(found) = self.pick(|shape| shape.element_type == element_type && shape.element_count() == count)
        {
            let facts = self.facts(found);
            return self.push_array(Op::Reshape, wanted, vec![found], facts);
        }
        if chosen < 2
            && let Some(found) = self.pick(|shape| shape.element_type == element_type && shape.rank() == 0)
        {
            let facts = self.facts(found);
            return self.push_array(Op::Broadcast { dimensions: Vec::new() }, wanted, vec![found], facts);
        }
        self.constant_of(wanted)
    }

    /// A value of this shape that may be handed to a function; mostly of the same layout too.
    pub(super) fn argument(&mut self, shape: &Shape) -> InstrId {
        let any_layout = self.rng().chance(20);
        let found: Vec<InstrId> = self.instructions.ids().filter(|id| self.fits(*id, shape, any_layout)).collect();
        if let Shape::Tuple(elements) = shape {
            if self.rng().chance(70)
                && let Some(found) = self.rng().choose(&found)
            {
                return *found;
            }
            let elements: Vec<InstrId> = elements.iter().map(|element| self.argument(element)).collect();
            return self.make_tuple(elements);
        }
        if let Some(found) = self.rng().choose(&found) {
            return *found;
        }
        let array = shape.as_array().expect("functions take arrays and tuples").clone();
        let bare = ArrayShape { layout: None, ..array };
        let mut found = self.like(bare.element_type, &bare.extents);
        if !self.facts(found).is_argument() && self.is_tame() && bare.element_type == ElementType::F32 {
            found = self.constant_of(bare);
        }
        if self.instructions[found].shape == *shape {
            return found;
        }
        let facts = self.facts(found);
        self.push(Op::Copy, shape.clone(), vec![found], vec![facts])
    }

    fn fits(&self, id: InstrId, shape: &Shape, any_layout: bool) -> bool {
        let is_float = |leaf: &&Shape| leaf.as_array().is_some_and(|array| array.element_type == ElementType::F32);
        let leaves = shape.leaves();
        let given = &self.instructions[id].shape;
        (given == shape || (any_layout && given.is_compatible(shape)))
            && (!self.is_tame()
                || leaves
                    .iter()
                    .zip(&self.facts[id.index()])
                    .all(|(leaf, facts)| !is_float(leaf) || facts.is_argument()))
    }

    /// Decides what the computation returns.
    pub(super) fn root(&mut self) -> InstrId {
        let arrays = self.arrays(|_| true);
        if arrays.is_empty() {
            return self.make_tuple(Vec::new());
        }
        let last = arrays[arrays.len() - 1];
        match self.rng().below(20) {
            0..7 => last,
            7 => *self.rng().choose(&arrays).unwrap_or(&last),
            8 if self.world.config.tuples && self.rng().chance(20) => self.make_tuple(Vec::new()),
            9 if self.world.config.tuples
                && !self.instructions[InstrId::from_index(self.facts.len() - 1)].shape.leaves().is_empty() =>
            {
                InstrId::from_index(self.facts.len() - 1)
            }
            choice => {
                let mut elements = vec![last];
                for _ in 0..self.rng().below(5) {
                    elements.extend(self.pick(|_| true));
                }
                self.world.rng.shuffle(&mut elements);
                if choice > 16 && self.world.config.tuples {
                    let inner = self.make_tuple(elements.clone());
                    elements.truncate(1);
                    elements.push(inner);
                }
                self.make_tuple(elements)
            }
        }
    }
}

pub(super) fn splat(extents: &[i64], value: Scalar) -> Literal {
    let count = usize::try_from(extents.iter().product::<i64>()).unwrap_or(0);
    Literal::array(extents, Data::filled(value, count))
}
