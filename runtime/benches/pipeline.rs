//! How compile time and run time grow with the program: chains of 8, 64 and 512 diamonds.
//!
//! A diamond is a function, its transpose and their sum; fused without bound, `n` of them would be computed `2^n` times.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use weft_hlo::ir::Literal;
use weft_partition::Target;
use weft_runtime::{Device, Executable, Selection, compile};

const LENGTHS: [usize; 3] = [8, 64, 512];

fn diamonds(n: usize) -> String {
    let mut text = String::from("HloModule diamonds\n\nENTRY main {\n  v0 = f32[64,64] parameter(0)\n");
    for k in 0..n {
        let root = if k + 1 == n { "ROOT " } else { "" };
        write!(
            text,
            "  l{k} = f32[64,64] tanh(v{k})\n  t{k} = f32[64,64] transpose(l{k}), dimensions={{1,0}}\n  \
             {root}v{} = f32[64,64] add(l{k}, t{k})\n",
            k + 1
        )
        .expect("a string takes text");
    }
    text + "}\n"
}

fn stages(criterion: &mut Criterion) {
    let target = Target::default();
    let mut group = criterion.benchmark_group("diamonds");
    for n in LENGTHS {
        let text = diamonds(n);
        let module = weft_hlo::text::parse(&text).expect("the text is well-formed");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::new("parse", n), &text, |bencher, text| {
            bencher.iter(|| weft_hlo::text::parse(black_box(text)));
        });
        group.bench_with_input(BenchmarkId::new("fuse", n), &module, |bencher, module| {
            bencher.iter(|| weft_partition::fuse(black_box(module), &target));
        });
        group.bench_with_input(BenchmarkId::new("compile", n), &module, |bencher, module| {
            bencher.iter(|| compile(black_box(module), &target));
        });
    }
    group.finish();
}

fn runs(criterion: &mut Criterion) {
    let device = Device::new(&Selection::Best).expect("a GPU or a software driver is installed");
    let mut group = criterion.benchmark_group(format!("run on {}", device.info()));
    group.sample_size(10);
    let input = Literal::array(vec![64, 64], vec![0.5f32; 4096]);
    for n in LENGTHS {
        let module = weft_hlo::text::parse(&diamonds(n)).expect("the text is well-formed");
        let program = compile(&module, device.target()).expect("diamonds compile");
        let executable = Executable::new(&device, program).expect("the device takes the kernels");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("diamonds", n), |bencher| {
            bencher.iter(|| executable.run(black_box(std::slice::from_ref(&input))));
        });
    }
    group.finish();
}

criterion_group!(benches, stages, runs);
criterion_main!(benches);
