//! The bounds of the variables.

use crate::{Interval, Var};

/// The bounds of the variables, by number. A variable without an entry may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    /// Bounds of `d0, d1, …`.
    pub dims: Vec<Interval>,
    /// Bounds of `s0, s1, …`.
    pub ranges: Vec<Interval>,
    /// Bounds of `rt0, rt1, …`.
    pub runtime: Vec<Interval>,
}

impl Ranges {
    /// Dimension variables with the given bounds and nothing else.
    pub fn of_dims(dims: impl IntoIterator<Item = Interval>) -> Ranges {
        Ranges { dims: dims.into_iter().collect(), ..Ranges::default() }
    }

    /// The bounds of `v`.
    pub fn get(&self, v: Var) -> Interval {
        let (list, i) = match v {
            Var::Dim(i) => (&self.dims, i),
            Var::Range(i) => (&self.ranges, i),
            Var::Runtime(i) => (&self.runtime, i),
        };
        usize::try_from(i).ok().and_then(|i| list.get(i)).copied().unwrap_or(Interval::EVERYTHING)
    }

    /// The bounds of `v`, to be changed, where there are any.
    pub fn get_mut(&mut self, v: Var) -> Option<&mut Interval> {
        let (list, i) = match v {
            Var::Dim(i) => (&mut self.dims, i),
            Var::Range(i) => (&mut self.ranges, i),
            Var::Runtime(i) => (&mut self.runtime, i),
        };
        usize::try_from(i).ok().and_then(|i| list.get_mut(i))
    }

    /// True when some variable has no value at all, so that every claim about the domain holds.
    pub fn has_empty(&self) -> bool {
        [&self.dims, &self.ranges, &self.runtime].into_iter().flatten().any(|i| i.is_empty())
    }
}
