//! Random maps with their meaning: the pairs of an index and an element that each relates, given values of every owner
//! of runtime variables.

use crate::support::random::Random;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, OutOfBounds, Owner, RuntimeVariable, Variable};

/// The size of the box of all variables that are enumerated.
const MAX_POINTS: u128 = 600;

/// What the owners of runtime values yield, by owner and element.
#[derive(Copy, Clone)]
pub(crate) struct World {
    seed: u64,
    /// `(a, b, c)` where owner 1 yields `b` and `a * (x floordiv c)` of each coordinate `x`.
    lines: Option<(i64, i64, i64)>,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        World { seed, lines: None }
    }

    pub(crate) fn with_lines(self, a: i64, b: i64, c: i64) -> World {
        World { lines: Some((a, b, c)), ..self }
    }

    fn value(self, owner: Owner, element: &[i64]) -> i64 {
        if let (Some((a, b, c)), Owner(1)) = (self.lines, owner) {
            let line = |x: &i64| i128::from(a) * i128::from(x.div_euclid(c));
            let exact = element.iter().map(line).fold(i128::from(b), |sum, x| sum + x);
            return exact.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        }
        let seed = element.iter().fold(self.seed ^ (owner.0 << 32), |h, e| Random::new(h ^ (*e as u64)).bits());
        Random::new(seed).between(-3, 9)
    }
}

/// A dimension index, the values of the range variables, and the element related to it there.
pub(crate) type Related = (Vec<i64>, Vec<i64>, Vec<i64>);

/// All that the map relates in this world, by enumeration; nothing where a number leaves `i64` at some point of the box.
pub(crate) fn related(map: &IndexingMap, world: World) -> Option<Vec<Related>> {
    let ranges = map.variable_ranges();
    let mut found = Vec::new();
    let all = ranges.runtime.iter().all(|b| !b.is_empty());
    if map.is_known_empty() || map.is_undefined() || !all {
        return Some(found);
    }
    let bounds: Vec<Interval> = [ranges.dims, ranges.ranges].concat();
    for point in points_of(&bounds) {
        let (dims, symbols) = point.split_at(map.dims().len());
        let mut runtime = Vec::new();
        let mut is_dropped = false;
        for variable in map.runtime() {
            let evaluate = |e: &Expr| e.evaluate(|v| value(v, dims, symbols, &runtime)).ok();
            let element: Vec<i64> = variable.access().iter().map(evaluate).collect::<Option<_>>()?;
            let raw = world.value(variable.owner().expect("every variable of these tests has an owner"), &element);
            is_dropped |= variable.out_of_bounds() == OutOfBounds::Drop && !variable.bounds().contains(raw);
            let clamps = variable.out_of_bounds() == OutOfBounds::Clamp;
            runtime.push(if clamps { raw.clamp(variable.bounds().lo, variable.bounds().hi) } else { raw });
        }
        let evaluate = |e: &Expr| e.evaluate(|v| value(v, dims, symbols, &runtime)).ok();
        let mut holds = !is_dropped;
        for constraint in map.constraints() {
            holds &= constraint.bounds.contains(evaluate(&constraint.expr)?);
        }
        if !is_dropped {
            assert_eq!(map.contains(dims, symbols, &runtime), holds, "{map} at {point:?} {runtime:?}");
        }
        let results: Vec<i64> = map.results().iter().map(evaluate).collect::<Option<_>>()?;
        if holds {
            found.push((dims.to_vec(), symbols.to_vec(), results));
        }
    }
    found.sort();
    Some(found)
}

fn value(v: weft_indexing::Var, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> i64 {
    match v {
        weft_indexing::Var::Dim(i) => dims[i as usize],
        weft_indexing::Var::Range(i) => ranges[i as usize],
        weft_indexing::Var::Runtime(i) => runtime[i as usize],
    }
}

fn points_of(bounds: &[Interval]) -> Vec<Vec<i64>> {
    bounds.iter().fold(vec![Vec::new()], |points, b| {
        points.iter().flat_map(|p| (b.lo..=b.hi).map(|v| [p.as_slice(), &[v]].concat())).collect()
    })
}

/// The pairs of an index and an element, each as often as it is related.
pub(crate) fn pairs(related: &[Related]) -> Vec<(Vec<i64>, Vec<i64>)> {
    let mut pairs: Vec<_> = related.iter().map(|(d, _, e)| (d.clone(), e.clone())).collect();
    pairs.sort();
    pairs
}

/// The same, each once.
pub(crate) fn set<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list.dedup();
    list
}

/// A map of so many dimensions and results.
pub(crate) fn map(random: &mut Random, dims: usize, results: usize) -> IndexingMap {
    loop {
        let made = any_map(random, dims, results);
        if made.box_size() <= MAX_POINTS {
            return made;
        }
    }
}

fn any_map(random: &mut Random, dims: usize, results: usize) -> IndexingMap {
    let ranges = random.pick(&[0, 1, 1, 2]);
    let kind = random.below(100);
    let variables = |random: &mut Random, n: usize| (0..n).map(|_| Variable::new(bounds(random, kind))).collect();
    let (dims, ranges): (Vec<Variable>, Vec<Variable>) = (variables(random, dims), variables(random, ranges));
    let mut vars: Vec<Expr> = (0..).map(Expr::dim).take(dims.len()).collect();
    vars.extend((0..).map(Expr::range).take(ranges.len()));
    let mut runtime: Vec<RuntimeVariable> = Vec::new();
    for i in 0..random.pick(&[0, 0, 1, 2]) {
        let access = (0..random.pick(&[0, 0, 1])).map(|_| expression(random, &vars)).collect();
        let bounds = random.pick(&[Interval::new(0, 4), Interval::new(0, 4), Interval::new(-1, 2), Interval::point(3)]);
        let own = RuntimeVariable::of(Owner(random.below(2) as u64), access, bounds);
        runtime.push(if random.chance(40) { own.dropping() } else { own });
        vars.push(Expr::runtime(i));
    }
    let results = (0..results).map(|_| expression(random, &vars)).collect();
    let mut anchor = |b: &Interval| if b.is_empty() { 0 } else { random.between(b.lo, b.hi) };
    let dims_at: Vec<i64> = dims.iter().map(|v| anchor(&v.bounds())).collect();
    let ranges_at: Vec<i64> = ranges.iter().map(|v| anchor(&v.bounds())).collect();
    let runtime_at: Vec<i64> = runtime.iter().map(|v| anchor(&v.bounds())).collect();
    let at = |e: &Expr| e.evaluate(|v| value(v, &dims_at, &ranges_at, &runtime_at)).ok();
    let constraints =
        (0..random.pick(&[0, 0, 1, 1, 2, 3])).map(|_| constraint(random, &vars, ranges.len(), &at)).collect();
    IndexingMap::try_new(dims, ranges, runtime, results, constraints).expect("the parts fit together")
}

/// Bounds of all kinds: from zero, negative, of one value, empty, and near the ends of `i64`.
fn bounds(random: &mut Random, kind: usize) -> Interval {
    let width = random.pick(&[0, 1, 2, 3, 3, 4, 5, 7, 7, 11]);
    match (kind, random.below(100)) {
        (0..6, 0..40) => {
            let hi = i64::MAX - random.between(0, 2);
            Interval::new(hi - width, hi)
        }
        (0..6, 40..60) => {
            let lo = i64::MIN + random.between(0, 2);
            Interval::new(lo, lo + width)
        }
        (6..11, 0..30) => Interval::EMPTY,
        (_, 60..80) => {
            let lo = random.between(-9, 5);
            Interval::new(lo, lo + width)
        }
        _ => Interval::new(0, width),
    }
}

fn sum(random: &mut Random, vars: &[Expr]) -> Expr {
    let mut e = Expr::constant(random.pick(&[0, 0, 0, 1, -1, 3, -7]));
    for _ in 0..random.pick(&[1, 1, 2, 3]) {
        if !vars.is_empty() {
            let v = &vars[random.below(vars.len())];
            e = e.checked_add_scaled(v, random.pick(&[1, 1, 1, -1, 2, 3, 4, 8, -3])).expect("small coefficients");
        }
    }
    e
}

/// Sums, quotients and remainders, up to two deep.
fn expression(random: &mut Random, vars: &[Expr]) -> Expr {
    let part = |random: &mut Random| {
        let e = sum(random, vars);
        match random.below(4) {
            0 => e.floor_div(random.pick(&[2, 3, 4, 6, 8, -2])),
            1 => e.modulo(random.pick(&[2, 3, 4, 6, 8])),
            _ => e,
        }
    };
    let (a, b) = (part(random), part(random));
    match random.below(6) {
        0 => a * random.pick(&[2, 3, 4, -1]) + b,
        1 => (a + b).floor_div(random.pick(&[2, 3, 4])),
        2 => (a * 2 + b).modulo(random.pick(&[2, 3, 4, 6])),
        _ => a,
    }
}

/// A constraint of a common form, that seven in eight times holds at the point that `at` evaluates at.
fn constraint(random: &mut Random, vars: &[Expr], ranges: usize, at: &dyn Fn(&Expr) -> Option<i64>) -> Constraint {
    let range = |random: &mut Random| Expr::range(random.below(ranges) as u32);
    let (e, is_equality) = match random.below(8) {
        0 | 1 if ranges > 0 => {
            let multiple = range(random) * random.pick(&[1, 1, -1, 2]) + random.between(-3, 3);
            (multiple.modulo(random.pick(&[2, 3, 4, 6])), true)
        }
        2 | 3 if ranges > 0 => (range(random) * random.pick(&[1, -1]) + sum(random, vars), true),
        4 => (sum(random, vars), false),
        _ => (expression(random, vars), false),
    };
    let anchored = if random.chance(88) { at(&e) } else { None };
    let value = anchored.unwrap_or_else(|| random.between(-4, 6));
    let (below, above) =
        if is_equality { (0, 0) } else { (random.pick(&[0, 0, 1, 4, 9]), random.pick(&[0, 1, 3, 12])) };
    Constraint::new(e, Interval::new(value.saturating_sub(below), value.saturating_add(above)))
}
