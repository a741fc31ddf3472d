//! Every operation with its attributes, in the spelling in which XLA prints the modules that we wrote for this: read and
//! printed back byte for byte.

use std::collections::BTreeSet;
use weft_hlo::ir::Opcode;
use weft_hlo::text::{PrintOptions, parse, print, print_with};

const CANONICAL: &str = include_str!("operations/canonical.txt");

/// Other ways to write modules, all of which XLA's reader takes.
const SPELLINGS: &str = include_str!("operations/spellings.txt");

fn cases(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.split("=== ").skip(1).map(|case| case.split_once('\n').expect("a name stands on a line of its own"))
}

#[test]
fn canonical_texts_are_printed_back() {
    let mut opcodes = BTreeSet::new();
    for (name, text) in cases(CANONICAL) {
        let module = parse(text).unwrap_or_else(|findings| panic!("{name}:\n{findings}\n{text}"));
        assert_eq!(print(&module).trim_end(), text.trim_end(), "{name}");
        for computation in module.computations.values() {
            opcodes.extend(computation.instructions.values().map(|instruction| instruction.op.name()));
        }
    }
    let missing: Vec<&str> = Opcode::NAMES.iter().copied().filter(|opcode| !opcodes.contains(*opcode)).collect();
    assert!(missing.is_empty(), "no text has {missing:?}");
}

#[test]
fn other_spellings_are_read_and_printed_as_canonical_ones() {
    for (name, text) in cases(SPELLINGS) {
        let module = parse(text).unwrap_or_else(|findings| panic!("{name}:\n{findings}\n{text}"));
        let printed = print(&module);
        let again = parse(&printed).unwrap_or_else(|findings| panic!("{name}:\n{findings}\n{printed}"));
        assert!(again == module, "{name}:\n{printed}");
        assert_eq!(print(&again), printed, "{name}");
        let short = print_with(&module, &PrintOptions::short());
        assert!(parse(&short) == Ok(module), "{name}:\n{short}");
    }
}

/// Of the texts of all operations those instructions that XLA's reader needs no shape of, one after the other without it.
#[test]
fn inferred_shapes_may_be_left_out() {
    let mut left_out = BTreeSet::new();
    for (name, text) in cases(CANONICAL) {
        let module = parse(text).unwrap();
        for computation in module.computations.values() {
            for instruction in computation.instructions.values() {
                let opcode = instruction.op.name();
                let whole = format!("%{} = {} {opcode}(", instruction.name, instruction.shape);
                let without = format!("%{} = {opcode}(", instruction.name);
                if text.matches(&whole).count() != 1 {
                    continue;
                }
                let text = text.replace(&whole, &without);
                let Ok(read) = parse(&text) else { continue };
                left_out.insert(opcode.to_string());
                let same = read.computations.values().zip(module.computations.values()).all(|(read, computation)| {
                    let shapes = read.instructions.values().zip(computation.instructions.values());
                    shapes.into_iter().all(|(read, instruction)| read.shape.is_compatible(&instruction.shape))
                });
                // Products may be added up in a type of their own.
                assert!(same || opcode == "dot", "{name}:\n{}", print(&read));
            }
        }
    }
    assert!(left_out.len() >= 86, "{} opcodes: {left_out:?}", left_out.len());
}
