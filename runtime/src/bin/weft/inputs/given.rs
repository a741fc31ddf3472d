//! What one `--input` gives.

use super::Leaf;
use super::bundle::Files;
use crate::npy;
use std::path::{Path, PathBuf};
use weft_hlo::ir::{ArrayShape, Data, Literal, Op, Shape};

/// Where a tensor, or several, come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A NumPy file.
    Array(PathBuf),
    /// A file of tensors that have names, and the one that is meant; all of them where none is.
    Bundle(PathBuf, Option<String>),
    /// A constant as HLO writes it.
    Constant(String),
}

impl Given {
    /// What `input` says, and the leaf that it is for, if it names one: `NAME=…`.
    pub(super) fn of(input: &Path, leaves: &[Leaf<'_>]) -> (Option<usize>, Self) {
        let named = input.to_str().and_then(|text| {
            let (name, rest) = text.split_once('=')?;
            Some((leaves.iter().position(|leaf| leaf.name == name)?, Path::new(rest)))
        });
        match named {
            Some((leaf, rest)) => (Some(leaf), Self::from_path(rest)),
            None => (None, Self::from_path(input)),
        }
    }

    fn from_path(path: &Path) -> Self {
        if is_bundle(path) {
            return Given::Bundle(path.to_path_buf(), None);
        }
        let keyed = path.to_str().and_then(|text| text.rsplit_once(':'));
        if let Some((file, key)) = keyed.filter(|(file, _)| is_bundle(Path::new(file))) {
            return Given::Bundle(PathBuf::from(file), Some(key.to_owned()));
        }
        match path.to_str().map(str::trim) {
            Some(text) if is_constant(text) && !path.exists() => Given::Constant(text.to_owned()),
            _ => Given::Array(path.to_path_buf()),
        }
    }

    /// The tensor, which has to be of this shape. The error is a sentence about what there is instead.
    pub(super) fn read(&self, shape: &ArrayShape, files: &mut Files) -> Result<Literal, String> {
        match self {
            Given::Array(path) => npy::read(path, shape),
            Given::Bundle(path, key) => {
                let bundle = files.open(path)?;
                match (key, bundle.names().as_slice()) {
                    (Some(key), _) => bundle.read(key, shape),
                    (None, [only]) => bundle.read(&only.clone(), shape),
                    (None, names) => {
                        let names = names.join(", ");
                        Err(format!("{} holds several tensors, write one behind a colon: {names}", path.display()))
                    }
                }
            }
            Given::Constant(text) => constant(text, shape),
        }
    }
}

fn is_bundle(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "npz" | "safetensors")
}

/// Whether HLO's constants begin so: numbers, truth values, arrays of these.
fn is_constant(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['{', '(', '-', '+', ' ']);
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_number = unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(is_digit);
    let word = unsigned.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
    let is_word = word.is_some_and(|word| ["true", "false", "nan", "inf"].contains(&word));
    (is_number || is_word || unsigned.starts_with('}')) && !unsigned.contains(".np")
}

/// What HLO means by this text in a constant of this shape.
fn constant(text: &str, shape: &ArrayShape) -> Result<Literal, String> {
    let plain = super::plain(shape);
    let said = |message: &str| format!("`{text}` is no constant of that: {message}");
    let module = format!("HloModule constant\nENTRY entry {{\n  ROOT constant = {plain} constant({text})\n}}\n");
    let findings = |findings: weft_hlo::diagnostic::Diagnostics| {
        said(findings.0.first().map_or("it cannot be read", |finding| &finding.message))
    };
    let module = weft_hlo::text::parse(&module).map_err(findings)?;
    weft_hlo::verify::verify(&module).map_err(findings)?;
    let entry = module.entry_computation();
    match &entry.instructions[entry.root].op {
        Op::Constant(literal) if entry.instructions.len() == 1 && literal.data != Data::Elided => {
            Ok(Literal { shape: Shape::Array(shape.clone()), data: literal.data.clone() })
        }
        _ => Err(said("it has no values")),
    }
}
