//! The command `weft indexing`: what it prints of a program's maps, and how it exits.

#[path = "support/command.rs"]
mod command;

use command::{fed, stderr, stdout};
use serde_json::Value;

#[test]
fn maps_are_json_with_who_yields_what_the_program_alone_knows() {
    let program = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  at = s32[] parameter(1)\n  \
                   s = f32[2] dynamic-slice(p, at), dynamic_slice_sizes={2}\n  \
                   ROOT c = f32[2] custom-call(s), custom_call_target=\"mine\"\n}";
    let shown = |arguments: &[&str]| -> Value {
        let output = fed(&[&["indexing", "-", "--format", "json"], arguments].concat(), program);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).expect("the output is JSON")
    };
    let value = shown(&["--instruction", "s"]);
    assert_eq!(value["direction"], "output-to-input");
    let slice = &value["instructions"][0];
    assert_eq!((&slice["instruction"], &slice["computation"]), (&"s".into(), &"e".into()));
    let map = &slice["operands"][0][0];
    assert_eq!(map["map"], "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 6]");
    let start = serde_json::json!([{ "instruction": "at", "map": "(d0) -> (), domain: d0 in [0, 1]" }]);
    assert_eq!(map["runtime_variables"], start);
    assert_eq!(slice["operands"][1][0]["runtime_variables"], serde_json::json!([]));

    let back = shown(&["--instruction", "s", "--direction", "input-to-output"]);
    let outputs = back["instructions"][0]["outputs"].as_array().expect("one list for each output");
    assert_eq!((outputs.len(), outputs[0].as_array().map(Vec::len)), (1, Some(2)));

    let custom = shown(&["--instruction", "c"]);
    assert_eq!(custom["instructions"][0]["operands"][0]["undefined"], "no maps were given for the custom call 'mine'");

    let whole = shown(&["--fusion"]);
    let reached: Vec<&Value> = whole["instructions"][0]["maps"].as_array().expect("a list").iter().collect();
    assert!(reached.iter().any(|row| row["instruction"] == "p" && row["code"] == "HLO301"), "{reached:?}");
    let pair = shown(&["--instruction", "s", "--to", "p"]);
    assert_eq!(pair["instructions"][0]["maps"].as_array().map(Vec::len), Some(1));

    for wrong in [
        &["--instruction", "nobody"][..],
        &["--instruction", "s", "--fusion"],
        &["--to", "p"],
        &["--simplify", "maybe"],
    ] {
        let output = fed(&[&["indexing", "-"], wrong].concat(), program);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", stderr(&output));
    }
}
