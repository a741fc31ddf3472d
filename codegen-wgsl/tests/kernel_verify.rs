//! Each rule of the kernel IR, broken once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::kernel::Kernel;

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
  entry workgroups [1, 1] of 64 {
    store %a[d0, d1], %n[d0, d1] = call @y(d0, d1) for d0 in [0, 3], d1 in [0, 7]
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

#[test]
fn the_entry_writes_everything_once() {
    let store = "store %a[d0, d1], %n[d0, d1]";
    check(
        store,
        "store %a[d0, d1], %a[d0, d1]",
        &["entry: @y returns s32 for %a, f32[4,8]", "entry: %a is written 2 times", "entry: %n is written 0 times"],
    );
    check(
        store,
        "store %x[d0, d1], %n[d0, d1]",
        &["entry: %x is written, but only to be read", "entry: %a is written 0 times"],
    );
    check(store, "store %a[d0, d1]", &["entry: @y returns 2 values for 1 tensors", "entry: %n is written 0 times"]);
    check("out %n: s32[4, 8]", "out %n: s32[8, 4]", &["entry: @y does not have the extents of %n, s32[8,4]"]);
    check("[1, 1] of 64 {", "[4, 3, 5] of 1 {", &[]);
    check(
        "[1, 1] of 64 {",
        "[65535, 65535, 2] of 1 {",
        &["entry: 8589672450 invocations are more than 32 bits number"],
    );
    check("of 64 {", "of 31 {", &["entry: 31 invocations are too few for @y"]);
    check("of 64 {", "of 0 {", &["entry: a workgroup has no invocations", "entry: 0 invocations are too few for @y"]);
}

#[test]
fn names_are_distinct_and_extents_not_negative() {
    check("@sum(", "@x(", &["@x: another function or a tensor has this name"]);
    check("s0 in [0, 7]", "s0 in [0, -9]", &["@sum: an extent is negative"]);
    check("in %p: pred[]", "in %p: pred[], in %q: f32[-1]", &["%q: an extent is negative"]);
}
