//! The command `weft indexing`: what it prints of a program's maps, and how it exits.

use crate::command::{fed, stderr, stdout};
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
    let map = &slice["operands"][0]["maps"][0];
    assert_eq!(map["map"], "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 6]");
    let start = &map["runtime_variables"][0];
    assert_eq!((&start["instruction"], &start["map"]), (&"at".into(), &"(d0) -> (), domain: d0 in [0, 1]".into()));
    assert_eq!(slice["operands"][1]["maps"][0]["runtime_variables"], serde_json::json!([]));
    let named = |position: usize| (&slice["operands"][position]["name"], &slice["operands"][position]["index"]);
    assert_eq!((named(0), named(1)), ((&"p".into(), &0.into()), (&"at".into(), &1.into())));
    assert_eq!(map["operand"], serde_json::json!({ "name": "p", "index": 0, "shape_index": [] }));

    let back = shown(&["--instruction", "s", "--direction", "input-to-output"]);
    let outputs = back["instructions"][0]["outputs"].as_array().expect("one list for each output");
    assert_eq!((outputs.len(), outputs[0]["maps"].as_array().map(Vec::len)), (1, Some(2)));
    assert_eq!(outputs[0]["maps"][1]["operand"]["name"], "at");

    let custom = shown(&["--instruction", "c"]);
    assert_eq!(
        custom["instructions"][0]["operands"][0]["maps"][0]["undefined"],
        "no maps were given for the custom call 'mine'"
    );

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

/// What the command prints of a program.
fn shown(program: &str, arguments: &[&str]) -> String {
    let output = fed(&[&["indexing", "-"], arguments].concat(), program);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

/// The same with `--format json`: the first instruction shown.
fn read(program: &str, arguments: &[&str]) -> Value {
    let mut value: Value = serde_json::from_str(&shown(program, &[arguments, &["--format", "json"]].concat()))
        .expect("the output is JSON");
    value["instructions"][0].take()
}

const COLLECTIVES: &str = "HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[8,3] parameter(0)
  at = s32[] parameter(1)
  zero = s32[] constant(0)
  s = f32[2,3] dynamic-slice(p, at, zero), dynamic_slice_sizes={2,3}
  g = f32[4,3] all-gather(s), replica_groups={{0,1},{2,3}}, dimensions={0}
  ROOT r = f32[2,3] reduce-scatter(g), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=sum
}";

#[test]
fn variables_that_no_instruction_of_this_replica_yields_say_so() {
    let gathered = read(COLLECTIVES, &["--instruction", "g", "--to", "p"]);
    let variables = &gathered["maps"][0]["runtime_variables"];
    let start = serde_json::json!({
        "instruction": "at",
        "value": "element",
        "map": "(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 2]",
        "out_of_range": "clamp",
        "replica_id": "replica_groups={{0,1},{2,3}}[d0 floordiv 2]",
    });
    assert_eq!(variables[0], start);
    let scattered = read(COLLECTIVES, &["--instruction", "r"]);
    let position = serde_json::json!([{
        "instruction": "r",
        "value": "position",
        "map": "(d0, d1)[s0] -> (), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 1]",
        "out_of_range": null,
    }]);
    assert_eq!(scattered["operands"][0]["maps"][0]["runtime_variables"], position);

    let text = shown(COLLECTIVES, &["--instruction", "r", "--verbose"]);
    assert!(text.contains("    rt0: the position in the group of r\n"), "{text}");
    let text = shown(COLLECTIVES, &["--instruction", "g", "--to", "p", "--verbose"]);
    let start = "    rt0: an element of at, replica_id: replica_groups={{0,1},{2,3}}[d0 floordiv 2]\n";
    assert!(text.contains(start), "{text}");
    let plain = shown(COLLECTIVES, &["--instruction", "s", "--verbose"]);
    assert!(!plain.contains("element of"), "{plain}");
}

#[test]
fn variables_are_clamped_or_dropped() {
    let program = "HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[8] parameter(0)
  i = s32[3] parameter(1)
  u = f32[3] parameter(2)
  g = f32[3] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  ROOT s = f32[8] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
}";
    let gather = read(program, &["--instruction", "g"]);
    assert_eq!(gather["operands"][0]["maps"][0]["runtime_variables"][0]["out_of_range"], "clamp");
    let scatter = read(program, &["--instruction", "s"]);
    assert_eq!(scatter["operands"][2]["maps"][0]["runtime_variables"][0]["out_of_range"], "drop");
    assert!(shown(program, &["--instruction", "s", "--verbose"]).contains(" drop\n"));
    assert!(!shown(program, &["--instruction", "g", "--verbose"]).contains("drop"));
}

#[test]
fn positions_in_memory_are_those_of_all_that_is_read() {
    let program = "HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  i = s32[2,3]{0,1} parameter(1)
  g = f32[2,3] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}
  at = s32[] parameter(2)
  d = f32[3] dynamic-slice(p, at), dynamic_slice_sizes={3}
  ROOT n = s32[2,3]{0,1} iota(), iota_dimension=0
}";
    let gather = &read(program, &["--instruction", "g", "--physical"])["operands"][0]["maps"][0];
    assert_eq!(gather["map"], "(d0){rt0} -> (rt0), domain: d0 in [0, 5], rt0 in [0, 7]");
    // The row d0 floordiv 3 is the fastest dimension of the indices: (d0 mod 3) * 2 + d0 floordiv 3.
    let index = "(d0) -> (d0 * 2 - (d0 floordiv 3) * 5), domain: d0 in [0, 5]";
    assert_eq!(gather["runtime_variables"][0]["map"], index);
    let slice = &read(program, &["--instruction", "d", "--physical"])["operands"][0]["maps"][0];
    assert_eq!(slice["runtime_variables"][0]["map"], "(d0) -> (0), domain: d0 in [0, 2]");
    let iota = read(program, &["--instruction", "n", "--physical"]);
    assert_eq!(iota["no_input"][0]["map"], "(d0) -> (), domain: d0 in [0, 5]");
    let to_output = ["--instruction", "n", "--physical", "--direction", "input-to-output"];
    let iota = read(program, &to_output);
    assert_eq!(iota["outputs"][0]["maps"][0]["map"], "()[s0, s1] -> (s0 + s1 * 2), domain: s0 in [0, 1], s1 in [0, 2]");
    // Who is asked follows from the position as well.
    let gathered = &read(COLLECTIVES, &["--instruction", "g", "--physical"])["operands"][0]["maps"][0];
    assert_eq!(gathered["map"], "(d0) -> (d0 mod 6), domain: d0 in [0, 11]");
    assert_eq!(gathered["replica_id"], "replica_groups={{0,1},{2,3}}[d0 floordiv 6]");
    let tiled = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  i = s32[2]{0:T(8)} parameter(1)\n  ROOT g = f32[2] gather(p, i), \
                 offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n}";
    assert_eq!(read(tiled, &["--instruction", "g", "--physical"])["operands"][0]["maps"][0]["code"], "HLO301");
}

#[test]
fn what_is_not_read_is_said() {
    let program = "HloModule m
one {
  ROOT a = f32[4] parameter(0)
}
two {
  b = f32[4] parameter(0)
  ROOT n = f32[4] negate(b)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  k = s32[] parameter(2)
  x = f32[4] negate(p)
  size = s32[] get-dimension-size(p), dimensions={0}
  c = f32[4] conditional(k, p, q), branch_computations={one, two}
  ROOT t = (f32[4], s32[], f32[4]) tuple(x, size, c)
}";
    let between = |from, to| shown(program, &["--instruction", from, "--to", to]);
    assert_eq!(between("x", "q"), "instruction x\n  to q: nothing is read\n");
    assert_eq!(between("p", "k"), "instruction p\n  to k: nothing is computed from it\n");
    assert_eq!(read(program, &["--instruction", "x", "--to", "q"])["maps"], serde_json::json!([]));
    let direction = |to| -> Value {
        let text = shown(program, &["--instruction", "x", "--to", to, "--format", "json"]);
        serde_json::from_str::<Value>(&text).expect("the output is JSON")["direction"].take()
    };
    assert_eq!((direction("p"), direction("t")), ("output-to-input".into(), "input-to-output".into()));
    assert_eq!(shown(program, &["--instruction", "size"]), "instruction size\n  operand 0 (p): nothing is read\n");
    let back = shown(program, &["--instruction", "size", "--direction", "input-to-output"]);
    assert_eq!(back, "instruction size\n  operand 0 (p): nothing is computed from it\n");
    let operands: Vec<String> = shown(program, &["--instruction", "c"])
        .lines()
        .filter_map(|line| Some(line.trim_start().strip_prefix("operand ")?[..1].to_owned()))
        .collect();
    assert_eq!(operands, ["0", "1", "2"]);
}

/// An index that two updates share is read by every element: what is read of it through the first one only adds nothing.
#[test]
fn what_another_map_covers_is_left_out() {
    let program = "HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  u = f32[3] parameter(1)
  v = f32[2] parameter(2)
  i = s32[] parameter(3)
  a = f32[8] dynamic-update-slice(p, u, i)
  ROOT b = f32[8] dynamic-update-slice(a, v, i)
}";
    let maps = |to| shown(program, &["--instruction", "b", "--to", to, "--domain", "exact"]);
    assert_eq!(maps("i"), "instruction b\n  to i: (d0) -> (), domain: d0 in [0, 7]\n");
    assert_eq!(maps("p").lines().count(), 5, "{}", maps("p"));
    assert_eq!(maps("v").lines().count(), 2, "{}", maps("v"));
}

/// `--to` takes names as `--instruction` does, and tells of wrong ones in the same words.
#[test]
fn both_ends_are_named_alike() {
    let program = "HloModule m
f {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  ROOT r = f32[4] abs(a)
}
g {
  p = f32[4] parameter(0)
  ROOT a = f32[4] negate(p)
}
ENTRY e {
  p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=f
  ROOT y = f32[4] call(x), to_apply=g
}";
    let map = "instruction f/r\n  to p: (d0) -> (d0), domain: d0 in [0, 3]\n";
    for (from, to) in [("f/r", "p"), ("f/r", "f/p"), ("%f/%r", "%f/%p"), ("r", "%p"), ("r", "%f/p")] {
        assert_eq!(shown(program, &["--instruction", from, "--to", to]), map, "{from} {to}");
    }
    // What is alone in its name is found wherever it is.
    let inner = shown(program, &["--instruction", "f/p", "--to", "r"]);
    assert_eq!(inner, "instruction f/p\n  to r: (d0) -> (d0), domain: d0 in [0, 3]\n");
    let told = |arguments: &[&str]| {
        let output = fed(&[&["indexing", "-"], arguments].concat(), program);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        stderr(&output)
    };
    for name in ["nobody", "f/nobody", "nothing/p"] {
        let wanted = format!("error: no instruction is named {name}\n");
        assert_eq!(told(&["--instruction", name]), wanted);
        assert_eq!(told(&["--instruction", "f/r", "--to", name]), wanted);
    }
    let several = "error: several computations have a a; name one of them, as in f/a\n";
    assert_eq!(told(&["--instruction", "a"]), several);
    assert_eq!(told(&["--instruction", "x", "--to", "a"]), several);
    let apart = told(&["--instruction", "f/r", "--to", "g/a"]);
    assert_eq!(apart, "error: maps lead through one computation; f/r and g/a are of two\n");
    for option in [&["--instruction", ""][..], &["--instruction", "x", "--to", ""]] {
        assert!(told(option).contains("a value is required"), "{option:?}");
    }
}

/// Arrays of tuples have the path that leads to them.
#[test]
fn arrays_are_named_by_their_paths() {
    let program = "HloModule m
ENTRY e {
  p = ((f32[2], s32[3]), f32[4]) parameter(0)
  q = (f32[2], s32[3]) get-tuple-element(p), index=0
  ROOT i = s32[3] get-tuple-element(q), index=1
}";
    let element = read(program, &["--instruction", "q"]);
    let operand = &element["operands"][0];
    assert_eq!((&operand["name"], &operand["shape"]), (&"p".into(), &"((f32[2], s32[3]), f32[4])".into()));
    let paths: Vec<(&Value, &Value)> = operand["maps"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|map| (&map["operand"]["shape_index"], &map["output"]))
        .collect();
    let path = |path: &[u32]| serde_json::json!(path);
    assert_eq!(paths, [(&path(&[0, 0]), &path(&[0])), (&path(&[0, 1]), &path(&[1]))]);
    let through = read(program, &["--instruction", "i", "--to", "p"]);
    let reached = &through["maps"][0];
    assert_eq!((&reached["instruction"], &reached["shape_index"]), (&"p".into(), &path(&[0, 1])));
}
