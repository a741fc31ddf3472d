//! Modules that parse but break a rule, with the verifier's findings.

use crate::cases;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

#[test]
fn findings_are_those_expected() {
    let seen = cases::check("unsound", |name, text| {
        let module = parse(text).unwrap_or_else(|found| panic!("{name} is not read:\n{found}"));
        let found = verify(&module).expect_err(name);
        for finding in &found.0 {
            assert_ne!(finding.span, Default::default(), "{name}: {finding}");
        }
        found.locate(text).to_string()
    });
    assert!(seen.count >= 270, "{} cases", seen.count);
    let documented = include_str!("../src/diagnostic/code.rs");
    for code in &seen.codes {
        assert!(documented.contains(&format!("= \"{code}\";")), "{code} is not documented");
    }
    // Broken structure and impossible shapes are refused by the reader; `tests/verify.rs` makes them by hand.
    assert!(seen.codes.len() >= 14, "{:?}", seen.codes);
}
