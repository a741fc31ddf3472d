//! The programs that are measured.

use crate::args::File;
use crate::report::Failure;
use crate::source::Source;
use std::sync::Arc;

macro_rules! cases {
    ($($name:literal)*) => {
        /// The programs that come with the command, by name, as JAX printed them.
        pub(super) const CASES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/", $name, ".hlo"))),)*];
    };
}

cases! {
    "chain10" "bias_gelu" "p0_plus_T" "transpose2d" "transpose021" "transpose210" "row_sum" "col_sum" "full_sum"
    "softmax" "layernorm" "diamond1" "diamonds8" "diamonds16" "diamonds32" "diamonds64" "slice_pad_concat"
    "gather_rows" "matmul1024"
}

/// A program to measure.
pub(super) struct Case {
    /// The name of a case, or of a file.
    pub(super) name: String,
    /// Its text.
    pub(super) source: Arc<Source>,
    /// Whether it came with the command, so that there may be reference kernels.
    pub(super) is_known: bool,
}

impl Case {
    fn known(name: &str, text: &str) -> Case {
        Case { name: name.to_owned(), source: Source::given(name, text), is_known: true }
    }

    /// All that come with the command.
    pub(super) fn all() -> Vec<Case> {
        CASES.iter().map(|(name, text)| Case::known(name, text)).collect()
    }

    /// The case of this name, or else the file.
    pub(super) fn named(name: &str) -> Result<Case, Failure> {
        if let Some((name, text)) = CASES.iter().find(|(known, _)| *known == name) {
            return Ok(Case::known(name, text));
        }
        let source = Source::read(&File { file: name.into() }).map_err(|failure| match failure {
            Failure::Message { code, text, help } => {
                let names: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
                Failure::Message { code, text: format!("{text}; the cases are {}", names.join(", ")), help }
            }
            other => other,
        })?;
        Ok(Case { name: source.name.clone(), source, is_known: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_valid_program() {
        assert_eq!(CASES.len(), 19);
        for (name, text) in CASES {
            let module = weft_hlo::text::parse(text).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            weft_hlo::verify::verify(&module).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            assert_eq!(module.name, format!("jit_{name}"));
        }
    }

    #[test]
    fn what_is_no_case_is_a_file() {
        assert!(Case::named("softmax").is_ok_and(|case| case.is_known));
        let Err(Failure::Message { text, .. }) = Case::named("soft max") else { panic!("there is no such file") };
        assert!(text.contains("cannot read soft max") && text.contains("the cases are chain10, bias_gelu"), "{text}");
    }
}
