//! Constant evaluation of integer arrays, which turns runtime variables into numbers and expressions.

mod constant;

use std::cell::Cell;

use weft_affine::{Expr, Interval, Ranges, Simplifier, Var};
use weft_indexing::{IndexingMap, Owner};

use super::asynchronous::callees;
use super::context::{InstructionContext, dim, index};
use super::operation::operation;
use super::{Direction, Domains, Number, Owners};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, ComputationId, ElementType, InstrId, Instruction};
use crate::ir::{Module, Op, Shape, UnaryOp};

/// Instructions that are looked at for one answer.
const MAX_STEPS: u32 = 256;
/// Values that are no constants are followed within these bounds, so that no arithmetic on the way to an index leaves 64 bits.
const WITHIN: Interval = Interval::new(-(1 << 40), 1 << 40);

/// The elements of constants and of `iota`, and what operations on integers make of them.
///
/// Followed are operations that move elements, calls and fusions, conversions between integers, sums, differences, products by
/// numbers, and choices (`select`, `maximum`, `minimum`, `clamp`, quotients of what is not negative) where the ranges of the
/// operands decide them. Where arithmetic might wrap around, nothing is known. What comes out holds on every replica.
///
/// ```
/// use weft_hlo::indexing::{KnownValues, Owners};
/// use weft_hlo::text;
/// use weft_indexing::Interval;
///
/// let module = text::parse(
///     "HloModule m\nENTRY e {\n i = s32[6] iota(), iota_dimension=0\n r = s32[6] reverse(i), dimensions={0}\n ROOT c = s32[2,3] reshape(r)\n}",
/// )?;
/// let known = KnownValues::new(&module, module.entry);
/// let owner = Owners::of(module.entry_computation().root);
/// let row = known.value(&Owners::default(), owner, &[Interval::point(1), Interval::new(0, 2)]);
/// assert_eq!(row.map(|e| e.to_string()).as_deref(), Some("-d1 + 2"));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
#[derive(Copy, Clone, Debug)]
pub struct KnownValues<'m> {
    module: &'m Module,
    computation: ComputationId,
}

/// An instruction, and how its computation was entered.
#[derive(Clone, Debug)]
struct InstructionPath {
    computation: ComputationId,
    id: InstrId,
    /// The callers and their branches, outermost first.
    calls: Vec<(ComputationId, InstrId, usize)>,
}

impl<'m> KnownValues<'m> {
    /// The values that owners of maps of this computation yield; the module has passed [`verify`](crate::verify::verify).
    pub fn new(module: &'m Module, computation: ComputationId) -> KnownValues<'m> {
        KnownValues { module, computation }
    }

    /// The value of the owner's element `(d0, d1, …)`, for all elements whose coordinates lie within the intervals, over these
    /// coordinates; nothing where the text does not tell, or the elements do not all exist. After the coordinates there may
    /// stand the members asked on the way to another replica, as in [`Source::exchanges`](super::Source::exchanges).
    ///
    /// This is what [`IndexingMap::replace_known_values`] asks for.
    pub fn value(&self, owners: &Owners, owner: Owner, element: &[Interval]) -> Option<Expr> {
        let source = owners.source(owner).filter(|source| source.number == Number::Element)?;
        let (id, calling) = source.path.split_last()?;
        let mut place = InstructionPath { computation: self.computation, id: *id, calls: Vec::new() };
        for (position, call) in calling.iter().enumerate() {
            let branch = source.branches.get(position).copied().unwrap_or_default();
            let instruction = self.module.computations[place.computation].instructions.get(*call)?;
            place.calls.push((place.computation, *call, branch));
            place.computation = *callees(&instruction.op).get(branch)?;
        }
        let coordinates = element.len().checked_sub(source.exchanges.len())?;
        let search = Search { module: self.module, left: Cell::new(MAX_STEPS) };
        if !search.is_told(&place) {
            return None;
        }
        search.left.set(MAX_STEPS);
        search.of(&place, element.get(..coordinates)?)
    }
}

/// One answer in the making.
struct Search<'m> {
    module: &'m Module,
    /// Instructions that may still be looked at.
    left: Cell<u32>,
}

impl<'m> Search<'m> {
    fn instruction(&self, place: &InstructionPath) -> Option<&'m Instruction> {
        self.module.computations[place.computation].instructions.get(place.id)
    }

    /// Whether all that the value depends on is in the text, as far as it is followed: quick, and mostly the answer is no.
    fn is_told(&self, place: &InstructionPath) -> bool {
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        let Some(instruction) = self.instruction(place) else { return false };
        let is_operand_told = |number: usize| self.operand(place, number).is_some_and(|operand| self.is_told(&operand));
        match &instruction.op {
            Op::Constant(_) | Op::Iota { .. } => true,
            Op::Parameter { .. } | Op::GetTupleElement { .. } | Op::Fusion { .. } | Op::Call { .. } => {
                self.passed_on(place).is_some_and(|from| self.is_told(&from))
            }
            Op::Convert | Op::Unary(UnaryOp::Negate) => is_operand_told(0),
            Op::Binary(_) | Op::Clamp | Op::Compare { .. } => (0..instruction.operands.len()).all(is_operand_told),
            Op::Select => is_operand_told(0) && (1..=2).any(is_operand_told),
            op => (0..passed(op, instruction.operands.len())).any(is_operand_told),
        }
    }

    /// The elements of an instruction's value within the box.
    fn of(&self, place: &InstructionPath, element: &[Interval]) -> Option<Expr> {
        self.left.set(self.left.get().checked_sub(1)?);
        let instruction = self.instruction(place)?;
        let array = instruction.shape.as_array().filter(|_| instruction.shape.is_static())?;
        let is_element = |(within, extent): (&Interval, &i64)| {
            !within.is_empty() && Interval::of_extent(*extent).contains_interval(*within)
        };
        if !array.element_type.is_integer()
            || array.rank() != element.len()
            || !element.iter().zip(&array.extents).all(is_element)
        {
            return None;
        }
        let operand = |number: usize| self.of(&self.operand(place, number)?, element);
        let value = match &instruction.op {
            Op::Constant(literal) => return constant::value(literal, &array.extents, element),
            Op::Iota { dimension } => dim(index(*dimension)),
            Op::Parameter { .. } | Op::GetTupleElement { .. } | Op::Fusion { .. } | Op::Call { .. } => {
                return self.of(&self.passed_on(place)?, element);
            }
            Op::Convert => operand(0)?,
            Op::Unary(UnaryOp::Negate) => operand(0)?.checked_neg().ok()?,
            Op::Binary(op) => binary(*op, &operand(0)?, &operand(1)?, element)?,
            Op::Clamp => {
                let of_scalar = |number: usize| {
                    let bound = self.operand(place, number)?;
                    let rank = self.instruction(&bound)?.shape.as_array()?.rank();
                    self.of(&bound, element.get(..rank)?)
                };
                let above = binary(BinaryOp::Maximum, &operand(1)?, &of_scalar(0)?, element)?;
                binary(BinaryOp::Minimum, &above, &of_scalar(2)?, element)?
            }
            Op::Select => operand(if self.holds(&self.operand(place, 0)?, element)? { 1 } else { 2 })?,
            op => self.moved(place, passed(op, instruction.operands.len()), element)?,
        };
        let found = over(element).range_of(&value);
        let is_followed = match value.as_constant() {
            Some(_) => true,
            None => WITHIN.contains_interval(found),
        };
        (is_followed && values_of(array.element_type).contains_interval(found)).then_some(value)
    }

    /// An operand in its own place.
    fn operand(&self, place: &InstructionPath, number: usize) -> Option<InstructionPath> {
        let id = *self.instruction(place)?.operands.get(number)?;
        Some(InstructionPath { id, ..place.clone() })
    }

    /// The instruction whose value a parameter, a call or an element of a tuple is.
    fn passed_on(&self, place: &InstructionPath) -> Option<InstructionPath> {
        let instruction = self.instruction(place)?;
        match &instruction.op {
            Op::Parameter { number } => {
                let mut calls = place.calls.clone();
                let (computation, id, branch) = calls.pop()?;
                let caller = InstructionPath { computation, id, calls };
                let op = match &self.instruction(&caller)?.op {
                    Op::AsyncShorthand { operation: Some(operation), .. } => operation.as_ref(),
                    op => op,
                };
                let first = if matches!(op, Op::Conditional { .. }) { branch + 1 } else { 0 };
                self.operand(&caller, first + usize::try_from(*number).ok()?)
            }
            Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } => {
                let mut calls = place.calls.clone();
                calls.push((place.computation, place.id, 0));
                Some(InstructionPath { computation: *callee, id: self.module.computations[*callee].root, calls })
            }
            Op::GetTupleElement { index: element } => {
                let mut tuple = self.operand(place, 0)?;
                // Each call leads one computation further down, and each parameter one instruction further up.
                while !matches!(self.instruction(&tuple)?.op, Op::Tuple) {
                    self.left.set(self.left.get().checked_sub(1)?);
                    tuple = self.passed_on(&tuple)?;
                }
                self.operand(&tuple, index(*element))
            }
            _ => None,
        }
    }

    /// The elements of an operation that moves those of its first `operands` operands.
    fn moved(&self, place: &InstructionPath, operands: usize, element: &[Interval]) -> Option<Expr> {
        let instruction = self.instruction(place).filter(|_| operands > 0)?;
        let computation = &self.module.computations[place.computation];
        let context =
            InstructionContext::new(computation, place.id, Direction::OutputToInput, Domains::Exact).of(self.module);
        for dependence in operation(&context).ok()? {
            let Some(number) = dependence.operand.filter(|number| *number < operands) else { continue };
            let from = self.operand(place, number)?;
            if element_type(&self.instruction(&from)?.shape) != element_type(&instruction.shape) {
                return None;
            }
            for one in dependence.relation.maps() {
                let mut map = one.map.clone();
                for (dimension, within) in element.iter().enumerate().take(map.dims().len()) {
                    map.add_constraint(dim(dimension), *within).ok()?;
                }
                if map.variable_ranges().has_empty() {
                    continue;
                }
                map.simplify_knowing(&mut |owner, element| {
                    let source = Owners::default().source(owner).filter(|source| source.number == Number::Element)?;
                    let [id] = source.path.as_slice() else { return None };
                    self.of(&InstructionPath { id: *id, ..place.clone() }, element)
                });
                map.remove_unused_symbols();
                if map.is_known_empty() {
                    // Nothing of the box is read there.
                    continue;
                }
                // Of the padding value it is known by now that the operand is read nowhere in the box.
                let is_exact = one.coarse.is_none() || matches!(instruction.op, Op::Pad { .. });
                return if is_exact && is_whole(&map, element) { self.read(&from, &map, element) } else { None };
            }
        }
        None
    }

    /// The elements of `from` that a map from the box leads to.
    fn read(&self, from: &InstructionPath, map: &IndexingMap, element: &[Interval]) -> Option<Expr> {
        let mut facts = over(element);
        let read: Vec<Interval> = map.results().iter().map(|e| facts.range_of(e)).collect();
        let value = self.of(from, &read)?;
        let value = value.substitute(|v| match v {
            Var::Dim(i) => map.results().get(i as usize).cloned(),
            _ => None,
        });
        Some(facts.simplify(&value.ok()?))
    }

    /// Whether a condition holds of all elements of the box, or of none.
    fn holds(&self, place: &InstructionPath, element: &[Interval]) -> Option<bool> {
        let instruction = self.instruction(place)?;
        let Op::Compare { direction, order } = &instruction.op else { return None };
        let a = self.operand(place, 0)?;
        let is_signed = element_type(&self.instruction(&a)?.shape)?.is_signed();
        match order {
            Some(ComparisonType::Signed) if is_signed => {}
            Some(ComparisonType::Unsigned) if !is_signed => {}
            None => {}
            Some(_) => return None,
        }
        let rank = instruction.shape.as_array()?.rank();
        let within = element.get(..rank)?;
        if rank != 0 && rank != element.len() {
            return None;
        }
        let (a, b) = (self.of(&a, within)?, self.of(&self.operand(place, 1)?, within)?);
        let d = over(within).range_of(&a.checked_sub(&b).ok()?);
        let (below, above, equal) = (d.hi < 0, d.lo > 0, d.as_point() == Some(0));
        let decided = |yes: bool, no: bool| if yes || no { Some(yes) } else { None };
        match direction {
            ComparisonDirection::Lt => decided(below, d.lo >= 0),
            ComparisonDirection::Ge => decided(d.lo >= 0, below),
            ComparisonDirection::Gt => decided(above, d.hi <= 0),
            ComparisonDirection::Le => decided(d.hi <= 0, above),
            ComparisonDirection::Eq => decided(equal, below || above),
            ComparisonDirection::Ne => decided(below || above, equal),
        }
    }
}

/// How many of an operation's operands hold elements that it moves and does not change.
fn passed(op: &Op, operands: usize) -> usize {
    match op {
        op if op.opcode().only_moves_data() => 1,
        Op::OptimizationBarrier | Op::DynamicSlice { .. } | Op::Gather { .. } => 1,
        // The padding value is read wherever the operand is not.
        Op::Pad { .. } => 2,
        Op::DynamicUpdateSlice => 2,
        Op::Concatenate { .. } => operands,
        _ => 0,
    }
}

/// What an operation on two integers makes of its operands, as if numbers had no end.
fn binary(op: BinaryOp, a: &Expr, b: &Expr, element: &[Interval]) -> Option<Expr> {
    let mut facts = over(element);
    let is_positive = |b: &&i64| **b > 0;
    match op {
        BinaryOp::Add => a.checked_add(b).ok(),
        BinaryOp::Subtract => a.checked_sub(b).ok(),
        BinaryOp::Multiply => match (a.as_constant(), b.as_constant()) {
            (_, Some(factor)) => a.checked_mul(factor).ok(),
            (Some(factor), _) => b.checked_mul(factor).ok(),
            (None, None) => None,
        },
        // Of what is not negative, rounding towards zero is rounding down.
        BinaryOp::Divide | BinaryOp::Remainder => {
            let divisor = *b.as_constant().as_ref().filter(is_positive).filter(|_| facts.range_of(a).lo >= 0)?;
            let made = if op == BinaryOp::Divide { a.checked_floor_div(divisor) } else { a.checked_modulo(divisor) };
            Some(facts.simplify(&made.ok()?))
        }
        BinaryOp::Maximum | BinaryOp::Minimum => {
            let difference = facts.range_of(&a.checked_sub(b).ok()?);
            let (greater, less) = if op == BinaryOp::Maximum { (a, b) } else { (b, a) };
            match difference {
                Interval { lo: 0.., .. } => Some(greater.clone()),
                Interval { hi: ..=0, .. } => Some(less.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// True where the map leads from every point of the box, and from each to one element.
fn is_whole(map: &IndexingMap, element: &[Interval]) -> bool {
    map.constraints().is_empty()
        && map.ranges().is_empty()
        && map.runtime().is_empty()
        && map.dims().iter().map(|d| d.bounds()).eq(element.iter().copied())
}

/// What is known of coordinates within a box.
fn over(element: &[Interval]) -> Simplifier {
    Simplifier::new(&Ranges::of_dims(element.iter().copied()), &[])
}

fn element_type(shape: &Shape) -> Option<ElementType> {
    shape.as_array().map(|array| array.element_type)
}

/// The numbers of an integer type; of 64 bits without those at the ends, which are no bounds.
fn values_of(element_type: ElementType) -> Interval {
    let bits = element_type.bits();
    match (element_type.is_signed(), bits) {
        (true, 64..) => Interval::new(i64::MIN + 1, i64::MAX - 1),
        (false, 63..) => Interval::new(0, i64::MAX - 1),
        (true, bits) => Interval::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (false, bits) => Interval::new(0, (1 << bits) - 1),
    }
}
