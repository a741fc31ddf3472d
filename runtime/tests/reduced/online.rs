//! Sums of exponentials that are folded beside their maximum, with infinities and NaN anywhere, against the evaluator.

use super::targets;
use crate::support::{compile, device, module};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};
use weft_hlo::random::Rng;
use weft_partition::Target;
use weft_runtime::Executable;

/// Softmax, its logarithm, and the sum by itself, along a dimension.
fn program(extents: [i64; 2], dimension: usize) -> String {
    let [rows, columns] = extents;
    let (kept, all) = (extents[1 - dimension], format!("f32[{rows},{columns}]"));
    let along = format!("dimensions={{{dimension}}}, to_apply=");
    let back = format!("dimensions={{{}}}", 1 - dimension);
    format!(
        "HloModule m
max {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] maximum(a, b)\n}}
sum {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}}
fused {{
  x = {all} parameter(0)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[{kept}] reduce(x, least), {along}max
  b = {all} broadcast(m), {back}
  d = {all} subtract(x, b)
  p = {all} exponential(d)
  s = f32[{kept}] reduce(p, zero), {along}sum
  t = {all} broadcast(s), {back}
  q = {all} divide(p, t)
  l = f32[{kept}] log(s)
  k = {all} broadcast(l), {back}
  n = {all} subtract(d, k)
  ROOT r = ({all}, {all}, f32[{kept}]) tuple(q, n, s)
}}
ENTRY e {{\n  x = {all} parameter(0)\n  ROOT r = ({all}, {all}, f32[{kept}]) fusion(x), kind=kLoop, calls=fused\n}}
"
    )
}

/// Rows that begin with infinities, hold NaN, are all one value, or ascend, so that the maximum grows time and again.
fn values(rng: &mut Rng, extents: [i64; 2], dimension: usize) -> Vec<f32> {
    let [rows, columns] = extents;
    let length = extents[dimension];
    let kind: Vec<usize> = (0..extents[1 - dimension]).map(|_| rng.below(8)).collect();
    let mut values = Vec::new();
    for at in 0..rows * columns {
        let (row, place) = if dimension == 1 { (at / columns, at % columns) } else { (at % columns, at / columns) };
        let number = (rng.below(4001) as f32 - 2000.0) / 250.0;
        values.push(match kind[row as usize] {
            0 if place < length / 2 => f32::NEG_INFINITY,
            1 => f32::NEG_INFINITY,
            2 if place == length / 3 => f32::INFINITY,
            3 if place == length - 1 => f32::NAN,
            4 => number + place as f32,
            5 if rng.below(3) == 0 => f32::NEG_INFINITY,
            6 if rng.below(5) == 0 => -3e38,
            _ => number,
        });
    }
    values
}

/// The targets of other tests, and GPUs whose workgroups are so small that invocations have many elements of a row.
fn all_targets(device: &weft_runtime::Device) -> Vec<Target> {
    let own = targets(device);
    let small = own.iter().map(|target| target.clone().with(|target| target.max_invocations_per_workgroup = 32));
    own.iter().cloned().chain(small).collect()
}

#[test]
fn sums_of_exponentials_agree_with_the_evaluator() {
    let (device, mut rng) = (device(), Rng::new(77));
    let mut online = 0;
    for (extents, dimension) in
        [([48, 64], 1), ([40, 4096], 1), ([64, 132], 1), ([33, 1000], 1), ([3, 2048], 1), ([64, 96], 0), ([80, 40], 0)]
    {
        let module = module(&program(extents, dimension));
        let shape = Shape::Array(ArrayShape::new(ElementType::F32, extents));
        let input = Literal { shape, data: Data::F32(values(&mut rng, extents, dimension)) };
        let expected = evaluate(&module, std::slice::from_ref(&input)).expect("it can be evaluated");
        for target in all_targets(&device) {
            let program = compile(&module, &target).expect("it can be compiled");
            for shader in program.shaders() {
                assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.kernel);
                online += usize::from(shader.kernel.to_string().contains("scaled"));
            }
            let executable = Executable::new(&device, program).expect("the device takes it");
            let results = executable.run(std::slice::from_ref(&input)).expect("it runs");
            for (number, (expected, result)) in expected.iter().zip(&results).enumerate() {
                let (Data::F32(expected), Data::F32(found)) = (&expected.data, &result.data) else {
                    panic!("they are floats")
                };
                for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                    // A logarithm near zero is a difference of greater numbers, and exponentials may be zero for subnormal ones.
                    let tolerance = 2e-5 * if number == 1 { expected.abs().max(1.0) } else { expected.abs() } + 2e-38;
                    let is_same = expected == found
                        || expected.is_nan() && found.is_nan()
                        || (expected - found).abs() <= tolerance;
                    assert!(
                        is_same,
                        "{extents:?}, result {number}, {at}: {found}, not {expected}, {}, {}",
                        target.effective_schedule(),
                        target.max_invocations_per_workgroup
                    );
                }
            }
        }
    }
    assert!(online > 10, "{online}");
}
