//! The text of the kernel IR: what it can say, what is refused where, and that no text does harm.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{make, verified};
use proptest::prelude::*;
use std::sync::OnceLock;
use weft_codegen_wgsl::kernel::Kernel;

/// Every construct once.
const EVERYTHING: &str = r#"kernel @loop.fusion-1(in %p0: f32[4, 8], in %"p 1": s32[], in %flag: pred[4], out %u: f32[4, 8], out %z: s32[4, 8]) {
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
      yield
    }
    return %4:last, %5:count
  }
  func @nothing() -> () {
    return
  }
  entry workgroups [1, 1] of 64 {
    store %u[d0, d1], %z[d0, d1] = call @y(d0, d1) for d0 in [0, 3], d1 in [0, 7]
  }
}
"#;

#[test]
fn every_construct_reads_and_prints_as_itself() {
    let kernel = Kernel::parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernel.to_string(), EVERYTHING);
    assert_eq!(kernel.verify(), Ok(()));
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
fn grids_have_planes_where_they_need_them() {
    for (grid, printed) in [("[4, 1]", "[4, 1]"), ("[4, 2, 1]", "[4, 2]"), ("[4, 2, 3]", "[4, 2, 3]")] {
        let text = EVERYTHING.replace("workgroups [1, 1] of", &format!("workgroups {grid} of"));
        let kernel = Kernel::parse(&text).unwrap();
        assert!(kernel.to_string().contains(&format!("entry workgroups {printed} of 64")), "{kernel}");
        assert_eq!(Kernel::parse(&kernel.to_string()), Ok(kernel));
    }
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
  entry workgroups [1, 1] of 64 { store %y[d0] = call @y(d0) for d0 in [0, 8] }
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
        ("in %p0", "inout %p0", "1:23: HLO416: expected `in` or `out`, found `inout`"),
        ("%flag: pred", "%p0: pred", "1:63: HLO416: there are two tensors of the name `p0`"),
        ("d1 in [0, 7]) ->", "d2 in [0, 7]) ->", "2:25: HLO416: expected `d1`, found `d2`"),
        ("d0 in [0, 3]", "d0 in [1, 3]", "2:18: HLO416: expected 0, where every index begins, found `1`"),
        ("(f32, s32) {", "(f32, f32) {", "2:43: HLO416: the function returns (f32, s32)"),
        ("extract %p0[d0, d1]", "extract %q[d0, d1]", "4:32: HLO416: there is no tensor `q`"),
        (
            "extract %p0[d0, d1]",
            "extract %p0[d0, d1 *]",
            "4:44: HLO416: expected a variable, an integer or `(`, found the end",
        ),
        ("extract %p0[d0, d1]", "extract %p0[d0, t4]", "4:40: HLO416: unknown name `t4`"),
        ("negate %0", "negated %0", "5:34: HLO416: expected an operation, found `negated`"),
        ("call @sum(", "call @product(", "6:33: HLO416: there is no function `product`"),
        ("d1 mod 2 in [0, 0] {", "d1 mod 2 {", "8:52: HLO416: expected `in`, found the end"),
        ("add %1:\"a \\\"b\\\" \\\\ \\u{a}\", f32 -1.5", "add f32 -1.5", "9:25: HLO416: expected 2 operands, found 1"),
        ("yield %5:add", "yield %5:sub", "10:13: HLO416: value %5 is defined with the name `add`"),
        ("yield %5:add", "yield %55", "10:13: HLO416: value %55 is not defined"),
        ("yield %5:add", "return %5:add", "10:7: HLO416: expected a statement or `yield`, found `return`"),
        (
            "nan(0x7fc00001)",
            "nan(0x3f800000)",
            "12:21: HLO416: expected the bits of a NaN, as `0x7fc00000`, found `0x3f800000`",
        ),
        (
            "s32 -2147483648",
            "s32 -2147483649",
            "20:42: HLO416: expected a signed integer of 32 bits, found `-2147483649`",
        ),
        ("%13:convert: s32 =", "%15:convert: s32 =", "25:23: HLO416: value %13 is not defined"),
        ("entry", "enter", "43:3: HLO416: expected `func` or `entry`, found `enter`"),
        ("store %u[d0, d1]", "store %u[d0]", "44:14: HLO416: expected the function's indices, `d0, d1`"),
        ("d1 in [0, 7]\n  }\n}", "d1 in [0, 8]\n  }\n}", "44:52: HLO416: expected the function's domain, behind `for`"),
    ];
    let found: Vec<String> = cases.iter().map(|(part, replacement, _)| error(part, replacement)).collect();
    let expected: Vec<&str> = cases.iter().map(|(_, _, expected)| *expected).collect();
    assert_eq!(found.join("\n"), expected.join("\n"));
    let truncated = Kernel::parse(&EVERYTHING[..EVERYTHING.len() - 3]).unwrap_err();
    assert_eq!(truncated.to_string(), "45:4: HLO416: expected `}`, found the end");
    let longer = Kernel::parse(&format!("{EVERYTHING}}}")).unwrap_err();
    assert_eq!(longer.to_string(), "47:1: HLO416: expected the end, found `}`");
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [100, 199, 100_000] {
        let open = "if true {".repeat(depth);
        let close = "yield } else { yield }".repeat(depth);
        let text =
            format!("kernel @k() {{ func @f() -> () {{ {open} {close} return }} entry workgroups [1, 1] of 1 {{ }} }}");
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
        let made = make(&module).unwrap();
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
