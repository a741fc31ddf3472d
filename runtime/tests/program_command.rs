//! `weft compile --output` and `--whole`, what `weft run` makes of them, and programs in the cache.

use crate::command::{Folder, command, fed, stderr, stdout, weft};
use serde_json::Value;
use std::process::{Output, Stdio};

const PROGRAM: &str = "HloModule tripled
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] add(x, x)
  c = f32[3] constant({0.5, 0.25, 1})
  z = f32[3] multiply(y, c)
  ROOT r = (f32[3], f32[3]) tuple(z, c)
}
";

fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

#[test]
fn a_program_is_written_shown_and_run() {
    let folder = Folder::new();
    let (module, program) = (folder.file("tripled.hlo", PROGRAM), folder.path("tripled.weft"));
    let short = done(&weft(&["compile", &module, "--device", "gpu", "-o", &program]));
    assert_eq!(done(&weft(&["compile", &program])), short);
    let whole = done(&weft(&["compile", &module, "--device", "gpu", "--whole"]));
    assert!(whole.starts_with("weft program 1\ntarget {") && whole.contains("| kernel @"), "{whole}");
    assert_eq!(done(&weft(&["compile", &program, "--whole"])), whole);
    let input = ["--input", "{1, 2, 3}", "--device", "gpu"];
    let expected = done(&weft(&[&["run", module.as_str()], &input[..]].concat()));
    for program in [program.as_str(), &folder.file("tripled.txt", &whole)] {
        assert!(done(&weft(&[&["run", program, "--check"], &input[..]].concat())).contains("out_1"));
        assert_eq!(done(&weft(&[&["run", program], &input[..]].concat())), expected);
    }
    assert_eq!(done(&fed(&[&["run", "-"], &input[..]].concat(), &whole)), expected);
    let evaluated = done(&weft(&["run", &program, "--input", "{1, 2, 3}", "--device", "evaluator"]));
    assert_eq!(evaluated, expected);
    let json: Value =
        serde_json::from_str(&done(&weft(&["compile", &program, "--whole", "--format", "json"]))).expect("JSON");
    assert_eq!(json["text"].as_str().map(str::trim_end), Some(whole.trim_end()));
}

#[test]
fn what_is_no_program_of_this_version_is_refused() {
    let folder = Folder::new();
    let (module, program) = (folder.file("tripled.hlo", PROGRAM), folder.path("tripled.weft"));
    done(&weft(&["compile", &module, "-o", &program]));
    let mut bytes = std::fs::read(&program).expect("it was written");
    bytes[100] ^= 1;
    let damaged = folder.file("damaged.weft", &bytes);
    let whole = done(&weft(&["compile", &module, "--whole"]));
    let wrong = folder.file("wrong.txt", whole.replace("windows 1", "windows 3"));
    for (file, code) in [(damaged, "RUN051"), (wrong, "RUN050: line ")] {
        let output = weft(&["run", &file]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(code), "{}", stderr(&output));
    }
    for option in [&["--no-opt"][..], &["--target", "software"], &["--donate", "all"], &["--explain"]] {
        let output = weft(&[&["run", program.as_str()], option].concat());
        assert_eq!(output.status.code(), Some(2), "{option:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("is compiled already"), "{}", stderr(&output));
    }
}

#[test]
fn programs_are_kept_for_the_next_process() {
    let folder = Folder::new();
    let (module, cache) = (folder.file("tripled.hlo", PROGRAM), folder.path("cache"));
    let run = |more: &[&str]| {
        let mut command = command();
        command
            .env("WEFT_CACHE_DIR", &cache)
            .args(["run", &module, "--device", "gpu", "--input", "{1, 2, 3}"])
            .args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    // All at once: each finds nothing or a whole program.
    let children: Vec<_> = (0..4).map(|_| run(&[]).spawn().expect("the command starts")).collect();
    let outputs: Vec<String> =
        children.into_iter().map(|child| done(&child.wait_with_output().expect("it ends"))).collect();
    assert!(outputs.iter().all(|output| output == &outputs[0]), "{outputs:?}");
    let stats = |more: &[&str]| -> Value {
        let output = run(&[&["--stats", "--format", "json"], more].concat()).output().expect("the command starts");
        let value: Value = serde_json::from_str(&done(&output)).expect("the output is JSON");
        value["stats"].clone()
    };
    let warm = stats(&[]);
    assert_eq!(warm["from_cache"], true);
    assert!(warm["stages"]["load"].is_number() && warm["stages"]["lower"].is_null(), "{warm}");
    let cold = stats(&["--no-cache"]);
    assert_eq!(cold["from_cache"], Value::Null);
    for stage in ["passes", "fuse", "plan", "emit", "lower", "verify", "write", "validate", "schedule", "pipelines"] {
        assert!(cold["stages"][stage].is_number(), "{stage}: {cold}");
    }
    let listed = command().env("WEFT_CACHE_DIR", &cache).args(["cache", "list"]).output().expect("the command starts");
    let listed = done(&listed);
    assert!(listed.contains("tripled, ") && listed.contains("1 entry in"), "{listed}");
    // What is damaged is made again.
    let file = std::fs::read_dir(&cache).expect("it is there").flatten().next().expect("something is kept").path();
    std::fs::write(&file, "damaged").expect("the folder is ours");
    assert_eq!(stats(&[])["from_cache"], false);
    assert_eq!(stats(&[])["from_cache"], true);
    let text = stderr(&run(&["--stats"]).output().expect("the command starts"));
    assert!(text.contains("taken from the cache in") && text.contains("ms  load"), "{text}");
}

#[test]
fn a_budget_is_kept_to() {
    let folder = Folder::new();
    let (module, program) = (folder.file("tripled.hlo", PROGRAM), folder.path("tripled.weft"));
    done(&weft(&["compile", &module, "-o", &program, "--memory-budget", "1MiB"]));
    for (command, file) in [("compile", &module), ("run", &module), ("run", &program)] {
        let output = weft(&[command, file, "--memory-budget", "100"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("RUN003: tripled takes "), "{}", stderr(&output));
    }
    let output = weft(&["run", &module, "--memory-budget", "much"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`much` is no number of bytes"), "{}", stderr(&output));
}
