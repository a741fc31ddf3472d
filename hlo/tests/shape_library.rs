//! The library of HLO's shape functions.
#![allow(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

#[path = "support/random/rng.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod rng;
mod support;

use rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use support::{FORMS, corpus};
use weft_affine::Interval;
use weft_hlo::ir::Shape;
use weft_hlo::shape::function::{AttributeTable, ErrorKind, Extents, Form, KnownShape, Library, Specialized, Value};
use weft_hlo::shape::{InstructionAttributes, infer_extents, standard_library};

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

/// What is left of XLA's instructions when some extents are unknown gives their shapes when these are known.
#[test]
fn what_is_left_of_the_corpus_agrees_with_xla() {
    let library = standard_library();
    let mut seen = BTreeSet::new();
    let mut census: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rng = Rng::new(5);
    for program in corpus() {
        let Some(module) = program.module("unoptimized") else { continue };
        for computation in module.computations.values() {
            for instruction in computation.instructions.values() {
                let operands: Vec<&Shape> =
                    instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
                // The same operation on the same shapes is tried once.
                let shapes = operands.iter().map(|shape| shape.without_layout().to_string());
                let key = format!("{:?} {:?}", instruction.op, shapes.collect::<Vec<_>>());
                let leaves: Vec<Vec<i64>> = operands
                    .iter()
                    .flat_map(|shape| shape.leaves())
                    .map(|leaf| leaf.as_array().map_or(vec![], |array| array.extents.clone()))
                    .collect();
                let opcode = instruction.op.opcode();
                if library.of_operation(opcode).is_err() || !seen.insert(key) {
                    continue;
                }
                let attributes =
                    InstructionAttributes { op: &instruction.op, operands: &operands, declared: &instruction.shape };
                let known: Vec<KnownShape> = leaves.iter().map(|extents| forget(&mut rng, extents)).collect();
                let wanted: Vec<Extents> = instruction
                    .shape
                    .leaves()
                    .iter()
                    .map(|leaf| leaf.as_array().map_or(Extents::new(), |array| Extents::from_slice(&array.extents)))
                    .collect();
                let place = || format!("{}: {} {known:?}", program.name, instruction.name);
                match library.specialize_operation(opcode, &known, &attributes).unwrap() {
                    Specialized::Known(values) => {
                        *census.entry("known").or_insert(0) += 1;
                        let found: Vec<Extents> = values
                            .into_iter()
                            .flat_map(|value| match value {
                                Value::Extents(extents) => vec![extents],
                                Value::Shapes(shapes) => shapes,
                                other => panic!("{other:?}"),
                            })
                            .collect();
                        assert_eq!(found, wanted, "{}", place());
                    }
                    Specialized::Error(error) => panic!("{}: {error}", place()),
                    Specialized::Residual(left) => {
                        *census.entry("left").or_insert(0) += 1;
                        *census.entry("operations left").or_insert(0) += left.operation_count();
                        let extents: Vec<&[i64]> = leaves.iter().map(Vec::as_slice).collect();
                        let none = AttributeTable::new();
                        let lowered = left.lower(Form::Imperative).unwrap();
                        for function in [&left, &lowered] {
                            let found = library.infer_by(function, opcode, &extents, &none);
                            assert_eq!(found.as_ref(), Ok(&wanted), "{}\n{function}", place());
                        }
                    }
                }
            }
        }
    }
    println!("{census:?}");
    assert!(census["left"] > 500 && census["known"] > 300);
}

fn forget(rng: &mut Rng, extents: &[i64]) -> KnownShape {
    if rng.chance(5) {
        return KnownShape::Unranked { rank: Interval::new(0, 255), extent: Interval::new(0, i64::MAX) };
    }
    let extent = |rng: &mut Rng, extent: i64| match rng.below(4) {
        0 => Interval::new(0, i64::MAX),
        1 => Interval::new(0, extent + 2),
        _ => Interval::point(extent),
    };
    KnownShape::Ranked(extents.iter().map(|&given| extent(rng, given)).collect())
}
