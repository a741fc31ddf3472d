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
    "prefix_sum" "cumsum_rows" "cumsum_columns"
    "softmax" "layernorm" "softmax_fused" "layernorm_fused" "diamond1" "diamonds8" "diamonds16" "diamonds32" "diamonds64" "slice_pad_concat"
    "gather_rows" "scatter_rows" "sort1m" "uniform" "max_pool" "window_sum" "matmul1024" "matmul_s8" "matvec4096" "matvec_s4" "matmul8x4096" "matmuls64x128" "matmul_softmax" "conv3x3" "conv_strided" "conv_first" "depthwise3x3" "attention" "fft1m" "cholesky512" "qr256" "eigh64" "svd64" "move_f32" "move_bf16" "move_s8" "move_pred" "move_u64" "while_known" "while_unknown" "while_kernel" "launches_200"
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

    /// What it is measured beside: the case of its family that moves as many bytes as `f32`.
    pub(super) fn beside(&self) -> Option<Case> {
        const YARDSTICK: &str = "move_f32";
        let is_beside = self.is_known && self.name.starts_with("move_") && self.name != YARDSTICK;
        Case::named(YARDSTICK).ok().filter(|_| is_beside)
    }

    /// How many dispatches within a pass it is measured beside: as many as its loop has rounds, or as it has launches.
    pub(super) fn dispatches(&self) -> Option<u32> {
        let count = match self.name.as_str() {
            "while_known" | "while_unknown" | "while_kernel" => 10_000,
            "launches_200" => 200,
            _ => return None,
        };
        Some(count).filter(|_| self.is_known)
    }

    /// Whether it is measured beside the standard library's sort of its argument, on the host.
    pub(super) fn is_beside_sort(&self) -> bool {
        self.is_known && self.name == "sort1m"
    }

    /// Whether its loops may be kernels.
    pub(super) fn may_have_whole_loops(&self) -> bool {
        !(self.is_known && matches!(self.name.as_str(), "while_known" | "while_unknown"))
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
        assert_eq!(CASES.len(), 54);
        for (name, text) in CASES {
            let module = weft_hlo::text::parse(text).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            weft_hlo::verify::verify(&module).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            assert_eq!(module.name, format!("jit_{name}"));
        }
    }

    #[test]
    fn what_moves_is_measured_beside_floats() {
        let beside = |name: &str| Case::named(name).ok().and_then(|case| case.beside()).map(|case| case.name);
        assert_eq!(beside("move_s8").as_deref(), Some("move_f32"));
        assert_eq!((beside("move_f32"), beside("softmax")), (None, None));
    }

    #[test]
    fn loops_are_measured_beside_dispatches() {
        let dispatches = |name: &str| Case::named(name).ok().and_then(|case| case.dispatches());
        assert_eq!((dispatches("while_known"), dispatches("launches_200")), (Some(10_000), Some(200)));
        assert_eq!(dispatches("softmax"), None);
        let may = |name: &str| Case::named(name).is_ok_and(|case| case.may_have_whole_loops());
        assert_eq!((may("while_unknown"), may("while_kernel")), (false, true));
    }

    #[test]
    fn what_is_no_case_is_a_file() {
        assert!(Case::named("softmax").is_ok_and(|case| case.is_known));
        let Err(Failure::Message { text, .. }) = Case::named("soft max") else { panic!("there is no such file") };
        assert!(text.contains("cannot read soft max") && text.contains("the cases are chain10, bias_gelu"), "{text}");
    }
}
