//! The WGSL of a kernel.

use super::Names;
use super::function::FunctionText;
use super::index::{Variables, check_extent};
use super::inline::inlined;
use super::lanes::{array_lanes, type_text, vector_text};
use super::pairs::{Pairing, array_element};
use super::together::{
    SUBGROUP_INPUTS, WORKGROUP_INPUTS, asks_members, atomic_memories, atomic_type, numbers_subgroups, uses_subgroups,
};
use crate::kernel::{Function, FunctionId, Kernel, Known, MatrixRole, Memory, Space, UNIFORM_STRIDE, uniform_bytes};
use crate::math;
use std::collections::BTreeSet;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, ElementType, Span};

/// The name of every kernel's entry point.
pub const ENTRY_POINT: &str = "main";

/// Words of a buffer that indices reach.
const MAX_WORDS: i64 = 1 << 32;

/// The WGSL of a kernel that has gone through all [lowerings](crate::lower::Lowering).
///
/// Bindings are those of [`Shader`](crate::Shader): one storage buffer or uniform for each binding of the kernel's memories, then the
/// parameter block, then, where there are windows, the block that tells of them.
///
/// # Errors
/// `HLO412` where 32 bits do not suffice for an index, `HLO413` for statements that a stage before should have lowered, `HLO414` for an operation that HLO does not define on its
/// operands' type.
pub fn write(kernel: &Kernel) -> Result<String, Diagnostics> {
    let mut names = Names::globals();
    kernel.memories.values().for_each(|memory| {
        names.take(&memory.name);
    });
    kernel.functions.values().for_each(|function| {
        names.take(&function.name);
    });
    let structures =
        kernel.functions.values().map(|function| names.take(&format!("Result_{}", function.name))).collect();
    let names = names.into_outer();
    let array_lanes = array_lanes(kernel)?;
    let atomic = atomic_memories(kernel, &array_lanes)?;
    let (library, of_lanes) = (BTreeSet::new(), BTreeSet::new());
    let mut writer =
        Writer { kernel, library, of_lanes, pairings: BTreeSet::new(), array_lanes, atomic, names, structures };
    let mut functions = String::new();
    for id in kernel.functions.ids() {
        functions += "\n";
        functions += &writer.function(id)?;
    }
    let entry = writer.entry()?;
    let mut text = format!("// {}\n\n", kernel.name);
    text += &enabled(kernel);
    text += &declarations(kernel, &writer.array_lanes, &writer.atomic)?;
    text += &window_declaration(kernel);
    text += &math::prelude(bindings(kernel));
    for (pairing, lanes) in &writer.pairings {
        text += "\n";
        text += &pairing.declaration(*lanes);
    }
    text += &functions;
    text += "\n";
    text += &entry;
    let of_lanes = math::lane_wise(writer.of_lanes.iter().copied());
    let scalar = writer.library.iter().chain(&of_lanes.scalar).copied();
    let scalar = math::closure(scalar).into_iter().map(|function| function.source);
    for declaration in scalar.chain(of_lanes.declarations.iter().map(String::as_str)) {
        text += "\n";
        text += declaration.trim_end();
        text += "\n";
    }
    Ok(text)
}

/// How many bindings a kernel's buffers have; they are numbered from 0.
pub(crate) fn bindings(kernel: &Kernel) -> u32 {
    let binding = |memory: &Memory| match memory.space {
        Space::Buffer { binding, .. } => binding + 1,
        Space::Workgroup | Space::Thread | Space::Matrix { .. } => 0,
    };
    kernel.memories.values().map(binding).max().unwrap_or(0)
}

/// The bindings of which a dispatch binds a window, in order.
pub(crate) fn windowed_bindings(kernel: &Kernel) -> Vec<u32> {
    let binding = |memory: &Memory| match memory.space {
        Space::Buffer { binding, .. } if memory.window.is_some() => Some(binding),
        _ => None,
    };
    let bindings: BTreeSet<u32> = kernel.memories.values().filter_map(binding).collect();
    bindings.into_iter().collect()
}

/// The uniform that tells the number of a window and where it begins in each of the memories that have one.
fn window_declaration(kernel: &Kernel) -> String {
    if !kernel.has_windows() {
        return String::new();
    }
    let firsts = windowed_bindings(kernel).into_iter().map(first_of_window);
    let fields: Vec<String> =
        std::iter::once("number".to_owned()).chain(firsts).map(|it| format!("{it}: u32")).collect();
    let binding = bindings(kernel) + 1;
    format!(
        "struct Window {{ {} }}\n@group(0) @binding({binding}) var<uniform> window: Window;  // {} in all\n",
        fields.join(", "),
        kernel.windows
    )
}

/// The field for the word at which the window of a binding begins.
pub(super) fn first_of_window(binding: u32) -> String {
    format!("first_{binding}")
}

/// The memory that names a binding: the first one in its buffer.
pub(super) fn first_in_buffer<'k>(kernel: &'k Kernel, memory: &'k Memory) -> &'k Memory {
    let Space::Buffer { binding, .. } = memory.space else { return memory };
    let in_buffer = |other: &&Memory| matches!(other.space, Space::Buffer { binding: own, .. } if own == binding);
    kernel.memories.values().find(in_buffer).unwrap_or(memory)
}

fn declarations(kernel: &Kernel, array_lanes: &[u32], atomic: &[bool]) -> Result<String, Diagnostics> {
    let mut text = String::new();
    for ((memory, lanes), atomic) in kernel.memories.values().zip(array_lanes).zip(atomic) {
        let element = match memory.space {
            Space::Workgroup if memory.shape.element_type == ElementType::F16 => "f16",
            _ => stored_type(memory.shape.element_type),
        };
        let declared_as = if memory.pairs {
            array_element(*lanes)
        } else if *atomic {
            format!("atomic<{}>", atomic_type(memory.shape.element_type))
        } else {
            vector_text(element, *lanes)
        };
        let name = &memory.name;
        match memory.space {
            Space::Buffer { binding, offset, .. } => {
                // Positions in it, and the beginnings of windows, are numbers of 32 bits.
                let words = memory.words().and_then(|words| words.checked_add(i64::try_from(offset / 4).ok()?));
                if words.is_none_or(|words| words > MAX_WORDS) {
                    let message = format!("%{name}: {} has more words than 32 bits number", memory.held());
                    return Err(Diagnostic::new("HLO412", Span::default(), message).into());
                }
                let first = first_in_buffer(kernel, memory);
                if stored_type(first.shape.element_type) != element {
                    let message = format!("%{name} shares a buffer with elements that are stored otherwise");
                    return Err(Diagnostic::new("HLO413", Span::default(), message).into());
                }
                if !std::ptr::eq(first, memory) {
                    continue;
                }
                let shared =
                    kernel.memories.values().filter(|other| std::ptr::eq(first_in_buffer(kernel, other), memory));
                let declared = if memory.is_uniform() {
                    // An array in a uniform has its size in its type.
                    let vectors =
                        shared.clone().map(|memory| uniform_bytes(memory).unwrap_or(u64::MAX) / UNIFORM_STRIDE);
                    format!("var<uniform> {name}: array<{declared_as}, {}>", vectors.max().unwrap_or(1).max(1))
                } else {
                    let is_read = shared.clone().all(|memory| !memory.is_writable());
                    let access = if is_read { "read" } else { "read_write" };
                    format!("var<storage, {access}> {name}: array<{declared_as}>")
                };
                let held: Vec<String> = shared.map(held).collect();
                text += &format!("@group(0) @binding({binding}) {declared};  // {}\n", held.join(", "));
            }
            Space::Workgroup => {
                let count = memory.shape.element_count().unwrap_or(0).max(1);
                text += &format!("var<workgroup> {name}: array<{declared_as}, {count}>;  // {}\n", memory.shape);
            }
            Space::Thread | Space::Matrix { .. } => {}
        }
    }
    Ok(text)
}

/// The extensions of WGSL that a kernel is written with, a line each.
fn enabled(kernel: &Kernel) -> String {
    if !kernel.has_matrices() {
        return String::new();
    }
    let of_halves = if kernel.has_halves() { "enable f16;\nenable wgpu_int16;\n" } else { "" };
    format!("{of_halves}enable wgpu_cooperative_matrix;\n\n")
}

/// The type of a matrix; `None` of another memory.
pub(super) fn matrix_type(memory: &Memory) -> Option<String> {
    let Space::Matrix { role, .. } = memory.space else { return None };
    let element = if memory.shape.element_type == ElementType::F16 { "f16" } else { "f32" };
    let sides: Vec<String> = memory.shape.extents.iter().map(i64::to_string).collect();
    let role = match role {
        MatrixRole::Left => "A",
        MatrixRole::Right => "B",
        MatrixRole::Sum => "C",
    };
    Some(format!("coop_mat{}<{element}, {role}>", sides.join("x")))
}

/// What a memory holds, and how much of it is bound.
fn held(memory: &Memory) -> String {
    match &memory.window {
        None => memory.held().to_string(),
        Some(window) => format!("{} words of {}", window.size, memory.held()),
    }
}

/// The type of an element in a buffer; `bool` is not host-shareable.
pub(super) fn stored_type(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::Pred => "u32",
        other => value_type(other),
    }
}

/// The type of an element in a function.
pub(super) fn value_type(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::S32 => "i32",
        ElementType::U32 => "u32",
        ElementType::F32 => "f32",
        ElementType::F64 => "f64",
        _ => "bool",
    }
}

pub(super) struct Writer<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) library: BTreeSet<&'static str>,
    /// Functions of the library, and those that hide, that are called with vectors of so many lanes.
    pub(super) of_lanes: BTreeSet<(&'static str, u32)>,
    /// What is called between words and pairs of them, for vectors of so many words.
    pub(super) pairings: BTreeSet<(Pairing, u32)>,
    /// For each memory how many lanes the elements of its array have.
    pub(super) array_lanes: Vec<u32>,
    /// For each memory whether its array is one of atomic words.
    pub(super) atomic: Vec<bool>,
    /// The names of module scope, as the scope around each function.
    names: Names,
    /// For each function the name of the structure it returns, where it returns several values.
    structures: Vec<String>,
}

impl<'k> Writer<'k> {
    fn function(&mut self, id: FunctionId) -> Result<String, Diagnostics> {
        let kernel = self.kernel;
        let function = &kernel.functions[id];
        function.extents.iter().try_for_each(|extent| check_extent(*extent))?;
        let dims: Vec<String> = (0..function.extents.len()).map(|dimension| format!("d{dimension}")).collect();
        let parameters = dims.iter().map(|dim| format!("{dim}: u32")).collect::<Vec<_>>();
        let result = self.result_type(id);
        let known = Known::new(&function.extents);
        let mut text = self.text(function, Variables::new(dims));
        let values = function.parameters.iter().map(|value| format!("{}: {}", text.name(*value), text.type_of(*value)));
        let parameters: Vec<String> = parameters.into_iter().chain(values).collect();
        text.out += &format!("fn {}({}) -> {result} {{\n", function.name, parameters.join(", "));
        text.statements(&function.body, &mut known.clone(), 1)?;
        text.writer.library.extend(text.variables.called());
        let mut out = text.finish(&result);
        if function.body.results.len() != 1 {
            let fields: Vec<String> = Kernel::result_types(function)
                .iter()
                .enumerate()
                .map(|(position, ty)| format!("    r{position}: {},\n", type_text(*ty)))
                .collect();
            out = format!("struct {result} {{\n{}}}\n\n{out}", fields.concat());
        }
        Ok(out)
    }

    fn text(&mut self, function: &'k Function, variables: Variables) -> FunctionText<'_, 'k> {
        let mut scope = self.names.clone();
        let names: Vec<String> = function.values.values().map(|value| scope.take(&value.name)).collect();
        let inlined = inlined(function);
        FunctionText { writer: self, function, names, scope, inlined, variables, out: String::new() }
    }

    /// The type a function returns: that of its result, or a structure of several.
    fn result_type(&self, id: FunctionId) -> String {
        let function = &self.kernel.functions[id];
        match Kernel::result_types(function).as_slice() {
            [single] => type_text(*single),
            _ => self.structures[id.index()].clone(),
        }
    }

    fn entry(&mut self) -> Result<String, Diagnostics> {
        let kernel = self.kernel;
        let entry = &kernel.entry;
        let groups = kernel.window_coordinate().unwrap_or(entry.extents.len() - 1);
        let window = kernel.window_coordinate().map(|_| &"window.number");
        let dims = ["group.x", "group.y", "group.z"][..groups].iter().chain(window).chain(&["lane"]);
        let known = Known::new(&entry.extents);
        let variables = Variables::new(dims.map(|name| (*name).to_owned()).collect());
        let mut text = self.text(entry, variables);
        let asks = asks_members(&entry.body);
        let of_subgroups = if uses_subgroups(&entry.body) && !asks { SUBGROUP_INPUTS } else { "" };
        let of_workgroup = if numbers_subgroups(&entry.body) { WORKGROUP_INPUTS } else { "" };
        // Members of a subgroup have numbers of their own.
        let number = if asks { "subgroup_invocation_id" } else { "local_invocation_index" };
        text.out += &format!(
            "@compute @workgroup_size({})\nfn {ENTRY_POINT}(@builtin(workgroup_id) group: vec3<u32>, \
             @builtin({number}) lane: u32{of_subgroups}{of_workgroup}) {{\n",
            kernel.threads()
        );
        for memory in kernel.memories.values().filter(|memory| memory.space == Space::Thread) {
            let count = memory.shape.element_count().unwrap_or(0).max(1);
            let element = stored_type(memory.shape.element_type);
            text.line(1, &format!("var {}: array<{element}, {count}>;", memory.name));
        }
        for memory in kernel.memories.values() {
            if let Some(ty) = matrix_type(memory) {
                text.line(1, &format!("var {}: {ty};", memory.name));
            }
        }
        text.line(1, &math::zeros("lane"));
        text.statements(&entry.body, &mut known.clone(), 1)?;
        text.writer.library.extend(text.variables.called());
        Ok(text.out + "}\n")
    }
}
