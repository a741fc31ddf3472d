//! How indices differ from lane to lane.

use crate::kernel::{Known, is_multiple};
use std::collections::BTreeSet;
use weft_affine::{Constraint, Error, Expr, Interval, Term, Var};

/// How an index differs from lane to lane.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is the same in all lanes.
    Uniform,
    /// It begins at a multiple of the lanes, and is one more in each further lane.
    Advancing,
    /// It begins anywhere, and is one more in each further lane.
    Shifted,
    /// It is two more in each further lane, and begins at a multiple of twice the lanes, or one behind: the first or the second halves of elements
    /// that take two words each.
    Halves(u32),
    /// Anything else.
    Other,
}

/// An index in each lane.
#[derive(Clone, Debug)]
pub(super) struct Stepped {
    /// The index by lane.
    pub(super) lanes: Vec<Expr>,
    pub(super) step: Step,
}

impl Stepped {
    /// The index of the first lane.
    pub(super) fn first(&self) -> &Expr {
        &self.lanes[0]
    }
}

/// When a condition holds.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// In all lanes or in none: where these constraints hold.
    Uniform(Vec<Constraint>),
    /// In all lanes where these constraints hold, else perhaps in some.
    Split(Vec<Constraint>),
    /// In some lanes; what is computed where it holds may be computed for all lanes wherever it holds in any.
    Selected(Selection),
}

/// Where a conjunction holds, lane by lane.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// What holds wherever the conjunction does in any lane.
    pub(super) any: Vec<Constraint>,
    /// By lane when it holds there.
    pub(super) lanes: Vec<Vec<Constraint>>,
}

/// What variables of a function are in the lanes of its vector form.
#[derive(Clone, Debug)]
pub(super) struct Substitution {
    /// The index that is `lanes * d + lane`, if there is one.
    pub(super) axis: Option<u32>,
    /// How many lanes there are.
    pub(super) lanes: u32,
    /// Runtime variables that differ from lane to lane.
    pub(super) varying: BTreeSet<u32>,
    /// The first number of a runtime variable that is bound within: those before it stay what they are.
    pub(super) bound: u32,
}

impl Substitution {
    /// The number of a runtime variable in a lane.
    pub(super) fn runtime(&self, variable: u32, lane: u32) -> u32 {
        match variable.checked_sub(self.bound) {
            Some(own) => self.bound + own * self.lanes + if self.varying.contains(&variable) { lane } else { 0 },
            None => variable,
        }
    }

    /// An index in one lane; `own` is what runtime variables are that are bound for that lane by itself.
    pub(super) fn in_lane(
        &self,
        index: &Expr,
        lane: u32,
        own: &dyn Fn(u32) -> Option<u32>,
        known: &Known,
    ) -> Result<Expr, Error> {
        let of_axis =
            |axis: u32| Expr::dim(axis).checked_mul(i64::from(self.lanes))?.checked_add_constant(i64::from(lane));
        let axis = self.axis.map(of_axis).transpose()?;
        let substituted = index.substitute(|variable| match variable {
            Var::Dim(dimension) if Some(dimension) == self.axis => axis.clone(),
            Var::Runtime(number) => Some(Expr::runtime(own(number).unwrap_or_else(|| self.runtime(number, lane)))),
            Var::Dim(_) | Var::Range(_) => None,
        })?;
        Ok(known.simplified(&substituted))
    }

    /// An index in all lanes.
    pub(super) fn stepped(&self, index: &Expr, known: &Known) -> Result<Stepped, Error> {
        let varies = index.find_variable(&mut |variable| match variable {
            Var::Dim(dimension) => Some(dimension) == self.axis,
            Var::Runtime(number) => self.varying.contains(&number),
            Var::Range(_) => false,
        });
        let none = |_: u32| None;
        let first = self.in_lane(index, 0, &none, known)?;
        if !varies {
            return Ok(Stepped { lanes: vec![first; self.lanes as usize], step: Step::Uniform });
        }
        let mut lanes = vec![first];
        for lane in 1..self.lanes {
            lanes.push(self.in_lane(index, lane, &none, known)?);
        }
        let differences = differences(&lanes, known).unwrap_or_default();
        let all = |by: i64| differences.iter().zip(0..).all(|(difference, lane)| *difference == by * lane);
        let step = match differences.is_empty() {
            true => Step::Other,
            false if all(0) => Step::Uniform,
            false if all(1) && is_multiple(&lanes[0], i64::from(self.lanes), known) => Step::Advancing,
            false if all(1) => Step::Shifted,
            false if all(2) => self.half(&lanes[0], known)?.map_or(Step::Other, Step::Halves),
            false => Step::Other,
        };
        Ok(Stepped { lanes, step })
    }

    /// Which halves of elements of two words the lanes are, if they begin at a multiple of twice the lanes.
    fn half(&self, first: &Expr, known: &Known) -> Result<Option<u32>, Error> {
        let whole = 2 * i64::from(self.lanes);
        for half in [0, 1] {
            if is_multiple(&first.checked_add_constant(-i64::from(half))?, whole, known) {
                return Ok(Some(half));
            }
        }
        Ok(None)
    }

    /// When a conjunction holds.
    pub(super) fn test(&self, constraints: &[Constraint], known: &Known) -> Result<Test, Error> {
        let mut tested = Vec::with_capacity(constraints.len());
        let mut is_uniform = true;
        for Constraint { expr, bounds } in constraints {
            let Stepped { lanes, step } = self.stepped(expr, known)?;
            let word = i64::from(self.lanes);
            let range = known.range(&lanes[0]);
            match (step, differences(&lanes, known)) {
                (Step::Uniform, _) => tested.push(Constraint { expr: lanes[0].clone(), bounds: *bounds }),
                (_, Some(differences)) => {
                    let whole = |bound: i64| bound.rem_euclid(word) == 0;
                    let begins = whole(bounds.lo) || bounds.lo <= range.lo;
                    let ends =
                        bounds.hi.checked_add(1).is_some_and(whole) || bounds.hi >= range.hi.saturating_add(word);
                    is_uniform &= step == Step::Advancing && begins && ends;
                    let least = differences.iter().copied().min().unwrap_or(0);
                    let most = differences.iter().copied().max().unwrap_or(0);
                    let bounds = Interval { lo: bounds.lo.saturating_sub(least), hi: bounds.hi.saturating_sub(most) };
                    tested.push(Constraint { expr: lanes[0].clone(), bounds });
                }
                (_, None) => {
                    is_uniform = false;
                    tested.extend(lanes.into_iter().map(|expr| Constraint { expr, bounds: *bounds }));
                }
            }
        }
        let tested = tested.into_iter().map(divided).collect();
        Ok(if is_uniform { Test::Uniform(tested) } else { Test::Split(tested) })
    }

    /// Where a conjunction holds, lane by lane, if the lanes are apart by constants.
    pub(super) fn selection(&self, constraints: &[Constraint], known: &Known) -> Result<Option<Selection>, Error> {
        let mut selection = Selection { any: Vec::new(), lanes: vec![Vec::new(); self.lanes as usize] };
        for Constraint { expr, bounds } in constraints {
            let Stepped { lanes, .. } = self.stepped(expr, known)?;
            let Some(differences) = differences(&lanes, known) else { return Ok(None) };
            let from_first = |more: i64, less: i64| Constraint {
                expr: lanes[0].clone(),
                bounds: Interval { lo: bounds.lo.saturating_sub(more), hi: bounds.hi.saturating_sub(less) },
            };
            let least = differences.iter().copied().min().unwrap_or(0);
            let most = differences.iter().copied().max().unwrap_or(0);
            selection.any.push(divided(from_first(most, least)));
            for (own, lane) in selection.lanes.iter_mut().zip(&differences) {
                own.push(divided(from_first(*lane, *lane)));
            }
        }
        Ok(Some(selection))
    }
}

/// By how much each lane's index is more than the first's, if these are constants.
fn differences(lanes: &[Expr], known: &Known) -> Option<Vec<i64>> {
    let difference = |lane: &Expr| {
        let difference = lane.checked_sub(&lanes[0]).ok()?;
        difference.as_constant().or_else(|| known.simplified(&difference).as_constant())
    };
    lanes.iter().map(difference).collect()
}

/// The same constraint without what all coefficients have in common: `4 * d0 in [0, 98]` is `d0 in [0, 24]`.
pub(super) fn divided(constraint: Constraint) -> Constraint {
    let Constraint { expr, bounds } = &constraint;
    let common = expr.terms().iter().fold(0, |common, term| gcd(common, term.coefficient));
    if common <= 1 {
        return constraint;
    }
    let constant = expr.constant_term();
    let divided = |term: &Term| Term { coefficient: term.coefficient / common, atom: term.atom.clone() };
    let rest = Expr::sum(0, expr.terms().iter().map(divided));
    let (Ok(rest), Some(lo), Some(hi)) = (rest, bounds.lo.checked_sub(constant), bounds.hi.checked_sub(constant))
    else {
        return constraint;
    };
    let bounds =
        Interval { lo: lo.div_euclid(common) + i64::from(lo.rem_euclid(common) != 0), hi: hi.div_euclid(common) };
    Constraint { expr: rest, bounds }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.saturating_abs()
}
