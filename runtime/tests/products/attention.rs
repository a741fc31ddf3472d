//! Attention as JAX prints it, and its gradient, by either schedule, against the evaluator's bounds.

use crate::bounded::{bounds, difference};
use crate::support::{self, compile};
use weft_hlo::random::{Numbers, Options, inputs};
use weft_partition::Schedule;
use weft_runtime::Executable;

const PROGRAMS: [(&str, &str); 4] = [
    ("causal", include_str!("../../../partition/tests/attention/causal.hlo")),
    ("grouped", include_str!("../../../partition/tests/attention/grouped.hlo")),
    ("causal gradient", include_str!("../../../partition/tests/attention/causal_gradient.hlo")),
    ("grouped gradient", include_str!("../../../partition/tests/attention/grouped_gradient.hlo")),
];

#[test]
fn attention_agrees_with_the_evaluator() {
    let device = support::device();
    for (name, text) in PROGRAMS {
        let module = support::module(text);
        let arguments = inputs(&module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
        let expected = bounds(&module, &arguments, device.target()).unwrap_or_else(|found| panic!("{name}: {found}"));
        for schedule in Schedule::ALL {
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let program = compile(&module, &target).unwrap_or_else(|error| panic!("{name}: {error}"));
            for shader in program.shaders() {
                assert!(shader.proofs().are_complete(), "{:?}\n{name}\n{}", shader.proofs(), shader.source);
            }
            let results = Executable::new(&device, program).unwrap().run(&arguments).unwrap();
            for (expected, result) in expected.iter().zip(&results) {
                if let Some((_, found)) = difference(expected, result) {
                    panic!("{name}, {schedule}: {found}");
                }
            }
        }
    }
}
