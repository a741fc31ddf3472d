//! Inputs by what reads them.

use crate::inputs::leaves;
use crate::random::{self, Distribution};
use crate::report::Failure;
use weft_hlo::ir::{ArenaId, BinaryOp, Computation, InstrId, Literal, Module, Op, UnaryOp};
use weft_hlo::passes::flatten;

/// One literal for each array that `module` takes, from a seed, the same on every machine.
///
/// Floats are normal, or uniform in [0.5, 2] where a logarithm reads them or a sum of all elements, so that logarithms
/// have values and errors of sums are not hidden by what cancels. Integers that gathers read as indices are in range.
pub(super) fn literals(module: &Module, seed: u64) -> Result<Vec<Literal>, Failure> {
    // What calls and tuples hide is not seen where they cannot be taken away.
    let flat = flatten(module).ok();
    let known = flat.as_ref().map(|flat| distributions(flat, flat.entry_computation()));
    let literal = |(number, leaf): (usize, &crate::inputs::Leaf<'_>)| {
        let distribution = known.as_ref().and_then(|known| known.get(number)).copied().unwrap_or_default();
        random::literal(seed, number, &leaf.name, leaf.shape, distribution)
    };
    leaves(module)?.iter().enumerate().map(literal).collect()
}

/// What each parameter of a flat computation has to hold.
fn distributions(module: &Module, computation: &Computation) -> Vec<Distribution> {
    let parameters = computation.parameters();
    let mut found = vec![Distribution::default(); parameters.len()];
    let mut ask = |read: InstrId, wanted: Distribution| {
        for origin in origins(computation, read) {
            let Some(number) = parameters.iter().position(|&parameter| parameter == origin) else { continue };
            found[number] = match (found[number], wanted) {
                // Several may read one array of indices: the least bound holds for all.
                (Distribution::Below(a), Distribution::Below(b)) => Distribution::Below(a.min(b)),
                _ => wanted,
            };
        }
    };
    for instruction in computation.instructions.values() {
        match &instruction.op {
            Op::Unary(UnaryOp::Log) => ask(instruction.operands[0], Distribution::Positive),
            Op::Reduce { to_apply, .. } if is_full_sum(module, *to_apply, &instruction.shape) => {
                ask(instruction.operands[0], Distribution::Positive);
            }
            Op::Gather { start_index_map, slice_sizes, .. } => {
                let Some(operand) = computation.instructions[instruction.operands[0]].shape.as_array() else {
                    continue;
                };
                // An index may be any at which the window still fits, in every dimension that it may belong to.
                let starts = start_index_map.iter().filter_map(|&dimension| {
                    let dimension = usize::try_from(dimension).ok()?;
                    u64::try_from(operand.extents.get(dimension)? - slice_sizes.get(dimension)? + 1).ok()
                });
                if let Some(least) = starts.min() {
                    ask(instruction.operands[1], Distribution::Below(least));
                }
            }
            _ => {}
        }
    }
    found
}

fn is_full_sum(module: &Module, region: weft_hlo::ir::ComputationId, shape: &weft_hlo::ir::Shape) -> bool {
    let region = &module.computations[region];
    let is_sum = matches!(region.instructions[region.root].op, Op::Binary(BinaryOp::Add));
    is_sum && shape.as_array().and_then(|array| array.element_count()) == Some(1)
}

/// The instructions whose elements `read` holds, moved at most.
fn origins(computation: &Computation, read: InstrId) -> Vec<InstrId> {
    let mut seen = vec![false; computation.instructions.len()];
    let (mut pending, mut found) = (vec![read], Vec::new());
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let instruction = &computation.instructions[id];
        match instruction.op {
            Op::Reshape
            | Op::Bitcast
            | Op::Copy
            | Op::Convert
            | Op::Broadcast { .. }
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. } => pending.push(instruction.operands[0]),
            Op::Concatenate { .. } => pending.extend(&instruction.operands),
            _ => found.push(id),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::case::CASES;
    use super::*;

    fn of_case(name: &str) -> Vec<Distribution> {
        let (_, text) = CASES.iter().find(|(known, _)| *known == name).expect("there is such a case");
        let flat = flatten(&weft_hlo::text::parse(text).expect("it is a program")).expect("it can be flattened");
        distributions(&flat, flat.entry_computation())
    }

    #[test]
    fn inputs_suit_what_reads_them() {
        use Distribution::{Below, Normal, Positive};
        assert_eq!(of_case("softmax"), [Normal]);
        assert_eq!(of_case("layernorm"), [Normal, Normal, Normal]);
        assert_eq!(of_case("row_sum"), [Normal]);
        assert_eq!(of_case("full_sum"), [Positive]);
        assert_eq!(of_case("diamond1"), [Positive]);
        // There the logarithm reads an absolute value and a constant added up.
        assert_eq!(of_case("diamonds8"), [Normal]);
        assert_eq!(of_case("gather_rows"), [Normal, Below(65536)]);
    }

    #[test]
    fn values_are_in_range() {
        let text = "HloModule m\nENTRY e {\n  x = f32[40] parameter(0)\n  i = s32[50,1] parameter(1)\n  \
            l = f32[40] log(x)\n  ROOT g = f32[50,4] gather(l, i), offset_dims={1}, collapsed_slice_dims={}, \
            start_index_map={0}, index_vector_dim=1, slice_sizes={4}\n}\n";
        let module = weft_hlo::text::parse(text).expect("it is a program");
        let Ok(literals) = literals(&module, 3) else { panic!("it has inputs") };
        let weft_hlo::ir::Data::F32(floats) = &literals[0].data else { panic!("they are floats") };
        assert!(floats.iter().all(|value| (0.5..=2.0).contains(value)), "{floats:?}");
        let weft_hlo::ir::Data::S32(indices) = &literals[1].data else { panic!("they are integers") };
        assert!(indices.iter().all(|index| (0..37).contains(index)), "{indices:?}");
        assert!(indices.iter().any(|&index| index > 9));
    }
}
