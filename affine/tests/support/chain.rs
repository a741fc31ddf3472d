//! Chains of operations that only move elements, as index maps in both directions.

use std::fmt;

use weft_affine::{AffineMap, Constraint, Expr, Interval, Ranges, Simplifier};

use super::random::Random;

/// A tensor's extents.
pub(crate) type Shape = Vec<i64>;

/// One operation; each result element is an element of the operand, and no two are the same.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) operand: Shape,
    pub(crate) result: Shape,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Reshape,
    /// Dimension `i` of the result is dimension `p[i]` of the operand.
    Transpose(Vec<usize>),
    /// The dimensions that run backwards.
    Reverse(Vec<bool>),
    /// The first index and the stride of each dimension.
    Slice(Vec<(i64, i64)>),
}

impl Op {
    pub(crate) fn reshape(operand: Shape, result: Shape) -> Op {
        Op { operand, result, kind: Kind::Reshape }
    }

    pub(crate) fn reverse(operand: Shape, flags: Vec<bool>) -> Op {
        Op { result: operand.clone(), operand, kind: Kind::Reverse(flags) }
    }

    pub(crate) fn transpose(operand: Shape, permutation: Vec<usize>) -> Op {
        let result = permutation.iter().map(|i| operand[*i]).collect();
        Op { operand, result, kind: Kind::Transpose(permutation) }
    }

    /// From the index of a result element to that of the operand's element it is.
    pub(crate) fn to_operand(&self) -> AffineMap {
        let index: Vec<Expr> = (0..).map(Expr::dim).take(self.result.len()).collect();
        let results = match &self.kind {
            Kind::Reshape => reshaped(&index, &self.result, &self.operand),
            Kind::Transpose(p) => {
                (0..p.len()).filter_map(|j| p.iter().position(|i| *i == j)).map(|i| index[i].clone()).collect()
            }
            Kind::Reverse(flags) => reversed(&index, &self.operand, flags),
            Kind::Slice(starts) => index.iter().zip(starts).map(|(x, (start, stride))| x * *stride + *start).collect(),
        };
        map(self.result.len(), results)
    }

    /// From the index of an operand element to that of the result element that it becomes. For a slice, what the map says of
    /// elements that are left out means nothing; see [`Op::domain`].
    pub(crate) fn to_result(&self) -> AffineMap {
        let index: Vec<Expr> = (0..).map(Expr::dim).take(self.operand.len()).collect();
        let results = match &self.kind {
            Kind::Reshape => reshaped(&index, &self.operand, &self.result),
            Kind::Transpose(p) => p.iter().map(|i| index[*i].clone()).collect(),
            Kind::Reverse(flags) => reversed(&index, &self.operand, flags),
            Kind::Slice(starts) => {
                index.iter().zip(starts).map(|(x, (start, stride))| (x - *start).floor_div(*stride)).collect()
            }
        };
        map(self.operand.len(), results)
    }

    /// What holds of the operand's index, given as expressions, where the element is not left out.
    pub(crate) fn domain(&self, index: &[Expr]) -> Vec<Constraint> {
        let Kind::Slice(starts) = &self.kind else { return Vec::new() };
        let mut facts = Vec::new();
        for (i, (start, stride)) in starts.iter().enumerate() {
            let kept = Interval::new(*start, start + stride * (self.result[i] - 1));
            if kept != Interval::of_extent(self.operand[i]) {
                facts.push(Constraint::new(index[i].clone(), kept));
            }
            if *stride > 1 {
                facts.push(Constraint::new((&index[i] - *start).modulo(*stride), Interval::point(0)));
            }
        }
        facts
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.kind {
            Kind::Reshape => "reshape".to_owned(),
            Kind::Transpose(p) => format!("transpose by {p:?}"),
            Kind::Reverse(flags) => format!("reverse {flags:?}"),
            Kind::Slice(starts) => format!("slice of (start, stride) {starts:?}"),
        };
        write!(f, "{name}: {:?} to {:?}", self.operand, self.result)
    }
}

fn map(dims: usize, results: Vec<Expr>) -> AffineMap {
    AffineMap::new(u32::try_from(dims).expect("tensors have few dimensions"), 0, 0, results)
        .expect("the results are over the index alone")
}

/// The flat index by the extents `from`, taken apart by the extents `to`.
fn reshaped(index: &[Expr], from: &[i64], to: &[i64]) -> Vec<Expr> {
    let flat = index.iter().zip(from).fold(Expr::constant(0), |flat, (x, n)| flat * *n + x);
    let mut stride: i64 = to.iter().product();
    let mut results = Vec::new();
    for (i, n) in to.iter().enumerate() {
        stride /= n;
        let quotient = flat.floor_div(stride);
        results.push(if i == 0 { quotient } else { quotient.modulo(*n) });
    }
    results
}

fn reversed(index: &[Expr], extents: &[i64], flags: &[bool]) -> Vec<Expr> {
    let turned = |((x, n), flag): ((&Expr, &i64), &bool)| if *flag { -x + (n - 1) } else { x.clone() };
    index.iter().zip(extents).zip(flags).map(turned).collect()
}

/// Ranges of the index of a tensor.
pub(crate) fn index_ranges(shape: &[i64]) -> Ranges {
    Ranges::of_dims(shape.iter().map(|n| Interval::of_extent(*n)))
}

/// Every result simplified, all with one simplifier.
pub(crate) fn simplified(simplifier: &mut Simplifier, map: &AffineMap) -> AffineMap {
    map.map_results(|e| simplifier.simplify(e)).expect("simplification brings in no variables")
}

/// A chain of `length` random operations on a tensor of `elements` elements.
pub(crate) fn chain(random: &mut Random, elements: i64, length: usize, slices: bool) -> Vec<Op> {
    let mut shape = shape(random, elements);
    let mut ops: Vec<Op> = Vec::new();
    for _ in 0..length {
        let op = operation(random, shape, slices);
        shape = op.result.clone();
        ops.push(op);
    }
    ops
}

fn operation(random: &mut Random, operand: Shape, slices: bool) -> Op {
    match random.below(if slices { 13 } else { 10 }) {
        0..5 => {
            let result = shape(random, operand.iter().product());
            Op::reshape(operand, result)
        }
        5..8 => {
            let mut permutation: Vec<usize> = (0..operand.len()).collect();
            random.shuffle(&mut permutation);
            Op::transpose(operand, permutation)
        }
        8..10 => {
            let flags = operand.iter().map(|_| random.chance(50)).collect();
            Op { result: operand.clone(), operand, kind: Kind::Reverse(flags) }
        }
        _ => slice(random, operand),
    }
}

/// A slice that keeps a divisor of as many elements in each dimension as it can, so that reshapes stay interesting.
fn slice(random: &mut Random, operand: Shape) -> Op {
    let mut starts = Vec::new();
    let mut result = Vec::new();
    for n in &operand {
        let stride = random.pick(&[1, 1, 2, 2, 3, 4]).min(*n);
        let count = random.between((n / stride / 2).max(1), n / stride);
        let start = random.between(0, n - 1 - stride * (count - 1));
        starts.push((start, stride));
        result.push(count);
    }
    Op { operand, result, kind: Kind::Slice(starts) }
}

/// A random way to write a number as a product of up to five factors, ones included now and then.
pub(crate) fn shape(random: &mut Random, elements: i64) -> Shape {
    let rank = random.pick(&[1, 2, 2, 3, 3, 3, 4, 4, 5]);
    let mut extents = vec![1; rank];
    let mut rest = elements;
    let mut prime = 2;
    while rest > 1 {
        if rest % prime == 0 {
            rest /= prime;
            extents[random.below(rank)] *= prime;
        } else {
            prime += 1;
        }
    }
    extents.retain(|n| *n > 1);
    if extents.is_empty() || random.chance(10) {
        extents.insert(random.below(extents.len() + 1), 1);
    }
    extents
}
