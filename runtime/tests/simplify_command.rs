//! The command `weft simplify`: maps, their derivations, what is left of their divisions, and the e-graph.

use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::Value;

const FLAT: &str = "(d0, d1) -> ((d0 * 8 + d1) floordiv 8, d1), domain: d0 in [0, 3], d1 in [0, 7]";

#[test]
fn maps_are_simplified_and_derived() {
    let plain = weft(&["simplify", FLAT]);
    assert_eq!(plain.status.code(), Some(0), "{}", stderr(&plain));
    assert_eq!(stdout(&plain), "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]\n");
    assert_eq!(stdout(&fed(&["simplify", "-"], FLAT)), stdout(&plain));
    let wanted = "\
(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]

result 0
  (d0 * 8 + d1) floordiv 8
    = d0 + d1 floordiv 8    by floordiv-of-multiple
    = d0                    by floordiv-in-range, since d1 in [0, 7]: d1 floordiv 8 = 0
  where
    floordiv-of-multiple: (c*y + z) floordiv c = y + z floordiv c if c > 0
    floordiv-in-range: (c*y + z) floordiv c = y + q if c*q <= z < c*q + c
";
    assert_eq!(stdout(&weft(&["simplify", "--why", FLAT])), wanted);
    let constrained = weft(&["simplify", "--why", "(d0) -> (d0), domain: d0 in [0, 99], d0 * 2 in [5, 15]"]);
    let wanted = "\
(d0) -> (d0), domain: d0 in [3, 7]

domain
  d0 * 2 in [5, 15] <=> d0 in [3, 7]    by bounds-of-multiple
";
    assert_eq!(stdout(&constrained), wanted);
}

#[test]
fn what_is_left_is_explained() {
    let text = "(d0) -> ((d0 + 3) mod 4), domain: d0 in [0, 3]";
    let wanted = "\
(d0) -> ((d0 + 3) mod 4), domain: d0 in [0, 3]

what is left of result 0
  (d0 + 3) mod 4 is in [0, 3]
    known-value: needs (d0 + 3) mod 4 = 0, but (d0 + 3) mod 4 is in [0, 3]
    mod-in-range: needs 0 <= d0 + 3 < 4, but d0 + 3 is in [3, 6]
    mod-definition: gives d0 - ((d0 + 3) floordiv 4) * 4 + 3, at a cost of 25 instead of 22
    of another form: mod-of-multiple, mod-of-mod, mod-common-factor, mod-of-negation, mod-2-of-successor, mod-of-floordiv
";
    assert_eq!(stdout(&weft(&["simplify", "--why-not", text])), wanted);
    let gone = stdout(&weft(&["simplify", "--why-not", FLAT]));
    assert!(gone.ends_with("d1 in [0, 7]\n\nno division and no remainder is left\n"), "{gone}");
    let output = weft(&["simplify", "--why-not", text, "--format", "json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    let division = &value["results"][0]["why_not"][0];
    assert_eq!((&division["division"], &division["range"]), (&"(d0 + 3) mod 4".into(), &serde_json::json!([0, 3])));
    let trials = division["trials"].as_array().expect("a list of trials");
    let trial = |law: &str| trials.iter().find(|trial| trial["law"] == law).expect(law);
    let wanted = serde_json::json!([{
        "condition": "c*q <= z < c*q + c", "expression": "d0 + 3", "needs": [0, 3], "range": [3, 6],
    }]);
    assert_eq!(trial("mod-in-range")["unproved"], wanted);
    assert_eq!(
        (&trial("mod-definition")["obstacle"], &trial("mod-definition")["cost"]),
        (&"not-cheaper".into(), &25.into())
    );
    assert_eq!(trial("mod-of-mod")["obstacle"], "other-form");
    let unasked = stdout(&weft(&["simplify", text, "--format", "json"]));
    assert!(!unasked.contains("why_not"), "{unasked}");
}

#[test]
fn expressions_and_maps_without_domain_are_simplified() {
    for (text, wanted) in [
        ("(d0 floordiv 8) * 8 + d0 mod 8", "d0\n"),
        ("-d0 mod 2", "d0 mod 2\n"),
        ("-(d0 mod 2)", "-(d0 mod 2)\n"),
        ("(d0 + s0 * 4) mod 4, domain: d0 in [0, 3], s0 in [0, 9]", "d0\n"),
        ("(d0)[s0] -> (d0 mod 6 mod 3, s0)", "(d0)[s0] -> (d0 mod 3, s0)\n"),
        ("UNDEFINED", "UNDEFINED\n"),
    ] {
        let output = weft(&["simplify", text]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), wanted), "{}", stderr(&output));
    }
    for (text, place) in [
        ("d0 mod 0", "<argument>:1:4"),
        ("d0 mod 2, domain: d0 on [0, 3]", "<argument>:1:22"),
        ("(d0) -> (d1)", "<argument>:1:10"),
        ("(d0) -> (d0), domain: d1 in [0, 3]", "<argument>:1:23"),
    ] {
        let output = weft(&["simplify", text]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(stderr(&output).contains(place) && stderr(&output).contains("error[AFF006]"), "{}", stderr(&output));
        assert!(output.stdout.is_empty(), "{text}");
    }
    let large = weft(&["simplify", "d9999, domain: d0 in [0, 1]"]);
    assert!(stderr(&large).contains("variables, at most: expected 4096, found 10000"), "{}", stderr(&large));
}

#[test]
fn derivations_are_written_as_json() {
    let output = weft(&["simplify", FLAT, "--format", "json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(value["before"], FLAT);
    assert_eq!((&value["capped"], &value["domain"]), (&false.into(), &Value::Array(Vec::new())));
    let results = value["results"].as_array().expect("a list of results");
    assert_eq!(results.len(), 2);
    assert_eq!((&results[0]["after"], &results[1]["derivation"]), (&"d0".into(), &Value::Array(Vec::new())));
    assert!(results[0]["cost_before"].as_u64() > results[0]["cost_after"].as_u64());
    let steps = results[0]["derivation"].as_array().expect("a list of steps");
    let laws: Vec<&Value> = steps.iter().map(|step| &step["law"]).collect();
    assert_eq!(laws, ["floordiv-of-multiple", "floordiv-in-range"]);
    assert_eq!((&steps[0]["letters"]["z"], &steps[0]["whole"]), (&"d1".into(), &"d0 + d1 floordiv 8".into()));
    assert_eq!(steps[1]["ranges"][0], serde_json::json!({ "expression": "d1", "range": [0, 7] }));
}

#[test]
fn the_egraph_is_drawn() {
    let folder = Folder::new();
    let dot = weft(&["simplify", FLAT, "--egraph", "-"]);
    assert!(stdout(&dot).starts_with("digraph egraph {\n"), "{}", stdout(&dot));
    let (named, drawn) = (folder.path("forms.dot"), folder.path("forms.svg"));
    for file in [&named, &drawn] {
        let output = weft(&["simplify", FLAT, "--egraph", file]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).starts_with("(d0, d1) -> (d0, d1)"), "{}", stdout(&output));
    }
    let read = |file: &String| std::fs::read_to_string(file).expect("it was written");
    assert_eq!(read(&named), stdout(&dot));
    assert!(read(&drawn).contains("<svg ") && read(&drawn).contains("floordiv 8"), "{}", read(&drawn));
    let many = "((d0 * 7 + d1) mod 12) floordiv 4 + (d1 * 5 + d0) mod 12, domain: d0 in [0, 999], d1 in [0, 399]";
    assert_eq!(weft(&["simplify", many, "--egraph", &drawn]).status.code(), Some(0));
    let constant = weft(&["simplify", "(d0) -> (7)", "--egraph", "-"]);
    assert_eq!(constant.status.code(), Some(1));
    assert!(stderr(&constant).contains("all are constants"), "{}", stderr(&constant));
}
