//! Quotients and square roots of `f32` that are off by less than a unit in the last place, made of ones that may be off by a few.
//!
//! What a quotient `q` of `x` and `y` lacks is `(x - q y) / y`. The difference is computed without an error that matters: both factors are cut in
//! halves of 12 bits, whose products are exact, so a device may fuse them with the sums or not; the first difference is exact since the two are
//! close. Likewise for `(x - s s) / 2 s` of a square root. Where what a product of halves loses could matter, or
//! one is infinite, the first result stays.

use crate::kernel::{Function, Operand, ScalarOp, Statement, Value, ValueId};
use std::ops::Range;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

/// The bits of an `f32` but for the lower 12 of its significand.
const UPPER_HALF: u32 = 0xffff_f000;

/// The bits of an `f32` but for its sign.
const MAGNITUDE: u32 = 0x7fff_ffff;

/// Statements that are being written for one value.
struct Writer<'w> {
    function: &'w mut Function,
    statements: &'w mut Vec<Statement>,
    /// What names begin with.
    name: String,
    lanes: u32,
}

impl<'w> Writer<'w> {
    fn new(value: ValueId, function: &'w mut Function, statements: &'w mut Vec<Statement>) -> Self {
        let Value { name, lanes, .. } = function.values[value].clone();
        Writer { function, statements, name, lanes }
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

    fn bits(&mut self, part: &str, operand: Operand, mask: u32) -> Operand {
        let bits = self.define("bits", ElementType::U32, ScalarOp::Bitcast { operand, to: ElementType::U32 });
        let operands = [bits, Operand::Constant(Scalar::U32(mask))];
        self.define(part, ElementType::U32, ScalarOp::Binary { op: BinaryOp::And, operands })
    }

    /// The halves of a number, whose sum it is.
    fn halves(&mut self, operand: Operand) -> [Operand; 2] {
        if let Operand::Constant(Scalar::F32(value)) = operand {
            let upper = f32::from_bits(value.to_bits() & UPPER_HALF);
            return [upper, value - upper].map(|half| Operand::Constant(Scalar::F32(half)));
        }
        let upper = self.bits("cut", operand, UPPER_HALF);
        let upper = self.define("high", ElementType::F32, ScalarOp::Bitcast { operand: upper, to: ElementType::F32 });
        [upper, self.compute("low", BinaryOp::Subtract, [operand, upper])]
    }

    /// A number less a product of others.
    fn less_product(&mut self, operand: Operand, factors: [Operand; 2]) -> Operand {
        let product = self.compute("product", BinaryOp::Multiply, factors);
        self.compute("rest", BinaryOp::Subtract, [operand, product])
    }

    /// Whether the magnitude of a number is in a range.
    fn is_within(&mut self, operand: Operand, range: Range<i32>) -> Operand {
        let Range { start: least, end } = range;
        let magnitude = self.bits("magnitude", operand, MAGNITUDE);
        let operands = [magnitude, Operand::Constant(Scalar::U32(power(least)))];
        let above = self.define("above", ElementType::U32, ScalarOp::Binary { op: BinaryOp::Subtract, operands });
        let operands = [above, Operand::Constant(Scalar::U32(power(end) - power(least)))];
        let op = ScalarOp::Compare { direction: ComparisonDirection::Lt, order: None, operands };
        self.define("within", ElementType::Pred, op)
    }

    /// Defines a value as the sum of a first result and what it lacks where that and others are in their ranges, else as the first result.
    fn finish(
        mut self,
        value: ValueId,
        first: (Operand, Range<i32>),
        lacking: Operand,
        others: &[(Operand, Range<i32>)],
    ) {
        let (first, range) = first;
        let mut result = self.compute("better", BinaryOp::Add, [first, lacking]);
        // Constants were looked at before.
        for (operand, range) in others.iter().filter(|(operand, _)| matches!(operand, Operand::Value(_))) {
            let is_within = self.is_within(*operand, range.clone());
            let op = ScalarOp::Select { operands: [is_within, result, first] };
            result = self.define("chosen", ElementType::F32, op);
        }
        let is_within = self.is_within(first, range);
        let op = ScalarOp::Select { operands: [is_within, result, first] };
        self.statements.push(Statement::Let { value, op });
    }
}

/// The bits of a power of two.
fn power(exponent: i32) -> u32 {
    (127 + exponent).cast_unsigned() << 23
}

/// Where a dividend may be.
const DIVIDENDS: Range<i32> = -90..127;

/// Where a square root may be.
const ROOTS: Range<i32> = -45..64;

/// Where a divisor and a quotient may be.
const DIVISORS: Range<i32> = -100..100;

/// Whether a quotient of these operands can be corrected, as far as constants tell.
pub(super) fn may_be_corrected([x, y]: [Operand; 2]) -> bool {
    let is_within = |operand: Operand, range: Range<i32>| match operand {
        Operand::Constant(scalar) => {
            (power(range.start)..power(range.end)).contains(&(scalar.bits() as u32 & MAGNITUDE))
        }
        Operand::Value(_) => true,
    };
    is_within(x, DIVIDENDS) && is_within(y, DIVISORS)
}

/// Defines a value as the quotient of two operands.
pub(super) fn quotient(value: ValueId, [x, y]: [Operand; 2], function: &mut Function, statements: &mut Vec<Statement>) {
    let mut writer = Writer::new(value, function, statements);
    let first = writer.compute("quotient", BinaryOp::Divide, [x, y]);
    let [high, low] = writer.halves(first);
    let [y_high, y_low] = writer.halves(y);
    let mut rest = x;
    for factors in [[high, y_high], [high, y_low], [low, y_high], [low, y_low]] {
        rest = writer.less_product(rest, factors);
    }
    let lacking = writer.compute("lacking", BinaryOp::Divide, [rest, y]);
    writer.finish(value, (first, DIVISORS), lacking, &[(x, DIVIDENDS), (y, DIVISORS)]);
}

/// Defines a value as the square root of an operand.
pub(super) fn square_root(value: ValueId, x: Operand, function: &mut Function, statements: &mut Vec<Statement>) {
    let mut writer = Writer::new(value, function, statements);
    let first = writer.define("root", ElementType::F32, ScalarOp::Unary { op: UnaryOp::Sqrt, operand: x });
    let [high, low] = writer.halves(first);
    let twice = writer.compute("twice", BinaryOp::Add, [high, high]);
    let mut rest = x;
    for factors in [[high, high], [twice, low], [low, low]] {
        rest = writer.less_product(rest, factors);
    }
    let divisor = writer.compute("divisor", BinaryOp::Add, [first, first]);
    let lacking = writer.compute("lacking", BinaryOp::Divide, [rest, divisor]);
    // The root of what is negative is NaN, and stays it.
    writer.finish(value, (first, ROOTS), lacking, &[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::lower::legalize;
    use std::collections::BTreeMap;
    use weft_partition::Target;

    /// A device whose quotients and square roots are off by so many units in the last place.
    struct Device {
        off: i32,
    }

    impl Device {
        fn round(&self, exact: f32) -> f32 {
            let is_normal = exact.is_normal() && f32::from_bits(exact.to_bits() + 8).is_normal();
            if is_normal { f32::from_bits(exact.to_bits().wrapping_add_signed(self.off)) } else { exact }
        }

        /// The bits of what the kernel's function returns of two elements.
        fn run(&self, kernel: &Kernel, elements: [f32; 2]) -> f32 {
            let function = kernel.functions.values().next().expect("there is a function");
            let mut values = BTreeMap::new();
            let mut elements = elements.into_iter();
            let read = |values: &BTreeMap<ValueId, u32>, operand: Operand| match operand {
                Operand::Value(value) => values[&value],
                Operand::Constant(scalar) => scalar.bits() as u32,
            };
            for statement in &function.body.statements {
                let Statement::Let { value, op } = statement else { panic!("{statement:?}") };
                let operands: Vec<u32> = op.operands().into_iter().map(|operand| read(&values, operand)).collect();
                let float = |at: usize| f32::from_bits(operands[at]);
                let is_float = function.values[*value].element_type == ElementType::F32;
                let bits = match op {
                    ScalarOp::Extract { .. } => elements.next().expect("there are two").to_bits(),
                    ScalarOp::Bitcast { .. } => operands[0],
                    ScalarOp::Unary { op: UnaryOp::Sqrt, .. } => self.round(float(0).sqrt()).to_bits(),
                    ScalarOp::Binary { op: BinaryOp::And, .. } => operands[0] & operands[1],
                    ScalarOp::Binary { op: BinaryOp::Subtract, .. } if !is_float => {
                        operands[0].wrapping_sub(operands[1])
                    }
                    ScalarOp::Binary { op, .. } => match op {
                        BinaryOp::Add => float(0) + float(1),
                        BinaryOp::Subtract => float(0) - float(1),
                        BinaryOp::Multiply => float(0) * float(1),
                        BinaryOp::Divide => self.round(float(0) / float(1)),
                        _ => panic!("{op:?}"),
                    }
                    .to_bits(),
                    ScalarOp::Compare { .. } => u32::from(operands[0] < operands[1]),
                    ScalarOp::Select { .. } => operands[if operands[0] == 1 { 1 } else { 2 }],
                    _ => panic!("{op:?}"),
                };
                values.insert(*value, bits);
            }
            f32::from_bits(read(&values, function.body.results[0]))
        }
    }

    fn corrected(op: &str) -> Kernel {
        let text = format!(
            "kernel @k(in %x: f32[8], in %y: f32[8], out %r: f32[8]) {{
               func @f(d0 in [0, 7]) -> (f32) {{
                 %0:x: f32 = extract %x[d0] %1:y: f32 = extract %y[d0] %2:r: f32 = {op} return %2
               }}
               entry groups [1] threads 8 {{ %0: f32 = call @f(d1) store %r[d1], %0 }}
             }}"
        );
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let legal = legalize(&kernel, &Target::default());
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
        let special = [0.0, -0.0, 1.0, 3.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE];
        let any = (0..3000).map(|at| {
            let bits = next();
            if at % 2 == 0 { f32::from_bits(bits) } else { f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000) }
        });
        special.into_iter().chain(any.collect::<Vec<_>>()).collect()
    }

    fn assert_near(found: f32, exact: f32, what: impl Fn() -> String) {
        let is_near = found.is_nan() && exact.is_nan() || found.to_bits().abs_diff(exact.to_bits()) <= 1;
        assert!(is_near, "{}: {found:e} for {exact:e}", what());
    }

    #[test]
    fn quotients_are_off_by_one_at_most_whatever_the_device_s_are() {
        let kernel = corrected("divide %0, %1");
        let numbers = numbers();
        for off in -3..=3 {
            for pair in numbers.windows(2) {
                let (x, y) = (pair[0], pair[1]);
                let exact = x / y;
                // Others stay as the device has them.
                let can_be = |value: f32, range: &Range<i32>| {
                    (power(range.start)..power(range.end)).contains(&(value.to_bits() & MAGNITUDE))
                };
                if !(can_be(x, &DIVIDENDS) && can_be(y, &DIVISORS) && can_be(exact * 1.001, &DIVISORS)) {
                    let own = Device { off }.round(exact);
                    let found = Device { off }.run(&kernel, [x, y]);
                    assert!(
                        found.to_bits() == own.to_bits() || found.is_nan() && own.is_nan() || can_be(exact, &DIVISORS)
                    );
                    continue;
                }
                assert_near(Device { off }.run(&kernel, [x, y]), exact, || format!("{x:e} / {y:e}, off by {off}"));
            }
        }
    }

    #[test]
    fn square_roots_are_off_by_one_at_most_whatever_the_device_s_are() {
        let kernel = corrected("sqrt %0");
        for off in -4..=4 {
            for x in numbers() {
                // At the least and the most that is corrected it depends on what the device makes of it.
                let most = f32::MAX.to_bits() - 64;
                if (power(-91)..power(-89)).contains(&x.to_bits()) || (most..=f32::MAX.to_bits()).contains(&x.to_bits())
                {
                    continue;
                }
                let is_corrected = (power(-89)..most).contains(&x.to_bits());
                let exact = if is_corrected { x.sqrt() } else { Device { off }.round(x.sqrt()) };
                assert_near(Device { off }.run(&kernel, [x, x]), exact, || format!("sqrt {x:e}, off by {off}"));
            }
        }
    }

    #[test]
    fn constants_are_cut_where_they_are_written() {
        for (op, x) in [("divide %0, f32 3.0", 7.25f32), ("divide f32 1.0, %0", 7.25)] {
            let kernel = corrected(op);
            let exact = if op.ends_with("3.0") { x / 3.0 } else { 1.0 / x };
            assert_near(Device { off: 2 }.run(&kernel, [x, x]), exact, || op.to_owned());
        }
        // A product is as good, or nothing can be done.
        for op in ["divide %0, f32 4.0", "divide %0, f32 1e35", "divide f32 0.0, %0"] {
            let kernel = corrected(op);
            let statements = kernel.functions.values().map(|function| function.body.statements.len()).sum::<usize>();
            assert_eq!(statements, 3, "{kernel}");
        }
    }
}
