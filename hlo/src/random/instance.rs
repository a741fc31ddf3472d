//! Modules around one operation.

use super::body::{Body, ComputationKind};
use super::operation::maker_alone;
use super::options::Options;
use super::world::World;
use crate::ir::Module;

/// How often an operation is tried with other operands before there is no module.
const ATTEMPTS: usize = 16;

/// The module of a seed whose root is the given operation, one of [`operations`](super::operations) or `rng`, on parameters
/// and constants: as few other instructions as possible, those that put the operands of a loop or a call together. What it
/// calls is made of the operations of `options`. `None` where nothing came of it, for few of all seeds.
///
/// ```
/// use weft_hlo::random::{self, Options};
///
/// let module = random::instance(3, "pad", &Options { elements: 16, ..Options::default() }).expect("a seed for pad");
/// weft_hlo::verify::verify(&module)?;
/// let entry = module.entry_computation();
/// assert_eq!(entry.instructions[entry.root].op.name(), "pad");
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn instance(seed: u64, operation: &str, options: &Options) -> Option<Module> {
    let maker = maker_alone(operation)?;
    let mut world = World::new(format!("{}_{seed}", operation.replace('-', "_")), seed, options);
    let mut body = Body::new(&mut world, ComputationKind::SingleOperation, 0);
    // Operations on values of any shape take one that is there.
    if matches!(operation, "tuple" | "get-tuple-element" | "opt-barrier" | "add-dependency") {
        for _ in 0..1 + body.world.rng.below(3) {
            let shape = body.any_shape()?;
            body.parameter(shape);
        }
    }
    let root = (0..ATTEMPTS).find_map(|_| maker.make(&mut body))?;
    let entry = body.finish_as("main".to_owned(), root);
    Some(world.module.finish_unchecked(entry))
}
