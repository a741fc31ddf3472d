//! Time of the evaluator and the passes: elements per second of elementwise operations and reductions, products per
//! second of a dot, and each pass on modules of 1,000, 10,000 and 100,000 instructions.
//!
//! `benches/times_of_numpy.py` times NumPy on the same.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module};
use weft_hlo::passes::{PASSES, Pipeline};
use weft_hlo::text::parse;

/// Elements of an array of the elementwise benchmarks.
const ELEMENTS: i64 = 1 << 22;

fn floats(extents: &[i64]) -> Literal {
    let count = extents.iter().product::<i64>();
    Literal::array(extents, (0..count).map(|k| (k % 1000) as f32 * 0.001 + 0.5).collect::<Vec<f32>>())
}

fn module(body: &str) -> Module {
    parse(&format!("HloModule m\n\nsum {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n\n{body}"))
        .expect("the text is a module")
}

fn elementwise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("elementwise");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).throughput(Throughput::Elements(ELEMENTS as u64));
    let inputs = [floats(&[ELEMENTS]), floats(&[ELEMENTS])];
    for (name, root) in [
        ("add", "f32[N] add(x, y)"),
        ("multiply", "f32[N] multiply(x, y)"),
        ("divide", "f32[N] divide(x, y)"),
        ("remainder", "f32[N] remainder(x, y)"),
        ("maximum", "f32[N] maximum(x, y)"),
        ("power", "f32[N] power(x, y)"),
        ("atan2", "f32[N] atan2(x, y)"),
        ("compare", "pred[N] compare(x, y), direction=LT"),
        ("convert to s32", "s32[N] convert(x)"),
        ("convert to f16", "f16[N] convert(x)"),
        ("negate", "f32[N] negate(x)"),
        ("floor", "f32[N] floor(x)"),
        ("sqrt", "f32[N] sqrt(x)"),
        ("cbrt", "f32[N] cbrt(x)"),
        ("exponential", "f32[N] exponential(x)"),
        ("exponential minus one", "f32[N] exponential-minus-one(x)"),
        ("log", "f32[N] log(x)"),
        ("log plus one", "f32[N] log-plus-one(x)"),
        ("sine", "f32[N] sine(x)"),
        ("cosine", "f32[N] cosine(x)"),
        ("tan", "f32[N] tan(x)"),
        ("tanh", "f32[N] tanh(x)"),
    ] {
        let text = "ENTRY e {\n  x = f32[N] parameter(0)\n  y = f32[N] parameter(1)\n  ROOT r = ROOTOP\n}\n";
        let module = module(&text.replace("ROOTOP", root).replace("[N]", &format!("[{ELEMENTS}]")));
        group.bench_function(name, |bencher| bencher.iter(|| evaluate(&module, black_box(&inputs))));
    }
    let sum = "ENTRY e {\n  x = f32[2048,2048] parameter(0)\n  z = f32[] constant(0)\n  \
               ROOT r = f32[2048] reduce(x, z), dimensions={1}, to_apply=sum\n}\n";
    let (sum, input) = (module(sum), [floats(&[2048, 2048])]);
    group.bench_function("sum of rows", |bencher| bencher.iter(|| evaluate(&sum, black_box(&input))));
    group.finish();
}

fn dot(criterion: &mut Criterion) {
    let text = "ENTRY e {\n  x = f32[512,512] parameter(0)\n  y = f32[512,512] parameter(1)\n  \
                ROOT r = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let (module, inputs) = (module(text), [floats(&[512, 512]), floats(&[512, 512])]);
    let mut group = criterion.benchmark_group("dot");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).throughput(Throughput::Elements(512 * 512 * 512));
    group.bench_function("512", |bencher| bencher.iter(|| evaluate(&module, black_box(&inputs))));
    group.finish();
}

/// A module of about so many instructions, in which every pass finds something to do.
fn program(instructions: usize) -> Module {
    let mut text = String::from("ENTRY e {\n  x0 = f32[8,16] parameter(0)\n  one = f32[] constant(1)\n");
    for k in 0..instructions / 8 {
        write!(
            text,
            "  t{k} = f32[16,8] transpose(x{k}), dimensions={{1,0}}\n  v{k} = f32[8,16] transpose(t{k}), dimensions={{1,0}}\n  \
             b{k} = f32[8,16] broadcast(one), dimensions={{}}\n  m{k} = f32[8,16] multiply(v{k}, b{k})\n  \
             r{k} = f32[4,32] reshape(m{k})\n  w{k} = f32[8,16] reshape(r{k})\n  n{k} = f32[8,16] negate(w{k})\n  x{} = f32[8,16] add(n{k}, w{k})\n",
            k + 1
        )
        .expect("a String takes any text");
    }
    write!(text, "  ROOT r = f32[8,16] negate(x{})\n}}\n", instructions / 8).expect("a String takes any text");
    module(&text)
}

fn passes(criterion: &mut Criterion) {
    for instructions in [1_000, 10_000, 100_000] {
        let module = program(instructions);
        let mut group = criterion.benchmark_group(format!("{instructions} instructions"));
        group.sample_size(10).measurement_time(Duration::from_millis(500)).warm_up_time(Duration::from_millis(50));
        group.throughput(Throughput::Elements(module.instruction_count() as u64));
        for pass in PASSES {
            group.bench_function(pass.name(), |bencher| bencher.iter(|| pass.run(black_box(&module))));
        }
        group.bench_function("all passes", |bencher| bencher.iter(|| Pipeline::default().run(black_box(&module))));
        group.finish();
    }
}

criterion_group!(benches, elementwise, dot, passes);
criterion_main!(benches);
