//! A bounded exhaustive search for cheaper forms that knows no rule of the simplifier: it compares values.
//!
//! Every form it tries is a linear form plus up to four fractions (see [`pool`]) of forms built from the numbers of the case, at
//! most two deep. A form is hashed by its values on a sample of the domain such that linear forms hash to zero; the wanted
//! hash less those of some fractions is then looked up in a table of the others, which reaches sums of four with tables of
//! pairs. The linear part that is left is solved for. What is found counts only after comparison on every point at hand.

mod field;
mod pool;
mod realize;

use rustc_hash::FxHashMap;
use weft_affine::{Expr, Var};

use super::corpus::Case;
use super::points::Points;
use field::Residue;
use pool::{Fraction, Numbers};

/// How many points are hashed.
const HASHED: usize = 160;
/// How many fractions with factors are tried as one of two, three and four.
const MAX_SINGLES: usize = 1_000_000;
const MAX_TRIPLES: usize = 6_000;
const MAX_QUADRUPLES: usize = 1_600;
/// How many hits of a level are written out and compared.
const MAX_HITS: usize = 400;

/// The points that are hashed, as one column for each variable.
struct Sample {
    variables: Vec<Var>,
    columns: Vec<Vec<i64>>,
    weights: Vec<Residue>,
    points: usize,
}

impl Sample {
    fn of(case: &Case, points: &Points) -> Sample {
        let step = points.points.len().div_ceil(HASHED).max(1);
        // Evenly spread, each shifted by another part of the step, so that no variable stands still.
        let chosen: Vec<&Vec<i64>> = if points.points.len() <= HASHED {
            points.points.iter().collect()
        } else {
            (0..HASHED).map(|i| &points.points[(i * step + i * 7919 % step) % points.points.len()]).collect()
        };
        let variables: Vec<Var> = case.variables().into_iter().map(|(v, _)| v).collect();
        let columns: Vec<Vec<i64>> =
            (0..variables.len()).map(|i| chosen.iter().map(|point| point[i]).collect()).collect();
        let weights = field::weights(&columns, chosen.len());
        Sample { variables, columns, weights, points: chosen.len() }
    }

    /// The values of a form at the points; none on overflow.
    fn column(&self, e: &Expr) -> Option<Vec<i64>> {
        let place = |v: Var| self.variables.iter().position(|w| *w == v);
        (0..self.points).map(|i| e.evaluate(|v| place(v).map_or(0, |j| self.columns[j][i])).ok()).collect()
    }

    /// The cheapest linear form with these values.
    fn linear(&self, target: &[i64]) -> Option<Expr> {
        let mut best: Option<Expr> = None;
        let mut subsets: Vec<usize> = (0..1usize << self.variables.len().min(8)).collect();
        subsets.sort_by_key(|s| s.count_ones());
        for subset in subsets {
            if best.as_ref().is_some_and(|b| b.cost() <= u64::from(subset.count_ones())) {
                break;
            }
            let picked: Vec<usize> = (0..self.variables.len()).filter(|i| subset >> i & 1 == 1).collect();
            let columns: Vec<&Vec<i64>> = picked.iter().map(|i| &self.columns[*i]).collect();
            let Some((constant, factors)) = field::fit(&columns, target) else { continue };
            let terms = picked.iter().zip(factors);
            let form = terms.fold(Expr::constant(constant), |sum, (i, f)| sum + Expr::var(self.variables[*i]) * f);
            if best.as_ref().is_none_or(|b| form.cost() < b.cost()) {
                best = Some(form);
            }
        }
        best
    }
}

/// Fractions with factors whose sum has the wanted hash.
type Hit = Vec<(usize, i64)>;

/// A form equal to the case's expression on all points and cheaper than both it and the best known form, where the search finds one.
pub(crate) fn search(case: &Case, points: &Points) -> Option<Expr> {
    let sample = Sample::of(case, points);
    let target = sample.column(&case.expr)?;
    let limit = case.best.cost().min(case.expr.cost());
    let mut found = Search { case, points, sample: &sample, target: &target, limit, best: None };
    if let Some(linear) = sample.linear(&target) {
        found.offer(linear);
        return found.best;
    }
    let numbers = Numbers::of(case);
    let wanted = field::hash(&target, &sample.weights);
    let fractions = pool::fractions(&numbers, &sample, wanted == Residue::ZERO);
    found.take(&fractions, ones(&fractions, wanted));
    let entries = entries(&fractions, &numbers.factors());
    if wanted == Residue::ZERO {
        // A multiple of a linear form, but not of one with integer coefficients.
        let flat = entries.iter().filter(|(hash, ..)| *hash == Residue::ZERO);
        found.take(&fractions, flat.map(|(_, i, factor)| vec![(*i, *factor)]).collect());
    }
    let mut table: FxHashMap<Residue, (usize, i64)> = FxHashMap::default();
    for (hash, i, factor) in &entries {
        table.entry(*hash).or_insert((*i, *factor));
    }
    let with = |rest: Residue, hit: &[(usize, i64)]| {
        table.get(&rest).map(|last| hit.iter().copied().chain([*last]).collect::<Hit>())
    };
    if found.limit > 2 * 21 {
        let pairs = entries.iter().filter_map(|(hash, i, f)| with(wanted.minus(*hash), &[(*i, *f)]));
        found.take(&fractions, pairs.collect());
    }
    if found.limit > 3 * 21 {
        let few = &entries[..entries.len().min(MAX_TRIPLES)];
        let triples = few.iter().enumerate().flat_map(|(k, (h, i, f))| {
            let with = &with;
            few[k + 1..].iter().filter_map(move |(g, j, e)| with(wanted.minus(*h).minus(*g), &[(*i, *f), (*j, *e)]))
        });
        found.take(&fractions, triples.take(100_000).collect());
    }
    if found.limit > 4 * 21 {
        let few = &entries[..entries.len().min(MAX_QUADRUPLES)];
        found.take(&fractions, fours(few, wanted));
    }
    found.best
}

/// Single fractions; the factor follows from the hashes.
fn ones(fractions: &[Fraction], wanted: Residue) -> Vec<Hit> {
    let factor = |f: &Fraction| wanted.times(f.hash.inverse()).lift();
    let hits = fractions.iter().enumerate().map(|(i, f)| (i, factor(f)));
    hits.filter(|(_, factor)| (1..1 << 40).contains(&factor.unsigned_abs())).map(|hit| vec![hit]).collect()
}

/// Fractions with factors and the hash of both, cheapest first.
fn entries(fractions: &[Fraction], factors: &[i64]) -> Vec<(Residue, usize, i64)> {
    let all = fractions.iter().enumerate().flat_map(|(i, fraction)| {
        factors.iter().map(move |factor| (fraction.hash.times(Residue::of(*factor)), i, *factor))
    });
    all.take(MAX_SINGLES).collect()
}

fn fours(few: &[(Residue, usize, i64)], wanted: Residue) -> Vec<Hit> {
    let pairs = || few.iter().enumerate().flat_map(|(k, a)| few[k + 1..].iter().map(move |b| (a, b)));
    let mut sums: FxHashMap<Residue, Hit> = FxHashMap::default();
    let mut hits = Vec::new();
    for ((h, i, f), (g, j, e)) in pairs() {
        if let Some(others) = sums.get(&wanted.minus(*h).minus(*g)) {
            hits.push([others.as_slice(), &[(*i, *f), (*j, *e)]].concat());
        }
        sums.entry(h.plus(*g)).or_insert_with(|| vec![(*i, *f), (*j, *e)]);
    }
    hits
}

/// The best form so far, and what a better one has to meet.
struct Search<'a> {
    case: &'a Case,
    points: &'a Points,
    sample: &'a Sample,
    target: &'a [i64],
    /// Forms must cost less than this.
    limit: u64,
    best: Option<Expr>,
}

impl Search<'_> {
    /// Writes out the hits that can be cheaper, cheapest bound first.
    fn take(&mut self, fractions: &[Fraction], hits: Vec<Hit>) {
        let bound = |hit: &Hit| hit.iter().map(|(i, _)| fractions[*i].bound).sum::<u64>();
        let mut hits: Vec<(u64, Hit)> = hits.into_iter().map(|hit| (bound(&hit), hit)).collect();
        hits.retain(|(bound, _)| *bound < self.limit);
        hits.sort();
        for (bound, hit) in hits.into_iter().take(MAX_HITS) {
            if bound < self.limit
                && let Some(form) = self.written(fractions, &hit)
            {
                self.offer(form);
            }
        }
    }

    fn written(&self, fractions: &[Fraction], hit: &Hit) -> Option<Expr> {
        let mut rest = self.target.to_vec();
        for (i, factor) in hit {
            let Fraction { x, modulus, .. } = &fractions[*i];
            for (value, v) in rest.iter_mut().zip(self.sample.column(x)?) {
                *value = value.checked_sub(v.div_euclid(*modulus).checked_mul(*factor)?)?;
            }
        }
        let linear = self.sample.linear(&rest)?;
        let forms = |(i, factor): &(usize, i64)| {
            let Fraction { x, modulus, .. } = &fractions[*i];
            realize::variants(*factor, x, *modulus, &linear)
        };
        let lists: Vec<Vec<Expr>> = hit.iter().map(forms).collect();
        realize::cheapest(&linear, &lists)
    }

    fn offer(&mut self, form: Expr) {
        if form.cost() < self.limit && self.points.first_difference(&self.case.expr, &form).is_none() {
            self.limit = form.cost();
            self.best = Some(form);
        }
    }
}
