//! The emitter of scatters in place: one invocation per element of the updates.

use super::loop_emitter::{Launch, Launched, too_large};
use super::windows::Division;
use crate::elemental::{define, element_type, zero};
use crate::kernel::{
    Binding, Block, Combiner, Condition, Function, FunctionId, Kernel, Memory, MemoryId, Operand, ScalarOp, Space,
    Statement, ValueType,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use weft_affine::{Expr, Var};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, Computation, ElementType, InstrId, Op};
use weft_indexing::{IndexingMap, RuntimeVariable};
use weft_partition::{Form, FusionPlan, Scattered, Target, Tiling, Update};

/// Elements of the updates side by side that an invocation reads before it combines them: those of a vector.
const SIDE_BY_SIDE: i64 = 4;

/// The entry, or why no launch is large enough: each round finds out where one element of the updates goes, and if its window lies in the operands, combines it with the
/// element that is there. Where an invocation makes several rounds, and values alone say where elements go, a round is of [`SIDE_BY_SIDE`] elements of the updates, which are read as vectors into
/// registers.
pub(super) fn scatter_entry(
    computation: &Computation,
    plan: &FusionPlan,
    (parameters, first_result): (&[MemoryId], usize),
    functions: &Arena<FunctionId, Function>,
    (region, division): (FunctionId, Division),
    (memories, names): (&mut Arena<MemoryId, Memory>, &mut Names),
    target: &Target,
) -> Result<Launched, String> {
    let fault = || "the plan has no scatter; this is a fault of the compiler".to_owned();
    let Update { function, map, scattered, .. } = plan.updates().first().ok_or_else(fault)?;
    let scattered = scattered.ok_or_else(fault)?;
    let function = FunctionId::from_index(function.0 as usize);
    let scatter = Scatter { computation, plan, parameters, first_result, functions, region, function, map, scattered };
    let count: i64 = functions[function].extents.iter().product();
    let sides = if scatter.is_read_side_by_side(count, division) { SIDE_BY_SIDE } else { 1 };
    let tiling = Tiling { elements: division.tiling.elements / sides as u32, ..division.tiling };
    let mut launch = Launch::new(count / sides, Division { tiling, ..division }, target)?;
    if launch.is_empty() || map.runtime().iter().any(|start| start.bounds().is_empty()) {
        return Ok(launch.finish(Block::default(), Block::default()));
    }
    let mut block = Block::default();
    if sides > 1 {
        let tiles = scatter.tiles(memories, names);
        scatter.side_by_side(&mut launch, &tiles, &mut block)?;
    } else {
        let indices = indices_at(&launch.position, &functions[function].extents).map_err(too_large)?;
        let starts = scatter.starts(&mut launch, &indices, &mut block)?;
        let mut inside = Block::default();
        let given = scatter.update(&mut launch, &mut inside)?;
        scatter.combine(&mut launch, (&indices, 0), given, &mut inside)?;
        scatter.within((starts, 0), inside, &mut block);
    }
    let mut round = Block::default();
    launch.below(count / sides, block, &mut round);
    Ok(launch.finish(Block::default(), round))
}

/// A scatter, and where what it is made of lies.
struct Scatter<'a> {
    computation: &'a Computation,
    plan: &'a FusionPlan,
    parameters: &'a [MemoryId],
    first_result: usize,
    functions: &'a Arena<FunctionId, Function>,
    /// What combines elements.
    region: FunctionId,
    /// What computes elements of the updates.
    function: FunctionId,
    map: &'a IndexingMap,
    scattered: Scattered,
}

/// Registers of an invocation for elements side by side: of the starts, and of the updates.
struct Tiles {
    starts: Vec<(MemoryId, ElementType)>,
    updates: Vec<(MemoryId, ElementType)>,
}

impl Scatter<'_> {
    /// Whether updates, so many of them, are read several at a time: each goes to a place of its own that values alone say, so that neighbors are stored far apart in any case; none is a
    /// part of a word, and all are in one dispatch.
    fn is_read_side_by_side(&self, count: i64, division: Division) -> bool {
        let is_whole = |ty: &ValueType| Form::of(ty.element_type).is_some_and(|form| !form.is_packed());
        let extents = &self.functions[self.function].extents;
        let is_moved = |variable: &Var| matches!(variable, Var::Dim(dimension) if extents[*dimension as usize] > 1);
        let is_value = |index: &Expr| !index.variables().iter().any(is_moved);
        let sides = i64::from(division.tiling.elements);
        !self.scattered.undivided
            && self.map.results().iter().all(is_value)
            && division.workgroups.is_none()
            && sides % SIDE_BY_SIDE == 0
            && count % SIDE_BY_SIDE == 0
            && Kernel::result_types(&self.functions[self.function]).iter().all(is_whole)
    }

    fn tiles(&self, memories: &mut Arena<MemoryId, Memory>, names: &mut Names) -> Tiles {
        let mut tile = |name: &str, ty: ElementType| {
            let shape = ArrayShape::new(ty, vec![SIDE_BY_SIDE]);
            (memories.push(Memory::new(names.take(&format!("{name}.tile")), shape, Space::Thread)), ty)
        };
        let starts = self.map.runtime().iter().map(|start| {
            let owner = start.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
            let owner = owner.filter(|owner| owner.index() < self.computation.instructions.len());
            owner.map_or(ElementType::S32, |owner| element_type(&self.computation.instructions[owner]))
        });
        let starts = starts.map(|ty| tile("start", ty)).collect();
        let updates = Kernel::result_types(&self.functions[self.function]).into_iter();
        Tiles { starts, updates: updates.map(|ty| tile("update", ty.element_type)).collect() }
    }

    /// The starts of the windows of an element of the updates.
    fn starts(&self, launch: &mut Launch, indices: &[Expr], block: &mut Block) -> Result<Vec<Operand>, String> {
        let Scatter { computation, plan, parameters, functions, .. } = *self;
        let mut values = Vec::with_capacity(self.map.runtime().len());
        for start in self.map.runtime() {
            let at =
                start.access().iter().map(|index| of_element(index, (indices, 0))).collect::<Result<Vec<_>, _>>()?;
            let mut starts = Starts { computation, plan, parameters, functions, launch };
            values.push(starts.value(start, at, block)?);
        }
        Ok(values)
    }

    /// The updates at the position.
    fn update(&self, launch: &mut Launch, block: &mut Block) -> Result<Vec<Operand>, String> {
        let fault = || "the plan does not say what computes an update; this is a fault of the compiler".to_owned();
        let mut arguments = Vec::new();
        for given in &self.plan.functions()[self.function.index()].given {
            let home = self.plan.home(*given).map(|(function, _)| FunctionId::from_index(function.0 as usize));
            let values = launch.call(self.functions, home.ok_or_else(fault)?, "given", Vec::new(), block);
            arguments.extend(values.map_err(too_large)?);
        }
        launch.call(self.functions, self.function, "update", arguments, block).map_err(too_large)
    }

    /// Combines updates with the elements at their place, whose starts are bound to runtime variables from a number on.
    fn combine(
        &self,
        launch: &mut Launch,
        (indices, variables): (&[Expr], u32),
        given: Vec<Operand>,
        block: &mut Block,
    ) -> Result<(), String> {
        let updates = self.plan.updates();
        let of = |index: &Expr| of_element(index, (indices, variables));
        let place = self.map.results().iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let memories = (0..updates.len()).map(|output| MemoryId::from_index(self.first_result + output));
        if self.scattered.undivided {
            for (memory, value) in memories.zip(given) {
                let (indices, combiner) = (place.clone(), Combiner::Function(self.region));
                block.statements.push(Statement::Update { memory, indices, combiner, value });
            }
            return Ok(());
        }
        let mut arguments = Vec::with_capacity(2 * updates.len());
        for (memory, update) in memories.clone().zip(updates) {
            let operand = &self.computation.instructions[update.operand];
            let ty = element_type(operand);
            arguments.push(match self.scattered.reads {
                true => {
                    let op = ScalarOp::Extract { memory, indices: place.clone() };
                    define(&mut launch.entry, block, format!("{}.replaced", operand.name), ty, op)
                }
                false => Operand::Constant(zero(ty)),
            });
        }
        arguments.extend(given);
        let values = launch.call_at(self.functions, self.region, "combined", Vec::new(), arguments, block);
        for (memory, value) in memories.zip(values) {
            block.statements.push(Statement::Store { memory, indices: place.clone(), value });
        }
        Ok(())
    }

    /// Appends what is done where the window of these starts lies in the operands; they are bound to runtime variables from a number on.
    fn within(&self, (starts, variables): (Vec<Operand>, u32), inside: Block, block: &mut Block) {
        if starts.is_empty() {
            block.statements.extend(inside.statements);
            return;
        }
        let bindings = (variables..).zip(self.map.runtime()).zip(starts);
        let bindings = bindings.map(|((variable, start), value)| Binding { variable, bounds: start.bounds(), value });
        let (values, condition, otherwise) = (Vec::new(), Condition::InBounds(bindings.collect()), Block::default());
        block.statements.push(Statement::If { values, condition, then: inside, otherwise });
    }

    /// A round of elements side by side, of which the launch's position is the number divided by how many they are.
    fn side_by_side(&self, launch: &mut Launch, tiles: &Tiles, block: &mut Block) -> Result<(), String> {
        let base = launch.position.clone();
        let first = base.checked_mul(SIDE_BY_SIDE).map_err(too_large)?;
        let extents = &self.functions[self.function].extents;
        let number = Expr::range(u32::try_from(launch.known.loops()).unwrap_or(u32::MAX));
        launch.position = first.checked_add(&number).map_err(too_large)?;
        let mut each = Block::default();
        let indices = indices_at(&launch.position, extents).map_err(too_large)?;
        let starts = self.starts(launch, &indices, &mut each)?;
        let given = self.update(launch, &mut each)?;
        for ((memory, _), value) in tiles.starts.iter().zip(starts).chain(tiles.updates.iter().zip(given)) {
            each.statements.push(Statement::Store { memory: *memory, indices: vec![number.clone()], value });
        }
        let (init, values, accumulators) = (Vec::new(), Vec::new(), Vec::new());
        block.statements.push(Statement::Loop { values, extents: vec![SIDE_BY_SIDE], init, accumulators, body: each });
        for lane in 0..SIDE_BY_SIDE {
            let read = |launch: &mut Launch, tiles: &[(MemoryId, ElementType)], block: &mut Block| -> Vec<Operand> {
                let element = |(memory, ty): &(MemoryId, ElementType)| {
                    let op = ScalarOp::Extract { memory: *memory, indices: vec![Expr::constant(lane)] };
                    define(&mut launch.entry, block, "lane".to_owned(), *ty, op)
                };
                tiles.iter().map(element).collect()
            };
            let starts = read(launch, &tiles.starts, block);
            let mut inside = Block::default();
            let given = read(launch, &tiles.updates, &mut inside);
            let position = first.checked_add_constant(lane).map_err(too_large)?;
            let indices = indices_at(&position, extents).map_err(too_large)?;
            let variables = lane as u32 * tiles.starts.len() as u32;
            self.combine(launch, (&indices, variables), given, &mut inside)?;
            self.within((starts, variables), inside, block);
        }
        launch.position = base;
        Ok(())
    }
}

/// An expression in the indices of an element of the updates, at these, and in runtime variables, numbered from this one on.
fn of_element(expr: &Expr, (indices, variables): (&[Expr], u32)) -> Result<Expr, String> {
    let index = |variable| match variable {
        Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
        Var::Runtime(number) => Some(Expr::runtime(variables + number)),
        Var::Range(_) => None,
    };
    expr.substitute(index).map_err(too_large)
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
