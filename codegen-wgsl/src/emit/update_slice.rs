//! The emitter of updates in place: one invocation per element of the update.

use super::loop_emitter::{Launch, Launched, too_large};
use super::windows::Division;
use crate::elemental::{define, element_type};
use crate::kernel::{Binding, Block, Function, FunctionId, MemoryId, Operand, OutOfBounds, ScalarOp, Statement};
use crate::lower::indices_at;
use weft_affine::{Expr, Interval, Var};
use weft_hlo::ir::{Arena, ArenaId, Computation, InstrId, Op};
use weft_partition::{FusionPlan, Target, Update};

/// The entry, or why no launch is large enough: all invocations learn where the updates start; then each round computes one element of
/// every update that has one, from the element that it replaces if the update is computed from it, and stores it.
pub(super) fn update_entry(
    computation: &Computation,
    plan: &FusionPlan,
    (parameters, first_result): (&[MemoryId], usize),
    functions: &Arena<FunctionId, Function>,
    division: Division,
    target: &Target,
) -> Result<Launched, String> {
    let elements = |function: &FunctionId| functions[*function].extents.iter().product::<i64>();
    let outputs: Vec<FunctionId> = plan.outputs().iter().map(|id| FunctionId::from_index(id.0 as usize)).collect();
    let launch = Launch::new(outputs.iter().map(elements).max().unwrap_or(0), division, target)?;
    if launch.is_empty() {
        return Ok(launch.finish(Block::default(), Block::default()));
    }
    let mut emission =
        Emission { computation, plan, parameters, functions, launch, starts: Block::default(), bound: Vec::new() };
    let mut round = Block::default();
    for function in outputs {
        let updates = plan.updates().iter().enumerate();
        let own: Vec<(MemoryId, &Update)> = updates
            .filter(|(_, update)| update.function.0 as usize == function.index())
            .map(|(output, update)| (MemoryId::from_index(first_result + output), update))
            .collect();
        let count = elements(&function);
        if count > 0 {
            emission.store(function, &own, count, &mut round)?;
        }
    }
    Ok(emission.launch.finish(emission.starts, round))
}

struct Emission<'a> {
    computation: &'a Computation,
    plan: &'a FusionPlan,
    parameters: &'a [MemoryId],
    functions: &'a Arena<FunctionId, Function>,
    launch: Launch,
    /// What all invocations do first: they bind the starts.
    starts: Block,
    /// The starts that are bound, each an element within bounds; the variable has the number of the place here.
    bound: Vec<(InstrId, Vec<Expr>, Interval)>,
}

impl Emission<'_> {
    /// Computes and stores an element of each of the updates that a function computes.
    fn store(
        &mut self,
        function: FunctionId,
        updates: &[(MemoryId, &Update)],
        count: i64,
        round: &mut Block,
    ) -> Result<(), String> {
        let indices = indices_at(&self.launch.position, &self.functions[function].extents).map_err(too_large)?;
        let mut targets = Vec::with_capacity(updates.len());
        for (memory, update) in updates {
            targets.push((*memory, self.replaced(update, &indices)?));
        }
        let mut block = Block::default();
        let mut arguments = Vec::new();
        for given in &self.plan.functions()[function.index()].given {
            match updates.iter().position(|(_, update)| update.operand == *given) {
                Some(position) => {
                    let (memory, indices) = targets[position].clone();
                    let operand = &self.computation.instructions[*given];
                    let name = format!("{}.replaced", operand.name);
                    let op = ScalarOp::Extract { memory, indices };
                    arguments.push(define(&mut self.launch.entry, &mut block, name, element_type(operand), op));
                }
                None => {
                    let home = self.plan.home(*given).map(|(function, _)| FunctionId::from_index(function.0 as usize));
                    let home = home.ok_or_else(|| self.fault(*given))?;
                    let values = self.launch.call(self.functions, home, "given", Vec::new(), &mut block);
                    arguments.extend(values.map_err(too_large)?);
                }
            }
        }
        let values = self.launch.call(self.functions, function, "element", arguments, &mut block).map_err(too_large)?;
        for (value, (memory, indices)) in values.into_iter().zip(targets) {
            block.statements.push(Statement::Store { memory, indices, value });
        }
        self.launch.below(count, block, round);
        Ok(())
    }

    /// The element that an update replaces by its element at `indices`.
    fn replaced(&mut self, update: &Update, indices: &[Expr]) -> Result<Vec<Expr>, String> {
        let mut numbers = Vec::with_capacity(update.map.runtime().len());
        for variable in update.map.runtime() {
            let owner = variable.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
            let owner = owner.filter(|owner| owner.index() < self.computation.instructions.len());
            let owner = owner.ok_or_else(|| self.fault(update.root))?;
            numbers.push(self.bind(owner, variable.access(), variable.bounds())?);
        }
        let replaced = |result: &Expr| {
            result.substitute(|variable| match variable {
                Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
                Var::Runtime(index) => numbers.get(index as usize).copied().map(Expr::runtime),
                Var::Range(_) => None,
            })
        };
        update.map.results().iter().map(replaced).collect::<Result<_, _>>().map_err(too_large)
    }

    /// The number of the runtime variable that is an element of `owner`, clamped into bounds.
    fn bind(&mut self, owner: InstrId, access: &[Expr], bounds: Interval) -> Result<u32, String> {
        let known = self.bound.iter().position(|(of, at, within)| *of == owner && at == access && *within == bounds);
        let place = known.unwrap_or(self.bound.len());
        let variable = u32::try_from(place).unwrap_or(u32::MAX);
        if known.is_none() {
            let value = self.start(owner, access)?;
            let binding = Binding { variable, bounds, value };
            self.starts.statements.push(Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp });
            self.bound.push((owner, access.to_vec(), bounds));
        }
        Ok(variable)
    }

    /// The element of `owner` that tells where an update starts.
    fn start(&mut self, owner: InstrId, access: &[Expr]) -> Result<Operand, String> {
        if let Some(scalar) = self.plan.splat(owner) {
            return Ok(Operand::Constant(scalar));
        }
        let instruction = &self.computation.instructions[owner];
        let indices = access.to_vec();
        match (&instruction.op, self.plan.start(owner)) {
            (Op::Parameter { number }, _) => {
                let memory = usize::try_from(*number).ok().and_then(|number| self.parameters.get(number));
                let op = ScalarOp::Extract { memory: *memory.ok_or_else(|| self.fault(owner))?, indices };
                let (name, ty) = (format!("{}.value", instruction.name), element_type(instruction));
                Ok(define(&mut self.launch.entry, &mut self.starts, name, ty, op))
            }
            (_, Some(function)) => {
                let function = FunctionId::from_index(function.0 as usize);
                let block = &mut self.starts;
                let values = self.launch.call_at(self.functions, function, "start", indices, Vec::new(), block);
                values.first().copied().ok_or_else(|| self.fault(owner))
            }
            _ => Err(self.fault(owner)),
        }
    }

    fn fault(&self, id: InstrId) -> String {
        let name = &self.computation.instructions[id].name;
        format!("the plan does not say what computes %{name}; this is a fault of the compiler")
    }
}
