//! Names of owners, for texts of maps outside the layer above.

use std::collections::BTreeMap;

use crate::Owner;

/// A table of names for owners, filled as texts are read: each new name gets the next token.
///
/// Maps that are read with one table may be composed: runtime variables of one name are those of one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerNames {
    names: Vec<String>,
    owners: BTreeMap<String, Owner>,
}

impl OwnerNames {
    /// The owner of this name, a new one where the name is new.
    pub fn owner(&mut self, name: &str) -> Owner {
        if let Some(&known) = self.owners.get(name) {
            return known;
        }
        let new = Owner(self.names.len() as u64);
        self.names.push(name.to_owned());
        self.owners.insert(name.to_owned(), new);
        new
    }

    /// The name of an owner that this table made.
    pub fn name(&self, owner: Owner) -> Option<String> {
        self.names.get(usize::try_from(owner.0).ok()?).cloned()
    }
}
