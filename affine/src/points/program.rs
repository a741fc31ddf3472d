//! Expressions as a straight-line program that runs over many points at once.

use super::divisor::Divisor;
use crate::{Atom, Expr, Interval, Var};

/// Points that are computed together.
pub(super) const LANES: usize = 64;
/// Values of less than this magnitude can be added once more without leaving `i64`.
const MAX_MAGNITUDE: i128 = 1 << 62;

/// A value for each of [`LANES`] points.
pub(super) type Lanes = [i64; LANES];

/// The place of a value: of a variable, or of a step after those.
pub(super) type Slot = usize;

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A constant and multiples of earlier values.
    Sum(i64, Vec<(i64, Slot)>),
    FloorDiv(Slot, Divisor),
    Mod(Slot, Divisor),
}

/// Several expressions, each of their parts computed once.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) variables: Vec<Var>,
    pub(super) steps: Vec<Step>,
    /// Where the values of the expressions are.
    pub(super) roots: Vec<Slot>,
}

impl Program {
    /// The program of the expressions, of at most `most` steps.
    pub(super) fn of<'a>(expressions: impl IntoIterator<Item = &'a Expr> + Clone, most: usize) -> Option<Program> {
        let mut variables: Vec<Var> = Vec::new();
        for e in expressions.clone() {
            e.find_variable(&mut |v| {
                variables.push(v);
                false
            });
        }
        variables.sort();
        variables.dedup();
        let program = Program { variables, steps: Vec::new(), roots: Vec::new() };
        let mut compiler = Compiler { program, places: Vec::new(), most };
        for e in expressions {
            let root = compiler.sum(e)?;
            compiler.program.roots.push(root);
        }
        Some(compiler.program)
    }

    /// Prepares for values of the variables within the bounds; true when none can leave `i64` on the way, in whatever order sums
    /// are added.
    pub(super) fn prepare(&mut self, bounds: &[Interval]) -> bool {
        let ends = |b: &Interval| Some((b.bound_below()?, b.bound_above()?));
        let Some(mut known) = bounds.iter().map(ends).collect::<Option<Vec<(i128, i128)>>>() else { return false };
        let is_safe = |(lo, hi): &(i128, i128)| -MAX_MAGNITUDE < *lo && *hi < MAX_MAGNITUDE;
        if !known.iter().all(is_safe) {
            return false;
        }
        for step in &mut self.steps {
            let range = match step {
                Step::Sum(constant, terms) => {
                    let (mut lo, mut hi) = (i128::from(*constant), i128::from(*constant));
                    let mut size = lo.abs();
                    for (a, slot) in terms {
                        let (x, y) = (i128::from(*a) * known[*slot].0, i128::from(*a) * known[*slot].1);
                        (lo, hi) = (lo + x.min(y), hi + x.max(y));
                        size += x.abs().max(y.abs());
                    }
                    if size >= MAX_MAGNITUDE {
                        return false;
                    }
                    (lo, hi)
                }
                Step::FloorDiv(slot, divisor) => {
                    let ((lo, hi), c) = (known[*slot], i128::from(divisor.value()));
                    divisor.prepare(lo, hi);
                    (lo.div_euclid(c), hi.div_euclid(c))
                }
                Step::Mod(slot, divisor) => {
                    divisor.prepare(known[*slot].0, known[*slot].1);
                    (0, i128::from(divisor.value()) - 1)
                }
            };
            known.push(range);
        }
        true
    }

    /// Computes all steps; `values` starts with the variables. The program must be [prepared](Program::prepare) for them.
    pub(super) fn run(&self, values: &mut Vec<Lanes>) {
        values.truncate(self.variables.len());
        for step in &self.steps {
            let result = match step {
                Step::Sum(constant, terms) => {
                    let mut sum = [*constant; LANES];
                    for (a, slot) in terms {
                        for (to, from) in sum.iter_mut().zip(&values[*slot]) {
                            *to = to.wrapping_add(a.wrapping_mul(*from));
                        }
                    }
                    sum
                }
                Step::FloorDiv(slot, divisor) => {
                    let mut quotient = values[*slot];
                    divisor.divide(&mut quotient);
                    quotient
                }
                Step::Mod(slot, divisor) => {
                    let mut remainder = values[*slot];
                    divisor.divide(&mut remainder);
                    for (to, from) in remainder.iter_mut().zip(&values[*slot]) {
                        *to = from.wrapping_sub(to.wrapping_mul(divisor.value()));
                    }
                    remainder
                }
            };
            values.push(result);
        }
    }
}

struct Compiler {
    program: Program,
    /// Where the values of sums and atoms are, by their hashes. There are few, so a list is searched sooner than a table.
    places: Vec<(u128, Slot)>,
    most: usize,
}

impl Compiler {
    fn known(&self, key: u128) -> Option<Slot> {
        self.places.iter().find(|(known, _)| *known == key).map(|(_, slot)| *slot)
    }

    /// The place of a sum; nothing where there are too many steps. Each level of the expression is a level of the recursion.
    fn sum(&mut self, e: &Expr) -> Option<Slot> {
        if let Some(slot) = self.known(e.structural_hash()) {
            return Some(slot);
        }
        let mut terms = Vec::with_capacity(e.terms().len());
        for term in e.terms() {
            terms.push((term.coefficient, self.atom(&term.atom)?));
        }
        let slot = match terms.as_slice() {
            [(1, slot)] if e.constant_term() == 0 => *slot,
            _ => self.push(Step::Sum(e.constant_term(), terms))?,
        };
        self.places.push((e.structural_hash(), slot));
        Some(slot)
    }

    fn atom(&mut self, atom: &Atom) -> Option<Slot> {
        let (x, c, step): (_, _, fn(Slot, Divisor) -> Step) = match atom {
            Atom::Var(v) => return self.program.variables.binary_search(v).ok(),
            Atom::FloorDiv(x, c) => (x, c, Step::FloorDiv),
            Atom::Mod(x, c) => (x, c, Step::Mod),
        };
        let key = Expr::hash_of_atom(atom);
        if let Some(slot) = self.known(key) {
            return Some(slot);
        }
        let x = self.sum(x)?;
        let slot = self.push(step(x, Divisor::new(*c)))?;
        self.places.push((key, slot));
        Some(slot)
    }

    fn push(&mut self, step: Step) -> Option<Slot> {
        let program = &mut self.program;
        program.steps.push(step);
        (program.steps.len() <= self.most).then(|| program.variables.len() + program.steps.len() - 1)
    }
}
