//! Random modules for the tests, the same for the same seed on every machine.
//!
//! A module is valid by construction. Values are reused a lot, most of all through different index maps: that is where
//! maps, fusing and partitioning can go wrong. Other crates use it as
//! `#[path = "../../hlo/tests/support/random.rs"] mod random;`.
#![allow(dead_code, reason = "each test binary uses the part it needs")]

#[path = "random/arithmetic.rs"]
mod arithmetic;
#[path = "random/body.rs"]
mod body;
#[path = "random/census.rs"]
mod census;
#[path = "random/facts.rs"]
mod facts;
#[path = "random/functions.rs"]
mod functions;
#[path = "random/inputs.rs"]
mod inputs;
#[path = "random/movement.rs"]
mod movement;
#[path = "random/rng.rs"]
mod rng;

use body::{Body, World};
use weft_hlo::ir::{Computation, Module, Span};

#[allow(unused_imports, reason = "each test binary uses the part it needs")]
pub(crate) use census::Census;
#[allow(unused_imports, reason = "each test binary uses the part it needs")]
pub(crate) use inputs::inputs;
pub(crate) use rng::Rng;

/// What modules are made of.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Instructions of the entry, about.
    pub(crate) instructions: usize,
    /// Elements of an array, at most.
    pub(crate) elements: i64,
    /// Functions for `call` and `fusion`, at most.
    pub(crate) functions: usize,
    /// Whether the program brings fusions along.
    pub(crate) fusions: bool,
    /// Whether tuples are made, taken and nested.
    pub(crate) tuples: bool,
    /// Whether shapes may have layouts, which matter to `bitcast`.
    pub(crate) layouts: bool,
    /// Whether NaN, infinities and the ends of the integers occur in constants and inputs.
    pub(crate) specials: bool,
    /// Whether numbers stay small and errors of rounding never grow: comparing, rounding and converting are applied to
    /// exactly known numbers only, and functions stay away from their poles.
    pub(crate) tame: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            instructions: 24,
            elements: 420,
            functions: 3,
            fusions: true,
            tuples: true,
            layouts: true,
            specials: true,
            tame: false,
        }
    }
}

/// A module with what is known of its results.
pub(crate) struct Generated {
    /// The module.
    pub(crate) module: Module,
    /// For each array among the results a bound of the absolute error of an implementation that computes each `f32`
    /// operation to about eight units in the last place. Means something only where numbers are tame.
    pub(crate) errors: Vec<f64>,
}

/// The module of a seed.
pub(crate) fn module(seed: u64, config: &Config) -> Module {
    generate(seed, config).module
}

/// The module of a seed, with what is known of its results.
pub(crate) fn generate(seed: u64, config: &Config) -> Generated {
    let mut world = World::new(Rng::new(seed), config.clone());
    for number in 0..world.rng.below(config.functions + 1) {
        world.function(number);
    }
    let mut body = Body::new(&mut world, true);
    body.parameters();
    body.grow(config.instructions);
    let root = body.root();
    let errors = body.facts[weft_hlo::ir::ArenaId::index(root)].iter().map(|facts| facts.error).collect();
    let instructions = body.instructions;
    let entry =
        Computation { name: "main".to_owned(), instructions, root, attributes: Vec::new(), span: Span::default() };
    let entry = world.computations.push(entry);
    let computations = world.computations;
    let name = format!("random_{seed}");
    let module = Module { name, attributes: Vec::new(), tables: Vec::new(), computations, entry };
    if let Err(findings) = weft_hlo::verify::verify(&module) {
        let text = weft_hlo::text::print(&module);
        assert!(findings.0.is_empty(), "the generator made an invalid module: {findings}\n{text}");
    }
    Generated { module, errors }
}
