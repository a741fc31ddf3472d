//! Whether every index is within what it indexes.

use super::Findings;
use crate::kernel::{Block, Function, Kernel, Known, MatrixOp, MatrixOrder, MemoryId, Operand, ScalarOp, Statement};
use weft_affine::{Atom, Config, Expr, Interval, Simplifier};
use weft_indexing::{Answer, IndexingMap, Limits, RuntimeVariable, Variable};

/// Finds indices that reach beyond their memory, or beyond the function they are given to.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    for (position, function) in kernel.bodies().enumerate() {
        let is_entry = position == kernel.functions.len();
        let place = if is_entry { "entry".to_owned() } else { format!("@{}", function.name) };
        if function.extents.contains(&0) {
            continue;
        }
        let mut pass = Reads { kernel, function, place, findings: &mut *findings, unproved: &mut *unproved };
        pass.block(&function.body, Known::new(&function.extents));
    }
}

struct Reads<'k, 'f> {
    kernel: &'k Kernel,
    function: &'k Function,
    place: String,
    findings: &'f mut Findings,
    unproved: &'f mut Findings,
}

impl Reads<'_, '_> {
    fn block(&mut self, block: &Block, mut known: Known) {
        for statement in &block.statements {
            self.statement(statement, &known);
            let is_entered = !matches!(statement, Statement::Loop { extents, .. } if extents.contains(&0));
            let blocks = statement.blocks().into_iter().zip(known.within(statement));
            blocks.filter(|_| is_entered).for_each(|(block, known)| self.block(block, known));
            known.after(statement);
        }
    }

    fn statement(&mut self, statement: &Statement, known: &Known) {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, value }
            | Statement::Share { memory, indices, value } => {
                self.access(*memory, indices, Operand::Value(*value), known);
            }
            Statement::Store { memory, indices, value }
            | Statement::Merge { memory, indices, value, .. }
            | Statement::Update { memory, indices, value, .. } => {
                self.access(*memory, indices, *value, known);
            }
            Statement::Matrix(op) => self.matrix(op, known),
            Statement::Call { function, indices, .. } => {
                let callee = &self.kernel.functions[*function];
                self.indices(indices, (&callee.extents, &[]), &format!("@{}", callee.name), known);
            }
            _ => {}
        }
    }

    /// All lanes of a value go to or from a memory.
    fn access(&mut self, memory: MemoryId, indices: &[Expr], value: Operand, known: &Known) {
        let memory = &self.kernel.memories[memory];
        let further = i64::from(Kernel::operand_lanes(self.function, value)) - 1;
        let mut extents = super::writes::indexed_extents(memory, indices.len());
        extents.iter_mut().for_each(|extent| *extent -= further);
        let shape = if indices.len() == 1 { memory.shape.extents.as_slice() } else { &[] };
        self.indices(indices, (&extents, shape), &format!("%{}", memory.name), known);
    }

    /// All elements of a matrix go to or come from a memory.
    fn matrix(&mut self, op: &MatrixOp, known: &Known) {
        let (Some((memory, indices)), Some(matrix)) = (op.place(), op.matrices().first().copied()) else { return };
        let (memory, matrix) = (&self.kernel.memories[memory], &self.kernel.memories[matrix]);
        let ([lines, line], [rows, columns]) = (&memory.shape.extents[..], &matrix.shape.extents[..]) else { return };
        let [down, along] = match op {
            MatrixOp::Load { order: MatrixOrder::Columns, .. } => [columns - 1, rows - 1],
            _ => [rows - 1, columns - 1],
        };
        let extents = match indices.len() {
            1 => vec![lines.saturating_mul(*line).saturating_sub(down.saturating_mul(*line).saturating_add(along))],
            _ => vec![lines - down, line - along],
        };
        self.indices(indices, (&extents, &[]), &format!("%{}", memory.name), known);
    }

    /// Indices within so much; a single one that is the position of an element has an array's shape.
    fn indices(&mut self, indices: &[Expr], (extents, shape): (&[i64], &[i64]), what: &str, known: &Known) {
        for (index, extent) in indices.iter().zip(extents) {
            if is_in_range(index, *extent, known) || is_in_range_by_digits(index, *extent, shape, known) {
                continue;
            }
            let beyond = beyond(index, Interval::of_extent(*extent), known);
            let message = format!("the index {index} into {what} is not within [0, {}]", extent - 1);
            let reaches = beyond.iter().any(|answer| matches!(answer, Some(true)));
            if reaches && !known.is_loose() {
                self.findings.add(&self.place, message);
            } else if reaches || beyond.iter().any(Option::is_none) {
                self.unproved.add(&self.place, message);
            }
        }
    }
}

/// Whether an index is known to be within an extent.
pub(crate) fn is_within(index: &Expr, extent: i64, known: &Known) -> bool {
    is_between(index, Interval::of_extent(extent), known)
}

/// Whether an index is known to be within an interval.
pub(super) fn is_between(index: &Expr, within: Interval, known: &Known) -> bool {
    tells(index, within, known) || beyond(index, within, known) == [Some(false); 2]
}

/// Whether ranges and facts alone tell that an index is within an extent.
fn is_in_range(index: &Expr, extent: i64, known: &Known) -> bool {
    tells(index, Interval::of_extent(extent), known)
}

fn tells(index: &Expr, within: Interval, known: &Known) -> bool {
    let range = known.range(index);
    range.is_empty()
        || within.contains_interval(range)
        || by_facts(index, known).is_some_and(|range| within.contains_interval(range))
}

/// Whether an index leaves an interval at its lower and at its upper end; `None` where that is not known.
fn beyond(index: &Expr, within: Interval, known: &Known) -> [Option<bool>; 2] {
    let below = Interval { lo: i64::MIN, hi: within.lo.saturating_sub(1) };
    let above = Interval { lo: within.hi.saturating_add(1), hi: i64::MAX };
    [below, above].map(|beyond| reaches(index, beyond, known))
}

/// The range of an index as a sum of multiples of the conditions around it, whose bounds are known, and of a rest: of padded windows
/// the rest has the loop variables no more, and its digits come together.
fn by_facts(index: &Expr, known: &Known) -> Option<Interval> {
    let (mut rest, mut bounds) = (index.clone(), Interval::point(0));
    for fact in known.facts() {
        let factor = fact.expr.terms().iter().filter(|term| matches!(term.atom, Atom::Var(_))).find_map(|term| {
            let own = rest.terms().iter().find(|own| own.atom == term.atom)?;
            (own.coefficient.checked_rem(term.coefficient)? == 0).then_some(own.coefficient / term.coefficient)
        });
        let Some(factor) = factor else { continue };
        rest = rest.checked_sub(&fact.expr.checked_mul(factor).ok()?).ok()?;
        bounds = bounds + fact.bounds.scale(factor);
    }
    let config = Config { max_points_work: 0, ..Config::default() };
    let mut simplifier = Simplifier::with_config(&known.ranges, &[], config);
    let rest = simplifier.simplify(&rest);
    Some(bounds + simplifier.range_of(&rest))
}

/// Ways to take conditions for digits that are tried.
const MAX_TRIED: usize = 8;

/// Whether the position of an element of an array is within an extent as a sum of digits of which conditions around it are, in their order, and of a rest: of a padded window the
/// position has digits of several dimensions in one, and comes apart where what is tested of them is taken away.
fn is_in_range_by_digits(index: &Expr, extent: i64, shape: &[i64], known: &Known) -> bool {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1i64;
    for extent in shape.iter().rev() {
        strides.push((*extent, stride));
        stride = stride.saturating_mul(*extent);
    }
    strides.reverse();
    // Each with what is left of the index, the range of what is taken away, and the first dimension that may be next.
    let mut ways = vec![(index.clone(), Interval::point(0), 0)];
    for fact in known.facts() {
        let mut more = Vec::new();
        for (rest, bounds, first) in &ways {
            for (dimension, (extent, stride)) in strides.iter().enumerate().skip(*first) {
                // Of what is tested the constant may be left out.
                if *extent > 1
                    && fact.bounds.hi.saturating_sub(fact.bounds.lo) < *extent
                    && let Ok(rest) = fact.expr.checked_mul(*stride).and_then(|digit| rest.checked_sub(&digit))
                {
                    more.push((rest, *bounds + fact.bounds.scale(*stride), dimension + 1));
                }
            }
        }
        // Those that take more of them away are tried first.
        ways.splice(0..0, more);
        ways.truncate(MAX_TRIED);
    }
    let config = Config { max_points_work: 0, ..Config::default() };
    let mut simplifier = Simplifier::with_config(&known.ranges, &[], config);
    ways.into_iter().any(|(rest, bounds, first)| {
        let rest = if first > 0 { simplifier.simplify(&rest) } else { return false };
        Interval::of_extent(extent).contains_interval(bounds + simplifier.range_of(&rest))
    })
}

/// Whether an index takes a value of an interval anywhere; `None` where that is not known.
pub(super) fn reaches(index: &Expr, interval: Interval, known: &Known) -> Option<bool> {
    let mut map = domain(known, vec![index.clone()])?;
    map.add_constraint(index.clone(), interval).ok()?;
    let is_empty = |map: &IndexingMap| match map.is_empty(&Limits::default()) {
        Answer::Yes => Some(true),
        Answer::No(_) => Some(false),
        Answer::Unknown(_) => None,
    };
    // As it is written it is decided in most cases, and sooner than it is simplified.
    let decided = is_empty(&map).or_else(|| {
        map.simplify();
        is_empty(&map)
    });
    decided.map(|is_empty| !is_empty)
}

/// A map from the variables in sight, as far as they go, to these results.
pub(super) fn domain(known: &Known, results: Vec<Expr>) -> Option<IndexingMap> {
    let variables = |bounds: &[Interval]| bounds.iter().map(|bounds| Variable::new(*bounds)).collect();
    let runtime = known.ranges.runtime.iter().map(|bounds| RuntimeVariable::new(*bounds)).collect();
    let (dims, ranges) = (variables(&known.ranges.dims), variables(&known.ranges.ranges));
    IndexingMap::try_new(dims, ranges, runtime, results, known.facts().to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use crate::kernel::Kernel;

    #[test]
    fn functions_that_are_never_called_with_anything_read_nothing() {
        let text = "kernel @k(in %x: f32[0], out %y: f32[0]) {
            func @f(d0 in [0, -1]) -> (f32) { %0: f32 = extract %x[d0 + 5] return %0 }
            entry groups [0] threads 64 { }
        }";
        let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kernel.verify(), Ok(Vec::new()));
    }
}
