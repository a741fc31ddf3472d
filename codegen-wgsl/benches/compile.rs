//! How long a fusion takes to become validated WGSL, verifier included, and how that grows.
//!
//! `cargo bench -p weft-codegen-wgsl`: the median, the 90th percentile and the longest over all fusions of the corpus (each the
//! least of five), then chains of elementwise instructions and of diamonds, planned and compiled as one kernel each.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a table on the terminal is what this program is for")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use weft_codegen_wgsl::compile;
use weft_hlo::passes::Pipeline;
use weft_hlo::text::parse;
use weft_partition::{Fused, Target, fuse};

const REPEATED: usize = 5;

fn main() {
    let target = Target::default();
    let mut times = Vec::new();
    for (name, program) in corpus() {
        let Ok(module) = parse(&program) else { continue };
        let Ok(optimized) = Pipeline::default().run(&module) else { continue };
        let Ok(fused) = fuse(&optimized.module, &target) else { continue };
        for site in fused.fusions() {
            let one = || timed(|| compile(&fused, site, &target).map(drop).unwrap());
            let fusion = fused.name(site);
            times.push(((0..REPEATED).map(|_| one()).min().unwrap(), format!("{name}/{fusion}")));
        }
    }
    times.sort();
    let at = |part: usize| millis(times[(times.len() - 1) * part / 100].0);
    println!("{} fusions of the corpus: median {} ms, 90 % within {} ms, the longest:", times.len(), at(50), at(90));
    for (time, name) in times.iter().rev().take(5) {
        println!("  {:>8} ms  {name}", millis(*time));
    }
    println!(
        "\n{:<10}{:>8} {:>10} {:>12} {:>14} {:>12}",
        "chain", "steps", "plan ms", "compile ms", "us a step", "WGSL bytes"
    );
    for steps in [10, 100, 1_000, 10_000, 16_000] {
        report("elements", steps, &elements(steps), &target);
    }
    for steps in [8, 64, 512] {
        report("diamonds", steps, &diamonds(steps), &target);
    }
}

fn report(name: &str, steps: usize, text: &str, target: &Target) {
    let module = parse(text).unwrap();
    let mut planned = None;
    let plan = timed(|| planned = Some(Fused::of(module.clone(), target).unwrap()));
    let fused = planned.unwrap();
    let site = fused.fusions().next().unwrap();
    let mut bytes = 0;
    let compiled = timed(|| bytes = compile(&fused, site, target).unwrap().source.len());
    let each = (plan + compiled).as_secs_f64() * 1e6 / steps as f64;
    println!("{name:<10}{steps:>8} {:>10} {:>12} {each:>14.1} {bytes:>12}", millis(plan), millis(compiled));
}

/// A fusion of `steps` elementwise instructions, each of the one before and, in turn, of the parameter.
fn elements(steps: usize) -> String {
    let mut body = String::from("x = f32[1024] parameter(0)\n");
    for step in 0..steps {
        let before = if step == 0 { "x".to_owned() } else { format!("v{}", step - 1) };
        let root = if step + 1 == steps { "ROOT " } else { "" };
        let op = ["add", "multiply", "subtract", "maximum"][step % 4];
        writeln!(body, "{root}v{step} = f32[1024] {op}({before}, x)").unwrap();
    }
    whole(&body, "f32[1024]")
}

/// A fusion of `steps` diamonds, each the logarithm of the one before, plus that transposed: `2^steps` paths.
fn diamonds(steps: usize) -> String {
    let mut body = String::from("x = f32[8,8] parameter(0)\n");
    for step in 0..steps {
        let before = if step == 0 { "x".to_owned() } else { format!("sum{}", step - 1) };
        let root = if step + 1 == steps { "ROOT " } else { "" };
        writeln!(body, "log{step} = f32[8,8] log({before})").unwrap();
        writeln!(body, "turned{step} = f32[8,8] transpose(log{step}), dimensions={{1,0}}").unwrap();
        writeln!(body, "{root}sum{step} = f32[8,8] add(log{step}, turned{step})").unwrap();
    }
    whole(&body, "f32[8,8]")
}

fn whole(body: &str, shape: &str) -> String {
    format!(
        "HloModule growth\nf {{\n{body}}}\nENTRY main {{\nx = {shape} parameter(0)\n\
         ROOT all = {shape} fusion(x), kind=kLoop, calls=f\n}}"
    )
}

fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut texts = Vec::new();
    for program in fs::read_dir(root).unwrap() {
        let program = program.unwrap();
        if let Ok(text) = fs::read_to_string(program.path().join("unoptimized.hlo")) {
            texts.push((program.file_name().to_string_lossy().into_owned(), text));
        }
    }
    texts
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}
