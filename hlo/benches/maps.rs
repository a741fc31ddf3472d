//! Time of indexing maps: all maps of modules of 1,000, 10,000 and 100,000 instructions, those through chains of 10,
//! 100 and 1,000 operations that are one fusion, and those of tuples of 10, 100, 1,000 and 10,000 arrays.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;
use weft_hlo::indexing::{Analysis, Direction};
use weft_hlo::ir::Module;
use weft_hlo::text::parse;

/// Operations that go around in eight steps, from an array to one of the same shape.
fn body(instructions: usize) -> String {
    let mut text =
        String::from("  x0 = f32[8,16] parameter(0)\n  one = f32[] constant(1)\n  at = s32[] parameter(1)\n");
    for k in 0..instructions / 8 {
        write!(
            text,
            "  t{k} = f32[16,8] transpose(x{k}), dimensions={{1,0}}\n  v{k} = f32[8,16] transpose(t{k}), dimensions={{1,0}}\n  \
             l{k} = f32[8,20] pad(v{k}, one), padding=0_0x2_2\n  d{k} = f32[8,16] dynamic-slice(l{k}, at, at), dynamic_slice_sizes={{8,16}}\n  \
             r{k} = f32[4,32] reshape(d{k})\n  w{k} = f32[8,16] reshape(r{k})\n  n{k} = f32[8,16] negate(w{k})\n  x{} = f32[8,16] add(n{k}, w{k})\n",
            k + 1
        )
        .expect("a String takes any text");
    }
    writeln!(text, "  ROOT r = f32[8,16] negate(x{})", instructions / 8).expect("a String takes any text");
    text
}

fn modules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("all maps of a module");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    for instructions in [1_000, 10_000, 100_000] {
        let module =
            parse(&format!("HloModule m\nENTRY e {{\n{}}}\n", body(instructions))).expect("the text is a module");
        group.throughput(Throughput::Elements(module.instruction_count() as u64));
        for (name, direction) in [("to inputs", Direction::OutputToInput), ("to outputs", Direction::InputToOutput)] {
            group.bench_function(format!("{name}/{instructions}"), |bencher| {
                bencher.iter(|| {
                    let mut analysis = Analysis::new(black_box(&module));
                    let ids = module.entry_computation().instructions.ids();
                    ids.map(|id| analysis.instruction(module.entry, id, direction).dependences.len()).sum::<usize>()
                });
            });
        }
    }
    group.finish();
}

/// A fusion of transposes, reshapes, reversals and elementwise operations.
fn chain(operations: usize) -> Module {
    let mut text = String::from("HloModule m\nf {\n  x0 = f32[8,16] parameter(0)\n");
    for k in 0..operations / 5 {
        write!(
            text,
            "  t{k} = f32[16,8] transpose(x{k}), dimensions={{1,0}}\n  r{k} = f32[4,32] reshape(t{k})\n  \
             e{k} = f32[4,32] reverse(r{k}), dimensions={{1}}\n  w{k} = f32[16,8] reshape(e{k})\n  \
             x{} = f32[8,16] transpose(w{k}), dimensions={{1,0}}\n",
            k + 1
        )
        .expect("a String takes any text");
    }
    let last = operations / 5;
    write!(
        text,
        "  ROOT n = f32[8,16] negate(x{last})\n}}\nENTRY e {{\n  p = f32[8,16] parameter(0)\n  \
         ROOT o = f32[8,16] fusion(p), kind=kLoop, calls=f\n}}\n"
    )
    .expect("a String takes any text");
    parse(&text).expect("the text is a module")
}

fn fusions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("maps through a fusion");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    for operations in [10, 100, 1_000] {
        let module = chain(operations);
        group.throughput(Throughput::Elements(operations as u64));
        group.bench_function(operations.to_string(), |bencher| {
            bencher.iter(|| {
                let root = module.entry_computation().root;
                Analysis::new(black_box(&module)).instruction(module.entry, root, Direction::OutputToInput)
            });
        });
    }
    group.finish();
}

/// Arrays that become a tuple, which is taken apart: as many parameters, elements taken and, of what is taken, elements of
/// the root, each negated on the way.
fn tuples_of(arrays: usize) -> Module {
    let list = |name: &str| (0..arrays).map(|k| format!("{name}{k}")).collect::<Vec<_>>().join(", ");
    let shapes = vec!["f32[4]"; arrays].join(", ");
    let mut text = String::from("HloModule m\nENTRY e {\n");
    for k in 0..arrays {
        writeln!(text, "  p{k} = f32[4] parameter({k})").expect("a String takes any text");
    }
    writeln!(text, "  whole = ({shapes}) tuple({})", list("p")).expect("a String takes any text");
    for k in 0..arrays {
        writeln!(text, "  g{k} = f32[4] get-tuple-element(whole), index={k}\n  n{k} = f32[4] negate(g{k})")
            .expect("a String takes any text");
    }
    writeln!(text, "  ROOT r = ({shapes}) tuple({})\n}}", list("n")).expect("a String takes any text");
    parse(&text).expect("the text is a module")
}

fn tuples(criterion: &mut Criterion) {
    for (name, direction) in [("to inputs", Direction::OutputToInput), ("to outputs", Direction::InputToOutput)] {
        let mut group = criterion.benchmark_group(format!("maps of tuples {name}"));
        group.sample_size(10).measurement_time(Duration::from_secs(2));
        for arrays in [10, 100, 1_000, 10_000] {
            let module = tuples_of(arrays);
            let entry = module.entry_computation();
            group.throughput(Throughput::Elements(arrays as u64));
            group.bench_function(format!("instructions/{arrays}"), |bencher| {
                bencher.iter(|| {
                    let mut analysis = Analysis::new(black_box(&module));
                    let ids = entry.instructions.ids();
                    ids.map(|id| analysis.instruction(module.entry, id, direction).dependences.len()).sum::<usize>()
                });
            });
            group.bench_function(format!("computation/{arrays}"), |bencher| {
                bencher.iter(|| Analysis::new(black_box(&module)).computation(module.entry, direction));
            });
            let roots = match direction {
                Direction::OutputToInput => vec![entry.root],
                Direction::InputToOutput => entry.parameters(),
            };
            group.bench_function(format!("sub-graph/{arrays}"), |bencher| {
                bencher.iter(|| {
                    Analysis::new(black_box(&module)).subgraph(module.entry, &roots, direction, |_| true).groups.len()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, modules, fusions, tuples);
criterion_main!(benches);
