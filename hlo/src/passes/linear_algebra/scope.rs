//! Where instructions are added: the computation that is rewritten, or a round of a loop in it.

use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Instruction, Op, Scalar, Shape};
use crate::passes::build::{Build, Callee};
use crate::passes::rebuild::Rebuild;

/// A computation that instructions are added to, in which loops may stand.
pub(super) struct Scope<'a, 'm> {
    rebuild: &'a mut Rebuild<'m>,
    /// The round of a loop, where it is one.
    body: Option<Callee>,
    /// The type of counters and indices.
    counting: ElementType,
}

impl Build for Scope<'_, '_> {
    fn get(&self, id: InstrId) -> &Instruction {
        match &self.body {
            Some(body) => body.get(id),
            None => Build::get(self.rebuild, id),
        }
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        match &mut self.body {
            Some(body) => body.add(shape, op, operands),
            None => Build::add(self.rebuild, shape, op, operands),
        }
    }
}

impl<'a, 'm> Scope<'a, 'm> {
    /// The computation that is rewritten. Counters and indices are of a type that holds the number.
    pub(super) fn new(rebuild: &'a mut Rebuild<'m>, most: i64) -> Self {
        let counting = if i32::try_from(most).is_ok() { ElementType::S32 } else { ElementType::S64 };
        Scope { rebuild, body: None, counting }
    }

    /// The type of counters and indices.
    pub(super) fn counting(&self) -> ElementType {
        self.counting
    }

    /// A number of the type of counters and indices.
    pub(super) fn integer(&mut self, value: i64) -> InstrId {
        self.scalar(match self.counting {
            ElementType::S64 => Scalar::S64(value),
            _ => Scalar::S32(value as i32),
        })
    }

    /// The indices along a dimension.
    pub(super) fn along(&mut self, dimension: i64, extents: &[i64]) -> InstrId {
        self.iota(self.counting, extents.to_vec(), dimension)
    }

    /// A scalar at every place of an array.
    pub(super) fn everywhere(&mut self, scalar: InstrId, extents: &[i64]) -> InstrId {
        self.broadcast(scalar, &[], extents.to_vec())
    }

    /// A number of the type of counters and indices at every place.
    pub(super) fn filled_integer(&mut self, value: i64, extents: &[i64]) -> InstrId {
        let value = self.integer(value);
        self.everywhere(value, extents)
    }

    /// A truth value for each matrix.
    pub(super) fn truth(&mut self, value: bool, batch: i64) -> InstrId {
        let value = self.scalar(Scalar::Pred(value));
        self.everywhere(value, &[batch])
    }

    /// How the indices along a dimension compare with a scalar.
    pub(super) fn places(
        &mut self,
        dimension: i64,
        direction: ComparisonDirection,
        scalar: InstrId,
        extents: &[i64],
    ) -> InstrId {
        let (along, scalar) = (self.along(dimension, extents), self.everywhere(scalar, extents));
        self.compared(direction, along, scalar)
    }

    /// The value folded along dimensions by an operation of which the scalar is neutral.
    pub(super) fn reduced(&mut self, op: BinaryOp, value: InstrId, neutral: Scalar, dimensions: &[i64]) -> InstrId {
        let element_type = self.element_type(value);
        let mut region = Callee::new("combined", self.rebuild.span());
        let [left, right] = [(); 2].map(|()| region.parameter(Shape::scalar(element_type)));
        let both = region.binary(op, left, right);
        let to_apply = self.rebuild.shared_computation(region.finish(both));
        let neutral = self.scalar(neutral);
        let extents = left_over(&self.array(value).extents, dimensions);
        let op = Op::Reduce { dimensions: dimensions.to_vec(), to_apply };
        self.add(Shape::array(element_type, extents), op, vec![value, neutral])
    }

    /// The sums along dimensions.
    pub(super) fn summed(&mut self, value: InstrId, dimensions: &[i64]) -> InstrId {
        let zero = zero_of(self.element_type(value));
        self.reduced(BinaryOp::Add, value, zero, dimensions)
    }

    /// Whether it is so anywhere along dimensions.
    pub(super) fn any(&mut self, value: InstrId, dimensions: &[i64]) -> InstrId {
        self.reduced(BinaryOp::Or, value, Scalar::Pred(false), dimensions)
    }

    /// Of each row of real numbers `[batch, count]` none of which is below -1 the place of the largest, the first of equal ones.
    pub(super) fn place_of_largest(&mut self, rows: InstrId) -> InstrId {
        let shape = self.array(rows).clone();
        let types = [shape.element_type, self.counting];
        let mut region = Callee::new("larger", self.rebuild.span());
        let [a, a_place, b, b_place] =
            [types[0], types[1], types[0], types[1]].map(|element_type| region.parameter(Shape::scalar(element_type)));
        let is_larger = region.compared(ComparisonDirection::Gt, a, b);
        let is_nan = region.compared(ComparisonDirection::Ne, a, a);
        let is_larger = region.binary(BinaryOp::Or, is_larger, is_nan);
        let is_same = region.compared(ComparisonDirection::Eq, a, b);
        let is_before = region.compared(ComparisonDirection::Lt, a_place, b_place);
        let is_first = region.binary(BinaryOp::And, is_same, is_before);
        let is_chosen = region.binary(BinaryOp::Or, is_larger, is_first);
        let value = region.selected(is_larger, a, b);
        let place = region.selected(is_chosen, a_place, b_place);
        let both = region.tuple(vec![value, place]);
        let to_apply = self.rebuild.shared_computation(region.finish(both));
        let places = self.along(1, &shape.extents);
        let least = self.scalar(match shape.element_type {
            ElementType::F64 => Scalar::F64(f64::NEG_INFINITY),
            _ => Scalar::F32(f32::NEG_INFINITY),
        });
        let first = self.integer(0);
        let made = types.map(|element_type| Shape::array(element_type, [shape.extents[0]]));
        let op = Op::Reduce { dimensions: vec![1], to_apply };
        let found = self.add(Shape::Tuple(made.to_vec()), op, vec![rows, places, least, first]);
        self.element(found, 1)
    }

    /// The values after as many rounds, each of which `round` makes of its number, from 0, and those of the round before.
    pub(super) fn counted<const N: usize>(
        &mut self,
        rounds: i64,
        values: [InstrId; N],
        round: impl FnOnce(&mut Scope<'_, 'm>, InstrId, [InstrId; N]) -> [InstrId; N],
    ) -> [InstrId; N] {
        let state = |scope: &mut Self| {
            let zero = scope.integer(0);
            scope.tuple([&[zero], &values[..]].concat())
        };
        let start = state(self);
        let last = self.repeated(start, rounds, false, |scope, before| {
            let number = scope.element(before, 0);
            let given = std::array::from_fn(|index| scope.element(before, index + 1));
            let made = round(scope, number, given);
            let next = scope.next(number);
            scope.tuple([&[next], &made[..]].concat())
        });
        std::array::from_fn(|index| self.element(last, index + 1))
    }

    /// The values after rounds that `round` makes of those of the round before, as long as it says that there is to be another,
    /// and no more than a number.
    pub(super) fn settled<const N: usize>(
        &mut self,
        most: i64,
        values: [InstrId; N],
        round: impl FnOnce(&mut Scope<'_, 'm>, [InstrId; N]) -> (InstrId, [InstrId; N]),
    ) -> [InstrId; N] {
        let (zero, yes) = (self.integer(0), self.scalar(Scalar::Pred(true)));
        let start = self.tuple([&[zero, yes], &values[..]].concat());
        let last = self.repeated(start, most, true, |scope, before| {
            let number = scope.element(before, 0);
            let given = std::array::from_fn(|index| scope.element(before, index + 2));
            let (goes_on, made) = round(scope, given);
            let next = scope.next(number);
            scope.tuple([&[next, goes_on], &made[..]].concat())
        });
        std::array::from_fn(|index| self.element(last, index + 2))
    }

    fn next(&mut self, number: InstrId) -> InstrId {
        let one = self.integer(1);
        self.binary(BinaryOp::Add, number, one)
    }

    /// A loop over a tuple whose first element counts rounds; `asks` says whether the second tells if there is another.
    fn repeated(
        &mut self,
        start: InstrId,
        rounds: i64,
        asks: bool,
        round: impl FnOnce(&mut Scope<'_, 'm>, InstrId) -> InstrId,
    ) -> InstrId {
        let state = self.get(start).shape.clone();
        let span = self.rebuild.span();
        let mut test = Scope { rebuild: &mut *self.rebuild, body: None, counting: self.counting };
        let mut condition = Callee::new("condition", span);
        let before = condition.parameter(state.clone());
        test.body = Some(condition);
        let number = test.element(before, 0);
        let bound = test.integer(rounds);
        let mut goes_on = test.compared(ComparisonDirection::Lt, number, bound);
        if asks {
            let is_wanted = test.element(before, 1);
            goes_on = test.binary(BinaryOp::And, goes_on, is_wanted);
        }
        let condition = test.finish(goes_on);

        let mut inner = Scope { rebuild: &mut *self.rebuild, body: None, counting: self.counting };
        let mut body = Callee::new("body", span);
        let before = body.parameter(state.clone());
        inner.body = Some(body);
        let after = round(&mut inner, before);
        let body = inner.finish(after);
        self.add(state, Op::While { condition, body }, vec![start])
    }

    /// Makes what was added a computation.
    fn finish(self, root: InstrId) -> crate::ir::ComputationId {
        let body = self.body.expect("only what a loop runs is finished");
        self.rebuild.add_computation(body.finish(root))
    }
}

/// Zero of a type of indices or real numbers.
pub(super) fn zero_of(element_type: ElementType) -> Scalar {
    match element_type {
        ElementType::F64 => Scalar::F64(0.0),
        ElementType::S32 => Scalar::S32(0),
        ElementType::S64 => Scalar::S64(0),
        _ => Scalar::F32(0.0),
    }
}

/// The extents but those of some dimensions.
fn left_over(extents: &[i64], dimensions: &[i64]) -> Vec<i64> {
    let kept = (0..).zip(extents).filter(|(dimension, _)| !dimensions.contains(dimension));
    kept.map(|(_, extent)| *extent).collect()
}
