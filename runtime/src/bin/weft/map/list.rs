//! Lists on the command line.

use std::convert::Infallible;
use std::str::FromStr;

/// Whole numbers between commas; none for an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Integers(pub(crate) Vec<i64>);

impl FromStr for Integers {
    type Err = String;

    fn from_str(text: &str) -> Result<Integers, String> {
        let number =
            |part: &str| part.trim().parse().map_err(|_| format!("`{part}` is no whole number; write them as 1,-2,3"));
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        Ok(Integers(parts.map(number).collect::<Result<_, _>>()?))
    }
}

/// Names between commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl FromStr for Names {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Names, Infallible> {
        Ok(Names(text.split(',').map(|name| name.trim().to_owned()).collect()))
    }
}
