//! Elementwise operations on arrays, with `map` and `multiply-high`.

use super::call::Call;
use super::conversion::{Reals, STRETCH, reals};
use super::fold::scalar as scalar_at;
use super::movement::extents;
use super::region::{Action, number};
use super::scalar::{self, Binary, ComplexNumber, Float, Form, Held, Number, elements_of, hypot};
use super::work::{PIECE, Stop, Work, words, words_as, zeroed};
use crate::ir::{
    BinaryOp, ComparisonDirection, ComparisonType, ComputationId, Data, ElementType, Scalar, UnaryOp, Word, words_of,
};
use num_complex::Complex;

const DEFINED: &str = "the verifier has seen to it that the operation is defined for its operands";

pub(super) fn unary(call: &Call<'_, '_>, op: UnaryOp) -> Result<Data, Stop> {
    let (work, operand) = (call.work(), call.data(0));
    match (op, operand) {
        (UnaryOp::IsFinite, _) => {
            let values = reals(call.shape(0).element_type);
            Ok(work
                .fill(operand.len().unwrap_or(0), |start, results| are_finite(values, operand, start, results))?
                .into())
        }
        (UnaryOp::Abs, Data::C64(values)) => magnitude(work, values),
        (UnaryOp::Abs, Data::C128(values)) => magnitude(work, values),
        _ => elements_of!(call.shape(0).element_type, T => {
            let function = T::unary(op, Form::of(call.shape(0).element_type)).expect(DEFINED);
            let values = work.map(call.elements::<T>(0), |a, results: &mut [T]| function.many(a, results))?;
            Ok(T::array(values, call.result().element_type))
        }),
    }
}

/// The same for one element.
pub(super) fn unary_of_one(op: UnaryOp, element_type: ElementType) -> Option<Action> {
    match (op, element_type) {
        (UnaryOp::IsFinite, _) => Some(Box::new(|a| Scalar::Pred(is_finite(a[0])))),
        (UnaryOp::Abs, ElementType::C64) => {
            Some(Box::new(|a| scalar::Element::scalar(length(Complex::<f32>::of_scalar(a[0])))))
        }
        (UnaryOp::Abs, ElementType::C128) => {
            Some(Box::new(|a| scalar::Element::scalar(length(Complex::<f64>::of_scalar(a[0])))))
        }
        _ => elements_of!(element_type, T => {
            let form = Form::of(element_type);
            let f = T::unary(op, form)?;
            Some(Box::new(move |a| f.one(T::of_scalar(a[0])).to_scalar(form)))
        }),
    }
}

fn is_finite(a: Scalar) -> bool {
    match number(a) {
        Number::Real(value) => value.is_finite(),
        _ => true,
    }
}

/// Whether the floats from a position on are finite.
fn are_finite(values: Reals, data: &Data, start: usize, results: &mut [bool]) {
    let mut reals = [0.0; STRETCH];
    for (stretch, results) in results.chunks_mut(STRETCH).enumerate() {
        let reals = &mut reals[..results.len()];
        values(data, start + stretch * STRETCH, reals);
        results.iter_mut().zip(reals).for_each(|(result, value)| *result = value.is_finite());
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
        let function = T::binary(op, Form::of(call.shape(0).element_type)).expect(DEFINED);
        Ok(T::array(pairs(call, &function)?, call.result().element_type))
    })
}

pub(super) fn compare(
    call: &Call<'_, '_>,
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
) -> Result<Data, Stop> {
    elements_of!(call.shape(0).element_type, T => {
        let relation = T::relation(direction, order, Form::of(call.shape(0).element_type)).expect(DEFINED);
        Ok(pairs(call, &relation)?.into())
    })
}

fn pairs<T: Held, R: Held>(call: &Call<'_, '_>, function: &Binary<T, R>) -> Result<Vec<R>, Stop> {
    let (a, b) = (call.elements::<T>(0), call.elements::<T>(1));
    call.work().fill(a.len(), |start, values| function.many(&a[start..], &b[start..], values))
}

pub(super) fn select(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let condition = call.elements::<bool>(0);
    words_of!(words(call.data(1)), a, W => {
        let b = words_as::<W>(call.data(2));
        let values = call.work().fill(a.len(), |start, values: &mut [W]| {
            for (offset, value) in values.iter_mut().enumerate() {
                let position = start + offset;
                *value = if at(condition, position) { a[position] } else { b[position] };
            }
        })?;
        Ok(W::data(values, call.result().element_type))
    })
}

/// `min(max(low, a), high)`: where the bounds cross, the upper one wins.
pub(super) fn clamp(call: &Call<'_, '_>) -> Result<Data, Stop> {
    elements_of!(call.result().element_type, T => {
        let form = Form::of(call.result().element_type);
        let max = T::binary(BinaryOp::Maximum, form).expect(DEFINED);
        let min = T::binary(BinaryOp::Minimum, form).expect(DEFINED);
        let (low, a, high) = (call.elements::<T>(0), call.elements::<T>(1), call.elements::<T>(2));
        let values = call.work().fill(a.len(), |start, values: &mut [T]| {
            for (offset, value) in values.iter_mut().enumerate() {
                let position = start + offset;
                *value = min.one(max.one(at(low, position), a[position]), at(high, position));
            }
        })?;
        Ok(T::array(values, call.result().element_type))
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
    Complex<F>: scalar::Element,
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
        data => zeroed(data.len().unwrap_or(0), call.result().element_type),
    }
}

fn parts<F: Float>(work: &Work, values: &[Complex<F>], part: fn(Complex<F>) -> F) -> Result<Data, Stop>
where
    Complex<F>: scalar::Element,
    Vec<F>: Into<Data>,
{
    Ok(work.map(values, |a, r| a.iter().zip(r).for_each(|(&a, r)| *r = part(a)))?.into())
}

/// `map`: a region applied to the elements at each position.
pub(super) fn map(call: &Call<'_, '_>, to_apply: ComputationId) -> Result<Data, Stop> {
    if let Some(op) = call.program(to_apply).and_then(|program| program.as_binary()) {
        return binary(call, op);
    }
    let count = extents(call.result()).iter().product();
    elements_of!(call.result().element_type, T => {
        let values = call.work().try_fill_by(count, PIECE, |start, values: &mut [T]| {
            let mut region = call.region(to_apply);
            let mut arguments: Vec<Scalar> = Vec::with_capacity(call.operands.len());
            for (offset, value) in values.iter_mut().enumerate() {
                arguments.clear();
                arguments.extend(call.operands.iter().map(|(_, data)| scalar_at(data, start + offset)));
                *value = T::of_scalar(region.apply(&arguments)?[0]);
            }
            Ok(())
        })?;
        Ok(T::array(values, call.result().element_type))
    })
}

/// `multiply-high`: the upper half of the product in twice the bits of the type; signed types extend their sign first.
pub(super) fn multiply_high(call: &Call<'_, '_>) -> Result<Data, Stop> {
    elements_of!(call.result().element_type, T => {
        let form = Form::of(call.result().element_type);
        let (a, b) = (call.elements::<T>(0), call.elements::<T>(1));
        let values = call.work().fill(a.len(), |start, values: &mut [T]| {
            for (value, (a, b)) in values.iter_mut().zip(a[start..].iter().zip(&b[start..])) {
                *value = upper_half(*a, *b, form);
            }
        })?;
        Ok(T::array(values, call.result().element_type))
    })
}

fn upper_half<T: Held>(a: T, b: T, form: Form) -> T {
    let (Number::Integer(a), Number::Integer(b)) = (a.value(form), b.value(form)) else { return T::default() };
    let width = form.element_type().bits();
    // Two of 64 bits without a sign come to up to 128 bits, two with a sign to 127 and the sign.
    if form.element_type().is_unsigned() {
        T::of_pattern((a as u128 * b as u128) >> width, form)
    } else {
        T::of_pattern(((a * b) >> width) as u128, form)
    }
}
