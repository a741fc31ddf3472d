//! Lists of passes on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsStr;
use weft_hlo::passes::{ON_REQUEST, PASSES, Pass, Pipeline, pass_named};

/// Names of passes, as they stood between commas; none for an empty text.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassList(Vec<String>);

impl PassList {
    /// Whether the pass is named.
    pub(crate) fn holds(&self, pass: &str) -> bool {
        self.0.iter().any(|name| name == pass)
    }

    /// The passes in this order.
    pub(crate) fn pipeline(&self) -> Pipeline {
        self.0.iter().filter_map(|name| pass_named(name)).fold(Pipeline::new(), Pipeline::with)
    }
}

/// Reads names of passes between commas, and nothing else.
pub(crate) fn pass_list() -> PassListParser {
    let described = |pass: &&dyn Pass| PossibleValue::new(pass.name()).help(pass.about());
    PassListParser(PASSES.iter().chain(ON_REQUEST).map(described).collect::<Vec<_>>().into())
}

/// See [`pass_list`].
#[derive(Clone)]
pub(crate) struct PassListParser(PossibleValuesParser);

impl TypedValueParser for PassListParser {
    type Value = PassList;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<PassList, clap::Error> {
        let Some(text) = value.to_str() else { return Err(clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command)) };
        let names = text.split(',').map(str::trim).filter(|_| !text.trim().is_empty());
        let known =
            |name: &str| self.0.parse_ref(command, argument, OsStr::new(name)).map_err(|error| named(error, name));
        names.map(known).collect::<Result<_, _>>().map(PassList)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The error about a name between two commas; an empty one would be taken for a list that is missing.
fn named(mut error: clap::Error, name: &str) -> clap::Error {
    if name.is_empty() {
        error.insert(ContextKind::InvalidValue, ContextValue::String("nothing between two commas".into()));
    }
    error
}
