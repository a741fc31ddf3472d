//! Scans, whole programs of them: made in blocks where they are long.

use super::{check, list, targets};
use crate::count::{cases, first_seed};
use crate::support::{compile, device};
use std::fmt::Write;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::{Numbers, Options, Rng};
use weft_partition::Target;
use weft_runtime::Executable;

/// The window of a scan along one dimension.
pub(super) fn window(extents: &[usize], dimension: usize, is_reversed: bool, is_exclusive: bool) -> String {
    let extent = extents[dimension];
    let (low, high) =
        if is_exclusive { (format!("{extent}"), "-1".to_owned()) } else { (format!("{}", extent - 1), "0".to_owned()) };
    let (low, high) = if is_reversed { (high, low) } else { (low, high) };
    let along = |own: String, other: &str| -> String {
        let all = (0..extents.len()).map(|it| if it == dimension { own.clone() } else { other.to_owned() });
        all.collect::<Vec<_>>().join("x")
    };
    format!("window={{size={} pad={}}}", along(extent.to_string(), "1"), along(format!("{low}_{high}"), "0_0"))
}

/// What a scan folds by: the text of the region, and what it begins with.
struct Region {
    text: &'static str,
    initial: &'static str,
}

const PAIR: &str = "f {
  a = T[] parameter(0)\n  i = s32[] parameter(1)\n  b = T[] parameter(2)\n  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE\n  v = T[] select(g, a, b)\n  n = s32[] select(g, i, k)
  ROOT r = (T[], s32[]) tuple(v, n)\n}\n";

/// Extents along a scan: 1, around powers of two, primes, those that a kernel scans as a whole and longer ones.
const LENGTHS: [usize; 24] = [
    1, 2, 3, 4, 5, 8, 31, 64, 65, 127, 256, 257, 512, 1000, 1023, 1024, 1025, 1999, 2048, 4096, 4097, 5000, 8192,
    10_007,
];

/// A random program around a scan.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let (is_reversed, is_exclusive) = (rng.below(3) == 0, rng.below(3) == 0);
    let length = LENGTHS[rng.below(LENGTHS.len())];
    // The evaluator takes linear time where it goes forwards along the last dimension, elsewhere time by the square.
    let most = if length > 256 { 3 } else { 8 };
    let other = |rng: &mut Rng| [1, 2, 3, 64, 5, 33, 40, 4][rng.below(most)];
    let kind = if length > 1100 || is_reversed && length > 600 { rng.below(2) } else { rng.below(4) };
    let is_reversed = is_reversed && length < 1100;
    let (extents, dimension): (Vec<usize>, usize) = match kind {
        0 => (vec![length], 0),
        1 => (vec![other(&mut rng), length], 1),
        2 => (vec![length, other(&mut rng)], 0),
        _ => (vec![other(&mut rng).min(5), length, other(&mut rng)], 1),
    };
    let ty = ["s32", "u8", "f32", "f16", "bf16", "u64", "s32", "f32"][rng.below(8)];
    let window = window(&extents, dimension, is_reversed, is_exclusive);
    let (shape, of) = (format!("{ty}[{}]", list(&extents)), list(&extents));
    let mut text = "HloModule m\n".to_owned();
    if rng.below(4) == 0 {
        text.push_str(&PAIR.replace("T[]", &format!("{ty}[]")));
        write!(
            text,
            "ENTRY e {{\n  x = {shape} parameter(0)\n  y = s32[{of}] parameter(1)\n  z = {ty}[] parameter(2)\n  o = s32[] constant(-1)\n  \
             s = ({shape}, s32[{of}]) reduce-window(x, y, z, o), {window}, to_apply=f\n  v = {shape} get-tuple-element(s), index=0\n  \
             k = s32[{of}] get-tuple-element(s), index=1\n  ROOT t = ({shape}, s32[{of}]) tuple(v, k)\n}}\n"
        )
        .expect("strings can be written to");
        return text;
    }
    let regions = [
        Region { text: "ROOT r = T[] add(a, b)", initial: "constant(0)" },
        Region { text: "ROOT r = T[] maximum(a, b)", initial: "parameter(1)" },
        Region { text: "ROOT r = T[] minimum(a, b)", initial: "constant(3)" },
        Region { text: "ROOT r = T[] add(a, b)", initial: "parameter(1)" },
    ];
    let Region { text: body, initial } = &regions[rng.below(4)];
    let body = body.replace("T[]", &format!("{ty}[]"));
    // What is scanned and what comes of it are computed, too, and read elsewhere.
    let (before, behind) = (rng.below(2) == 0, rng.below(3));
    let scanned = if before { "n" } else { "x" };
    let root = match behind {
        0 => format!("ROOT s = {shape} reduce-window({scanned}, z), {window}, to_apply=f"),
        1 => format!("s = {shape} reduce-window({scanned}, z), {window}, to_apply=f\n  ROOT t = {shape} maximum(s, x)"),
        _ => format!(
            "s = {shape} reduce-window({scanned}, z), {window}, to_apply=f\n  u = {shape} minimum(s, x)\n  \
             ROOT t = ({shape}, {shape}) tuple(s, u)"
        ),
    };
    // What it begins with may be computed, too.
    let own = if rng.below(4) == 0 { "multiply(w, w)" } else { "copy(w)" };
    write!(
        text,
        "f {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  {body}\n}}\nENTRY e {{\n  x = {shape} parameter(0)\n  \
         w = {ty}[] {initial}\n  z = {ty}[] {own}\n  n = {shape} add(x, x)\n  {root}\n}}\n"
    )
    .expect("strings can be written to");
    text
}

#[test]
fn scans_agree_with_the_evaluator() {
    let device = device();
    let options = Options { numbers: Numbers::Small, ..Options::default() };
    let (mut report, mut failures, mut shaped) = (String::new(), 0, [0; 3]);
    let count = cases(32);
    for seed in first_seed()..first_seed() + count {
        let text = random(seed);
        let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        for (target, all) in targets(&device).iter().zip(&mut shaped) {
            match check(&device, target, &module, &options, seed) {
                Ok(own) => *all += own.kernels,
                Err(found) => {
                    failures += 1;
                    if failures <= 2 {
                        write!(report, "seed {seed}, {}: {found}\n{text}\n", target.effective_schedule())
                            .expect("it can be written");
                    }
                }
            }
        }
    }
    println!("{shaped:?} of {count}");
    assert!(failures == 0, "{failures} of {count} differ\n{report}");
    assert!(shaped.iter().all(|kernels| 3 * kernels > usize::try_from(count).unwrap_or(0)), "{shaped:?}");
}

/// A scan of 10,000,000 integers, exactly, and of so many floats that a chain of additions would be far off, to the bound of chains of 1,024.
#[test]
fn long_scans_are_right() {
    let device = device();
    let program = |ty: &str, count: usize| {
        let window = window(&[count], 0, false, false);
        let text = format!(
            "HloModule m\nf {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT r = {ty}[] add(a, b)\n}}\nENTRY e {{\n  \
             x = {ty}[{count}] parameter(0)\n  z = {ty}[] constant(0)\n  ROOT s = {ty}[{count}] reduce-window(x, z), {window}, to_apply=f\n}}\n"
        );
        weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}"))
    };
    let run = |module: &Module, target: &Target, input: Literal| {
        let program = compile(module, target).unwrap_or_else(|found| panic!("{found}"));
        let executable = Executable::new(&device, program).unwrap_or_else(|found| panic!("{found}"));
        executable.run(&[input]).unwrap_or_else(|found| panic!("{found}")).swap_remove(0).data
    };
    let integers: Vec<i32> = (0..10_000_000i32).map(|k| k.wrapping_mul(0x9e37_79b1u32 as i32) >> 7).collect();
    let sums = |sum: &mut i32, own: &i32| {
        *sum = sum.wrapping_add(*own);
        Some(*sum)
    };
    let of_integers: Vec<i32> = integers.iter().scan(0, sums).collect();
    let floats: Vec<f32> =
        (0..1 << 21).map(|k: u32| 0.5 + (k.wrapping_mul(0x9e37_79b1) >> 8) as f32 * 2f32.powi(-24)).collect();
    for target in targets(&device) {
        let found =
            run(&program("s32", integers.len()), &target, Literal::array([integers.len() as i64], integers.clone()));
        assert!(found == Data::S32(of_integers.clone()), "{}", target.effective_schedule());
        let found = run(&program("f32", floats.len()), &target, Literal::array([floats.len() as i64], floats.clone()));
        let Data::F32(found) = found else { panic!("{:?}", found.element_type()) };
        let mut sum = 0.0;
        for (position, (own, found)) in floats.iter().zip(&found).enumerate() {
            sum += f64::from(*own);
            // A chain of 256 for an invocation, as many levels of blocks.
            let bound = 1024.0 * f64::from(f32::EPSILON) / 2.0 * sum;
            let off = (f64::from(*found) - sum).abs();
            assert!(off <= bound, "element {position} is {found}, off by {off} of {bound}");
        }
    }
}
