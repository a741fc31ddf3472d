//! The loop emitter: one invocation per element of the output.

use super::function::emit_function;
use super::grid::grid;
use crate::kernel::{Entry, FunctionId, Kernel, Store, Tensor, TensorId};
use crate::wgsl::Names;
use std::ops::Range;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, Computation, ElementType, InstrId, Instruction, Module, Op, Shape};
use weft_partition::{FusionPlan, Target};

/// The kernel of one fusion.
///
/// # Errors
/// `HLO412` if a tensor has more elements than 32-bit indices reach, `HLO417` where the kernel would break a limit of the
/// target, and the errors of emission.
pub(crate) fn emit_loop(
    module: &Module,
    fusion: &Instruction,
    computation: &Computation,
    plan: &FusionPlan,
    target: &Target,
) -> Result<Kernel, Diagnostics> {
    let mut names = Names::globals();
    let mut tensors: Arena<TensorId, Tensor> = Arena::new();
    for parameter in computation.parameters() {
        let parameter = &computation.instructions[parameter];
        tensors.push(tensor(parameter, &parameter.shape, &mut names, &parameter.name, false)?);
    }
    let first_result = tensors.len();
    let result_names: Vec<String> = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => {
            root.operands.iter().map(|operand| computation.instructions[*operand].name.clone()).collect()
        }
        root => root.shape.leaves().iter().map(|_| root.name.clone()).collect(),
    };
    for (shape, name) in fusion.shape.leaves().into_iter().zip(&result_names) {
        tensors.push(tensor(fusion, shape, &mut names, &format!("{name}.out"), true)?);
    }
    let mut kernel = Kernel {
        name: fusion.name.clone(),
        tensors,
        functions: Arena::new(),
        entry: Entry { workgroup_size: 1, workgroups: [1, 1, 1], stores: Vec::new() },
    };
    emit_functions(module, computation, plan, &mut names, &mut kernel)?;
    let broken = |message| Diagnostic::new("HLO417", fusion.span, message).about(&fusion.name);
    kernel.entry = entry(computation, plan, first_result, &kernel, target).map_err(broken)?;
    match broken_limit(&kernel, target) {
        None => Ok(kernel),
        Some(message) => Err(broken(message).into()),
    }
}

fn tensor(
    owner: &Instruction,
    shape: &Shape,
    names: &mut Names,
    name: &str,
    writable: bool,
) -> Result<Tensor, Diagnostics> {
    let array = shape.as_array().cloned().unwrap_or_else(|| ArrayShape::new(ElementType::Pred, Vec::new()));
    let fits = array.element_count().is_some_and(|count| count < i64::from(i32::MAX));
    if !fits {
        let message = format!("{array} has more elements than a kernel's 32-bit indices reach");
        return Err(Diagnostic::new("HLO412", owner.span, message).about(&owner.name).into());
    }
    let shape = ArrayShape { layout: None, ..array };
    Ok(Tensor { name: names.take(name), shape, writable })
}

/// Which limit of the target the kernel would break, if one.
fn broken_limit(kernel: &Kernel, target: &Target) -> Option<String> {
    let (count, most) = (kernel.tensors.len(), target.max_storage_buffers);
    if count > most as usize {
        return Some(format!("the kernel binds {count} buffers and the target allows {most}"));
    }
    // Every element takes four bytes, `pred` included.
    let most = target.max_storage_binding_bytes.min(target.max_buffer_bytes);
    let bytes = |tensor: &Tensor| {
        tensor.shape.element_count().and_then(|count| u64::try_from(count).ok()).map(|count| count * 4)
    };
    if let Some(tensor) = kernel.tensors.values().find(|tensor| bytes(tensor).is_none_or(|bytes| bytes > most)) {
        return Some(format!("{} exceeds the {most} bytes that the target lets a kernel bind", tensor.shape));
    }
    None
}

fn emit_functions(
    module: &Module,
    computation: &Computation,
    plan: &FusionPlan,
    names: &mut Names,
    kernel: &mut Kernel,
) -> Result<(), Diagnostics> {
    let names: Vec<String> = plan.functions().iter().map(|function| names.take(&function.name)).collect();
    for (index, function) in plan.functions().iter().enumerate() {
        kernel.functions.push(emit_function(module, computation, plan, index, function, &names)?);
    }
    Ok(())
}

/// The entry, or why no launch is large enough.
fn entry(
    computation: &Computation,
    plan: &FusionPlan,
    first_result: usize,
    kernel: &Kernel,
    target: &Target,
) -> Result<Entry, String> {
    let mut stores = Vec::new();
    let roots = match &computation.instructions[computation.root] {
        root if root.op == Op::Tuple => root.operands.clone(),
        _ => vec![computation.root],
    };
    // The outputs that no store writes yet, each with its tensors.
    let mut position = first_result;
    let mut pending: Vec<(InstrId, Range<usize>)> = Vec::with_capacity(roots.len());
    for root in roots {
        let leaves = computation.instructions[root].shape.leaves().len();
        pending.push((root, position..position + leaves));
        position += leaves;
    }
    for output in plan.outputs() {
        // The function returns the leaves of its roots in order; a value that is several outputs is several roots.
        let mut tensors = Vec::new();
        for root in &plan.function(*output).roots {
            if let Some(found) = pending.iter().position(|(other, _)| other == root) {
                tensors.extend(pending.remove(found).1.map(TensorId::from_index));
            }
        }
        let function = FunctionId::from_index(output.0 as usize);
        stores.push(Store { function, tensors });
    }
    let elements = |store: &Store| kernel.functions[store.function].extents.iter().product::<i64>();
    let elements = stores.iter().map(elements).max().unwrap_or(0);
    let preferred: u32 = if elements >= 1 << 16 { 256 } else { 64 };
    let workgroup_size = preferred.min(target.max_invocations_per_workgroup).min(target.max_workgroup_size_x).max(1);
    let count = u64::try_from(elements).unwrap_or(0).div_ceil(u64::from(workgroup_size));
    let workgroups = grid(count, target.max_workgroups_per_dimension).ok_or_else(|| {
        let most = target.max_workgroups_per_dimension;
        format!("the launch needs {count} workgroups and the target allows {most} along each dimension")
    })?;
    Ok(Entry { workgroup_size, workgroups, stores })
}
