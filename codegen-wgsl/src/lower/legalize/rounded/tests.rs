//! Quotients and square roots against a device that rounds badly.

use super::{DIVIDENDS, DIVISORS, SIGN};
use crate::kernel::{Block, Condition, Function, Kernel, Operand, ScalarOp, Statement, ValueId};
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
        let elements = elements.into_iter();
        let (values, products) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Run { device: self, function, elements, values, products };
        f32::from_bits(run.block(&function.body)[0])
    }
}

/// A function on a device, as far as it has come.
struct Run<'r> {
    device: &'r Device,
    function: &'r Function,
    elements: std::array::IntoIter<f32, 2>,
    values: BTreeMap<ValueId, u32>,
    /// The values that are products, before they are rounded.
    products: BTreeMap<ValueId, f64>,
}

impl Run<'_> {
    fn read(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Value(value) => self.values[&value],
            Operand::Constant(scalar) => scalar.bits() as u32,
        }
    }

    fn block(&mut self, block: &Block) -> Vec<u32> {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op } => {
                    let bits = self.operation(*value, op);
                    self.values.insert(*value, bits);
                }
                Statement::If { values, condition: Condition::Value(condition), then, otherwise } => {
                    let found = self.block(if self.read(*condition) == 1 { then } else { otherwise });
                    self.values.extend(values.iter().copied().zip(found));
                }
                _ => panic!("{statement:?}"),
            }
        }
        block.results.iter().map(|result| self.read(*result)).collect()
    }

    fn operation(&mut self, value: ValueId, op: &ScalarOp) -> u32 {
        let device = self.device;
        let ids: Vec<Operand> = op.operands().into_iter().collect();
        let operands: Vec<u32> = ids.iter().map(|operand| self.read(*operand)).collect();
        let float = |at: usize| device.flushed(f32::from_bits(operands[at]));
        let product = |at: usize| match ids[at] {
            Operand::Value(value) if device.fuses => self.products.get(&value).copied(),
            _ => None,
        };
        // One of two at most.
        let fused = |sign: f64| match (product(0), product(1)) {
            (Some(exact), _) => (exact + sign * f64::from(float(1))) as f32,
            (None, Some(exact)) => (f64::from(float(0)) + sign * exact) as f32,
            (None, None) => float(0) + sign as f32 * float(1),
        };
        let is_float = self.function.values[value].element_type == ElementType::F32;
        let bits = match op {
            ScalarOp::Extract { .. } => self.elements.next().expect("there are two").to_bits(),
            ScalarOp::Bitcast { .. } => operands[0],
            ScalarOp::Unary { op: UnaryOp::Negate, .. } => operands[0] ^ SIGN,
            ScalarOp::MultiplyAdd { is_one: true, .. } => {
                device.flushed(float(0).mul_add(float(1), float(2))).to_bits()
            }
            ScalarOp::Unary { op: UnaryOp::Sqrt, .. } => device.round(float(0).sqrt()).to_bits(),
            ScalarOp::Binary { op, .. } if is_float => device
                .flushed(match op {
                    BinaryOp::Add => fused(1.0),
                    BinaryOp::Subtract => fused(-1.0),
                    BinaryOp::Multiply => float(0) * float(1),
                    BinaryOp::Divide => device.divide(float(0), float(1)),
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
                ComparisonDirection::Ne => operands[0] != operands[1],
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
            let exact = f64::from(float(0)) * f64::from(float(1));
            self.products.insert(value, exact);
        }
        bits
    }
}

fn corrected(op: &str, flushes: bool, has_fma: bool) -> Kernel {
    let text = format!(
        "kernel @k(in %x: f32[8], in %y: f32[8], out %r: f32[8]) {{
           func @f(d0 in [0, 7]) -> (f32) {{
             %0:x: f32 = extract %x[d0] %1:y: f32 = extract %y[d0] %2:r: f32 = {op} return %2
           }}
           entry groups [1] threads 8 {{ %0: f32 = call @f(d1) store %r[d1], %0 }}
         }}"
    );
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let target = Target::default().with(|target| {
        target.arithmetic.flushes_denormals = flushes.then_some(true);
        target.arithmetic.exact_fma = has_fma;
    });
    let legal = legalize(&kernel, &target);
    assert_eq!(legal.verify(), Ok(Vec::new()), "{legal}");
    assert_eq!(Kernel::parse(&legal.to_string()).as_ref(), Ok(&legal), "{legal}");
    legal
}

/// The kernels for a device: what it is not known to do it may do all the same.
fn kernels_of(op: &str, flushes: bool) -> Vec<Kernel> {
    let all = [(flushes, false), (flushes, true), (false, false), (false, true)];
    all.into_iter().map(|(flushes, has_fma)| corrected(op, flushes, has_fma)).collect()
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
    let ends = [DIVIDENDS, DIVISORS].into_iter().flat_map(|range| [range.start, range.end]);
    let ends = ends.flat_map(|end| [end - 1, end]).map(f32::from_bits);
    let special: Vec<f32> = special.into_iter().chain(ends).collect();
    let pairs = special.iter().flat_map(|x| special.iter().flat_map(move |y| [*x, *y]));
    let any = (0..3000).map(|at| {
        let bits = next();
        if at % 2 == 0 { f32::from_bits(bits) } else { f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000) }
    });
    pairs.chain(any).collect()
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
        let kernels = kernels_of("divide %0, %1", flushes);
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
        let kernels = kernels_of("sqrt %0", flushes);
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
        let kernel = corrected(op, false, false);
        for x in numbers() {
            assert_near(Device { off: 2, flushes: false, fuses: false }.run(&kernel, [x, x]), of(x), || {
                format!("{op} of {x:e}")
            });
        }
    }
    // A product is as good, or nothing can be done.
    for op in ["divide %0, f32 4.0", "divide f32 0.0, %0", "divide %0, f32 inf"] {
        let kernel = corrected(op, false, false);
        let statements = kernel.functions.values().map(|function| function.body.statements.len()).sum::<usize>();
        assert_eq!(statements, 3, "{kernel}");
    }
}
