//! Whether vectors begin where vectors may.

use super::Findings;
use super::function::type_of;
use crate::kernel::{Block, Function, Kernel, Known, MemoryId, Operand, ScalarOp, Space, Statement, UNIFORM_LANES};
use weft_affine::{Atom, Expr, simplify};

/// Finds vectors that begin at a position that is not known to be a multiple of their lanes.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings) {
    for (position, function) in kernel.bodies().enumerate() {
        let is_entry = position == kernel.functions.len();
        let place = if is_entry { "entry".to_owned() } else { format!("@{}", function.name) };
        let mut pass = Lanes { kernel, function, place, findings: &mut *findings };
        pass.block(&function.body, Known::new(&function.extents));
    }
}

struct Lanes<'k, 'f> {
    kernel: &'k Kernel,
    function: &'k Function,
    place: String,
    findings: &'f mut Findings,
}

impl Lanes<'_, '_> {
    fn block(&mut self, block: &Block, mut known: Known) {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op: ScalarOp::Extract { memory, indices } } => {
                    self.access(*memory, indices, Operand::Value(*value), &known);
                }
                Statement::Store { memory, indices, value } => self.access(*memory, indices, *value, &known),
                other => {
                    if let Some(memory) = other.memory() {
                        self.alone(memory);
                    }
                }
            }
            let blocks = statement.blocks().into_iter().zip(known.within(statement));
            blocks.for_each(|(block, known)| self.block(block, known));
            known.after(statement);
        }
    }

    /// What is not of vectors goes to no memory of pairs.
    fn alone(&mut self, memory: MemoryId) {
        let memory = &self.kernel.memories[memory];
        if memory.pairs {
            let message = format!(
                "something other than a vector of words goes to or comes from %{}, which is of pairs",
                memory.name
            );
            self.findings.add(&self.place, message);
        }
    }

    fn access(&mut self, memory: MemoryId, indices: &[Expr], value: Operand, known: &Known) {
        let lanes = type_of(self.function, value).map_or(1, |ty| ty.lanes);
        if lanes == 1 {
            self.alone(memory);
        }
        let ([index], true) = (indices, lanes > 1) else { return };
        let memory = &self.kernel.memories[memory];
        if memory.is_uniform() && lanes != UNIFORM_LANES {
            let message =
                format!("a vector of %{} has {lanes} lanes, and uniforms hold vectors of {UNIFORM_LANES}", memory.name);
            self.findings.add(&self.place, message);
        }
        let aligned = match memory.space {
            Space::Buffer { offset, .. } => offset.is_multiple_of(4 * u64::from(lanes)),
            Space::Workgroup | Space::Thread | Space::Matrix { .. } => true,
        };
        if !aligned || !is_multiple(index, i64::from(lanes), known) {
            let message =
                format!("a vector of %{} begins at {index}, which may be no multiple of {lanes}", memory.name);
            self.findings.add(&self.place, message);
        }
    }
}

/// Whether an index is known to be a multiple of a positive number: by the parts of the expression, or because its remainder simplifies.
pub(crate) fn is_multiple(index: &Expr, of: i64, known: &Known) -> bool {
    divides(of, index)
        || index
            .checked_modulo(of)
            .is_ok_and(|rest| simplify(&rest, &known.ranges, known.facts()).as_constant() == Some(0))
}

fn divides(of: i64, expr: &Expr) -> bool {
    let term = |coefficient: i64, atom: &Atom| {
        let left = of / gcd(of, coefficient);
        left == 1
            || match atom {
                Atom::Var(_) => false,
                Atom::Mod(inner, modulus) => modulus % left == 0 && divides(left, inner),
                Atom::FloorDiv(inner, divisor) => divisor.checked_mul(left).is_some_and(|both| divides(both, inner)),
            }
    };
    expr.constant_term() % of == 0 && expr.terms().iter().all(|part| term(part.coefficient, &part.atom))
}

/// The greatest divisor of both, of which the first is positive.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b % a);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.saturating_abs()
}
