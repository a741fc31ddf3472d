//! Malformed texts and their findings.

use crate::cases;
use std::fmt::Write;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::text::parse;

#[test]
fn findings_are_those_expected() {
    let seen = cases::check("broken", |name, text| match parse(text) {
        Ok(_) => panic!("{name} is not broken"),
        Err(findings) => {
            let places = |findings: &Diagnostics| -> Vec<_> {
                findings.0.iter().map(|finding| (finding.code, finding.position)).collect()
            };
            // Whatever ends the lines, the same is found in the same places.
            for end in ["\r\n", "\r"] {
                let other = parse(&text.replace('\n', end)).unwrap_err();
                assert_eq!(places(&other), places(&findings), "{name} with {end:?}:\n{other}\n{findings}");
            }
            findings.to_string()
        }
    });
    assert!(seen.count >= 200, "{} cases", seen.count);
    let documented = include_str!("../src/text/mod.rs");
    for code in &seen.codes {
        assert!(documented.contains(&format!("| `{code}` |")), "{code} is not documented");
    }
}

#[test]
fn findings_are_bounded() {
    let mut text = String::from("HloModule m\nENTRY e {\n");
    for number in 0..1000 {
        writeln!(text, "  x{number} = f32[] frobnicate()").unwrap();
    }
    text.push_str("}\n");
    let findings = parse(&text).unwrap_err();
    assert_eq!(findings.0.len(), 101);
    assert_eq!(findings.0[100].code, "HLO040");
}
