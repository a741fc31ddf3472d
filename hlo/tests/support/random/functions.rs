//! Reductions, tuples, calls and fusions.

use super::body::{Body, Function, World};
use super::facts::Facts;
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, FusionKind,
    InstrId, Instruction, Op, Shape, Span,
};

impl World {
    /// Makes a function of the module.
    pub(super) fn function(&mut self, number: usize) {
        let size = 3 + self.rng.below(self.config.instructions.max(4) / 2);
        let plain = self.rng.chance(60);
        let tuples = self.config.tuples;
        self.config.tuples &= !plain;
        let mut body = Body::new(self, false);
        body.parameters();
        body.grow(size);
        let root = body.root();
        let (instructions, facts) = (body.instructions, body.facts);
        self.config.tuples = tuples;
        let facts = facts[root.index()].clone();
        let computation = Computation {
            name: format!("function.{number}"),
            instructions,
            root,
            attributes: Vec::new(),
            span: Span::default(),
        };
        let shape = |id: InstrId| computation.instructions[id].shape.clone();
        let (parameters, result): (Vec<Shape>, Shape) =
            (computation.parameters().into_iter().map(shape).collect(), shape(root));
        let flat = |shapes: &[Shape]| shapes.iter().all(|shape| shape.as_array().is_some());
        let results = result.as_tuple().unwrap_or_default();
        let is_plain = flat(&parameters) && flat(results) && (result.as_array().is_some() || !results.is_empty());
        let id = self.computations.push(computation);
        self.functions.push(Function { id, parameters, result, facts, is_plain });
    }

    /// The region of a reduction, made when it is first asked for.
    fn region(&mut self, name: String, make: impl FnOnce(&mut Region)) -> ComputationId {
        if let Some(known) = self.regions.get(&name) {
            return *known;
        }
        let mut region = Region { instructions: Arena::new() };
        make(&mut region);
        let root = InstrId::from_index(region.instructions.len() - 1);
        let computation = Computation {
            name: name.clone(),
            instructions: region.instructions,
            root,
            attributes: Vec::new(),
            span: Span::default(),
        };
        let id = self.computations.push(computation);
        self.regions.insert(name, id);
        id
    }

    fn fold(&mut self, op: BinaryOp, element_type: ElementType) -> ComputationId {
        self.region(format!("{}_{element_type}", op.name()), |region| {
            let [a, b] = [region.parameter(element_type), region.parameter(element_type)];
            region.push(Op::Binary(op), Shape::scalar(element_type), vec![a, b]);
        })
    }

    /// The same through a call.
    fn fold_by_call(&mut self, op: BinaryOp, element_type: ElementType) -> ComputationId {
        let to_apply = self.fold(op, element_type);
        self.region(format!("{}_{element_type}_called", op.name()), |region| {
            let [a, b] = [region.parameter(element_type), region.parameter(element_type)];
            region.push(Op::Call { to_apply }, Shape::scalar(element_type), vec![a, b]);
        })
    }

    /// JAX's argmax: the larger value and the smaller index of equal values.
    fn argmax(&mut self, value: ElementType, index: ElementType) -> ComputationId {
        self.region(format!("argmax_{value}_{index}"), |region| {
            let [a, i, b, j] = [value, index, value, index].map(|element_type| region.parameter(element_type));
            let compare = |direction| Op::Compare { direction, order: None };
            let pred = Shape::scalar(ElementType::Pred);
            let greater = region.push(compare(ComparisonDirection::Gt), pred.clone(), vec![a, b]);
            let not_itself = region.push(compare(ComparisonDirection::Ne), pred.clone(), vec![a, a]);
            let larger = region.push(Op::Binary(BinaryOp::Or), pred.clone(), vec![greater, not_itself]);
            let equal = region.push(compare(ComparisonDirection::Eq), pred.clone(), vec![a, b]);
            let before = region.push(compare(ComparisonDirection::Lt), pred.clone(), vec![i, j]);
            let first = region.push(Op::Binary(BinaryOp::And), pred.clone(), vec![equal, before]);
            let taken = region.push(Op::Binary(BinaryOp::Or), pred, vec![larger, first]);
            let best = region.push(Op::Select, Shape::scalar(value), vec![larger, a, b]);
            let place = region.push(Op::Select, Shape::scalar(index), vec![taken, i, j]);
            region.push(Op::Tuple, Shape::Tuple(vec![Shape::scalar(value), Shape::scalar(index)]), vec![best, place]);
        })
    }

    /// A fold of two values that have nothing to do with each other, in the order second, first where types allow.
    fn two_folds(&mut self, ops: [BinaryOp; 2], types: [ElementType; 2]) -> ComputationId {
        let name = format!("{}_{}_and_{}_{}", ops[0].name(), types[0], ops[1].name(), types[1]);
        self.region(name, |region| {
            let [a, b, x, y] =
                [types[0], types[1], types[0], types[1]].map(|element_type| region.parameter(element_type));
            let first = region.push(Op::Binary(ops[0]), Shape::scalar(types[0]), vec![x, a]);
            let second = region.push(Op::Binary(ops[1]), Shape::scalar(types[1]), vec![b, y]);
            region.push(Op::Tuple, Shape::Tuple(types.map(Shape::scalar).to_vec()), vec![first, second]);
        })
    }
}

struct Region {
    instructions: Arena<InstrId, Instruction>,
}

impl Region {
    fn push(&mut self, op: Op, shape: Shape, operands: Vec<InstrId>) -> InstrId {
        let name = format!("{}.{}", op.name(), self.instructions.len());
        self.instructions.push(Instruction::new(name, shape, op, operands))
    }

    fn parameter(&mut self, element_type: ElementType) -> InstrId {
        let number = self.instructions.len() as i64;
        self.push(Op::Parameter { number }, Shape::scalar(element_type), Vec::new())
    }
}

/// What a fold of `count` elements makes of numbers.
fn folded(op: BinaryOp, count: f64, of: Facts, initial: Facts) -> Facts {
    let both = of.join(initial);
    match op {
        BinaryOp::Add => match both.grain {
            Some(grain) => Facts::exact((count + 1.0) * both.bound, grain),
            None => {
                Facts::rounded((count + 1.0) * both.bound, (count + 1.0) * (both.error + count * both.bound * 1e-7))
            }
        },
        BinaryOp::Multiply => {
            let bound = both.bound.max(1.0).powf(count + 1.0);
            Facts::rounded(bound, (count + 1.0) * bound * (both.error + 1e-7))
        }
        _ => both,
    }
}

impl Body<'_> {
    pub(super) fn reduce(&mut self) -> Option<InstrId> {
        let input = self.pick(|_| true)?;
        let (element_type, extents) = (self.element_type(input), self.extents(input));
        let mut dimensions: Vec<i64> = (0..).take(extents.len()).collect();
        self.world.rng.shuffle(&mut dimensions);
        let most =
            self.world.rng.below(extents.len() + 1).max(usize::from(!extents.is_empty() && self.world.rng.chance(80)));
        dimensions.truncate(most);
        let count: i64 = dimensions.iter().map(|dimension| extents[*dimension as usize]).product();
        let kept: Vec<i64> = (0i64..).zip(&extents).filter(|(d, _)| !dimensions.contains(d)).map(|(_, e)| *e).collect();
        let is_variadic = self.world.config.tuples && self.rng().chance(30);
        if is_variadic {
            return self.variadic_reduce(input, dimensions, &kept, count as f64);
        }
        let initial = self.like(element_type, &[]);
        let op = self.fold_op(element_type);
        let facts = self.folded(op, input, initial, count as f64)?;
        let to_apply = if self.rng().chance(20) {
            self.world.fold_by_call(op, element_type)
        } else {
            self.world.fold(op, element_type)
        };
        let shape = ArrayShape::new(element_type, kept);
        Some(self.push_array(Op::Reduce { dimensions, to_apply }, shape, vec![input, initial], facts))
    }

    fn fold_op(&mut self, element_type: ElementType) -> BinaryOp {
        let all = [
            BinaryOp::Add,
            BinaryOp::Maximum,
            BinaryOp::Minimum,
            BinaryOp::Multiply,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
        ];
        let count = if element_type == ElementType::F32 { 4 } else { all.len() };
        all[self.rng().below(count)]
    }

    fn folded(&self, op: BinaryOp, input: InstrId, initial: InstrId, count: f64) -> Option<Facts> {
        match self.element_type(input) {
            ElementType::F32 if self.is_tame() => {
                Some(folded(op, count, self.facts(input), self.facts(initial))).filter(|facts| facts.is_tame())
            }
            ElementType::F32 => Some(Facts::WILD),
            ElementType::Pred => Some(Facts::integer(1.0)),
            _ => Some(Facts::integer(f64::INFINITY)),
        }
    }

    fn variadic_reduce(&mut self, input: InstrId, dimensions: Vec<i64>, kept: &[i64], count: f64) -> Option<InstrId> {
        let (element_type, extents) = (self.element_type(input), self.extents(input));
        let index = [ElementType::S32, ElementType::U32][self.rng().below(2)];
        let is_argmax = self.rng().chance(60) && (!self.is_tame() || self.facts(input).grain.is_some());
        let second_type = if is_argmax { index } else { self.world.element_type() };
        let second = self.like(second_type, &extents);
        let initials = [self.like(element_type, &[]), self.like(second_type, &[])];
        let (to_apply, facts) = if is_argmax {
            if self.is_tame() && element_type == ElementType::F32 {
                self.facts(initials[0]).grain?;
            }
            let of = |input: InstrId, initial: InstrId| self.facts(input).join(self.facts(initial));
            let facts = vec![of(input, initials[0]), of(second, initials[1])];
            (self.world.argmax(element_type, second_type), facts)
        } else {
            let ops = [self.fold_op(element_type), self.fold_op(second_type)];
            let first = self.folded(ops[0], input, initials[0], count)?;
            let facts = vec![first, self.folded(ops[1], second, initials[1], count)?];
            (self.world.two_folds(ops, [element_type, second_type]), facts)
        };
        let shapes =
            [element_type, second_type].map(|element_type| self.world.laid_out(ArrayShape::new(element_type, kept)));
        let operands = vec![input, second, initials[0], initials[1]];
        let made = self.push(Op::Reduce { dimensions, to_apply }, Shape::Tuple(shapes.to_vec()), operands, facts);
        let index = usize::from(self.rng().chance(50));
        self.element(made, index)
    }

    pub(super) fn make_tuple(&mut self, elements: Vec<InstrId>) -> InstrId {
        let shape = Shape::Tuple(elements.iter().map(|id| self.instructions[*id].shape.clone()).collect());
        let facts = elements.iter().flat_map(|id| self.facts[id.index()].clone()).collect();
        self.push(Op::Tuple, shape, elements, facts)
    }

    pub(super) fn tuple(&mut self) -> Option<InstrId> {
        let mut elements = Vec::new();
        for _ in 0..1 + self.rng().below(3) {
            if self.rng().chance(25) {
                let tuples = self.tuples();
                elements.extend(self.rng().choose(&tuples).copied());
            } else {
                elements.extend(self.pick(|_| true));
            }
        }
        let leaves: usize = elements.iter().map(|id| self.facts[id.index()].len()).sum();
        if leaves > 12 {
            return None;
        }
        let made = self.make_tuple(elements);
        if self.rng().chance(20) {
            // Tuples can be copied too.
            let (shape, facts) = (self.instructions[made].shape.clone(), self.facts[made.index()].clone());
            return Some(self.push(Op::Copy, shape, vec![made], facts));
        }
        Some(made)
    }

    fn tuples(&self) -> Vec<InstrId> {
        self.instructions.iter().filter(|(_, found)| found.shape.as_tuple().is_some()).map(|(id, _)| id).collect()
    }

    pub(super) fn get_tuple_element(&mut self) -> Option<InstrId> {
        let tuples = self.tuples();
        let tuple = *self.rng().choose(&tuples)?;
        let count = self.instructions[tuple].shape.as_tuple()?.len();
        if count == 0 {
            return None;
        }
        let index = self.rng().below(count);
        self.element(tuple, index)
    }

    fn element(&mut self, tuple: InstrId, index: usize) -> Option<InstrId> {
        let elements = self.instructions[tuple].shape.as_tuple()?;
        let before: usize = elements[..index].iter().map(|element| element.leaves().len()).sum();
        let mut shape = elements[index].clone();
        let facts = self.facts[tuple.index()][before..before + shape.leaves().len()].to_vec();
        if let Shape::Array(array) = &shape
            && self.world.rng.chance(10)
        {
            // The layout that stands here counts, whatever stands in the tuple.
            shape = self.world.laid_out(ArrayShape { layout: None, ..array.clone() });
        }
        Some(self.push(Op::GetTupleElement { index: index as i64 }, shape, vec![tuple], facts))
    }

    pub(super) fn call(&mut self) -> Option<InstrId> {
        let function = self.world.rng.choose(&self.world.functions)?.clone();
        Some(self.apply(&function, Op::Call { to_apply: function.id }))
    }

    pub(super) fn fusion(&mut self) -> Option<InstrId> {
        let plain: Vec<Function> = self.world.functions.iter().filter(|function| function.is_plain).cloned().collect();
        let function = self.rng().choose(&plain)?.clone();
        let kind = if self.rng().chance(80) { FusionKind::Loop } else { FusionKind::Input };
        let made = self.apply(&function, Op::fusion(kind, function.id));
        let count = function.result.as_tuple().map_or(0, <[Shape]>::len);
        if count > 0 {
            let index = self.rng().below(count);
            return self.element(made, index);
        }
        Some(made)
    }

    fn apply(&mut self, function: &Function, op: Op) -> InstrId {
        let operands = function.parameters.iter().map(|shape| self.argument(shape)).collect();
        let made = self.push(op, function.result.clone(), operands, function.facts.clone());
        if function.result.as_tuple().is_some_and(|elements| !elements.is_empty()) && self.rng().chance(70) {
            let count = function.result.as_tuple().map_or(1, <[Shape]>::len);
            let index = self.rng().below(count);
            let _ = self.element(made, index);
        }
        made
    }
}
