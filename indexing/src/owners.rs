//! Names of owners, for texts of maps outside the layer above.

use std::collections::BTreeMap;

use crate::Owner;

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
/// assert_eq!(numbered.runtime[0].owner, Some(Owner(0)));
/// assert_ne!(numbered.runtime[0].owner, named.runtime[0].owner);
/// assert_eq!(named.runtime[0].owner, read("indices")?.runtime[0].owner);
/// assert_eq!(numbered.verbose_with(&|owner| names.name(owner)).to_string(), numbered.verbose().to_string());
/// # Ok::<(), weft_indexing::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerNames {
    names: Vec<String>,
    owners: BTreeMap<String, Owner>,
}

/// The token of the first name.
const FIRST: u64 = 1 << 63;

impl OwnerNames {
    /// The owner of this name, a new one where the name is new.
    pub fn owner(&mut self, name: &str) -> Owner {
        if let Some(&known) = self.owners.get(name) {
            return known;
        }
        let new = Owner(FIRST + self.names.len() as u64);
        self.names.push(name.to_owned());
        self.owners.insert(name.to_owned(), new);
        new
    }

    /// The name of an owner that this table made.
    pub fn name(&self, owner: Owner) -> Option<String> {
        self.names.get(usize::try_from(owner.0.checked_sub(FIRST)?).ok()?).cloned()
    }
}
