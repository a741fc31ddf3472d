//! Fourier transforms, whose dots say which matrix they multiply by.

use weft_hlo::ir::{Attribute, Op};
use weft_hlo::passes::{FourierMatrix, FourierParts};
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, Fusing, Product, Target, fuse, fuse_with};

fn fused(text: &str, preset: &str) -> Fused {
    fuse(&parse(text).unwrap(), &Target::preset(preset).unwrap())
        .unwrap_or_else(|findings| panic!("{findings}\n{text}"))
}

/// The products of all kernels.
fn products(fused: &Fused) -> Vec<Product> {
    let product = |site| match fused.instruction(site)?.op {
        Op::Fusion { calls, .. } => match fused.plan(calls)?.emitter() {
            Emitter::Product(product) => Some(product),
            _ => None,
        },
        _ => None,
    };
    fused.fusions().filter_map(product).collect()
}

fn transform(extents: &str, length: i64, kind: &str) -> String {
    format!(
        "HloModule m\n\nENTRY e {{\n  x = c64[{extents}] parameter(0)\n  ROOT y = c64[{extents}] fft(x), fft_type={kind}, fft_length={{{length}}}\n}}\n"
    )
}

#[test]
fn steps_are_written_out_in_software_and_tiles_on_gpus() {
    for (extents, length) in [("65536", 65536), ("7,4096", 4096), ("5,1000", 1000)] {
        let text = transform(extents, length, "FFT");
        let software = products(&fused(&text, "software"));
        assert!(software.len() >= 3, "{software:?}");
        for product in &software {
            assert!(product.transforms && product.tile[0] == product.rows, "{product}");
            assert!(product.to_string().contains(" transforms "), "{product}");
        }
        let discrete = products(&fused(&text, "discrete"));
        assert!(!discrete.is_empty() && discrete.iter().all(|product| !product.transforms), "{discrete:?}");
    }
}

/// The four sums of a large prime are too many operations for a kernel.
#[test]
fn steps_of_many_operations_go_through_tiles() {
    let product = products(&fused(&transform("64,61", 61, "FFT"), "software"));
    assert!(product.iter().all(|product| !product.transforms), "{product:?}");
}

/// A constant that is no such matrix, and one that the program does not know, are multiplied by as they are, whatever the dot says.
#[test]
fn what_dots_say_is_verified() {
    let matrix = FourierMatrix { order: 4, inverse: false, parts: FourierParts::Real, divisor: 1 };
    let list = |values: &[f64]| {
        let rows =
            values.chunks(4).map(|row| format!("{{{}}}", row.iter().map(f64::to_string).collect::<Vec<_>>().join(",")));
        format!("{{{}}}", rows.collect::<Vec<_>>().join(","))
    };
    let of = |constant: String| {
        format!(
            "HloModule m\n\nENTRY e {{\n  x = f32[4,64] parameter(0)\n  a = f32[4,4] {constant}\n  \
             ROOT y = f32[4,64] dot(a, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, frontend_attributes={{weft_fourier_matrix=\"{matrix}\"}}\n}}\n"
        )
    };
    let mut values = matrix.values();
    let marked = |text: &str| {
        let fused = fused(text, "software");
        let all = fused.module.computations.values().flat_map(|computation| computation.instructions.values().cloned());
        let mut dots = all.filter(|instruction| matches!(instruction.op, Op::Dot { .. }));
        let says = |attribute: &Attribute| attribute.value.contains("weft_fourier_matrix");
        dots.any(|dot| dot.attributes.iter().any(says))
    };
    assert!(marked(&of(format!("constant({})", list(&values)))));
    assert!(!marked(&of("parameter(1)".to_owned())));
    values[5] = 0.25;
    assert!(!marked(&of(format!("constant({})", list(&values)))));
}

/// Both are the same operations but for the constants that are in the code.
#[test]
fn kernels_of_other_matrices_are_others() {
    let text = "HloModule m\n\nENTRY e {\n  x = c64[256] parameter(0)\n  y = c64[256] fft(x), fft_type=FFT, fft_length={256}\n  \
                z = c64[256] fft(x), fft_type=IFFT, fft_length={256}\n  ROOT r = (c64[256], c64[256]) tuple(y, z)\n}\n";
    let target = Target::preset("software").unwrap();
    let fused = fuse_with(&parse(text).unwrap(), &target, Fusing::default()).unwrap();
    let sites: Vec<_> = fused.fusions().collect();
    let says = |site| {
        let Op::Fusion { calls, .. } = fused.instruction(site).unwrap().op else { return Vec::new() };
        let computation = &fused.module.computations[calls];
        computation.instructions.ids().filter_map(|dot| FourierMatrix::of(computation, dot)).collect()
    };
    for (number, first) in fused.alike(&sites).into_iter().enumerate() {
        assert_eq!(says(sites[number]), says(sites[first]));
    }
}
