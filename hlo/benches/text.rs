//! Time of reading, verifying and writing HLO text, in bytes per second: programs, literals of every element type, and
//! texts of growing size.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::{Display, LowerExp, Write};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use weft_hlo::ir::{ElementType, FloatFormat};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    std::fs::read_to_string(path).expect("the corpus is there")
}

/// A module with one constant of `rows` times 1000 elements.
fn constant(element_type: &str, rows: usize, element: impl Fn(usize) -> String) -> String {
    let mut text = format!("HloModule m\n\nENTRY e {{\n  ROOT c = {element_type}[{rows},1000]{{1,0}} constant({{ ");
    for row in 0..rows {
        let elements: Vec<String> = (0..1000).map(|column| element(row * 1000 + column)).collect();
        let comma = if row > 0 { ", " } else { "" };
        write!(text, "{comma}{{ {} }}", elements.join(", ")).expect("a String takes any text");
    }
    text.push_str(" })\n}\n");
    text
}

/// A chain of instructions with metadata, in one computation of about that many bytes.
fn chain(bytes: usize) -> String {
    let mut text = String::from("HloModule m\n\nENTRY %e (x0: f32[8,128]) -> f32[8,128] {\n");
    text.push_str("  %x0 = f32[8,128]{1,0} parameter(0)\n");
    let mut number = 0;
    while text.len() < bytes {
        writeln!(
            text,
            "  %x{} = f32[8,128]{{1,0}} add(%x{number}, %x{number}), \
             metadata={{op_name=\"jit(f)/jit(main)/add\" source_file=\"f.py\" source_line={number}}}",
            number + 1
        )
        .expect("a String takes any text");
        number += 1;
    }
    text.push_str("}\n\n");
    text
}

/// Texts of 1, 10 and 100 MB: the bytes per second are to stay the same.
fn growth(criterion: &mut Criterion) {
    for megabytes in [1, 10, 100] {
        let text = chain(megabytes * 1_000_000);
        let module = parse(&text).expect("the text is a module");
        let mut group = criterion.benchmark_group(format!("{megabytes} MB"));
        group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(100));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(&text))));
        group.bench_function("verify", |bencher| bencher.iter(|| verify(black_box(&module))));
        group.bench_function("print", |bencher| bencher.iter(|| print(black_box(&module))));
        group.finish();
    }
}

/// Well mixed bits of a number.
fn mixed(number: usize) -> u32 {
    (number as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(13).wrapping_mul(0xc2b2_ae35)
}

/// Well mixed 64 bits of a number.
fn wide(number: usize) -> u64 {
    u64::from(mixed(number)) << 32 | u64::from(mixed(number + 0x1234_5678))
}

fn text(criterion: &mut Criterion) {
    let weights =
        constant("f32", 300, |number| format!("{:.9}", f64::from(mixed(number)) / f64::from(u32::MAX) * 0.2 - 0.1));
    let anything = constant("f32", 300, |number| {
        let value = f32::from_bits(mixed(number));
        if value.is_finite() { format!("{value:e}") } else { "inf".to_owned() }
    });
    let cases = [
        ("optimized program", program("flax_transformer_train_adamw/optimized_cpu.hlo")),
        ("unoptimized program", program("flax_transformer_train_adamw/unoptimized.hlo")),
        ("f32 weights", weights),
        ("f32 of all magnitudes", anything),
        ("f64 of few digits", constant("f64", 300, |number| (f64::from(mixed(number) >> 8) / 1e3).to_string())),
        ("f64 integers", constant("f64", 300, |number| (mixed(number) % 1000).to_string())),
    ];
    for (name, text) in cases {
        measure(criterion, name, &text);
    }
}

/// A constant of each element type, of values all over its range; of those of at most eight bits, all values.
fn types(criterion: &mut Criterion) {
    for &element_type in ElementType::ALL {
        measure(
            criterion,
            element_type.name(),
            &constant(element_type.name(), 300, |number| spelled(element_type, number)),
        );
    }
}

/// A value of the type, as some printer may have spelled it.
fn spelled(element_type: ElementType, number: usize) -> String {
    let bits = wide(number) >> (64 - element_type.bits().min(64));
    let signed = (wide(number) as i64) >> (64 - element_type.bits().min(64));
    match element_type {
        ElementType::Pred => (bits & 1).to_string(),
        ElementType::C64 | ElementType::C128 => {
            let part = if element_type == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            format!("({}, {})", spelled(part, number), spelled(part, number + 1))
        }
        ElementType::F32 => float(f32::from_bits(bits as u32)),
        ElementType::F64 => float(f64::from_bits(bits)),
        _ if element_type.is_signed() => signed.to_string(),
        _ if element_type.is_unsigned() => bits.to_string(),
        _ => FloatFormat::of(element_type).map_or_else(String::new, |format| float(format.value(bits as u16))),
    }
}

/// A number; 1 in place of what is none, which not every type has.
fn float(value: impl Into<f64> + Display + LowerExp + Copy) -> String {
    let magnitude = value.into().abs();
    match magnitude {
        _ if !magnitude.is_finite() => "1".to_owned(),
        _ if magnitude == 0.0 || (1e-4..1e6).contains(&magnitude) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Reading, verifying and writing of one text.
fn measure(criterion: &mut Criterion, name: &str, text: &str) {
    let module = parse(text).expect("the text is a module");
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(text))));
    group.bench_function("verify", |bencher| bencher.iter(|| verify(black_box(&module))));
    group.bench_function("parse and verify", |bencher| {
        bencher.iter(|| parse(black_box(text)).map(|module| verify(&module)));
    });
    group.throughput(Throughput::Bytes(print(&module).len() as u64));
    group.bench_function("print", |bencher| bencher.iter(|| print(black_box(&module))));
    group.finish();
}

criterion_group!(benches, text, types, growth);
criterion_main!(benches);
