//! The text of a set: its members in braces.
//!
//! ```text
//! {(d0) -> (d0), domain: d0 in [0, 1]; (d0) -> (d0), domain: d0 in [6, 7]}
//! AT MOST (members) {(d0) -> (d0), domain: d0 in [0, 7]}
//! ```
//!
//! A set without points is that of a map that is known to be empty, and an undefined set that of the undefined map. `AT MOST`
//! stands before a set that is not exact, with the reason.

use std::fmt;
use std::str::FromStr;

use super::{MapSet, OverapproximationReason};
use crate::domain_set::with_common_runtime;
use crate::{Error, IndexingMap, Limits};

/// On one line; `{:#}` puts each member on a line of its own. The accesses of runtime variables are left out.
impl fmt::Display for MapSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |map, f| write!(f, "{map}"))
    }
}

/// As `Display`, with everything known of runtime variables.
impl fmt::Debug for MapSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |map, f| write!(f, "{}", map.verbose()))
    }
}

impl MapSet {
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        member: impl Fn(&IndexingMap, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        if let Some(reason) = self.overapproximation {
            write!(f, "AT MOST ({}) ", reason.code())?;
        }
        let (open, between, close) = if f.alternate() { ("{\n  ", ";\n  ", "\n}") } else { ("{", "; ", "}") };
        f.write_str(open)?;
        for (i, map) in self.maps.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { between })?;
            member(map, f)?;
        }
        f.write_str(close)
    }
}

/// Reads a set; errors carry the bytes they are about.
///
/// Members must be over the same variables, and disjoint as far as a search within the default [`Limits`] can tell.
impl FromStr for MapSet {
    type Err = Error;

    fn from_str(source: &str) -> Result<MapSet, Error> {
        let mut reader = Reader { source, at: 0 };
        let overapproximation = reader.reason()?;
        reader.expect("{")?;
        let end = source.trim_end();
        let body_end = end.len().saturating_sub(1);
        let Some(body) = source.get(reader.at..body_end).filter(|_| end.ends_with('}')) else {
            return Err(reader.error("expected `}`", source.len()..source.len()));
        };
        let (mut maps, mut start) = (Vec::<IndexingMap>::new(), reader.at);
        for text in body.split(';') {
            let map: IndexingMap = text.parse().map_err(|e| shifted(e, start))?;
            let span = start..start + text.len();
            if let Some(first) = maps.first() {
                let fits = !first.is_undefined() && !map.is_undefined() && first.results.len() == map.results.len();
                if !fits || first.expect_same_variables(&map).is_err() {
                    return Err(reader.error("the maps of a set have the same variables and as many results", span));
                }
            }
            maps.push(map);
            start += text.len() + 1;
        }
        let overapproximation = match maps.first() {
            Some(map) if map.is_undefined() => overapproximation.or(Some(OverapproximationReason::Undefined)),
            _ => overapproximation,
        };
        for (i, map) in maps.iter().enumerate() {
            if maps.iter().skip(i + 1).any(|other| shares_a_point(map, other)) {
                return Err(reader.error("the maps of a set have no point in common", 0..source.len()));
            }
        }
        with_common_runtime(&mut maps);
        Ok(MapSet { maps, overapproximation })
    }
}

fn shares_a_point(a: &IndexingMap, b: &IndexingMap) -> bool {
    a.intersect_domain(b).is_ok_and(|both| both.some_point(&Limits::default()).0.is_some())
}

/// What stands around the members.
struct Reader<'a> {
    source: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn accept(&mut self, token: &str) -> bool {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        let is_next = trimmed.starts_with(token);
        if is_next {
            self.at += rest.len() - trimmed.len() + token.len();
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.accept(token) {
            Ok(())
        } else {
            Err(self.error(&format!("expected `{token}`"), self.at..self.source.len()))
        }
    }

    fn reason(&mut self) -> Result<Option<OverapproximationReason>, Error> {
        if !self.accept("AT") {
            return Ok(None);
        }
        self.expect("MOST")?;
        self.expect("(")?;
        let Some(reason) = OverapproximationReason::ALL.into_iter().find(|reason| self.accept(reason.code())) else {
            return Err(self.error("expected `members`, `overflow` or `undefined`", self.at..self.source.len()));
        };
        self.expect(")")?;
        Ok(Some(reason))
    }

    fn error(&self, message: &str, span: std::ops::Range<usize>) -> Error {
        weft_affine::Error::Syntax { message: message.to_owned(), span }.into()
    }
}

/// The error of a part of the source, about the whole.
fn shifted(error: Error, by: usize) -> Error {
    match error {
        Error::Affine(weft_affine::Error::Syntax { message, span }) => {
            weft_affine::Error::Syntax { message, span: span.start + by..span.end + by }.into()
        }
        other => other,
    }
}
