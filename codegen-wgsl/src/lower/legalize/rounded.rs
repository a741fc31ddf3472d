//! Quotients and square roots of `f32` that are off by less than a unit in the last place, made of ones that may be off by a few, and only of numbers
//! of moderate size.
//!
//! Vulkan bounds the error of a quotient for divisors from 2^-126 to 2^126 alone: where a device multiplies with the inverse of a divisor, that of a larger one is subnormal, and
//! zero to most devices. So operands are taken apart, as `frexp` does: what is divided are significands of 1 to 2, and the exponent of the result comes about in integers, as do results
//! for zeros, infinities and NaN, of which drivers believe that there are none.
//!
//! Quotients of most numbers need none of that: where neither the exponents of both operands nor that of the quotient are extreme, a product with the inverse of the divisor is corrected
//! as it is, in a sixth of the operations, and what is taken apart stands in a branch for the others.
//!
//! What a quotient `q` of `x` and `y` lacks is `x - q y` times the inverse of `y`. The difference is computed without an error that matters: both factors are cut in
//! halves of 12 bits, whose products are exact, so a device may fuse them with the sums or not; the first difference is exact since the two are
//! close. Where a device is known to round `fma` once ([`Arithmetic::exact_fma`]), that is one operation. Likewise for `(x - s s) / 2 s` of a square root.

#[cfg(test)]
mod tests;

use crate::kernel::{Block, Condition, Function, Operand, ScalarOp, Statement, Value, ValueId};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};
use weft_partition::Arithmetic;

/// The bits of an `f32` but for the lower 12 of its significand.
const UPPER_HALF: u32 = 0xffff_f000;

// The parts of an `f32`.
const SIGN: u32 = 0x8000_0000;
const MAGNITUDE: u32 = 0x7fff_ffff;
const EXPONENT: u32 = 0x7f80_0000;
const FRACTION: u32 = 0x007f_ffff;

/// The bits of 1, of infinity, and of a NaN.
const ONE: u32 = 0x3f80_0000;
const INFINITY: u32 = EXPONENT;
const NAN: u32 = 0x7fc0_0000;

/// The least exponent of a normal number, and the distance from one exponent to the next.
const STEP: u32 = 0x0080_0000;

/// How far subnormal numbers are raised to become normal ones, as a number and as a distance of exponents; it is even, for roots.
const RAISED: f32 = 18_446_744_073_709_551_616.0;
const RAISED_BY: u32 = 64 * STEP;

/// What is added to the exponent of a quotient while it may be below zero.
const ABOVE_ZERO: u32 = 0x4000_0000;

/// Magnitudes of dividends and divisors whose quotients are products with the inverse of the divisor, corrected: from 2^-70 and 2^-60 on, below 2^60 and 2^30. Half a unit in the last
/// place of a quotient, 2^-125 at least, is a normal number then, and so are the products of halves, 2^-117 of the dividend's 2^-70 at least.
const DIVIDENDS: Range = power(-70)..power(60);
const DIVISORS: Range = power(-60)..power(30);

type Range = std::ops::Range<u32>;

/// The bits of a power of two.
const fn power(exponent: i32) -> u32 {
    ((127 + exponent) as u32) * STEP
}

/// Statements that are being written for one value.
struct Writer<'w> {
    function: &'w mut Function,
    statements: &'w mut Vec<Statement>,
    /// What names begin with.
    name: String,
    lanes: u32,
    /// Whether the device may keep subnormal numbers.
    has_subnormals: bool,
    /// Whether products are added to others before they are rounded, where that is asked for.
    has_fma: bool,
}

/// A number of at least zero, without its sign, that is taken apart.
struct Parts {
    /// The bits of its exponent, where they are; 0 for zero, and for what the device takes for zero.
    exponent: Operand,
    fraction: Operand,
}

fn bits(value: u32) -> Operand {
    Operand::Constant(Scalar::U32(value))
}

impl<'w> Writer<'w> {
    fn new(
        value: ValueId,
        arithmetic: Arithmetic,
        function: &'w mut Function,
        statements: &'w mut Vec<Statement>,
    ) -> Self {
        let Value { name, lanes, .. } = function.values[value].clone();
        let has_subnormals = arithmetic.flushes_denormals != Some(true);
        Writer { function, statements, name, lanes, has_subnormals, has_fma: arithmetic.exact_fma }
    }

    fn define(&mut self, part: &str, element_type: ElementType, op: ScalarOp) -> Operand {
        let name = format!("{}.{part}", self.name);
        let value = self.function.values.push(Value { name, element_type, lanes: self.lanes });
        self.statements.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    fn compute(&mut self, part: &str, op: BinaryOp, operands: [Operand; 2]) -> Operand {
        self.define(part, ElementType::F32, ScalarOp::Binary { op, operands })
    }

    /// An operation on bits; of constants, its result.
    fn integer(&mut self, part: &str, op: BinaryOp, operands: [Operand; 2]) -> Operand {
        if let [Operand::Constant(Scalar::U32(a)), Operand::Constant(Scalar::U32(b))] = operands {
            match op {
                BinaryOp::And => return bits(a & b),
                BinaryOp::Or => return bits(a | b),
                BinaryOp::Add => return bits(a.wrapping_add(b)),
                BinaryOp::Subtract => return bits(a.wrapping_sub(b)),
                _ => {}
            }
        }
        self.define(part, ElementType::U32, ScalarOp::Binary { op, operands })
    }

    fn bits_of(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Constant(Scalar::F32(value)) => bits(value.to_bits()),
            _ => self.define("bits", ElementType::U32, ScalarOp::Bitcast { operand, to: ElementType::U32 }),
        }
    }

    fn number_of(&mut self, part: &str, operand: Operand) -> Operand {
        match operand {
            Operand::Constant(Scalar::U32(value)) => Operand::Constant(Scalar::F32(f32::from_bits(value))),
            _ => self.define(part, ElementType::F32, ScalarOp::Bitcast { operand, to: ElementType::F32 }),
        }
    }

    fn is(&mut self, operand: Operand, direction: ComparisonDirection, bound: u32) -> Operand {
        let operands = [operand, bits(bound)];
        self.define("is", ElementType::Pred, ScalarOp::Compare { direction, order: None, operands })
    }

    /// Whether the bits of a number without its sign are none of these.
    fn is_outside(&mut self, magnitude: Operand, range: &Range) -> Operand {
        let above = self.integer("above", BinaryOp::Subtract, [magnitude, bits(range.start)]);
        self.is(above, ComparisonDirection::Ge, range.end - range.start)
    }

    fn logical(&mut self, op: BinaryOp, operands: [Operand; 2]) -> Operand {
        self.define("is", ElementType::Pred, ScalarOp::Binary { op, operands })
    }

    /// A magnitude with the sign of a product or quotient of others.
    fn signed(&mut self, magnitude: Operand, [x, y]: [Operand; 2]) -> Operand {
        let signs = self.integer("signs", BinaryOp::Xor, [x, y]);
        let sign = self.integer("sign", BinaryOp::And, [signs, bits(SIGN)]);
        self.integer("signed", BinaryOp::Or, [magnitude, sign])
    }

    /// One of two words.
    fn either(&mut self, is: Operand, then: Operand, otherwise: Operand) -> Operand {
        self.define("either", ElementType::U32, ScalarOp::Select { operands: [is, then, otherwise] })
    }

    /// `then` where an operand compares so with a constant, else `otherwise`.
    fn where_it(
        &mut self,
        (operand, direction, bound): (Operand, ComparisonDirection, u32),
        then: Operand,
        otherwise: Operand,
    ) -> Operand {
        let is = self.is(operand, direction, bound);
        self.either(is, then, otherwise)
    }

    fn parts(&mut self, bits_of: Operand) -> Parts {
        let exponent = self.integer("exponent", BinaryOp::And, [bits_of, bits(EXPONENT)]);
        let fraction = self.integer("fraction", BinaryOp::And, [bits_of, bits(FRACTION)]);
        Parts { exponent, fraction }
    }

    /// Whether the exponent of a number's bits is that of zeros and subnormal numbers.
    fn is_small(&mut self, bits_of: Operand) -> Operand {
        let exponent = self.integer("exponent", BinaryOp::And, [bits_of, bits(EXPONENT)]);
        self.is(exponent, ComparisonDirection::Eq, 0)
    }

    /// The bits of a number, raised where something is small.
    fn raised(&mut self, is_small: Operand, number: Operand, bits_of: Operand) -> Operand {
        let raised = self.compute("raised", BinaryOp::Multiply, [number, Operand::Constant(Scalar::F32(RAISED))]);
        let raised = self.bits_of(raised);
        self.either(is_small, raised, bits_of)
    }

    /// The halves of a number, whose sum it is.
    fn halves(&mut self, operand: Operand) -> [Operand; 2] {
        if let Operand::Constant(Scalar::F32(value)) = operand {
            let upper = f32::from_bits(value.to_bits() & UPPER_HALF);
            return [upper, value - upper].map(|half| Operand::Constant(Scalar::F32(half)));
        }
        let all = self.bits_of(operand);
        let upper = self.integer("cut", BinaryOp::And, [all, bits(UPPER_HALF)]);
        let upper = self.number_of("high", upper);
        [upper, self.compute("low", BinaryOp::Subtract, [operand, upper])]
    }

    /// A number less a product of others.
    fn less_product(&mut self, operand: Operand, factors: [Operand; 2]) -> Operand {
        let product = self.compute("product", BinaryOp::Multiply, factors);
        self.compute("rest", BinaryOp::Subtract, [operand, product])
    }

    /// The same of a device that rounds once.
    fn less_product_at_once(&mut self, operand: Operand, [a, b]: [Operand; 2]) -> Operand {
        let negative = match b {
            Operand::Constant(Scalar::F32(b)) => Operand::Constant(Scalar::F32(-b)),
            _ => self.define("negative", ElementType::F32, ScalarOp::Unary { op: UnaryOp::Negate, operand: b }),
        };
        let operands = [a, negative, operand];
        self.define("rest", ElementType::F32, ScalarOp::MultiplyAdd { operands, is_one: true })
    }

    /// The inverse of a divisor, which is computed once for many dividends.
    fn inverse(&mut self, y: Operand) -> Operand {
        match y {
            Operand::Constant(Scalar::F32(y)) => Operand::Constant(Scalar::F32(y.recip())),
            _ => self.compute("inverse", BinaryOp::Divide, [Operand::Constant(Scalar::F32(1.0)), y]),
        }
    }

    /// The bits of a first quotient and what it lacks: the rest that it leaves, times the inverse of the divisor.
    fn corrected(&mut self, first: Operand, [x, y]: [Operand; 2], inverse: Operand) -> Operand {
        let rest = if self.has_fma {
            self.less_product_at_once(x, [first, y])
        } else {
            let [high, low] = self.halves(first);
            let [y_high, y_low] = self.halves(y);
            let factors = [[high, y_high], [high, y_low], [low, y_high], [low, y_low]];
            factors.into_iter().fold(x, |rest, factors| self.less_product(rest, factors))
        };
        let lacking = self.compute("lacking", BinaryOp::Multiply, [rest, inverse]);
        let better = self.compute("better", BinaryOp::Add, [first, lacking]);
        self.bits_of(better)
    }

    /// The bits of the quotient of two significands.
    fn quotient_of_significands(&mut self, [x, y]: [Operand; 2]) -> Operand {
        let inverse = self.inverse(y);
        let first = self.compute("quotient", BinaryOp::Divide, [x, y]);
        self.corrected(first, [x, y], inverse)
    }

    /// The bits of the square root of a number of 1 to 4.
    fn root_of_significand(&mut self, x: Operand) -> Operand {
        let first = self.define("root", ElementType::F32, ScalarOp::Unary { op: UnaryOp::Sqrt, operand: x });
        let rest = if self.has_fma {
            self.less_product_at_once(x, [first, first])
        } else {
            let [high, low] = self.halves(first);
            let twice = self.compute("twice", BinaryOp::Add, [high, high]);
            [[high, high], [twice, low], [low, low]]
                .into_iter()
                .fold(x, |rest, factors| self.less_product(rest, factors))
        };
        let divisor = self.compute("divisor", BinaryOp::Add, [first, first]);
        let lacking = self.compute("lacking", BinaryOp::Divide, [rest, divisor]);
        let better = self.compute("better", BinaryOp::Add, [first, lacking]);
        self.bits_of(better)
    }

    /// A word, or where numbers are rare what is computed of them in a branch.
    fn where_rare(
        &mut self,
        is_rare: Operand,
        common: Operand,
        rare: impl FnOnce(&mut Writer<'_>) -> Operand,
    ) -> Operand {
        let mut statements = Vec::new();
        let mut inner =
            Writer { function: self.function, statements: &mut statements, name: self.name.clone(), ..*self };
        let result = rare(&mut inner);
        let then = Block { statements, results: vec![result] };
        let otherwise = Block { statements: Vec::new(), results: vec![common] };
        let name = format!("{}.found", self.name);
        let value = self.function.values.push(Value { name, element_type: ElementType::U32, lanes: self.lanes });
        let condition = Condition::Value(is_rare);
        self.statements.push(Statement::If { values: vec![value], condition, then, otherwise });
        Operand::Value(value)
    }

    fn finish(self, value: ValueId, result: Operand) {
        let op = ScalarOp::Bitcast { operand: result, to: ElementType::F32 };
        self.statements.push(Statement::Let { value, op });
    }

    /// The bits of the quotient of two numbers that are taken apart, given theirs without signs.
    fn quotient_of_parts(&mut self, [x, y]: [Operand; 2], [x_magnitude, y_magnitude]: [Operand; 2]) -> Operand {
        use ComparisonDirection::{Eq, Ge, Gt, Lt};
        let [x_bits, y_bits] = [x, y].map(|operand| self.bits_of(operand));
        // Where the divisor is small, both are raised; where the dividend alone is, the quotient is lowered in the end.
        let (mut x_raised, mut y_raised, mut is_lowered) = (x_bits, y_bits, None);
        if self.has_subnormals {
            let mut number = x;
            if matches!(y, Operand::Value(_)) {
                let is_small = self.is_small(y_bits);
                y_raised = self.raised(is_small, y, y_bits);
                x_raised = self.raised(is_small, x, x_bits);
                number = self.number_of("dividend", x_raised);
            }
            if matches!(x, Operand::Value(_)) {
                let is_small = self.is_small(x_raised);
                x_raised = self.raised(is_small, number, x_raised);
                is_lowered = Some(is_small);
            }
        }
        let [x_parts, y_parts] = [x_raised, y_raised].map(|all| self.parts(all));
        let significands = [&x_parts, &y_parts].map(|parts| {
            let significand = self.integer("significand", BinaryOp::Or, [parts.fraction, bits(ONE)]);
            self.number_of("significand", significand)
        });
        let significand = self.quotient_of_significands(significands);
        // The quotient's bits but for its sign, and as much above zero as they may be below.
        let mut above = self.integer("above", BinaryOp::Add, [significand, bits(ABOVE_ZERO)]);
        above = self.integer("above", BinaryOp::Add, [above, x_parts.exponent]);
        above = self.integer("above", BinaryOp::Subtract, [above, y_parts.exponent]);
        let mut factor = None;
        if self.has_subnormals {
            // What will be subnormal is rounded by a product.
            let is_low = (above, Lt, ABOVE_ZERO + STEP);
            let higher = self.integer("higher", BinaryOp::Add, [above, bits(RAISED_BY)]);
            let lowering = bits(RAISED.recip().to_bits());
            let mut by = self.where_it(is_low, lowering, bits(ONE));
            let mut raised = self.where_it(is_low, higher, above);
            if let Some(is_lowered) = is_lowered {
                by = self.either(is_lowered, lowering, by);
                raised = self.either(is_lowered, above, raised);
            }
            above = raised;
            factor = Some(self.number_of("factor", by));
        }
        let mut result = self.integer("magnitude", BinaryOp::Subtract, [above, bits(ABOVE_ZERO)]);
        result = self.where_it((above, Lt, ABOVE_ZERO + STEP), bits(0), result);
        result = self.where_it((above, Ge, ABOVE_ZERO + INFINITY), bits(INFINITY), result);
        if let Some(factor) = factor {
            let number = self.number_of("number", result);
            let lowered = self.compute("lowered", BinaryOp::Multiply, [number, factor]);
            result = self.bits_of(lowered);
        }
        // Of what is neither zero nor infinite nor NaN, and then of the rest.
        let x_is_value = matches!(x, Operand::Value(_));
        let y_is_value = matches!(y, Operand::Value(_));
        if x_is_value {
            result = self.where_it((x_parts.exponent, Eq, 0), bits(0), result);
        }
        if y_is_value {
            result = self.where_it((y_magnitude, Eq, INFINITY), bits(0), result);
            let of_zero = match x_is_value {
                true => self.where_it((x_parts.exponent, Eq, 0), bits(NAN), bits(INFINITY)),
                false => bits(INFINITY),
            };
            result = self.where_it((y_parts.exponent, Eq, 0), of_zero, result);
        }
        if x_is_value {
            let infinite = match y_is_value {
                true => self.where_it((y_magnitude, Eq, INFINITY), bits(NAN), bits(INFINITY)),
                false => bits(INFINITY),
            };
            result = self.where_it((x_magnitude, Eq, INFINITY), infinite, result);
            result = self.where_it((x_magnitude, Gt, INFINITY), bits(NAN), result);
        }
        if y_is_value {
            result = self.where_it((y_magnitude, Gt, INFINITY), bits(NAN), result);
        }
        self.signed(result, [x_bits, y_bits])
    }
}

/// Whether a constant is neither zero, nor infinite, nor NaN, nor subnormal; of others it is not known.
pub(super) fn may_be_normal(operand: Operand) -> bool {
    match operand {
        Operand::Constant(Scalar::F32(value)) => value.is_normal(),
        _ => true,
    }
}

/// Defines a value as the quotient of two operands, of which constants are normal numbers.
pub(super) fn quotient(
    value: ValueId,
    operands: [Operand; 2],
    arithmetic: Arithmetic,
    function: &mut Function,
    statements: &mut Vec<Statement>,
) {
    let mut writer = Writer::new(value, arithmetic, function, statements);
    let all = operands.map(|operand| writer.bits_of(operand));
    let magnitudes = all.map(|all| writer.integer("magnitude", BinaryOp::And, [all, bits(MAGNITUDE)]));
    let ranges = [DIVIDENDS, DIVISORS];
    let is_constant_outside = |side: usize| match magnitudes[side] {
        Operand::Constant(Scalar::U32(magnitude)) => !ranges[side].contains(&magnitude),
        _ => false,
    };
    if is_constant_outside(0) || is_constant_outside(1) {
        let result = writer.quotient_of_parts(operands, magnitudes);
        return writer.finish(value, result);
    }
    let [x, y] = operands;
    let inverse = writer.inverse(y);
    let first = match x {
        Operand::Constant(Scalar::F32(1.0)) => inverse,
        _ => writer.compute("quotient", BinaryOp::Multiply, [x, inverse]),
    };
    let better = writer.corrected(first, operands, inverse);
    // Zeros and their quotients have signs.
    let magnitude = writer.integer("magnitude", BinaryOp::And, [better, bits(MAGNITUDE)]);
    let common = writer.signed(magnitude, all);
    let mut is_rare = None;
    if matches!(x, Operand::Value(_)) {
        let is_outside = writer.is_outside(magnitudes[0], &DIVIDENDS);
        let is_some = writer.is(magnitudes[0], ComparisonDirection::Ne, 0);
        is_rare = Some(writer.logical(BinaryOp::And, [is_outside, is_some]));
    }
    if matches!(y, Operand::Value(_)) {
        let is_outside = writer.is_outside(magnitudes[1], &DIVISORS);
        is_rare = Some(match is_rare {
            Some(other) => writer.logical(BinaryOp::Or, [other, is_outside]),
            None => is_outside,
        });
    }
    let Some(is_rare) = is_rare else { return writer.finish(value, common) };
    let result = writer.where_rare(is_rare, common, |writer| writer.quotient_of_parts(operands, magnitudes));
    writer.finish(value, result);
}

/// Defines a value as the square root of an operand.
pub(super) fn square_root(
    value: ValueId,
    x: Operand,
    arithmetic: Arithmetic,
    function: &mut Function,
    statements: &mut Vec<Statement>,
) {
    use ComparisonDirection::{Eq, Gt};
    let mut writer = Writer::new(value, arithmetic, function, statements);
    let all = writer.bits_of(x);
    let (mut raised, mut lowering) = (all, bits(0));
    if writer.has_subnormals {
        let is_small = writer.is_small(all);
        raised = writer.raised(is_small, x, all);
        lowering = writer.either(is_small, bits(RAISED_BY / 2), bits(0));
    }
    let parts = writer.parts(raised);
    // The significand of a number with an odd exponent is doubled, so that half of the exponent is a whole number.
    let lowest = writer.integer("odd", BinaryOp::And, [parts.exponent, bits(STEP)]);
    let base = writer.where_it((lowest, Eq, 0), bits(ONE + STEP), bits(ONE));
    let significand = writer.integer("significand", BinaryOp::Or, [parts.fraction, base]);
    let significand = writer.number_of("significand", significand);
    let root = writer.root_of_significand(significand);
    let above = writer.integer("above", BinaryOp::Add, [parts.exponent, bits(SIGN)]);
    let above = writer.integer("above", BinaryOp::Subtract, [above, base]);
    let half = writer.integer("half", BinaryOp::ShiftRightLogical, [above, bits(1)]);
    let half = writer.integer("half", BinaryOp::Subtract, [half, bits(SIGN / 2)]);
    let mut result = writer.integer("scaled", BinaryOp::Add, [root, half]);
    result = writer.integer("lowered", BinaryOp::Subtract, [result, lowering]);
    result = writer.where_it((all, Eq, INFINITY), bits(INFINITY), result);
    // Less than zero, and NaN of either sign.
    result = writer.where_it((all, Gt, SIGN), bits(NAN), result);
    let magnitude = writer.integer("magnitude", BinaryOp::And, [all, bits(MAGNITUDE)]);
    result = writer.where_it((magnitude, Gt, INFINITY), bits(NAN), result);
    let sign = writer.integer("sign", BinaryOp::And, [all, bits(SIGN)]);
    result = writer.where_it((parts.exponent, Eq, 0), sign, result);
    writer.finish(value, result);
}
