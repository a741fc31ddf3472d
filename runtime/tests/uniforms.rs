//! Operands bound as uniforms against the evaluator.

use crate::support::{self, compile};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};
use weft_partition::DeviceKind;
use weft_runtime::{Executable, Program};

/// Numbers of either sign, beyond the ends of what they index.
fn argument(shape: &ArrayShape, seed: i64) -> Literal {
    let count = shape.element_count().unwrap();
    let number = |element: i64| (element * 37 + seed * 11) % 101 - 50;
    let data = match shape.element_type {
        ElementType::S32 => Data::S32((0..count).map(|at| i32::try_from(number(at)).unwrap()).collect()),
        ElementType::U32 => Data::U32((0..count).map(|at| u32::try_from(number(at) + 50).unwrap()).collect()),
        ElementType::Pred => Data::Pred((0..count).map(|at| number(at) > 0).collect()),
        _ => Data::F32((0..count).map(|at| number(at) as f32 / 8.0).collect()),
    };
    Literal { shape: Shape::Array(ArrayShape::new(shape.element_type, shape.extents.clone())), data }
}

/// Runs a program on the device, as software would have it, and compares it with the evaluator; the names of its uniforms.
fn uniforms(instructions: &str) -> (Vec<String>, Program) {
    let device = support::device();
    let module = support::entry(instructions);
    let entry = module.entry_computation();
    let parameters = entry.parameters().into_iter();
    let shapes = parameters.map(|id| entry.instructions[id].shape.as_array().cloned().unwrap());
    let arguments: Vec<Literal> = (0..).zip(shapes).map(|(seed, shape)| argument(&shape, seed)).collect();
    let expected = evaluate(&module, &arguments).unwrap_or_else(|error| panic!("{error}\n{instructions}"));
    let target = device.target().clone().with(|target| target.kind = DeviceKind::Software);
    let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}\n{instructions}"));
    for shader in program.shaders() {
        assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.source);
    }
    let executable =
        Executable::new(&device, program.clone()).unwrap_or_else(|error| panic!("{error}\n{instructions}"));
    // Twice, so that what one run leaves in memory meets the next.
    for _ in 0..2 {
        let results = executable.run(&arguments).unwrap_or_else(|error| panic!("{error}\n{instructions}"));
        assert_eq!(results, expected, "{instructions}");
    }
    let bindings = program.shaders().iter().flat_map(|shader| &shader.bindings).filter(|binding| binding.uniform);
    (bindings.map(|binding| binding.name.clone()).collect(), program)
}

const GATHER: &str =
    "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}";

#[test]
fn what_is_added_to_each_row_is_a_uniform() {
    for columns in [1, 3, 4, 7, 64, 130] {
        for ty in ["f32", "s32", "u32"] {
            let text = format!(
                "x = {ty}[40,{columns}] parameter(0)\nb = {ty}[{columns}] parameter(1)\n\
                 c = {ty}[40,{columns}] broadcast(b), dimensions={{1}}\nROOT z = {ty}[40,{columns}] multiply(x, c)"
            );
            // One element is the same in all invocations.
            let expected: &[&str] = if columns == 1 { &[] } else { &["b"] };
            assert_eq!(uniforms(&text).0, expected, "{text}");
        }
    }
}

#[test]
fn tables_are_uniforms() {
    for (ty, elements) in ["f32", "s32", "u32"].into_iter().flat_map(|ty| [2, 5, 16, 30, 63].map(|of| (ty, of))) {
        let text = format!(
            "t = {ty}[{elements}] parameter(0)\ni = s32[300,1] parameter(1)\nROOT y = {ty}[300] gather(t, i), {GATHER}"
        );
        assert_eq!(uniforms(&text).0, ["t"], "{text}");
    }
}

#[test]
fn windows_and_products_read_uniforms() {
    let window = "x = f32[50] parameter(0)\nz = f32[] constant(0)\n\
                  ROOT y = f32[46] reduce-window(x, z), window={size=5}, to_apply=add";
    let add = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";
    let device = support::device();
    let target = device.target().clone().with(|target| target.kind = DeviceKind::Software);
    let module = support::module(&format!("HloModule test\n{add}ENTRY main {{\n{window}\n}}\n"));
    let argument = argument(&ArrayShape::new(ElementType::F32, [50]), 0);
    let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}"));
    assert!(program.shaders()[0].bindings[0].uniform, "{}", program.shaders()[0].source);
    let found = Executable::new(&device, program).unwrap().run(std::slice::from_ref(&argument)).unwrap();
    assert_eq!(found, evaluate(&module, &[argument]).unwrap());
    // Sums of so few products are no tiles.
    let product = "x = f32[40,3] parameter(0)\ny = f32[3,30] parameter(1)\n\
                   ROOT z = f32[40,30] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_eq!(uniforms(product).0, ["x", "y"]);
}

#[test]
fn a_tensor_is_a_uniform_of_one_kernel_and_updated_in_place_by_another() {
    let (names, program) = uniforms(&format!(
        "x = f32[64] parameter(0)\ni = s32[300,1] parameter(1)\nu = f32[5] parameter(2)\nat = s32[] parameter(3)\n\
         t = f32[64] dynamic-update-slice(x, u, at)\ny = f32[300] gather(t, i), {GATHER}\n\
         n = f32[64] dynamic-update-slice(t, u, at)\nROOT r = (f32[300], f32[64]) tuple(y, n)"
    ));
    let updated = program.launches().map(|launch| launch.updated.len()).sum::<usize>();
    assert!(!names.is_empty() && updated > 0, "{program}");
}

#[test]
fn what_is_updated_in_place_is_not_read_as_a_uniform() {
    // Every element of the update is one of the operand's.
    for update in ["reverse(s), dimensions={0}", "slice(s), slice={[2:34]}"] {
        let (_, program) = uniforms(
            &format!(
                "x = f32[64] parameter(0)\nat = s32[] parameter(1)\ns = f32[64] negate(x)\nh = f32[SIZE] {update}\n\
             ROOT y = f32[64] dynamic-update-slice(s, h, at)"
            )
            .replace("SIZE", if update.starts_with("slice") { "32" } else { "64" }),
        );
        for launch in program.launches() {
            for tensor in &launch.inputs {
                assert!(launch.outputs.iter().all(|output| output.buffer != tensor.buffer), "{program}");
            }
        }
    }
}

/// A condition that never holds may leave an index that is no element's, which naga refuses in arrays of a known length.
#[test]
fn what_is_never_read_has_an_index_all_the_same() {
    let (names, _) = uniforms(
        "c = pred[7,5] parameter(0)
        v = s1[7,5] convert(c)
        o = s1[] constant(-1)
        ROOT p = s1[10,9] pad(v, o), padding=2_1_0x2_-2_1",
    );
    assert!(names.len() <= 1, "{names:?}");
}
