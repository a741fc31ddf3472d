//! Random cases: forms that index arithmetic is made of, bent a little, over domains of every kind.

use weft_affine::{Constraint, Expr, Interval, Var};

use super::case::Case;
use super::random::Random;

/// Divisors of shapes, and a few that divide nothing.
const DIVISORS: [i64; 18] = [2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 24, 32, 97, 1];
const HUGE: [i64; 8] =
    [i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 1 << 62, -(1 << 61), 1_000_000_000_000_000_003, 1 << 40];

/// The case of a number. Cases without constraints and with them are two series.
pub(crate) fn case(number: u64, constrained: bool) -> Case {
    let mut random = Random::new(number * 2 + u64::from(constrained));
    let mut variables = variables(&mut random);
    let anchor: Vec<i64> = variables.iter().map(|(_, b)| random.between(b.lo, b.hi)).collect();
    let mut made = Maker { random: &mut random, variables: &variables, anchor: &anchor, parts: Vec::new() };
    let exprs: Vec<Expr> = (0..3).map(|_| made.expression()).collect();
    let constraints = if constrained { made.constraints() } else { Vec::new() };
    if random.chance(7) {
        let i = random.below(variables.len());
        variables[i].1 = random.pick(&[Interval::EMPTY, Interval::new(5, 3), Interval::new(i64::MAX, i64::MIN)]);
    }
    Case { variables, constraints, exprs, anchor, omits_unbounded: random.chance(50) }
}

/// One to three variables of all kinds, numbered within their kind.
fn variables(random: &mut Random) -> Vec<(Var, Interval)> {
    let count = random.pick(&[1, 2, 2, 3, 3]);
    let most = [200, 20, 7][count - 1];
    let mut of_kind = [0, 0, 0];
    let mut list: Vec<(Var, Interval)> = (0..count)
        .map(|_| {
            let kind = random.pick(&[0, 0, 0, 1, 2]);
            of_kind[kind] += 1;
            let v = [Var::Dim, Var::Range, Var::Runtime][kind](of_kind[kind] - 1);
            (v, bounds(random, most))
        })
        .collect();
    list.sort_by_key(|(v, _)| *v);
    list
}

fn bounds(random: &mut Random, most: i64) -> Interval {
    let width = random.pick(&[0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 100, 200]).min(most) - random.between(0, 1);
    let width = width.max(0);
    match random.below(100) {
        0..50 => Interval::new(0, width),
        50..70 => {
            let lo = -random.between(1, 40);
            Interval::new(lo, lo + width)
        }
        70..82 => {
            let lo = random.between(1, 40);
            Interval::new(lo, lo + width)
        }
        82..87 => {
            let hi = i64::MAX - 1 - random.between(0, 3);
            Interval::new(hi - width, hi)
        }
        87..92 => {
            let lo = i64::MIN + 1 + random.between(0, 3);
            Interval::new(lo, lo + width)
        }
        92..95 => Interval::new(random.pick(&[0, -(1 << 62), i64::MIN + 1]), random.pick(&[1 << 62, i64::MAX - 1])),
        95..97 => Interval::EVERYTHING,
        97 => Interval::new(random.between(-9, 9), i64::MAX),
        98 => Interval::new(i64::MIN, random.between(-9, 9)),
        _ => Interval::new(0, 1 << 40),
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    variables: &'a [(Var, Interval)],
    anchor: &'a [i64],
    /// What was divided or bounded so far: facts are of use where they are about parts of the expressions, and where several
    /// are about one.
    parts: Vec<Expr>,
}

impl Maker<'_> {
    /// An expression of up to four operations within one another.
    fn expression(&mut self) -> Expr {
        let depth = self.random.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
        self.sum(depth)
    }

    /// A sum with an atom of the given depth. What would overflow is left out.
    fn sum(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.linear();
        }
        let argument = self.sum(depth - 1);
        self.parts.push(argument.clone());
        let c = self.divisor();
        let (quotient, remainder) = (self.quotient(&argument, c), self.remainder(&argument, c));
        let a = self.factor();
        let mut sum = match self.random.below(10) {
            // A digit taken out of a flat index, and put together again with its neighbor.
            0 | 1 => {
                let low = self.divisor();
                let digit = self.quotient(&argument, low);
                let joined = self.remainder(&digit, c);
                let tail = self.remainder(&argument, low);
                plus(&times(&joined, low), &tail, 1)
            }
            // Quotient and remainder of one argument, rightly weighted or nearly.
            2 | 3 => {
                let weight = if self.random.chance(70) { c } else { self.factor() };
                plus(&times(&quotient, weight), &remainder, 1)
            }
            4..=6 => quotient,
            _ => remainder,
        };
        sum = times(&sum, a);
        if self.random.chance(45) {
            let other_depth = self.random.below(depth);
            let other = self.sum(other_depth);
            let b = self.factor();
            sum = plus(&sum, &other, b);
        }
        if self.random.chance(15) {
            let b = self.factor();
            sum = plus(&sum, &argument, b);
        }
        sum
    }

    /// A flat index, a reversed variable, or any sum of variables.
    fn linear(&mut self) -> Expr {
        if self.random.chance(35) { self.flat_index() } else { self.any_linear() }
    }

    /// `((d0·n1 + d1)·n2 + d2) + k` for extents `n` that are those of the bounds or close to them.
    fn flat_index(&mut self) -> Expr {
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        self.random.shuffle(&mut order);
        let mut flat = Expr::constant(0);
        for i in order {
            let (v, bounds) = self.variables[i];
            let extent = i64::try_from(bounds.size()).unwrap_or(8).clamp(1, 1 << 20);
            let near = if self.random.chance(80) { extent } else { self.divisor() };
            let mut own = Expr::var(v);
            if self.random.chance(15) {
                own = own.checked_neg().and_then(|x| x.checked_add_constant(bounds.hi)).unwrap_or(own);
            }
            flat = plus(&times(&flat, near), &own, 1);
        }
        let k = self.random.pick(&[0, 0, 0, 1, -1, 7, -5]);
        plus(&flat, &Expr::constant(k), 1)
    }

    fn any_linear(&mut self) -> Expr {
        let mut sum = Expr::constant(self.constant());
        for _ in 0..self.random.pick(&[1, 1, 2, 2, 3]) {
            let i = self.random.below(self.variables.len());
            let a = self.factor();
            sum = plus(&sum, &Expr::var(self.variables[i].0), a);
        }
        sum
    }

    fn constant(&mut self) -> i64 {
        match self.random.below(100) {
            0..40 => 0,
            40..96 => self.random.between(-40, 40),
            _ => self.random.pick(&HUGE),
        }
    }

    /// Mostly one where variables are so large that any other factor overflows.
    fn factor(&mut self) -> i64 {
        let large = self.anchor.iter().any(|v| v.unsigned_abs() > 1 << 58);
        match self.random.below(100) {
            _ if large && self.random.chance(80) => self.random.pick(&[1, 1, -1]),
            0..45 => 1,
            45..60 => -1,
            60..70 => -self.random.pick(&DIVISORS),
            70..98 => self.random.pick(&DIVISORS),
            _ => self.random.pick(&HUGE),
        }
    }

    fn divisor(&mut self) -> i64 {
        match self.random.below(100) {
            0..20 => {
                let i = self.random.below(self.variables.len());
                i64::try_from(self.variables[i].1.size()).unwrap_or(i64::MAX).max(1)
            }
            20..97 => self.random.pick(&DIVISORS),
            _ => self.random.pick(&HUGE).checked_abs().unwrap_or(i64::MAX),
        }
    }

    /// `x // c`, now and then rounded up or by a negative divisor.
    fn quotient(&mut self, x: &Expr, c: i64) -> Expr {
        let made = match self.random.below(20) {
            0 | 1 => x.checked_floor_div(-c),
            2 => x.checked_ceil_div(c),
            _ => x.checked_floor_div(c),
        };
        made.unwrap_or_else(|_| x.clone())
    }

    fn remainder(&mut self, x: &Expr, c: i64) -> Expr {
        x.checked_modulo(c).unwrap_or_else(|_| x.clone())
    }

    /// One to three facts, most of them true at the anchor.
    fn constraints(&mut self) -> Vec<Constraint> {
        let count = self.random.pick(&[1, 1, 2, 2, 3]);
        let mut list: Vec<Constraint> = (0..count).filter_map(|_| self.constraint()).collect();
        if self.random.chance(12) {
            list.extend(self.contradiction());
            self.random.shuffle(&mut list);
        }
        list
    }

    fn constraint(&mut self) -> Option<Constraint> {
        let linear = self.bounded_part();
        let c = self.divisor();
        let (expr, width) = match self.random.below(100) {
            0..22 => (linear, None),
            22..34 => (linear, Some(0)),
            34..54 => (self.remainder(&linear, c), Some(0)),
            54..72 => (self.remainder(&linear, c), Some(self.random.between(1, c.min(8)))),
            72..88 => (self.quotient(&linear, c), None),
            _ => {
                let depth = self.random.between(1, 2) as usize;
                (self.sum(depth), None)
            }
        };
        let value = self.at_anchor(&expr)?;
        let bounds = match width {
            Some(0) => Interval::point(value),
            Some(width) => {
                let lo = value.saturating_sub(self.random.between(0, width));
                Interval::new(lo, lo.saturating_add(width))
            }
            None => self.around(value),
        };
        Some(Constraint::new(expr, bounds))
    }

    /// A part of what there is, more or less a constant, or a new sum.
    fn bounded_part(&mut self) -> Expr {
        let of_linear = |e: &&Expr| e.is_linear();
        let known: Vec<Expr> = self.parts.iter().filter(of_linear).cloned().collect();
        let part = match self.random.below(100) {
            0..10 if !self.parts.is_empty() => self.parts[self.random.below(self.parts.len())].clone(),
            10..50 if !known.is_empty() => known[self.random.below(known.len())].clone(),
            _ => self.linear(),
        };
        self.parts.push(part.clone());
        let k = self.random.pick(&[0, 0, 0, 1, -3]);
        plus(&part, &Expr::constant(k), 1)
    }

    fn at_anchor(&self, e: &Expr) -> Option<i64> {
        e.evaluate(|v| self.variables.iter().position(|(w, _)| *w == v).map_or(0, |i| self.anchor[i])).ok()
    }

    fn around(&mut self, value: i64) -> Interval {
        let (below, above) = (self.random.between(0, 12), self.random.between(0, 12));
        let (lo, hi) = (value.saturating_sub(below), value.saturating_add(above));
        match self.random.below(10) {
            0 => Interval::new(lo, i64::MAX),
            1 => Interval::new(i64::MIN, hi),
            2 => Interval::new(lo.saturating_sub(1000), hi),
            _ => Interval::new(lo, hi),
        }
    }

    /// Facts that no point satisfies, or next to none.
    fn contradiction(&mut self) -> Vec<Constraint> {
        let x = self.linear();
        let Some(value) = self.at_anchor(&x) else { return Vec::new() };
        let class = |c: i64, r: i64| x.checked_modulo(c).ok().map(|e| Constraint::new(e, Interval::point(r)));
        let (c, above) = (self.divisor().clamp(2, 1 << 40), value.saturating_add(1_000_000));
        let between = |lo: i64, hi: i64| Some(Constraint::new(x.clone(), Interval::new(lo, hi)));
        let quotient = x.checked_floor_div(c).ok();
        let made = match self.random.below(7) {
            0 => vec![class(4, 1), class(6, 2)],
            1 => vec![class(c, c)],
            2 => vec![class(c, -1)],
            3 => vec![between(value, value.saturating_add(2)), between(value.saturating_add(3), i64::MAX)],
            4 => vec![between(3, 1)],
            5 => vec![quotient.map(|e| Constraint::new(e, Interval::new(above, above.saturating_add(9))))],
            _ => vec![between(above, above.saturating_add(9))],
        };
        made.into_iter().flatten().collect()
    }
}

/// `a + factor·b`, or `a` where that overflows.
fn plus(a: &Expr, b: &Expr, factor: i64) -> Expr {
    b.checked_mul(factor).and_then(|b| a.checked_add(&b)).unwrap_or_else(|_| a.clone())
}

/// `factor·e`, or `e` where that overflows.
fn times(e: &Expr, factor: i64) -> Expr {
    e.checked_mul(factor).unwrap_or_else(|_| e.clone())
}
