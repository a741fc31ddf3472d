//! The random module of a seed, and the state that its computations share.

use super::body::{Body, ComputationKind};
use super::operation::{Maker, maker, maker_alone};
use super::options::{Numbers, Options};
use super::region::Combiner;
use super::rng::Rng;
use super::shape::{MAX_ELEMENTS, extents};
use crate::build::ModuleBuilder;
use crate::ir::{ComputationId, ElementType, Module, Opcode, Shape};
use crate::shape::{InferenceCache, standard_library};

/// What all computations of a random module under construction share.
pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) options: Options,
    /// The makers of the operations that were asked for.
    pub(super) makers: Vec<Maker>,
    /// Those of them that compute element by element.
    pub(super) scalar_makers: Vec<Maker>,
    /// Those of them that call, choose and loop, of which there are few.
    pub(super) control_makers: Vec<Maker>,
    /// The few types and extents of which most values of the module are, so that values meet.
    pub(super) types: Vec<ElementType>,
    pub(super) extents: Vec<Vec<i64>>,
    /// Whether extents of 0 are frequent in this module; else they are rare, for nothing comes of what they are in.
    pub(super) is_empty: bool,
    /// Whether this module has layouts.
    pub(super) layouts: bool,
    pub(super) module: ModuleBuilder,
    /// What can be called once more.
    pub(super) functions: Vec<Function>,
    /// What can be applied once more.
    pub(super) combiners: Vec<Combiner>,
    pub(super) cache: InferenceCache<'static>,
}

/// A computation that can be called with whole values.
#[derive(Clone)]
pub(super) struct Function {
    pub(super) id: ComputationId,
    pub(super) parameters: Vec<Shape>,
    pub(super) result: Shape,
    /// At which depth it was made, which was deep enough for all that it calls.
    pub(super) depth: usize,
    /// Whether it was made to run often.
    pub(super) is_small: bool,
    /// Whether it takes arrays and yields an array or a tuple of arrays.
    pub(super) is_plain: bool,
}

impl World {
    pub(super) fn new(name: String, seed: u64, options: &Options) -> Self {
        let (mut rng, mut options) = (Rng::new(seed), options.clone());
        if options.numbers == Numbers::Tame {
            options.operations.retain(|opcode| opcode.is_computed());
            let is_known = |it: &ElementType| it.is_integer() || matches!(it, ElementType::F32 | ElementType::Pred);
            options.types.retain(is_known);
        }
        let makers: Vec<Maker> = options.operations.iter().filter_map(|&opcode| maker(opcode)).collect();
        let scalar_makers = makers.iter().copied().filter(Maker::is_elementwise).collect();
        let control_makers = makers.iter().copied().filter(Maker::is_control).collect();
        let count = rng.between(2, 4) as usize;
        let types = (0..count).filter_map(|_| rng.choose(&options.types)).collect();
        let is_empty = rng.chance(25);
        let extents = (0..count).map(|_| extents(&mut rng, options.elements.min(MAX_ELEMENTS), is_empty)).collect();
        let layouts = options.layouts && rng.chance(35);
        World {
            options,
            makers,
            scalar_makers,
            control_makers,
            types,
            extents,
            is_empty,
            layouts,
            module: ModuleBuilder::new(name),
            functions: Vec::new(),
            combiners: Vec::new(),
            cache: InferenceCache::new(standard_library()),
            rng,
        }
    }

    /// Whether an operation was asked for.
    pub(super) fn is_asked(&self, opcode: Opcode) -> bool {
        self.options.operations.contains(&opcode)
    }

    /// Whether errors of rounding are kept small.
    pub(super) fn is_tame(&self) -> bool {
        self.options.numbers == Numbers::Tame
    }
}

/// The module of a seed.
pub fn module(seed: u64, options: &Options) -> Module {
    let mut world = World::new(format!("random_{seed}"), seed, options);
    let mut body = Body::new(&mut world, ComputationKind::Entry, 0);
    body.grow(options.instructions);
    let root = body.root();
    let entry = body.finish_as("main".to_owned(), root);
    world.module.finish_unchecked(entry)
}

/// How often an operation is tried with other operands before there is no module.
const MAX_ATTEMPTS: usize = 16;

/// The module of a seed whose root is the given operation, one of [`operations`](super::operations) or `rng`, on parameters
/// and constants: as few other instructions as possible, those that put the operands of a loop or a call together. What it
/// calls is made of the operations of `options`. `None` where nothing came of it, for few of all seeds.
///
/// ```
/// use weft_hlo::ir::Opcode;
/// use weft_hlo::random::{self, Options};
///
/// let module = random::instance(3, Opcode::Pad, &Options { elements: 16, ..Options::default() }).expect("a seed for pad");
/// weft_hlo::verify::verify(&module)?;
/// let entry = module.entry_computation();
/// assert_eq!(entry.instructions[entry.root].op.opcode(), Opcode::Pad);
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn instance(seed: u64, opcode: Opcode, options: &Options) -> Option<Module> {
    let maker = maker_alone(opcode)?;
    let mut world = World::new(format!("{}_{seed}", opcode.name().replace('-', "_")), seed, options);
    let mut body = Body::new(&mut world, ComputationKind::SingleOperation, 0);
    // Operations on values of any shape take one that is there.
    if matches!(opcode, Opcode::Tuple | Opcode::GetTupleElement | Opcode::OptimizationBarrier | Opcode::AddDependency) {
        for _ in 0..1 + body.world.rng.below(3) {
            let shape = body.any_shape()?;
            body.parameter(shape);
        }
    }
    let root = (0..MAX_ATTEMPTS).find_map(|_| maker.make(&mut body))?;
    let entry = body.finish_as("main".to_owned(), root);
    Some(world.module.finish_unchecked(entry))
}
