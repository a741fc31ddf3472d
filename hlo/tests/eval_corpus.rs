//! The evaluator against XLA's outputs, and its refusals of programs that it does not support.

use crate::support::{FORMS, Program, compare, compare_by, corpus};
use weft_hlo::eval::{Config, check, evaluate, evaluate_precisely, evaluate_with};
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::passes::Pipeline;
use weft_hlo::verify::verify;

/// The forms that are not evaluated, and why: the code of what the evaluator says, and what is in the text.
const EXCUSED: [(&str, &str, &str, &str); 1] = [("constant_table", "optimized_cpu", "HLO203", "left out of the text")];

fn judge(program: &Program, module: &Module) -> Result<(), String> {
    let expected = program.outputs();
    let actual = evaluate(module, &program.inputs()).map_err(|found| found.to_string())?;
    if actual.len() != expected.len() {
        return Err(format!("{} outputs expected, {} given", expected.len(), actual.len()));
    }
    let mut precise = None;
    for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
        if compare(expected, actual).is_ok() {
            continue;
        }
        // Where rounding is most of what is left, XLA's own distance from the value says how far apart results may be.
        let values = match &precise {
            Some(values) => values,
            None => precise.insert(
                evaluate_precisely(module, &program.inputs(), &Config::default()).map_err(|found| found.to_string())?,
            ),
        };
        compare_by(expected, actual, &values[number]).map_err(|difference| format!("output {number}: {difference}"))?;
    }
    Ok(())
}

#[test]
fn every_program_gives_xlas_outputs_in_every_form() {
    let (mut failures, mut agree, mut excused) = (Vec::new(), 0, 0);
    for program in corpus() {
        for form in FORMS {
            let Some(module) = program.module(form) else { continue };
            let excuse = EXCUSED.iter().find(|(name, of, ..)| *name == program.name && *of == form);
            match (judge(&program, &module), excuse) {
                (Ok(()), None) => agree += 1,
                (Ok(()), Some(_)) => failures.push(format!("{}/{form} is excused for nothing", program.name)),
                (Err(found), Some((_, _, code, what))) if found.contains(code) && found.contains(what) => excused += 1,
                (Err(found), _) => failures.push(format!("{}/{form}: {found}", program.name)),
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{agree} agree, {excused} are excused, {} fail\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(excused, EXCUSED.len());
}

/// After all passes the programs still do, and the test says how many instructions they have before and after.
#[test]
fn every_program_gives_xlas_outputs_after_the_passes() {
    let mut failures = Vec::new();
    println!("{:<44}{:>8}{:>8}", "instructions", "before", "after");
    for program in corpus() {
        for form in FORMS {
            let Some(module) = program.module(form) else { continue };
            let optimized = Pipeline::default().run(&module).unwrap();
            let name = format!("{}/{form}", program.name);
            let (before, after) = (module.instruction_count(), optimized.module.instruction_count());
            println!("{name:<44}{before:>8}{after:>8}");
            if !optimized.is_fixed_point {
                failures.push(format!("{name}: the passes do not come to an end"));
            }
            if let Err(found) = verify(&optimized.module) {
                failures.push(format!("{name}: {found}"));
            }
            let is_excused = EXCUSED.iter().any(|(excused, of, ..)| *excused == program.name && *of == form);
            // What the passes left as it was is judged by the test above.
            let is_judged = !is_excused && optimized.module != module;
            if is_judged && let Err(found) = judge(&program, &optimized.module) {
                failures.push(format!("{name}: {found}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_not_understood_is_refused_with_its_line() {
    for program in corpus() {
        for form in FORMS {
            let (Some(text), Some(module)) = (program.text(form), program.module(form)) else { continue };
            let Err(found) = check(&module, &Config::default()) else { continue };
            // Before anything is computed, and before the inputs are looked at.
            assert_eq!(evaluate(&module, &[]).as_ref(), Err(&found), "{}/{form}", program.name);
            for finding in found.locate(&text).0 {
                assert!(finding.code.starts_with("HLO2"), "{}/{form}: {finding}", program.name);
                let (line, _) = finding.position.unwrap();
                let (_, instruction) = finding.instruction.rsplit_once('/').unwrap();
                let line = text.lines().nth(line - 1).unwrap();
                assert!(line.contains(instruction), "{}/{form}: {finding} points at {line}", program.name);
            }
        }
    }
}

/// Other numbers in the text make other programs, most of them wrong ones.
#[test]
fn changed_numbers_are_understood_or_refused() {
    let config = Config { byte_limit: 1 << 20, ..Config::default() };
    let (mut ran, mut refused) = (0, 0);
    for name in ["argreduce", "ew_bool", "heat_roll", "scalar_and_empty", "softmax"] {
        let program = Program::named(name);
        let (text, inputs) = (program.text("unoptimized").unwrap(), program.inputs());
        let digits = text.char_indices().filter(|(_, character)| character.is_ascii_digit());
        for (count, (position, digit)) in digits.enumerate().filter(|(count, _)| count % 5 == 0) {
            let other = ["0", "1", "-1", "77", "9223372036854775807"][count / 5 % 5];
            let changed = format!("{}{other}{}", &text[..position], &text[position + digit.len_utf8()..]);
            let Ok(module) = weft_hlo::text::parse(&changed) else { continue };
            let verified = verify(&module);
            match evaluate_with(&module, &inputs, &config) {
                Ok(_) => ran += usize::from(verified.is_ok()),
                Err(found) => refused += usize::from(!found.0.is_empty()),
            }
        }
    }
    assert!(ran > 20 && refused > 30, "{ran} ran, {refused} were refused");
}

#[test]
fn inputs_must_be_those_of_the_parameters() {
    let module = Program::named("batchnorm_train").module("unoptimized").unwrap();
    let inputs = Program::named("batchnorm_train").inputs();

    let few = evaluate(&module, &inputs[1..]).unwrap_err();
    assert_eq!(few.0[0].code, "HLO210");

    let wrong: Vec<Literal> = inputs.iter().map(|_| Literal::array([1], vec![1i32])).collect();
    let wrong = evaluate(&module, &wrong).unwrap_err();
    assert_eq!(wrong.0.len(), inputs.len());
    assert!(wrong.0.iter().all(|finding| finding.code == "HLO211" && finding.message.contains("s32[1]")), "{wrong}");

    let mut hollow = inputs.clone();
    hollow[0].data = Data::F32(vec![1.0]);
    let hollow = evaluate(&module, &hollow).unwrap_err();
    assert_eq!(hollow.0[0].code, "HLO211", "{hollow}");
}
