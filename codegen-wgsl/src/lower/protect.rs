//! Protection of floats from the algebra of drivers.
//!
//! `docs/protection.md` has a table of what is hidden between which operations, and why.

mod arithmetic;
mod origin;
mod rewrite;

use crate::kernel::{
    Block, Function, FunctionId, Hiding, Kernel, Memory, MemoryId, Operand, ScalarOp, Statement, ValueId,
};
use arithmetic::{Carried, calculates, is_arithmetic, is_number};
use origin::{Elements, Origin};
use rewrite::Rewrite;
use std::collections::BTreeMap;
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, ElementType, Scalar};
use weft_partition::{DeviceKind, Target};

/// The kernel with what a driver may not compute with hidden from it (`keep`).
///
/// Drivers reassociate sums and products (`(x + 1e8) - 1e8` becomes `x`), also with those within the library's functions and
/// those that a comparison hides (`x + 1 > 1`), fold with zeros that they can compute (`x * 0` is 0 to them, even for NaN)
/// multiply with what they take for the inverse of a constant (`x / 3`), and know that `f(x) - f(x)` is 0, also of two equal calls that the program wrote. So every operand of arithmetic on `f32` and `f64` is
/// opaque: an element of a buffer, a literal they cannot fold with, or hidden. A computed value is hidden where it is defined
/// (`keep`), the result of a loop where the loop ends, one of several values where it is used; and of a difference, a quotient
/// or a comparison the second operand, unless it is a literal, an element of a buffer that the first cannot be, or a hidden value beside an element
/// or a literal, is hidden behind another zero, so that two equal values look different. Functions of the library count on opaque arguments.
///
/// What a loop accumulates by one sum or product a round is not hidden from round to round: HLO leaves the order of a
/// reduction open.
///
/// A product that is added to something, or from which something is taken, is bare where algebra finds nothing to do: the two share no factor, and
/// the rest is opaque. So a device may fuse the two, rounding once. Where the target asks for two roundings
/// ([`Target::forbid_contraction`]) of a device that contracts, it is hidden, too.
///
/// A choice between opaque values and constants other than zero is opaque to sums and products.
///
/// On GPUs, of two values that are compared, and of which one is chosen, the one that is chosen is hidden apart: their drivers know that `x < y ? x : y` is a minimum, and take one that drops NaN.
///
/// Where the device is told to compute in the order that is written ([`Features::no_contraction`](weft_partition::Features::no_contraction)),
/// zeros alone are hidden, literal ones and what a driver can compute: some fold with these even so.
#[must_use]
pub fn protect(kernel: &Kernel, target: &Target) -> Kernel {
    let device = Properties {
        contracts: !(target.forbid_contraction && target.arithmetic.contraction),
        is_ordered: target.features.no_contraction,
        has_minima: target.kind != DeviceKind::Software,
    };
    let mut kept = kernel.clone();
    let mut is_called = vec![false; kernel.functions.len()];
    for function in kernel.functions.values() {
        mark_called(&function.body, &mut is_called);
    }
    mark_used(kernel, &kernel.entry.body, &mut BTreeMap::new(), &mut is_called);
    let protections = Protection::of(kernel, device, |id| !is_called[id.index()]);
    for (function, protection) in kept.functions.values_mut().zip(&protections) {
        Rewrite { protection, source: function.clone(), function }.run();
    }
    let callees = &BTreeMap::new();
    let entry = Context { memories: &kernel.memories, device, returns_to_code: false, callees };
    let protection = Protection::of_function(&kernel.entry, entry);
    Rewrite { protection: &protection, source: kept.entry.clone(), function: &mut kept.entry }.run();
    kept
}

/// Marks the functions whose results code computes with.
fn mark_called(block: &Block, called: &mut [bool]) {
    for statement in &block.statements {
        if let Some(callee) = statement.callee() {
            called[callee.index()] = true;
        }
        statement.blocks().into_iter().for_each(|block| mark_called(block, called));
    }
}

/// Marks the functions with whose results the entry does anything but store them in buffers.
fn mark_used(kernel: &Kernel, block: &Block, origins: &mut BTreeMap<ValueId, FunctionId>, called: &mut [bool]) {
    let mut used = |operand: &Operand, origins: &BTreeMap<ValueId, FunctionId>| {
        if let Operand::Value(value) = operand
            && let Some(function) = origins.get(value)
        {
            called[function.index()] = true;
        }
    };
    for statement in &block.statements {
        match statement {
            Statement::Merge { .. } => continue,
            Statement::Store { memory, .. } if kernel.memories[*memory].is_buffer() => continue,
            Statement::Call { values, function, .. } => {
                statement.operands().iter().for_each(|operand| used(operand, origins));
                origins.extend(values.iter().map(|value| (*value, *function)));
                continue;
            }
            _ => statement.operands().iter().for_each(|operand| used(operand, origins)),
        }
    }
    block.results.iter().for_each(|result| used(result, origins));
    for statement in &block.statements {
        if let (Some(callee), false) = (statement.callee(), matches!(statement, Statement::Call { .. })) {
            called[callee.index()] = true;
        }
        statement.blocks().into_iter().for_each(|block| mark_used(kernel, block, origins, called));
    }
}

/// Whether an operand is the constant +0, which drivers fold with. (-0 is hidden by the way it is written.)
fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Constant(scalar @ (Scalar::F32(_) | Scalar::F64(_))) if scalar.bits() == 0)
}

/// Whether a number is neither infinite nor NaN.
fn is_finite(scalar: Scalar) -> bool {
    match scalar {
        Scalar::F32(value) => value.is_finite(),
        Scalar::F64(value) => value.is_finite(),
        _ => true,
    }
}

/// Whether the inverse of a number is a number, so that a product with it is the quotient: drivers take that of any constant (SwiftShader
/// computes `x / 3` as `x * 0.33333334`).
fn has_exact_inverse(scalar: Scalar) -> bool {
    match scalar {
        Scalar::F32(value) => value.is_normal() && value.to_bits().trailing_zeros() >= 23 && value.recip().is_normal(),
        Scalar::F64(value) => value.is_normal() && value.to_bits().trailing_zeros() >= 52 && value.recip().is_normal(),
        _ => true,
    }
}

/// What is hidden of one function.
struct Protection<'k> {
    /// Values whose definition is hidden.
    kept: Vec<bool>,
    origins: Vec<Origin>,
    elements: Elements<'k>,
    memories: &'k Arena<MemoryId, Memory>,
    device: Properties,
    /// Values that are compared, and what comparisons compare.
    is_compared: Vec<bool>,
    comparisons: BTreeMap<ValueId, [Operand; 2]>,
    /// Whether something is computed with what the function returns.
    returns_to_code: bool,
}

/// What a driver may do.
#[derive(Copy, Clone)]
struct Properties {
    /// Whether it may round a product and a sum once.
    contracts: bool,
    /// Whether it keeps to the order of what is written.
    is_ordered: bool,
    /// Whether it makes minima and maxima, without NaN, of choices between what is compared.
    has_minima: bool,
}

/// What the protection of a function depends on besides itself.
#[derive(Copy, Clone)]
struct Context<'c, 'k> {
    memories: &'k Arena<MemoryId, Memory>,
    device: Properties,
    /// Whether something is computed with what the function returns.
    returns_to_code: bool,
    /// For each function whether each of its results is one of several values.
    callees: &'c BTreeMap<FunctionId, Vec<bool>>,
}

impl<'k> Protection<'k> {
    /// The protection of each function of a kernel; `is_output` tells which return to the entry alone.
    fn of(kernel: &'k Kernel, device: Properties, is_output: impl Fn(FunctionId) -> bool) -> Vec<Protection<'k>> {
        let mut protections: Vec<Protection<'k>> = Vec::with_capacity(kernel.functions.len());
        // Callees stand behind their callers.
        let mut chosen: BTreeMap<FunctionId, Vec<bool>> = BTreeMap::new();
        let ids: Vec<FunctionId> = kernel.functions.ids().collect();
        for id in ids.into_iter().rev() {
            let function = &kernel.functions[id];
            let returns_to_code = !is_output(id);
            let memories = &kernel.memories;
            let context = Context { memories, device, returns_to_code, callees: &chosen };
            let protection = Protection::of_function(function, context);
            let is_chosen = |result: &Operand| match result {
                Operand::Value(value) => protection.origins[value.index()] == Origin::Chosen,
                Operand::Constant(_) => false,
            };
            chosen.insert(id, function.body.results.iter().map(is_chosen).collect());
            protections.push(protection);
        }
        protections.reverse();
        protections
    }

    fn of_function(function: &'k Function, context: Context<'_, 'k>) -> Protection<'k> {
        let count = function.values.len();
        let protection = Protection {
            kept: vec![false; count],
            origins: vec![Origin::Opaque; count],
            elements: Elements::default(),
            memories: context.memories,
            device: context.device,
            is_compared: vec![false; count],
            comparisons: BTreeMap::new(),
            returns_to_code: context.returns_to_code,
        };
        let (needed, is_known, is_together) = (vec![false; count], vec![false; count], vec![false; count]);
        let mut pass = Pass { context, function, protection, needed, is_known, is_together, extents: Vec::new() };
        pass.block(&function.body);
        if context.returns_to_code {
            function.body.results.iter().for_each(|result| pass.need(*result));
        }
        let Pass { mut protection, needed, is_known, .. } = pass;
        for (value, kept) in protection.kept.iter_mut().enumerate() {
            let is_number = is_number(function.values[ValueId::from_index(value)].element_type);
            let is_visible = protection.origins[value].is_computed() && (!context.device.is_ordered || is_known[value]);
            *kept = needed[value] && is_number && is_visible;
        }
        protection
    }

    /// Whether the value's definition is hidden.
    fn is_kept(&self, value: ValueId) -> bool {
        self.kept[value.index()]
    }

    /// How an operand is hidden where it is used, if it is. A number that is compared with itself, to learn whether it is NaN, is not.
    fn hide(&self, function: &Function, op: &ScalarOp, position: usize) -> Option<Hiding> {
        let operands = op.operands();
        let operand = *operands.get(position)?;
        if !is_number(Kernel::operand_type(function, operand)) {
            return None;
        }
        if let ScalarOp::Compare { operands: [a, b], .. } = op
            && a == b
        {
            return None;
        }
        let compares = position == 1
            && match op {
                ScalarOp::Binary { op, .. } => matches!(op, BinaryOp::Subtract | BinaryOp::Divide),
                ScalarOp::Compare { .. } => true,
                _ => false,
            };
        if let (true, ScalarOp::Select { .. }, Operand::Value(value)) = (self.device.has_minima, op, operand) {
            // One of the two: of both what hides them would be drawn out.
            let is_first = position == 1 || position == 2 && matches!(operands[1], Operand::Constant(_));
            return (is_first && self.is_chosen_by_itself(op, value)).then_some(Hiding::Apart);
        }
        // Of a vector each lane may be an operand of arithmetic.
        let is_computed_with = is_arithmetic(function, op) || !op.is_lane_wise();
        match operand {
            Operand::Constant(scalar) => {
                let is_inverted = position == 1
                    && matches!(op, ScalarOp::Binary { op: BinaryOp::Divide, .. })
                    && !has_exact_inverse(scalar)
                    && !self.device.is_ordered;
                // What no language has a literal for is known to no driver, nor is a hidden zero, but equal to itself.
                let is_itself = compares
                    && operands[0] == operand
                    && (is_zero(operand) || !self.device.is_ordered && !is_finite(scalar));
                // Also one that a product is added to: it would be the product, a negative zero perhaps.
                let is_added = is_computed_with || matches!(op, ScalarOp::MultiplyAdd { .. });
                let is_hidden = is_added && is_zero(operand) || is_inverted;
                if is_itself { Some(Hiding::Apart) } else { is_hidden.then_some(Hiding::Value) }
            }
            Operand::Value(_) if self.device.is_ordered => None,
            // Nothing that it is taken from is equal to it for all that a driver knows, or it would be kept.
            Operand::Value(value) if compares && self.is_bare_product(value) => None,
            // What is hidden where it is computed is no element and no constant.
            Operand::Value(value) if compares && self.kept[value.index()] && self.is_plain(operands[0]) => None,
            Operand::Value(value) if compares => {
                let is_element = self.origins[value.index()] == Origin::Element;
                (!is_element || self.may_be_element(operands[0], value)).then_some(Hiding::Apart)
            }
            Operand::Value(value) => {
                let is_chosen = self.origins[value.index()] == Origin::Chosen;
                (is_chosen && is_computed_with).then_some(Hiding::Chosen)
            }
        }
    }

    /// Whether a value is chosen, for all that is known, because it compares so with the other that may be.
    fn is_chosen_by_itself(&self, op: &ScalarOp, value: ValueId) -> bool {
        let ScalarOp::Select { operands: [Operand::Value(condition), a, b] } = op else { return false };
        match self.comparisons.get(condition) {
            Some(compared) => compared == &[*a, *b] || compared == &[*b, *a],
            None => self.is_compared[value.index()],
        }
    }

    /// Whether the value is a product that a device may fuse with what is added to it.
    fn is_bare_product(&self, value: ValueId) -> bool {
        matches!(self.origins[value.index()], Origin::Product { .. }) && !self.kept[value.index()]
    }

    /// Whether an operand is an element or a constant.
    fn is_plain(&self, operand: Operand) -> bool {
        match operand {
            Operand::Constant(_) => true,
            Operand::Value(value) => self.origins[value.index()] == Origin::Element,
        }
    }

    /// Whether two elements of buffers may be one.
    fn may_be_one_element(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.elements.may_be_same(self.memories, a, b)
    }

    /// Whether an operand may be this element of a buffer for all that a driver knows.
    fn may_be_element(&self, operand: Operand, element: ValueId) -> bool {
        match operand {
            Operand::Constant(_) => false,
            Operand::Value(value) => match self.origins[value.index()] {
                Origin::Element => self.may_be_one_element(value, element),
                // Hidden where it is defined.
                Origin::Computed { .. } | Origin::Selected => !self.kept[value.index()],
                // One that shares a factor with what it is compared with is kept.
                Origin::Product { .. } => false,
                // Elements of rounds before.
                Origin::Accumulated { .. } => false,
                Origin::Opaque | Origin::Chosen => true,
            },
        }
    }
}

struct Pass<'c, 'f> {
    context: Context<'c, 'f>,
    function: &'f Function,
    protection: Protection<'f>,
    /// Values that must be opaque.
    needed: Vec<bool>,
    /// Values that a driver can compute, or choose among: of indices and constants alone.
    is_known: Vec<bool>,
    /// Words that are put together of others.
    is_together: Vec<bool>,
    /// The extents of the variables of all loops around.
    extents: Vec<i64>,
}

impl<'f> Pass<'_, 'f> {
    fn need(&mut self, operand: Operand) {
        if let Operand::Value(value) = operand {
            self.needed[value.index()] = true;
        }
    }

    /// Whether a driver may know an operand, or that it is one of some that it knows.
    fn knows(&self, operand: Operand) -> bool {
        match operand {
            Operand::Constant(_) => true,
            Operand::Value(value) => self.is_known[value.index()],
        }
    }

    fn computes_with_known(&self, op: &ScalarOp) -> bool {
        match op {
            ScalarOp::Extract { .. } | ScalarOp::Keep { .. } | ScalarOp::Member { .. } => false,
            ScalarOp::Select { operands: [_, arms @ ..] } => arms.iter().any(|arm| self.knows(*arm)),
            ScalarOp::Compose { operands } => operands.iter().any(|lane| self.knows(*lane)),
            op => op.operands().into_iter().all(|operand| self.knows(operand)),
        }
    }

    fn origin(&mut self, value: ValueId) -> &mut Origin {
        &mut self.protection.origins[value.index()]
    }

    fn block(&mut self, block: &'f Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op } => {
                    let is_arithmetic = is_arithmetic(self.function, op);
                    if let ScalarOp::Compare { operands, .. } = op {
                        self.protection.comparisons.insert(*value, *operands);
                        for operand in operands {
                            if let Operand::Value(value) = operand {
                                self.protection.is_compared[value.index()] = true;
                            }
                        }
                    }
                    self.is_known[value.index()] = self.computes_with_known(op);
                    let is_word = self.function.values[*value].element_type == ElementType::U32;
                    let is_together = match op {
                        ScalarOp::Binary { op: BinaryOp::Or | BinaryOp::Add | BinaryOp::Subtract, .. } => {
                            !self.is_known[value.index()]
                        }
                        // All of a word, or nothing, but not all of it but the sign.
                        ScalarOp::Binary { op: BinaryOp::And, operands } => {
                            !operands.iter().any(|operand| self.knows(*operand))
                        }
                        _ => false,
                    };
                    self.is_together[value.index()] = is_word && is_together;
                    *self.origin(*value) = match op {
                        ScalarOp::Extract { memory, indices } => {
                            self.protection.elements.insert(*value, *memory, indices);
                            Origin::Element
                        }
                        ScalarOp::Splat { operand: Operand::Value(scalar) }
                            if *self.origin(*scalar) == Origin::Element =>
                        {
                            self.protection.elements.insert_same(*value, *scalar);
                            Origin::Element
                        }
                        ScalarOp::Binary { op: BinaryOp::Multiply, operands } if is_arithmetic => {
                            Origin::Product { factors: *operands }
                        }
                        ScalarOp::Select { operands: [_, arms @ ..] }
                            if arms.iter().all(|arm| self.is_choosable(*arm)) =>
                        {
                            Origin::Selected
                        }
                        // Bits are put together, of which some are not known.
                        ScalarOp::Decode { operand, .. } if !self.knows(*operand) => Origin::Opaque,
                        ScalarOp::Bitcast { operand, .. } if self.is_put_together(*operand) => Origin::Opaque,
                        // What others hand on, and sums whose order is open.
                        ScalarOp::Member { .. } | ScalarOp::MultiplyAdd { .. } => Origin::Opaque,
                        op if !op.is_lane_wise() => Origin::Opaque,
                        _ => Origin::Computed { is_arithmetic },
                    };
                    for (position, operand) in op.operands().into_iter().enumerate() {
                        let is_compared = matches!(op, ScalarOp::Compare { .. }) && self.is_arithmetic(operand);
                        let calculates = is_arithmetic || calculates(self.function, op);
                        let is_handed_on = matches!(op, ScalarOp::Member { .. })
                            || matches!(op, ScalarOp::MultiplyAdd { .. } if position < 2);
                        let is_seen = calculates && !self.is_free(op, position) || is_handed_on;
                        if is_seen || is_compared || !op.is_lane_wise() {
                            self.need(operand);
                        }
                    }
                }
                Statement::Call { values, function, arguments, .. } => {
                    arguments.iter().for_each(|argument| self.need(*argument));
                    let callees = self.context.callees;
                    for (value, is_chosen) in values.iter().zip(callees.get(function).into_iter().flatten()) {
                        *self.origin(*value) = if *is_chosen { Origin::Chosen } else { Origin::Opaque };
                    }
                }
                Statement::If { values, then, otherwise, .. } => {
                    values.iter().for_each(|value| *self.origin(*value) = Origin::Chosen);
                    for branch in [then, otherwise] {
                        self.block(branch);
                        branch.results.iter().for_each(|result| self.need(*result));
                    }
                    for (value, results) in values.iter().zip(then.results.iter().zip(&otherwise.results)) {
                        self.is_known[value.index()] = self.knows(*results.0) || self.knows(*results.1);
                    }
                }
                Statement::While { values, init, accumulators, condition, body } => {
                    init.iter().for_each(|operand| self.need(*operand));
                    for value in values.iter().chain(accumulators) {
                        *self.origin(*value) = Origin::Chosen;
                    }
                    self.block(condition);
                    self.block(body);
                    body.results.iter().for_each(|result| self.need(*result));
                }
                Statement::Collective { values, operands, .. } => {
                    operands.iter().for_each(|operand| self.need(*operand));
                    values.iter().for_each(|value| *self.origin(*value) = Origin::Opaque);
                }
                Statement::Share { value, .. } => *self.origin(*value) = Origin::Element,
                Statement::Update { value, .. } => self.need(*value),
                // What is read back later is opaque then.
                Statement::Store { memory, value, .. } if !self.context.memories[*memory].is_buffer() => {
                    self.need(*value)
                }
                Statement::Bind { .. }
                | Statement::Name { .. }
                | Statement::Store { .. }
                | Statement::Merge { .. }
                | Statement::Barrier
                | Statement::Matrix(_) => {}
                Statement::Loop { values, extents, init, accumulators, body } => {
                    init.iter().for_each(|operand| self.need(*operand));
                    let first = u32::try_from(self.extents.len()).unwrap_or(u32::MAX);
                    let carried = Carried::of(self.function, body, accumulators);
                    for (accumulator, result) in accumulators.iter().zip(&body.results) {
                        let is_free = carried.is_order_open(*accumulator, *result);
                        *self.origin(*accumulator) =
                            if is_free { Origin::Accumulated { first } } else { Origin::Chosen };
                    }
                    let around = self.extents.len();
                    self.extents.extend(extents);
                    self.block(body);
                    self.extents.truncate(around);
                    for (value, result) in values.iter().zip(&body.results) {
                        // What a round computes stands between the loop's `keep` and those of its operands; what it
                        // passes on may be kept already.
                        let computed =
                            carried.defining(*result).is_some_and(|op| !matches!(op, ScalarOp::Extract { .. }));
                        *self.origin(*value) =
                            if computed { Origin::Computed { is_arithmetic: true } } else { Origin::Chosen };
                    }
                }
            }
        }
    }

    /// Whether an operand is a word that was put together of others, not all of them known, or of bits of one that another one has set: no sign that is changed or dropped, which drivers see through.
    fn is_put_together(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Value(value) if self.is_together[value.index()])
    }

    /// Whether the operand is the result of arithmetic.
    fn is_arithmetic(&mut self, operand: Operand) -> bool {
        match operand {
            Operand::Value(value) => {
                matches!(self.origin(value), Origin::Computed { is_arithmetic: true } | Origin::Product { .. })
            }
            Operand::Constant(_) => false,
        }
    }

    /// Whether arithmetic may see how this operand came to be, since that tells a driver nothing that it could use.
    fn is_free(&self, op: &ScalarOp, position: usize) -> bool {
        let ScalarOp::Binary { op, operands } = op else { return false };
        let Operand::Value(value) = operands[position] else { return false };
        match self.protection.origins[value.index()] {
            // Of a divisor that may be a constant the inverse is taken.
            Origin::Selected => (*op, position) != (BinaryOp::Divide, 1),
            Origin::Product { factors } if matches!(op, BinaryOp::Add | BinaryOp::Subtract) => {
                self.context.device.contracts && self.is_apart(factors, operands[1 - position])
            }
            _ => false,
        }
    }

    /// Whether a product has nothing in common with what it is added to.
    fn is_apart(&self, factors: [Operand; 2], other: Operand) -> bool {
        if let Operand::Value(value) = other {
            match self.protection.origins[value.index()] {
                // What is the same in all rounds could be drawn out of the sum.
                Origin::Accumulated { first } => {
                    let extents = self.extents.get(first as usize..).unwrap_or_default();
                    return factors.iter().all(|factor| self.protection.elements.vary(*factor, first, extents));
                }
                Origin::Product { factors: others } if !self.needed[value.index()] => {
                    let shares = |factor: &Operand| others.iter().any(|other| self.may_be_same(*factor, *other));
                    return !factors.iter().any(shares);
                }
                _ => {}
            }
        }
        !factors.iter().any(|factor| self.may_be_same(*factor, other))
    }

    /// Whether two operands of arithmetic may be equal for all that a driver knows, but for their signs.
    fn may_be_same(&self, a: Operand, b: Operand) -> bool {
        match (a, b) {
            (Operand::Constant(a), Operand::Constant(b)) => origin::magnitude(a) == origin::magnitude(b),
            (Operand::Constant(_), Operand::Value(value)) | (Operand::Value(value), Operand::Constant(_)) => {
                self.protection.origins[value.index()] == Origin::Selected
            }
            (Operand::Value(a), Operand::Value(b)) if a == b => true,
            (Operand::Value(a), Operand::Value(b)) => {
                let [first, second] = [a, b].map(|value| self.protection.origins[value.index()]);
                let may_be_element = |origin| matches!(origin, Origin::Element | Origin::Opaque | Origin::Selected);
                match (first, second) {
                    (Origin::Element, Origin::Element) => self.protection.may_be_one_element(a, b),
                    // A choice may be of the other.
                    (Origin::Selected, _) | (_, Origin::Selected) => true,
                    _ => may_be_element(first) && may_be_element(second),
                }
            }
        }
    }

    /// Whether a choice of this is as good as an opaque value to sums and products.
    fn is_choosable(&self, operand: Operand) -> bool {
        match operand {
            Operand::Constant(_) => !is_zero(operand),
            Operand::Value(value) => {
                let origin = self.protection.origins[value.index()];
                matches!(origin, Origin::Element | Origin::Opaque) || origin.is_computed() && self.needed[value.index()]
            }
        }
    }
}
