//! Where the values of a round lie.

use super::walk::{Value, Walk, Walked};
use super::{BranchStep, ChoiceStep, FusionStep, InnerCarried, LoopStep, Outside, Place, RoundStep};
use std::collections::BTreeMap;
use weft_hlo::ir::ArrayShape;

/// Where values lie.
pub(super) struct Places<'w> {
    walk: &'w Walk<'w>,
    tiles: Vec<ArrayShape>,
    /// The tiles of what is carried, by leaf.
    carried: BTreeMap<usize, usize>,
    read: Vec<Outside>,
    of: BTreeMap<Value, Place>,
    /// Tiles that nothing needs any more.
    free: Vec<usize>,
}

/// Steps with places, and the tiles that are still needed of what they make.
type Placed = (Vec<RoundStep>, Vec<usize>);

impl<'w> Places<'w> {
    /// With tiles for what is carried, which are leaves of these shapes.
    pub(super) fn new(walk: &'w Walk<'w>, shapes: &[ArrayShape], carried: &[usize]) -> Self {
        Places {
            walk,
            tiles: carried.iter().map(|leaf| shapes[*leaf].clone()).collect(),
            carried: carried.iter().enumerate().map(|(tile, leaf)| (*leaf, tile)).collect(),
            read: Vec::new(),
            of: BTreeMap::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn tiles(&self) -> &[ArrayShape] {
        &self.tiles
    }

    /// All tiles, and what is read from outside.
    pub(super) fn finish(self) -> (Vec<ArrayShape>, Vec<Outside>) {
        (self.tiles, self.read)
    }

    pub(super) fn place(&mut self, value: Value) -> Result<Place, String> {
        let value = self.walk.known(value);
        if let Some(place) = self.of.get(&value) {
            return Ok(*place);
        }
        let outside = match value {
            Value::Leaf(leaf) => match self.carried.get(&leaf) {
                Some(tile) => return Ok(Place::Tile(*tile)),
                None => Outside::Leaf(leaf),
            },
            Value::Constant(site) => Outside::Constant(site),
            Value::Made(_) => return Err("a value is read before it is made".to_owned()),
        };
        self.read.push(outside);
        let place = Place::Read(self.read.len() - 1);
        self.of.insert(value, place);
        Ok(place)
    }

    fn places(&mut self, values: &[Value]) -> Result<Vec<Place>, String> {
        values.iter().map(|value| self.place(*value)).collect()
    }

    /// A tile for what a step makes.
    fn tile(&mut self, made: usize) -> usize {
        let shape = &self.walk.made[made];
        let tile = match self.free.iter().position(|tile| self.tiles[*tile] == *shape) {
            Some(position) => self.free.swap_remove(position),
            None => {
                self.tiles.push(shape.clone());
                self.tiles.len() - 1
            }
        };
        self.of.insert(Value::Made(made), Place::Tile(tile));
        tile
    }

    /// Steps with places; what none of them needs any more, nor what comes after, leaves its tile to others. What comes from outside of a block of steps is
    /// needed until that ends.
    pub(super) fn steps(&mut self, walked: Vec<Walked>, after: &[Value]) -> Result<Placed, String> {
        let mut last: BTreeMap<Value, usize> = BTreeMap::new();
        let mut touched = Vec::new();
        for (number, step) in walked.iter().enumerate() {
            touched.clear();
            step.touches(&mut touched);
            last.extend(touched.iter().map(|value| (self.walk.known(*value), number)));
        }
        last.extend(after.iter().map(|value| (self.walk.known(*value), usize::MAX)));
        let mut steps = Vec::with_capacity(walked.len());
        // What these steps make, by the last of them that needs it.
        let mut ending: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
        for (number, step) in walked.into_iter().enumerate() {
            for value in step.makes().into_iter().map(Value::Made) {
                let last = last.get(&value).copied().unwrap_or(number);
                ending.entry(last).or_default().push(value);
            }
            steps.push(self.step(step)?);
            let ended = ending.remove(&number).unwrap_or_default();
            self.free.extend(self.tiles_of(&ended));
        }
        let left = ending.remove(&usize::MAX).unwrap_or_default();
        let left = self.tiles_of(&left);
        Ok((steps, left))
    }

    fn tiles_of(&self, values: &[Value]) -> Vec<usize> {
        let tile = |value: &Value| match self.of.get(value) {
            Some(Place::Tile(tile)) => Some(*tile),
            Some(Place::Read(_)) | None => None,
        };
        values.iter().filter_map(tile).collect()
    }

    fn step(&mut self, step: Walked) -> Result<RoundStep, String> {
        Ok(match step {
            Walked::Fusion { fusion, plan, operands, results } => {
                let operands = self.places(&operands)?;
                let results = results.into_iter().map(|made| self.tile(made)).collect();
                RoundStep::Fusion(FusionStep { fusion, plan, operands, results })
            }
            Walked::Loop { rounds, carried, body } => {
                let initial: Vec<Value> = carried.iter().map(|(initial, ..)| *initial).collect();
                let initial = self.places(&initial)?;
                let tiles: Vec<usize> = carried.iter().map(|(_, made, _)| self.tile(*made)).collect();
                let next: Vec<Value> = carried.into_iter().map(|(.., next)| next).collect();
                let (body, left) = self.steps(body, &next)?;
                let next = self.places(&next)?;
                self.free.extend(left);
                let carried = initial.into_iter().zip(tiles).zip(next);
                let carried = carried.map(|((initial, tile), next)| InnerCarried { initial, tile, next }).collect();
                RoundStep::Loop(LoopStep { rounds, carried, body })
            }
            Walked::Choice { selector, is_pred, branches, results } => {
                let selector = self.place(selector)?;
                // No branch may take them for what it makes.
                let results: Vec<usize> = results.into_iter().map(|made| self.tile(made)).collect();
                let mut placed = Vec::with_capacity(branches.len());
                for (steps, yielded) in branches {
                    let (steps, left) = self.steps(steps, &yielded)?;
                    let results = self.places(&yielded)?;
                    self.free.extend(left);
                    placed.push(BranchStep { steps, results });
                }
                RoundStep::Choice(ChoiceStep { selector, is_pred, branches: placed, results })
            }
        })
    }
}
