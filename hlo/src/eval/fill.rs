//! Making arrays, on all cores where there are several.

use std::collections::TryReserveError;

/// Elements that one core works through before it takes up the next piece.
const PIECE: usize = 1 << 14;

/// An array of `count` elements. `write` fills pieces of it; it is given where a piece starts.
pub(super) fn fill<T, F>(count: usize, write: F) -> Result<Vec<T>, TryReserveError>
where
    T: Copy + Default + Send,
    F: Fn(usize, &mut [T]) + Sync + Send,
{
    let mut values = splat(count, T::default())?;
    for_each(values.chunks_mut(PIECE).enumerate().collect(), |(piece, values)| write(piece * PIECE, values));
    Ok(values)
}

/// An array of `count` equal elements.
pub(super) fn splat<T: Copy>(count: usize, value: T) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    values.resize(count, value);
    Ok(values)
}

/// `f` of each element.
pub(super) fn map<A, T>(a: &[A], f: impl Fn(A) -> T + Sync + Send) -> Result<Vec<T>, TryReserveError>
where
    A: Copy + Sync,
    T: Copy + Default + Send,
{
    fill(a.len(), |start, values| {
        for (value, &a) in values.iter_mut().zip(&a[start..]) {
            *value = f(a);
        }
    })
}

/// `f` of the elements at each position.
pub(super) fn zip<A, T>(a: &[A], b: &[A], f: impl Fn(A, A) -> T + Sync + Send) -> Result<Vec<T>, TryReserveError>
where
    A: Copy + Sync,
    T: Copy + Default + Send,
{
    fill(a.len(), |start, values| {
        for (value, (&a, &b)) in values.iter_mut().zip(a[start..].iter().zip(&b[start..])) {
            *value = f(a, b);
        }
    })
}

/// Does every job, in any order.
#[cfg(feature = "parallel")]
pub(super) fn for_each<J: Send>(jobs: Vec<J>, work: impl Fn(J) + Sync + Send) {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    if jobs.len() > 1 {
        jobs.into_par_iter().for_each(work);
    } else {
        jobs.into_iter().for_each(work);
    }
}

/// Does every job, in any order.
#[cfg(not(feature = "parallel"))]
pub(super) fn for_each<J: Send>(jobs: Vec<J>, work: impl Fn(J) + Sync + Send) {
    jobs.into_iter().for_each(work);
}
