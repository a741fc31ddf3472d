//! Which instructions of an HLO program run as one kernel, which share a function inside it, and why.
//!
//! [`fuse`] rewrites a module so that its entry computation holds nothing but parameters, constants and fusions; each
//! fusion is one kernel. [`FusionPlan`] divides a fusion into functions, as XLA's document "XLA MLIR fusion
//! emitters" describes: an instruction with several users shares their function only if all of them access it through
//! the same indices; otherwise it becomes a function that each of them calls. So nothing is emitted twice, and code
//! grows linearly with the fusion.
//!
//! Both are pure functions of the program and a [`Target`], and both say why: see [`Decision`] and
//! [`Function::reason`].
//!
//! ```
#![doc = include_str!("../examples/partition_front_page.rs")]
//! ```
//!
//! # Targets
//!
//! A [`Target`] says what kernels have to keep to, what they may use and what things cost: that of a device comes from
//! `weft-runtime`, others by name ([`Target::preset`]) or, with the feature `serde`, from JSON.
//!
//! [`Work`] counts what a program reads, writes and computes at the least, which is what speeds are measured against; [`Launches`] what those of a fused program do,
//! whoever fused it.
//!
//! This crate decides; it emits nothing and knows no device. Code generation is `weft-codegen-wgsl`'s.

mod access;
mod arenas;
mod associative;
mod attention;
mod completed;
mod contraction;
mod cost;
mod elementwise;
mod estimate;
mod fold;
mod form;
mod fuse;
mod hero;
mod launches;
mod legal;
mod linear;
mod live;
mod loop_plan;
mod monoid;
mod plan;
mod product;
mod reduced;
mod row_space;
mod runs;
mod scan;
mod scattered;
mod selection;
mod splat;
mod target;
mod tiling;
mod transposed;
mod unordered;
mod windowed;
mod work;

pub use arenas::{Arenas, Role, Slot};
pub use attention::Attention;
pub use cost::{Budget, operation_cost};
pub use estimate::Estimate;
pub use form::Form;
pub use fuse::{
    Candidate, Comparison, Decision, Fused, Fusing, Grouping, Move, Verdict, fuse, fuse_explained, fuse_with,
};
pub use hero::{HeroKind, HeroTiling};
pub use launches::{Launch, Launches};
pub use legal::{Site, Uncompiled, is_drawn};
pub use linear::{LinearProgram, LinearStep};
pub use live::live;
pub use loop_plan::{
    BranchStep, Carried, ChoiceStep, FusionStep, InnerCarried, LoopPlan, LoopStep, Outside, Place, RoundStep,
};
pub use plan::{
    Attended, Divided, Emitter, Factors, Folded, Function, FunctionId, FusionPlan, Hero, Pass, Read, Root, Rows,
    Scanned, Tail, Update,
};
pub use product::Product;
pub use reduced::Reduced;
pub use runs::Runs;
pub use scattered::Scattered;
pub use splat::splats;
pub use target::{
    Arithmetic, CooperativeMatrix, DeviceKind, Excess, Faults, Features, Hardware, Schedule, Subgroups, Target,
    TargetError, Vendor,
};
pub use tiling::Tiling;
pub use transposed::{TileOwner, Transposed};
pub use windowed::{Windowed, WindowedDimension};
pub use work::{Work, flops_of_computations};
