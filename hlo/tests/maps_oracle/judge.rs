//! The maps of an instruction against what it reads.

use super::cells::count;
use super::mapped::pairs;
use super::pairs::Pairs;
use super::scene::{Reads, Scene, leaf_extents};
use std::collections::BTreeMap;
use weft_hlo::indexing::{Analysis, Dependence, Dependences, Direction, Domains, Relation, Undefined};

/// An array of the result, an operand, and an array of it.
pub(crate) type Key = (usize, usize, usize);

/// What the maps say of one array of the result and one of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// All that the maps lead to, from the result's elements to the operand's.
    pub(crate) pairs: Pairs,
    /// Whether some map says that it leads to more than is read.
    pub(crate) is_coarse: bool,
    pub(crate) undefined: Option<Undefined>,
}

/// What was found of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) said: BTreeMap<Key, Said>,
    pub(crate) wrong: Vec<String>,
}

/// Compares the maps in both directions with what is read, and with one another.
pub(crate) fn judge(scene: Scene<'_>, reads: &Reads, domains: Domains) -> Verdict {
    let mut verdict = Verdict::default();
    let mut analysis = Analysis::new(scene.module).with_domains(domains);
    let backward = analysis.instruction(scene.computation, scene.id, Direction::OutputToInput);
    let forward = analysis.instruction(scene.computation, scene.id, Direction::InputToOutput);
    let backward = said(scene, &backward, Direction::OutputToInput, Some(reads), &mut verdict.wrong);
    let forward = said(scene, &forward, Direction::InputToOutput, None, &mut verdict.wrong);
    let mut wrong = |key: &Key, what: String| verdict.wrong.push(format!("{domains:?} {key:?}: {what}"));
    for (key, read) in &reads.pairs {
        let (back, there) = (&backward[key], &forward[key]);
        // One direction may know that there is nothing to know, where the other goes through what is undefined first.
        let of_nothing =
            |one: &Said, other: &Said| one.undefined.is_none() && other.undefined.is_some() && one.pairs.size() == 0;
        let differ = back.undefined != there.undefined;
        if differ && !of_nothing(back, there) && !of_nothing(there, back) {
            wrong(key, format!("{:?} one way and {:?} the other", back.undefined, there.undefined));
        }
        if back.undefined.is_some() {
            continue;
        }
        if let Some((row, column)) = read.beyond(&back.pairs) {
            wrong(key, format!("element {row} of the result reads element {column}, which no map says"));
        }
        if !back.is_coarse
            && let Some((row, column)) = back.pairs.beyond(read)
        {
            wrong(key, format!("element {row} of the result does not read element {column}, as a map says"));
        }
        if there.undefined.is_none() && there.pairs != back.pairs.inverse() {
            let (one, other) = (there.pairs.beyond(&back.pairs.inverse()), back.pairs.beyond(&there.pairs.inverse()));
            wrong(key, format!("the directions disagree: only forward {one:?}, only backward {other:?}"));
        }
    }
    verdict.said = backward;
    verdict
}

/// What dependences say of every array of the result and of the operands. Every map that calls itself exact must lead to
/// nothing that is not among `reads`.
fn said(
    scene: Scene<'_>,
    found: &Dependences,
    direction: Direction,
    reads: Option<&Reads>,
    wrong: &mut Vec<String>,
) -> BTreeMap<Key, Said> {
    let mut all: BTreeMap<Key, Said> = BTreeMap::new();
    for (key, pairs) in Reads::nothing(&scene).pairs {
        let pairs = if direction == Direction::OutputToInput { pairs } else { pairs.inverse() };
        all.insert(key, Said { pairs, is_coarse: false, undefined: None });
    }
    for dependence in &found.dependences {
        let Some(operand) = dependence.operand else {
            wrong.extend(of_nothing(scene, dependence, direction));
            continue;
        };
        let is_meant = |key: &Key| {
            key.1 == operand
                && dependence.result.is_none_or(|result| result == key.0)
                && dependence.leaf.is_none_or(|leaf| leaf == key.2)
        };
        let leaves = if operand < scene.operands() { scene.operand_shape(operand).leaves().len() } else { 0 };
        if dependence.result.is_some_and(|result| result >= scene.results())
            || dependence.leaf.is_some_and(|leaf| leaf >= leaves)
        {
            wrong.push(format!("there are no such arrays: {dependence:?}"));
        }
        for (key, said) in all.iter_mut().filter(|(key, _)| is_meant(key)) {
            let maps = match &dependence.relation {
                Relation::Undefined(reason) => {
                    said.undefined = Some(reason.clone());
                    continue;
                }
                Relation::Maps(maps) => maps,
            };
            let result = leaf_extents(&scene.instruction().shape, key.0);
            let operand = leaf_extents(scene.operand_shape(operand), key.2);
            for map in maps {
                let (from, to) =
                    if direction == Direction::OutputToInput { (&result, &operand) } else { (&operand, &result) };
                if map.replica_id.is_some() {
                    wrong.push(format!("{key:?}: an element of another replica, on one device"));
                }
                match pairs(&map.map, from, to, scene, &found.owners) {
                    Ok(pairs) => {
                        said.is_coarse |= map.coarse.is_some();
                        let beyond = reads.and_then(|reads| pairs.beyond(&reads.pairs[key]));
                        if let Some((row, column)) = beyond.filter(|_| map.coarse.is_none()) {
                            wrong.push(format!("{key:?}: {} leads from {row} to {column}, which is not read", map.map));
                        }
                        said.pairs.join(&pairs);
                    }
                    Err(why) => wrong.push(format!("{key:?} {direction:?}: {why}")),
                }
            }
        }
    }
    all
}

/// Elements that depend on no operand come from one place without an index, every one of them.
fn of_nothing(scene: Scene<'_>, dependence: &Dependence, direction: Direction) -> Option<String> {
    let extents = scene.result(dependence.result?);
    let (from, to) = if direction == Direction::OutputToInput {
        (extents.as_slice(), [].as_slice())
    } else {
        (&[][..], &extents[..])
    };
    let all = Pairs::all(count(from), count(to));
    let found = match &dependence.relation {
        Relation::Maps(maps) if maps.len() == 1 => pairs(&maps[0].map, from, to, scene, &Default::default()),
        other => Err(format!("{other:?} is no map from nothing")),
    };
    match found {
        Ok(pairs) if pairs == all => None,
        Ok(_) => Some("not every element comes from nothing".to_owned()),
        Err(why) => Some(why),
    }
}
