//! The kernel that gates the rounds of a loop.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::{Target, gate};

#[test]
fn a_gate_is_proved_and_fits_every_target() {
    for name in ["floor", "discrete", "integrated", "apple", "mobile", "software"] {
        let target = Target::preset(name).unwrap();
        for words in [3, 30, 3000] {
            let shader = gate(words, &target).unwrap_or_else(|found| panic!("{name}: {found}"));
            assert!(shader.proofs().are_complete(), "{name} {words}: {}", shader.source);
        }
    }
}
