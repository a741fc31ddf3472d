//! A random module under construction.

use super::operation::{Maker, computed, maker};
use super::options::{Numbers, Options};
use super::region::Combiner;
use super::rng::Rng;
use super::shape::{MAX_ELEMENTS, extents};
use crate::build::ModuleBuilder;
use crate::ir::{ComputationId, ElementType, Shape};
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
            let computed: Vec<&str> = computed().collect();
            options.operations.retain(|operation| computed.contains(operation));
            let is_known = |it: &ElementType| it.is_integer() || matches!(it, ElementType::F32 | ElementType::Pred);
            options.types.retain(is_known);
        }
        let makers: Vec<Maker> = options.operations.iter().filter_map(|name| maker(name)).collect();
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
    pub(super) fn is_asked(&self, operation: &str) -> bool {
        self.options.operations.contains(&operation)
    }

    /// Whether errors of rounding are kept small.
    pub(super) fn is_tame(&self) -> bool {
        self.options.numbers == Numbers::Tame
    }
}
