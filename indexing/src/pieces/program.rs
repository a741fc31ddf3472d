//! The expressions of a map as a straight-line program, arguments before the sums that use them.

use std::collections::HashMap;

use weft_affine::{Atom, Expr, Interval, Var};

use crate::{IndexingMap, Unknown};

/// What a term of a sum multiplies.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Operand {
    /// The variable of this number in [`Program::variables`].
    Variable(usize),
    /// The floor quotient of an earlier sum.
    FloorDiv(usize, i64),
    /// The floor remainder of an earlier sum.
    Mod(usize, i64),
}

/// A constant and terms `factor * operand`.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) constant: i64,
    pub(crate) terms: Vec<(i64, Operand)>,
}

/// All that a map computes: constraints first, then results.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) variables: Vec<(Var, Interval)>,
    pub(crate) sums: Vec<Sum>,
    /// Bounds that a sum has to keep, by the number of the sum.
    pub(crate) constraints: Vec<(usize, Interval)>,
    /// The sum of each result.
    pub(crate) results: Vec<usize>,
}

impl Program {
    /// The program of a map.
    ///
    /// # Errors
    /// Where the map is undefined, or mentions a variable that it does not have.
    pub(crate) fn new(map: &IndexingMap) -> Result<Program, Unknown> {
        if map.is_undefined() {
            return Err(Unknown::Undefined);
        }
        let bounds = map.variable_ranges();
        let variables: Vec<(Var, Interval)> = (0..)
            .map(Var::Dim)
            .zip(bounds.dims)
            .chain((0..).map(Var::Range).zip(bounds.ranges))
            .chain((0..).map(Var::Runtime).zip(bounds.runtime))
            .collect();
        let mut builder = Builder { variables: &variables, sums: Vec::new(), known: HashMap::new() };
        let mut constraints = Vec::new();
        for c in &map.constraints {
            constraints.push((builder.add(&c.expr)?, c.bounds));
        }
        let results = map.results.iter().map(|e| builder.add(e)).collect::<Result<_, _>>()?;
        let sums = builder.sums;
        Ok(Program { variables, sums, constraints, results })
    }

    /// The number of a variable.
    pub(crate) fn position(&self, v: Var) -> Option<usize> {
        self.variables.iter().position(|(w, _)| *w == v)
    }

    /// The program with variables that occur only as `count·u + v`, where `v` has `count` values, taken as one: the position
    /// that they are the digits of. Variables for which `kept` holds stay. No sum and no number of points changes.
    pub(super) fn joined(&self, kept: impl Fn(usize) -> bool) -> Program {
        let mut program = self.clone();
        let several = |program: &Program, i: usize| !kept(i) && program.variables[i].1.size() > 1;
        let pairs = |n: usize| (0..n).flat_map(move |u| (0..n).filter(move |v| *v != u).map(move |v| (u, v)));
        let mut found = true;
        while found {
            let candidates = pairs(program.variables.len());
            let next = candidates
                .filter(|(u, v)| several(&program, *u) && several(&program, *v))
                .find_map(|(u, v)| program.with_joined(u, v));
            found = next.is_some();
            program = next.unwrap_or(program);
        }
        program
    }

    /// The program with `u` in place of `count·u + v`; nothing where they occur in another way, or numbers are too large.
    fn with_joined(&self, u: usize, v: usize) -> Option<Program> {
        let mut program = self.clone();
        let [high, low] = [u, v].map(|i| self.variables[i].1);
        let count = i64::try_from(low.size()).ok()?;
        let last = i64::try_from(high.size().checked_mul(low.size())? - 1).ok()?;
        for sum in &mut program.sums {
            let factor = |of: usize| {
                let own = sum.terms.iter().find(|(_, operand)| matches!(operand, Operand::Variable(i) if *i == of));
                own.map_or(0, |(factor, _)| *factor)
            };
            let (a, b) = (factor(u), factor(v));
            if a != b.checked_mul(count)? {
                return None;
            }
            let least = i128::from(a) * i128::from(high.lo) + i128::from(b) * i128::from(low.lo);
            sum.constant = i64::try_from(i128::from(sum.constant).checked_add(least)?).ok()?;
            sum.terms.retain(|(_, operand)| !matches!(operand, Operand::Variable(i) if *i == v));
            for (factor, operand) in &mut sum.terms {
                if matches!(operand, Operand::Variable(i) if *i == u) {
                    *factor = b;
                }
            }
        }
        program.variables[u].1 = Interval::new(0, last);
        program.variables[v].1 = Interval::point(0);
        Some(program)
    }

    /// Whether some value of a sum may leave `i64` within the bounds of the variables, judged sum by sum.
    pub(super) fn may_overflow(&self) -> bool {
        let mut ranges: Vec<(i128, i128)> = Vec::with_capacity(self.sums.len());
        for sum in &self.sums {
            let start = Some((i128::from(sum.constant), i128::from(sum.constant)));
            let range = sum.terms.iter().fold(start, |range, (factor, operand)| {
                let (lo, hi) = match operand {
                    Operand::Variable(i) => {
                        let bounds = self.variables[*i].1;
                        (i128::from(bounds.lo), i128::from(bounds.hi))
                    }
                    Operand::FloorDiv(x, c) => {
                        (ranges[*x].0.div_euclid(i128::from(*c)), ranges[*x].1.div_euclid(i128::from(*c)))
                    }
                    Operand::Mod(_, c) => (0, i128::from(*c) - 1),
                };
                let (a, b) = (lo * i128::from(*factor), hi * i128::from(*factor));
                let (least, greatest) = range?;
                Some((least.checked_add(a.min(b))?, greatest.checked_add(a.max(b))?))
            });
            match range {
                Some((lo, hi)) if i64::try_from(lo).is_ok() && i64::try_from(hi).is_ok() => ranges.push((lo, hi)),
                _ => return true,
            }
        }
        false
    }
}

struct Builder<'a> {
    variables: &'a [(Var, Interval)],
    sums: Vec<Sum>,
    known: HashMap<u128, usize>,
}

impl Builder<'_> {
    /// The number of the sum, added with what it needs where it is new. A stack of its own: expressions may be deep.
    fn add(&mut self, root: &Expr) -> Result<usize, Unknown> {
        let mut stack = vec![(root.clone(), false)];
        while let Some((node, ready)) = stack.pop() {
            if self.known.contains_key(&node.structural_hash()) {
                continue;
            }
            if ready {
                let terms = node.terms().iter().map(|t| Ok((t.coefficient, self.operand(&t.atom)?)));
                let sum = Sum { constant: node.constant_term(), terms: terms.collect::<Result<_, _>>()? };
                self.known.insert(node.structural_hash(), self.sums.len());
                self.sums.push(sum);
            } else {
                let arguments: Vec<Expr> = node.terms().iter().filter_map(|t| t.atom.argument().cloned()).collect();
                stack.push((node, true));
                stack.extend(arguments.into_iter().rev().map(|e| (e, false)));
            }
        }
        Ok(self.known[&root.structural_hash()])
    }

    fn operand(&self, atom: &Atom) -> Result<Operand, Unknown> {
        Ok(match atom {
            Atom::Var(v) => {
                let found = self.variables.iter().position(|(w, _)| w == v);
                Operand::Variable(found.ok_or(Unknown::Undefined)?)
            }
            Atom::FloorDiv(x, c) => Operand::FloorDiv(self.known[&x.structural_hash()], *c),
            Atom::Mod(x, c) => Operand::Mod(self.known[&x.structural_hash()], *c),
        })
    }
}
