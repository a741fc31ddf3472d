//! Texts read from files or standard input.

use crate::args::File;
use crate::report::Failure;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use weft_hlo::ir::Module;

/// A text and where it came from.
pub(crate) struct Source {
    /// The file's name, or `<stdin>`.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

impl Source {
    /// Reads the file, or standard input for `-`.
    pub(crate) fn read(file: &File) -> Result<Arc<Source>, Failure> {
        let (name, bytes) = bytes(file)?;
        Source::of(name, bytes)
    }

    /// The text that was read from a file of this name.
    pub(crate) fn of(name: String, bytes: Vec<u8>) -> Result<Arc<Source>, Failure> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let position = error.utf8_error().valid_up_to();
            Failure::not_read(format!("{name} is not UTF-8 text: byte {position} is not part of a character"))
        })?;
        Ok(Arc::new(Source { name, text }))
    }

    /// A text from the command line.
    pub(crate) fn given(name: &str, text: &str) -> Arc<Source> {
        Arc::new(Source { name: name.to_owned(), text: text.to_owned() })
    }

    /// The module it spells.
    pub(crate) fn parse(self: &Arc<Self>) -> Result<Module, Failure> {
        weft_hlo::text::parse(&self.text).map_err(|findings| Failure::Findings(Arc::clone(self), findings))
    }

    /// The module it spells, if the verifier has nothing to say.
    pub(crate) fn parse_valid(self: &Arc<Self>) -> Result<Module, Failure> {
        let module = self.parse()?;
        weft_hlo::verify::verify(&module).map_err(|findings| Failure::Findings(Arc::clone(self), findings))?;
        Ok(module)
    }
}

/// What a file holds, or standard input for `-`, and its name.
pub(crate) fn bytes(file: &File) -> Result<(String, Vec<u8>), Failure> {
    let path = file.file.as_path();
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        ("<stdin>".to_string(), read.map(|_| bytes))
    } else {
        (path.display().to_string(), std::fs::read(path))
    };
    let bytes = bytes.map_err(|error| Failure::not_read(format!("cannot read {name}: {error}")))?;
    Ok((name, bytes))
}
