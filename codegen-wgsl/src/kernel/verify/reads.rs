//! Whether every index is within what it indexes.

use super::Findings;
use crate::kernel::{Block, Kernel, Known, ScalarOp, Statement};
use weft_affine::{Expr, Interval};
use weft_indexing::{Answer, IndexingMap, Limits, RuntimeVariable, Variable};

/// Finds indices that reach beyond their memory, or beyond the function they are given to.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    for (position, function) in kernel.bodies().enumerate() {
        let is_entry = position == kernel.functions.len();
        let place = if is_entry { "entry".to_owned() } else { format!("@{}", function.name) };
        if function.extents.contains(&0) {
            continue;
        }
        let mut pass = Reads { kernel, place, findings: &mut *findings, unproved: &mut *unproved };
        pass.block(&function.body, Known::new(&function.extents));
    }
}

struct Reads<'k, 'f> {
    kernel: &'k Kernel,
    place: String,
    findings: &'f mut Findings,
    unproved: &'f mut Findings,
}

impl Reads<'_, '_> {
    fn block(&mut self, block: &Block, mut known: Known) {
        for statement in &block.statements {
            self.statement(statement, &known);
            known.after(statement);
        }
    }

    fn statement(&mut self, statement: &Statement, known: &Known) {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, indices }, .. }
            | Statement::Store { memory, indices, .. }
            | Statement::Update { memory, indices, .. } => {
                let memory = &self.kernel.memories[*memory];
                let what = format!("%{}", memory.name);
                self.indices(indices, &super::writes::indexed_extents(memory, indices.len()), &what, known);
            }
            Statement::Call { function, indices, .. } => {
                let callee = &self.kernel.functions[*function];
                self.indices(indices, &callee.extents, &format!("@{}", callee.name), known);
            }
            Statement::If { condition, then, otherwise, .. } => {
                self.block(then, known.inside(condition));
                self.block(otherwise, known.outside(condition));
            }
            Statement::Loop { extents, body, .. } => {
                if !extents.contains(&0) {
                    self.block(body, known.in_loop(extents));
                }
            }
            _ => statement.blocks().into_iter().for_each(|block| self.block(block, known.clone())),
        }
    }

    fn indices(&mut self, indices: &[Expr], extents: &[i64], what: &str, known: &Known) {
        for (index, extent) in indices.iter().zip(extents) {
            let within = Interval { lo: 0, hi: extent - 1 };
            let range = known.range(index);
            if range.is_empty() || (range.lo >= within.lo && range.hi <= within.hi) {
                continue;
            }
            let below = Interval { lo: i64::MIN, hi: -1 };
            let above = Interval { lo: *extent, hi: i64::MAX };
            let beyond = [below, above].map(|beyond| reaches(index, beyond, known));
            let message = format!("the index {index} into {what} is not within [0, {}]", extent - 1);
            if beyond.iter().any(|answer| matches!(answer, Some(true))) {
                self.findings.add(&self.place, message);
            } else if beyond.iter().any(Option::is_none) {
                self.unproved.add(&self.place, message);
            }
        }
    }
}

/// Whether an index takes a value of an interval anywhere; `None` where that is not known.
fn reaches(index: &Expr, interval: Interval, known: &Known) -> Option<bool> {
    let mut map = domain(known, vec![index.clone()])?;
    map.add_constraint(index.clone(), interval).ok()?;
    map.simplify();
    match map.is_empty(&Limits::default()) {
        Answer::Yes => Some(false),
        Answer::No(_) => Some(true),
        Answer::Unknown(_) => None,
    }
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
