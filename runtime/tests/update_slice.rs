//! Updates of slices: in place where nothing needs what they replace any more, else in a copy.

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, Literal, Module, Opcode};
use weft_hlo::random::{self, Options};
use weft_hlo::text::print;
use weft_runtime::program::Step;
use weft_runtime::{Executable, Program};

/// Runs a program and compares it with the evaluator, to the bit.
fn check(module: &Module, inputs: &[Literal]) -> Program {
    let device = support::device();
    let program = compile(module, device.target()).unwrap_or_else(|error| panic!("{error}\n{}", print(module)));
    let expected = evaluate(module, inputs).expect("the evaluator knows it");
    let executable = Executable::new(&device, program.clone()).expect("it loads");
    for _ in 0..2 {
        let found = executable.run(inputs).expect("it runs");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.data, expected.data, "{program}\n{}", print(module));
        }
    }
    program
}

fn copies(program: &Program) -> usize {
    program.steps().iter().filter(|step| matches!(step, Step::Copy(_))).count()
}

fn updates(program: &Program) -> usize {
    program.launches().map(|launch| launch.updated.len()).sum()
}

fn floats(extents: [i64; 2]) -> Literal {
    let count = extents.iter().product::<i64>();
    Literal::array(extents, (0..count).map(|number| (number * 37 % 101) as f32 - 50.0).collect::<Vec<f32>>())
}

fn number(value: i32) -> Literal {
    Literal::array([], vec![value])
}

/// Starts within the array, at its ends and beyond them.
const STARTS: [i32; 6] = [0, 2, 5, 100, -1, i32::MIN];

#[test]
fn an_argument_is_copied_and_updated() {
    let module = support::entry(
        "x = f32[8,6] parameter(0)\nu = f32[3,2] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n\
         ROOT r = f32[8,6] dynamic-update-slice(x, u, i, j)",
    );
    for (start, other) in STARTS.iter().zip(STARTS.iter().rev()) {
        let program = check(&module, &[floats([8, 6]), floats([3, 2]), number(*start), number(*other)]);
        assert_eq!((copies(&program), updates(&program)), (1, 1), "{program}");
        // The copy, the update and where it goes; not the array once more.
        assert_eq!(program.bytes_moved(), 4 * (2 * 48 + 2 * 6 + 2));
    }
}

const MAXIMUM: &str = "max { a = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT m = f32[] maximum(a, b)\n}\n";

fn with_maximum(entry: &str) -> Module {
    support::module(&format!("HloModule test\n{MAXIMUM}ENTRY main {{\n{entry}\n}}\n"))
}

/// Something that roots a kernel of its own: what it yields is an intermediate value.
const ROWS: &str = "x = f32[8,6,4] parameter(0)\nlow = f32[] constant(-inf)\ni = s32[] parameter(1)\nzero = s32[] constant(0)\n\
                    rows = f32[8,6] reduce(x, low), dimensions={2}, to_apply=max\n";

fn cube() -> Literal {
    Literal::array([8, 6, 4], (0..192).map(|number| (number * 53 % 127) as f32).collect::<Vec<f32>>())
}

#[test]
fn an_intermediate_value_that_nothing_else_needs_is_updated_where_it_lies() {
    let module = with_maximum(&format!(
        "{ROWS}u = f32[2,6] parameter(2)\nROOT r = f32[8,6] dynamic-update-slice(rows, u, i, zero)"
    ));
    for start in STARTS {
        let program = check(&module, &[cube(), number(start), floats([2, 6])]);
        assert_eq!((copies(&program), updates(&program)), (0, 1), "{program}");
    }
}

#[test]
fn what_is_needed_afterwards_is_copied() {
    let module = with_maximum(&format!(
        "{ROWS}u = f32[2,6] parameter(2)\nr = f32[8,6] dynamic-update-slice(rows, u, i, zero)\n\
         ROOT both = (f32[8,6], f32[8,6]) tuple(r, rows)"
    ));
    for start in STARTS {
        let program = check(&module, &[cube(), number(start), floats([2, 6])]);
        assert_eq!((copies(&program), updates(&program)), (1, 1), "{program}");
    }
}

#[test]
fn a_chain_of_updates_stays_in_one_buffer() {
    let module = with_maximum(&format!(
        "{ROWS}u = f32[2,6] parameter(2)\none = s32[] constant(1)\nj = s32[] add(i, one)\n\
         a = f32[8,6] dynamic-update-slice(rows, u, i, zero)\nv = f32[2,6] negate(u)\n\
         b = f32[8,6] dynamic-update-slice(a, v, j, zero)\n\
         ROOT c = f32[8,6] dynamic-update-slice(b, u, zero, zero)"
    ));
    for start in STARTS {
        let program = check(&module, &[cube(), number(start), floats([2, 6])]);
        assert_eq!((copies(&program), updates(&program)), (0, 3), "{program}");
    }
}

#[test]
fn an_operand_that_is_updated_twice_is_copied_once() {
    let module = with_maximum(&format!(
        "{ROWS}u = f32[2,6] parameter(2)\na = f32[8,6] dynamic-update-slice(rows, u, i, zero)\nv = f32[2,6] negate(u)\n\
         b = f32[8,6] dynamic-update-slice(rows, v, zero, zero)\n\
         ROOT both = (f32[8,6], f32[8,6]) tuple(a, b)"
    ));
    for start in STARTS {
        let program = check(&module, &[cube(), number(start), floats([2, 6])]);
        assert_eq!((copies(&program), updates(&program)), (1, 2), "{program}");
    }
}

#[test]
fn what_is_replaced_may_be_read_where_it_is_replaced_only() {
    // In place: every element of the update is computed from the one that it replaces.
    let own = with_maximum(&format!(
        "{ROWS}old = f32[2,6] dynamic-slice(rows, i, zero), dynamic_slice_sizes={{2,6}}\nsum = f32[2,6] add(old, old)\n\
         ROOT r = f32[8,6] dynamic-update-slice(rows, sum, i, zero)"
    ));
    // Not in place: it is computed from others, whose values may have been replaced.
    let others = with_maximum(&format!(
        "{ROWS}old = f32[2,6] dynamic-slice(rows, i, zero), dynamic_slice_sizes={{2,6}}\n\
         turned = f32[2,6] reverse(old), dimensions={{0,1}}\n\
         ROOT r = f32[8,6] dynamic-update-slice(rows, turned, i, zero)"
    ));
    let shifted = with_maximum(&format!(
        "{ROWS}one = s32[] constant(1)\nj = s32[] add(i, one)\n\
         old = f32[2,6] dynamic-slice(rows, j, zero), dynamic_slice_sizes={{2,6}}\n\
         ROOT r = f32[8,6] dynamic-update-slice(rows, old, i, zero)"
    ));
    for start in STARTS {
        let program = check(&own, &[cube(), number(start)]);
        assert_eq!((copies(&program), updates(&program)), (0, 1), "{program}");
        assert_eq!(updates(&check(&others, &[cube(), number(start)])), 0);
        assert_eq!(updates(&check(&shifted, &[cube(), number(start)])), 0);
    }
}

#[test]
fn several_updates_share_a_kernel() {
    let module = support::module(
        "HloModule several
        f {
            x = f32[8,6] parameter(0)
            y = s32[8,6] parameter(1)
            z = pred[7] parameter(2)
            i = s32[] parameter(3)
            u = f32[2,3] parameter(4)
            one = s32[] constant(1)
            j = s32[] add(i, one)
            old = s32[2,3] dynamic-slice(y, j, i), dynamic_slice_sizes={2,3}
            whole = s32[2,3] convert(u)
            sum = s32[2,3] add(old, whole)
            t = pred[] constant(true)
            p = pred[5] broadcast(t), dimensions={}
            a = f32[8,6] dynamic-update-slice(x, u, i, j)
            b = s32[8,6] dynamic-update-slice(y, sum, j, i)
            c = pred[7] dynamic-update-slice(z, p, j)
            ROOT t3 = (f32[8,6], s32[8,6], pred[7]) tuple(a, b, c)
        }
        ENTRY main {
            x = f32[8,6] parameter(0)
            y = s32[8,6] parameter(1)
            z = pred[7] parameter(2)
            i = s32[] parameter(3)
            u = f32[2,3] parameter(4)
            o = (f32[8,6], s32[8,6], pred[7]) fusion(x, y, z, i, u), kind=kLoop, calls=f
            o0 = f32[8,6] get-tuple-element(o), index=0
            o1 = s32[8,6] get-tuple-element(o), index=1
            o2 = pred[7] get-tuple-element(o), index=2
            ROOT t3 = (f32[8,6], s32[8,6], pred[7]) tuple(o0, o1, o2)
        }",
    );
    let whole = Literal::array([8, 6], (0..48).collect::<Vec<i32>>());
    let truth = Literal::array([7], (0..7).map(|number| number % 3 == 0).collect::<Vec<bool>>());
    for start in STARTS {
        let inputs = [floats([8, 6]), whole.clone(), truth.clone(), number(start), floats([2, 3])];
        let program = check(&module, &inputs);
        assert_eq!((program.launches().count(), updates(&program)), (1, 3), "{program}");
    }
}

#[test]
fn starts_may_be_computed_constant_or_of_other_types_and_updates_empty_or_whole() {
    for (update, start, operands) in [
        ("[2,6]", "u32[] parameter(2)", 3),
        ("[8,6]", "u32[] parameter(2)", 3),
        ("[0,6]", "u32[] parameter(2)", 3),
        ("[2,6]", "u32[] constant(7)", 2),
        ("[1,6]", "u32[] constant(4294967295)", 2),
    ] {
        let module = support::entry(&format!(
            "x = u32[8,6] parameter(0)\nu = u32{update} parameter(1)\ni = {start}\nj = u32[] add(i, i)\n\
             ROOT r = u32[8,6] dynamic-update-slice(x, u, j, i)"
        ));
        let rows = i64::from(update.as_bytes()[1] - b'0');
        let array = |rows: i64, first: u32| {
            Literal::array([rows, 6], (0..rows as u32 * 6).map(|number| number + first).collect::<Vec<u32>>())
        };
        let inputs = [array(8, 0), array(rows, 1000), Literal::array([], vec![u32::MAX - 1])];
        check(&module, &inputs[..operands]);
    }
}

/// Modules of updates, slices and what computes starts, each compared to the bit.
#[test]
fn random_updates_agree_with_the_evaluator() {
    let device = support::device();
    let mut updated = 0;
    for seed in first_seed()..first_seed() + cases(150) {
        let mut options = Options { instructions: 14, elements: 60, ..Options::computed() };
        options.types = vec![ElementType::S32, ElementType::U32, ElementType::Pred];
        let further = [Opcode::DynamicUpdateSlice, Opcode::DynamicUpdateSlice, Opcode::DynamicSlice, Opcode::Reduce];
        options.operations = further.iter().flat_map(|opcode| std::iter::repeat_n(*opcode, 40)).collect();
        options.operations.extend([Opcode::Add, Opcode::Reverse, Opcode::Fusion, Opcode::Slice]);
        let module = random::module(seed, &options);
        let inputs = random::inputs(&module, seed, &options);
        let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}\n{}", print(&module)));
        updated += updates(&program);
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        let found = Executable::new(&device, program.clone()).and_then(|ready| ready.run(&inputs)).expect("it runs");
        for (found, expected) in found.iter().zip(&expected) {
            let is_same = match (&found.data, &expected.data) {
                (Data::F32(found), Data::F32(expected)) => {
                    found.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
                }
                (found, expected) => found == expected,
            };
            assert!(is_same, "seed {seed}: {:?} became {:?}\n{program}\n{}", expected.data, found.data, print(&module));
        }
    }
    assert!(updated > 30, "only {updated} updates in place");
}

/// Of elements of several words, too, it is proved that invocations update them apart.
#[test]
fn updates_in_place_are_proved_for_every_type() {
    let device = support::device();
    for ty in ["u8", "bf16", "s32", "s64", "u64", "f64", "c64", "c128"] {
        let text = format!(
            "x = {ty}[8,6] parameter(0)\nu = {ty}[3,2] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n\
             s = {ty}[3,2] slice(x), slice={{[0:3],[0:2]}}\nROOT r = {ty}[8,6] dynamic-update-slice(x, u, i, j)"
        );
        let module = support::entry(&text);
        let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(updates(&program), 1, "{ty}: {program}");
        let unproved: Vec<_> = program.shaders().iter().flat_map(|shader| shader.proofs().unproved.clone()).collect();
        assert!(unproved.is_empty(), "{ty}: {unproved:?}");
        let inputs = random::inputs(&module, 7, &Options { numbers: random::Numbers::Small, ..Options::default() });
        check(&module, &inputs);
    }
}

/// A start that is a number of 64 bits is one also where the kernel holds nothing else of that type.
#[test]
fn literal_starts_of_any_type_are_clamped() {
    for (ty, start) in [("u64", "6"), ("s64", "-7"), ("u8", "255"), ("s8", "-128"), ("u32", "4294967295"), ("s64", "1")]
    {
        let text = format!(
            "iota = u32[6] iota(), iota_dimension=0\nc = {ty}[] constant({start})\nk = u32[4] parameter(0)\n\
             ROOT d = u32[6] dynamic-update-slice(iota, k, c)"
        );
        let module = support::entry(&text);
        let device = support::device();
        let input = [Literal::array([4], vec![10u32, 11, 12, 13])];
        let program = compile(&module, device.target()).unwrap();
        let actual = Executable::new(&device, program).unwrap().run(&input).unwrap();
        assert_eq!(actual[0].data, evaluate(&module, &input).unwrap()[0].data, "{ty} {start}");
    }
}
