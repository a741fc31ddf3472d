//! A function of elements, once for one element and once for many.

/// A function of one element.
#[derive(Copy, Clone)]
pub(in crate::eval) struct Unary<T, R = T> {
    /// For one.
    pub(in crate::eval) one: fn(T) -> R,
    /// For each of as many as there is room for.
    pub(in crate::eval) many: fn(&[T], &mut [R]),
}

/// A function of two elements.
#[derive(Copy, Clone)]
pub(in crate::eval) struct Binary<T, R = T> {
    /// For one of each.
    pub(in crate::eval) one: fn(T, T) -> R,
    /// For the pairs at each of as many positions as there is room for.
    pub(in crate::eval) many: fn(&[T], &[T], &mut [R]),
}

/// The function of one element, written once; the loop is compiled with it.
macro_rules! of_one {
    ($f:expr) => {
        $crate::eval::scalar::Unary { one: $f, many: |a, results| $crate::eval::scalar::function::each(a, results, $f) }
    };
}

/// The same for a function that calls nothing and takes longer than fetching elements does: the loop is compiled for the vectors of
/// newer processors too, and the one that runs here is taken.
macro_rules! of_one_widely {
    ($f:expr) => {
        $crate::eval::scalar::Unary {
            one: $f,
            many: |a, results| $crate::eval::scalar::function::each_widely(a, results, $f),
        }
    };
}

/// The function of two elements, written once; the loop is compiled with it.
macro_rules! of_two {
    ($f:expr) => {
        $crate::eval::scalar::Binary {
            one: $f,
            many: |a, b, results| $crate::eval::scalar::function::each_pair(a, b, results, $f),
        }
    };
}

pub(super) use {of_one, of_one_widely, of_two};

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
    pulp::Arch::new().dispatch(Each { a, results, f });
}

/// What [`each`] is given.
struct Each<'a, T, R, F> {
    a: &'a [T],
    results: &'a mut [R],
    f: F,
}

impl<T: Copy, R, F: Fn(T) -> R> pulp::NullaryFnOnce for Each<'_, T, R, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (result, &a) in self.results.iter_mut().zip(self.a) {
            *result = (self.f)(a);
        }
    }
}

#[inline]
pub(super) fn each_pair<T: Copy, R>(a: &[T], b: &[T], results: &mut [R], f: impl Fn(T, T) -> R) {
    for (result, (&a, &b)) in results.iter_mut().zip(a.iter().zip(b)) {
        *result = f(a, b);
    }
}
