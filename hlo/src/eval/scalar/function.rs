//! A function of elements, once for one element and once for many.

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

    /// The function of a narrower type, by way of this one: `narrow(self(widen(a)))`. A loop for each function of each type would be
    /// hundreds of loops; this way a function has one, and a type one that leads there and one that leads back.
    pub(super) fn through<U: Copy + 'static, S: 'static>(
        self,
        widen: impl Fn(U) -> T + Copy + Send + Sync + 'static,
        narrow: impl Fn(R) -> S + Copy + Send + Sync + 'static,
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
        widen: impl Fn(U) -> T + Copy + Send + Sync + 'static,
        narrow: impl Fn(R) -> S + Copy + Send + Sync + 'static,
    ) -> Binary<U, S>
    where
        T: Copy + Default,
        R: Copy + Default,
    {
        Binary(Box::new(Through { function: self, widen, narrow }))
    }
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
struct Through<F, N, O> {
    function: F,
    widen: N,
    narrow: O,
}

impl<T, R, W, V, N, O> OfOne<T, R> for Through<Unary<W, V>, N, O>
where
    T: Copy,
    W: Copy + Default + 'static,
    V: Copy + Default + 'static,
    N: Fn(T) -> W + Copy + Send + Sync,
    O: Fn(V) -> R + Copy + Send + Sync,
{
    fn one(&self, a: T) -> R {
        (self.narrow)(self.function.one((self.widen)(a)))
    }
    fn many(&self, a: &[T], results: &mut [R]) {
        let (mut wide, mut values) = ([W::default(); STRETCH], [V::default(); STRETCH]);
        for (a, results) in a.chunks(STRETCH).zip(results.chunks_mut(STRETCH)) {
            let (wide, values) = (&mut wide[..a.len()], &mut values[..results.len()]);
            each_widely(a, wide, self.widen);
            self.function.many(wide, values);
            each_widely(values, results, self.narrow);
        }
    }
}

impl<T, R, W, V, N, O> OfTwo<T, R> for Through<Binary<W, V>, N, O>
where
    T: Copy,
    W: Copy + Default + 'static,
    V: Copy + Default + 'static,
    N: Fn(T) -> W + Copy + Send + Sync,
    O: Fn(V) -> R + Copy + Send + Sync,
{
    fn one(&self, a: T, b: T) -> R {
        (self.narrow)(self.function.one((self.widen)(a), (self.widen)(b)))
    }
    fn many(&self, a: &[T], b: &[T], results: &mut [R]) {
        let (mut first, mut second) = ([W::default(); STRETCH], [W::default(); STRETCH]);
        let mut values = [V::default(); STRETCH];
        for ((a, b), results) in a.chunks(STRETCH).zip(b.chunks(STRETCH)).zip(results.chunks_mut(STRETCH)) {
            let (first, second) = (&mut first[..a.len()], &mut second[..b.len()]);
            let values = &mut values[..results.len()];
            each_widely(a, first, self.widen);
            each_widely(b, second, self.widen);
            self.function.many(first, second, values);
            each_widely(values, results, self.narrow);
        }
    }
}

/// The function of one element, written once; the loop is compiled with it.
macro_rules! of_one {
    ($f:expr) => {
        $crate::eval::scalar::Unary::new($f, |a, results| $crate::eval::scalar::function::each(a, results, $f))
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
        $crate::eval::scalar::Binary::new($f, |a, b, results| {
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
