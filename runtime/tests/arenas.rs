//! Many small arguments and results, which lie side by side.

use crate::count::cases;
use crate::support::{self, compile, device};
use proptest::prelude::*;
use std::fmt::Write;
use weft_hlo::eval::{converted, evaluate};
use weft_hlo::ir::{Data, Literal, Module, Shape};
use weft_runtime::program::{BufferKind, Place, Step, Tensor};
use weft_runtime::{Argument, Device, DeviceBuffer, Error, Executable, Program};

/// A step of an optimizer over parameters of these shapes, with momenta, and the sum of the first gradient: all numbers are small and whole, so that they are exact in any order.
fn step(shapes: &[(&str, &str)], attributes: &str) -> Module {
    let (mut lines, mut results, mut number) = (String::new(), Vec::new(), 0);
    for (k, (ty, extents)) in shapes.iter().enumerate() {
        let shape = format!("{ty}[{extents}]");
        for name in ["p", "m", "g"] {
            writeln!(lines, "  {name}{k} = {shape} parameter({number})").unwrap();
            number += 1;
        }
        writeln!(lines, "  next_m{k} = {shape} add(m{k}, g{k})").unwrap();
        writeln!(lines, "  next_p{k} = {shape} subtract(p{k}, next_m{k})").unwrap();
        results.extend([("next_p", k, shape.clone()), ("next_m", k, shape)]);
    }
    let (ty, extents) = shapes[0];
    let dimensions: Vec<String> = (0..extents.split(',').count()).map(|dimension| dimension.to_string()).collect();
    writeln!(lines, "  zero = {ty}[] constant(0)").unwrap();
    writeln!(lines, "  loss = {ty}[] reduce(g0, zero), dimensions={{{}}}, to_apply=sum", dimensions.join(",")).unwrap();
    let mut types: Vec<&str> = results.iter().map(|(_, _, shape)| shape.as_str()).collect();
    let loss = format!("{ty}[]");
    types.push(&loss);
    let names: Vec<String> = results.iter().map(|(name, k, _)| format!("{name}{k}")).collect();
    let text = format!(
        "HloModule step{attributes}\n\nsum {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT c = {ty}[] add(a, b)\n}}\n\n\
         ENTRY main {{\n{lines}  ROOT all = ({}) tuple({}, loss)\n}}\n",
        types.join(", "),
        names.join(", ")
    );
    support::module(&text)
}

/// Compiled for the device, with no more than so many buffers a kernel.
fn narrow(module: &Module, device: &Device, buffers: u32) -> Program {
    let buffers = buffers.min(device.target().max_storage_buffers);
    let target = device.target().clone().with(|target| target.max_storage_buffers = buffers);
    compile(module, &target).unwrap_or_else(|error| panic!("{error}"))
}

/// Whole numbers from 0 to 7 for each parameter, from a seed.
fn arguments(program: &Program, seed: u32) -> Vec<Literal> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 29)
    };
    let argument = |tensor: &Tensor| {
        let numbers: Vec<f64> = (0..tensor.shape.element_count().unwrap()).map(|_| next()).collect();
        let data = converted(&Data::from(numbers), tensor.shape.element_type).unwrap();
        Literal { shape: Shape::Array(tensor.shape.clone()), data }
    };
    program.parameters().iter().map(argument).collect()
}

fn data(buffers: &[DeviceBuffer]) -> Vec<Data> {
    buffers.iter().map(|buffer| buffer.download().unwrap().data).collect()
}

fn expected(module: &Module, inputs: &[Literal]) -> Vec<Data> {
    evaluate(module, inputs).unwrap().into_iter().map(|literal| literal.data).collect()
}

const SHAPES: [(&str, &str); 12] = [
    ("f32", "64"),
    ("f32", "8,24"),
    ("f32", "10"),
    ("s32", "7"),
    ("bf16", "5,5"),
    ("f32", "3,3,4,2"),
    ("s32", "16"),
    ("f32", "1"),
    ("bf16", "64"),
    ("f32", "100"),
    ("f32", "33"),
    ("s32", "3"),
];

#[test]
fn what_would_be_many_launches_is_few() {
    let device = device();
    let module = step(&SHAPES, "");
    let program = narrow(&module, &device, 10);
    let launches = program.launches().count();
    // One for all updates, one for the sum, and no copy.
    assert_eq!(program.steps().len(), launches, "{program}");
    assert!(launches <= 2, "{program}");
    let inputs = arguments(&program, 1);
    let executable = Executable::new(&device, program).unwrap();
    let results: Vec<Data> = executable.run(&inputs).unwrap().into_iter().map(|literal| literal.data).collect();
    assert_eq!(results, expected(&module, &inputs));
}

#[test]
fn results_are_the_next_arguments_as_they_lie() {
    let device = device();
    let module = step(&SHAPES[..3], "");
    let program = narrow(&module, &device, 4);
    assert!(program.steps().iter().all(|step| matches!(step, Step::Launch(_))), "{program}");
    let place =
        |number: usize| -> Option<Place> { program.buffers()[program.parameters()[number].buffer.index()].place };
    let places: Vec<Option<Place>> = (0..9).map(place).collect();
    assert!(places.iter().all(Option::is_some), "{program}");
    let mut inputs = arguments(&program, 2);
    let executable = Executable::new(&device, program.clone()).unwrap();
    let mut held = executable.upload(&inputs).unwrap();
    for round in 0..3 {
        let results = match round {
            // Given away or lent, nobody copies.
            1 => {
                let given = held.iter().enumerate();
                let given = given.map(|(k, it)| if k % 3 == 2 { it.into() } else { it.clone().into() });
                executable.execute_with(given.collect::<Vec<Argument<'_>>>()).unwrap()
            }
            _ => executable.execute(&held).unwrap(),
        };
        let wanted = evaluate(&module, &inputs).unwrap();
        assert_eq!(data(&results), wanted.iter().map(|literal| literal.data.clone()).collect::<Vec<_>>());
        for k in 0..3 {
            for (result, parameter) in [(2 * k, 3 * k), (2 * k + 1, 3 * k + 1)] {
                assert_eq!(results[result].wgpu_buffer(), results[0].wgpu_buffer(), "{program}");
                assert_eq!(Some(results[result].offset()), places[parameter].map(|place| place.offset), "{program}");
                inputs[parameter] = wanted[result].clone();
                held[parameter] = results[result].clone();
            }
        }
    }
}

#[test]
fn arguments_from_anywhere_are_copied_to_their_places() {
    let device = device();
    let module = step(&SHAPES[..6], ", input_output_alias={ {0}: (0, {}, may-alias), {3}: (4, {}, may-alias) }");
    let program = narrow(&module, &device, 9);
    assert!(program.arenas().iter().any(|arena| matches!(arena.kind, BufferKind::Parameter(_))), "{program}");
    let inputs = arguments(&program, 3);
    let lies_in_arena = |tensor: &Tensor| program.buffers()[tensor.buffer.index()].place.is_some();
    let shared = program.parameters().iter().position(lies_in_arena).expect("one does");
    let executable = Executable::new(&device, program).unwrap();
    let upload = |literal: &Literal| DeviceBuffer::upload(&device, literal).unwrap();
    let alone: Vec<DeviceBuffer> = inputs.iter().map(upload).collect();
    let wanted = expected(&module, &inputs);
    assert_eq!(data(&executable.execute(&alone).unwrap()), wanted);
    assert_eq!(data(&alone), inputs.iter().map(|literal| literal.data.clone()).collect::<Vec<_>>());
    // Some side by side, some not; all but one given away.
    let mut mixed = executable.upload(&inputs).unwrap();
    mixed[4] = upload(&inputs[4]);
    let (kept, given) = (mixed[shared].clone(), mixed);
    let given = given.into_iter().map(Argument::Donated).collect();
    assert_eq!(data(&executable.execute_with(given).unwrap()), wanted);
    assert_eq!(kept.download().unwrap().data, inputs[shared].data);
    // What is recorded finds them as well.
    let mut encoder = device.wgpu_device().create_command_encoder(&Default::default());
    let results = executable.record(&mut encoder, alone.iter().map(Argument::Borrowed).collect()).unwrap();
    device.wgpu_queue().submit([encoder.finish()]);
    assert_eq!(data(&results), wanted);
}

#[test]
fn programs_with_arenas_are_written_and_read() {
    let device = device();
    let module = step(&SHAPES[..6], "");
    let program = narrow(&module, &device, 6);
    let text = program.text();
    let read = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.text(), text);
    let inputs = arguments(&program, 4);
    let executable = Executable::new(&device, read).unwrap();
    let results: Vec<Data> = executable.run(&inputs).unwrap().into_iter().map(|literal| literal.data).collect();
    assert_eq!(results, expected(&module, &inputs));
    // A kernel that looks elsewhere than its tensors lie is refused, and so are tensors one upon the other.
    let moved = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        Program::parse(&text.replacen(from, to, 1)).map(|_| ()).unwrap_err()
    };
    let place = " in arena 0 at 256";
    for error in [moved(place, " in arena 0 at 0"), moved(place, " in arena 0 at 1048576"), moved(place, "")] {
        assert!(matches!(error, Error::ProgramText { .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(cases(6)).unwrap(), ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_tensors_of_any_types_is_updated(
        picked in prop::collection::vec(0usize..SHAPES.len(), 2..14),
        buffers in 4u32..16,
        seed in any::<u32>(),
    ) {
        let device = device();
        let shapes: Vec<(&str, &str)> = picked.into_iter().map(|one| SHAPES[one]).collect();
        let module = step(&shapes, "");
        let program = narrow(&module, &device, buffers);
        let inputs = arguments(&program, seed);
        let executable = Executable::new(&device, program.clone()).unwrap();
        let mut held = executable.upload(&inputs).unwrap();
        let mut values = inputs;
        for _ in 0..2 {
            let results = executable.execute(&held).unwrap();
            let wanted = evaluate(&module, &values).unwrap();
            let found = data(&results);
            prop_assert!(found.iter().zip(&wanted).all(|(found, wanted)| *found == wanted.data), "{}", program);
            for k in 0..shapes.len() {
                for (result, parameter) in [(2 * k, 3 * k), (2 * k + 1, 3 * k + 1)] {
                    values[parameter] = wanted[result].clone();
                    held[parameter] = results[result].clone();
                }
            }
        }
    }
}
