//! Launches in several dispatches, where a tensor is larger than a binding may be.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::{Content, Shader, Site, Target, compile, compile_kernel, kernel};
use weft_hlo::text::parse;
use weft_partition::Fused;

const NEGATED: &str =
    "kernel @k(in %x: f32[1000] window(d0 * 256 - 64) of 320, out %y: f32[1000] window(d0 * 256) of 256) {
  func @f(d0 in [0, 999]) -> (f32) {
    %0: f32 = if d0 in [64, 999] {
      %1: f32 = extract %x[d0 - 64]
      yield %1
    } else {
      yield f32 1.0
    }
    return %0
  }
  entry groups [4] windows 4 threads 64 {
    if d0 * 64 + d1 * 256 + d2 in [0, 999] {
      %0:element: f32 = call @f(d0 * 64 + d1 * 256 + d2)
      store %y[d0 * 64 + d1 * 256 + d2], %0:element
    }
  }
}
";

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is wrong with a kernel, or else unproved.
fn found(text: &str) -> Vec<String> {
    let found = parsed(text).verify().unwrap_or_else(|findings| findings);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn windows_have_a_text() {
    let kernel = parsed(NEGATED);
    assert_eq!(kernel.to_string(), NEGATED);
    assert_eq!((kernel.windows, kernel.workgroups(), kernel.threads()), (4, [4, 1, 1], 64));
    let bound = kernel.memories.values().map(|memory| {
        let window = memory.window.as_ref().unwrap();
        (0..4).map(|number| window.words(number, 1000).unwrap()).collect::<Vec<_>>()
    });
    let [x, y] = <[Vec<_>; 2]>::try_from(bound.collect::<Vec<_>>()).unwrap();
    assert_eq!(x, [0..320, 192..512, 448..768, 704..1000]);
    assert_eq!(y, [0..256, 256..512, 512..768, 768..1000]);
    let one = NEGATED.replace("windows 4 ", "windows 1 ");
    assert!(Kernel::parse(&one).is_err());
}

#[test]
fn each_dispatch_uses_what_it_binds() {
    assert_eq!(found(NEGATED), [""; 0]);
    let unproved = |number: i64, memory: &str| {
        vec![format!("%{memory}: that window {number} has all that is used there is not known")]
    };
    assert_eq!(found(&NEGATED.replace("- 64) of 320", "- 64) of 252")), unproved(1, "x"));
    assert_eq!(found(&NEGATED.replace("(d0 * 256 - 64)", "(d0 * 256)")), unproved(1, "x"));
    assert_eq!(found(&NEGATED.replace("window(d0 * 256) of 256", "window(0) of 256")), unproved(1, "y"));
    // Every element is written, or else the windows do not matter.
    let fewer = found(&NEGATED.replace("windows 4", "windows 3"));
    assert_eq!(fewer, ["%y: an element is never written"]);
}

#[test]
fn windows_begin_where_vectors_do() {
    let x = NEGATED.replace("(d0 * 256 - 64)", "(d0 * 255 - 64)");
    assert_eq!(found(&x), ["%x: the beginning d0 * 255 - 64 of its window may be no multiple of 4"]);
    let x = NEGATED.replace("(d0 * 256 - 64)", "(d1 * 256)");
    let expected = "%x: the beginning d1 * 256 of its window uses another variable than d0";
    assert_eq!(found(&x), [expected]);
    assert_eq!(found(&NEGATED.replace("of 320", "of 0"))[0], "%x: its window has no words");
    let uniform = found(&NEGATED.replace("in %x", "uniform %x"));
    assert_eq!(uniform, ["%x: it has a window, and lies in a uniform or not at the beginning of its buffer"]);
    let kernel = parsed(&NEGATED.replace("d0 * 256 - 64", "d0 * 256 - 60"));
    let aligned = Target::default().with(|it| it.min_storage_offset_alignment = 16);
    assert_eq!(kernel.exceeds(&aligned), []);
    let found: Vec<String> = kernel.exceeds(&Target::default()).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["%x: window 1 begins at no multiple of the 256 bytes that the target asks for"]);
}

/// The kernel and the shader of a fusion with this body, where kernels bind 4 KiB.
fn made(parameters: &str, body: &str) -> (Kernel, Shader) {
    let (operands, root) = body
        .split_once("ROOT ")
        .map(|(_, root)| root.split_once(" = ").unwrap())
        .map_or(("", ""), |(_, op)| ("x", op.split_once(' ').unwrap().0));
    let text = format!(
        "HloModule m\nf {{\n{parameters}\n{body}\n}}\nENTRY e {{\n{parameters}\nROOT y = {root} fusion({operands}), kind=kLoop, calls=f\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    let target = Target::default().with(|it| it.max_storage_binding_bytes = 4096);
    let root = Site { computation: module.entry, instruction: module.entry_computation().root };
    let fused = Fused::of(module, &target).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    let kernel = kernel(&fused, root, &target).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    (kernel, compile(&fused, root, &target).unwrap_or_else(|findings| panic!("{findings}\n{text}")))
}

#[test]
fn a_shader_tells_what_to_bind() {
    let (kernel, shader) = made("x = f32[3000] parameter(0)", "ROOT y = f32[3000] negate(x)");
    let head =
        "kernel @y(in %x: f32[3000] window(d0 * 1024) of 1024, out %y_out: f32[3000] window(d0 * 1024) of 1024) {";
    assert_eq!(kernel.to_string().lines().next(), Some(head));
    assert_eq!(parsed(&kernel.to_string()), kernel);
    assert!(shader.proofs().are_complete(), "{:?}", shader.proofs());
    assert_eq!((shader.windows, shader.workgroups), (3, [16, 1, 1]));
    assert_eq!((shader.parameter_binding, shader.window_binding), (2, Some(3)));
    for binding in &shader.bindings {
        assert_eq!(binding.windows, [0..1024, 1024..2048, 2048..3000]);
    }
}

/// A part of a large operand is one window of a single dispatch.
#[test]
fn one_dispatch_may_have_a_window() {
    let (kernel, shader) = made("x = f32[90000] parameter(0)", "ROOT y = f32[700] slice(x), slice={[40000:40700]}");
    assert_eq!((kernel.windows, shader.windows, shader.window_binding), (1, 1, Some(3)));
    assert_eq!(shader.bindings[0].windows.first(), Some(&(40_000..40_704)));
    assert!(shader.bindings[1].windows.is_empty() && shader.proofs().are_complete());
}

#[test]
fn what_is_small_has_no_windows() {
    let (kernel, shader) = made("x = f32[1024] parameter(0)", "ROOT y = f32[1024] negate(x)");
    assert!(!kernel.has_windows() && shader.window_binding.is_none() && shader.windows == 1);
    assert!(shader.bindings.iter().all(|binding| binding.windows.is_empty()));
}

const PARTS: &str = "kernel @k(in %x: f32[2000] window(0) of 1024, in %x_2: f32[2000] part of %x window(1024) of 976, out %y: f32[2000]) {
  func @f(d0 in [0, 1999]) -> (f32) {
    %0: f32 = if d0 in [976, 1999] {
      %1: f32 = extract %x[1999 - d0]
      yield %1
    } else {
      %2: f32 = extract %x_2[1999 - d0]
      yield %2
    }
    return %0
  }
  entry groups [32] threads 64 {
    if d0 * 64 + d1 in [0, 1999] {
      %0:element: f32 = call @f(d0 * 64 + d1)
      store %y[d0 * 64 + d1], %0:element
    }
  }
}
";

#[test]
fn parts_of_a_tensor_have_a_text() {
    let kernel = parsed(PARTS);
    assert_eq!(kernel.to_string(), PARTS.replace("1999 - d0", "-d0 + 1999"));
    assert_eq!(kernel.to_string().parse(), Ok(kernel.clone()));
    let shader = compile_kernel(&kernel, &Target::default()).unwrap_or_else(|findings| panic!("{findings}"));
    assert!(shader.proofs().are_complete(), "{:?}", shader.proofs());
    let bound: Vec<_> = shader.tensors().map(|(it, held)| (held.content, it.windows.first().cloned())).collect();
    let x = |window| (Content::Operand(0), Some(window));
    assert_eq!(bound, [x(0..1024), x(1024..2000), (Content::Result(0), None)]);
}

#[test]
fn reads_keep_to_the_part_that_is_bound() {
    assert_eq!(found(PARTS), [""; 0]);
    let unproved = |memory: &str| vec![format!("%{memory}: that window 0 has all that is used there is not known")];
    assert_eq!(found(&PARTS.replace("d0 in [976, 1999] {", "d0 in [975, 1999] {")), unproved("x"));
    assert_eq!(found(&PARTS.replace("d0 in [976, 1999] {", "d0 in [977, 1999] {")), unproved("x_2"));
}

#[test]
fn parts_that_make_no_sense_are_found() {
    let first = |text: String| found(&text).into_iter().next().unwrap_or_default();
    let other = PARTS.replace("in %x_2: f32[2000]", "in %x_2: f32[2001]");
    assert_eq!(first(other), "%x_2: %x is itself a part, or another tensor");
    let bound = PARTS.replace("%x_2: f32[2000] part", "%x_2: f32[2000] at binding 0 + 0 part");
    assert!(found(&bound).contains(&"%x_2: it is a part of %x, and has no binding of its own".to_owned()));
    let written = PARTS.replace("in %x:", "inout %x:");
    assert_eq!(first(written), "%x_2: it is a part of %x, and one of both is written");
    let itself = Kernel::parse(&PARTS.replace("part of %x", "part of %z")).unwrap_err();
    assert!(itself.to_string().contains("there is no memory `z`"), "{itself}");
}
