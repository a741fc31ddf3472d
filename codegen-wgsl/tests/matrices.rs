//! What subgroups do with matrices: the text, the rules, loops in their place, and WGSL, which naga takes and writes as SPIR-V.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::lockstep;
use snapbox::{Assert, Data, data::DataFormat};
use std::path::Path;
use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{Shader, SpirvOptions, Target, compile, compile_kernel, kernel};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{self, ElementType, Literal};
use weft_hlo::random::{Numbers, Options, inputs};
use weft_hlo::text::parse;
use weft_partition::{CooperativeMatrix, Emitter, Product, Subgroups, fuse};

/// Two subgroups of four: each multiplies 8 rows of `x`, which lie in rows, with `y`, which lies in columns, twice.
const TEXT: &str = "kernel @k(in %x: f32[16, 8], in %y: f32[8, 8], out %z: f32[16, 8]) {
  tile %left: f32[16, 12]
  tile %right: f32[8, 8]
  tile %sums: f32[16, 8]
  matrix a of 4 %a: f32[8, 8]
  matrix b of 4 %b: f32[8, 8]
  matrix c of 4 %c: f32[8, 8]
  entry groups [1] threads 8 {
    loop for s0 in [0, 15] {
      %0: f32 = extract %x[s0, d1]
      store %left[s0, d1], %0
    }
    loop for s0 in [0, 7] {
      %1: f32 = extract %y[s0, d1]
      store %right[d1, s0], %1
    }
    barrier
    clear %c
    load %a from %left[(d1 floordiv 4) * 8, 0] by rows
    load %b from %right[0, 0] by columns
    loop for s0 in [0, 1] {
      multiply %a, %b into %c
    }
    save %c to %sums[(d1 floordiv 4) * 8, 0]
    barrier
    loop for s0 in [0, 15] {
      %2: f32 = extract %sums[s0, d1]
      store %z[s0, d1], %2
    }
  }
}
";

fn target() -> Target {
    Target::preset("discrete").unwrap().with(|target| {
        target.features.subgroup = Some(Subgroups { min: 32, max: 32 });
        (target.features.shader_f16, target.features.shader_i16) = (true, true);
    })
}

fn with_matrices(side: u32, factor: ElementType) -> Target {
    let matrix = CooperativeMatrix::new([side; 3], factor, ElementType::F32);
    target().with(|target| target.features.cooperative_matrices = vec![matrix])
}

fn buffers() -> Vec<Vec<u32>> {
    let word = |number: usize| f32::from(u8::try_from(number % 23).unwrap()).to_bits();
    vec![(0..128).map(|at| word(at * 7)).collect(), (0..64).map(|at| word(at * 5 + 1)).collect(), vec![0; 128]]
}

#[test]
fn stages_compute_what_the_kernel_says() {
    let kernel = Kernel::parse(TEXT).unwrap();
    assert_eq!(kernel.to_string(), TEXT);
    assert_eq!(kernel.verify(), Ok(Vec::new()));
    let mut expected = buffers();
    lockstep::run(&kernel, &mut expected, 4);
    let number = |buffer: usize, at: usize| f32::from_bits(expected[buffer][at]);
    for (row, column) in (0..16).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let sum: f32 = (0..8).map(|k| number(0, row * 8 + k) * number(1, k * 8 + column)).sum();
        assert_eq!(number(2, row * 8 + column).to_bits(), (2.0 * sum).to_bits(), "{row}, {column}");
    }
    for target in [target(), target().with(|target| target.emulate_matrices = true)] {
        let mut lowered = kernel.clone();
        for lowering in Lowering::ALL {
            lowered = lowering.apply(&lowered, &target).unwrap_or_else(|findings| panic!("{findings}"));
            let unproved = lowered.verify().unwrap_or_else(|broken| panic!("{broken:?}\n{lowered}"));
            assert!(unproved.is_empty() || target.emulate_matrices, "{unproved:?}\n{lowered}");
            assert_eq!(Kernel::parse(&lowered.to_string()).as_ref(), Ok(&lowered), "after {lowering}");
            let mut found = buffers();
            lockstep::run(&lowered, &mut found, 4);
            assert_eq!(found, expected, "after {lowering}\n{lowered}");
        }
        let shader = compile_kernel(&kernel, &target).unwrap_or_else(|findings| panic!("{findings}\n{lowered}"));
        assert_eq!(shader.source.contains("coopMultiplyAdd"), !target.emulate_matrices, "{}", shader.source);
    }
}

/// The findings of `TEXT` with one part replaced.
fn findings(part: &str, replacement: &str) -> Vec<String> {
    assert!(TEXT.contains(part), "{part}");
    let text = TEXT.replacen(part, replacement, 1);
    match Kernel::parse(&text) {
        Ok(kernel) => kernel.verify().err().unwrap_or_default().iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string().lines().next().unwrap_or_default().to_owned()],
    }
}

#[test]
fn rules_are_kept() {
    for (part, replacement, expected) in [
        ("matrix a of", "matrix d of", "5:10: HLO416: expected `a`, `b` or `c`, found `d`"),
        ("by rows", "by lines", "19:51: HLO416: expected `rows` or `columns`, found `lines`"),
        ("multiply %a, %b into", "multiply %a, %b to", "22:23: HLO416: expected `into`, found `to`"),
        ("%a: f32[8, 8]", "%a: f32[8, 4]", "%a: there are no matrices f32[8,4]"),
        ("%a: f32[8, 8]", "%a: s32[8, 8]", "%a: there are no matrices s32[8,8]"),
        ("a of 4", "a of 16", "%a: 8 invocations are no whole number of subgroups of 16"),
        ("multiply %a, %b", "multiply %b, %a", "entry: %b is no matrix a"),
        ("load %b", "load %c", "entry: %c is no matrix b"),
        ("save %c", "save %a", "entry: %a is no matrix c"),
        (
            "save %c to %sums[(d1 floordiv 4) * 8, 0]",
            "save %c to %z[0, 0]",
            "entry: %z, f32[16,8], is no tile of what %c holds",
        ),
        (
            "%2: f32 = extract %sums[s0, d1]",
            "%2: f32 = extract %c[s0, d1]",
            "entry: an element of the matrix %c is touched alone",
        ),
        ("clear %c", "if d1 in [0, 3] { clear %c }", "entry: a matrix is touched where not all invocations come"),
        (
            "%left[(d1 floordiv 4) * 8, 0] by",
            "%left[(d1 floordiv 4) * 8 + 1, 0] by",
            "entry: the index (d1 floordiv 4) * 8 + 1 into %left is not within [0, 8]",
        ),
        (
            "%left[(d1 floordiv 4) * 8, 0] by",
            "%left[(d1 floordiv 4) * 8, 3] by",
            "%left: an element is read that was never written",
        ),
        (
            "%left[(d1 floordiv 4) * 8, 0] by",
            "%left[d1, 0] by",
            "%left: members of a subgroup have other places for a matrix",
        ),
        (
            "    barrier\n    clear",
            "    clear",
            "%left: an element is read that another invocation writes without a barrier between",
        ),
        (
            "save %c to %sums[(d1 floordiv 4) * 8, 0]\n    barrier",
            "save %c to %sums[(d1 floordiv 4) * 8, 0]",
            "%sums: an element is read that another invocation writes without a barrier between",
        ),
        (
            "to %sums[(d1 floordiv 4) * 8, 0]",
            "to %sums[0, 0]",
            "%sums: two invocations write an element without a barrier between",
        ),
    ] {
        let found = findings(part, replacement);
        assert!(found.iter().any(|finding| finding == expected), "{replacement}: {found:?}");
    }
}

/// The shader of a dot of such operands, and its tiles.
fn dot(ty: &str, result: &str, [m, k, n]: [u32; 3], target: &Target) -> (Shader, Product) {
    let text = format!(
        "HloModule m\nENTRY e {{\n  x = {ty}[{m},{k}] parameter(0)\n  y = {ty}[{n},{k}] parameter(1)\n  z = {result}[{m},{n}] parameter(2)\n  \
         d = {result}[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n  \
         ROOT s = {result}[{m},{n}] add(d, z)\n}}\n"
    );
    let fused = fuse(&parse(&text).unwrap(), target).unwrap_or_else(|findings| panic!("{findings}"));
    let site = fused.fusions().next().unwrap();
    let shader = compile(&fused, site, target).unwrap_or_else(|findings| panic!("{findings}"));
    let product =
        fused.module.computations.ids().filter_map(|id| fused.plan(id)).find_map(|plan| match plan.emitter() {
            Emitter::Product(product) => Some(product),
            _ => None,
        });
    (shader, product.unwrap())
}

#[test]
fn kernels_with_matrices_are_proved_and_written() {
    for (ty, result, side, factor) in
        [("f16", "f16", 16, ElementType::F16), ("f16", "f32", 8, ElementType::F16), ("f32", "f32", 8, ElementType::F32)]
    {
        for size in [[16, 16, 16], [17, 40, 24], [64, 64, 64], [129, 100, 260], [512, 256, 512], [4096, 512, 4096]] {
            let target = with_matrices(side, factor);
            let (shader, product) = dot(ty, result, size, &target);
            assert_eq!(product.matrices.map(|it| (it.m, it.factor)), Some((side, factor)), "{size:?}: {product}");
            assert!(shader.proofs().are_complete(), "{size:?}: {:?}\n{}", shader.proofs(), shader.source);
            let options = SpirvOptions { checks: true, bounds_loops: true, has_subgroups: true };
            let words = shader.to_ordered_spirv(options).unwrap();
            // OpCapability CooperativeMatrixKHR
            assert!(words.windows(2).any(|pair| pair == [2 << 16 | 17, 6022]));
        }
    }
}

/// What emitters make of products is what they are, in workgroups of all shapes, with operands of any order; run with matrices as they are.
#[test]
fn emitted_kernels_compute_products() {
    let cases: [(u32, u32, u32, [usize; 3]); 5] = [
        (8, 4, 1, [34, 20, 36]),
        (8, 8, 1, [72, 9, 36]),
        (16, 32, 1, [129, 17, 33]),
        (16, 8, 64, [17, 34, 20]),
        (8, 32, 64, [17, 13, 23]),
    ];
    for (side, members, cores, size) in cases {
        let target = with_matrices(side, ElementType::F32).with(|target| {
            target.features.subgroup = Some(Subgroups { min: members, max: members });
            target.hardware.cores = cores;
        });
        let [m, k, n] = size;
        for (x, y, left, right) in
            [([m, k], [n, k], 1, 1), ([m, k], [k, n], 1, 0), ([k, m], [n, k], 0, 1), ([k, m], [k, n], 0, 0)]
        {
            let text = format!(
                "HloModule m\nENTRY e {{\n  x = f32[{},{}] parameter(0)\n  y = f32[{},{}] parameter(1)\n  z = f32[{m},{n}] parameter(2)\n  \
                 d = f32[{m},{n}] dot(x, y), lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}\n  \
                 ROOT s = f32[{m},{n}] add(d, z)\n}}\n",
                x[0], x[1], y[0], y[1]
            );
            let module = parse(&text).unwrap();
            let arguments = inputs(&module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
            let expected = evaluate(&module, &arguments).unwrap();
            let fused = fuse(&module, &target).unwrap_or_else(|findings| panic!("{findings}"));
            let emitted = kernel(&fused, fused.fusions().next().unwrap(), &target).unwrap();
            assert!(emitted.has_matrices(), "{text}");
            let words = |literal: &Literal| match &literal.data {
                ir::Data::F32(numbers) => numbers.iter().map(|number| number.to_bits()).collect(),
                other => panic!("{other:?}"),
            };
            let mut buffers: Vec<Vec<u32>> = arguments.iter().map(words).collect();
            buffers.push(vec![0; m * n]);
            lockstep::run(&emitted, &mut buffers, members as usize);
            assert_eq!(buffers[3], words(&expected[0]), "{text}\n{emitted}");
        }
    }
}

#[test]
fn the_text_is_as_ever() {
    for (name, ty, side, factor) in [("f16", "f16", 16, ElementType::F16), ("f32", "f32", 8, ElementType::F32)] {
        let (shader, _) = dot(ty, ty, [64, 48, 64], &with_matrices(side, factor));
        let source = &shader.source;
        let entry = source.find("@compute").unwrap();
        let end = source[entry..].find("\n}\n").unwrap() + entry + "\n}\n".len();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrices").join(format!("{name}.wgsl"));
        let expected = Data::read_from(&path, Some(DataFormat::Text)).raw();
        Assert::new().action_env("SNAPSHOTS").eq(Data::text(source[..end].to_owned()), expected);
    }
}
