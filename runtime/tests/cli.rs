//! The command `weft`: what it prints, where, and how it exits.

use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const DOUBLE: &str =
    "HloModule double\nENTRY main {\n  x = f32[2,3] parameter(0)\n  ROOT sum = f32[2,3] add(x, x)\n}\n";

fn read_f32(path: &str) -> (Vec<u64>, Vec<f32>) {
    let bytes = std::fs::read(path).expect("the result was written");
    let file = npyz::NpyFile::new(&bytes[..]).expect("it is a NumPy file");
    (file.shape().to_vec(), file.into_vec().expect("it holds f32"))
}

#[test]
fn misuse_exits_with_2() {
    for arguments in [
        &[][..],
        &["fly"],
        &["run"],
        &["run", "a", "b"],
        &["run", "a", "--frmat", "json"],
        &["run", "a", "--random", "x"],
        &["run", "a", "--random", "1", "--input", "b.npy"],
        &["run", "a", "--check", "--absolute-tolerance=-1"],
        &["run", "a", "--input", "-"],
        &["run", "a", "--device", ""],
        &["emit", "a", "--stage", "assembly"],
    ] {
        let output = weft(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn misuse_is_told_in_our_own_words() {
    for (arguments, words) in [
        (&["--random", "-5"][..], "a seed is a whole number from 0 to 18446744073709551615"),
        (&["--random", "1.5"], "a seed is a whole number from 0 to 18446744073709551615"),
        (&["--absolute-tolerance", "-1"], "a tolerance is a number that is not negative"),
        (&["--relative-tolerance", "-0.5"], "a tolerance is a number that is not negative"),
        (&["--input", "-"], "standard input is for the program"),
    ] {
        let output = weft(&[&["run", "a"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn help_and_version_exit_with_0() {
    for arguments in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let output = weft(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty());
    }
    let help = stdout(&weft(&["--help"]));
    for command in [
        "run",
        "compile",
        "emit",
        "opt",
        "fmt",
        "fuse",
        "partition",
        "indexing",
        "simplify",
        "map",
        "verify",
        "bench",
        "devices",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in the help");
    }
}

#[test]
fn a_missing_file_exits_with_1_and_is_named() {
    for command in ["run", "emit", "fmt", "fuse", "partition", "indexing", "verify", "compile", "opt", "specialize"] {
        let output = weft(&[command, "no-such-file.hlo"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("no-such-file.hlo"), "{}", stderr(&output));
    }
}

#[test]
fn findings_are_underlined_and_exit_with_1() {
    let text = "HloModule m\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n";
    for command in ["verify", "run", "fuse", "emit"] {
        let output = fed(&[command, "-"], text);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let told = stderr(&output);
        assert!(told.contains("<stdin>:4:3") && told.contains("^^^"), "{told}");
        assert!(told.contains("error[HLO"), "{told}");
        assert!(output.stdout.is_empty(), "{command}");
    }
    let output = fed(&["verify", "-", "--format", "json"], text);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(value["valid"], false);
    assert_eq!((&value["findings"][0]["line"], &value["findings"][0]["column"]), (&4.into(), &3.into()));
    let output = fed(&["run", "-", "--format", "json"], text);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    let value: Value = serde_json::from_str(told.lines().last().unwrap_or_default()).expect("the last line is JSON");
    assert_eq!(value["error"]["findings"][0]["line"], 4);
}

/// The one line on standard error, which says what went wrong.
fn error_of(output: &std::process::Output) -> Value {
    let told = stderr(output);
    assert_eq!(told.lines().count(), 1, "{told}");
    let value: Value = serde_json::from_str(&told).expect("the error is JSON");
    let error = value["error"].clone();
    for key in ["code", "message", "line", "column", "help"] {
        assert!(error.get(key).is_some(), "{key}: {error}");
    }
    assert!(error["code"].is_string() && error["message"].is_string(), "{error}");
    assert!(output.stdout.is_empty(), "{}", stdout(output));
    error
}

/// Every command says as JSON what went wrong, and exits as it does otherwise.
#[test]
fn errors_are_json_where_results_are() {
    let files = ["run", "compile", "emit", "fmt", "fuse", "partition", "indexing", "verify", "specialize", "opt"];
    for command in files {
        let output = weft(&[command, "no-such-file.hlo", "--format", "json"]);
        let error = error_of(&output);
        assert_eq!((output.status.code(), &error["code"]), (Some(1), &"CLI002".into()), "{command}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("no-such-file.hlo")), "{error}");
    }
    // A program that cannot be read: the first finding, and all of them.
    let wrong = "HloModule m\nENTRY main {\n  x = f32[2] parametre(0)\n  ROOT y = f32[2] add(x, x)\n}\n";
    for command in files.into_iter().filter(|command| *command != "verify") {
        let output = fed(&[command, "-", "--format", "json"], wrong);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert_eq!((&error["line"], &error["column"]), (&3.into(), &14.into()), "{command}: {error}");
        assert_eq!(
            (&error["findings"][0]["message"], &error["findings"][0]["code"]),
            (&error["message"], &error["code"])
        );
    }
    let operations =
        ["simplify", "fmt", "rescale-symbols", "remove-unused", "symbols-to-dimensions", "inverse", "points"];
    for operation in operations {
        let output = weft(&["map", operation, "(d0) -> (d0, domain: d0 in [0, 3]", "--format", "json"]);
        let error = error_of(&output);
        assert_eq!((output.status.code(), &error["code"], &error["line"]), (Some(1), &"AFF006".into(), &1.into()));
    }
    // Command lines that cannot be meant, whoever finds that out.
    for arguments in [
        &["--format", "json"][..],
        &["fly", "--format=json"],
        &["run", "--format", "json"],
        &["run", "a", "--random", "x", "--format", "json"],
        &["run", "a", "--input", "-", "--format", "json"],
        &["emit", "a", "--stage", "assembly", "--format", "json"],
        &["map", "--format", "json"],
        &["map", "fly", "--format", "json"],
        &["opt", "a", "--passes", "fly", "--format", "json"],
        &["indexing", "a", "--to", "b", "--format", "json"],
    ] {
        let output = weft(arguments);
        let error = error_of(&output);
        assert_eq!((output.status.code(), &error["code"]), (Some(2), &"CLI001".into()), "{arguments:?}");
        assert!(!error["message"].as_str().unwrap_or_default().starts_with("error"), "{error}");
    }
    let output = weft(&["opt", "a", "--passes", "dead-cod", "--format", "json"]);
    assert!(error_of(&output)["help"].as_str().is_some_and(|help| help.contains("dead-code")), "{}", stderr(&output));
    // Help that was asked for is help.
    let output = weft(&["run", "--help", "--format", "json"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

/// Notes are JSON as well, so that every line of standard error is.
#[test]
fn notes_are_json_where_results_are() {
    let output = fed(&["run", "-", "--device", "evaluator", "--format", "json"], DOUBLE);
    assert_eq!(output.status.code(), Some(0));
    let note: Value = serde_json::from_str(&stderr(&output)).expect("the note is JSON");
    assert_eq!(note["note"], "no --input: taking random values for the input (--random 0)");
}

#[test]
fn programs_are_shown_as_they_were_read() {
    let shown = |text: &str| {
        let output = fed(&["fmt", "-"], text);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let canonical = shown(DOUBLE);
    assert!(canonical.contains("ROOT %sum = f32[2,3] add(%x, %x)"), "{canonical}");
    assert_eq!(shown(&canonical), canonical);
    // It is not verified, and nothing is done to it.
    let wrong =
        "HloModule m\nENTRY main { x = f32[2] parameter(0)  unused = f32[2] negate(x)  ROOT y = f32[3] add(x, x) }\n";
    assert!(shown(wrong).contains("%unused") && shown(wrong).contains("f32[3] add"), "{}", shown(wrong));
    let folder = Folder::new();
    let output = weft(&["fmt", &folder.file("d.hlo", DOUBLE), "--format", "json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(value["program"], "double");
    assert_eq!(value["hlo"].as_str().map(str::trim_end), Some(canonical.trim_end()));
}

#[test]
fn long_lines_are_clipped_around_the_finding() {
    let padding = format!("/* {} */", "x".repeat(100_000));
    let text = format!("HloModule m ENTRY main {{ {padding} x = f32[2] parametre(0) {padding} }}\n");
    let told = stderr(&fed(&["verify", "-"], &text));
    let column = text.find("parametre").expect("it is there") + 1;
    assert!(told.contains(&format!("<stdin>:1:{column}")), "{told}");
    assert!(told.contains("x = f32[2] parametre(0)") && told.contains("^^^^^^^^^"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() < 600), "{told}");
}

#[test]
fn a_valid_program_is_called_valid() {
    let output = fed(&["verify", "-"], DOUBLE);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "valid: 1 computation, 2 instructions\n"));
    let output = fed(&["verify", "-", "--format", "json"], DOUBLE);
    assert_eq!(stdout(&output), "{\"findings\":[],\"valid\":true}\n");
}

#[test]
fn what_is_not_text_is_an_error() {
    let folder = Folder::new();
    let output = weft(&["run", &folder.file("bad.hlo", [b'H', 0xff, 0xfe])]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("is not UTF-8 text: byte 1"), "{}", stderr(&output));
}

#[test]
fn random_inputs_are_announced_and_repeatable() {
    let bare = fed(&["run", "-", "--device", "evaluator"], DOUBLE);
    assert_eq!(bare.status.code(), Some(0), "{}", stderr(&bare));
    assert_eq!(stderr(&bare), "no --input: taking random values for the input (--random 0)\n");
    let named = fed(&["run", "-", "--device", "evaluator", "--random", "0"], DOUBLE);
    assert_eq!((stdout(&named), stderr(&named).as_str()), (stdout(&bare), ""));
    let other = fed(&["run", "-", "--device", "evaluator", "--random", "1"], DOUBLE);
    assert_ne!(stdout(&other), stdout(&bare));
    assert!(stdout(&bare).starts_with("out_0 f32[2,3]  min "), "{}", stdout(&bare));
}

#[test]
fn a_file_beside_the_program_is_not_taken_silently() {
    let folder = Folder::new();
    let program = folder.file("program.hlo", DOUBLE);
    folder.npy("in_0.npy", &[2, 3], npyz::Order::C, &[1f32; 6]);
    let output = weft(&["run", &program, "--device", "evaluator"]);
    assert!(stderr(&output).contains("--random 0"));
    assert!(!stdout(&output).contains("[2.0, 2.0"));
}

#[test]
fn files_go_in_and_come_out() {
    let folder = Folder::new();
    let program = folder.file("program.hlo", DOUBLE);
    let c = folder.npy("c.npy", &[2, 3], npyz::Order::C, &[1f32, 2., 3., 4., 5., 6.]);
    let fortran = folder.npy("f.npy", &[2, 3], npyz::Order::Fortran, &[1f32, 4., 2., 5., 3., 6.]);
    for device in ["evaluator", "gpu"] {
        for input in [&c, &fortran] {
            let out = folder.path(&format!("out/{device}"));
            let output = weft(&["run", &program, "--input", input, "--output-dir", &out, "--device", device]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let written = read_f32(&Path::new(&out).join("out_0.npy").display().to_string());
            assert_eq!(written, (vec![2, 3], vec![2., 4., 6., 8., 10., 12.]));
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let folder = Folder::new();
    let program = folder.file("program.hlo", DOUBLE);
    let right = folder.npy("right.npy", &[2, 3], npyz::Order::C, &[0f32; 6]);
    let turned = folder.npy("turned.npy", &[3, 2], npyz::Order::C, &[0f32; 6]);
    let double = folder.npy("double.npy", &[2, 3], npyz::Order::C, &[0f64; 6]);
    let text = folder.file("text.npy", "no NumPy file");
    let whole = std::fs::read(&right).expect("it was written");
    let short = folder.file("short.npy", &whole[..100]);
    let cut = folder.file("cut.npy", &whole[..whole.len() - 3]);
    let long = folder.file("long.npy", [&whole[..], b"more"].concat());
    let told = |inputs: &[&String]| {
        let mut arguments = vec!["run", &program, "--device", "evaluator"];
        inputs.iter().for_each(|input| arguments.extend(["--input", input]));
        let output = weft(&arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        stderr(&output)
    };
    let prefix = "error: parameter 0 (x) is f32[2,3]: ";
    assert_eq!(told(&[&turned]), format!("{prefix}{turned} holds f32[3,2]\n"));
    assert_eq!(told(&[&double]), format!("{prefix}{double} holds f64[2,3]\n"));
    let (held, length) = (whole.len() - 3, whole.len());
    assert_eq!(told(&[&cut]), format!("{prefix}cannot read {cut}: the file ends after {held} of {length} bytes\n"));
    let goes_on = format!("the file goes on after the {length} bytes that its header tells of");
    assert_eq!(told(&[&long]), format!("{prefix}cannot read {long}: {goes_on}\n"));
    for bad in [&text, &short, &folder.path("absent.npy")] {
        let told = told(&[bad]);
        assert!(told.starts_with(&format!("{prefix}cannot read {bad}: ")), "{told}");
    }
    assert_eq!(told(&[&right, &right]), format!("error: input 1 ({right}) is superfluous: the program takes 1\n"));
    let two = "HloModule two\nENTRY main {\n  x = f32[2,3] parameter(0)\n  n = s32[] parameter(1)\n  ROOT y = f32[2,3] negate(x)\n}\n";
    let two = folder.file("two.hlo", two);
    let output = weft(&["run", &two, "--input", &right, "--device", "evaluator"]);
    assert_eq!(stderr(&output), "error: parameter 1 (n) is missing: it is s32[]; 1 of 2 inputs were given\n");
}

#[test]
fn a_loop_is_ended_after_as_many_rounds_as_are_allowed() {
    let program = "HloModule count\n\nis_less {\n  i = s32[] parameter(0)\n  n = s32[] constant(5)\n  ROOT p = pred[] compare(i, n), direction=LT\n}\n\n\
        next {\n  i = s32[] parameter(0)\n  one = s32[] constant(1)\n  ROOT j = s32[] add(i, one)\n}\n\n\
        ENTRY main {\n  zero = s32[] constant(0)\n  ROOT w = s32[] while(zero), condition=is_less, body=next\n}\n";
    let run = |limit: &str| fed(&["run", "-", "--device", "evaluator", "--max-iterations", limit], program);
    let ended = run("5");
    assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    assert!(stdout(&ended).contains("out_0 s32[]") && stdout(&ended).contains('5'), "{}", stdout(&ended));
    let stopped = run("4");
    assert_eq!(stopped.status.code(), Some(1));
    let told = stderr(&stopped);
    assert!(told.contains("error[HLO208]: the loop has not ended after 4 rounds"), "{told}");
    assert!(told.contains("<stdin>:17:3") && stopped.stdout.is_empty(), "{told}");
    assert_eq!(run("-1").status.code(), Some(2));
}

#[test]
fn a_precise_run_has_wider_results() {
    let program = "HloModule third\nENTRY main {\n  one = f32[] constant(1)\n  three = f32[] constant(3)\n  ROOT y = f32[] divide(one, three)\n}\n";
    let folder = Folder::new();
    let out = folder.path("out");
    let output = fed(&["run", "-", "--precise", "--output-dir", &out], program);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bytes = std::fs::read(Path::new(&out).join("out_0.npy")).expect("the result was written");
    let file = npyz::NpyFile::new(&bytes[..]).expect("it is a NumPy file");
    assert_eq!(file.into_vec::<f64>().expect("it holds f64"), [1.0 / 3.0]);
    assert!(stdout(&output).starts_with("out_0 f64[]"), "{}", stdout(&output));
    // It is the reference, and is not checked itself.
    assert_eq!(fed(&["run", "-", "--precise", "--check"], program).status.code(), Some(2));
}

#[test]
fn inputs_beyond_memory_are_refused_before_they_are_made() {
    let huge = "HloModule h\nENTRY main {\n  a = f32[200000,200000] parameter(0)\n  ROOT b = f32[] constant(0)\n}\n";
    let output = fed(&["run", "-", "--device", "evaluator"], huge);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let words = "error[HLO205]: f32[200000,200000] takes 160000000000 bytes; at most 17179869184 may be used";
    assert!(stderr(&output).contains(words) && stderr(&output).contains("<stdin>:3:3"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("random"), "nothing is announced that is not done: {}", stderr(&output));
    let output = fed(&["run", "-", "--device", "gpu"], huge);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("RUN001") && stderr(&output).contains("160000000000"), "{}", stderr(&output));
    let many = "HloModule m\nENTRY main {\n  a = f32[50000,50000] parameter(0)\n  b = f32[50000,50000] parameter(1)\n  ROOT c = f32[] constant(0)\n}\n";
    let output = fed(&["run", "-", "--device", "evaluator"], many);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("take 20000000000 bytes"), "{}", stderr(&output));
}

#[test]
fn an_output_folder_that_cannot_be_is_told_before_running() {
    let folder = Folder::new();
    let program = folder.file("program.hlo", DOUBLE);
    let output = weft(&["run", &program, "--device", "evaluator", "--output-dir", &program]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("cannot write {program}: ")), "{}", stderr(&output));
    // The folder is there even where the run then fails: it was made before.
    let large = "HloModule l\nENTRY main {\n  c = f32[] constant(0)\n  ROOT b = f32[200000,200000] broadcast(c), dimensions={}\n}\n";
    let (large, out) = (folder.file("large.hlo", large), folder.path("out"));
    let output = weft(&["run", &large, "--device", "evaluator", "--output-dir", &out]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("HLO205"), "{}", stderr(&output));
    assert!(Path::new(&out).is_dir());
}

#[test]
fn tuples_are_flattened_into_files() {
    let folder = Folder::new();
    let text = "HloModule t\nENTRY main {\n  x = pred[2] parameter(0)\n  n = pred[2] not(x)\n  i = (pred[2]) tuple(n)\n  ROOT r = ((pred[2]), pred[2]) tuple(i, x)\n}\n";
    let program = folder.file("t.hlo", text);
    let input = folder.npy("in.npy", &[2], npyz::Order::C, &[true, false]);
    let out = folder.path("out");
    let output = weft(&["run", &program, "--input", &input, "--output-dir", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (file, expected) in [("out_0.npy", [false, true]), ("out_1.npy", [true, false])] {
        let bytes = std::fs::read(Path::new(&out).join(file)).expect("it was written");
        let npy = npyz::NpyFile::new(&bytes[..]).expect("it is a NumPy file");
        assert_eq!(npy.dtype().descr(), "'|b1'");
        assert_eq!(npy.into_vec::<bool>().expect("it holds truth values"), expected);
    }
}

#[test]
fn check_compares_with_the_evaluator() {
    let output = fed(&["run", "-", "--device", "gpu", "--check", "--format", "json"], DOUBLE);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(value["program"], "double");
    assert_eq!(value["results"][0]["check"]["out_of_tolerance"], 0);
    assert_eq!(value["results"][0]["extents"], serde_json::json!([2, 3]));

    let rough = "HloModule e\nENTRY main {\n  x = f32[64] parameter(0)\n  ROOT y = f32[64] tanh(x)\n}\n";
    let strict = ["--absolute-tolerance", "0", "--relative-tolerance", "0"];
    let output = fed(&[&["run", "-", "--device", "gpu", "--check"], &strict[..]].concat(), rough);
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(1));
        assert!(stdout(&output).contains("out of tolerance"), "{}", stdout(&output));
        assert!(stderr(&output).contains("differ from the evaluator's"), "{}", stderr(&output));
    }
}

#[test]
fn devices_are_listed() {
    let output = weft(&["devices"]);
    assert_eq!(output.status.code(), Some(0), "on Debian/Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1");
    assert!(stdout(&output).starts_with("0  "), "{}", stdout(&output));
    let output = weft(&["devices", "--format", "json"]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    let devices = value["devices"].as_array().expect("a list");
    assert_eq!(devices.iter().filter(|device| device["default"] == true).count(), 1);
}

/// Without drivers: `auto` falls back and says so, `gpu` fails with advice.
#[cfg(target_os = "linux")]
#[test]
fn without_an_adapter_the_evaluator_steps_in() {
    let run = |device: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["run", "-", "--random", "3", "--device", device]);
        // The Vulkan loader finds no driver where it is told to look at none.
        command.env("VK_DRIVER_FILES", "/dev/null").env("VK_ICD_FILENAMES", "/dev/null");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        child.stdin.take().expect("it is piped").write_all(DOUBLE.as_bytes()).expect("it reads its input");
        child.wait_with_output().expect("it ends")
    };
    let output = run("auto");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("running in the evaluator: RUN010"), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("out_0 f32[2,3]"));
    let output = run("gpu");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("apt-get install mesa-vulkan-drivers libvulkan1"), "{}", stderr(&output));
}

/// Without a runtime directory, drivers that look for a window system complain; the command asks for none.
#[test]
fn window_systems_are_not_asked() {
    let folder = Folder::new();
    let program = folder.file("double.hlo", DOUBLE);
    let commands: [&[&str]; 5] = [
        &["devices"],
        &["run", &program, "--random", "1", "--check"],
        &["run", &program, "--random", "1", "--device", "gpu"],
        &["run", "-", "--random", "1"],
        &["compile", &program, "--device", "gpu"],
    ];
    for arguments in commands {
        for directory in [None, Some("relative")] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            match directory {
                None => command.env_remove("XDG_RUNTIME_DIR"),
                Some(directory) => command.env("XDG_RUNTIME_DIR", directory),
            };
            let mut child = command.spawn().expect("the command starts");
            // Only one of them reads it.
            let _ = child.stdin.take().expect("it is piped").write_all(DOUBLE.as_bytes());
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
            assert!(!stderr(&output).contains("XDG_RUNTIME_DIR"), "{arguments:?}: {}", stderr(&output));
            assert!(!output.stdout.is_empty(), "{arguments:?}");
        }
    }
}

#[test]
fn an_unknown_device_is_named_with_what_there_is() {
    let output = fed(&["run", "-", "--device", "abacus"], DOUBLE);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("abacus"), "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    // Enough text that it cannot all lie in the pipe.
    let mut text = String::from("HloModule wide\nENTRY main {\n  x = f32[64] parameter(0)\n");
    for step in 0..3000 {
        text +=
            &format!("  y{step} = f32[64] add({}, x)\n", if step == 0 { "x".into() } else { format!("y{}", step - 1) });
    }
    text += "  ROOT r = f32[64] negate(y2999)\n}\n";
    let folder = Folder::new();
    let program = folder.file("wide.hlo", text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["indexing", &program]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn unknown_extents_are_given_on_the_command_line() {
    let text = "HloModule m\nENTRY e {\n  x = f32[<=8,3] parameter(0)\n  ROOT y = f32[<=8,3] add(x, x)\n}\n";
    let output = fed(&["specialize", "-", "--shape", "x=f32[5,3]"], text);
    assert!(stdout(&output).contains("ROOT %y = f32[5,3] add(%x, %x)"), "{}{}", stdout(&output), stderr(&output));
    let output = fed(&["specialize", "-", "--shape", "x=f32[9,3]"], text);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot be f32[9,3]"), "{}", stderr(&output));
    let output = fed(&["specialize", "-", "--shape", "x"], text);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = fed(&["specialize", "-", "--shape", "x=f32[9"], text);
    assert!(stderr(&output).contains("HLO001"), "{}", stderr(&output));
}

#[test]
fn a_program_is_verified_with_functions_for_its_custom_calls() {
    let folder = Folder::new();
    let functions = folder.file(
        "halves.shape",
        "shape.function_library @mine {
           func.func @halves(%x: !shape.value_shape) -> !shape.shape {
             %shape = shape.shape_of %x
             %zero = shape.const_size 0
             %two = shape.const_size 2
             %extent = shape.get_extent %shape, %zero
             %half = shape.div %extent, %two
             %result = shape.from_extents %half
             return %result
           }
         } mapping { halves = @halves }",
    );
    let text =
        "ENTRY e {\n  x = f32[6] parameter(0)\n  ROOT y = f32[4] custom-call(x), custom_call_target=\"halves\"\n}\n";
    assert_eq!(fed(&["verify", "-"], text).status.code(), Some(0), "without a function the text says the extents");
    let output = fed(&["verify", "-", "--shape-functions", &functions], text);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("custom-call yields f32[3], the text says f32[4]"), "{}", stderr(&output));
}

#[test]
fn shape_functions_are_shown_in_every_form() {
    for (form, word) in [("error-carrying", "shape.meet"), ("constrained", "shape.cstr_eq"), ("imperative", "assert")] {
        let output = weft(&["shape-functions", "dot", "--form", form]);
        assert!(stdout(&output).contains(word), "{form}: {}{}", stdout(&output), stderr(&output));
    }
    let output = weft(&["shape-functions", "--format", "json"]);
    let library: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(library["mapping"]["dot"], "dot");
    assert_eq!(library["without"]["after-all"], "a token has no extents");
    let output = weft(&["shape-functions", "fly"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no shape function is mapped to fly"), "{}", stderr(&output));
}

/// What the host computes is told once, and counted.
#[test]
fn what_the_host_computes_is_told_and_counted() {
    let text = "HloModule m\nENTRY e {\n  x = f32[4,4] parameter(0)\n  g = u64[] rng-get-and-update-state(), delta=1\n  y = f32[4,4] exponential(x)\n  c = f32[4,4] cholesky(y), lower=true, control-predecessors={x}\n  \
        d = f32[4,4] cholesky(c), lower=true, control-predecessors={x}\n  ROOT z = f32[4,4] negate(d)\n}\n";
    let output = fed(&["run", "-", "--device", "gpu", "--stats", "--format", "json"], text);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let stats = &value["stats"];
    assert_eq!((&stats["launches"], &stats["host"]["cholesky"]), (&2.into(), &1.into()), "{value}");
    let told = stderr(&output);
    assert_eq!(told.lines().filter(|line| line.contains("the host computes")).count(), 2, "{told}");
    let shown = fed(&["run", "-", "--device", "gpu", "--stats"], text);
    assert!(stderr(&shown).contains("2 launches of 2 kernels\non the host: cholesky 1\n"), "{}", stderr(&shown));
    let forbidden = fed(&["run", "-", "--device", "gpu", "--no-host"], text);
    assert_eq!(forbidden.status.code(), Some(1));
    assert!(stderr(&forbidden).contains("error[HLO401]"), "{}", stderr(&forbidden));
}
