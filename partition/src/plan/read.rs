//! The reader of a plan's text.

use super::FusionPlan;
use super::planner::{Cuts, Planner};
use crate::Target;
use crate::tiling::Tiling;
use std::collections::BTreeMap;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Computation, InstrId, Module, Span};

/// Takes the cuts and the launch from the text and derives all else, which must then say what the text says.
pub(super) fn parse(
    text: &str,
    module: &Module,
    computation: &Computation,
    target: &Target,
) -> Result<FusionPlan, Diagnostics> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let by_name: BTreeMap<&str, InstrId> =
        computation.instructions.iter().map(|(id, instruction)| (instruction.name.as_str(), id)).collect();
    let updates = ["plan update-slice ", "plan scatter "];
    let is_loop = lines.first().is_some_and(|line| !updates.iter().any(|emitter| line.starts_with(emitter)));
    let tiling = lines.first().map(|line| launch(line)).transpose()?.flatten();
    let mut cuts = Cuts { tiling, is_loop, ..Cuts::default() };
    // All of a plan around reductions, products or attention follows from the computation.
    let follows = ["plan reduced ", "plan product ", "plan attention "];
    let follows = lines.first().is_some_and(|line| follows.iter().any(|emitter| line.starts_with(emitter)));
    for (number, line) in lines.iter().enumerate().filter(|_| !follows) {
        let Some(header) = line.strip_prefix("function ") else { continue };
        let found = || broken(line, "a function reads 'function NAME [EXTENTS] -> %ROOT'");
        let (_, root) = header.rsplit_once(" -> %").ok_or_else(found)?;
        let id = by_name.get(root).ok_or_else(|| broken(line, "the computation has no instruction of this name"))?;
        let why = lines.get(number + 1).and_then(|line| line.strip_prefix("  why: "));
        let why = why.ok_or_else(|| broken(line, "the line after a function reads '  why: REASON'"))?;
        cuts.own.insert(*id, why.to_owned());
    }
    let plan = match lines.first() {
        Some(&"plan applied") => Planner::with_cuts(computation, cuts).plan_applied()?,
        _ => Planner::with_cuts(computation, cuts).plan(module, target)?,
    };
    let told = plan.text(computation);
    let mut expected = told.lines();
    for line in lines {
        match expected.next() {
            Some(known) if known == line => {}
            Some(known) => return Err(broken(line, &format!("with these functions it reads '{known}'")).into()),
            None => return Err(broken(line, "the plan ends before this line").into()),
        }
    }
    match expected.next() {
        None => Ok(plan),
        Some(missing) => Err(broken("", &format!("the text ends before '{missing}'")).into()),
    }
}

/// The launch that the first line tells, `None` where it follows from the computation, or for one that is applied.
fn launch(line: &str) -> Result<Option<Tiling>, Diagnostics> {
    // The tiles of a transposition, of windows or of products follow from these, and the workgroups of reductions, too.
    let follows = ["plan transposed ", "plan windowed ", "plan reduced ", "plan product ", "plan attention "];
    if line == "plan applied" || follows.iter().any(|emitter| line.starts_with(emitter)) {
        return Ok(None);
    }
    let read = || -> Option<Tiling> {
        let emitters = ["plan loop threads=", "plan update-slice threads=", "plan scatter threads="];
        let launch = emitters.into_iter().find_map(|emitter| line.strip_prefix(emitter));
        let (threads, elements) = launch?.split_once(" elements=")?;
        Some(Tiling { threads: threads.parse().ok()?, elements: elements.parse().ok()? })
    };
    match read() {
        Some(tiling) if tiling.threads > 0 && tiling.elements > 0 => Ok(Some(tiling)),
        _ => {
            let message = "a plan begins with 'plan loop threads=N elements=N', 'plan update-slice threads=N elements=N', \
                           'plan scatter threads=N elements=N', 'plan transposed TILES', 'plan windowed TILES', 'plan reduced WORKGROUPS', 'plan product TILES', 'plan attention TILES' or 'plan applied'";
            Err(broken(line, message).into())
        }
    }
}

fn broken(line: &str, message: &str) -> Diagnostic {
    Diagnostic::new("HLO405", Span::default(), format!("'{line}': {message}"))
}
