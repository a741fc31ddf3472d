//! The least work that a program asks for, whatever is fused and however kernels are written.

use crate::live::live;
use crate::scan::Scan;
use weft_hlo::indexing::{Analysis, Dependence, Direction, Relation};
use weft_hlo::ir::{ArenaId, ArrayShape, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape};
use weft_hlo::passes::trip_count;
use weft_indexing::{IndexingMap, operand_utilization};

/// What a program reads, writes and computes at the least: the denominator of every speed. Nothing here depends on a
/// compiler or a device, so speeds of several can be compared. Each number is `None` where it does not follow from the
/// text, or leaves 64 bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Bytes of the elements of all parameters that any result depends on, each read once. An element takes as many
    /// bits as its type has; a `pred` takes a byte. Elements that only run-time values decide about all count as read.
    pub bytes_read: Option<u64>,
    /// Bytes of all results, each written once.
    pub bytes_written: Option<u64>,
    /// Arithmetic operations and comparisons on real floats, as the program is written, without what no result
    /// needs.
    ///
    /// Each counts one, whether an addition or a logarithm; selections, conversions and movement count none. A `dot`
    /// of `n` products per element counts `2 n` each, a convolution likewise, padding included; a reduction applies its
    /// computation once per element of its inputs, a window that grows with the element (a scan) once per result, and a scatter once per update. `None` where it holds loops of
    /// unknown length, conditionals, complex arithmetic, sorts, transforms, factorizations, random numbers, custom calls or communication.
    pub flops: Option<u64>,
}

impl Work {
    /// The work of a verified module.
    pub fn of(module: &Module) -> Work {
        Work { bytes_read: bytes_read(module), bytes_written: bytes_written(module), flops: flops(module) }
    }

    /// Bytes read and written together.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes_read?.checked_add(self.bytes_written?)
    }
}

fn bytes(shape: &ArrayShape, elements: u64) -> Option<u64> {
    let bits = elements.checked_mul(u64::from(shape.element_type.bits()))?;
    Some(bits.div_ceil(8))
}

fn elements(shape: &ArrayShape) -> Option<u64> {
    u64::try_from(shape.element_count()?).ok()
}

fn bytes_written(module: &Module) -> Option<u64> {
    let leaves = module.entry_computation().result_shape().leaves();
    leaves
        .into_iter()
        .filter_map(Shape::as_array)
        .try_fold(0u64, |sum, shape| sum.checked_add(bytes(shape, elements(shape)?)?))
}

fn bytes_read(module: &Module) -> Option<u64> {
    let entry = module.entry_computation();
    let dependences = Analysis::new(module).computation(module.entry, Direction::OutputToInput);
    let mut sum = 0u64;
    for (number, id) in entry.parameters().into_iter().enumerate() {
        for (leaf, shape) in entry.instructions[id].shape.leaves().into_iter().enumerate() {
            let Some(shape) = shape.as_array() else { continue };
            let on_leaf = dependences.on(number).filter(|it| it.leaf.is_none_or(|its_leaf| its_leaf == leaf));
            let used = used(on_leaf, shape)?;
            sum = sum.checked_add(bytes(shape, used)?)?;
        }
    }
    Some(sum)
}

/// How many elements of an array of `shape` are read at most. Of maps from one result elements that several lead to
/// count once; what different results read is added up, since their indices have nothing to do with one another.
fn used<'a>(dependences: impl Iterator<Item = &'a Dependence>, shape: &ArrayShape) -> Option<u64> {
    let all = elements(shape)?;
    let mut used = 0u64;
    for dependence in dependences {
        let Relation::Maps(maps) = &dependence.relation else { return Some(all) };
        if maps.is_empty() {
            continue;
        }
        let maps: Vec<IndexingMap> = maps.iter().map(|one| one.map.clone()).collect();
        let Ok(found) = operand_utilization(&maps, &shape.extents) else { return Some(all) };
        used = used.saturating_add(u64::try_from(found.union.used.greatest()).unwrap_or(u64::MAX));
    }
    Some(used.min(all))
}

fn flops(module: &Module) -> Option<u64> {
    flops_of_computations(module).into_iter().nth(module.entry.index())?
}

/// The [arithmetic](Work::flops) of each computation of a verified module that is called once, by its number.
pub fn flops_of_computations(module: &Module) -> Vec<Option<u64>> {
    // Callees stand before their callers.
    let mut known: Vec<Option<u64>> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let of = |callee: ComputationId| known.get(callee.index()).copied().flatten();
        let live = live(computation);
        let count = (computation.instructions.iter().filter(|(id, _)| live[id.index()]))
            .try_fold(0u64, |sum, (_, instruction)| {
                sum.checked_add(instruction_flops(module, computation, instruction, &of)?)
            });
        known.push(count);
    }
    known
}

/// The arithmetic of an instruction, given that of the computations that it calls.
pub(crate) fn instruction_flops(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
    of: &dyn Fn(ComputationId) -> Option<u64>,
) -> Option<u64> {
    let operand = |position: usize| {
        let id: InstrId = *instruction.operands.get(position)?;
        computation.instructions[id].shape.as_array()
    };
    let results = || first_array(&instruction.shape).and_then(elements);
    match &instruction.op {
        Op::Unary(_) | Op::Binary(_) | Op::Compare { .. } | Op::Clamp => {
            // The operand that a comparison or a clamp judges stands first or second, and all are of its type.
            let element_type = operand(instruction.operands.len().min(2) - 1)?.element_type;
            match element_type {
                _ if element_type.is_complex() => None,
                _ if element_type.is_float() => results(),
                _ => Some(0),
            }
        }
        Op::Dot { lhs_contracting_dims, .. } => {
            let lhs = operand(0)?;
            if !first_array(&instruction.shape)?.element_type.is_float() {
                return integers(instruction);
            }
            let products = (lhs_contracting_dims.iter())
                .try_fold(1u64, |count, &dimension| count.checked_mul(extent(lhs, dimension)?))?;
            results()?.checked_mul(products)?.checked_mul(2)
        }
        Op::Convolution { dim_labels, .. } => {
            let kernel = operand(1)?;
            if !first_array(&instruction.shape)?.element_type.is_float() {
                return integers(instruction);
            }
            let filters = extent(kernel, dim_labels.kernel_output_feature)?;
            let products = elements(kernel)?.checked_div(filters).unwrap_or(0);
            results()?.checked_mul(products)?.checked_mul(2)
        }
        Op::Reduce { to_apply, .. } => elements(operand(0)?)?.checked_mul(of(*to_apply)?),
        Op::ReduceWindow { window, to_apply } => {
            let sizes = window.dimensions.iter().map(|dimension| u64::try_from(dimension.size).ok());
            let window = sizes.into_iter().try_fold(1u64, |count, size| count.checked_mul(size?))?;
            // What a scan has folded up to one element is folded with the next.
            let each = if Scan::of(&computation.instructions, instruction).is_some() { 1 } else { window };
            results()?.checked_mul(each)?.checked_mul(of(*to_apply)?)
        }
        Op::SelectAndScatter { window, select, scatter } => {
            let sources = elements(operand(1)?)?;
            let sizes = window.dimensions.iter().map(|dimension| u64::try_from(dimension.size).ok());
            let window = sizes.into_iter().try_fold(1u64, |count, size| count.checked_mul(size?))?;
            let selected = window.checked_mul(of(*select)?)?;
            sources.checked_mul(selected.checked_add(of(*scatter)?)?)
        }
        Op::Scatter { to_apply, .. } => {
            // Operands are n arrays, the indices and n arrays of updates.
            elements(operand(instruction.operands.len() - 1)?)?.checked_mul(of(*to_apply)?)
        }
        Op::Map { to_apply, .. } => results()?.checked_mul(of(*to_apply)?),
        Op::Call { to_apply: callee } | Op::Fusion { calls: callee, .. } => of(*callee),
        Op::While { condition, body } => {
            let rounds = trip_count(&module.computations, &computation.instructions, instruction)?;
            let tests = of(*condition)?.checked_mul(rounds.checked_add(1)?)?;
            of(*body)?.checked_mul(rounds)?.checked_add(tests)
        }
        Op::Parameter { .. }
        | Op::Constant(_)
        | Op::Iota { .. }
        | Op::Reshape
        | Op::Bitcast
        | Op::BitcastConvert
        | Op::Copy
        | Op::Convert
        | Op::ReducePrecision { .. }
        | Op::Select
        | Op::Real
        | Op::Imag
        | Op::Complex
        | Op::MultiplyHigh
        | Op::Tuple
        | Op::GetTupleElement { .. }
        | Op::Broadcast { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Concatenate { .. }
        | Op::Pad { .. }
        | Op::Gather { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::OptimizationBarrier
        | Op::AfterAll
        | Op::AddDependency
        | Op::GetDimensionSize { .. } => Some(0),
        _ => None,
    }
}

/// Products of integers count none, those of complex numbers are not counted.
fn integers(instruction: &Instruction) -> Option<u64> {
    (!first_array(&instruction.shape)?.element_type.is_complex()).then_some(0)
}

fn extent(shape: &ArrayShape, dimension: i64) -> Option<u64> {
    u64::try_from(*shape.extents.get(usize::try_from(dimension).ok()?)?).ok()
}

fn first_array(shape: &Shape) -> Option<&ArrayShape> {
    match shape {
        Shape::Tuple(elements) => elements.first().and_then(first_array),
        other => other.as_array(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(text: &str) -> Work {
        let module = weft_hlo::text::parse(text).expect("the text is a module");
        weft_hlo::verify::verify(&module).expect("the module is valid");
        Work::of(&module)
    }

    #[test]
    fn what_is_read_is_what_results_depend_on() {
        // Rows 1 and 2 of 4, and rows 2 and 3: three rows of 8 elements of 4 bytes. The second parameter is not read.
        let found = work(
            "HloModule m\nENTRY e {\n  x = f32[4,8] parameter(0)\n  y = f32[100] parameter(1)\n  \
             a = f32[2,8] slice(x), slice={[1:3], [0:8]}\n  b = f32[2,8] slice(x), slice={[2:4], [0:8]}\n  \
             dead = f32[100] exponential(y)\n  ROOT s = f32[2,8] add(a, b)\n}\n",
        );
        assert_eq!(found, Work { bytes_read: Some(3 * 8 * 4), bytes_written: Some(64), flops: Some(16) });
        assert_eq!(found.bytes(), Some(160));
    }

    #[test]
    fn operations_are_counted_as_often_as_they_are_applied() {
        let region = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";
        let found = work(&format!(
            "HloModule m\n{region}ENTRY e {{\n  x = f32[4,8] parameter(0)\n  zero = f32[] constant(0)\n  \
             l = f32[4,8] log(x)\n  ROOT r = f32[4] reduce(l, zero), dimensions={{1}}, to_apply=add\n}}\n"
        ));
        assert_eq!(found.flops, Some(32 + 32));
        let found = work(
            "HloModule m\nENTRY e {\n  x = f32[3,5] parameter(0)\n  y = f32[5,7] parameter(1)\n  \
             ROOT d = f32[3,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        );
        assert_eq!(
            found,
            Work { bytes_read: Some(4 * (15 + 35)), bytes_written: Some(84), flops: Some(2 * 3 * 7 * 5) }
        );
    }

    #[test]
    fn integers_are_no_floats_and_complex_arithmetic_is_not_counted() {
        let of = |ty: &str| {
            work(&format!("HloModule m\nENTRY e {{\n  x = {ty}[4] parameter(0)\n  ROOT y = {ty}[4] add(x, x)\n}}\n"))
        };
        assert_eq!(of("s32").flops, Some(0));
        assert_eq!(of("c64").flops, None);
        assert_eq!(of("pred"), Work { bytes_read: Some(4), bytes_written: Some(4), flops: Some(0) });
    }

    #[test]
    fn loops_count_as_many_rounds_as_they_make() {
        let found = work(
            "HloModule m\nbody {\n  s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
             x = f32[8] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  \
             y = f32[8] multiply(x, x)\n  ROOT t = (s32[], f32[8]) tuple(next, y)\n}\n\
             condition {\n  s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
             n = s32[] constant(10)\n  ROOT go = pred[] compare(i, n), direction=LT\n}\n\
             ENTRY e {\n  x = f32[8] parameter(0)\n  zero = s32[] constant(0)\n  \
             t = (s32[], f32[8]) tuple(zero, x)\n  \
             w = (s32[], f32[8]) while(t), condition=condition, body=body\n  \
             ROOT y = f32[8] get-tuple-element(w), index=1\n}\n",
        );
        assert_eq!(found.flops, Some(80));
    }
}
