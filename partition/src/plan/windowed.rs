//! Whether a kernel is tiled around windows that overlap.

use super::planner::{Placement, Planner};
use super::{FunctionId, Hero, Read};
use crate::Target;
use crate::access::Counted;
use crate::fold::Fold;
use crate::form::Form;
use crate::hero::{HeroKind, HeroTiling};
use crate::windowed::Windowed;
use weft_hlo::ir::{ArenaId, InstrId, Module, Op};

/// What workgroups load: the operands of a hero, each of which is a function of its own, so that its elements are computed once for a workgroup.
#[derive(Clone)]
pub(super) struct Loaded {
    hero: InstrId,
    operands: Vec<InstrId>,
    elements: f64,
}

impl Loaded {
    /// Where an operand goes, if it is one of these.
    pub(super) fn placement(&self, id: InstrId, accesses: &[&Counted]) -> Option<Placement> {
        let is_hero = |counted: &Counted| counted.access.block.is_some_and(|(owner, _)| owner == self.hero);
        let others = accesses.iter().filter(|counted| !is_hero(counted)).map(|counted| counted.evaluations);
        let evaluations = others.sum::<f64>() + self.elements;
        let reason = "workgroups load its elements for the windows that share them".to_owned();
        // It is called outside of the loop over a window.
        let depth = accesses.iter().map(|counted| counted.access.depth).max().unwrap_or(0);
        self.operands.contains(&id).then_some(Placement::Own { reason, evaluations, depth })
    }
}

impl Planner<'_> {
    /// The tiles of the hero whose windows overlap, and what is loaded into them; heroes that have none are told why. `None` where no hero is left.
    pub(super) fn windowed(
        &self,
        module: Option<&Module>,
        outputs: &[FunctionId],
        heroes: &mut [Hero],
        target: &Target,
    ) -> Option<(Windowed, Loaded)> {
        let mut found: Option<(Windowed, InstrId)> = None;
        for hero in heroes.iter_mut().filter(|hero| hero.why_loop.is_none()) {
            let HeroKind::Window { .. } = hero.kind else { continue };
            match (self.tiles_of(module, hero, outputs, target), &found) {
                (Err(reason), _) => hero.why_loop = Some(reason),
                (Ok(_), Some((_, of))) => {
                    let name = &self.computation.instructions[*of].name;
                    hero.why_loop = Some(format!("the kernel is tiled around the windows of %{name}"));
                }
                (Ok(windowed), None) => {
                    hero.tiling = HeroTiling { threads: windowed.threads, tile: windowed.loaded() };
                    found = Some((windowed, hero.instruction));
                }
            }
        }
        let (windowed, hero) = found?;
        let operands = &self.computation.instructions[hero].operands;
        let operands = operands[..operands.len() / 2].to_vec();
        let elements = windowed.loads() as f64;
        Some((windowed, Loaded { hero, operands, elements }))
    }

    /// The tiles of one hero, or why it has none.
    fn tiles_of(
        &self,
        module: Option<&Module>,
        hero: &Hero,
        outputs: &[FunctionId],
        target: &Target,
    ) -> Result<Windowed, String> {
        if target.is_software() {
            return Err("in software an invocation shares what its windows have in common in registers".to_owned());
        }
        let instruction = &self.computation.instructions[hero.instruction];
        let (Some(module), Op::ReduceWindow { to_apply, .. }) = (module, &instruction.op) else {
            return Err("no emitter is built for it yet".to_owned());
        };
        let own = &self.functions[hero.function.0 as usize];
        if own.roots.len() > 1 {
            return Err(format!("{} yields other values with it", own.name));
        }
        let is_read = |(user, other): (InstrId, &weft_hlo::ir::Instruction)| {
            let mut reads = other.operands.iter().zip(&self.reads[user.index()]);
            reads.any(|(operand, read)| *operand == hero.instruction && !matches!(read, Read::Given))
        };
        if self.computation.instructions.iter().any(is_read) {
            return Err("it is read at other elements than those of outputs, too".to_owned());
        }
        let elements = |extents: &[i64]| extents.iter().product::<i64>();
        if let Some(other) = outputs
            .iter()
            .map(|id| &self.functions[id.0 as usize])
            .find(|it| elements(&it.extents) != elements(&own.extents))
        {
            let (others, results) = (elements(&other.extents), elements(&own.extents));
            return Err(format!("{} has {others} elements and it has {results}", other.name));
        }
        let inputs = instruction.operands.len() / 2;
        if self.reads[hero.instruction.index()].iter().take(inputs).any(|read| !matches!(read, Read::At(_))) {
            return Err("what it folds is known without memory".to_owned());
        }
        let bytes = self.greatest_tensor();
        if bytes > target.max_storage_binding_bytes {
            return Err(format!(
                "a kernel binds {} bytes of a tensor, which has {bytes}",
                target.max_storage_binding_bytes
            ));
        }
        let neutral = Fold::of(&module.computations[*to_apply]).map(|fold| fold.neutral);
        Windowed::of(self.computation, hero.instruction, neutral, &self.result_types(), target)
    }

    /// Bytes of the greatest tensor that the kernel binds.
    pub(super) fn greatest_tensor(&self) -> u64 {
        let shape = |id: InstrId| self.computation.instructions[id].shape.leaves().into_iter();
        let parameters = self.computation.instructions.iter().filter(|(_, it)| matches!(it.op, Op::Parameter { .. }));
        let bound = parameters.flat_map(|(id, _)| shape(id)).chain(shape(self.computation.root));
        bound.filter_map(|leaf| Form::tensor_bytes(leaf.as_array()?)).max().unwrap_or(0)
    }
}
