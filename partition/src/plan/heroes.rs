//! What a kernel could be shaped around.

use super::planner::Planner;
use super::{FunctionId, Hero, Tail, leaf_extents};
use crate::Target;
use crate::access::row_major;
use crate::hero::HeroKind;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Op};

impl Planner<'_> {
    /// The instructions that root functions and could shape the kernel, each with the reason why not, as far as it is known already.
    pub(super) fn heroes(&self, outputs: &[FunctionId], target: &Target) -> Result<Vec<Hero>, Diagnostics> {
        let mut heroes = Vec::new();
        for (id, instruction) in self.computation.instructions.iter() {
            let Some(home) = &self.homes[id.index()] else { continue };
            let function = home.access.function;
            let own = &self.functions[function.0 as usize];
            if own.roots.iter().all(|root| root.instruction != id) {
                continue;
            }
            let Some(kind) = HeroKind::of(self.computation, id) else { continue };
            let mut prologues: Vec<FunctionId> = (own.members.iter())
                .flat_map(|member| {
                    let operands = &self.computation.instructions[*member].operands;
                    operands.iter().filter_map(|operand| self.homes[operand.index()].as_ref())
                })
                .map(|home| home.access.function)
                .filter(|other| *other != function)
                .collect();
            prologues.sort_unstable();
            prologues.dedup();
            let extents = leaf_extents(&instruction.shape);
            let mut epilogues = Vec::new();
            for tail in outputs {
                let planned = &self.functions[tail.0 as usize];
                if planned.given.contains(&id) {
                    let map = row_major(&extents, &planned.extents).map_err(|error| {
                        Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name)
                    })?;
                    epilogues.push(Tail { function: *tail, map });
                }
            }
            let tiling = kind.tiling(target);
            let is_reached = outputs.contains(&function) || !epilogues.is_empty();
            let is_tiled = matches!(kind, HeroKind::Transposition { .. } | HeroKind::Window { .. });
            let why_loop = match kind.pays() {
                Err(reason) => Some(reason),
                // Several results are read one by one, so that only a kernel around rows can be given them.
                Ok(()) if !is_reached && (instruction.shape.as_array().is_some() || self.why_no_rows.is_none()) => {
                    Some("outputs read it at other elements than their own".to_owned())
                }
                Ok(()) if target.faults.barriers => Some("barriers do not work on the target".to_owned()),
                Ok(()) if tiling.bytes(4) > u64::from(target.max_workgroup_storage_bytes) => {
                    let (bytes, most) = (tiling.bytes(4), target.max_workgroup_storage_bytes);
                    Some(format!("its tile takes {bytes} bytes of workgroup memory and the target has {most}"))
                }
                Ok(()) if is_tiled => None,
                Ok(()) => {
                    let is_reduction = matches!(
                        kind,
                        HeroKind::RowReduction { .. } | HeroKind::ColumnReduction { .. } | HeroKind::Scan { .. }
                    );
                    let is_dot = matches!(instruction.op, Op::Dot { .. } | Op::Convolution { .. });
                    let why = self.why_no_rows.as_ref().filter(|_| is_reduction);
                    let why = why.or(self.why_no_tiles.as_ref().filter(|_| is_dot));
                    Some(why.cloned().unwrap_or_else(|| "no emitter is built for it yet".to_owned()))
                }
            };
            heroes.push(Hero { instruction: id, kind, function, prologues, epilogues, tiling, why_loop });
        }
        Ok(heroes)
    }
}
