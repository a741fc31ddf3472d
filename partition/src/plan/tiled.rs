//! Whether a kernel is shaped around its heroes.

use super::planner::Planner;
use super::{FunctionId, Hero, Read};
use crate::Target;
use crate::access::{is_identity, read_map};
use crate::cost::{operation_cost, weight};
use crate::hero::HeroKind;
use crate::transposed::{TileOwner, Transposed};
use weft_hlo::ir::{ArenaId, ElementType, InstrId, Op};
use weft_indexing::IndexingMap;

impl Planner<'_> {
    /// The tiles of the heroes that are transpositions; heroes that have none of these are told why. `None` where none is left.
    pub(super) fn transposed(
        &self,
        outputs: &[FunctionId],
        heroes: &mut [Hero],
        target: &Target,
    ) -> Option<Transposed> {
        let mut shared: Option<(Transposed, InstrId)> = None;
        let mut bytes = 0;
        let results = self.result_types();
        for hero in heroes.iter_mut().filter(|hero| hero.why_loop.is_none()) {
            let HeroKind::Transposition { .. } = hero.kind else { continue };
            let tiles = Transposed::of(self.computation, hero.instruction, &results, target)
                .and_then(|tiles| self.allowed(&tiles, hero, outputs, target).map(|()| tiles));
            hero.why_loop = match (tiles, &shared) {
                (Err(reason), _) => Some(reason),
                (Ok(tiles), Some((first, of))) if tiles != *first => {
                    let name = &self.computation.instructions[*of].name;
                    Some(format!("its tiles are other than those of %{name}"))
                }
                (Ok(tiles), _) => {
                    let tile = tiles.tile_extents().iter().product::<i64>() * 4;
                    bytes +=
                        if tiles.tiles == TileOwner::Workgroup { u64::try_from(tile).unwrap_or(u64::MAX) } else { 0 };
                    let most = u64::from(target.max_workgroup_storage_bytes);
                    if bytes > most {
                        Some(format!("the tiles take {bytes} bytes of workgroup memory and the target has {most}"))
                    } else {
                        shared.get_or_insert((tiles, hero.instruction));
                        None
                    }
                }
            };
        }
        let (tiles, of) = shared?;
        let name = &self.computation.instructions[of].name;
        for hero in heroes.iter_mut().filter(|hero| !matches!(hero.kind, HeroKind::Transposition { .. })) {
            hero.why_loop.get_or_insert_with(|| format!("the kernel is tiled around %{name}"));
        }
        Some(self.in_pairs(&tiles, outputs, heroes, target).unwrap_or(tiles))
    }

    /// The tiles in pairs, if that spares something: what a hero reads through its transposition, outputs read at their own elements.
    fn in_pairs(
        &self,
        tiles: &Transposed,
        outputs: &[FunctionId],
        heroes: &[Hero],
        target: &Target,
    ) -> Option<Transposed> {
        let mut heroes = heroes.iter().filter(|hero| hero.why_loop.is_none());
        let bytes =
            2 * tiles.tile_extents().iter().product::<i64>() * 4 * i64::try_from(heroes.clone().count()).ok()?;
        let fits = tiles.tiles == TileOwner::Invocation
            || u64::try_from(bytes).is_ok_and(|bytes| bytes <= u64::from(target.max_workgroup_storage_bytes));
        let units = heroes.clone().map(|hero| self.units_before(hero)).fold(0.0, f64::max);
        let paired = heroes.clone().map(|hero| tiles.in_pairs(self.computation, hero.instruction, units, target));
        let mut paired: Vec<Transposed> = paired.collect::<Option<_>>()?;
        let is_shared = heroes.any(|hero| {
            let swap = read_map(self.computation, hero.instruction, 0).ok().flatten();
            let through = self.read_by(hero.function).into_iter().filter(|(_, map)| swap.as_ref() == Some(*map));
            let own =
                outputs.iter().filter(|output| **output != hero.function).flat_map(|output| self.read_by(*output));
            let own: Vec<InstrId> = own.filter(|(_, map)| is_identity(map)).map(|(id, _)| id).collect();
            through.into_iter().any(|(id, _)| own.contains(&id))
        });
        paired.pop().filter(|_| fits && is_shared)
    }

    /// Units of work that it takes to compute an element of a hero from operands.
    fn units_before(&self, hero: &Hero) -> f64 {
        let functions = hero.prologues.iter().chain([&hero.function]);
        let members = functions.flat_map(|id| &self.functions[id.0 as usize].members);
        let instructions = members.map(|id| &self.computation.instructions[*id]);
        instructions.map(|it| operation_cost(&it.op) * weight(it)).sum()
    }

    /// What the members of a function read of parameters and other functions, and at which elements.
    fn read_by(&self, function: FunctionId) -> Vec<(InstrId, &IndexingMap)> {
        let members = self.functions[function.0 as usize].members.iter();
        let reads = members.flat_map(|member| {
            let operands = &self.computation.instructions[*member].operands;
            operands.iter().copied().zip(&self.reads[member.index()])
        });
        let elsewhere =
            |id: &InstrId| self.homes[id.index()].as_ref().is_none_or(|home| home.access.function != function);
        reads
            .filter(|(id, _)| elsewhere(id))
            .filter_map(|(id, read)| match read {
                Read::At(map) => Some((id, map)),
                _ => None,
            })
            .collect()
    }

    /// Why these tiles cannot serve a hero.
    fn allowed(&self, tiles: &Transposed, hero: &Hero, outputs: &[FunctionId], target: &Target) -> Result<(), String> {
        let own = &self.functions[hero.function.0 as usize];
        if own.roots.len() > 1 {
            return Err(format!("{} yields other values with it, which are not transposed", own.name));
        }
        let elements = |id: &FunctionId| self.functions[id.0 as usize].extents.iter().product::<i64>();
        if let Some(other) = outputs.iter().find(|id| elements(id) != tiles.elements()) {
            let name = &self.functions[other.0 as usize].name;
            return Err(format!("{name} has {} elements and it has {}", elements(other), tiles.elements()));
        }
        // What fills words by more than a vector has lanes is moved as words, and not computed with.
        let moves = |op: &Op| op.opcode().only_moves_data() || matches!(op, Op::Parameter { .. } | Op::Tuple);
        if tiles.unit > 4
            && let Some(other) = self.computation.instructions.values().find(|it| !moves(&it.op))
        {
            return Err(format!("{} elements share a word, and {} computes with them", tiles.unit, other.name));
        }
        let most = self.greatest_tensor();
        if most > target.max_storage_binding_bytes {
            return Err(format!(
                "a kernel binds {} bytes of a tensor, which has {most}",
                target.max_storage_binding_bytes
            ));
        }
        Ok(())
    }

    /// The types of what the kernel writes.
    pub(super) fn result_types(&self) -> Vec<ElementType> {
        let results = self.computation.instructions[self.computation.root].shape.leaves().into_iter();
        results.filter_map(|leaf| Some(leaf.as_array()?.element_type)).collect()
    }

    /// What a kernel is shaped around, and why not around the others.
    pub(super) fn reasons(&self, heroes: &[Hero]) -> String {
        self.reasons_with(heroes, "it is tiled")
    }

    /// As [`reasons`](Self::reasons), with what is told of those that it is shaped around.
    pub(super) fn reasons_with(&self, heroes: &[Hero], tiled: &str) -> String {
        let name = |hero: &Hero| &self.computation.instructions[hero.instruction].name;
        let told = heroes.iter().map(|hero| match &hero.why_loop {
            Some(why) => format!("{}: {why}", name(hero)),
            None => format!("{}: {tiled}", name(hero)),
        });
        told.collect::<Vec<String>>().join("; ")
    }
}
