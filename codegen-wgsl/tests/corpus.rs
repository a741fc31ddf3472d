//! Every kernel of every program of the corpus that can be fused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{COMPILED, Compiled, Made, Stages, fusions, on_all_cores};
use crate::understood::UNDERSTOOD;
use weft_codegen_wgsl::kernel::{Kernel, Space};
use weft_codegen_wgsl::{Shader, Target, compile};

#[test]
fn every_kernel_round_trips_is_valid_and_always_the_same() {
    let alike = on_all_cores(&COMPILED, |(name, compiled)| {
        let Compiled { module, made } = match compiled {
            Ok(compiled) => compiled,
            Err(findings) => {
                // What cannot be fused says so with a code of maps (`HLO3`) or of fusing (`HLO4`).
                let expected = findings.0.iter().all(|f| f.code.starts_with("HLO3") || f.code.starts_with("HLO4"));
                assert!(expected, "{name}:\n{findings}");
                let is_understood =
                    UNDERSTOOD.iter().any(|understood| *name == format!("{understood}/unoptimized.hlo"));
                assert!(!is_understood, "{name} is refused");
                return None;
            }
        };
        // Fusions that are alike have one kernel, and those that have none in common differ in more than names.
        let first = module.alike(&fusions(module));
        let alike = first.iter().enumerate().filter(|(own, first)| own != *first).count();
        for (own, first) in made.iter().zip(&first) {
            let (own, first) = (&own.shader, &made[*first].shader);
            assert_eq!((&own.structure, own.workgroups), (&first.structure, first.workgroups), "{name}");
            let contents = |shader: &Shader| shader.tensors().map(|(_, held)| held.content).collect::<Vec<_>>();
            assert_eq!(contents(own), contents(first), "{name}");
        }
        for (Made { stages: Stages { kernel, flat, lowered, .. }, shader }, site) in made.iter().zip(fusions(module)) {
            assert_eq!(shader.proofs().unproved, [], "{name}");
            for kernel in [kernel, flat, lowered] {
                let text = kernel.to_string();
                // Registers are proved when they are values.
                let registers = kernel.memories.values().filter(|memory| memory.space == Space::Thread);
                let registers: Vec<String> = registers.map(|memory| format!("%{}", memory.name)).collect();
                let unproved = kernel.verify().unwrap_or_else(|found| panic!("{name}: {found:?}\n{text}"));
                let others = unproved.iter().filter(|finding| !registers.contains(&finding.place));
                assert_eq!(others.count(), 0, "{name}: {unproved:?}\n{text}");
                let parsed = Kernel::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
                assert_eq!(parsed, *kernel, "{name}:\n{text}");
                assert_eq!(parsed.to_string(), text, "{name}");
            }
            let again = compile(module, site, &Target::default()).unwrap();
            assert_eq!(shader.source, again.source, "{name}");
        }
        eprintln!("{name}: {} kernels", made.len());
        Some(alike)
    });
    let fused = alike.iter().flatten().count();
    let alike_in_all: usize = alike.iter().flatten().sum();
    eprintln!("{fused} fused, {} refused, {alike_in_all} fusions are like others", alike.len() - fused);
    assert!(alike_in_all > 60);
}
