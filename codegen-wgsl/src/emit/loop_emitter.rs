//! The loop emitter: one invocation per element of the output.

use super::function::emit_function;
use super::grid::grid;
use super::regions::Regions;
use crate::kernel::{
    Access, Block, Condition, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, Space, Statement, Value,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use std::ops::Range;
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, Computation, ElementType, InstrId, Instruction, Op, Shape};
use weft_partition::{Emitter, Fused, FusionPlan, Target};

/// The kernel of one fusion.
///
/// # Errors
/// `HLO412` if a tensor has more elements than 32-bit indices reach, `HLO417` where the kernel would break a limit of the
/// target, and the errors of emission.
pub(crate) fn emit_loop(
    fused: &Fused,
    fusion: &Instruction,
    plan: &FusionPlan,
    target: &Target,
) -> Result<Kernel, Diagnostics> {
    let Op::Fusion { calls, .. } = fusion.op else {
        return Err(Diagnostic::new("HLO410", fusion.span, "it is no fusion").about(&fusion.name).into());
    };
    let computation = &fused.module.computations[calls];
    let mut names = Names::globals();
    let mut memories: Arena<MemoryId, Memory> = Arena::new();
    // A tensor that is given several times is bound once: a device refuses one buffer in two roles.
    let mut bound: Vec<InstrId> = Vec::new();
    for (position, parameter) in computation.parameters().into_iter().enumerate() {
        let parameter = &computation.instructions[parameter];
        let name = names.take(&parameter.name);
        let binding = match fusion.operands.get(position) {
            Some(operand) => bound.iter().position(|other| other == operand).unwrap_or_else(|| {
                bound.push(*operand);
                bound.len() - 1
            }),
            None => {
                return Err(Diagnostic::new("HLO410", fusion.span, "an operand is missing").about(&fusion.name).into());
            }
        };
        memories.push(buffer(parameter, &parameter.shape, name, binding, Access::Read)?);
    }
    let first_result = memories.len();
    let result_names: Vec<String> = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => {
            root.operands.iter().map(|operand| computation.instructions[*operand].name.clone()).collect()
        }
        root => root.shape.leaves().iter().map(|_| root.name.clone()).collect(),
    };
    for (binding, (shape, name)) in (bound.len()..).zip(fusion.shape.leaves().into_iter().zip(&result_names)) {
        let name = names.take(&format!("{name}.out"));
        memories.push(buffer(fusion, shape, name, binding, Access::Write)?);
    }
    let functions = emit_functions(fused, computation, plan, &mut names)?;
    let broken = |message| Diagnostic::new("HLO417", fusion.span, message).about(&fusion.name);
    let entry = entry(computation, plan, first_result, &functions, target).map_err(broken)?;
    Ok(Kernel { name: fusion.name.clone(), memories, functions, entry })
}

fn buffer(
    owner: &Instruction,
    shape: &Shape,
    name: String,
    binding: usize,
    access: Access,
) -> Result<Memory, Diagnostics> {
    let array = shape.as_array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, Vec::new()));
    let fits = array.element_count().is_some_and(|count| count < i64::from(i32::MAX));
    if !fits {
        let message = format!("{array} has more elements than a kernel's 32-bit indices reach");
        return Err(Diagnostic::new("HLO412", owner.span, message).about(&owner.name).into());
    }
    let shape = ArrayShape { layout: None, ..array };
    let binding = u32::try_from(binding).unwrap_or(u32::MAX);
    Ok(Memory { name, shape, space: Space::Buffer { binding, offset: 0, access } })
}

fn emit_functions(
    fused: &Fused,
    computation: &Computation,
    plan: &FusionPlan,
    names: &mut Names,
) -> Result<Arena<FunctionId, Function>, Diagnostics> {
    let own: Vec<String> = plan.functions().iter().map(|function| names.take(&function.name)).collect();
    let mut regions = Regions::new(fused, own.len());
    let mut functions = Arena::new();
    for (index, name) in own.into_iter().enumerate() {
        functions.push(emit_function(computation, plan, index, name, &mut regions)?);
    }
    for function in regions.emit(names)? {
        functions.push(function);
    }
    Ok(functions)
}

/// A function that computes outputs.
struct Output {
    function: FunctionId,
    /// The memories that its results go to, with the extents that these are indexed by.
    memories: Vec<(MemoryId, Vec<i64>)>,
    /// The functions whose results it is given.
    given: Vec<FunctionId>,
}

fn outputs(computation: &Computation, plan: &FusionPlan, first_result: usize) -> Vec<Output> {
    let roots = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => root.operands.clone(),
        _ => vec![computation.root],
    };
    // The outputs that no function writes yet, each with its memories.
    let mut position = first_result;
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
                let memories_of_root = pending.remove(found).1.map(MemoryId::from_index);
                memories.extend(memories_of_root.zip(extents.map(Option::unwrap_or_default)));
            }
        }
        let home = |id: &InstrId| plan.home(*id).map(|(function, _)| FunctionId::from_index(function.0 as usize));
        let given = planned.given.iter().filter_map(home).collect();
        outputs.push(Output { function: FunctionId::from_index(output.0 as usize), memories, given });
    }
    outputs
}

/// The entry, or why no launch is large enough: in round `k`, of `n` invocations, invocation `i` computes element `k n + i`, in
/// row-major order, of every output that has one.
fn entry(
    computation: &Computation,
    plan: &FusionPlan,
    first_result: usize,
    functions: &Arena<FunctionId, Function>,
    target: &Target,
) -> Result<Function, String> {
    let outputs = outputs(computation, plan, first_result);
    let elements = |output: &Output| functions[output.function].extents.iter().product::<i64>();
    let most = outputs.iter().map(elements).max().unwrap_or(0);
    let Emitter::Loop(tiling) = plan.emitter() else { return Err("the plan is not that of a kernel".to_owned()) };
    let threads = tiling.threads;
    let rounds = tiling.elements.max(1);
    let count = u64::try_from(most).unwrap_or(0).div_ceil(u64::from(threads) * u64::from(rounds));
    let workgroups = grid(count, target.max_workgroups_per_dimension).ok_or_else(|| {
        let most = target.max_workgroups_per_dimension;
        format!("the launch needs {count} workgroups and the target allows {most} along each dimension")
    })?;
    let rank = workgroups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents: Vec<i64> = workgroups[..rank].iter().map(|groups| i64::from(*groups)).collect();
    extents.push(i64::from(threads));
    let mut entry = Function {
        name: "entry".to_owned(),
        parameters: Vec::new(),
        values: Arena::new(),
        body: Block::default(),
        extents,
    };
    if count == 0 {
        return Ok(entry);
    }
    let too_large = |error: weft_affine::Error| error.to_string();
    let mut position = invocation(&entry.extents).map_err(too_large)?;
    let mut known = Known::new(&entry.extents);
    if rounds > 1 {
        // In each round the elements of a whole launch, so that neighbors are neighbors.
        let launch = entry.extents.iter().product();
        let round = Expr::range(0).checked_mul(launch).map_err(too_large)?;
        position = round.checked_add(&position).map_err(too_large)?;
        known = known.in_loop(&[i64::from(rounds)]);
    }
    for output in outputs {
        let count = elements(&output);
        if count > 0 {
            store_output(&mut entry, functions, &output, &position, count, &known).map_err(too_large)?;
        }
    }
    if rounds > 1 {
        let body = std::mem::take(&mut entry.body);
        let (extents, init, values, accumulators) = (vec![i64::from(rounds)], Vec::new(), Vec::new(), Vec::new());
        entry.body.statements.push(Statement::Loop { values, extents, init, accumulators, body });
    }
    Ok(entry)
}

/// The number of an invocation, by the coordinates of its workgroup and its number there.
fn invocation(extents: &[i64]) -> Result<Expr, weft_affine::Error> {
    let thread = extents.len() - 1;
    let mut group = Expr::constant(0);
    let variable = |dimension: usize| Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX));
    for (dimension, extent) in extents[..thread].iter().enumerate().rev() {
        group = group.checked_mul(*extent)?.checked_add(&variable(dimension))?;
    }
    group.checked_mul(extents[thread])?.checked_add(&variable(thread))
}

fn store_output(
    entry: &mut Function,
    functions: &Arena<FunctionId, Function>,
    output: &Output,
    position: &Expr,
    count: i64,
    known: &Known,
) -> Result<(), weft_affine::Error> {
    let mut block = Block::default();
    let mut call = |function: FunctionId, name: &str, arguments: Vec<Operand>, block: &mut Block| {
        let called = &functions[function];
        let types = Kernel::result_types(called).into_iter();
        let values: Vec<_> =
            types.map(|element_type| entry.values.push(Value { name: name.to_owned(), element_type })).collect();
        let indices = indices_at(position, &called.extents)?;
        block.statements.push(Statement::Call { values: values.clone(), function, indices, arguments });
        Ok::<_, weft_affine::Error>(values.into_iter().map(Operand::Value))
    };
    let mut arguments = Vec::new();
    for given in &output.given {
        arguments.extend(call(*given, "given", Vec::new(), &mut block)?);
    }
    let values = call(output.function, "element", arguments, &mut block)?;
    for (value, (memory, extents)) in values.zip(&output.memories) {
        let indices = indices_at(position, extents)?;
        block.statements.push(Statement::Store { memory: *memory, indices, value });
    }
    let within = Constraint { expr: position.clone(), bounds: Interval::of_extent(count) };
    let open = known.open(&[within]);
    if open.is_empty() {
        entry.body.statements.extend(block.statements);
    } else {
        let condition = Condition::Indices(open);
        let otherwise = Block::default();
        entry.body.statements.push(Statement::If { values: Vec::new(), condition, then: block, otherwise });
    }
    Ok(())
}
