//! Random modules verify, survive printing, and compute the same before and after every pass.
//!
//! 300 modules each; `WEFT_RANDOM_MODULES=N` for N of them, `WEFT_RANDOM_SEED=S` for another first seed,
//! `WEFT_RANDOM_LAYOUTS=1` for passes on modules with layouts.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft_hlo::eval::{Config, evaluate_with};
use weft_hlo::ir::{Complex, Data, FloatFormat, Literal, Module, Scalar};
use weft_hlo::passes::{PASSES, Pipeline};
use weft_hlo::random::{self, Options};
use weft_hlo::{text, verify};

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |value| value.parse().expect("a number"))
}

fn seeds() -> std::ops::Range<u64> {
    let first = number("WEFT_RANDOM_SEED", 0);
    first..first + number("WEFT_RANDOM_MODULES", 300)
}

/// The results, or why there are none: refused by a code, or a panic.
fn values(module: &Module, seed: u64) -> Result<Vec<Literal>, String> {
    let config = Config { iteration_limit: Some(64), instruction_limit: 1 << 24, ..Config::default() };
    let inputs = random::inputs(module, seed);
    match catch_unwind(AssertUnwindSafe(|| evaluate_with(module, &inputs, &config))) {
        Ok(results) => results.map_err(|refused| refused.to_string()),
        Err(_) => Err("a panic".to_owned()),
    }
}

/// Whether two elements agree bit for bit, where a NaN is any NaN; of complex numbers part by part.
fn same(a: Scalar, b: Scalar) -> bool {
    a == b
        || parts(a)
            .zip(parts(b))
            .is_some_and(|(a, b)| a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()))
}

/// A float as a wider one that holds it.
fn parts(scalar: Scalar) -> Option<[f64; 2]> {
    let element_type = scalar.element_type();
    match scalar {
        Scalar::C64(Complex { re, im }) => Some([re.into(), im.into()]),
        Scalar::C128(Complex { re, im }) => Some([re, im]),
        Scalar::F64(value) => Some([value, 0.0]),
        Scalar::F32(value) => Some([value.into(), 0.0]),
        _ => {
            let format = FloatFormat::of(element_type)?;
            let Some(Data::U16(bits)) =
                weft_hlo::eval::reinterpreted(&Data::from(scalar), weft_hlo::ir::ElementType::U16)
            else {
                return None;
            };
            Some([format.value(bits[0]).into(), 0.0])
        }
    }
}

fn all_same(a: &[Literal], b: &[Literal]) -> bool {
    let alike = |(a, b): (&Literal, &Literal)| {
        let count = a.data.len().unwrap_or(0);
        a.shape.is_compatible(&b.shape)
            && (0..count).all(|at| a.data.get(at).zip(b.data.get(at)).is_some_and(|(a, b)| same(a, b)))
    };
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

/// Fails with what was found, each kind with how often, and the smallest modules.
fn report(mut failures: Vec<(usize, String)>) {
    failures.sort();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, failure) in &failures {
        let first = failure.lines().next().unwrap_or_default();
        *kinds.entry(first.split_once(": ").map_or(first, |(_, kind)| kind)).or_default() += 1;
    }
    let shown: Vec<&str> = failures.iter().take(3).map(|(_, failure)| failure.as_str()).collect();
    assert!(shown.is_empty(), "{kinds:#?}\n{}", shown.join("\n\n"));
}

#[test]
fn every_module_verifies() {
    let options = Options::default();
    let mut failures = Vec::new();
    for seed in seeds() {
        let module = random::module(seed, &options);
        if let Err(findings) = verify::verify(&module) {
            failures.push((module.instruction_count(), format!("{seed}: {findings}\n{}", text::print(&module))));
        }
    }
    report(failures);
}

#[test]
fn every_module_is_read_as_it_was_printed() {
    let options = Options::default();
    let mut failures = Vec::new();
    for seed in seeds() {
        let module = random::module(seed, &options);
        let printed = text::print(&module);
        match text::parse(&printed) {
            Err(findings) => failures.push((printed.len(), format!("{seed}: {findings}\n{printed}"))),
            Ok(read) if read != module => failures.push((printed.len(), format!("{seed}: not the same\n{printed}"))),
            Ok(_) => {}
        }
    }
    report(failures);
}

#[test]
fn every_module_computes_the_same_when_it_was_printed_and_read() {
    let options = Options::default();
    let mut failures = Vec::new();
    for seed in seeds() {
        let module = random::module(seed, &options);
        let printed = text::print(&module);
        let read = text::parse(&printed).expect("another test is about that");
        match (values(&module, seed), values(&read, seed)) {
            (Ok(a), Ok(b)) if all_same(&a, &b) => {}
            (Ok(_), Ok(_)) => failures.push((printed.len(), format!("{seed}: another value\n{printed}"))),
            (Err(why), _) | (_, Err(why)) => failures.push((printed.len(), format!("{seed}: {why}\n{printed}"))),
        }
    }
    report(failures);
}

#[test]
fn every_pass_keeps_what_a_module_computes() {
    let options = Options { layouts: true, ..Options::default() };
    let mut failures = Vec::new();
    let mut changed: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in seeds() {
        let module = random::module(seed, &options);
        let before = match values(&module, seed) {
            Ok(before) => before,
            Err(why) => {
                failures.push((module.instruction_count(), format!("{seed}: {why}\n{}", text::print(&module))));
                continue;
            }
        };
        for pass in PASSES {
            let found = match catch_unwind(AssertUnwindSafe(|| pass.run(&module))) {
                Err(_) => Some("panics".to_owned()),
                Ok(Err(findings)) => Some(format!("refuses: {findings}")),
                Ok(Ok(rewritten)) => {
                    *changed.entry(pass.name()).or_default() += usize::from(!rewritten.changes.is_empty());
                    difference(&before, &rewritten.module, seed)
                }
            };
            if let Some(found) = found {
                let printed = text::print(&module);
                failures.push((printed.len(), format!("{seed}: {} {found}\n{printed}", pass.name())));
            }
        }
    }
    println!("modules changed by each pass: {changed:?}");
    // There are no custom calls in random modules.
    let missed = PASSES.iter().filter(|pass| changed.get(pass.name()) == Some(&0)).map(|pass| pass.name());
    assert_eq!(missed.collect::<Vec<_>>(), ["custom-calls"]);
    report(failures);
}

#[test]
fn the_pipeline_keeps_what_a_module_computes_and_comes_to_an_end() {
    let options = Options { layouts: true, ..Options::default() };
    let mut failures = Vec::new();
    for seed in seeds() {
        let module = random::module(seed, &options);
        let before = match values(&module, seed) {
            Ok(before) => before,
            Err(why) => {
                failures.push((module.instruction_count(), format!("{seed}: {why}\n{}", text::print(&module))));
                continue;
            }
        };
        let found = match Pipeline::default().run(&module) {
            Err(findings) => Some(format!("refuses: {findings}")),
            Ok(optimized) if !optimized.is_fixed_point => Some("does not come to an end".to_owned()),
            Ok(optimized) => difference(&before, &optimized.module, seed),
        };
        if let Some(found) = found {
            let printed = text::print(&module);
            failures.push((printed.len(), format!("{seed}: the pipeline {found}\n{printed}")));
        }
    }
    report(failures);
}

/// What is wrong with a module that is to compute these values.
fn difference(before: &[Literal], after: &Module, seed: u64) -> Option<String> {
    if let Err(findings) = verify::verify(after) {
        return Some(format!("makes what does not verify: {findings}\n{}", text::print(after)));
    }
    match values(after, seed) {
        Err(why) => Some(format!("makes what has no value: {why}\n{}", text::print(after))),
        Ok(values) if !all_same(before, &values) => Some(format!("changes the value\n{}", text::print(after))),
        Ok(_) => None,
    }
}
