//! Scatters as scatters of rows in ascending order.

mod stretches;

use super::build::Build;
use super::gather_scatter::CanonicalScatter;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::stable_order::{constant, ordered};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op, Scalar,
    Shape,
};
use std::collections::BTreeSet;
use stretches::Stretches;

/// Rewrites scatters for which `is_meant` holds to scatters of rows `[rows, …]` at ascending indices, one for each element along the dimensions that indices are for: so the
/// updates of each element stand in a row, in the order in which they are combined, and the result is the same bit for bit. The rows are ordered by a stable sort of as many
/// passes as the numbers have digits; windows that are out of bounds become rows that are.
///
/// More than `most_rows` are worked off stretch by stretch, by a loop. Scatters whose places `s32` cannot count stay as they are.
///
/// # Errors
/// Those of [`CanonicalScatter`].
pub fn order_scatters(
    module: &Module,
    most_rows: i64,
    is_meant: &dyn Fn(&Module, &Computation, &Instruction) -> bool,
) -> Result<Rewritten, Diagnostics> {
    let meant = |module: &Module| -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for computation in module.computations.values() {
            for instruction in computation.instructions.values() {
                if matches!(instruction.op, Op::Scatter { .. }) && is_meant(module, computation, instruction) {
                    found.insert((computation.name.clone(), instruction.name.clone()));
                }
            }
        }
        found
    };
    let found = meant(module);
    if found.is_empty() {
        return Ok(Rewritten { module: module.clone(), changes: Vec::new() });
    }
    let canonical = CanonicalScatter.run(module)?;
    let found = if canonical.changes.is_empty() { found } else { meant(&canonical.module) };
    let mut rewritten = rewrite_module(&canonical.module, &mut |rebuild, candidate| {
        let place = (rebuild.source.name.clone(), candidate.name.clone());
        found.contains(&place).then(|| expand(rebuild, candidate, most_rows)).flatten()
    });
    rewritten.changes.splice(0..0, canonical.changes);
    Ok(rewritten)
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, most_rows: i64) -> Option<Rule> {
    let Op::Scatter { scatter_dims_to_operand_dims, to_apply, .. } = &candidate.op else { return None };
    let count = candidate.operands.len() / 2;
    let (inputs, updates) = (&candidate.operands[..count], &candidate.operands[count + 1..]);
    let components = scatter_dims_to_operand_dims.len();
    let source = rebuild.array(inputs[0]).extents.clone();
    let windows = rebuild.array(updates[0]).extents.clone();
    let (own, rest) = source.split_at(components);
    let (sizes, kept) = windows[1..].split_at(components);
    let product = |extents: &[i64]| extents.iter().try_fold(1i64, |all, extent| all.checked_mul(*extent));
    let (places, of_window) = (product(own)?, product(sizes)?);
    let rows = of_window.checked_mul(windows[0])?;
    // What fills the last block of rows up is counted, too.
    let is_counted = |number: i64| i32::try_from(number.checked_add(1 << 10)?).ok();
    let (greatest, _) = (is_counted(places).map(|_| places as i32)?, is_counted(rows)?);
    let stays = places == 0 || rows == 0 || own.iter().zip(sizes).any(|(extent, size)| size > extent);
    if stays {
        return None;
    }
    let starts = Starts { indices: candidate.operands[count], own, sizes, rows: windows[0] };
    let numbers = starts.places(rebuild, greatest);
    let numbers = rebuild.reshaped(numbers, vec![rows]);
    let ordered = ordered(rebuild, numbers, greatest);
    let of_rows = |rebuild: &mut Rebuild<'_>, values: &[InstrId], rows: i64, kept: &[i64]| -> Vec<InstrId> {
        let extents = [&[rows], kept].concat();
        values.iter().map(|value| rebuild.reshaped(*value, extents.clone())).collect()
    };
    let inputs = of_rows(rebuild, inputs, places, rest);
    let updates = of_rows(rebuild, updates, rows, kept);
    let (rule, results) = if rows <= most_rows {
        let updates = updates.into_iter().map(|update| rows_of(rebuild, update, ordered.places)).collect();
        let results = scatter_of_rows(rebuild, (*to_apply, true), rest, inputs, ordered.numbers, updates);
        ("a scatter is one of rows in ascending order", results)
    } else {
        let stretches = Stretches { inputs, ordered, updates, region: *to_apply, outside: greatest, rest };
        let rule = "a scatter is one of rows in ascending order, stretch by stretch";
        (rule, stretches.folded(rebuild, most_rows)?)
    };
    let results: Vec<InstrId> = results.into_iter().map(|result| rebuild.reshaped(result, source.clone())).collect();
    Some(match results[..] {
        [result] => (rule, Rewrite::Value(result)),
        _ => (rule, Rewrite::Op(Op::Tuple, results)),
    })
}

/// What rows of updates at these places `[rows]` make of inputs whose rows have these extents: in ascending order, or no two of them at one place.
fn scatter_of_rows(
    build: &mut dyn Build,
    (to_apply, ascending): (ComputationId, bool),
    rest: &[i64],
    inputs: Vec<InstrId>,
    places: InstrId,
    updates: Vec<InstrId>,
) -> Vec<InstrId> {
    let scatter = Op::Scatter {
        update_window_dims: (1..=rest.len() as i64).collect(),
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        input_batching_dims: Vec::new(),
        scatter_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        indices_are_sorted: ascending,
        unique_indices: !ascending,
        to_apply,
    };
    let rows = build.array(places).extents[0];
    let places = build.reshaped(places, vec![rows, 1]);
    let shapes: Vec<Shape> = inputs.iter().map(|input| build.get(*input).shape.without_layout()).collect();
    let operands = [&inputs[..], &[places], &updates[..]].concat();
    match &shapes[..] {
        [shape] => vec![build.add(shape.clone(), scatter, operands)],
        _ => {
            let scattered = build.add(Shape::Tuple(shapes), scatter, operands);
            (0..inputs.len()).map(|index| build.element(scattered, index)).collect()
        }
    }
}

/// The starts of windows along the dimensions that they are for.
struct Starts<'a> {
    /// `[rows, components]`.
    indices: InstrId,
    /// The extents of the inputs, and of the windows.
    own: &'a [i64],
    sizes: &'a [i64],
    rows: i64,
}

impl Starts<'_> {
    /// For each element of each window `[rows, elements]` its place, row-major, or `outside` where the window does not lie within the inputs.
    fn places(&self, rebuild: &mut Rebuild<'_>, outside: i32) -> InstrId {
        let element_type = rebuild.element_type(self.indices);
        let mut first = constant(rebuild, Scalar::S32(0), vec![self.rows]);
        let mut is_inside: Option<InstrId> = None;
        for (component, (extent, size)) in self.own.iter().zip(self.sizes).enumerate() {
            let start = self.component(rebuild, component);
            // The greatest start that the type has.
            let bits = element_type.bits() - u32::from(element_type.is_signed());
            let most = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
            let greatest = (extent - size).min(most);
            let [low, high] = [0, greatest].map(|bound| rebuild.scalar(Scalar::from_bits(bound as u128, element_type)));
            let [low, high] = [low, high].map(|bound| rebuild.broadcast(bound, &[], vec![self.rows]));
            let clamped = rebuild.like(start, element_type, Op::Clamp, vec![low, start, high]);
            let is_own = rebuild.compared(ComparisonDirection::Eq, start, clamped);
            is_inside = Some(match is_inside {
                Some(others) => rebuild.binary(BinaryOp::And, others, is_own),
                None => is_own,
            });
            let number = rebuild.converted(clamped, ElementType::S32);
            first = self.advanced(rebuild, first, number, component);
        }
        let elements: i64 = self.sizes.iter().product();
        let extents = vec![self.rows, elements];
        let mut further = constant(rebuild, Scalar::S32(0), vec![elements]);
        for component in 0..self.sizes.len() {
            let index = rebuild.iota(ElementType::S32, self.sizes.to_vec(), component as i64);
            let index = rebuild.reshaped(index, vec![elements]);
            further = self.advanced(rebuild, further, index, component);
        }
        let first = rebuild.broadcast(first, &[0], extents.clone());
        let further = rebuild.broadcast(further, &[1], extents.clone());
        let place = rebuild.binary(BinaryOp::Add, first, further);
        let Some(is_inside) = is_inside else { return place };
        let is_inside = rebuild.broadcast(is_inside, &[0], extents.clone());
        let outside = constant(rebuild, Scalar::S32(outside), extents);
        rebuild.selected(is_inside, place, outside)
    }

    /// One component of each start.
    fn component(&self, rebuild: &mut Rebuild<'_>, component: usize) -> InstrId {
        if self.own.len() == 1 {
            return rebuild.reshaped(self.indices, vec![self.rows]);
        }
        let [zero, number] = [0, component as i32].map(|number| rebuild.scalar(Scalar::S32(number)));
        let column = rebuild.window(self.indices, &[zero, number], &[self.rows, 1]);
        rebuild.reshaped(column, vec![self.rows])
    }

    /// A place so many elements further along a dimension.
    fn advanced(&self, rebuild: &mut Rebuild<'_>, place: InstrId, by: InstrId, component: usize) -> InstrId {
        let stride: i64 = self.own[component + 1..].iter().product();
        let extents = rebuild.array(by).extents.clone();
        let stride = constant(rebuild, Scalar::S32(stride as i32), extents);
        let by = rebuild.binary(BinaryOp::Multiply, by, stride);
        rebuild.binary(BinaryOp::Add, place, by)
    }
}

/// The rows of an array with these numbers.
fn rows_of(build: &mut dyn Build, array: InstrId, numbers: InstrId) -> InstrId {
    let mut given = build.array(array).clone();
    if given.rank() == 1 {
        return build.taken(array, numbers);
    }
    let mut slice_sizes = given.extents.clone();
    slice_sizes[0] = 1;
    let op = Op::Gather {
        offset_dims: (1..given.rank() as i64).collect(),
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        operand_batching_dims: Vec::new(),
        start_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        slice_sizes,
        indices_are_sorted: false,
    };
    given.extents[0] = build.array(numbers).extents[0];
    build.add(Shape::array(given.element_type, given.extents), op, vec![array, numbers])
}
