//! Vectors in WGSL.

use super::function::{FunctionText, strip};
use super::index;
use super::scalar::literal;
use super::writer::{first_in_buffer, first_of_window, value_type};
use crate::kernel::{
    Block, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement, UNIFORM_LANES, Value, ValueType,
};
use crate::math::{self, Call};
use weft_affine::{Expr, simplify};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, ElementType, Scalar, Span};

/// A type as WGSL spells it.
pub(super) fn type_text(ty: ValueType) -> String {
    vector_text(value_type(ty.element_type), ty.lanes)
}

/// A type of so many lanes.
pub(super) fn vector_text(element: &str, lanes: u32) -> String {
    if lanes == 1 { element.to_owned() } else { format!("vec{lanes}<{element}>") }
}

/// A call of an operation on vectors: operators and built-in functions take them, the library's functions are those of the lanes.
pub(super) fn write_call(call: Call, lanes: u32, operands: &[&str]) -> String {
    let of_lanes = |name: &str| math::lane_wise_name(name, lanes);
    match call {
        Call::Builtin(ty @ ("f32" | "i32" | "u32" | "bool")) => {
            format!("{}({})", vector_text(ty, lanes), operands.join(", "))
        }
        Call::Function(name) => format!("{}({})", of_lanes(name), operands.join(", ")),
        Call::Keyed { key, operator } => {
            let keys: Vec<String> = operands.iter().map(|operand| format!("{}({operand})", of_lanes(key))).collect();
            format!("({})", keys.join(&format!(" {operator} ")))
        }
        Call::Identity | Call::Operator(_) | Call::Builtin(_) => call.write(operands),
    }
}

/// For each memory how many lanes the array has that declares its buffer: those of the vectors that go to and from the buffer, and
/// four in a uniform.
///
/// # Errors
/// `HLO413` where they differ.
pub(super) fn array_lanes(kernel: &Kernel) -> Result<Vec<u32>, Diagnostics> {
    // What WGSL's uniforms have as elements of arrays takes 16 bytes.
    let of_memory = |memory: &Memory| if memory.is_uniform() { UNIFORM_LANES } else { 1 };
    let mut lanes: Vec<u32> = kernel.memories.values().map(of_memory).collect();
    for function in kernel.bodies() {
        accesses(&function.body, &mut |memory, value| {
            let of_value = match value {
                Operand::Value(value) => function.values.get(value).map_or(1, |value: &Value| value.lanes),
                Operand::Constant(_) => 1,
            };
            let declared: &mut u32 = &mut lanes[memory.index()];
            if of_value > 1 && *declared > 1 && *declared != of_value {
                return Err(differ(kernel, memory));
            }
            *declared = of_value.max(*declared);
            Ok(())
        })?;
    }
    // Memories of one buffer are one array.
    let ids: Vec<MemoryId> = kernel.memories.ids().collect();
    let mut shared = lanes.clone();
    for id in &ids {
        let of = |other: &MemoryId| std::ptr::eq(first(kernel, *other), first(kernel, *id));
        for other in ids.iter().filter(|other| of(other)) {
            let (own, others) = (shared[id.index()], lanes[other.index()]);
            if own > 1 && others > 1 && own != others {
                return Err(differ(kernel, *id));
            }
            shared[id.index()] = own.max(others);
        }
    }
    Ok(shared)
}

fn first(kernel: &Kernel, memory: MemoryId) -> &Memory {
    first_in_buffer(kernel, &kernel.memories[memory])
}

fn differ(kernel: &Kernel, memory: MemoryId) -> Diagnostics {
    let message = format!("vectors of different lanes go to and from %{}", kernel.memories[memory].name);
    Diagnostic::new("HLO413", Span::default(), message).into()
}

type Visit<'v> = dyn FnMut(MemoryId, Operand) -> Result<(), Diagnostics> + 'v;

fn accesses(block: &Block, visit: &mut Visit<'_>) -> Result<(), Diagnostics> {
    for statement in &block.statements {
        match statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, .. } } => visit(*memory, Operand::Value(*value))?,
            Statement::Store { memory, value, .. }
            | Statement::Merge { memory, value, .. }
            | Statement::Update { memory, value, .. } => {
                visit(*memory, *value)?;
            }
            _ => {}
        }
        for block in statement.blocks() {
            accesses(block, visit)?;
        }
    }
    Ok(())
}

impl FunctionText<'_, '_> {
    /// An operand where so many lanes are wanted: a constant stands in every lane.
    pub(super) fn operand_in(&self, operand: Operand, lanes: u32) -> String {
        match operand {
            Operand::Constant(scalar) if lanes > 1 => {
                format!("vec{lanes}<{}>({})", value_type(scalar.element_type()), literal(scalar))
            }
            _ => self.operand(operand),
        }
    }

    /// The element at a position of a memory, or the vector that begins there, as it stands in WGSL.
    pub(super) fn element(
        &self,
        memory: MemoryId,
        indices: &[Expr],
        lanes: u32,
        known: &Known,
    ) -> Result<String, Diagnostics> {
        let kernel = self.writer.kernel;
        let of_array = self.writer.array_lanes[memory.index()];
        let memory = &kernel.memories[memory];
        let name = &first_in_buffer(kernel, memory).name;
        // Every element takes a word.
        let offset = match memory.space {
            Space::Buffer { offset, .. } => offset / 4,
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => 0,
        };
        // A window begins at a multiple of every number of lanes.
        let window = match memory.space {
            Space::Buffer { binding, .. } if memory.window.is_some() => {
                let first = first_of_window(binding);
                Some(if of_array == 1 { format!("window.{first}") } else { format!("window.{first} / {of_array}u") })
            }
            _ => None,
        };
        let at = |position: &Expr, offset: u64| {
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let position = position.checked_add_constant(offset).map_err(|error| too_wide(position, &error))?;
            match &window {
                Some(first) => Ok(format!("{} - {first}", index::summand(&position, known, &self.variables)?)),
                None => index::index(&position, known, &self.variables),
            }
        };
        let Some(position) = indices.first() else { return Ok(format!("{name}[]")) };
        // Where nobody comes, an index may be beyond the memory; naga refuses the constants among these.
        let count = memory.shape.element_count().unwrap_or(i64::MAX).max(1);
        let constant = position.as_constant().map(|constant| Expr::constant(constant.clamp(0, count - 1)));
        let position = constant.as_ref().unwrap_or(position);
        if of_array == 1 {
            return Ok(format!("{name}[{}]", at(position, offset)?));
        }
        let too_wide = |error: weft_affine::Error| Diagnostics::from(too_wide(position, &error));
        let simple = |expr: Expr| simplify(&expr, &known.ranges, known.facts());
        let (word, words) = (i64::from(of_array), u64::from(of_array));
        if lanes > 1 {
            let vector = simple(position.checked_floor_div(word).map_err(too_wide)?);
            return Ok(format!("{name}[{}]", at(&vector, offset / words)?));
        }
        let position = position.checked_add_constant(i64::try_from(offset).unwrap_or(i64::MAX)).map_err(too_wide)?;
        let vector = simple(position.checked_floor_div(word).map_err(too_wide)?);
        let lane = simple(position.checked_modulo(word).map_err(too_wide)?);
        let lane = index::index(&lane, known, &self.variables)?;
        Ok(format!("{name}[{}][{lane}]", at(&vector, 0)?))
    }

    /// A vector of these lanes, or of one scalar in all lanes.
    pub(super) fn vector(&self, scalars: &[Operand], ty: ElementType, lanes: u32) -> String {
        let texts: Vec<String> = scalars.iter().map(|scalar| strip(&self.operand(*scalar)).to_owned()).collect();
        format!("{}({})", vector_text(value_type(ty), lanes), texts.join(", "))
    }

    /// The words of the lowest bytes of four integers, in each lane one.
    pub(super) fn packed(&self, ty: ElementType, lanes: u32, texts: &[String]) -> String {
        let word = vector_text("u32", lanes);
        let constant = |value: u32| self.operand_in(Operand::Constant(Scalar::U32(value)), lanes);
        let bytes = texts.iter().zip(0..).map(|(text, place)| {
            let bits = if ty == ElementType::U32 { text.clone() } else { format!("bitcast<{word}>({})", strip(text)) };
            match place {
                0 => format!("({bits} & {})", constant(0xff)),
                3 => format!("({bits} << {})", constant(24)),
                _ => format!("(({bits} & {}) << {})", constant(0xff), constant(8 * place)),
            }
        });
        format!("({})", bytes.collect::<Vec<_>>().join(" | "))
    }

    /// The sums of the products of the numbers in two words, in each lane one.
    pub(super) fn packed_dot(&self, operands: &[Operand; 2], is_signed: bool, lanes: u32) -> String {
        let (function, ty) = if is_signed { ("dot4I8Packed", "i32") } else { ("dot4U8Packed", "u32") };
        let of = |lane: u32| {
            let texts = operands.map(|operand| match operand {
                Operand::Value(_) if lanes > 1 => self.lane(operand, lane),
                _ => self.operand(operand),
            });
            format!("{function}({}, {})", strip(&texts[0]), strip(&texts[1]))
        };
        match lanes {
            1 => of(0),
            _ => format!("{}({})", vector_text(ty, lanes), (0..lanes).map(of).collect::<Vec<_>>().join(", ")),
        }
    }

    /// One lane of a vector.
    pub(super) fn lane(&self, vector: Operand, lane: u32) -> String {
        let component: String = math::components(4).nth(lane as usize).into_iter().collect();
        format!("{}.{component}", self.operand(vector))
    }
}

fn too_wide(position: &Expr, error: &weft_affine::Error) -> Diagnostic {
    Diagnostic::new("HLO412", Span::default(), format!("the index {position}: {error}"))
}
