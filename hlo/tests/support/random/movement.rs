//! Operations that move elements, and diamonds of them.

use super::body::Body;
use weft_hlo::ir::{ArrayShape, InstrId, Layout, Op, PadDimension, Shape, SliceDimension};

impl Body<'_> {
    pub(super) fn movement(&mut self) -> Option<InstrId> {
        let operand = self.pick(|_| true)?;
        match self.rng().below(11) {
            0 | 1 => self.broadcast(operand),
            2 | 3 => Some(self.reshape(operand)),
            4 => Some(self.bitcast(operand)),
            5 => Some(self.transpose(operand)),
            6 => Some(self.slice(operand)),
            7 => Some(self.reverse(operand)),
            8 => self.concatenate(operand),
            9 => self.pad(operand),
            _ => Some(self.copy(operand)),
        }
    }

    /// The same elements elsewhere.
    fn moved(&mut self, op: Op, operand: InstrId, extents: Vec<i64>) -> InstrId {
        let shape = ArrayShape::new(self.element_type(operand), extents);
        let facts = self.facts(operand);
        self.push_array(op, shape, vec![operand], facts)
    }

    fn broadcast(&mut self, operand: InstrId) -> Option<InstrId> {
        let mut extents = self.extents(operand);
        let mut sources: Vec<Option<i64>> = (0..).map(Some).take(extents.len()).collect();
        for _ in 0..1 + self.rng().below(2) {
            let extent = self.world.extent();
            if extents.iter().product::<i64>() * extent <= self.world.config.elements && extents.len() < 5 {
                let place = self.rng().below(extents.len() + 1);
                extents.insert(place, extent);
                sources.insert(place, None);
            }
        }
        let mut dimensions = vec![0; self.array(operand).rank()];
        for (target, source) in (0i64..).zip(&sources) {
            if let Some(source) = source {
                dimensions[*source as usize] = target;
            }
        }
        if dimensions.len() > 1 && self.rng().chance(15) {
            // Operand dimensions out of order.
            let (a, b) = (dimensions[0], dimensions[1]);
            extents.swap(a as usize, b as usize);
            dimensions.swap(0, 1);
        }
        Some(self.moved(Op::Broadcast { dimensions }, operand, extents))
    }

    fn reshape(&mut self, operand: InstrId) -> InstrId {
        let count = self.array(operand).element_count().unwrap_or(0);
        let extents = self.factors(count);
        self.moved(Op::Reshape, operand, extents)
    }

    /// Extents with this product.
    fn factors(&mut self, count: i64) -> Vec<i64> {
        let mut rest = count;
        let mut extents = Vec::new();
        if count == 0 {
            extents.push(0);
            rest = self.world.extent().max(1);
        }
        while rest > 1 && extents.len() < 4 {
            let divisors: Vec<i64> = (2..=rest).filter(|divisor| rest % divisor == 0).collect();
            let factor = *self.rng().choose(&divisors).unwrap_or(&rest);
            extents.push(factor);
            rest /= factor;
        }
        if rest > 1 {
            extents.push(rest);
        }
        if extents.len() < 5 && self.rng().chance(25) {
            extents.push(1);
        }
        self.world.rng.shuffle(&mut extents);
        extents
    }

    fn bitcast(&mut self, operand: InstrId) -> InstrId {
        let count = self.array(operand).element_count().unwrap_or(0);
        let extents = if self.rng().chance(40) { self.extents(operand) } else { self.factors(count) };
        let mut shape = ArrayShape::new(self.element_type(operand), extents);
        if self.world.config.layouts && shape.rank() > 0 {
            let mut order: Vec<usize> = (0..shape.rank()).rev().collect();
            self.world.rng.shuffle(&mut order);
            shape.layout = Some(Layout::new(order));
        }
        let facts = self.facts(operand);
        self.push(Op::Bitcast, Shape::Array(shape), vec![operand], vec![facts])
    }

    fn transpose(&mut self, operand: InstrId) -> InstrId {
        let extents = self.extents(operand);
        let mut permutation: Vec<i64> = (0..).take(extents.len()).collect();
        self.world.rng.shuffle(&mut permutation);
        let extents = permutation.iter().map(|source| extents[*source as usize]).collect();
        self.moved(Op::Transpose { permutation }, operand, extents)
    }

    fn slice(&mut self, operand: InstrId) -> InstrId {
        let mut extents = self.extents(operand);
        let mut dimensions = Vec::new();
        for extent in &mut extents {
            let whole = SliceDimension { start: 0, limit: *extent, stride: 1 };
            let part = if self.rng().chance(40) {
                whole
            } else {
                let start = self.rng().between(0, (*extent - 1).max(0));
                let least = if self.rng().chance(95) { start + 1 } else { start };
                let limit = self.rng().between(least.min(*extent), *extent);
                let stride = self.rng().between(1, 3);
                SliceDimension { start, limit, stride }
            };
            let span = part.limit - part.start;
            *extent = if span == 0 { 0 } else { (span - 1) / part.stride + 1 };
            dimensions.push(part);
        }
        self.moved(Op::Slice { dimensions }, operand, extents)
    }

    fn reverse(&mut self, operand: InstrId) -> InstrId {
        let extents = self.extents(operand);
        let mut dimensions: Vec<i64> = (0..).take(extents.len()).collect();
        self.world.rng.shuffle(&mut dimensions);
        dimensions.truncate(self.world.rng.below(extents.len() + 1).max(extents.len().min(1)));
        self.moved(Op::Reverse { dimensions }, operand, extents)
    }

    pub(super) fn concatenate(&mut self, operand: InstrId) -> Option<InstrId> {
        let mut extents = self.extents(operand);
        if extents.is_empty() {
            return None;
        }
        let (element_type, along) = (self.element_type(operand), self.world.rng.below(extents.len()));
        let mut operands = vec![operand];
        for _ in 0..self.rng().below(4) {
            let fits = |shape: &ArrayShape| {
                shape.element_type == element_type
                    && shape.rank() == extents.len()
                    && (0..extents.len()).all(|other| other == along || shape.extents[other] == extents[other])
            };
            operands.extend(self.pick(fits));
        }
        self.world.rng.shuffle(&mut operands);
        let total: i64 = operands.iter().map(|id| self.array(*id).extents[along]).sum();
        extents[along] = total;
        if extents.iter().product::<i64>() > self.world.config.elements {
            return None;
        }
        let facts = operands.iter().map(|id| self.facts(*id)).reduce(super::facts::Facts::join)?;
        let op = Op::Concatenate { dimension: along as i64 };
        Some(self.push_array(op, ArrayShape::new(element_type, extents), operands, facts))
    }

    fn pad(&mut self, operand: InstrId) -> Option<InstrId> {
        let mut extents = self.extents(operand);
        let mut padding = Vec::new();
        for extent in &mut extents {
            let mut part = PadDimension::default();
            if self.rng().chance(70) {
                part.low = self.rng().between(-2, 2);
                part.high = self.rng().between(-2, 2);
                part.interior = [0, 0, 1, 2][self.rng().below(4)];
            }
            let inside = *extent + (*extent - 1).max(0) * part.interior;
            if inside + part.low + part.high < 0 {
                part.low = 0;
                part.high = 0;
            }
            *extent = inside + part.low + part.high;
            padding.push(part);
        }
        if extents.iter().product::<i64>() > self.world.config.elements {
            return None;
        }
        let element_type = self.element_type(operand);
        let value = self.like(element_type, &[]);
        let facts = self.facts(operand).join(self.facts(value));
        Some(self.push_array(Op::Pad { padding }, ArrayShape::new(element_type, extents), vec![operand, value], facts))
    }

    fn copy(&mut self, operand: InstrId) -> InstrId {
        let extents = self.extents(operand);
        self.moved(Op::Copy, operand, extents)
    }

    /// A value combined with itself, read through another map.
    pub(super) fn diamond(&mut self) -> Option<InstrId> {
        let operand = self.pick(|shape| shape.rank() > 0)?;
        let other = self.elsewhere(operand);
        let other = if self.rng().chance(30) { self.elsewhere(other) } else { other };
        self.binary_of(operand, other)
    }

    /// The same elements in the same extents, but in other places.
    fn elsewhere(&mut self, operand: InstrId) -> InstrId {
        let extents = self.extents(operand);
        match self.rng().below(4) {
            0 => self.reverse(operand),
            // A transposition that the reshape back does not undo.
            1 => {
                let transposed = self.transpose(operand);
                self.moved(Op::Reshape, transposed, extents)
            }
            // Rotated by one.
            2 if extents[0] > 1 => {
                let part = |start: i64, limit: i64| -> Vec<SliceDimension> {
                    let bounds = |(dimension, &extent): (usize, &i64)| {
                        let (start, limit) = if dimension == 0 { (start, limit) } else { (0, extent) };
                        SliceDimension { start, limit, stride: 1 }
                    };
                    extents.iter().enumerate().map(bounds).collect()
                };
                let with_first = |first: i64| [&[first], &extents[1..]].concat();
                let first = self.moved(Op::Slice { dimensions: part(0, 1) }, operand, with_first(1));
                let rest =
                    self.moved(Op::Slice { dimensions: part(1, extents[0]) }, operand, with_first(extents[0] - 1));
                let (facts, shape) =
                    (self.facts(operand), ArrayShape::new(self.element_type(operand), extents.clone()));
                self.push_array(Op::Concatenate { dimension: 0 }, shape, vec![rest, first], facts)
            }
            _ => {
                let element_type = self.element_type(operand);
                self.like(element_type, &extents)
            }
        }
    }
}
