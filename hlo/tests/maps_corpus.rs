//! Every instruction of every program of the corpus has its maps, in both directions, or a reason why it has none.

use crate::support::{FORMS, corpus};
use std::collections::BTreeMap;
use weft_hlo::indexing::{Analysis, Dependence, Direction, Relation, Undefined};

/// The reasons that programs on one device may give.
fn is_expected(reason: &Undefined) -> bool {
    matches!(reason, Undefined::Loop | Undefined::CustomCall(_) | Undefined::TooManyMaps)
}

#[derive(Default)]
struct Counts {
    instructions: usize,
    dependences: usize,
    exact: usize,
    coarse: usize,
    undefined: BTreeMap<String, usize>,
}

impl Counts {
    fn count(&mut self, of: &str, dependence: &Dependence) {
        self.dependences += 1;
        match &dependence.relation {
            Relation::Maps(maps) if maps.iter().all(|map| map.coarse.is_none()) => self.exact += 1,
            Relation::Maps(_) => self.coarse += 1,
            Relation::Undefined(reason) => {
                assert!(is_expected(reason), "{of}: {reason}");
                *self.undefined.entry(format!("{reason}")).or_default() += 1;
            }
        }
    }
}

#[test]
fn every_instruction_has_maps_or_a_reason() {
    for direction in [Direction::OutputToInput, Direction::InputToOutput] {
        let (mut counts, mut programs) = (Counts::default(), 0);
        for program in corpus() {
            for form in FORMS {
                let Some(module) = program.module(form) else { continue };
                programs += 1;
                let mut analysis = Analysis::new(&module);
                for (computation, owner) in module.computations.iter() {
                    for (id, instruction) in owner.instructions.iter() {
                        counts.instructions += 1;
                        let of = format!("{}/{form}: {}", program.name, instruction.name);
                        for dependence in &analysis.instruction(computation, id, direction).dependences {
                            counts.count(&of, dependence);
                        }
                    }
                }
            }
        }
        let Counts { instructions, dependences, exact, coarse, undefined } = counts;
        assert!(programs > 100 && dependences > instructions / 2, "{programs} programs, {dependences} dependences");
        println!(
            "{direction:?}: {programs} programs, {instructions} instructions, {dependences} pairs of arrays: {exact} exact, \
             {coarse} coarse, undefined: {undefined:?}"
        );
    }
}
