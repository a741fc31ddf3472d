//! Parsing and printing of indexing maps.
//!
//! ```text
//! (d0, d1)[s0]{rt0} -> (d0 + s0, rt0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1], rt0 in [0, 4], d0 + s0 in [0, 3]
//! ```
//!
//! # Written
//!
//! `{}` writes one line, `{:#}` one line for each entry of the domain, as the specification's examples have it. Every
//! variable is listed, in the order of the header; the constraints follow, sorted by their text. A chosen name of a variable
//! is shown where it is an identifier, no other variable has it, and it is not the number of another.
//!
//! [`IndexingMap::verbose`] writes several lines, and under each runtime variable whose value it is and which element:
//!
//! ```text
//! (d0, d1){rt0} -> (d0 + rt0, d1),
//! domain:
//! d0 in [0, 3],
//! d1 in [0, 7],
//! rt0 in [0, 26]
//!   hlo: indices = s32[4,2]{1,0} parameter(1)
//!   (d0, d1) -> (d0, 1)
//! ```
//!
//! What follows `hlo:` names the [`Owner`]. A number sign and digits are the token itself, as in `hlo: #7`; a question mark says
//! that the owner is not known; anything else, to the end of its line, is a name that a table gave,
//! as [`OwnerNames`](crate::OwnerNames) does. `drop` after the bounds stands for [`OutOfBounds::Drop`](crate::OutOfBounds::Drop).
//!
//! # Read
//!
//! Both are read, on one line or on several. Older spellings are read too: `0 <= d0 <= 9` for `d0 in [0, 9]`; runtime variables
//! among the range variables in brackets, where `hlo:` tells them apart; a comma missing before `domain:` and between
//! entries, or trailing; `floorDiv`; `100d0`. `UNDEFINED` is the undefined map, and `KNOWN EMPTY` in front of a map (or alone)
//! says that its domain was proved empty. An error carries the bytes that it is about.
//!
//! The notation without `hlo:` lines leaves out what it does not show: reading it back gives runtime variables without owner
//! that clamp.

mod names;
mod read;
mod write;

use std::fmt;

use weft_affine::Ranges;

use crate::{Error, IndexingMap, Owner};
use write::Form;

impl fmt::Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = f.alternate();
        write::write_map(self, f, &Form { lines, owners: None })
    }
}

/// As [`IndexingMap::verbose`] where the map has runtime variables, on one line where it has none.
impl fmt::Debug for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runtime.is_empty() { fmt::Display::fmt(self, f) } else { fmt::Display::fmt(&self.verbose(), f) }
    }
}

/// A map with everything known of its runtime variables; see [`IndexingMap::verbose`].
#[derive(Copy, Clone)]
pub struct Verbose<'a> {
    map: &'a IndexingMap,
    owners: &'a dyn Fn(Owner) -> Option<String>,
}

impl fmt::Display for Verbose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write::write_map(self.map, f, &Form { lines: true, owners: Some(self.owners) })
    }
}

impl fmt::Debug for Verbose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl IndexingMap {
    /// The text that also shows the owner, the policy and the access of each runtime variable. Owners are shown by their
    /// tokens, so it is read back by [`str::parse`], to an equal map.
    pub fn verbose(&self) -> Verbose<'_> {
        self.verbose_with(&|_| None)
    }

    /// As [`IndexingMap::verbose`], with the names that `owners` has for them. An owner without a name is shown by its token;
    /// so is one whose name would not be read back, for it has several lines, blanks around it, or the form of a token.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, OwnerNames};
    ///
    /// let text = "(d0){rt0} -> (d0 + rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 26]\n  hlo: start = s32[] parameter(1)\n  (d0) -> ()";
    /// let mut owners = OwnerNames::default();
    /// let map = IndexingMap::parse_with(text, &mut |name| Some(owners.owner(name)))?;
    /// assert_eq!(map.verbose_with(&|owner| owners.name(owner)).to_string(), text);
    /// assert_eq!(map.to_string(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 26]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn verbose_with<'a>(&'a self, owners: &'a dyn Fn(Owner) -> Option<String>) -> Verbose<'a> {
        Verbose { map: self, owners }
    }

    /// Parses a map, with `owner` to look up each name after `hlo:`.
    ///
    /// # Errors
    /// When the text is not that of a map, with the byte range of the error; also for a name that `owner` does not know,
    /// and on overflow.
    pub fn parse_with(source: &str, owner: &mut dyn FnMut(&str) -> Option<Owner>) -> Result<IndexingMap, Error> {
        Ok(read::read_map(source, owner)?.0)
    }

    /// As [`IndexingMap::parse_with`], and the bounds that the text gives each variable: those of the first entry about it. What
    /// further entries say narrows the bounds of the map, and not these.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Interval, Var};
    ///
    /// let text = "(th_x) -> (th_x), domain: th_x in [0, 63], th_x in [0, 31]";
    /// let (map, given) = IndexingMap::parse_with_bounds(text, &mut |_| None)?;
    /// assert_eq!(map.dims()[0].bounds(), Interval::new(0, 31));
    /// assert_eq!(given.get(Var::Dim(0)), Interval::new(0, 63));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IndexingMap::parse_with`].
    pub fn parse_with_bounds(
        source: &str,
        owner: &mut dyn FnMut(&str) -> Option<Owner>,
    ) -> Result<(IndexingMap, Ranges), Error> {
        read::read_map(source, owner)
    }
}

/// Reads a map in the notation of the specification, where owners are shown by their tokens: names of owners are unknown, so
/// that equal names in two texts do not pass for one owner; [`IndexingMap::parse_with`] reads them.
impl std::str::FromStr for IndexingMap {
    type Err = Error;

    fn from_str(source: &str) -> Result<IndexingMap, Error> {
        IndexingMap::parse_with(source, &mut |_| None)
    }
}
