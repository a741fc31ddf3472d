//! Runs HLO on any GPU.
//!
//! [`compile`] turns a module into a [`Program`]: passes simplify it, then it is steps (launches of kernels, loops and branches around them, and
//! what the host computes because it has no kernel), and buffers shared by values that never live at once. It is pure and needs no device. [`Device`] opens an adapter, [`Executable`] binds a program
//! to it, and [`Executable::run`] takes and returns literals; [`DeviceBuffer`]s stay on the device between runs.
//!
//! This is the crate to use for running HLO from Rust. To look at fusions or WGSL without running them, take
//! `weft-partition` or `weft-codegen-wgsl`, which know no device.
//!
//! ```
#![doc = include_str!("../examples/runtime_front_page.rs")]
//! ```
//!
//! What has no kernel yet is computed by `weft_hlo::eval` between launches; [`Program::host_steps`] tells what and why before anything runs,
//! and [`Options::host`] forbids it. A program as a whole never goes to the CPU by itself.
//!
//! A program may be kept: as [text](Program::text) that shows all of it, as [bytes](Program::to_bytes), and by itself in a [`Cache`] on disk, from
//! which [`Cache::compile`] takes what was compiled before.
//!
//! A [`SelfTest`] finds out what an adapter gets wrong; it is kept in a [`Cache`] on disk, and from then on devices of that adapter are
//! described as they are. [`DeviceOptions`] can do without the disk.
//!
//! What it does not do: decide what is fused or how a kernel is written; print, read files or look at the environment, but for the cache. It
//! does not panic: refusals of the device, missing adapters and lost devices are [`Error`]s.
//!
//! | Feature | Gives | Default |
//! |---|---|---|
//! | `blocking` | functions that wait, for native targets; without it everything is `async` | yes |
//! | `parallel` | kernels written, validated and made into pipelines on all cores | yes |
//! | `no-contraction` | on Vulkan, kernels that the driver computes in the order in which they are written, where a self-test finds that it does ([`Test::NoContraction`]); experimental | no |
//! | `cli` | the command `weft` | yes |

mod buffer;
mod cache;
mod device;
mod error;
mod executable;
mod pipelines;
pub mod program;
mod self_test;
mod watch;

pub use buffer::DeviceBuffer;
pub use cache::{Cache, CacheEntry, Cached};
pub use device::{AdapterInfo, Device, DeviceOptions, Selection, adapters_async, adapters_with_async};
#[cfg(feature = "blocking")]
pub use device::{adapters, adapters_with};
pub use error::{Advice, Error};
pub use executable::{Argument, Checks, Executable};
pub use program::{Options, Program, compile, compile_watched, compile_with, optimize};
pub use self_test::{Answer, SelfTest, Test};
pub use watch::{Progress, Watch};
