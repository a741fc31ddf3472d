//! The commands that show a stage of compilation: `weft emit`, `fuse`, `indexing` and `partition`.

use crate::cli::DOUBLE;
use crate::command::{fed, stderr, stdout, weft};
use serde_json::Value;
use std::path::Path;

#[test]
fn kernels_are_emitted_at_every_stage() {
    for (stage, sign) in [
        ("functions", "sum"),
        ("kernel", "sum"),
        ("flat", "sum"),
        ("peeled", "sum"),
        ("unrolled", "sum"),
        ("hoisted", "sum"),
        ("paired", "sum"),
        ("rolled", "sum"),
        ("wgsl", "@compute"),
        ("msl", "kernel void"),
        ("hlsl", "numthreads"),
        ("glsl", "local_size_x"),
    ] {
        let output = fed(&["emit", "-", "--stage", stage], DOUBLE);
        assert_eq!(output.status.code(), Some(0), "{stage}: {}", stderr(&output));
        assert!(stdout(&output).contains(sign), "{stage}: {}", stdout(&output));
        assert!(output.stderr.is_empty(), "no device is touched");
    }
    let output = fed(&["emit", "-", "--stage", "spirv"], DOUBLE);
    assert_eq!(&output.stdout[..4], &0x0723_0203u32.to_le_bytes());
    let output = fed(&["emit", "-", "--stage", "spirv", "--format", "json"], DOUBLE);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!(value["kernels"][0]["words"][0], 0x0723_0203);
}

#[test]
fn one_kernel_can_be_asked_for() {
    let text = "HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  a = f32[4] negate(x)\n  y = f32[7] parameter(1)\n  b = f32[7] negate(y)\n  ROOT r = (f32[4], f32[7]) tuple(a, b)\n}\n";
    let all = fed(&["emit", "-", "--no-fuse"], text);
    assert!(stdout(&all).contains("// kernel 0: ") && stdout(&all).contains("// kernel 1: "), "{}", stdout(&all));
    let first = fed(&["emit", "-", "--no-fuse", "--kernel", "0"], text);
    assert!(stdout(&all).contains(&stdout(&first)));
    let wrong = fed(&["emit", "-", "--no-fuse", "--kernel", "nothing"], text);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("there is no kernel nothing; there are: 0 "), "{}", stderr(&wrong));
    let both = fed(&["emit", "-", "--no-fuse", "--stage", "spirv"], text);
    assert_eq!(both.status.code(), Some(2), "two binaries do not fit one pipe");
}

#[test]
fn fused_text_is_a_program_again() {
    let fused = fed(&["fuse", "-", "--explain"], DOUBLE);
    assert_eq!(fused.status.code(), Some(0), "{}", stderr(&fused));
    let again = fed(&["verify", "-"], &stdout(&fused));
    assert_eq!(again.status.code(), Some(0), "{}\n{}", stdout(&fused), stderr(&again));
    let ran = fed(&["run", "-", "--device", "evaluator"], &stdout(&fused));
    let original = fed(&["run", "-", "--device", "evaluator"], DOUBLE);
    assert_eq!(stdout(&ran), stdout(&original));
}

#[test]
fn maps_and_partitions_are_shown() {
    let maps = fed(&["indexing", "-"], DOUBLE);
    let map = "operand 0 (x): (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]";
    assert!(stdout(&maps).contains(map), "{}", stdout(&maps));
    let plan = fed(&["partition", "-"], DOUBLE);
    assert_eq!(plan.status.code(), Some(0), "{}", stderr(&plan));
    assert!(stdout(&plan).contains("function"), "{}", stdout(&plan));
    for command in ["indexing", "partition", "fuse", "compile"] {
        let output = fed(&[command, "-", "--format", "json"], DOUBLE);
        let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
        assert!(value.is_array() || value.is_object(), "{command}");
    }
}

/// Everything of a partition is in its JSON by itself, with maps that can be read again.
#[test]
fn partitions_are_structured() {
    let text = "HloModule m\nENTRY e {\n  p = f32[20,20] parameter(0)\n  l = f32[20,20] log(p)\n  \
                t = f32[20,20] transpose(l), dimensions={1,0}\n  ROOT a = f32[20,20] add(l, t)\n}\n";
    let output = fed(&["partition", "-", "--format", "json"], text);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    assert_eq!((&value["program"], &value["instructions"]), (&"m".into(), &serde_json::json!([])));
    let fusion = &value["fusions"][0];
    assert_eq!(
        (&fusion["compiled"], &fusion["computation"], &fusion["operands"][0]),
        (&true.into(), &"e".into(), &"p".into())
    );
    assert_eq!(fusion["parameters"][0], serde_json::json!({ "name": "p", "number": 0, "shape": "f32[20,20]" }));
    let functions = fusion["functions"].as_array().expect("a list");
    let names: Vec<&Value> = functions.iter().map(|function| &function["name"]).collect();
    assert_eq!(names, ["a", "t", "l"]);
    let [add, transpose, log] = functions.as_slice() else { panic!("three functions") };
    assert_eq!((&add["roots"], &add["extents"]), (&serde_json::json!(["a"]), &serde_json::json!([20, 20])));
    assert_eq!(log["why"], "its users access it in 2 different ways");
    let read = &transpose["members"][0]["reads"][0];
    let map = "(d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]";
    assert_eq!(
        (&read["operand"], &read["function"], &read["maps"]),
        (&"l".into(), &"l".into(), &serde_json::json!([map]))
    );
    assert_eq!((&transpose["parameters"], &log["parameters"][0]["name"]), (&serde_json::json!([]), &"p".into()));
    assert_eq!((&log["members"][0]["operation"], &log["members"][0]["shape"]), (&"log".into(), &"f32[20,20]".into()));
}

/// All of the tiles of sums of products, of what they are the sums, and in which order results have them.
#[test]
fn products_are_structured() {
    let text = "HloModule m\nENTRY e {\n  x = f32[8,32,16] parameter(0)\n  y = f32[8,16,64] parameter(1)\n  \
                d = f32[8,32,64] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
                rhs_contracting_dims={1}\n  ROOT t = f32[32,8,64] transpose(d), dimensions={1,0,2}\n}\n";
    let output = fed(&["partition", "-", "--target", "discrete", "--format", "json"], text);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    let emitter = &value["fusions"][0]["emitter"];
    let told = |name: &str| &emitter[name];
    assert_eq!((told("name"), told("shared"), told("members")), (&"product".into(), &true.into(), &1.into()));
    assert_eq!((told("lanes"), told("space")), (&4.into(), &serde_json::json!([8, 32, 16, 64])), "{emitter}");
    assert_eq!(
        told("sums"),
        &serde_json::json!([{ "instruction": "d", "lhs": "x", "rhs": "y", "window": null, "results": null }])
    );
    let map = "(d0, d1, d2) -> (d1, d0, d2), domain: d0 in [0, 7], d1 in [0, 31], d2 in [0, 63]";
    assert_eq!(told("orders"), &serde_json::json!([{ "function": "t", "map": map }]));
}

/// What has no kernel yet is shown with the reason, and refused by no command that only looks.
#[test]
fn a_loop_that_is_one_kernel_is_shown() {
    let text = "HloModule m
less {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)
  ROOT l = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4,4] add(x, x)
  ROOT t = (s32[], f32[4,4]) tuple(j, y)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  k = s32[] constant(0)
  s = (s32[], f32[4,4]) tuple(k, x)
  w = (s32[], f32[4,4]) while(s), condition=less, body=step
  ROOT r = f32[4,4] get-tuple-element(w), index=1
}";
    let shown = |arguments: &[&str]| {
        let output = fed(&[&["emit", "-"], arguments].concat(), text);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    let all = shown(&[]);
    let headings: Vec<&str> = all.lines().filter(|line| line.starts_with("// kernel ")).collect();
    assert!(headings.last().is_some_and(|heading| heading.ends_with(": w")), "{headings:?}");
    assert!(shown(&["--kernel", "w", "--stage", "kernel"]).starts_with("kernel @w"), "{all}");
    let stages = shown(&["--kernel", "%w", "--stage", "all"]);
    for heading in ["// stage kernel\n", "// stage hoisted", "// stage wgsl\n"] {
        assert!(stages.contains(heading), "{stages}");
    }
    assert!(stages.ends_with(&shown(&["--kernel", "w"])), "{stages}");
}

#[test]
fn what_has_no_kernel_is_shown() {
    let text = "HloModule m
less {
  s = (s32[], f32[3,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=0
  d = s32[] multiply(i, n)
  ROOT l = pred[] compare(i, d), direction=LT
}
step {
  s = (s32[], f32[3,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3,3] get-tuple-element(s), index=1
  j = s32[] add(i, i)
  y = f32[3,3] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = u64[] rng-get-and-update-state(), delta=1
  z = f32[3,3] cholesky(y), control-predecessors={j}
  ROOT t = (s32[], f32[3,3]) tuple(j, z)
}
ENTRY e {
  k = s32[] parameter(0)
  x = f32[3,3] parameter(1)
  s = (s32[], f32[3,3]) tuple(k, x)
  w = (s32[], f32[3,3]) while(s), condition=less, body=step
  ROOT r = f32[3,3] get-tuple-element(w), index=1
}";
    let shown = |arguments: &[&str]| {
        let output = fed(arguments, text);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    let fused = shown(&["fuse", "-", "--no-opt"]);
    let reason = "// step/z_fusion: not yet compiled: HLO401: 'cholesky' cannot be compiled to a kernel yet\n";
    assert!(fused.contains(reason) && !fused.contains("// e/w"), "{fused}");
    assert!(stdout(&fed(&["verify", "-"], &fused)).starts_with("valid: "), "{fused}");
    let divided = shown(&["partition", "-", "--no-opt"]);
    assert!(divided.contains("fusion step/z_fusion\n  not yet compiled: HLO401: "), "{divided}");
    assert!(divided.contains("  output function j [] -> %j\n"), "{divided}");
    let value: Value = serde_json::from_str(&shown(&["partition", "-", "--no-opt", "--format", "json"])).expect("JSON");
    let fusion = |name: &str| {
        let mut all = value["fusions"].as_array().into_iter().flatten();
        all.find(|fusion| fusion["fusion"] == name).unwrap_or_else(|| panic!("{name} is a fusion"))
    };
    assert_eq!(
        (&fusion("z_fusion")["compiled"], &fusion("z_fusion")["reason"]["code"]),
        (&false.into(), &"HLO401".into())
    );
    let reads = &fusion("y_fusion")["functions"][0]["members"][0]["reads"];
    let map = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 2], s0 in [0, 2]";
    assert_eq!(reads[0]["maps"][0], map);
    assert!(shown(&["indexing", "-"]).contains("instruction step/y"));
    // The host computes it, between kernels, unless that is forbidden; there is no code of it to write.
    let program = shown(&["compile", "-", "--no-opt", "--explain"]);
    assert!(program.contains("host 0: cholesky (b"), "{program}");
    assert!(program.contains("// host 0: step/z_fusion: HLO401: "), "{program}");
    let value: Value = serde_json::from_str(&shown(&["compile", "-", "--no-opt", "--format", "json"])).expect("JSON");
    let looped = value["steps"].as_array().into_iter().flatten().find(|step| step["while"] == "w");
    let body = looped.and_then(|looped| looped["body"].as_array()).expect("there is a loop");
    assert!(body.iter().any(|step| step["host"] == serde_json::json!(["cholesky"])), "{value}");
    let forbidden = fed(&["compile", "-", "--no-host"], text);
    assert_eq!(forbidden.status.code(), Some(1));
    assert!(stderr(&forbidden).contains("error[HLO401]"), "{}", stderr(&forbidden));
    let written = fed(&["emit", "-", "--no-opt"], text);
    assert!(stdout(&written).contains(": step/"), "{}", stdout(&written));
    assert!(stderr(&written).contains("step/z_fusion has no kernel: HLO401: "), "{}", stderr(&written));
}

/// No program of the corpus is refused by what only looks at it.
#[test]
fn the_corpus_is_looked_at_whole() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    for name in ["cond_switch", "while_newton", "x64_random", "sorting", "cholesky_solve", "ew_bf16", "random_all"] {
        for form in ["unoptimized", "optimized_cpu"] {
            let path = corpus.join(name).join(format!("{form}.hlo")).display().to_string();
            if !Path::new(&path).exists() {
                continue;
            }
            for command in ["fuse", "partition", "indexing", "fmt"] {
                let output = weft(&[command, &path]);
                assert_eq!(output.status.code(), Some(0), "{command} {path}: {}", stderr(&output));
            }
        }
    }
}
