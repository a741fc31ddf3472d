//! What is known of indices in a block, and what has to be tested to enter another.

use super::{Binding, Condition, Statement};
use weft_affine::{Atom, Config, Constraint, Expr, Interval, Ranges, Simplifier, Var, range_of};

/// Points times operations that may be tried to find out whether an index is linear, a hundredth of what the simplifier allows itself:
/// a kernel has many indices, and is to be compiled in a millisecond.
const MAX_POINTS_WORK: u64 = 1 << 15;

/// What is known of the indices in sight: the ranges of the variables, and ranges of expressions that conditions around
/// the block have established.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) ranges: Ranges,
    facts: Vec<Constraint>,
    /// Whether some condition around the block is not among the facts, so that fewer points may come here than they allow.
    is_loose: bool,
    /// Whether indices alone decide who comes here, and how often.
    is_settled: bool,
}

impl Known {
    /// Index `k` runs over `[0, extents[k] - 1]`.
    pub(crate) fn new(extents: &[i64]) -> Self {
        let dims = extents.iter().map(|extent| Interval { lo: 0, hi: extent - 1 }).collect();
        let ranges = Ranges { dims, ranges: Vec::new(), runtime: Vec::new() };
        Known { ranges, facts: Vec::new(), is_loose: false, is_settled: true }
    }

    /// The same inside a loop over `extents`, whose variables are numbered on from those in sight.
    pub(crate) fn in_loop(&self, extents: &[i64]) -> Self {
        let mut inner = self.clone();
        inner.ranges.ranges.extend(extents.iter().map(|extent| Interval { lo: 0, hi: extent - 1 }));
        inner
    }

    /// How many loop variables are in sight.
    pub(crate) fn loops(&self) -> usize {
        self.ranges.ranges.len()
    }

    /// Makes a runtime variable known.
    pub(crate) fn bind(&mut self, binding: &Binding) {
        self.set(binding.variable, binding.bounds);
    }

    /// Makes the range of a runtime variable known.
    pub(crate) fn set(&mut self, variable: u32, bounds: Interval) {
        let index = variable as usize;
        if self.ranges.runtime.len() <= index {
            self.ranges.runtime.resize(index + 1, Interval { lo: 0, hi: 0 });
        }
        self.ranges.runtime[index] = bounds;
    }

    /// Divides an index or loop variable that runs over `[0, n - 1]` by a divisor of `n`: it is the quotient from now on, and a loop variable more the
    /// remainder. Returns what it was before; `None` where an index leaves 64 bits.
    pub(crate) fn divide(&mut self, variable: Var, divisor: i64) -> Option<Expr> {
        let remainder = Expr::range(u32::try_from(self.loops()).ok()?);
        let before = Expr::var(variable).checked_mul(divisor).ok()?.checked_add(&remainder).ok()?;
        for fact in &mut self.facts {
            fact.expr = fact.expr.substitute(|found| (found == variable).then(|| before.clone())).ok()?;
        }
        let range = match variable {
            Var::Dim(index) => self.ranges.dims.get_mut(index as usize),
            Var::Range(index) => self.ranges.ranges.get_mut(index as usize),
            Var::Runtime(_) => None,
        }?;
        range.hi = (range.hi + 1) / divisor - 1;
        self.ranges.ranges.push(Interval::of_extent(divisor));
        let bare = Known { facts: Vec::new(), ..self.clone() };
        self.facts.iter_mut().for_each(|fact| fact.expr = bare.simplified(&fact.expr));
        Some(before)
    }

    /// Makes one index variable of several that are the digits of a number, `v0 + e0 v1 + e0 e1 v2 …` with as many values of each as its place has, if nothing is known of them but
    /// by that number: it is what the variable with the factor 1 is from now on. `None` where it is otherwise, or an index leaves 64 bits.
    pub(crate) fn join(&mut self, number: &Expr) -> Option<Joined> {
        let mut terms: Vec<(i64, Var)> = Vec::with_capacity(number.terms().len());
        for term in number.terms() {
            match term.atom {
                Atom::Var(variable @ Var::Dim(_)) => terms.push((term.coefficient, variable)),
                _ => return None,
            }
        }
        terms.sort_unstable();
        let mut values: i64 = 1;
        for (factor, variable) in &terms {
            let range = self.range(&Expr::var(*variable));
            if *factor != values || range.lo != 0 || range.is_empty() {
                return None;
            }
            values = values.checked_mul(range.hi.checked_add(1)?)?;
        }
        if terms.len() < 2 || number.constant_term() != 0 {
            return None;
        }
        let variables: Vec<Var> = terms.into_iter().map(|(_, variable)| variable).collect();
        let joined = Joined { number: number.clone(), variables };
        let facts =
            self.facts.iter().map(|fact| Some(Constraint { expr: joined.of(&fact.expr)?, bounds: fact.bounds }));
        let facts = facts.collect::<Option<Vec<_>>>()?;
        self.facts = facts;
        for (position, variable) in joined.variables.iter().enumerate() {
            if let Var::Dim(index) = variable {
                let hi = if position == 0 { values - 1 } else { 0 };
                *self.ranges.dims.get_mut(*index as usize)? = Interval { lo: 0, hi };
            }
        }
        Some(joined)
    }

    /// What is known in each block within a statement, in their order.
    pub(crate) fn within(&self, statement: &Statement) -> Vec<Known> {
        match statement {
            Statement::If { condition, .. } => vec![self.inside(condition), self.outside(condition)],
            Statement::Loop { extents, .. } => vec![self.in_loop(extents)],
            // A value decides how often a `while` comes to its blocks.
            _ => statement.blocks().iter().map(|_| Known { is_settled: false, ..self.clone() }).collect(),
        }
    }

    /// What is known after a statement of the block: what it binds or names.
    pub(crate) fn after(&mut self, statement: &Statement) {
        match statement {
            Statement::Bind { binding, .. } => self.bind(binding),
            Statement::Name { variable, index } => self.name(*variable, index),
            _ => {}
        }
    }

    /// Makes the range of a name known.
    pub(crate) fn name(&mut self, variable: u32, index: &Expr) {
        let range = self.range(index);
        self.set(variable, range);
    }

    /// What is known in the block where a condition holds.
    pub(crate) fn inside(&self, condition: &Condition) -> Self {
        let mut inner = self.when(condition.constraints());
        inner.is_loose |= matches!(condition, Condition::Value(_));
        inner.is_settled &= matches!(condition, Condition::Indices(_));
        condition.bindings().iter().for_each(|binding| inner.bind(binding));
        inner
    }

    /// What is known in the block where a condition does not hold.
    pub(crate) fn outside(&self, condition: &Condition) -> Self {
        let outer = match condition {
            Condition::Indices(constraints) => self.unless(constraints),
            Condition::Value(_) | Condition::InBounds(_) => Known { is_loose: true, ..self.clone() },
        };
        Known { is_settled: self.is_settled && !outer.is_loose, ..outer }
    }

    /// Whether fewer points may come here than the ranges and facts allow: what does not hold at all of those may hold here.
    pub(crate) fn is_loose(&self) -> bool {
        self.is_loose
    }

    /// Whether indices alone decide who comes here, and how often: just the points that ranges and facts allow, each once.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The ranges of expressions that conditions have established.
    pub(crate) fn facts(&self) -> &[Constraint] {
        &self.facts
    }

    /// The range of an expression.
    pub(crate) fn range(&self, expr: &Expr) -> Interval {
        let facts = self.facts.iter().filter(|fact| fact.expr == *expr);
        facts.fold(range_of(expr, &self.ranges), |range, fact| intersect(range, fact.bounds))
    }

    /// The simplified form of an index.
    pub(crate) fn simplified(&self, index: &Expr) -> Expr {
        let config = Config { max_points_work: MAX_POINTS_WORK, ..Config::default() };
        Simplifier::with_config(&self.ranges, &self.facts, config).simplify(index)
    }

    /// What of these constraints has to be tested still, with the sides that are known already opened to the range.
    pub(crate) fn open(&self, constraints: &[Constraint]) -> Vec<Constraint> {
        let mut open: Vec<Constraint> = Vec::new();
        for constraint in constraints {
            let range = self.range(&constraint.expr);
            let (lo, hi) = (constraint.bounds.lo.max(range.lo), constraint.bounds.hi.min(range.hi));
            let tested = Constraint { expr: constraint.expr.clone(), bounds: Interval { lo, hi } };
            if (lo, hi) != (range.lo, range.hi) && !open.contains(&tested) {
                open.push(tested);
            }
        }
        open
    }

    /// What is known where `conditions` hold.
    pub(crate) fn when(&self, conditions: &[Constraint]) -> Self {
        let mut inner = self.clone();
        for condition in conditions {
            inner.learn(condition.clone());
        }
        inner
    }

    /// What is known where `conditions` do not all hold: something only if there is one and it is open on one side.
    pub(crate) fn unless(&self, conditions: &[Constraint]) -> Self {
        let mut inner = Known { is_loose: true, ..self.clone() };
        if let [Constraint { expr, bounds }] = conditions {
            let range = self.range(expr);
            if bounds.lo <= range.lo {
                inner.is_loose = self.is_loose;
                inner.learn(Constraint {
                    expr: expr.clone(),
                    bounds: Interval { lo: bounds.hi.saturating_add(1), hi: range.hi },
                });
            } else if bounds.hi >= range.hi {
                inner.is_loose = self.is_loose;
                inner.learn(Constraint {
                    expr: expr.clone(),
                    bounds: Interval { lo: range.lo, hi: bounds.lo.saturating_sub(1) },
                });
            }
        }
        inner
    }

    fn learn(&mut self, fact: Constraint) {
        // Of a quotient it is the variable that is told of.
        let fact = match fact.expr.as_atom() {
            Some(Atom::FloorDiv(inner, divisor)) if inner.as_var().is_some() && !fact.bounds.is_empty() => {
                let Interval { lo, hi } = fact.bounds;
                let hi = hi.saturating_mul(*divisor).saturating_add(divisor - 1);
                Constraint { expr: inner.clone(), bounds: Interval { lo: lo.saturating_mul(*divisor), hi } }
            }
            _ => fact,
        };
        let variable = match fact.expr.as_var() {
            Some(Var::Dim(index)) => self.ranges.dims.get_mut(index as usize),
            Some(Var::Range(index)) => self.ranges.ranges.get_mut(index as usize),
            Some(Var::Runtime(index)) => self.ranges.runtime.get_mut(index as usize),
            _ => None,
        };
        match variable {
            Some(range) => *range = intersect(*range, fact.bounds),
            None => self.facts.push(fact),
        }
    }
}

fn intersect(a: Interval, b: Interval) -> Interval {
    Interval { lo: a.lo.max(b.lo), hi: a.hi.min(b.hi) }
}

/// Index variables that have become one ([`Known::join`]).
pub(crate) struct Joined {
    number: Expr,
    /// The one that is left is the first.
    variables: Vec<Var>,
}

impl Joined {
    /// An expression of the variables in terms of the one; `None` where it depends on one of them otherwise, or leaves 64 bits.
    pub(crate) fn of(&self, expr: &Expr) -> Option<Expr> {
        let first = *self.variables.first()?;
        let times = expr.terms().iter().find(|term| term.atom == Atom::Var(first)).map_or(0, |term| term.coefficient);
        let rest = expr.checked_add_scaled(&self.number, -times).ok()?;
        let mut joined = Expr::var(first).checked_mul(times).ok()?.checked_add_constant(rest.constant_term()).ok()?;
        for term in rest.terms() {
            let atom = match &term.atom {
                Atom::Var(variable) if self.variables.contains(variable) => return None,
                Atom::Var(variable) => Expr::var(*variable),
                Atom::FloorDiv(inner, divisor) => self.of(inner)?.checked_floor_div(*divisor).ok()?,
                Atom::Mod(inner, modulus) => self.of(inner)?.checked_modulo(*modulus).ok()?,
            };
            joined = joined.checked_add_scaled(&atom, term.coefficient).ok()?;
        }
        Some(joined)
    }
}
