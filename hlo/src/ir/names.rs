//! Unique names, and the error for unknown ones.

use std::collections::HashMap;
use std::fmt;

/// Hands out names, adding `.1`, `.2`, … to those already taken.
#[derive(Clone, Debug, Default)]
pub struct UniqueNames {
    taken: HashMap<String, u64>,
}

impl UniqueNames {
    /// `wanted` if it is free, else `wanted` with the first free number behind it; either way it is taken afterwards.
    pub fn take(&mut self, wanted: &str) -> String {
        let Some(&count) = self.taken.get(wanted) else {
            self.taken.insert(wanted.to_owned(), 0);
            return wanted.to_owned();
        };
        let mut number = count;
        loop {
            number += 1;
            let name = format!("{wanted}.{number}");
            if !self.taken.contains_key(&name) {
                self.taken.insert(name.clone(), 0);
                self.taken.insert(wanted.to_owned(), number);
                return name;
            }
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::UniqueNames;

    #[test]
    fn numbers_skip_names_that_are_taken() {
        let mut names = UniqueNames::default();
        let taken: Vec<String> = ["a", "a.1", "a", "a", "b"].iter().map(|name| names.take(name)).collect();
        assert_eq!(taken, ["a", "a.1", "a.2", "a.3", "b"]);
    }
}
