//! Operations that work element by element, on arrays.

use super::call::Call;
use super::region::{Action, of};
use super::scalar::{Binary, ComplexNumber, Element, Float, elements_of, hypot};
use super::work::{Stop, Work};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, Data, ElementType, NativeType, Scalar, UnaryOp};
use num_complex::Complex;

const DEFINED: &str = "the verifier has seen to it that the operation is defined for its operands";

pub(super) fn unary(call: &Call<'_, '_>, op: UnaryOp) -> Result<Data, Stop> {
    let (work, operand) = (call.work(), call.data(0));
    match (op, operand) {
        (UnaryOp::IsFinite, _) => elements_of!(call.shape(0).element_type, T => {
            let values = call.elements::<T>(0);
            Ok(work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = is_finite(a)))?.into())
        }),
        (UnaryOp::Abs, Data::C64(values)) => magnitude(work, values),
        (UnaryOp::Abs, Data::C128(values)) => magnitude(work, values),
        _ => elements_of!(call.shape(0).element_type, T => {
            let function = T::unary(op).expect(DEFINED);
            Ok(work.map(call.elements::<T>(0), |a, results| function.many(a, results))?.into())
        }),
    }
}

/// The same for one element.
pub(super) fn unary_of_one(op: UnaryOp, element_type: ElementType) -> Option<Action> {
    match (op, element_type) {
        (UnaryOp::IsFinite, _) => elements_of!(element_type, T => {
            Some(Box::new(|a| Scalar::Pred(is_finite(of::<T>(a[0])))))
        }),
        (UnaryOp::Abs, ElementType::C64) => Some(Box::new(|a| length(of::<Complex<f32>>(a[0])).scalar())),
        (UnaryOp::Abs, ElementType::C128) => Some(Box::new(|a| length(of::<Complex<f64>>(a[0])).scalar())),
        _ => elements_of!(element_type, T => {
            let f = T::unary(op)?;
            Some(Box::new(move |a| f.one(of::<T>(a[0])).scalar()))
        }),
    }
}

fn is_finite<T: Element>(a: T) -> bool {
    match a.number() {
        super::scalar::Number::Real(value) => value.is_finite(),
        _ => true,
    }
}

fn length<T: ComplexNumber>(z: T) -> T::Part {
    let z = z.wide();
    T::Part::round(hypot(z.re, z.im))
}

fn magnitude<T: ComplexNumber>(work: &Work, values: &[T]) -> Result<Data, Stop>
where
    Vec<T::Part>: Into<Data>,
{
    Ok(work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = length(a)))?.into())
}

pub(super) fn binary(call: &Call<'_, '_>, op: BinaryOp) -> Result<Data, Stop> {
    elements_of!(call.shape(0).element_type, T => {
        pairs(call, T::binary(op).expect(DEFINED))
    })
}

pub(super) fn compare(
    call: &Call<'_, '_>,
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
) -> Result<Data, Stop> {
    elements_of!(call.shape(0).element_type, T => {
        pairs(call, T::relation(direction, order).expect(DEFINED))
    })
}

fn pairs<T: Element, R: NativeType + Default>(call: &Call<'_, '_>, function: Binary<T, R>) -> Result<Data, Stop>
where
    Vec<R>: Into<Data>,
{
    let (a, b) = (call.elements::<T>(0), call.elements::<T>(1));
    Ok(call.work().fill(a.len(), |start, values| function.many(&a[start..], &b[start..], values))?.into())
}

pub(super) fn select(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let condition = call.elements::<bool>(0);
    elements_of!(call.result().element_type, T => {
        let (a, b) = (call.elements::<T>(1), call.elements::<T>(2));
        Ok(call.work().fill(a.len(), |start, values| {
            for (offset, value) in values.iter_mut().enumerate() {
                let position = start + offset;
                *value = if at(condition, position) { a[position] } else { b[position] };
            }
        })?.into())
    })
}

/// `min(max(low, a), high)`: where the bounds cross, the upper one wins.
pub(super) fn clamp(call: &Call<'_, '_>) -> Result<Data, Stop> {
    elements_of!(call.result().element_type, T => {
        let max = T::binary(BinaryOp::Maximum).expect(DEFINED);
        let min = T::binary(BinaryOp::Minimum).expect(DEFINED);
        let (low, a, high) = (call.elements::<T>(0), call.elements::<T>(1), call.elements::<T>(2));
        Ok(call.work().fill(a.len(), |start, values| {
            for (offset, value) in values.iter_mut().enumerate() {
                let position = start + offset;
                *value = min.one(max.one(at(low, position), a[position]), at(high, position));
            }
        })?.into())
    })
}

/// The element at `position` of an array, or of a scalar that stands for one.
fn at<T: Copy>(values: &[T], position: usize) -> T {
    if values.len() == 1 { values[0] } else { values[position] }
}

pub(super) fn complex(call: &Call<'_, '_>) -> Result<Data, Stop> {
    match (call.data(0), call.data(1)) {
        (Data::F32(re), Data::F32(im)) => joined(call.work(), re, im),
        (Data::F64(re), Data::F64(im)) => joined(call.work(), re, im),
        _ => unreachable!("{DEFINED}"),
    }
}

fn joined<F: Float>(work: &Work, re: &[F], im: &[F]) -> Result<Data, Stop>
where
    Complex<F>: Element,
    Vec<Complex<F>>: Into<Data>,
{
    Ok(work
        .fill(re.len(), |start, values: &mut [Complex<F>]| {
            for (value, (&re, &im)) in values.iter_mut().zip(re[start..].iter().zip(&im[start..])) {
                *value = Complex::new(re, im);
            }
        })?
        .into())
}

/// The real parts; a real number is its own.
pub(super) fn real(call: &Call<'_, '_>) -> Result<Data, Stop> {
    match call.data(0) {
        Data::C64(values) => parts(call.work(), values, |z| z.re),
        Data::C128(values) => parts(call.work(), values, |z| z.re),
        data => Ok(data.clone()),
    }
}

/// The imaginary parts; those of real numbers are zero.
pub(super) fn imag(call: &Call<'_, '_>) -> Result<Data, Stop> {
    match call.data(0) {
        Data::C64(values) => parts(call.work(), values, |z| z.im),
        Data::C128(values) => parts(call.work(), values, |z| z.im),
        _ => elements_of!(call.result().element_type, T => {
            Ok(super::work::splat(call.data(0).len().unwrap_or(0), T::default())?.into())
        }),
    }
}

fn parts<F: Float>(work: &Work, values: &[Complex<F>], part: fn(Complex<F>) -> F) -> Result<Data, Stop>
where
    Complex<F>: Element,
    Vec<F>: Into<Data>,
{
    Ok(work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = part(a)))?.into())
}
