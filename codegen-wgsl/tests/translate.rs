//! naga's other writers accept every shader of the corpus, as far as their features are on.

#![cfg(any(feature = "spirv", feature = "msl", feature = "hlsl", feature = "glsl"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fmt::Display;
use std::fs;
use support::{corpus, fused, make};
use weft_codegen_wgsl::Shader;

fn check<T, E: Display>(translate: impl Fn(&Shader) -> Result<T, E>) {
    let mut failed = Vec::new();
    for (name, path) in corpus() {
        let Ok(module) = fused(&fs::read_to_string(path).unwrap()) else { continue };
        for made in make(&module).unwrap_or_else(|findings| panic!("{name}: {findings}")) {
            if let Err(reason) = translate(&made.shader) {
                failed.push(format!("{name}: {}: {reason}", made.shader.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[cfg(feature = "spirv")]
#[test]
fn spirv() {
    check(Shader::to_spirv);
}

#[cfg(feature = "msl")]
#[test]
fn msl() {
    check(Shader::to_msl);
}

#[cfg(feature = "hlsl")]
#[test]
fn hlsl() {
    check(Shader::to_hlsl);
}

#[cfg(feature = "glsl")]
#[test]
fn glsl() {
    check(Shader::to_glsl);
}
