//! The library of HLO's shape functions.

use crate::support::{FORMS, corpus};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArrayShape, Computation, Instruction, Module, Opcode, Shape};
use weft_hlo::random::Rng;
use weft_hlo::shape::function::{
    AttributeTable, ErrorKind, Extents, Form, Library, LibraryError, Specialized, Value, parse_function,
};
use weft_hlo::shape::{InstructionAttributes, called_result, infer_extents, specialize_extents, standard_library};

/// The shapes that XLA gave its instructions are those that the functions compute, in all three forms.
#[test]
fn functions_agree_with_xla_on_the_corpus() {
    let first = standard_library();
    let forms = [first.clone(), first.lower(Form::Constrained).unwrap(), first.lower(Form::Imperative).unwrap()];
    let mut checked: BTreeMap<Opcode, usize> = BTreeMap::new();
    let mut without: BTreeMap<Opcode, usize> = BTreeMap::new();
    for program in corpus() {
        for form in FORMS {
            let Some(module) = program.module(form) else { continue };
            for computation in module.computations.values() {
                for instruction in computation.instructions.values() {
                    let operands: Vec<&Shape> =
                        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
                    let opcode = instruction.op.opcode();
                    let (op, declared) = (&instruction.op, &instruction.shape);
                    let called = called_result(&module, op);
                    let asked = InstructionAttributes { op, operands: &operands, declared, called, partitions: 1 };
                    for library in &forms {
                        match infer_extents(library, &asked) {
                            Ok(found) => {
                                let leaves = instruction.shape.leaves();
                                let wanted: Vec<&[i64]> = leaves
                                    .iter()
                                    .map(|leaf| leaf.as_array().map_or(&[][..], |array| &array.extents))
                                    .collect();
                                let found: Vec<&[i64]> = found.iter().map(|extents| extents.as_slice()).collect();
                                assert_eq!(found, wanted, "{}/{form}: {}", program.name, instruction.name);
                                *checked.entry(opcode).or_insert(0) += 1;
                            }
                            Err(error) if error.kind == ErrorKind::Unknown => {
                                *without.entry(opcode).or_insert(0) += 1;
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

/// Every operation has a function, or a reason why it has none; what has array extents in its result has none only where
/// nothing but the text gives them.
#[test]
fn every_operation_has_a_function_or_a_reason() {
    let library = standard_library();
    let mapped: BTreeSet<&str> = library.mapping().map(|(operation, _)| operation).collect();
    let without: BTreeMap<&str, &str> = library.without().collect();
    let missing: Vec<&str> =
        Opcode::NAMES.iter().copied().filter(|it| !mapped.contains(it) && !without.contains_key(it)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let unknown: Vec<&str> =
        mapped.iter().chain(without.keys()).copied().filter(|it| Opcode::from_name(it).is_none()).collect();
    assert_eq!(unknown, Vec::<&str>::new());
    let without: Vec<&str> = without.into_keys().collect();
    assert_eq!(without, ["after-all", "custom-call", "infeed", "outfeed", "parameter", "recv", "send-done"]);
    let error = library.of_operation("recv").unwrap_err().message;
    assert_eq!(
        error,
        "no shape function is mapped to recv: what comes is the choice of the sender, and the text gives it"
    );
}

#[test]
fn reasons_are_read_and_checked() {
    let text = |without: &str| {
        format!(
            "shape.function_library @l {{\nfunc.func @f() -> !shape.shape {{\n  %s = shape.const_shape []\n  return %s\n}}\n\
             }} mapping {{ a = @f }} without {{ {without} }}"
        )
    };
    let mut library = Library::parse(&text("b = \"no \\\"reason\\\"\"")).unwrap();
    assert_eq!(library.without().collect::<Vec<_>>(), [("b", "no \"reason\"")]);
    assert_eq!(Library::parse(&library.to_string()).unwrap(), library);
    for (without, message) in [
        ("a = \"none\"", "a has a function, or a reason for having none"),
        ("b = \"one\", b = \"two\"", "b has a function, or a reason for having none"),
    ] {
        assert_eq!(Library::parse(&text(without)).unwrap_err().0[0].message, message);
    }
    // A function takes the place of a reason.
    library.extend_from_text("shape.function_library @m { } mapping { b = @f }").unwrap();
    assert!(library.of_operation("b").is_ok() && library.without().count() == 0);
    let again = library.extend_without(vec![("b".to_owned(), "none".to_owned())]);
    assert_eq!(again, Err(LibraryError::DuplicateReason("b".to_owned())));
}

/// What a form of a module's instruction says of its extents.
fn check_residual(
    census: &mut BTreeMap<&'static str, usize>,
    rng: &mut Rng,
    module: &Module,
    instruction: (&Computation, &Instruction),
    place: &str,
) {
    let (computation, instruction) = instruction;
    let library = standard_library();
    let operands: Vec<&Shape> = instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    let (op, declared) = (&instruction.op, &instruction.shape);
    let called = called_result(module, op);
    let asked = InstructionAttributes { op, operands: &operands, declared, called, partitions: 1 };
    // Extents are forgotten the same way in equal operands and results, where an operation passes values on.
    let opened: Vec<Shape> = operands.iter().map(|shape| forget(rng, shape)).collect();
    let opened: Vec<&Shape> = opened.iter().collect();
    let open = InstructionAttributes { operands: &opened, ..asked };
    let wanted = extents(declared);
    let place = || format!("{place}: {} {opened:?}", instruction.name);
    match specialize_extents(library, &open) {
        Err(error) if error.kind == ErrorKind::Unknown => *census.entry("no function").or_insert(0) += 1,
        Err(error) => panic!("{}: {error}", place()),
        Ok(Specialized::Known(values)) => {
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
        Ok(Specialized::Error(error)) => panic!("{}: {error}", place()),
        Ok(Specialized::Residual(left)) => {
            *census.entry("left").or_insert(0) += 1;
            *census.entry("operations left").or_insert(0) += left.operation_count();
            assert_eq!(&parse_function(&left.to_string()).unwrap(), &left);
            let leaves = asked.operand_extents();
            let leaves: Vec<&[i64]> = leaves.iter().map(|extents| extents.as_slice()).collect();
            for form in [None, Some(Form::Constrained), Some(Form::Imperative)] {
                let function = form.map_or_else(|| left.clone(), |form| left.lower(form).unwrap());
                let found = library.infer_by(&function, &op.name(), &leaves, &AttributeTable::new());
                assert_eq!(found.as_ref(), Ok(&wanted), "{}\n{function}", place());
            }
        }
    }
}

fn extents(shape: &Shape) -> Vec<Extents> {
    let leaf = |leaf: &&Shape| leaf.as_array().map_or(Extents::new(), |array| Extents::from_slice(&array.extents));
    shape.leaves().iter().map(leaf).collect()
}

/// What is left of XLA's instructions when some extents are unknown gives their shapes when these are known.
#[test]
fn specialized_functions_agree_with_xla_on_the_corpus() {
    let mut seen = BTreeSet::new();
    let mut census = BTreeMap::new();
    let mut rng = Rng::new(5);
    for program in corpus() {
        let Some(module) = program.module("unoptimized") else { continue };
        for computation in module.computations.values() {
            for instruction in computation.instructions.values() {
                // The same operation on the same shapes is tried once.
                let shapes = instruction.operands.iter().map(|&id| computation.instructions[id].shape.without_layout());
                let shapes: Vec<String> = shapes.map(|shape| shape.to_string()).collect();
                if seen.insert(format!("{:?} {shapes:?} {}", instruction.op, instruction.shape.without_layout())) {
                    check_residual(&mut census, &mut rng, &module, (computation, instruction), &program.name);
                }
            }
        }
    }
    println!("{census:?}");
    assert!(census["left"] > 500 && census["known"] > 300);
}

/// The operations that XLA's corpus does not have, in the modules that we wrote of every operation: the functions of all
/// three forms give the declared extents, and so does what is left of them.
#[test]
fn functions_agree_with_the_text_of_every_operation() {
    let first = standard_library();
    let forms = [first.clone(), first.lower(Form::Constrained).unwrap(), first.lower(Form::Imperative).unwrap()];
    let (mut census, mut rng) = (BTreeMap::new(), Rng::new(6));
    let mut checked = BTreeSet::new();
    for case in include_str!("operations/canonical.txt").split("=== ").skip(1) {
        let (name, text) = case.split_once('\n').unwrap();
        let module = weft_hlo::text::parse(text).unwrap();
        if weft_hlo::verify::verify(&module).is_err() {
            continue;
        }
        for computation in module.computations.values() {
            let all_static = computation.instructions.values().all(|it| it.shape.is_static());
            for instruction in computation.instructions.values().filter(|_| all_static) {
                let operands: Vec<&Shape> =
                    instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
                let (op, declared) = (&instruction.op, &instruction.shape);
                let called = called_result(&module, op);
                let asked = InstructionAttributes { op, operands: &operands, declared, called, partitions: 1 };
                for library in &forms {
                    match infer_extents(library, &asked) {
                        Ok(found) => {
                            assert_eq!(found, extents(declared), "{name}: {}", instruction.name);
                            checked.insert(op.opcode());
                        }
                        Err(error) => {
                            assert_eq!(error.kind, ErrorKind::Unknown, "{name}: {}: {error}", instruction.name)
                        }
                    }
                }
                check_residual(&mut census, &mut rng, &module, (computation, instruction), name);
            }
        }
    }
    println!("{census:?}\nchecked {checked:?}");
    let missing: BTreeSet<&str> =
        Opcode::ALL.iter().filter(|opcode| !checked.contains(opcode)).map(|opcode| opcode.name()).collect();
    // Two operations are there to make open extents, of which the shape is not known before the run.
    let mut others: BTreeSet<&str> = first.without().map(|(operation, _)| operation).collect();
    others.extend(["dynamic-reshape", "set-dimension-size"]);
    assert_eq!(missing, others);
}

/// The shape with some of its extents open: unbounded, or bounded by something not less.
fn forget(rng: &mut Rng, shape: &Shape) -> Shape {
    match shape {
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(|element| forget(rng, element)).collect()),
        Shape::Array(array) => {
            let mut open = array.clone();
            for dimension in 0..array.rank() {
                match rng.below(4) {
                    0 => open.extents[dimension] = ArrayShape::UNBOUNDED,
                    1 => open.extents[dimension] += 2,
                    _ => continue,
                }
                open.dynamic.push(dimension);
            }
            Shape::Array(open)
        }
        leaf => leaf.clone(),
    }
}
