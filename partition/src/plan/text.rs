//! The text of a plan.

use super::{
    Attended, Divided, Emitter, Factors, Folded, Function, FunctionId, FusionPlan, Hero, Pass, Read, Root, Scanned,
    Tail, Update,
};
use crate::access::is_identity;
use crate::scattered::Scattered;
use std::fmt;
use weft_hlo::ir::{ArenaId, Computation, InstrId};
use weft_indexing::IndexingMap;

pub(super) struct PlanText<'p> {
    pub(super) plan: &'p FusionPlan,
    pub(super) computation: &'p Computation,
}

impl fmt::Display for PlanText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan.emitter {
            Emitter::Loop(tiling) => writeln!(f, "plan loop threads={} elements={}", tiling.threads, tiling.elements)?,
            Emitter::Transposed(transposed) => writeln!(f, "plan transposed {transposed}")?,
            Emitter::Windowed(windowed) => writeln!(f, "plan windowed {windowed}")?,
            Emitter::Reduced(reduced) => writeln!(f, "plan reduced {reduced}")?,
            Emitter::Product(product) => writeln!(f, "plan product {product}")?,
            Emitter::Attention(attention) => writeln!(f, "plan attention {attention}")?,
            Emitter::UpdateSlice(tiling) => {
                writeln!(f, "plan update-slice threads={} elements={}", tiling.threads, tiling.elements)?;
            }
            Emitter::Scatter(tiling) => {
                writeln!(f, "plan scatter threads={} elements={}", tiling.threads, tiling.elements)?;
            }
            Emitter::Applied => f.write_str("plan applied\n")?,
        }
        writeln!(f, "  why: {}", self.plan.why)?;
        for update in &self.plan.updates {
            self.update(update, f)?;
        }
        for hero in &self.plan.heroes {
            self.hero(hero, f)?;
        }
        for (number, pass) in self.plan.passes.iter().enumerate() {
            self.pass(number, pass, f)?;
        }
        for Factors { dot, lhs, rhs, window, results } in &self.plan.factors {
            write!(f, "sums %{}", self.name(*dot))?;
            if let Some(map) = results {
                write!(f, "{}", Indices(map))?;
            }
            write!(f, " of {}", self.called(*lhs))?;
            if let Some(map) = window {
                write!(f, "{}", Indices(map))?;
            }
            writeln!(f, " and {}", self.called(*rhs))?;
        }
        if let Some(map) = &self.plan.rows {
            writeln!(f, "rows{}", Indices(map))?;
        }
        if let Some(attended) = &self.plan.attended {
            self.attended(attended, f)?;
        }
        for Tail { function, map } in &self.plan.tails {
            writeln!(f, "order of {}{}", self.called(*function), Indices(map))?;
        }
        for (position, function) in self.plan.functions.iter().enumerate() {
            let is_among = |ids: &[FunctionId]| ids.iter().any(|id| id.0 as usize == position);
            f.write_str(match (is_among(&self.plan.outputs), is_among(&self.plan.starts)) {
                (true, _) => "output function ",
                (_, true) => "start function ",
                _ => "function ",
            })?;
            self.function(function, f)?;
        }
        Ok(())
    }
}

impl PlanText<'_> {
    fn name(&self, id: InstrId) -> &str {
        &self.computation.instructions[id].name
    }

    fn hero(&self, hero: &Hero, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hero %{} in {}: {}", self.name(hero.instruction), self.called(hero.function), hero.kind)?;
        let tile = list(hero.tiling.tile.iter());
        writeln!(f, "  tiling: threads={} tile=[{tile}]", hero.tiling.threads)?;
        if !hero.prologues.is_empty() {
            let prologues: Vec<&str> = hero.prologues.iter().map(|id| self.called(*id)).collect();
            writeln!(f, "  prologues: {}", prologues.join(", "))?;
        }
        for tail in &hero.epilogues {
            writeln!(f, "  epilogue: {} at [{}]", self.called(tail.function), list(tail.map.results().iter()))?;
        }
        match &hero.why_loop {
            Some(why) => writeln!(f, "  a loop because: {why}"),
            None => Ok(()),
        }
    }

    fn pass(&self, number: usize, pass: &Pass, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pass {number}")?;
        let called = |functions: &[FunctionId]| list(functions.iter().map(|id| self.called(*id)));
        for (what, functions) in [("rows", &pass.rows), ("elements", &pass.elements)] {
            if !functions.is_empty() {
                writeln!(f, "  {what}: {}", called(functions))?;
            }
        }
        let scans = pass.scans.iter().map(|scan| ("scan", scan));
        for (what, folded) in pass.folds.iter().map(|fold| ("fold", fold)).chain(scans) {
            let Folded { reduction, scan, function, initial, neutral, online } = folded;
            let initial = initial.map_or(String::new(), |initial| format!(" into {}", self.called(initial)));
            let [reduction, function] = [self.name(*reduction), self.called(*function)];
            let neutral = list(neutral.iter());
            let order = scan.map_or(String::new(), |Scanned { is_reversed, is_exclusive }| {
                let from = if is_reversed { "last" } else { "first" };
                let own = if is_exclusive { "before" } else { "with" };
                format!(" from the {from}, {own} its own")
            });
            let scaled = online.map_or(String::new(), |maximum| format!(" scaled by %{}", self.name(maximum)));
            writeln!(f, "  {what}: %{reduction} of {function} from {neutral}{initial}{order}{scaled}")?;
        }
        Ok(())
    }

    fn attended(&self, attended: &Attended, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attended { scores, query, key, score, maximum, least, shift, .. } = attended;
        let Attended { exponential, added, sum, divided, weight, value, result, .. } = attended;
        writeln!(f, "scores %{} of {} and {}", self.name(*scores), self.called(*query), self.called(*key))?;
        write!(f, "  maximum: %{} of {} from {least}", self.name(*maximum), self.called(*score))?;
        match shift {
            Some(shift) => writeln!(f, ", less {}", self.called(*shift))?,
            None => writeln!(f)?,
        }
        writeln!(f, "  exponentials: {}", self.called(*exponential))?;
        writeln!(f, "  sum: %{} of {}", self.name(*sum), self.called(*added))?;
        if let Some(Divided { quotient, numerator, divisor }) = divided {
            let [numerator, divisor] = [self.called(*numerator), self.called(*divisor)];
            writeln!(f, "  %{} divides {numerator} by {divisor} at last", self.name(*quotient))?;
        }
        writeln!(f, "sums %{} of {} and {}", self.name(*result), self.called(*weight), self.called(*value))
    }

    fn update(&self, update: &Update, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [root, operand] = [update.root, update.operand].map(|id| self.name(id));
        let starts = update.map.runtime().iter().map(|variable| {
            let owner = variable.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
            format!("{} = %{}", variable.bounds(), owner.map_or("?", |owner| self.name(owner)))
        });
        let starts: Vec<String> = (0..).zip(starts).map(|(number, start)| format!("rt{number} in {start}")).collect();
        write!(
            f,
            "update %{root} may lie where %{operand} lies: {} writes {}",
            self.called(update.function),
            Indices(&update.map)
        )?;
        if !starts.is_empty() {
            write!(f, ", {}", starts.join(", "))?;
        }
        f.write_str(match update.scattered {
            Some(Scattered { undivided: true, .. }) => ", undivided\n",
            Some(Scattered { reads: true, .. }) => ", combined with what is there\n",
            _ => "\n",
        })
    }

    fn called(&self, id: FunctionId) -> &str {
        &self.plan.functions[id.0 as usize].name
    }

    fn function(&self, function: &Function, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", function.name, list(function.extents.iter()))?;
        if !function.given.is_empty() {
            let given: Vec<String> = function.given.iter().map(|id| format!("%{}", self.name(*id))).collect();
            write!(f, " given {}", given.join(", "))?;
        }
        let root = |Root { instruction, map }: &Root| match is_identity(map) {
            true => format!("%{}", self.name(*instruction)),
            false => format!("%{}{}", self.name(*instruction), Indices(map)),
        };
        let roots: Vec<String> = function.roots.iter().map(root).collect();
        writeln!(f, " -> {}", roots.join(", "))?;
        writeln!(f, "  why: {}", function.reason)?;
        for member in &function.members {
            self.member(*member, f)?;
        }
        Ok(())
    }

    fn member(&self, id: InstrId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instruction = &self.computation.instructions[id];
        write!(f, "  %{} = {} {}(", instruction.name, instruction.shape.without_layout(), instruction.op.name())?;
        let here = self.plan.home(id).map(|(function, _)| function);
        for (position, operand) in instruction.operands.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}%{}", self.name(*operand))?;
            let home = self.plan.home(*operand).map(|(function, _)| function);
            if let Read::At(map) = self.plan.read(id, position)
                && (home.is_none() || home != here)
            {
                write!(f, "{}", Indices(map))?;
            }
        }
        f.write_str(")\n")
    }
}

/// The results of a map in brackets.
struct Indices<'m>(&'m IndexingMap);

impl fmt::Display for Indices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", list(self.0.results().iter()))
    }
}

fn list<T: ToString>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}
