//! Constants, and protection of floats from the driver's algebra.

use crate::kernel::{Block, Function, FunctionId, Kernel, Operand, ScalarOp, Statement, ValueId};
use std::collections::BTreeMap;
use weft_hlo::ir::{ArenaId, BinaryOp, ElementType, Scalar, UnaryOp};

/// A constant as an expression that stands beside any operator.
pub(super) fn literal(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        Scalar::U32(value) => format!("{value}u"),
        // The least i32 cannot be written as a negated literal.
        Scalar::S32(i32::MIN) => "bitcast<i32>(0x80000000u)".to_owned(),
        Scalar::S32(value) if value < 0 => format!("({value}i)"),
        Scalar::S32(value) => format!("{value}i"),
        // Infinities and NaN are no constants of the language, and a negative zero may lose its sign in one.
        Scalar::F32(value) if !value.is_finite() || value.to_bits() == 1 << 31 => {
            format!("bitcast<f32>({:#010x}u ^ params.zero)", value.to_bits())
        }
        Scalar::F32(value) if value < 0.0 => format!("({value:?}f)"),
        Scalar::F32(value) => format!("{value:?}f"),
        // WGSL has no other types, and no kernel values of them.
        other => other.to_string(),
    }
}

/// Whether an operand is the constant +0, which drivers fold with. (-0 is hidden by the way it is written.)
pub(super) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Constant(Scalar::F32(value)) if value.to_bits() == 0)
}

/// +0 that no driver sees.
pub(super) fn hidden_zero() -> String {
    Hidden::Once.write("0.0f")
}

/// How an operand is hidden where it is used. Each has a zero of its own: what is hidden twice behind one is bare.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// Behind `keep`, as values are where they are defined.
    Once,
    /// Behind `keep_chosen`: one of several values, which may be kept each.
    Chosen,
    /// Behind `keep_apart`, so that it looks different from an equal value.
    Apart,
}

impl Hidden {
    pub(super) fn write(self, text: &str) -> String {
        match self {
            Hidden::Once => format!("keep({text})"),
            Hidden::Chosen => format!("keep_chosen({text})"),
            Hidden::Apart => format!("keep_apart({text})"),
        }
    }
}

/// What is hidden from the driver's algebra.
///
/// Drivers reassociate sums and products (`(x + 1e8) - 1e8` becomes `x`), also with those within the library's functions and
/// those that a comparison hides (`x + 1 > 1`), fold with zeros that they can compute (`x * 0` is 0 to them, even for NaN)
/// and know that `f(x) - f(x)` is 0, also of two equal calls that the program wrote. So every operand of `f32` arithmetic is
/// opaque: an element of a buffer, a literal they cannot fold with, or hidden. A computed value is hidden where it is defined
/// (`keep`), the result of a loop where the loop ends, one of several values where it is used; and of a difference, a quotient
/// or a comparison the second operand, unless it is a literal or an element of a buffer that the first cannot be, is hidden
/// behind another zero, so that two equal values look different. Functions of the library count on opaque arguments.
///
/// What a loop accumulates by one sum or product a round is not hidden from round to round: HLO leaves the order of a
/// reduction open.
pub(super) struct Protection {
    /// Values whose definition is hidden.
    kept: Vec<bool>,
    origins: Vec<Origin>,
}

/// How a value came to be.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Origin {
    /// An element of a buffer.
    Element,
    /// A scalar operation, or a loop of them.
    Computed { is_arithmetic: bool },
    /// The result of a function, which hides it if it computed it.
    Opaque,
    /// What a loop accumulates, in an open order.
    Accumulated,
    /// One of several values: of two branches, or of those that a loop carries.
    Chosen,
}

impl Protection {
    /// The protection of each function of a kernel; `is_output` tells which return to the entry alone.
    pub(super) fn of(kernel: &Kernel, is_output: impl Fn(FunctionId) -> bool) -> Vec<Protection> {
        let mut protections: Vec<Protection> = Vec::with_capacity(kernel.functions.len());
        // For each function whether each of its results is one of several values; callees stand behind their callers.
        let mut chosen: BTreeMap<FunctionId, Vec<bool>> = BTreeMap::new();
        let ids: Vec<FunctionId> = kernel.functions.ids().collect();
        for id in ids.into_iter().rev() {
            let function = &kernel.functions[id];
            let protection = Protection::of_function(function, !is_output(id), &chosen);
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

    /// The protection of the entry.
    pub(super) fn of_entry(kernel: &Kernel) -> Protection {
        Protection::of_function(&kernel.entry, false, &BTreeMap::new())
    }

    fn of_function(
        function: &Function,
        returns_to_code: bool,
        callees: &BTreeMap<FunctionId, Vec<bool>>,
    ) -> Protection {
        let count = function.values.len();
        let protection = Protection { kept: vec![false; count], origins: vec![Origin::Opaque; count] };
        let mut pass = Pass { function, callees, protection, needed: vec![false; count] };
        pass.block(&function.body);
        if returns_to_code {
            function.body.results.iter().for_each(|result| pass.need(*result));
        }
        let Pass { mut protection, needed, .. } = pass;
        for (value, kept) in protection.kept.iter_mut().enumerate() {
            let is_f32 = function.values[ValueId::from_index(value)].element_type == ElementType::F32;
            let is_computed = matches!(protection.origins[value], Origin::Computed { .. });
            *kept = needed[value] && is_f32 && is_computed;
        }
        protection
    }

    /// Whether the value's definition is hidden.
    pub(super) fn is_kept(&self, value: ValueId) -> bool {
        self.kept[value.index()]
    }

    /// How an operand is hidden where it is used, if it is.
    pub(super) fn hide(&self, function: &Function, op: &ScalarOp, position: usize) -> Option<Hidden> {
        let operands = op.operands();
        let operand = *operands.get(position)?;
        if Kernel::operand_type(function, operand) != ElementType::F32 {
            return None;
        }
        let compares = position == 1
            && match op {
                ScalarOp::Binary { op, .. } => matches!(op, BinaryOp::Subtract | BinaryOp::Divide),
                ScalarOp::Compare { .. } => true,
                _ => false,
            };
        match operand {
            Operand::Constant(_) => (is_arithmetic(function, op) && is_zero(operand)).then_some(Hidden::Once),
            Operand::Value(value) if compares => {
                let is_element = self.origins[value.index()] == Origin::Element;
                (!is_element || self.may_be_element(operands[0], value)).then_some(Hidden::Apart)
            }
            Operand::Value(value) => {
                let is_chosen = self.origins[value.index()] == Origin::Chosen;
                (is_chosen && is_arithmetic(function, op)).then_some(Hidden::Chosen)
            }
        }
    }

    /// Whether an operand may be this element of a buffer for all that a driver knows.
    fn may_be_element(&self, operand: Operand, element: ValueId) -> bool {
        match operand {
            Operand::Constant(_) => false,
            Operand::Value(value) => match self.origins[value.index()] {
                Origin::Element => value == element,
                // Hidden where it is defined.
                Origin::Computed { .. } => !self.kept[value.index()],
                // Elements of rounds before.
                Origin::Accumulated => false,
                Origin::Opaque | Origin::Chosen => true,
            },
        }
    }
}

struct Pass<'f> {
    function: &'f Function,
    callees: &'f BTreeMap<FunctionId, Vec<bool>>,
    protection: Protection,
    /// Values that must be opaque.
    needed: Vec<bool>,
}

impl Pass<'_> {
    fn need(&mut self, operand: Operand) {
        if let Operand::Value(value) = operand {
            self.needed[value.index()] = true;
        }
    }

    fn origin(&mut self, value: ValueId) -> &mut Origin {
        &mut self.protection.origins[value.index()]
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op } => {
                    let is_arithmetic = is_arithmetic(self.function, op);
                    *self.origin(*value) = match op {
                        ScalarOp::Extract { .. } => Origin::Element,
                        _ => Origin::Computed { is_arithmetic },
                    };
                    for operand in op.operands() {
                        let is_compared = matches!(op, ScalarOp::Compare { .. }) && self.is_arithmetic(operand);
                        if is_arithmetic || is_compared || calculates(self.function, op) {
                            self.need(operand);
                        }
                    }
                }
                Statement::Call { values, function, arguments, .. } => {
                    arguments.iter().for_each(|argument| self.need(*argument));
                    let callees = self.callees;
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
                Statement::Bind { .. } | Statement::Store { .. } | Statement::Update { .. } | Statement::Barrier => {}
                Statement::Loop { values, init, accumulators, body, .. } => {
                    init.iter().for_each(|operand| self.need(*operand));
                    for (accumulator, result) in accumulators.iter().zip(&body.results) {
                        let is_free = is_order_open(self.function, body, *accumulator, *result);
                        *self.origin(*accumulator) = if is_free { Origin::Accumulated } else { Origin::Chosen };
                    }
                    self.block(body);
                    for (value, result) in values.iter().zip(&body.results) {
                        // What a round computes stands between the loop's `keep` and those of its operands; what it
                        // passes on may be kept already.
                        let computed =
                            defining(body, *result).is_some_and(|op| !matches!(op, ScalarOp::Extract { .. }));
                        *self.origin(*value) =
                            if computed { Origin::Computed { is_arithmetic: true } } else { Origin::Chosen };
                    }
                }
            }
        }
    }

    /// Whether the operand is the result of arithmetic.
    fn is_arithmetic(&mut self, operand: Operand) -> bool {
        match operand {
            Operand::Value(value) => *self.origin(value) == Origin::Computed { is_arithmetic: true },
            Operand::Constant(_) => false,
        }
    }
}

/// The operation of a block's own that an operand is the value of.
fn defining(block: &Block, operand: Operand) -> Option<&ScalarOp> {
    block.statements.iter().find_map(|statement| match statement {
        Statement::Let { value, op } if Operand::Value(*value) == operand => Some(op),
        _ => None,
    })
}

/// Whether all that a loop does with what it carries from round to round is to add to it, or to multiply it, so that the order
/// is open; or nothing that a driver's algebra knows.
fn is_order_open(function: &Function, body: &Block, accumulator: ValueId, result: Operand) -> bool {
    let mut uses = Vec::new();
    arithmetic_uses(function, body, accumulator, &mut uses);
    let folds = |op: &ScalarOp| matches!(op, ScalarOp::Binary { op: BinaryOp::Add | BinaryOp::Multiply, .. });
    match uses.as_slice() {
        [] => true,
        [only] => folds(only) && defining(body, result).is_some_and(|op| std::ptr::eq(op, *only)),
        _ => false,
    }
}

/// The arithmetic that a value is an operand of, once for each time.
fn arithmetic_uses<'b>(function: &Function, block: &'b Block, value: ValueId, uses: &mut Vec<&'b ScalarOp>) {
    for statement in &block.statements {
        if let Statement::Let { op, .. } = statement
            && is_arithmetic(function, op)
        {
            let times = op.operands().into_iter().filter(|operand| *operand == Operand::Value(value)).count();
            uses.extend(std::iter::repeat_n(op, times));
        }
        statement.blocks().into_iter().for_each(|block| arithmetic_uses(function, block, value, uses));
    }
}

/// Whether drivers reassociate this operation.
fn is_arithmetic(function: &Function, op: &ScalarOp) -> bool {
    let reassociates = match op {
        ScalarOp::Binary { op, .. } => {
            matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
        }
        ScalarOp::Unary { op, .. } => *op == UnaryOp::Negate,
        _ => false,
    };
    reassociates && is_f32(function, op)
}

/// Whether the operation is written as arithmetic, or comparisons, with its operand: all functions but those that pass
/// it on, look at its bits, clamp it first (as `exp_f32` does) or round it as hardware does.
fn calculates(function: &Function, op: &ScalarOp) -> bool {
    let calculates = match op {
        ScalarOp::Unary { op, .. } => !matches!(
            op,
            UnaryOp::Abs
                | UnaryOp::Cbrt
                | UnaryOp::Ceil
                | UnaryOp::Exponential
                | UnaryOp::Floor
                | UnaryOp::IsFinite
                | UnaryOp::Log
                | UnaryOp::Logistic
                | UnaryOp::RoundNearestEven
                | UnaryOp::Sign
        ),
        ScalarOp::Binary { op, .. } => !matches!(op, BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder),
        ScalarOp::Convert { to, .. } => matches!(to, ElementType::S32 | ElementType::U32),
        _ => false,
    };
    calculates && is_f32(function, op)
}

fn is_f32(function: &Function, op: &ScalarOp) -> bool {
    op.operands().first().is_some_and(|operand| Kernel::operand_type(function, *operand) == ElementType::F32)
}
