//! Arguments whose memory a program takes.

use crate::support::{self, ROUNDS, device};
use std::collections::BTreeSet;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_partition::Schedule;
use weft_runtime::program::{BufferKind, Donated, Step};
use weft_runtime::{Argument, Device, DeviceBuffer, Error, Executable, Options, Program, compile_with};

/// A row of a table is replaced; the table is a part of a tuple.
const ROW: &str = "
HloModule m, input_output_alias={ {0}: (0, {1}, may-alias) }

ENTRY main {
  state = (s32[4], f32[6,4]) parameter(0)
  at = s32[] parameter(1)
  row = s32[4] get-tuple-element(state), index=0
  floats = f32[4] convert(row)
  rows = f32[1,4] reshape(floats)
  table = f32[6,4] get-tuple-element(state), index=1
  zero = s32[] constant(0)
  next = f32[6,4] dynamic-update-slice(table, rows, at, zero)
  ROOT all = (f32[6,4]) tuple(next)
}";

fn compiled(text: &str, device: &Device, donated: Donated) -> (Module, Program) {
    let module = support::module(text);
    let options = Options { donated, host: false, ..Options::default() };
    let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
    (module, program)
}

fn row_inputs() -> [Literal; 3] {
    let table: Vec<f32> = (0..24u8).map(f32::from).collect();
    [
        Literal::array([4], vec![7i32, 8, 9, -1]),
        Literal::array([6, 4], table),
        Literal::array([] as [i64; 0], vec![2i32]),
    ]
}

fn uploaded(device: &Device, literals: &[Literal]) -> Vec<DeviceBuffer> {
    literals.iter().map(|literal| DeviceBuffer::upload(device, literal).unwrap()).collect()
}

fn data(buffers: &[DeviceBuffer]) -> Vec<Data> {
    buffers.iter().map(|buffer| buffer.download().unwrap().data).collect()
}

fn copies(program: &Program) -> usize {
    program.steps().iter().filter(|step| matches!(step, Step::Copy(_))).count()
}

#[test]
fn what_the_module_gives_away_is_updated_in_place() {
    let device = device();
    let (module, program) = compiled(ROW, &device, Donated::AsGiven);
    assert_eq!(copies(&program), 0, "{program}");
    let kinds: Vec<BufferKind> = program.buffers().iter().map(|buffer| buffer.kind).collect();
    assert_eq!(kinds[1], BufferKind::Donated(1), "{program}");
    assert_eq!(program.results()[0].buffer, program.parameters()[1].buffer, "{program}");
    let inputs = row_inputs();
    let expected: Vec<Data> = evaluate(&module, &inputs).unwrap().into_iter().map(|literal| literal.data).collect();
    let executable = Executable::new(&device, program).unwrap();
    let arguments = uploaded(&device, &inputs);
    // Borrowed: all of it stays.
    assert_eq!(data(&executable.execute(&arguments).unwrap()), expected);
    assert_eq!(data(&arguments), inputs.clone().map(|literal| literal.data));
    // Donated: the result lies where the table did.
    let [row, table, at] = <[DeviceBuffer; 3]>::try_from(arguments).unwrap();
    let memory = table.wgpu_buffer().clone();
    let results = executable.execute_with(vec![(&row).into(), table.into(), at.into()]).unwrap();
    assert_eq!(data(&results), expected);
    assert_eq!(*results[0].wgpu_buffer(), memory);
}

#[test]
fn what_nobody_gives_away_is_copied_first() {
    let text = ROW.replace(", input_output_alias={ {0}: (0, {1}, may-alias) }", "");
    let (_, program) = compiled(&text, &device(), Donated::AsGiven);
    assert_eq!(copies(&program), 1, "{program}");
    let (_, program) = compiled(&text, &device(), Donated::Also(BTreeSet::from([1])));
    assert_eq!(copies(&program), 0, "{program}");
}

#[test]
fn what_something_else_holds_is_not_given_away() {
    let device = device();
    let (_, program) = compiled(ROW, &device, Donated::AsGiven);
    let executable = Executable::new(&device, program).unwrap();
    let [row, table, at] = <[DeviceBuffer; 3]>::try_from(uploaded(&device, &row_inputs())).unwrap();
    let clone = table.clone();
    let refused = executable.execute_with(vec![(&row).into(), table.into(), (&at).into()]).unwrap_err();
    assert_eq!(refused.code(), "RUN033", "{refused}");
    // The refused argument is gone, its clone is whole.
    let results = executable.execute_with(vec![(&row).into(), clone.into(), (&at).into()]).unwrap();
    assert_eq!(results.len(), 1);
}

#[test]
fn an_argument_that_there_is_not_cannot_be_donated() {
    let options = Options { donated: Donated::Also(BTreeSet::from([3])), ..Options::default() };
    let refused = compile_with(&support::module(ROW), device().target(), &options).unwrap_err();
    assert!(matches!(refused, Error::Donation { number: 3, .. }), "{refused}");
}

#[test]
fn a_buffer_of_another_owner_is_copied() {
    let device = device();
    let (module, program) = compiled(ROW, &device, Donated::All);
    let executable = Executable::new(&device, program).unwrap();
    let inputs = row_inputs();
    let foreign = device.wgpu_device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 96,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let Data::F32(values) = &inputs[1].data else { unreachable!("the table is of floats") };
    device.wgpu_queue().write_buffer(&foreign, 0, bytemuck::cast_slice(values));
    let shape = inputs[1].shape.as_array().unwrap().clone();
    let table = DeviceBuffer::from_wgpu(&device, foreign.clone(), shape.clone()).unwrap();
    let [row, _, at] = <[DeviceBuffer; 3]>::try_from(uploaded(&device, &inputs)).unwrap();
    let results = executable.execute_with(vec![row.into(), table.into(), at.into()]).unwrap();
    assert_eq!(data(&results)[0], evaluate(&module, &inputs).unwrap()[0].data);
    let own = DeviceBuffer::from_wgpu(&device, foreign, shape).unwrap();
    assert_eq!(own.download().unwrap().data, inputs[1].data);
}

/// Each of many tensors takes a step; what comes out lies where one lay whose step is done.
#[test]
fn results_lie_where_arguments_did() {
    // Windows are kernels of their own: what has one result lies where an argument did that it does not read.
    let mut text = String::from(
        "HloModule m\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\
         ENTRY main {\n  zero = f32[] constant(0)\n",
    );
    let count = 8;
    for number in 0..count {
        text += &format!("  p{number} = f32[4096] parameter({number})\n");
    }
    let mut last = String::from("p0");
    for number in 0..count {
        // A barrier keeps the steps apart.
        text += &format!("  t{number} = (f32[4096], f32[4096]) tuple(p{number}, {last})\n");
        text += &format!("  b{number} = (f32[4096], f32[4096]) opt-barrier(t{number})\n");
        text += &format!("  x{number} = f32[4096] get-tuple-element(b{number}), index=0\n");
        text += &format!("  y{number} = f32[4096] get-tuple-element(b{number}), index=1\n");
        text += &format!("  r{number} = f32[4096] add(x{number}, y{number})\n");
        text += &format!(
            "  n{number} = f32[4096] reduce-window(r{number}, zero), window={{size=2 pad=0_1}}, to_apply=sum\n"
        );
        last = format!("n{number}");
    }
    let results: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
    let shapes = vec!["f32[4096]"; count].join(", ");
    text += &format!("  ROOT all = ({shapes}) tuple({})\n}}", results.join(", "));
    let device = device();
    let (module, program) = compiled(&text, &device, Donated::All);
    let totals = program.totals();
    assert_eq!(totals.least, (count as u64 + 1) * 4096 * 4, "{program}");
    assert_eq!(totals.allocated(), totals.least, "{program}");
    let (_, kept) = compiled(&text, &device, Donated::AsGiven);
    assert_eq!(kept.totals().allocated(), 2 * count as u64 * 4096 * 4, "{kept}");
    let inputs: Vec<Literal> = (0..count)
        .map(|number| Literal::array([4096], (0..4096u16).map(|at| f32::from(at) * number as f32).collect::<Vec<_>>()))
        .collect();
    let expected = evaluate(&module, &inputs).unwrap();
    let actual = Executable::new(&device, program).unwrap().run(&inputs).unwrap();
    assert_eq!(actual, expected);
}

#[test]
fn the_state_of_a_loop_starts_where_the_argument_lies() {
    let device = device();
    let (module, program) = compiled(ROUNDS, &device, Donated::All);
    // The counter starts from a constant, which stays: the loop, one kernel, reads it and writes another.
    assert_eq!(copies(&program), 0, "{program}");
    assert_eq!(program.results()[0].buffer, program.parameters()[0].buffer, "{program}");
    let input = Literal::array([64], (0..64u8).map(f32::from).collect::<Vec<_>>());
    let expected = evaluate(&module, std::slice::from_ref(&input)).unwrap();
    let executable = Executable::new(&device, program).unwrap();
    let argument = DeviceBuffer::upload(&device, &input).unwrap();
    let results = executable.execute_with(vec![Argument::Borrowed(&argument)]).unwrap();
    assert_eq!(data(&results)[0], expected[0].data);
    assert_eq!(argument.download().unwrap().data, input.data);
    let results = executable.execute_with(vec![argument.into()]).unwrap();
    assert_eq!(data(&results)[0], expected[0].data);
}

/// A result may take the memory of an argument that its kernel reads in another order, so to the program: none of it is written before all of it has been read.
#[test]
fn what_is_transposed_is_read_before_it_is_written() {
    let device = device();
    for (extent, rounds) in [(8, 0), (33, 0), (64, 0), (96, 0), (40, 5), (64, 5)] {
        let square = format!("u32[{extent},{extent}]");
        let step = format!(
            "t = {square} transpose(x), dimensions={{1,0}}\n  s = {square} add(t, x)\n  u = {square} add(s, t)"
        );
        let text = match rounds {
            0 => format!(
                "HloModule m, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}\nENTRY e {{\n  x = {square} parameter(0)\n  {step}\n  ROOT r = {square} negate(u)\n}}"
            ),
            _ => format!(
                "HloModule m, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}
body {{\n  p = (s32[], {square}) parameter(0)\n  k = s32[] get-tuple-element(p), index=0\n  x = {square} get-tuple-element(p), index=1
  one = s32[] constant(1)\n  n = s32[] add(k, one)\n  {step}\n  ROOT r = (s32[], {square}) tuple(n, u)\n}}
test {{\n  p = (s32[], {square}) parameter(0)\n  k = s32[] get-tuple-element(p), index=0\n  l = s32[] constant({rounds})
  ROOT c = pred[] compare(k, l), direction=LT\n}}
ENTRY e {{\n  x = {square} parameter(0)\n  zero = s32[] constant(0)\n  s = (s32[], {square}) tuple(zero, x)
  w = (s32[], {square}) while(s), condition=test, body=body\n  ROOT r = {square} get-tuple-element(w), index=1\n}}"
            ),
        };
        let module = support::module(&text);
        let values: Vec<u32> = (0..extent * extent).map(|at| at * 7919 % 1009).collect();
        let input = Literal::array([i64::from(extent); 2], values);
        let expected = evaluate(&module, std::slice::from_ref(&input)).unwrap();
        for schedule in [Schedule::Gpu, Schedule::Software] {
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let options = Options { donated: Donated::All, host: false, ..Options::default() };
            let program = compile_with(&module, &target, &options).unwrap_or_else(|error| panic!("{error}"));
            let told = program.to_string();
            let executable = Executable::new(&device, program).unwrap();
            let given = DeviceBuffer::upload(&device, &input).unwrap();
            let results = executable.execute_with(vec![given.into()]).unwrap();
            assert_eq!(data(&results)[0], expected[0].data, "{extent}, {schedule}\n{told}");
        }
    }
}
