//! The emitter of scatters in place: one invocation per element of the updates.

use super::loop_emitter::{Launch, Launched, too_large};
use super::windows::Division;
use crate::elemental::{define, element_type, zero};
use crate::kernel::{
    Binding, Block, Combiner, Condition, Function, FunctionId, MemoryId, Operand, ScalarOp, Statement,
};
use crate::lower::indices_at;
use weft_affine::{Expr, Var};
use weft_hlo::ir::{Arena, ArenaId, Computation, InstrId, Op};
use weft_indexing::RuntimeVariable;
use weft_partition::{FusionPlan, Scattered, Target, Update};

/// The entry, or why no launch is large enough: each round finds out where one element of the updates goes, and if its window lies in the operands, combines it with the
/// element that is there.
pub(super) fn scatter_entry(
    computation: &Computation,
    plan: &FusionPlan,
    (parameters, first_result): (&[MemoryId], usize),
    functions: &Arena<FunctionId, Function>,
    (region, division): (FunctionId, Division),
    target: &Target,
) -> Result<Launched, String> {
    let fault = || "the plan has no scatter; this is a fault of the compiler".to_owned();
    let updates = plan.updates();
    let Update { function, map, scattered, .. } = updates.first().ok_or_else(fault)?;
    let scattered = scattered.ok_or_else(fault)?;
    let function = FunctionId::from_index(function.0 as usize);
    let count = functions[function].extents.iter().product();
    let mut launch = Launch::new(count, division, target)?;
    if launch.is_empty() || map.runtime().iter().any(|start| start.bounds().is_empty()) {
        return Ok(launch.finish(Block::default(), Block::default()));
    }
    let indices = indices_at(&launch.position, &functions[function].extents).map_err(too_large)?;
    let at = |expr: &Expr| {
        let index = |variable| match variable {
            Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
            Var::Range(_) | Var::Runtime(_) => None,
        };
        expr.substitute(index).map_err(too_large)
    };
    let mut block = Block::default();
    let mut bindings = Vec::with_capacity(map.runtime().len());
    for (variable, start) in (0..).zip(map.runtime()) {
        let indices = start.access().iter().map(at).collect::<Result<Vec<_>, _>>()?;
        let mut starts = Starts { computation, plan, parameters, functions, launch: &mut launch };
        let value = starts.value(start, indices, &mut block)?;
        bindings.push(Binding { variable, bounds: start.bounds(), value });
    }
    let place = map.results().iter().map(at).collect::<Result<Vec<_>, _>>()?;
    let mut inside = Block::default();
    let mut arguments = Vec::new();
    for given in &plan.functions()[function.index()].given {
        let home = plan.home(*given).map(|(function, _)| FunctionId::from_index(function.0 as usize));
        let values = launch.call(functions, home.ok_or_else(fault)?, "given", Vec::new(), &mut inside);
        arguments.extend(values.map_err(too_large)?);
    }
    let given = launch.call(functions, function, "update", arguments, &mut inside).map_err(too_large)?;
    let memories = (0..updates.len()).map(|output| MemoryId::from_index(first_result + output));
    let Scattered { reads, undivided, .. } = scattered;
    if undivided {
        for (memory, value) in memories.zip(given) {
            let (indices, combiner) = (place.clone(), Combiner::Function(region));
            inside.statements.push(Statement::Update { memory, indices, combiner, value });
        }
    } else {
        let mut arguments = Vec::with_capacity(2 * updates.len());
        for (memory, update) in memories.clone().zip(updates) {
            let operand = &computation.instructions[update.operand];
            let ty = element_type(operand);
            arguments.push(match reads {
                true => {
                    let op = ScalarOp::Extract { memory, indices: place.clone() };
                    define(&mut launch.entry, &mut inside, format!("{}.replaced", operand.name), ty, op)
                }
                false => Operand::Constant(zero(ty)),
            });
        }
        arguments.extend(given);
        let values = launch.call_at(functions, region, "combined", Vec::new(), arguments, &mut inside);
        for (memory, value) in memories.zip(values) {
            inside.statements.push(Statement::Store { memory, indices: place.clone(), value });
        }
    }
    if bindings.is_empty() {
        block.statements.extend(inside.statements);
    } else {
        let (values, condition, otherwise) = (Vec::new(), Condition::InBounds(bindings), Block::default());
        block.statements.push(Statement::If { values, condition, then: inside, otherwise });
    }
    let mut round = Block::default();
    launch.below(count, block, &mut round);
    Ok(launch.finish(Block::default(), round))
}

/// What yields the starts of windows.
struct Starts<'a> {
    computation: &'a Computation,
    plan: &'a FusionPlan,
    parameters: &'a [MemoryId],
    functions: &'a Arena<FunctionId, Function>,
    launch: &'a mut Launch,
}

impl Starts<'_> {
    /// The element at these indices of the instruction that a runtime variable is an element of.
    fn value(&mut self, start: &RuntimeVariable, indices: Vec<Expr>, block: &mut Block) -> Result<Operand, String> {
        let owner = start.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
        let owner = owner.filter(|owner| owner.index() < self.computation.instructions.len());
        let fault = || "the plan does not say what computes a start; this is a fault of the compiler".to_owned();
        let owner = owner.ok_or_else(fault)?;
        if let Some(scalar) = self.plan.splat(owner) {
            return Ok(Operand::Constant(scalar));
        }
        let instruction = &self.computation.instructions[owner];
        match (&instruction.op, self.plan.start(owner)) {
            (Op::Parameter { number }, _) => {
                let memory = usize::try_from(*number).ok().and_then(|number| self.parameters.get(number));
                let op = ScalarOp::Extract { memory: *memory.ok_or_else(fault)?, indices };
                let (name, ty) = (format!("{}.value", instruction.name), element_type(instruction));
                Ok(define(&mut self.launch.entry, block, name, ty, op))
            }
            (_, Some(function)) => {
                let function = FunctionId::from_index(function.0 as usize);
                let values = self.launch.call_at(self.functions, function, "start", indices, Vec::new(), block);
                values.first().copied().ok_or_else(fault)
            }
            _ => Err(fault()),
        }
    }
}
