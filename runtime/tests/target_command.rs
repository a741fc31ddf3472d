//! `--target`, and the targets that `weft devices` shows.

use crate::cli::DOUBLE;
use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::{Value, json};
use weft_partition::Target;

/// A sum of 20 parameters: more than many targets bind in one kernel.
fn wide() -> String {
    let mut text = "HloModule wide\nENTRY main {\n  sum0 = f32[4] parameter(0)\n".to_owned();
    for number in 1..20 {
        let root = if number == 19 { "ROOT " } else { "" };
        let before = number - 1;
        text += &format!(
            "  p{number} = f32[4] parameter({number})\n  {root}sum{number} = f32[4] add(sum{before}, p{number})\n"
        );
    }
    text + "}\n"
}

fn value(output: &std::process::Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).expect("the output is JSON")
}

/// What `weft devices` says of the device that is taken by default.
fn device() -> Value {
    let devices = value(&weft(&["devices", "--format", "json"]))["devices"].clone();
    let devices = devices.as_array().expect("it is a list").clone();
    devices.into_iter().find(|device| device["default"] == true).expect("one is taken by default")
}

fn launches(arguments: &[&str], text: &str) -> usize {
    let output = fed(&[&["compile", "-", "--format", "json"], arguments].concat(), text);
    value(&output)["steps"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_device_s_description_serves_as_a_target() {
    let folder = Folder::new();
    let device = device();
    for key in ["index", "name", "backend", "driver", "kind", "target"] {
        assert!(!device[key].is_null(), "{key}: {device}");
    }
    let text = device["target"].to_string();
    let target: Target = serde_json::from_str(&text).expect("it is a target");
    assert_eq!((target.check(), target.kind.name()), (Ok(()), device["kind"].as_str().unwrap_or_default()));
    let file = folder.file("target.json", &text);
    for command in [&["compile", "-"][..], &["emit", "-"], &["fuse", "-"], &["partition", "-"]] {
        let by_file = fed(&[command, &["--target", &file]].concat(), &wide());
        let by_device = fed(&[command, &["--device", "gpu"]].concat(), &wide());
        assert_eq!((by_file.status.code(), stdout(&by_file)), (Some(0), stdout(&by_device)), "{command:?}");
    }
    let ran = fed(&["run", "-", "--random", "1", "--check", "--target", &file], &wide());
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
}

/// The plan of a transposition, compiled with these arguments.
fn plan(arguments: &[&str]) -> String {
    let text = "HloModule m\nENTRY e {\n  a = f32[64,96] parameter(0)\n  ROOT t = f32[96,64] transpose(a), dimensions={1,0}\n}\n";
    let output = fed(&[&["emit", "-", "--stage", "functions"], arguments].concat(), text);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_schedule_may_be_asked_for_of_any_target() {
    let [gpu, software] = ["discrete", "software"].map(|name| plan(&["--target", name]));
    assert_ne!(gpu, software);
    for target in ["discrete", "software"] {
        assert_eq!(plan(&["--target", target, "--schedule", "gpu"]), gpu);
        assert_eq!(plan(&["--target", target, "--schedule", "software"]), software);
    }
    let refused = fed(&["emit", "-", "--schedule", "host"], "");
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("gpu, software"), "{}", stderr(&refused));
}

#[test]
fn presets_need_no_device() {
    for name in Target::PRESETS {
        for command in ["compile", "emit", "fuse", "partition"] {
            let output = fed(&[command, "-", "--target", name], DOUBLE);
            assert_eq!(output.status.code(), Some(0), "{command} {name}: {}", stderr(&output));
        }
        let shown = value(&weft(&["devices", "--target", name, "--format", "json"]))["target"].to_string();
        assert_eq!(serde_json::from_str::<Target>(&shown).ok(), Target::preset(name).ok());
        assert!(stdout(&weft(&["devices", "--target", name])).starts_with(&format!("{name} (")));
    }
    let without = fed(&["emit", "-"], &wide());
    assert_eq!(stdout(&fed(&["emit", "-", "--target", "floor"], &wide())), stdout(&without));
}

#[test]
fn what_a_file_says_is_kept_to() {
    let folder = Folder::new();
    let narrow = folder.file("narrow.json", r#"{ "base": "apple", "max_storage_buffers": 3 }"#);
    // 20 operands and a result: 19 sums of two where three buffers are bound, one kernel where there are 28; and where all of them are small enough for an arena.
    let large = wide().replace("f32[4]", "f32[262144]");
    assert_eq!(launches(&["--target", &narrow], &large), 19);
    assert_eq!(launches(&["--target", "apple"], &large), 1);
    assert_eq!(launches(&["--target", &narrow], &wide()), 1);
    let shown = value(&weft(&["devices", "--target", &narrow, "--format", "json"]));
    assert_eq!((&shown["target"]["max_storage_buffers"], &shown["target"]["kind"]), (&json!(3), &json!("integrated")));
}

#[test]
fn what_is_no_target_is_told() {
    let folder = Folder::new();
    let program = folder.file("double.hlo", DOUBLE);
    let absent = folder.path("absent.json");
    let misspelt = folder.file("misspelt.json", "{\n  \"base\": \"floor\",\n  \"max_storage_bufers\": 8\n}\n");
    let zero = folder.file("zero.json", r#"{"hardware": {"cores": 0}}"#);
    let negative = folder.file("negative.json", "{\n\"max_storage_buffers\": -1}");
    let cases = [
        (
            "aple",
            "TGT001",
            "there is no target \"aple\"; there are: floor, discrete, integrated, apple, mobile, software",
        ),
        (&absent, "CLI002", "absent.json"),
        (&misspelt, "TGT003", "unknown field `max_storage_bufers`"),
        (&zero, "TGT003", "hardware.cores of a target is 0"),
        (&negative, "TGT003", "invalid value: integer `-1`, expected u32"),
    ];
    let commands: [&[&str]; 7] = [
        &["run", &program],
        &["compile", &program],
        &["emit", &program],
        &["fuse", &program],
        &["partition", &program],
        &["bench", &program],
        &["devices"],
    ];
    for command in commands {
        for (word, code, told) in cases {
            let arguments = [command, &["--target", word]].concat();
            let output = weft(&arguments);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{arguments:?}");
            assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
            let output = weft(&[&arguments[..], &["--format", "json"]].concat());
            let error: Value = serde_json::from_str(&stderr(&output)).expect("one line of JSON");
            assert_eq!(error["error"]["code"], code, "{arguments:?}: {error}");
            assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains(told)), "{error}");
        }
    }
    let output = weft(&["compile", &program, "--target", &misspelt, "--format", "json"]);
    let error: Value = serde_json::from_str(&stderr(&output)).expect("one line of JSON");
    assert_eq!(error["error"]["line"], 3, "{error}");
}

#[test]
fn targets_and_places_that_exclude_each_other_are_misuse() {
    for arguments in [
        &["compile", "-", "--target", "floor", "--device", "gpu"][..],
        &["emit", "-", "--target", "floor", "--device", "gpu"],
        &["run", "-", "--target", "floor", "--precise"],
        &["run", "-", "--target", "floor", "--device", "evaluator"],
        &["run", "-", "--target", ""],
    ] {
        let output = fed(arguments, DOUBLE);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_device_runs_what_is_compiled_for_no_more_than_it_offers() {
    let folder = Folder::new();
    let device = device();
    let mut words = vec!["floor"];
    if device["kind"] == "software" {
        words.push("software");
    }
    for word in words {
        let output = fed(&["run", "-", "--random", "1", "--check", "--device", "gpu", "--target", word], &wide());
        assert_eq!(output.status.code(), Some(0), "{word}: {}", stderr(&output));
    }
    let larger = |change: &dyn Fn(&mut Value)| {
        let mut target = device["target"].clone();
        change(&mut target);
        let file = folder.file("larger.json", target.to_string());
        let output =
            fed(&["run", "-", "--random", "1", "--device", "gpu", "--target", &file, "--format", "json"], DOUBLE);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{}", stderr(&output));
        let error: Value = serde_json::from_str(&stderr(&output)).expect("one line of JSON");
        (error["error"]["code"].clone(), error["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let (code, message) = larger(&|target| target["max_workgroup_size_y"] = json!(1 << 20));
    assert_eq!(code, "RUN013");
    assert!(message.contains("compiled for invocations along y of 1048576, the device offers "), "{message}");
    let (code, message) = larger(&|target| {
        target["features"]["subgroup"] = json!({ "min": 1, "max": 1 });
    });
    assert_eq!(code, "RUN014");
    assert!(message.contains("the feature subgroup of 1 to 1, which the device lacks"), "{message}");
}
