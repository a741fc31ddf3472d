//! naga's other writers accept every kernel of the corpus, with the options that `weft emit` uses.
//!
//! Kernels hold `f32`, `i32`, `u32` and `bool` and no atomics, which all of these languages have, so none is left out.

use crate::support::COMPILED;
use weft_codegen_wgsl::Shader;

fn check<T>(translate: impl Fn(&Shader) -> Result<T, String>) {
    let (mut accepted, mut failed) = (0, Vec::new());
    for (name, compiled) in COMPILED.iter() {
        for made in compiled.iter().flat_map(|compiled| &compiled.made) {
            match translate(&made.shader) {
                Ok(_) => accepted += 1,
                Err(reason) => failed.push(format!("{name}: {}: {reason}", made.shader.name)),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(accepted > 100, "the corpus has only {accepted} kernels");
}

#[test]
fn spirv() {
    check(Shader::to_spirv);
}

#[test]
fn msl() {
    check(Shader::to_msl);
}

#[test]
fn hlsl() {
    check(Shader::to_hlsl);
}

#[test]
fn glsl() {
    check(Shader::to_glsl);
}
