//! Expressions as a straight-line program that runs over many points at once.

use rustc_hash::FxHashMap;

use super::divisor::Divisor;
use crate::expr::postorder;
use crate::{Atom, Expr, Interval, Var};

/// Points that are computed together.
pub(super) const LANES: usize = 64;
/// Values of this size can be added and scaled once more without leaving `i64`.
const SAFE: i128 = 1 << 62;

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
    pub(super) fn of<'a>(expressions: impl IntoIterator<Item = &'a Expr>, most: usize) -> Option<Program> {
        let expressions: Vec<&Expr> = expressions.into_iter().collect();
        let mut variables: Vec<Var> = expressions.iter().flat_map(|e| e.variables()).collect();
        variables.sort();
        variables.dedup();
        let mut program = Program { variables, steps: Vec::new(), roots: Vec::new() };
        let mut places: FxHashMap<u128, Slot> = FxHashMap::default();
        for e in postorder(expressions.iter().copied()) {
            let terms = e.terms().iter().map(|t| Some((t.coefficient, program.place(&t.atom, &mut places)?)));
            let terms: Vec<(i64, Slot)> = terms.collect::<Option<_>>()?;
            let slot = match terms.as_slice() {
                [(1, slot)] if e.constant_term() == 0 => *slot,
                _ => program.push(Step::Sum(e.constant_term(), terms)),
            };
            places.insert(e.structural_hash(), slot);
            if program.steps.len() > most {
                return None;
            }
        }
        program.roots = expressions.iter().filter_map(|e| places.get(&e.structural_hash()).copied()).collect();
        Some(program)
    }

    fn place(&mut self, atom: &Atom, places: &mut FxHashMap<u128, Slot>) -> Option<Slot> {
        let (x, step): (_, fn(Slot, Divisor) -> Step) = match atom {
            Atom::Var(v) => return self.variables.binary_search(v).ok(),
            Atom::FloorDiv(x, _) => (x, Step::FloorDiv),
            Atom::Mod(x, _) => (x, Step::Mod),
        };
        let key = Expr::hash_of_atom(atom);
        if let Some(known) = places.get(&key) {
            return Some(*known);
        }
        let (Atom::FloorDiv(_, c) | Atom::Mod(_, c)) = atom else { return None };
        let slot = self.push(step(*places.get(&x.structural_hash())?, Divisor::new(*c)));
        places.insert(key, slot);
        Some(slot)
    }

    fn push(&mut self, step: Step) -> Slot {
        self.steps.push(step);
        self.variables.len() + self.steps.len() - 1
    }

    /// Prepares for values of the variables within the bounds; true when none can leave `i64` on the way, in whatever order sums
    /// are added.
    pub(super) fn prepare(&mut self, bounds: &[Interval]) -> bool {
        let ends = |b: &Interval| Some((b.bound_below()?, b.bound_above()?));
        let Some(mut known) = bounds.iter().map(ends).collect::<Option<Vec<(i128, i128)>>>() else { return false };
        let is_safe = |(lo, hi): &(i128, i128)| -SAFE < *lo && *hi < SAFE;
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
                    if size >= SAFE {
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
