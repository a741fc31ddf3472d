//! What the evaluator computes lies within the bounds of what an implementation may, and these are not much wider than needed.

use crate::count::cases;
use weft_hlo::bounds::{Bounded, evaluate_with_bounds};
use weft_hlo::eval::{Config, converted, evaluate};
use weft_hlo::ir::{Data, ElementType, Literal, Module};
use weft_hlo::passes::{Pass, WideSums};
use weft_hlo::random::{self, Numbers, Options};
use weft_hlo::text::{parse, print};

/// The bounds of the results of the evaluator, which rounds each result once.
fn bounded(module: &Module, inputs: &[Literal]) -> Vec<Bounded> {
    evaluate_with_bounds(module, inputs, &Config::default(), &|_, _| 0.5)
        .unwrap_or_else(|found| panic!("{found}\n{}", print(module)))
}

/// How many elements were exact, bounded and unknown, and the largest share of a bound that was taken.
#[derive(Debug, Default)]
struct Seen {
    exact: usize,
    bounded: usize,
    unknown: usize,
    largest: f64,
}

/// The parts of an element in its widest type.
fn parts(data: &Data, at: usize) -> Vec<f64> {
    let wide = |data: &Data, ty| converted(data, ty);
    match data.element_type() {
        Some(ty) if ty.is_complex() => match wide(data, ElementType::C128) {
            Some(Data::C128(values)) => vec![values[at].re, values[at].im],
            _ => Vec::new(),
        },
        _ => match wide(data, ElementType::F64) {
            Some(Data::F64(values)) => vec![values[at]],
            _ => Vec::new(),
        },
    }
}

fn compare(module: &Module, inputs: &[Literal], seen: &mut Seen) -> Result<(), String> {
    // Sums of narrow floats are to be rounded once.
    let wide = WideSums.run(module).map_err(|found| found.to_string())?.module;
    let found = evaluate(&wide, inputs).map_err(|found| found.to_string())?;
    for (number, (found, bounded)) in found.iter().zip(bounded(module, inputs)).enumerate() {
        for (at, error) in bounded.error.iter().enumerate() {
            let (got, want) = (parts(&found.data, at), parts(&bounded.value.data, at));
            if *error == f64::INFINITY {
                seen.unknown += 1;
                continue;
            }
            let is_float = found.data.element_type().is_some_and(|ty| ty.is_float() || ty.is_complex());
            if !is_float && found.data.get(at) != bounded.value.data.get(at) {
                return Err(format!("result {number}, element {at}: {want:?} became {got:?}"));
            }
            for (got, want) in got.iter().zip(&want) {
                let off = if got == want || got.is_nan() && want.is_nan() { 0.0 } else { (got - want).abs() };
                if off.is_nan() || off > *error {
                    return Err(format!("result {number}, element {at}: {want} became {got}, off by {off} > {error}"));
                }
                seen.largest = seen.largest.max(if *error > 0.0 { off / error } else { 0.0 });
            }
            *(if *error == 0.0 { &mut seen.exact } else { &mut seen.bounded }) += 1;
        }
    }
    Ok(())
}

fn check(first: u64, options: &Options) -> Seen {
    let mut seen = Seen::default();
    for seed in first..first + cases(200) {
        let module = random::module(seed, options);
        let inputs = random::inputs(&module, seed, options);
        if let Err(found) = compare(&module, &inputs, &mut seen) {
            panic!("seed {seed}: {found}\n{}", print(&module));
        }
    }
    seen
}

#[test]
fn tame_numbers_are_within_their_bounds() {
    let seen = check(0, &Options { numbers: Numbers::Tame, elements: 150, ..Options::computed() });
    // What is tame is bounded, but for what reads a zero's sign.
    assert!(seen.unknown * 50 < seen.exact + seen.bounded && seen.bounded > 1000 && seen.largest > 0.5, "{seen:?}");
}

#[test]
fn small_numbers_of_every_operation_are_within_their_bounds() {
    for opcode in random::operations() {
        let mut seen = Seen::default();
        let options = Options { numbers: Numbers::Small, elements: 60, ..Options::default() };
        for seed in 0..cases(20) {
            let Some(module) = random::instance(seed, opcode, &options) else { continue };
            let inputs = random::inputs(&module, seed, &options);
            if evaluate(&module, &inputs).is_err() {
                continue;
            }
            if let Err(found) = compare(&module, &inputs, &mut seen) {
                panic!("{opcode}, seed {seed}: {found}\n{}", print(&module));
            }
        }
        println!("{opcode}: {seen:?}");
    }
}

#[test]
fn any_numbers_of_all_types_are_within_their_bounds() {
    let options = Options { numbers: Numbers::Any, instructions: 8, elements: 40, ..Options::computed() };
    let types: Vec<ElementType> = ElementType::ALL.to_vec();
    let seen = check(1000, &Options { types, ..options });
    assert!(seen.bounded > 200, "{seen:?}");
}

/// The errors of one result of one element.
fn error(lines: &str, inputs: &[Literal]) -> f64 {
    let text = format!(
        "HloModule m\n\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n\nENTRY main {{\n{lines}\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{text}\n{found}"));
    bounded(&module, inputs)[0].error[0]
}

#[test]
fn errors_are_those_of_hand() {
    let one = [Literal::array([1], vec![1.5f32])];
    let ulp = f64::from(f32::EPSILON);
    // A third is not exact; thrice that is off by thrice as much, and is rounded.
    let third = "  x = f32[1] parameter(0)\n  t = f32[] constant(3)\n  u = f32[1] broadcast(t), dimensions={}\n  y = f32[1] divide(x, u)\n";
    assert!(
        (error(&format!("{third}  z = f32[1] multiply(y, x)\n  ROOT r = f32[1] tanh(z)"), &one) / ulp - 0.5).abs()
            < 0.5
    );
    // Sums of integers are exact in any order.
    let many = [Literal::array([1000], (0..1000u16).map(f32::from).collect::<Vec<f32>>())];
    let sum = "  x = f32[1000] parameter(0)\n  z = f32[] constant(0)\n  ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add";
    assert_eq!(error(sum, &many), 0.0);
    let thirds = [Literal::array([1000], (0..1000u16).map(|n| f32::from(n) / 3.0).collect::<Vec<f32>>())];
    let of_thirds = error(sum, &thirds) / (ulp * 999.0 * 1000.0 / 6.0);
    assert!((1000.0..1002.0).contains(&of_thirds), "{of_thirds}");
    // What is close to a threshold is not decided; what is far from it is.
    let compared = |with: &str| {
        error(
            &format!(
                "{third}  c = f32[] constant({with})\n  d = f32[1] broadcast(c), dimensions={{}}\n  ROOT r = pred[1] compare(y, d), direction=LT"
            ),
            &one,
        )
    };
    assert_eq!(compared("0.75"), 0.0);
    let third_of_two = [Literal::array([1], vec![2f32])];
    let lines = format!(
        "{third}  c = f32[] constant(0.6666667)\n  d = f32[1] broadcast(c), dimensions={{}}\n  ROOT r = pred[1] compare(y, d), direction=LT"
    );
    assert_eq!(error(&lines, &third_of_two), f64::INFINITY);
    // Next to a pole nothing is known, nor behind an overflow.
    let small = "  x = f32[1] parameter(0)\n  y = f32[1] cosine(x)\n  z = f32[1] subtract(y, y)\n  o = f32[] constant(1)\n  p = f32[1] broadcast(o), dimensions={}\n  ROOT r = f32[1] divide(p, z)";
    assert_eq!(error(small, &one), f64::INFINITY);
    let large = "  x = f32[1] parameter(0)\n  e = f32[] constant(3e38)\n  b = f32[1] broadcast(e), dimensions={}\n  ROOT m = f32[1] multiply(x, b)";
    assert_eq!(error(large, &one), f64::INFINITY);
    // A subnormal number may be a zero.
    let least = [Literal::array([1], vec![1e-40f32])];
    assert!(error("  x = f32[1] parameter(0)\n  ROOT n = f32[1] negate(x)", &least) >= 0.9e-40);
}

/// The bounds of the results of a module for its inputs, if functions are computed to 4 units.
fn of_text(text: &str, inputs: &[Literal]) -> Vec<Bounded> {
    evaluate_with_bounds(&parse(text).unwrap(), inputs, &Config::default(), &|op, _| match op {
        weft_hlo::ir::Op::Unary(_) => 4.0,
        _ => 0.5,
    })
    .unwrap()
}

#[test]
fn the_smaller_part_of_a_complex_number_may_become_a_zero() {
    let text = "HloModule m\n\nENTRY e {\n  x = c64[2] parameter(0)\n  ROOT r = c64[2] negate(x)\n}\n";
    let parts = |re, im| num_complex::Complex::new(re, im);
    let x = Literal::array([2], vec![parts(-4f32, 1e-45), parts(3.0, 0.0)]);
    let error = &of_text(text, &[x])[0].error;
    assert!(error[0] > 0.0 && error[0] < 1e-37, "{}", error[0]);
    assert_eq!(error[1], 0.0);
}

#[test]
fn magnitudes_are_known_as_well_as_complex_numbers_are() {
    let text = "HloModule m\n\nENTRY e {\n  x = c64[1] parameter(0)\n  r = f32[1] abs(x)\n  b = u32[1] bitcast-convert(r)\n  \
                ROOT t = (f32[1], u32[1]) tuple(r, b)\n}\n";
    let x = Literal::array([1], vec![num_complex::Complex::new(3f32, 4.0)]);
    let known = of_text(text, &[x]);
    assert!(known[0].error[0] >= 4.0 * 2f64.powi(-21), "{}", known[0].error[0]);
    assert_eq!(known[1].error[0], f64::INFINITY);
}

#[test]
fn what_a_bitcast_moves_keeps_its_value_and_error() {
    let text = "HloModule m\n\nENTRY e {\n  x = f16[1] parameter(0)\n  c = f8e5m2[1] convert(x)\n  r = f8e5m2[1] erf(c)\n  \
                ROOT b = f8e5m2[1,1] bitcast(r)\n}\n";
    let known = of_text(text, &[Literal::array([1], vec![half::f16::from_f64(-1.3388671875)])]);
    let Data::F64(values) = &known[0].value.data else { panic!("{:?}", known[0]) };
    // erf(-1.25) as the type has it.
    assert!((values[0] + 0.875).abs() <= known[0].error[0], "{known:?}");
    assert!(values[0] != -1.0, "{known:?}");
}

#[test]
fn integers_that_are_computed_of_floats_are_known_as_these_are() {
    // erf(5) is 1 in the type, and nearly so in the widest one.
    let text = "HloModule m\n\nf {\n  a = u32[] parameter(0)\n  c = f8e4m3[] constant(5)\n  s = f8e4m3[] reshape(c)\n  \
                e = f8e4m3[] erf(s)\n  ROOT r = s8[] convert(e)\n}\n\nENTRY e {\n  x = u32[1] parameter(0)\n  \
                ROOT m = s8[1] map(x), dimensions={0}, to_apply=f\n}\n";
    assert_eq!(of_text(text, &[Literal::array([1], vec![7u32])])[0].error[0], f64::INFINITY);
}

/// The error of an operation on two complex numbers.
fn of_complex(ty: &str, operation: &str, a: [f64; 2], b: [f64; 2]) -> f64 {
    let text = format!(
        "HloModule m\n\nENTRY e {{\n  a = {ty}[1] parameter(0)\n  b = {ty}[1] parameter(1)\n  ROOT r = {ty}[1] {operation}(a, b)\n}}\n"
    );
    let numbers = [a, b].map(|[re, im]| {
        let wide = Data::C128(vec![num_complex::Complex::new(re, im)]);
        let ty = if ty == "c64" { ElementType::C64 } else { ElementType::C128 };
        Literal::array([1], converted(&wide, ty).unwrap())
    });
    of_text(&text, &numbers)[0].error[0]
}

#[test]
fn powers_that_turn_far_are_not_known() {
    assert!(of_complex("c128", "power", [0.5, 2.0], [100.0, 3.0]) < 1e20);
    assert!(of_complex("c128", "power", [1.0, 0.0], [2e142, 3.0]) < 1e-14);
    assert_eq!(of_complex("c128", "power", [0.0, 1.0], [2e142, 3.0]), f64::INFINITY);
    assert_eq!(of_complex("c64", "power", [-1.0, 0.0], [1001.0, 0.0]), f64::INFINITY);
}

#[test]
fn complex_angles_are_known_but_beside_their_cuts() {
    let of = |y, x| of_complex("c64", "atan2", y, x);
    for (y, x) in [
        ([0.0, 0.0], [-0.7, 0.3]),
        ([-2.4637, 6e-28], [-9.2, -1.66e30]),
        ([1.0, 0.0], [-1.0, 0.0]),
        ([0.0, 1.0], [3.0, 0.0]),
        ([1e-30, 1e-35], [-1.0, 2.0]),
    ] {
        assert!(of(y, x) < 1e-5, "{y:?} over {x:?}");
    }
    // The products of parts cancel where the number stands against the root, and where the root has its cut.
    assert_eq!(of([0.5, 1.0], [-2.0, 1.0]), f64::INFINITY);
    assert_eq!(of([3.0, 2.0], [-2.0, 3.0 * (1.0 + 1e-7)]), f64::INFINITY);
}
