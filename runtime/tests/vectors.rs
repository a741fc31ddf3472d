//! Kernels of vectors against the evaluator: what lies side by side, what does not, and tails.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use crate::support::{self, compile};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Module, Shape};
use weft_runtime::{Device, DeviceBuffer, Executable};

/// Numbers of either sign that differ from element to element.
fn argument(shape: &ArrayShape, seed: i64) -> Literal {
    let count = shape.element_count().expect("it is static");
    let number = |element: i64| (element * 37 + seed * 11) % 101 - 50;
    let data = match shape.element_type {
        ElementType::S32 => Data::S32((0..count).map(|at| i32::try_from(number(at)).expect("it is small")).collect()),
        ElementType::U32 => Data::U32((0..count).map(|at| u32::try_from(number(at) + 50).expect("it is")).collect()),
        ElementType::Pred => Data::Pred((0..count).map(|at| number(at) > 0).collect()),
        _ => Data::F32((0..count).map(|at| number(at) as f32 / 8.0).collect()),
    };
    Literal { shape: Shape::Array(ArrayShape::new(shape.element_type, shape.extents.clone())), data }
}

fn check(device: &Device, name: &str, module: &Module) -> usize {
    let entry = module.entry_computation();
    let shapes = entry.parameters().into_iter().map(|id| entry.instructions[id].shape.as_array().cloned());
    let shapes: Vec<ArrayShape> = shapes.map(|shape| shape.expect("arguments are arrays")).collect();
    let arguments: Vec<Literal> = (0..).zip(&shapes).map(|(seed, shape)| argument(shape, seed)).collect();
    let expected = evaluate(module, &arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
    let program = compile(module, device.target()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let vectors = program.shaders().iter().filter(|shader| shader.source.contains("array<vec4<")).count();
    let unproved: Vec<_> = program.shaders().iter().flat_map(|shader| shader.proofs().unproved.clone()).collect();
    assert!(unproved.is_empty(), "{name}: {unproved:?}");
    let executable = Executable::new(device, program).unwrap_or_else(|error| panic!("{name}: {error}"));
    let upload = |argument: &Literal| DeviceBuffer::upload(device, argument).expect("it fits");
    let buffers: Vec<DeviceBuffer> = arguments.iter().map(upload).collect();
    // Twice, so that what one run leaves in memory meets the next.
    for _ in 0..2 {
        let results = executable.execute(&buffers).unwrap_or_else(|error| panic!("{name}: {error}"));
        let results: Vec<Literal> = results.iter().map(|one| one.download().expect("it is read back")).collect();
        assert_eq!(results, expected, "{name}");
    }
    vectors
}

#[test]
fn vectors_compute_what_the_evaluator_does() {
    let device = support::device();
    let mut vectors = 0;
    for columns in [16, 18, 23, 64] {
        let wide = columns + 12;
        for (name, text) in [
            ("sum", "x = f32[9,C] parameter(0)\ny = f32[9,C] parameter(1)\nROOT z = f32[9,C] add(x, y)".to_owned()),
            ("bias", "x = f32[9,C] parameter(0)\nb = f32[C] parameter(1)\nc = f32[9,C] broadcast(b), dimensions={1}\nROOT z = f32[9,C] multiply(x, c)".to_owned()),
            ("scale", "x = f32[9,C] parameter(0)\nb = f32[9] parameter(1)\nc = f32[9,C] broadcast(b), dimensions={0}\nROOT z = f32[9,C] subtract(x, c)".to_owned()),
            ("chosen", "x = f32[9,C] parameter(0)\np = pred[9,C] parameter(1)\nz = f32[] constant(0)\nb = f32[9,C] broadcast(z), dimensions={}\nROOT y = f32[9,C] select(p, x, b)".to_owned()),
            ("compared", "x = s32[9,C] parameter(0)\ny = s32[9,C] parameter(1)\nROOT z = pred[9,C] compare(x, y), direction=LT".to_owned()),
            ("numbered", "x = s32[9,C] parameter(0)\ni = s32[9,C] iota(), iota_dimension=1\nROOT z = s32[9,C] divide(x, i)".to_owned()),
            ("converted", "x = f32[9,C] parameter(0)\ni = s32[9,C] convert(x)\nROOT z = s32[9,C] negate(i)".to_owned()),
            ("greater", "x = f32[9,C] parameter(0)\ny = f32[9,C] parameter(1)\nROOT z = f32[9,C] maximum(x, y)".to_owned()),
            ("pad", "x = f32[9,C] parameter(0)\nv = f32[] constant(3)\nROOT z = f32[12,W] pad(x, v), padding=2_1x4_8".to_owned()),
            ("odd pad", "x = f32[9,C] parameter(0)\nv = f32[] constant(0)\nw = f32[12,W] pad(x, v), padding=2_1x3_9\nROOT z = f32[12,W] add(w, w)".to_owned()),
            ("slice", "x = f32[9,W] parameter(0)\nROOT z = f32[8,C] slice(x), slice={[1:9], [4:D]}".to_owned()),
            ("reversed", "x = f32[9,C] parameter(0)\ny = f32[9,C] parameter(1)\nr = f32[9,C] reverse(x), dimensions={0,1}\nROOT z = f32[9,C] add(r, y)".to_owned()),
            ("transposed", "x = f32[C,9] parameter(0)\ny = f32[9,C] parameter(1)\nz = f32[9,C] parameter(2)\nt = f32[9,C] transpose(x), dimensions={1,0}\na = f32[9,C] add(t, y)\nROOT s = f32[9,C] add(a, z)".to_owned()),
            ("joined", "x = f32[9,C] parameter(0)\ny = f32[9,12] parameter(1)\nROOT z = f32[9,W] concatenate(x, y), dimensions={1}".to_owned()),
            ("rows", "x = f32[20,C] parameter(0)\ni = s32[9,1] parameter(1)\nROOT z = f32[9,C] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,C}".to_owned()),
            ("elements", "x = f32[C] parameter(0)\ni = s32[90,1] parameter(1)\nROOT z = f32[90] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}".to_owned()),
        ] {
            let text = text.replace('C', &columns.to_string()).replace('W', &wide.to_string());
            let text = text.replace('D', &(columns + 4).to_string());
            vectors += check(&device, &format!("{name} of {columns}"), &support::entry(&text));
        }
    }
    assert!(vectors > 30 || device.target().kind != weft_partition::DeviceKind::Software, "{vectors}");
}
