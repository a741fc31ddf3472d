//! Perturbation: elements that are not read do not change the result.

use super::judge::{Key, Said};
use super::scene::Scene;
use super::values::Alone;
use std::collections::BTreeMap;
use weft_hlo::ir::Literal;

/// How many elements of the result are looked at.
const LOOKED_AT: usize = 3;

/// How many different elements are tried in place of one.
const DRAWS: u64 = 6;

/// What was found of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stability {
    /// How many elements of operands were changed.
    pub(crate) changed: usize,
    pub(crate) wrong: Vec<String>,
}

/// Changes for some elements of the result all that its maps do not lead to.
pub(crate) fn perturb(scene: Scene<'_>, said: &BTreeMap<Key, Said>, seed: u64) -> Result<Stability, String> {
    let alone = Alone::new(scene.module, scene.computation, scene.id);
    let mut arguments: Vec<Literal> = Vec::new();
    for ((operand, leaf), _) in alone.arguments() {
        arguments.push(scene.value(operand)[leaf].clone().ok_or("an argument is no array")?);
    }
    let draws: Vec<Vec<Literal>> =
        (0..DRAWS).map(|draw| alone.random_arguments(seed.wrapping_mul(DRAWS).wrapping_add(draw))).collect();
    let mut found = Stability::default();
    let before = alone.value(&arguments)?;
    for result in 0..scene.results() {
        let Some(literal) = &before[result] else { continue };
        let count = literal.data.len().unwrap_or(0);
        for look in 0..LOOKED_AT.min(count) {
            let element = (seed as usize).wrapping_add(look * (count / LOOKED_AT).max(1)) % count;
            let mut changed = arguments.clone();
            for (leaf, argument) in alone.arguments() {
                let said = &said[&(result, leaf.0, leaf.1)];
                if said.undefined.is_some() {
                    continue;
                }
                for (at, _) in said.pairs.row(element).iter().enumerate().filter(|(_, is_read)| !**is_read) {
                    let old = arguments[argument].data.get(at).ok_or("an argument has too few elements")?;
                    let new = draws.iter().filter_map(|draw| draw[argument].data.get(at)).find(|new| *new != old);
                    if let Some(new) = new {
                        changed[argument].data.set(at, new).ok_or("an argument has another type")?;
                        found.changed += 1;
                    }
                }
            }
            let after = alone.value(&changed)?;
            let of = |value: &[Option<Literal>]| value[result].as_ref().and_then(|literal| literal.data.get(element));
            if of(&before) != of(&after) {
                let (before, after) = (of(&before), of(&after));
                found.wrong.push(format!(
                    "element {element} of array {result} was {before:?} and is {after:?} when what it does not read changes"
                ));
            }
        }
    }
    Ok(found)
}
