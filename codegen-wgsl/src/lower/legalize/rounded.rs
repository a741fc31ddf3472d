//! Quotients and square roots of `f32` that are off by less than a unit in the last place, made of ones that may be off by a few, and only of numbers
//! of moderate size.
//!
//! Vulkan bounds the error of a quotient for divisors from 2^-126 to 2^126 alone: where a device multiplies with the inverse of a divisor, that of a larger one is subnormal, and
//! zero to most devices. So operands are taken apart, as `frexp` does: what is divided are significands of 1 to 2, and the exponent of the result comes about in integers, as do results
//! for zeros, infinities and NaN, of which drivers believe that there are none.
//!
//! What a quotient `q` of `x` and `y` lacks is `x - q y` times the inverse of `y`. The difference is computed without an error that matters: both factors are cut in
//! halves of 12 bits, whose products are exact, so a device may fuse them with the sums or not; the first difference is exact since the two are
//! close. Likewise for `(x - s s) / 2 s` of a square root.

use crate::kernel::{Function, Operand, ScalarOp, Statement, Value, ValueId};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

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

/// Statements that are being written for one value.
struct Writer<'w> {
    function: &'w mut Function,
    statements: &'w mut Vec<Statement>,
    /// What names begin with.
    name: String,
    lanes: u32,
    /// Whether the device may keep subnormal numbers.
    has_subnormals: bool,
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
        has_subnormals: bool,
        function: &'w mut Function,
        statements: &'w mut Vec<Statement>,
    ) -> Self {
        let Value { name, lanes, .. } = function.values[value].clone();
        Writer { function, statements, name, lanes, has_subnormals }
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

    /// The bits of the quotient of two significands. What a first quotient lacks is a product with the inverse of the divisor, which is computed once for many dividends.
    fn quotient_of_significands(&mut self, [x, y]: [Operand; 2]) -> Operand {
        let inverse = match y {
            Operand::Constant(Scalar::F32(y)) => Operand::Constant(Scalar::F32(y.recip())),
            _ => self.compute("inverse", BinaryOp::Divide, [Operand::Constant(Scalar::F32(1.0)), y]),
        };
        let first = self.compute("quotient", BinaryOp::Divide, [x, y]);
        let [high, low] = self.halves(first);
        let [y_high, y_low] = self.halves(y);
        let mut rest = x;
        for factors in [[high, y_high], [high, y_low], [low, y_high], [low, y_low]] {
            rest = self.less_product(rest, factors);
        }
        let lacking = self.compute("lacking", BinaryOp::Multiply, [rest, inverse]);
        let better = self.compute("better", BinaryOp::Add, [first, lacking]);
        self.bits_of(better)
    }

    /// The bits of the square root of a number of 1 to 4.
    fn root_of_significand(&mut self, x: Operand) -> Operand {
        let first = self.define("root", ElementType::F32, ScalarOp::Unary { op: UnaryOp::Sqrt, operand: x });
        let [high, low] = self.halves(first);
        let twice = self.compute("twice", BinaryOp::Add, [high, high]);
        let mut rest = x;
        for factors in [[high, high], [twice, low], [low, low]] {
            rest = self.less_product(rest, factors);
        }
        let divisor = self.compute("divisor", BinaryOp::Add, [first, first]);
        let lacking = self.compute("lacking", BinaryOp::Divide, [rest, divisor]);
        let better = self.compute("better", BinaryOp::Add, [first, lacking]);
        self.bits_of(better)
    }

    fn finish(self, value: ValueId, result: Operand) {
        let op = ScalarOp::Bitcast { operand: result, to: ElementType::F32 };
        self.statements.push(Statement::Let { value, op });
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
    [x, y]: [Operand; 2],
    has_subnormals: bool,
    function: &mut Function,
    statements: &mut Vec<Statement>,
) {
    use ComparisonDirection::{Eq, Ge, Gt, Lt};
    let mut writer = Writer::new(value, has_subnormals, function, statements);
    let [x_bits, y_bits] = [x, y].map(|operand| writer.bits_of(operand));
    let [x_magnitude, y_magnitude] =
        [x_bits, y_bits].map(|all| writer.integer("magnitude", BinaryOp::And, [all, bits(MAGNITUDE)]));
    // Where the divisor is small, both are raised; where the dividend alone is, the quotient is lowered in the end.
    let (mut x_raised, mut y_raised, mut is_lowered) = (x_bits, y_bits, None);
    if writer.has_subnormals {
        let mut number = x;
        if matches!(y, Operand::Value(_)) {
            let is_small = writer.is_small(y_bits);
            y_raised = writer.raised(is_small, y, y_bits);
            x_raised = writer.raised(is_small, x, x_bits);
            number = writer.number_of("dividend", x_raised);
        }
        if matches!(x, Operand::Value(_)) {
            let is_small = writer.is_small(x_raised);
            x_raised = writer.raised(is_small, number, x_raised);
            is_lowered = Some(is_small);
        }
    }
    let [x_parts, y_parts] = [x_raised, y_raised].map(|all| writer.parts(all));
    let significands = [&x_parts, &y_parts].map(|parts| {
        let significand = writer.integer("significand", BinaryOp::Or, [parts.fraction, bits(ONE)]);
        writer.number_of("significand", significand)
    });
    let significand = writer.quotient_of_significands(significands);
    // The quotient's bits but for its sign, and as much above zero as they may be below.
    let mut above = writer.integer("above", BinaryOp::Add, [significand, bits(ABOVE_ZERO)]);
    above = writer.integer("above", BinaryOp::Add, [above, x_parts.exponent]);
    above = writer.integer("above", BinaryOp::Subtract, [above, y_parts.exponent]);
    let mut factor = None;
    if writer.has_subnormals {
        // What will be subnormal is rounded by a product.
        let is_low = (above, Lt, ABOVE_ZERO + STEP);
        let higher = writer.integer("higher", BinaryOp::Add, [above, bits(RAISED_BY)]);
        let lowering = bits(RAISED.recip().to_bits());
        let mut by = writer.where_it(is_low, lowering, bits(ONE));
        let mut raised = writer.where_it(is_low, higher, above);
        if let Some(is_lowered) = is_lowered {
            by = writer.either(is_lowered, lowering, by);
            raised = writer.either(is_lowered, above, raised);
        }
        above = raised;
        factor = Some(writer.number_of("factor", by));
    }
    let mut result = writer.integer("magnitude", BinaryOp::Subtract, [above, bits(ABOVE_ZERO)]);
    result = writer.where_it((above, Lt, ABOVE_ZERO + STEP), bits(0), result);
    result = writer.where_it((above, Ge, ABOVE_ZERO + INFINITY), bits(INFINITY), result);
    if let Some(factor) = factor {
        let number = writer.number_of("number", result);
        let lowered = writer.compute("lowered", BinaryOp::Multiply, [number, factor]);
        result = writer.bits_of(lowered);
    }
    // Of what is neither zero nor infinite nor NaN, and then of the rest.
    let x_is_value = matches!(x, Operand::Value(_));
    let y_is_value = matches!(y, Operand::Value(_));
    if x_is_value {
        result = writer.where_it((x_parts.exponent, Eq, 0), bits(0), result);
    }
    if y_is_value {
        result = writer.where_it((y_magnitude, Eq, INFINITY), bits(0), result);
        let of_zero = match x_is_value {
            true => writer.where_it((x_parts.exponent, Eq, 0), bits(NAN), bits(INFINITY)),
            false => bits(INFINITY),
        };
        result = writer.where_it((y_parts.exponent, Eq, 0), of_zero, result);
    }
    if x_is_value {
        let infinite = match y_is_value {
            true => writer.where_it((y_magnitude, Eq, INFINITY), bits(NAN), bits(INFINITY)),
            false => bits(INFINITY),
        };
        result = writer.where_it((x_magnitude, Eq, INFINITY), infinite, result);
        result = writer.where_it((x_magnitude, Gt, INFINITY), bits(NAN), result);
    }
    if y_is_value {
        result = writer.where_it((y_magnitude, Gt, INFINITY), bits(NAN), result);
    }
    let signs = writer.integer("signs", BinaryOp::Xor, [x_bits, y_bits]);
    let sign = writer.integer("sign", BinaryOp::And, [signs, bits(SIGN)]);
    result = writer.integer("signed", BinaryOp::Or, [result, sign]);
    writer.finish(value, result);
}

/// Defines a value as the square root of an operand.
pub(super) fn square_root(
    value: ValueId,
    x: Operand,
    has_subnormals: bool,
    function: &mut Function,
    statements: &mut Vec<Statement>,
) {
    use ComparisonDirection::{Eq, Gt};
    let mut writer = Writer::new(value, has_subnormals, function, statements);
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

#[cfg(test)]
mod tests {
    use crate::kernel::{Kernel, Operand, ScalarOp, Statement, ValueId};
    use crate::lower::legalize;
    use std::collections::BTreeMap;
    use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, UnaryOp};
    use weft_partition::Target;

    /// A device whose quotients and square roots are off by so many units in the last place, and zero where the inverse of the divisor is subnormal.
    #[derive(Clone, Copy)]
    struct Device {
        off: i32,
        flushes: bool,
        /// Whether products are added to others before they are rounded.
        fuses: bool,
    }

    impl Device {
        fn flushed(&self, value: f32) -> f32 {
            if self.flushes && value.is_subnormal() { 0f32.copysign(value) } else { value }
        }

        fn round(&self, exact: f32) -> f32 {
            let is_normal = exact.is_normal() && f32::from_bits(exact.to_bits() + 8).is_normal();
            if is_normal { f32::from_bits(exact.to_bits().wrapping_add_signed(self.off)) } else { exact }
        }

        fn divide(&self, x: f32, y: f32) -> f32 {
            if y.is_finite() && y.recip().is_subnormal() { x * 0.0 } else { self.round(x / y) }
        }

        /// What the kernel's function returns of two elements.
        fn run(&self, kernel: &Kernel, elements: [f32; 2]) -> f32 {
            let function = kernel.functions.values().next().expect("there is a function");
            let mut values = BTreeMap::new();
            let mut products: BTreeMap<ValueId, f64> = BTreeMap::new();
            let mut elements = elements.into_iter();
            let read = |values: &BTreeMap<ValueId, u32>, operand: Operand| match operand {
                Operand::Value(value) => values[&value],
                Operand::Constant(scalar) => scalar.bits() as u32,
            };
            for statement in &function.body.statements {
                let Statement::Let { value, op } = statement else { panic!("{statement:?}") };
                let operands: Vec<u32> = op.operands().into_iter().map(|operand| read(&values, operand)).collect();
                let float = |at: usize| self.flushed(f32::from_bits(operands[at]));
                let ids: Vec<Operand> = op.operands().into_iter().collect();
                let product = |at: usize| match ids[at] {
                    Operand::Value(value) if self.fuses => products.get(&value).copied(),
                    _ => None,
                };
                // One of two at most.
                let fused = |sign: f64| match (product(0), product(1)) {
                    (Some(exact), _) => (exact + sign * f64::from(float(1))) as f32,
                    (None, Some(exact)) => (f64::from(float(0)) + sign * exact) as f32,
                    (None, None) => float(0) + sign as f32 * float(1),
                };
                let is_float = function.values[*value].element_type == ElementType::F32;
                let bits = match op {
                    ScalarOp::Extract { .. } => elements.next().expect("there are two").to_bits(),
                    ScalarOp::Bitcast { .. } => operands[0],
                    ScalarOp::Unary { op: UnaryOp::Sqrt, .. } => self.round(float(0).sqrt()).to_bits(),
                    ScalarOp::Binary { op, .. } if is_float => self
                        .flushed(match op {
                            BinaryOp::Add => fused(1.0),
                            BinaryOp::Subtract => fused(-1.0),
                            BinaryOp::Multiply => float(0) * float(1),
                            BinaryOp::Divide => self.divide(float(0), float(1)),
                            _ => panic!("{op:?}"),
                        })
                        .to_bits(),
                    ScalarOp::Binary { op, .. } => match op {
                        BinaryOp::Add => operands[0].wrapping_add(operands[1]),
                        BinaryOp::Subtract => operands[0].wrapping_sub(operands[1]),
                        BinaryOp::And => operands[0] & operands[1],
                        BinaryOp::Or => operands[0] | operands[1],
                        BinaryOp::Xor => operands[0] ^ operands[1],
                        BinaryOp::ShiftRightLogical => operands[0] >> operands[1],
                        _ => panic!("{op:?}"),
                    },
                    ScalarOp::Compare { direction, .. } => u32::from(match direction {
                        ComparisonDirection::Eq => operands[0] == operands[1],
                        ComparisonDirection::Lt => operands[0] < operands[1],
                        ComparisonDirection::Gt => operands[0] > operands[1],
                        ComparisonDirection::Ge => operands[0] >= operands[1],
                        _ => panic!("{direction:?}"),
                    }),
                    ScalarOp::Select { .. } => operands[if operands[0] == 1 { 1 } else { 2 }],
                    _ => panic!("{op:?}"),
                };
                if let ScalarOp::Binary { op: BinaryOp::Multiply, .. } = op
                    && is_float
                {
                    products.insert(*value, f64::from(float(0)) * f64::from(float(1)));
                }
                values.insert(*value, bits);
            }
            f32::from_bits(read(&values, function.body.results[0]))
        }
    }

    fn corrected(op: &str, flushes: bool) -> Kernel {
        let text = format!(
            "kernel @k(in %x: f32[8], in %y: f32[8], out %r: f32[8]) {{
               func @f(d0 in [0, 7]) -> (f32) {{
                 %0:x: f32 = extract %x[d0] %1:y: f32 = extract %y[d0] %2:r: f32 = {op} return %2
               }}
               entry groups [1] threads 8 {{ %0: f32 = call @f(d1) store %r[d1], %0 }}
             }}"
        );
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let target = Target::default().with(|target| target.arithmetic.flushes_denormals = flushes.then_some(true));
        let legal = legalize(&kernel, &target);
        assert_eq!(legal.verify(), Ok(Vec::new()), "{legal}");
        assert_eq!(Kernel::parse(&legal.to_string()).as_ref(), Ok(&legal), "{legal}");
        legal
    }

    /// Numbers of all sizes, and of those whose quotients are near one another.
    fn numbers() -> Vec<f32> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        let special = [
            0.0,
            -0.0,
            1.0,
            3.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            -f32::MAX,
            f32::MIN_POSITIVE,
            1e-40,
            -f32::from_bits(1),
            1.391_256_4e38,
        ];
        let pairs = special.iter().flat_map(|x| special.iter().flat_map(move |y| [*x, *y]));
        let any = (0..3000).map(|at| {
            let bits = next();
            if at % 2 == 0 { f32::from_bits(bits) } else { f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000) }
        });
        pairs.chain(any.collect::<Vec<_>>()).collect()
    }

    fn assert_near(found: f32, exact: f32, what: impl Fn() -> String) {
        let is_near = found.is_nan() && exact.is_nan() || found.to_bits().abs_diff(exact.to_bits()) <= 1;
        assert!(is_near, "{}: {found:e} for {exact:e}", what());
    }

    #[test]
    fn quotients_are_off_by_one_at_most_whatever_the_device_s_are() {
        let numbers = numbers();
        let devices = (-3..=3).flat_map(|off| {
            [(false, false), (true, false), (false, true), (true, true)].map(|(flushes, fuses)| Device {
                off,
                flushes,
                fuses,
            })
        });
        for device @ Device { off, flushes, .. } in devices {
            // What it is not known to do it may do all the same.
            let kernels = [corrected("divide %0, %1", flushes), corrected("divide %0, %1", false)];
            for pair in numbers.windows(2) {
                let (x, y) = (pair[0], pair[1]);
                let exact = device.flushed(device.flushed(x) / device.flushed(y));
                for kernel in &kernels {
                    let found = device.run(kernel, [x, y]);
                    // One that is rounded to a normal number may be subnormal before.
                    let is_least = flushes && exact.abs() == f32::MIN_POSITIVE && found == 0.0;
                    if !is_least {
                        assert_near(found, exact, || format!("{x:e} / {y:e}, off by {off}, flushes: {flushes}"));
                    }
                }
            }
        }
    }

    #[test]
    fn square_roots_are_off_by_one_at_most_whatever_the_device_s_are() {
        for (off, flushes) in (-4..=4).flat_map(|off| [(off, false), (off, true)]) {
            let kernels = [corrected("sqrt %0", flushes), corrected("sqrt %0", false)];
            let device = Device { off, flushes, fuses: false };
            for x in numbers() {
                for kernel in &kernels {
                    let exact = device.flushed(x).sqrt();
                    let what = || format!("sqrt {x:e}, off by {off}, flushes: {flushes}");
                    assert_near(device.run(kernel, [x, x]), exact, what);
                }
            }
        }
    }

    #[test]
    fn constants_are_taken_apart_where_they_are_written() {
        for (op, of) in [
            ("divide %0, f32 3.0", (|x| x / 3.0) as fn(f32) -> f32),
            ("divide f32 1.0, %0", |x| 1.0 / x),
            ("divide %0, f32 1e35", |x| x / 1e35),
        ] {
            let kernel = corrected(op, false);
            for x in numbers() {
                assert_near(Device { off: 2, flushes: false, fuses: false }.run(&kernel, [x, x]), of(x), || {
                    format!("{op} of {x:e}")
                });
            }
        }
        // A product is as good, or nothing can be done.
        for op in ["divide %0, f32 4.0", "divide f32 0.0, %0", "divide %0, f32 inf"] {
            let kernel = corrected(op, false);
            let statements = kernel.functions.values().map(|function| function.body.statements.len()).sum::<usize>();
            assert_eq!(statements, 3, "{kernel}");
        }
    }
}
