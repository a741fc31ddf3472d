//! Storage of elements during computation: wide types natively, narrow types as words.
//!
//! `pred` and the types of 32 bits and more are held as themselves, and have loops of their own. All others are held as the
//! words of one or two bytes that they are in memory; what an operation does to them is computed in `i64`, `u64` or `f64`, and the
//! [`Form`] says what a word means. So there are as many loops as ways to hold an element, however many types there are.

use super::float::{self, round_small, to_odd, to_odd_single};
use super::function::{Mapping, each, each_widely};
use super::pred::ordered;
use super::{Binary, Element, Number, Unary, signed, unsigned};
use crate::ir::{
    BinaryOp, ComparisonDirection, ComparisonType, Data, ElementType, FloatFormat, NativeType, Scalar, UnaryOp, Word,
};
use half::{bf16, f16};
use num_complex::Complex;

/// What a held element means.
#[derive(Copy, Clone)]
pub(in crate::eval) struct Form {
    element_type: ElementType,
    kind: Kind,
    bits: u32,
}

#[derive(Copy, Clone)]
enum Kind {
    /// It is itself.
    Own,
    Signed,
    Unsigned,
    F16,
    Bf16,
    /// A float of at most 8 bits.
    Float(FloatFormat),
}

impl Form {
    /// That of what is held as itself.
    pub(super) const OWN: Self = Form { element_type: ElementType::Pred, kind: Kind::Own, bits: 0 };

    /// That of the elements of a type.
    pub(in crate::eval) fn of(element_type: ElementType) -> Self {
        let kind = match FloatFormat::of(element_type) {
            _ if element_type == ElementType::F16 => Kind::F16,
            _ if element_type == ElementType::Bf16 => Kind::Bf16,
            Some(format) => Kind::Float(format),
            None if element_type.is_signed() => Kind::Signed,
            None if element_type.is_unsigned() => Kind::Unsigned,
            None => Kind::Own,
        };
        Form { element_type, kind, bits: element_type.bits() }
    }

    /// The type.
    pub(in crate::eval) fn element_type(self) -> ElementType {
        self.element_type
    }

    /// The bits above those of the type, of 64.
    fn unused(self) -> u32 {
        64 - self.bits
    }
}

/// An element as it is held while it is computed with.
pub(in crate::eval) trait Held: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The elements of an array that are held so.
    fn elements(data: &Data) -> Option<&[Self]>;

    /// Elements as an array.
    fn array(values: Vec<Self>, element_type: ElementType) -> Data;

    /// The element of a type that is held so.
    fn of_scalar(scalar: Scalar) -> Self;

    /// The element with its type.
    fn to_scalar(self, form: Form) -> Scalar;

    /// What `op` does to an element, where it gives an element of the same type.
    fn unary(op: UnaryOp, form: Form) -> Option<Unary<Self>>;

    /// What `op` does to two elements.
    fn binary(op: BinaryOp, form: Form) -> Option<Binary<Self>>;

    /// The relation `compare` tests; see [`Element::relation`].
    fn relation(
        direction: ComparisonDirection,
        order: Option<ComparisonType>,
        form: Form,
    ) -> Option<Binary<Self, bool>>;

    /// The value.
    fn value(self, form: Form) -> Number;

    /// The element for a value; see [`Element::of`].
    fn nearest(value: Number, form: Form) -> Self;

    /// The bits, the lowest ones of the result; `pred` is 0 or 1.
    fn pattern(self, form: Form) -> u128;

    /// The element with these bits; those above the type's are passed over, and a `pred` is true unless all are 0.
    fn of_pattern(bits: u128, form: Form) -> Self;

    /// The real parts of as many elements as there is room for.
    fn reals(form: Form, elements: &[Self], reals: &mut [f64]);

    /// The elements for real values.
    fn of_reals(form: Form, reals: &[f64], elements: &mut [Self]);
}

/// `$body` with `$T` for what the elements of a type are held as.
macro_rules! elements_of {
    ($element_type:expr, $T:ident => $body:expr) => {
        $crate::eval::scalar::elements_of!(@ $element_type, $T, $body;
            Pred bool, S32 i32, S64 i64, U32 u32, U64 u64, F32 f32, F64 f64,
            C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (@ $element_type:expr, $T:ident, $body:expr; $($variant:ident $own:ty),*) => {
        match $element_type {
            $($crate::ir::ElementType::$variant => {
                type $T = $own;
                $body
            })*
            narrow if narrow.bits() <= 8 => {
                type $T = u8;
                $body
            }
            _ => {
                type $T = u16;
                $body
            }
        }
    };
}

pub(in crate::eval) use elements_of;

macro_rules! own {
    ($($native:ty)*) => {$(
        impl Held for $native {
            fn elements(data: &Data) -> Option<&[Self]> {
                <Self as NativeType>::elements(data)
            }
            fn array(values: Vec<Self>, _: ElementType) -> Data {
                values.into()
            }
            #[inline]
            fn of_scalar(scalar: Scalar) -> Self {
                <Self as Element>::from_scalar(scalar).unwrap_or_default()
            }
            #[inline]
            fn to_scalar(self, _: Form) -> Scalar {
                Element::scalar(self)
            }
            fn unary(op: UnaryOp, _: Form) -> Option<Unary<Self>> {
                <Self as Element>::unary(op)
            }
            fn binary(op: BinaryOp, _: Form) -> Option<Binary<Self>> {
                <Self as Element>::binary(op)
            }
            fn relation(
                direction: ComparisonDirection,
                order: Option<ComparisonType>,
                _: Form,
            ) -> Option<Binary<Self, bool>> {
                <Self as Element>::relation(direction, order)
            }
            #[inline]
            fn value(self, _: Form) -> Number {
                Element::number(self)
            }
            #[inline]
            fn nearest(value: Number, _: Form) -> Self {
                <Self as Element>::of(value)
            }
            #[inline]
            fn pattern(self, _: Form) -> u128 {
                Element::bits(self)
            }
            #[inline]
            fn of_pattern(bits: u128, _: Form) -> Self {
                <Self as Element>::from_bits(bits)
            }
            fn reals(_: Form, elements: &[Self], reals: &mut [f64]) {
                each_widely(elements, reals, |element| Element::number(element).real());
            }
            fn of_reals(_: Form, reals: &[f64], elements: &mut [Self]) {
                each_widely(reals, elements, |value| <Self as Element>::of(Number::Real(value)));
            }
        }
    )*};
}

own! { bool i32 i64 u32 u64 f32 f64 Complex<f32> Complex<f64> }

/// A word of one or two bytes that holds an element.
trait Narrow: Held + Word {
    /// As an integer that was extended by its sign, and as one that was not.
    fn signed(self) -> i64;
    fn unsigned(self) -> u64;
    /// The lowest bits.
    fn of_lowest(bits: u64) -> Self;
}

/// An integer of a form, wrapped around.
#[inline]
fn wrapped<W: Narrow>(form: Form, value: i64) -> W {
    W::of_lowest(((value << form.unused()) >> form.unused()).cast_unsigned())
}

#[inline]
fn wrapped_unsigned<W: Narrow>(form: Form, value: u64) -> W {
    W::of_lowest(value & (u64::MAX >> form.unused()))
}

fn signed_way<W: Narrow>(form: Form) -> (Mapping<W, i64>, Mapping<i64, W>) {
    let widen: Mapping<W, i64> =
        Mapping { form, one: |_, word| word.signed(), many: |_, words, values| each_widely(words, values, W::signed) };
    let many = |form, values: &[i64], words: &mut [W]| each_widely(values, words, |value| wrapped(form, value));
    (widen, Mapping { form, one: wrapped, many })
}

fn unsigned_way<W: Narrow>(form: Form) -> (Mapping<W, u64>, Mapping<u64, W>) {
    let widen: Mapping<W, u64> = Mapping {
        form,
        one: |_, word| word.unsigned(),
        many: |_, words, values| each_widely(words, values, W::unsigned),
    };
    let many =
        |form, values: &[u64], words: &mut [W]| each_widely(values, words, |value| wrapped_unsigned(form, value));
    (widen, Mapping { form, one: wrapped_unsigned, many })
}

fn float_way<W: Narrow>(form: Form) -> (Mapping<W, f64>, Mapping<f64, W>) {
    let widen = Mapping { form, one: |form, word: W| word.value(form).real(), many: W::reals };
    (widen, Mapping { form, one: |form, value| W::nearest(Number::Real(value), form), many: W::of_reals })
}

/// What a relation gives stays what it is.
const AS_IT_IS: Mapping<bool, bool> =
    Mapping { form: Form::OWN, one: |_, is_so| is_so, many: |_, from, to| to.copy_from_slice(from) };

macro_rules! narrow {
    ($($word:ty)*) => {$(
        impl Narrow for $word {
            #[inline]
            fn signed(self) -> i64 {
                i64::from(self.cast_signed())
            }
            #[inline]
            fn unsigned(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn of_lowest(bits: u64) -> Self {
                bits as $word
            }
        }

        impl Held for $word {
            fn elements(data: &Data) -> Option<&[Self]> {
                <Self as Word>::slice(data.words()?)
            }
            fn array(values: Vec<Self>, element_type: ElementType) -> Data {
                <Self as Word>::data(values, element_type)
            }
            fn of_scalar(scalar: Scalar) -> Self {
                scalar.word() as $word
            }
            fn to_scalar(self, form: Form) -> Scalar {
                Scalar::of_word(u128::from(self), form.element_type)
            }
            fn unary(op: UnaryOp, form: Form) -> Option<Unary<Self>> {
                Some(match form.kind {
                    Kind::Signed => {
                        let (widen, narrow) = signed_way(form);
                        signed::unary_of::<i64>(op, form.bits)?.through(widen, narrow)
                    }
                    Kind::Unsigned => {
                        let (widen, narrow) = unsigned_way(form);
                        unsigned::unary_of::<u64>(op, form.bits)?.through(widen, narrow)
                    }
                    _ => {
                        let (widen, narrow) = float_way(form);
                        float::exact::<f64>(op).or_else(|| float::near(op))?.through(widen, narrow)
                    }
                })
            }
            fn binary(op: BinaryOp, form: Form) -> Option<Binary<Self>> {
                Some(match form.kind {
                    Kind::Signed => {
                        let (widen, narrow) = signed_way(form);
                        signed::binary_of::<i64>(op, form.bits)?.through(widen, narrow)
                    }
                    Kind::Unsigned => {
                        let (widen, narrow) = unsigned_way(form);
                        unsigned::binary_of::<u64>(op, form.bits)?.through(widen, narrow)
                    }
                    _ => {
                        let (widen, narrow) = float_way(form);
                        match float::is_first(op) {
                            // Of two NaNs one is kept with all of its bits.
                            Some(is_first) => is_first.picking(widen),
                            None => float::arithmetic::<f64>(op).or_else(|| float::near_of_two(op))?.through(widen, narrow),
                        }
                    }
                })
            }
            fn relation(
                direction: ComparisonDirection,
                order: Option<ComparisonType>,
                form: Form,
            ) -> Option<Binary<Self, bool>> {
                Some(match form.kind {
                    Kind::Signed => ordered::<i64>(direction).through(signed_way(form).0, AS_IT_IS),
                    Kind::Unsigned => ordered::<u64>(direction).through(unsigned_way(form).0, AS_IT_IS),
                    _ => float::ordered::<f64>(direction, order).through(float_way(form).0, AS_IT_IS),
                })
            }
            #[inline]
            fn value(self, form: Form) -> Number {
                match form.kind {
                    Kind::Signed => Number::Integer(self.signed().into()),
                    Kind::Unsigned | Kind::Own => Number::Integer(self.into()),
                    Kind::F16 => Number::Real(f16::from_bits(self.into()).to_f64()),
                    Kind::Bf16 => Number::Real(bf16::from_bits(self.into()).to_f64()),
                    Kind::Float(format) => Number::Real(format.value(self.into()).into()),
                }
            }
            #[inline]
            fn nearest(value: Number, form: Form) -> Self {
                let value = match (form.kind, value) {
                    (Kind::Signed, value) => {
                        return wrapped(form, value.signed(i64::MIN >> form.unused(), i64::MAX >> form.unused()));
                    }
                    (Kind::Unsigned | Kind::Own, value) => {
                        return wrapped_unsigned(form, value.unsigned(u64::MAX >> form.unused()));
                    }
                    (_, Number::Integer(value)) => to_odd(value),
                    (_, Number::Real(value) | Number::Complex(value, _)) => value,
                };
                match form.kind {
                    Kind::Float(format) => round_small(format, value) as $word,
                    Kind::Bf16 => bf16::from_f32(to_odd_single(value)).to_bits() as $word,
                    _ => f16::from_f32(to_odd_single(value)).to_bits() as $word,
                }
            }
            #[inline]
            fn pattern(self, form: Form) -> u128 {
                (self.unsigned() & (u64::MAX >> form.unused())).into()
            }
            #[inline]
            fn of_pattern(bits: u128, form: Form) -> Self {
                match form.kind {
                    Kind::Signed => wrapped(form, bits as i64),
                    _ => wrapped_unsigned(form, bits as u64),
                }
            }
            fn reals(form: Form, elements: &[Self], reals: &mut [f64]) {
                match form.kind {
                    Kind::F16 => each_widely(elements, reals, |word| f16::from_bits(word.into()).to_f64()),
                    Kind::Bf16 => each_widely(elements, reals, |word| bf16::from_bits(word.into()).to_f64()),
                    _ => each(elements, reals, |word| word.value(form).real()),
                }
            }
            fn of_reals(form: Form, reals: &[f64], elements: &mut [Self]) {
                match form.kind {
                    Kind::F16 => {
                        each_widely(reals, elements, |value| f16::from_f32(to_odd_single(value)).to_bits() as $word);
                    }
                    Kind::Bf16 => {
                        each_widely(reals, elements, |value| bf16::from_f32(to_odd_single(value)).to_bits() as $word);
                    }
                    Kind::Signed => {
                        let (least, greatest) = (i64::MIN >> form.unused(), i64::MAX >> form.unused());
                        each_widely(reals, elements, |value| wrapped(form, Number::Real(value).signed(least, greatest)));
                    }
                    _ => each(reals, elements, |value| Self::nearest(Number::Real(value), form)),
                }
            }
        }
    )*};
}

narrow! {
    u8
    u16
}
