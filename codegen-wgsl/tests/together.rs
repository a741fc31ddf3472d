//! What invocations do together: each stage computes what the kernel says, all of it is proved, and naga takes the WGSL.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{lockstep, together};
use weft_codegen_wgsl::kernel::{Kernel, Space};
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{Target, compile_kernel};

/// Checks each stage of a kernel for some targets against the kernel itself, given what its operands hold.
fn check(name: &str, text: &str, operands: &[Vec<u32>], targets: &[&str]) {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(kernel.verify(), Ok(Vec::new()), "{name}\n{kernel}");
    let buffers = |kernel: &Kernel| {
        let mut operands = operands.iter();
        let contents = kernel.memories.values().filter_map(|memory| {
            let Space::Buffer { .. } = memory.space else { return None };
            let count = usize::try_from(memory.shape.element_count().unwrap()).unwrap();
            Some(operands.next().filter(|_| memory.is_readable()).cloned().unwrap_or_else(|| vec![0; count]))
        });
        contents.collect::<Vec<Vec<u32>>>()
    };
    let mut expected = buffers(&kernel);
    lockstep::run(&kernel, &mut expected, 8);
    for target in targets.iter().map(|name| Target::preset(name).unwrap()) {
        let mut lowered = kernel.clone();
        for lowering in Lowering::ALL {
            lowered = lowering.apply(&lowered, &target).unwrap_or_else(|findings| panic!("{name}: {findings}"));
            assert_eq!(lowered.verify(), Ok(Vec::new()), "{name} after {lowering}\n{lowered}");
            assert_eq!(Kernel::parse(&lowered.to_string()).as_ref(), Ok(&lowered), "{name} after {lowering}");
            let mut found = buffers(&lowered);
            lockstep::run(&lowered, &mut found, 8);
            assert_eq!(found, expected, "{name} after {lowering}\n{lowered}");
        }
        let shader =
            compile_kernel(&kernel, &target).unwrap_or_else(|findings| panic!("{name}: {findings}\n{lowered}"));
        assert!(shader.proofs().are_complete(), "{name}");
    }
}

#[test]
fn collectives_compute_what_they_say() {
    together::for_each_collective("workgroup", false, |name, text, operands| {
        check(name, text, operands, &["floor", "discrete"])
    });
}

/// Words of four numbers, and the sums of products of the numbers of two.
#[test]
fn packed_numbers_are_multiplied_four_at_a_time() {
    for (sign, ty) in [("s8", "s32"), ("u8", "u32")] {
        let text = format!(
            "kernel @k(in %x: {ty}[64], in %w: u32[16], out %y: {ty}[16]) {{\n  entry groups [2] threads 8 {{\n    \
             %0: {ty} = extract %x[d0 * 8 + d1]\n    %1: {ty} = extract %x[d0 * 8 + d1 + 16]\n    \
             %2: {ty} = extract %x[d0 * 8 + d1 + 32]\n    %3: {ty} = extract %x[d0 * 8 + d1 + 48]\n    \
             %4: u32 = pack %0, %1, %2, %3\n    %5: u32 = extract %w[d0 * 8 + d1]\n    \
             %6: {ty} = packed-dot {sign} %4, %5\n    store %y[d0 * 8 + d1], %6\n  }}\n}}\n"
        );
        let operands = [together::words("u32", 64, 5), together::words("u32", 16, 6)];
        check(sign, &text, &operands, &["floor", "software"]);
    }
}

#[test]
fn collectives_of_parts_compute_what_they_say() {
    for (part, _) in together::PARTS {
        together::for_each_collective(part, false, |name, text, operands| {
            check(name, text, operands, &["floor", "discrete"])
        });
    }
}

#[test]
fn collectives_stand_in_loops_and_under_conditions() {
    for (name, text) in together::CONSTRUCTS {
        let ty = if text.contains("in %x: f32") { "f32" } else { "s32" };
        let count = if name == "rounds" { 400 } else { 64 };
        check(name, text, &[together::words(ty, count, 3)], &["floor", "software"]);
    }
}

#[test]
fn updates_compute_what_they_say() {
    for (name, update) in together::UPDATES {
        let ty = update.split_once(';').unwrap().0;
        let operands = vec![together::places(), together::given(ty)];
        check(name, &together::histogram(update), &operands, &["floor", "software"]);
        check(name, &together::scatter(update), &[operands, vec![vec![0; 5]]].concat(), &["floor"]);
    }
}

/// The code and the message with which a kernel is refused.
fn refused(text: &str, target: &Target) -> String {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match compile_kernel(&kernel, target) {
        Ok(shader) => panic!("{}", shader.source),
        Err(findings) => findings.0.iter().map(|found| format!("{}: {}", found.code, found.message)).collect(),
    }
}

/// A kernel of numbers of 64 bits.
const DOUBLE: &str = "kernel @k(in %x: f64[8], out %y: f64[8]) { entry groups [1] threads 8 {
    %0: f64 = extract %x[d0 + d1] %1: f64 = OP %0 store %y[d0 + d1], %1
} }";

#[test]
fn literals_of_doubles_are_hidden_once() {
    let able =
        Target::default().with(|target| (target.features.shader_f64, target.features.shader_int64) = (true, true));
    let shader = |instruction: &str| {
        let text = DOUBLE.replace("OP %0", instruction);
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        compile_kernel(&kernel, &able).unwrap_or_else(|found| panic!("{instruction}: {found}")).source
    };
    // naga computes with no literals of 64 bits, nor may a driver with the zero; what is hidden twice is bare.
    for instruction in ["floor f64 bits(0x0)", "add f64 bits(0x0), f64 bits(0x3ff8000000000000)", "sine f64 bits(0x0)"]
    {
        assert!(shader(instruction).contains("0.0lf"), "{instruction}");
    }
    let source = shader("multiply %0, f64 bits(0x0)");
    assert!(source.contains("keep_f64(0.0lf)") && !source.contains("keep_f64(keep_f64("), "{source}");
}

#[test]
fn what_a_target_lacks_is_refused() {
    let sum = together::FUNCTIONS[0];
    let of_subgroup = together::collective("reduce", "subgroup", sum, 64);
    let reason = "HLO420: a collective of a subgroup cannot be compiled for a target without subgroups; one of the workgroup can";
    assert_eq!(refused(&of_subgroup, &Target::default()), reason);
    let of_workgroup = together::collective("scan", "workgroup", sum, 64);
    let small = Target::default().with(|target| target.max_workgroup_storage_bytes = 511);
    let reason =
        "HLO417: with its collectives the kernel takes 512 bytes of workgroup memory and the target allows 511";
    assert_eq!(refused(&of_workgroup, &small), reason);
    let vectors = "kernel @k() {
        func @f(; %0: f32x4, %1: f32x4) -> (f32x4) { return %0 }
        entry groups [1] threads 8 { %0: f32x4 = splat f32 1.0 %1: f32x4 = reduce subgroup @f %0 }
    }";
    let reason = "HLO413: a collective of vectors of a subgroup cannot be compiled yet";
    assert_eq!(refused(vectors, &Target::default()), reason);
    let reason = "HLO420: numbers of 64 bits cannot be compiled for a target without shader_f64 and shader_int64";
    assert_eq!(refused(&DOUBLE.replace("OP", "floor"), &Target::default()), reason);
    let negated = Kernel::parse(&DOUBLE.replace("OP", "negate")).unwrap();
    assert!(compile_kernel(&negated, &Target::default()).is_ok(), "signs are bits");
    let faulty = |change: fn(&mut Target)| Target::default().with(change);
    let barriers = faulty(|target| target.faults.barriers = true);
    let reason = "HLO417: invocations wait for each other, and barriers do not work on the target";
    assert_eq!(refused(&of_workgroup, &barriers), reason);
    let atomics = faulty(|target| target.faults.atomics = true);
    let updated = "kernel @k(inout %m: u32[8]) { entry groups [1] threads 8 { update %m[0] by add u32 1 } }";
    let reason = "HLO417: elements are updated, and atomic operations do not work on the target";
    assert_eq!(refused(updated, &atomics), reason);
    let packed = "kernel @k(inout %m: pred[8]) { entry groups [1] threads 8 { update %m[0] by or true } }";
    let reason = "HLO413: updates of elements of type pred, which share words, cannot be compiled yet";
    assert_eq!(refused(packed, &Target::default()), reason);
}

#[test]
fn broken_kernels_stay_refused() {
    let kernel = |body: &str| {
        let text = format!(
            "kernel @k(in %x: s32[8], inout %m: s32[8]) {{
               tile %t: s32[8]
               func @f(; %0: s32, %1: s32) -> (s32) {{ %2: s32 = add %0, %1 return %2 }}
               entry groups [1] threads 8 {{ {body} }}
             }}"
        );
        refused(&text, &Target::default())
    };
    assert_eq!(
        kernel("if d1 in [0, 3] { %0: s32 = reduce workgroup @f s32 1 }"),
        "HLO419: entry: a collective stands where not all invocations come"
    );
    assert_eq!(
        kernel("%0: s32 = combine part of 3 apart 1 @f s32 1"),
        "HLO419: entry: 8 invocations are no whole number of parts of 3 apart 1"
    );
    let through =
        "HLO419: entry: what subgroups come to goes through other memory than a tile for each operand of a workgroup";
    assert_eq!(kernel("%0: s32 = combine workgroup @f s32 1 through %m"), through);
    assert_eq!(kernel("%0: s32 = reduce workgroup @f s32 1 through %t"), through);
    assert_eq!(
        kernel("store %t[d1], s32 1 %0: s32 = combine workgroup @f s32 1 through %t"),
        "HLO419: %t: two invocations write an element without a barrier between"
    );
    let again = "%0: s32 = combine workgroup @f s32 1 through %t %1: s32 = combine workgroup @f %0 through %t";
    let text = format!(
        "kernel @k() {{ tile %t: s32[8] func @f(; %0: s32, %1: s32) -> (s32) {{ %2: s32 = add %0, %1 return %2 }}
         entry groups [1] threads 8 {{ {again} }} }}"
    );
    let unproved = Kernel::parse(&text).unwrap().verify().unwrap();
    assert!(unproved[0].message.contains("without a barrier between"), "{unproved:?}");
    let waited = text.replace("%1: s32", "barrier %1: s32").replacen("barrier ", "", 1);
    assert_eq!(Kernel::parse(&waited).unwrap().verify(), Ok(Vec::new()), "{waited}");
    assert_eq!(
        kernel("store %t[d1], s32 1 if d1 in [0, 3] { %0: s32 = share %t[0] }"),
        "HLO419: entry: a shared read stands where not all invocations come"
    );
    assert_eq!(
        kernel("store %t[d1], s32 1 %0: s32 = share %t[d1]"),
        "HLO419: entry: a shared read is not of the same element in all invocations"
    );
    assert_eq!(kernel("%0: s32 = share %m[0]"), "HLO419: entry: what is shared is in no memory of the workgroup");
    assert_eq!(
        kernel("store %t[d1], s32 1 update %t[7 - d1] by @f s32 1"),
        "HLO419: %t: two invocations write an element without a barrier between"
    );
    assert_eq!(kernel("update %t[d1] by @f s32 1"), "HLO419: %t: an element is read that was never written");
    let floats = "kernel @k(inout %m: f32[8]) { entry groups [1] threads 8 { update %m[0] by add f32 1.0 } }";
    assert_eq!(refused(floats, &Target::default()), "HLO419: entry: 'add' of %m, f32[8], is no single step");
}
