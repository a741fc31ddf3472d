//! Rows of dots that are folded in the dots' own kernels, by either schedule, against the evaluator's bounds.

use super::list;
use crate::bounded::{bounds, difference};
use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::ir::Module;
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Emitter, FusionPlan, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

/// How many kernels a module is, and how many of these fold rows of sums.
fn folding(module: &Module, target: &Target) -> (usize, usize) {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans: Vec<&FusionPlan> = fused.module.computations.ids().filter_map(|id| fused.plan(id)).collect();
    let kernels = plans.iter().filter(|plan| plan.emitter() != Emitter::Applied).count();
    (kernels, plans.iter().filter(|plan| plan.rows_of_sums().is_some()).count())
}

/// Runs a module and compares; how many kernels it is, and how many of these fold rows of sums.
fn check(device: &Device, target: &Target, text: &str, seed: u64) -> Result<(usize, usize), String> {
    let module = &support::module(text);
    let arguments = inputs(module, seed, &Options { numbers: Numbers::Tame, ..Options::default() });
    let program = compile(module, target).map_err(|error| error.to_string())?;
    if let Some(shader) = program.shaders().iter().find(|shader| !shader.proofs().are_complete()) {
        return Err(format!("{:?}\n{}", shader.proofs(), shader.source));
    }
    let expected = bounds(module, &arguments, target)?;
    let results = Executable::new(device, program).and_then(|it| it.run(&arguments));
    for (expected, result) in expected.iter().zip(&results.map_err(|error| error.to_string())?) {
        if let Some((_, found)) = difference(expected, result) {
            return Err(found);
        }
    }
    Ok(folding(module, target))
}

/// What is computed of the rows of a dot.
const KINDS: [&str; 9] =
    ["softmax", "layernorm", "rmsnorm", "maximum", "sum", "logsumexp", "centered", "gradient", "several"];

/// A program of one dot, of which rows are folded along its columns.
struct Rows {
    batch: Vec<usize>,
    rows: Vec<usize>,
    depth: usize,
    columns: Vec<usize>,
    /// The types of operands, and of results.
    types: [&'static str; 2],
    kind: &'static str,
    /// Whether a bias of columns is added, and an array of all elements.
    adds: [bool; 2],
    /// Whether the left operand has what is contracted first, and the right one has it last.
    flips: [bool; 2],
    /// The order of dimensions in which rows are folded.
    order: Vec<usize>,
    /// Whether the results are in the order of the sums again.
    turns: bool,
}

impl Rows {
    fn random(seed: u64, has_f64: bool) -> Rows {
        let mut rng = Rng::new(seed);
        let kind = KINDS[rng.below(KINDS.len())];
        let extent = |rng: &mut Rng, most: usize| match rng.below(4) {
            0 => [2, 3, 5, 7, 11, 13][rng.below(6)],
            1 => [15, 16, 17, 31, 32, 33][rng.below(6)],
            _ => 4 * (1 + rng.below(most / 4)),
        };
        let columns = match rng.below(6) {
            0 => vec![2 + rng.below(3), extent(&mut rng, 16)],
            1 => vec![[63, 64, 65, 127, 128, 191, 192, 200, 1][rng.below(9)]],
            _ => vec![extent(&mut rng, 72)],
        };
        let rows = if rng.below(4) == 0 { vec![2, extent(&mut rng, 16)] } else { vec![extent(&mut rng, 64)] };
        let batch = [vec![], vec![], vec![3], vec![2, 2]][rng.below(4)].clone();
        let types = [["f32", "f32"], ["f32", "f32"], ["bf16", "f32"], ["bf16", "bf16"], ["f16", "f16"], ["f64", "f64"]];
        let types = types[rng.below(if has_f64 { 6 } else { 5 })];
        let mut order: Vec<usize> = (0..batch.len() + rows.len() + columns.len()).collect();
        if rng.below(4) == 0 {
            rng.shuffle(&mut order);
        }
        let [adds, flips] = [(); 2].map(|()| [rng.below(2) == 0, rng.below(3) == 0]);
        let (depth, turns) = (4 + extent(&mut rng, 40), rng.below(2) == 0);
        Rows { batch, rows, depth, columns, types, kind, adds, flips, order, turns }
    }

    fn text(&self) -> String {
        let Rows { batch, rows, depth, columns, types: [operands, ty], kind, adds, flips, order, turns } = self;
        let first = batch.len();
        let numbers = list(&(0..first).collect::<Vec<_>>());
        let side = |free: &[usize], is_deep: bool| match is_deep {
            true => ([batch.as_slice(), free, &[*depth]].concat(), first + free.len()),
            false => ([batch.as_slice(), &[*depth], free].concat(), first),
        };
        let ((left, of_left), (right, of_right)) = (side(rows, !flips[0]), side(columns, flips[1]));
        let sums = [batch.clone(), rows.clone(), columns.clone()].concat();
        let turned: Vec<usize> = order.iter().map(|own| sums[*own]).collect();
        let is_column = |own: &usize| *own >= first + rows.len();
        let of = |keep: bool| -> Vec<usize> { (0..order.len()).filter(|at| is_column(&order[*at]) != keep).collect() };
        let (kept, folded) = (of(true), of(false));
        let in_rows: Vec<usize> = kept.iter().map(|at| turned[*at]).collect();
        let (shape, row) = (format!("{ty}[{}]", list(&turned)), format!("{ty}[{}]", list(&in_rows)));
        let whole = format!("{ty}[{}]", list(&sums));
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "  {line}").unwrap();
        line(format!("a = {operands}[{}] parameter(0)", list(&left)));
        line(format!("b = {operands}[{}] parameter(1)", list(&right)));
        line(format!(
            "d = {whole} dot(a, b), lhs_batch_dims={{{numbers}}}, rhs_batch_dims={{{numbers}}}, lhs_contracting_dims={{{of_left}}}, \
             rhs_contracting_dims={{{of_right}}}"
        ));
        let mut at = "d";
        if adds[0] {
            let places = list(&(first + rows.len()..sums.len()).collect::<Vec<_>>());
            line(format!("bias = {ty}[{}] parameter(2)", list(columns)));
            line(format!("biases = {whole} broadcast(bias), dimensions={{{places}}}"));
            line(format!("biased = {whole} add({at}, biases)"));
            at = "biased";
        }
        line(format!("t = {shape} transpose({at}), dimensions={{{}}}", list(order)));
        at = "t";
        if adds[1] {
            line(format!("more = {shape} parameter({})", 2 + usize::from(adds[0])));
            line(format!("s = {shape} add({at}, more)"));
            at = "s";
        }
        let (dims, over) = (list(&kept), list(&folded));
        let fold = |name: &str, of: &str, op: &str| {
            let init = if op == "max" { "least" } else { "zero" };
            format!("{name} = {row} reduce({of}, {init}), dimensions={{{over}}}, to_apply={op}")
        };
        let all = |name: &str, of: &str| format!("{name} = {shape} broadcast({of}), dimensions={{{dims}}}");
        let count = columns.iter().product::<usize>();
        line(format!("least = {ty}[] constant(-inf)\n  zero = {ty}[] constant(0)\n  n = {ty}[] constant({count})"));
        line(format!(
            "ns = {row} broadcast(n), dimensions={{}}\n  e0 = {ty}[] constant(0.125)\n  eps = {row} broadcast(e0), dimensions={{}}"
        ));
        let (mut result, mut others) = ("p", Vec::new());
        match *kind {
            "softmax" | "logsumexp" | "several" => {
                line(fold("m", at, "max"));
                line(all("ms", "m"));
                line(format!("x = {shape} subtract({at}, ms)\n  e = {shape} exponential(x)"));
                line(fold("l", "e", "add"));
                match *kind {
                    "logsumexp" => line(format!("g = {row} log(l)\n  p = {row} add(g, m)")),
                    _ => line(format!("{}\n  p = {shape} divide(e, ls)", all("ls", "l"))),
                }
                if *kind == "several" {
                    others = vec![(row.clone(), "m"), (whole.clone(), "d")];
                }
            }
            "layernorm" | "centered" => {
                line(fold("l", at, "add"));
                line(format!("mean = {row} divide(l, ns)\n  {}", all("means", "mean")));
                line(format!("c = {shape} subtract({at}, means)"));
                result = "c";
                if *kind == "layernorm" {
                    line(format!("q = {shape} multiply(c, c)\n  {}", fold("v", "q", "add")));
                    line(format!("w = {row} divide(v, ns)\n  u = {row} add(w, eps)\n  r = {row} rsqrt(u)"));
                    line(format!("{}\n  p = {shape} multiply(c, rs)", all("rs", "r")));
                    result = "p";
                }
            }
            "rmsnorm" => {
                line(format!("q = {shape} multiply({at}, {at})\n  {}", fold("v", "q", "add")));
                line(format!("w = {row} divide(v, ns)\n  u = {row} add(w, eps)\n  r = {row} rsqrt(u)"));
                line(format!("{}\n  p = {shape} multiply({at}, rs)", all("rs", "r")));
            }
            "gradient" => {
                let number = 2 + usize::from(adds[0]) + usize::from(adds[1]);
                line(format!("y = {shape} parameter({number})\n  q = {shape} multiply({at}, y)"));
                line(fold("l", "q", "add"));
                line(format!("{}\n  c = {shape} subtract({at}, ls)\n  p = {shape} multiply(c, y)", all("ls", "l")));
            }
            "maximum" => line(fold("p", at, "max")),
            _ => line(fold("p", at, "add")),
        }
        let is_whole = !matches!(*kind, "maximum" | "sum" | "logsumexp");
        let mut ty_of = if is_whole { shape } else { row };
        if is_whole && *turns {
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, from)| back[*from] = to);
            line(format!("z = {whole} transpose({result}), dimensions={{{}}}", list(&back)));
            (result, ty_of) = ("z", whole);
        }
        let [shapes, names]: [Vec<&str>; 2] = [
            others.iter().map(|(shape, _)| shape.as_str()).chain([ty_of.as_str()]).collect(),
            others.iter().map(|(_, name)| *name).chain([result]).collect(),
        ];
        line(format!("ROOT root = ({}) tuple({})", shapes.join(", "), names.join(", ")));
        let region = |name: &str, op: &str| {
            format!("{name} {{ a = {ty}[] parameter(0)\n b = {ty}[] parameter(1)\n ROOT c = {ty}[] {op}(a, b) }}\n")
        };
        format!("HloModule m\n{}{}ENTRY e {{\n{text}}}\n", region("max", "maximum"), region("add", "add"))
    }
}

fn targets(device: &Device) -> [Target; 2] {
    Schedule::ALL.map(|schedule| device.target().clone().with(|target| target.schedule = Some(schedule)))
}

#[test]
fn random_rows_of_dots_agree_with_the_evaluator() {
    let device = support::device();
    for target in targets(&device) {
        let (mut folded, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(4));
        for seed in first..first + count {
            let text = Rows::random(seed, device.target().features.shader_f64).text();
            match check(&device, &target, &text, seed) {
                Ok((_, folding)) => folded += folding as u64,
                Err(why) => writeln!(report, "seed {seed}: {why}\n{text}").unwrap(),
            }
        }
        eprintln!("{folded} of {count} fold rows of dots");
        assert!(report.is_empty(), "{}: {report}", target.schedule.map_or("", Schedule::name));
        let keeps = target.schedule == Some(Schedule::Gpu) || !target.hardware.few_registers;
        assert!(!keeps || folded * 4 >= count, "{folded} of {count} fold rows of dots");
    }
}
