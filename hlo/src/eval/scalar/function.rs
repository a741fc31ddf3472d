//! Functions of elements, applied to one element or to many.

use super::Form;
use std::marker::PhantomData;

/// A function of one element.
pub(in crate::eval) struct Unary<T, R = T>(Box<dyn OfOne<T, R>>);

/// A function of two elements.
pub(in crate::eval) struct Binary<T, R = T>(Box<dyn OfTwo<T, R>>);

/// What [`Unary`] is made of. A trait of its own: the table of a `dyn Fn` holds every body once more, as a function that is called
/// once.
trait OfOne<T, R>: Send + Sync {
    fn one(&self, a: T) -> R;
    fn many(&self, a: &[T], results: &mut [R]);
}

/// What [`Binary`] is made of.
trait OfTwo<T, R>: Send + Sync {
    fn one(&self, a: T, b: T) -> R;
    fn many(&self, a: &[T], b: &[T], results: &mut [R]);
}

impl<T: 'static, R: 'static> Unary<T, R> {
    /// From the function, once for one element and once for each of as many as there is room for.
    pub(super) fn new(
        one: impl Fn(T) -> R + Send + Sync + 'static,
        many: impl Fn(&[T], &mut [R]) + Send + Sync + 'static,
    ) -> Self {
        Unary(Box::new(Own { one, many }))
    }

    /// Of one element.
    pub(in crate::eval) fn one(&self, a: T) -> R {
        self.0.one(a)
    }

    /// Of each of as many as there is room for.
    pub(in crate::eval) fn many(&self, a: &[T], results: &mut [R]) {
        self.0.many(a, results);
    }

    /// The function of a narrower type, by way of this one. A loop for each function of each type would be hundreds of loops; this way
    /// a function has one, and a type one that leads there and one that leads back.
    pub(super) fn through<U: Copy + 'static, S: 'static>(
        self,
        widen: Mapping<U, T>,
        narrow: Mapping<R, S>,
    ) -> Unary<U, S>
    where
        T: Copy + Default,
        R: Copy + Default,
    {
        Unary(Box::new(Through { function: self, widen, narrow }))
    }
}

impl<T: 'static, R: 'static> Binary<T, R> {
    /// As [`Unary::new`].
    pub(super) fn new(
        one: impl Fn(T, T) -> R + Send + Sync + 'static,
        many: impl Fn(&[T], &[T], &mut [R]) + Send + Sync + 'static,
    ) -> Self {
        Binary(Box::new(Own { one, many }))
    }

    /// Of one element of each.
    pub(in crate::eval) fn one(&self, a: T, b: T) -> R {
        self.0.one(a, b)
    }

    /// Of the pairs at each of as many positions as there is room for.
    pub(in crate::eval) fn many(&self, a: &[T], b: &[T], results: &mut [R]) {
        self.0.many(a, b, results);
    }

    /// As [`Unary::through`].
    pub(super) fn through<U: Copy + 'static, S: 'static>(
        self,
        widen: Mapping<U, T>,
        narrow: Mapping<R, S>,
    ) -> Binary<U, S>
    where
        T: Copy + Default,
        R: Copy + Default,
    {
        Binary(Box::new(Through { function: self, widen, narrow }))
    }
}

impl<T: Copy + Default + 'static> Binary<T, bool> {
    /// The function that gives the first of two elements where this is true of what they lead to, else the second.
    pub(super) fn picking<U: Copy + 'static>(self, widen: Mapping<U, T>) -> Binary<U> {
        Binary(Box::new(Picking { is_first: self, widen }))
    }
}

/// A mapping from elements of one type to those of another, of one and of many of them.
pub(super) struct Mapping<T, U> {
    pub(super) form: Form,
    pub(super) one: fn(Form, T) -> U,
    pub(super) many: fn(Form, &[T], &mut [U]),
}

/// A function that a type has loops of its own for.
struct Own<F, G> {
    one: F,
    many: G,
}

impl<T, R, F: Fn(T) -> R + Send + Sync, G: Fn(&[T], &mut [R]) + Send + Sync> OfOne<T, R> for Own<F, G> {
    fn one(&self, a: T) -> R {
        (self.one)(a)
    }
    fn many(&self, a: &[T], results: &mut [R]) {
        (self.many)(a, results);
    }
}

impl<T, R, F: Fn(T, T) -> R + Send + Sync, G: Fn(&[T], &[T], &mut [R]) + Send + Sync> OfTwo<T, R> for Own<F, G> {
    fn one(&self, a: T, b: T) -> R {
        (self.one)(a, b)
    }
    fn many(&self, a: &[T], b: &[T], results: &mut [R]) {
        (self.many)(a, b, results);
    }
}

/// A function by way of another type's.
struct Through<F, T, W, V, R> {
    function: F,
    widen: Mapping<T, W>,
    narrow: Mapping<V, R>,
}

impl<T, R, W, V> OfOne<T, R> for Through<Unary<W, V>, T, W, V, R>
where
    T: Copy,
    W: Copy + Default + 'static,
    V: Copy + Default + 'static,
{
    fn one(&self, a: T) -> R {
        (self.narrow.one)(self.narrow.form, self.function.one((self.widen.one)(self.widen.form, a)))
    }
    fn many(&self, a: &[T], results: &mut [R]) {
        let (mut wide, mut values) = ([W::default(); STRETCH], [V::default(); STRETCH]);
        for (a, results) in a.chunks(STRETCH).zip(results.chunks_mut(STRETCH)) {
            let (wide, values) = (&mut wide[..a.len()], &mut values[..results.len()]);
            (self.widen.many)(self.widen.form, a, wide);
            self.function.many(wide, values);
            (self.narrow.many)(self.narrow.form, values, results);
        }
    }
}

impl<T, R, W, V> OfTwo<T, R> for Through<Binary<W, V>, T, W, V, R>
where
    T: Copy,
    W: Copy + Default + 'static,
    V: Copy + Default + 'static,
{
    fn one(&self, a: T, b: T) -> R {
        let widen = |value| (self.widen.one)(self.widen.form, value);
        (self.narrow.one)(self.narrow.form, self.function.one(widen(a), widen(b)))
    }
    fn many(&self, a: &[T], b: &[T], results: &mut [R]) {
        let (mut first, mut second) = ([W::default(); STRETCH], [W::default(); STRETCH]);
        let mut values = [V::default(); STRETCH];
        for ((a, b), results) in a.chunks(STRETCH).zip(b.chunks(STRETCH)).zip(results.chunks_mut(STRETCH)) {
            let (first, second) = (&mut first[..a.len()], &mut second[..b.len()]);
            let values = &mut values[..results.len()];
            (self.widen.many)(self.widen.form, a, first);
            (self.widen.many)(self.widen.form, b, second);
            self.function.many(first, second, values);
            (self.narrow.many)(self.narrow.form, values, results);
        }
    }
}

/// The first of two elements where something is true of what they lead to, else the second.
struct Picking<T, W> {
    is_first: Binary<W, bool>,
    widen: Mapping<T, W>,
}

impl<T: Copy, W: Copy + Default + 'static> OfTwo<T, T> for Picking<T, W> {
    fn one(&self, a: T, b: T) -> T {
        let widen = |value| (self.widen.one)(self.widen.form, value);
        if self.is_first.one(widen(a), widen(b)) { a } else { b }
    }
    fn many(&self, a: &[T], b: &[T], results: &mut [T]) {
        let (mut first, mut second) = ([W::default(); STRETCH], [W::default(); STRETCH]);
        let mut picked = [false; STRETCH];
        for ((a, b), results) in a.chunks(STRETCH).zip(b.chunks(STRETCH)).zip(results.chunks_mut(STRETCH)) {
            let (first, second) = (&mut first[..a.len()], &mut second[..b.len()]);
            (self.widen.many)(self.widen.form, a, first);
            (self.widen.many)(self.widen.form, b, second);
            self.is_first.many(first, second, &mut picked[..results.len()]);
            for ((result, &is_first), (&a, &b)) in results.iter_mut().zip(&picked).zip(a.iter().zip(b)) {
                *result = if is_first { a } else { b };
            }
        }
    }
}

/// The function of one element, written once; the loop is compiled with it.
macro_rules! of_one {
    ($f:expr) => {
        $crate::eval::scalar::Unary::new($f, move |a, results| $crate::eval::scalar::function::each(a, results, $f))
    };
}

/// The same for a function that calls nothing and takes longer than fetching elements does: the loop is compiled for the vectors of
/// newer processors too, and the one that runs here is taken. With three functions, the second is for elements of which the first
/// is true, the third for others.
macro_rules! of_one_widely {
    ($f:expr) => {
        $crate::eval::scalar::Unary::new($f, |a, results| {
            $crate::eval::scalar::function::each_widely(a, results, $f);
        })
    };
    ($is_meant:expr, $f:expr, $other:expr) => {
        $crate::eval::scalar::Unary::new(
            |x| if ($is_meant)(x) { ($f)(x) } else { ($other)(x) },
            |a, results| $crate::eval::scalar::function::each_widely_where(a, results, $is_meant, $f, $other),
        )
    };
}

/// The function of two elements, written once; the loop is compiled with it.
macro_rules! of_two {
    ($f:expr) => {
        $crate::eval::scalar::Binary::new($f, move |a, b, results| {
            $crate::eval::scalar::function::each_pair(a, b, results, $f);
        })
    };
}

pub(super) use {of_one, of_one_widely, of_two};

/// How many elements are looked at together.
pub(super) const STRETCH: usize = 256;

/// `f` of each of as many elements as there is room for.
#[inline]
pub(super) fn each<T: Copy, R>(a: &[T], results: &mut [R], f: impl Fn(T) -> R) {
    for (result, &a) in results.iter_mut().zip(a) {
        *result = f(a);
    }
}

/// As [`each`], in the widest vectors that this processor has. Results are the same: neither way contracts operations.
#[inline]
pub(in crate::eval) fn each_widely<T: Copy, R>(a: &[T], results: &mut [R], f: impl Fn(T) -> R) {
    widely(results.iter_mut().zip(a), |(result, &a)| *result = f(a));
}

/// `f` of each element of a stretch all of which are meant; of other stretches each by its own function.
#[inline]
pub(super) fn each_widely_where<T: Copy, R>(
    a: &[T],
    results: &mut [R],
    is_meant: impl Fn(T) -> bool,
    f: impl Fn(T) -> R,
    other: impl Fn(T) -> R,
) {
    for (a, results) in a.chunks(STRETCH).zip(results.chunks_mut(STRETCH)) {
        if a.iter().all(|&a| is_meant(a)) {
            each_widely(a, results, &f);
        } else {
            each(a, results, |a| if is_meant(a) { f(a) } else { other(a) });
        }
    }
}

/// Does something with every item, in a loop that is compiled for several processors. What is done must be little enough for the
/// compiler to make it part of the loop.
#[inline]
fn widely<I: Iterator>(items: I, work: impl FnMut(I::Item)) {
    processor().dispatch(Loop { items, work });
}

/// Whose vectors are used: those of the processor that this runs on.
#[inline]
fn processor() -> pulp::Arch {
    #[cfg(test)]
    if let Some(processor) = PROCESSOR.get() {
        return processor;
    }
    pulp::Arch::new()
}

#[cfg(test)]
thread_local! {
    /// What tests have this thread take for the processor.
    pub(super) static PROCESSOR: std::cell::Cell<Option<pulp::Arch>> = const { std::cell::Cell::new(None) };
}

struct Loop<I, W> {
    items: I,
    work: W,
}

impl<I: Iterator, W: FnMut(I::Item)> pulp::NullaryFnOnce for Loop<I, W> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Loop { items, mut work } = self;
        for item in items {
            work(item);
        }
    }
}

/// As [`each_pair`], as [`each_widely`].
#[inline]
pub(super) fn each_pair_widely<T: Copy, U: Copy, R>(a: &[T], b: &[U], results: &mut [R], f: impl Fn(T, U) -> R) {
    widely(results.iter_mut().zip(a.iter().zip(b)), |(result, (&a, &b))| *result = f(a, b));
}

#[inline]
pub(super) fn each_pair<T: Copy, R>(a: &[T], b: &[T], results: &mut [R], f: impl Fn(T, T) -> R) {
    for (result, (&a, &b)) in results.iter_mut().zip(a.iter().zip(b)) {
        *result = f(a, b);
    }
}

/// A function of `f64`s that becomes part of loops, however long it is. A closure does not: what several loops call, the compiler
/// makes part of them if it is short only, and of a loop that calls something it makes no vector instructions.
pub(super) trait Inlined<A> {
    /// The value; implementations are `#[inline(always)]`.
    fn of(argument: A) -> f64;
}

/// The function of each argument, as [`each_widely`].
#[inline]
pub(super) fn each_inlined<A, F: Inlined<A>>(arguments: impl Iterator<Item = A>, results: &mut [f64]) {
    processor().dispatch(InlinedLoop::<_, F> { items: results.iter_mut().zip(arguments), function: PhantomData });
}

struct InlinedLoop<I, F> {
    items: I,
    function: PhantomData<F>,
}

impl<'r, A, I: Iterator<Item = (&'r mut f64, A)>, F: Inlined<A>> pulp::NullaryFnOnce for InlinedLoop<I, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (result, argument) in self.items {
            *result = F::of(argument);
        }
    }
}
