//! The shape that follows from an instruction's operands: for text that leaves it out, and for builders.

use super::rules::{self, Expected, Rule};
use super::{code, instruction_faults, shapes};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Arena, ArrayShape, Computation, ElementType, FloatRange, InstrId, Instruction, Layout, Module, Op, Shape,
};
use crate::shape::function::{Extents, ShapeError, Specialized};
use crate::shape::{
    InferenceCache, InstructionAttributes, called_result, finding, infer_extents, into_leaves, specialize_extents,
    standard_library,
};

/// Why a shape does not follow: the code of the rule that is broken, and what is wrong in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Unknown {
    /// Nothing is broken, but the operands leave the shape open.
    fn open(message: String) -> Self {
        Unknown { code: code::RESULT_SHAPE, message }
    }
}

/// Infers shapes, by the rules of the operations and their shape functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShapeInference {
    /// The parameters of each computation of the module, by number.
    parameters: Vec<Vec<InstrId>>,
}

impl ShapeInference {
    pub(crate) fn new(module: &Module) -> Self {
        ShapeInference { parameters: module.computations.values().map(Computation::parameters).collect() }
    }

    /// Takes note of a computation that is added to the module.
    pub(crate) fn add(&mut self, computation: &Computation) {
        self.parameters.push(computation.parameters());
    }

    /// What is wrong with an instruction that follows these, whose operands and computations exist.
    pub(crate) fn check(
        &self,
        module: &Module,
        instructions: &Arena<InstrId, Instruction>,
        instruction: &Instruction,
    ) -> Vec<(&'static str, String)> {
        let operands: Vec<&Shape> = instruction.operands.iter().map(|&id| &instructions[id].shape).collect();
        let cache = InferenceCache::new(standard_library());
        let impossible: Vec<_> = instruction.shape.leaves().into_iter().filter_map(shapes::fault).collect();
        if !impossible.is_empty() {
            return impossible;
        }
        instruction_faults(module, &self.parameters, &cache, instruction, &operands)
    }

    /// The shape of an instruction that follows these, the shapes of whose operands and computations are right.
    pub(crate) fn shape(
        &self,
        module: &Module,
        instructions: &Arena<InstrId, Instruction>,
        instruction: &Instruction,
    ) -> Result<Shape, Unknown> {
        let operands: Vec<&Shape> =
            instruction.operands.iter().filter_map(|&id| instructions.get(id)).map(|it| &it.shape).collect();
        let op = &instruction.op;
        // Products are added up in the larger type of the factors, as XLA has it; other rules do not look at this.
        let product = products(op, &operands);
        let declared = product.map_or(Shape::Tuple(Vec::new()), Shape::scalar);
        let mut rule = Rule {
            module,
            parameters: &self.parameters,
            instruction,
            op,
            operands: &operands,
            declared: &declared,
            findings: Vec::new(),
            sound: true,
        };
        let expected = rules::check(&mut rule);
        if let Some((code, message)) = rule.findings.into_iter().next() {
            return Err(Unknown { code, message });
        }
        let expected = product.map_or(expected, Expected::Array);
        if let Op::SetDimensionSize { dimension } = op {
            return set_dimension_size(&operands, *dimension);
        }
        let mut shape = match expected.shape(&mut || None) {
            Some(shape) => shape,
            None => {
                let called = called_result(module, op);
                let partitions = module.num_partitions().unwrap_or(1);
                let attributes =
                    InstructionAttributes { op, operands: &operands, declared: &declared, called, partitions };
                filled(&attributes, &expected)?
            }
        };
        if let (Shape::Array(result), Some(layout)) = (&mut shape, layout(op, &operands)) {
            result.layout = Some(layout).filter(|layout| layout.minor_to_major.len() == result.extents.len());
        }
        Ok(shape)
    }
}

/// The type in which an operation adds up products: that of the factor whose values reach further, or else are finer. `None`
/// for other operations.
fn products(op: &Op, operands: &[&Shape]) -> Option<ElementType> {
    if !matches!(op, Op::Dot { .. } | Op::RaggedDot { .. } | Op::Convolution { .. }) {
        return None;
    }
    let [left, right, ..] = operands else { return None };
    let (left, right) = (left.as_array()?.element_type, right.as_array()?.element_type);
    Some(if reach(right) > reach(left) { right } else { left })
}

/// Floats by their greatest exponent, then by their digits, then by their least exponent; integers by their bits and then by
/// their sign.
fn reach(element_type: ElementType) -> (bool, Option<(i32, u32, i32)>, u32, bool) {
    let float = FloatRange::of(element_type).map(|range| (range.greatest, range.mantissa_bits, -range.least));
    (element_type.is_complex(), float, element_type.bits(), element_type.is_signed())
}

/// The operand with one more dimension whose extent is only bounded.
fn set_dimension_size(operands: &[&Shape], dimension: i64) -> Result<Shape, Unknown> {
    let array = operands.first().and_then(|shape| shape.as_array());
    let at = usize::try_from(dimension).ok().filter(|&at| array.is_some_and(|array| at < array.rank()));
    let (Some(array), Some(at)) = (array, at) else {
        let message = "operand 0 must be an array that has the dimension".to_owned();
        return Err(Unknown { code: code::ATTRIBUTE, message });
    };
    let mut array = array.clone();
    if !array.dynamic.contains(&at) {
        array.dynamic.push(at);
        array.dynamic.sort_unstable();
    }
    Ok(Shape::Array(array))
}

/// The shape expected, with extents from the operation's shape function.
fn filled(instruction: &InstructionAttributes<'_>, expected: &Expected<'_>) -> Result<Shape, Unknown> {
    let InstructionAttributes { op, operands, .. } = instruction;
    if !operands.iter().all(|operand| operand.is_static()) {
        return open(op, operands, expected)
            .or_else(|| expected.shape(&mut leaf_extents(known(instruction)?)))
            .ok_or_else(|| {
                Unknown::open(format!("extents of the operands of {} are known at run time only", op.name()))
            });
    }
    let unknown = |error: ShapeError| {
        let Diagnostic { code, message, .. } = finding(instruction, &error);
        Unknown { code, message }
    };
    let extents = infer_extents(standard_library(), instruction).map_err(unknown)?;
    let open = || Unknown::open(format!("the rule of {} leaves it open", op.name()));
    expected.shape(&mut leaf_extents(extents)).ok_or_else(open)
}

/// The extents of a result that is a scalar, whatever the extents of the operands are. Others may be open where those of the
/// operands are.
fn known(instruction: &InstructionAttributes<'_>) -> Option<Vec<Extents>> {
    let Specialized::Known(values) = specialize_extents(standard_library(), instruction).ok()? else { return None };
    let leaves: Vec<Extents> = values.into_iter().flat_map(into_leaves).collect();
    leaves.iter().all(|leaf| leaf.is_empty()).then_some(leaves)
}

/// The extents of one leaf after the other.
fn leaf_extents(extents: Vec<Extents>) -> impl FnMut() -> Option<Vec<i64>> {
    let mut extents = extents.into_iter();
    move || extents.next().map(|extents| extents.to_vec())
}

/// The shape of an operation that moves dimensions as they are, or works element by element on operands of the same
/// bounds; a dimension that is open in one operand is open in the result.
fn open(op: &Op, operands: &[&Shape], expected: &Expected<'_>) -> Option<Shape> {
    let Expected::Array(element_type) = expected else { return None };
    let arrays: Option<Vec<&ArrayShape>> = operands.iter().map(|shape| shape.as_array()).collect();
    let arrays = arrays?;
    let first = *arrays.first()?;
    let mut result = ArrayShape::new(*element_type, first.extents.clone());
    match op {
        Op::Transpose { permutation } => {
            let from: Option<Vec<usize>> = permutation.iter().map(|&dimension| dimension.try_into().ok()).collect();
            let from = from?;
            result.extents = from.iter().map(|&from| first.extents.get(from).copied()).collect::<Option<_>>()?;
            result.dynamic = (0..from.len()).filter(|&to| first.dynamic.contains(&from[to])).collect();
        }
        Op::Reverse { .. } => result.dynamic.clone_from(&first.dynamic),
        op if op.opcode().is_elementwise() && arrays.iter().all(|array| array.extents == first.extents) => {
            let is_open = |dimension: &usize| arrays.iter().any(|array| array.is_open(*dimension));
            result.dynamic = (0..first.rank()).filter(is_open).collect();
        }
        _ => return None,
    }
    Some(Shape::Array(result))
}

/// The layout that XLA gives the result: of what works element by element that of the first operand, of a transposition
/// the one that moves nothing. Others have none in particular.
fn layout(op: &Op, operands: &[&Shape]) -> Option<Layout> {
    let operand = operands.first()?.as_array()?;
    match op {
        Op::Transpose { permutation } => {
            let place = |dimension: usize| {
                let from = i64::try_from(dimension).ok()?;
                permutation.iter().position(|&other| other == from)
            };
            let minor_to_major: Option<Vec<usize>> = operand.minor_to_major().into_iter().map(place).collect();
            let physical = operand.layout.as_ref().and_then(|layout| layout.physical.clone());
            let layout = Layout { minor_to_major: minor_to_major?, physical };
            let row_major = layout.minor_to_major.iter().rev().copied().eq(0..operand.rank());
            Some(layout).filter(|_| operand.layout.is_some() || !row_major)
        }
        Op::Reverse { .. } => operand.layout.clone(),
        op if op.opcode().is_elementwise() => operand.layout.clone(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::reach;
    use crate::ir::ElementType;

    #[test]
    fn larger_types_reach_further_or_are_finer() {
        let ascending = [
            "pred",
            "s8",
            "u32",
            "s32",
            "u64",
            "f4e2m1fn",
            "f6e2m3fn",
            "f8e3m4",
            "f6e3m2fn",
            "f8e4m3b11fnuz",
            "f8e4m3",
            "f8e4m3fnuz",
            "f8e4m3fn",
            "f8e5m2",
            "f8e5m2fnuz",
            "f16",
            "f8e8m0fnu",
            "bf16",
            "f32",
            "f64",
            "c64",
            "c128",
        ];
        let types = ascending.map(|name| name.parse::<ElementType>().unwrap());
        for pair in types.windows(2) {
            assert!(reach(pair[0]) <= reach(pair[1]), "{} and {}", pair[0], pair[1]);
            assert!(reach(pair[0]) < reach(pair[1]) || !pair[1].is_float(), "{} and {}", pair[0], pair[1]);
        }
    }
}
