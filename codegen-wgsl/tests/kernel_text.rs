//! The text of the kernel IR: what it can say, what is refused where, and that no text does harm.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{all_stages, verified};
use proptest::prelude::*;
use std::sync::OnceLock;
use weft_codegen_wgsl::kernel::Kernel;

/// Every construct once.
const EVERYTHING: &str = r#"kernel @loop.fusion-1(in %p0: f32[4, 8], in %"p 1": s32[], in %flag: pred[4], out %u: f32[4, 8], out %z: s32[4, 8] window(d0 * 16) of 16, inout %sums: f32[8] at binding 5 + 64, uniform %w: f32[3]) {
  tile %t: f32[4, 9]
  registers %r: u32[2]
  func @y(d0 in [0, 3], d1 in [0, 7]) -> (f32, s32) {
    unused %12:gone: f32, %14: pred
    %0:p0.value: f32 = extract %p0[d0, d1]
    %1:"a \"b\" \\ \u{a}": f32 = negate %0:p0.value
    %2: f32, %3:sum: s32 = call @sum(d0, (d1 + 3) floordiv 2)
    call @nothing()
    %4:pad: f32 = if d0 - 1 in [0, 2] and d1 mod 2 in [0, 0] {
      %5:add: f32 = add %1:"a \"b\" \\ \u{a}", f32 -1.5
      yield %5:add
    } else {
      yield f32 nan(0x7fc00001)
    }
    %6:always: pred = if true {
      yield true
    } else {
      yield false
    }
    %7:lt: pred = compare LT TOTALORDER %4:pad, f32 inf
    %8:eq: pred = compare EQ %3:sum, s32 -2147483648
    %9:or: pred = or %7:lt, %8:eq
    %10:select: f32 = select %9:or, %4:pad, %2
    %11:clamp: f32 = clamp f32 -0.0, %10:select, f32 1e-10
    %13:convert: s32 = convert s32 %11:clamp
    return %11:clamp, %13:convert
  }
  func @sum(d0 in [0, 3], d1 in [0, 4]) -> (f32, s32) {
    %0:i: s32 = index s32(d0 + d1 * 2)
    %4:last: f32, %5:count: s32 = loop for s0 in [0, 7], s1 in [0, -1] with %1:acc: f32 = f32 -inf, %2:n: s32 = %0:i {
      %3:element: f32 = extract %p0[d0, s0 - s1]
      %6:max: f32 = maximum %1:acc, %3:element
      %7:zero: u32 = convert u32 u32 4294967295
      yield %6:max, %2:n
    }
    loop {
    }
    return %4:last, %5:count
  }
  func @nothing() -> () {
  }
  func @add(; %0:a: f32, %1:b: f32) -> (f32) {
    %2: f32 = add %0:a, %1:b
    return %2
  }
  entry groups [1, 2] threads 16 rolled {
    %0:a: f32, %1:n: s32 = call @y((d1 * 16 + d2) floordiv 8, d2 mod 8)
    store %u[(d1 * 16 + d2) floordiv 8, d2 mod 8], %0:a
    store %z[(d1 * 16 + d2) floordiv 8, d2 mod 8], %1:n
    loop for s0 in [0, 1] {
      loop for s1 in [0, 0] {
        store %t[s0 + s1, d2 mod 8], f32 0.0
      }
    }
    barrier
    %2: f32 = reduce workgroup @add %0:a
    %3: f32 = exclusive-scan subgroup @add %2
    %4: f32 = scan workgroup @add f32 1.0
    bind rt0 in [0, 7] = clamp %1:n
    bind rt1 in [-2, 7] = assume s32 3
    let rt9 = index(d1 floordiv 2 + (d0 + rt0) mod 3)
    update %sums[rt0] by @add %3
    if bind rt2 in [0, 7] = %1:n and bind rt3 in [0, 1] = true {
      update %sums[rt2] by @add %4
    }
    %5: pred = extract %flag[rt0 floordiv 2]
    %6: f32 = if %5 {
      %7: f32 = reduce-precision e5m10 %0:a
      yield %7
    } else {
      yield f32 0.0
    }
    %9:rounds: s32 = while with %8:round: s32 = s32 0 {
      %10: pred = compare LT %8:round, s32 9
      yield %10
    } do {
      %11: s32 = add %8:round, s32 1
      yield %11
    }
    while {
      yield false
    } do {
    }
    %12:half: f32 = call @add(; %6, f32 0.5)
    %13: f32x4 = splat %2
    %14: f32x4 = compose %2, %3, f32 1.0, %4
    %15: f32x4 = maximum %13, %14
    %16: f32 = lane 3 %15
    %17: f32x2 = extract %p0[d2 * 2]
    %18: f32 = share %t[1, d0]
    %19: f32 = member 1 apart 2 %2
    %20: f32 = multiply-add %2, %3, f32 1.0
    %21: f32 = multiply-add-at-once %19, %20, %2
    %22: u32 = pack %1:n, s32 -1, s32 255, s32 3
    %23: s32 = packed-dot s8 %22, u32 7
    %24: u32 = packed-dot u8 %22, %22
    update %z[0, 0] by exchange s32 4
  }
}
"#;

#[test]
fn every_construct_reads_and_prints_as_itself() {
    let kernel = Kernel::parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernel.to_string(), EVERYTHING);
    assert_eq!(EVERYTHING.parse(), Ok(kernel));
}

#[test]
fn space_and_comments_mean_nothing() {
    let kernel = Kernel::parse(EVERYTHING).unwrap();
    let roomy = EVERYTHING.replace('\n', " // a comment {\n\n").replace(", ", " ,\t");
    assert_eq!(Kernel::parse(&roomy).map_err(|error| error.to_string()), Ok(kernel.clone()));
    // Names behind the numbers of values only recall.
    let numbers = EVERYTHING.replace("maximum %1:acc, %3:element", "maximum %1, %3");
    assert_eq!(Kernel::parse(&numbers), Ok(kernel));
}

#[test]
fn shared_terms_are_written_once() {
    let term = "(d0 * 3 + 1) floordiv 7 + (d0 * 5 + 2) mod 11";
    let mut text = term.to_owned();
    for step in 0..6 {
        text = format!("({text}) floordiv 3 + ({text}) mod {}", step + 4);
    }
    let small = "kernel @k(in %x: f32[9], out %y: f32[9]) {
  func @y(d0 in [0, 8]) -> (f32) {
    %0: f32 = extract %x[INDEX]
    %1: f32 = if INDEX in [0, 3] and INDEX in [1, 2] { yield %0 } else { yield %0 }
    return %1
  }
  entry groups [1] threads 9 { %0: f32 = call @y(d1) store %y[d1], %0 }
}";
    let kernel = Kernel::parse(&small.replace("INDEX", &text)).unwrap();
    let printed = kernel.to_string();
    assert!(printed.contains(" where t0 = "), "{printed}");
    assert!(printed.len() < 4000, "{printed}");
    assert_eq!(Kernel::parse(&printed), Ok(kernel));
}

/// The first line of the error for `EVERYTHING` with one part replaced.
fn error(part: &str, replacement: &str) -> String {
    assert!(EVERYTHING.contains(part), "{part}");
    match Kernel::parse(&EVERYTHING.replacen(part, replacement, 1)) {
        Ok(_) => format!("`{replacement}` is accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("kernel @", "kernel ", "1:8: HLO416: expected `@` and the kernel's name, found `loop.fusion-1`"),
        ("in %p0", "into %p0", "1:23: HLO416: expected `in`, `uniform`, `out`, `inout` or `scattered`, found `into`"),
        ("%flag: pred", "%p0: pred", "1:63: HLO416: there are two memories of the name `p0`"),
        ("d1 in [0, 7]) ->", "d2 in [0, 7]) ->", "4:25: HLO416: expected `d1`, found `d2`"),
        ("d0 in [0, 3]", "d0 in [1, 3]", "4:18: HLO416: expected 0, where every index begins, found `1`"),
        ("(f32, s32) {", "(f32, f32) {", "4:43: HLO416: the function returns (f32, s32)"),
        ("extract %p0[d0, d1]", "extract %q[d0, d1]", "6:32: HLO416: there is no memory `q`"),
        (
            "extract %p0[d0, d1]",
            "extract %p0[d0, d1 *]",
            "6:44: HLO416: expected a variable, an integer or `(`, found the end",
        ),
        ("extract %p0[d0, d1]", "extract %p0[d0, t4]", "6:40: HLO416: unknown name `t4`"),
        ("negate %0", "negated %0", "7:34: HLO416: expected an operation, found `negated`"),
        ("call @sum(", "call @product(", "8:33: HLO416: there is no function `product`"),
        ("d1 mod 2 in [0, 0] {", "d1 mod 2 {", "10:52: HLO416: expected `in`, found the end"),
        ("add %1:\"a \\\"b\\\" \\\\ \\u{a}\", f32 -1.5", "add f32 -1.5", "11:25: HLO416: expected 2 operands, found 1"),
        ("yield %5:add", "yield %5:sub", "12:13: HLO416: value %5 is defined with the name `add`"),
        ("yield %5:add", "yield %55", "12:13: HLO416: value %55 is not defined"),
        ("yield %5:add", "return %5:add", "12:7: HLO416: expected a statement or `yield`, found `return`"),
        (
            "nan(0x7fc00001)",
            "nan(0x3f800000)",
            "14:21: HLO416: expected the bits of a NaN, as `0x7fc00000`, found `0x3f800000`",
        ),
        (
            "s32 -2147483648",
            "s32 -2147483649",
            "22:42: HLO416: expected a signed integer of 32 bits, found `-2147483649`",
        ),
        ("%13:convert: s32 =", "%15:convert: s32 =", "27:23: HLO416: value %13 is not defined"),
        ("entry groups", "enter groups", "47:3: HLO416: expected `func` or `entry`, found `enter`"),
        ("store %u[(d1", "store %v[(d1", "49:11: HLO416: there is no memory `v`"),
        ("threads 16", "of 16", "47:23: HLO416: expected `threads`, found `of`"),
        ("= clamp %1:n", "= wrap %1:n", "60:26: HLO416: expected `clamp` or `assume`, found `wrap`"),
        ("bind rt0 in", "bind d0 in", "60:10: HLO416: expected a runtime variable, `rt0`, found `d0`"),
        ("for s1 in [0, 0]", "for s0 in [0, 0]", "52:16: HLO416: expected `s1`, found `s0`"),
        (
            "reduce workgroup",
            "reduce device",
            "57:22: HLO416: expected `workgroup`, `part` or `subgroup`, found `device`",
        ),
        ("by @add %3", "by @ad %3", "63:26: HLO416: there is no function `ad`"),
        ("e5m10", "e5", "69:34: HLO416: expected bits of exponent and mantissa, `e5m10`, found `e5`"),
        ("} do {\n      %11", "} {\n      %11", "77:7: HLO416: expected `do`, found `{`"),
    ];
    let found: Vec<String> = cases.iter().map(|(part, replacement, _)| error(part, replacement)).collect();
    let expected: Vec<&str> = cases.iter().map(|(_, _, expected)| *expected).collect();
    assert_eq!(found.join("\n"), expected.join("\n"));
    let truncated = Kernel::parse(&EVERYTHING[..EVERYTHING.len() - 3]).unwrap_err();
    assert_eq!(truncated.to_string(), "99:4: HLO416: expected `}`, found the end");
    let longer = Kernel::parse(&format!("{EVERYTHING}}}")).unwrap_err();
    assert_eq!(longer.to_string(), "101:1: HLO416: expected the end, found `}`");
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [100, 199, 100_000] {
        let open = "if true {".repeat(depth);
        let close = "yield } else { yield }".repeat(depth);
        let text =
            format!("kernel @k() {{ func @f() -> () {{ {open} {close} return }} entry groups [1] threads 1 {{ }} }}");
        match Kernel::parse(&text) {
            Ok(kernel) => assert_eq!((Kernel::parse(&kernel.to_string()), depth < 200), (Ok(kernel), true)),
            Err(error) => assert_eq!((error.message.as_str(), depth), ("blocks nest more than 200 deep", 100_000)),
        }
    }
    let brackets = format!("extract %p0[{}", "(".repeat(100_000));
    assert!(Kernel::parse(&EVERYTHING.replace("extract %p0[", &brackets)).is_err());
}

/// Kernels as they are emitted, and all of the notation.
fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let module = verified(
            "HloModule mutated
            add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
            ENTRY main {
                x = f32[4,6] parameter(0)
                zero = f32[] constant(0)
                wide = f32[9,6] pad(x, zero), padding=1_1_1x0_0
                twice = f32[9,12] concatenate(wide, wide), dimensions={1}
                ROOT sums = f32[12] reduce(twice, zero), dimensions={0}, to_apply=add
            }",
        );
        let made = all_stages(&module).unwrap();
        let emitted = made.iter().flat_map(|made| [made.kernel.to_string(), made.flat.to_string()]);
        emitted.chain([EVERYTHING.to_owned()]).collect()
    })
}

/// Splices some bytes of one text into another, at character boundaries.
fn splice(text: &str, at: usize, removed: usize, insertion: &str) -> String {
    let boundary = |mut place: usize| {
        place = place.min(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    };
    let (start, end) = (boundary(at), boundary(at + removed));
    format!("{}{insertion}{}", &text[..start], &text[end..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// No text makes the reader panic; what it accepts can be printed and read again, and verified without a panic.
    #[test]
    fn mutated_texts_do_no_harm(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..12usize, any::<prop::sample::Index>(), 0..14usize, "[ -~é\n]{0,2}"),
            1..4,
        ),
    ) {
        let mut text = which.get(texts()).clone();
        for (at, removed, from, length, noise) in edits {
            let source = which.get(texts());
            let from = from.index(source.len());
            let copied: String = source.chars().skip(from).take(length).collect();
            let at = at.index(text.len().max(1));
            text = splice(&text, at, removed, &format!("{copied}{noise}"));
        }
        if let Ok(kernel) = Kernel::parse(&text) {
            let _findings = kernel.verify();
            let printed = kernel.to_string();
            prop_assert_eq!(Kernel::parse(&printed), Ok(kernel), "{}", printed);
        }
    }
}

#[test]
fn names_play_no_part_in_the_structure() {
    let kernel = |x: &str, f: &str, add: &str| {
        let text = format!(
            "kernel @{f}(in %{x}: f32[64], out %y: f32[64]) {{
              func @{f}_one(d0 in [0, 63]) -> (f32) {{
                %0:{x}: f32 = extract %{x}[d0]
                %1:sum: f32 = {add} %0:{x}, f32 1.0
                return %1:sum
              }}
              entry groups [1] threads 64 {{
                %0:element: f32 = call @{f}_one(d1)
                store %y[d1], %0:element
              }}
            }}"
        );
        Kernel::parse(&text).unwrap().structure()
    };
    assert_eq!(kernel("x", "f", "add"), kernel("layer_2", "g", "add"));
    assert_ne!(kernel("x", "f", "add"), kernel("x", "f", "multiply"));
}
