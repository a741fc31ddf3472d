//! The maps of every operation against what the operation reads, element by element.
//!
//! Each instance is a random module around one operation. A provenance evaluator goes through the loops of the operation's
//! semantics and notes what each element of the result reads; the maps must say the same, point by point, and what they do
//! not lead to must not matter. `WEFT_CASES=N` for N times as many instances, `WEFT_SEED=S` for another first
//! seed, `WEFT_MAPS_ONLY=gather` for one operation; the counts are printed (`--nocapture`).

mod calls;
mod cases;
mod cells;
mod indexed;
mod judge;
mod known;
mod lines;
mod mapped;
mod matrices;
mod movement;
mod pairs;
mod perturbation;
mod products;
mod provenance;
mod scene;
mod values;
mod windows;

use crate::count::{cases, first_seed};
use judge::judge;
use perturbation::perturb;
use scene::Scene;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use values::Values;
use weft_hlo::indexing::{Domains, Undefined};
use weft_hlo::ir::{BinaryOp, Module, Opcode, UnaryOp};
use weft_hlo::random::{self, Options};
use weft_hlo::text;

/// Operations that apply other operations to whole values, and so know as little as those.
const CONTROL: [Opcode; 3] = [Opcode::Call, Opcode::Fusion, Opcode::Conditional];

/// Whether a relation of this operation may be undefined for this reason.
fn may_be_undefined(operation: Opcode, reason: &Undefined) -> bool {
    match reason {
        Undefined::Loop => operation == Opcode::While || CONTROL.contains(&operation),
        Undefined::TooManyMaps => CONTROL.contains(&operation),
        _ => false,
    }
}

/// What was found of all instances of an operation.
#[derive(Debug, Default)]
struct Tally {
    instances: usize,
    exact: usize,
    coarse: usize,
    undefined: BTreeMap<String, usize>,
    /// Pairs of elements that belong together, so that it can be seen that there are some.
    read: usize,
    changed: usize,
    wrong: Vec<(usize, String)>,
}

impl Tally {
    fn add(&mut self, module: &Module, seed: u64, operation: Opcode) {
        self.instances += 1;
        let wrong = match catch_unwind(AssertUnwindSafe(|| self.judged(module, seed, operation))) {
            Ok(Ok(wrong)) => wrong,
            Ok(Err(why)) => vec![why],
            Err(_) => vec!["a panic".to_owned()],
        };
        if !wrong.is_empty() {
            let shown = format!("{}\n{}", wrong.join("\n"), text::print(module));
            self.wrong.push((module.instruction_count(), format!("{operation} {seed}: {shown}")));
        }
    }

    fn judged(&mut self, module: &Module, seed: u64, operation: Opcode) -> Result<Vec<String>, String> {
        let values = Values::new(module, module.entry, &random::inputs(module, seed, &Options::default()))?;
        let id = module.entry_computation().root;
        let scene = Scene { module, computation: module.entry, id, values: &values };
        let reads = provenance::reads(scene)?;
        let mut wrong = Vec::new();
        for domains in [Domains::Documented, Domains::Exact] {
            let verdict = judge(scene, &reads, domains);
            wrong.extend(verdict.wrong);
            let unexpected = verdict.said.values().filter_map(|said| said.undefined.as_ref());
            wrong.extend(
                unexpected
                    .filter(|reason| !may_be_undefined(operation, reason))
                    .map(|reason| format!("undefined: {reason}")),
            );
            let stability = perturb(scene, &verdict.said, seed)?;
            wrong.extend(stability.wrong);
            if domains == Domains::Exact {
                self.changed += stability.changed;
                self.read += reads.pairs.values().map(pairs::Pairs::size).sum::<usize>();
                for said in verdict.said.values() {
                    match &said.undefined {
                        Some(reason) => *self.undefined.entry(reason.to_string()).or_default() += 1,
                        None if said.is_coarse => self.coarse += 1,
                        None => self.exact += 1,
                    }
                }
            }
        }
        Ok(wrong)
    }
}

/// Fails with the smallest modules of which something is wrong.
#[allow(clippy::print_stdout, reason = "the counts are what a long run is made for")]
fn check(operations: impl Iterator<Item = Opcode>) {
    let (first, cases) = (first_seed(), cases(20));
    // Cheap computations, of which XLA says what they mean.
    let options = Options { elements: 24, nesting: 2, disorderly: false, ..Options::default() };
    let mut failures: Vec<(usize, String)> = Vec::new();
    for operation in operations {
        let mut tally = Tally::default();
        // Some seeds come to nothing.
        for seed in first..first + 4 * cases {
            if tally.instances as u64 == cases {
                break;
            }
            if let Some(module) = random::instance(seed, operation, &options) {
                tally.add(&module, seed, operation);
            }
        }
        let Tally { instances, exact, coarse, undefined, read, changed, wrong } = tally;
        println!(
            "{operation:<24} {instances:>6} instances: {exact} exact, {coarse} coarse, {undefined:?} undefined; {read} \
             elements read, {changed} changed; {} wrong",
            wrong.len()
        );
        assert_eq!(instances as u64, cases, "too few instances of {operation}");
        failures.extend(wrong);
    }
    failures.sort();
    let shown: Vec<&str> = failures.iter().take(6).map(|(_, failure)| failure.as_str()).collect();
    assert!(shown.is_empty(), "{} wrong:\n{}", failures.len(), shown.join("\n\n"));
}

/// Operations in three parts, so that tests run side by side.
fn part(of: fn(Opcode) -> bool) -> impl Iterator<Item = Opcode> {
    let all = random::operations().chain([Opcode::Rng]).filter(|operation| *operation != Opcode::Parameter);
    let only = std::env::var("WEFT_MAPS_ONLY").ok();
    all.filter(move |operation| only.as_deref().is_none_or(|only| only == operation.name()) && of(*operation))
}

fn is_control(operation: Opcode) -> bool {
    CONTROL.contains(&operation) || operation == Opcode::While
}

fn is_unary_or_binary(operation: Opcode) -> bool {
    UnaryOp::ALL.iter().any(|&unary| operation == unary.into())
        || BinaryOp::ALL.iter().any(|&binary| operation == binary.into())
}

#[test]
fn unary_and_binary_operations_read_what_their_maps_say() {
    check(part(is_unary_or_binary));
}

#[test]
fn operations_read_what_their_maps_say() {
    check(part(|operation| !is_control(operation) && !is_unary_or_binary(operation)));
}

#[test]
fn operations_that_call_read_what_their_maps_say() {
    check(part(is_control));
}
