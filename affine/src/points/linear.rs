//! Linear forms of expressions that are linear at every point of their domain.

use super::elimination::{Elimination, PointEquation};
use super::period::Fraction;
use super::program::LANES;
use super::region::Region;
use crate::{Atom, Constraint, Expr, Ranges, Var};

/// The linear expression that equals `e` at every point of the domain, where there is one and trying all points takes at most
/// `work` steps.
///
/// Where constraints leave several, it is a variable or a constant if one of them is.
pub(crate) fn linear_form(e: &Expr, ranges: &Ranges, constraints: &[Constraint], work: u128) -> Option<Expr> {
    let region = Region::of(e, ranges, constraints, |_| true)?;
    if region.work() > work {
        return None;
    }
    let growing = growing_part(&region)?;
    let form = if region.has_facts() { fitted(&region, growing) } else { read_off(&region, growing) }?;
    if is_form(&region, &form) { form.expression(region.variables()) } else { None }
}

/// True when `form`, a sum of variables, was found to equal `e` at every point of the domain, by trying points within `work`
/// steps as [`linear_form`] does. Values of the form may leave `i64` on the way.
pub(crate) fn is_linear_form(e: &Expr, form: &Expr, ranges: &Ranges, constraints: &[Constraint], work: u128) -> bool {
    let Some(region) = Region::of(e, ranges, constraints, |_| true).filter(|region| region.work() <= work) else {
        return false;
    };
    let mut factors = vec![0; region.variables().len()];
    for term in form.terms() {
        let Atom::Var(v) = &term.atom else { return false };
        let Ok(i) = region.variables().binary_search(v) else { return false };
        factors[i] = term.coefficient;
    }
    is_form(&region, &Form { constant: form.constant_term(), factors })
}

/// Whether the form has the values of the expression of the region.
fn is_form(region: &Region, form: &Form) -> bool {
    let agrees = |point: &[i64], value: i64| form.at(point) == Some(i128::from(value));
    // What is tried is one period, so beyond it the form must grow as the expression does.
    let grows_alike = (0..region.variables().len())
        .all(|i| region.growth(i).is_none_or(|growth| growth.as_whole() == form.factors.get(i).copied()));
    grows_alike && region.try_some(agrees) && region.try_all(agrees)
}

/// Of variables of which one period is tried, the factor can only be that with which the expression grows.
fn growing_part(region: &Region) -> Option<Form> {
    let factor = |i: usize| region.growth(i).map_or(Some(0), Fraction::as_whole);
    let factors = (0..region.variables().len()).map(factor).collect::<Option<_>>()?;
    Some(Form { constant: 0, factors })
}

/// A constant and a factor for each variable.
struct Form {
    constant: i64,
    factors: Vec<i64>,
}

impl Form {
    fn at(&self, point: &[i64]) -> Option<i128> {
        let mut products = self.factors.iter().zip(point).map(|(a, v)| i128::from(*a).checked_mul(i128::from(*v)));
        products.try_fold(i128::from(self.constant), |sum, product| sum.checked_add(product?))
    }

    fn expression(&self, variables: &[Var]) -> Option<Expr> {
        let mut e = Expr::constant(self.constant);
        for (v, a) in variables.iter().zip(&self.factors) {
            e = e.checked_add_scaled(&Expr::var(*v), *a).ok()?;
        }
        Some(e)
    }
}

/// `growing` and the only form of the other variables that the corner of the region and its neighbours allow.
fn read_off(region: &Region, growing: Form) -> Option<Form> {
    let corner: Vec<i64> = region.bounds().iter().map(|b| b.lo).collect();
    if corner.len() >= LANES {
        return None;
    }
    // Lane 0 is the corner, lane i + 1 its neighbour along variable i.
    let rows = region.bounds().iter().enumerate().map(|(i, b)| {
        let mut row = [b.lo; LANES];
        row[i + 1] = b.lo.saturating_add(1).min(b.hi);
        row
    });
    let mut values = Vec::with_capacity(corner.len() + 1);
    region.try_points(rows.collect(), corner.len() + 1, |_, value| {
        values.push(value);
        true
    });
    let (first, others) = values.split_first()?;
    let mut form = growing;
    for (i, value) in others.iter().enumerate().filter(|(i, _)| region.growth(*i).is_none()) {
        form.factors[i] = value.checked_sub(*first)?;
    }
    form.constant = i64::try_from(i128::from(*first).checked_sub(form.at(&corner)?)?).ok()?;
    Some(form)
}

/// `growing` and a form of the other variables through as many points of the domain as determine it.
fn fitted(region: &Region, growing: Form) -> Option<Form> {
    let count = region.variables().len();
    let mut elimination = Elimination::new(count);
    let mut said: Vec<(Vec<i64>, i64)> = Vec::new();
    let mut contradicts = false;
    region.try_all(|point, value| {
        let others: Vec<i64> = (0..count).map(|i| if region.growth(i).is_none() { point[i] } else { 0 }).collect();
        let rest = growing.at(point).and_then(|known| i64::try_from(i128::from(value) - known).ok());
        match rest.map(|rest| elimination.add(&others, rest)) {
            Some(PointEquation::Dependent) => {}
            Some(PointEquation::Independent) => said.push((point.to_vec(), value)),
            None | Some(PointEquation::Contradiction) => contradicts = true,
        }
        !contradicts && !elimination.is_complete()
    });
    if contradicts || said.is_empty() {
        return None;
    }
    // What agrees at the points that determine the form agrees with it everywhere.
    let agrees = |i: usize| said.iter().all(|(point, value)| point.get(i) == Some(value));
    let grows = |i: usize| (0..count).all(|j| region.growth(j).is_none() || growing.factors[j] == i64::from(i == j));
    if let Some(i) = (0..count).find(|i| agrees(*i) && grows(*i)) {
        return Some(Form { constant: 0, factors: (0..count).map(|j| i64::from(i == j)).collect() });
    }
    let (constant, factors) = elimination.solution()?;
    let mut form = Form { constant, ..growing };
    for (i, factor) in factors.into_iter().enumerate().filter(|(i, _)| region.growth(*i).is_none()) {
        form.factors[i] = factor;
    }
    Some(form)
}
