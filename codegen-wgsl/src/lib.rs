//! WGSL kernels from partitioned fusions.
//!
//! [`compile`] takes one fusion of a module that `weft-partition` has fused and returns a [`Shader`]: WGSL that naga has
//! parsed and validated, with what a runtime must know to bind and launch it. Nothing here knows a device; the same
//! fusion and [`Target`] give the same bytes everywhere.
//!
//! The way there is gradual, and every stage has a text:
//!
//! | stage | what | text |
//! |---|---|---|
//! | functions | which instructions share a function | [`functions_text`] |
//! | kernel | element functions over indices, and an entry that stores | [`kernel()`], [`kernel::Kernel`] |
//! | inlined, split, typed, legal, collectives, flat, merged, moved, uniform, vectorized, words, held, peeled, registers, shared, protected, unrolled, hoisted | the same after each [`Lowering`](lower::Lowering) | [`lowered`] |
//! | wgsl | the shader | [`Shader::source`] |
//!
//! ```
#![doc = include_str!("../examples/codegen_front_page.rs")]
//! ```
//!
//! Features: `spirv`, `msl`, `hlsl`, `glsl` translate a shader with naga's other writers, for reading; `serde` gives shaders as bytes
//! (`Shader::to_bytes`), for caches. `spirv` also has words for a driver that is to keep to the order of what is written
//! (`Shader::to_ordered_spirv`).

mod binding;
mod compile;
mod compile_loop;
mod elemental;
mod emit;
mod gate;
#[cfg(feature = "spirv")]
mod ordered;
mod shader;
#[cfg(feature = "serde")]
mod stored;
mod translate;
mod validate;

pub mod kernel;
pub mod lower;
pub mod math;
pub mod wgsl;

pub use binding::{Binding, Content, Contents, Held};
pub use compile::{compile, compile_kernel, compile_lowered, functions_text, kernel, lowered};
pub use compile_loop::{LoopShader, compile_loop, loop_kernel, lowered_loop};
pub use gate::gate;
#[cfg(feature = "spirv")]
pub use ordered::{SpirvOptions, wgsl_to_ordered_spirv};
pub use shader::{Proofs, Shader};
pub use weft_partition::{Site, Target};
