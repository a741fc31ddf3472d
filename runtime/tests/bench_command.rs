//! `weft bench`: rows, reasons, baselines.

use crate::command::{Folder, stderr, stdout, weft};
use serde_json::{Value, json};

const SMALL: &str = "HloModule small\nENTRY main {\n  x = f32[64,64] parameter(0)\n  y = f32[64,64] exponential(x)\n  \
                     ROOT z = f32[64,64] add(x, y)\n}\n";

/// A sort whose comparator multiplies vectors has no kernel.
const SORT: &str = "HloModule sort\nless {\n  \
                    a = f32[] parameter(0)  b = f32[] parameter(1)  e = f32[1] reshape(a)  f = f32[1] reshape(b)\n  \
                    v = f32[2] concatenate(e, f), dimensions={0}  i = f32[2] constant({1, -1})  z = f32[] constant(0)  \
                    m = f32[] dot(v, i), lhs_contracting_dims={0}, rhs_contracting_dims={0}  ROOT c = pred[] compare(m, z), direction=LT }\n\
                    ENTRY main {\n  x = f32[64] parameter(0)\n  \
                    ROOT s = f32[64] sort(x), dimensions={0}, to_apply=less\n}\n";

fn measured(arguments: &[&str]) -> Value {
    measured_in("2", arguments)
}

fn measured_in(rounds: &str, arguments: &[&str]) -> Value {
    let output = weft(&[&["bench", "--rounds", rounds, "--format", "json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one JSON value")
}

fn positive(value: &Value) -> f64 {
    let number = value.as_f64().filter(|number| *number > 0.0);
    assert!(number.is_some(), "{value} is no positive number");
    number.unwrap_or_default()
}

#[test]
fn a_row_tells_times_work_and_error() {
    let folder = Folder::new();
    let (small, broken) = (folder.file("small.hlo", SMALL), folder.file("broken.hlo", "HloModule"));
    let sort = folder.file("sort.hlo", SORT);
    let whole = measured(&[&small, "diamonds8", &sort, &broken]);
    let section = &whole["devices"][0];
    assert_eq!(section["copy_bytes"], 128 << 20);
    let cases = section["cases"].as_array().expect("there are rows");
    assert_eq!(cases.len(), 4);

    for (row, bytes, flops) in [(&cases[0], 2 * 64 * 64 * 4, 2 * 64 * 64), (&cases[1], 8 << 20, (8 * 4) << 20)] {
        assert_eq!(row["rounds"], 2);
        assert_eq!(row["bytes_read"].as_u64().zip(row["bytes_written"].as_u64()).map(|(a, b)| a + b), Some(bytes));
        assert_eq!(row["flops"], flops);
        let weft = &row["weft"];
        let wall = positive(&weft["wall_seconds"]["median"]);
        assert!((positive(&weft["bytes_per_second"]) * wall / bytes as f64 - 1.0).abs() < 1e-9, "{weft}");
        for (least, most) in [("least", "lower_quartile"), ("lower_quartile", "median"), ("median", "greatest")] {
            assert!(weft["wall_seconds"][least].as_f64() <= weft["wall_seconds"][most].as_f64(), "{weft}");
        }
        positive(&weft["times_copy"]["wall"]["median"]);
        positive(&row["copy"]["wall_seconds"]["median"]);
        if cfg!(unix) {
            positive(&weft["cpu_seconds"]["median"]);
        }
        assert!(weft["largest_relative_error"].as_f64().is_some_and(|error| error < 1e-5), "{weft}");
        assert_eq!(weft["wrong"], false);
        assert!(weft["launches"].as_u64() >= weft["kernels"].as_u64() && positive(&weft["kernels"]) >= 1.0);
        assert!(weft["bytes_moved"].as_u64() >= Some(bytes));
        let stages = weft["compile_seconds"].as_object().expect("stages have names");
        let names = ["emit", "first_run", "fuse", "parse", "passes", "pipelines", "plan", "ready", "validate"];
        assert_eq!(stages.keys().collect::<Vec<_>>(), names);
        stages.values().for_each(|seconds| assert!(positive(seconds) <= 600.0));
        assert_eq!(row["by_hand"], json!([]));
    }

    let reason = &cases[2]["weft"]["cannot_run"];
    assert_eq!(reason["code"], "HLO401", "{reason}");
    assert!(
        reason["message"].as_str().is_some_and(|text| text.starts_with("7:3: HLO401") && text.contains("sort")),
        "{reason}"
    );
    let reason = &cases[3]["weft"]["cannot_run"];
    assert!(reason["code"].as_str().is_some_and(|code| code.starts_with("HLO0")), "{reason}");
}

/// A loop whose rounds depend on what it computes is the host's to repeat where loops are no kernels: such a program has no time of the device's own.
const UNKNOWN_ROUNDS: &str = "HloModule endless\nless { s = (f32[64]) parameter(0)  a = f32[64] get-tuple-element(s), index=0  \
                              b = f32[1] slice(a), slice={[0:1]}  c = f32[] reshape(b)  m = f32[] constant(100)  \
                              ROOT l = pred[] compare(c, m), direction=LT }\n\
                              up { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT }\n\
                              twice { s = (f32[64]) parameter(0)  a = f32[64] get-tuple-element(s), index=0  \
                              b = f32[64] sort(a), dimensions={0}, to_apply=up  c = f32[64] add(b, a)  ROOT t = (f32[64]) tuple(c) }\n\
                              ENTRY main {\n  x = f32[64] parameter(0)\n  y = f32[64] abs(x)\n  one = f32[] constant(1)\n  \
                              ones = f32[64] broadcast(one), dimensions={}\n  z = f32[64] add(y, ones)\n  t = (f32[64]) tuple(z)\n  \
                              ROOT w = (f32[64]) while(t), condition=less, body=twice\n}\n";

#[test]
fn devices_tell_time_themselves() {
    let folder = Folder::new();
    let small = folder.file("small.hlo", SMALL);
    // Each time is that of another run, beside other tests: of many rounds some is that of a device left alone.
    let whole = measured_in("20", &[&small, "row_sum", "--no-check", "--clock", "device"]);
    for row in whole["devices"][0]["cases"].as_array().expect("there are rows") {
        let weft = &row["weft"];
        // What it takes to hand a run over is not in it.
        let seconds = positive(&weft["device_seconds"]["least"]);
        assert!(seconds < positive(&weft["wall_seconds"]["greatest"]), "{weft}");
        let bytes = ["bytes_read", "bytes_written"].map(|name| row[name].as_f64().unwrap_or_default());
        let rate = positive(&weft["bytes_per_second"]) * positive(&weft["device_seconds"]["median"]);
        assert!((rate / (bytes[0] + bytes[1]) - 1.0).abs() < 1e-9, "{weft}");
        positive(&weft["times_copy"]["device"]["median"]);
        positive(&row["copy"]["device_seconds"]["median"]);
    }
    let by_hand = &whole["devices"][0]["cases"][1]["by_hand"][0];
    positive(&by_hand["device_seconds"]["median"]);
    positive(&by_hand["weft_over_it"]["device"]["median"]);

    let unknown = folder.file("unknown.hlo", UNKNOWN_ROUNDS);
    let output = weft(&["bench", &unknown, "--rounds", "1", "--no-check", "--clock", "device"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("device ms") && told.contains("ratios by device time"), "{told}");
    let whole = measured(&[&unknown, "--no-check", "--clock", "device"]);
    let weft = &whole["devices"][0]["cases"][0]["weft"];
    assert_eq!((&weft["device_seconds"], &weft["times_copy"]["device"]), (&Value::Null, &Value::Null), "{weft}");
    positive(&weft["wall_seconds"]["median"]);
}

#[test]
fn a_baseline_finds_what_became_slower() {
    let folder = Folder::new();
    let small = folder.file("small.hlo", SMALL);
    let mut before = measured(&[&small, "--no-check"]);
    let row = &before["devices"][0]["cases"][0]["weft"];
    assert_eq!(row["largest_relative_error"], Value::Null);
    let compared = |before: &Value, more: &[&str]| {
        let baseline = folder.file("before.json", before.to_string());
        let fixed = ["bench", &small, "--rounds", "1", "--no-check", "--baseline", &baseline, "--tolerance", "1000"];
        weft(&[&fixed[..], more].concat())
    };
    let output = compared(&before, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let after: Value = serde_json::from_str(&stdout(&output)).expect("one JSON value");
    let comparison = &after["devices"][0]["baseline"][0];
    assert_eq!((&comparison["verdict"], &comparison["regression"]), (&json!("same"), &json!(false)));

    // As if it had taken a millionth.
    before["devices"][0]["cases"][0]["weft"]["times_copy"]["wall"]["median"] =
        json!(positive(&comparison["now"]) * 1e-6);
    let output = compared(&before, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("SLOWER"), "{}", stdout(&output));

    before["devices"][0]["device"]["name"] = json!("another");
    let output = compared(&before, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("was not measured on"), "{}", stderr(&output));
    let output = weft(&["bench", &small, "--baseline", &small]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("is not what `weft bench --format json` writes"), "{}", stderr(&output));
}

#[test]
fn tables_are_text_or_markdown() {
    let folder = Folder::new();
    let (small, sort) = (folder.file("small.hlo", SMALL), folder.file("sort.hlo", SORT));
    let output = weft(&["bench", &small, &sort, "--rounds", "1", "--markdown", "--no-check"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("# Measured by `weft bench`\n\n## "), "{text}");
    let row = |name: &str| text.lines().find(|line| line.starts_with(&format!("| {name} |"))).map(str::to_owned);
    assert!(row("case").is_some_and(|line| line.contains("| wall ms | cpu ms | GB/s |")), "{text}");
    assert!(row(&small).is_some_and(|line| line.contains('±')), "{text}");
    assert!(row(&sort).is_some_and(|line| line.contains("cannot run: 7:3: HLO401")), "{text}");
    assert!(row("compile, ms").is_some_and(|line| line.ends_with("| first run | ready |")), "{text}");
    assert!(text.contains("The copy moves 128 MiB in "), "{text}");
}

#[test]
fn a_sweep_compares_shapes_with_plain_loops() {
    let output = weft(&["bench", "--sweep=4", "--rounds", "1", "--format", "json"]);
    // So small programs may take any time.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    let whole: Value = serde_json::from_str(&stdout(&output)).expect("one JSON value");
    let points = whole["devices"][0]["sweep"].as_array().expect("there are programs");
    assert_eq!(points.len(), 3 * 5);
    for point in points {
        positive(&point["loops_seconds"]);
        positive(&point["times_loops"]["gpu"]);
        positive(&point["times_loops"]["software"]);
    }
    let output = weft(&["bench", "--sweep=0", "--rounds", "1", "--markdown", "--schedule", "software"]);
    let text = stdout(&output);
    assert!(text.starts_with("# Measured by `weft bench --sweep`\n\n## "), "{text}");
    assert!(text.contains("| row sum: loops, ms | software |") && text.contains("\n| 1 × 1 | "), "{text}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for arguments in [
        &[][..],
        &["softmax", "--all"],
        &["--sweep", "--all"],
        &["--sweep=99"],
        &["--sweep", "--baseline", "before.json"],
        &["--all", "--markdown", "--format", "json"],
        &["softmax", "--tolerance", "0.5"],
        &["softmax", "--rounds", "0"],
        &["softmax", "--seconds", "-1"],
        &["softmax", "--clock", "sun"],
    ] {
        let output = weft(&[&["bench"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
    let output = weft(&["bench", "soft-max"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot read soft-max") && stderr(&output).contains("the cases are chain10,"));
}
