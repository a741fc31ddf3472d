//! The command `weft map`: every operation as text and as JSON, and what it refuses.

use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const SPLIT: &str = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]";
const TRANSPOSE: &str = "(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]";
const HALF: &str = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]";
const SLICE: &str = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], rt0 in [0, 4]";

/// Exit code, standard output and standard error of `weft map` with these arguments.
fn map(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = weft(&[&["map"], arguments].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

/// The results and the messages, which must come with this exit code.
fn told(code: i32, arguments: &[&str]) -> (String, String) {
    let (found, out, err) = map(arguments);
    assert_eq!(found, Some(code), "{arguments:?}: {out}{err}");
    (out, err)
}

/// The JSON value written with this exit code.
fn json_of(code: i32, arguments: &[&str]) -> Value {
    let (out, _) = told(code, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&out).expect("the output is JSON")
}

#[test]
fn simplify_is_what_the_short_form_is() {
    let text = "(d0, d1) -> ((d0 * 4 + d1) floordiv 4), domain: d0 in [2, 2], d1 in [0, 3]";
    for more in [&[][..], &["--why"], &["--keep-point-dimensions"], &["--format", "json"]] {
        let short = weft(&[&["simplify", text], more].concat());
        assert_eq!(told(0, &[&["simplify", text], more].concat()).0, stdout(&short));
    }
    assert_eq!(told(0, &["simplify", text]).0, "(d0, d1) -> (2), domain: d0 in [2, 2], d1 in [0, 3]\n");
    let kept = told(0, &["simplify", text, "--keep-point-dimensions"]).0;
    assert_eq!(kept, "(d0, d1) -> (d0), domain: d0 in [2, 2], d1 in [0, 3]\n");
    assert_eq!(json_of(0, &["simplify", text])["changed"], true);
    let again = json_of(0, &["simplify", kept.trim(), "--keep-point-dimensions"]);
    assert_eq!((&again["changed"], &again["map"]), (&json!(false), &json!(kept.trim())));
    // Of equally cheap forms it is the one that stays.
    let forms = "(d0, d1)[s0] -> (d0 * 4 + d1 * 7 - 51, s0 * 8 + 1), domain: d0 in [6, 7], d1 in [3, 4], s0 in [-3, 2], \
        d0 * 4 + d1 * 4 - s0 in [42, 42]";
    let (once, _) = told(0, &["simplify", forms]);
    assert!(once.starts_with("(d0, d1)[s0] -> (d1 * 3 + s0 - 9, s0 * 8 + 1), "), "{once}");
    assert_eq!(json_of(0, &["simplify", once.trim()])["results"][1]["after"], "s0 * 8 + 1");
    assert_eq!(told(0, &["simplify", "-d0 mod 2"]).0, "d0 mod 2\n");
    assert_eq!(told(0, &["simplify", "-(d0 mod 2)"]).0, "-(d0 mod 2)\n");
    assert_eq!(told(0, &["simplify", "KNOWN EMPTY"]).0, "KNOWN EMPTY () -> ()\n");
}

#[test]
fn maps_are_composed_in_order() {
    let both = "(d0) -> (d0 mod 8, d0 floordiv 8), domain: d0 in [0, 63]";
    assert_eq!(told(0, &["compose", SPLIT, TRANSPOSE]).0, format!("{both}\n"));
    assert_eq!(told(0, &["compose", SPLIT, TRANSPOSE, TRANSPOSE]).0, format!("{SPLIT}\n"));
    let expected = json!({ "map": both, "known_empty": false, "undefined": false, "maps": 2 });
    assert_eq!(json_of(0, &["compose", SPLIT, TRANSPOSE]), expected);
    let whole = "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]";
    let raw = told(0, &["compose", whole, SPLIT, "--unsimplified"]).0;
    assert_eq!(
        raw,
        "(d0, d1) -> ((d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8), domain: d0 in [0, 7], d1 in [0, 7]\n"
    );
    assert_eq!(json_of(0, &["compose", SPLIT, "UNDEFINED"])["undefined"], true);
    let apart = "(d0, d1) -> (d0), domain: d0 in [8, 9], d1 in [0, 7]";
    assert_eq!(json_of(0, &["compose", SPLIT, apart])["known_empty"], true);
    // Maps without domain stay so, until one has a domain.
    assert_eq!(told(0, &["compose", "(d0) -> (d0 * 2)", "(d0) -> (d0 + 1)"]).0, "(d0) -> (d0 * 2 + 1)\n");
    let mixed = told(0, &["compose", "(d0) -> (d0 * 2)", "(d0) -> (d0), domain: d0 in [0, 9]"]).0;
    assert!(mixed.starts_with("(d0) -> (d0 * 2), domain: d0 in [0, 4]"), "{mixed}");
}

#[test]
fn the_map_that_does_not_compose_is_underlined() {
    let (out, err) = told(1, &["compose", SPLIT, TRANSPOSE, SPLIT, TRANSPOSE]);
    assert!(err.contains("error[IDX001]: results of the first map: expected 1, found 2"), "{err}");
    assert!(err.contains("<argument 3>:1:1") && err.contains("^^^") && out.is_empty(), "{err}");
    assert_eq!(told(2, &["compose", SPLIT]).0, "");
}

#[test]
fn owners_of_one_name_are_one_in_all_maps() {
    let slice = "(d0){rt0} -> (d0 + rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 4]\n  hlo: start\n  (d0) -> ()";
    let verbose = told(0, &["compose", slice, "(d0) -> (d0), domain: d0 in [0, 7]", "--verbose"]).0;
    assert_eq!(verbose, format!("{slice}\n"));
    assert_eq!(told(0, &["simplify", slice, "--verbose"]).0, verbose);
    let again = slice.replace("d0 in [0, 3]", "d0 in [0, 7]");
    let once = "(d0){rt0} -> (d0 + rt0 * 2), domain: d0 in [0, 3], rt0 in [0, 4]\n";
    assert_eq!(told(0, &["compose", slice, &again]).0, once);
    assert_eq!(told(0, &["equal", slice, slice]).0, "equal\n");
    let other = slice.replace("start", "limit");
    assert_eq!(json_of(1, &["equal", slice, &other])["unknown"]["code"], "runtime-variables");
}

#[test]
fn an_owner_with_a_name_is_none_with_a_number() {
    let slice = "(d0){rt0} -> (d0 + rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 4]\n  hlo: #0\n  (d0) -> ()";
    let named = slice.replace("d0 in [0, 3]", "d0 in [0, 7]").replace("#0", "start");
    let both = told(0, &["compose", slice, &named, "--verbose"]).0;
    assert!(both.contains("{rt0, rt1}") && both.contains("hlo: #0\n") && both.contains("hlo: start\n"), "{both}");
}

#[test]
fn range_variables_are_rescaled() {
    let text = "(d0)[k] -> (d0, k floordiv 6), domain: d0 in [0, 3], k in [0, 20], k mod 6 in [3, 3]";
    let (out, err) = told(0, &["rescale-symbols", text]);
    assert_eq!(out, "(d0)[k] -> (d0, k), domain: d0 in [0, 3], k in [0, 2]\n");
    assert_eq!(err, "note: k became k * 6 + 3\n");
    let value = json_of(0, &["rescale-symbols", text]);
    assert_eq!((&value["map"], &value["changed"]), (&json!(out.trim()), &json!(true)));
    assert_eq!(value["rescaled"], json!([{ "variable": "s0", "name": "k", "factor": 6, "offset": 3 }]));
    assert_eq!(json_of(0, &["rescale-symbols", SPLIT])["changed"], false);
    // Constraints that become residues only once others were used: one call, and nothing left to do.
    let twice = "()[s0] -> (s0 floordiv 4), domain: s0 in [0, 31], s0 mod 2 in [0, 0], s0 mod 4 in [1, 2], \
        (s0 floordiv 2) mod 6 in [1, 1]";
    let (out, err) = told(0, &["rescale-symbols", twice]);
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("()[s0] -> (s0 * 3), domain: s0 in [0, 2]\n", "note: s0 became s0 * 12 + 2\n")
    );
    assert_eq!(json_of(0, &["rescale-symbols", out.trim()])["changed"], false);
    assert_eq!(json_of(0, &["simplify", out.trim()])["changed"], false);
}

#[test]
fn what_nothing_uses_is_removed() {
    let text = "(d0, e)[s0, s1] -> (e + s1), domain: d0 in [0, 3], e in [0, 1], s0 in [0, 7], s1 in [0, 1], \
        s0 mod 4 in [1, 2]";
    let (out, err) = told(0, &["remove-unused", text]);
    assert_eq!(out, "(e)[s0] -> (e + s0), domain: e in [0, 1], s0 in [0, 1]\n");
    assert_eq!(err, "note: removed d0, s0, `s0 mod 4 in [1, 2]`\n");
    let value = json_of(0, &["remove-unused", text, "--symbols"]);
    let left = "(d0, e)[s0] -> (e + s0), domain: d0 in [0, 3], e in [0, 1], s0 in [0, 1]";
    let removed = json!({ "variables": [{ "variable": "s0", "name": "s0" }], "constraints": ["s0 mod 4 in [1, 2]"] });
    assert_eq!((&value["map"], &value["removed"]), (&json!(left), &removed));
    assert_eq!(json_of(0, &["remove-unused", SPLIT])["changed"], false);
}

#[test]
fn symbols_become_dimensions() {
    let all = "(d0, d1, d2) -> (d0 + d2, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 4]";
    assert_eq!(told(0, &["symbols-to-dimensions", SLICE]).0, format!("{all}\n"));
    let value = json_of(0, &["symbols-to-dimensions", SLICE, "--ranges"]);
    let ranges = "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 3], d1 in [0, 7], rt0 in [0, 4]";
    assert_eq!((&value["map"], &value["changed"]), (&json!(ranges), &json!(true)));
    assert_eq!(json_of(0, &["symbols-to-dimensions", SPLIT])["changed"], false);
    let three = "(d0)[s0, k, s2]{rt0} -> (d0 + rt0, s0 + k * 3, s2), domain: d0 in [0, 3], s0 in [0, 1], k in [0, 2], \
        s2 in [0, 5], rt0 in [0, 4]";
    let only = |names: &str| told(0, &["symbols-to-dimensions", three, "--only", names]).0;
    assert_eq!(
        only("k"),
        "(d0, k)[s0, s1]{rt0} -> (d0 + rt0, k * 3 + s0, s1), \
         domain: d0 in [0, 3], k in [0, 2], s0 in [0, 1], s1 in [0, 5], rt0 in [0, 4]\n"
    );
    assert_eq!(
        only("s2, s0,rt0"),
        "(d0, d1, d2, d3)[k] -> (d0 + d3, d2 + k * 3, d1), \
         domain: d0 in [0, 3], d1 in [0, 5], d2 in [0, 1], d3 in [0, 4], k in [0, 2]\n"
    );
    let (_, err) = told(2, &["symbols-to-dimensions", three, "--only", "d0"]);
    assert!(err.contains("no range or runtime variable `d0`"), "{err}");
}

#[test]
fn inverses_are_found_or_refused_with_two_points() {
    let inverse = "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]";
    assert_eq!(told(0, &["inverse", SPLIT]).0, format!("{inverse}\n"));
    let value = json_of(0, &["inverse", SPLIT]);
    assert_eq!((&value["map"], &value["refusal"]), (&json!(inverse), &Value::Null));
    let (out, err) = told(1, &["inverse", HALF]);
    assert_eq!((out.as_str(), err.as_str()), ("", "no inverse: the points (0) and (1) have the same result\n"));
    let value = json_of(1, &["inverse", HALF]);
    assert_eq!((&value["map"], &value["refusal"]["code"]), (&Value::Null, &json!("not-injective")));
    assert_eq!(value["refusal"]["points"][1], json!({ "dims": [1], "symbols": [], "runtime": [] }));
    assert_eq!(json_of(1, &["inverse", "UNDEFINED"])["refusal"]["code"], "undefined");
    // Of nothing the inverse is nothing.
    for (nothing, inverse) in [
        ("(d0) -> (), domain: d0 in [0, -1]", "KNOWN EMPTY () -> (0)"),
        (
            "(d0, d1) -> (7), domain: d0 in [0, 99999], d1 in [0, 99999], d0 * 3 + d1 * 5 in [7, 7]",
            "KNOWN EMPTY (d0) -> (0, 0)",
        ),
    ] {
        let (out, _) = told(0, &["inverse", nothing]);
        assert!(out.starts_with(inverse), "{out}");
        assert_eq!(json_of(0, &["inverse", nothing])["known_empty"], true);
    }
}

#[test]
fn maps_are_evaluated_at_points_of_the_domain() {
    let text = "(d0, d1)[s0]{rt0} -> (d0 - s0, d1 + rt0), domain: d0 in [-1, 3], d1 in [0, 7], s0 in [0, 4], \
        rt0 in [0, 9], d0 + s0 in [0, 5]";
    let inside = ["evaluate", text, "--dims", "-1,2", "--symbols", "3", "--runtime", "5"];
    assert_eq!(told(0, &inside).0, "(-4, 7)\n");
    let point = json!({ "dims": [-1, 2], "symbols": [3], "runtime": [5] });
    let expected = json!({ "point": point, "in_domain": true, "results": [-4, 7], "broken": [] });
    assert_eq!(json_of(0, &inside), expected);
    let outside = ["evaluate", text, "--dims=-1,9", "--symbols", "0", "--runtime", "5"];
    let (out, err) = told(1, &outside);
    assert_eq!(out, "");
    assert_eq!(err, "the point (-1, 9)[0]{5} is not in the domain: it breaks d1 in [0, 7], d0 + s0 in [0, 5]\n");
    let value = json_of(1, &outside);
    assert_eq!((&value["results"], &value["broken"]), (&Value::Null, &json!(["d1 in [0, 7]", "d0 + s0 in [0, 5]"])));
    let (_, err) = told(1, &["evaluate", "KNOWN EMPTY (d0) -> (d0), domain: d0 in [0, 9]", "--dims", "3"]);
    assert_eq!(err, "the point (3) is not in the domain: there is no point in it\n");
    // Beyond the bounds, where only constraints are asked.
    let beyond = ["evaluate", text, "--dims=-1,9", "--symbols", "2", "--runtime", "50", "--ignore-bounds"];
    assert_eq!(told(0, &beyond).0, "(-3, 59)\n");
    let value = json_of(0, &beyond);
    assert_eq!((&value["in_domain"], &value["results"]), (&json!(false), &json!([-3, 59])));
    let (_, err) = told(1, &[&outside[..], &["--ignore-bounds"]].concat());
    assert_eq!(err, "the point (-1, 9)[0]{5} is not in the domain: it breaks d0 + s0 in [0, 5]\n");
    let (_, err) = told(1, &["evaluate", SPLIT]);
    assert!(err.contains("error[IDX001]: dimension values: expected 1, found 0"), "{err}");
    let (_, err) = told(2, &["evaluate", SPLIT, "--dims", "1,x"]);
    assert!(err.contains("`x` is no whole number; write them as 1,-2,3"), "{err}");
    assert_eq!(told(0, &["evaluate", "() -> ()"]).0, "()\n");
    let (_, err) = told(1, &["evaluate", "(d0) -> (d0 * 4)", "--dims", &i64::MAX.to_string()]);
    assert!(err.contains("error[AFF"), "{err}");
}

#[test]
fn ranges_of_expressions_are_exact_where_both_ends_are_met() {
    assert_eq!(told(0, &["range", "-(d0 floordiv 4)", SPLIT]).0, "[-15, 0]\n");
    assert_eq!(told(0, &["range", "-d0 floordiv 4", SPLIT]).0, "[-16, 0]\n", "a sign binds before the operator");
    assert_eq!(told(0, &["range", "(d0 * 2 + 1) mod 6, domain: d0 in [0, 9]"]).0, "[1, 5]\n");
    // Names are those of the map, and the standard ones.
    let named = "(x, y) -> (), domain: x in [0, 9], y in [0, 9], x + y in [3, 4]";
    assert_eq!(told(0, &["range", "x + d1", named]).0, "[3, 4]\n");
    let value = json_of(0, &["range", "x - y", named]);
    assert_eq!(
        (&value["range"], &value["exact"], &value["expression"]),
        (&json!([-4, 4]), &json!(true), &json!("x - y"))
    );
    assert_eq!(value["least_at"]["dims"], json!([0, 4]));
    let large = "(d0, d1) -> (), domain: d0 in [0, 99999], d1 in [0, 99999]";
    assert_eq!(told(0, &["range", "d0 mod 7 - d1 mod 5", large]).0, "[-4, 6]\n");
    let hard = ["range", "(d0 mod 7) * 2 - d0 mod 14", large, "--limit", "5"];
    let value = json_of(0, &hard);
    assert_eq!((&value["exact"], &value["unknown"]["code"]), (&json!(false), &json!("too-many-points")));
    assert!(told(0, &hard).0.starts_with("within ["));
    assert_eq!(json_of(0, &["range", "d0", "(d0) -> (), domain: d0 in [0, -1]"])["range"], Value::Null);
    let (_, err) = told(1, &["range", "d0 + d5", SPLIT]);
    assert!(err.contains("<argument 1>:1:6") && err.contains("error[AFF006]: unknown name `d5`"), "{err}");
}

#[test]
fn equality_comes_with_a_counterexample() {
    let slower = "(d0) -> ((d0 * 2) floordiv 16, d0 mod 8), domain: d0 in [0, 63]";
    assert_eq!(told(0, &["equal", SPLIT, SPLIT]).0, "equal\n");
    let value = json_of(0, &["equal", SPLIT, "(x) -> (x floordiv 8, x mod 8), domain: x in [0, 63]"]);
    assert_eq!((&value["equal"], &value["same_text"]), (&json!("yes"), &json!(false)));
    assert_eq!(told(0, &["equal", SPLIT, slower]).0, "equal\n");
    let less = SPLIT.replace("63", "62");
    assert_eq!(told(1, &["equal", SPLIT, &less]).0, "different: only the first map takes (63) to (7, 7)\n");
    let value = json_of(1, &["equal", &less, SPLIT]);
    assert_eq!(value["difference"]["code"], "result");
    let shown = json!({ "dims": [63], "runtime": [], "result": [7, 7], "of": "second" });
    assert_eq!(value["difference"]["counterexample"], shown);
    assert_eq!(told(1, &["equal", SPLIT, TRANSPOSE]).0, "different: the numbers of dimensions are 1 and 2\n");
    assert_eq!(told(1, &["equal", "UNDEFINED", SPLIT]).0, "unknown: the map is undefined\n");
    assert_eq!(json_of(1, &["equal", "UNDEFINED", SPLIT])["unknown"]["code"], "undefined");
}

#[test]
fn points_are_listed_up_to_a_limit() {
    let odd = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [5, 5], d0 mod 2 in [1, 1]";
    assert_eq!(told(0, &["points", odd]), ("(1)[5] -> (6)\n(3)[5] -> (8)\n".to_owned(), String::new()));
    let (out, err) = told(0, &["points", SPLIT, "--limit", "2"]);
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("(0) -> (0, 0)\n(1) -> (0, 1)\n", "note: 2 of 64 points; --limit shows more\n")
    );
    let value = json_of(0, &["points", SPLIT, "--limit", "1"]);
    assert_eq!(value["points"], json!([{ "dims": [0], "symbols": [], "runtime": [], "results": [0, 0] }]));
    assert_eq!(value["count"], json!({ "least": 64, "greatest": 64, "unknown": null }));
    assert_eq!(value["complete"], false);
    // Few points in a box that nobody could walk.
    let sparse =
        "(d0, d1) -> (), domain: d0 in [0, 999999999], d1 in [0, 999999999], (d0 * 7 + d1 * 11) mod 1000003 in [5, 5]";
    assert_eq!(json_of(0, &["points", sparse, "--limit", "1000"])["complete"], false);
    let (out, err) = told(0, &["points", "(d0) -> (d0), domain: d0 in [0, 9], d0 in [12, 13]"]);
    assert_eq!((out.as_str(), err.as_str()), ("", "note: the domain has no point\n"));
    let everything = format!("(d0) -> (), domain: d0 in [{}, {}]", i64::MIN, i64::MAX);
    assert_eq!(json_of(0, &["points", &everything, "--limit", "1"])["count"]["least"], "18446744073709551616");
    assert!(told(1, &["range", "1", "UNDEFINED"]).1.contains("error[IDX002]"));
    assert!(told(1, &["points", "UNDEFINED"]).1.contains("error[IDX002]"));
}

const COLUMNS: &str = "(th_x, bl_x) -> (th_x, bl_x), domain: th_x in [0, 127], bl_x in [0, 63]";

#[test]
fn coalescing_is_told_with_its_reason() {
    let (out, _) = told(0, &["coalescing", COLUMNS, "--shape", "128,64"]);
    assert!(
        out.starts_with("uncoalesced, since each element that a subgroup reads lies in a segment of its own"),
        "{out}"
    );
    let value = json_of(0, &["coalescing", COLUMNS, "--shape", "128,64", "--threads", "bl_x", "--element-bytes", "2"]);
    assert_eq!((&value["verdict"]["code"], &value["threads"]), (&json!("coalesced"), &json!(["bl_x"])));
    assert_eq!((&value["element_bytes"], &value["model"]["segment_bytes"]), (&json!(2), &json!(32)));
    // Threads are found by their names, and the extent of an address by its range.
    let vectors =
        "(bl_x, th_x)[v] -> (bl_x * 512 + th_x * 4 + v), domain: bl_x in [0, 3], th_x in [0, 127], v in [0, 3]";
    let value = json_of(0, &["coalescing", vectors, "--vector", "v"]);
    assert_eq!((&value["threads"], &value["vector"], &value["shape"]), (&json!(["th_x"]), &json!("v"), &json!([2048])));
    assert_eq!(value["reads"]["bytes_per_lane"], 16);
    // The block is an argument, or what the text gives first; conditions leave it as it is.
    let told_of = |domain: &str, block: &[&str]| {
        let map = format!("(th_x, th_y) -> (th_y, th_x), domain: {domain}");
        json_of(0, &[&["coalescing", &map, "--shape", "4,64"], block].concat())
    };
    let spellings = [
        "th_x in [0, 15], th_y in [0, 3]",
        "th_x in [0, 63], th_y in [0, 3], th_x in [0, 15]",
        "th_x in [0, 63], th_y in [0, 3], th_x floordiv 16 in [0, 0]",
        "th_x in [0, 63], th_y in [0, 9], th_x + th_y * 64 in [0, 255], th_x * 3 in [0, 47]",
    ];
    for domain in spellings {
        let value = told_of(domain, &["--block", "64,4"]);
        assert_eq!(value, told_of(spellings[0], &["--block", "64,4"]), "{domain}");
        assert_eq!((&value["block"], &value["reads"]["totals"]["known"]["requests"]), (&json!([64, 4]), &json!(4)));
    }
    assert_eq!(told_of(spellings[0], &[])["block"], json!([16, 4]));
    assert_eq!(told_of(spellings[1], &[]), told_of(spellings[2], &[]));
    assert_eq!(told_of(spellings[1], &[])["block"], json!([64, 4]));
    let (out, _) = told(1, &["coalescing", COLUMNS, "--shape", "128,64", "--block", "64"]);
    assert!(out.starts_with("unknown, since a thread index may lie beyond the block"), "{out}");
    let (out, _) = told(1, &["coalescing", COLUMNS, "--shape", "3,4"]);
    assert!(out.starts_with("unknown, since the map may lead out of the shape"), "{out}");
    assert_eq!(json_of(1, &["coalescing", "UNDEFINED", "--shape", "3"])["verdict"]["code"], "unknown");
}

#[test]
fn a_launch_that_cannot_be_is_misuse() {
    for (arguments, words) in [
        (&["coalescing", COLUMNS][..], "the map has 2 results: --shape gives the extent of each dimension"),
        (&["coalescing", COLUMNS, "--shape", "128,64", "--threads", "th_y"], "no variable `th_y`; it has th_x, bl_x"),
        (&["coalescing", COLUMNS, "--shape", "128,64", "--vector", "th_x"], "each variable of a launch is named once"),
        (&["coalescing", COLUMNS, "--shape", "128,64", "--segment-bytes", "0"], "have a size of at least one"),
        (&["coalescing", COLUMNS, "--shape", "128,64", "--block", "64,2"], "one extent for each thread variable"),
        (&["coalescing", COLUMNS, "--shape", "128,64", "--block", "0"], "an extent of at least one in each dimension"),
        (&["coalescing", "(d0) -> (d0)"], "the address has no bound"),
        (&["utilization", SPLIT], "--shape"),
    ] {
        let (out, err) = told(2, arguments);
        assert!(err.contains(words) && out.is_empty(), "{arguments:?}: {err}");
    }
    assert!(told(1, &["coalescing", COLUMNS, "--shape", "1,2,3"]).1.contains("error[IDX001]"));
}

#[test]
fn utilization_is_counted_by_use_and_for_all() {
    let strided = "(d0) -> (d0 * 2), domain: d0 in [0, 3]";
    let line = "used 4 of 10 (2/5); 4 reads, 0 to 1 each; exact, in closed form\n";
    assert_eq!(told(0, &["utilization", strided, "--shape", "10"]).0, line);
    let uses = ["(d0) -> (d0), domain: d0 in [0, 5]", "(d0) -> (d0 + 4), domain: d0 in [0, 5]"];
    let both = ["utilization", uses[0], uses[1], "--shape", "10"];
    let (out, _) = told(0, &both);
    assert!(out.contains("use 1: used 6 of 10 (3/5)") && out.contains("all: used 10 of 10 (1)"), "{out}");
    let value = json_of(0, &both);
    assert_eq!((&value["union"]["used"]["least"], &value["shape"]), (&json!(10), &json!([10])));
    assert_eq!(value["uses"].as_array().map(Vec::len), Some(2));
    assert!(
        told(0, &["utilization", "(d0) -> (), domain: d0 in [0, 3]", "--shape", ""]).0.starts_with("used 1 of 1 (1)")
    );
    let (_, err) = told(1, &["utilization", strided, SPLIT, "--shape", "10"]);
    assert!(err.contains("<argument 2>:1:1") && err.contains("error[IDX001]"), "{err}");
}

#[test]
fn tiles_are_symbolic_or_of_given_sizes() {
    let (out, _) = told(0, &["tile", SPLIT]);
    assert!(
        out.starts_with("(o0)[t0] -> offsets (o0 floordiv 8, 0), sizes (t0 floordiv 8, 8), strides (1, 1), if"),
        "{out}"
    );
    assert!(out.ends_with("\nexact for sizes: t0 mod 8 in [0, 0] or 8 mod t0 in [0, 0]\n"), "{out}");
    let (out, _) = told(0, &["tile", SPLIT, "--sizes", "16"]);
    assert_eq!(out, "(4) tiles of (16)\np0 in [0, 3]: offsets (p0 * 2, 0), sizes (2, 8), strides (1, 1)\n");
    let value = json_of(0, &["tile", SPLIT, "--sizes", "16"]);
    let axis = |offset: &str, size: &str| json!({ "offset": offset, "size": size, "stride": 1, "mask": null });
    assert_eq!(value["cases"][0]["axes"], json!([axis("o0 floordiv 8", "t0 floordiv 8"), axis("0", "8")]));
    assert_eq!(value["cases"][0]["conditions"], json!(["o0 mod 8 in [0, 0]", "t0 mod 8 in [0, 0]"]));
    assert_eq!(value["size_constraints"]["alternatives"], json!([["t0 mod 8 in [0, 0]"], ["8 mod t0 in [0, 0]"]]));
    let first = json!({ "offset": "p0 * 2", "size": 2, "stride": 1, "mask": null });
    assert_eq!((&value["boxes"]["tiles"], &value["boxes"]["parts"][0]["axes"][0]), (&json!([4]), &first));
    let back = ["tile", "(d0) -> (d0 * 2 + 4), domain: d0 in [0, 5]", "--back-from", "16", "--sizes", "8"];
    let (out, _) = told(0, &back);
    assert!(out.contains("p0 in [1, 1]: offsets (2), sizes (4), strides (1)"), "{out}");
    // A grid that starts elsewhere.
    let (out, _) = told(0, &["tile", SPLIT, "--sizes", "8", "--origin", "0"]);
    assert!(out.starts_with("(8) tiles of (8)\n"), "{out}");
    let (out, _) = told(0, &["tile", SPLIT, "--sizes", "4", "--origin", "60"]);
    assert!(out.starts_with("(16) tiles of (4), the first at (-15)\np0 in [-15, 0]: offsets ("), "{out}");
    let (out, _) = told(0, &["tile", SPLIT, "--origin", "4"]);
    assert!(out.ends_with("\nexact for sizes: 4 mod t0 in [0, 0]\n"), "{out}");
    let value = json_of(0, &["tile", SPLIT, "--sizes", "4", "--origin", "-4"]);
    assert_eq!(
        (&value["origin"], &value["boxes"]["first"], &value["boxes"]["tiles"]),
        (&json!([-4]), &json!([1]), &json!([16]))
    );
    // Within what conditions hold, and those on runtime variables.
    assert!(told(0, &["tile", SPLIT]).0.contains(",\n domain: o0 in [0, 63], t0 in [1, 64], o0 + t0 in [1, 64]\n"));
    let even = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 8], rt0 mod 2 in [0, 0]";
    let value = json_of(0, &["tile", even, "--sizes", "4"]);
    assert_eq!(
        value["domain"]["text"],
        "o0 in [0, 7], t0 in [1, 8], rt0 in [0, 8], o0 + t0 in [1, 8], rt0 mod 2 in [0, 0]"
    );
    assert_eq!(value["domain"]["runtime_conditions"], json!(["rt0 mod 2 in [0, 0]"]));
    assert_eq!(value["boxes"]["runtime_conditions"], json!(["rt0 mod 2 in [0, 0]"]));
    assert!(told(0, &["tile", even, "--sizes", "4"]).0.starts_with("(2) tiles of (4), where rt0 mod 2 in [0, 0]\n"));
    // A padded window reads what the mask admits.
    let padded = "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]";
    let value = json_of(0, &["tile", padded, "--sizes", "4"]);
    assert_eq!(value["boxes"]["parts"][0]["axes"][0]["mask"], json!([0, 7]));
    assert!(told(0, &["tile", padded, "--sizes", "4"]).0.contains(", within ([0, 7])"));
}

#[test]
fn refused_tiles_have_a_reason() {
    let diagonal = "(d0)[s0] -> (s0, d0 + s0), domain: d0 in [0, 9], s0 in [0, 9]";
    let (out, err) = told(1, &["tile", diagonal]);
    assert_eq!((out.as_str(), err.as_str()), ("", "no tile: TIL005: one variable moves several results at once\n"));
    let value = json_of(1, &["tile", diagonal]);
    assert_eq!((&value["tile"], &value["refusal"]["code"]), (&Value::Null, &json!("TIL005")));
    let (out, err) = told(1, &["tile", SPLIT, "--sizes", "12"]);
    assert!(out.is_empty() && err.starts_with("no tile of these sizes: TIL103: "), "{err}");
    assert!(err.contains("exact for sizes: t0 mod 8 in [0, 0] or 8 mod t0 in [0, 0]"), "{err}");
    assert!(err.contains("maps to is not a box\n"), "{err}");
    let misfit = &json_of(1, &["tile", SPLIT, "--sizes", "12"])["misfit"];
    assert_eq!(
        (&misfit["code"], &misfit["position"], &misfit["is_box"]),
        (&json!("TIL103"), &json!([0]), &json!(false))
    );
    let gather = "(d0){rt0} -> (rt0), domain: d0 in [0, 7], rt0 in [0, 9]\n hlo: #1\n (d0) -> (d0)";
    let (_, err) = told(1, &["tile", gather, "--sizes", "2"]);
    assert!(err.contains("TIL103: what the tile at [0] maps to is not known to be a box\n"), "{err}");
    assert_eq!(json_of(1, &["tile", gather, "--sizes", "2"])["misfit"]["is_box"], Value::Null);
    assert!(told(1, &["tile", SPLIT, "--origin", "1,2"]).1.contains("error[TIL004]"));
    assert_eq!(json_of(1, &["tile", SPLIT, "--sizes", "1,2"])["misfit"]["code"], "TIL101");
    assert!(told(1, &["tile", SPLIT, "--back-from", "16"]).1.contains("error[TIL004]"));
}

#[test]
fn maps_come_from_files_and_standard_input() {
    let folder = Folder::new();
    let (split, transpose) = (folder.file("split.map", SPLIT), folder.file("transpose.map", TRANSPOSE));
    let at = |file: &str| format!("@{file}");
    let both = "(d0) -> (d0 mod 8, d0 floordiv 8), domain: d0 in [0, 63]\n";
    assert_eq!(told(0, &["compose", &at(&split), &at(&transpose)]).0, both);
    let piped = fed(&["map", "compose", "-", &at(&transpose)], SPLIT);
    assert_eq!((piped.status.code(), stdout(&piped).as_str()), (Some(0), both));
    assert_eq!(stdout(&weft(&["simplify", &at(&split)])), format!("{SPLIT}\n"));
    let range = fed(&["map", "range", "d0 - 70", "-"], SPLIT);
    assert_eq!(stdout(&range), "[-70, -7]\n");
    let twice = fed(&["map", "equal", "-", "-"], SPLIT);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("`-` is given twice"), "{}", stderr(&twice));
    let (_, err) = told(2, &["inverse", &split]);
    assert!(err.contains(&format!("{split} is a file; @{split} reads a map from it")), "{err}");
    let (_, err) = told(1, &["inverse", "@no-such.map"]);
    assert!(err.contains("cannot read no-such.map"), "{err}");
    let broken = folder.file("broken.map", "(d0) ->\n  (d0 + x),\n  domain: d0 in [0, 3]");
    let (_, err) = told(1, &["inverse", &at(&broken)]);
    assert!(err.contains("broken.map:2:9") && err.contains("error[AFF006]: unknown name `x`"), "{err}");
}

#[test]
fn errors_have_a_code_and_a_place() {
    let one = ["compose", "rescale-symbols", "remove-unused", "symbols-to-dimensions", "inverse", "evaluate"];
    let other = ["range", "equal", "points", "coalescing", "utilization", "tile"];
    for operation in one.into_iter().chain(other) {
        let wrong = "(d0) -> (d0 mod 0), domain: d0 in [0, 3]";
        let arguments: &[&str] = match operation {
            "compose" | "equal" => &[SPLIT, wrong],
            "range" => &["d0", wrong],
            "utilization" | "coalescing" => &[wrong, "--shape", "4"],
            _ => &[wrong],
        };
        let (out, err) = told(1, &[&[operation], arguments].concat());
        assert!(err.contains("error[AFF006]") && err.contains(":1:13") && err.contains("^^^"), "{operation}: {err}");
        assert!(out.is_empty(), "{operation}");
        let (_, err) = told(1, &[&[operation], arguments, &["--format", "json"]].concat());
        let value: Value = serde_json::from_str(&err).expect("the error is JSON");
        assert_eq!(
            (&value["error"]["findings"][0]["code"], &value["error"]["findings"][0]["column"]),
            (&json!("AFF006"), &json!(13))
        );
        // Where a map is wanted an expression is none.
        if arguments == [wrong] {
            let (_, err) = told(1, &[operation, "d0 + 1"]);
            assert!(err.contains("error[AFF006]"), "{operation}: {err}");
        }
    }
    // What is missing at the end is shown there.
    let (_, err) = told(1, &["simplify", "(d0, d1) -> (d0), domain: d0 in [0, 3]"]);
    assert!(err.contains("no bounds for `d1`") && err.contains("<argument>:1:39"), "{err}");
}

#[test]
fn help_has_examples_that_run() {
    let (help, _) = told(0, &["--help"]);
    let operations = ["simplify", "compose", "rescale-symbols", "remove-unused", "symbols-to-dimensions", "inverse"];
    let others = ["evaluate", "range", "equal", "points", "coalescing", "utilization", "tile"];
    for operation in operations.into_iter().chain(others) {
        assert!(help.contains(&format!("\n  {operation} ")), "{operation} is not in the help");
        assert_eq!(told(0, &[operation, "--help"]).1, "");
    }
    let folder = Folder::new();
    folder.file("reshape.map", SPLIT);
    folder.file("one.map", SPLIT);
    folder.file("other.map", SPLIT);
    folder.file("window.map", "(d0, d1)[s0] -> (d0 + s0, d1), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 3]");
    let (_, examples) = help.split_once("Examples:\n").expect("there are examples");
    let script = examples.replace("weft map", &format!("{} map", env!("CARGO_BIN_EXE_weft")));
    if cfg!(unix) {
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &script]).current_dir(folder.path("")).stdin(Stdio::null());
        let output = command.output().expect("there is a shell");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 11, "{}", stdout(&output));
    }
    assert_eq!(told(2, &[]).0, "");
    assert_eq!(told(2, &["invert", SPLIT]).0, "");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["map", "points", SPLIT, "--limit", "64"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

/// Maps are shown as they were read, and read again as the same.
#[test]
fn maps_are_formatted_and_not_simplified() {
    for (given, shown) in [
        (
            "(d0,d1)->((d0*8+d1) floordiv 8,d1),domain:d0 in [0,3],d1 in[0,7]",
            Some("(d0, d1) -> ((d0 * 8 + d1) floordiv 8, d1), domain: d0 in [0, 3], d1 in [0, 7]\n"),
        ),
        ("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 0], s0 in [0, 3], d0 + s0 in [-9, 99]", None),
        ("(d0) -> (d0 mod 6 mod 3)", None),
        ("d0 mod 6 mod 3", None),
        ("-d0 mod 3", None),
        ("UNDEFINED", None),
    ] {
        let output = weft(&["map", "fmt", given]);
        assert_eq!(output.status.code(), Some(0), "{given}: {}", stderr(&output));
        let text = stdout(&output);
        if let Some(shown) = shown {
            assert_eq!(text, shown);
        }
        assert_eq!(stdout(&fed(&["map", "fmt", "-"], &text)), text, "{given}");
        let simplified = |map: &str| stdout(&weft(&["map", "simplify", map]));
        assert_eq!(simplified(given), simplified(text.trim_end()));
    }
    let kept = stdout(&weft(&["map", "fmt", "(d0) -> (d0), domain: d0 in [0, 0], d0 mod 2 in [0, 0]"]));
    assert!(kept.contains("d0 in [0, 0]") && kept.contains("mod 2"), "{kept}");
}
