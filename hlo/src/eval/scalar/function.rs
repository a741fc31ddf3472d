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

/// The function of two elements, written once; the loop is compiled with it.
macro_rules! of_two {
    ($f:expr) => {
        $crate::eval::scalar::Binary {
            one: $f,
            many: |a, b, results| $crate::eval::scalar::function::each_pair(a, b, results, $f),
        }
    };
}

pub(super) use {of_one, of_two};

/// `f` of each of as many elements as there is room for.
#[inline]
pub(in crate::eval) fn each<T: Copy, R>(a: &[T], results: &mut [R], f: impl Fn(T) -> R) {
    for (result, &a) in results.iter_mut().zip(a) {
        *result = f(a);
    }
}

#[inline]
pub(super) fn each_pair<T: Copy, R>(a: &[T], b: &[T], results: &mut [R], f: impl Fn(T, T) -> R) {
    for (result, (&a, &b)) in results.iter_mut().zip(a.iter().zip(b)) {
        *result = f(a, b);
    }
}
