//! Computation of arrays on all cores, within a memory limit, until interrupted.

use super::Interrupt;
use super::scalar::Held;
use super::value::{Meter, Reserved};
use crate::ir::{Data, ElementType, Scalar, Word, Words, words_of};
use std::collections::TryReserveError;
use std::sync::Arc;

/// Elements that one core works through before it takes up the next piece.
pub(super) const PIECE: usize = 1 << 14;

/// Why computing stopped before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// Memory ran out, or would.
    OutOfMemory,
    /// Somebody said so; see [`Interrupt`].
    Interrupted,
    /// What is asked for cannot be computed with these values: a code and the reason.
    Refused(&'static str, String),
}

impl From<TryReserveError> for Stop {
    fn from(_: TryReserveError) -> Self {
        Stop::OutOfMemory
    }
}

/// Writes the piece of an array that starts at a position. A trait of its own: the table of a `dyn Fn` holds every body once more,
/// as a function that is called once.
trait Write<T>: Sync {
    fn write(&self, start: usize, values: &mut [T]) -> Result<(), Stop>;
}

impl<T, F: Fn(usize, &mut [T]) -> Result<(), Stop> + Sync> Write<T> for F {
    fn write(&self, start: usize, values: &mut [T]) -> Result<(), Stop> {
        self(start, values)
    }
}

/// A part of the work of one operation.
type Job<'a> = Box<dyn FnOnce() -> Result<(), Stop> + Send + 'a>;

/// What computing an array needs to know of the run that it is part of.
pub(super) struct Work {
    pub(super) meter: Arc<Meter>,
    pub(super) interrupt: Option<Interrupt>,
}

impl Work {
    /// Sets bytes aside for values.
    pub(super) fn reserve(&self, bytes: u64) -> Result<Reserved, Stop> {
        self.meter.reserve(bytes).ok_or(Stop::OutOfMemory)
    }

    /// Sets bytes aside for `count` things that are needed on the way to a value.
    pub(super) fn reserve_for<T>(&self, count: usize) -> Result<Reserved, Stop> {
        let bytes = count.checked_mul(size_of::<T>()).and_then(|bytes| u64::try_from(bytes).ok());
        self.reserve(bytes.ok_or(Stop::OutOfMemory)?)
    }

    /// Stops if somebody said so.
    pub(super) fn go_on(&self) -> Result<(), Stop> {
        match &self.interrupt {
            Some(interrupt) if interrupt.is_raised() => Err(Stop::Interrupted),
            _ => Ok(()),
        }
    }

    /// An array of `count` elements. `write` fills pieces of it; it is given where a piece starts.
    pub(super) fn fill<T: Copy + Default + Send>(
        &self,
        count: usize,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Vec<T>, Stop> {
        self.fill_by(count, PIECE, write)
    }

    /// As [`fill`](Self::fill), in pieces of a number of elements: less than usual where each takes long.
    pub(super) fn fill_by<T: Copy + Default + Send>(
        &self,
        count: usize,
        piece: usize,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Vec<T>, Stop> {
        self.try_fill_by(count, piece, |start, values| {
            write(start, values);
            Ok(())
        })
    }

    /// As [`fill_by`](Self::fill_by), where writing may stop; if it does in several places, the first of them counts.
    pub(super) fn try_fill_by<T: Copy + Default + Send>(
        &self,
        count: usize,
        piece: usize,
        write: impl Fn(usize, &mut [T]) -> Result<(), Stop> + Sync,
    ) -> Result<Vec<T>, Stop> {
        self.pieces(count, piece.max(1), &write)
    }

    /// As [`try_fill_by`](Self::try_fill_by); compiled for each type, not for everything that writes elements of it.
    fn pieces<T: Copy + Default + Send>(
        &self,
        count: usize,
        piece: usize,
        write: &dyn Write<T>,
    ) -> Result<Vec<T>, Stop> {
        let mut values = splat(count, T::default())?;
        let pieces = values.chunks_mut(piece).enumerate().collect();
        self.for_each(pieces, &|(number, values): (usize, &mut [T])| write.write(number * piece, values))?;
        Ok(values)
    }

    /// `f` of each element, where `f` is given pieces of both arrays.
    pub(super) fn map<A, T>(&self, a: &[A], f: impl Fn(&[A], &mut [T]) + Sync) -> Result<Vec<T>, Stop>
    where
        A: Copy + Sync,
        T: Copy + Default + Send,
    {
        self.fill(a.len(), |start, values| f(&a[start..], values))
    }

    /// Does every job, in any order. Where some stop, the first of them in the order of jobs counts.
    pub(super) fn for_each<J: Send>(
        &self,
        jobs: Vec<J>,
        work: &(dyn Fn(J) -> Result<(), Stop> + Sync),
    ) -> Result<(), Stop> {
        self.run(jobs.into_iter().map(|job| -> Job<'_> { Box::new(move || work(job)) }).collect())
    }

    /// As [`for_each`](Self::for_each), whatever the jobs are about: what goes through the scheduler is compiled once.
    fn run(&self, jobs: Vec<Job<'_>>) -> Result<(), Stop> {
        let each = |job: Job<'_>| {
            self.go_on()?;
            job()
        };
        #[cfg(feature = "parallel")]
        if jobs.len() > 1 {
            use rayon::iter::{IntoParallelIterator, ParallelIterator};
            let stops: Vec<Stop> = jobs.into_par_iter().filter_map(|job| each(job).err()).collect();
            return stops.into_iter().next().map_or(Ok(()), Err);
        }
        jobs.into_iter().try_for_each(each)
    }
}

/// An array of `count` equal elements.
pub(super) fn splat<T: Copy>(count: usize, value: T) -> Result<Vec<T>, Stop> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    values.resize(count, value);
    Ok(values)
}

/// As [`splat`], of the scalar's type.
pub(super) fn filled(count: usize, value: Scalar) -> Result<Data, Stop> {
    let element_type = value.element_type();
    words_of!(Data::no_words(element_type), _, W => Ok(W::data(splat(count, W::of_bits(value.word()))?, element_type)))
}

/// An array of `count` zeros, all of whose bits are 0.
pub(super) fn zeroed(count: usize, element_type: ElementType) -> Result<Data, Stop> {
    filled(count, Scalar::of_word(0, element_type))
}

/// A copy of an array's elements.
pub(super) fn copy(data: &Data) -> Result<Data, Stop> {
    let element_type = data.element_type().expect(HELD);
    words_of!(words(data), source, W => Ok(W::data(copied(source)?, element_type)))
}

/// The same elements.
pub(super) fn copied<T: Copy>(source: &[T]) -> Result<Vec<T>, Stop> {
    let mut values = Vec::new();
    values.try_reserve_exact(source.len())?;
    values.extend_from_slice(source);
    Ok(values)
}

const HELD: &str = "the verifier has seen to the element types of operands, and their elements are held";

/// The elements of an array whose type the verifier has seen to.
pub(super) fn elements<T: Held>(data: &Data) -> &[T] {
    T::elements(data).expect(HELD)
}

/// The elements of an array as words.
pub(super) fn words(data: &Data) -> Words<'_> {
    data.words().expect(HELD)
}

/// The elements of an array as words of a size that the verifier has seen to.
pub(super) fn words_as<W: Word>(data: &Data) -> &[W] {
    W::slice(words(data)).expect(HELD)
}
