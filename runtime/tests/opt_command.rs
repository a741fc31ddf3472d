//! The command `weft opt`: the passes that run, and what is said of them.

use crate::command::{fed, stderr, stdout, weft};
use serde_json::Value;

const CALLS: &str = "HloModule calls

twice {
  x = f32[2] parameter(0)
  ROOT sum = f32[2] add(x, x)
}

ENTRY main {
  x = f32[2] parameter(0)
  unused = f32[2] negate(x)
  ROOT y = f32[2] call(x), to_apply=twice
}
";

const FACTOR: &str = "HloModule factor

ENTRY main {
  a = f32[3,3] parameter(0)
  ROOT l = f32[3,3] cholesky(a), lower=true
}
";

const DOUBLE: &str = "HloModule double\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";

/// Standard output and standard error for a program, of a run that succeeds.
fn optimized(arguments: &[&str], program: &str) -> (String, String) {
    let output = fed(&[&["opt", "-"], arguments].concat(), program);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

#[test]
fn all_passes_run_by_default() {
    let (program, told) = optimized(&[], CALLS);
    assert!(told.is_empty(), "{told}");
    assert!(!program.contains("call(") && !program.contains("twice") && !program.contains("unused"), "{program}");
    assert!(program.contains("ROOT %sum = f32[2] add(%x, %x)"), "{program}");
    // What comes out goes in again, and stays.
    assert_eq!(optimized(&[], &program).0, program);
    assert_eq!(stdout(&fed(&["verify", "-"], &program)), "valid: 1 computation, 2 instructions\n");
}

#[test]
fn only_the_passes_that_are_named_run() {
    let (program, _) = optimized(&["--passes", "inline-calls"], CALLS);
    assert!(program.contains("unused") && !program.contains("call("), "{program}");
    let (program, _) = optimized(&["--passes", "dead-code"], CALLS);
    assert!(!program.contains("unused") && program.contains("call("), "{program}");
    let (program, _) = optimized(&["--passes", "inline-calls,dead-code"], CALLS);
    assert!(!program.contains("unused") && !program.contains("call("), "{program}");
}

#[test]
fn an_empty_list_of_passes_is_none() {
    for arguments in [&["--passes", ""][..], &["--passes="], &["--passes", " "]] {
        let (program, told) = optimized(arguments, CALLS);
        assert_eq!(
            (program.as_str(), told.as_str()),
            (stdout(&fed(&["fmt", "-"], CALLS)).as_str(), ""),
            "{arguments:?}"
        );
        assert!(program.contains("call(") && program.contains("unused"), "{program}");
    }
    let value: Value = serde_json::from_str(&optimized(&["--passes", "", "--format", "json"], CALLS).0).expect("JSON");
    assert_eq!((&value["runs"], &value["is_fixed_point"]), (&Value::Array(Vec::new()), &true.into()));
    let output = weft(&["opt", "-", "--passes", "dead-code,,tuples"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nothing between two commas"), "{}", stderr(&output));
}

#[test]
fn what_changes_rounding_runs_on_request() {
    assert!(optimized(&[], FACTOR).0.contains("cholesky("));
    let (program, _) = optimized(&["--passes", "expand-linear-algebra"], FACTOR);
    assert!(!program.contains("cholesky(") && program.contains("while("), "{program}");
    assert!(stdout(&fed(&["verify", "-"], &program)).starts_with("valid: 3 computations"));
}

#[test]
fn changes_are_explained_before_the_program() {
    let (text, _) = optimized(&["--passes", "inline-calls,dead-code", "--explain"], CALLS);
    let comments: Vec<&str> = text.lines().take_while(|line| line.starts_with("//")).collect();
    assert_eq!(comments[0], "// inline-calls, round 0: 5 to 5 instructions");
    assert_eq!(comments[1], "//   main/y: a call is what it calls");
    assert!(comments[2].starts_with("// dead-code, round 0: 5 to "), "{comments:?}");
    // Comments are no part of the program.
    assert_eq!(stdout(&fed(&["verify", "-"], &text)), "valid: 1 computation, 2 instructions\n");
}

#[test]
fn the_program_after_a_pass_stands_in_comments() {
    let (text, _) = optimized(&["--passes", "inline-calls,dead-code", "--print-after", "inline-calls"], CALLS);
    assert!(text.starts_with("// after inline-calls (round 0)\n//   HloModule calls"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("//   ") && line.contains("unused")), "{text}");
    assert!(!text.lines().any(|line| !line.starts_with("//") && line.contains("unused")), "{text}");
    // A pass that changes nothing is not shown.
    let (text, _) = optimized(&["--passes", "dead-code", "--print-after", "dead-code"], DOUBLE);
    assert!(!text.contains("//"), "{text}");
}

#[test]
fn every_run_is_in_the_json() {
    let arguments = ["--passes", "inline-calls,dead-code", "--print-after", "dead-code", "--format", "json"];
    let value: Value = serde_json::from_str(&optimized(&arguments, CALLS).0).expect("the output is JSON");
    assert_eq!((&value["program"], &value["is_fixed_point"]), (&"calls".into(), &true.into()));
    assert_eq!((&value["instructions"]["before"], &value["instructions"]["after"]), (&5.into(), &2.into()));
    let first = &value["runs"][0];
    assert_eq!((&first["pass"], &first["round"]), (&"inline-calls".into(), &0.into()));
    assert_eq!(first["rules"]["a call is what it calls"], 1);
    assert_eq!(first["changes"][0]["place"], "main/y");
    assert_eq!(value["stages"][0]["name"], "after dead-code (round 0)");
    let program = value["hlo"].as_str().unwrap_or_default();
    assert_eq!(stdout(&fed(&["verify", "-"], program)), "valid: 1 computation, 2 instructions\n");
}

#[test]
fn a_pass_that_there_is_not_exits_with_2() {
    for option in ["--passes", "--print-after"] {
        let output = weft(&["opt", "-", option, "fly"]);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(told.contains("fly") && told.contains("dead-code") && told.contains("expand-linear-algebra"), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_program_that_is_wrong_exits_with_1() {
    let output =
        fed(&["opt", "-"], "HloModule m\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("<stdin>:4:3") && output.stdout.is_empty(), "{}", stderr(&output));
}

/// The commands that compile run the passes first, unless they are left out.
#[test]
fn passes_run_before_anything_is_compiled() {
    let step = "// inline-calls, round 0: 5 to 5 instructions\n//   main/y: a call is what it calls\n";
    for command in [&["compile", "-"][..], &["emit", "-"], &["fuse", "-"], &["partition", "-"]] {
        let run = |more: &[&str]| {
            let output = fed(&[command, more].concat(), CALLS);
            assert_eq!(output.status.code(), Some(0), "{command:?} {more:?}: {}", stderr(&output));
            stdout(&output)
        };
        assert!(run(&["--explain"]).contains(step), "{command:?}: {}", run(&["--explain"]));
        assert!(!run(&["--explain", "--no-opt"]).contains("inline-calls"), "{command:?}");
        assert!(!run(&[]).contains("//   main/y"), "{command:?}");
        let value: Value = serde_json::from_str(&run(&["--explain", "--format", "json"])).expect("the output is JSON");
        assert!(value["passes"].as_array().is_some_and(|runs| runs.iter().any(|run| run["pass"] == "inline-calls")));
        let value: Value = serde_json::from_str(&run(&["--format", "json"])).expect("the output is JSON");
        assert_eq!(value["passes"], Value::Null, "{command:?}");
    }
    // Of two equal values one is computed; as the program is written each is a kernel's, of products that have no tiles.
    let product = "f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let twice = format!(
        "HloModule m\nENTRY e {{\n  x = f32[2,2] parameter(0)\n  a = {product}\n  b = {product}\n  \
         ROOT t = (f32[2,2], f32[2,2]) tuple(a, b)\n}}\n"
    );
    let launches = |more: &[&str]| {
        let text = stdout(&fed(&[&["compile", "-"], more].concat(), &twice));
        text.lines().filter(|line| line.starts_with("launch ")).count()
    };
    assert_eq!((launches(&[]), launches(&["--no-opt"])), (1, 2));
}

/// With and without passes a program has the same values, and the passes are told of beside them.
#[test]
fn passes_change_no_result() {
    for device in ["evaluator", "gpu"] {
        let run = |more: &[&str]| {
            let output = fed(&[&["run", "-", "--random", "3", "--device", device], more].concat(), CALLS);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            // Drivers may have something to say of their own.
            let told = stderr(&output).lines().filter(|line| line.starts_with("//")).collect::<Vec<_>>().join("\n");
            (stdout(&output), told)
        };
        let (plain, told) = run(&[]);
        assert_eq!(told, "");
        assert_eq!(run(&["--no-opt"]), (plain.clone(), String::new()));
        let (explained, told) = run(&["--explain"]);
        assert_eq!(explained, plain);
        assert!(told.contains("//   main/y: a call is what it calls"), "{told}");
        assert_eq!(run(&["--explain", "--no-opt"]), (plain, String::new()));
    }
    // The reference computes what is written.
    let output = fed(&["run", "-", "--precise", "--explain", "--random", "3"], CALLS);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}
