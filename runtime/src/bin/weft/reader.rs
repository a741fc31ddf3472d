//! Maps that a command line gives: as text, as the name of a file, or through standard input.

use crate::args::File;
use crate::report::Failure;
use crate::source::Source;
use crate::subject::Subject;
use std::path::Path;
use std::sync::Arc;
use weft_indexing::{Error, OwnerNames};

/// Reads all texts of one command, so that equal names of owners in them are one owner.
pub(crate) struct Reader {
    owners: OwnerNames,
    /// How many texts from arguments there will be.
    texts: usize,
    read: usize,
    has_read_stdin: bool,
    /// Whether results are written with the owner and the element of each runtime variable.
    verbose: bool,
}

/// A map, and the text that it was read from.
pub(crate) struct Given {
    pub(crate) source: Arc<Source>,
    pub(crate) subject: Subject,
}

impl Given {
    /// A failure that an operation on this map met, told at the map's text.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        Failure::from_indexing(&self.source, error)
    }
}

impl Reader {
    /// For a command with so many texts.
    pub(crate) fn new(texts: usize, verbose: bool) -> Reader {
        Reader { owners: OwnerNames::default(), texts, read: 0, has_read_stdin: false, verbose }
    }

    /// The text that an argument stands for: standard input for `-`, a file for `@` and its name, and else the argument.
    pub(crate) fn source(&mut self, argument: &str) -> Result<Arc<Source>, Failure> {
        self.read += 1;
        if argument == "-" {
            if std::mem::replace(&mut self.has_read_stdin, true) {
                return Err(Failure::Misuse("standard input can be read once: `-` is given twice".into()));
            }
            return Source::read(&File { file: "-".into() });
        }
        if let Some(file) = argument.strip_prefix('@') {
            return Source::read(&File { file: file.into() });
        }
        let name = if self.texts > 1 { format!("<argument {}>", self.read) } else { "<argument>".to_owned() };
        Ok(Source::given(&name, argument))
    }

    /// The map or expression that an argument stands for.
    pub(crate) fn subject(&mut self, argument: &str) -> Result<Given, Failure> {
        let source = self.source(argument)?;
        let subject = Subject::read(&source, &mut self.owners).map_err(|failure| hinted(argument, failure))?;
        Ok(Given { source, subject })
    }

    /// The map that an argument stands for.
    pub(crate) fn map(&mut self, argument: &str) -> Result<Given, Failure> {
        let source = self.source(argument)?;
        let subject = Subject::read_map(&source, &mut self.owners).map_err(|failure| hinted(argument, failure))?;
        Ok(Given { source, subject })
    }

    /// As it is to be written.
    pub(crate) fn text(&self, subject: &Subject) -> String {
        if self.verbose { subject.verbose(&|owner| self.owners.name(owner)) } else { subject.to_string() }
    }
}

/// What cannot be read and is the name of a file was meant to be one.
fn hinted(argument: &str, failure: Failure) -> Failure {
    if !argument.starts_with('@') && Path::new(argument).is_file() {
        return Failure::Misuse(format!("{argument} is a file; @{argument} reads a map from it"));
    }
    failure
}
