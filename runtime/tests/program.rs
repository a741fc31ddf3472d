//! Programs: schedules and buffers, without any device.

use crate::program_text::read_again;
use crate::support::{self, compile};
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;
use weft_hlo::ir::{InstrId, Module, Op};
use weft_partition::Target;
use weft_runtime::program::{BufferId, BufferKind, Place, Step, Tensor};
use weft_runtime::{Error, Options, Program, compile_with};

/// Follows the steps and the contents of each buffer: every launch has to find in its input buffers what it is said
/// to read, may write only where nothing it reads lies, and the results must still be there at the end. What is updated in place has to
/// be there as well. Every loop makes two rounds, and every branch is taken, each as if the others were not there.
fn check_buffers(program: &Program) {
    let mut holds = Holds::new();
    let constants = program.constants().map(|(tensor, _)| tensor);
    for tensor in program.parameters().iter().chain(constants) {
        holds.insert(tensor.buffer.index(), tensor.name.clone());
    }
    follow(program, program.steps(), &mut holds);
    check_arenas(program);
    for result in program.results() {
        assert!(result.bytes == 0 || holds.get(&result.buffer.index()) == Some(&result.name));
        assert_ne!(program.buffers()[result.buffer.index()].kind, BufferKind::Temporary);
    }
}

/// That what lies in one buffer of the device lies apart there, and that no launch and no copy reads one part of it and writes another, which wgpu refuses.
fn check_arenas(program: &Program) {
    let buffers = program.buffers();
    let arenas = program.arenas();
    let mut bytes = vec![0; arenas.len()];
    for (number, buffer) in buffers.iter().enumerate() {
        let Some(place) = buffer.place else { continue };
        assert!(place.offset % 256 == 0 && place.offset + buffer.bytes <= arenas[place.arena as usize].bytes);
        let is_result = program.results().iter().any(|result| result.buffer.index() == number);
        assert!(!is_result || buffer.kind == BufferKind::Result || matches!(buffer.kind, BufferKind::Parameter(_)));
        for other in &buffers[number + 1..] {
            let lies_apart = other.place.is_none_or(|other_place| {
                let [first, second] = [(place, buffer.bytes), (other_place, other.bytes)];
                let is_before = |a: (Place, u64), b: (Place, u64)| a.0.offset + a.1 <= b.0.offset;
                place.arena != other_place.arena || is_before(first, second) || is_before(second, first)
            });
            assert!(lies_apart, "{program}");
        }
        bytes[place.arena as usize] += buffer.bytes;
    }
    // No byte more than the buffers take, but where the next run's arguments may lie differently.
    for (arena, bytes) in arenas.iter().zip(bytes) {
        let has_gaps = matches!(arena.kind, BufferKind::Parameter(_) | BufferKind::Result);
        assert!(arena.bytes == bytes || has_gaps && arena.bytes > bytes, "{program}");
    }
    let arena = |tensor: &Tensor| buffers[tensor.buffer.index()].place.map(|place| place.arena);
    let differ = |read: &Tensor, written: &Tensor| {
        assert!(arena(read).is_none() || arena(read) != arena(written), "{} {}\n{program}", read.name, written.name);
    };
    for launch in program.launches() {
        launch.inputs.iter().for_each(|input| launch.outputs.iter().for_each(|output| differ(input, output)));
    }
    let mut pending: Vec<&Step> = program.steps().iter().collect();
    while let Some(step) = pending.pop() {
        match step {
            Step::Copy(copy) => differ(&copy.from, &copy.to),
            Step::While(step) => pending.extend(step.condition.iter().chain(&step.body)),
            Step::Conditional(step) => pending.extend(step.branches.iter().flatten()),
            _ => {}
        }
    }
}

/// What lies in each buffer, by name.
type Holds = HashMap<usize, String>;

fn follow(program: &Program, steps: &[Step], holds: &mut Holds) {
    let is_writable =
        |buffer: usize| matches!(program.buffers()[buffer].kind, BufferKind::Result | BufferKind::Temporary);
    let expect = |holds: &Holds, tensor: &Tensor, reader: &str| {
        let held = holds.get(&tensor.buffer.index());
        assert!(tensor.bytes == 0 || held == Some(&tensor.name), "{reader}: {} {held:?}\n{program}", tensor.name);
    };
    for step in steps {
        let launch = match step {
            Step::Launch(launch) => launch,
            Step::Copy(copy) => {
                assert_ne!(copy.from.buffer, copy.to.buffer);
                expect(holds, &copy.from, "copy");
                assert!(is_writable(copy.to.buffer.index()) && copy.from.bytes == copy.to.bytes);
                holds.insert(copy.to.buffer.index(), copy.from.name.clone());
                continue;
            }
            Step::While(step) => {
                for round in 0..3 {
                    for carried in &step.carried {
                        assert!(is_writable(carried.buffer.index()));
                        holds.insert(carried.buffer.index(), carried.name.clone());
                    }
                    follow(program, &step.condition, holds);
                    step.flag.iter().for_each(|flag| expect(holds, flag, &step.name));
                    if round < 2 {
                        follow(program, &step.body, holds);
                        let before = holds.clone();
                        for exchange in &step.exchanges {
                            let [to, from] = [exchange.buffer, exchange.with].map(BufferId::index);
                            let bytes = [to, from].map(|buffer| program.buffers()[buffer].bytes);
                            assert!(bytes[0] == bytes[1] && is_writable(to) && is_writable(from));
                            holds.remove(&to);
                            before.get(&from).map(|held| holds.insert(to, held.clone()));
                        }
                    }
                }
                continue;
            }
            Step::Conditional(step) => {
                expect(holds, &step.selector, &step.name);
                let before = holds.clone();
                for branch in &step.branches {
                    holds.clone_from(&before);
                    follow(program, branch, holds);
                    for output in &step.outputs {
                        assert!(is_writable(output.buffer.index()));
                        holds.insert(output.buffer.index(), output.name.clone());
                    }
                }
                // What any branch may have overwritten is gone.
                continue;
            }
            Step::Host(step) => {
                step.inputs.iter().for_each(|input| expect(holds, input, "host"));
                for output in &step.outputs {
                    assert!(is_writable(output.buffer.index()));
                    holds.insert(output.buffer.index(), output.name.clone());
                }
                continue;
            }
            other => panic!("{other:?}"),
        };
        launch.inputs.iter().for_each(|input| expect(holds, input, &launch.name));
        let owner = &program.module().computations[launch.fusion.computation];
        let fusion = &owner.instructions[launch.fusion.instruction];
        for (position, output) in launch.outputs.iter().enumerate() {
            let buffer = &program.buffers()[output.buffer.index()];
            assert!(output.bytes <= buffer.bytes);
            assert!(is_writable(output.buffer.index()));
            let others = launch.inputs.iter().chain(&launch.outputs[..position]);
            assert!(others.into_iter().all(|other| other.buffer != output.buffer), "{}", launch.name);
            let is_updated = launch.updated.iter().any(|updated| updated.output == position);
            if is_updated && launch.fusion.computation == program.module().entry {
                let held = holds.get(&output.buffer.index());
                // A loop updates what its operand holds, or what it has made of it.
                let given = fusion.operands.iter().flat_map(|id| match &owner.instructions[*id] {
                    tuple if tuple.op == Op::Tuple => tuple.operands.clone(),
                    _ => vec![*id],
                });
                // What only gets other extents is copied, by the name that it had.
                let moves = |op: &Op| matches!(op, Op::Parameter { .. } | Op::Reshape | Op::Bitcast | Op::Copy);
                let given =
                    given.flat_map(|id| match (&owner.instructions[id].op, &owner.instructions[id].operands[..]) {
                        (Op::Fusion { calls, .. }, &[moved])
                            if program.module().computations[*calls].instructions.values().all(|it| moves(&it.op)) =>
                        {
                            vec![id, moved]
                        }
                        _ => vec![id],
                    });
                // A result of several has the name of the kernel and its number.
                let name = |id: InstrId| match owner.instructions[id].op {
                    Op::GetTupleElement { index } => {
                        let of = owner.instructions[id].operands[0];
                        format!("{}{{{index}}}", owner.instructions[of].name)
                    }
                    _ => owner.instructions[id].name.clone(),
                };
                let made = launch.outputs.iter().map(|made| made.name.clone());
                assert!(given.map(name).chain(made).any(|name| held == Some(&name)), "{} {held:?}", launch.name);
            }
            holds.insert(output.buffer.index(), output.name.clone());
        }
    }
}

fn compiled(module: &Module) -> Program {
    compile(module, &Target::default()).expect("the module compiles")
}

#[test]
fn programs_are_values_of_any_thread() {
    fn require<T: Send + Sync + Clone>() {}
    require::<Program>();
    require::<weft_runtime::Executable>();
    require::<Error>();
}

#[test]
fn every_program_of_the_corpus_keeps_its_buffers_apart_and_is_read_again() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let mut compiled = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus lies beside this crate").flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("unoptimized.hlo")) else { continue };
        let Ok(module) = weft_hlo::text::parse(&text) else { continue };
        if let Ok(program) = compile_with(&module, &Target::default(), &Options::default()) {
            check_buffers(&program);
            check_buffers(&read_again(&program));
            compiled += 1;
        }
    }
    assert!(compiled >= 5, "only {compiled} programs of the corpus compile");
}

#[test]
fn equal_inputs_give_equal_programs() {
    let module = support::entry(
        "x = f32[8,16] parameter(0)\ny = f32[8,16] tanh(x)\nt = f32[16,8] transpose(y), dimensions={1,0}\n\
         ROOT r = (f32[16,8], f32[8,16]) tuple(t, y)",
    );
    let [first, second] = [compiled(&module), compiled(&module)];
    assert_eq!(first.to_string(), second.to_string());
    let sources = |program: &Program| program.shaders().iter().map(|shader| shader.source.clone()).collect::<Vec<_>>();
    assert_eq!(sources(&first), sources(&second));
}

#[test]
fn results_may_be_parameters_constants_and_each_other() {
    let program = compiled(&support::entry(
        "x = f32[4] parameter(0)\nc = f32[2] constant({1, 2})\ny = f32[4] add(x, x)\n\
         ROOT r = (f32[4], f32[2], f32[4], f32[4]) tuple(x, c, y, y)",
    ));
    check_buffers(&program);
    let kinds: Vec<BufferKind> =
        program.results().iter().map(|result| program.buffers()[result.buffer.index()].kind).collect();
    assert_eq!(kinds[0], BufferKind::Parameter(0));
    assert_eq!(kinds[2], BufferKind::Result);
    assert_eq!(program.results()[2].buffer, program.results()[3].buffer);
}

/// Sums of columns that all live at once, of an argument that each stretches by a constant of its own: `count` of them.
pub(crate) fn many_small(count: usize) -> String {
    let mut text = String::from(
        "HloModule many\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n\
         ENTRY main {\n x = f32[64,4] parameter(0)\n zero = f32[] constant(0)\n",
    );
    for number in 0..count {
        text += &format!(
            " c{number} = f32[4] constant({{{number}, 1, 2, -3}})\n\
             \x20w{number} = f32[64,4] broadcast(c{number}), dimensions={{1}}\n\
             \x20y{number} = f32[64,4] multiply(x, w{number})\n\
             \x20sum{number} = f32[64] reduce(y{number}, zero), dimensions={{1}}, to_apply=sum\n\
             \x20t{number} = f32[] reduce(sum{number}, zero), dimensions={{0}}, to_apply=sum\n\
             \x20b{number} = f32[64] broadcast(t{number}), dimensions={{}}\n\
             \x20d{number} = f32[64] subtract(sum{number}, b{number})\n"
        );
    }
    let names = |letter: &str| (0..count).map(|number| format!("{letter}{number}")).collect::<Vec<_>>().join(", ");
    text + &format!(" ROOT r = f32[{}] concatenate({}), dimensions={{0}}\n}}\n", 64 * count, names("d"))
}

#[test]
fn what_nobody_needs_is_no_step() {
    let options = Options { optimize: false, whole_loops: false, host: false, ..Options::default() };
    let compiled = |text: &str| {
        let program = compile_with(&support::module(text), &Target::default(), &options);
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        check_buffers(&program);
        program
    };
    // The counter of a loop whose rounds are counted.
    let program = compiled(support::ROUNDS);
    let loops: Vec<_> =
        program.steps().iter().filter_map(|step| if let Step::While(it) = step { Some(it) } else { None }).collect();
    assert!(matches!(loops[..], [it] if it.carried.len() == 1 && it.body.len() == 1), "{program}");
    // A branch, what it alone reads, and the state of a loop that only it is given.
    let program = compiled(
        "HloModule unneeded
up { p = f32[64] parameter(0)  ROOT r = f32[64] add(p, p) }
down { p = f32[64] parameter(0)  ROOT r = f32[64] negate(p) }
body {
  s = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[64] reverse(x), dimensions={0}
  b = f32[64] reverse(y), dimensions={0}
  ROOT t = (s32[], f32[64], f32[64]) tuple(j, a, b)
}
condition {
  s = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY main {
  p = pred[] parameter(0)
  x = f32[64] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], f32[64], f32[64]) tuple(zero, x, x)
  w = (s32[], f32[64], f32[64]) while(s), condition=condition, body=body
  a = f32[64] get-tuple-element(w), index=1
  b = f32[64] get-tuple-element(w), index=2
  c = f32[64] conditional(p, b, b), true_computation=up, false_computation=down
  d = f32[64] negate(c)
  ROOT r = f32[64] add(a, a)
}",
    );
    let loops: Vec<_> =
        program.steps().iter().filter_map(|step| if let Step::While(it) = step { Some(it) } else { None }).collect();
    assert!(matches!(loops[..], [it] if it.carried.len() == 1 && it.body.len() == 1), "{program}");
    assert!(!program.steps().iter().any(|step| matches!(step, Step::Conditional(_))), "{program}");
    assert_eq!(program.launches().count(), 2, "{program}");
}

#[test]
fn many_small_tensors_lie_in_few_buffers() {
    let program = compiled(&support::module(&many_small(12)));
    check_buffers(&program);
    let read = read_again(&program);
    assert_eq!(read.buffers(), program.buffers());
    let inside = program.buffers().iter().filter(|buffer| buffer.place.is_some()).count();
    assert!(inside >= 12 && program.arenas().len() <= 4, "{program}");
    // What is read where it is written is refused.
    let text = program.text();
    let moved = text.replacen("temporary\n", "temporary in arena 9 at 0\n", 1);
    if moved != text {
        assert!(matches!(Program::parse(&moved), Err(Error::ProgramText { .. })));
    }
    let shifted = text.replacen(" in arena 0 at 256\n", " in arena 0 at 0\n", 1);
    assert!(shifted != text && matches!(Program::parse(&shifted), Err(Error::ProgramText { .. })), "{text}");
}

#[test]
fn a_long_chain_needs_few_buffers() {
    let program = compiled(&support::module(&chain(20)));
    check_buffers(&program);
    let totals = program.totals();
    assert!(program.launches().count() >= 20, "{program}");
    assert!(totals.temporaries < totals.temporaries_without_reuse, "{program}");
    assert!(totals.allocated() < totals.without_reuse());
    assert!(program.buffers().len() < program.launches().count(), "{program}");
}

/// `steps` times: divide by the maximum of each row, which no kernel can do in one pass.
fn chain(steps: usize) -> String {
    let mut text = String::from(
        "HloModule chain\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n\
         ENTRY main {\n x0 = f32[64,64] parameter(0)\n low = f32[] constant(-inf)\n",
    );
    for step in 0..steps {
        let root = if step + 1 == steps { "ROOT " } else { "" };
        text += &format!(
            " m{step} = f32[64] reduce(x{step}, low), dimensions={{1}}, to_apply=max\n\
             \x20b{step} = f32[64,64] broadcast(m{step}), dimensions={{1}}\n\
             \x20{root}x{} = f32[64,64] divide(x{step}, b{step})\n",
            step + 1
        );
    }
    text + "}\n"
}

#[test]
fn tensors_beyond_the_target_are_refused_before_anything_runs() {
    let code = |text: &str| compile(&support::entry(text), &Target::default()).expect_err("it is too large").code();
    // 400 MB, more than the floor's 128 MiB per binding.
    assert_eq!(code("x = f32[100000000] parameter(0)\nROOT y = f32[100000000] add(x, x)"), "RUN001");
    // More bytes than 64 bits can count.
    assert_eq!(
        code("x = f32[4611686018427387904] parameter(0)\nROOT y = f32[4611686018427387904] add(x, x)"),
        "RUN001"
    );
    let small = Target::default().with(|target| target.max_buffer_bytes = 256);
    let module = support::entry("x = f32[65] parameter(0)\nROOT y = f32[65] add(x, x)");
    assert_eq!(compile(&module, &small).expect_err("it is too large").code(), "RUN001");
}

#[test]
fn types_without_kernels_are_refused() {
    let error = compile(&support::entry("x = f64[4] parameter(0)\nROOT y = f64[4] add(x, x)"), &Target::default());
    let error = error.expect_err("there are no kernels for f64");
    assert!(!error.code().is_empty() && error.to_string().contains("f64"), "{error}");
}

#[test]
fn empty_tensors_are_not_launched() {
    let program = compiled(&support::entry("x = f32[0,4] parameter(0)\nROOT y = f32[0,4] add(x, x)"));
    assert!(program.steps().is_empty(), "{program}");
    assert_eq!(program.results()[0].bytes, 0);
}

#[test]
fn the_text_shows_schedule_and_buffers() {
    let program = compiled(&support::entry("x = f32[3] parameter(0)\nROOT y = f32[3] add(x, x)"));
    let name = &program.launches().next().expect("there is one").name;
    let expected = format!(
        "program test: 1 launch, 1 kernel, 2 buffers\n\
         parameter 0: b0 = f32[3] x\n\
         launch 0: {name} [kernel 0, 1x1x1 workgroups] (b0: f32[3]) -> (b1: f32[3])\n\
         result 0: b1 = f32[3] {name}\n\
         buffer b0: 256 bytes, parameter 0\n\
         buffer b1: 256 bytes, result\n\
         512 bytes in all, 512 live at once at most, 512 without reuse"
    );
    assert_eq!(program.to_string(), expected);
}

/// Programs of maxima along rows, divisions and sums, each reading values made before.
fn programs() -> impl Strategy<Value = String> {
    prop::collection::vec((0..3u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..25).prop_map(|steps| {
        let mut text = String::from(
            "HloModule p\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n\
             ENTRY main {\n v0 = f32[8,8] parameter(0)\n v1 = f32[8,8] parameter(1)\n low = f32[] constant(-inf)\n",
        );
        let count = steps.len();
        for (step, (kind, a, b)) in steps.into_iter().enumerate() {
            let (a, b, new) = (a.index(step + 2), b.index(step + 2), step + 2);
            text += &match kind {
                0 => format!(" v{new} = f32[8,8] add(v{a}, v{b})\n"),
                1 => format!(" v{new} = f32[8,8] transpose(v{a}), dimensions={{1,0}}\n"),
                _ => format!(
                    " m{new} = f32[8] reduce(v{a}, low), dimensions={{1}}, to_apply=max\n\
                     \x20w{new} = f32[8,8] broadcast(m{new}), dimensions={{0}}\n\
                     \x20v{new} = f32[8,8] subtract(v{b}, w{new})\n"
                ),
            };
        }
        let (last, middle) = (count + 1, count / 2 + 1);
        text + &format!(" ROOT r = (f32[8,8], f32[8,8], f32[8,8]) tuple(v{last}, v{middle}, v0)\n}}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_launch_finds_its_inputs_overwritten(text in programs()) {
        check_buffers(&compiled(&support::module(&text)));
    }
}

/// Layers that differ in their names only share their kernels.
#[test]
fn equal_layers_share_their_kernels() {
    let mut text = String::from(
        "HloModule layers\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n\
         ENTRY main {\n x0 = f32[64,64] parameter(0)\n low = f32[] constant(-inf)\n",
    );
    for layer in 0..12 {
        let root = if layer == 11 { "ROOT " } else { "" };
        text += &format!(
            " w{layer} = f32[64,64] parameter({})\n d{layer} = f32[64,64] dot(x{layer}, w{layer}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n\
             \x20m{layer} = f32[64] reduce(d{layer}, low), dimensions={{1}}, to_apply=max\n\
             \x20b{layer} = f32[64,64] broadcast(m{layer}), dimensions={{0}}\n \x20{root}x{} = f32[64,64] subtract(d{layer}, b{layer})\n",
            layer + 1,
            layer + 1
        );
    }
    let program = compiled(&support::module(&(text + "}\n")));
    check_buffers(&program);
    assert!(program.launches().count() >= 12, "{program}");
    assert!(program.shaders().len() <= 4, "{program}");
}

/// Rounds that are made ahead take memory for what they make as often; that does not lie where something large was.
#[test]
fn small_loops_do_not_take_over_large_buffers() {
    let module = support::module(
        "HloModule m
         add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}
         condition {\n p = (f32[], f32[]) parameter(0)\n a = f32[] get-tuple-element(p), index=0\n b = f32[] get-tuple-element(p), index=1\n
            ROOT c = pred[] compare(a, b), direction=LT\n}
         body {\n p = (f32[], f32[]) parameter(0)\n a = f32[] get-tuple-element(p), index=0\n b = f32[] get-tuple-element(p), index=1\n
            one = f32[] constant(1)\n c = f32[] add(a, one)\n d = f32[] subtract(b, a)\n ROOT t = (f32[], f32[]) tuple(c, d)\n}
         ENTRY main {
            x = f32[512,512] parameter(0)
            zero = f32[] constant(0)
            t = f32[512,512] transpose(x), dimensions={1,0}
            y = f32[512,512] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
            z = f32[512,512] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
            sum = f32[] reduce(z, zero), dimensions={0,1}, to_apply=add
            s = (f32[], f32[]) tuple(zero, sum)
            w = (f32[], f32[]) while(s), condition=condition, body=body
            ROOT r = f32[] get-tuple-element(w), index=0
         }",
    );
    check_buffers(&compiled(&module));
    let options = Options { host: false, whole_loops: false, ..Options::default() };
    let program = compile_with(&module, &Target::default(), &options).expect("the module compiles");
    check_buffers(&program);
    let Some(Step::While(step)) = program.steps().iter().find(|step| matches!(step, Step::While(_))) else {
        panic!("there is no loop: {program}")
    };
    assert!(step.ahead.is_some(), "{program}");
    let launches = program.launches().filter(|launch| launch.name.contains('/'));
    let written: Vec<u64> = launches
        .flat_map(|launch| &launch.outputs)
        .chain(&step.carried)
        .map(|tensor| program.buffers()[tensor.buffer.index()].bytes)
        .collect();
    assert!(!written.is_empty() && written.iter().all(|bytes| *bytes == 256), "{program}");
}
