//! Typed ids and the arenas that they index.

use super::UnknownName;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::str::FromStr;

/// A small integer that names one item of an [`Arena`].
pub trait ArenaId: Copy + Eq + Ord + fmt::Debug {
    /// The id of the item at `index`.
    fn from_index(index: usize) -> Self;
    /// The position in the arena.
    fn index(self) -> usize;
}

macro_rules! arena_ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl ArenaId for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("an arena holds fewer than 2^32 items"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        #[doc = concat!("`", $prefix, "3` and the like: a letter and the index.")]
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!("{}{}", $prefix, self.0))
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let index = name.strip_prefix($prefix).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
                let index = index.and_then(|digits| digits.parse().ok());
                index.map($name).ok_or_else(|| UnknownName::new(stringify!($name), name))
            }
        }
    )*};
}

arena_ids! {
    /// An instruction of one computation.
    InstrId "i",
    /// A computation of one module.
    ComputationId "c",
}

/// A growable list addressed by a typed id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { items: Vec::new(), id: PhantomData }
    }
}

impl<I: ArenaId, T> Arena<I, T> {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `item` and returns its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_index(self.items.len() - 1)
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item, or `None` if `id` is of another, longer arena.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Items with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// Items in order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Items in order, mutable.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
}

impl<I: ArenaId, T> Index<I> for Arena<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: ArenaId, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: ArenaId, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Arena { items: items.into_iter().collect(), id: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_printed() {
        let id = InstrId::from_index(12);
        assert_eq!((id.to_string().as_str(), "i12".parse()), ("i12", Ok(id)));
        assert_eq!("c0".parse(), Ok(ComputationId::from_index(0)));
        for wrong in ["", "i", "12", "c12", "i+1", "i-1", "i4294967296"] {
            assert!(wrong.parse::<InstrId>().is_err(), "{wrong}");
        }
    }
}
