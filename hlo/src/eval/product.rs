//! Sums of products, on which dot products and convolutions are built.
//!
//! Each row of a result is a sum of rows of a right-hand matrix, each times a factor; which rows and which factors is
//! what the operations differ in. Products are added one after the other, in the order in which the factors are given,
//! in the [accumulator] of the element types: a float narrower than `f32` is computed with in `f32`, an integer modulo
//! 2^64, of which every integer type keeps the lowest bits. Factors of mixed types, an integer and a float say, become
//! numbers of the accumulator first. The sum is rounded once.

use super::movement::{Walk, extents, row_major_strides};
use super::scalar::{Element, Form, Held, Number, elements_of};
use super::work::{PIECE, Stop, Work, elements};
use crate::ir::{ArrayShape, Data, ElementType};
use num_complex::Complex;

/// Columns that are summed together, so that a right-hand row is read in one go.
const COLUMNS: usize = 1 << 10;

/// A type that products are added up in.
pub(super) trait Accumulator: Element + Held {
    /// `self + a * b`.
    fn plus_product(self, a: Self, b: Self) -> Self;
}

macro_rules! accumulators {
    ($($native:ty, |$sum:ident, $a:ident, $b:ident| $value:expr;)*) => {$(
        impl Accumulator for $native {
            #[inline]
            fn plus_product(self, $a: Self, $b: Self) -> Self {
                let $sum = self;
                $value
            }
        }
    )*};
}

accumulators! {
    i64, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    f32, |sum, a, b| sum + a * b;
    f64, |sum, a, b| sum + a * b;
    Complex<f32>, |sum, a, b| sum + a * b;
    Complex<f64>, |sum, a, b| sum + a * b;
}

/// The type that products of elements of two types are added up in for a result of a third, which holds numbers of the
/// kinds of both.
pub(super) fn accumulator(types: [ElementType; 3]) -> ElementType {
    let is_wide = types.iter().any(|element_type| matches!(element_type, ElementType::F64 | ElementType::C128));
    match (types[2].is_complex(), types[2].is_float(), is_wide) {
        (true, _, false) => ElementType::C64,
        (true, _, true) => ElementType::C128,
        (_, true, false) => ElementType::F32,
        (_, true, true) => ElementType::F64,
        (false, false, _) => ElementType::S64,
    }
}

/// `$body` with `$A` for the native type of the [`accumulator`] of three element types.
macro_rules! accumulated {
    ($types:expr, $A:ident => $body:expr) => {
        $crate::eval::product::accumulated!(@ $types, $A, $body;
            F32 f32, F64 f64, C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>; i64)
    };
    (@ $types:expr, $A:ident, $body:expr; $($variant:ident $native:ty),*; $integer:ty) => {
        match $crate::eval::product::accumulator($types) {
            $($crate::ir::ElementType::$variant => {
                type $A = $native;
                $body
            })*
            _ => {
                type $A = $integer;
                $body
            }
        }
    };
}

pub(super) use accumulated;

/// What reads the element of a type at a position as a number.
pub(super) fn reader(element_type: ElementType) -> impl Fn(&Data, usize) -> Number + Copy + Send + Sync {
    let form = Form::of(element_type);
    let read: fn(&Data, usize, Form) -> Number =
        elements_of!(element_type, T => |data, position, form| elements::<T>(data)[position].value(form));
    move |data, position| read(data, position, form)
}

/// An array of `count` elements of a type, each the nearest to the number for its position.
pub(super) fn rounded(
    work: &Work,
    element_type: ElementType,
    count: usize,
    number: &(dyn Fn(usize) -> Number + Sync),
) -> Result<Data, Stop> {
    elements_of!(element_type, T => {
        let form = Form::of(element_type);
        let values = work.fill(count, |start, values: &mut [T]| {
            for (offset, value) in values.iter_mut().enumerate() {
                *value = T::nearest(number(start + offset), form);
            }
        })?;
        Ok(T::array(values, element_type))
    })
}

/// Zeros of a type: sums of nothing.
pub(super) fn zeros(work: &Work, shape: &ArrayShape) -> Result<Data, Stop> {
    rounded(work, shape.element_type, extents(shape).iter().product(), &|_| Number::Integer(0))
}

/// Some dimensions of an array, in an order of their own, and how far apart neighbours along each of them lie.
pub(super) struct Axes {
    pub(super) extents: Vec<usize>,
    pub(super) strides: Vec<isize>,
}

impl Axes {
    /// Dimensions of an array that has elements.
    pub(super) fn new(shape: &ArrayShape, dimensions: &[usize]) -> Self {
        let (extents, strides) = (extents(shape), row_major_strides(&extents(shape)));
        Axes {
            extents: dimensions.iter().map(|&dimension| extents[dimension]).collect(),
            strides: dimensions.iter().map(|&dimension| strides[dimension]).collect(),
        }
    }

    /// The same dimensions in an array in which neighbours lie as far apart as `stride` says.
    pub(super) fn restrided(&self, stride: impl Fn(usize) -> isize) -> Self {
        Axes { extents: self.extents.clone(), strides: (0..self.extents.len()).map(stride).collect() }
    }

    /// How many indices there are.
    pub(super) fn count(&self) -> usize {
        self.extents.iter().product()
    }

    /// The positions from `base` on, in row-major order of the indices.
    pub(super) fn walk(&self, base: usize) -> Walk<'_> {
        Walk::new(&self.extents, &self.strides, base as isize, 0)
    }

    /// The positions from that of the index with a row-major number on.
    pub(super) fn walk_from(&self, number: usize) -> Walk<'_> {
        Walk::new(&self.extents, &self.strides, 0, number)
    }

    /// The position of the index with a row-major number.
    pub(super) fn position(&self, number: usize) -> usize {
        self.walk_from(number).step()
    }

    /// The elements at all positions from `base` on.
    pub(super) fn read<A: Accumulator>(
        &self,
        work: &Work,
        data: &Data,
        element_type: ElementType,
        base: isize,
    ) -> Result<Vec<A>, Stop> {
        let read = reader(element_type);
        work.fill(self.count(), |start, values| {
            let mut walk = Walk::new(&self.extents, &self.strides, base, start);
            for value in values {
                *value = A::of(read(data, walk.step()));
            }
        })
    }
}

/// A term of a sum of rows: which row of the right-hand matrix, and what it is multiplied by.
pub(super) type Term<A> = (usize, A);

/// The sums that make up a result of `rows` rows.
pub(super) struct Sums {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// How many terms a row has, about; memory is set aside for as many.
    pub(super) terms: usize,
}

impl Sums {
    /// The sums, row after row. `terms` adds the terms of a row to an empty list.
    pub(super) fn compute<A: Accumulator>(
        &self,
        work: &Work,
        right: &[A],
        terms: &(dyn Fn(usize, &mut Vec<Term<A>>) + Sync),
    ) -> Result<Vec<A>, Stop> {
        work.try_fill_by(self.rows * self.columns, self.piece(), |start, mut values: &mut [A]| {
            let mut list = Vec::new();
            list.try_reserve_exact(self.terms)?;
            let mut at = start;
            while !values.is_empty() {
                let (row, column) = (at / self.columns, at % self.columns);
                let (part, rest) = values.split_at_mut(values.len().min(self.columns - column));
                list.clear();
                terms(row, &mut list);
                for &(source, factor) in &list {
                    let sources = &right[source * self.columns + column..];
                    for (sum, &element) in part.iter_mut().zip(sources) {
                        *sum = sum.plus_product(factor, element);
                    }
                }
                at += part.len();
                values = rest;
            }
            Ok(())
        })
    }

    /// How many sums one core makes before it takes up the next piece: whole rows, unless they are long.
    fn piece(&self) -> usize {
        let wanted = (PIECE / self.terms.max(1)).max(self.columns.min(COLUMNS)).max(1);
        if wanted > self.columns { wanted / self.columns.max(1) * self.columns.max(1) } else { wanted }
    }
}

/// Sums as elements of a type.
pub(super) fn finish<A: Accumulator>(work: &Work, sums: Vec<A>, element_type: ElementType) -> Result<Data, Stop> {
    if element_type == A::ELEMENT_TYPE {
        return Ok(A::array(sums, element_type));
    }
    rounded(work, element_type, sums.len(), &|position| Element::number(sums[position]))
}

/// The bytes that elements which are being computed with take.
pub(super) fn bytes_of<A>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<A>() as u64)
}
