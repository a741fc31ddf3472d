//! Variables of a map: dimensions, range variables, and runtime variables with their owners.

mod dims;
mod eliminate;
mod known;
mod remove;
mod rescale;
mod rewrite;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use weft_affine::{Expr, Interval};

pub use remove::Removed;
pub use rescale::Rescaled;

/// A dimension or range variable: inclusive bounds, and a name for printing.
///
/// Two variables are equal when their bounds are; the name is decoration.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) bounds: Interval,
    pub(crate) name: Option<String>,
}

impl Variable {
    /// A variable without a name.
    pub fn new(bounds: Interval) -> Variable {
        Variable { bounds, name: None }
    }

    /// The same with a name. Text shows it where it is an identifier and no other variable's.
    #[must_use]
    pub fn named(self, name: &str) -> Variable {
        Variable { name: Some(name.to_owned()), ..self }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn with_bounds(self, bounds: Interval) -> Variable {
        Variable { bounds, ..self }
    }

    /// The values it may have, inclusive at both ends.
    pub fn bounds(&self) -> Interval {
        self.bounds
    }

    /// The name, printed instead of `d0` or `s0`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Variable) -> bool {
        self.bounds == other.bounds
    }
}

impl Eq for Variable {}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bounds.hash(state);
    }
}

/// A token for the owner of a runtime variable, which yields its value. Its meaning belongs to the crate that made it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Owner(pub u64);

/// The policy for values outside the bounds of a runtime variable.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum OutOfBounds {
    /// The value is moved to the nearest bound: dynamic-slice, dynamic-update-slice, gather. The variable stands for the
    /// clamped value, so its bounds are part of what it means and are never narrowed.
    #[default]
    Clamp,
    /// The point is not in the domain: scatter. The variable stands for the value itself, so its bounds are a condition like any
    /// other and may be narrowed.
    Drop,
}

/// A variable whose value is known only when the program runs: an element of a tensor.
#[derive(Clone, Debug)]
pub struct RuntimeVariable {
    pub(crate) bounds: Interval,
    pub(crate) name: Option<String>,
    pub(crate) owner: Option<Owner>,
    pub(crate) access: Vec<Expr>,
    pub(crate) out_of_bounds: OutOfBounds,
}

impl RuntimeVariable {
    /// A variable of which only the bounds are known.
    pub fn new(bounds: Interval) -> RuntimeVariable {
        RuntimeVariable { bounds, name: None, owner: None, access: Vec::new(), out_of_bounds: OutOfBounds::Clamp }
    }

    /// An element of what `owner` yields, clamped into the bounds.
    ///
    /// ```
    /// use weft_indexing::{Expr, IndexingMap, Interval, Owner, RuntimeVariable, Variable};
    ///
    /// // A dynamic slice of four elements out of ten, whose start is the scalar that instruction 7 yields.
    /// let start = RuntimeVariable::of(Owner(7), Vec::new(), Interval::new(0, 6));
    /// let index = Variable::new(Interval::of_extent(4));
    /// let slice = IndexingMap::try_new(vec![index], vec![], vec![start], vec![Expr::dim(0) + Expr::runtime(0)], vec![])?;
    /// assert_eq!(slice.to_string(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn of(owner: Owner, access: Vec<Expr>, bounds: Interval) -> RuntimeVariable {
        RuntimeVariable { owner: Some(owner), access, ..RuntimeVariable::new(bounds) }
    }

    /// The same with a name. Text shows it where it is an identifier and no other variable's.
    #[must_use]
    pub fn named(self, name: &str) -> RuntimeVariable {
        RuntimeVariable { name: Some(name.to_owned()), ..self }
    }

    /// The same with the policy [`OutOfBounds::Drop`].
    #[must_use]
    pub fn dropping(self) -> RuntimeVariable {
        RuntimeVariable { out_of_bounds: OutOfBounds::Drop, ..self }
    }

    /// The same with the policy [`OutOfBounds::Clamp`].
    #[must_use]
    pub fn clamping(self) -> RuntimeVariable {
        RuntimeVariable { out_of_bounds: OutOfBounds::Clamp, ..self }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn with_bounds(self, bounds: Interval) -> RuntimeVariable {
        RuntimeVariable { bounds, ..self }
    }

    /// The same element of what another owner yields.
    #[must_use]
    pub fn with_owner(self, owner: Owner) -> RuntimeVariable {
        RuntimeVariable { owner: Some(owner), ..self }
    }

    /// The same with another access: another element of what its owner yields.
    #[must_use]
    pub fn with_access(self, access: Vec<Expr>) -> RuntimeVariable {
        RuntimeVariable { access, ..self }
    }

    /// The values it may have, inclusive at both ends.
    pub fn bounds(&self) -> Interval {
        self.bounds
    }

    /// The name, printed instead of `rt0`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The owner, which yields the value, where that is known.
    pub fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// The index of the value in the owner's tensor, over the variables of the map that the variable belongs to; of
    /// runtime variables only over those before this one.
    pub fn access(&self) -> &[Expr] {
        &self.access
    }

    /// The policy for values outside the bounds.
    pub fn out_of_bounds(&self) -> OutOfBounds {
        self.out_of_bounds
    }

    /// True when both always have the same value: one known owner, one element, one policy, and where values are clamped one
    /// pair of bounds. False where that is not known.
    pub fn is_same_value(&self, other: &RuntimeVariable) -> bool {
        self.owner.is_some()
            && self.owner == other.owner
            && self.access == other.access
            && self.out_of_bounds == other.out_of_bounds
            && (self.out_of_bounds == OutOfBounds::Drop || self.bounds == other.bounds)
    }
}

impl PartialEq for RuntimeVariable {
    fn eq(&self, other: &RuntimeVariable) -> bool {
        self.bounds == other.bounds
            && self.owner == other.owner
            && self.access == other.access
            && self.out_of_bounds == other.out_of_bounds
    }
}

impl Eq for RuntimeVariable {}

impl Hash for RuntimeVariable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.bounds, self.owner, &self.access, self.out_of_bounds).hash(state);
    }
}

/// A table of names for owners, filled as texts are read: each new name gets the next token.
///
/// Maps that are read with one table may be composed: runtime variables of one name are those of one owner. The tokens are the
/// upper half of all, from 2^63 on, so that owners with names are none of those that a layer above counts from zero, nor of those
/// that a text shows by their numbers.
///
/// ```
/// use weft_indexing::{IndexingMap, Owner, OwnerNames};
///
/// let mut names = OwnerNames::default();
/// let mut read = |owner: &str| {
///     let text = format!("(d0){{rt0}} -> (rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 9]\n  hlo: {owner}\n  (d0) -> (d0)");
///     IndexingMap::parse_with(&text, &mut |name| Some(names.owner(name)))
/// };
/// let (numbered, named) = (read("#0")?, read("indices")?);
/// assert_eq!(numbered.runtime()[0].owner(), Some(Owner(0)));
/// assert_ne!(numbered.runtime()[0].owner(), named.runtime()[0].owner());
/// assert_eq!(named.runtime()[0].owner(), read("indices")?.runtime()[0].owner());
/// assert_eq!(numbered.verbose_with(&|owner| names.name(owner)).to_string(), numbered.verbose().to_string());
/// # Ok::<(), weft_indexing::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerNames {
    names: Vec<String>,
    owners: BTreeMap<String, Owner>,
}

/// The token of the first name.
const FIRST_NAMED: u64 = 1 << 63;

impl OwnerNames {
    /// The owner of this name, a new one where the name is new.
    pub fn owner(&mut self, name: &str) -> Owner {
        if let Some(&known) = self.owners.get(name) {
            return known;
        }
        let new = Owner(FIRST_NAMED + self.names.len() as u64);
        self.names.push(name.to_owned());
        self.owners.insert(name.to_owned(), new);
        new
    }

    /// The name of an owner that this table made.
    pub fn name(&self, owner: Owner) -> Option<String> {
        self.names.get(usize::try_from(owner.0.checked_sub(FIRST_NAMED)?).ok()?).cloned()
    }
}
