//! Random modules verify, survive printing, and compute the same before and after every pass.
//!
//! 300 modules each; `WEFT_CASES=N` for N times as many, `WEFT_SEED=S` for another first seed.

use crate::count::{cases, first_seed};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft_hlo::eval::{Config, evaluate_with};
use weft_hlo::ir::{Complex, Data, FloatFormat, Literal, Module, Scalar};
use weft_hlo::passes::{PASSES, Pipeline, flatten, flatten_around};
use weft_hlo::random::{self, Options};
use weft_hlo::{text, verify};

fn seeds() -> std::ops::Range<u64> {
    first_seed()..first_seed() + cases(300)
}

/// The results, or why there are none: refused by a code, or a panic.
fn values(module: &Module, seed: u64) -> Result<Vec<Literal>, String> {
    let config = Config { iteration_limit: Some(64), instruction_limit: 1 << 24, ..Config::default() };
    let inputs = random::inputs(module, seed, &Options::default());
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

/// Whether results are the same bit for bit, where a NaN is any NaN.
pub(crate) fn all_same(a: &[Literal], b: &[Literal]) -> bool {
    let alike = |(a, b): (&Literal, &Literal)| {
        let count = a.data.len().unwrap_or(0);
        a.shape.is_compatible(&b.shape)
            && (0..count).all(|at| a.data.get(at).zip(b.data.get(at)).is_some_and(|(a, b)| same(a, b)))
    };
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

/// Fails with what was found of all modules, each kind with how often, and the smallest modules.
fn judge(options: &Options, mut wrong: impl FnMut(u64, &Module) -> Vec<String>) {
    let mut failures: Vec<(usize, String)> = Vec::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds() {
        let module = random::module(seed, options);
        for found in wrong(seed, &module) {
            *kinds.entry(found.lines().next().unwrap_or_default().to_owned()).or_default() += 1;
            failures.push((module.instruction_count(), format!("{seed}: {found}\n{}", text::print(&module))));
        }
    }
    failures.sort();
    let shown: Vec<&str> = failures.iter().take(3).map(|(_, failure)| failure.as_str()).collect();
    assert!(shown.is_empty(), "{kinds:#?}\n{}", shown.join("\n\n"));
}

#[test]
fn every_module_verifies() {
    judge(&Options::default(), |_, module| verify::verify(module).err().into_iter().map(|it| it.to_string()).collect());
}

#[test]
fn every_module_is_read_as_it_was_printed() {
    judge(&Options::default(), |_, module| match text::parse(&text::print(module)) {
        Err(findings) => vec![findings.to_string()],
        Ok(read) if read != *module => vec!["not the same".to_owned()],
        Ok(_) => Vec::new(),
    });
}

#[test]
fn every_module_computes_the_same_when_it_was_printed_and_read() {
    judge(&Options::default(), |seed, module| {
        let read = text::parse(&text::print(module)).expect("another test is about that");
        match values(module, seed) {
            Ok(before) => difference(&before, &read, seed).into_iter().collect(),
            Err(why) => vec![why],
        }
    });
}

#[test]
fn every_pass_keeps_what_a_module_computes() {
    let mut changed: BTreeMap<&str, usize> = PASSES.iter().map(|pass| (pass.name(), 0)).collect();
    judge(&Options { layouts: true, ..Options::default() }, |seed, module| {
        let before = match values(module, seed) {
            Ok(before) => before,
            Err(why) => return vec![why],
        };
        let mut found = Vec::new();
        for pass in PASSES {
            let wrong = match catch_unwind(AssertUnwindSafe(|| pass.run(module))) {
                Err(_) => Some("panics".to_owned()),
                Ok(Err(findings)) => Some(format!("refuses: {findings}")),
                Ok(Ok(rewritten)) => {
                    *changed.entry(pass.name()).or_default() += usize::from(!rewritten.changes.is_empty());
                    difference_if_changed(module, &before, &rewritten.module, seed)
                }
            };
            found.extend(wrong.map(|wrong| format!("{} {wrong}", pass.name())));
        }
        found
    });
    println!("modules changed by each pass: {changed:?}");
    // What these rewrite, random modules hold rarely or, as custom calls, never.
    let rare = ["custom-calls"];
    let missed = changed.iter().filter(|(name, count)| **count == 0 && !rare.contains(name)).map(|(name, _)| *name);
    assert_eq!(missed.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn the_pipeline_keeps_what_a_module_computes_and_comes_to_an_end() {
    judge(&Options { layouts: true, ..Options::default() }, |seed, module| {
        let found = match (values(module, seed), Pipeline::default().run(module)) {
            (Err(why), _) => Some(why),
            (_, Err(findings)) => Some(format!("refuses: {findings}")),
            (_, Ok(optimized)) if !optimized.is_fixed_point => Some("does not come to an end".to_owned()),
            (Ok(before), Ok(optimized)) => difference_if_changed(module, &before, &optimized.module, seed),
        };
        found.into_iter().collect()
    });
}

/// Nothing is refused, and where nothing has to stay as it is both ways to flatten make as much.
#[test]
fn every_module_is_flattened_around_what_has_to_stay() {
    let mut both = 0;
    judge(&Options { layouts: true, ..Options::default() }, |seed, module| {
        let flat = match flatten_around(module) {
            Ok(flat) => flat,
            Err(findings) => return vec![format!("refused: {findings}")],
        };
        if let Err(findings) = verify::verify(&flat) {
            return vec![format!("makes what does not verify: {findings}\n{}", text::print(&flat))];
        }
        if let Ok(strict) = flatten(module) {
            both += 1;
            if strict.instruction_count() != flat.instruction_count() {
                return vec![format!("is larger\n{}\n{}", text::print(&strict), text::print(&flat))];
            }
        }
        // Parameters are flattened, so both take the same list of arrays.
        let config = Config { iteration_limit: Some(64), instruction_limit: 1 << 24, ..Config::default() };
        let inputs = random::inputs(module, seed, &Options::default());
        let run = |module| evaluate_with(module, &inputs, &config).map_err(|refused| refused.to_string());
        match (run(module), run(&flat)) {
            (Ok(before), Ok(after)) if !all_same(&before, &after) => {
                vec![format!("changes the value\n{}", text::print(&flat))]
            }
            (Ok(_), Err(why)) => vec![format!("makes what has no value: {why}\n{}", text::print(&flat))],
            _ => Vec::new(),
        }
    });
    assert!(both > 0, "no module is flattened without more ado");
}

/// [`difference`] of a module that passes made of another one; what they left as it was has the values it had.
fn difference_if_changed(module: &Module, before: &[Literal], after: &Module, seed: u64) -> Option<String> {
    if after == module { None } else { difference(before, after, seed) }
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
