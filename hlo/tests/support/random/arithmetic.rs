//! Operations that work element by element.

use super::body::{Body, TYPES};
use super::facts::Facts;
use weft_hlo::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, ComparisonType, ElementType, InstrId, Op, Scalar, UnaryOp,
};
use weft_hlo::shape::{binary_accepts, unary_accepts};

impl Body<'_> {
    pub(super) fn elementwise(&mut self) -> Option<InstrId> {
        let operand = self.pick(|_| true)?;
        match self.rng().below(20) {
            0..7 => self.unary(operand),
            7..14 => {
                let other = self.like(self.element_type(operand), &self.extents(operand));
                self.binary_of(operand, other)
            }
            14 | 15 => self.compare(operand),
            16 => Some(self.select(operand)),
            17 => Some(self.clamp(operand)),
            _ => self.convert(operand),
        }
    }

    fn is_tame_float(&self, id: InstrId) -> bool {
        self.is_tame() && self.element_type(id) == ElementType::F32
    }

    fn unary(&mut self, operand: InstrId) -> Option<InstrId> {
        let element_type = self.element_type(operand);
        let accepted: Vec<UnaryOp> =
            UnaryOp::ALL.iter().copied().filter(|op| unary_accepts(*op, element_type)).collect();
        let op = *self.rng().choose(&accepted)?;
        if self.is_tame_float(operand) {
            return self.tame_unary(op, operand);
        }
        let facts = match op {
            UnaryOp::PopulationCount | UnaryOp::CountLeadingZeros => Facts::integer(32.0),
            UnaryOp::IsFinite => Facts::integer(1.0),
            _ if element_type == ElementType::F32 => Facts::WILD,
            _ => Facts::integer(f64::INFINITY),
        };
        Some(self.push_unary(op, operand, facts))
    }

    fn push_unary(&mut self, op: UnaryOp, operand: InstrId, facts: Facts) -> InstrId {
        let element_type = if op == UnaryOp::IsFinite { ElementType::Pred } else { self.element_type(operand) };
        let shape = ArrayShape::new(element_type, self.extents(operand));
        self.push_array(Op::Unary(op), shape, vec![operand], facts)
    }

    /// A function where it is smooth: the operand is first moved away from poles and ends.
    fn tame_unary(&mut self, op: UnaryOp, operand: InstrId) -> Option<InstrId> {
        let smooth = |bound: f64, slope: f64, of: Facts| Facts::rounded(bound, slope * of.error);
        let facts = self.facts(operand);
        let (operand, facts) = match op {
            UnaryOp::Abs | UnaryOp::Negate => (operand, facts),
            UnaryOp::IsFinite => (operand, Facts::integer(1.0)),
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::RoundNearestAfz | UnaryOp::RoundNearestEven | UnaryOp::Sign => {
                facts.grain?;
                (operand, Facts::exact(facts.bound.max(1.0).ceil(), 0))
            }
            UnaryOp::Tanh => (operand, smooth(1.0, 1.0, facts)),
            UnaryOp::Erf => (operand, smooth(1.0, 1.2, facts)),
            UnaryOp::Logistic => (operand, smooth(1.0, 0.3, facts)),
            UnaryOp::Asinh => (operand, smooth(facts.bound.asinh().max(1.0), 1.0, facts)),
            UnaryOp::Sine | UnaryOp::Cosine => {
                if facts.bound > 64.0 {
                    return None;
                }
                (operand, smooth(1.0, 1.0, facts))
            }
            UnaryOp::Exponential | UnaryOp::ExponentialMinusOne | UnaryOp::Sinh | UnaryOp::Cosh => {
                let operand = if facts.bound > 4.0 { self.squashed(operand, 1.0) } else { operand };
                let of = self.facts(operand);
                (operand, smooth(of.bound.exp(), of.bound.exp(), of))
            }
            UnaryOp::Sqrt => self.away(operand, 0.25, |of| smooth(of.bound.sqrt(), 1.0, of)),
            UnaryOp::Cbrt => self.away(operand, 0.5, |of| smooth(of.bound.cbrt(), 1.0, of)),
            UnaryOp::Rsqrt => self.away(operand, 0.25, |of| smooth(2.0, 4.0, of)),
            UnaryOp::Log => self.away(operand, 0.25, |of| smooth(of.bound.ln().max(1.4), 4.0, of)),
            UnaryOp::LogPlusOne => self.away(operand, 0.25, |of| smooth(of.bound.ln_1p(), 1.0, of)),
            UnaryOp::Acosh => self.away(operand, 1.5, |of| smooth(of.bound.acosh(), 1.0, of)),
            UnaryOp::Acos | UnaryOp::Asin | UnaryOp::Atanh => {
                let operand = self.squashed(operand, 0.75);
                (operand, smooth(3.0, 2.5, self.facts(operand)))
            }
            UnaryOp::Tan => {
                let operand = self.squashed(operand, 1.0);
                (operand, smooth(1.6, 3.5, self.facts(operand)))
            }
            UnaryOp::CountLeadingZeros | UnaryOp::Not | UnaryOp::PopulationCount => return None,
        };
        facts.is_tame().then(|| self.push_unary(op, operand, facts))
    }

    /// `tanh(x) * scale`
    fn squashed(&mut self, operand: InstrId, scale: f32) -> InstrId {
        let facts = Facts::rounded(1.0, self.facts(operand).error);
        let squashed = self.push_unary(UnaryOp::Tanh, operand, facts);
        if scale == 1.0 {
            return squashed;
        }
        let factor = self.filled(&self.extents(operand), Scalar::F32(scale));
        let facts = Facts::rounded(f64::from(scale), f64::from(scale) * facts.error);
        self.push_binary(BinaryOp::Multiply, squashed, factor, facts)
    }

    /// `abs(x) + distance`, and what a function of it is.
    fn away(&mut self, operand: InstrId, distance: f32, result: impl Fn(Facts) -> Facts) -> (InstrId, Facts) {
        let away = self.positive(operand, distance);
        (away, result(self.facts(away)))
    }

    fn positive(&mut self, operand: InstrId, distance: f32) -> InstrId {
        let facts = self.facts(operand);
        let positive = self.push_unary(UnaryOp::Abs, operand, facts);
        let distance_id = self.filled(&self.extents(operand), Scalar::F32(distance));
        let bound = facts.bound + f64::from(distance);
        let facts = match facts.grain {
            Some(grain) => Facts::exact(bound, grain.max(3)),
            None => Facts::rounded(bound, facts.error),
        };
        self.push_binary(BinaryOp::Add, positive, distance_id, facts)
    }

    fn push_binary(&mut self, op: BinaryOp, left: InstrId, right: InstrId, facts: Facts) -> InstrId {
        let shape = ArrayShape::new(self.element_type(left), self.extents(left));
        self.push_array(Op::Binary(op), shape, vec![left, right], facts)
    }

    /// Some operation of two values of one shape, layouts aside.
    pub(super) fn binary_of(&mut self, left: InstrId, right: InstrId) -> Option<InstrId> {
        let element_type = self.element_type(left);
        let accepted: Vec<BinaryOp> =
            BinaryOp::ALL.iter().copied().filter(|op| binary_accepts(*op, element_type)).collect();
        // Addition most of all: it can be traced by eye.
        let op = if self.rng().chance(25) { BinaryOp::Add } else { *self.rng().choose(&accepted)? };
        let (left, right) = if self.rng().chance(50) { (left, right) } else { (right, left) };
        if self.is_tame_float(left) {
            return self.tame_binary(op, left, right);
        }
        let (a, b) = (self.facts(left), self.facts(right));
        let facts = match op {
            _ if element_type == ElementType::F32 => Facts::WILD,
            BinaryOp::Add | BinaryOp::Subtract if element_type == ElementType::S32 => Facts::integer(a.bound + b.bound),
            BinaryOp::Maximum | BinaryOp::Minimum => a.join(b),
            _ => Facts::integer(f64::INFINITY),
        };
        Some(self.push_binary(op, left, right, facts))
    }

    fn tame_binary(&mut self, op: BinaryOp, left: InstrId, right: InstrId) -> Option<InstrId> {
        let (a, b) = (self.facts(left), self.facts(right));
        let grain = a.grain.zip(b.grain);
        let (left, right, facts) = match op {
            BinaryOp::Add | BinaryOp::Subtract => {
                let facts = match grain {
                    Some((x, y)) => Facts::exact(a.bound + b.bound, x.max(y)),
                    None => Facts::rounded(a.bound + b.bound, a.error + b.error),
                };
                (left, right, facts)
            }
            BinaryOp::Multiply => {
                let facts = match grain {
                    Some((x, y)) => Facts::exact(a.bound * b.bound, x + y),
                    None => Facts::rounded(a.bound * b.bound, a.bound * b.error + b.bound * a.error),
                };
                (left, right, facts)
            }
            BinaryOp::Maximum | BinaryOp::Minimum => (left, right, a.join(b)),
            BinaryOp::Divide => {
                let right = self.positive(right, 0.5);
                let error = 2.0 * (a.error + 2.0 * a.bound * self.facts(right).error);
                (left, right, Facts::rounded(2.0 * a.bound, error))
            }
            BinaryOp::Atan2 => {
                let left = self.positive(left, 0.5);
                (left, right, Facts::rounded(3.2, 2.0 * (self.facts(left).error + b.error)))
            }
            BinaryOp::Power => {
                let (left, right) = (self.positive(left, 0.5), self.squashed(right, 1.0));
                let (a, b) = (self.facts(left), self.facts(right));
                let bound = a.bound.max(2.0);
                (left, right, Facts::rounded(bound, bound * (2.0 * a.error + bound.ln() * b.error)))
            }
            BinaryOp::Remainder => {
                let (x, _) = grain?;
                let right = self.positive(right, 1.0);
                (left, right, Facts::exact(a.bound, self.facts(right).grain?.max(x)))
            }
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRightArithmetic
            | BinaryOp::ShiftRightLogical => return None,
        };
        facts.is_tame().then(|| self.push_binary(op, left, right, facts))
    }

    fn compare(&mut self, left: InstrId) -> Option<InstrId> {
        let (element_type, extents) = (self.element_type(left), self.extents(left));
        let right = self.like(element_type, &extents);
        if self.is_tame_float(left) && self.facts(left).grain.zip(self.facts(right).grain).is_none() {
            return None;
        }
        let orders: &[Option<ComparisonType>] = match element_type {
            // A driver may lose the sign of a zero.
            ElementType::F32 if self.is_tame() => &[None, Some(ComparisonType::Float)],
            ElementType::F32 => &[None, Some(ComparisonType::Float), Some(ComparisonType::TotalOrder)],
            ElementType::S32 => &[None, Some(ComparisonType::Signed)],
            _ => &[None, Some(ComparisonType::Unsigned)],
        };
        let order = *self.rng().choose(orders)?;
        let direction = *self.rng().choose(ComparisonDirection::ALL)?;
        let shape = ArrayShape::new(ElementType::Pred, extents);
        Some(self.push_array(Op::Compare { direction, order }, shape, vec![left, right], Facts::integer(1.0)))
    }

    fn select(&mut self, on_true: InstrId) -> InstrId {
        let (element_type, extents) = (self.element_type(on_true), self.extents(on_true));
        let on_false = self.like(element_type, &extents);
        let of = if self.rng().chance(30) { Vec::new() } else { extents.clone() };
        let condition = self.like(ElementType::Pred, &of);
        let facts = self.facts(on_true).join(self.facts(on_false));
        let shape = ArrayShape::new(element_type, extents);
        self.push_array(Op::Select, shape, vec![condition, on_true, on_false], facts)
    }

    fn clamp(&mut self, operand: InstrId) -> InstrId {
        let (element_type, extents) = (self.element_type(operand), self.extents(operand));
        let bound = |body: &mut Self| {
            let of = if body.rng().chance(50) { Vec::new() } else { extents.clone() };
            body.like(element_type, &of)
        };
        let (low, high) = (bound(self), bound(self));
        let facts = self.facts(operand).join(self.facts(low)).join(self.facts(high));
        self.push_array(Op::Clamp, ArrayShape::new(element_type, extents), vec![low, operand, high], facts)
    }

    fn convert(&mut self, operand: InstrId) -> Option<InstrId> {
        let (from, to) = (self.element_type(operand), *self.world.rng.choose(&TYPES)?);
        if from == to {
            return None;
        }
        let mut operand = operand;
        if self.is_tame_float(operand) {
            self.facts(operand).grain?;
        } else if self.is_tame()
            && to == ElementType::F32
            && from != ElementType::Pred
            && self.facts(operand).bound > 4096.0
        {
            let (low, high) = match from {
                ElementType::S32 => (Scalar::S32(-5), Scalar::S32(5)),
                _ => (Scalar::U32(1), Scalar::U32(6)),
            };
            let (low, high) = (self.filled(&[], low), self.filled(&[], high));
            let shape = ArrayShape::new(from, self.extents(operand));
            operand = self.push_array(Op::Clamp, shape, vec![low, operand, high], Facts::integer(6.0));
        }
        let facts = match to {
            ElementType::Pred => Facts::integer(1.0),
            ElementType::F32 if self.is_tame() && from == ElementType::Pred => Facts::exact(1.0, 0),
            ElementType::F32 if self.is_tame() => Facts::exact(self.facts(operand).bound, 0),
            ElementType::F32 => Facts::WILD,
            ElementType::S32 if from == ElementType::F32 && self.is_tame() => Facts::integer(self.facts(operand).bound),
            _ => Facts::integer(f64::INFINITY),
        };
        let shape = ArrayShape::new(to, self.extents(operand));
        Some(self.push_array(Op::Convert, shape, vec![operand], facts))
    }
}
