//! Kernels around reductions, with the schedules of GPUs and of devices in software forced on the adapter at hand, against the evaluator.

mod forms;
mod long;
mod online;
mod pooling;
mod scans;
mod semigroups;

use crate::bounded::{bounds, difference};
use crate::count::{cases, first_seed};
use crate::support::{compile, device, without_subgroups};
use std::fmt::Write;
use weft_hlo::ir::{Module, Op};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Emitter, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

/// The device with the schedules of GPUs, as one without caches, by way of subgroups where it has them, and without, and with those of devices in software.
fn targets(device: &Device) -> [Target; 3] {
    let scheduled = |schedule| device.target().clone().with(|target| target.schedule = Some(schedule));
    let gpu = scheduled(Schedule::Gpu).with(|target| target.hardware.l1_bytes_per_core = 0);
    let tree = without_subgroups(gpu.clone());
    [gpu, tree, scheduled(Schedule::Software)]
}

/// What became of a module: how many of its kernels are shaped around reductions, how many keep values, and how many load windows into tiles.
#[derive(Copy, Clone, Debug, Default)]
struct Shaped {
    kernels: usize,
    keep: usize,
    windows: usize,
}

/// Runs a module twice and compares.
fn check(device: &Device, target: &Target, module: &Module, options: &Options, seed: u64) -> Result<Shaped, String> {
    let arguments = inputs(module, seed, options);
    let program = compile(module, target).map_err(|error| error.to_string())?;
    for shader in program.shaders() {
        if !shader.proofs().are_complete() {
            return Err(format!("{:?}\n{}", shader.proofs(), shader.kernel));
        }
    }
    let expected = bounds(module, &arguments, target)?;
    let executable = Executable::new(device, program.clone()).map_err(|error| error.to_string())?;
    let mut before = None;
    for _ in 0..2 {
        let results = executable.run(&arguments).map_err(|error| error.to_string())?;
        for (number, (expected, result)) in expected.iter().zip(&results).enumerate() {
            if let Some((_, found)) = difference(expected, result) {
                return Err(format!("result {number}: {found}\n{}", program.shaders()[0].source));
            }
        }
        if before.get_or_insert_with(|| results.clone()) != &results {
            return Err("another run has other bits".to_owned());
        }
    }
    let fused = fuse(module, target).map_err(|error| error.to_string())?;
    let mut shaped = Shaped::default();
    for site in fused.fusions() {
        let Some(Op::Fusion { calls, .. }) = fused.instruction(site).map(|it| &it.op) else { continue };
        match fused.plan(*calls).map(|plan| plan.emitter()) {
            Some(Emitter::Reduced(reduced)) => {
                shaped.kernels += 1;
                shaped.keep += usize::from(reduced.is_kept);
            }
            Some(Emitter::Windowed(_)) => shaped.windows += 1,
            _ => {}
        }
    }
    Ok(shaped)
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// A region of a type, and what it begins with: `LEAST` is the least number of the type.
struct Region {
    name: &'static str,
    text: &'static str,
    initial: &'static str,
}

/// Regions of integers.
const REGIONS: [Region; 4] = [
    Region { name: "add", text: "  ROOT r = T[] add(a, b)\n", initial: "0" },
    Region { name: "max", text: "  ROOT r = T[] maximum(a, b)\n", initial: "LEAST" },
    Region { name: "xor", text: "  ROOT r = T[] xor(a, b)\n", initial: "77" },
    Region { name: "min", text: "  ROOT r = T[] minimum(a, b)\n", initial: "5" },
];

/// The greatest number and where it is, the first of several: a region of two results.
const PAIR: &str = "pair {
  a = T[] parameter(0)\n  i = s32[] parameter(1)\n  b = T[] parameter(2)\n  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT\n  v = T[] select(g, a, b)\n  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, k), direction=LT\n  t = pred[] and(e, l)\n  w = pred[] or(g, t)\n  n = s32[] select(w, i, k)
  ROOT r = (T[], s32[]) tuple(v, n)\n}\n";

/// Types of elements, with their least numbers.
const TYPES: [(&str, &str); 8] = [
    ("s32", "-2147483648"),
    ("s32", "-2147483648"),
    ("u32", "0"),
    ("s8", "-128"),
    ("u16", "0"),
    ("s16", "-32768"),
    ("u64", "0"),
    ("s64", "-9223372036854775808"),
];

/// A fusion in the making, of values of elements, of rows, and of results of other kinds.
struct Fusion {
    rng: Rng,
    ty: &'static str,
    text: String,
    count: usize,
    elements: Vec<String>,
    rows: Vec<String>,
    /// Extents of the elements, and of the rows, with the dimensions that are reduced and those that stay.
    extents: Vec<usize>,
    reduced: Vec<usize>,
    kept: Vec<usize>,
    /// Whether its scans begin at the last element.
    is_reversed: bool,
}

impl Fusion {
    fn shape(&self, of_elements: bool) -> String {
        let extents: Vec<usize> = match of_elements {
            true => self.extents.clone(),
            false => self.kept.iter().map(|dimension| self.extents[*dimension]).collect(),
        };
        format!("{}[{}]", self.ty, list(&extents))
    }

    fn define(&mut self, of_elements: bool, op: &str) -> String {
        let name = format!("v{}", self.count);
        self.count += 1;
        writeln!(self.text, "  {name} = {} {op}", self.shape(of_elements)).expect("strings can be written to");
        if of_elements { &mut self.elements } else { &mut self.rows }.push(name.clone());
        name
    }

    fn any(&mut self, of_elements: bool) -> String {
        let of = if of_elements { &self.elements } else { &self.rows };
        // The last ones are the most likely, so that chains grow.
        let back = self.rng.below(3).min(of.len() - 1);
        of[of.len() - 1 - back].clone()
    }

    fn binary(&mut self, of_elements: bool) {
        let op = ["add", "subtract", "multiply", "maximum", "xor"][self.rng.below(5)];
        let (a, b) = (self.any(of_elements), self.any(of_elements));
        self.define(of_elements, &format!("{op}({a}, {b})"));
    }

    fn reduce(&mut self) {
        let region = &REGIONS[self.rng.below(REGIONS.len())];
        let operand = self.any(true);
        let dimensions = list(&self.reduced);
        let name = region.name;
        self.define(false, &format!("reduce({operand}, i_{name}), dimensions={{{dimensions}}}, to_apply={name}"));
    }

    /// What elements up to each come to, or before each.
    fn scan(&mut self) {
        let region = &REGIONS[self.rng.below(REGIONS.len())];
        let (operand, name, dimension) = (self.any(true), region.name, self.reduced[0]);
        let window = scans::window(&self.extents, dimension, self.is_reversed, self.rng.below(3) == 0);
        self.define(true, &format!("reduce-window({operand}, i_{name}), {window}, to_apply={name}"));
    }

    /// The greatest element of each row, and where it is.
    fn pair(&mut self) {
        let (operand, number, of) = (self.any(true), self.count, self.shape(true));
        let (rows, last) = (self.shape(false), self.reduced[self.reduced.len() - 1]);
        let extents = of.trim_start_matches(self.ty);
        let along = rows.trim_start_matches(self.ty);
        let dimensions = list(&self.reduced);
        write!(
            self.text,
            "  i{number} = s32{extents} iota(), iota_dimension={last}\n  t{number} = ({rows}, s32{along}) reduce({operand}, \
             i{number}, i_max, i_origin), dimensions={{{dimensions}}}, to_apply=pair\n  \
             k{number} = s32{along} get-tuple-element(t{number}), index=1\n"
        )
        .expect("strings can be written to");
        self.define(false, &format!("get-tuple-element(t{number}), index=0"));
        self.define(false, &format!("convert(k{number})"));
    }

    fn broadcast(&mut self) {
        let (row, dimensions) = (self.any(false), list(&self.kept.clone()));
        self.define(true, &format!("broadcast({row}), dimensions={{{dimensions}}}"));
        self.binary(true);
    }
}

/// Extents of a row: short, prime, around powers of two, and long.
const LENGTHS: [usize; 24] =
    [2, 3, 4, 7, 8, 16, 31, 32, 33, 48, 64, 65, 100, 127, 128, 129, 255, 256, 300, 512, 1000, 1023, 2048, 4100];

/// A random fusion around reductions of integers, the same reductions given as one kernel.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let length = LENGTHS[rng.below(LENGTHS.len())];
    let other = |rng: &mut Rng, most: usize| [1, 40, 2, 64, 5, 33, 3, 9, 4][rng.below(most)];
    // Rows, columns, columns of several, dimensions that are reduced apart from each other.
    let most = if length > 1000 { 4 } else { 9 };
    let (extents, reduced): (Vec<usize>, Vec<usize>) = match rng.below(7) {
        0 | 1 => (vec![other(&mut rng, most), length], vec![1]),
        2 => (vec![length, other(&mut rng, most)], vec![0]),
        3 => (vec![other(&mut rng, 5), length, other(&mut rng, most)], vec![1]),
        4 => (vec![other(&mut rng, 5), other(&mut rng, 5), length], vec![0, 2]),
        5 => (vec![2, other(&mut rng, 5), length, other(&mut rng, 5)], vec![0, 2]),
        _ => (vec![3, 2, length], vec![1, 2]),
    };
    let kept = (0..extents.len()).filter(|dimension| !reduced.contains(dimension)).collect();
    let (ty, least) = TYPES[rng.below(TYPES.len())];
    let mut fusion = Fusion {
        ty,
        text: String::new(),
        count: 0,
        elements: vec!["x".to_owned(), "y".to_owned()],
        rows: vec!["p".to_owned()],
        extents,
        is_reversed: rng.below(3) == 0,
        rng,
        reduced,
        kept,
    };
    for _ in 0..fusion.rng.below(3) {
        fusion.binary(true);
    }
    for _ in 0..1 + fusion.rng.below(3) {
        match fusion.rng.below(8) {
            0 => fusion.pair(),
            1 | 2 if fusion.reduced.len() == 1 => fusion.scan(),
            _ => fusion.reduce(),
        }
        if fusion.rng.below(3) > 0 {
            fusion.binary(false);
        }
        if fusion.rng.below(4) > 0 {
            fusion.broadcast();
        }
    }
    // Elements in any order of their dimensions.
    let mut order: Vec<usize> = (0..fusion.extents.len()).rev().collect();
    if fusion.rng.below(3) == 0 {
        let (a, b) = (fusion.rng.below(order.len()), fusion.rng.below(order.len()));
        order.swap(a, b);
    }
    let elements = format!("{}{{{}}}", fusion.shape(true), list(&order));
    let rows = fusion.shape(false);
    let mut outputs: Vec<(String, String)> = Vec::new();
    let last = fusion.rows.last().cloned().unwrap_or_default();
    match fusion.rng.below(4) {
        0 => outputs.push((rows.clone(), last)),
        1 => outputs.push((elements.clone(), fusion.elements[fusion.elements.len() - 1].clone())),
        _ => {
            outputs.push((rows.clone(), last));
            outputs.push((elements.clone(), fusion.elements[fusion.elements.len() - 1].clone()));
            if fusion.rng.below(2) > 0 {
                outputs.push((elements.clone(), fusion.any(true)));
            }
        }
    }
    let mut text = "HloModule m\n".to_owned();
    for Region { name, text: body, .. } in &REGIONS {
        let body = body.replace("T[]", &format!("{ty}[]")).replace("LEAST", least);
        write!(text, "{name} {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n{body}}}\n")
            .expect("it can be written");
    }
    text.push_str(&PAIR.replace("T[]", &format!("{ty}[]")));
    let shapes: Vec<&str> = outputs.iter().map(|(shape, _)| shape.as_str()).collect();
    let names: Vec<&str> = outputs.iter().map(|(_, name)| name.as_str()).collect();
    let tuple = format!("({})", shapes.join(", "));
    let initial: String = REGIONS
        .iter()
        .map(|Region { name, initial, .. }| match *name {
            "xor" => format!("  i_{name} = {ty}[] parameter(3)\n"),
            _ => format!("  i_{name} = {ty}[] constant({})\n", initial.replace("LEAST", least)),
        })
        .chain(["  i_origin = s32[] constant(0)\n".to_owned()])
        .collect();
    write!(
        text,
        "f {{\n  x = {elements} parameter(0)\n  y = {elements} parameter(1)\n  p = {rows} parameter(2)\n{initial}{}  \
         ROOT o = {tuple} tuple({})\n}}\nENTRY e {{\n  x = {elements} parameter(0)\n  y = {elements} parameter(1)\n  \
         p = {rows} parameter(2)\n  i = {ty}[] parameter(3)\n  ROOT c = {tuple} fusion(x, y, p, i), kind=kLoop, calls=f\n}}\n",
        fusion.text,
        names.join(", ")
    )
    .expect("it can be written");
    text
}

#[test]
fn random_fusions_agree_with_the_evaluator() {
    let device = device();
    let options = Options { numbers: Numbers::Any, ..Options::default() };
    let (mut report, mut failures, mut shaped) = (String::new(), 0, [Shaped::default(); 3]);
    let count = cases(120);
    for seed in first_seed()..first_seed() + count {
        let text = random(seed);
        let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        for (target, all) in targets(&device).iter().zip(&mut shaped) {
            match check(&device, target, &module, &options, seed) {
                Ok(own) => {
                    all.kernels += own.kernels;
                    all.keep += own.keep;
                }
                Err(found) => {
                    failures += 1;
                    if failures <= 2 {
                        let (schedule, subgroups) = (target.effective_schedule(), target.features.subgroup.is_some());
                        write!(report, "seed {seed}, {schedule}, subgroups {subgroups}: {found}\n{text}\n")
                            .expect("it can be written");
                    }
                }
            }
        }
    }
    println!("{shaped:?} of {count}");
    assert!(failures == 0, "{failures} of {count} differ\n{report}");
    let [gpu, tree, software] = shaped;
    let most = usize::try_from(count).unwrap_or(0);
    assert!(2 * gpu.kernels > most && gpu.kernels == tree.kernels && 20 * gpu.keep > most, "{shaped:?}");
    assert!(16 * software.kernels > most, "{shaped:?}");
}

/// A loop needs what another one folds once, however many rounds it makes, and so it counts where a device makes few.
#[test]
fn loops_that_need_others_once_are_within_limits() {
    let device = device();
    let text = "HloModule m
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
max { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] maximum(a, b) }
f {
  x = s32[8,600] parameter(0)
  z = s32[] constant(0)
  v0 = s32[8] reduce(x, z), dimensions={1}, to_apply=add
  v1 = s32[8,600] broadcast(v0), dimensions={0}
  v2 = s32[8] reduce(v1, z), dimensions={1}, to_apply=max
  v3 = s32[8,600] broadcast(v2), dimensions={0}
  i = s32[8,600] iota(), iota_dimension=1
  v4 = s32[8,600] xor(v3, i)
  ROOT v5 = s32[8] reduce(v4, z), dimensions={1}, to_apply=add
}
ENTRY e {
  x = s32[8,600] parameter(0)
  ROOT c = s32[8] fusion(x), kind=kLoop, calls=f
}";
    let module = weft_hlo::text::parse(text).unwrap();
    for target in targets(&device) {
        let few = target.with(|target| target.max_loop_iterations = Some(10_000));
        let own = check(&device, &few, &module, &Options::default(), 1).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(own.kernels, usize::from(few.effective_schedule() == Schedule::Gpu));
    }
}
