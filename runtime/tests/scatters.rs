//! Scatters, to the bit as the evaluator folds them.

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::sync::LazyLock;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Computation, Data, ElementType, Instruction, Literal, Module, Opcode};
use weft_hlo::random::{self, Numbers, Options};
use weft_hlo::text::print;
use weft_partition::{DeviceKind, Target};
use weft_runtime::{Device, Executable, Program};

/// One device for all tests: some drivers take long to open one.
static DEVICE: LazyLock<Device> = LazyLock::new(support::device);

/// Runs a program twice and compares it with the evaluator, to the bit but for which NaN it is.
fn check(module: &Module, inputs: &[Literal]) -> Program {
    check_for(DEVICE.target(), module, inputs)
}

fn check_for(target: &Target, module: &Module, inputs: &[Literal]) -> Program {
    let program = compile(module, target).unwrap_or_else(|error| panic!("{error}\n{}", print(module)));
    let expected = evaluate(module, inputs).expect("the evaluator knows it");
    let executable = Executable::new(&DEVICE, program.clone()).expect("it loads");
    for _ in 0..2 {
        let found = executable.run(inputs).expect("it runs");
        for (found, expected) in found.iter().zip(&expected) {
            let is_same = match (&found.data, &expected.data) {
                (Data::F32(found), Data::F32(expected)) => {
                    found.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
                }
                (found, expected) => found == expected,
            };
            let shaders: Vec<&str> = program.shaders().iter().map(|shader| shader.source.as_str()).collect();
            assert!(
                is_same,
                "{:?} became {:?} on {}\n{program}\n{}\n{}",
                expected.data,
                found.data,
                DEVICE.info(),
                print(module),
                shaders.join("\n")
            );
        }
    }
    let unproved: Vec<_> = program.shaders().iter().flat_map(|shader| shader.proofs().unproved.clone()).collect();
    assert!(unproved.is_empty(), "{unproved:?}\n{}", print(module));
    program
}

/// Scatters of any dimension numbers, of several operands, at indices within bounds and beyond, in any order and several times the same; combiners may scatter, too.
#[test]
fn random_scatters_agree_with_the_evaluator() {
    let mut options = Options { instructions: 2, elements: 60, disorderly: true, ..Options::computed() };
    options.numbers = Numbers::Small;
    options.operations = vec![Opcode::Scatter];
    options.types = vec![ElementType::S32, ElementType::U32, ElementType::Pred, ElementType::F32];
    options.types.extend(ElementType::ALL.iter().filter(|ty| ty.is_integer() && ty.bits() < 32));
    let mut scattered = 0;
    for seed in first_seed()..first_seed() + cases(40) {
        let module = random::module(seed, &options);
        let inputs = random::inputs(&module, seed, &options);
        let scatters = |computation: &Computation| {
            let scatter = |instruction: &&Instruction| instruction.op.opcode() == Opcode::Scatter;
            computation.instructions.values().filter(scatter).count()
        };
        scattered += scatters(module.entry_computation());
        check(&module, &inputs);
    }
    assert!(scattered as u64 > cases(40) / 2, "only {scattered} scatters");
}

/// Regions of one operand, by name.
const REGIONS: [(&str, &str); 9] = [
    ("set", "ROOT r = T[] copy(b)"),
    ("add", "ROOT r = T[] add(a, b)"),
    ("multiply", "ROOT r = T[] multiply(a, b)"),
    ("minimum", "ROOT r = T[] minimum(b, a)"),
    ("maximum", "ROOT r = T[] maximum(a, b)"),
    ("and", "ROOT r = T[] and(a, b)"),
    ("or", "ROOT r = T[] or(a, b)"),
    ("xor", "ROOT r = T[] xor(a, b)"),
    ("subtract", "ROOT r = T[] subtract(a, b)"),
];

/// A scatter of these extents into an argument.
struct Scatter {
    operand: &'static [i64],
    indices: &'static [i64],
    updates: &'static [i64],
    numbers: &'static str,
}

/// Rows of a matrix.
const ROWS: Scatter = Scatter {
    operand: &[17, 12],
    indices: &[9, 1],
    updates: &[9, 12],
    numbers: "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
};

/// Single elements.
const POINTS: Scatter = Scatter {
    operand: &[5, 7],
    indices: &[2, 11],
    updates: &[11],
    numbers: "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0",
};

/// Boxes of a batch, which overlap.
const BOXES: Scatter = Scatter {
    operand: &[3, 8, 5],
    indices: &[4, 3],
    updates: &[4, 3, 3, 2],
    numbers: "update_window_dims={2,3}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, \
              scatter_indices_batching_dims={1}, index_vector_dim=2",
};

/// One box, which may lie outside.
const BOX: Scatter = Scatter {
    operand: &[6, 9],
    indices: &[2],
    updates: &[4, 5],
    numbers: "update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0",
};

fn extents(extents: &[i64]) -> String {
    extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

impl Scatter {
    fn module(&self, ty: &str, region: &str, flags: &str) -> Module {
        let [operand, indices, updates] = [self.operand, self.indices, self.updates].map(extents);
        let (_, root) = REGIONS.iter().find(|(name, _)| *name == region).expect("it is in the table");
        let root = root.replace("T[", &format!("{ty}["));
        support::module(&format!(
            "HloModule test\nregion {{\na = {ty}[] parameter(0)\nb = {ty}[] parameter(1)\n{root}\n}}\nENTRY main {{\n\
             x = {ty}[{operand}] parameter(0)\ni = s32[{indices}] parameter(1)\nu = {ty}[{updates}] parameter(2)\n\
             ROOT s = {ty}[{operand}] scatter(x, i, u), {}, {flags}to_apply=region\n}}\n",
            self.numbers
        ))
    }

    /// Small numbers, and indices of which some are out of bounds; all different where they have to be.
    fn inputs(&self, module: &Module, seed: u64, is_unique: bool) -> Vec<Literal> {
        let options = Options { numbers: Numbers::Small, ..Options::default() };
        let mut inputs = random::inputs(module, seed, &options);
        let count = self.indices.iter().product::<i64>();
        let mut rng = random::Rng::new(seed);
        let greatest = self.operand.iter().copied().max().unwrap_or(1);
        let mut numbers: Vec<i32> = match is_unique {
            true => (-2..).take(usize::try_from(count).unwrap_or(0)).collect(),
            false => (0..count).map(|_| rng.between(-1, greatest) as i32).collect(),
        };
        if is_unique {
            for place in (1..numbers.len()).rev() {
                numbers.swap(place, rng.between(0, place as i64) as usize);
            }
        }
        inputs[1] = Literal::array(self.indices.to_vec(), numbers);
        inputs
    }
}

/// How many updates are made in place by each of the launches.
fn updated(program: &Program) -> usize {
    program.launches().map(|launch| launch.updated.len()).sum()
}

#[test]
fn unique_updates_are_stored_in_place() {
    let of_integers = REGIONS.iter().map(|(region, _)| ("s32", *region)).step_by(2);
    let of_others = [
        ("f32", "add"),
        ("bf16", "set"),
        ("f16", "subtract"),
        ("s8", "add"),
        ("u4", "set"),
        ("pred", "or"),
        ("u64", "subtract"),
        ("c64", "add"),
    ];
    for (ty, region) in of_others.into_iter().chain(of_integers) {
        let module = ROWS.module(ty, region, "unique_indices=true, ");
        let program = check(&module, &ROWS.inputs(&module, 3, true));
        assert_eq!(updated(&program), 1, "{ty} {region}: {program}");
    }
    for seed in 0..3 {
        let module = BOX.module("s8", "add", "");
        assert_eq!(updated(&check(&module, &BOX.inputs(&module, seed, false))), 1);
    }
}

/// Updates of single elements are read four at a time, with the places that they go to, in rounds of one launch and more; what is left over of four is read alone.
#[test]
fn points_are_read_several_at_a_time() {
    let line = |count: &'static [i64; 2]| Scatter {
        operand: &[4000],
        indices: count,
        updates: &count[..1],
        numbers: "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    };
    let pairs = Scatter {
        operand: &[300, 2100],
        indices: &[1024, 2],
        updates: &[1024],
        numbers: "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
    };
    let cases = [
        (line(&[4096, 1]), "f32", "set", true),
        (line(&[4096, 1]), "s32", "subtract", true),
        (line(&[4095, 1]), "f32", "subtract", false),
        (line(&[1024, 1]), "u64", "add", true),
        (pairs, "f32", "add", true),
    ];
    for (scatter, ty, region, are_several) in cases {
        let module = scatter.module(ty, region, "unique_indices=true, ");
        let program = check(&module, &scatter.inputs(&module, 6, true));
        assert_eq!(updated(&program), 1, "{ty} {region}: {program}");
        let is_software = DEVICE.target().kind == DeviceKind::Software;
        let reads_vectors = program.shaders().iter().any(|shader| shader.source.contains("let rt3 = "));
        assert_eq!(reads_vectors, are_several && is_software, "{ty} {region}: {program}");
    }
    let many = line(&[1 << 18, 1]);
    let module = many.module("f32", "set", "unique_indices=true, ");
    let program = check_for(&Target::default(), &module, &many.inputs(&module, 7, true));
    assert!(program.shaders().iter().any(|shader| shader.source.contains("let rt3 = ")), "{program}");
}

#[test]
fn integers_are_updated_in_any_order() {
    for (number, (region, _)) in REGIONS.iter().enumerate() {
        for ty in ["s32", "u32"] {
            let scatter = [&ROWS, &POINTS, &BOXES][number % 3];
            let module = scatter.module(ty, region, "");
            let program = check(&module, &scatter.inputs(&module, 1, false));
            let is_ordered = matches!(*region, "set" | "subtract");
            assert_eq!(updated(&program), usize::from(!is_ordered), "{ty} {region}: {program}");
        }
    }
}

/// Integers in floats come to the same in any order; other types, and regions that devices cannot repeat, keep to theirs.
#[test]
fn floats_are_updated_in_any_order_where_that_is_asked_for() {
    let target = DEVICE.target().clone().with(|target| target.fast_scatter = true);
    let many = Scatter { operand: &[61, 70], indices: &[2, 1100], updates: &[1100], ..POINTS };
    for (number, region) in ["add", "multiply", "minimum", "maximum", "subtract", "set"].into_iter().enumerate() {
        let scatter = if region == "add" { &many } else { [&ROWS, &POINTS, &BOXES][number % 3] };
        let module = scatter.module("f32", region, "");
        let mut inputs = scatter.inputs(&module, 7, false);
        inputs.iter_mut().for_each(|input| {
            if let Data::F32(numbers) = &mut input.data {
                numbers.iter_mut().for_each(|number| *number = number.round());
            }
        });
        let program = check_for(&target, &module, &inputs);
        let keeps_order = matches!(region, "set" | "subtract");
        assert_eq!(updated(&program), usize::from(!keeps_order), "{region}: {program}");
        assert!(keeps_order || program.launches().count() <= 3, "{program}");
    }
    for ty in ["bf16", "s8", "c64"] {
        let module = ROWS.module(ty, "add", "");
        assert_eq!(updated(&check_for(&target, &module, &ROWS.inputs(&module, 7, false))), 0);
    }
}

#[test]
fn what_has_an_order_is_folded_in_it() {
    for (number, ty) in ["f32", "bf16", "s8", "pred", "s64"].into_iter().enumerate() {
        for (seed, scatter) in (1..).zip([&ROWS, &POINTS, &BOXES]) {
            let regions = if ty == "pred" { ["set", "xor"] } else { ["subtract", "add"] };
            let module = scatter.module(ty, regions[(number + seed as usize) % 2], "");
            check(&module, &scatter.inputs(&module, seed, false));
        }
    }
}

/// Two operands, of which each update is combined with both.
#[test]
fn several_operands_are_combined_together() {
    for flags in ["unique_indices=true, ", ""] {
        let module = support::module(&format!(
            "HloModule test\nregion {{\na = f32[] parameter(0)\nb = s32[] parameter(1)\nc = f32[] parameter(2)\nd = s32[] parameter(3)\n\
             e = f32[] convert(b)\nf = f32[] add(a, e)\ng = f32[] subtract(f, c)\nh = s32[] subtract(d, b)\n\
             ROOT t = (f32[], s32[]) tuple(g, h)\n}}\nENTRY main {{\n\
             x = f32[17,12] parameter(0)\ni = s32[9,1] parameter(1)\nu = f32[9,12] parameter(2)\nw = s32[9,12] parameter(3)\n\
             zero = s32[] constant(5)\ny = s32[17,12] broadcast(zero), dimensions={{}}\nv = f32[9,12] negate(u)\n\
             s = (f32[17,12], s32[17,12]) scatter(x, y, i, v, w), {}, {flags}to_apply=region\n\
             n = s32[17,12] get-tuple-element(s), index=1\nm = s32[17,12] negate(n)\nf = f32[17,12] get-tuple-element(s), index=0\n\
             ROOT both = (f32[17,12], s32[17,12]) tuple(f, m)\n}}\n",
            ROWS.numbers
        ));
        let program = check(&module, &ROWS.inputs(&module, 5, !flags.is_empty()));
        assert_eq!(updated(&program), if flags.is_empty() { 0 } else { 2 }, "{program}");
    }
}

/// Updates and indices are computed where they are read, and what is updated is nothing but a constant.
#[test]
fn what_is_scattered_is_computed_by_the_way() {
    let text = |flags: &str| {
        format!(
            "HloModule test\nregion {{\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT r = f32[] add(a, b)\n}}\nENTRY main {{\n\
             zero = f32[] constant(0)\nx = f32[17,12] broadcast(zero), dimensions={{}}\nj = s32[9] parameter(0)\nu = f32[12,9] parameter(1)\n\
             two = s32[] constant(2)\ntwos = s32[9] broadcast(two), dimensions={{}}\nk = s32[9] add(j, twos)\ni = s32[9,1] reshape(k)\n\
             t = f32[9,12] transpose(u), dimensions={{1,0}}\nv = f32[9,12] negate(t)\n\
             s = f32[17,12] scatter(x, i, v), {}, {flags}to_apply=region\nROOT n = f32[17,12] negate(s)\n}}\n",
            ROWS.numbers
        )
    };
    for flags in ["unique_indices=true, ", ""] {
        let module = support::module(&text(flags));
        let inputs = random::inputs(&module, 4, &Options { numbers: Numbers::Small, ..Options::default() });
        let numbers: Vec<i32> = vec![4, -3, 0, 9, 14, 15, 2, 3, 7];
        check(&module, &[Literal::array([9], numbers), inputs[1].clone()]);
    }
}

#[test]
fn scatters_without_elements_change_nothing() {
    for (operand, rows) in [(0, 3), (4, 0), (1, 1)] {
        for flags in ["unique_indices=true, ", ""] {
            let module = support::module(&format!(
                "HloModule test\nregion {{\na = s32[] parameter(0)\nb = s32[] parameter(1)\nROOT r = s32[] copy(b)\n}}\nENTRY main {{\n\
                 x = s32[{operand},3] parameter(0)\ni = s32[{rows},1] parameter(1)\nu = s32[{rows},3] parameter(2)\n\
                 ROOT s = s32[{operand},3] scatter(x, i, u), {}, {flags}to_apply=region\n}}\n",
                ROWS.numbers
            ));
            let inputs = random::inputs(&module, 4, &Options { numbers: Numbers::Small, ..Options::default() });
            check(&module, &inputs);
        }
    }
}

/// Many windows into many elements, which are ordered first: of points, of rows and of boxes that overlap.
#[test]
fn many_windows_are_ordered() {
    let points = Scatter { operand: &[61, 70], indices: &[2, 1100], updates: &[1100], ..POINTS };
    let rows = Scatter { operand: &[257, 20], indices: &[900, 1], updates: &[900, 20], ..ROWS };
    let boxes = Scatter { operand: &[3, 900, 5], indices: &[130, 3], updates: &[130, 3, 3, 2], ..BOXES };
    let types =
        [("f32", "add"), ("s32", "set"), ("bf16", "subtract"), ("s8", "add"), ("pred", "set"), ("f32", "subtract")];
    for (seed, scatter) in (1..).zip([&points, &rows, &boxes]) {
        for (ty, region) in types.into_iter().skip(2 * (seed as usize - 1)).take(2) {
            let module = scatter.module(ty, region, "");
            let program = check(&module, &scatter.inputs(&module, seed, false));
            assert!(program.launches().count() > 6, "{ty} {region}: {program}");
        }
    }
}

/// More rows than a kernel goes through at once: they are worked off stretch by stretch.
#[test]
fn rows_without_end_are_ordered() {
    let rows = Scatter { operand: &[9, 2], indices: &[200_000, 1], updates: &[200_000, 2], ..ROWS };
    let module = rows.module("f32", "subtract", "");
    check(&module, &rows.inputs(&module, 1, false));
}

/// Rows at ascending indices, from below the first to beyond the last.
#[test]
fn rows_in_order_are_found_by_halves() {
    let rows = Scatter { operand: &[40, 12], indices: &[130, 1], updates: &[130, 12], ..ROWS };
    for (ty, region) in [("f32", "add"), ("f32", "set"), ("bf16", "subtract"), ("u4", "add"), ("s64", "subtract")] {
        for seed in 0..2 {
            let module = rows.module(ty, region, "indices_are_sorted=true, ");
            let mut inputs = rows.inputs(&module, seed, false);
            let mut rng = random::Rng::new(seed);
            let mut numbers: Vec<i32> = (0..130).map(|_| rng.between(-3, 45) as i32).collect();
            numbers.sort_unstable();
            inputs[1] = Literal::array([130, 1], numbers);
            assert_eq!(check(&module, &inputs).launches().count(), 1, "{ty} {region}");
        }
    }
}
