//! What the fuzz targets check of a text. Each function panics where a promise of `weft-hlo` is broken, and returns
//! otherwise, whatever the text is.
//!
//! `fuzz_targets/` runs them under libFuzzer (`./run TARGET SECONDS`), `tests/replay.rs` over everything in `corpus/`.

use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::text::{PrintOptions, parse, print, print_with};
use weft_hlo::verify::verify;

/// A check of one input.
pub type Check = fn(&[u8]);

/// Every check by the name of its target, which is also that of its corpus.
pub const CHECKS: &[(&str, Check)] =
    &[("parse", check_parse), ("round_trip", check_round_trip), ("verify", check_verify)];

/// Reading any bytes ends, and findings have codes, places within the text and something to say.
pub fn check_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(findings) = parse(&text) {
        check_findings(&findings, &text);
    }
}

/// What was read is printed so that the same is read again, in both spellings; printing twice prints the same.
pub fn check_round_trip(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(module) = parse(&text) else { return };
    let long = print(&module);
    let again = parse(&long).unwrap_or_else(|findings| panic!("what was printed is not read:\n{findings}\n{long}"));
    assert_eq!(again, module, "what was printed reads as something else:\n{long}");
    assert_eq!(print(&again), long, "printing is not stable");
    let short = print_with(&module, &PrintOptions::short());
    let again = parse(&short).unwrap_or_else(|findings| panic!("the short form is not read:\n{findings}\n{short}"));
    assert_eq!(again, module, "the short form reads as something else:\n{short}");
}

/// Checking whatever was read ends.
pub fn check_verify(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(module) = parse(&text) else { return };
    if let Err(findings) = verify(&module) {
        check_findings(&findings.locate(&text), &text);
    }
}

fn check_findings(findings: &Diagnostics, text: &str) {
    assert!(!findings.0.is_empty(), "an error without a finding");
    for finding in &findings.0 {
        assert!(finding.code.starts_with("HLO"), "a finding without a code: {finding}");
        assert!(!finding.message.is_empty(), "a finding that says nothing: {finding}");
        assert!(finding.span.range().end <= text.len(), "a finding outside of the text: {finding}");
        assert!(finding.position.is_some(), "a finding without line and column: {finding}");
    }
}
