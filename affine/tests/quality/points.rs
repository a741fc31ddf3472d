//! The points of a case's domain: all of them where that is feasible, and otherwise a fixed sample.

use weft_affine::{Constraint, Expr, Interval, Var};

use super::corpus::Case;

/// A box of at most this many points is walked through.
const MAX_ENUMERATED: u128 = 1 << 17;
/// How many points of a larger domain are looked at.
const SAMPLE: usize = 20_000;
/// How many points of the box are tried for them; constraints refuse some.
const MAX_TRIALS: usize = 4_000_000;
/// Variables without bounds are tried between these.
const WINDOW: Interval = Interval { lo: -1_000_000, hi: 1_000_000 };

/// Points of a domain; each has one value for each variable of the case.
pub(crate) struct Points {
    variables: Vec<Var>,
    pub(crate) points: Vec<Vec<i64>>,
    /// True when these are all the points there are.
    pub(crate) complete: bool,
}

impl Points {
    /// The points of the domain, or a sample with its corners; the same at every call.
    pub(crate) fn of(case: &Case) -> Points {
        let (variables, bounds): (Vec<Var>, Vec<Interval>) = case.variables().into_iter().unzip();
        let size = bounds.iter().try_fold(1u128, |product, i| product.checked_mul(i.size()));
        let complete = size.is_some_and(|size| size <= MAX_ENUMERATED);
        let mut points = Points { variables, points: Vec::new(), complete };
        if complete {
            points.walk(case, &bounds);
        } else {
            points.sample(case, &bounds);
        }
        points
    }

    /// The value of each variable at a point, to evaluate an expression with.
    pub(crate) fn value<'a>(&'a self, point: &'a [i64]) -> impl Fn(Var) -> i64 + 'a {
        move |v| self.variables.iter().position(|w| *w == v).map_or(0, |i| point[i])
    }

    /// The first point where the expressions differ or one of them overflows.
    pub(crate) fn first_difference(&self, a: &Expr, b: &Expr) -> Option<&[i64]> {
        let differ = |p: &&Vec<i64>| match (a.evaluate(self.value(p)), b.evaluate(self.value(p))) {
            (Ok(x), Ok(y)) => x != y,
            _ => true,
        };
        self.points.iter().find(differ).map(Vec::as_slice)
    }

    /// What the last field of a case says of a comparison on these points.
    pub(crate) fn note(&self) -> String {
        format!("{} {}", if self.complete { "all" } else { "sampled" }, self.points.len())
    }

    fn accept(&mut self, case: &Case, point: &[i64]) {
        let holds = |c: &Constraint| c.expr.evaluate(self.value(point)).is_ok_and(|v| c.bounds.contains(v));
        if case.constraints.iter().all(holds) {
            self.points.push(point.to_vec());
        }
    }

    fn walk(&mut self, case: &Case, bounds: &[Interval]) {
        if bounds.iter().any(|i| i.is_empty()) {
            return;
        }
        let mut point: Vec<i64> = bounds.iter().map(|i| i.lo).collect();
        loop {
            self.accept(case, &point);
            let Some(i) = (0..point.len()).rev().find(|i| point[*i] < bounds[*i].hi) else { return };
            point[i] += 1;
            for j in i + 1..point.len() {
                point[j] = bounds[j].lo;
            }
        }
    }

    fn sample(&mut self, case: &Case, bounds: &[Interval]) {
        let bounds: Vec<Interval> = bounds.iter().map(|i| i.intersect(WINDOW)).collect();
        for corner in 0..1usize << bounds.len().min(10) {
            let ends = bounds.iter().enumerate();
            let point: Vec<i64> = ends.map(|(i, b)| if corner >> i & 1 == 0 { b.lo } else { b.hi }).collect();
            self.accept(case, &point);
        }
        let mut mixed = Mixed(1);
        for _ in 0..MAX_TRIALS {
            if self.points.len() >= SAMPLE {
                return;
            }
            let point: Vec<i64> = bounds.iter().map(|b| mixed.within(*b)).collect();
            self.accept(case, &point);
        }
    }
}

/// A fixed sequence of well mixed numbers (splitmix64).
pub(crate) struct Mixed(pub(crate) u64);

impl Mixed {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        b ^ (b >> 31)
    }

    /// A value of the interval; one in eight lies at each end.
    fn within(&mut self, bounds: Interval) -> i64 {
        match self.next() % 8 {
            0 => bounds.lo,
            1 => bounds.hi,
            _ => bounds.lo + (u128::from(self.next()) % bounds.size()) as i64,
        }
    }
}
