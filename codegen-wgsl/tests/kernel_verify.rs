//! Each rule of the kernel IR, broken once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::Target;
use weft_codegen_wgsl::kernel::{Finding, Kernel};

const GOOD: &str = "kernel @k(in %x: f32[4, 8], in %p: pred[], out %a: f32[4, 8], out %n: s32[4, 8]) {
  func @y(d0 in [0, 3], d1 in [0, 7]) -> (f32, s32) {
    %0:x: f32 = extract %x[d0, d1]
    %1:sum: f32, %2:count: s32 = call @sum(d0)
    %3:part: f32 = if d1 - 2 in [0, 3] {
      %4:twice: f32 = add %0, %0
      yield %4
    } else {
      yield %1
    }
    %5:p: pred = extract %p[]
    %6:select: f32 = select %5, %3, %0
    return %6, %2
  }
  func @sum(d0 in [0, 3]) -> (f32, s32) {
    %2:total: f32 = loop for s0 in [0, 7] with %0:acc: f32 = f32 0.0 {
      %1:x: f32 = extract %x[d0, s0]
      %3:add: f32 = add %0, %1
      yield %3
    }
    %4:row: s32 = index s32(d0)
    return %2, %4
  }
  entry groups [1] threads 64 {
    if d0 * 64 + d1 in [0, 31] {
      %0:element: f32, %1:count: s32 = call @y((d0 * 64 + d1) floordiv 8, (d0 * 64 + d1) mod 8)
      store %a[(d0 * 64 + d1) floordiv 8, (d0 * 64 + d1) mod 8], %0
      store %n[(d0 * 64 + d1) floordiv 8, (d0 * 64 + d1) mod 8], %1
    }
  }
}";

fn findings(text: &str) -> Vec<String> {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    kernel.verify().err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn check(part: &str, replacement: &str, expected: &[&str]) {
    assert!(GOOD.contains(part), "{part}");
    assert_eq!(findings(&GOOD.replace(part, replacement)), expected, "{part} => {replacement}");
}

#[test]
fn the_kernel_itself_is_good() {
    assert!(findings(GOOD).is_empty());
}

#[test]
fn values_are_defined_once_and_in_sight() {
    check("yield %4\n", "yield %3\n", &["@y: %3 is used before it is defined"]);
    check("yield %1\n", "yield %4\n", &["@y: %4 is used out of sight of its definition"]);
    check(
        "%4:row: s32 = index s32(d0)\n    return %2,",
        "%4:row: s32 = index s32(d0)\n    return %0,",
        &["@sum: %0 is used out of sight of its definition"],
    );
    check(
        "%5:p: pred = extract %p[]\n",
        "%5:p: pred = extract %p[] %5:p: pred = extract %p[]\n",
        &["@y: %5 is defined twice"],
    );
    check("= add %0, %0", "= add %0, %6", &["@y: %6 is used before it is defined"]);
}

#[test]
fn types_agree() {
    check("add %0, %0", "add %0, %2", &["@y: %4 has operands of types f32, s32"]);
    check("select %5, %3, %0", "select %2, %3, %0", &["@y: %6 selects by a s32"]);
    check("select %5, %3, %0", "select %5, %2, %2", &["@y: %6 is f32, and its operation gives s32"]);
    check("select %5, %3, %0", "compare EQ %3, %0", &["@y: %6 is f32, and its operation gives pred"]);
    check("select %5, %3, %0", "is-finite %0", &["@y: %6 is f32, and its operation gives pred"]);
    check("select %5, %3, %0", "clamp %0, %0, s32 1", &["@y: %6 has operands of types f32, f32, s32"]);
    check("select %5, %3, %0", "convert u32 %0", &["@y: %6 is f32, and its operation gives u32"]);
    check("select %5, %3, %0", "index s32(d0)", &["@y: %6 is f32, and its operation gives s32"]);
    check("extract %p[]", "extract %x[0]", &["@y: %5 is pred, and its operation gives f32"]);
}

#[test]
fn lengths_and_types_of_what_is_passed_agree() {
    check("call @sum(d0)", "call @sum(d0, d1)", &["@y: @sum takes 1 indices, not 2"]);
    check(
        "%1:sum: f32, %2:count: s32 = call",
        "%2:count: s32, %1:sum: f32 = call",
        &["@y: @sum returns f32 for %2: s32", "@y: @sum returns s32 for %1: f32"],
    );
    check("yield %1\n", "yield\n", &["@y: a branch yields 0 values for 1"]);
    check("yield %1\n", "yield s32 1\n", &["@y: a branch yields s32 for %3: f32"]);
    check("= f32 0.0 {", "= s32 0 {", &["@sum: a loop begins with s32 for %0: f32"]);
    check("yield %3\n", "yield true\n", &["@sum: a round of a loop yields pred for %0: f32"]);
    check("%2:total: f32 = loop", "%2:total: f32, %5: f32 = loop", &["@sum: a loop ends with 1 values for 2"]);
}

#[test]
fn indices_use_what_is_in_sight() {
    check("extract %x[d0, d1]", "extract %x[d0, d2]", &["@y: d2 is not in sight of the index d2"]);
    check("extract %x[d0, d1]", "extract %x[d0, s0 + 1]", &["@y: s0 is not in sight of the index s0 + 1"]);
    check(
        "extract %x[d0, s0]",
        "extract %x[d1, s1]",
        &["@sum: d1 is not in sight of the index d1", "@sum: s1 is not in sight of the index s1"],
    );
    check("index s32(d0)", "index s32(rt0)", &["@sum: rt0 is not in sight of the index rt0"]);
    check("if d1 - 2 in", "if d3 in", &["@y: d3 is not in sight of the index d3"]);
    check("call @sum(d0)", "call @sum(s0)", &["@y: s0 is not in sight of the index s0"]);
    check("extract %x[d0, d1]", "extract %x[]", &["@y: 0 indices into %x, f32[4,8]"]);
    check("extract %x[d0, d1]", "extract %x[d0 * 8 + d1]", &[]);
    check("extract %x[d0, d1]", "extract %a[d0, d1]", &["@y: %a is read, but only to be written"]);
}

#[test]
fn functions_call_later_ones_only() {
    check(
        "%4:row: s32 = index s32(d0)",
        "%5: f32, %4:row: s32 = call @sum(d0)",
        &["@sum: @sum, which is called, does not come after its caller"],
    );
    check(
        "%4:row: s32 = index s32(d0)",
        "%5: f32, %4:row: s32 = call @y(d0, d0)",
        &["@sum: @y, which is called, does not come after its caller"],
    );
}

/// What is found in, and what stays unproved of, a kernel of one entry.
fn entry(buffers: &str, tiles: &str, groups: &str, body: &str) -> (Vec<String>, Vec<String>) {
    let add = "func @add(; %0: f32, %1: f32) -> (f32) { %2: f32 = add %0, %1 return %2 }";
    let text = format!("kernel @k({buffers}) {{ {tiles} {add} entry groups {groups} {{ {body} }} }}");
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let texts = |findings: Vec<Finding>| findings.iter().map(ToString::to_string).collect();
    match kernel.verify() {
        Ok(unproved) => (Vec::new(), texts(unproved)),
        Err(findings) => (texts(findings), Vec::new()),
    }
}

fn found(buffers: &str, tiles: &str, groups: &str, body: &str) -> Vec<String> {
    entry(buffers, tiles, groups, body).0
}

#[test]
fn the_entry_writes_everything_once() {
    let write = |groups: &str, body: &str| entry("out %y: f32[8, 4]", "", groups, body);
    let good = (Vec::new(), Vec::new());
    assert_eq!(write("[1] threads 32", "store %y[d1 floordiv 4, d1 mod 4], f32 1.0"), good);
    assert_eq!(write("[8] threads 4", "store %y[d0, d1], f32 1.0"), good);
    assert_eq!(write("[2, 4] threads 4", "store %y[d0 * 4 + d1, d2], f32 1.0"), good);
    assert_eq!(write("[1] threads 64", "if d1 in [0, 31] { store %y[d1], f32 1.0 }"), good);
    assert_eq!(write("[1] threads 8", "loop for s0 in [0, 3] { store %y[d1, s0], f32 1.0 }"), good);
    let never = vec!["%y: an element is never written".to_owned()];
    assert_eq!(write("[1] threads 31", "store %y[d1], f32 1.0").0, never);
    assert_eq!(write("[1] threads 32", "if d1 in [1, 31] { store %y[d1], f32 1.0 }").0, never);
    assert_eq!(write("[1] threads 32", "").0, ["%y: no element is ever written"]);
    let twice = vec!["%y: an element is written more than once".to_owned()];
    assert_eq!(write("[2] threads 32", "store %y[d1], f32 1.0").0, twice);
    assert_eq!(write("[1] threads 32", "loop for s0 in [0, 1] { store %y[d1], f32 1.0 }").0, twice);
    let unproved = write("[1] threads 32", "if true { if true { store %y[d1], f32 1.0 } }");
    assert_eq!(unproved, good);
    let by_value = write("[1] threads 32", "%0: pred = compare EQ s32 0, s32 0 if %0 { store %y[d1], f32 1.0 }");
    assert_eq!(by_value.1, ["%y: that every element is written once is not known: values decide where"]);
    // Several statements may share a result out in stretches.
    let parts = |rest: &str| write("[1] threads 20", &format!("store %y[d1], f32 1.0 {rest}"));
    assert_eq!(parts("if d1 in [0, 11] { store %y[d1 + 20], f32 1.0 }"), good);
    assert_eq!(parts("if d1 + 20 in [20, 31] { store %y[d1 + 20], f32 1.0 }"), good);
    let unknown = ["%y: that every element is written once is not known: several statements write it"];
    assert_eq!(parts("if d1 in [8, 19] { store %y[d1 + 11], f32 1.0 }").1, unknown);
    assert_eq!(parts("if d1 in [0, 10] { store %y[d1 + 20], f32 1.0 }").0, never);
    // Rounds that are written out are those of a loop, and of the last one there may be less.
    let rounds = |groups: &str, last: &str| {
        write(groups, &format!("store %y[d0 * 16 + d1], f32 1.0 store %y[d0 * 16 + d1 + 6], f32 1.0 {last}"))
    };
    assert_eq!(rounds("[2] threads 6", "if d1 + 12 in [12, 15] { store %y[d0 * 16 + d1 + 12], f32 1.0 }"), good);
    assert_eq!(rounds("[2] threads 6", "if d1 in [0, 3] { store %y[d0 * 16 + d1 + 12], f32 1.0 }"), good);
    assert_eq!(rounds("[2] threads 6", "if d1 in [0, 2] { store %y[d0 * 16 + d1 + 12], f32 1.0 }").0, never);
    assert_eq!(rounds("[2] threads 6", "store %y[d0 * 16 + d1 + 12], f32 1.0").0.len(), 2);
    for last in [
        "if d1 in [1, 3] { store %y[d0 * 16 + d1 + 12], f32 1.0 }",
        "if d1 in [0, 3] { store %y[d0 * 16 + d1 + 11], f32 1.0 }",
    ] {
        assert_eq!(rounds("[2] threads 6", last).1, unknown, "{last}");
    }
    let halves = "store %y[d0 * 8 + d1 floordiv 2 * 4 + d1 mod 2], f32 1.0 store %y[d0 * 8 + d1 floordiv 2 * 4 + d1 mod 2 + 2], f32 1.0";
    assert_eq!(write("[4] threads 4", halves), good);
    // A memory that is read as well may be written in part.
    assert_eq!(entry("inout %y: f32[8]", "", "[1] threads 2", "store %y[d1], f32 1.0"), good);
}

#[test]
fn names_of_indices_are_what_they_stand_for() {
    let write = |body: &str| entry("out %y: f32[8]", "", "[1] threads 8", body);
    let good = (Vec::new(), Vec::new());
    assert_eq!(write("let rt0 = index(d1 mod 4) store %y[(d1 floordiv 4) * 4 + rt0], f32 1.0"), good);
    assert_eq!(write("let rt3 = index(7 - d1) let rt0 = index(rt3 + 1) store %y[rt0 - 1], f32 1.0"), good);
    let twice = write("let rt0 = index(d1) let rt0 = index(d1) store %y[rt0], f32 1.0").0;
    assert_eq!(twice, ["entry: rt0 is bound twice"]);
    let before = write("store %y[rt0], f32 1.0 let rt0 = index(d1)").0;
    assert_eq!(before, ["entry: rt0 is not in sight of the index rt0"]);
    let outside = write("if true { let rt0 = index(d1) } store %y[rt0], f32 1.0").0;
    assert_eq!(outside, ["entry: rt0 is not in sight of the index rt0"]);
    let beyond = write("let rt0 = index(d1 + 1) store %y[rt0], f32 1.0").0;
    assert_eq!(beyond[0], "entry: the index d1 + 1 into %y is not within [0, 7]");
}

#[test]
fn coordinates_are_within_32_bits_and_launches_within_62() {
    assert_eq!(found("", "", "[65535, 65535, 2] threads 1", ""), Vec::<String>::new());
    assert_eq!(
        found("", "", "[4294967297] threads 1", ""),
        ["entry: there are more invocations along one coordinate than 32 bits number"]
    );
    assert_eq!(
        found("", "", "[4294967296, 4294967296] threads 1", ""),
        ["entry: there are more invocations than 62 bits number"]
    );
    assert_eq!(found("", "", "[1] threads 0", ""), ["entry: a workgroup has no invocations"]);
    assert_eq!(
        found("", "", "[1, 1, 1, 1] threads 1", ""),
        ["entry: workgroups have one to three coordinates, and invocations a number"]
    );
}

#[test]
fn memories_are_used_as_they_may_be() {
    let body = "store %x[d1], f32 0.0 %0: f32 = extract %y[d1] update %y[d1] by @add %0";
    assert_eq!(
        found("in %x: f32[4], out %y: f32[4]", "", "[1] threads 4", body),
        [
            "entry: %x is written, but only to be read",
            "entry: %y is read, but only to be written",
            "entry: %y is updated, but only to be written",
        ]
    );
    assert_eq!(
        found("inout %y: s32[4]", "", "[1] threads 4", "update %y[d1] by @add s32 1"),
        ["entry: @add does not combine two values of the operands' types"]
    );
    assert_eq!(
        found("out %y: s32[4]", "", "[1] threads 4", "store %y[d1], f32 1.0"),
        ["entry: a store puts f32 into %y, s32[4]"]
    );
    assert_eq!(
        found("in %x: f32[4] at binding 0 + 6", "", "[1] threads 4", ""),
        ["%x: it begins at byte 6, which is no whole word"]
    );
}

#[test]
fn indices_stay_within_memories() {
    let read = |index: &str| found("in %x: f32[8]", "", "[1] threads 8", &format!("%0: f32 = extract %x[{index}]"));
    let beyond = |index: &str| vec![format!("entry: the index {index} into %x is not within [0, 7]")];
    assert!(read("d1").is_empty());
    assert_eq!(read("d1 + 1"), beyond("d1 + 1"));
    assert_eq!(read("d1 - 1"), beyond("d1 - 1"));
    assert_eq!(read("(d1 * 2) mod 9"), beyond("(d1 * 2) mod 9"));
    let guarded = "if d1 in [1, 7] { %0: f32 = extract %x[d1 - 1] }";
    assert!(found("in %x: f32[8]", "", "[1] threads 8", guarded).is_empty());
    let bound = "bind rt0 in [0, 6] = clamp s32 9 %0: f32 = extract %x[rt0 + 1]";
    assert!(found("in %x: f32[8]", "", "[1] threads 8", bound).is_empty());
    assert_eq!(
        found("in %x: f32[8]", "", "[1] threads 8", "bind rt0 in [0, 7] = clamp s32 9 %0: f32 = extract %x[rt0 + 1]"),
        beyond("rt0 + 1")
    );
    assert_eq!(
        found("", "", "[1] threads 1", "bind rt0 in [0, 7] = clamp f32 1.0"),
        ["entry: rt0 is bound to a f32, which is no index"]
    );
}

#[test]
fn all_invocations_come_to_barriers() {
    let wait = |body: &str| found("in %n: s32[2], inout %m: s32[2]", "", "[2] threads 8", body);
    let barrier = ["entry: a barrier stands where not all invocations come"];
    assert!(wait("barrier").is_empty());
    assert!(wait("if d0 in [0, 0] { barrier }").is_empty());
    assert!(wait("loop for s0 in [0, 3] { if s0 in [1, 2] { barrier } }").is_empty());
    assert!(wait("%0: s32 = extract %n[d0] %1: pred = compare EQ %0, s32 1 if %1 { barrier }").is_empty());
    assert_eq!(wait("if d1 in [0, 3] { barrier }"), barrier);
    assert_eq!(wait("%0: s32 = extract %m[d0] %1: pred = compare EQ %0, s32 1 if %1 { barrier }"), barrier);
    assert_eq!(wait("if bind rt0 in [0, 1] = s32 0 { if rt0 + d1 in [0, 0] { barrier } }"), barrier);
    assert_eq!(
        wait("if d1 in [0, 3] { %0: f32 = reduce workgroup @add f32 1.0 }"),
        ["entry: a collective stands where not all invocations come"]
    );
    let carried =
        "%2: s32 = while with %0: s32 = s32 0 { %1: pred = compare LT %0, s32 3 yield %1 } do { barrier yield %0 }";
    assert!(wait(carried).is_empty());
    let differing = carried.replace("s32 0 {", "%3 {");
    assert_eq!(wait(&format!("%3: s32 = index s32(d1) {differing}")), barrier);
}

#[test]
fn tiles_are_written_before_they_are_read() {
    let tile = |body: &str| entry("out %y: f32[8]", "tile %t: f32[8]", "[1] threads 8", body);
    let good = "store %t[d1], f32 1.0 barrier %0: f32 = extract %t[7 - d1] store %y[d1], %0";
    assert_eq!(tile(good), (Vec::new(), Vec::new()));
    // What an invocation wrote itself it may read at once.
    assert_eq!(tile(&good.replace("barrier", "").replace("7 - d1", "d1")).0, Vec::<String>::new());
    assert_eq!(
        tile(&good.replace("barrier", "")).0,
        ["%t: an element is read that another invocation writes without a barrier between"]
    );
    assert_eq!(
        tile(&good.replace("store %t[d1], f32 1.0", "if d1 in [1, 7] { store %t[d1], f32 1.0 }")).0,
        ["%t: an element is read that was never written"]
    );
    assert_eq!(
        tile(&good.replace("store %t[d1]", "store %t[d1 floordiv 2]")).0,
        [
            "%t: an element is read that was never written",
            "%t: two invocations write an element without a barrier between",
        ]
    );
    let again = format!("{good} store %t[d1], f32 2.0");
    assert_eq!(tile(&again).0, ["%t: an element is written that another invocation reads without a barrier between"]);
    let rounds =
        "loop for s0 in [0, 1] { store %t[d1], f32 1.0 barrier %0: f32 = extract %t[7 - d1] store %y[d1], %0 }";
    assert!(tile(rounds).0.contains(&again_finding()), "{:?}", tile(rounds));
}

fn again_finding() -> String {
    "%t: an element is written that another invocation reads without a barrier between".to_owned()
}

#[test]
fn names_are_distinct_and_extents_not_negative() {
    check("@sum(", "@x(", &["@x: another function or a memory has this name"]);
    check("s0 in [0, 7]", "s0 in [0, -9]", &["@sum: an extent is negative"]);
    check("in %p: pred[]", "in %p: pred[], in %q: f32[-1]", &["%q: an extent is negative"]);
}

/// What is updated in place is written by one invocation at most, which alone reads it.
#[test]
fn updates_touch_elements_apart() {
    let kernel = |start: &str, read: &str, write: &str| {
        let text = format!(
            "kernel @k(in %i: s32[64], inout %x: f32[100]) {{
               entry groups [1] threads 32 {{
                 %0: s32 = extract %i[{start}]
                 bind rt0 in [0, 68] = clamp %0
                 %1: s32 = extract %i[1]
                 bind rt1 in [0, 68] = clamp %1
                 %2: f32 = extract %x[{read}]
                 %3: f32 = add %2, %2
                 store %x[{write}], %3
               }}
             }}"
        );
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let told = |found: Vec<Finding>| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        kernel.verify().map(told).map_err(told)
    };
    let unproved = |what: &str| Ok(vec![format!("%x: that invocations update it apart is not known: {what}")]);
    assert_eq!(kernel("0", "rt0 + d1", "rt0 + d1"), Ok(Vec::new()));
    assert_eq!(kernel("0", "rt0 - d1 + 31", "rt0 - d1 + 31"), Ok(Vec::new()));
    let elsewhere = "it is read at other places than it is written";
    assert_eq!(kernel("0", "rt1 + d1", "rt0 + d1"), unproved(elsewhere));
    assert_eq!(kernel("0", "rt0 - d1 + 31", "rt0 + d1"), unproved(elsewhere));
    // Every invocation has a start of its own.
    assert_eq!(kernel("d1", "rt0 + d1", "rt0 + d1"), unproved("the values that tell where may differ between them"));
    let twice = "%x: several invocations write an element".to_owned();
    assert_eq!(kernel("0", "rt0 + d1 floordiv 2", "rt0 + d1 floordiv 2"), Err(vec![twice]));
}

/// Of what is scattered the program says that invocations touch its elements apart: they may do so as vectors.
#[test]
fn scattered_elements_are_taken_to_be_apart() {
    let text = "kernel @k(in %i: s32[16], in %u: f32[64], scattered %x: f32[200]) {
      entry groups [1] threads 16 {
        %0: s32 = extract %i[d0]
        if bind rt0 in [0, 49] = %0 {
          %1: f32x4 = extract %x[rt0 * 4]
          %2: f32x4 = extract %u[d0 * 4]
          %3: f32x4 = add %1, %2
          store %x[rt0 * 4], %3
        }
      }
    }";
    let text = text.replace("d0", "d1");
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(kernel.verify().unwrap(), Vec::new());
    assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel);
    let apart = Kernel::parse(&text.replace("scattered", "inout")).unwrap();
    assert!(apart.verify().is_err());
}

/// The words of an element are written one after the other.
#[test]
fn updates_of_several_words_touch_elements_apart() {
    let kernel = |places: [&str; 4]| {
        let [low, high, write_low, write_high] = places;
        let text = format!(
            "kernel @k(in %i: s32[64], inout %x: u32[210]) {{
               entry groups [1] threads 32 {{
                 %0: s32 = extract %i[0]
                 bind rt0 in [0, 68] = clamp %0
                 %1: u32 = extract %x[{low}]
                 %2: u32 = extract %x[{high}]
                 store %x[{write_low}], %2
                 store %x[{write_high}], %1
               }}
             }}"
        );
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let told = |found: Vec<Finding>| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        kernel.verify().map(told).map_err(told)
    };
    let unproved = |what: &str| Ok(vec![format!("%x: that invocations update it apart is not known: {what}")]);
    let pair = ["(rt0 + d1) * 2", "(rt0 + d1) * 2 + 1"];
    assert_eq!(kernel([pair[0], pair[1], pair[0], pair[1]]), Ok(Vec::new()));
    assert_eq!(kernel([pair[1], pair[0], pair[1], pair[0]]), Ok(Vec::new()));
    // Words that overlap those of the next element, have a gap, or are the same.
    for others in [["rt0 + d1", "rt0 + d1 + 1"], ["(rt0 + d1) * 2", "(rt0 + d1) * 2 + 3"], [pair[0], pair[0]]] {
        let several = unproved("several statements write it");
        assert_eq!(kernel([pair[0], pair[1], others[0], others[1]]), several, "{others:?}");
    }
    let elsewhere = unproved("it is read at other places than it is written");
    assert_eq!(kernel(["(rt0 + d1) * 2 + 2", pair[1], pair[0], pair[1]]), elsewhere);
}

#[test]
fn nothing_depends_on_when_rolled_loops_are_left() {
    let check = |rolled: &str, body: &str| {
        let function = "func @count(d0 in [0, 0]) -> (u32) { %0: u32 = loop for s0 in [0, 3] with %1: u32 = u32 0 { %2: u32 = add %1, u32 1 yield %2 } return %0 }";
        let text = format!(
            "kernel @k(out %y: u32[8]) {{ tile %t: u32[8] {function} entry groups [1] threads 8{rolled} {{ {body} store %y[d1], u32 1 }} }}"
        );
        Kernel::parse(&text).unwrap().verify().err().unwrap_or_default()
    };
    let alone = "loop for s0 in [0, 3] { store %t[d1], u32 1 } barrier";
    let within = "loop for s0 in [0, 3] { store %t[d1], u32 1 barrier }";
    let by_others = "%0: u32 = call @count(0) %1: pred = compare EQ %0, u32 4 if %1 { barrier }";
    for body in [alone, within, by_others] {
        assert_eq!(check("", body), [], "{body}");
    }
    assert_eq!((check(" rolled", alone), check(" rolled", within)), (Vec::new(), Vec::new()));
    let found: Vec<String> = check(" rolled", by_others).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["entry: a barrier stands where not all invocations come"]);
}

#[test]
fn vectors_are_whole_and_begin_where_they_may() {
    let buffers = "in %x: f32[32], in %n: s32[32], out %y: f32[32]";
    let check = |body: &str| found(buffers, "tile %t: f32[32]", "[1] threads 8", body);
    let good = "%0: f32x4 = extract %x[d1 * 4] %1: f32 = extract %x[0] %2: f32x4 = splat %1 %3: f32x4 = add %0, f32 1.0
        %4: f32x4 = add %3, %2 %5: f32 = lane 2 %4 %6: f32x4 = compose %5, %1, f32 2.0, %5 %7: f32x4 = add %6, %4
        %8: f32x4 = loop with %9: f32x4 = f32 0.0 { yield %7 } store %y[d1 * 4], %8";
    assert!(check(good).is_empty(), "{:?}", check(good));
    let broken = |part: &str, replacement: &str| {
        assert!(good.contains(part), "{part}");
        check(&good.replace(part, replacement))
    };
    assert_eq!(
        broken("%x[d1 * 4]", "%x[d1 * 2]"),
        ["entry: a vector of %x begins at d1 * 2, which may be no multiple of 4"]
    );
    assert_eq!(broken("%x[d1 * 4]", "%x[d1 * 4 + 4]"), ["entry: the index d1 * 4 + 4 into %x is not within [0, 28]"]);
    assert_eq!(broken("= splat %1", "= splat %0"), ["entry: %2 has 4 lanes, and its operands have 4"]);
    assert_eq!(broken("add %3, %2", "add %3, %1"), ["entry: %4 has 4 lanes, and its operands have 4, 1"]);
    assert_eq!(broken("lane 2 %4", "lane 4 %4"), ["entry: %5 has 1 lanes, and its operands have 4"]);
    assert_eq!(broken("%5, %1, f32 2.0, %5", "%5, %1, %5"), ["entry: %6 has 4 lanes, and its operands have 1, 1, 1"]);
    assert_eq!(broken("yield %7", "yield %1"), ["entry: a round of a loop yields f32 for %9: f32x4"]);
    assert_eq!(broken("store %y[d1 * 4], %8", "store %y[d1 * 4], %1"), ["%y: an element is never written"]);
    assert_eq!(
        broken("store %y", "store %t[d1 * 4], %8 store %y"),
        ["entry: a vector of %t, which is no buffer that is read or written alone"]
    );
    let of_index = "%0: s32x4 = index s32(d1) store %y[d1 * 4], f32 0.0";
    assert_eq!(check(of_index)[0], "entry: %0 has 4 lanes, and its operation gives 1");
}

#[test]
fn uniforms_are_read_one_by_one_or_four_at_a_time() {
    let check = |more: &str, body: &str| {
        let buffers = format!("uniform %x: f32[32], out %y: f32[32]{more}");
        found(&buffers, "", "[1] threads 8", &format!("{body} %0: f32x4 = extract %x[d1 * 4] store %y[d1 * 4], %0"))
    };
    assert_eq!(check("", "%1: f32 = extract %x[d1]"), Vec::<String>::new());
    assert_eq!(
        check("", "%1: f32x2 = extract %x[d1 * 2]"),
        ["entry: a vector of %x has 2 lanes, and uniforms hold vectors of 4"]
    );
    assert_eq!(check("", "store %x[d1], f32 0.0"), ["entry: %x is written, but only to be read"]);
    let shared = ", in %z: f32[32] at binding 0 + 0";
    assert_eq!(check(shared, ""), ["%x: it is a uniform, and %z in the same buffer is none"]);
    assert_eq!(check(", uniform %z: f32[16] at binding 0 + 0", ""), Vec::<String>::new());
}

#[test]
fn pairs_hold_vectors_of_words() {
    let check = |x: &str, tile: &str, body: &str| {
        let buffers = format!("in %x: f32[32]{x}, out %y: f32[32] in pairs");
        found(&buffers, tile, "[1] threads 8", &format!("{body} %0: f32x4 = extract %x[d1 * 4] store %y[d1 * 4], %0"))
    };
    assert_eq!(check(" in pairs", "", ""), Vec::<String>::new());
    assert_eq!(check("", "", "%1: f32 = extract %x[d1]"), Vec::<String>::new());
    assert_eq!(
        check(" in pairs", "", "%1: f32 = extract %x[d1]"),
        ["entry: something other than a vector of words goes to or comes from %x, which is of pairs"]
    );
    assert_eq!(
        check(" in pairs, in %z: f32[8] at binding 0 + 128", "", ""),
        [
            "%x: some memories of its buffer are of pairs, and some are not",
            "%z: some memories of its buffer are of pairs, and some are not"
        ]
    );
    let uniform = "uniform %x: f32[32] in pairs, out %y: f32[32]";
    let body = "%0: f32x4 = extract %x[d1 * 4] store %y[d1 * 4], %0";
    assert_eq!(found(uniform, "", "[1] threads 8", body), ["%x: it is of pairs, which only storage buffers are"]);
}

#[test]
fn uniforms_have_limits_of_their_own() {
    let text = "kernel @k(uniform %a: f32[5], uniform %b: f32[1], out %y: f32[8]) { entry groups [1] threads 8 { } }";
    let kernel = Kernel::parse(text).unwrap();
    let target = |bytes: u64, count: u32| {
        let target = Target::default().with(|it| {
            (it.max_uniform_binding_bytes, it.max_uniform_buffers, it.max_storage_buffers) = (bytes, count, 1);
        });
        kernel.exceeds(&target).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(target(32, 2), Vec::<String>::new());
    assert_eq!(target(31, 2), ["%a: f32[5] exceeds the 31 bytes that the target lets a uniform have"]);
    assert_eq!(target(32, 1), ["entry: the kernel binds 2 uniforms and the target allows 1"]);
}

#[test]
fn several_statements_write_the_parts_of_a_result() {
    let write = |body: &str| entry("out %y: f32[30]", "", "[1] threads 8", body);
    let good = (Vec::new(), Vec::new());
    let whole = "if d1 in [0, 6] { %0: f32x4 = splat f32 0.0 store %y[d1 * 4], %0 }";
    let tail = "else { store %y[d1 * 4], f32 1.0 store %y[d1 * 4 + 1], f32 1.0 }";
    assert_eq!(write(&format!("{whole} {tail}")), good);
    let unknown = "%y: that every element is written once is not known: several statements write it".to_owned();
    assert_eq!(write(&format!("{whole} else {{ store %y[d1 * 4], f32 1.0 }}")).1, [unknown]);
    // What dimensions divide is one number again.
    let column =
        |column: i64| format!("store %y[(d1 * 4 + {column}) floordiv 13, (d1 * 4 + {column}) mod 13], f32 1.0");
    let tile: Vec<String> = (0..4).map(column).collect();
    let rest = "else { store %y[1, 11], f32 1.0 store %y[1, 12], f32 1.0 }";
    let divided = format!("if d1 in [0, 5] {{ {} }} {rest}", tile.join(" "));
    assert_eq!(entry("out %y: f32[2, 13]", "", "[1] threads 7", &divided), good);
}

#[test]
fn several_stores_of_an_invocation_write_stretches_equally_far_apart() {
    let write = |distances: [i64; 3]| {
        let stores =
            distances.map(|distance| format!("store %y[d1 mod 4 + (d1 floordiv 4) * 12 + {distance}], f32 0.0 "));
        entry("out %y: f32[96]", "", "[1] threads 32", &stores.concat())
    };
    let good = (Vec::new(), Vec::new());
    assert_eq!(write([0, 4, 8]), good);
    assert_eq!(write([8, 0, 4]), good);
    let unknown = "%y: that every element is written once is not known: several statements write it".to_owned();
    assert_eq!(write([0, 4, 7]).1, [unknown]);
    assert_eq!(write([0, 4, 4]).1.len(), 1);
    let refuted = write([0, 3, 6]);
    assert_eq!(refuted.0, ["%y: an element is written more than once"]);
}
