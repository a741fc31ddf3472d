//! A kernel that would break a limit of the target is never produced.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::{Site, Target, compile, compile_kernel};
use weft_hlo::text::parse;
use weft_partition::Fused;

fn refusal(text: &str, target: &Target) -> String {
    let module = parse(text).unwrap_or_else(|findings| panic!("{findings}"));
    let root = Site { computation: module.entry, instruction: module.entry_computation().root };
    match Fused::of(module, target).and_then(|fused| compile(&fused, root, target)) {
        Ok(shader) => panic!("a kernel was made:\n{}", shader.source),
        Err(findings) => findings.to_string(),
    }
}

const SUM: &str = "HloModule m\nf {\n  a = f32[1000] parameter(0)\n  b = f32[1000] parameter(1)\n  \
    ROOT c = f32[1000] add(a, b)\n}\nENTRY e {\n  a = f32[1000] parameter(0)\n  b = f32[1000] parameter(1)\n  \
    ROOT c = f32[1000] fusion(a, b), kind=kLoop, calls=f\n}\n";

const TRANSPOSED: &str = "HloModule m\nf {\n  a = f32[20,50] parameter(0)\n  ROOT c = f32[50,20] transpose(a), dimensions={1,0}\n}\n\
    ENTRY e {\n  a = f32[20,50] parameter(0)\n  ROOT c = f32[50,20] fusion(a), kind=kLoop, calls=f\n}\n";

#[test]
fn limits_are_kept() {
    let floor = Target::default;
    let buffers = refusal(SUM, &floor().with(|it| it.max_storage_buffers = 2));
    assert_eq!(buffers, "HLO417: c: the kernel binds 3 buffers and the target allows 2");
    let small = floor().with(|it| (it.max_storage_binding_bytes, it.max_storage_buffers) = (3999, 2));
    let bytes = refusal(TRANSPOSED, &small);
    let reason = "f32[50,20] exceeds the 3999 bytes that the target lets a kernel bind, and 1 elements of what is computed take 2 parts \
                  of what is read, 3 bindings where 2 are allowed";
    assert_eq!(bytes, format!("HLO417: c: {reason}"));
    let groups =
        refusal(SUM, &floor().with(|it| (it.max_invocations_per_workgroup, it.max_workgroups_per_dimension) = (1, 9)));
    let reason = "the launch needs 1000 workgroups and the target allows 9 along each dimension";
    assert_eq!(groups, format!("HLO417: c: {reason}"));
}

#[test]
fn only_fusions_are_kernels() {
    let text = "HloModule m\nENTRY e {\n  ROOT a = f32[2] parameter(0)\n}\n";
    assert_eq!(refusal(text, &Target::default()), "HLO410: a: 'parameter' is no fusion; fuse the module first");
}

#[test]
fn a_tensor_given_twice_is_bound_once() {
    let text = SUM.replace("fusion(a, b)", "fusion(a, a)");
    let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}"));
    let root = Site { computation: module.entry, instruction: module.entry_computation().root };
    let target = Target::default().with(|it| it.max_storage_buffers = 2);
    let fused = Fused::of(module, &target).unwrap_or_else(|findings| panic!("{findings}"));
    let kernel = weft_codegen_wgsl::kernel(&fused, root, &target).unwrap_or_else(|findings| panic!("{findings}"));
    let head = kernel.to_string().lines().next().map(str::to_owned);
    let expected =
        "kernel @c(in %a: f32[1000], in %b: f32[1000] at binding 0 + 0, out %c_out: f32[1000] at binding 1 + 0) {";
    assert_eq!(head.as_deref(), Some(expected));
    let shader = compile(&fused, root, &target).unwrap_or_else(|findings| panic!("{findings}"));
    let bound: Vec<(&str, bool)> = shader.bindings.iter().map(|it| (it.name.as_str(), it.writable)).collect();
    assert_eq!((bound, shader.parameter_binding), (vec![("a", false), ("c_out", true)], 2));
}

/// Elements that are parts of words, and such as take several, up to the last word that 32 bits number: no position wraps around unseen. What has to be
/// divided beyond them is computed in two words.
#[test]
fn positions_are_numbers_of_32_bits_or_of_two_words() {
    let huge = Target::default().with(|it| {
        (it.max_storage_binding_bytes, it.max_buffer_bytes) = (1 << 60, 1 << 60);
    });
    let reversed = |shape: &str, dimension: u32| {
        let text = format!(
            "HloModule m\nf {{\n  a = {shape} parameter(0)\n  ROOT c = {shape} reverse(a), dimensions={{{dimension}}}\n}}\n\
             ENTRY e {{\n  a = {shape} parameter(0)\n  ROOT c = {shape} fusion(a), kind=kLoop, calls=f\n}}\n"
        );
        let module = parse(&text).unwrap_or_else(|findings| panic!("{findings}"));
        let root = Site { computation: module.entry, instruction: module.entry_computation().root };
        let shader = Fused::of(module, &huge).and_then(|fused| compile(&fused, root, &huge));
        shader.map(|shader| {
            assert!(shader.proofs().are_complete(), "{shape}");
            shader.source.contains("divide_wide")
        })
    };
    let reversed = |shape, dimension| reversed(shape, dimension).map_err(|findings| findings.to_string());
    for shape in ["s4[2147483640]", "pred[4294901760]", "s16[4294901760]", "f32[4294901760]", "s64[2147483648]"] {
        assert_eq!(reversed(shape, 0), Ok(false), "{shape}");
    }
    assert_eq!(reversed("c128[1073741824]", 0), Ok(false));
    for shape in ["s8[70000,70001]", "s4[1048583,31,1021]", "pred[3,4294967295]"] {
        assert_eq!(reversed(shape, 0), Ok(true), "{shape}");
        assert_eq!(reversed(shape, 1), Ok(true), "{shape}");
    }
    let more = "HLO412: c: %a: u32[1073741825,4] has more words than 32 bits number";
    assert_eq!(reversed("c128[1073741825]", 0), Err(more.to_owned()));
    let more = "HLO412: a: s4[4294967297] has a dimension of more elements than 32 bits number";
    assert_eq!(reversed("s4[4294967297]", 0), Err(more.to_owned()));
}

/// What WGSL takes for an error in constants is none in HLO: bits that are shifted out are gone.
#[test]
fn constants_may_lose_bits() {
    let kernel = Kernel::parse(
        "kernel @k(out %y: s32[8], out %z: u32[8]) {
           entry groups [1] threads 8 {
             %0: s32 = shift-left s32 -3, s32 31
             store %y[d1], %0
             %1: u32 = shift-left u32 6, u32 30
             store %z[d1], %1
           }
         }",
    )
    .unwrap_or_else(|findings| panic!("{findings}"));
    let shader = compile_kernel(&kernel, &Target::default()).unwrap_or_else(|findings| panic!("{findings}"));
    assert!(shader.source.contains("-2147483648") || shader.source.contains("0x80000000"), "{}", shader.source);
    assert!(shader.source.contains("2147483648u"), "{}", shader.source);
}
