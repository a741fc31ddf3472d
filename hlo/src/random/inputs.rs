//! Random inputs of a module.

use super::element;
use super::options::{Numbers, Options};
use super::rng::Rng;
use crate::ir::{ArrayShape, Literal, Module, Shape};

/// Random arguments for the entry's parameters, as [`evaluate`](crate::eval::evaluate) takes them: one literal for each leaf
/// of each parameter, of the [numbers](Options::numbers) that the options name; of the options nothing else matters. A bounded
/// extent is taken at its bound, an unknown one as 0; tokens and handles are empty tuples.
pub fn inputs(module: &Module, seed: u64, options: &Options) -> Vec<Literal> {
    let mut rng = Rng::new(seed);
    let entry = module.entry_computation();
    let parameters = entry.parameters();
    let leaves = parameters.into_iter().flat_map(|id| entry.instructions[id].shape.leaves());
    leaves.map(|leaf| input(&mut rng, options.numbers, leaf)).collect()
}

fn input(rng: &mut Rng, numbers: Numbers, leaf: &Shape) -> Literal {
    let Some(ArrayShape { element_type, extents, .. }) = leaf.as_array() else { return Literal::tuple(Vec::new()) };
    let extents: Vec<i64> = extents.iter().map(|&extent| extent.max(0)).collect();
    element::array(rng, numbers, *element_type, &extents)
}
