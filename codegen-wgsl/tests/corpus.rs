//! Every kernel of every program of the corpus that can be fused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{Made, corpus, fused, fusions, make};
use crate::understood::UNDERSTOOD;
use std::fs;
use weft_codegen_wgsl::Shader;
use weft_codegen_wgsl::kernel::{Kernel, Space};
use weft_partition::Fused;

/// The programs that can be fused; those that cannot say so with a code of maps (`HLO3`) or of fusing (`HLO4`).
fn programs() -> (Vec<(String, Fused)>, usize) {
    let (mut programs, mut refused) = (Vec::new(), 0);
    for (name, path) in corpus() {
        match fused(&fs::read_to_string(path).unwrap()) {
            Ok(module) => programs.push((name, module)),
            Err(findings) => {
                let expected = findings.0.iter().all(|f| f.code.starts_with("HLO3") || f.code.starts_with("HLO4"));
                assert!(expected, "{name}:\n{findings}");
                refused += 1;
            }
        }
    }
    (programs, refused)
}

#[test]
fn every_kernel_round_trips_is_valid_and_always_the_same() {
    let (programs, refused) = programs();
    assert_eq!(programs.len() + refused, corpus().len());
    for name in UNDERSTOOD.map(|name| format!("{name}/unoptimized.hlo")) {
        assert!(programs.iter().any(|(program, _)| *program == name), "{name} is refused");
    }
    let mut alike = 0;
    for (name, module) in &programs {
        let kernels = make(module).unwrap_or_else(|findings| panic!("{name}:\n{findings}"));
        let again = make(module).unwrap();
        // Fusions that are alike have one kernel, and those that have none in common differ in more than names.
        let first = module.alike(&fusions(module));
        alike += first.iter().enumerate().filter(|(own, first)| own != *first).count();
        for (own, first) in kernels.iter().zip(&first) {
            let (own, first) = (&own.shader, &kernels[*first].shader);
            assert_eq!((&own.structure, own.workgroups), (&first.structure, first.workgroups), "{name}");
            let contents = |shader: &Shader| shader.tensors().map(|(_, held)| held.content).collect::<Vec<_>>();
            assert_eq!(contents(own), contents(first), "{name}");
        }
        for (Made { kernel, flat, lowered, shader, .. }, again) in kernels.iter().zip(&again) {
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
            assert_eq!(shader.source, again.shader.source, "{name}");
            assert_eq!(*kernel, again.kernel, "{name}");
        }
        eprintln!("{name}: {} kernels", kernels.len());
    }
    eprintln!("{} fused, {refused} refused, {alike} fusions are like others", programs.len());
    assert!(alike > 60);
}
