//! Words that name nothing.

use std::fmt;

/// A word that was to name a value of a type, and names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
}

impl UnknownName {
    /// `name` is the name of no `what`.
    pub(crate) fn new(what: &'static str, name: &str) -> Self {
        UnknownName { what, name: name.to_owned() }
    }

    /// The word.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is the name of no {}", self.name, self.what)
    }
}

impl std::error::Error for UnknownName {}
