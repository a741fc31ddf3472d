//! The library of HLO's shape functions.
#![allow(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod support;

use std::collections::BTreeMap;
use support::{FORMS, corpus};
use weft_hlo::ir::Shape;
use weft_hlo::shape::function::{ErrorKind, Form, Library};
use weft_hlo::shape::{infer_extents, standard_library};

/// The shapes that XLA gave its instructions are those that the functions compute, in all three forms.
#[test]
fn functions_agree_with_xla_on_the_corpus() {
    let first = standard_library();
    let forms = [first.clone(), first.lower(Form::Constrained).unwrap(), first.lower(Form::Imperative).unwrap()];
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    let mut without: BTreeMap<String, usize> = BTreeMap::new();
    for program in corpus() {
        for form in FORMS {
            let Some(module) = program.module(form) else { continue };
            for computation in module.computations.values() {
                for instruction in computation.instructions.values() {
                    let operands: Vec<&Shape> =
                        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
                    let opcode = instruction.op.opcode().to_owned();
                    for library in &forms {
                        match infer_extents(library, &instruction.op, &operands, &instruction.shape) {
                            Ok(found) => {
                                let leaves = instruction.shape.leaves();
                                let wanted: Vec<&[i64]> = leaves
                                    .iter()
                                    .map(|leaf| leaf.as_array().map_or(&[][..], |array| &array.extents))
                                    .collect();
                                let found: Vec<&[i64]> = found.iter().map(|extents| extents.as_slice()).collect();
                                assert_eq!(found, wanted, "{}/{form}: {}", program.name, instruction.name);
                                *checked.entry(opcode.clone()).or_insert(0) += 1;
                            }
                            Err(error) if error.kind == ErrorKind::Unknown => {
                                *without.entry(opcode.clone()).or_insert(0) += 1;
                            }
                            Err(error) => panic!("{}/{form}: {}: {error}", program.name, instruction.name),
                        }
                    }
                }
            }
        }
    }
    println!("checked {checked:?}\nwithout a function {without:?}");
    assert!(checked.len() >= 40);
}

/// Every function of the library reads back from its text, in every form.
#[test]
fn the_library_prints_in_all_forms() {
    let library = standard_library();
    for form in [Form::ErrorCarrying, Form::Constrained, Form::Imperative] {
        let lowered = library.lower(form).unwrap();
        let text = lowered.to_string();
        let read = Library::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        assert_eq!(read, lowered);
        for function in lowered.functions() {
            assert!([form, Form::Plain].contains(&function.form().unwrap()), "{function}");
        }
    }
}
