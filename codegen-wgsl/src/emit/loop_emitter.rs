//! Kernels of one fusion: their buffers, functions and launch, and the loop over the elements of outputs.

use super::attention::{add_shared, attention_entry};
use super::bound::Bound;
use super::function::emit_function;
use super::grid::grid;
use super::product::{add_product_tiles, folding, product_entry};
use super::reduced::{ScanTiles, reduced_entry};
use super::regions::Regions;
use super::scatter::scatter_entry;
use super::transposed::{add_tiles, transposed_entry};
use super::update_slice::update_entry;
use super::windowed::{Loaded, windowed_entry};
use super::windows::{Division, with_windows};
use super::{Lanes, MAX_EXTENT};
use crate::kernel::{
    Access, Block, Condition, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, Space, Statement, Value,
    ValueId, ValueType,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use std::ops::Range;
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, Computation, ElementType, InstrId, Instruction, Op, Shape};
use weft_partition::{Emitter, Fused, FusionPlan, Hero, Site, Target};

/// The kernel of one fusion.
///
/// # Errors
/// `HLO412` if a dimension of a tensor has more elements than 32 bits number, `HLO417` where the kernel would break a limit of the
/// target, and the errors of emission.
pub(crate) fn emit_loop(
    fused: &Fused,
    (site, fusion): (Site, &Instruction),
    plan: &FusionPlan,
    target: &Target,
    lanes: Lanes,
) -> Result<Kernel, Diagnostics> {
    let Op::Fusion { calls, .. } = fusion.op else {
        return Err(Diagnostic::new("HLO410", fusion.span, "it is no fusion").about(&fusion.name).into());
    };
    let computation = &fused.module.computations[calls];
    let mut names = Names::globals();
    let bound = Bound::of(fused, site);
    let Buffers { mut memories, parameters, first_result } = buffers(fusion, computation, plan, bound, &mut names)?;
    let broken = |message| Diagnostic::new("HLO417", fusion.span, message).about(&fusion.name);
    let large = |error| broken(too_large(error));
    if let Emitter::Windowed(windowed) = plan.emitter() {
        let results: Vec<MemoryId> = memories.ids().skip(first_result).collect();
        let loaded = Loaded::add(&windowed, computation, plan, &parameters, &mut memories, &mut names);
        let loaded = loaded.ok_or_else(|| broken("the plan has no windows to load for".to_owned()))?;
        let functions = emit_functions(fused, computation, plan, (&parameters, Some(&loaded)), &mut names)?;
        let outputs = outputs(computation, plan, &results);
        let launched = windowed_entry(&loaded, &outputs, &functions);
        return Ok(launched.map_err(large)?.kernel(&fusion.name, memories, functions, 1));
    }
    let functions = emit_functions(fused, computation, plan, (&parameters, None), &mut names)?;
    let tiling = match plan.emitter() {
        Emitter::Loop(tiling) | Emitter::UpdateSlice(tiling) | Emitter::Scatter(tiling) => tiling,
        Emitter::Transposed(transposed) => {
            let tiled = |hero: &&Hero| hero.why_loop.is_none();
            let heroes = plan.heroes().iter().filter(tiled);
            let heroes: Vec<FunctionId> = heroes.map(|hero| FunctionId::from_index(hero.function.0 as usize)).collect();
            let results: Vec<MemoryId> = memories.ids().skip(first_result).collect();
            let mut memories = memories;
            let mut tiles = || add_tiles(&transposed, &heroes, &functions, &mut memories, &mut names);
            let (tiles, mirror) = (tiles(), if transposed.pairs { tiles() } else { Vec::new() });
            let outputs = outputs(computation, plan, &results);
            let launched = transposed_entry(&transposed, &outputs, [&tiles, &mirror], &functions);
            return Ok(launched.map_err(large)?.kernel(&fusion.name, memories, functions, 1));
        }
        Emitter::Reduced(reduced) => {
            let reduced = if lanes == Lanes::One { reduced.without_vectors() } else { reduced };
            let results: Vec<MemoryId> = memories.ids().skip(first_result).collect();
            let outputs = outputs(computation, plan, &results);
            let regions = Regions::new(fused, computation, plan.functions().len());
            let mut memories = memories;
            let tiles = ScanTiles::add(&reduced, plan, &functions, &mut memories, &mut names);
            let launched = reduced_entry(&reduced, computation, plan, &outputs, &functions, (&regions, &tiles), target);
            return Ok(launched.map_err(broken)?.kernel(&fusion.name, memories, functions, reduced.lanes));
        }
        Emitter::Product(product) => {
            let product = if lanes == Lanes::One { product.without_vectors() } else { product };
            let results: Vec<MemoryId> = memories.ids().skip(first_result).collect();
            let outputs = outputs(computation, plan, &results);
            let mut memories = memories;
            let tiles = add_product_tiles(&product, computation, plan, &mut memories, &mut names);
            let (functions, folding) = folding(fused, computation, (plan, &product), functions, &mut names);
            let with_folding = (&functions, &folding);
            let launched = product_entry(&product, computation, plan, &outputs, with_folding, tiles.as_ref(), target);
            return Ok(launched.map_err(large)?.kernel(&fusion.name, memories, functions, product.lanes));
        }
        Emitter::Attention(attention) => {
            let attention = if lanes == Lanes::One { attention.without_vectors() } else { attention };
            let results: Vec<MemoryId> = memories.ids().skip(first_result).collect();
            let outputs = outputs(computation, plan, &results);
            let (mut memories, mut functions) = (memories, functions);
            let room = (&mut memories, &mut functions);
            let shared = add_shared(&attention, computation, plan, room, &mut names);
            let launched =
                attention_entry(&attention, computation, plan, &outputs, &functions, shared.as_ref(), target);
            return Ok(launched.map_err(large)?.kernel(&fusion.name, memories, functions, attention.lanes));
        }
        _ => return Err(broken("the plan is not that of a kernel".to_owned()).into()),
    };
    let scattered = plan.updates().first().and_then(|update| update.scattered);
    let combiner = scattered
        .and_then(|scattered| Regions::new(fused, computation, plan.functions().len()).function(scattered.region));
    let make = |division: Division| {
        let mut memories = memories.clone();
        let launched = if let Some(region) = combiner {
            let (place, room) = ((region, division), (&mut memories, &mut names.clone()));
            scatter_entry(computation, plan, (&parameters, first_result), &functions, place, room, target)
        } else if plan.updates().is_empty() {
            entry(computation, plan, first_result, &functions, division, target)
        } else {
            update_entry(computation, plan, (&parameters, first_result), &functions, division, target)
        };
        Ok(launched?.kernel(&fusion.name, memories, functions.clone(), 1))
    };
    let kernel = make(Division::whole(tiling)).and_then(|kernel| with_windows(kernel, tiling, target, make));
    kernel.map_err(|message| broken(message).into())
}

/// The entry of a kernel, and the windows that it is run for.
pub(super) struct Launched {
    pub(super) entry: Function,
    pub(super) windows: i64,
}

impl Launched {
    /// The kernel of this name, of which so many invocations are to become one.
    fn kernel(
        self,
        name: &str,
        memories: Arena<MemoryId, Memory>,
        functions: Arena<FunctionId, Function>,
        lanes: u32,
    ) -> Kernel {
        let Launched { entry, windows } = self;
        Kernel { name: name.to_owned(), memories, functions, entry, windows, lanes, rolled: false }
    }
}

/// The buffers of a kernel.
struct Buffers {
    memories: Arena<MemoryId, Memory>,
    /// For each parameter its memory; that of the output where this is an update of the parameter.
    parameters: Vec<MemoryId>,
    /// The memory of the first result.
    first_result: usize,
}

/// The operands of a fusion, but for those that it updates, then its results.
fn buffers(
    fusion: &Instruction,
    computation: &Computation,
    plan: &FusionPlan,
    mut bound: Bound<'_>,
    names: &mut Names,
) -> Result<Buffers, Diagnostics> {
    let mut memories: Arena<MemoryId, Memory> = Arena::new();
    let mut parameters = Vec::new();
    let updated = |id: InstrId| plan.updates().iter().position(|update| update.operand == id);
    let kept = computation.parameters().into_iter().filter(|id| updated(*id).is_none()).count();
    for (position, id) in computation.parameters().into_iter().enumerate() {
        if let Some(result) = updated(id) {
            parameters.push(MemoryId::from_index(kept + result));
            continue;
        }
        let parameter = &computation.instructions[id];
        let name = names.take(&parameter.name);
        let Some(operand) = fusion.operands.get(position) else {
            return Err(Diagnostic::new("HLO410", fusion.span, "an operand is missing").about(&fusion.name).into());
        };
        parameters.push(MemoryId::from_index(memories.len()));
        memories.push(buffer(parameter, &parameter.shape, name, bound.operand(*operand), Access::Read)?);
    }
    let result_names: Vec<String> = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => {
            root.operands.iter().map(|operand| computation.instructions[*operand].name.clone()).collect()
        }
        root => root.shape.leaves().iter().map(|_| root.name.clone()).collect(),
    };
    let access = match plan.emitter() {
        Emitter::Scatter(_) => Access::Scattered,
        _ if plan.updates().is_empty() => Access::Write,
        _ => Access::ReadWrite,
    };
    for (number, (shape, name)) in fusion.shape.leaves().into_iter().zip(&result_names).enumerate() {
        let name = names.take(&format!("{name}.out"));
        memories.push(buffer(fusion, shape, name, bound.result(number), access)?);
    }
    Ok(Buffers { memories, parameters, first_result: kept })
}

fn buffer(
    owner: &Instruction,
    shape: &Shape,
    name: String,
    (binding, offset): (usize, u64),
    access: Access,
) -> Result<Memory, Diagnostics> {
    let array = shape.as_array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, Vec::new()));
    if array.element_count().is_none() || array.extents.iter().any(|extent| *extent > MAX_EXTENT) {
        let message = format!("{array} has a dimension of more elements than 32 bits number");
        return Err(Diagnostic::new("HLO412", owner.span, message).about(&owner.name).into());
    }
    let shape = ArrayShape { layout: None, ..array };
    let binding = u32::try_from(binding).unwrap_or(u32::MAX);
    let space = Space::Buffer { binding, offset, access };
    Ok(Memory::new(name, shape, space))
}

/// The functions of a fusion's plan, and behind them those of the regions that they apply. `parameters` are the memories of the computation's; what folds windows of a workgroup reads tiles,
/// where there are some.
pub(super) fn emit_functions(
    fused: &Fused,
    computation: &Computation,
    plan: &FusionPlan,
    (parameters, loaded): (&[MemoryId], Option<&Loaded<'_>>),
    names: &mut Names,
) -> Result<Arena<FunctionId, Function>, Diagnostics> {
    let own: Vec<String> = plan.functions().iter().map(|function| names.take(&function.name)).collect();
    let regions = Regions::new(fused, computation, own.len());
    let mut functions = Arena::new();
    for (index, name) in own.into_iter().enumerate() {
        let loaded = loaded.filter(|loaded| loaded.function.index() == index);
        functions.push(emit_function(computation, plan, index, name, (parameters, loaded), &regions)?);
    }
    for function in regions.emit(names)? {
        functions.push(function);
    }
    Ok(functions)
}

/// A function that computes outputs.
pub(super) struct Output {
    pub(super) function: FunctionId,
    /// The memories that its results go to, with the extents that these are indexed by.
    pub(super) memories: Vec<(MemoryId, Vec<i64>)>,
    /// The functions whose results it is given.
    pub(super) given: Vec<FunctionId>,
}

/// The functions that compute outputs, which are to lie in these memories.
pub(super) fn outputs(computation: &Computation, plan: &FusionPlan, results: &[MemoryId]) -> Vec<Output> {
    let roots = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => root.operands.clone(),
        _ => vec![computation.root],
    };
    // The outputs that no function writes yet, each with its memories.
    let mut position = 0;
    let mut pending: Vec<(InstrId, Range<usize>)> = Vec::with_capacity(roots.len());
    for root in roots {
        let leaves = computation.instructions[root].shape.leaves().len();
        pending.push((root, position..position + leaves));
        position += leaves;
    }
    let mut outputs = Vec::new();
    for output in plan.outputs() {
        // The function returns the leaves of its roots in order; a value that is several outputs is several roots.
        let mut memories = Vec::new();
        let planned = plan.function(*output);
        for root in &planned.roots {
            if let Some(found) = pending.iter().position(|(other, _)| *other == root.instruction) {
                let leaves = computation.instructions[root.instruction].shape.leaves();
                let extents = leaves.into_iter().map(|leaf| leaf.as_array().map(|array| array.extents.clone()));
                let memories_of_root = results.get(pending.remove(found).1).unwrap_or_default();
                memories.extend(memories_of_root.iter().copied().zip(extents.map(Option::unwrap_or_default)));
            }
        }
        let home = |id: &InstrId| plan.home(*id).map(|(function, _)| FunctionId::from_index(function.0 as usize));
        let given = planned.given.iter().filter_map(home).collect();
        outputs.push(Output { function: FunctionId::from_index(output.0 as usize), memories, given });
    }
    outputs
}

/// The invocations of a kernel and the rounds that each makes.
pub(super) struct Launch {
    /// The entry, without a body.
    pub(super) entry: Function,
    /// The number of the element that an invocation computes in a round.
    pub(super) position: Expr,
    /// What is known of it.
    pub(super) known: Known,
    rounds: u32,
    windows: i64,
}

impl Launch {
    /// A launch for so many elements, or why none is large enough: in round `k` of `r`, of `n` invocations, invocation `i` of dispatch `w`
    /// computes element `(w r + k) n + i`.
    pub(super) fn new(elements: i64, division: Division, target: &Target) -> Result<Launch, String> {
        let tiling = division.tiling;
        let rounds = tiling.elements.max(1);
        let all = u64::try_from(elements).unwrap_or(0).div_ceil(u64::from(tiling.threads) * u64::from(rounds));
        let count = division.workgroups.map_or(all, |most| all.min(most));
        let workgroups = grid(count, target.max_workgroups_per_dimension).ok_or_else(|| {
            let most = target.max_workgroups_per_dimension;
            format!("the launch needs {count} workgroups and the target allows {most} along each dimension")
        })?;
        let rank = workgroups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
        let mut extents: Vec<i64> = workgroups[..rank].iter().map(|groups| i64::from(*groups)).collect();
        let launched = extents.iter().product::<i64>();
        let windows = i64::try_from(all).unwrap_or(i64::MAX).saturating_add(launched - 1) / launched.max(1);
        let windows = windows.max(1);
        if windows > 1 {
            extents.push(windows);
        }
        extents.push(i64::from(tiling.threads));
        let entry = Function {
            name: "entry".to_owned(),
            parameters: Vec::new(),
            values: Arena::new(),
            body: Block::default(),
            extents,
        };
        let mut position = entry.invocation().map_err(too_large)?;
        let mut known = Known::new(&entry.extents);
        if rounds > 1 {
            // In each round the elements of a whole dispatch, so that neighbors are neighbors.
            let launch = launched.saturating_mul(i64::from(tiling.threads));
            let round = Expr::range(0).checked_mul(launch).map_err(too_large)?;
            position = round.checked_add(&position).map_err(too_large)?;
            if windows > 1 {
                let window = Expr::dim(u32::try_from(entry.extents.len() - 2).unwrap_or(u32::MAX));
                let others = launch.saturating_mul(i64::from(rounds) - 1);
                position = position.checked_add_scaled(&window, others).map_err(too_large)?;
            }
            known = known.in_loop(&[i64::from(rounds)]);
        }
        Ok(Launch { entry, position, known, rounds, windows })
    }

    /// Whether no invocation is needed.
    pub(super) fn is_empty(&self) -> bool {
        self.entry.extents.contains(&0)
    }

    /// The entry: what is done once, then in each round.
    pub(super) fn finish(mut self, before: Block, round: Block) -> Launched {
        self.entry.body = before;
        if self.rounds > 1 {
            let extents = vec![i64::from(self.rounds)];
            let (init, values, accumulators) = (Vec::new(), Vec::new(), Vec::new());
            self.entry.body.statements.push(Statement::Loop { values, extents, init, accumulators, body: round });
        } else {
            self.entry.body.statements.extend(round.statements);
        }
        Launched { entry: self.entry, windows: self.windows }
    }

    /// Calls a function for the element at the position.
    pub(super) fn call(
        &mut self,
        functions: &Arena<FunctionId, Function>,
        function: FunctionId,
        name: &str,
        arguments: Vec<Operand>,
        block: &mut Block,
    ) -> Result<Vec<Operand>, weft_affine::Error> {
        let indices = indices_at(&self.position, &functions[function].extents)?;
        Ok(self.call_at(functions, function, name, indices, arguments, block))
    }

    /// Calls a function at indices.
    pub(super) fn call_at(
        &mut self,
        functions: &Arena<FunctionId, Function>,
        function: FunctionId,
        name: &str,
        indices: Vec<Expr>,
        arguments: Vec<Operand>,
        block: &mut Block,
    ) -> Vec<Operand> {
        let types = Kernel::result_types(&functions[function]).into_iter();
        let value = |ty: ValueType| self.entry.values.push(Value::scalar(name, ty.element_type));
        let values: Vec<ValueId> = types.map(value).collect();
        block.statements.push(Statement::Call { values: values.clone(), function, indices, arguments });
        values.into_iter().map(Operand::Value).collect()
    }

    /// Appends a block for the positions below a number to a round.
    pub(super) fn below(&self, count: i64, block: Block, round: &mut Block) {
        let within = Constraint { expr: self.position.clone(), bounds: Interval::of_extent(count) };
        let open = self.known.open(&[within]);
        if open.is_empty() {
            round.statements.extend(block.statements);
        } else {
            let condition = Condition::Indices(open);
            let otherwise = Block::default();
            round.statements.push(Statement::If { values: Vec::new(), condition, then: block, otherwise });
        }
    }
}

pub(super) fn too_large(error: weft_affine::Error) -> String {
    error.to_string()
}

/// The entry, or why no launch is large enough: each round computes an element, in row-major order, of every output that has one.
fn entry(
    computation: &Computation,
    plan: &FusionPlan,
    first_result: usize,
    functions: &Arena<FunctionId, Function>,
    division: Division,
    target: &Target,
) -> Result<Launched, String> {
    let leaves = computation.instructions[computation.root].shape.leaves().len();
    let results: Vec<MemoryId> = (first_result..first_result + leaves).map(MemoryId::from_index).collect();
    let outputs = outputs(computation, plan, &results);
    let elements = |output: &Output| functions[output.function].extents.iter().product::<i64>();
    let mut launch = Launch::new(outputs.iter().map(elements).max().unwrap_or(0), division, target)?;
    if launch.is_empty() {
        return Ok(launch.finish(Block::default(), Block::default()));
    }
    let mut round = Block::default();
    for output in outputs {
        let count = elements(&output);
        if count > 0 {
            store_output(&mut launch, functions, &output, count, &mut round).map_err(too_large)?;
        }
    }
    Ok(launch.finish(Block::default(), round))
}

fn store_output(
    launch: &mut Launch,
    functions: &Arena<FunctionId, Function>,
    output: &Output,
    count: i64,
    round: &mut Block,
) -> Result<(), weft_affine::Error> {
    let mut block = Block::default();
    let mut arguments = Vec::new();
    for given in &output.given {
        arguments.extend(launch.call(functions, *given, "given", Vec::new(), &mut block)?);
    }
    let values = launch.call(functions, output.function, "element", arguments, &mut block)?;
    for (value, (memory, extents)) in values.into_iter().zip(&output.memories) {
        let indices = indices_at(&launch.position, extents)?;
        block.statements.push(Statement::Store { memory: *memory, indices, value });
    }
    launch.below(count, block, round);
    Ok(())
}
