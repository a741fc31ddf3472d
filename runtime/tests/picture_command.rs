//! `weft fuse --svg`, `weft partition --svg`, and `weft fuse --stats`.

use crate::cli::DOUBLE;
use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use weft_hlo::ir::Op;

/// Two kernels, a transposition that is read in two ways, a loop, and characters that XML and DOT write otherwise.
const PROGRAM: &str = "HloModule m
less {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  sorted = f32[4,4] sort(x), dimensions={1}, to_apply=order
  ROOT t = (s32[], f32[4,4]) tuple(j, sorted)
}
ENTRY e {
  x = f32[4,4] parameter(0)
  l = f32[4,4] log(x)
  t = f32[4,4] transpose(l), dimensions={1,0}
  half = f32[] constant(0.5)
  halves = f32[4,4] broadcast(half), dimensions={}
  a = f32[4,4] add(l, t)
  b = f32[4,4] multiply(a, halves)
  k = s32[] constant(0)
  s = (s32[], f32[4,4]) tuple(k, b)
  w = (s32[], f32[4,4]) while(s), condition=less, body=step
  ROOT r = f32[4,4] get-tuple-element(w), index=1
}";

fn program() -> String {
    let order = "order {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GT\n}\n";
    PROGRAM.replacen("less {", &format!("{order}less {{"), 1)
}

/// The picture that a command draws of a program.
fn drawn(arguments: &[&str], text: &str) -> String {
    let folder = Folder::new();
    let path = folder.path("picture.svg");
    let output = fed(&[arguments, &["-", "--svg", &path]].concat(), text);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).is_empty(), "the program is shown, too");
    std::fs::read_to_string(path).expect("it was written")
}

/// A rectangle of a picture.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Area([f64; 4]);

impl Area {
    /// Whether they have points in common, and neither holds the other.
    fn overlaps(self, other: Area) -> bool {
        let (Area([x, y, w, h]), Area([u, v, a, b])) = (self, other);
        x < u + a && u < x + w && y < v + b && v < y + h && !self.holds(other) && !other.holds(self)
    }

    fn holds(self, other: Area) -> bool {
        let (Area([x, y, w, h]), Area([u, v, a, b])) = (self, other);
        x <= u && y <= v && u + a <= x + w && v + b <= y + h
    }
}

/// The rectangles of a picture, and the text in it, if it is well-formed XML of the form that is written: elements with quoted attributes, text, and references.
fn read(svg: &str) -> (Vec<Area>, Vec<String>) {
    let (mut areas, mut texts, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = svg.trim_end();
    while !rest.is_empty() {
        let (text, tail) = rest.split_once('<').expect("what is open is closed");
        assert!(!text.contains('>'), "{text}");
        for (position, _) in text.match_indices('&') {
            let names = ["&amp;", "&lt;", "&gt;", "&quot;"];
            assert!(names.iter().any(|name| text[position..].starts_with(name)), "{text}");
        }
        let unescaped = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        texts.extend(Some(unescaped).filter(|text| !text.trim().is_empty()));
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        rest = tail;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "elements are closed in their order");
            continue;
        }
        let (own, is_empty) = tag.strip_suffix('/').map_or((tag, false), |own| (own, true));
        let (name, attributes) = own.split_once(' ').unwrap_or((own, ""));
        assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
        let value = |wanted: &str| -> f64 {
            let (_, value) = attributes.split_once(&format!("{wanted}=\"")).expect("a rectangle has it");
            value.split('"').next().and_then(|value| value.parse().ok()).expect("it is a number")
        };
        if name == "rect" {
            areas.push(Area(["x", "y", "width", "height"].map(value)));
        }
        if !is_empty {
            open.push(name);
        }
        assert!(!open.is_empty(), "there is one root");
    }
    assert!(open.is_empty(), "{open:?}");
    (areas, texts)
}

fn assert_disjoint(areas: &[Area]) {
    for (number, area) in areas.iter().enumerate() {
        let Area([x, y, width, height]) = *area;
        assert!([x, y, width, height].iter().all(|it| it.is_finite() && *it >= 0.0), "{area:?}");
        for other in &areas[..number] {
            assert!(!area.overlaps(*other), "{area:?} overlaps {other:?}");
            // Equal boxes would hold each other.
            assert_ne!(area, other);
        }
    }
}

/// The names of all instructions that a picture of a module shows: those of programs, and of fusions in them.
fn names(hlo: &str) -> BTreeSet<String> {
    let module = weft_hlo::text::parse(hlo).expect("what is shown is a program");
    let mut names = BTreeSet::new();
    let mut pending = vec![module.entry];
    while let Some(id) = pending.pop() {
        for instruction in module.computations[id].instructions.values() {
            names.insert(instruction.name.clone());
            if matches!(instruction.op, Op::Fusion { .. } | Op::While { .. } | Op::Conditional { .. } | Op::Call { .. })
            {
                pending.extend(instruction.op.called_computations());
            }
        }
    }
    names
}

fn assert_shows_all(svg: &str, hlo: &str) {
    let (areas, texts) = read(svg);
    assert_disjoint(&areas);
    let shown: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
    for name in names(hlo) {
        let clipped: String = name.chars().take(47).collect();
        assert!(shown.contains(name.as_str()) || shown.contains(format!("{clipped}…").as_str()), "{name} is missing");
    }
}

#[test]
fn a_program_is_drawn_with_its_fusions() {
    let text = program();
    let svg = drawn(&["fuse"], &text);
    assert_shows_all(&svg, &stdout(&fed(&["fuse", "-"], &text)));
    assert_eq!(svg, drawn(&["fuse"], &text), "it is the same each time");
    let (areas, texts) = read(&svg);
    assert!(texts.iter().any(|text| text == "ENTRY e"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("direction=LT")), "tooltips tell all of an instruction: {texts:?}");
    // Three programs, and what is in them.
    assert!(areas.len() > 15, "{areas:?}");
    // What is fused already, by whomever, and what is not fused at all.
    let given = drawn(&["fuse", "--given"], &text);
    assert_shows_all(&given, &text);
}

#[test]
fn a_fusion_is_drawn_with_its_functions() {
    let text = program();
    let svg = drawn(&["partition"], &text);
    let (areas, texts) = read(&svg);
    assert_disjoint(&areas);
    for told in ["add", "log", "(d0, d1) -> (d1, d0)", "x"] {
        assert!(texts.iter().any(|text| text.contains(told)), "{told}: {texts:?}");
    }
    let whole = stdout(&fed(&["partition", "-"], &text));
    let fusions: Vec<&str> = whole.lines().filter_map(|line| line.strip_prefix("fusion ")).collect();
    assert!(fusions.len() > 1 && fusions.iter().all(|name| texts.contains(&format!("fusion {name}"))), "{texts:?}");
    // One of them alone, in the text, too.
    let one = stdout(&fed(&["partition", "-", "--fusion", fusions[0]], &text));
    assert!(one.starts_with(&format!("fusion {}\n", fusions[0])) && one.matches("fusion ").count() == 1, "{one}");
    let (alone, _) = read(&drawn(&["partition", "--fusion", fusions[0]], &text));
    assert!(alone.len() < areas.len());
    let wrong = fed(&["partition", "-", "--fusion", "nothing"], &text);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        stderr(&wrong).contains(&format!("there is no fusion nothing; there are: {}", fusions[0])),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn pictures_are_dot_where_the_name_says_so() {
    let (folder, text) = (Folder::new(), program());
    for command in ["fuse", "partition"] {
        let dot = stdout(&fed(&[command, "-", "--svg", "-"], &text));
        assert!(dot.starts_with("digraph program {\n") && dot.contains("subgraph cluster_n_0"), "{dot}");
        assert_eq!(dot.matches('{').count(), dot.matches('}').count());
        let path = folder.path("picture.dot");
        assert_eq!(fed(&[command, "-", "--svg", &path], &text).status.code(), Some(0));
        assert_eq!(std::fs::read_to_string(&path).expect("it was written"), dot);
        let nowhere = fed(&[command, "-", "--svg", &folder.path("nothing/picture.svg")], &text);
        assert_eq!(nowhere.status.code(), Some(1));
        assert!(stderr(&nowhere).contains("cannot write"), "{}", stderr(&nowhere));
    }
}

#[test]
fn programs_of_all_kinds_are_drawn() {
    for text in [
        // A fusion of nothing but its parameter, one without parameters, no fusion at all, and nothing at all.
        "HloModule m\nf {\n  ROOT x = f32[] parameter(0)\n}\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] fusion(x), kind=kLoop, calls=f\n}\n",
        "HloModule m\nf {\n  ROOT x = f32[2] iota(), iota_dimension=0\n}\nENTRY e {\n  ROOT y = f32[2] fusion(), kind=kLoop, calls=f\n}\n",
        "HloModule m\nENTRY e {\n  ROOT x = f32[0,3] parameter(0)\n}\n",
        "HloModule m\nENTRY e {\n  ROOT x = () tuple()\n}\n",
        // Tuples of tuples, what is empty, and names that are no names elsewhere.
        "HloModule m\nENTRY e {\n  x = (f32[], (s32[0], token[])) parameter(0)\n  y = (s32[0], token[]) get-tuple-element(x), index=1\n  z = s32[0] get-tuple-element(y), index=0\n  a = s32[0] add(z, z)\n  ROOT t = (s32[0], (f32[], (s32[0], token[]))) tuple(a, x)\n}\n",
        "HloModule m\nENTRY e {\n  x = c64[2] parameter(0)\n  y = c64[2] custom-call(x), custom_call_target=\"<&\\\"\\\\>\"\n  ROOT z = c64[2] exponential(y)\n}\n",
    ] {
        for arguments in [&["fuse", "--stats"][..], &["fuse", "--given", "--stats"]] {
            let svg = drawn(arguments, text);
            let (areas, _) = read(&svg);
            assert_disjoint(&areas);
            let hlo = stdout(&fed(&[arguments, &["-"]].concat(), text));
            assert_shows_all(&svg, &hlo);
        }
        let output = fed(&["partition", "-", "--svg", "-"], text);
        assert!(stdout(&output).starts_with("digraph"), "{}", stderr(&output));
    }
}

/// A program of the corpus.
fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus").join(name)
}

#[test]
fn programs_of_the_corpus_are_drawn() {
    let folder = Folder::new();
    for (name, form) in [
        ("gpt_fwd", "unoptimized"),
        ("gpt_fwd", "optimized_cpu"),
        ("lstm_scan", "unoptimized"),
        ("cholesky_solve", "optimized_cpu"),
        ("cond_switch", "optimized_cpu"),
    ] {
        let file = corpus(name).join(format!("{form}.hlo")).display().to_string();
        let svg = folder.path("picture.svg");
        let output = weft(&["fuse", &file, "--svg", &svg, "--given"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let drawn = std::fs::read_to_string(&svg).expect("it was written");
        assert_shows_all(&drawn, &stdout(&output));
        let output = weft(&["fuse", &file, "--svg", &svg]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let drawn = std::fs::read_to_string(&svg).expect("it was written");
        assert_shows_all(&drawn, &stdout(&output));
        let output = weft(&["partition", &file, "--svg", &svg]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert_disjoint(&read(&std::fs::read_to_string(&svg).expect("it was written")).0);
    }
}

/// Of a program of ten thousand instructions each fusion is one box; and a program that is drawn takes time that grows with it, no faster.
#[test]
fn large_programs_are_drawn_with_fusions_as_boxes() {
    let mut text = String::from("HloModule m\nENTRY e {\n  x = f32[8,8] parameter(0)\n  v0 = f32[8,8] add(x, x)\n");
    for k in 0..10_000 {
        let (before, other) = (k, k / 2);
        let _ = writeln!(text, "  v{} = f32[8,8] add(v{before}, v{other})", k + 1);
    }
    text += "  ROOT r = f32[8,8] negate(v10000)\n}\n";
    let started = Instant::now();
    let svg = drawn(&["fuse", "--given"], &text);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    let (areas, texts) = read(&svg);
    assert!(areas.len() > 10_000 && texts[0].starts_with("10003 instructions, more than 1000"), "{}", texts[0]);
}

#[test]
fn figures_of_launches_are_told() {
    let text = "HloModule m\nf {\n  p = f32[1024] parameter(0)\n  ROOT e = f32[1024] exponential(p)\n}\n\
                ENTRY e {\n  x = f32[1024] parameter(0)\n  y = f32[1024] fusion(x), kind=kLoop, calls=f\n  \
                ROOT z = f32[1024] sort(y), dimensions={0}, to_apply=less\n}\n";
    let less = "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n";
    let text = text.replacen("f {\n", &format!("{less}f {{\n"), 1);
    let told = fed(&["fuse", "-", "--given", "--stats", "--target", "discrete"], &text);
    let lines = stderr(&told);
    let first = "2 launches, 16384 bytes, 1024 flops besides those of 1 launches that are not counted, ";
    assert!(lines.starts_with(first), "{lines}");
    assert!(lines.contains("4096 bytes read, 4096 written, 1024 flops: y\n"), "{lines}");
    assert!(lines.contains("4096 bytes read, 4096 written, unknown flops: z\n"), "{lines}");
    assert_eq!(stdout(&told), stdout(&fed(&["fmt", "-"], &text)), "what is given is shown as it is");
    let output = fed(&["fuse", "-", "--given", "--stats", "--format", "json"], &text);
    assert!(output.stderr.is_empty());
    let value: Value = serde_json::from_str(&stdout(&output)).expect("the output is JSON");
    let stats = &value["stats"];
    assert_eq!((&stats["launches"], &stats["bytes"]), (&2.into(), &16384.into()));
    assert_eq!((&stats["flops"], &stats["launches_without_flops"]), (&1024.into(), &1.into()));
    assert_eq!((&stats["each"][1]["operation"], &stats["each"][1]["flops"]), (&"sort".into(), &Value::Null));
    assert!(stats["estimated_nanoseconds"].as_f64() > Some(0.0));
    // What we fuse is told in the same figures: here one kernel.
    let fused = fed(&["fuse", "-", "--stats"], DOUBLE);
    assert!(stderr(&fused).starts_with("1 launches, "), "{}", stderr(&fused));
    let both = fed(&["fuse", "-", "--given", "--no-opt"], DOUBLE);
    assert_eq!(both.status.code(), Some(2));
}
