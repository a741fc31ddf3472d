//! What all computations of a module under construction share.

use super::body::MOST_ELEMENTS;
use super::operation::{Maker, computed, maker};
use super::options::{Numbers, Options};
use super::region::Combiner;
use super::rng::Rng;
use crate::ir::{Arena, Computation, ComputationId, ElementType, Shape};
use crate::shape::{InferenceCache, standard_library};

/// A module under construction.
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
    pub(super) computations: Arena<ComputationId, Computation>,
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
    pub(super) fn new(seed: u64, options: &Options) -> Self {
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
        let extents = (0..count).map(|_| extents(&mut rng, options.elements.min(MOST_ELEMENTS), is_empty)).collect();
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
            computations: Arena::new(),
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

    /// The name of the next computation, which tells what it is for.
    pub(super) fn name(&self, purpose: &str) -> String {
        format!("{purpose}_{}", self.computations.len())
    }
}

/// Random extents of any rank up to 6 that come to at most so many elements, often to none if so wished.
pub(super) fn extents(rng: &mut Rng, elements: i64, is_empty: bool) -> Vec<i64> {
    let rank = rng.weighted(&[12, 22, 24, 18, 11, 7, 6]);
    ranked_extents(rng, rank, elements, is_empty)
}

/// Random extents of a rank that come to at most so many elements, often to none if so wished.
pub(super) fn ranked_extents(rng: &mut Rng, rank: usize, elements: i64, is_empty: bool) -> Vec<i64> {
    let mut extents = vec![1; rank];
    let mut room = elements.max(1);
    for dimension in rng.dimensions(rank, rank) {
        extents[dimension] = match rng.weighted(&[if is_empty { 14 } else { 0 }, 24, 72]) {
            0 => 0,
            2 if room > 1 => rng.between(2, room.min(7)),
            _ => 1,
        };
        room /= extents[dimension].max(1);
    }
    extents
}
